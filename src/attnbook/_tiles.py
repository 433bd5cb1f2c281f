"""Attention one tile of scores at a time, forward and backward: the work behind ``efficient``.

Here every tensor has one leading dimension, m = batch · heads: query (m, n_q, d), key
(m, n_k, d), value (m, n_k, d_v). Half precision is summed in float32.
"""

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Plan(NamedTuple):
    """Which tiles there are, and who may attend to whom in each of them.

    ``lead`` are the leading dimensions whose product is m; ``mask`` still has them.
    """

    n_q: int
    n_k: int
    lead: tuple[int, ...]
    mask: Tensor | None
    causal: bool
    tile: int

    def rows(self) -> Iterator[slice]:
        """Cut the queries into tiles."""
        return _cut(self.n_q, self.tile)

    def columns(self, rows: slice) -> Iterator[slice]:
        """Cut the keys that these queries may see into tiles; beyond the diagonal is no work."""
        seen = rows.stop + self.n_k - self.n_q if self.causal else self.n_k
        return _cut(seen, self.tile)

    def forbidden(self, rows: slice, columns: slice, device: torch.device) -> Tensor | None:
        """Return where a tile of scores may not be looked at, None where all of it may."""
        hidden = None
        if self.mask is not None:
            hidden = ~_tile_of(self.mask, rows, columns, self.lead)
        diagonal = rows.start + self.n_k - self.n_q - columns.start
        if self.causal and columns.stop - columns.start - 1 > diagonal:
            shape = rows.stop - rows.start, columns.stop - columns.start
            future = torch.ones(shape, dtype=torch.bool, device=device).triu(diagonal + 1)
            hidden = future if hidden is None else hidden | future
        return hidden


def _cut(length: int, tile: int) -> Iterator[slice]:
    return (slice(start, min(start + tile, length)) for start in range(0, length, tile))


def _tile_of(mask: Tensor, rows: slice, columns: slice, lead: tuple[int, ...]) -> Tensor:
    part = mask[..., rows if mask.shape[-2] > 1 else slice(None), :]
    part = part[..., columns if mask.shape[-1] > 1 else slice(None)]
    if mask.dim() == 2:
        return part
    return part.expand(*lead, *part.shape[-2:]).reshape(prod(lead), *part.shape[-2:])


def _scores(
    query: Tensor, key: Tensor, start: Tensor, plan: Plan, rows: slice, columns: slice
) -> Tensor:
    """Compute one tile of scaled scores, added to ``start``: (m, rows, columns)."""
    scores = torch.baddbmm(start, query, key[:, columns].to(query.dtype).mT)
    hidden = plan.forbidden(rows, columns, query.device)
    return scores if hidden is None else scores.masked_fill_(hidden, -torch.inf)


def forward(query: Tensor, key: Tensor, value: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:
    """Compute output (m, n_q, d_v) and logsumexp (m, n_q), one tile of queries after another."""
    wide = torch.promote_types(query.dtype, torch.float32)
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    logsumexp = query.new_empty(query.shape[:-1], dtype=wide)
    zero = query.new_zeros((), dtype=wide)
    for rows in plan.rows():
        scaled = query[:, rows].to(wide) * query.shape[-1] ** -0.5  # (m, rows, d)
        summed = scaled.new_zeros(*scaled.shape[:-1], value.shape[-1])
        total = scaled.new_zeros(*scaled.shape[:-1], 1)
        # not −∞: a row that is masked so far must not become −∞ − (−∞)
        maximum = torch.full_like(total, torch.finfo(wide).min)
        for columns in plan.columns(rows):
            scores = _scores(scaled, key, zero, plan, rows, columns)
            higher = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
            powers = scores.sub_(higher).exp_()
            shrink = maximum.sub_(higher).exp_()  # what was summed stood on a lower maximum
            total.mul_(shrink).add_(powers.sum(dim=-1, keepdim=True))
            summed.mul_(shrink).baddbmm_(powers, value[:, columns].to(wide))
            maximum = higher
        logsumexp[:, rows] = (maximum + total.log()).squeeze(-1)
        output[:, rows] = summed.div_(total.clamp_(min=1))  # below 1 only where it is 0
    return output, logsumexp


def backward(
    grads: tuple[Tensor, Tensor],
    results: tuple[Tensor, Tensor],
    inputs: tuple[Tensor, Tensor, Tensor],
    plan: Plan,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of query, key and value; each tile of weights is made once more.

    With P = exp(S − logsumexp) and dP = dO Vᵀ: dV = Pᵀ dO; dS = P ∘ (dP − δ), where
    δ = Σ_c dO ∘ O − d logsumexp, one number for each query; dQ = dS K, dK = dSᵀ Q.
    """
    query, key, value = inputs
    wide = results[1].dtype
    scale = query.shape[-1] ** -0.5
    d_query = torch.empty_like(query)
    d_key, d_value = (torch.zeros_like(tensor, dtype=wide) for tensor in (key, value))
    for rows in plan.rows():
        scaled = query[:, rows].to(wide) * scale
        d_output = grads[0][:, rows].to(wide)
        logsumexp = results[1][:, rows].unsqueeze(-1)  # (m, rows, 1)
        empty = logsumexp == -torch.inf
        delta = (d_output * results[0][:, rows]).sum(dim=-1, keepdim=True)
        delta = (delta - grads[1][:, rows].unsqueeze(-1)).masked_fill_(empty, 0)
        minus = -logsumexp.masked_fill(empty, torch.inf)
        d_scaled = torch.zeros_like(scaled)
        for columns in plan.columns(rows):
            weights = _scores(scaled, key, minus, plan, rows, columns).exp_()
            d_value[:, columns].baddbmm_(weights.mT, d_output)
            d_weights = torch.baddbmm(-delta, d_output, value[:, columns].to(wide).mT)
            d_scores = weights.mul_(d_weights)
            d_scaled.baddbmm_(d_scores, key[:, columns].to(wide))
            d_key[:, columns].baddbmm_(d_scores.mT, scaled)
        d_query[:, rows] = d_scaled.mul_(scale)
    return d_query, d_key.to(key.dtype), d_value.to(value.dtype)


class TiledAttention(torch.autograd.Function):
    """``forward`` and ``backward`` as one differentiable step that keeps no scores."""

    @staticmethod
    def forward(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        lead: tuple[int, ...],
        causal: bool,
        tile: int,
    ) -> tuple[Tensor, Tensor]:
        plan = Plan(query.shape[-2], key.shape[-2], lead, mask, causal, tile)
        with torch.autocast(query.device.type, enabled=False):
            return forward(query, key, value, plan)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple[Tensor, Tensor]) -> None:
        query, key, value, mask, *ctx.rest = inputs
        ctx.save_for_backward(query, key, value, mask, *output)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_logsumexp: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, *results = ctx.saved_tensors
        lead, causal, tile = ctx.rest
        plan = Plan(query.shape[-2], key.shape[-2], lead, mask, causal, tile)
        with torch.autocast(query.device.type, enabled=False):
            grads = backward((d_output, d_logsumexp), tuple(results), (query, key, value), plan)
        return (*grads, None, None, None, None)
