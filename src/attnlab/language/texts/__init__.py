"""English sentences written for the book, to look into a model with.

- ``minimal_pairs``: pairs of sentences of which English allows one
- ``opinions``: sentences in favour and against, for a classifier
- ``pronouns``: pairs of sentences in which one word decides whom a pronoun means
- ``treebank``: sentences with their dependency trees, annotated by hand
"""

from attnlab.language.texts.minimal_pairs import MinimalPair, minimal_pairs
from attnlab.language.texts.opinions import Opinion, Opinions, opinions
from attnlab.language.texts.pronouns import PronounPair, pronouns
from attnlab.language.texts.treebank import treebank

__all__ = [
    "MinimalPair",
    "Opinion",
    "Opinions",
    "PronounPair",
    "minimal_pairs",
    "opinions",
    "pronouns",
    "treebank",
]
