"""A window of keys, and attention that is linear in the length: less work, exactly defined."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import elu
from torch.utils.flop_counter import FlopCounterMode

from attnbook import efficient
from attnbook.attention import attention
from attnbook.efficient import feature_map, linear_attention, local_attention, tiled_attention
from attnbook.masks import causal_mask, window_mask
from tests.attnbook.strategies import Case, cases, close, normal

X = torch.zeros(2, 5, 8)


@pytest.fixture(params=[1, 2, 3, 128])
def cut(request, monkeypatch) -> int:
    """Sizes that cut short sequences, so that each seam is crossed."""
    monkeypatch.setattr(efficient, "BLOCK", request.param)
    monkeypatch.setattr(efficient, "CHUNK", request.param)
    return request.param


def quadratic(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """Linear attention with all its weights, as its definition reads."""
    weights = feature_map(query) @ feature_map(key).mT
    if causal:
        weights = weights * causal_mask(*weights.shape[-2:])
    return (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num() @ value


# --- a window -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_q", [1, 4, 7])
@pytest.mark.parametrize("n_k", [0, 1, 4, 7])
def test_a_window_is_attention_under_its_mask(cut: int, n_q: int, n_k: int) -> None:
    query = normal(2, 3, n_q, 4, seed=1)
    key, value = normal(2, 3, n_k, 4, seed=2), normal(2, 3, n_k, 5, seed=3)
    for window in (1, 2, 3, 5, 9):
        wanted = attention(query, key, value, window_mask(n_q, n_k, window)).output
        close(local_attention(query, key, value, window), wanted)


@given(case=cases(), more=st.integers(0, 3))
def test_a_window_of_all_keys_is_causal_attention(case: Case, more: int) -> None:
    n_q, n_k = case.query.shape[-2], case.key.shape[-2]
    wanted = attention(*case[:3], causal_mask(n_q, n_k)).output
    close(local_attention(*case[:3], n_k + more), wanted)
    close(tiled_attention(*case[:3], causal=True).output, wanted)


def test_a_window_of_one_returns_the_values() -> None:
    query, value = normal(3, 300, 4), normal(3, 300, 2, seed=1)
    close(local_attention(query, query, value, 1), value)


def test_gradients_through_a_window_agree(cut: int) -> None:
    tensors = [normal(2, n, 3, seed=n).requires_grad_() for n in (7, 5, 5)]
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        mine = torch.autograd.grad(local_attention(*tensors, 2).square().sum(), tensors)
    wanted = attention(*tensors, window_mask(7, 5, 2)).output.square().sum()
    for one, other in zip(mine, torch.autograd.grad(wanted, tensors), strict=True):
        close(one, other)


def test_keys_outside_of_the_window_are_not_even_looked_at() -> None:
    query, key, value = (normal(2, 400, 4, seed=seed) for seed in range(3))
    wanted = local_attention(query, key, value, 10)[:, 200:]
    key[:, :118] = value[:, :118] = torch.nan  # the block of query 200 starts at key 119
    close(local_attention(query, key, value, 10)[:, 200:], wanted)


def work(compute, n: int) -> int:
    """Count the multiplications and additions for a sequence of n tokens."""
    x = torch.zeros(1, 1, n, 16)
    # PyTorch counts matrix products, not those inside of its fused CPU kernel
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        compute(x)
    return counter.get_total_flops()


@pytest.mark.parametrize(
    "compute",
    [lambda x: local_attention(x, x, x, 64), lambda x: linear_attention(x, x, x, causal=True)],
)
def test_work_grows_with_the_length_and_not_with_its_square(compute) -> None:
    assert 0 < work(compute, 4096) <= 4.4 * work(compute, 1024)


def test_the_work_of_full_attention_grows_with_the_square() -> None:
    def full(x: Tensor) -> None:
        tiled_attention(x, x, x)

    assert work(full, 1024) == 16 * work(full, 256) > 0


def test_causal_tiles_do_half_the_work() -> None:
    whole = work(lambda x: tiled_attention(x, x, x, tile=16), 512)
    causal = work(lambda x: tiled_attention(x, x, x, causal=True, tile=16), 512)
    assert 0.5 < causal / whole < 0.55


# --- linear attention -----------------------------------------------------------------------------


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
    close(linear_attention(*tensors, causal=causal), quadratic(*tensors, causal), 2e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(4, 4), (3, 5), (5, 3)])
def test_linear_gradients_agree_with_finite_differences(
    cut: int, causal: bool, n_q: int, n_k: int
) -> None:
    tensors = [normal(n, 2, seed=seed).requires_grad_() for seed, n in enumerate((n_q, n_k, n_k))]
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        assert torch.autograd.gradcheck(lambda *x: linear_attention(*x, causal=causal), tensors)


@given(case=cases(square=True), data=st.data())
def test_the_future_cannot_change_linear_attention(case: Case, data: st.DataObject) -> None:
    now = data.draw(st.integers(0, case.key.shape[-2] - 1))
    key, value = case.key.clone(), case.value.clone()
    key[..., now:, :] += 1
    value[..., now:, :] -= 1
    before = linear_attention(*case[:3], causal=True)
    after = linear_attention(case.query, key, value, causal=True)
    assert torch.equal(after[..., :now, :], before[..., :now, :])


@given(case=cases())
def test_linear_attention_averages_the_values(case: Case) -> None:
    output = linear_attention(*case[:3])
    assert (output <= case.value.amax(dim=-2, keepdim=True) + 1e-9).all()
    assert (output >= case.value.amin(dim=-2, keepdim=True) - 1e-9).all()


def test_features_are_elu_plus_one_and_positive_where_that_rounds_to_zero() -> None:
    x = torch.linspace(-5, 5, 101, dtype=torch.float64)
    close(feature_map(x), elu(x) + 1)
    assert elu(torch.tensor(-20.0)) + 1 == 0
    assert feature_map(torch.tensor(-20.0)) > 0
    x = torch.zeros(1).requires_grad_()
    feature_map(x).backward()
    assert x.grad == 1


def test_features_too_small_to_sum_give_zeros_and_not_nan() -> None:
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
