"""Attention for long sequences: exact by tiles, in a window, to chosen keys, or linear in length.

Shapes, masks, and zeros for a query with nothing to attend to, are those of
``attnbook.attention``; lengths that differ are aligned at the end, as in ``causal_mask``.
"""

from collections.abc import Iterator
from math import ceil, prod
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from attnbook import _check
from attnbook.attention import Chosen, chosen, fused, without_unused_keys
from attnbook.masks import window_mask

__all__ = [
    "Running",
    "Tiled",
    "combine",
    "feature_map",
    "index_scores",
    "linear_attention",
    "local_attention",
    "merge",
    "online_softmax",
    "summarise",
    "tiled_attention",
    "top_keys",
    "weights_from",
    "with_sink",
]

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
    """Reduce scores (…, n) to their maximum and total, Σ_j exp(e_j − maximum), two tensors (…, 1).

    Raises: ValueError for scores without floats or without a last axis.
    """
    _check_scores(scores)
    # a block of −∞ has the lowest finite maximum: −∞ − (−∞) would be NaN
    lowest = torch.finfo(scores.dtype).min
    maximum = scores.amax(dim=-1, keepdim=True).clamp(min=lowest)
    return Running(maximum, (scores - maximum).exp().sum(dim=-1, keepdim=True))


def merge(one: Running, other: Running) -> Running:
    """Summarise two blocks of scores from the summaries of each, four tensors (…, 1); returns two.

    With m = max(m₁, m₂): total = total₁ exp(m₁ − m) + total₂ exp(m₂ − m).

    Raises: ValueError for summaries of different shapes.
    Source: Milakov and Gimelshein (2018), section 3.1.
    """
    shapes = [tuple(part.shape) for part in (*one, *other)]
    wanted, told = "hold tensors of one shape (…, 1)", f"their shapes are {shapes}"
    _check.must(len(set(shapes)) == 1, "one and other", wanted, but=told)
    maximum = torch.maximum(one.maximum, other.maximum)
    first, second = (each.total * (each.maximum - maximum).exp() for each in (one, other))
    return Running(maximum, first + second)


