"""Opinions about everyday things, written by hand for the book: a set for classifiers.

Less than half of it can be answered word by word. The rest turns on a negation, on which of two
clauses comes last, on the order of the same words, or on an idiom.
"""

from functools import cache
from typing import Literal, NamedTuple, cast, get_args

from attnlab.language.texts._table import read_table
from attnlab.language.tokens import tokenise

LABELS = ("negative", "positive")
Kind = Literal["plain", "negation", "contrast", "order", "idiom"]
KINDS: tuple[str, ...] = get_args(Kind)


class Opinion(NamedTuple):
    """A sentence, whether it is in favour (label 1) or against (0), and what makes it hard.

    - plain: its words say it
    - negation: "The film is never boring."
    - contrast: the last clause decides
    - order: the sentence beside it has the same words in another order, and the other label
    - idiom: no word says it, or irony says the opposite
    """

    text: str
    label: int
    kind: Kind

    @property
    def words(self) -> list[str]:
        """The sentence's tokens in small letters."""
        return tokenise(self.text.lower(), plain=True)


class Opinions(NamedTuple):
    """The two parts of the set; each holds as many sentences against as in favour, in each kind."""

    train: tuple[Opinion, ...]
    test: tuple[Opinion, ...]


@cache
def opinions() -> Opinions:
    """Return 544 sentences to learn from and 222 to be tested by, in the file's order.

    Both sentences of a pair of kind "order" are in the same part, one after the other: whatever
    does not see the order of words gets exactly one of them right.
    """
    parts: dict[str, list[Opinion]] = {"train": [], "test": []}
    for row in read_table("opinions.tsv"):
        opinion = Opinion(row["sentence"], LABELS.index(row["label"]), cast(Kind, row["kind"]))
        parts[row["split"]].append(opinion)
    return Opinions(tuple(parts["train"]), tuple(parts["test"]))
