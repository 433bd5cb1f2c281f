"""Positions, and the cache that knows how far a sequence has come."""

from functools import partial

import torch

from attnbook import positions as pos
from attnbook.cache import KVCache, PagedCache, PagePool, RollingCache
from tests.bad_input.rows import FLOATS, HEADS, LENGTHS, NAN, WHOLE, Calls, M, X, rows, zeros


def filled() -> KVCache:
    cache = KVCache(4)
    cache.append(zeros(2, 1, 3, 8), zeros(2, 1, 3, 8))
    return cache


def rolled() -> RollingCache:
    cache = RollingCache(2)
    cache.append(zeros(2, 1, 3, 8), zeros(2, 1, 3, 8))
    return cache


def full_pool() -> PagePool:
    pool = PagePool(1)
    pool.fit(zeros(1, 1, 1, 8), zeros(1, 1, 1, 8))
    pool.take()
    return pool


BOTH = "offset must be a number, or have the shape (b,) ="
EACH = "x must have the shape (b, n, d) for an offset of each sentence: its shape is"
OFFSETS = (
    ((X[:1], LENGTHS), f"{BOTH} (1,): its shape is (2,)"),
    ((X, LENGTHS[:1]), f"{BOTH} (2,): its shape is (1,)"),
    ((X[0], LENGTHS), f"{EACH} (5, 8)"),
    ((zeros(2, 4, 5, 8), LENGTHS), f"{EACH} (2, 4, 5, 8)"),
    ((X, LENGTHS > 2), "offset must hold whole numbers: its dtype is torch.bool"),
    ((X, 0.5), f"offset {WHOLE} 0: it is 0.5"),
)
CALLS: Calls = {
    "positions.sinusoidal": [
        (
            lambda: pos.sinusoidal(3, 5),
            "d must be even, for its numbers are taken in pairs: it is 5",
        ),
        (lambda: pos.sinusoidal(3, 0), f"d {WHOLE} 2: it is 0"),
        (lambda: pos.sinusoidal(-1, 4), f"n {WHOLE} 0: it is -1"),
        (lambda: pos.sinusoidal(1, 4, offset=-1), f"offset {WHOLE} 0"),
        (
            lambda: pos.sinusoidal(1, 4, offset=LENGTHS[None]),
            "have the shape (b,): its shape is (1, 2)",
        ),
        (lambda: pos.sinusoidal(1, 4, offset=LENGTHS / 2), "offset must hold whole numbers"),
        (
            lambda: pos.sinusoidal(1, 4, dtype=torch.int64),
            "dtype must be one of floating-point numbers",
        ),
    ],
    "positions.Sinusoidal": [
        (lambda: pos.Sinusoidal(7), "d must be even"),
        (lambda: pos.Sinusoidal(4)(X), "x must have the shape (…, n, 4)"),
        (lambda: pos.Sinusoidal(8)(X.long()), f"x {FLOATS}"),
        *((partial(pos.Sinusoidal(8), *x), words) for x, words in OFFSETS),
    ],
    "positions.LearnedPositions": [
        (lambda: pos.LearnedPositions(0, 4), f"max_length {WHOLE} 1: it is 0"),
        (lambda: pos.LearnedPositions(4, -1), f"d {WHOLE} 1: it is -1"),
        (lambda: pos.LearnedPositions(4, 8)(X), "max_length = 4"),
        (lambda: pos.LearnedPositions(9, 4)(X), "x must have the shape (…, n, 4)"),
        *((partial(pos.LearnedPositions(9, 8), *x), words) for x, words in OFFSETS),
    ],
    "positions.Rotary": [
        (lambda: pos.Rotary(0), f"d {WHOLE} 2"),
        (lambda: pos.Rotary(7), "d must be even, for its numbers are taken in pairs: it is 7"),
        (lambda: pos.Rotary(4, base=0.0), "base must be above 0 and finite: it is 0.0"),
        (lambda: pos.Rotary(4, base=torch.inf), "base must be above 0 and finite: it is inf"),
        (
            lambda: pos.Rotary(4, layout="pairs"),
            "layout must be one of 'interleaved', 'halves': it is 'pairs'",
        ),
        (lambda: pos.Rotary(4)(X), "x must have the shape (…, n, 4)"),
        (lambda: pos.Rotary(4, base=True), "base must be above 0 and finite: it is True"),
        (lambda: pos.Rotary(4, scaling=2.0), "scaling must be a Scaling or None", TypeError),
        (
            lambda: pos.Rotary(2)(HEADS[:1], LENGTHS),
            "offset must be a number, or have the shape (b,) = (1,): its shape is (2,)",
        ),
        (
            lambda: pos.Rotary(2)(HEADS, LENGTHS[:1]),
            "offset must be a number, or have the shape (b,) = (2,): its shape is (1,)",
        ),
        (
            lambda: pos.Rotary(2)(HEADS[0], LENGTHS),
            "x must have the shape (b, h, n, d) for an offset",
        ),
        (lambda: pos.Rotary(2)(HEADS, LENGTHS / 2), "offset must hold whole numbers"),
        (lambda: pos.Rotary(2)(HEADS, LENGTHS > 2), "offset must hold whole numbers"),
        (
            lambda: pos.Rotary(2)(HEADS, positions=LENGTHS[:1]),
            "positions must have the shape (n,) = (5,)",
        ),
        (lambda: pos.Rotary(2)(HEADS, positions=torch.ones(2, 5).int()), "its shape is (2, 5)"),
        (lambda: pos.Rotary(2)(HEADS, positions=zeros(5)), "positions must hold whole numbers"),
        (
            lambda: pos.Rotary(2)(HEADS, 3, positions=torch.arange(5)),
            "offset must be 0 where positions",
        ),
    ],
    "positions.Scaling": [
        (
            lambda: pos.Scaling("linear", 2),
            "kind must be one of 'interpolation', 'ntk', 'yarn', 'llama3': it is 'linear'",
        ),
        *(
            (partial(pos.Scaling, "ntk", s), f"factor must be at least 1 and finite: it is {s!r}")
            for s in (0.5, 0, -2, torch.inf, NAN, True, "2", None)
        ),
        (lambda: pos.Scaling("yarn", 2), f"trained {WHOLE} 1: it is None"),
        (lambda: pos.Scaling("llama3", 2, 0), f"trained {WHOLE} 1: it is 0"),
        (lambda: pos.Scaling("ntk", 2, 0.5), f"trained {WHOLE} 1: it is 0.5"),
    ],
    "positions.rotary_speeds": [
        (lambda: pos.rotary_speeds(5), "d must be even, for its numbers are taken in pairs"),
        (lambda: pos.rotary_speeds(4, 0.0), "base must be above 0 and finite: it is 0.0"),
        (lambda: pos.rotary_speeds(4, dtype=torch.int8), "dtype must be one of floating-point"),
        (lambda: pos.rotary_speeds(4, 50.0, 2.0), "scaling must be a Scaling or", TypeError),
        (
            lambda: pos.rotary_speeds(4, 1.0, pos.Scaling("yarn", 2, 9)),
            "base must be above 1 where speeds are scaled: it is 1.0",
        ),
        (
            lambda: pos.rotary_speeds(2, 50.0, pos.Scaling("ntk", 2)),
            'd must be at least 4 for "ntk": it is 2',
        ),
    ],
    "positions.alibi_bias": [
        (lambda: pos.alibi_bias(0, 3), f"n_heads {WHOLE} 1"),
        (lambda: pos.alibi_bias(2, -3), f"n_q {WHOLE} 0"),
        (lambda: pos.alibi_bias(2, 3, -1), f"n_k {WHOLE} 0"),
        (
            lambda: pos.alibi_bias(2, 3, dtype=torch.int64),
            "dtype must be one of floating-point numbers",
        ),
    ],
    "cache.KVCache": [
        (lambda: KVCache(0), f"max_length {WHOLE} 1"),
        (lambda: KVCache(capacity=-1), f"capacity {WHOLE} 1"),
        (lambda: KVCache().append(X, X), "key must have the shape (b, h, n, d)"),
        (lambda: KVCache().append(HEADS.long(), HEADS), f"key {FLOATS}"),
        (lambda: KVCache().append(HEADS, HEADS[:, :, 1:]), "the same length"),
        (lambda: KVCache().append(HEADS, HEADS.double()), "the same dtype"),
        (lambda: KVCache().append(HEADS, HEADS[:, 1:]), "the same leading dimensions"),
        (lambda: filled().append(HEADS, HEADS), "key must fit the rows in the cache, (2, 1, 5, 8)"),
        (
            lambda: filled().append(zeros(2, 1, 1, 8), zeros(2, 1, 1, 2)),
            "value must fit the rows in the cache, (2, 1, 1, 8): its shape is (2, 1, 1, 2)",
        ),
        (
            lambda: filled().append(zeros(2, 1, 1, 8).double(), zeros(2, 1, 1, 8).double()),
            "key must have the cache's dtype, torch.float32: it has torch.float64",
        ),
        (
            lambda: filled().append(zeros(2, 1, 2, 8), zeros(2, 1, 2, 8)),
            "holds at most max_length = 4 rows: 3 are in it, and 2 more came",
        ),
        (
            lambda: KVCache().append(zeros(1, 1, 1, 2, requires_grad=True), zeros(1, 1, 1, 2)),
            "must not need a gradient, for a cache keeps none: compute under torch.no_grad()",
        ),
        (
            lambda: filled().reorder(torch.tensor([0, 2])),
            "rows must be from 0 to 1: they are [0, 2]",
        ),
        (lambda: filled().reorder(torch.tensor([-1])), "rows must be from 0 to 1: they are [-1]"),
        (
            lambda: filled().reorder(zeros(1)),
            "rows must hold whole numbers: its dtype is torch.float32",
        ),
        (lambda: filled().reorder(M[0]), "rows must hold whole numbers: its dtype is torch.bool"),
        (
            lambda: filled().reorder(LENGTHS[None]),
            "rows must have the shape (m,): its shape is (1, 2)",
        ),
        (lambda: KVCache().reorder([0]), "rows must be a torch.Tensor: it is a list", TypeError),
        (lambda: filled().rewind(4), "length must be at most 3: it is 4"),
        (lambda: filled().rewind(-1), f"length {WHOLE} 0: it is -1"),
    ],
    "cache.RollingCache": [
        *((partial(RollingCache, bad), f"window {WHOLE} 1: it is {bad}") for bad in (0, -1, 2.5)),
        (
            lambda: RollingCache(4, sinks=4),
            "sinks must be below window = 4, for a token must see itself: it is 4",
        ),
        (lambda: RollingCache(4, sinks=5), "sinks must be below window = 4"),
        (lambda: RollingCache(4, sinks=-1), f"sinks {WHOLE} 0: it is -1"),
        (lambda: rolled().append(HEADS, HEADS), "key must fit the rows in the cache, (2, 1, 5, 8)"),
        (
            lambda: rolled().append(zeros(1, 1, 1, 8), zeros(1, 1, 1, 8)),
            "key must fit the rows in the cache, (2, 1, 1, 8): its shape is (1, 1, 1, 8)",
        ),
        (lambda: rolled().rewind(2), "length must be 3: it is 2, and rows before it have left"),
        (lambda: rolled().rewind(4), "length must be 3: it is 4"),
        (lambda: RollingCache(2).rewind(1), "length must be at most 0: it is 1"),
        (
            lambda: rolled().visible(zeros(2, 1, 1, 8), M[:1, :2], None, True),
            "mask must have n_k = 4 columns, one for every token since the first: its shape is (1,",
        ),
        (
            lambda: rolled().visible(zeros(2, 1, 1, 8), None, X, True),
            "bias must have n_k = 4 columns",
        ),
        (lambda: rolled().visible(HEADS, None, None, "no"), "causal must be True or", TypeError),
    ],
    "cache.PagePool": [
        (lambda: PagePool(0), f"n_pages {WHOLE} 1: it is 0"),
        (lambda: PagePool(4, page=0), f"page {WHOLE} 1: it is 0"),
        (lambda: full_pool().take(), "the pool has no free page: all 1 are in use"),
    ],
    "cache.PagedCache": [
        (lambda: PagedCache(9), "pool must be a PagePool: it is a int", TypeError),
        (
            lambda: PagedCache(full_pool()).append(HEADS, HEADS),
            "key must fit the pool's pages of (h, page, d) = (1, 16, 8): its shape is (2, 4, 5, 2)",
        ),
        (
            lambda: PagedCache(full_pool()).append(
                zeros(1, 1, 1, 8).double(), zeros(1, 1, 1, 8).double()
            ),
            "key must have the pool's dtype, torch.float32: it has torch.float64",
        ),
        (
            lambda: PagedCache(full_pool()).append(zeros(1, 1, 1, 8), zeros(1, 1, 1, 8)),
            "the pool has no free page: all 1 are in use",
        ),
        (lambda: PagedCache(PagePool(1)).append(X, X), "key must have the shape (b, h, n, d)"),
        (lambda: PagedCache(PagePool(1)).rewind(1), "length must be at most 0: it is 1"),
        (lambda: PagedCache(PagePool(1)).reorder(zeros(1)), "rows must hold whole numbers"),
    ],
}
ROWS = rows(CALLS)
