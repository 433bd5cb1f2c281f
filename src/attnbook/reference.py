"""Attention in NumPy, twice: as loops that spell out every number, and as matrices.

The conventions are those of ``attnbook.attention``: a mask is boolean, ``True`` = may attend;
a query with nothing to attend to gets zeros; a key that no query may attend to has no influence.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating]


def softmax(x: ArrayLike) -> Floats:
    """Turn numbers into positive ones that sum to 1, exp(x_i − m) / Σ_j exp(x_j − m).

    m = max(x) changes nothing but keeps exp from overflowing.

    Shapes: x (…, n); returns (…, n).
    Raises: ValueError for a single number, or numbers that are not real.
    """
    x = _reals("x", x)
    if x.ndim == 0:
        raise ValueError(f"x must have the shape (…, n): it is the number {x}")
    powers = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=-1, keepdims=True)


def masked_softmax(scores: ArrayLike, mask: ArrayLike) -> Floats:
    """Turn scores into weights over the keys that ``mask`` allows; an empty row gives zeros.

    Shapes: scores (…, n_q, n_k) or (n_k,); returns the same.
    Raises: ValueError for a mask that is not boolean or does not fit the scores.
    """
    scores = _reals("scores", scores)
    mask = _fitting(mask, scores.shape)
    empty = ~np.any(mask, axis=-1, keepdims=True)  # (…, n_q, 1)
    scores = np.where(mask, scores, np.where(empty, 0.0, -np.inf))
    return np.where(empty, 0.0, softmax(scores))


def attention_loops(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    scale: bool = True,
) -> tuple[Floats, Floats]:
    """Compute attention one query, one key and one number at a time.

    weights_ij = exp(e_ij) / Σ_j' exp(e_ij') with e_ij = q_i · k_j (/ √d); output_i = Σ_j
    weights_ij v_j; masked keys are left out of both sums.

    Shapes: query (n_q, d), key (n_k, d), value (n_k, d_v), mask (n_q, n_k); returns output
    (n_q, d_v) and weights (n_q, n_k).
    Raises: ValueError for shapes that do not fit or a mask that is not boolean.
    """
    query, key, value, may = _arrays(query, key, value, mask)
    if query.ndim != 2:
        raise ValueError(f"query must have the shape (n_q, d): its shape is {query.shape}")
    n_q, n_k, d = len(query), len(key), query.shape[1]
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


def attention_matrices(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    scale: bool = True,
) -> tuple[Floats, Floats]:
    """Compute attention for all queries at once, softmax(Q Kᵀ (/ √d)) V.

    Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v), mask (n_q, n_k) or of the rank
    of the scores; returns output (…, n_q, d_v) and weights (…, n_q, n_k).
    Raises: ValueError for shapes that do not fit or a mask that is not boolean.
    Source: Vaswani et al. (2017), equation 1.
    """
    query, key, value, mask = _arrays(query, key, value, mask)
    unused = ~np.any(mask, axis=-2)[..., None]  # (…, n_k, 1)
    key, value = np.where(unused, 0, key), np.where(unused, 0, value)
    scores = query @ np.swapaxes(key, -1, -2)  # (…, n_q, n_k)
    if scale:
        scores = scores / math.sqrt(query.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


def _arrays(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return the arguments as arrays that fit together, the mask in the scores' shape."""
    query, key, value = (
        _reals(name, x) for name, x in (("query", query), ("key", key), ("value", value))
    )
    shapes = f"query {query.shape}, key {key.shape}, value {value.shape}"
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError(f"all three must have at least 2 dimensions: {shapes}")
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"all three must have the same leading dimensions: {shapes}")
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(f"query and key must have the same last dimension: {shapes}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value must have the same length: {shapes}")
    wanted = (*query.shape[:-1], key.shape[-2])
    mask = np.ones(wanted, dtype=bool) if mask is None else mask
    return query, key, value, _fitting(mask, wanted)


def _reals(name: str, x: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(x)
    if np.iscomplexobj(x):
        raise ValueError(f"{name} must hold real numbers: its dtype is {x.dtype}")
    return x.astype(np.float64, copy=False)


def _fitting(mask: ArrayLike, wanted: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a boolean mask in the shape of the scores, which it may not enlarge."""
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, True where a query may attend: {mask.dtype} came")
    same_rank = mask.ndim == len(wanted)
    fits = same_rank and all(m in (1, w) for m, w in zip(mask.shape, wanted, strict=True))
    if mask.shape != wanted[-2:] and not fits:
        raise ValueError(f"mask must fit the scores {wanted}: its shape is {mask.shape}")
    return np.broadcast_to(mask, wanted)
