"""Attention in parts: results put together, learned sinks, and keys chosen by content."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnbook.attention import attention
from attnbook.efficient import Tiled, combine, index_scores, tiled_attention, top_keys, with_sink
from attnbook.masks import causal_mask
from tests.attnbook.strategies import Case, cases, close, full_mask, normal

# --- results put together -------------------------------------------------------------------------


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


def test_each_part_counts_by_the_sum_of_its_exponentials() -> None:
    """Sums 3 and 1: ¾ of one and ¼ of the other, not half of each."""
    one, other = (Tiled(torch.full((1, 1), y), torch.tensor([e])) for y, e in ((4.0, 3), (8.0, 1)))
    one, other = (each._replace(logsumexp=each.logsumexp.double().log()) for each in (one, other))
    found = combine(one, other)
    assert found.output.item() == pytest.approx(5.0)
    assert found.logsumexp.exp().item() == pytest.approx(4.0)


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


# --- learned sinks --------------------------------------------------------------------------------


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


def test_a_row_may_sum_to_less_than_one() -> None:
    """Scores ln (1, 1, 2) and a sink of ln 4: ⅛, ⅛ and ¼, and a half is nobody's."""
    query, value = torch.ones(1, 1, 1).double(), torch.eye(3).double()[None]
    key = torch.tensor([1.0, 1.0, 2.0]).double().log()[None, :, None]
    sink = torch.tensor([4.0]).double().log()
    found = with_sink(tiled_attention(query, key, value), sink)
    close(found.output[0, 0], torch.tensor([1 / 8, 1 / 8, 1 / 4]).double())


# --- chosen by content ----------------------------------------------------------------------------


def test_the_indexer_sums_what_its_heads_like() -> None:
    query, key, weight = normal(2, 3, 4, 5), normal(2, 6, 5, seed=1), normal(2, 3, 4, seed=2)
    scores = index_scores(query, key, weight)
    assert scores.shape == (2, 4, 6)
    for b in range(2):
        for t in range(4):
            for s in range(6):
                products = [float(query[b, j, t] @ key[b, s]) for j in range(3)]
                wanted = sum(float(weight[b, j, t]) * max(p, 0) for j, p in enumerate(products))
                assert float(scores[b, t, s]) == pytest.approx(wanted)
    inputs = [part.requires_grad_() for part in (query, key, weight)]
    assert torch.autograd.gradcheck(index_scores, inputs)


@given(n_q=st.integers(1, 6), n_k=st.integers(1, 6), seed=st.integers(0, 99), data=st.data())
def test_the_best_keys_that_are_allowed_are_chosen(
    n_q: int, n_k: int, seed: int, data: st.DataObject
) -> None:
    scores = normal(2, n_q, n_k, seed=seed).round()  # with equals
    k, mask = data.draw(st.integers(1, n_k)), normal(n_q, n_k, seed=seed + 1) > 0
    for used in (None, mask):
        chosen = top_keys(scores, k, used)
        for b in range(2):
            for t in range(n_q):
                there = [s for s in range(n_k) if used is None or used[t, s]]
                best = sorted(there, key=lambda s: -float(scores[b, t, s]))[:k]
                assert chosen[b, t].nonzero().flatten().tolist() == sorted(best)


def test_attention_to_all_keys_is_what_is_left_with_k_equal_to_n() -> None:
    query, key, value = (normal(2, 5, 4, seed=seed) for seed in range(3))
    causal = causal_mask(5)
    mask = top_keys(query @ key.mT, 5, causal)
    close(attention(query, key, value, mask).output, attention(query, key, value, causal).output)
    one = top_keys(query @ key.mT, 1, causal)
    best = (query @ key.mT).masked_fill(~causal, -torch.inf).argmax(dim=-1)
    close(
        attention(query, key, value, one).output,
        value.gather(1, best[..., None].expand(value.shape)),
    )
