"""Masks, scores, attention, and long sequences."""

import inspect
from functools import partial

import torch
from torch import Tensor

from attnbook import attention as att
from attnbook import efficient as eff
from attnbook import masks
from attnbook import recurrence as rec
from attnbook import scores as sco
from attnbook.multihead import Attend, repeat_heads
from tests.bad_input.rows import FLOATS, HEADS, LENGTHS, NAN, WHOLE, Calls, M, Row, X, rows, zeros

SAME = "must have the same"


def blind(query: Tensor, key: Tensor) -> Tensor:
    """A score that checks nothing, and is no way round the checks."""
    return zeros(2, 5, 5)


# whatever takes query, key and value refuses the same; a score takes the first two
THREE: tuple[tuple[tuple[Tensor, ...], str], ...] = (
    ((X[0, 0], X, X), "query must have at least 2 dimensions, (…, length, d): its shape is (8,)"),
    (
        (X, X[:1], X),
        f"query and key {SAME} leading dimensions: query has (2,) (shape (2, 5, 8)), key has (1,) "
        "(shape (1, 5, 8))",
    ),
    (
        (X, X[..., :6], X),
        f"query and key {SAME} last dimension: query has 8 (shape (2, 5, 8)), key has 6 (shape "
        "(2, 5, 6))",
    ),
    ((X[..., :0], X[..., :0], X), "query and key must have vectors of at least one number: their"),
    ((X.long(), X, X), f"query {FLOATS}: its dtype is torch.int64 (write query.float())"),
    (
        (X, X.double(), X),
        f"query and key {SAME} dtype: query has torch.float32, key has torch.float64",
    ),
    ((X, X.to("meta"), X), f"query and key {SAME} device: query has cpu, key has meta"),
)
VALUE = (
    (
        (X, X, X[:, :4]),
        f"key and value {SAME} length: key has 5 rows (shape (2, 5, 8)), value has 4 rows (shape "
        "(2, 4, 8))",
    ),
    ((X, X, X[0]), f"query and value {SAME} leading dimensions: query has (2,) (shape (2, 5, 8))"),
    ((X, X, X[0, 0]), "value must have at least 2 dimensions"),
    ((X, X, X.int()), f"value {FLOATS}: its dtype is torch.int32"),
    ((X, X, X.to("meta")), f"query and value {SAME} device: query has cpu, value has meta"),
)
FORM = (
    "must have the shape (n_q, n_k) = (5, 5), or as many dimensions as the scores (2, 5, 5), each "
    "of them equal or 1: its shape is"
)
MASK = (
    (M.float(), "mask must be boolean, True where a query may attend: its dtype is torch.float32"),
    (M.long(), "mask must be boolean, True where a query may attend: its dtype is torch.int64"),
    (M[0], f"mask {FORM} (5,)"),
    (M[:1], f"mask {FORM} (1, 5)"),
    (M[:4], f"mask {FORM} (4, 5)"),
    (M.expand(1, 2, 5, 5), f"mask {FORM} (1, 2, 5, 5)"),
    (M.expand(3, 5, 5), f"mask {FORM} (3, 5, 5)"),
    (M.to("meta"), f"query and mask {SAME} device: query has cpu, mask has meta"),
)
BIAS = (
    (X[..., :4], f"bias {FORM} (2, 5, 4)"),
    (X[0, 0, :5], f"bias {FORM} (5,)"),
    (X[0, :, :5].double(), f"query and bias {SAME} dtype"),
    (M, f"bias {FLOATS}: its dtype is torch.bool"),
    (X[0, :, :5].to("meta"), f"query and bias {SAME} device"),
)
# every function of a query and a key in that module, a new one too
SCORES = {
    f"scores.{name}": score
    for name, score in inspect.getmembers(sco, inspect.isfunction)
    if list(inspect.signature(score).parameters) == ["query", "key"]
}
PAIRS = {**SCORES, "attention.attention_weights": att.attention_weights}
TRIPLES = {
    "attention.attention": att.attention,
    "attention.fused_attention": att.fused_attention,
    "efficient.tiled_attention": eff.tiled_attention,
    "efficient.local_attention": partial(eff.local_attention, window=2),
    "recurrence.delta_rule": partial(rec.delta_rule, beta=X[..., 0]),
    "recurrence.delta_steps": partial(rec.delta_steps, beta=X[..., 0]),
    "efficient.linear_attention": eff.linear_attention,
}
RULES = {name: TRIPLES[name] for name in TRIPLES if name.startswith("recurrence")}
MASKED = {name: TRIPLES[name] for name in list(TRIPLES)[:3]}
BIASED = {name: TRIPLES[name] for name in list(TRIPLES)[:2]}
ALL = {"query": X, "key": X, "value": X}
SCORE = "score(query, key) must return the shape (…, n_q, n_k) = (2, 5, 5): it returned"
SHARED = [
    *(Row(of, partial(f, *a[:2]), words) for of, f in PAIRS.items() for a, words in THREE),
    *(Row(of, partial(f, *a), words) for of, f in TRIPLES.items() for a, words in THREE + VALUE),
    *(Row(of, partial(f, X, X, X, mask), w) for of, f in MASKED.items() for mask, w in MASK),
    *(
        Row("attention.attention_weights", partial(att.attention_weights, X, X, mask), words)
        for mask, words in MASK
    ),
    *(Row(of, partial(f, X, X, X, bias=bias), w) for of, f in BIASED.items() for bias, w in BIAS),
    *(
        Row(
            of,
            partial(f, **ALL | {name: [[0.0]]}),
            f"{name} must be a torch.Tensor: it is a list",
            TypeError,
        )
        for several, names in ((TRIPLES, ALL), (BIASED, ("mask", "bias")))
        for of, f in several.items()
        for name in names
    ),
    *(
        Row(of, partial(f, score=lambda q, k, came=came: came), words)
        for of, f in (
            ("attention.attention", partial(att.attention, X, X, X)),
            ("attention.attention_weights", partial(att.attention_weights, X, X)),
        )
        for came, words in (
            (X[..., :3], f"{SCORE} (2, 5, 3)"),
            (M.float().expand(2, 2, 5, 5), f"{SCORE} (2, 2, 5, 5)"),
            (M.expand(2, 5, 5), f"the result of score(query, key) {FLOATS}"),
        )
    ),
    *(
        Row("attention.attention_weights", partial(att.attention_weights, X, X, **which), words)
        for which, words in (
            ({"rows": 5}, "rows must be from 0 to 4: 5 is among them"),
            ({"rows": [0, -6]}, "rows must be from 0 to 4: -6 is among them"),
            ({"heads": [2]}, "heads must be from 0 to 1: 2 is among them"),
            ({"heads": 1.0}, "heads must be whole numbers: 1.0 is among them"),
            ({"rows": [True]}, "rows must be whole numbers: True is among them"),
            ({"rows": M[0]}, "rows must be whole numbers: True is among them"),
        )
    ),
    *(
        Row(
            "attention.attention_weights",
            partial(att.attention_weights, X, key, score=blind),
            words,
        )
        for key in (X.double(), X[:1], X.to("meta"))
        for words in (f"query and key {SAME}",)
    ),
    *(
        Row(of, partial(f, X, X, X, **changed), words)
        for of, f in RULES.items()
        for changed, words in (
            ({"beta": X}, "beta must have the shape (…, n) = (2, 5): its shape is (2, 5, 8)"),
            ({"beta": M}, f"beta {FLOATS}: its dtype is torch.bool"),
            ({"gate": X[0, :, 0]}, "gate must have the shape (…, n) = (2, 5): its shape is (5,)"),
            ({"gate": X[..., 0].to("meta")}, f"key and gate {SAME} device: key has cpu, gate has"),
            ({"state": X}, "state must have the shape (…, d, d_v) = (2, 8, 8): its shape is (2, 5"),
        )
    ),
    *(
        Row(of, partial(f, X[:, :4], X, X), f"query and key {SAME} length: query has 4 rows")
        for of, f in RULES.items()
    ),
    *(
        Row(of, partial(f, bad), f"{name} {WHOLE} {least}: it is {bad}")
        for of, f, name, least in (
            ("masks.causal_mask", masks.causal_mask, "n_q", 0),
            ("masks.window_mask", partial(masks.window_mask, n_k=2, window=1), "n_q", 0),
            ("masks.padding_mask", partial(masks.padding_mask, []), "n_k", 0),
            ("masks.window_mask", partial(masks.window_mask, 2, 2), "window", 1),
            ("efficient.local_attention", partial(eff.local_attention, X, X, X), "window", 1),
            (
                "efficient.tiled_attention",
                lambda n: eff.tiled_attention(X, X, X, tile=n),
                "tile",
                1,
            ),
            (
                "recurrence.delta_rule",
                lambda n: rec.delta_rule(X, X, X, X[..., 0], chunk=n),
                "chunk",
                1,
            ),
            ("efficient.online_softmax", lambda n: eff.online_softmax(X, tile=n), "tile", 1),
            ("scores.Bilinear", lambda n: sco.Bilinear(n, 1), "d_q", 1),
            ("scores.Bilinear", lambda n: sco.Bilinear(1, n), "d_k", 1),
            ("scores.Additive", lambda n: sco.Additive(n, 1, 2), "d_q", 1),
            ("scores.Additive", lambda n: sco.Additive(1, n, 2), "d_k", 1),
            ("scores.Additive", lambda n: sco.Additive(1, 1, n), "d", 1),
        )
        for bad in (least - 1, 2.0, True, None)
    ),
]


