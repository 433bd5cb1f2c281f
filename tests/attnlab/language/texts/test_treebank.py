"""The book's own trees, of lecture 8 and of the treebank: what holds in every one of them."""

import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import pytest
import spacy
from spacy.parts_of_speech import IDS

from attnlab.language import Tree, book_trees
from attnlab.language.texts import treebank

# the relations of spaCy's English models (the ClearNLP scheme), in the small letters of a file
NAMED = """
root acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj
csubj csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass
nummod oprd parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp
"""
RELATIONS = frozenset(NAMED.split())

NOMINAL = frozenset({"NOUN", "PRON", "PROPN", "NUM", "DET"})
PREDICATE = frozenset({"VERB", "AUX", "ADJ"})
# the parts of speech that a relation's dependent may have, and its head
DEPENDENTS = {
    **dict.fromkeys(("nsubj", "nsubjpass", "dobj", "pobj", "dative", "attr"), NOMINAL),
    **dict.fromkeys(("compound", "appos", "npadvmod"), frozenset({"NOUN", "PROPN"})),
    **dict.fromkeys(("det", "predet"), frozenset({"DET"})),
    **dict.fromkeys(("prep", "agent", "prt"), frozenset({"ADP"})),
    **dict.fromkeys(("relcl", "advcl"), frozenset({"VERB", "AUX"})),
    **dict.fromkeys(("acl", "csubj", "pcomp"), frozenset({"VERB"})),
    **dict.fromkeys(("ccomp", "xcomp"), PREDICATE),
    "acomp": frozenset({"ADJ"}),
    "advmod": frozenset({"ADV"}),
    "amod": frozenset({"ADJ", "VERB"}),
    "aux": frozenset({"AUX", "PART"}),
    "auxpass": frozenset({"AUX"}),
    "case": frozenset({"PART"}),
    "cc": frozenset({"CCONJ"}),
    "expl": frozenset({"PRON"}),
    "intj": frozenset({"INTJ"}),
    "mark": frozenset({"SCONJ"}),
    "neg": frozenset({"PART", "ADV"}),
    "nummod": frozenset({"NUM"}),
    "poss": frozenset({"PRON", "NOUN"}),
    "punct": frozenset({"PUNCT"}),
    "root": frozenset({"VERB", "AUX"}),
}
HEADS = {
    **dict.fromkeys(("det", "predet", "nummod", "case", "poss"), frozenset({"NOUN"})),
    **dict.fromkeys(("amod", "compound", "appos", "relcl", "acl"), frozenset({"NOUN", "PROPN"})),
    **dict.fromkeys(("pobj", "pcomp"), frozenset({"ADP"})),
    **dict.fromkeys(("nsubj", "aux", "neg", "mark"), PREDICATE),
    "cc": PREDICATE | NOMINAL,
    **dict.fromkeys(("nsubjpass", "auxpass", "agent", "dobj"), frozenset({"VERB"})),
    **dict.fromkeys(("dative", "prt"), frozenset({"VERB"})),
    **dict.fromkeys(("acomp", "attr", "csubj"), frozenset({"VERB", "AUX"})),
    "expl": frozenset({"VERB"}),
}
LEAVES = {"aux", "auxpass", "case", "cc", "compound", "det", "expl", "intj", "mark", "neg"}
LEAVES |= {"predet", "prt", "punct"}
LINKS = {"is", "are", "was", "were", "be", "become"}  # what a noun is said of a subject by
BEFORE = {"det", "predet", "poss", "amod", "compound", "nummod", "aux", "auxpass", "mark"}
AFTER = {"pobj", "pcomp", "conj", "case", "relcl", "appos", "prt", "acl", "agent", "cc"}
ONCE = ("nsubj", "nsubjpass", "dobj", "dative", "det", "pobj", "auxpass", "attr", "acomp", "mark")


def source(folder: str = "attnlab.language.texts", name: str = "treebank") -> str:
    return (files(folder) / "data" / f"{name}.conllu").read_text(encoding="utf-8")


class Word(NamedTuple):
    """A word in its tree, the relations of its dependents, and of all that hangs on its head."""

    tree: Tree
    place: int
    form: str
    kind: str
    relation: str
    head: int
    below: list[str]
    beside: list[str]

    def __repr__(self) -> str:
        return f"{self.relation}({self.tree.words[self.head]}, {self.form}) in: {self.tree.text}"


def hanging(tree: Tree, head: int) -> list[str]:
    """Return the relations of a word's dependents."""
    arcs = enumerate(zip(tree.heads, tree.relations, strict=True))
    return [name for i, (to, name) in arcs if to == head and i != head]


@cache
def words() -> tuple[Word, ...]:
    """Return all words of the treebank."""
    return tuple(
        Word(tree, i, form, kind, relation, head, hanging(tree, i), hanging(tree, head))
        for tree in treebank()
        for i, (form, kind, relation, head) in enumerate(
            zip(tree.words, tree.kinds, tree.relations, tree.heads, strict=True)
        )
    )


