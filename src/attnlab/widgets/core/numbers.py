"""Attention in NumPy, as the widgets' JavaScript computes it, for tables and for tests.

e = q kᵀ,   α = softmax(e / (√d T)) over the keys that may be attended to
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["allowed", "attention_weights", "divisor_of", "masked_softmax", "softmax"]


def softmax(x: np.ndarray) -> np.ndarray:
    """Return exp(x_i − m) / Σ_j exp(x_j − m), m = max(x), over the last axis of x (…, n)."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=-1, keepdims=True)


def masked_softmax(scores: np.ndarray, may: np.ndarray) -> np.ndarray:
    """Return the softmax of scores (…, n) over what ``may`` allows; an empty row gives zeros."""
    empty = ~np.any(may, axis=-1, keepdims=True)
    scores = np.where(may, scores, np.where(empty, 0.0, -np.inf))
    return np.where(empty, 0.0, softmax(scores))


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


def divisor_of(d: int, *, scaled: bool, temperature: float) -> float:
    """Return √d T, or T where the scores are not scaled."""
    return (math.sqrt(d) if scaled else 1.0) * temperature
