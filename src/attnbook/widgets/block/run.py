"""An encoder block inside a widget: its weights as nested lists, and what it does in NumPy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from attnbook.layers import EncoderBlock
from attnbook.reference import softmax

__all__ = ["Flow", "Stage", "cosine", "run", "weights_of"]


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
        "gains": np.stack([_numbers(norm.weight) for norm in block.norms]),
        "shifts": np.stack([_numbers(norm.bias) for norm in block.norms]),
        "eps": repr(float(block.norms[0].eps)),  # as text: 1e-12 would be rounded away
        "heads": attention.n_heads,
        "activation": ffn.activation,
    }


def run(layer: dict[str, Any], x: np.ndarray, *, norm: str, residual: bool, blocks: int) -> list:
    """Return the `Flow` of each of several blocks, all with the weights of `layer`."""
    flows: list[Flow] = []
    arrays = {k: np.array(v, dtype=float) if isinstance(v, list) else v for k, v in layer.items()}
    for _ in range(blocks):
        flows.append(_once(arrays, x, norm, residual))
        x = flows[-1].stages[-1].rows
    return flows


def cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    """Return the cosine of two vectors, None where one of them is zero."""
    by = math.hypot(*a) * math.hypot(*b)
    return float(a @ b) / by if by else None


def _once(layer: dict[str, Any], x: np.ndarray, norm: str, residual: bool) -> Flow:
    stages = [Stage("x", "x", x)]
    weights = np.empty(0)

    def put(name: str, formula: str, rows: np.ndarray) -> Stage:
        stages.append(Stage(name, f"{name} = {formula}", rows))
        return stages[-1]

    def apply_norm(start: Stage, part: int) -> Stage:
        return put(f"n{'₁₂'[part]}", f"norm({start.name})", _norm(layer, start.rows, part))

    for part in range(2):
        start = stages[-1]
        now = apply_norm(start, part) if norm == "pre" else start
        if part == 0:
            weights, mixed = _attend(layer, now.rows)
            now = put("a", f"attention({now.name})", mixed)
        else:
            now = put("f", f"FFN({now.name})", _feed_forward(layer, now.rows))
        if residual:
            now = put(f"s{'₁₂'[part]}", f"{start.name} + {now.name}", start.rows + now.rows)
        if norm == "post":
            apply_norm(now, part)
    return Flow(stages, weights)


def _norm(layer: dict[str, Any], x: np.ndarray, part: int) -> np.ndarray:
    """LayerNorm: g (x − mean) / √(variance + ε) + b."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    scaled = (x - mean) / np.sqrt(variance + float(layer["eps"]))
    return layer["gains"][part] * scaled + layer["shifts"][part]


def _attend(layer: dict[str, Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, k, v = (
        (x @ layer[f"w_{role}"] + layer[f"b_{role}"])
        .reshape(len(x), layer["heads"], -1)
        .swapaxes(0, 1)  # (h, n, d / h)
        for role in "qkv"
    )
    weights = softmax(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]))  # (h, n, n)
    joined = (weights @ v).swapaxes(0, 1).reshape(x.shape)
    return weights, joined @ layer["w_o"] + layer["b_o"]


def _feed_forward(layer: dict[str, Any], x: np.ndarray) -> np.ndarray:
    hidden = x @ layer["w_1"] + layer["b_1"]
    if layer["activation"] == "gelu":
        hidden = hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2
    else:
        hidden = np.maximum(hidden, 0)
    return hidden @ layer["w_2"] + layer["b_2"]


def _numbers(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()
