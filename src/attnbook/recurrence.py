"""The delta rule: attention as a memory of fixed size in which a key's value can be overwritten.

Linear attention adds every k_tᵀ v_t to a matrix S (d, d_v) and forgets nothing. The delta rule
first reads what S holds for the key, and writes the difference alone:

    S_t = α_t S_{t−1} + β_t k_tᵀ (v_t − k_t α_t S_{t−1}),    y_t = q_t S_t

With β = 1 and a key of length 1, reading k_t then gives v_t. α, the gate, lets all of S fade.
"""

from math import ceil
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnbook import _check

__all__ = ["Remembered", "delta_rule", "delta_steps"]


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

    β and the gate α are numbers from 0 to 1, one a token. Keys should have length 1: with longer
    ones a difference is overshot, and the state can grow without bound. ``state`` is what S was
    before the first token, zeros unless given.

    Shapes: query and key (…, n, d), value (…, n, d_v), beta and gate (…, n), state (…, d, d_v);
    returns output (…, n, d_v) and state (…, d, d_v), in float32 or better.
    Raises: ValueError where shapes, dtypes or devices do not fit.
    Source: Schlag, Irie and Schmidhuber (2021); Yang, Kautz and Hatamizadeh (2024) for the gate.
    """
    memory, (query, key, value, beta, gate) = _checked(query, key, value, beta, gate, state)
    outputs = []
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
    """Compute what ``delta_steps`` computes, ``chunk`` tokens at a time.

    S_t is a sum, Σ_i D_ti k_iᵀ u_i with D_ti = α_{i+1} ⋯ α_t, so that the u of a chunk that begins
    with S_0 solve (1 + β ⊙ L) U = β ⊙ (V − γ ⊙ K S_0), where L is D ⊙ K Kᵀ below its diagonal and
    γ_t = α_1 ⋯ α_t: one triangular system for all chunks, and then a few products for each.

    Shapes: as ``delta_steps``.
    Raises: as ``delta_steps``; ValueError for a chunk below 1.
    Source: Yang et al. (2024), section 3; Yang, Kautz and Hatamizadeh (2024) for the gate.
    """
    _check.sizes(chunk=chunk)
    memory, parts = _checked(query, key, value, beta, gate, state)
    n = key.shape[-2]
    chunks = ceil(n / chunk)
    more = chunks * chunk - n  # tokens that write nothing, and let nothing fade
    query, key, value, beta, gate = (
        pad(part, (0, 0, 0, more) if part.dim() == key.dim() else (0, more), value=fill)
        for part, fill in zip(parts, (0.0, 0.0, 0.0, 0.0, 1.0), strict=True)
    )
    query, key, value = (part.unflatten(-2, (chunks, chunk)) for part in (query, key, value))
    beta, gate = (part.unflatten(-1, (chunks, chunk)).unsqueeze(-1) for part in (beta, gate))
    below = torch.ones(chunk, chunk, dtype=torch.bool, device=key.device).tril(-1)
    fade = torch.where(below, gate, 1).cumprod(dim=-2).tril()  # D, (…, chunks, chunk, chunk)
    since = gate.cumprod(dim=-2)  # γ, (…, chunks, chunk, 1)
    left = torch.where(below, beta * fade * (key @ key.mT), 0)  # and ones on its diagonal
    right = beta * torch.cat((value, since * key), dim=-1)
    solved = torch.linalg.solve_triangular(left, right, upper=False, unitriangular=True)
    from_values, from_state = solved.split((value.shape[-1], key.shape[-1]), dim=-1)
    inside, query = fade * (query @ key.mT), since * query
    key = fade[..., -1, :, None] * key  # as it has faded at the end of the chunk
    outputs = []
    for c in range(chunks):
        written = from_values[..., c, :, :] - from_state[..., c, :, :] @ memory  # U
        outputs.append(query[..., c, :, :] @ memory + inside[..., c, :, :] @ written)
        memory = since[..., c, -1:, :] * memory + key[..., c, :, :].mT @ written
    output = torch.cat([value[..., :0, :].flatten(-3, -2), *outputs], dim=-2)
    return Remembered(output[..., :n, :], memory)


def _checked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    gate: Tensor | None,
    state: Tensor | None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return the state, and the other tensors, a gate of ones where there is none, all of them
    in float32 or better."""
    _check.attention(query, key, value, one_size=True)
    _check.alike("length", query=query, key=key)
    sizes = tuple(key.shape[:-1]), (*key.shape[:-2], key.shape[-1], value.shape[-1])
    _check.floats("beta", beta)
    gate = torch.ones_like(beta) if gate is None else gate
    wide = torch.promote_types(key.dtype, torch.float32)
    state = key.new_zeros(sizes[1], dtype=wide) if state is None else state
    for name, part, size, form in (
        ("beta", beta, sizes[0], "(…, n)"),
        ("gate", gate, sizes[0], "(…, n)"),
        ("state", state, sizes[1], "(…, d, d_v)"),
    ):
        _check.floats(name, part)
        _check.must(tuple(part.shape) == size, name, f"have the shape {form} = {size}", part)
        _check.alike("device", **{"key": key, name: part})
    parts = (part.to(wide) for part in (query, key, value, beta, gate))
    return state.to(wide), tuple(parts)
