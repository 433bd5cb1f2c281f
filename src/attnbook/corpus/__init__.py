"""Sentences to learn from: the book's own parallel corpus, toy tasks, and readers for others.

- ``parallel``: the English–French pairs with gold alignments, written by ``grammar``
- ``toy``: copy, reverse, dates
- ``vocabulary``, ``batching``: from tokens to numbers to padded batches
- ``tokens``, ``readers``: from text files to tokens
- ``trees``: sentences with their dependencies, annotated by hand, and a reader for such files
"""

from attnbook.corpus.batching import Batch, batches, pad_batch
from attnbook.corpus.pairs import Corpus, Pair, crosses
from attnbook.corpus.parallel import english_french
from attnbook.corpus.readers import TextPair, read_aligned, read_multi30k, read_tab_separated
from attnbook.corpus.tokens import detokenise, tokenise
from attnbook.corpus.toy import copied, dates, reversed_digits
from attnbook.corpus.trees import Tree, book_tree, book_trees, read_trees
from attnbook.corpus.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "Corpus",
    "Pair",
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
    "pad_batch",
    "read_aligned",
    "read_multi30k",
    "read_tab_separated",
    "read_trees",
    "reversed_digits",
    "tokenise",
]
