"""Measure the multi-head layer against PyTorch's, and what weights, groups and the cache cost.

python benchmarks/layers.py            # some four minutes
python benchmarks/layers.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable

import timing
import torch
from timing import Row, Times, at_least, at_most, digits, ratio
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention as sdpa

from attnbook.masks import causal_mask
from attnbook.multihead import Attend, MultiHeadAttention
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab._console import any_letter

SHAPES = {(8, 128): 21, (1, 1024): 11, (1, 4096): 3}  # (b, n), and rounds
TINY = {(2, 16): 2, (1, 32): 2}
HEADS, D_MODEL = 8, 512
OURS, OWN, TRAIN = "`MultiHeadAttention`", "Linear, SDPA, Linear", "`nn.MultiheadAttention`, SDPA"
EVAL, AVERAGED = "`nn.MultiheadAttention`, fast path", "`nn.MultiheadAttention`, weights"
SMALL = "at this size a few microseconds of checks count"
KEPT = "it holds all n × n weights, which costs less with an allocator that keeps its memory"


def linear_sdpa_linear(layer: MultiHeadAttention, x: Tensor, causal: bool) -> Tensor:
    """The shortest way to the same output, with the layer's own weights."""
    q, k, v = layer.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
    return layer.out(sdpa(q, k, v, is_causal=causal).transpose(1, 2).flatten(2))


def theirs(layer: nn.MultiheadAttention, x: Tensor, causal: bool, weights: bool) -> Tensor:
    mask = ~causal_mask(x.shape[1]) if causal else None  # True = masked
    return layer(x, x, x, attn_mask=mask, is_causal=causal, need_weights=weights)[0]


def variants(b: int, n: int, causal: bool, backward: bool) -> dict[str, Callable[[], Tensor]]:
    """Return every way to the same output; PyTorch's layer takes its paths by its mode."""
    torch.manual_seed(0)
    x = torch.randn(b, n, D_MODEL, requires_grad=backward)
    train = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).train()
    fast = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).eval()
    fast.load_state_dict(train.state_dict())
    mine = MultiHeadAttention.from_torch(train)
    ways = {
        OURS: functools.partial(mine, x, causal=causal),
        OWN: functools.partial(linear_sdpa_linear, mine, x, causal),
        TRAIN: functools.partial(theirs, train, x, causal, False),
        AVERAGED: functools.partial(theirs, train, x, causal, True),
    }
    if not backward:  # it is for evaluation alone
        ways[EVAL] = functools.partial(theirs, fast, x, causal, False)
        return {name: torch.no_grad()(way) for name, way in ways.items()}
    # the parameters' gradients are kept in .grad, which all ways share the cost of
    return {name: functools.partial(with_gradient, way, x) for name, way in ways.items()}


def with_gradient(way: Callable[[], Tensor], x: Tensor) -> Tensor:
    x.grad = None
    way().sum().backward()
    return x.grad


def whole_layer(shapes: dict[tuple[int, int], int]) -> dict[tuple, Times]:
    found = {}
    for (b, n), rounds in shapes.items():
        for causal in (False, True):
            for backward in (False, True):
                ways = variants(b, n, causal, backward)
                wanted = ways[OWN]().detach().clone()
                for name, way in ways.items():
                    what = f"{name}, {b}, {n}, causal={causal}, backward={backward}"
                    timing.same(what, way().detach(), wanted, tolerance=1e-4)
                found[b, n, causal, backward] = timing.interleaved(ways, rounds, warm_up=rounds > 3)
    return found


def layer_rows(found: dict[tuple, Times]) -> list[Row]:
    rows = []
    for (b, n, causal, backward), times in found.items():
        best = max(ratio(times, OURS, OWN), ratio(times, OURS, TRAIN))
        what = f"{OURS}, {case(b, n, causal, backward)}"
        rows.append(at_most(what, best, 1.05, " the better of two", why=SMALL if n < 512 else ""))
        if not backward and n >= 1024:
            plain = timing.fresh("--fast-path-of", json.dumps([b, n, causal]))
            rows += fast_path_rows(b, n, causal, times, plain)
    return rows


def fast_path_rows(b: int, n: int, causal: bool, kept: Times, plain: Times) -> list[Row]:
    """Return the fast path's rows, with the allocator of the other rows and with glibc's own."""
    rows, what = [], f"{EVAL}, {case(b, n, causal, False)}"
    for name, times in ((what, kept), (f"{what}, glibc's own allocator", plain)):
        gained = ratio(times, EVAL, OURS)
        rows.append(
            Row(name, f"{digits(gained, 1.4, 1)} × ours", "≥ 1.4 × ours", gained >= 1.4, KEPT)
        )
    return rows


def case(b: int, n: int, causal: bool, backward: bool) -> str:
    kind = ", causal" if causal else ""
    return f"({b}, {n}){kind}, {'with backward' if backward else 'forward'}"


def layer_table(found: dict[tuple, Times]) -> str:
    others = [OURS, TRAIN, EVAL, AVERAGED]
    lines = []
    for key, times in found.items():
        cells = [f"{ratio(times, name, OWN):.2f}" if name in times else "–" for name in others]
        lines.append([case(*key), *cells, f"{timing.milliseconds(times, OWN):.1f}"])
    return timing.table(["(b, n)", *others, f"{OWN}, ms"], lines)


