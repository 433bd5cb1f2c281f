"""Measure attention that does not look everywhere, and how time and memory grow with the length.

python benchmarks/growth.py            # some three minutes
python benchmarks/growth.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable

import timing
import torch
from timing import Row, Times, at_least, at_most, ratio
from torch import Tensor
from torch.nn.functional import normalize, scaled_dot_product_attention

from attnbook.attention import attention
from attnbook.further.linear import delta_rule, delta_steps, feature_map, linear_attention
from attnbook.further.sparse import local_attention
from attnbook.further.tiles import tiled_attention
from attnbook.masks import causal_mask, window_mask
from attnlab._console import any_letter

WINDOW, HEADS, D = 256, 8, 64
LENGTHS, TINY = [512, 1024, 2048, 4096], [32, 64]
# what keeps a state: taken chunk by chunk, and token by token
CHUNKED = {
    "`linear_attention`, causal": "causal linear attention, token by token",
    "`delta_rule`": "`delta_steps`",
    "`delta_rule`, gated": "`delta_steps`, gated",
}
PRODUCT = "one product a chunk"
PRODUCTS_ALONE = "`linear_attention`: its two products alone"
UNIT, UNIT_CAUSAL, BAND = "SDPA", "SDPA, causal", "SDPA with a mask of the window"
STATES = [name for pair in CHUNKED.items() for name in pair]
CASES = ((HEADS, False), (1, False), (HEADS, True))  # heads, and with backward or not
# the products of two 64 × 64 matrices that a chunk of a head needs, its triangular system being one
PRODUCTS = dict(zip(CHUNKED, (4, 7, 7), strict=True))


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
        PRODUCTS_ALONE: lambda: q @ (k.mT @ v),
        "`linear_attention`, causal": lambda: linear_attention(q, k, v, causal=True),
    }


def states(n: int, heads: int = HEADS, backward: bool = False) -> dict[str, Callable[[], Tensor]]:
    """Return what reads and writes a state of fixed size, chunk by chunk and token by token."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, heads, n, D, requires_grad=backward) for _ in range(3))
    beta, gate = torch.rand(1, heads, n), 1 - torch.rand(1, heads, n)
    linear, delta, gated = CHUNKED
    runs = {
        linear: lambda: linear_attention(q, k, v, causal=True),
        CHUNKED[linear]: lambda: linear_steps(q, k, v),
        delta: lambda: delta_rule(q, normalize(k, dim=-1), v, beta).output,
        CHUNKED[delta]: lambda: delta_steps(q, normalize(k, dim=-1), v, beta).output,
        gated: lambda: delta_rule(q, normalize(k, dim=-1), v, beta, gate=gate).output,
        CHUNKED[gated]: lambda: delta_steps(q, normalize(k, dim=-1), v, beta, gate=gate).output,
    }
    if not backward:
        return runs
    return {name: functools.partial(gradient, run, q) for name, run in runs.items()}


def gradient(run: Callable[[], Tensor], x: Tensor) -> Tensor:
    """Return the gradient of the output's sum by x; the other inputs' are computed as well."""
    x.grad = None
    run().sum().backward()
    return x.grad


