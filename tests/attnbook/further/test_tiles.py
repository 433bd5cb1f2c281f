"""Attention by tiles: the same numbers as softmax, whatever the tile, forward and backward."""

import copy
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, fused_attention
from attnbook.further.tiles import Tiled, combine, tiled_attention, with_sink
from attnbook.masks import causal_mask, padding_mask
from attnbook.scores import scaled_dot
from tests.attnbook.strategies import Case, cases, chances, close, full_mask, normal, work

TOKENS = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)
TILES = st.integers(1, 7)
EMPTY_ROW = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]).bool()


def allowed(case: Case, causal: bool, with_mask: bool) -> Tensor:
    """The mask that a computation with these switches has."""
    mask = full_mask(case) if with_mask else torch.ones_like(full_mask(case))
    return mask & causal_mask(*mask.shape[-2:]) if causal else mask


@given(case=cases(at_least=0), causal=st.booleans(), with_mask=st.booleans(), tile=TILES)
def test_tiles_equal_softmax_at_any_tile_size(case, causal, with_mask, tile) -> None:
    mask = allowed(case, causal, with_mask)
    wanted = attention(*case[:3], mask)
    given_mask = case.mask if with_mask else None
    tiled = tiled_attention(*case[:3], given_mask, causal=causal, tile=tile)
    close(tiled.output, wanted.output)
    close(tiled.output, fused_attention(*case[:3], given_mask, causal=causal))
    scores = scaled_dot(case.query, case.key).masked_fill(~mask, -torch.inf)
    close(tiled.logsumexp, scores.logsumexp(dim=-1))


@pytest.mark.parametrize("shape", [(1, 1, 1, 8), (1, 2, 7, 5), (3, 2, 33, 16), (2, 150, 8)])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 2e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("causal", [False, True])
def test_tiles_agree_with_torch_forward_and_backward(shape, dtype, atol, causal) -> None:
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
def test_gradients_are_those_of_attention(case, causal, with_mask, tile) -> None:
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


def test_a_second_derivative_is_refused_and_not_dropped() -> None:
    """A penalty on the gradient, of a loss that is linear in the output, counted nothing once."""
    query, key, value = (normal(3, 2, seed=seed).requires_grad_() for seed in range(3))
    loss = tiled_attention(query, key, value).output.sum()
    (first,) = torch.autograd.grad(loss, query, create_graph=True)
    with pytest.raises(RuntimeError, match="tiled_attention has no second derivative"):
        torch.autograd.grad(loss + 10 * first.square().sum(), query)
    with pytest.raises(RuntimeError, match="tiled_attention has no second derivative"):
        first.sum().backward()


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


def test_the_work_grows_with_the_square_causal_tiles_do_half_and_views_are_taken() -> None:
    long, short = (work(n, tiled_attention, tile=128) for n in (1024, 256))
    assert long == 16 * short > 0
    half, whole = (work(512, tiled_attention, causal=one, tile=16) for one in (True, False))
    assert 0.5 < half / whole < 0.55
    x = normal(2, 5, 3, 4).transpose(1, 2)  # (b, h, n, d), as a projection leaves it
    shared = normal(1, 1, 5, 4, seed=1).expand(2, 3, 5, 4)
    close(tiled_attention(x, shared, x, tile=2).output, attention(x, shared, x).output)
    tiled = tiled_attention(TOKENS, TOKENS, TOKENS, chances(3, 3))
    assert torch.equal(copy.deepcopy(tiled).output, tiled.output)


@given(tile=TILES, causal=st.booleans(), seed=st.integers(0, 99))
def test_scores_of_ten_thousand_neither_overflow_nor_vanish(tile, causal, seed) -> None:
    query, value = normal(2, 6, 1, seed=seed, dtype=torch.float32), normal(2, 6, 3).float()
    query = 1e4 * query.sign()
    key = normal(2, 6, 1, seed=seed + 1, dtype=torch.float32).clamp(-1, 1)
    key[:, 0], key[:, 1] = 1, -1
    assert scaled_dot(query, key).abs().max() == 1e4
    mask = causal_mask(6) if causal else None
    output, sums = tiled_attention(query, key, value, causal=causal, tile=tile)
    close(output, attention(query, key, value, mask).output, 1e-5)
    scores = scaled_dot(query, key)
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    close(sums, scores.logsumexp(dim=-1), 2e-3)  # float32 keeps 1e4 to within 1e-3