@torch.no_grad()
def weights_on_demand(n: int, rounds: int) -> list[Row]:
    torch.manual_seed(0)
    x, layer = torch.randn(1, n, D_MODEL), MultiHeadAttention(D_MODEL, HEADS).eval()
    some = list(range(0, n, max(n // 16, 1)))[:16]
    full = layer.weights(x)
    timing.same("weights of one head", layer.weights(x, heads=3), full[:, 3:4])
    timing.same("weights of 16 rows", layer.weights(x, heads=3, rows=some), full[:, 3:4, some])
    del full
    ways = {
        "16 rows of one head": lambda: (layer(x), layer.weights(x, heads=3, rows=some)),
        "one head": lambda: (layer(x), layer.weights(x, heads=3)),
        "all heads": lambda: (layer(x), layer.weights(x)),
        "none": lambda: layer(x),
    }
    times = timing.interleaved(ways, rounds)
    limits = {"16 rows of one head": 1.05, "one head": 1.2}
    rows = []
    for name in ("16 rows of one head", "one head", "all heads"):
        more, what = ratio(times, name, "none"), f"layer with the weights of {name}, n = {n}"
        if name in limits:
            rows.append(at_most(what, more, limits[name], " the layer"))
        else:
            rows.append(Row(what, f"{more:.2f} ×"))
    return rows


@torch.no_grad()
def grouped(n_k: int, rounds: int, h: int = 16) -> list[Row]:
    """Decode one token with shared keys: one query per head against ``n_k`` keys."""
    rows, attend = [], Attend()
    for h_kv in (4, 1):
        torch.manual_seed(0)
        q = torch.randn(1, h, 1, 64)
        k, v = (torch.randn(1, h_kv, n_k, 64) for _ in range(2))
        ways = {
            "ours": functools.partial(attend, q, k, v),
            "gqa": functools.partial(sdpa, q, k, v, enable_gqa=True),
            "repeat": functools.partial(repeated, q, k, v),
        }
        for name, way in ways.items():
            timing.same(f"{name}, {h_kv} key heads", way(), ways["gqa"]())
        times = timing.interleaved(ways, rounds, repeat=10)
        what = f"decoding with {h} heads on {h_kv}, {n_k} keys"
        rows.append(at_most(what, ratio(times, "ours", "gqa"), 1.05, " `enable_gqa`"))
        times_more = ratio(times, "repeat", "ours")
        rows.append(Row(f"`repeat_interleave` and SDPA, {h} on {h_kv}", f"{times_more:.1f} × ours"))
    return rows


def repeated(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    times = query.shape[1] // key.shape[1]
    return sdpa(query, key.repeat_interleave(times, 1), value.repeat_interleave(times, 1))


@torch.no_grad()
def written(model: LanguageModel, prompt: Tensor, n: int) -> Tensor:
    """Write ``n`` tokens with the cache."""
    state = model.start(prompt[:, :-1], torch.full((len(prompt),), prompt.shape[1] - 1))
    tokens = [prompt[:, -1]]
    for _ in range(n):
        logits, state = model.step(tokens[-1], state)
        tokens.append(logits.argmax(dim=-1))
    return torch.stack(tokens[1:], dim=1)


@torch.no_grad()
def rewritten(model: LanguageModel, prompt: Tensor, n: int) -> Tensor:
    """Write ``n`` tokens, each time reading everything again."""
    tokens = prompt
    for _ in range(n):
        tokens = torch.cat([tokens, model(tokens)[:, -1].argmax(dim=-1)[:, None]], dim=1)
    return tokens[:, prompt.shape[1] :]


def caching(n: int, rounds: dict[int, int], d_model: int) -> list[Row]:
    torch.manual_seed(0)
    model = LanguageModel(1000, ModelConfig(d_model=d_model, n_heads=4, n_layers=4)).eval()
    rows, size = [], sum(weight.numel() for weight in model.parameters()) / 1e6
    for b, goal in ((1, 6), (8, 20)):
        prompt = torch.randint(3, 1000, (b, 16))
        timing.same(f"tokens, batch {b}", *(f(model, prompt, n).tolist() for f in WAYS.values()))
        runs = {name: functools.partial(way, model, prompt, n) for name, way in WAYS.items()}
        times = timing.interleaved(runs, rounds[b], warm_up=0)
        what = f"cache, {n} tokens after 16, batch {b} ({size:.1f} M parameters, 4 layers)"
        faster = ratio(times, "again", "cache")
        rows.append(at_least(what, faster, goal, " as fast as recomputation"))
    return rows


WAYS = {"cache": written, "again": rewritten}


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--fast-path-of", help="(used by the script itself)")
    given = parser.parse_args()
    if given.fast_path_of:
        torch.set_num_threads(1)
        b, n, causal = json.loads(given.fast_path_of)
        ways = variants(b, n, causal, False)
        return print(json.dumps(timing.interleaved({w: ways[w] for w in (OURS, EVAL)}, 5)))
    timing.settle()
    found = whole_layer(TINY if given.quick else SHAPES)
    rows = layer_rows(found)
    for n in (32,) if given.quick else (1024, 4096):
        rows += weights_on_demand(n, 2 if given.quick else 7)
    rows += grouped(64 if given.quick else 4096, 2 if given.quick else 15)
    rows += caching(4, {1: 1, 8: 1}, 32) if given.quick else caching(256, {1: 3, 8: 1}, 256)
    note = (
        f"The layer has {HEADS} heads and d_model = {D_MODEL}. Times are multiples of the time of "
        f"{OWN}, with the same weights. PyTorch's fast path is for evaluation and holds all "
        "weights; its other paths call SDPA, or return weights averaged over the heads."
    )
    tables = (timing.goals(rows), note, layer_table(found))
    timing.write(given.out, "layers", "The layer, its weights on demand, and the cache", *tables)


if __name__ == "__main__":
    any_letter()
    main()
