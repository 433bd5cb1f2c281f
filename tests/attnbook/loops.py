"""Attention as loops that spell out every number: what the package is compared with."""

import math

import numpy as np


def attention_loops(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
    *,
    scale: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute attention one query, one key and one number at a time.

    weights_ij = exp(e_ij) / Σ_j' exp(e_ij') with e_ij = q_i · k_j (/ √d); output_i = Σ_j
    weights_ij v_j; masked keys are left out of both sums.

    Shapes: query (n_q, d), key (n_k, d), value (n_k, d_v), mask (n_q, n_k); returns output
    (n_q, d_v) and weights (n_q, n_k).
    """
    n_q, n_k, d = len(query), len(key), query.shape[1]
    may = np.ones((n_q, n_k), dtype=bool) if mask is None else mask
    divisor = math.sqrt(d) if scale else 1.0
    weights = np.zeros((n_q, n_k))
    output = np.zeros((n_q, value.shape[1]))
    for i in range(n_q):
        allowed = [j for j in range(n_k) if may[i, j]]
        scores = [sum(query[i, c] * key[j, c] for c in range(d)) / divisor for j in allowed]
        powers = [math.exp(score - max(scores)) for score in scores]
        for j, power in zip(allowed, powers, strict=True):
            weights[i, j] = power / sum(powers)
            output[i] += weights[i, j] * value[j]
    return output, weights
