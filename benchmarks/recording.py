"""Measure what it costs to record a model's attention, beside computing the weights.

python benchmarks/recording.py            # some two minutes
python benchmarks/recording.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import timing
import torch
from timing import Row, Times, at_most, ratio
from torch import Tensor, nn

from attnbook.attention import attention_weights
from attnbook.masks import causal_mask, padding_mask
from attnbook.multihead import Attend, MultiHeadAttention, repeat_heads
from attnbook.record import record_attention
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab._console import any_letter

HEADS, D_MODEL = 8, 512
SIZES = {"n": 1024, "text": 512, "prompt": 512, "steps": 32, "layers": 4, "rounds": 15}
TINY = {"n": 32, "text": 16, "prompt": 8, "steps": 3, "layers": 1, "rounds": 2}
PLAIN, EXPLICIT, RECORDED, KEPT = "forward", "with weights", "recorded, with weights", "recorded"
COMPARED = "a step compares the cache's keys with those kept, so that a text is kept once"
Case = tuple[str, nn.Module, Callable[[], Any]]


class Weighing:
    """The least that weights cost: each layer's, computed as it is called, and nothing kept."""

    def __init__(self, model: nn.Module) -> None:
        self.parts = [part for part in model.modules() if isinstance(part, Attend)]
        self.found: list[Tensor] = []

    def weigh(self, _: nn.Module, arguments: tuple[Any, ...]) -> None:
        query, key, _value, mask, bias, causal = arguments
        key = repeat_heads(key, query.shape[1])
        if causal:
            past = causal_mask(query.shape[2], key.shape[2])
            mask = past if mask is None else mask & past
        self.found.append(attention_weights(query, key, mask, bias=bias))

    def run(self, call: Callable[[], Any], *, keep: bool = False) -> list[Tensor]:
        """Call the model; return all weights where they are to be kept, else the last."""
        self.found = []
        handles = [part.register_forward_pre_hook(self.weigh) for part in self.parts]
        call()
        for handle in handles:
            handle.remove()
        return self.found if keep else self.found[-1:]


def recorded(model: nn.Module, call: Callable[[], Any], *, weights: bool) -> list[Tensor]:
    """Record a call; return the weights of each layer's calls, where they are wanted."""
    with record_attention(model) as seen:
        call()
    if not weights:
        return []
    return [one.weights() for calls in seen.calls.values() for one in calls]


def cases(of: dict[str, int]) -> list[Case]:
    """Return a layer by itself, one with a memory, a model, and a model that writes."""
    torch.manual_seed(0)
    n, layer = of["n"], MultiHeadAttention(D_MODEL, HEADS).eval()
    x, memory = torch.randn(1, n, D_MODEL), torch.randn(1, n, D_MODEL)
    mask = padding_mask([n - n // 4], n)
    kind = {"d_model": 256, "n_heads": 4, "n_layers": of["layers"]}
    model = LanguageModel(1000, ModelConfig(**kind, positions="rope")).eval()
    text = torch.randint(3, 1000, (1, of["text"]))
    prompt, lengths = text.repeat(1, 2)[:, : of["prompt"]], torch.tensor([of["prompt"]])
    state = model.start(prompt, lengths)

    def write() -> None:
        model.rewind(state, state.caches[0].length - of["prompt"])
        for token in text[0, : of["steps"], None]:
            model.step(token, state)

    what = f"{of['layers']} layers, d_model = {kind['d_model']}"
    return [
        (f"the layer, causal, n = {n}", layer, lambda: layer(x, causal=True)),
        (f"the layer, a memory under a mask, n = {n}", layer, lambda: layer(x, memory, mask)),
        (f"`LanguageModel`, {what}, n = {of['text']}", model, lambda: model(text)),
        (f"the same, {of['steps']} tokens after {of['prompt']}", model, write),
    ]


@torch.no_grad()
def measured(case: Case, rounds: int) -> Times:
    what, model, call = case
    weighing = Weighing(model)
    wanted = weighing.run(call, keep=True)
    found = recorded(model, call, weights=True)
    timing.same(f"{what}, calls", len(found), len(wanted))
    # recorded layer by layer, weighed call by call
    order = sorted(range(len(wanted)), key=lambda i: i % len(weighing.parts))
    for i, weights in zip(order, found, strict=True):
        timing.same(f"{what}, weights", weights, wanted[i])
    del wanted, found
    ways = {
        PLAIN: call,
        EXPLICIT: lambda: weighing.run(call, keep=True),
        RECORDED: lambda: recorded(model, call, weights=True),
        KEPT: lambda: recorded(model, call, weights=False),
    }
    return timing.interleaved(ways, rounds, warm_up=1)


def rows(what: str, times: Times) -> list[Row]:
    more = ratio(times, RECORDED, EXPLICIT)
    why = COMPARED if what.startswith("the same") else ""
    return [
        at_most(f"{what}: recorded, and weights", more, 1.05, " weights as it runs", why=why),
        Row(f"{what}: recorded alone", f"{ratio(times, KEPT, PLAIN):.2f} × the forward pass"),
    ]


def main() -> None:
    given = timing.options(__doc__.splitlines()[0]).parse_args()
    timing.settle()
    of = TINY if given.quick else SIZES
    found = [row for case in cases(of) for row in rows(case[0], measured(case, of["rounds"]))]
    note = (
        f"The layer has {HEADS} heads and d_model = {D_MODEL}. *Weights as it runs* is the least "
        "that they cost: each layer's are computed from its queries and keys as it is called, and "
        "nothing is copied. Recorded, the same weights are computed when the forward pass is over, "
        "from copies of what a cache or a caller may write to; *alone*, they are not computed."
    )
    timing.write(given.out, "recording", "Recording attention", timing.goals(found), note)


if __name__ == "__main__":
    any_letter()
    main()
