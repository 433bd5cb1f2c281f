"""Attention for long sequences: exact by tiles, within a window, or linear in the length.

Shapes, masks, and zeros for a query with nothing to attend to, are those of
``attnbook.attention``; lengths that differ are aligned at the end, as in ``causal_mask``.
"""

from math import ceil, prod
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnbook import _check
from attnbook._tiles import TiledAttention
from attnbook.attention import Chosen, _without_unused_keys, fused_attention
from attnbook.masks import window_mask

BLOCK = 128  # queries that share one slice of keys in local_attention
CHUNK = 64  # tokens that causal linear attention compares one by one


class Running(NamedTuple):
    """What a softmax must remember of the scores it has seen: maximum and total, both (…, 1).

    total = Σ exp(e − maximum); the logsumexp of the scores is maximum + log(total).
    """

    maximum: Tensor
    total: Tensor


class Tiled(NamedTuple):
    """What ``tiled_attention`` returns: output (…, n_q, d_v) and logsumexp (…, n_q)."""

    output: Tensor
    logsumexp: Tensor


def summarise(scores: Tensor) -> Running:
    """Reduce a block of scores to their maximum and their total, Σ_j exp(e_j − maximum).

    Shapes: scores (…, n); returns two tensors (…, 1).

    Raises: ValueError for scores without floats or without a last axis.
    """
    _check_scores(scores)
    # a block of −∞ has the lowest finite maximum: −∞ − (−∞) would be NaN
    lowest = torch.finfo(scores.dtype).min
    maximum = scores.amax(dim=-1, keepdim=True).clamp(min=lowest)
    return Running(maximum, (scores - maximum).exp().sum(dim=-1, keepdim=True))


def merge(one: Running, other: Running) -> Running:
    """Summarise two blocks of scores from the summaries of each.

    With m = max(m₁, m₂): total = total₁ exp(m₁ − m) + total₂ exp(m₂ − m). The order of the
    blocks does not matter.

    Shapes: four tensors (…, 1); returns two.

    Raises: ValueError for summaries of different shapes.

    Source: Milakov and Gimelshein (2018), section 3.1.
    """
    shapes = [tuple(part.shape) for part in (*one, *other)]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"one and other must hold tensors of one shape (…, 1): their shapes are {shapes}"
        )
    maximum = torch.maximum(one.maximum, other.maximum)
    parts = (each.total * (each.maximum - maximum).exp() for each in (one, other))
    return Running(maximum, sum(parts))


def online_softmax(scores: Tensor, *, tile: int = 1) -> Tensor:
    """Compute the softmax of scores that come ``tile`` at a time.

    A first pass keeps the running maximum and total alone; a second divides,
    α_j = exp(e_j − maximum) / total. A row of −∞ gives zeros.

    Shapes: scores (…, n); returns (…, n).

    Raises: as ``summarise``; ValueError for a tile below 1.

    Source: Milakov and Gimelshein (2018), algorithm 3.
    """
    _check.whole_number("tile", tile, at_least=1)
    _check_scores(scores)
    running = summarise(scores[..., :tile])
    for start in range(tile, scores.shape[-1], tile):
        running = merge(running, summarise(scores[..., start : start + tile]))
    return (scores - running.maximum).exp() / running.total.masked_fill(running.total == 0, 1)


