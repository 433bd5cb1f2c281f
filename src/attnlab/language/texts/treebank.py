"""The book's treebank: English sentences with their dependency trees, annotated by hand.

The labels are those of lecture 8's sentences; the head of ``data/treebank.conllu`` says what was
decided where a choice could be made.
"""

from functools import cache
from importlib.resources import as_file, files

from attnlab.language.dependencies import Tree, read_trees


@cache
def treebank() -> tuple[Tree, ...]:
    """Return the 141 sentences of the treebank, in the file's order.

    Their relations are those of spaCy's English models: det, nsubj, dobj, prep, pobj and others.
    A sub-word tokeniser that cuts at spaces and marks cuts wherever a word ends: no piece of it
    belongs to two words.
    """
    with as_file(files("attnlab.language.texts") / "data" / "treebank.conllu") as path:
        return tuple(read_trees(path))
