"""Memories of fixed size: the delta rule, chunk by chunk as step by step; linear attention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import elu, normalize

from attnbook.further import linear
from attnbook.further.linear import delta_rule, delta_steps, feature_map, linear_attention
from attnbook.further.sparse import local_attention
from attnbook.masks import causal_mask
from tests.attnbook.strategies import Case, cases, close, normal, work


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
    query, key, value, beta, gate = tokens(2, 3, n=n, seed=seed)
    if n:
        gate[..., n // 2], beta[..., 0] = 0, 1  # all is forgotten; a value is taken whole
    options = {
        "gate": gate if gated else None,
        "state": normal(2, 3, 4, 3, seed=seed + 9) if goes_on else None,
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


@pytest.fixture(params=[1, 2, 3, 128])
def cut(request, monkeypatch) -> int:
    """Sizes that cut short sequences, so that each seam is crossed."""
    monkeypatch.setattr(linear, "CHUNK", request.param)
    return request.param


def quadratic(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """Linear attention with all its weights, as its definition reads."""
    weights = feature_map(query) @ feature_map(key).mT
    if causal:
        weights = weights * causal_mask(*weights.shape[-2:])
    return (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num() @ value


@given(case=cases(at_least=0), causal=st.booleans())
def test_linear_attention_is_its_quadratic_form(case: Case, causal: bool) -> None:
    close(linear_attention(*case[:3], causal=causal), quadratic(*case[:3], causal))


@pytest.mark.parametrize(("n_q", "n_k"), [(7, 7), (4, 9), (9, 4), (1, 5), (3, 0)])
def test_causal_chunks_are_the_quadratic_form(cut: int, n_q: int, n_k: int) -> None:
    query, key, value = normal(2, n_q, 3), normal(2, n_k, 3, seed=1), normal(2, n_k, 4, seed=2)
    wanted = quadratic(query, key, value, True)
    close(linear_attention(query, key, value, causal=True), wanted)


@pytest.mark.parametrize("causal", [False, True])
def test_a_long_sequence_is_the_quadratic_form_too(causal: bool) -> None:
    tensors = [normal(2, 200, 8, seed=seed, dtype=torch.float32) for seed in range(3)]
    options = {"causal": True} if causal else {}  # all keys, unless asked
    close(linear_attention(*tensors, **options), quadratic(*tensors, causal), 2e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("cut", [2, 128], indirect=True)
def test_linear_gradients_agree_with_finite_differences(cut, causal, n_q, n_k) -> None:
    tensors = [normal(n, 2, seed=seed).requires_grad_() for seed, n in enumerate((n_q, n_k, n_k))]
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        assert torch.autograd.gradcheck(lambda *x: linear_attention(*x, causal=causal), tensors)


def test_features_are_elu_plus_one_positive_and_never_nan() -> None:
    x = torch.linspace(-5, 5, 101, dtype=torch.float64)
    close(feature_map(x), elu(x) + 1)
    assert elu(torch.tensor(-20.0)) + 1 == 0
    assert feature_map(torch.tensor(-20.0)) > 0
    x = torch.zeros(1).requires_grad_()
    feature_map(x).backward()
    assert x.grad == 1
    query = torch.full((2, 3), -300.0).requires_grad_()
    output = linear_attention(query, query, torch.ones(2, 3))
    output.sum().backward()
    assert not output.any()
    assert query.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_sums_half_precision_in_single(dtype: torch.dtype, causal: bool) -> None:
    tensors = [normal(2, 200, 8, seed=seed).to(dtype) for seed in range(3)]
    wide = linear_attention(*(tensor.float() for tensor in tensors), causal=causal)
    assert torch.equal(linear_attention(*tensors, causal=causal), wide.to(dtype))


@pytest.mark.parametrize("rule", ["linear", "steps", "chunks"])
def test_autocast_does_not_lower_the_sums(rule: str) -> None:
    query, key, value, beta, gate = (part.float() for part in tokens(2, n=300))
    compute = {
        "linear": lambda: linear_attention(query, key, value, causal=True),
        "steps": lambda: delta_steps(query, key, value, beta, gate=gate).output,
        "chunks": lambda: delta_rule(query, key, value, beta, gate=gate).output,
    }[rule]
    wanted = compute()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = compute()
    assert torch.equal(found, wanted)


def test_work_grows_with_the_length_and_not_with_its_square() -> None:
    ways = {linear_attention: {"causal": True}, local_attention: {"window": 64}}
    for compute, options in ways.items():
        assert 0 < work(4096, compute, **options) <= 4.4 * work(1024, compute, **options)
