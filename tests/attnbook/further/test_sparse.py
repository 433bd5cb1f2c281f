"""Few keys: a window of them, or those that a cheap indexer chooses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.attention import attention
from attnbook.further import sparse
from attnbook.further.sparse import index_scores, local_attention, top_keys
from attnbook.further.tiles import tiled_attention
from attnbook.masks import causal_mask, window_mask
from tests.attnbook.strategies import Case, cases, close, normal


@pytest.fixture(params=[1, 2, 3, 128])
def cut(request, monkeypatch) -> int:
    """Sizes that cut short sequences, so that each seam is crossed."""
    monkeypatch.setattr(sparse, "BLOCK", request.param)
    return request.param


@pytest.mark.parametrize("n_q", [1, 4, 7])
@pytest.mark.parametrize("n_k", [0, 1, 4, 7])
def test_a_window_is_attention_under_its_mask(cut: int, n_q: int, n_k: int) -> None:
    query = normal(2, 3, n_q, 4, seed=1)
    key, value = normal(2, 3, n_k, 4, seed=2), normal(2, 3, n_k, 5, seed=3)
    for window in (1, 2, 3, 5, 9):
        wanted = attention(query, key, value, window_mask(n_q, n_k, window)).output
        close(local_attention(query, key, value, window), wanted)
        one = (tensor[1, 2] for tensor in (query, key, value))
        close(local_attention(*one, window), wanted[1, 2])


@given(case=cases(), more=st.integers(0, 3))
def test_a_window_of_all_keys_is_causal_attention(case: Case, more: int) -> None:
    n_q, n_k = case.query.shape[-2], case.key.shape[-2]
    wanted = attention(*case[:3], causal_mask(n_q, n_k)).output
    close(local_attention(*case[:3], n_k + more), wanted)
    close(tiled_attention(*case[:3], causal=True).output, wanted)


def test_a_window_of_one_returns_the_values() -> None:
    query, value = normal(3, 300, 4), normal(3, 300, 2, seed=1)
    close(local_attention(query, query, value, 1), value)


def test_no_queries_have_no_outputs() -> None:
    assert local_attention(normal(3, 0, 4), normal(3, 5, 4), normal(3, 5, 2), 2).shape == (3, 0, 2)


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
    # the blocks end with the last query, so that of query 200 is 144 … 271 and starts at key 135
    key[:, :135] = value[:, :135] = torch.nan
    close(local_attention(query, key, value, 10)[:, 200:], wanted)


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
def test_the_best_keys_that_are_allowed_are_chosen(n_q, n_k, seed, data) -> None:
    scores = normal(2, n_q, n_k, seed=seed).round()  # with equals
    k, mask = data.draw(st.integers(1, n_k)), normal(n_q, n_k, seed=seed + 1) > 0
    for used in (None, mask):
        chosen = top_keys(scores, k, used)
        for b in range(2):
            for t in range(n_q):
                there = [s for s in range(n_k) if used is None or used[t, s]]
                best = sorted(there, key=lambda s: -float(scores[b, t, s]))[:k]
                assert chosen[b, t].nonzero().flatten().tolist() == sorted(best)


def test_among_many_equals_the_earliest_are_taken() -> None:
    assert top_keys(torch.zeros(1, 100), 3).nonzero()[:, 1].tolist() == [0, 1, 2]


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
