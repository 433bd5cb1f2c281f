"""Measure what decoding is limited by: this machine's two rates, SmolLM2's passes, shared keys.

python benchmarks/roof.py            # some two minutes
python benchmarks/roof.py --quick    # tiny sizes, a few seconds

Lecture 13 reads the numbers from the package, where they are written beside the table.
"""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

import smollm
import timing
import torch
from layers import repeated
from timing import Row, Times, at_least, ratio
from torch import Tensor

from attnbook.cache import KVCache
from attnbook.multihead import Attend
from attnbook.transformer import LanguageModel
from attnlab._console import any_letter

HEADS, KV_HEADS, D = 32, (32, 8, 1), 128
# tokens of a pass, and those in the cache before; lengths of a text whose last token is wanted
WHOLE = {"tokens": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512), "after": 64}
WHOLE |= {"lengths": (16, 64, 256, 512), "n_k": 8192, "rounds": 7, "side": 1024}
QUICK = {"tokens": (1, 4), "after": 4, "lengths": (4, 16), "n_k": 64, "rounds": 2, "side": 64}
RECORD = files("attnlab.models.recorded") / "roof.json"
Runs = dict[str, Callable[[], object]]


def kept(model: LanguageModel, ids: Tensor) -> list[KVCache]:
    """Return the caches after reading the tokens (1, n), which may be none."""
    return model.start(ids, torch.tensor([ids.shape[1]])).caches


def go_on(model: LanguageModel, ids: Tensor, caches: list[KVCache], back: bool = True) -> Tensor:
    """Return the logits of the last of the new tokens (1, m); then forget them, if ``back``."""
    length = caches[0].length
    x = model.decoder(model.embed(ids, offset=length), causal=True, caches=caches)
    for cache in caches:
        cache.length = length if back else cache.length
    return x[:, -1] @ model.embed.tokens.weight.T


