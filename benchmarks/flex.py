"""Measure what a mask costs: FlexAttention compiled, SDPA with the mask, and the book's functions.

python benchmarks/flex.py            # some three minutes
python benchmarks/flex.py --quick    # tiny sizes, half a minute: the compiler is not quicker

Lecture 14 reads the numbers from the package. Without a C++ compiler FlexAttention is left out.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import timing
import torch
from timing import Row, Times, at_least, ratio
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention as sdpa

from attnbook.attention import fused_attention
from attnbook.further.sparse import local_attention
from attnbook.further.tiles import tiled_attention
from attnbook.masks import causal_mask, window_mask
from attnbook.positions import alibi_bias
from attnlab._console import any_letter

HEADS, D = 8, 64
MASKED, OWN, FLEX = "SDPA with the mask", "SDPA, causal", "FlexAttention"
RECORD = files("attnlab.models.recorded") / "flex.json"
Run = Callable[[], Tensor]


class Sizes(NamedTuple):
    lengths: tuple[int, ...]
    window: int
    rounds: int


WHOLE, QUICK = Sizes((1024, 4096), 256, 7), Sizes((256,), 64, 2)
no_compiler: list[str] = []  # why FlexAttention was left out


def inputs(n: int) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, HEADS, n, D) for _ in range(3)]


def names(window: int) -> tuple[str, ...]:
    return "none", "causal", f"window {window}", "ALiBi, causal"


def masked(name: str, n: int, window: int) -> functools.partial[Tensor]:
    """Return SDPA with the mask written out."""
    mask = None
    if name == "causal":
        mask = causal_mask(n)
    elif name.startswith("window"):
        mask = window_mask(n, n, window)
    elif name != "none":
        mask = alibi_bias(HEADS, n).masked_fill(~causal_mask(n), -torch.inf)
    return functools.partial(sdpa, *inputs(n), attn_mask=mask)


def book(name: str, n: int, window: int) -> tuple[str, Run]:
    """Return the function of the book that is made for it, and its name."""
    q, k, v = inputs(n)
    if name.startswith("window"):
        return "local_attention", lambda: local_attention(q, k, v, window)
    if name.startswith("ALiBi"):
        bias = alibi_bias(HEADS, n)[None]
        return "fused_attention", lambda: fused_attention(q, k, v, bias=bias, causal=True)
    return "tiled_attention", lambda: tiled_attention(q, k, v, causal=name == "causal").output


def flex(name: str, n: int, window: int) -> tuple[functools.partial[Tensor], float]:
    """Return FlexAttention, not yet compiled, and the share of its blocks that it leaves out."""
    slopes = -alibi_bias(HEADS, 2)[:, 1, 0]

    def earlier(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return i >= j

    def near(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return (i >= j) & (i - j < window)

    def sloped(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score - slopes[h] * (i - j)

    mask_mod = {"none": None, f"window {window}": near}.get(name, earlier)
    score_mod = sloped if name.startswith("ALiBi") else None
    blocks = mask_mod and create_block_mask(mask_mod, None, None, n, n, device="cpu")
    torch.compiler.reset()  # or the ninth mask would be refused
    compiled: Any = torch.compile(flex_attention, dynamic=False, fullgraph=True)
    run = functools.partial(compiled, *inputs(n), score_mod=score_mod, block_mask=blocks)
    return run, blocks.sparsity() / 100 if blocks else 0.0


def compiled_by(run: Run) -> float | None:
    """Compile by the first call and return the seconds that took; None where it cannot be done."""
    began = time.perf_counter()
    try:
        run()
    except (RuntimeError, NotImplementedError) as error:  # no compiler, or one that fails
        no_compiler.append(str(error).strip().splitlines()[0])
        return None
    return time.perf_counter() - began


def ways(name: str, n: int, window: int) -> tuple[dict[str, Run], dict[str, Any]]:
    """Return every way to attend under one mask, compared, and what is recorded besides."""
    own, ours = book(name, n, window)
    runs = {MASKED: masked(name, n, window), own: ours}
    record: dict[str, Any] = {"mask": name, "n": n, "own": own}
    if name == "causal":
        runs[OWN] = functools.partial(sdpa, *inputs(n), is_causal=True)
    if not no_compiler:
        run, record["skipped"] = flex(name, n, window)
        record["compiling"] = compiled_by(run)
        if record["compiling"] is not None:
            runs[FLEX] = run
    wanted = runs[MASKED]()
    for way, run in runs.items():
        timing.same(f"{way}, {name}, n = {n}", run(), wanted)
    return runs, record


def found(sizes: Sizes) -> tuple[dict[tuple[str, int], Times], list[dict[str, Any]]]:
    times, records = {}, []
    for n in sizes.lengths:
        for name in names(sizes.window):
            runs, record = ways(name, n, sizes.window)
            each = times[name, n] = timing.interleaved(runs, sizes.rounds)
            seconds = {way: statistics.median(took) for way, took in each.items()}
            record |= {"sdpa": seconds[MASKED], "flex": seconds.get(FLEX)}
            record["ours"] = seconds[record["own"]]
            records.append(record)
    return times, records


def memory(way: str, name: str, n: int, window: int) -> float | None:
    """Return the MB that a call takes beside its arguments, of which the mask is one."""
    if way == FLEX:
        run, _ = flex(name, n, window)
        return None if compiled_by(run) is None else timing.peak_memory(run, warm_up=True)
    run = masked(name, n, window) if way == MASKED else book(name, n, window)[1]
    return timing.peak_memory(run, warm_up=True)


def mask_bytes(way: str, name: str, n: int, window: int) -> int:
    """Return the bytes of the mask that one way is given."""
    if way == MASKED:
        return masked(name, n, window).keywords["attn_mask"].nbytes
    if way != FLEX:
        return 0
    parts = flex(name, n, window)[0].keywords["block_mask"].as_tuple()
    return sum(part.nbytes for part in parts if isinstance(part, Tensor))


def goals(times: dict[tuple[str, int], Times], window: int) -> list[Row]:
    """Return what is gained at the greatest length."""
    n, rows = max(n for _, n in times), []
    local, near = "local_attention", f"window {window}"
    gained = ratio(times[near, n], MASKED, local)
    what = f"`{local}`, {near}, n = {n}"
    rows.append(at_least(what, gained, 8, " as fast as SDPA with the mask"))
    for name in names(window):
        each = times[name, n]
        if FLEX in each:
            peer = min((way for way in each if way != FLEX), key=lambda way: ratio(each, way, FLEX))
            what = f"{FLEX} compiled, mask {name}, n = {n}"
            gained = f"{ratio(each, peer, FLEX):.2f} × as fast as {shown(peer)}"
            rows.append(Row(what, gained + ", the fastest beside it"))
    return rows


def shown(way: str) -> str:
    return f"`{way}`" if "_" in way else way


def details(times: dict[tuple[str, int], Times], records: list[dict[str, Any]]) -> str:
    lines = []
    for record in records:
        of = times[record["mask"], record["n"]]
        ms = [f"{timing.milliseconds(of, way):.1f}" if way in of else "–" for way in (MASKED, OWN)]
        ms += [f"{1000 * record[way]:.1f}" if record[way] else "–" for way in ("ours", "flex")]
        skipped, compiling = record.get("skipped"), record.get("compiling")
        more = ["–" if skipped is None else f"{skipped:.0%}".replace("%", " %")]
        more += ["–" if compiling is None else f"{compiling:.1f}"]
        first = [record["mask"], str(record["n"])]
        lines.append([*first, *ms[:3], shown(record["own"]), ms[3], *more])
    head = ["mask", "n", MASKED, OWN, "ours", "which is", FLEX, "blocks left out", "compiling, s"]
    return timing.table(head, lines)


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--memory-of", nargs=2, help="(used by the script itself)")
    given = parser.parse_args()
    sizes = QUICK if given.quick else WHOLE
    n, window = max(sizes.lengths), sizes.window
    if given.memory_of:
        way, name = given.memory_of
        torch.set_num_threads(1)
        with torch.no_grad():
            return print(json.dumps(memory(way, name, n, window)))
    timing.settle()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder  # what was compiled before is not counted
        times, records = found(sizes)
        quick, near = ["--quick"] if given.quick else [], f"window {window}"
        lines = []
        for way in (MASKED, book(near, n, window)[0], *([] if no_compiler else [FLEX])):
            took = timing.fresh("--memory-of", way, near, *quick)
            of_mask = mask_bytes(way, near, n, window) / 1e6
            lines.append([shown(way), f"{of_mask:.1f}", "–" if took is None else f"{took:.0f}"])
    note = (
        f"One sentence, {HEADS} heads of {D}, forward, in ms. {MASKED} is given the n × n mask, or "
        "bias, written out. FlexAttention is compiled for each mask, by the first call, whose "
        "seconds on the clock are given; it leaves out whole blocks of 128 queries and 128 keys. "
        "Compiled for a processor, it has no backward pass. Memory, n = "
        f"{n}, {near}: the mask, and the peak of a call beside its arguments, in MB:"
    )
    if no_compiler:
        note = f"FlexAttention could not be compiled here and is left out: {no_compiler[0]}. {note}"
    memories = timing.table(["way", "mask, MB", "call, MB"], lines)
    parts = timing.goals(goals(times, window)), details(times, records), note, memories
    timing.write(given.out, "flex", "Masks: written out, compiled, or left out", *parts)
    if no_compiler:  # the record stays as it is
        return
    record = {"machine": timing.machine(), "rows": [rounded(row) for row in records]}
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    if given.out != timing.RESULTS:  # a trial
        given.out.with_name("flex.json").write_text(text, encoding="utf-8")
        return
    with as_file(RECORD) as file:
        file.write_text(text, encoding="utf-8")


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Round seconds and shares to three digits."""
    return {
        key: float(f"{each:.3g}") if isinstance(each, float) else each for key, each in row.items()
    }


if __name__ == "__main__":
    any_letter()
    main()