def linear_steps(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal linear attention as a recurrence, one token after another."""
    query, key = feature_map(query), feature_map(key)
    memory, total, outputs = 0, 0, []
    for t in range(key.shape[-2]):
        q, k, v = (part[..., t : t + 1, :] for part in (query, key, value))
        memory, total = memory + k.mT @ v, total + k
        outputs.append(q @ memory / (q * total).sum(dim=-1, keepdim=True))
    return torch.cat(outputs, dim=-2)


def case(heads: int, backward: bool) -> str:
    return f"{heads} heads, {'with backward' if backward else 'forward'}".replace(
        "1 heads", "1 head"
    )


def chunked(n: int, rounds: int) -> tuple[list[Row], dict[tuple[int, bool], Times]]:
    """Return by how much chunks are faster than tokens one by one, and the times."""
    rows, found = [], {}
    for heads, backward in CASES:
        runs = states(n, heads, backward)
        for name, steps in CHUNKED.items():
            what = f"{name}, n = {n}, {case(heads, backward)}"
            timing.same(what, runs[name](), runs[steps](), tolerance=1e-4)
        matrices = torch.randn(heads * n // D, D, D)
        alone = {PRODUCT: lambda matrices=matrices: matrices @ matrices}
        times = found[heads, backward] = timing.interleaved(runs | alone, rounds)
        for name, steps in CHUNKED.items():
            what = f"{name}, n = {n}, {case(heads, backward)}"
            most = ratio(times, steps, PRODUCT) / PRODUCTS[name]
            why = f"its {PRODUCTS[name]} products of matrices a chunk alone: {most:.1f} ×"
            row = at_least(what, ratio(times, steps, name), 5, " as fast as token by token")
            rows.append(row if backward else row._replace(why=why))
    return rows, found


def memory(n: int, window: int, name: str, backward: bool) -> float | None:
    """Return the MB that one way takes beside queries, keys, values and mask."""
    runs = states(n, backward=backward) if backward or name in STATES else variants(n, window)
    return timing.peak_memory(runs[name], warm_up=True)


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
    alone = ratio(found[linear_at], PRODUCTS_ALONE, UNIT)
    why = f"its two products alone: {alone:.2f} ×; the rest reads and writes memory"
    causal = ratio(found[linear_at], "`linear_attention`, causal", UNIT_CAUSAL)
    slope = growth(found, "`linear_attention`")
    return [
        at_most(f"`local_attention`, window {WINDOW}, n = {longest}", local, 0.35, " causal SDPA"),
        at_most(f"`linear_attention`, n = {linear_at}", linear, 0.2, " SDPA", why=why),
        Row(f"`linear_attention`, causal, n = {linear_at}", f"{causal:.2f} × causal SDPA"),
        Row("`linear_attention`: time grows as n to the", f"{slope:.2f}", "≤ 1.1", slope <= 1.1),
    ]


def megabytes(name: str, n: int, window: int, backward: bool = False) -> str:
    size = timing.fresh("--memory-of", json.dumps([name, n, window, backward]), exact=True)
    return "–" if size is None else f"{size:.0f}"


def details(found: dict[int, Times], window: int) -> str:
    lines = []
    for name in next(iter(found.values())):
        ms = [f"{timing.milliseconds(times, name):.1f}" for times in found.values()]
        lines.append([name, *ms, f"{growth(found, name):.2f}", megabytes(name, max(found), window)])
    head = ["ms", *(f"n = {n}" for n in found), "exponent", f"MB, n = {max(found)}"]
    return timing.table(head, lines)


def state_table(n: int, found: dict[tuple[int, bool], Times]) -> str:
    lines = []
    for name in STATES:
        ms = [f"{timing.milliseconds(found[each], name):.1f}" for each in CASES]
        lines.append([name, *ms, *(megabytes(name, n, 1, backward) for backward in (False, True))])
    head = [f"n = {n}", *(f"{case(*each)}, ms" for each in CASES)]
    return timing.table([*head, "forward, MB", "with backward, MB"], lines)


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--memory-of", help="(used by the script itself)")
    given = parser.parse_args()
    if given.memory_of:
        torch.set_num_threads(1)
        name, n, window, backward = json.loads(given.memory_of)
        return print(json.dumps(memory(n, window, name, backward)))
    timing.settle()
    lengths, window, rounds = (TINY, 8, 2) if given.quick else (LENGTHS, WINDOW, 7)
    for n in lengths:
        assert_equal(n, window)
    found = {n: timing.interleaved(variants(n, window), rounds) for n in lengths}
    at = 1024 if 1024 in lengths else lengths[-1]
    rows, of_states = chunked(at, rounds)
    note = (
        f"One sentence, {HEADS} heads of {D}, forward. The exponent x is fitted to time ∝ nˣ: "
        "2 where every query meets every key, 1 where their number is fixed. Linear attention "
        "computes another function than the rest; it is compared in time alone. Memory is the peak "
        "of a call beside its arguments, where nothing that is free is held; of it "
        f"{HEADS * D * lengths[-1] * 4 / 1e6:.0f} MB are the output."
    )
    other = "What keeps a state of fixed size, 64 tokens at a time and token by token:"
    tables = timing.goals(goal_rows(found) + rows), note, details(found, window)
    title = "Windows, linear attention, and growth with the length"
    timing.write(given.out, "growth", title, *tables, other, state_table(at, of_states))


if __name__ == "__main__":
    any_letter()
    main()
