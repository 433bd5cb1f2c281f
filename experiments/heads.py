"""Lecture 15's interventions: what each of MiniLM's heads does for a pronoun's vector.

``attnlab.models.interventions`` says what is changed and measured. A row is a layer. Its numbers
are shares of the intact swing: of a head that is ablated, how much is lost, and of one that is
patched, how much is carried over from the other sentence (of the two numbers that the swing
compares, each run is patched from the other, so that carrying all turns it round: half the change).
How far a loss hangs on these pairs, "lowest" and "highest" say: 95 % of as many pairs, drawn with
replacement, lose more and less.

The criterion was fixed before anything was run: a head matters if no other head of its layer costs
as much, in the even pairs and in the odd ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from attnlab.language.texts import pronouns
from attnlab.models.interventions import (
    leaning,
    leaning_without,
    pronoun_outputs,
    replacements,
    swing,
)
from attnlab.pretrained import Pretrained, load_minilm
from experiments.harness import run

SEEDS = (0,)  # nothing is drawn
MODELS: dict[str, dict[str, Any]] = {f"layer {layer}": {"layer": layer} for layer in range(6)}
AGAIN = ("layer 5", 0)
TOLERANCE = {
    f"head {head}, ablated{end}": 0.01
    for head in range(12)
    for end in ("", ", lowest", ", highest")
}
DRAWS = 2000  # of as many pairs as there are, for the spread
GROUPS = {f"head {head}": [head] for head in range(12)} | {"all heads": list(range(12))}


@cache
def model() -> Pretrained:
    """Return MiniLM in double precision, so that another processor's rounding does not show."""
    return load_minilm().double()


def data() -> list[Any]:
    """Return the pairs."""
    return list(pronouns())


def measure(seed: int, *, layer: int, asked: int | None = None) -> dict[str, float]:
    """Return each head's shares, over all pairs and over every other one; or of asked / 6 pairs."""
    pairs = pronouns()[: None if asked is None else asked // 6]
    outputs = pronoun_outputs(model(), pairs)
    intact = swing(leaning(model(), pairs))  # (pairs,)
    found: dict[str, float] = {}
    hows: tuple[tuple[Literal["ablate", "patch"], str, int], ...] = (
        ("ablate", "ablated", 1),
        ("patch", "patched", 2),
    )
    for how, done, parts in hows:
        new = replacements(outputs, how)
        rest = swing(leaning_without(model(), pairs, layer, new, list(GROUPS.values())))
        change = (intact - rest) / parts  # (groups, pairs)
        for name, row in zip(GROUPS, change, strict=True):
            for of, part in (
                ("", slice(None)),
                (", even pairs", slice(0, None, 2)),
                (", odd pairs", slice(1, None, 2)),
            ):
                share = row[part].mean() / intact[part].mean()
                found[f"{name}, {done}{of}"] = share.item()
            if how == "ablate":
                ends = spread_of(row, intact)
                found |= {f"{name}, {done}, {end}": share for end, share in ends.items()}
    return found


def spread_of(change: Tensor, intact: Tensor) -> dict[str, float]:
    """Return between what 95 % of the shares lie when the pairs are drawn anew: both (pairs,)."""
    n = len(intact)
    drawn = torch.randint(n, (DRAWS, n), generator=torch.Generator().manual_seed(0))
    shares = change[drawn].mean(dim=1) / intact[drawn].mean(dim=1)
    lowest, highest = shares.quantile(torch.tensor([0.025, 0.975], dtype=shares.dtype)).tolist()
    return {"lowest": lowest, "highest": highest}


if __name__ == "__main__":
    run(__file__)
