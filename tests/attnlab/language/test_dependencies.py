"""Trees: the book's own treebank, and the reader of such files."""

from pathlib import Path

import pytest

from attnlab.language import Tree, book_tree, book_trees, read_trees

FOOD = "I gave my cat some food"
MASK = "The cat was scared because it didn't recognize me in my mask."


def row(number: int, word: str, head: int, relation: str = "dep", misc: str = "_") -> str:
    return f"{number}\t{word}\t_\tNOUN\t_\t_\t{head}\t{relation}\t_\t{misc}\n"


def read(folder: Path, text: str) -> list[Tree]:
    path = folder / "a.conllu"
    path.write_bytes(text.encode())
    return list(read_trees(path))


def test_the_lectures_trees_are_there_and_heads_count_from_zero(tmp_path: Path) -> None:
    assert book_tree(FOOD).arcs == [
        ("nsubj", "gave", "I"),
        ("poss", "cat", "my"),
        ("dative", "gave", "cat"),
        ("det", "food", "some"),
        ("dobj", "gave", "food"),
    ]
    assert ("neg", "recognize", "n't") in book_tree(MASK).arcs
    assert len({tree.text for tree in book_trees()}) == len(book_trees())
    (tree,) = read(tmp_path, row(1, "Cats", 2, "nsubj") + row(2, "sleep", 0, "anything"))
    assert tree == Tree(
        ("Cats", "sleep"), (1, 1), ("nsubj", "root"), ("NOUN", "NOUN"), (True, False)
    )


JOINED = "SpaceAfter=No"
BLANK = "\t_" * 8 + "\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (row(1, "do", 0, misc=f"Gloss=x|{JOINED}") + row(2, "n't", 1), "don't"),
        (f"# one\n1-2\tcannot{BLANK}{row(1, 'can', 0)}1.1\tx{BLANK}{row(2, 'not', 1)}", "can not"),
        ("\n\n" + row(1, "one", 0) + "\n \n" + row(1, "two", 0).rstrip("\n"), "one / two"),
        ("\ufeff" + row(1, "one", 0, misc=JOINED).replace("\n", "\r\n"), "one"),
        ("# nothing\n\n", ""),
    ],
    ids=["no space", "comments, ranges and empty words", "two", "as Windows writes", "none"],
)
def test_sentences_are_read(tmp_path: Path, text: str, wanted: str) -> None:
    assert " / ".join(tree.text for tree in read(tmp_path, text)) == wanted