def online_softmax(scores: Tensor, *, tile: int = 1) -> Tensor:
    """Compute the softmax of scores (…, n) that come ``tile`` at a time; a row of −∞ gives zeros.

    A first pass keeps the running maximum and total alone; a second divides,
    α_j = exp(e_j − maximum) / total.

    Raises: as ``summarise``; ValueError for a tile below 1.
    Source: Milakov and Gimelshein (2018), algorithm 3.
    """
    _check.sizes(tile=tile)
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
    over the keys that i may attend to, −∞ where there are none. ``causal=True`` adds
    ``causal_mask(n_q, n_k)``; tiles beyond its diagonal cost nothing. Half precision is summed in
    float32. Gradients flow through both results, once: a second derivative is an error.

    Shapes: as ``attention``; returns output (…, n_q, d_v) and logsumexp (…, n_q), the latter in
    float32 or float64.
    Raises: as ``attention``; ValueError for a tile below 1.
    Source: Dao et al. (2022), algorithms 1 and 4; Dao (2023), section 3.1.
    """
    _check.attention(query, key, value, mask=mask, causal=causal, one_size=True)
    _check.sizes(tile=tile)
    n_q, n_k = query.shape[-2], key.shape[-2]
    used = mask
    if causal and mask is not None and mask.shape[-2] > 1:
        used = mask.expand(*mask.shape[:-1], n_k).tril(n_k - n_q)
    key, value = without_unused_keys(used, key, value)
    lead = tuple(query.shape[:-2])
    flat = (tensor.reshape(prod(lead), *tensor.shape[-2:]) for tensor in (query, key, value))
    output, logsumexp = _TiledAttention.apply(*flat, mask, lead, causal, tile)
    return Tiled(output.view(*lead, *output.shape[-2:]), logsumexp.view(*lead, n_q))


def combine(one: Tiled, other: Tiled) -> Tiled:
    """Put together what the same queries took from two sets of keys, each seen by itself.

    L = log(exp(L₁) + exp(L₂)), output = exp(L₁ − L) output₁ + exp(L₂ − L) output₂: the result of
    attention to both sets at once, as rings of devices and split keys need it. Any number of sets
    can be put together, in any order.

    Shapes: two outputs (…, n_q, d_v) and logsumexps (…, n_q); returns one of each.
    Raises: ValueError for results of different shapes.
    Source: Liu, Zaharia and Abbeel (2023); Dao (2023), section 3.1.
    """
    for name, came in (("one", one), ("other", other)):
        _check.is_a(name, came, Tiled)
    for name, parts in zip(Tiled._fields, zip(one, other, strict=True), strict=True):
        shapes = [tuple(part.shape) for part in parts]
        told = f"their shapes are {shapes[0]} and {shapes[1]}"
        _check.must(shapes[0] == shapes[1], name, "have one shape in both results", but=told)
        for what in ("dtype", "device"):
            _check.alike(what, **dict(zip((f"one.{name}", f"other.{name}"), parts, strict=True)))
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
    Raises: ValueError for a sink of another shape, or without floats.
    Source: Agarwal et al. (2025).
    """
    output, logsumexp = attended
    _check.floats("sink", sink)
    wanted = tuple(logsumexp.shape[-2:-1])
    _check.must(tuple(sink.shape) == wanted, "sink", f"have the shape (h,) = {wanted}", sink)
    _check.alike("device", logsumexp=logsumexp, sink=sink)
    score = sink.unsqueeze(-1).to(logsumexp.dtype)  # (h, 1)
    share = (logsumexp - score).sigmoid().unsqueeze(-1)
    return Tiled((share * output).to(output.dtype), torch.logaddexp(logsumexp, score))


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
    ``causal`` are those of the whole computation.

    Shapes: query (…, n_q, d), key (…, n_k, d), logsumexp (…, n_q); returns (…, n_q, n_k), where
    n_q are the chosen ones.
    Raises: as ``tiled_attention``; ValueError for rows that do not exist.
    """
    _check.attention(query, key, mask=mask, causal=causal, one_size=True)
    _check_logsumexp(logsumexp, query)
    row = chosen("rows", slice(None) if rows is None else rows, query.shape[-2], query)
    mask = _rows_of(mask, row, query.shape[-2], key.shape[-2], causal)
    (key,) = without_unused_keys(mask, key)
    wide = logsumexp.dtype
    scaled = query.index_select(-2, row).to(wide) * query.shape[-1] ** -0.5
    scores = scaled @ key.to(wide).mT  # (…, n_q, n_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    logsumexp = logsumexp.index_select(-1, row).unsqueeze(-1)
    # an empty row has −∞, and −∞ − (−∞) would be NaN
    logsumexp = logsumexp.masked_fill(logsumexp == -torch.inf, torch.inf)
    return (scores - logsumexp).exp().to(query.dtype)


def local_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Compute ``attention`` under ``window_mask``; keys outside of the window cost nothing.

    Time and memory grow with n · window.

    Shapes: as ``attention``; returns output (…, n_q, d_v).
    Raises: as ``attention``; ValueError for a window below 1.
    Source: Beltagy, Peters and Cohan (2020), section 3.1, with the window on one side.
    """
    _check.attention(query, key, value, one_size=True)
    _check.sizes(window=window)
    n_q, n_k = query.shape[-2], key.shape[-2]
    ahead = n_k - n_q  # query i stands at position i + ahead
    outputs = []
    for start in range(0, max(n_q, 1), BLOCK):
        stop = min(start + BLOCK, n_q)
        seen = slice(max(start + ahead - window + 1, 0), max(stop + ahead, 0))
        mask = window_mask(stop - start, seen.stop - seen.start, window, device=query.device)
        parts = query[..., start:stop, :], key[..., seen, :], value[..., seen, :]
        outputs.append(fused(*parts, mask, None, False))
    return torch.cat(outputs, dim=-2)


