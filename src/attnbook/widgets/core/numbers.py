"""Attention in NumPy, as the widgets' JavaScript computes it, for tables and for tests.

e = q kᵀ,   α = softmax(e / (√d T)) over the keys that may be attended to
"""

from __future__ import annotations

import base64
import math

import numpy as np

from attnbook.reference import masked_softmax

__all__ = ["allowed", "attention_weights", "divisor_of", "pack", "unpack"]

_STEPS = 65535  # the largest uint16


def allowed(
    n_q: int, n_k: int, *, causal: bool = False, mask: np.ndarray | None = None
) -> np.ndarray:
    """Return which key each query may attend to, True = may attend, of shape (n_q, n_k).

    Causal is aligned at the bottom right: the last query sees every key.
    """
    may = np.ones((n_q, n_k), dtype=bool) if mask is None else np.array(mask, dtype=bool)
    return np.tril(may, k=n_k - n_q) if causal else may


def attention_weights(scores: np.ndarray, may: np.ndarray, *, divisor: float) -> np.ndarray:
    """Return softmax(scores / divisor) over the allowed keys; a row with none is all zeros.

    Shapes: scores (…, n_q, n_k), may (n_q, n_k) → (…, n_q, n_k).
    """
    return masked_softmax(scores / divisor, np.broadcast_to(may, scores.shape))


def pack(
    scores: np.ndarray, ranges: list[list[float]] | None = None
) -> tuple[str, list[list[float]]]:
    """Return scores (h, n_q, n_k) as base64 of little-endian uint16, and each head's range.

    Scores are packed, not weights, so that temperature acts on them exactly. Without `ranges`,
    each head's own is taken.
    """
    if ranges is None:
        # outwards to 4 decimals: short to write, and every score still lies inside
        low = np.floor(scores.min(axis=(1, 2)) * 1e4) / 1e4
        high = np.ceil(scores.max(axis=(1, 2)) * 1e4) / 1e4
        ranges = [[float(a), float(b)] for a, b in zip(low, high, strict=True)]
    steps = np.array([(b - a) or 1.0 for a, b in ranges])[:, None, None] / _STEPS
    start = np.array([a for a, _ in ranges])[:, None, None]
    whole = np.rint((scores - start) / steps).clip(0, _STEPS).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode("ascii"), ranges


def unpack(packed: str, ranges: list[list[float]], shape: tuple[int, int, int]) -> np.ndarray:
    """Return the scores (h, n_q, n_k) that `pack` wrote, each within half a step."""
    whole = np.frombuffer(base64.b64decode(packed), dtype="<u2").reshape(shape)
    low = np.array([a for a, _ in ranges])[:, None, None]
    high = np.array([b for _, b in ranges])[:, None, None]
    return low + whole * (high - low) / _STEPS


def divisor_of(d: int, *, scaled: bool, temperature: float) -> float:
    """Return √d T, or T where the scores are not scaled."""
    return (math.sqrt(d) if scaled else 1.0) * temperature
