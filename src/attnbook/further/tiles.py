"""Exact attention in tiles: the softmax of a row from parts of it, and never all the weights."""

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook import _check, _core


class Tiled(NamedTuple):
    """What ``tiled_attention`` returns: output (…, n_q, d_v) and logsumexp (…, n_q)."""

    output: Tensor
    logsumexp: Tensor


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

    The scores are made ``tile`` queries by ``tile`` keys at a time, in the backward pass once more,
    so memory grows with n and not with n². logsumexp_i = log Σ_j exp(q_i · k_j / √d) over the keys
    that i may attend to, −∞ where there are none. ``causal=True`` adds ``causal_mask(n_q, n_k)``;
    tiles beyond its diagonal cost nothing. Half precision is summed in float32; a NaN value spoils
    all queries of its tiles. Both results have a gradient; a second derivative, forward mode and
    ``torch.vmap`` are errors (leading dimensions are free), and export takes one length alone.

    Shapes: as ``attention``; returns output (…, n_q, d_v), and logsumexp (…, n_q) in float32 or 64.
    Raises: as ``attention``.
    Source: Dao et al. (2022), algorithms 1 and 4; Dao (2023), section 3.1.
    """
    _check.attention(query, key, value, mask=mask, one_size=True)
    lead, n_q, n_k, used = tuple(query.shape[:-2]), query.shape[-2], key.shape[-2], mask
    if causal and mask is not None and mask.shape[-2] > 1:
        used = mask.expand(*mask.shape[:-1], n_k).tril(n_k - n_q)
    key, value = _core.without_unused_keys(used, key, value)
    flat = (tensor.reshape(prod(lead), *tensor.shape[-2:]) for tensor in (query, key, value))
    output, logsumexp = _Tiles.apply(*flat, mask, lead, causal, tile)
    return Tiled(output.view(*lead, *output.shape[-2:]), logsumexp.view(*lead, n_q))


def combine(one: Tiled, other: Tiled) -> Tiled:
    """Put together what the same queries took from two sets of keys, each seen by itself.

    L = log(exp(L₁) + exp(L₂)), output = exp(L₁ − L) output₁ + exp(L₂ − L) output₂: the result of
    attention to both sets at once, as rings of devices and split keys need it.

    Shapes: two outputs (…, n_q, d_v) and logsumexps (…, n_q); returns one of each.
    Raises: ValueError where shapes or dtypes do not fit.
    Source: Liu, Zaharia and Abbeel (2023); Dao (2023), section 3.1.
    """
    _check.fit(one=(one.output, "… n_q d_v"), other=(other.output, "… n_q d_v"))
    sums = {"one's logsumexp": one.logsumexp, "other's logsumexp": other.logsumexp}
    _check.shapes(one=(one.output, "… n_q d_v"), **{n: (x, "… n_q") for n, x in sums.items()})
    empty = (one.logsumexp == -torch.inf) & (other.logsumexp == -torch.inf)  # no key in either
    first, second = (each.logsumexp.masked_fill(empty, 0) for each in (one, other))
    total = torch.logaddexp(first, second)
    shares = [(part - total).exp().unsqueeze(-1) for part in (first, second)]  # (…, n_q, 1)
    output = shares[0] * one.output + shares[1] * other.output
    return Tiled(output.to(one.output.dtype), total.masked_fill(empty, -torch.inf))


def with_sink(attended: Tiled, sink: Tensor) -> Tiled:
    """Let a learned score of each head take part in the softmax, with nothing behind it.

    α_ij = exp(e_ij) / (exp(s_h) + Σ_j' exp(e_ij')) is softmax · σ(L_i − s_h), so that a head may
    give its keys less than 1 in all. The result is that of ``combine`` with a key of score s_h and
    value 0.

    Shapes: output (…, h, n_q, d_v), logsumexp (…, h, n_q), sink (h,); returns the same, the sink
    counted in the logsumexp.
    Raises: ValueError where shapes do not fit.
    Source: Agarwal et al. (2025).
    """
    output, logsumexp = attended
    given = {"output": (output, "… h n_q d_v"), "logsumexp": (logsumexp, "… h n_q")}
    _check.shapes(**given, sink=(sink, "h"))
    score = sink.unsqueeze(-1).to(logsumexp.dtype)  # (h, 1)
    share = (logsumexp - score).sigmoid().unsqueeze(-1)
    return Tiled((share * output).to(output.dtype), torch.logaddexp(logsumexp, score))


class _Plan(NamedTuple):
    """Which tiles there are of tensors (m, n, d), m the product of ``lead``; mask still has it."""

    n_q: int
    n_k: int
    mask: Tensor | None
    lead: tuple[int, ...]
    causal: bool
    tile: int

    def columns(self, rows: slice) -> Iterator[slice]:
        """Cut the keys that these queries may see into tiles; beyond the diagonal is no work."""
        return self.cut(rows.stop + self.n_k - self.n_q if self.causal else self.n_k)

    def cut(self, n: int) -> Iterator[slice]:
        return (slice(start, min(start + self.tile, n)) for start in range(0, n, self.tile))

    def scores(self, query: Tensor, key: Tensor, start: Tensor, *tile: slice) -> Tensor:
        """Compute one tile of scaled scores, added to ``start``: (m, rows, columns)."""
        rows, columns = tile
        scores = torch.baddbmm(start, query, key[:, columns].to(query.dtype).mT)
        n_q, n_k = scores.shape[1:]
        if self.mask is not None:
            places = zip(tile, self.mask.shape[-2:], strict=True)
            part = self.mask[..., *(cut if size > 1 else slice(None) for cut, size in places)]
            scores.view(*self.lead, n_q, n_k).masked_fill_(~part, -torch.inf)
        diagonal = rows.start + self.n_k - self.n_q - columns.start
        if self.causal and n_k - 1 > diagonal:
            future = torch.ones(n_q, n_k, dtype=torch.bool, device=query.device).triu(diagonal + 1)
            scores.masked_fill_(future, -torch.inf)
        return scores


class _Tiles(torch.autograd.Function):
    """One step that keeps no scores: output (m, n_q, d_v) and logsumexp (m, n_q)."""

    @staticmethod
    def forward(query: Tensor, key: Tensor, value: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
        plan = _Plan(query.shape[-2], key.shape[-2], *rest)
        wide = torch.promote_types(query.dtype, torch.float32)
        output = query.new_empty(*query.shape[:-1], value.shape[-1])
        logsumexp = query.new_empty(query.shape[:-1], dtype=wide)
        with torch.autocast(query.device.type, enabled=False):
            for rows in plan.cut(plan.n_q):
                scaled = query[:, rows].to(wide) * query.shape[-1] ** -0.5  # (m, rows, d)
                summed = scaled.new_zeros(*scaled.shape[:-1], value.shape[-1])
                total = scaled.new_zeros(*scaled.shape[:-1], 1)
                # not −∞: a row that is masked so far must not become −∞ − (−∞)
                maximum = torch.full_like(total, torch.finfo(wide).min)
                for columns in plan.columns(rows):
                    scores = plan.scores(scaled, key, scaled.new_zeros(()), rows, columns)
                    higher = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
                    powers = scores.sub_(higher).exp_()
                    shrink = maximum.sub_(higher).exp_()  # what was summed stood on a lower maximum
                    total.mul_(shrink).add_(powers.sum(dim=-1, keepdim=True))
                    summed.mul_(shrink).baddbmm_(powers, value[:, columns].to(wide))
                    maximum = higher
                logsumexp[:, rows] = (maximum + total.log()).squeeze(-1)
                output[:, rows] = summed.div_(total.clamp_(min=1))  # below 1 only where it is 0
        return output, logsumexp

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        ctx.save_for_backward(*inputs[:4], *output)
        ctx.rest = inputs[4:]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return (*_Gradient.apply(*grads, *ctx.saved_tensors, *ctx.rest), *[None] * 4)


class _Gradient(torch.autograd.Function):
    """The gradients of query, key and value; each tile of weights is made once more.

    With P = exp(S − logsumexp) and dP = dO Vᵀ: dV = Pᵀ dO; dS = P ∘ (dP − δ), where
    δ = Σ_c dO ∘ O − d logsumexp, one number for each query; dQ = dS K, dK = dSᵀ Q.
    """

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        d_out, d_sums, query, key, value, mask, out, sums, *rest = inputs
        plan, wide = _Plan(query.shape[-2], key.shape[-2], mask, *rest), sums.dtype
        scale = query.shape[-1] ** -0.5
        d_query = torch.empty_like(query)
        d_key, d_value = (torch.zeros_like(tensor, dtype=wide) for tensor in (key, value))
        with torch.autocast(query.device.type, enabled=False):
            for rows in plan.cut(plan.n_q):
                scaled, d_output = query[:, rows].to(wide) * scale, d_out[:, rows].to(wide)
                empty = sums[:, rows] == -torch.inf
                delta = (d_output * out[:, rows]).sum(dim=-1) - d_sums[:, rows]  # (m, rows)
                delta = delta.masked_fill_(empty, 0).unsqueeze(-1)
                minus = -sums[:, rows].masked_fill(empty, torch.inf).unsqueeze(-1)
                d_scaled = torch.zeros_like(scaled)
                for columns in plan.columns(rows):
                    weights = plan.scores(scaled, key, minus, rows, columns).exp_()
                    d_value[:, columns].baddbmm_(weights.mT, d_output)
                    d_weights = torch.baddbmm(-delta, d_output, value[:, columns].to(wide).mT)
                    d_scores = weights.mul_(d_weights)
                    d_scaled.baddbmm_(d_scores, key[:, columns].to(wide))
                    d_key[:, columns].baddbmm_(d_scores.mT, scaled)
                d_query[:, rows] = d_scaled.mul_(scale)
        return d_query, d_key.to(key.dtype), d_value.to(value.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> None:
        raise RuntimeError("tiled_attention has no second derivative: attention has")