def index_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Score keys cheaply, to choose those that are worth attention: I_ts = Σ_j w_tj (q_tj · k_s)₊.

    The j are the indexer's own few heads, of few numbers each, over one key a token.

    Shapes: query (…, h, n_q, d), key (…, n_k, d), weight (…, h, n_q); returns (…, n_q, n_k).
    Raises: ValueError where shapes, dtypes or devices do not fit.
    Source: DeepSeek-AI (2025), equation 1.
    """
    _check.floats("query", query)
    _check.shape("query", query, "…", "h", "n_q", "d")
    for name, part, wanted in (
        ("key", key, (*query.shape[:-3], "n_k", query.shape[-1])),
        ("weight", weight, tuple(query.shape[:-1])),
    ):
        _check.floats(name, part)
        _check.shape(name, part, *wanted)
        for what in ("dtype", "device"):
            _check.alike(what, **{"query": query, name: part})
    products = (query @ key.unsqueeze(-3).mT).relu()  # (…, h, n_q, n_k)
    return (weight.unsqueeze(-1) * products).sum(dim=-3)


def top_keys(scores: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    """Let every query attend to the k keys of the highest scores, a mask for ``attention``.

    Among equals the earliest are taken. With a ``mask`` only keys that it allows are; a query that
    may see fewer than k gets all of those. The choice has no gradient.

    Shapes: scores (…, n_q, n_k), mask (n_q, n_k) or with as many dimensions as the scores; returns
    (…, n_q, n_k), boolean.
    Raises: ValueError for a k below 1 or above n_k, and for scores or a mask that do not fit.
    Source: DeepSeek-AI (2025), equation 2.
    """
    _check.floats("scores", scores)
    _check.shape("scores", scores, "…", "n_q", "n_k")
    _check.parts(mask, None, tuple(scores.shape), scores)
    _check.sizes(k=k)
    _check.must(k <= scores.shape[-1], "k", f"be at most n_k = {scores.shape[-1]}", k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    best = scores.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return chosen if mask is None else chosen & mask


def feature_map(x: Tensor) -> Tensor:
    """Map numbers to positive ones, φ(x) = elu(x) + 1: x + 1 from 0 on, exp(x) below.

    Shapes: any; returns the same.
    Raises: TypeError for anything but a tensor; ValueError for one without floats.
    Source: Katharopoulos et al. (2020), equation 7.
    """
    _check.floats("x", x)
    # elu(x) + 1 as it is written rounds to 0 below −17 in float32; this is exp(0) + x above 0. At 0
    # both parts have half the gradient, on every torch, which clamp has not
    zero = x.new_zeros(())
    return torch.minimum(x, zero).exp() + torch.maximum(x, zero)


def linear_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """Compute attention whose weights are products of features, so that n² never appears.

    output_i = φ(q_i) Σ_j φ(k_j)ᵀ v_j / φ(q_i) · Σ_j φ(k_j) with φ of ``feature_map``. The sums
    over j, (d, d_v), are shared by all queries; where ``causal``, they run along the sequence chunk
    by chunk. This is another function than ``attention``, not a faster form of it.

    Shapes, Raises: as ``attention``; returns output (…, n_q, d_v).
    Source: Katharopoulos et al. (2020), equations 5 and 9.
    """
    _check.attention(query, key, value, causal=causal, one_size=True)
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


def _check_scores(scores: Tensor) -> None:
    _check.floats("scores", scores)
    told = f"their shape is {tuple(scores.shape)}"
    fine = scores.dim() and scores.shape[-1]
    _check.must(fine, "scores", "have at least one score", but=told)


def _check_logsumexp(logsumexp: Tensor, query: Tensor) -> None:
    _check.floats("logsumexp", logsumexp)
    wanted = {"dtype": torch.promote_types(query.dtype, torch.float32), "device": query.device}
    for what, mine in wanted.items():
        came, words = getattr(logsumexp, what), f"have the {what} that tiled_attention gives it"
        _check.must(came == mine, "logsumexp", f"{words}, {mine}", but=f"it has {came}")
    shape = tuple(query.shape[:-1])
    _check.must(
        logsumexp.shape == shape, "logsumexp", f"have the shape (…, n_q) = {shape}", logsumexp
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


# --- the tiles: every tensor has one leading dimension, m = batch · heads -------------------------


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


def _tile_scores(
    query: Tensor, key: Tensor, start: Tensor, plan: Plan, rows: slice, columns: slice
) -> Tensor:
    """Compute one tile of scaled scores, added to ``start``: (m, rows, columns)."""
    scores = torch.baddbmm(start, query, key[:, columns].to(query.dtype).mT)
    hidden = plan.forbidden(rows, columns, query.device)
    return scores if hidden is None else scores.masked_fill_(hidden, -torch.inf)


def _forward(query: Tensor, key: Tensor, value: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:
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
            scores = _tile_scores(scaled, key, zero, plan, rows, columns)
            higher = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
            powers = scores.sub_(higher).exp_()
            shrink = maximum.sub_(higher).exp_()  # what was summed stood on a lower maximum
            total.mul_(shrink).add_(powers.sum(dim=-1, keepdim=True))
            summed.mul_(shrink).baddbmm_(powers, value[:, columns].to(wide))
            maximum = higher
        logsumexp[:, rows] = (maximum + total.log()).squeeze(-1)
        output[:, rows] = summed.div_(total.clamp_(min=1))  # below 1 only where it is 0
    return output, logsumexp


def _backward(
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
            weights = _tile_scores(scaled, key, minus, plan, rows, columns).exp_()
            d_value[:, columns].baddbmm_(weights.mT, d_output)
            d_weights = torch.baddbmm(-delta, d_output, value[:, columns].to(wide).mT)
            d_scores = weights.mul_(d_weights)
            d_scaled.baddbmm_(d_scores, key[:, columns].to(wide))
            d_key[:, columns].baddbmm_(d_scores.mT, scaled)
        d_query[:, rows] = d_scaled.mul_(scale)
    return d_query, d_key.to(key.dtype), d_value.to(value.dtype)


class _TiledAttention(torch.autograd.Function):
    """``_forward`` and ``_backward`` as one differentiable step that keeps no scores."""

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
            return _forward(query, key, value, plan)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        query, key, value, mask, *ctx.rest = inputs
        ctx.save_for_backward(query, key, value, mask, *output)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, d_output: Tensor, d_logsumexp: Tensor
    ) -> tuple[Tensor | None, ...]:
        query, key, value, mask, *results = ctx.saved_tensors
        lead, causal, tile = ctx.rest
        plan = Plan(query.shape[-2], key.shape[-2], lead, mask, causal, tile)
        with torch.autocast(query.device.type, enabled=False):
            grads = _backward((d_output, d_logsumexp), tuple(results), (query, key, value), plan)
        return (*grads, None, None, None, None)
