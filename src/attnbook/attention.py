"""Attention: energies from a score, weights from their softmax, output as the weighted sum.

Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v); the leading dimensions are free
but the same in all three. A ``mask`` is boolean, ``True`` = may attend, of the shape (n_q, n_k)
or with as many dimensions as the scores (…, n_q, n_k), each equal or 1; a ``bias``, added to the
scores, too. A query with nothing to attend to gets zeros. A key that no query may attend to has
no influence, not even when it holds NaN.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook import _ask, _check, _core
from attnbook.scores import UNCHECKED, Score, scaled_dot

__all__ = ["Attended", "attention", "attention_weights", "fused_attention", "masked_softmax"]
Chosen = int | slice | Sequence[int] | Tensor


class Attended(NamedTuple):
    """What ``attention`` returns: output (…, n_q, d_v) and weights (…, n_q, n_k)."""

    output: Tensor
    weights: Tensor


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    score: Score = scaled_dot,
    bias: Tensor | None = None,
) -> Attended:
    """Give every query the average of the values, weighted by how well it fits their keys.

    output = softmax(score(query, key) + bias) value, where masked keys have weight 0.

    Shapes: as at the top of this module; returns output (…, n_q, d_v), weights (…, n_q, n_k).
    Raises: ValueError where shapes or dtypes do not fit, a mask is not boolean, or the score
    returns another shape; TypeError for anything but tensors.
    Source: Vaswani et al. (2017), equation 1.
    """
    _check.attention(query, key, value, mask=mask, bias=bias, one_size=score in UNCHECKED)
    mask = _core.allowed(mask, bias)
    key, value = _core.without_unused_keys(mask, key, value)
    # (…, n_q, n_k), each row sums to 1
    weights = _softmax(_energies(score, query, key, bias), mask)
    return Attended(weights.to(value.dtype) @ value, weights)


def attention_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None = None,
    *,
    score: Score = scaled_dot,
    bias: Tensor | None = None,
    heads: Chosen | None = None,
    rows: Chosen | None = None,
) -> Tensor:
    """Compute the weights of ``attention`` alone, and only those that are asked for.

    ``heads`` chooses along axis −3, ``rows`` among the queries; the axes stay. ``mask`` and
    ``bias`` are those of the whole computation.

    Shapes: as ``attention``; returns (…, n_q, n_k), of the chosen heads and queries.
    Raises: as ``attention``; IndexError for heads or rows that do not exist.
    """
    _check.attention(query, key, mask=mask, bias=bias, one_size=score in UNCHECKED)
    for axis, which in ((-3, heads), (-2, rows)):
        if which is None:
            continue
        n = query.shape[axis]
        chosen = range(n)[which] if isinstance(which, slice) else which
        chosen = list(chosen) if isinstance(chosen, Sequence) else chosen  # torch takes no tuple
        index = torch.arange(n, device=query.device)[chosen].view(-1)
        query = query.index_select(axis, index)
        key = key.index_select(axis, index) if axis == -3 else key
        mask, bias = _core.part_of(mask, axis, index), _core.part_of(bias, axis, index)
    mask = _core.allowed(mask, bias)
    (key,) = _core.without_unused_keys(mask, key)
    return _softmax(_energies(score, query, key, bias), mask)


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    """Compute the output of ``attention`` by PyTorch's fused kernel, which keeps no weights.

    The score is the scaled dot product. ``causal=True`` adds ``causal_mask(n_q, n_k)``, aligned
    bottom-right unlike PyTorch's ``is_causal``. The kernel has no second derivative and no forward
    mode: both are refused, here and in the layers, unless the call is made under
    ``torch.nn.attention.sdpa_kernel(SDPBackend.MATH)``. An exported graph sets the outputs of empty
    rows to 0 itself, for ONNX does so from opset 23 on alone.

    Shapes, Raises: as ``attention``; returns output (…, n_q, d_v).
    """
    _check.attention(query, key, value, mask=mask, bias=bias, one_size=True)
    return _core.fused(query, key, value, mask, bias, causal)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights, α_ij = exp(e_ij) / Σ_j' exp(e_ij') over the allowed keys j'.

    All others are 0. A row in which nothing is allowed becomes zeros, without a gradient.

    Shapes: scores (…, n_q, n_k) or (n_k,); returns the same.
    Raises: ValueError for scores without floats, and a mask that is not boolean or does not fit.
    """
    _check.kind("scores", scores)
    _check.parts(mask, None, tuple(scores.shape), scores.dtype)
    return _softmax(scores.clone(), mask)


def _energies(score: Score, query: Tensor, key: Tensor, bias: Tensor | None) -> Tensor:
    """Return score(query, key) + bias, in memory that ``_softmax`` may write to."""
    energies = UNCHECKED.get(score, score)(query, key)
    if score not in UNCHECKED:
        _core.check_energies(energies, query, key)
        # it may keep its result for the backward pass, or return a view of it
        energies = energies.clone()
    return energies if bias is None else energies + bias


def _softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores.softmax(dim=-1)
    allowed = mask.any(dim=-1, keepdim=True)  # (…, n_q, 1)
    everywhere = _ask.all_of(allowed)
    # in place, unless these may be the scores under many masks at once
    fill = scores.masked_fill if everywhere is None else scores.masked_fill_
    scores = fill(~mask, -torch.inf)
    if everywhere:
        return scores.softmax(dim=-1)
    # 0 before the softmax: a row of −∞ would make its gradient NaN
    empty = ~allowed
    return scores.masked_fill_(empty, 0).softmax(dim=-1).masked_fill(empty, 0)
