"""Measure the three forms of attention against PyTorch's kernel and the forms that peers teach.

python benchmarks/attention.py            # some five minutes
python benchmarks/attention.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import timing
import torch
from timing import Row, Times, at_most, milliseconds, ratio
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, fused_attention
from attnbook.further.tiles import tiled_attention
from attnbook.masks import causal_mask
from attnlab._console import any_letter

Inputs = tuple[Tensor, Tensor, Tensor, bool, Tensor | None]  # query, key, value, causal, its mask
SHAPES = {(8, 8, 128, 64): 31, (1, 8, 1024, 64): 9, (1, 8, 4096, 64): 3}  # and rounds
TINY = {(2, 2, 16, 8): 2, (1, 2, 32, 8): 2, (1, 2, 64, 8): 2}
UNIT, PRODUCT = "SDPA", "matrix product"


def taught(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention as most courses write it: divide, fill, softmax."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return scores.softmax(dim=-1) @ value


def taught_einsum(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """The same by einsum."""
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(dim=-1), value)


VARIANTS: dict[str, Callable[[Tensor, Tensor, Tensor, bool, Tensor | None], Tensor]] = {
    UNIT: lambda q, k, v, causal, mask: scaled_dot_product_attention(q, k, v, is_causal=causal),
    "attention": lambda q, k, v, causal, mask: attention(q, k, v, mask).output,
    "fused_attention": lambda q, k, v, causal, mask: fused_attention(q, k, v, causal=causal),
    "tiled_attention": lambda q, k, v, causal, mask: tiled_attention(q, k, v, causal=causal).output,
    "taught": lambda q, k, v, causal, mask: taught(q, k, v, mask),
    "taught, einsum": lambda q, k, v, causal, mask: taught_einsum(q, k, v, mask),
}
OURS = ("attention", "fused_attention", "tiled_attention")
PEERS = ("taught", "taught, einsum")


def inputs(shape: tuple[int, ...], causal: bool, backward: bool) -> Inputs:
    torch.manual_seed(0)
    q, k, v = (torch.randn(shape, requires_grad=backward) for _ in range(3))
    return q, k, v, causal, causal_mask(shape[-2]) if causal else None


def gradients(name: str, given: Inputs) -> tuple[Tensor, ...]:
    # of the sum: its own gradient is one number, and costs nothing
    return torch.autograd.grad(VARIANTS[name](*given).sum(), given[:3])


def runner(name: str, given: Inputs) -> Callable[[], object]:
    if given[0].requires_grad:
        return lambda: gradients(name, given)
    return lambda: VARIANTS[name](*given)


def assert_equal(shape: tuple[int, ...], causal: bool) -> None:
    given = inputs(shape, causal, backward=True)
    wanted, wanted_gradients = VARIANTS[UNIT](*given), gradients(UNIT, given)
    for name in (*OURS, *PEERS):
        what = f"{name}, {shape}, causal={causal}"
        timing.same(what, VARIANTS[name](*given), wanted)
        for mine, other in zip(gradients(name, given), wanted_gradients, strict=True):
            timing.same(f"{what}, gradient", mine, other, tolerance=1e-4)


def measure(shape: tuple[int, ...], causal: bool, backward: bool, rounds: int) -> Times:
    given = inputs(shape, causal, backward)
    runs = {name: runner(name, given) for name in VARIANTS}
    return timing.interleaved({**runs, PRODUCT: timing.product(1024)}, rounds, warm_up=rounds > 3)


def share(shape: tuple[int, ...], causal: bool, backward: bool, times: Times, name: str) -> float:
    """Return the useful operations per second, as a share of those of a matrix product."""
    b, h, n, d = shape
    operations = 4 * b * h * n * n * d * (0.5 if causal else 1) * (3.5 if backward else 1)
    return operations / (2 * 1024**3) / ratio(times, name, PRODUCT)


def label(shape: tuple[int, ...], causal: bool, backward: bool) -> str:
    kind = ", causal" if causal else ""
    return f"{shape}{kind}, {'with backward' if backward else 'forward'}"


def time_table(found: dict[tuple, Times]) -> str:
    lines = []
    for (shape, causal, backward), times in found.items():
        cells = [f"{ratio(times, name, UNIT):.2f}" for name in (*OURS, *PEERS)]
        shares = [
            f"{100 * share(shape, causal, backward, times, name):.0f} %"
            for name in (UNIT, "tiled_attention")
        ]
        ms = f"{milliseconds(times, UNIT):.1f}"
        lines.append([label(shape, causal, backward), *cells, ms, *shares])
    head = ["(b, h, n, d)", *(f"`{name}`" for name in OURS), *PEERS]
    return timing.table([*head, "SDPA, ms", "SDPA's share", "tiled's share"], lines)


def memory(shapes: list[tuple[int, ...]], names: tuple[str, ...]) -> dict[tuple, float | None]:
    """Return MB by (shape, backward, variant), each from a process of its own."""
    cases = [(s, backward, name) for s in shapes for backward in (False, True) for name in names]
    return {case: timing.fresh("--memory-of", json.dumps(case)) for case in cases}


def memory_of(given: str) -> float | None:
    shape, backward, name = json.loads(given)
    runner(name, inputs((1, 1, 2, shape[-1]), False, backward))()  # what the first call sets up
    return timing.peak_memory(runner(name, inputs(tuple(shape), False, backward)))


def times_of(given: str) -> Times:
    shape, causal = json.loads(given)
    return measure(tuple(shape), causal, False, 9)


def memory_table(found: dict[tuple, float | None]) -> str:
    shapes, names = (list(dict.fromkeys(case[k] for case in found)) for k in (0, 2))
    lines = [
        [
            f"`{name}`" if name in OURS else name,
            *(
                "–" if (mb := found[shape, backward, name]) is None else f"{mb:.0f}"
                for shape in shapes
                for backward in (False, True)
            ),
        ]
        for name in names
    ]
    passes = ("forward", "with backward")
    return timing.table(["MB", *(f"n = {s[2]}, {p}" for s in shapes for p in passes)], lines)


def goal_rows(found: dict[tuple, Times], shapes: list[tuple[int, ...]]) -> list[Row]:
    def of(name: str, shape: tuple, causal: bool, backward: bool = False) -> float:
        return ratio(found[shape, causal, backward], name, UNIT)

    small, middle, large = shapes
    limits = {(small, False): 1.3, (small, True): 1.3, (middle, False): 2.6, (middle, True): 3.7}
    rows = [
        explicit(shape, causal, of("attention", shape, causal), goal)
        for (shape, causal), goal in limits.items()
    ]
    worst, case = max(
        (max(ratio(times, "attention", peer) for peer in PEERS), label(*case))
        for case, times in found.items()
    )
    what = f"`attention()` against the faster of the taught forms, worst case: {case}"
    rows.append(at_most(what, worst, 1, why=CHECKS))
    for shape in (middle, large):
        for causal in (False, True):
            for backward, goal in ((False, 1.6), (True, 1.3)):
                what = f"`tiled_attention`, {label(shape, causal, backward)}"
                number = of("tiled_attention", shape, causal, backward)
                rows.append(at_most(what, number, goal, " SDPA", why=TILES))
    return rows


def small_row(repeat: int) -> Row:
    """Return the row of a call so small that Python takes most of it: what the checks may cost."""
    query, key, value, _, mask = inputs((2, 5, 8), True, False)
    runs = {
        UNIT: lambda: scaled_dot_product_attention(query, key, value),
        "attention": lambda: attention(query, key, value, mask),
    }
    with torch.no_grad():
        times = timing.interleaved(runs, 99, repeat=repeat)
    what = "`attention()`, (2, 5, 8), masked, without a gradient"
    return at_most(what, ratio(times, "attention", UNIT), 5, " SDPA, not masked", why=SMALL)


def memory_rows(found: dict[tuple, float | None], shapes: list[tuple[int, ...]]) -> list[Row]:
    middle, large = shapes
    tiled = [found[shape, True, "tiled_attention"] for shape in shapes]
    if None in tiled:
        return []
    unit = found[large, True, UNIT]
    what = f"memory of `tiled_attention` with backward, {large}"
    grows = f"the same, n = {large[2]} against n = {middle[2]}"
    return [
        at_most(what, tiled[1] / max(unit, 1e-9), 1.5, " SDPA"),
        at_most(grows, tiled[1] / max(tiled[0], 1e-9), 5),
    ]


def explicit(shape: tuple, causal: bool, found: float, goal: float) -> Row:
    """Return the row of `attention()` against SDPA."""
    what = f"`attention()`, {shape}{', causal' if causal else ''}"
    return at_most(what, found, goal, " SDPA", why=HALF if causal else "")


HALF = "it computes the scores above the diagonal too, which SDPA leaves out"
CHECKS = "without a mask the arithmetic is the same, and the arguments' checks remain"
SMALL = "some ten operations on a few numbers, each called from Python"
TILES = "Python calls a kernel for each pair of tiles, where PyTorch's loop is compiled"


def plain_allocator(out: Path, shapes: list[tuple[int, ...]]) -> None:
    """Write what the forms with n × n buffers cost where each comes anew from the system."""
    rows, lines = [], []
    for shape, limits in zip(shapes, ((1.3, 1.3), (2.6, 3.7)), strict=False):
        for causal, goal in zip((False, True), limits, strict=True):
            times = timing.fresh("--times-of", json.dumps([shape, causal]))
            names = ("attention", *PEERS)
            cells = [f"{ratio(times, name, UNIT):.2f}" for name in names]
            lines.append([label(shape, causal, False), *cells])
            rows.append(explicit(shape, causal, ratio(times, "attention", UNIT), goal))
    note = (
        "All other tables of attention are measured with an allocator that keeps its memory "
        "(`MALLOC_MMAP_THRESHOLD_`, `MALLOC_TRIM_THRESHOLD_`). With glibc's own settings, those "
        "of a program that sets nothing, every large buffer comes anew from the system, page by "
        "page; so fewer buffers count for more. Forward, multiples of SDPA's time:"
    )
    table = timing.table(["(b, h, n, d)", "`attention`", *PEERS], lines)
    title = "Attention itself, with glibc's own allocator"
    timing.write(out, "allocator", title, timing.goals(rows), note, table)


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--memory-of", help="(used by the script itself)")
    parser.add_argument("--times-of", help="(used by the script itself)")
    given = parser.parse_args()
    if given.memory_of or given.times_of:
        torch.set_num_threads(1)
        answer = memory_of(given.memory_of) if given.memory_of else times_of(given.times_of)
        return print(json.dumps(answer))
    timing.settle()
    shapes = TINY if given.quick else SHAPES
    long = list(shapes)[1:]
    for shape in shapes:
        for causal in (False, True):
            assert_equal(shape, causal)
    used = memory(long[:1], (UNIT,)) if given.quick else memory(long, tuple(VARIANTS))
    found = {
        (shape, causal, backward): measure(shape, causal, backward, rounds)
        for shape, rounds in shapes.items()
        for causal in (False, True)
        for backward in (False, True)
    }
    rows = [*goal_rows(found, list(shapes)), small_row(2 if given.quick else 200)]
    rows += [] if given.quick else memory_rows(used, long)
    note = "Times are multiples of SDPA's; shares are of the rate of a 1,024 × 1,024 product."
    fresh = "Peak memory, forward and backward, not causal, each in a fresh process:"
    parts = (timing.goals(rows), note, time_table(found), fresh, memory_table(used))
    timing.write(given.out, "attention", "Attention itself", *parts)
    plain_allocator(given.out, list(shapes)[:1] if given.quick else list(shapes)[:2])


if __name__ == "__main__":
    any_letter()
    main()
