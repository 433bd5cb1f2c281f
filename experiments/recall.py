"""Compare what a memory of fixed size and a cache can recall, by the size of its keys.

The model is the memory alone: 64 symbols have a learned key and a learned query of d numbers each,
and 64 others a learned value of 32 numbers, so that the state of a "sum" or of the delta rule has
d × 32 numbers, however many pairs are written. A linear layer names the value that was read.

"pairs": 32 of the 64 keys are written once each, and all of them are asked for. "rewritten": 16
keys are written four times each, in mixed order, and the last value is asked for. "sum" adds what
"delta" would write, without reading first, so that this is all in which the two differ; "fading
sum" has one learned gate, and "gated delta" both. "linear attention" is that of
``attnbook.further.linear``, with positive features and divided by their sum. "attention" keeps
every pair; it sees no order, unless told by ALiBi's distances with a learned slope.

"kept" is attention that is told 32 pairs too, and of their rows keeps some, in training as well:
the last ones ("window"), the first and the last ones ("window, first"), or means of neighbours
("pooled"). Keys have 4 numbers; pooled ones 16, for with 4 a mean is hardly found (0.24 recalled
with 16 rows instead of 0.51). "best 2" keeps all, and reads at the test the 2 keys of the highest
scores.

Three times as many steps change little: at d = 8, with one seed, 0.73 for the sum and for the delta
rule instead of 0.72 and 0.71, and 0.48 for linear attention instead of 0.42.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from attnbook.attention import attention
from attnbook.further.linear import delta_rule, linear_attention
from attnbook.further.sparse import top_keys
from attnlab.models.recipe import fit
from attnlab.training.metrics import evaluating
from attnlab.training.schedules import warmup_cosine
from attnlab.training.seeds import seeded
from experiments.harness import run

SYMBOLS, D_V, STEPS = 64, 32, 600
KEPT = {
    f"kept, {kind}, {rows} rows": {"task": "pairs", "kind": kind, "d": d, "kept": kept}
    for kind, d, kept, rows in (
        ("window", 4, 4, 4),
        ("window", 4, 8, 8),
        ("window", 4, 16, 16),
        ("window, first", 4, 16, 16),
        ("pooled", 16, 16, 16),
        ("best 2", 4, 2, 32),
    )
}
MODELS = {
    f"{task}, {kind}, d = {d}": {"task": task, "kind": kind, "d": d}
    for task, kinds, sizes in (
        ("pairs", ("attention", "linear attention", "sum", "delta"), (4, 8, 16, 32)),
        (
            "rewritten",
            ("attention", "attention, ALiBi", "sum", "fading sum", "delta", "gated delta"),
            (32,),
        ),
    )
    for kind in kinds
    for d in sizes
} | KEPT
AGAIN = ("pairs, delta, d = 16", 0)
TOLERANCE = {"recalled": 0.04}


class Written(NamedTuple):
    """What b memories are told, n pairs each, and what they are asked for."""

    keys: Tensor  # (b, n)
    values: Tensor  # (b, n)
    asked: Tensor  # (b, m), keys
    wanted: Tensor  # (b, m), the value that each had last


class Memory(nn.Module):
    """Write pairs, then name the values of the keys that are asked for."""

    def __init__(self, kind: str, d: int, kept: int | None = None) -> None:
        super().__init__()
        self.kind, self.kept = kind, kept
        self.key, self.query = nn.Embedding(SYMBOLS, d), nn.Embedding(SYMBOLS, d)
        self.value, self.output = nn.Embedding(SYMBOLS, D_V), nn.Linear(D_V, SYMBOLS)
        self.beta, self.gate = (nn.Parameter(torch.tensor(x)) for x in (2.0, 3.0))

    def forward(self, written: Written) -> Tensor:
        """Return the logits (b, m, SYMBOLS)."""
        query, key = self.query(written.asked), self.key(written.keys)
        return self.output(self.read(query, key, self.value(written.values)))

    def read(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Return what is read for each query: (b, m, D_V)."""
        if self.kept is not None:
            return self.read_some(query, key, value, self.kept)
        if self.kind.startswith("attention"):
            ago = torch.arange(key.shape[1] - 1, -1, -1).to(key.dtype)  # how long, (n,)
            bias = -self.gate * ago.expand(query.shape[1], -1) if "ALiBi" in self.kind else None
            return attention(query, key, value, bias=bias).output
        if self.kind == "linear attention":
            return linear_attention(query, key, value)
        key, gate = normalize(key, dim=-1), torch.ones_like(key[..., 0])
        if self.kind in ("fading sum", "gated delta"):
            gate = gate * self.gate.sigmoid()
        if "delta" in self.kind:
            beta = self.beta.sigmoid().expand(gate.shape)
            return query @ delta_rule(key, key, value, beta, gate=gate).state
        since = gate.flip(-1).cumprod(-1).flip(-1) / gate  # how far each has faded
        return query @ ((since[..., None] * key).mT @ value)

    def read_some(self, query: Tensor, key: Tensor, value: Tensor, kept: int) -> Tensor:
        """Return what attention reads where ``kept`` rows are kept, or chosen for each query."""
        n = key.shape[1]
        if self.kind == "best 2":
            chosen = top_keys(query @ key.mT, n if self.training else kept)
            return attention(query, key, value, chosen).output
        if self.kind == "pooled":
            key, value = (x.unflatten(1, (kept, n // kept)).mean(2) for x in (key, value))
            return attention(query, key, value).output
        rows = torch.arange(n - kept, n)
        if self.kind == "window, first":
            rows[0] = 0
        return attention(query, key[:, rows], value[:, rows]).output


def told(task: str, b: int, draws: torch.Generator) -> Written:
    """Draw what ``b`` memories are told and asked."""
    symbols = torch.rand(b, SYMBOLS, generator=draws).argsort(-1)
    if task == "pairs":
        asked = keys = symbols[:, :32]
        values = torch.randint(SYMBOLS, keys.shape, generator=draws)
        return Written(keys, values, asked, values)
    asked = symbols[:, :16]
    order = torch.rand(b, 64, generator=draws).argsort(-1) % 16  # each of 16 four times
    values = torch.randint(SYMBOLS, order.shape, generator=draws)
    last = (order[:, :, None] == torch.arange(16)) * torch.arange(1, 65)[:, None]
    wanted = values.gather(1, last.argmax(1))
    return Written(asked.gather(1, order), values, asked, wanted)


def wrong(model: Memory, written: Written) -> Tensor:
    """Average −log p(wanted) over all that is asked."""
    return cross_entropy(model(written).flatten(0, 1), written.wanted.flatten())


def training(task: str, seed: int) -> list[Written]:
    """Draw the batches that one memory learns from."""
    draws = torch.Generator().manual_seed(seed)
    return [told(task, 64, draws) for _ in range(STEPS)]


def held_out(task: str, seed: int, count: int = 500) -> Written:
    """Draw what is asked of it then."""
    return told(task, count, torch.Generator().manual_seed(1_000 + seed))


def data() -> list[Any]:
    """Return, with one seed, some of what is learnt and all that is tested on."""
    return [[training(task, 0)[:20], held_out(task, 0)] for task in ("pairs", "rewritten")]


def measure(
    seed: int, *, task: str, kind: str, d: int, kept: int | None = None, asked: int | None = None
) -> dict[str, float]:
    """Train one memory; return the share of values that it names rightly."""
    with seeded(seed):
        model = Memory(kind, d, kept)
    learnt = training(task, seed)
    fit(model, learnt, wrong, steps=STEPS, lr=0.02, schedule=warmup_cosine(50, STEPS), seed=seed)
    tested = held_out(task, seed, asked or 500)
    with evaluating(model):
        right = model(tested).argmax(-1) == tested.wanted
    return {"recalled": float(right.double().mean())}


if __name__ == "__main__":
    run(__file__)
