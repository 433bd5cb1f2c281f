"""Attention at its edges: empty rows, NaN, half precision, other scores, chosen weights."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.masks import causal_mask, padding_mask
from attnbook.scores import dot, scaled_dot
from tests.attnbook.strategies import Case, cases, chances, close, normal

TOKENS = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)


@pytest.mark.parametrize("score", [scaled_dot, dot, lambda q, k: (q @ k.mT).tanh()])
def test_gradients_agree_with_finite_differences(score) -> None:
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    tensors = [normal(2, 3, 2, seed=seed).requires_grad_() for seed in range(3)]
    bias = normal(3, 3, seed=5).requires_grad_()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        assert torch.autograd.gradcheck(
            lambda q, k, v, b: tuple(attention(q, k, v, mask, score=score, bias=b)),
            (*tensors, bias),
        )
        assert torch.autograd.gradcheck(
            lambda q, k, v: tuple(attention(q, k, v, mask, score=score)), tensors
        )


@pytest.mark.parametrize("odd", [torch.nan, torch.inf, -torch.inf, 1e30])
def test_what_a_masked_score_holds_does_not_matter(odd: float) -> None:
    mask = torch.tensor([[True, False, True], [False, False, False]])
    scores = normal(2, 3)
    expected = masked_softmax(scores, mask)
    scores = scores.masked_fill(~mask, odd).requires_grad_()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        weights = masked_softmax(scores, mask)
        weights.square().sum().backward()
    close(weights.detach(), expected)
    assert scores.grad.isfinite().all()
    assert not scores.grad[~mask].any()


def test_masked_softmax_takes_one_row_and_leaves_it_alone() -> None:
    scores = torch.tensor([1.0, 2.0, 3.0])
    weights = masked_softmax(scores, torch.tensor([True, False, True]))
    close(weights[[0, 2]], scores[[0, 2]].softmax(dim=-1), 1e-6)
    assert weights[1] == 0
    assert scores.tolist() == [1, 2, 3]
    close(masked_softmax(scores), scores.softmax(dim=-1), 1e-6)


@pytest.mark.parametrize("mask", [None, torch.zeros(2, 0, dtype=torch.bool)])
def test_no_keys_at_all_give_zeros(mask: Tensor | None) -> None:
    query, key, value = torch.ones(3, 2, 4), torch.ones(3, 0, 4), torch.ones(3, 0, 5)
    output, weights = attention(query, key, value, mask)
    assert weights.shape == (3, 2, 0)
    assert torch.equal(output, torch.zeros(3, 2, 5))
    assert torch.equal(fused_attention(query, key, value, mask), torch.zeros(3, 2, 5))
    assert masked_softmax(torch.ones(2, 0), mask).shape == (2, 0)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("padded", [False, True])
def test_a_key_that_no_query_may_attend_to_poisons_nothing(bad: float, padded: bool) -> None:
    mask = padding_mask([2, 3], 4) if padded else torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0]]).bool()
    query, key, value = (normal(2, n, 3, seed=n) for n in (2, 4, 4))
    poisoned = [query, key.clone(), value.clone()]
    poisoned[1][:, 3] = poisoned[2][:, 3] = bad
    clean = [query, key, value]
    for compute in (
        lambda *x: attention(*x, mask).output,
        lambda *x: attention_weights(x[0], x[1], mask) @ x[2].nan_to_num(0, 0, 0),
        lambda *x: fused_attention(*x, mask),
    ):
        results = []
        for inputs in (clean, poisoned):
            leaves = [x.clone().requires_grad_() for x in inputs]
            with torch.autograd.set_detect_anomaly(True, check_nan=True):
                output = compute(*leaves)
                output.square().sum().backward()
            results.append([output, *(leaf.grad for leaf in leaves)])
        for one, other in zip(*results, strict=True):
            close(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_large_numbers_stay_finite_in_half_precision(dtype: torch.dtype) -> None:
    query = torch.full((2, 3, 64), 40.0, dtype=dtype)
    output, weights = attention(query, query, query, causal_mask(3))
    assert output.dtype == weights.dtype == dtype
    close(output, query, 0.5)
    close(weights.sum(dim=-1).float(), torch.ones(2, 3), 0.01)
    assert fused_attention(query, query, query, causal=True).isfinite().all()


def test_strided_and_expanded_inputs_give_the_same() -> None:
    query, key, value = (normal(2, 5, 3, 4, seed=seed) for seed in range(3))
    views = [x.transpose(1, 2) for x in (query, key, value)]
    mask = chances(2, 1, 1, 5, seed=3).expand(2, 3, 5, 5)
    strided = attention(*views, mask)
    packed = attention(*(x.contiguous() for x in views), mask.contiguous())
    close(strided.output, packed.output)
    one = key[:1, :1].transpose(1, 2).expand(2, 3, 5, 4)
    close(
        attention(views[0], one, one, mask).output,
        attention(views[0], one.clone(), one.clone(), mask).output,
    )


def test_arguments_are_left_alone() -> None:
    inputs = [normal(2, 4, 3, seed=seed) for seed in range(3)]
    inputs += [causal_mask(4).tril(-1), normal(4, 4, seed=5)]
    before = [x.clone() for x in inputs]
    attention(*inputs[:4], bias=inputs[4])
    fused_attention(*inputs[:4], bias=inputs[4], causal=True)
    attention_weights(*inputs[:2], inputs[3], bias=inputs[4], rows=[1])
    assert all(torch.equal(one, two) for one, two in zip(inputs, before, strict=True))


def test_a_score_may_return_a_view_or_what_it_still_needs() -> None:
    table = normal(4, 4, seed=1)
    kept = table.clone()
    attention(*(normal(4, 3, seed=s) for s in range(3)), causal_mask(4), score=lambda q, k: table)
    assert torch.equal(table, kept)
    query = normal(4, 3).requires_grad_()
    output, _ = attention(
        query, query, query, causal_mask(4), score=lambda q, k: (q @ k.mT).sigmoid()
    )
    output.sum().backward()  # raises where the kept result was written over
    assert query.grad.isfinite().all()


def test_other_sizes_and_precisions_are_the_scores_to_choose() -> None:
    matrix = normal(3, 5, seed=4)
    query, key, value = normal(2, 3, seed=1), normal(4, 5, seed=2), normal(4, 6, seed=3)
    output, weights = attention(query, key, value, score=lambda q, k: q @ matrix @ k.mT)
    close(weights, (query @ matrix @ key.mT).softmax(dim=-1))
    close(output, weights @ value)
    x = normal(3, 4, dtype=torch.bfloat16)
    output, weights = attention(x, x, x, score=lambda q, k: scaled_dot(q.float(), k.float()))
    assert output.dtype == torch.bfloat16
    assert weights.dtype == torch.float32


@given(case=cases())
def test_a_bias_is_added_to_the_scores(case: Case) -> None:
    n_q, n_k = case.query.shape[-2], case.key.shape[-2]
    bias = normal(n_q, n_k, seed=4)
    scores = scaled_dot(case.query, case.key) + bias
    weights = attention(*case, bias=bias).weights
    close(weights, masked_softmax(scores, case.mask))
    close(attention_weights(case.query, case.key, case.mask, bias=bias), weights)


@given(case=cases(), data=st.data())
def test_chosen_weights_are_those_of_the_whole(case: Case, data: st.DataObject) -> None:
    query, key, mask = case.query, case.key, case.mask
    bias = normal(*query.shape[:-1], key.shape[-2], seed=6)
    wanted = attention(*case, bias=bias).weights
    n_q = query.shape[-2]
    rows = data.draw(st.lists(st.integers(-n_q, n_q - 1), max_size=4))
    close(attention_weights(query, key, mask, bias=bias, rows=rows), wanted[..., rows, :])
    if query.dim() > 2:
        h = query.shape[-3]
        heads = data.draw(st.lists(st.integers(-h, h - 1), max_size=4))
        some = attention_weights(query, key, mask, bias=bias, heads=heads, rows=rows)
        close(some, wanted[..., heads, :, :][..., rows, :])


def test_the_chosen_scores_alone_are_computed_by_numbers_slices_or_tensors() -> None:
    query, key = normal(2, 4, 5, 3, seed=1), normal(2, 4, 6, 3, seed=2)
    whole = attention_weights(query, key)
    close(attention_weights(query, key, heads=2, rows=-1), whole[:, 2:3, -1:])
    close(attention_weights(query, key, heads=slice(1, None), rows=range(2)), whole[:, 1:, :2])
    close(attention_weights(query, key, heads=torch.tensor([3, 0])), whole[:, [3, 0]])
    seen = []

    def score(query: Tensor, key: Tensor) -> Tensor:
        seen.append((tuple(query.shape), tuple(key.shape)))
        return scaled_dot(query, key)

    x = normal(2, 4, 5, 3)
    attention_weights(x, x, causal_mask(5), score=score, heads=[1], rows=[0, 4])
    assert seen == [((2, 1, 2, 3), (2, 1, 5, 3))]