def tiled_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    tile: int = 128,
) -> Tiled:
    """Compute the output of ``attention`` exactly, without ever holding all the weights.

    The scores are made ``tile`` queries by ``tile`` keys at a time, in the backward pass once
    more, so memory grows with n and not with n². logsumexp_i = log Σ_j exp(q_i · k_j / √d)
    over the keys that i may attend to, −∞ where there are none; ``weights_from`` turns it into
    any weight. ``causal=True`` means ``causal_mask(n_q, n_k)``, on top of ``mask``; tiles
    beyond its diagonal cost nothing. Half precision is summed in float32. Gradients flow
    through both results, once: a second derivative is an error.

    Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v), mask as described at the
    top of ``attnbook.attention``; returns output (…, n_q, d_v) and logsumexp (…, n_q), the
    latter in float32 or float64.

    Raises: as ``attention``; ValueError for a tile below 1.

    Source: Dao et al. (2022), algorithms 1 and 4; Dao (2023), section 3.1.
    """
    _check_three(query, key, value)
    _check.mask_and_bias(query, key, mask, None)
    _check.whole_number("tile", tile, at_least=1)
    n_q, n_k = query.shape[-2], key.shape[-2]
    used = mask
    if causal and mask is not None and mask.shape[-2] > 1:
        used = mask.expand(*mask.shape[:-1], n_k).tril(n_k - n_q)
    key, value = _without_unused_keys(used, key, value)
    lead = tuple(query.shape[:-2])
    flat = (tensor.reshape(prod(lead), *tensor.shape[-2:]) for tensor in (query, key, value))
    output, logsumexp = TiledAttention.apply(*flat, mask, lead, causal, tile)
    return Tiled(output.view(*lead, *output.shape[-2:]), logsumexp.view(*lead, n_q))


def weights_from(
    query: Tensor,
    key: Tensor,
    logsumexp: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    rows: Chosen | None = None,
) -> Tensor:
    """Compute the weights of chosen queries from the logsumexp of ``tiled_attention``.

    α_ij = exp(q_i · k_j / √d − logsumexp_i): no other key is needed for it. ``mask`` and
    ``causal`` are those of the whole computation; ``rows`` is an int, a slice or several ints.

    Shapes: query (…, n_q, d), key (…, n_k, d), logsumexp (…, n_q); returns (…, n_q, n_k), where
    n_q are the chosen ones.

    Raises: as ``tiled_attention``; ValueError for rows that do not exist.
    """
    _check.same_kind(query=query, key=key)
    _check.same_dimension(query, key)
    _check.mask_and_bias(query, key, mask, None)
    _check_logsumexp(logsumexp, query)
    chosen = _check.indices("rows", slice(None) if rows is None else rows, query.shape[-2])
    chosen = torch.tensor(chosen, dtype=torch.long, device=query.device)
    mask = _rows_of(mask, chosen, query.shape[-2], key.shape[-2], causal)
    (key,) = _without_unused_keys(mask, key)
    wide = logsumexp.dtype
    scaled = query.index_select(-2, chosen).to(wide) * query.shape[-1] ** -0.5
    scores = scaled @ key.to(wide).mT  # (…, n_q, n_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    logsumexp = logsumexp.index_select(-1, chosen).unsqueeze(-1)
    # an empty row has −∞, and −∞ − (−∞) would be NaN
    logsumexp = logsumexp.masked_fill(logsumexp == -torch.inf, torch.inf)
    return (scores - logsumexp).exp().to(query.dtype)


