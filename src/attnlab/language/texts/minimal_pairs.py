"""Pairs of sentences that differ in little, of which English allows one: what a model prefers."""

from functools import cache
from typing import Literal, NamedTuple, cast, get_args

from attnlab.language.texts._table import read_table

PairKind = Literal[
    "agreement", "distant agreement", "article", "reflexive", "order", "verb form", "number"
]
KINDS: tuple[str, ...] = get_args(PairKind)


class MinimalPair(NamedTuple):
    """A sentence that English allows, one that it does not, and the rule that is broken.

    - agreement, distant agreement: of subject and verb; distant, a noun of the other number
      stands between them
    - article: *a* or *an*
    - reflexive: *herself* for a sister
    - order: the same words in another order
    - verb form: a tense or form that does not fit the words before it
    - number: a word such as *these* that does not fit its noun
    """

    right: str
    wrong: str
    kind: PairKind


@cache
def minimal_pairs() -> tuple[MinimalPair, ...]:
    """Return the 30 pairs, in the file's order: six of distant agreement, four of each other kind.

    Source: written for the book, after the kinds of Linzen, Dupoux and Goldberg (2016) and of
    Warstadt et al. (2020).
    """
    return tuple(
        MinimalPair(row["right"], row["wrong"], cast(PairKind, row["kind"]))
        for row in read_table("minimal_pairs.tsv")
    )