def test_scores_below_the_least_of_half_precision_count_too() -> None:
    query, key, value = torch.full((1, 1), 1e5), torch.tensor([[-1.0], [-0.99999]]), torch.eye(2)
    close(tiled_attention(query, key, value).output, attention(query, key, value).output, 1e-3)


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


def test_it_differentiates_under_compilation_and_in_autocast() -> None:
    def loss(query: Tensor, key: Tensor) -> Tensor:
        return tiled_attention(query, key, key, causal=True, tile=4).output.square().sum()

    tensors = [normal(2, 6, 4, seed=s).requires_grad_() for s in range(2)]
    wanted = torch.autograd.grad(loss(*tensors), tensors)
    compiled = torch.compile(loss, backend="aot_eager")
    for mine, other in zip(torch.autograd.grad(compiled(*tensors), tensors), wanted, strict=True):
        close(mine, other)
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


@given(case=cases(), data=st.data())
def test_parts_of_the_keys_put_together_are_all_of_them(case: Case, data: st.DataObject) -> None:
    """With masks under which a part, or all of them, hold no key for a query."""
    query, key, value, _ = case
    mask, n_k = full_mask(case), key.shape[-2]
    inner = data.draw(st.lists(st.integers(0, n_k), max_size=3))
    parts = [
        tiled_attention(query, key[..., a:b, :], value[..., a:b, :], mask[..., a:b])
        for a, b in pairwise([0, *sorted(inner), n_k])
    ]
    found = parts[0]
    for part in parts[1:]:
        found = combine(found, part)
    wanted = tiled_attention(*case[:3], mask)
    close(found.output, wanted.output)
    close(found.logsumexp, wanted.logsumexp)


def test_gradients_through_parts_are_those_of_the_whole() -> None:
    """Also where one part, and for the last query both, hold nothing."""
    tensors = [normal(2, 6, 3, seed=seed).requires_grad_() for seed in range(3)]
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[2, :4], mask[5] = False, False
    query, key, value = tensors
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        parts = [
            tiled_attention(query, key[:, rows], value[:, rows], mask[:, rows])
            for rows in (slice(4), slice(4, None))
        ]
        found = combine(*parts)
        loss = found.output.square().sum() + found.logsumexp[:, :5].sin().sum()
        mine = torch.autograd.grad(loss, tensors)
    whole = tiled_attention(*tensors, mask)
    wanted = whole.output.square().sum() + whole.logsumexp[:, :5].sin().sum()
    for one, other in zip(mine, torch.autograd.grad(wanted, tensors), strict=True):
        close(one, other)


def sunk(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, sink: Tensor) -> Tensor:
    """One more score in each row, whose weight is then left out."""
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
    more = sink[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat((scores, more), dim=-1).softmax(dim=-1)[..., :-1] @ value


def test_a_sink_is_one_more_score_in_every_row() -> None:
    query, key, value = (normal(2, 3, 5, 4, seed=seed).requires_grad_() for seed in range(3))
    sink, mask = normal(3, seed=5).requires_grad_(), causal_mask(5).clone()
    mask[3] = False  # a query that sees no key gives all to the sink
    inputs = (query, key, value, sink)
    found = with_sink(tiled_attention(query, key, value, mask), sink)
    wanted = sunk(query, key, value, mask, sink)
    close(found.output, wanted)
    for one, other in zip(
        torch.autograd.grad(found.output.square().sum(), inputs),
        torch.autograd.grad(wanted.square().sum(), inputs),
        strict=True,
    ):
        close(one, other)
    attended, scores = tiled_attention(query, key, value, mask), sink[:, None].expand(2, 3, 5)
    other = combine(attended, Tiled(torch.zeros_like(value), scores))
    close(other.output, found.output)
    close(other.logsumexp, found.logsumexp)
