"""The delta rule: chunk by chunk as step by step, and what it remembers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import normalize

from attnbook.recurrence import delta_rule, delta_steps
from tests.attnbook.strategies import close, normal


def tokens(*lead: int, n: int, seed: int = 0, d: int = 4, d_v: int = 3) -> tuple[Tensor, ...]:
    """Return query, key of length 1, value, beta and gate."""
    query, key = normal(*lead, n, d, seed=seed), normal(*lead, n, d, seed=seed + 1)
    value = normal(*lead, n, d_v, seed=seed + 2)
    beta, gate = (normal(*lead, n, seed=seed + i).sigmoid() for i in (3, 4))
    return query, normalize(key, dim=-1), value, beta, gate


def loops(query: Tensor, key: Tensor, value: Tensor, beta: Tensor, gate: Tensor) -> Tensor:
    """One sequence, S_t = S (α_t (1 − β_t k_tᵀ k_t)) from the left, as in the paper."""
    d, rows = key.shape[-1], []
    memory = torch.zeros(d, value.shape[-1], dtype=key.dtype)
    for q, k, v, b, a in zip(query, key, value, beta, gate, strict=True):
        memory = a * (torch.eye(d, dtype=k.dtype) - b * torch.outer(k, k)) @ memory
        memory = memory + b * torch.outer(k, v)
        rows.append(q @ memory)
    return torch.stack(rows)


def test_the_steps_are_the_papers_product() -> None:
    query, key, value, beta, gate = tokens(2, 3, n=7)
    output = delta_steps(query, key, value, beta, gate=gate).output
    for i in range(2):
        for j in range(3):
            parts = (part[i, j] for part in (query, key, value, beta, gate))
            close(output[i, j], loops(*parts))


@given(
    n=st.integers(0, 12),
    chunk=st.integers(1, 14),
    gated=st.booleans(),
    goes_on=st.booleans(),
    seed=st.integers(0, 99),
)
def test_chunks_are_steps(n: int, chunk: int, gated: bool, goes_on: bool, seed: int) -> None:
    query, key, value, beta, gate = tokens(2, n=n, seed=seed)
    if n:
        gate[..., n // 2], beta[..., 0] = 0, 1  # all is forgotten; a value is taken whole
    options = {
        "gate": gate if gated else None,
        "state": normal(2, 4, 3, seed=seed + 9) if goes_on else None,
    }
    wanted = delta_steps(query, key, value, beta, **options)
    found = delta_rule(query, key, value, beta, **options, chunk=chunk)
    close(found.output, wanted.output)
    close(found.state, wanted.state)


@pytest.mark.parametrize("rule", [delta_steps, delta_rule])
def test_a_text_in_two_parts_is_the_whole(rule) -> None:
    parts = tokens(2, n=9)
    whole = rule(*parts[:4], gate=parts[4])
    first, rest = ([part[:, rows] for part in parts] for rows in (slice(5), slice(5, None)))
    state = rule(*first[:4], gate=first[4]).state
    other = rule(*rest[:4], gate=rest[4], state=state)
    close(other.output, whole.output[:, 5:])
    close(other.state, whole.state)


def test_gradients_of_chunks_are_those_of_steps() -> None:
    inputs = [part.requires_grad_() for part in (*tokens(2, n=7), normal(2, 4, 3, seed=8))]
    grads = []
    for rule in (delta_steps, lambda *a, **k: delta_rule(*a, **k, chunk=3)):
        found = rule(*inputs[:4], gate=inputs[4], state=inputs[5])
        loss = found.output.square().sum() + found.state.sin().sum()
        grads.append(torch.autograd.grad(loss, inputs))
    for one, other in zip(*grads, strict=True):
        close(one, other)


def test_a_key_written_twice_reads_what_was_written_last() -> None:
    """Where a sum reads (1, 2): keys (1, 0) twice, values (1, 0) and (0, 2)."""
    key = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    value = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    output = delta_rule(key, key, value, torch.ones(2).double()).output
    close(output, value)


def test_a_full_memory_forgets() -> None:
    """Four orthogonal keys fit in d = 4 and are all read; a fifth overwrites."""
    key = torch.eye(4, dtype=torch.float64)
    value, beta = normal(4, 3), torch.ones(4).double()
    state = delta_rule(key, key, value, beta).state
    close(key @ state, value)
    fifth = normalize(normal(1, 4, seed=3), dim=-1)
    state = delta_rule(fifth, fifth, normal(1, 3, seed=4), beta[:1], state=state).state
    close(fifth @ state, normal(1, 3, seed=4))
    assert ((key @ state - value).abs().amax(dim=-1) > 0.01).all()


def test_half_precision_is_summed_in_single() -> None:
    parts = [part.bfloat16() for part in tokens(2, n=70)]
    found = delta_rule(*parts[:4], gate=parts[4])
    assert found.output.dtype == found.state.dtype == torch.float32
    wanted = delta_rule(*(part.float() for part in parts[:4]), gate=parts[4].float())
    close(found.output, wanted.output, 1e-6)
