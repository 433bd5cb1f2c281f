"""An encoder block inside a page: its weights as nested lists, and its stages one by one."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from attnbook.layers import EncoderBlock

__all__ = ["Flow", "Stage", "as_in_the_page", "cosine", "run", "weights_of"]


class Stage(NamedTuple):
    """A stage's letter, its formula, and the vectors (n, d) of all tokens."""

    name: str
    formula: str
    rows: np.ndarray


class Flow(NamedTuple):
    """One block: its stages in order, and attention's weights (h, n, n)."""

    stages: list[Stage]
    weights: np.ndarray


def weights_of(block: EncoderBlock) -> dict[str, Any]:
    """Return the block's weights for row vectors, x W + b, and all else that its numbers need."""
    attention, ffn = block.attention, block.feed_forward
    d, shared = attention.d_model, attention.n_heads // attention.n_kv_heads
    w, b = _numbers(attention.qkv.weight).T, _numbers(attention.qkv.bias)
    ends = (d, d + attention.n_kv_heads * attention.d)
    norms = cast("list[nn.LayerNorm]", block.norms)
    found: dict[str, Any] = {}
    for role, w_part, b_part in zip("qkv", np.split(w, ends, 1), np.split(b, ends), strict=True):
        if role != "q":  # heads that share keys and values each get a copy
            w_part, b_part = (
                np.repeat(part.reshape(*part.shape[:-1], -1, attention.d), shared, axis=-2)
                for part in (w_part, b_part)
            )
        found[f"w_{role}"], found[f"b_{role}"] = w_part.reshape(d, d), b_part.reshape(d)
    for name, linear in (("o", attention.out), ("1", ffn.widen), ("2", ffn.narrow)):
        found[f"w_{name}"], found[f"b_{name}"] = _numbers(linear.weight).T, _numbers(linear.bias)
    return found | {
        "gains": np.stack([_numbers(norm.weight) for norm in norms]),
        "shifts": np.stack([_numbers(norm.bias) for norm in norms]),
        "eps": repr(float(norms[0].eps)),  # as text: 1e-12 would be rounded away
        "heads": attention.n_heads,
        "activation": ffn.activation,
    }


def as_in_the_page(block: EncoderBlock) -> EncoderBlock:
    """Return a copy of the block in double precision, its weights rounded to 8 decimals."""
    mine = copy.deepcopy(block).cpu().double().eval()
    with torch.no_grad():
        for weight in mine.parameters():
            weight.copy_(weight.round(decimals=8))
    return mine


@torch.no_grad()
def run(block: EncoderBlock, x: Any, *, norm: str, residual: bool, blocks: int) -> list[Flow]:
    """Return the ``Flow`` of each of several blocks, all with the weights of ``block``."""
    flows: list[Flow] = []
    rows = torch.tensor(x, dtype=torch.float64)
    for _ in range(blocks):
        flows.append(_once(block, rows, norm, residual))
        rows = torch.from_numpy(flows[-1].stages[-1].rows)
    return flows


def cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    """Return the cosine of two vectors, None where one of them is zero."""
    by = math.hypot(*a) * math.hypot(*b)
    return float(a @ b) / by if by else None


def _once(block: EncoderBlock, x: Tensor, norm: str, residual: bool) -> Flow:
    stages = [Stage("x", "x", x.numpy())]
    weights = np.empty(0)

    def put(name: str, formula: str, rows: Tensor) -> Tensor:
        stages.append(Stage(name, f"{name} = {formula}", rows.numpy()))
        return rows

    def apply_norm(x: Tensor, part: int) -> Tensor:
        return put(f"n{'₁₂'[part]}", f"norm({stages[-1].name})", block.norms[part](x))

    for part in range(2):
        start, before = stages[-1].name, x
        now = apply_norm(x, part) if norm == "pre" else x
        name = stages[-1].name
        if part == 0:
            weights = block.attention.weights(now[None])[0].numpy()
            x = put("a", f"attention({name})", block.attention(now[None])[0])
        else:
            x = put("f", f"FFN({name})", block.feed_forward(now))
        if residual:
            x = put(f"s{'₁₂'[part]}", f"{start} + {stages[-1].name}", before + x)
        if norm == "post":
            x = apply_norm(x, part)
    return Flow(stages, weights)


def _numbers(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()
