"""Corpora: vocabularies, batches, generated pairs and toy tasks."""

from functools import partial

import torch

from attnlab import language
from tests.attnlab.refusals.rows import NAN, WHOLE, Calls, Row, rows

WORDS = language.Vocabulary([["a", "b"]])
WITH_UNKNOWN = language.Vocabulary([["a", "b"]], unknown="?")
PAIR = ([3], [4])
CALLS: Calls = {
    "language.Vocabulary": [
        (lambda: language.Vocabulary([]), "the corpus is empty"),
        (lambda: language.Vocabulary([[]]), "the corpus is empty"),
        (lambda: language.Vocabulary([["a"]], min_count=0), f"min_count {WHOLE}"),
        (lambda: language.Vocabulary(["ab"]), "is a string", TypeError),
        (lambda: language.Vocabulary([["<pad>"]]), "'<pad>' is there twice"),
        (lambda: WORDS.encode(["c"]), "'c' is not in the vocabulary of 5"),
        (lambda: WORDS.encode("ab"), "is a string", TypeError),
        (lambda: WORDS.decode([5]), "ids must be from 0 to 4: 5 is among"),
        (
            lambda: language.Vocabulary([[1, 2]]),
            "sentences must be made of strings: 1 is a int",
            TypeError,
        ),
        (
            lambda: language.Vocabulary([["a", None]]),
            "made of strings: None is a NoneType",
            TypeError,
        ),
        (
            lambda: language.Vocabulary([["a"]], unknown=3),
            "unknown must be made of strings",
            TypeError,
        ),
        (
            lambda: language.Vocabulary([["a"]], min_count=2),
            "must leave at least one token: it is 2",
        ),
        (
            lambda: language.Vocabulary([["a"]], min_count=2, unknown="?"),
            "must leave at least one token",
        ),
        (lambda: WITH_UNKNOWN.encode([3]), "tokens must be made of strings: 3 is a int", TypeError),
        (lambda: WORDS.decode([3.7]), "ids must be whole numbers: 3.7 is among them"),
        (lambda: WORDS.decode(torch.tensor([3.7])), "ids must be whole numbers: 3.7"),
        (lambda: WORDS.decode([3, True]), "ids must be whole numbers: True is among them"),
        (lambda: WORDS.decode([[3]]), "ids must be whole numbers: [3] is among them"),
        (lambda: WORDS.decode([-1]), "ids must be from 0 to 4: -1 is among them"),
        (lambda: WORDS.decode("34"), "ids must be a list of whole numbers: it is '34'", TypeError),
    ],
    "language.pad_batch": [
        (lambda: language.pad_batch([]), "at least one pair: there is none"),
        (lambda: language.pad_batch([PAIR, ([], [4])]), "that of pair 1 is empty"),
        (
            lambda: language.pad_batch([PAIR, ([1.5], [4])]),
            "source of pair 1 must be whole numbers: 1.5 is",
        ),
        (
            lambda: language.pad_batch([([3], [NAN])]),
            "target of pair 0 must be whole numbers: nan is among",
        ),
        (lambda: language.pad_batch([([True], [4])]), "must be whole numbers: True is among them"),
        (
            lambda: language.pad_batch([PAIR, ([3], [-1])]),
            "the target of pair 1 must be at least 1, for 0 is padding: -1",
        ),
        (lambda: language.pad_batch([([3, 0], [4])]), "0 is padding: 0 is among them"),
        (
            lambda: language.pad_batch([("ab", [4])]),
            "must be a list of whole numbers: it is 'ab'",
            TypeError,
        ),
        (
            lambda: language.pad_batch([([3], None)]),
            "target of pair 0 must be a list of wh",
            TypeError,
        ),
    ],
    "language.batches": [
        (lambda: language.batches([], 2), "the corpus is empty"),
        (lambda: language.batches([PAIR], 0), f"batch_size {WHOLE} 1: it is 0"),
        (lambda: language.batches([PAIR], 2, pool=0), f"pool {WHOLE} 1"),
        (lambda: language.batches([PAIR], 2, seed=-1), f"seed {WHOLE} 0"),
        (
            lambda: language.batches([PAIR, ([1.5], [4])], 1),
            "source of pair 1 must be whole numbers: 1.5",
        ),
        (
            lambda: language.batches([PAIR, ([3], [-1])], 1),
            "the target of pair 1 must be at least 1",
        ),
    ],
    "language.english_french": [
        (lambda: language.english_french(0), f"n {WHOLE} 1: it is 0"),
        (lambda: language.english_french(9, seed=-1), f"seed {WHOLE} 0"),
        (lambda: language.english_french(9, held_out=1), "held_out must"),
    ],
    "language.copied": [
        (lambda: language.copied(-1), f"n {WHOLE} 0"),
        (lambda: language.copied(3, shortest=4, longest=3), f"longest {WHOLE} 4"),
    ],
    "language.reversed_digits": [
        (lambda: language.reversed_digits(3, shortest=0), "shortest must"),
        (lambda: language.reversed_digits(9, longest=4, shortest=5), "5"),
    ],
    "language.dates": [
        (lambda: language.dates(2.5), f"n {WHOLE} 0: it is 2.5"),
        (lambda: language.dates(10**9), "n must be at most"),
    ],
    "language.book_tree": [
        (lambda: language.book_tree("I gave"), "of the book's treebank: it is 'I gave'"),
        (lambda: language.book_tree(None), "of the book's treebank: it is None"),
    ],
    "language.tokenise": [
        (lambda: language.tokenise("a", "it"), "one of en, fr, de: it is 'it'"),
    ],
}
ROWS = [
    *rows(CALLS),
    *(
        Row(f"language.{write}", partial(getattr(language, write), 3, seed=seed), f"seed {WHOLE} 0")
        for write in ("copied", "reversed_digits", "dates")
        for seed in (-1, 0.5)
    ),
]