def test_words_relations_and_kinds_are_spacys_and_no_two_arcs_cross() -> None:
    cut = spacy.blank("en").tokenizer
    for tree in (*book_trees(), *treebank()):
        assert [token.text for token in cut(tree.text)] == list(tree.words)
    for tree in (*book_trees(), *treebank()):
        assert set(tree.relations) <= RELATIONS, tree.text
        assert set(tree.kinds) <= IDS.keys() - {""}, tree.text
    # English trees seldom cross; among so few sentences a crossing is a slip of the pen.
    for tree in (*book_trees(), *treebank()):
        spans = [sorted(pair) for pair in enumerate(tree.heads) if pair[0] != pair[1]]
        crossing = [(a, b) for a in spans for b in spans if a[0] < b[0] < a[1] < b[1]]
        assert crossing == [], tree.text


def test_text_and_relations_are_those_of_the_file() -> None:
    for text, trees in (
        (source("attnlab.language", "trees"), book_trees()),
        (source(), treebank()),
    ):
        written = re.findall(r"^# text = (.*)$", text, re.MULTILINE)
        assert written == [tree.text for tree in trees]
    named = " ".join(re.findall(r"^# relations = (.*)$", source(), re.MULTILINE)).split()
    used = {word.relation for word in words()}
    assert used == set(named)
    assert len(set(named)) == len(named)


def test_a_sentence_has_five_to_sixteen_words_and_no_piece_lies_in_two() -> None:
    for tree in treebank():
        assert 5 <= sum(kind != "PUNCT" for kind in tree.kinds) <= 16, tree.text
        assert tree.text[0].isupper(), tree.text
        assert tree.words[-1] in {".", "?"}, tree.text
    # Such a tokeniser cuts at spaces and at marks, so what follows no space begins with a mark.
    for tree in treebank():
        assert all(re.fullmatch(r"[A-Za-z]+|[.,?]|'s", word) for word in tree.words), tree.text
        for space, word in zip(tree.spaces[:-1], tree.words[1:], strict=True):
            assert space != (word in {".", ",", "?", "'s"}), tree.text


def test_no_sentence_is_there_twice_or_in_lecture_8_and_all_are_counted() -> None:
    texts = [tree.text.lower() for tree in treebank()]
    assert len(set(texts)) == len(texts)
    assert not set(texts) & {tree.text.lower() for tree in book_trees()}
    assert f"A treebank of {len(treebank())} English sentences" in source()
    assert f"the {len(treebank())} sentences" in str(treebank.__doc__)


def test_each_word_hangs_where_its_relation_allows() -> None:
    alike = {"AUX": "VERB", "PROPN": "NOUN"}
    for word in words():
        head, below = word.tree.kinds[word.head], set(word.below)
        assert word.kind in DEPENDENTS.get(word.relation, {word.kind}), word
        assert head in HEADS.get(word.relation, {head}), word
        assert not (word.relation in LEAVES and below), word
        assert [name for name in ONCE if word.below.count(name) > 1] == [], word
        assert not {"nsubj", "nsubjpass"} <= below, word
        assert ("nsubjpass" in below) == ("auxpass" in below), word
        if word.relation in BEFORE:
            assert word.place < word.head, word
        if word.relation in AFTER and word.form != "which":
            assert word.place > word.head, word
        match word.relation:
            case "prep" | "agent":
                assert word.below in (["pobj"], ["pcomp"]), word
                assert word.relation == "prep" or word.form == "by", word
                assert word.relation == "prep" or "auxpass" in word.beside, word
            case "dative":  # a relative clause may leave out its object
                assert "dobj" in word.beside or word.tree.relations[word.head] == "relcl", word
            case "cc":
                assert "conj" in word.beside, word
            case "poss":
                assert (word.kind == "NOUN") == ("case" in below), word
            case "conj":
                assert alike.get(word.kind, word.kind) == alike.get(head, head), word
            case "attr":
                assert word.tree.words[word.head] in LINKS, word
    for tree in treebank():
        assert tree.relations[tree.heads[-1]] == "root", tree.text  # of the last mark


def distances() -> dict[str, Counter[int]]:
    """Return, for each relation, how often its head stands so many words after the dependent."""
    found: dict[str, Counter[int]] = {}
    for word in words():
        found.setdefault(word.relation, Counter())[word.head - word.place] += 1
    return found


@pytest.mark.parametrize(
    ("relation", "at_most"),
    [
        *((name, 0.65) for name in ("det", "nsubj", "dobj", "pobj", "advmod", "aux", "xcomp")),
        *((name, 0.5) for name in ("conj", "advcl", "relcl", "mark", "ccomp", "nsubjpass")),
        *((name, 0.75) for name in ("amod", "prep", "poss")),
    ],
)
def test_no_fixed_distance_finds_the_head(relation: str, at_most: float) -> None:
    """A rule such as "the next word" must not find what a head of attention is praised for."""
    counts = distances()[relation]
    assert max(counts.values()) <= at_most * counts.total()