def local_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Compute attention to the last ``window`` keys up to and including a query's own position.

    The result is that of ``attention`` under ``window_mask``, but keys outside of the window
    cost nothing: time and memory grow with n · window.

    Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v); returns output
    (…, n_q, d_v).

    Raises: as ``attention``; ValueError for a window below 1.

    Source: Beltagy, Peters and Cohan (2020), section 3.1, with the window on one side.
    """
    _check_three(query, key, value)
    _check.whole_number("window", window, at_least=1)
    n_q, n_k = query.shape[-2], key.shape[-2]
    ahead = n_k - n_q  # query i stands at position i + ahead
    outputs = []
    for start in range(0, max(n_q, 1), BLOCK):
        stop = min(start + BLOCK, n_q)
        seen = slice(max(start + ahead - window + 1, 0), max(stop + ahead, 0))
        mask = window_mask(stop - start, seen.stop - seen.start, window, device=query.device)
        parts = query[..., start:stop, :], key[..., seen, :], value[..., seen, :]
        outputs.append(fused_attention(*parts, mask))
    return torch.cat(outputs, dim=-2)


def feature_map(x: Tensor) -> Tensor:
    """Map numbers to positive ones, φ(x) = elu(x) + 1: x + 1 from 0 on, exp(x) below.

    Shapes: any; returns the same.

    Raises: TypeError for anything but a tensor; ValueError for one without floats.

    Source: Katharopoulos et al. (2020), equation 7.
    """
    _check.floats("x", x)
    # elu(x) + 1 as it is written rounds to 0 below −17 in float32
    return x.clamp(max=0).exp() + x.relu()


def linear_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """Compute attention whose weights are products of features, so that n² never appears.

    output_i = φ(q_i) Σ_j φ(k_j)ᵀ v_j / φ(q_i) · Σ_j φ(k_j) with φ of ``feature_map``: the
    weights are φ(q_i) · φ(k_j) over their sum. The sums over j, of size (d, d_v), are shared by
    all queries; where ``causal``, they run along the sequence chunk by chunk. This is another
    function than ``attention``, not a faster form of it.

    Shapes: query (…, n_q, d), key (…, n_k, d), value (…, n_k, d_v); returns output
    (…, n_q, d_v).

    Raises: as ``attention``.

    Source: Katharopoulos et al. (2020), equations 5 and 9.
    """
    _check_three(query, key, value)
    wide = torch.promote_types(value.dtype, torch.float32)
    query, key = feature_map(query.to(wide)), feature_map(key.to(wide))
    ones = pad(value.to(wide), (0, 1), value=1.0)  # the weighted sum of ones is the weights' sum
    summed = _causal_sums(query, key, ones) if causal else query @ (key.mT @ ones)
    output, total = summed[..., :-1], summed[..., -1:]
    return (output / total.masked_fill(total == 0, 1)).to(value.dtype)


def _causal_sums(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute Σ_j (q_i · k_j) v_j over the keys up to each query: (…, n_q, d_v)."""
    ahead = key.shape[-2] - query.shape[-2]
    if ahead < 0:  # the first queries stand before the first key
        return pad(_causal_sums(query[..., -ahead:, :], key, value), (0, 0, -ahead, 0))
    before = key[..., :ahead, :].mT @ value[..., :ahead, :]  # (…, d, d_v)
    n = query.shape[-2]
    chunks = max(ceil(n / CHUNK), 1)
    query, key, value = (
        pad(tensor, (0, 0, 0, chunks * CHUNK - n)).unflatten(-2, (chunks, CHUNK))
        for tensor in (query, key[..., ahead:, :], value[..., ahead:, :])
    )  # (…, chunks, CHUNK, ·)
    each = (key.mT @ value)[..., :-1, :, :]
    past = torch.cat((before.unsqueeze(-3), each), dim=-3).cumsum(dim=-3)
    inside = (query @ key.mT).tril() @ value
    return (query @ past + inside).flatten(-3, -2)[..., :n, :]


def _check_three(query: Tensor, key: Tensor, value: Tensor) -> None:
    _check.same_kind(query=query, key=key, value=value)
    _check.same_length(key, value)
    _check.same_dimension(query, key)


def _check_scores(scores: Tensor) -> None:
    _check.floats("scores", scores)
    if scores.dim() == 0 or scores.shape[-1] == 0:
        raise ValueError(
            f"scores must have at least one score: their shape is {tuple(scores.shape)}"
        )


def _check_logsumexp(logsumexp: Tensor, query: Tensor) -> None:
    _check.floats("logsumexp", logsumexp)
    wanted = {"dtype": torch.promote_types(query.dtype, torch.float32), "device": query.device}
    for what, mine in wanted.items():
        if getattr(logsumexp, what) != mine:
            raise ValueError(
                f"logsumexp must have the {what} that tiled_attention gives it, {mine}: "
                f"it has {getattr(logsumexp, what)}"
            )
    if logsumexp.shape != query.shape[:-1]:
        raise ValueError(
            f"logsumexp must have the shape (…, n_q) = {tuple(query.shape[:-1])}: "
            f"its shape is {tuple(logsumexp.shape)}"
        )


def _rows_of(
    mask: Tensor | None, chosen: Tensor, n_q: int, n_k: int, causal: bool
) -> Tensor | None:
    """Return what the chosen queries may attend to, of a shape that fits their scores."""
    if mask is not None and mask.shape[-2] > 1:
        mask = mask.index_select(-2, chosen)
    if not causal:
        return mask
    past = torch.arange(n_k, device=chosen.device) <= chosen[:, None] + (n_k - n_q)
    return past if mask is None else mask & past
