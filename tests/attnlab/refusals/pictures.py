"""Figures and arcs."""

from functools import partial

import numpy as np
import spacy

from attnlab.pictures import arcs, figures
from tests.attnlab.refusals.rows import Calls, Row, rows

EVEN, THREE_WORDS = np.full((2, 3), 1 / 3), ("a", "b", "c")
UNPARSED = spacy.blank("en")("no model, no arcs")
CALLS: Calls = {
    "pictures.arcs.arcs": [
        (lambda: arcs.arcs("a cat"), "must be a spaCy Doc or a Tree: it is a str", TypeError),
        (lambda: arcs.arcs(UNPARSED), "must be a sentence with dependencies: parse it first"),
        (lambda: arcs.arcs(UNPARSED[:0].as_doc()), "must be a sentence with dependencies"),
    ],
    "pictures.arcs.as_doc": [
        (lambda: arcs.as_doc(UNPARSED), "must be a Tree: it is a Doc", TypeError)
    ],
    "pictures.arcs.parse": [
        (lambda: arcs.parse(3), "text must be a string: it is a int", TypeError),
        (lambda: arcs.parse("I gave", "no_such_model"), "of the book's treebank: it is 'I gave'"),
    ],
    "pictures.figures.curves": [
        (
            lambda: figures.curves([1], {}, x_label="x", y_label="y"),
            "series must hold 1 to 6 curves: it holds 0",
        ),
        (
            lambda: figures.curves([1, 2], {"a": [1]}, x_label="x", y_label="y"),
            "must have as many numbers as x: it has 1, x has 2",
        ),
        (
            lambda: figures.curves([0, 1], {"a": [1, 2]}, x_label="x", y_label="y", log=True),
            "x must be positive for log=True",
        ),
    ],
    "pictures.figures.heatmap": [
        (
            lambda: figures.heatmap(EVEN + 1j, ("a", "b"), THREE_WORDS),
            "weights must hold real numbers, none of them masked: they are complex128",
        ),
        (
            lambda: figures.heatmap(np.ma.array(EVEN, mask=EVEN > 0), ("a", "b"), THREE_WORDS),
            "none of them masked: they are masked",
        ),
        (
            lambda: figures.heatmap(EVEN.astype("datetime64[D]"), ("a", "b"), THREE_WORDS),
            "weights must hold real numbers",
        ),
    ],
    "pictures.figures.alignment": [
        (
            lambda: figures.alignment(EVEN, THREE_WORDS, ("a", "b"), {(0, 2)}),
            "gold must link source words 0 to 2 with target words 0 to 1: (0, 2)",
        ),
        (
            lambda: figures.alignment(EVEN, ("a", "b"), ("a", "b")),
            "source must name each column of the weights",
        ),
    ],
    "pictures.figures.head_grid": [
        (
            lambda: figures.head_grid(EVEN, ("a", "b"), THREE_WORDS),
            "weights must have the shape (h, n_q, n_k)",
        ),
        (
            lambda: figures.head_grid(EVEN[None], ("a", "b"), THREE_WORDS, columns=0),
            "columns must be a whole number of at least 1",
        ),
        (
            lambda: figures.head_grid(EVEN[None], ("a", "b"), THREE_WORDS, names=("a", "b")),
            "names must name each head: there are 2 for 1 heads",
        ),
    ],
    "pictures.figures.Picture": [
        (
            lambda: figures.heatmap(EVEN, ("a", "b"), THREE_WORDS).save("a.jpg"),
            "path must end in .png: it is 'a.jpg'",
        ),
    ],
}
ROWS = [
    *rows(CALLS),
    *(
        Row(
            "pictures.figures.heatmap",
            partial(figures.heatmap, weights, ("a", "b"), THREE_WORDS),
            words,
        )
        for weights, words in (
            (EVEN[0], "weights must have the shape (n_q, n_k)"),
            (EVEN[:, :0], "the shape is (2, 0)"),
            (EVEN * np.nan, "must not hold NaN"),
            (EVEN * 9, "must be from 0 to 1: they go from 3 to 3"),
            (EVEN.T, "tokens must name each row of the weights: there are 2"),
        )
    ),
]
