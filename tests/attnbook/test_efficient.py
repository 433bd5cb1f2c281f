"""Attention by tiles: the same numbers as softmax, whatever the tile, forward and backward."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, attention_weights, fused_attention
from attnbook.efficient import (
    Plan,
    Running,
    merge,
    online_softmax,
    summarise,
    tiled_attention,
    weights_from,
)
from attnbook.masks import causal_mask, padding_mask
from attnbook.scores import scaled_dot
from tests.attnbook.strategies import Case, cases, chances, close, full_mask, normal

TOKENS = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)
TILES = st.integers(1, 7)
EMPTY_ROW = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]).bool()


def allowed(case: Case, causal: bool, with_mask: bool) -> Tensor:
    """The mask that a computation with these switches has."""
    mask = full_mask(case) if with_mask else torch.ones_like(full_mask(case))
    return mask & causal_mask(*mask.shape[-2:]) if causal else mask


# --- the softmax, block by block ------------------------------------------------------------------


@given(n=st.integers(1, 9), tile=st.integers(1, 10), seed=st.integers(0, 999))
def test_the_online_softmax_is_the_softmax(n: int, tile: int, seed: int) -> None:
    scores = 30 * normal(2, 3, n, seed=seed)
    close(online_softmax(scores, tile=tile), scores.softmax(dim=-1))


def test_merging_follows_the_worked_example() -> None:
    scores = scaled_dot(TOKENS, TOKENS)[2]  # 0, 5/√3, 9/√3
    running = merge(merge(summarise(scores[:1]), summarise(scores[1:2])), summarise(scores[2:]))
    assert running.maximum == scores[2]
    close(1 / running.total, torch.tensor([0.905]).double(), 5e-4)  # the weight of the highest


@given(data=st.data(), seed=st.integers(0, 999))
def test_blocks_may_be_merged_in_any_order_and_grouping(data: st.DataObject, seed: int) -> None:
    scores = 50 * normal(4, 6, seed=seed)
    blocks = [summarise(part) for part in scores.split(2, dim=-1)]
    one, two, three = data.draw(st.permutations(blocks))
    left, right = merge(merge(one, two), three), merge(one, merge(two, three))
    for running in (left, right):
        close((running.maximum + running.total.log())[:, 0], scores.logsumexp(dim=-1))
        assert torch.equal(running.maximum, summarise(scores).maximum)


def test_blocks_of_nothing_stay_nothing() -> None:
    scores = torch.tensor([[-torch.inf] * 4, [-torch.inf, -torch.inf, 1e4, -1e4]])
    weights = online_softmax(scores, tile=2)
    assert weights.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0]]
    nothing = summarise(scores[:, :2])
    assert isinstance(merge(nothing, nothing), Running)
    assert not merge(nothing, nothing).total.any()


# --- tiles equal softmax --------------------------------------------------------------------------


@given(case=cases(at_least=0), causal=st.booleans(), with_mask=st.booleans(), tile=TILES)
def test_tiles_equal_softmax_at_any_tile_size(
    case: Case, causal: bool, with_mask: bool, tile: int
) -> None:
    mask = allowed(case, causal, with_mask)
    wanted = attention(*case[:3], mask)
    given_mask = case.mask if with_mask else None
    tiled = tiled_attention(*case[:3], given_mask, causal=causal, tile=tile)
    close(tiled.output, wanted.output)
    close(tiled.output, fused_attention(*case[:3], given_mask, causal=causal))
    scores = scaled_dot(case.query, case.key).masked_fill(~mask, -torch.inf)
    close(tiled.logsumexp, scores.logsumexp(dim=-1))
    weights = weights_from(*case[:2], tiled.logsumexp, given_mask, causal=causal)
    close(weights, wanted.weights)


@pytest.mark.parametrize("shape", [(1, 1, 1, 8), (1, 2, 7, 5), (3, 2, 33, 16), (2, 150, 8)])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 2e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("causal", [False, True])
def test_tiles_agree_with_torch_forward_and_backward(
    shape, dtype: torch.dtype, atol: float, causal: bool
) -> None:
    tensors = [normal(*shape, seed=s, dtype=dtype).requires_grad_() for s in range(3)]
    wanted = scaled_dot_product_attention(*tensors, is_causal=causal)
    direction = normal(*shape, seed=4, dtype=dtype)
    expected = torch.autograd.grad(wanted, tensors, direction)
    for tile in (16, 128, 1000):
        output = tiled_attention(*tensors, causal=causal, tile=tile).output
        close(output, wanted, atol)
        for mine, other in zip(
            torch.autograd.grad(output, tensors, direction), expected, strict=True
        ):
            close(mine, other, atol)


@given(case=cases(), causal=st.booleans(), with_mask=st.booleans(), tile=TILES)
def test_gradients_are_those_of_attention(
    case: Case, causal: bool, with_mask: bool, tile: int
) -> None:
    tensors = [tensor.requires_grad_() for tensor in case[:3]]
    mask = allowed(case, causal, with_mask)
    output, _ = attention(*tensors, mask)
    sums = scaled_dot(*tensors[:2]).masked_fill(~mask, -1e30).logsumexp(dim=-1)
    seen = mask.any(dim=-1)
    wanted = torch.autograd.grad(output.square().sum() + sums[seen].sin().sum(), tensors)
    tiled = tiled_attention(*tensors, case.mask if with_mask else None, causal=causal, tile=tile)
    loss = tiled.output.square().sum() + tiled.logsumexp[seen].sin().sum()
    for mine, other in zip(torch.autograd.grad(loss, tensors), wanted, strict=True):
        close(mine, other)


@pytest.mark.parametrize("mask", [None, EMPTY_ROW])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_agree_with_finite_differences(mask: Tensor | None, causal: bool) -> None:
    tensors = [normal(2, n, 2, seed=n).requires_grad_() for n in (3, 4)]
    tensors.append(normal(2, 4, 3, seed=7).requires_grad_())

    def both(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        output, sums = tiled_attention(*inputs, mask, causal=causal, tile=2)
        return output, sums[sums.isfinite()]

    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        assert torch.autograd.gradcheck(both, tensors)


def test_more_queries_than_keys_leave_the_first_ones_empty() -> None:
    query, key = normal(5, 3, seed=1).requires_grad_(), normal(2, 3, seed=2).requires_grad_()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        output, sums = tiled_attention(query, key, key, causal=True, tile=2)
        (output.square().sum() + sums[3:].sum()).backward()
    assert not output[:3].any()
    assert output[3:].all()
    assert sums[:3].tolist() == [-torch.inf] * 3
    assert not query.grad[:3].any()
    close(output, attention(query, key, key, causal_mask(5, 2)).output)


def test_the_logsumexp_of_an_empty_row_has_no_gradient() -> None:
    tensors = [normal(n, 2, seed=n).requires_grad_() for n in (3, 4, 4)]
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        tiled_attention(*tensors, EMPTY_ROW, tile=2).logsumexp.exp().sum().backward()
    assert not tensors[0].grad[1].any()
    assert tensors[0].grad[0].any()
    for tensor in tensors:
        tensor.grad = None
    tiled_attention(*tensors, EMPTY_ROW).logsumexp.square().sum().backward()  # ∞ for the empty row
    assert not tensors[0].grad[1].any()
    assert all(tensor.grad.isfinite().all() for tensor in tensors)


def test_a_second_derivative_is_refused() -> None:
    query = normal(3, 2).requires_grad_()
    loss = tiled_attention(query, query, query).output.square().sum()
    (first,) = torch.autograd.grad(loss, query, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


# --- what must not change it ----------------------------------------------------------------------


@given(case=cases(square=True), data=st.data(), tile=TILES)
def test_future_tokens_cannot_change_the_past(case: Case, data: st.DataObject, tile: int) -> None:
    now = data.draw(st.integers(0, case.key.shape[-2] - 1))
    key, value = case.key.clone(), case.value.clone()
    key[..., now:, :] += 1
    value[..., now:, :] -= 1
    before = tiled_attention(*case[:3], causal=True, tile=tile).output
    after = tiled_attention(case.query, key, value, causal=True, tile=tile).output
    assert torch.equal(after[..., :now, :], before[..., :now, :])
    assert not torch.equal(after[..., now:, :], before[..., now:, :])


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("causal", [False, True])
def test_a_key_that_no_query_may_attend_to_poisons_nothing(bad: float, causal: bool) -> None:
    query, key, value = (normal(2, n, 3, seed=n).requires_grad_() for n in (2, 4, 4))
    # key 3 is hidden by the mask from the last query, and by causality from the first
    causal_part = torch.tensor([[1, 1, 0, 1], [1, 1, 0, 0]]).bool()
    mask = causal_part if causal else padding_mask([2, 2], 4)
    places = torch.zeros(4, 1).bool()
    places[3 if causal else 2 :] = True
    poisoned = [tensor.masked_fill(places, bad) for tensor in (key, value)]
    wanted = tiled_attention(query, key, value, mask, causal=causal, tile=2)
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        output, sums = tiled_attention(query, *poisoned, mask, causal=causal, tile=2)
        (output.sum() + sums.sum()).backward()
    close(output, wanted.output)
    close(sums, wanted.logsumexp)
    assert all(tensor.grad.isfinite().all() for tensor in (query, key, value))
    weights = weights_from(query, poisoned[0], sums.detach(), mask, causal=causal)
    close(weights, attention_weights(query, key, mask & causal_mask(2, 4) if causal else mask))


def test_tiles_beyond_the_diagonal_are_skipped() -> None:
    plan = Plan(n_q=4, n_k=6, lead=(), mask=None, causal=True, tile=2)
    cells = [(r, c) for r in plan.rows() for c in plan.columns(r)]
    assert [(r.start, c.start) for r, c in cells] == [
        (0, 0), (0, 2), (2, 0), (2, 2), (2, 4),
    ]  # fmt: skip
    hidden = [plan.forbidden(r, c, torch.device("cpu")) for r, c in cells]
    # below the diagonal there is no mask to apply either
    assert [one is None for one in hidden] == [True, False, True, True, False]
    assert hidden[1].tolist() == [[False, True], [False, False]]


def test_strided_and_expanded_inputs_are_taken() -> None:
    x = normal(2, 5, 3, 4).transpose(1, 2)  # (b, h, n, d), as a projection leaves it
    shared = normal(1, 1, 5, 4, seed=1).expand(2, 3, 5, 4)
    close(tiled_attention(x, shared, x, tile=2).output, attention(x, shared, x).output)


# --- numbers large, small and short ---------------------------------------------------------------


@given(tile=TILES, causal=st.booleans(), seed=st.integers(0, 99))
def test_scores_of_ten_thousand_neither_overflow_nor_vanish(
    tile: int, causal: bool, seed: int
) -> None:
    query, value = normal(2, 6, 1, seed=seed, dtype=torch.float32), normal(2, 6, 3).float()
    query = 1e4 * query.sign()
    key = normal(2, 6, 1, seed=seed + 1, dtype=torch.float32).clamp(-1, 1)
    key[:, 0], key[:, 1] = 1, -1
    assert scaled_dot(query, key).abs().max() == 1e4
    mask = causal_mask(6) if causal else None
    output, sums = tiled_attention(query, key, value, causal=causal, tile=tile)
    wanted, weights = attention(query, key, value, mask)
    close(output, wanted, 1e-5)
    # float32 keeps a score of 1e4 to within 1e-3, and so its power to a thousandth
    close(weights_from(query, key, sums, causal=causal), weights, 2e-3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
def test_half_precision_is_summed_in_single(dtype: torch.dtype, causal: bool) -> None:
    tensors = [normal(2, 300, 8, seed=s).to(dtype).requires_grad_() for s in range(3)]
    wide = [tensor.detach().float().requires_grad_() for tensor in tensors]
    direction = normal(2, 300, 8, seed=5).to(dtype)
    mine = tiled_attention(*tensors, causal=causal, tile=32)
    exact = tiled_attention(*wide, causal=causal, tile=32)
    assert mine.output.dtype == dtype
    assert mine.logsumexp.dtype == torch.float32
    close(mine.logsumexp, exact.logsumexp, 1e-5)
    step = torch.finfo(dtype).eps
    # rounded once, at the end
    assert torch.equal(mine.output, exact.output.to(dtype))
    gradients = torch.autograd.grad(mine.output, tensors, direction)
    wanted = torch.autograd.grad(exact.output, wide, direction.float())
    for half, single in zip(gradients, wanted, strict=True):
        assert half.dtype == dtype
        assert (half - single).abs().max() <= 2 * step * single.abs().max()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_large_queries_in_half_precision_stay_finite(dtype: torch.dtype) -> None:
    query, key, value = (normal(4, 20, 64, seed=s).to(dtype) for s in range(3))
    query = query.sign() * 40
    output = tiled_attention(query, key * 40, value, tile=8).output
    assert output.isfinite().all()
    weights = attention(query.double(), key.double() * 40, value.double()).output
    close(output.double(), weights, 0.05)


# --- weights from the logsumexp -------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, [0, 2], slice(1, None), -1, torch.tensor([1, 1])])
@pytest.mark.parametrize("causal", [False, True])
def test_chosen_weights_are_those_of_all(rows, causal: bool) -> None:
    query, key = normal(2, 3, 4, seed=1), normal(2, 4, 4, seed=2)
    for mask in (None, EMPTY_ROW, padding_mask([2, 4], 4)):
        sums = tiled_attention(query, key, key, mask, causal=causal).logsumexp
        whole = weights_from(query, key, sums, mask, causal=causal)
        index = [rows] if isinstance(rows, int) else rows
        chosen = weights_from(query, key, sums, mask, causal=causal, rows=rows)
        close(chosen, whole[:, index])


def test_weights_from_the_logsumexp_carry_gradients() -> None:
    query, key = normal(3, 2).requires_grad_(), normal(4, 2, seed=1).requires_grad_()
    mine = weights_from(
        query, key, tiled_attention(query, key, key, EMPTY_ROW).logsumexp, EMPTY_ROW
    )
    wanted = attention_weights(query, key, EMPTY_ROW)
    for loss in (mine, wanted):
        assert loss.shape == (3, 4)
    pairs = (torch.autograd.grad(w.square().sum(), (query, key)) for w in (mine, wanted))
    for one, other in zip(*pairs, strict=True):
        close(one, other)


# --- how it is used -------------------------------------------------------------------------------


def test_it_compiles_and_differentiates_under_compilation() -> None:
    def loss(query: Tensor, key: Tensor) -> Tensor:
        return tiled_attention(query, key, key, causal=True, tile=4).output.square().sum()

    tensors = [normal(2, 6, 4, seed=s).requires_grad_() for s in range(2)]
    wanted = torch.autograd.grad(loss(*tensors), tensors)
    compiled = torch.compile(loss, backend="aot_eager")
    for mine, other in zip(torch.autograd.grad(compiled(*tensors), tensors), wanted, strict=True):
        close(mine, other)


def test_autocast_does_not_lower_its_precision() -> None:
    tensors = [normal(2, 40, 8, seed=s, dtype=torch.float32).requires_grad_() for s in range(3)]
    wanted = tiled_attention(*tensors, tile=16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mine = tiled_attention(*tensors, tile=16)
        gradients = torch.autograd.grad(mine.output.sum(), tensors)
    assert torch.equal(mine.output, wanted.output)
    for one, other in zip(
        gradients, torch.autograd.grad(wanted.output.sum(), tensors), strict=True
    ):
        assert torch.equal(one, other)


def test_results_can_be_copied() -> None:
    tiled = tiled_attention(TOKENS, TOKENS, TOKENS, chances(3, 3))
    assert torch.equal(copy.deepcopy(tiled).output, tiled.output)
