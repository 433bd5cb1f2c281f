"""A small recurrent model inside a widget: its weights packed, unpacked, and run in NumPy.

Each weight is a whole number of 24 bits between the lowest and the highest of its tensor, hence
within some 1e-7 of the model's own float32. Its upper 16 bits (``packed``) and its lower 8
(``fine``) are kept apart: a tolerance that a widget states is about the upper ones.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnbook.reference import softmax

__all__ = ["TENSORS", "Run", "pack", "run", "unpack"]

BOS, EOS = 1, 2
_STEPS = 2**24 - 1
_GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
TENSORS = (  # the names in RNNSeq2Seq(order="none"), in the order in which they are carried
    "encoder.embedding.weight",
    *(f"encoder.gru.{name}" for name in _GRU),
    *(f"encoder.gru.{name}_reverse" for name in _GRU),
    *("encoder.summary.weight", "encoder.summary.bias"),
    "decoder.embedding.weight",
    *(f"decoder.gru.{name}" for name in _GRU),
    *("decoder.output.weight", "decoder.output.bias"),
)


class Run(NamedTuple):
    """What a model does with one sentence of n tokens, written in m steps.

    forward (n, d/2) and backward (n, d/2) hold →h_j and ←h_j, states (m + 1, d) s_0 to s_m,
    probabilities (m, V) those of each next token; reads, chosen and written the m ids that each
    step reads, finds most probable, and hands on.
    """

    forward: np.ndarray
    backward: np.ndarray
    states: np.ndarray
    probabilities: np.ndarray
    reads: list[int]
    chosen: list[int]
    written: list[int]


def pack(tensors: Sequence[np.ndarray]) -> tuple[str, str, list[list[float]]]:
    """Return the tensors one after another as base64 of uint16 and of uint8, and their ranges."""
    ranges, codes = [], []
    for tensor in tensors:
        # outwards to 4 decimals: short to write, and every weight still lies inside
        low, high = np.floor(tensor.min() * 1e4) / 1e4, np.ceil(tensor.max() * 1e4) / 1e4
        step = ((high - low) or 1.0) / _STEPS
        codes.append(np.rint((tensor.ravel() - low) / step).clip(0, _STEPS).astype(np.uint32))
        ranges.append([float(low), float(high)])
    whole = np.concatenate(codes)
    halves = (whole >> 8).astype("<u2"), (whole & 255).astype(np.uint8)
    packed, fine = (base64.b64encode(half.tobytes()).decode("ascii") for half in halves)
    return packed, fine, ranges


def unpack(
    packed: str, fine: str, ranges: Sequence[Sequence[float]], shapes: Sequence[Sequence[int]]
) -> list[np.ndarray]:
    """Return the tensors that `pack` wrote, each weight within half a step of its range."""
    upper = np.frombuffer(base64.b64decode(packed), dtype="<u2").astype(float)
    whole = 256 * upper + np.frombuffer(base64.b64decode(fine), dtype=np.uint8)
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    parts = np.split(whole, ends[:-1])
    return [
        (low + part * (high - low) / _STEPS).reshape(shape)
        for part, (low, high), shape in zip(parts, ranges, shapes, strict=True)
    ]


def run(
    tensors: Sequence[np.ndarray], source: Sequence[int], forced: Mapping[int, int], longest: int
) -> Run:
    """Read `source` and write greedily until eos or `longest` tokens.

    `forced` maps a step t = 1, 2, … to the token that stands in the place of the one it chose.
    """
    embedded = tensors[0][list(source)]
    forward = _read(tensors[1:5], embedded)
    backward = _read(tensors[5:9], embedded[::-1])[::-1]
    summary = np.tanh(tensors[9] @ np.concatenate([forward[-1], backward[0]]) + tensors[10])
    return _write(tensors[11:], forward, backward, summary, forced, longest)


def _read(gru: Sequence[np.ndarray], words: np.ndarray) -> np.ndarray:
    states, state = [], np.zeros(gru[1].shape[1])
    for word in words:
        state = _cell(gru, word, state)
        states.append(state)
    return np.array(states)


def _write(
    tensors: Sequence[np.ndarray],
    forward: np.ndarray,
    backward: np.ndarray,
    summary: np.ndarray,
    forced: Mapping[int, int],
    longest: int,
) -> Run:
    embedding, *gru, weight, bias = tensors
    states, rows, reads, chosen, written = [summary], [], [BOS], [], []
    while len(written) < longest and written[-1:] != [EOS]:
        states.append(_cell(gru, embedding[reads[-1]], states[-1]))
        rows.append(softmax(weight @ states[-1] + bias))
        chosen.append(int(rows[-1].argmax()))
        written.append(forced.get(len(written) + 1, chosen[-1]))
        reads.append(written[-1])
    return Run(forward, backward, np.array(states), np.array(rows), reads[:-1], chosen, written)


def _cell(gru: Sequence[np.ndarray], x: np.ndarray, h: np.ndarray) -> np.ndarray:
    """One step of a GRU as PyTorch defines it: reset r, update z, and the proposal n."""
    w_x, w_h, b_x, b_h = gru
    (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(w_x @ x + b_x, 3), np.split(w_h @ h + b_h, 3)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    return (1 - z) * np.tanh(n_x + r * n_h) + z * h


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * x))  # no overflow, however large x is
