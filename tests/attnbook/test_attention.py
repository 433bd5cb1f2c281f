"""Attention: what it computes, and what must never change it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, fused_attention, masked_softmax
from attnbook.masks import causal_mask, padding_mask
from attnbook.scores import dot, scaled_dot
from tests.attnbook.loops import attention_loops
from tests.attnbook.strategies import Case, cases, chances, close, full_mask, normal

TOKENS = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)


def test_nuts_attends_mostly_to_itself_and_without_scaling_hardly_elsewhere() -> None:
    output, weights = attention(TOKENS, TOKENS, TOKENS)
    close(weights[2], torch.tensor([0.005, 0.090, 0.905]).double(), 5e-4)
    close(output[2], torch.tensor([1.005, 1.895, 1.900]).double(), 5e-4)
    bare = attention(TOKENS, TOKENS, TOKENS, score=dot).weights[2]
    close(bare, torch.tensor([0.0001, 0.018, 0.982]).double(), 5e-4)
    assert bare[0] < 0.0002


def test_causal_rows_of_the_example() -> None:
    weights = attention(TOKENS, TOKENS, TOKENS, causal_mask(3)).weights
    expected = [[1, 0, 0], [0.240, 0.760, 0], [0.005, 0.090, 0.905]]
    close(weights, torch.tensor(expected).double(), 5e-4)


@pytest.mark.parametrize("shape", [(1, 1, 1, 8), (1, 2, 7, 5), (3, 2, 33, 16), (2, 4, 64, 32)])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 2e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("causal", [False, True])
def test_both_forms_agree_with_torch_in_each_precision(shape, dtype, atol, causal: bool) -> None:
    tensors = [normal(*shape, seed=seed, dtype=dtype) for seed in range(3)]
    mask = None if causal else chances(*shape[:-1], shape[-2], seed=3)
    expected = scaled_dot_product_attention(*tensors, attn_mask=mask, is_causal=causal)
    explicit = attention(*tensors, causal_mask(shape[-2]) if causal else mask).output
    close(explicit, expected, atol)
    close(fused_attention(*tensors, mask, causal=causal), expected, atol)


@given(case=cases(at_least=0), causal=st.booleans(), with_mask=st.booleans(), biased=st.booleans())
def test_fused_attention_is_attention(case, causal, with_mask, biased) -> None:
    n_q, n_k = case.query.shape[-2], case.key.shape[-2]
    mask = full_mask(case) if with_mask else torch.ones_like(full_mask(case))
    if causal:
        mask = mask & causal_mask(n_q, n_k)
    bias = normal(n_q, n_k, seed=9) if biased else None
    explicit = attention(*case[:3], mask, bias=bias).output
    fused = fused_attention(*case[:3], case.mask if with_mask else None, bias=bias, causal=causal)
    assert explicit.shape == fused.shape == (*case.query.shape[:-1], case.value.shape[-1])
    close(fused, explicit)


def test_a_bias_goes_with_the_causal_mask() -> None:
    # the kernel's own causal mask takes no other beside it
    tensors, bias = [normal(2, 5, 3, seed=seed) for seed in range(3)], normal(5, 5, seed=3)
    explicit = attention(*tensors, causal_mask(5), bias=bias).output
    close(fused_attention(*tensors, bias=bias, causal=True), explicit)


@given(case=cases(at_least=0))
def test_attention_agrees_with_the_loops(case: Case) -> None:
    first = (0,) * (case.query.dim() - 2)
    output, weights = attention(*case)
    loops = attention_loops(*(x[first].numpy() for x in (*case[:3], full_mask(case))))
    close(output[first], torch.from_numpy(loops[0]))
    close(weights[first], torch.from_numpy(loops[1]))


def test_fused_gradients_are_those_of_attention() -> None:
    tensors = [normal(2, 2, 5, 3, seed=seed).requires_grad_() for seed in range(3)]
    mask, bias = causal_mask(5).tril(-1), normal(5, 5, seed=4).requires_grad_()
    for each in (None, bias):
        inputs = tensors if each is None else [*tensors, each]
        with torch.autograd.set_detect_anomaly(True, check_nan=True):
            mine = torch.autograd.grad(
                attention(*tensors, mask, bias=each).output.square().sum(), inputs
            )
            fused = torch.autograd.grad(
                fused_attention(*tensors, mask, bias=each).square().sum(), inputs
            )
        for one, other in zip(mine, fused, strict=True):
            close(one, other)


@given(case=cases())
def test_rows_sum_to_one_or_are_empty(case: Case) -> None:
    weights = attention(*case).weights
    mask = full_mask(case)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    close(weights.sum(dim=-1), mask.any(dim=-1).double())


@given(case=cases(square=True), shift=st.floats(-50, 50))
def test_adding_a_constant_to_a_row_of_scores_changes_nothing(case: Case, shift: float) -> None:
    scores = scaled_dot(case.query, case.key)
    rows = shift * normal(*scores.shape[:-1], 1, seed=8)
    close(masked_softmax(scores + rows, case.mask), masked_softmax(scores, case.mask))


@given(case=cases(), data=st.data())
def test_the_order_of_keys_does_not_matter(case: Case, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(case.key.shape[-2])))
    mask = full_mask(case)
    before = attention(*case[:3], mask)
    after = attention(
        case.query, case.key[..., order, :], case.value[..., order, :], mask[..., order]
    )
    close(after.output, before.output)
    close(after.weights, before.weights[..., order])


@given(case=cases(), data=st.data())
def test_queries_in_another_order_give_outputs_in_that_order(case, data) -> None:
    order = data.draw(st.permutations(range(case.query.shape[-2])))
    mask = full_mask(case)
    before = attention(*case[:3], mask)
    after = attention(case.query[..., order, :], case.key, case.value, mask[..., order, :])
    close(after.output, before.output[..., order, :])
    close(after.weights, before.weights[..., order, :])


def test_one_query_attends_as_it_does_among_others() -> None:
    query, key, value = normal(4, 3, seed=1), normal(5, 3, seed=2), normal(5, 2, seed=3)
    output, weights = attention(query, key, value)
    alone = attention(query[1:2], key, value)
    close(alone.output, output[1:2])
    close(alone.weights, weights[1:2])


@given(case=cases(square=True), data=st.data())
def test_future_tokens_cannot_change_the_past(case: Case, data: st.DataObject) -> None:
    n = case.key.shape[-2]
    now = data.draw(st.integers(0, n - 1))
    key, value = case.key.clone(), case.value.clone()
    key[..., now:, :] += 1
    value[..., now:, :] -= 1
    before = attention(*case[:3], causal_mask(n)).output
    after = attention(case.query, key, value, causal_mask(n)).output
    assert torch.equal(after[..., :now, :], before[..., :now, :])
    assert not torch.equal(after[..., now:, :], before[..., now:, :])
    fused = fused_attention(case.query, key, value, causal=True)
    close(fused[..., :now, :], before[..., :now, :])


@given(case=cases(square=True), data=st.data())
def test_the_last_queries_of_a_causal_sequence_can_be_computed_alone(case, data) -> None:
    n = case.key.shape[-2]
    new = data.draw(st.integers(1, n))
    late = case.query[..., n - new :, :]
    whole = attention(*case[:3], causal_mask(n)).output[..., n - new :, :]
    close(attention(late, case.key, case.value, causal_mask(new, n)).output, whole)
    close(fused_attention(late, case.key, case.value, causal=True), whole)


@given(case=cases(), data=st.data())
def test_masking_the_end_is_cutting_it_off(case: Case, data: st.DataObject) -> None:
    n_k = case.key.shape[-2]
    kept = data.draw(st.integers(0, n_k))
    mask = (torch.arange(n_k) < kept).expand(case.query.shape[-2], n_k)
    masked = attention(*case[:3], mask)
    cut = attention(case.query, case.key[..., :kept, :], case.value[..., :kept, :])
    close(masked.output, cut.output)
    close(masked.weights[..., :kept], cut.weights)
    assert (masked.weights[..., kept:] == 0).all()


def test_a_padding_mask_needs_a_heads_axis_even_when_batch_equals_heads() -> None:
    query, key, value = (normal(2, 2, 3, 4, seed=seed) for seed in range(3))
    mask = padding_mask([3, 1], 3)
    with pytest.raises(ValueError, match=r"its shape is \(2, 1, 3\)"):
        attention(query, key, value, mask)
    weights = attention(query, key, value, mask[:, None]).weights
    assert (weights[1, :, :, 1:] == 0).all()
    assert (weights[0] > 0).all()
