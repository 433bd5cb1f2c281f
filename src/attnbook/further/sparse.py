"""Attention to few keys: those of a window, or those that a cheap indexer chooses."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook import _ask, _check, _core
from attnbook.masks import window_mask

BLOCK = 128  # queries that share one slice of keys in local_attention


def local_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Compute ``attention`` under ``window_mask``, 128 queries at a time, from the keys they see.

    A block takes window + 127 keys: time and memory grow with n · (window + 127), and a NaN that
    one of its queries sees spoils all of them.

    Shapes, Raises: as ``attention``; ValueError for a window below 1; returns output (…, n_q, d_v).
    Source: Beltagy, Peters and Cohan (2020), section 3.1, with the window on one side.
    """
    _check.attention(query, key, value, one_size=True)
    _check.untraced("local_attention")
    n_q, ahead = query.shape[-2], key.shape[-2] - query.shape[-2]  # query i is at i + ahead
    whole = max(n_q - max(window - 1 - ahead, 0), 0) // BLOCK  # blocks whose windows lack no key
    first = n_q - whole * BLOCK  # the query with which they begin
    outputs = []
    for start in range(0, max(first, 1), BLOCK):
        stop = min(start + BLOCK, first)
        seen = slice(max(start + ahead - window + 1, 0), max(stop + ahead, 0))
        mask = window_mask(stop - start, seen.stop - seen.start, window, device=query.device)
        parts = query[..., start:stop, :], key[..., seen, :], value[..., seen, :]
        outputs.append(_core.fused(*parts, mask, None, False))
    if whole:
        since = first + ahead - window + 1
        parts = query[..., first:, :], key[..., since:, :], value[..., since:, :]
        outputs.append(_whole_blocks(*parts, window))
    return torch.cat(outputs, dim=-2)


def _whole_blocks(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attend in one call, from window − 1 + n_q keys: blocks overlap in views, without a copy."""
    blocks = query[None].flatten(0, -3).unflatten(-2, (-1, BLOCK))  # (·, blocks, BLOCK, d)
    width = window + BLOCK - 1
    keys, values = (
        one[None].flatten(0, -3).unfold(-2, width, BLOCK).mT for one in (key, value)
    )  # (·, blocks, width, d)
    mask = window_mask(BLOCK, width, window, device=query.device)
    # each key is seen by a query of its block: there is none to leave out
    output = scaled_dot_product_attention(blocks, keys, values, attn_mask=mask)
    return output.reshape(*query.shape[:-1], value.shape[-1])


def index_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Score keys cheaply, to choose those that are worth attention: I_ts = Σ_j w_tj (q_tj · k_s)₊.

    The j are the indexer's own few heads, of few numbers each, over one key a token.

    Shapes: query (…, h, n_q, d), key (…, n_k, d), weight (…, h, n_q); returns (…, n_q, n_k).
    Raises: ValueError where shapes or dtypes do not fit.
    Source: DeepSeek-AI (2025), equation 1.
    """
    _check.fit(query=(query, "… h n_q d"), key=(key, "… n_k d"), weight=(weight, "… h n_q"))
    return (weight.unsqueeze(-1) * (query @ key.unsqueeze(-3).mT).relu()).sum(dim=-3)  # over h


def top_keys(scores: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    """Let every query attend to the k keys of the highest scores, a mask for ``attention``.

    Among equals the earliest are taken. With a ``mask`` only keys that it allows are; a query that
    may see fewer than k gets all of those. The choice has no gradient. A graph, as ``torch.vmap``,
    cannot ask for NaN, which would be the highest.

    Shapes: scores (…, n_q, n_k), mask as for ``attention``; returns (…, n_q, n_k), boolean.
    Raises: ValueError for a k below 1 or above n_k, NaN, and scores or a mask that do not fit.
    Source: DeepSeek-AI (2025), equation 2.
    """
    _check.fit(scores=(scores, "… n_q n_k"))
    _check.parts(mask, None, tuple(scores.shape), scores.dtype)
    n_k = scores.shape[-1]
    if not 0 < k <= n_k:  # words made of a size would bind a compiled graph to it
        raise _check.wrong("k", f"be from 1 to n_k = {n_k}", k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    numbers = _ask.all_of(~scores.isnan(), wait=True)
    _check.must(numbers is not False, "scores", "be numbers", but="NaN would be the highest")
    best = scores.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, 1)
    return chosen if mask is None else chosen & mask