def rates(side: int, size: int) -> Runs:
    """Return a product of two matrices, and one that reads ``size`` bytes for one use of each."""
    matrix, vector = torch.randn(size // 4 // 576 + 1, 576), torch.randn(576)
    return {"products": timing.product(side), "bytes": lambda: matrix @ vector}


def passes(model: LanguageModel, tokens: tuple[int, ...], after: int) -> Runs:
    """Return the passes over m new tokens, with ``after`` of them in the cache."""
    ids = torch.randint(3, 50, (1, after + max(tokens)))
    caches, wanted = kept(model, ids[:, :after]), model(ids)[0]
    for m in tokens:
        last = go_on(model, ids[:, after : after + m], caches)
        timing.same(f"pass of {m}", last[0], wanted[after + m - 1], tolerance=1e-3)
    each = {f"pass {m}": ids[:, after : after + m] for m in tokens}
    return {name: functools.partial(go_on, model, new, caches) for name, new in each.items()}


def ends(model: LanguageModel, lengths: tuple[int, ...]) -> Runs:
    """Return two ways to the logits after n tokens: read all, or one beside a cache."""
    runs: Runs = {}
    for n in lengths:
        ids = torch.randint(3, 50, (1, n))
        caches = kept(model, ids[:, :-1])
        again = functools.partial(go_on, model, ids, kept(model, ids[:, :0]))
        cached = functools.partial(go_on, model, ids[:, -1:], caches)
        timing.same(f"the logits after {n} tokens", cached(), again(), tolerance=1e-3)
        runs |= {f"again {n}": again, f"cached {n}": cached}
    return runs


def shared(n_k: int) -> Runs:
    """Return one token's attention in 32 heads to n_k keys, shared or not, folded or repeated."""
    attend, runs = Attend(), {}
    query = torch.randn(1, HEADS, 1, D)
    for h_kv in KV_HEADS:
        key, value = (torch.randn(1, h_kv, n_k, D) for _ in range(2))
        runs[f"on {h_kv}"] = functools.partial(attend, query, key, value)
        if h_kv < HEADS:
            other = functools.partial(repeated, query, key, value)
            timing.same(f"{h_kv} repeated", other(), runs[f"on {h_kv}"]())
            runs[f"on {h_kv}, repeated"] = other
    return runs


def found(sizes: dict[str, Any], quick: bool) -> tuple[Times, dict[str, Any], str]:
    """Return the times of all, what is recorded of them, and where the weights are from."""
    torch.manual_seed(0)
    model, source = smollm.ours(quick)
    size = sum(part.nbytes for part in model.parameters())
    times: Times = {}
    for runs in (
        rates(sizes["side"], size) | passes(model, sizes["tokens"], sizes["after"]),
        ends(model, sizes["lengths"]),
    ):
        times |= timing.interleaved(runs, sizes["rounds"])
    shared(sizes["n_k"])  # compared here, and timed where nobody set the allocator
    times |= timing.fresh("--shared", sizes["n_k"], sizes["rounds"])
    seconds = {name: three(statistics.median(each)) for name, each in times.items()}
    record = {
        "machine": timing.machine(),
        "products": three(sizes["side"] ** 3 / seconds.pop("products")),
        "bytes": three(size / seconds.pop("bytes")),
        "seconds": seconds,
    }
    return times, record, source


def three(number: float) -> float:
    """Round to three digits."""
    return float(f"{number:.3g}")


def goals(times: Times, sizes: dict[str, Any]) -> list[Row]:
    """Return what the lecture builds on, as ratios."""
    n, n_k, m = max(sizes["lengths"]), sizes["n_k"], max(sizes["tokens"])
    faster = ratio(times, f"again {n}", f"cached {n}")
    rows = [
        Row(f"a token after {n}: reading all again", f"{faster:.1f} × as long as with a cache"),
        Row(f"a pass of {m} tokens", f"{ratio(times, f'pass {m}', 'pass 1'):.1f} × one of 1"),
    ]
    for h_kv, goal in ((8, 3), (1, 3)):
        gained = ratio(times, f"on {HEADS}", f"on {h_kv}")
        what = f"{HEADS} heads on {h_kv}, {n_k} keys"
        rows.append(at_least(what, gained, goal, " as fast as without sharing"))
        gained = ratio(times, f"on {h_kv}, repeated", f"on {h_kv}")
        rows.append(at_least(f"{what}, folded", gained, 20, " as fast as `repeat_interleave`"))
    return rows


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--shared", nargs=2, type=int, help="(used by the script itself)")
    given = parser.parse_args()
    if given.shared:
        torch.set_num_threads(1)
        with torch.no_grad():
            return print(json.dumps(timing.interleaved(shared(given.shared[0]), given.shared[1])))
    timing.settle()
    sizes = QUICK if given.quick else WHOLE
    with torch.no_grad():
        times, record, source = found(sizes, given.quick)
    lines = [[name, f"{three(1000 * each):g}"] for name, each in record["seconds"].items()]
    note = (
        f"SmolLM2 with {source}, in float32. A pass of m tokens goes on after {sizes['after']} in "
        f"the cache; *again n* and *cached n* are the logits after n tokens, with everything read "
        f"again or only the last; *on k* is one token's attention in {HEADS} heads of {D} to "
        f"{sizes['n_k']:,} keys on k heads of keys, with glibc's own allocator. A product of two "
        f"matrices does {record['products'] / 1e9:.1f} billion products a second, a matrix times a "
        f"vector reads {record['bytes'] / 1e9:.1f} GB."
    )
    tables = timing.goals(goals(times, sizes)), note, timing.table(["what", "ms"], lines)
    timing.write(given.out, "roof", "What decoding is limited by", *tables)
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    if given.out != timing.RESULTS:  # a trial
        given.out.with_name("roof.json").write_text(text, encoding="utf-8")
        return
    with as_file(RECORD) as file:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    any_letter()
    main()
