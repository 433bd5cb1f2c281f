"""Trees: the book's own treebank, and the reader of such files."""

from importlib.resources import files
from pathlib import Path

import pytest
import spacy
from spacy.parts_of_speech import IDS

from attnlab.language import Tree, book_tree, book_trees, read_trees

FOOD = "I gave my cat some food"
MASK = "The cat was scared because it didn't recognize me in my mask."
# the relations of spaCy's English models (the ClearNLP scheme), in the small letters of a file
NAMED = """
root acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj
csubj csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass
nummod oprd parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp
"""
RELATIONS = frozenset(NAMED.split())
trees = pytest.mark.parametrize("tree", book_trees(), ids=lambda tree: tree.text)


def row(number: int, word: str, head: int, relation: str = "dep", misc: str = "_") -> str:
    return f"{number}\t{word}\t_\tNOUN\t_\t_\t{head}\t{relation}\t_\t{misc}\n"


def read(folder: Path, text: str | bytes) -> list[Tree]:
    path = folder / "a.conllu"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_trees(path))


# --- the book's own -------------------------------------------------------------------------------


@trees
def test_the_words_are_those_that_spacy_cuts(tree: Tree) -> None:
    assert [token.text for token in spacy.blank("en")(tree.text)] == list(tree.words)


@trees
def test_relations_and_kinds_are_those_of_spacys_english_models(tree: Tree) -> None:
    assert set(tree.relations) <= RELATIONS
    assert set(tree.kinds) <= IDS.keys() - {""}
    assert tree.relations.count("root") == 1


@trees
def test_no_two_arcs_cross(tree: Tree) -> None:
    """English trees seldom cross; in this small treebank a crossing is a slip of the pen."""
    spans = [sorted(pair) for pair in enumerate(tree.heads) if pair[0] != pair[1]]
    crossing = [(a, b) for a in spans for b in spans if a[0] < b[0] < a[1] < b[1]]
    assert crossing == []


@trees
def test_the_text_in_the_file_is_the_text_of_the_words(tree: Tree) -> None:
    text = (files("attnlab.language") / "data" / "trees.conllu").read_text(encoding="utf-8")
    assert f"\n# text = {tree.text}\n" in text


def test_the_sentences_of_the_lecture_are_there() -> None:
    assert book_tree(FOOD).arcs == [
        ("nsubj", "gave", "I"),
        ("poss", "cat", "my"),
        ("dative", "gave", "cat"),
        ("det", "food", "some"),
        ("dobj", "gave", "food"),
    ]
    assert ("neg", "recognize", "n't") in book_tree(MASK).arcs
    assert len({tree.text for tree in book_trees()}) == len(book_trees())


def test_an_unknown_sentence_is_refused_by_its_text() -> None:
    with pytest.raises(ValueError, match="'I gave my cat'"):
        book_tree("I gave my cat")


# --- the reader -----------------------------------------------------------------------------------


def test_heads_count_from_zero_and_the_root_is_its_own(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, row(1, "Cats", 2, "nsubj") + row(2, "sleep", 0, "anything"))
    assert tree == Tree(
        ("Cats", "sleep"), (1, 1), ("nsubj", "root"), ("NOUN", "NOUN"), (True, False)
    )


def test_spaces_are_left_out_where_the_file_says_so(tmp_path: Path) -> None:
    text = row(1, "do", 0, misc="Gloss=x|SpaceAfter=No") + row(2, "n't", 1) + row(3, "go", 1)
    assert [tree.text for tree in read(tmp_path, text)] == ["don't go"]


def test_comments_ranges_and_empty_words_are_passed_over(tmp_path: Path) -> None:
    text = "# one\n1-2\tcannot" + "\t_" * 8 + "\n" + row(1, "can", 0) + "1.1\tx" + "\t_" * 8 + "\n"
    assert [tree.words for tree in read(tmp_path, text + row(2, "not", 1))] == [("can", "not")]


def test_sentences_end_at_blank_lines_and_at_the_end_of_the_file(tmp_path: Path) -> None:
    text = "\n\n" + row(1, "one", 0) + "\n \n" + row(1, "two", 0).rstrip("\n")
    assert [tree.text for tree in read(tmp_path, text)] == ["one", "two"]


def test_carriage_returns_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    text = row(1, "one", 0, misc="SpaceAfter=No").replace("\n", "\r\n")
    assert read(tmp_path, b"\xef\xbb\xbf" + text.encode())[0].text == "one"


def test_a_file_may_hold_no_sentence(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n\n") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (row(1, "a", 0) + row(3, "b", 1), "line 1: words must be numbered from 1 to 2"),
        (row(1, "a", 0) + row(2, "b", 3), "line 1: heads must be whole numbers from 0 to 2"),
        (row(1, "a", 0).replace("\t0\t", "\t_\t"), "heads must be whole numbers from 0 to 1"),
        (row(1, "a", 0) + row(2, "b", 0), "one word must have the head 0: 2 have it"),
        (row(1, "a", 2) + row(2, "b", 1), "one word must have the head 0: 0 have it"),
        (
            "# text\n" + row(1, "a", 0) + row(2, "b", 3) + row(3, "c", 2),
            "line 2: word 2 has no way to the root: a circle",
        ),
        (row(1, "a", 0) + "\n" + row(1, "b", 1), "line 3: one word must have the head 0"),
        (row(1, "a", 0).replace("\t", " "), "line 1: a word must have 10 columns"),
        (b"1\t\xff\n", "line 1: this is not UTF-8"),
    ],
)
def test_a_damaged_tree_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"a\.conllu") as caught:
        read(tmp_path, text)
    assert words in str(caught.value)


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.conllu"):
        read_trees(tmp_path / "nowhere.conllu")
