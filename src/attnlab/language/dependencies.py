"""Sentences with their dependency trees: a small treebank, and a reader for such files.

A dependency tree names for each word its head, the word that it depends on, and the relation
between the two. Files are in the ten columns of CoNLL-U, one word a line.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

_COLUMNS = 10


class Tree(NamedTuple):
    """A sentence and its dependencies; the root is its own head, and its relation is "root".

    ``heads`` count words from 0; ``kinds`` are universal parts of speech; ``spaces`` say after
    which words the text has a space, and never after the last.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    kinds: tuple[str, ...]
    spaces: tuple[bool, ...]

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        pairs = zip(self.words, self.spaces, strict=True)
        return "".join(word + " " * space for word, space in pairs)

    @property
    def arcs(self) -> list[tuple[str, str, str]]:
        """The relation, head and dependent of each word but the root, in the sentence's order."""
        found = zip(self.relations, self.heads, self.words, strict=True)
        return [(name, self.words[head], word) for name, head, word in found if name != "root"]


def read_trees(path: str | Path) -> Iterator[Tree]:
    """Read the trees of a CoNLL-U file, one sentence at a time.

    Comments, lemmas, features and the ranges of multi-word tokens are passed over.

    Raises: FileNotFoundError at once where there is no file; while reading, ValueError that names
    the line: bytes that are not UTF-8, a word without ten columns, a number out of place, a
    sentence with no root or several, a word with no way to it.
    Source: Universal Dependencies, https://universaldependencies.org/format.html.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return _trees(path.read_bytes(), path.name)


@cache
def book_trees() -> tuple[Tree, ...]:
    """Return the sentences that the book has annotated by hand, in the file's order."""
    name = "trees.conllu"
    return tuple(_trees((files("attnlab.language") / "data" / name).read_bytes(), name))


def book_tree(text: str) -> Tree:
    """Return the book's own tree of a sentence.

    Raises: ValueError for a sentence that the book has not annotated.
    """
    for tree in book_trees():
        if tree.text == text:
            return tree
    raise ValueError(f"text must be a sentence of the book's treebank: it is {text!r}")


def _trees(data: bytes, name: str) -> Iterator[Tree]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"{name}, line {line}: this is not UTF-8") from error
    rows: list[list[str]] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        line = line.removesuffix("\r")
        if not line.strip():
            if rows:
                yield _tree(rows, f"{name}, line {number - len(rows)}")
            rows = []
        elif not line.startswith("#"):
            row = line.split("\t")
            if len(row) != _COLUMNS:
                raise ValueError(
                    f"{name}, line {number}: a word must have {_COLUMNS} columns with tabs "
                    f"between them: it has {len(row)}"
                )
            if row[0].isdigit():  # 3-4 is a range of words, 5.1 an empty one
                rows.append(row)


def _tree(rows: list[list[str]], where: str) -> Tree:
    n = len(rows)
    if [row[0] for row in rows] != [str(i) for i in range(1, n + 1)]:
        raise ValueError(f"{where}: words must be numbered from 1 to {n}")
    if any(not row[6].isdigit() or int(row[6]) > n for row in rows):
        raise ValueError(f"{where}: heads must be whole numbers from 0 to {n}")
    roots = [i for i, row in enumerate(rows) if row[6] == "0"]
    if len(roots) != 1:
        raise ValueError(f"{where}: one word must have the head 0: {len(roots)} have it")
    heads = [int(row[6]) - 1 if row[6] != "0" else i for i, row in enumerate(rows)]
    _check_ways(heads, roots[0], where)
    relations = ["root" if i == roots[0] else row[7] for i, row in enumerate(rows)]
    spaces = ["SpaceAfter=No" not in row[9].split("|") for row in rows[:-1]] + [False]
    words, kinds = ([row[column] for row in rows] for column in (1, 3))
    return Tree(tuple(words), tuple(heads), tuple(relations), tuple(kinds), tuple(spaces))


def _check_ways(heads: list[int], root: int, where: str) -> None:
    for word in range(len(heads)):
        step, seen = word, set()
        while step != root:
            if step in seen:
                raise ValueError(f"{where}: word {word + 1} has no way to the root: a circle")
            seen.add(step)
            step = heads[step]