CALLS: Calls = {
    "masks.causal_mask": [
        (lambda: masks.causal_mask(2, 2.5), f"n_k {WHOLE} 0: it is 2.5"),
    ],
    "masks.padding_mask": [
        *(
            (partial(masks.padding_mask, counts, 3), f"lengths must {words}")
            for counts, words in (
                ([2, -1], "be from 0 to n_k = 3: they are [2, -1]"),
                ([4], "be from 0 to n_k = 3: they are [4]"),
                ([1.0], "be whole numbers: its dtype is torch.float32"),
                ([True], "be whole numbers: its dtype is torch.bool"),
                ([[1]], "have the shape (b,): its shape is (1, 1)"),
                (2, "have the shape (b,): its shape is ()"),
            )
        ),
        (lambda: masks.padding_mask([1], -3), f"n_k {WHOLE} 0"),
        (lambda: masks.padding_mask(None, 4), "lengths must be a tensor or a list", TypeError),
    ],
    "masks.window_mask": [
        (lambda: masks.window_mask(3, None, 2), f"n_k {WHOLE} 0: it is None"),
        (
            lambda: masks.window_mask(3, 3, 2, sinks=2),
            "sinks must be below window = 2, for a token must see itself: it is 2",
        ),
        (lambda: masks.window_mask(3, 3, 2, sinks=-1), f"sinks {WHOLE} 0: it is -1"),
    ],
    "masks.as_torch_mha_mask": [
        (lambda: masks.as_torch_mha_mask(X), "mask must be boolean"),
        (
            lambda: masks.as_torch_mha_mask([True]),
            "mask must be a torch.Tensor: it is a list",
            TypeError,
        ),
    ],
    "scores.Bilinear": [
        (lambda: sco.Bilinear(8, 3)(X, X), "key must have the shape (…, n, 3): its shape is (2,"),
        (lambda: sco.Bilinear(3, 8)(X, X), "query must have the shape (…, n, 3): its shape is (2,"),
        (lambda: sco.Bilinear(8, 8)(X[0, 0], X), "query must have the shape (…, n, 8): its shape"),
        (lambda: sco.Bilinear(8, 8)(X, X.long()), f"key {FLOATS}"),
        (lambda: sco.Bilinear(8, 8)(X, X[:1]), "same leading dimensions"),
        (lambda: sco.Bilinear(8, 8)(X, X.double()), "key must have the layer's dtype"),
        (lambda: sco.Bilinear(8, 8)(X.to("meta"), X), "query must have the layer's device, cpu"),
    ],
    "scores.Additive": [
        (lambda: sco.Additive(8, 8, 4, cap=0), f"cap {WHOLE} 1"),
        (lambda: sco.Additive(6, 8, 4)(X, X), "query must have the shape"),
        (lambda: sco.Additive(8, 8, 4)(X[0], X), "same leading dimensions"),
        (lambda: sco.Additive(8, 8, 4)(X.double(), X), "query must have the layer's dtype"),
    ],
    "scores.project_key": [
        (lambda: sco.project_key(sco.Bilinear(8, 3), X), "key must have"),
    ],
    "scores.score_projected": [
        (lambda: sco.score_projected(sco.dot, X, X[:1]), "same leading"),
    ],
    "scores.prepared": [
        (lambda: sco.prepared(sco.Additive(8, 6, 4), X), "key must have"),
        (lambda: sco.prepared(sco.dot, X[..., :6])(X), "same last dimension"),
    ],
    "attention.masked_softmax": [
        (lambda: att.masked_softmax(X.long()), f"scores {FLOATS}"),
        (lambda: att.masked_softmax(X, X), "mask must be boolean"),
        (
            lambda: att.masked_softmax(X[:1], X.bool()),
            "each of them equal or 1: its shape is (2, 5, 8)",
        ),
    ],
    "attention.attention": [
        (lambda: att.attention(X, X, X, score="dot"), "score must be a function of", TypeError),
    ],
    "attention.attention_weights": [
        (
            lambda: att.attention_weights(X[0], X[0], heads=0),
            "heads needs a query of shape (…, h, n_q, d): its shape is (5, 8)",
        ),
    ],
    "multihead.Attend": [
        (
            lambda: Attend()([[0.0]], HEADS, HEADS),
            "query must be a torch.Tensor: it is a list",
            TypeError,
        ),
        (lambda: Attend()(HEADS, HEADS, HEADS, M.long()), "mask must be boolean"),
        (lambda: Attend()(HEADS, HEADS, HEADS[:, :, 1:]), "the same length"),
        (lambda: Attend(2.0), "dropout must be at least 0 and below 1: it is 2.0"),
        (lambda: Attend(-1), "dropout must be at least 0 and below 1: it is -1"),
        (lambda: Attend(NAN), "dropout must be at least 0 and below 1: it is nan"),
        (
            lambda: Attend()(HEADS[:, :3], HEADS[:, :2], HEADS[:, :2]),
            "multiple of the heads of key, 2: there are 3",
        ),
        (
            lambda: Attend()(HEADS[:, :3, :1], HEADS[:, :2], HEADS[:, :2]),
            "of query must be a multiple",
        ),
        (
            lambda: Attend()(HEADS, HEADS[:, :2], HEADS[:, :1]),
            "key and value must have the same leading",
        ),
        (
            lambda: Attend()(X, X, X),
            "query must have the shape (b, h, n, d): its shape is (2, 5, 8)",
        ),
    ],
    "attention.fused_attention": [
        (lambda: att.fused_attention(X, X, X, causal="no"), "causal must be True or", TypeError),
        (lambda: att.fused_attention(X, X, X, causal=1), "causal must be True or False", TypeError),
    ],
    "efficient.linear_attention": [
        (lambda: eff.linear_attention(X, X, X, causal=None), "causal must be True or", TypeError),
    ],
    "efficient.summarise": [
        (lambda: eff.summarise(X.long()), f"scores {FLOATS}"),
        (lambda: eff.summarise(X[..., :0]), "at least one score"),
    ],
    "efficient.online_softmax": [
        (lambda: eff.online_softmax(X.int()), f"scores {FLOATS}"),
        (lambda: eff.online_softmax(torch.tensor(1.0)), "at least one score: their shape is ()"),
    ],
    "efficient.tiled_attention": [
        (lambda: eff.tiled_attention(X, X, X, causal="no"), "causal must be True or", TypeError),
    ],
    "efficient.weights_from": [
        (lambda: eff.weights_from(X, X, X[..., 0], M.float()), "mask must be boolean"),
        (
            lambda: eff.weights_from(X, X, X[..., 0, :]),
            "logsumexp must have the shape (…, n_q) = (2, 5)",
        ),
        (
            lambda: eff.weights_from(X, X, X[..., 0], rows=7),
            "rows must be from 0 to 4: 7 is among them",
        ),
        (
            lambda: eff.weights_from(X, X, X[..., 0].half()),
            "logsumexp must have the dtype that tiled_attention",
        ),
        (lambda: eff.weights_from(X, X, X[..., 0].to("meta")), "logsumexp must have the device"),
    ],
    "efficient.combine": [
        (
            lambda: eff.combine(eff.Tiled(X, X[..., 0]), eff.Tiled(X[:, :4], X[:, :4, 0])),
            "output must have one shape in both results: their shapes are (2, 5, 8) and (2, 4, 8)",
        ),
        (
            lambda: eff.combine(eff.Tiled(X, X[..., 0]), eff.Tiled(X, X)),
            "logsumexp must have one shape in both results: their shapes are (2, 5) and (2, 5, 8)",
        ),
        (
            lambda: eff.combine(X, X),
            "one must be a Tiled: it is a Tensor",
            TypeError,
        ),
        (
            lambda: eff.combine(*(eff.Tiled(x, x[..., 0]) for x in (X, X.double()))),
            "one.output and other.output must have the same dtype",
        ),
    ],
    "efficient.with_sink": [
        *(
            (partial(eff.with_sink, eff.Tiled(X, X[..., 0]), sink), words)
            for sink, words in (
                (X[0, 0, :5], "sink must have the shape (h,) = (2,): its shape is (5,)"),
                (X[:1, 0, 0], "sink must have the shape (h,) = (2,): its shape is (1,)"),
                (LENGTHS, f"sink {FLOATS}: its dtype is torch.int64"),
            )
        ),
    ],
    "efficient.index_scores": [
        *(
            (partial(eff.index_scores, *parts), words)
            for parts, words in (
                ((X[0], X, X), "query must have at least 3 dimensions, (…, h, n_q, d)"),
                ((HEADS, X, HEADS[..., 0]), "key must have the shape (2, n_k, 2): its shape is"),
                ((HEADS, HEADS[:1, 0], HEADS[..., 0]), "key must have the shape (2, n_k, 2)"),
                ((HEADS, HEADS[:, 0], HEADS), "weight must have the shape (2, 4, 5): its shape"),
                ((HEADS, HEADS[:, 0].double(), HEADS[..., 0]), f"query and key {SAME} dtype"),
                ((HEADS, HEADS[:, 0].long(), HEADS[..., 0]), f"key {FLOATS}"),
            )
        ),
    ],
    "efficient.top_keys": [
        (lambda: eff.top_keys(X, 9), "k must be at most n_k = 8: it is 9"),
        *((partial(eff.top_keys, X, k), f"k {WHOLE} 1: it is {k}") for k in (0, -1, 2.0, None)),
        (lambda: eff.top_keys(X[0, 0], 2), "scores must have at least 2 dimensions, (…, n_q, n_k)"),
        (lambda: eff.top_keys(M, 2), f"scores {FLOATS}"),
        (lambda: eff.top_keys(X, 2, X), "mask must be boolean"),
        (lambda: eff.top_keys(X, 2, M), "mask must have the shape (n_q, n_k) = (5, 8)"),
    ],
    "efficient.feature_map": [
        (lambda: eff.feature_map(M), f"x {FLOATS}"),
    ],
    "multihead.repeat_heads": [
        (
            lambda: repeat_heads(HEADS, 6),
            "n_heads must be a multiple of the heads of key, 4: there are 6",
        ),
        (
            lambda: repeat_heads(HEADS, 2),
            "n_heads must be a multiple of the heads of key, 4: there are 2",
        ),
        (lambda: repeat_heads(HEADS, 0), f"n_heads {WHOLE} 1: it is 0"),
        (lambda: repeat_heads(X[0, 0], 8), "key must have the shape (b, h_kv, …)"),
    ],
    "efficient.merge": [
        (
            lambda: eff.merge(eff.summarise(X[:1]), eff.summarise(X)),
            "must hold tensors of one shape (…, 1)",
        ),
        (
            lambda: eff.merge(eff.summarise(X[0, 0]), eff.summarise(X)),
            "their shapes are [(1,), (1,), (2, 5, 1)",
        ),
    ],
}
ROWS = [*SHARED, *rows(CALLS)]
