"""What widgets refuse, as an argument and as an assignment: each says what is wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
import traitlets

from attnbook.layers import DecoderBlock, EncoderBlock
from attnbook.positions import Rotary
from attnbook.rnn import RNNSeq2Seq
from attnlab.language import Vocabulary
from attnlab.pictures import Schematic
from attnlab.widgets import (
    AlignmentPlayer,
    AttentionHeatmap,
    AttentionSteps,
    BeamTree,
    CacheCalculator,
    HeadBrowser,
    HeadGrid,
    MaskPainter,
    PageTable,
    PositionExplorer,
    RoleProjection,
    RotaryClocks,
    Speculation,
    TileSteps,
    Translator,
    UnrolledModel,
    Visibility,
)
from attnlab.widgets.kinds import KINDS
from tests.attnlab.pictures.drawings import three_roles, tower
from tests.attnlab.widgets.examples import (
    CAT,
    DAY,
    DETERMINERS,
    DIGITS,
    EOS,
    EXAMPLES,
    HUNT,
    LAYER,
    NAMES,
    NUTS,
    TOKENS,
    WIDE,
    WORDS,
    X,
    attention,
    block,
    dataflow,
    flow,
    full_table,
    guess,
    hunt,
    learned,
    lesson,
    model,
    paper,
    question,
    seen_by,
    small,
)

TWO = np.stack([X, np.array(X)[::-1]]).astype(float)  # (2, 3, 3)
W = attention(6)
MANY = Vocabulary([[f"w{i}" for i in range(41)]])
LONG = "the small black cat does not eat the red apple"


def two_heads(**changes) -> HeadGrid:
    return HeadGrid(**({"query": TWO, "key": TWO, "tokens": TOKENS} | changes))


def projected(**changes) -> RoleProjection:
    given = {"vectors": X, "tokens": TOKENS, "w_q": X, "w_k": X, "w_v": X}
    return RoleProjection(**(given | changes))


def beam(table=DETERMINERS, **changes) -> BeamTree:
    return BeamTree(table, **changes)


def seeing(**changes) -> HeadBrowser:
    return HeadBrowser(**({"sentences": [(WIDE, W)]} | changes))


def unrolled(**changes) -> UnrolledModel:
    given = {"model": model(), "source": DIGITS, "target": DIGITS, "sentence": list("31415")}
    return UnrolledModel(**(given | changes))


def translating(**changes) -> Translator:
    _, source, target = lesson()
    given = {"model": small(), "source_vocabulary": source, "target_vocabulary": target}
    return Translator(**(given | changes))


def without(*prefix: str) -> dict:
    return {key: row for key, row in DETERMINERS.items() if key != prefix}


def changed(place: int, value: object) -> list[tuple]:
    example = list(CAT)
    example[place] = value
    return [DAY, tuple(example)]


def heavy(value: float) -> EncoderBlock:
    """A block with one weight that is not usable."""
    one = block()
    with torch.no_grad():
        one.feed_forward.widen.weight[0, 0] = value
    return one


def biased(value: float) -> RNNSeq2Seq:
    one = model()
    with torch.no_grad():
        one.decoder.output.bias[0] = value
    return one


# of each kind: what makes it, and what it refuses with which words (and error)
BAD = {
    "heatmap": (AttentionHeatmap, [
        ({"query": X, "tokens": TOKENS[:2]}, "tokens"),
        ({"query": [[1, float("nan")]], "tokens": ["a"]}, "finite"),
        ({"query": [1, 2], "tokens": ["a", "b"]}, "dimensions"),
        ({"query": [[1], [1, 2]], "tokens": ["a", "b"]}, "equal length"),
        ({"query": X, "tokens": TOKENS, "temperature": 0}, "temperature"),
        ({"query": X, "tokens": TOKENS, "pinned": 3}, "pinned"),
        ({"query": X, "tokens": TOKENS, "head": 1}, "head"),
        ({"query": X, "tokens": TOKENS, "mask": [[True]]}, "mask"),
        ({"query": X, "tokens": TOKENS, "mask": np.ones((3, 3))}, "bool"),
        ({"query": X, "key": X[:2], "tokens": TOKENS}, "key_tokens"),
        ({"query": X, "key": [[1, 2]], "tokens": TOKENS}, "same d"),
        ({"tokens": TOKENS}, "query"),
        ({"query": X, "scores": X, "tokens": TOKENS}, "query"),
        ({"query": X, "d": 3, "tokens": TOKENS}, "scores"),
        ({"scores": X, "d": 0, "tokens": TOKENS}, "d must"),
        ({"query": X, "tokens": "had"}, "list of strings", TypeError),
        ({"query": X, "tokens": [1, 2, 3]}, "strings", TypeError),
    ]),
    "steps": (AttentionSteps, [
        ({"vectors": X, "tokens": TOKENS, "query": 3}, "query"),
        ({"vectors": X, "tokens": TOKENS, "step": 5}, "step"),
        ({"vectors": [[1e7]], "tokens": ["a"]}, "vectors"),
        ({"vectors": np.ones((13, 2)), "tokens": ["a"] * 13}, "12"),
        ({"vectors": X, "tokens": TOKENS * 2}, "tokens"),
    ]),
    "tiles": (TileSteps, [
        ({"scores": [[1.0]], "values": [1]}, "scores must have 1 dimensions"),
        ({"scores": np.ones(17), "values": np.ones(17)}, "at most 16 numbers, got 17"),
        ({"scores": [1001], "values": [1]}, "scores must hold numbers up to 1,000"),
        ({"scores": [1], "values": [1e7]}, "values must hold numbers up to 1,000,000"),
        ({"scores": [1, 2], "values": [1]}, "values must be 2 numbers, one for each key, got 1"),
        ({"scores": [1, 2], "values": [1, float("nan")]}, "finite"),
        ({"scores": [1, 2], "values": [1, 1], "tile": 3}, "tile"),
        ({"scores": [1, 2], "values": [1, 1], "tile": 0}, "tile"),
        ({"scores": [1, 2], "values": [1, 1], "step": 3}, "step"),
        ({"scores": [1, 2], "values": [1, 1], "factor": "no"}, "factor", TypeError),
    ]),
    "pages": (PageTable, [
        ({"n_pages": 0}, "n_pages must be a whole number from 1 to 16, got 0"),
        ({"n_pages": 17}, "n_pages must be a whole number"),
        ({"page": 9}, "page must be a whole number from 1 to 8, got 9"),
        ({"page": 2.0}, "page must be a whole number"),
        ({"longest": 65}, "longest must be a whole number from 1 to 64"),
        ({"actions": "start"}, "actions must be a list of strings", TypeError),
        ({"actions": [1]}, "actions must hold strings", TypeError),
        ({"actions": ["stop"]}, 'actions must hold "start", and "write", "fork" or "end" with'),
        ({"actions": ["start", "write"]}, "with a text from 1 to 4, got 'write'"),
        ({"actions": ["start", "write 5"]}, "with a text from 1 to 4, got 'write 5'"),
        ({"actions": ["start 1"]}, "actions must hold"),
        ({"actions": ["start", "write 2"]}, 'actions holds "write 2", when there is no text 2'),
        ({"actions": ["start", "end 1", "end 1"]}, "when there is no text 1"),
        ({"actions": ["start"] * 5}, 'holds "start", when there are 4 texts already'),
        ({"actions": [*["start"] * 4, "fork 2"]}, 'holds "fork 2", when there are 4 texts'),
        ({"actions": ["start"] + ["write 1"] * 400}, "at most 400 actions, got 401"),
    ]),
    "painter": (MaskPainter, [
        ({"query": X, "tokens": TOKENS[:2]}, "tokens"),
        ({"query": [X, X], "tokens": TOKENS}, "query must have 2 dimensions"),
        ({"scores": [X, X], "tokens": TOKENS}, "scores must have 2 dimensions"),
        ({"query": X, "key": [[1, 2]], "tokens": TOKENS}, "same d"),
        ({"query": X, "key": X[:2], "tokens": TOKENS}, "key_tokens"),
        ({"query": np.ones((17, 2)), "tokens": ["a"] * 17},
         "at most 16 queries and 16 keys.*17 × 17"),
        ({"scores": [[1e7]], "tokens": ["a"]}, "scores must be at most 1,000,000"),
        ({"query": [[1, float("nan")]], "tokens": ["a"]}, "finite"),
        ({"tokens": TOKENS}, "query"),
        ({"query": X, "d": 3, "tokens": TOKENS}, "scores"),
        ({"query": X, "tokens": TOKENS, "mask": np.ones((3, 3))}, "mask must be of bool"),
        ({"query": X, "tokens": TOKENS, "mask": [[True]]}, r"mask must have shape \(3, 3\)"),
        ({"query": X, "tokens": TOKENS, "fill": "inf"}, "fill must be one of none, nan, .*'inf'"),
        ({"query": X, "tokens": TOKENS, "show": "both"}, "show must be one of weights, gradient"),
        ({"query": X, "tokens": TOKENS, "temperature": 0}, "temperature"),
        ({"query": X, "tokens": TOKENS, "pinned": 3}, "pinned"),
        ({"query": X, "tokens": TOKENS, "lengths": 4},
         "lengths must be one whole number from 0 to 3"),
        ({"query": X, "tokens": TOKENS, "lengths": [1, 2]}, "lengths"),
        ({"query": X, "tokens": TOKENS, "lengths": 1.5}, "lengths"),
        ({"query": X, "tokens": TOKENS, "scaled": 1}, "scaled must be True or False", TypeError),
        ({"query": X, "tokens": "had"}, "list of strings", TypeError),
    ]),
    "heads": (two_heads, [
        ({"tokens": TOKENS[:2]}, "tokens must be 3 strings"),
        ({"query": [[[1.0, float("nan")]]], "key": None, "tokens": ["a"]}, "finite"),
        ({"query": [1, 2]}, "dimensions"),
        ({"key": TWO[:1]}, "same number of heads"),
        ({"query": None}, "scores: one of the two"),
        ({"key": TWO[:, :2]}, "there are 2 keys but 3 tokens: give key_tokens"),
        ({"names": ["only one"]}, "names must be 2 strings, one for each head, got 1"),
        ({"chosen": [2]}, "chosen must be a whole number from -2 to 1, got 2"),
        ({"chosen": 1}, "chosen must be a list of heads, got 1"),
        ({"chosen": "01"}, "chosen must be a list of heads"),
        ({"row": 3}, "row must be a whole number from -3 to 2, got 3"),
        ({"large": "both"}, 'large must be one of "one", "chosen", "average", got \'both\''),
        ({"temperature": 0}, "temperature"),
        ({"mask": np.ones((3, 3))}, "bool"),
        ({"mask": np.ones((2, 3, 3), bool)}, r"mask must have shape \(3, 3\)"),
        ({"query": np.ones((17, 1, 1)), "key": None, "tokens": ["a"]},
         "at most 16 heads .* got 17"),
        (
            {"query": np.ones((7, 3, 1)), "key": None, "chosen": range(7)},
            "chosen must be at most 6 heads, got 7",
        ),
        ({"causal": "yes"}, "causal must be True or False", TypeError),
        ({"names": "ab"}, "names must be a list of strings", TypeError),
    ]),
    "roles": (projected, [
        ({"vectors": np.ones((7, 3)), "tokens": ["a"] * 7}, "vectors must be at most 6 × 4"),
        ({"vectors": np.ones((2, 5)), "tokens": ["a"] * 2}, "vectors must be at most 6 × 4"),
        ({"vectors": [[1e4, 0, 0]], "tokens": ["a"]}, "vectors must hold numbers up to 1,000"),
        ({"vectors": [1, 2, 3]}, "vectors must have 2 dimensions"),
        ({"w_q": np.ones((2, 3))}, r"w_q must have 3 rows.* got shape \(2, 3\)"),
        ({"w_v": np.ones((4, 3))}, r"w_v must have 3 rows.* got shape \(4, 3\)"),
        ({"w_k": np.ones((3, 2))}, r"w_q and w_k must have the same number of columns"),
        ({"w_v": np.ones((3, 5))}, r"w_v must be at most 4 × 4, got shape \(3, 5\)"),
        ({"w_k": [[1, 2, 3], [1, 2]]}, "w_k must be numbers in rows of equal length"),
        ({"w_k": [[float("nan")] * 3] * 3}, "w_k must be finite"),
        ({"tokens": TOKENS[:2]}, "tokens must be 3 strings"),
        ({"token": 3}, "token must be a whole number from -3 to 2"),
        ({"step": 0}, "step must be a finite number above 0"),
        ({"scaled": 1}, "scaled must be True or False", TypeError),
        ({"causal": "yes"}, "causal must be True or False", TypeError),
    ]),
    "beam": (beam, [
        ({"table": {("a",): {"b": 1}}}, "for ('a',), but 'a' is not among the words after ()"),
        ({"table": {}}, "table must begin with the empty prefix ()"),
        ({"table": {(): {}}}, "table[()] must hold at least one word: it is empty"),
        ({"table": {(): {"a": 0.7, "b": 0.4}}},
         "table[()] must sum to at most 1, got a sum of 1.1"),
        ({"table": {(): {"a": -0.1}}}, "table[()] must hold probabilities from 0 to 1, got -0.1"),
        ({"table": {(): {"a": float("nan")}}}, "must hold probabilities from 0 to 1, got nan"),
        ({"table": {(): {"a": "0.5"}}}, "must hold probabilities from 0 to 1, got '0.5'"),
        ({"table": {(): {EOS: 0.5}, (EOS,): {"a": 1}}}, "table must not go on after '</s>'"),
        ({"table": without("le", "chat")}, "('le', 'chat'): a beam of 1 has to extend it"),
        ({"table": without("la", "souris", "grise"), "max_length": 4},
         "a beam of 4 has to extend it"),
        ({"max_length": 5, "beams": 6}, "beams must be a whole number from 1 to 5"),
        ({"beam": 0}, "beam must be a whole number from 1 to 5, got 0"),
        ({"beam": 3, "beams": 2}, "beam must be a whole number from 1 to 2, got 3"),
        ({"beam": True}, "beam must be a whole number from 1 to 5, got True"),
        ({"penalty": -1}, "penalty must be a number from 0 to 2, got -1"),
        ({"penalty": float("nan")}, "penalty must be a number from 0 to 2, got nan"),
        ({"penalty": "1"}, "penalty must be a number from 0 to 2, got '1'"),
        ({"step": 5}, "step must be a whole number from -5 to 4, got 5"),
        ({"max_length": 21}, "max_length must be a whole number from 1 to 20"),
        ({"table": without("le", "chien", "noir"), "max_length": 4, "editable": True},
         "editable=True"),
        ({"table": full_table(0), "editable": True},
         "at most 30 numbers where they can be edited, got 160"),
        ({"table": [((), {"a": 1})]}, "table must be a dict from prefixes", TypeError),
        ({"table": {"": {"a": 1}}}, "must have tuples of words as its keys, got ''", TypeError),
        ({"table": {(): ["a"]}}, "must be a dict from words to probabilities, got", TypeError),
        ({"table": {(): {1: 0.5}}}, "from words to probabilities, got {1: 0.5}", TypeError),
    ]),
    "scores": (learned, [
        ({"query": [1, 2, 3]}, r"query must have the shape \(2,\), got shape \(3,\)"),
        ({"query": [[1, 2]]}, "query must have 1 dimensions"),
        ({"query": [1, 4.5]}, "query must hold numbers from −4 to 4"),
        ({"query": ["a", 1]}, "query must be numbers"),
        ({"keys": [[1, 2]], "tokens": ["a"]},
         r"keys must have the shape \(n, 2\) with n from 2 to 5"),
        ({"keys": [[0, 0]] * 6}, r"keys must have the shape .* got shape \(6, 2\)"),
        ({"keys": [[1, 2, 3]] * 3}, r"keys must have the shape .* got shape \(3, 3\)"),
        ({"keys": [[5, 0], [0, 0]]}, "keys must hold numbers from −4 to 4"),
        ({"keys": [[1, float("nan")]] * 3}, "keys must be finite"),
        ({"keys": [[1, 2], [1]]}, "keys must be numbers in rows of equal length"),
        ({"tokens": NAMES[:2]}, "tokens must be 3 strings"),
        ({"w": [[1, 2, 3]] * 2}, r"w must have the shape \(2, 2\), got shape \(2, 3\)"),
        ({"w": [[11, 0], [0, 0]]}, "w must hold numbers from −10 to 10"),
        ({"w_q": [[1] * 5] * 2}, r"w_q must have the shape \(2, h\) with h from 1 to 4"),
        ({"w_k": [[1, 2], [3, 4]]}, r"the same number of columns.*w_k \(2, 2\), v \(3,\)"),
        ({"v": [1, 2]}, r"v as many numbers: got the shapes w_q \(2, 3\).* v \(2,\)"),
        ({"v": [1, 2, 3, 4, 5]}, r"v must have the shape \(h,\) with h from 1 to 4"),
        ({"v": []}, "v is empty"),
        ({"chosen": 4}, "chosen must be a whole number from -4 to 3"),
        ({"tanh": 1}, "tanh must be True or False", TypeError),
        ({"tokens": ["a", "b", 3]}, "tokens must hold strings", TypeError),
    ]),
    "player": (AlignmentPlayer, [
        ({"examples": []}, r"examples must be 1 to 10 of \(source tokens, .*got \[\]"),
        ({"examples": 3}, "examples must be 1 to 10 of .*got 3"),
        ({"examples": "cat"}, "examples must be 1 to 10"),
        ({"examples": [CAT] * 11}, "examples must be 1 to 10"),
        ({"examples": [CAT[:3]]}, r"examples\[0\] must be \(source tokens, target tokens, weights"),
        ({"examples": changed(2, [[1, 0, 0]])},
         r"weights of examples\[1\] must have shape \(3, 3\)"),
        ({"examples": changed(2, [1, 2, 3])}, r"weights of examples\[1\] must have 2 dimensions"),
        ({"examples": changed(2, [[0.5] * 3] * 3)},
         r"examples\[1\] must sum to 1 in .*sums to 1.5"),
        ({"examples": changed(2, [[2, -1, 0]] * 3)}, r"examples\[1\] must be at least 0, but -1"),
        (
            {"examples": changed(2, [[float("nan")] * 3] * 3)},
            r"weights of examples\[1\] must be finite",
        ),
        ({"examples": changed(0, [])}, r"weights of examples\[1\] must have shape \(3, 0\)"),
        ({"examples": changed(3, [(3, 0)])}, r"gold of examples\[1\] must be pairs .*from 0 to 2"),
        ({"examples": changed(3, [(0, -1)])}, r"gold of examples\[1\] must be pairs"),
        ({"examples": changed(3, [(0, 1.5)])}, r"gold of examples\[1\] must be pairs"),
        ({"examples": changed(3, [(True, 0)])}, r"gold of examples\[1\] must be pairs"),
        ({"examples": changed(3, 3)}, r"gold of examples\[1\] must be pairs .*or None, got 3"),
        ({"examples": changed(3, ["ab"])}, r"gold of examples\[1\] must be pairs"),
        ({"examples": [(["a"] * 25, ["b"], [[0.04] * 25], None)]},
         "at most 24 tokens a side.*1 × 25"),
        ({"examples": [CAT], "chosen": 1}, "chosen must be a whole number from -1 to 0"),
        ({"examples": [CAT], "word": 3}, "word must be a whole number from -3 to 2"),
        ({"examples": [CAT], "threshold": 1.1}, "threshold must be a number from 0 to 1, got 1.1"),
        ({"examples": [CAT], "threshold": -0.1}, "threshold must be a number from 0 to 1"),
        ({"examples": [CAT], "threshold": "half"}, "threshold must be a number from 0 to 1"),
        ({"examples": [CAT], "threshold": float("nan")}, "threshold must be a number from 0 to 1"),
        ({"examples": [CAT], "temperature": 0}, "temperature must be a finite number above 0"),
        ({"examples": changed(0, "the")},
         "the source of examples[1] must be a list of strings", TypeError),
        ({"examples": changed(0, [1, 2, 3])},
         "the source of examples[1] must hold strings, got 1", TypeError),
        ({"examples": changed(1, "the")},
         "the target of examples[1] must be a list of strings", TypeError),
        ({"examples": changed(1, [1, 2, 3])},
         "the target of examples[1] must hold strings, got 1", TypeError),
    ]),
    "visibility": (Visibility, [
        ({"found": {}}, "found must be a Visible, got {}", TypeError),
        ({"found": seen_by(tokens=[])}, "tokens must be 1 to 32, got 0"),
        ({"found": seen_by(tokens=["a"] * 33)}, "tokens must be 1 to 32, got 33"),
        ({"found": seen_by(heads=9)}, "heads must be 1 to 8, got 9"),
        ({"found": seen_by()._replace(tokens=["a"])}, r"scores must have shape (1, 1), got (4, 4)"),
        ({"found": seen_by(size=np.inf)}, "scores must be finite"),
        ({"found": seen_by(tokens=[1, 2])}, "tokens must hold strings", TypeError),
        *(
            ({"found": seen_by(), "measured": ("all",)} | changes, *words)
            for changes, *words in [
                ({"measured": "all"}, "measured must be a list of strings", TypeError),
                ({"measured": ("last 65",)}, "measured must hold names like 'all'"),
                ({"measured": ("tokens 20 to 23, last 252",)}, "measured must hold names like"),
                ({"window": 0}, "window must be a whole number from 1 to 4, got 0"),
                ({"window": 5}, "window must be a whole number from 1 to 4, got 5"),
                ({"top": 0}, "top must be a whole number from 1 to 4, got 0"),
                ({"first": 3}, "first must be 0, 1, 2 or 4, got 3"),
                ({"first": True}, "first must be 0, 1, 2 or 4, got True"),
                ({"head": 2}, "head must be a whole number from -2 to 1, got 2"),
                ({"row": 4}, "row must be a whole number from -4 to 3, got 4"),
            ]
        ),
    ]),
    "unrolled": (unrolled, [
        ({"sentence": []}, "sentence must hold 1 to 12 tokens, got 0"),
        ({"sentence": ["3"] * 13}, "sentence must hold 1 to 12 tokens, got 13"),
        ({"sentence": "314"}, "sentence must be a list of strings", TypeError),
        ({"sentence": ["3", "x"]}, "'x', which the model does not know; it knows 0, 1"),
        ({"sentence": ["<eos>"]}, "sentence holds '<eos>'"),
        ({"step": 99}, "step must be a whole number from"),
        ({"forced": {0: "7"}}, "forced must name steps of the decoder from 1 to 10"),
        ({"forced": {11: "7"}}, "got 11"),
        ({"forced": {1.5: "7"}}, "got 1.5"),
        ({"forced": {True: "7"}}, "got True"),
        ({"forced": {1: "x"}}, "forced holds 'x'.* it knows <eos>, 0"),
        ({"forced": {1: "<bos>"}}, "forced holds '<bos>'"),
        ({"forced": {1: ["7"]}}, "forced holds"),
        ({"forced": "77"}, "forced must be a list of strings", TypeError),
        ({"model": torch.nn.Linear(2, 2)}, "model must be an RNNSeq2Seq, got a Linear", TypeError),
        ({"source": list("0123")}, "source must be a Vocabulary, got a list", TypeError),
        ({"target": None}, "target must be a Vocabulary, got a NoneType", TypeError),
        ({"source": WORDS}, "source must be the model's vocabulary: it has 8 tokens"),
        ({"target": WORDS}, "the model's decoder knows 13"),
        ({"target": MANY}, "target must hold at most 40 words, got 41"),
        ({"model": RNNSeq2Seq(13, 13, 8)}, "must have order='none', got order='bahdanau'"),
        ({"model": model(d=34)}, "d_model of at most 32, got 34"),
        ({"model": model(d=32)}, "at most 12,000 weights.* got 13,453"),
        ({"model": biased(float("nan"))}, "finite"),
        ({"model": biased(1e4)}, "at most 1,000 in size"),
    ]),
    "browser": (seeing, [
        ({"sentences": []}, "sentences must be 1 to 20 of (tokens, weights), got 0"),
        ({"sentences": "abc"}, "sentences must be 1 to 20 of (tokens, weights), got 'abc'"),
        ({"sentences": [(WIDE, W)] * 21}, "got 21"),
        ({"sentences": [WIDE]}, "sentences[0] must be (tokens, weights)"),
        ({"sentences": [("wide", W)]}, "the tokens of sentences[0] must be a list", TypeError),
        ({"sentences": [(["a"], W[..., :1, :1])]}, "must be 2 to 20, got 1"),
        ({"sentences": [(WIDE[:5], W)]}, "(layers, heads, 5, 5)"),
        ({"sentences": [(WIDE, W[0])]}, "must have 4 dimensions"),
        ({"sentences": [(WIDE, W * np.nan)]}, "must be finite"),
        ({"sentences": [(WIDE, np.log(W))]}, "must be at least 0 and each row must sum"),
        ({"sentences": [(WIDE, W / 2)]}, "rows sum to 0.5 to 0.5"),
        ({"sentences": [(WIDE, W.repeat(49, 0))]}, "at most 288 heads in all"),
        ({"sentences": [(WIDE, W), (WIDE, W[:1])]}, "must all have the same layers"),
        ({"sentences": [(WIDE, W)] * 20, "read": str}, "must be 1 to 19 of (tokens, weights)"),
        ({"read": "model"}, "read must be a function of a text, got 'model'", TypeError),
        ({"names": ["a", "b"]}, "names must be 1 strings"),
        ({"names": "a"}, "names must be a list of strings", TypeError),
        ({"asset": "../heads"}, "asset must be a name of lower-case letters"),
        ({"chosen": 1}, "chosen must be a whole number"),
        ({"layer": 2}, "layer must be a whole number from -2 to 1"),
        ({"head": 0.5}, "head must be a whole number"),
        ({"row": 6}, "row must be a whole number"),
        ({"key": "wide"}, "key must be a number"),
        ({"measure": "entropy"}, 'measure must be one of "key", "previous"'),
        ({"hide": 1}, "hide must be True or False", TypeError),
    ]),
    "block": (flow, [
        ({"x": [[1, 2, 3]] * 3}, r"x must have the shape \(n, 4\), as the block has it"),
        ({"x": [[1, 2, 3, 4]] * 7, "tokens": list("abcdefg")}, "with n at most 6, got shape"),
        ({"x": [[1, 2, 3, 101]] * 3}, "x must hold numbers from −100 to 100"),
        ({"x": [[1, 2, 3, np.nan]] * 3}, "x must be finite"),
        ({"tokens": ["a"]}, "tokens must be 3 strings"),
        ({"token": 3}, "token must be a whole number from -3 to 2"),
        ({"norm": "Pre"}, "norm must be one of 'pre', 'post', 'none': it is 'Pre'"),
        ({"blocks": 0}, "blocks must be a whole number of at least 1: it is 0"),
        ({"blocks": 13}, "blocks must be at most 12, got 13"),
        ({"blocks": 2, "shown": 3}, "shown must be at most 2, got 3"),
        ({"step": 0}, "step must be a finite number above 0"),
        ({"block": EncoderBlock(16, 2, 8)}, "block must have a d_model of at most 8, got 16"),
        ({"block": EncoderBlock(4, 2, 32)}, "block must have a d_ff of at most 16, got 32"),
        ({"block": EncoderBlock(4, 2, 8, rope=Rotary(2))}, "block must have no rope"),
        ({"block": DecoderBlock(4, 2, 8)},
         "must be an EncoderBlock: it is a DecoderBlock", TypeError),
        ({"residual": 1}, "residual must be True or False", TypeError),
        ({"block": heavy(np.inf)}, "block's w_1 .*must be finite"),
        ({"block": heavy(101.0)}, "block's w_1 .*numbers from −100 to 100"),
    ]),
    "cache": (CacheCalculator, [
        ({"models": "GPT-2"}, "models must be a list, got 'GPT-2'", TypeError),
        ({"models": []}, "models must be 1 to 10 models, got 0"),
        ({"models": ["GPT-2"] * 11}, "models must be 1 to 10 models, got 11"),
        ({"models": ["GPT-9"]}, "models must be one of"),
        ({"models": [9]}, "models must hold names or CachedModels, got 9", TypeError),
        ({"chosen": 8}, "chosen must be a whole number from -8 to 7"),
        ({"context": 127}, "context must be a whole number from 128 to 1048576, got 127"),
        ({"context": 2**20 + 1}, "context must be a whole number"),
        ({"context": 1e4}, "context must be a whole number"),
        ({"batch": 0}, "batch must be a whole number from 1 to 1024, got 0"),
        ({"bits": 6}, "bits must be 16, 8 or 4, got 6"),
        ({"weight_bits": 32}, "weight_bits must be 16, 8 or 4, got 32"),
        ({"gpu": 40}, "gpu must be 24, 80 or 141, got 40"),
    ]),
    "dataflow": (dataflow, [
        ({"drawing": "X"}, "drawing must be a Schematic: it is a str", TypeError),
        ({"drawing": tower(7)}, "at most 24 boxes: it has 28"),
        ({"drawing": Schematic("nothing")}, "the drawing is empty"),
        ({"drawing": three_roles()}, "asks for d, which is no size"),
        ({"sizes": {}}, "sizes must be 1 to 8 ranges by name"),
        ({"sizes": LAYER | {"h": 8}}, r"h must be \(first, least, most\)"),
        ({"sizes": LAYER | {"h": (17, 1, 16)}}, "h must be a whole number from 1 to 16, got 17"),
        ({"sizes": LAYER | {"h": (8, 9, 7)}}, "the most h must be a whole number from 9"),
        ({"sizes": LAYER | {"h": (8, -1, 16)}}, "the least h must be a whole number from 0"),
        ({"sizes": LAYER | {"h": (8.5, 1, 16)}}, "h must be a whole number"),
        ({"sizes": LAYER | {"h": (7, 1, 16)}},
         "d_k = d_model / h: 512 / 7 is not a whole number"),
        ({"sizes": LAYER | {"2h": (8, 1, 16)}}, "'2h' cannot be read as sizes"),
        ({"sizes": LAYER | {"h + n": (8, 1, 16)}}, "a size must have a name such as n or d_k"),
        ({"derived": {}}, "multiplications of 'attend' asks for d_k, which is no size"),
        ({"derived": {"h": "n"}}, "derived must not say anew what h is"),
        ({"derived": {"d_k": "d_model / "}}, "a name or a number is missing at its end"),
        ({"derived": {"d_k": "d_model / m"}}, "derived d_k asks for m, which is no size"),
        ({"derived": {"d_k": "__import__('os')"}}, "cannot be read as sizes"),
        ({"derived": {"d_k": "d_model / (n - 12)"}}, "512 / 0 has no value"),
        ({"derived": {"d_k": 1.5}}, "derived must be a text or a whole number for d_k"),
        ({"opened": 10}, "opened must be a whole number from -10 to 9"),
    ]),
    "clocks": (RotaryClocks, [
        ({"d": 7}, "d must be even"),
        ({"d": 2}, "d must be a whole number from 4 to 128, got 2"),
        ({"d": 130}, "d must be a whole number from 4 to 128"),
        ({"base": 1}, "base must be a number from 2 to 100,000,000, got 1"),
        ({"base": float("nan")}, "base must be a number from 2"),
        ({"trained": 1}, "trained must be a whole number from 2 to 1048576, got 1"),
        ({"trained": 24.0}, "trained must be a whole number"),
        ({"trained": 24, "distance": 385}, "distance must be a whole number from 1 to 384"),
        ({"distance": 0}, "distance must be a whole number from 1 to 131072, got 0"),
        ({"scaling": "linear"}, 'scaling must be one of "none", "interpolation", "ntk", "yarn"'),
        ({"factor": 0.5}, "factor must be a number from 1 to 16, got 0.5"),
        ({"factor": 17}, "factor must be a number from 1 to 16"),
        ({"pair": 32}, "pair must be a whole number from -32 to 31, got 32"),
    ]),
    "speculation": (Speculation, [
        ({"alpha": 1.1}, "alpha must be a number from 0 to 1, got 1.1"),
        ({"alpha": -0.1}, "alpha must be a number from 0 to 1"),
        ({"alpha": float("nan")}, "alpha must be a number from 0 to 1"),
        ({"alpha": "a"}, "alpha must be a number from 0 to 1"),
        ({"guesses": 17}, "guesses must be a whole number from 0 to 16, got 17"),
        ({"guesses": 2.0}, "guesses must be a whole number"),
        ({"cost": 2}, "cost must be a number from 0 to 1"),
        ({"cost": True}, "cost must be a number from 0 to 1"),
    ]),
    "positions": (PositionExplorer, [
        ({"d": 7}, "d must be even"),
        ({"d": 0}, "d must be a whole number from 2 to 64, got 0"),
        ({"d": 66}, "d must be a whole number from 2 to 64, got 66"),
        ({"d": 8.0}, "d must be a whole number"),
        ({"n": 1}, "n must be a whole number from 2 to 64"),
        ({"n": 65}, "n must be a whole number from 2 to 64"),
        ({"n": True}, "n must be a whole number"),
        ({"base": 0.5}, "base must be a number from 1 to 1,000,000"),
        ({"base": 2e6}, "base must be a number from 1 to 1,000,000"),
        ({"base": float("nan")}, "base must be a finite number"),
        ({"base": "a"}, "base must be a number"),
        ({"position": 32}, "position must be a whole number from -32 to 31"),
        ({"shift": -1}, "shift must be a whole number from 0 to 63"),
        ({"shift": 64}, "shift must be a whole number from 0 to 63"),
        ({"pair": 32}, "pair must be a whole number from -32 to 31"),
        ({"formula": "adds"}, 'formula must be "divides" or "multiplies", got \'adds\''),
        ({"formula": ["divides"]}, 'formula must be "divides" or "multiplies"'),
    ]),
    "translator": (translating, [
        ({"sentence": "the blue unicorn"}, "does not know: unicorn"),
        ({"sentence": []}, "sentence must hold 1 to 16 words, got 0"),
        ({"sentence": ["the"] * 17}, "got 17"),
        ({"sentence": ["<eos>"]}, "does not know: <eos>"),
        ({"examples": ["the unicorn"]}, r"examples\[0\] holds words"),
        ({"examples": [LONG] * 7}, "at most 6"),
        ({"beam": 0}, "beam must be a whole number from 1 to 8, got 0"),
        ({"beam": 2.5}, "beam must be"),
        ({"length_penalty": -1}, "length_penalty must be a number from 0 to 2, got -1"),
        ({"part": "memory"}, "part must be one of cross, encoder, decoder, got 'memory'"),
        ({"layer": 2}, "layer must be a whole number from -2 to 1"),
        ({"head": 2}, "head must be a whole number from -2 to 1"),
        ({"asset": "../x"}, "asset must be a name of lower-case letters"),
        ({"model": "model"}, "model must be a Seq2Seq, got a str", TypeError),
        ({"source_vocabulary": list("ab")},
         "source_vocabulary must be a Vocabulary, got a list", TypeError),
        ({"target_vocabulary": lesson()[1]}, "target_vocabulary must be the model's"),
    ]),
    "checkpoint": (question, [
        ({"options": [("a", False, "x"), ("b", False, "y")]}, "one of them right"),
        ({"options": [("a", True, "x"), ("b", True, "y")]}, "multiple"),
        ({"options": [("a", True, ""), ("b", False, "y")]}, "reason"),
        ({"options": [("a", True)]}, "correct, reason"),
    ]),
    "prediction": (guess, [
        ({"answers": {"a": float("inf")}}, "finite"),
        ({"answers": {"a": 1}, "tolerance": -1}, "tolerance"),
        ({"answers": {}}, "answers"),
    ]),
    "bughunt": (hunt, [
        ({"code": ""}, "code must have a line to press, got ''"),
        ({"code": " \n\t\n"}, "code must have a line to press"),
        ({"code": "x\n" * 31}, "code must have at most 30 lines, got 31"),
        ({"code": ["x"]}, "code must be a string, got ['x']", TypeError),
        ({"lines": {1: "a", 3: "c"}}, "lines must answer line 4, ' print(row.softmax(-1))'"),
        ({"lines": HUNT | {2: "b"}}, "lines answers line 2, which is blank"),
        ({"lines": HUNT | {5: "e"}},
         "a line number in lines must be a whole number from 1 to 4, got 5"),
        ({"lines": HUNT | {0: "e"}}, "a line number in lines must be a whole number"),
        ({"lines": HUNT | {"1": "e"}}, "a line number in lines must be a whole number"),
        ({"lines": HUNT | {3: " "}}, "lines[3] must be an answer, got ' '"),
        ({"lines": HUNT | {3: 3}}, "lines[3] must hold strings, got 3", TypeError),
        ({"lines": ["a", "b"]}, "lines must map line numbers to answers", TypeError),
        ({"bug": []}, "bug must be the number of a line, or of several, got none"),
        ({"bug": 5}, "bug must be a whole number from 1 to 4, got 5"),
        ({"bug": "1"}, "bug must be a whole number from 1 to 4, got '1'"),
        ({"bug": True}, "bug must be a whole number from 1 to 4, got True"),
        ({"bug": [1, 2]}, "bug must be a line with an answer, got 2, which has none"),
        ({"evidence": 3}, "evidence must hold strings, got 3", TypeError),
    ]),
    "answer": (paper, [
        ({"answers": {}}, "answers is empty"),
        ({"answers": {"a": float("nan")}}, "answers must be finite"),
        ({"answers": {"a": "1"}, "mistakes": (), "tolerance": -1},
         "tolerance must be a number from 0"),
        ({"tolerance": float("inf")}, "tolerance must be a number from 0"),
        ({"decimals": 9}, "decimals must be a whole number from 0 to 8, got 9"),
        ({"mistakes": ["half"]}, "mistakes[0] must be ({label: number, …}, what to say)"),
        ({"mistakes": [({}, "half")]}, "mistakes[0] must be ({label: number, …}, what to say)"),
        ({"mistakes": [({"cat": 1}, "half")]},
         'a label of mistakes[0] must be one of "had", "bowl", got \'cat\''),
        ({"mistakes": [({"had": 1}, "")]}, "mistakes[0] must say what went wrong"),
        ({"mistakes": [({"had": 1}, 1)]}, "mistakes[0] must hold strings, got 1", TypeError),
        ({"mistakes": [({"had": float("inf")}, "a")]}, "mistakes[0] must be finite"),
        ({"mistakes": [({"had": 0.0051}, "a")]},
         "mistakes[0] must hold a wrong number, got the answers' own: {'had': 0.0051}"),
    ]),
}  # fmt: skip
ALL = [(kind, *one) for kind, (_, ones) in BAD.items() for one in ones]


@pytest.mark.parametrize("place", range(len(ALL)), ids=[f"{k}: {w}" for k, _, w, *_ in ALL])
def test_a_bad_argument_is_named_with_what_was_wanted(place: int) -> None:
    kind, changes, words, *error = ALL[place]
    with pytest.raises(error[0] if error else ValueError) as caught:
        BAD[kind][0](**changes)
    assert words in str(caught.value) or re.search(words, str(caught.value))


def test_every_kind_has_an_example_and_says_what_it_refuses() -> None:
    assert set(EXAMPLES) == set(BAD) == set(KINDS)
    for kind, one in EXAMPLES.items():
        widget = one.make()
        ruled = {n for n in widget.rules if not isinstance(widget.traits()[n], traitlets.Bool)}
        assert ruled <= ASSIGNED.get(kind, {}).keys()


OTHER = [[None, None], *BeamTree(DETERMINERS).logs[1:]]
ASSIGNED = {  # values that no trait takes
    "heatmap": {"temperature": [-1.0], "pinned": [7], "head": [1]},
    "steps": {"vectors": [[[1, 2]]], "query": [3], "step": [5]},
    "tiles": {"scores": [[1, 2]], "values": [[1, 2]], "tile": [0, 5], "step": [5]},
    "pages": {"longest": [0], "n_pages": [17], "page": [0], "actions": [["end 1"]]},
    "painter": {
        "mask": [[1] * 8, [2] * 9, [[1, 1, 1]] * 3],
        "fill": ["inf"],
        "show": ["both"],
        "temperature": [-1.0],
        "pinned": [7],
    },
    "heads": {"chosen": [[5]], "row": [9], "head": [3], "large": ["all"], "temperature": [-1.0]},
    "roles": {
        **{name: [[[1, 2]], [[1e6] * 3] * 3] for name in ("vectors", "w_q", "w_k", "w_v")},
        "token": [3],
        "step": [-1.0],
    },
    "beam": {
        "beam": [6],
        "penalty": [2.5],
        "step": [9],
        "logs": [[[0.0]], [[-0.5, -0.5], *OTHER[1:]]],
    },
    "scores": {name: [[1], [[1, 2]], "nonsense"] for name in ("query", "key", "w", "w_q", "v")}
    | {"w_k": [[[11] * 2] * 2], "chosen": [7]},
    "player": {"chosen": [3], "word": [3], "threshold": [2.0, -0.5], "temperature": [0.0]},
    "visibility": {"window": [5], "first": [3], "top": [0], "head": [2], "row": [4]},
    "unrolled": {"sentence": [["x"]], "forced": [{1: "x"}], "step": [-99, 99]},
    "browser": {"chosen": [2], "layer": [2], "head": [3], "row": [11], "key": [11]}
    | {"measure": ["most"], "asset": ["../x"], "typed": [{"turn": 1}, {"turn": "1", "text": ""}]}
    | {"answer": [{"turn": 1, "said": None}]},
    "block": {"vectors": [NUTS[:2]], "token": [3], "norm": ["no"], "blocks": [13]}
    | {"shown": [-1], "step": [0.0]},
    "cache": {"chosen": [3], "context": [100], "batch": [0], "bits": [5], "weight_bits": [1]}
    | {"gpu": [8]},
    "dataflow": {
        "sizes": [{"n": 3}, {"b": 2, "n": 12, "d_model": 512, "h": 17}],
        "kept": [{"n": 3}, {"b": 2, "n": 12, "d_model": 512, "h": 17}],
        "opened": [11],
    },
    "positions": {"d": [9], "n": [99], "base": [0.0], "position": [12], "pair": [4]}
    | {"shift": [64], "formula": ["adds"]},
    "clocks": {
        "d": [7, 2],
        "base": [1.0],
        "trained": [1],
        "distance": [0, 385],
        "scaling": ["linear"],
        "factor": [0.5],
        "pair": [8],
    },
    "speculation": {"alpha": [1.5], "guesses": [-1], "cost": [2.0]},
    "translator": {"sentence": [["unicorn"]], "beam": [9], "penalty": [3.0], "part": ["x"]}
    | {"layer": [7], "head": [7], "shown": [-1], "row": [-1], "asset": ["../x"]},
    "checkpoint": {"chosen": [[2]]},
    "prediction": {"guesses": [[1.0]]},
    "bughunt": {"pressed": [[2], [0], [5]]},
    "answer": {"entries": [["1"], ["1", "2" * 41]], "tries": [-1]},
}


@pytest.mark.parametrize("kind", ASSIGNED)
def test_a_bad_assignment_is_refused_and_changes_nothing(kind: str) -> None:
    widget = EXAMPLES[kind].make()
    kept = widget.state()
    for name, values in ASSIGNED[kind].items():
        for value in values:
            with pytest.raises((ValueError, TypeError), match=name):
                setattr(widget, name, value)
            assert widget.state() == kept


def test_a_table_that_cannot_be_edited_is_not_assigned() -> None:
    with pytest.raises(ValueError, match="made with editable=False"):
        BeamTree(DETERMINERS).logs = OTHER
    with pytest.raises(ValueError, match=r"must sum to at most 1, got a sum of 1\.2"):
        BeamTree(DETERMINERS, editable=True).logs = [np.log([0.6, 0.6]).tolist(), *OTHER[1:]]
