"""Attention: energies from a score, weights from their softmax, output as the weighted sum.

Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v). The leading dimensions, such
as batch and heads, are free but the same in all three. A ``mask`` is boolean, ``True`` = may
attend; it has the shape (n_q, n_k), or as many dimensions as the scores (…, n_q, n_k), each of
them equal or 1. A ``bias`` is added to the scores and has such a shape too.

A query with nothing to attend to gets zeros. A key that no query may attend to has no
influence at all, not even when it holds NaN.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook import _check
from attnbook.masks import causal_mask
from attnbook.scores import Score, dot, scaled_dot

Chosen = int | slice | Sequence[int] | Tensor


class Attended(NamedTuple):
    """What ``attention`` returns: output (…, n_q, d_v) and weights (…, n_q, n_k)."""

    output: Tensor
    weights: Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights over the keys that ``mask`` allows.

    α_ij = exp(e_ij) / Σ_j' exp(e_ij') over the allowed j', and 0 for all others. A row in
    which nothing is allowed becomes zeros; its scores then get a gradient of zero.

    Shapes: scores (…, n_q, n_k) or (n_k,); mask as described at the top of this module;
    returns the shape of scores.

    Raises: ValueError for scores without floats, and for a mask that is not boolean or does
    not fit.
    """
    _check.floats("scores", scores)
    if mask is not None:
        _check.boolean("mask", mask)
        _check.fits("mask", mask, tuple(scores.shape), scores.device)
    return _softmax(scores, mask, in_place=False)


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

    Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v), mask and bias as described
    at the top of this module; returns output (…, n_q, d_v) and weights (…, n_q, n_k).

    Raises: ValueError where shapes, dtypes or devices do not fit, a mask is not boolean, or
    the score returns another shape; TypeError for anything but tensors.

    Source: Vaswani et al. (2017), equation 1.
    """
    _check.same_kind(query=query, key=key, value=value)
    _check.same_length(key, value)
    _check.mask_and_bias(query, key, mask, bias)
    key, value = _without_unused_keys(mask, key, value)
    weights = _weights(query, key, mask, score, bias)  # (…, n_q, n_k), each row sums to 1
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

    ``heads`` chooses along axis −3, ``rows`` among the queries: an int, a slice or several
    ints. The axes stay, so ``heads=2`` means ``heads=[2]``. ``mask`` and ``bias`` are those of
    the whole computation.

    Shapes: as ``attention``; returns (…, n_q, n_k), where the heads and n_q are the chosen ones.

    Raises: as ``attention``; ValueError for heads or rows that do not exist.
    """
    _check.same_kind(query=query, key=key)
    _check.mask_and_bias(query, key, mask, bias)
    if heads is not None:
        if query.dim() < 3:
            raise ValueError(
                f"heads needs a query of shape (…, h, n_q, d): its shape is {tuple(query.shape)}"
            )
        chosen = torch.tensor(_check.indices("heads", heads, query.shape[-3]), dtype=torch.long)
        query, key = _choose(query, -3, chosen), _choose(key, -3, chosen)
        mask, bias = _choose_from_part(mask, -3, chosen), _choose_from_part(bias, -3, chosen)
    if rows is not None:
        chosen = torch.tensor(_check.indices("rows", rows, query.shape[-2]), dtype=torch.long)
        query = _choose(query, -2, chosen)
        mask, bias = _choose_from_part(mask, -2, chosen), _choose_from_part(bias, -2, chosen)
    (key,) = _without_unused_keys(mask, key)
    return _weights(query, key, mask, score, bias)


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

    The score is the scaled dot product. ``causal=True`` means ``causal_mask(n_q, n_k)``, on top
    of ``mask`` where both are given; unlike PyTorch's ``is_causal`` it is aligned bottom-right.

    Shapes: as ``attention``; returns output (…, n_q, d_v).

    Raises: as ``attention``.
    """
    _check.same_kind(query=query, key=key, value=value)
    _check.same_length(key, value)
    _check.same_dimension(query, key)
    _check.mask_and_bias(query, key, mask, bias)
    n_q, n_k = query.shape[-2], key.shape[-2]
    causal = causal and n_q > 1  # a single query is the last one and sees every key
    if causal and not (mask is None and bias is None and n_q == n_k):
        past = causal_mask(n_q, n_k, device=query.device)
        mask, causal = past if mask is None else mask & past, False
    key, value = _without_unused_keys(mask, key, value)
    if bias is not None:  # the kernel takes a bias and a mask as one float mask
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)


def _weights(
    query: Tensor, key: Tensor, mask: Tensor | None, score: Score, bias: Tensor | None
) -> Tensor:
    scores = score(query, key)
    _check.score_result(scores, query, key)
    if bias is not None:
        scores = scores + bias
    # another score may keep its result for the backward pass, or return a view of it
    ours = bias is not None or score is dot or score is scaled_dot
    return _softmax(scores, mask, in_place=ours)


def _softmax(scores: Tensor, mask: Tensor | None, *, in_place: bool) -> Tensor:
    if mask is None:
        return scores.softmax(dim=-1)
    fill = scores.masked_fill_ if in_place else scores.masked_fill
    scores = fill(~mask, -torch.inf)
    empty = ~mask.any(dim=-1, keepdim=True)  # (…, n_q, 1)
    if not _may_be_any(empty):
        return scores.softmax(dim=-1)
    # 0 before the softmax: a row of −∞ would make its gradient NaN
    weights = scores.masked_fill_(empty, 0).softmax(dim=-1)
    return weights.masked_fill(empty, 0)


def _without_unused_keys(mask: Tensor | None, *tensors: Tensor) -> tuple[Tensor, ...]:
    # 0 · NaN is NaN: a weight of 0 does not protect from what a padded row may hold
    if mask is None:
        return tensors
    unused = ~mask.any(dim=-2)  # (…, n_k)
    if not _may_be_any(unused):
        return tensors
    return tuple(tensor.masked_fill(unused.unsqueeze(-1), 0) for tensor in tensors)


def _may_be_any(flags: Tensor) -> bool:
    # only a CPU answers at once; elsewhere the question would cost more than the work it saves
    return flags.device.type != "cpu" or bool(flags.any())


def _choose(tensor: Tensor, axis: int, chosen: Tensor) -> Tensor:
    return tensor.index_select(axis, chosen.to(tensor.device))


def _choose_from_part(tensor: Tensor | None, axis: int, chosen: Tensor) -> Tensor | None:
    # a mask or bias may lack the axis, or have size 1 there for all of it
    if tensor is None or tensor.dim() < -axis or tensor.shape[axis] == 1:
        return tensor
    return _choose(tensor, axis, chosen)
