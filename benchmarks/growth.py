"""Measure attention that does not look everywhere, and how time grows with the length.

python benchmarks/growth.py            # a minute or two
python benchmarks/growth.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

from collections.abc import Callable

import timing
import torch
from timing import Row, Times, at_most, ratio
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention
from attnbook.efficient import feature_map, linear_attention, local_attention, tiled_attention
from attnbook.masks import causal_mask, window_mask

WINDOW, HEADS, D = 256, 8, 64
LENGTHS, TINY = [512, 1024, 2048, 4096], [32, 64]
UNIT, UNIT_CAUSAL, BAND = "SDPA", "SDPA, causal", "SDPA with a mask of the window"


def variants(n: int, window: int) -> dict[str, Callable[[], object]]:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, n, D) for _ in range(3))
    band = window_mask(n, n, window)
    return {
        UNIT: lambda: scaled_dot_product_attention(q, k, v),
        UNIT_CAUSAL: lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
        BAND: lambda: scaled_dot_product_attention(q, k, v, attn_mask=band),
        "`attention`": lambda: attention(q, k, v).output,
        "`tiled_attention`": lambda: tiled_attention(q, k, v).output,
        "`local_attention`": lambda: local_attention(q, k, v, window),
        "`linear_attention`": lambda: linear_attention(q, k, v),
        "`linear_attention`, causal": lambda: linear_attention(q, k, v, causal=True),
    }


def assert_equal(n: int, window: int) -> None:
    run = variants(n, window)
    for name, wanted in (("`attention`", UNIT), ("`tiled_attention`", UNIT)):
        timing.same(f"{name}, n = {n}", run[name](), run[wanted]())
    timing.same(f"local_attention, n = {n}", run["`local_attention`"](), run[BAND]())
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, n, D) for _ in range(3))
    for causal in (False, True):
        name = "`linear_attention`, causal" if causal else "`linear_attention`"
        timing.same(f"{name}, n = {n}", run[name](), linear_by_weights(q, k, v, causal))


def linear_by_weights(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """Linear attention with its n × n weights written out."""
    weights = feature_map(query) @ feature_map(key).mT
    if causal:
        weights = weights * causal_mask(query.shape[-2])
    return weights / weights.sum(dim=-1, keepdim=True) @ value


def growth(found: dict[int, Times], name: str) -> float:
    return timing.exponent(list(found), [timing.milliseconds(t, name) for t in found.values()])


def goal_rows(found: dict[int, Times]) -> list[Row]:
    longest = max(found)
    linear_at = 1024 if 1024 in found else longest
    local = ratio(found[longest], "`local_attention`", UNIT_CAUSAL)
    linear = ratio(found[linear_at], "`linear_attention`", UNIT)
    causal = ratio(found[linear_at], "`linear_attention`, causal", UNIT_CAUSAL)
    slope = growth(found, "`linear_attention`")
    return [
        at_most(f"`local_attention`, window {WINDOW}, n = {longest}", local, 0.35, " causal SDPA"),
        at_most(f"`linear_attention`, n = {linear_at}", linear, 0.2, " SDPA"),
        Row(f"`linear_attention`, causal, n = {linear_at}", f"{causal:.2f} × causal SDPA"),
        Row("`linear_attention`: time grows as n to the", f"{slope:.2f}", "≤ 1.1", slope <= 1.1),
    ]


def details(found: dict[int, Times]) -> str:
    lines = []
    for name in next(iter(found.values())):
        ms = [f"{timing.milliseconds(times, name):.1f}" for times in found.values()]
        lines.append([name, *ms, f"{growth(found, name):.2f}"])
    return timing.table(["ms", *(f"n = {n}" for n in found), "exponent"], lines)


def main() -> None:
    given = timing.options(__doc__.splitlines()[0]).parse_args()
    timing.settle()
    lengths, window, rounds = (TINY, 8, 2) if given.quick else (LENGTHS, WINDOW, 7)
    for n in lengths:
        assert_equal(n, window)
    found = {n: timing.interleaved(variants(n, window), rounds) for n in lengths}
    note = (
        f"One sentence, {HEADS} heads of {D}, forward. The exponent x is fitted to time ∝ nˣ: "
        "2 where every query meets every key, 1 where their number is fixed. Linear attention "
        "computes another function than the rest; it is compared in time alone."
    )
    title = "Windows, linear attention, and growth with the length"
    timing.write(given.out, "growth", title, timing.goals(goal_rows(found)), note, details(found))


if __name__ == "__main__":
    main()
