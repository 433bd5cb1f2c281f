"""Pairs of sentences in which one word decides whom a pronoun means, after Winograd's.

A reader knows at once; the grammar does not say it. In many of the book's own pairs an association
of two words would do (streets are wide, animals get tired), so that they ask less than the pairs of
the Winograd Schema Challenge, which were chosen to rule that out.
"""

from functools import cache
from typing import NamedTuple

from attnlab.language.texts._table import read_table
from attnlab.language.tokens import tokenise


class PronounPair(NamedTuple):
    """Two sentences that differ in one word, and what their pronoun means in each.

    The pronoun of ``sentences[k]`` means ``meant[k]``, one word that stands there once; so does
    that of ``turned[k]``, which says the same with the two nouns in the other order. In
    ``sentences`` ``meant[0]`` comes first, in ``turned`` ``meant[1]``: whatever always chooses the
    first noun, or always the nearest, is right in one sentence of every two.

    ``source`` names the authors of a quoted pair (its ``turned`` is the book's), else "book".
    """

    sentences: tuple[str, str]
    turned: tuple[str, str]
    pronoun: str
    meant: tuple[str, str]
    source: str

    @property
    def changed(self) -> tuple[str, str]:
        """The word by which the first sentence differs from the second, and the second's."""
        first, second = (tokenise(sentence, plain=True) for sentence in self.sentences)
        (pair,) = ((a, b) for a, b in zip(first, second, strict=True) if a != b)
        return pair


@cache
def pronouns() -> tuple[PronounPair, ...]:
    """Return the 35 pairs, in the file's order: 29 with *it*, two each with *he*, *she*, *they*.

    Source: the first is Uszkoreit's (2017), of the figure that made it famous; the second is of
    Levesque, Davis and Morgenstern (2012).
    """
    return tuple(
        PronounPair(
            (row["a"], row["b"]),
            (row["turned_a"], row["turned_b"]),
            row["pronoun"],
            (row["means_a"], row["means_b"]),
            row["source"],
        )
        for row in read_table("pronouns.tsv")
    )
