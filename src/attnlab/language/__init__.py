"""Sentences to learn from: the book's own parallel corpus, toy tasks, texts, and readers for yours.

- ``grammar``: what writes the English–French pairs with gold alignments, and judges a sentence
- ``toy``: copy, reverse, dates
- ``vocabulary``, ``batching``: from tokens to numbers to padded batches
- ``tokens``, ``readers``, ``vectors``: from text files to tokens, and to the rows of a vocabulary
- ``dependencies``: sentences with their trees, annotated by hand, and a reader for such files
- ``texts``: opinions, pronouns, minimal pairs and a treebank, written to look into a model with
"""

from attnlab.language.batching import Batch, batches, pad_batch
from attnlab.language.dependencies import Tree, book_tree, book_trees, read_trees
from attnlab.language.grammar.parallel import english_french
from attnlab.language.pairs import Corpus, Pair, crosses
from attnlab.language.readers import TextPair, read_aligned, read_multi30k, read_tab_separated
from attnlab.language.texts import (
    MinimalPair,
    Opinion,
    Opinions,
    PronounPair,
    minimal_pairs,
    opinions,
    pronouns,
    treebank,
)
from attnlab.language.tokens import detokenise, tokenise
from attnlab.language.toy import copied, dates, reversed_digits
from attnlab.language.vectors import read_vectors
from attnlab.language.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "Corpus",
    "MinimalPair",
    "Opinion",
    "Opinions",
    "Pair",
    "PronounPair",
    "TextPair",
    "Tree",
    "Vocabulary",
    "batches",
    "book_tree",
    "book_trees",
    "copied",
    "crosses",
    "dates",
    "detokenise",
    "english_french",
    "minimal_pairs",
    "opinions",
    "pad_batch",
    "pronouns",
    "read_aligned",
    "read_multi30k",
    "read_tab_separated",
    "read_trees",
    "read_vectors",
    "reversed_digits",
    "tokenise",
    "treebank",
]
