"""Attention as a memory of fixed size: linear attention, and the delta rule, which overwrites.

Linear attention adds every φ(k_t)ᵀ v_t to a matrix S (d, d_v) and forgets nothing. The delta rule
first reads what S holds for the key, and writes the difference alone:

    S_t = α_t S_{t−1} + β_t k_tᵀ (v_t − k_t α_t S_{t−1}),    y_t = q_t S_t

With β = 1 and a key of length 1, reading k_t then gives v_t. α, the gate, lets all of S fade.
"""

from itertools import accumulate
from math import ceil
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnbook import _check

CHUNK = 64  # tokens that causal linear attention compares one by one


def feature_map(x: Tensor) -> Tensor:
    """Map numbers to positive ones, φ(x) = elu(x) + 1: x + 1 from 0 on, exp(x) below.

    Shapes: any; returns the same.
    Source: Katharopoulos et al. (2020), equation 7.
    """
    # elu(x) + 1 as it is written rounds to 0 below −17 in float32; this is exp(0) + x above 0. At 0
    # both parts have half the gradient, on every torch, which clamp has not
    zero = x.new_zeros(())
    return torch.minimum(x, zero).exp() + torch.maximum(x, zero)


def linear_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """Compute attention whose weights are products of features, so that n² never appears.

    output_i = φ(q_i) Σ_j φ(k_j)ᵀ v_j / φ(q_i) · Σ_j φ(k_j) with φ of ``feature_map``. The sums
    over j, (d, d_v), are shared by all queries; where ``causal``, they run along the sequence chunk
    by chunk, where a NaN spoils the rows before it too. This is another function than
    ``attention``, not a faster form of it.

    Shapes, Raises: as ``attention``; returns output (…, n_q, d_v).
    Source: Katharopoulos et al. (2020), equations 5 and 9.
    """
    _check.attention(query, key, value, one_size=True)
    if causal:
        _check.untraced("linear_attention")
    wide = torch.promote_types(value.dtype, torch.float32)
    with torch.autocast(query.device.type, enabled=False):  # it would lower the sums
        query, key = feature_map(query.to(wide)), feature_map(key.to(wide))
        ones = pad(value.to(wide), (0, 1), value=1.0)  # its weighted sum is the weights' sum
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
    parts = query, key[..., ahead:, :], value[..., ahead:, :]
    query, key, value = (_cut(part, CHUNK) for part in parts)  # (…, chunks, CHUNK, ·)
    each = (key.mT @ value)[..., :-1, :, :].unbind(-3)
    past = torch.stack(list(accumulate(each, initial=before)), dim=-3)
    inside = (query @ key.mT).tril() @ value
    return (query @ past + inside).flatten(-3, -2)[..., :n, :]


def _cut(part: Tensor, chunk: int, fill: float = 0.0) -> Tensor:
    """Cut the rows (…, n, ·) into chunks, at least one, and fill up the last: (…, n', chunk, ·)."""
    n = part.shape[-2]
    more = max(ceil(n / chunk), 1) * chunk - n
    whole = pad(part, (0, 0, 0, more), value=fill) if more else part  # pad would copy it
    return whole.unflatten(-2, (-1, chunk))


class Remembered(NamedTuple):
    """What the delta rule returns: output (…, n, d_v) and the last state S, (…, d, d_v)."""

    output: Tensor
    state: Tensor


def delta_steps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    *,
    gate: Tensor | None = None,
    state: Tensor | None = None,
) -> Remembered:
    """Apply the delta rule to one token after another, as its formula reads.

    β and the gate α should be from 0 to 1, one a token, and keys of length 1: with others a
    difference is overshot, and the state can grow without bound; nothing checks it. ``state`` is
    what S was before the first token, zeros unless given.

    Shapes: query and key (…, n, d), value (…, n, d_v), beta and gate (…, n), state (…, d, d_v);
    returns output (…, n, d_v) and state (…, d, d_v), in float32 or better.
    Raises: ValueError where shapes or dtypes do not fit.
    Source: Schlag, Irie and Schmidhuber (2021); Yang, Kautz and Hatamizadeh (2024) for the gate.
    """
    memory, (query, key, value, beta, gate) = _widened(query, key, value, beta, gate, state)
    outputs = []
    with torch.autocast(query.device.type, enabled=False):  # it would lower the sums
        for t in range(key.shape[-2]):
            q, k, v = (part[..., t : t + 1, :] for part in (query, key, value))
            memory = gate[..., t, None, None] * memory
            memory = memory + k.mT @ (beta[..., t, None, None] * (v - k @ memory))
            outputs.append(q @ memory)
    return Remembered(torch.cat([value[..., :0, :], *outputs], dim=-2), memory)


def delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    *,
    gate: Tensor | None = None,
    state: Tensor | None = None,
    chunk: int = 64,
) -> Remembered:
    """Compute what ``delta_steps`` computes, ``chunk`` tokens at a time; a NaN spoils its chunk.

    S_t is a sum, Σ_i D_ti k_iᵀ u_i with D_ti = α_{i+1} ⋯ α_t, so that the u of a chunk that begins
    with S_0 solve (1 + β ⊙ L) U = β ⊙ (V − γ ⊙ K S_0), where L is D ⊙ K Kᵀ below its diagonal and
    γ_t = α_1 ⋯ α_t: one triangular system for all chunks, and then a few products for each.

    Shapes: as ``delta_steps``.
    Raises: as ``delta_steps``.
    Source: Yang et al. (2024), section 3; Yang, Kautz and Hatamizadeh (2024) for the gate.
    """
    memory, parts = _widened(query, key, value, beta, gate, state)
    with torch.autocast(query.device.type, enabled=False):  # it would lower the sums
        return _chunks(memory, parts, chunk)


def _chunks(memory: Tensor, parts: tuple[Tensor, ...], chunk: int) -> Remembered:
    query, key, value, beta, gate = parts
    n = key.shape[-2]
    # what fills the last chunk writes nothing, and lets nothing fade
    query, key, value, beta = (
        _cut(part, chunk) for part in (query, key, value, beta.unsqueeze(-1))
    )
    gate = _cut(gate.unsqueeze(-1), chunk, fill=1.0)
    below = torch.ones(chunk, chunk, dtype=torch.bool, device=key.device).tril(-1)
    fade = torch.where(below, gate, 1).cumprod(dim=-2).tril()  # D, (…, chunks, chunk, chunk)
    since = gate.cumprod(dim=-2)  # γ, (…, chunks, chunk, 1)
    rated = beta * key
    left = fade * (rated @ key.mT)  # read below its diagonal, where ones are taken to be
    right = torch.cat((beta * value, since * rated), dim=-1)
    solved = torch.linalg.solve_triangular(left, right, upper=False, unitriangular=True)
    from_values, from_state = solved.split((value.shape[-1], key.shape[-1]), dim=-1)
    inside, query = fade * (query @ key.mT), since * query
    key = fade[..., -1, :, None] * key  # as it has faded at the end of the chunk
    outputs = []
    for c in range(key.shape[-3]):
        written = from_values[..., c, :, :] - from_state[..., c, :, :] @ memory  # U
        outputs.append(query[..., c, :, :] @ memory + inside[..., c, :, :] @ written)
        memory = since[..., c, -1:, :] * memory + key[..., c, :, :].mT @ written
    return Remembered(torch.cat(outputs, dim=-2)[..., :n, :], memory)


def _widened(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    gate: Tensor | None,
    state: Tensor | None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return the state, and the other tensors, all of them in float32 or better."""
    given = {"query": (query, "… n d"), "key": (key, "… n d"), "value": (value, "… n d_v")}
    _check.fit(**given)
    _check.untraced("the delta rule")
    gate = key.new_ones(key.shape[:-1]) if gate is None else gate
    whole = *key.shape[:-2], key.shape[-1], value.shape[-1]
    memory = key.new_zeros(whole) if state is None else state
    rest = {"beta": (beta, "… n"), "gate": (gate, "… n"), "state": (memory, "… d d_v")}
    _check.shapes(**given, **rest)
    wide = torch.promote_types(key.dtype, torch.float32)
    return memory.to(wide), tuple(part.to(wide) for part in (query, key, value, beta, gate))
