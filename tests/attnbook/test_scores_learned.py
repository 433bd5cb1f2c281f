"""Learned scores: Luong's general form and Bahdanau's network."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attnbook.scores import (
    Additive,
    Bilinear,
    dot,
    prepared,
    project_key,
    scaled_dot,
    score_projected,
)
from tests.attnbook.copying import ordinary
from tests.attnbook.strategies import close, normal

D_Q, D_K = 3, 5


def made(kind: str, *, cap: int = 2**22) -> nn.Module:
    torch.manual_seed(0)
    score = Bilinear(D_Q, D_K) if kind == "bilinear" else Additive(D_Q, D_K, 4, cap=cap)
    return score.double()


both = pytest.mark.parametrize("kind", ["bilinear", "additive"])


@given(lead=st.lists(st.integers(1, 3), max_size=2), n_q=st.integers(1, 5), n_k=st.integers(0, 5))
def test_each_score_is_its_formula(lead: list[int], n_q: int, n_k: int) -> None:
    query, key = normal(*lead, n_q, D_Q, seed=1), normal(*lead, n_k, D_K, seed=2)
    bilinear, additive = made("bilinear"), made("additive")
    one, other = bilinear(query, key), additive(query, key)
    assert one.shape == other.shape == (*lead, n_q, n_k)
    w_q, w_k, v = additive.query.weight, additive.key.weight, additive.energy.weight[0]
    for i in range(n_q):
        for j in range(n_k):
            q, k = query[..., i, :], key[..., j, :]
            close(one[..., i, j], ((q @ bilinear.key.weight) * k).sum(dim=-1))
            close(other[..., i, j], torch.tanh(q @ w_q.T + k @ w_k.T) @ v)


@pytest.mark.parametrize("cap", [1, 40, 41, 10**6])
def test_chunks_change_neither_scores_nor_gradients(cap: int) -> None:
    query, key = normal(2, 7, D_Q, seed=1), normal(2, 5, D_K, seed=2)
    results = []
    for each in (2**22, cap):
        score = made("additive", cap=each)
        inputs = [query.clone().requires_grad_(), key.clone().requires_grad_()]
        scores = score(*inputs)
        gradients = torch.autograd.grad(scores.square().sum(), [*inputs, *score.parameters()])
        results.append((scores, *gradients))
    for one, other in zip(*results, strict=True):
        close(one, other)


def test_the_hidden_layer_never_exceeds_its_cap() -> None:
    sizes, saved = [], []
    query, key = normal(2, 7, D_Q, seed=1).requires_grad_(), normal(2, 50, D_K, seed=2)
    score = made("additive", cap=2 * 50 * 4 * 3)  # three queries' worth
    score.energy.register_forward_pre_hook(lambda _, args: sizes.append(args[0].numel()))
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: saved.append(tensor.numel()) or tensor, lambda tensor: tensor
    ):
        scores = score(query, key)
    assert scores.shape == (2, 7, 50)
    assert sizes == [1200, 1200, 400]
    assert 0 < sum(saved) < sum(sizes), "the hidden layer is kept for the gradient"


@both
def test_gradients_agree_with_finite_differences(kind: str) -> None:
    score = made(kind)
    query = normal(2, 3, D_Q, seed=1).requires_grad_()
    key = normal(2, 4, D_K, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(score, (query, key))


@pytest.mark.parametrize("score", [dot, scaled_dot, "bilinear", "additive"])
def test_prepared_keys_give_the_same_scores(score) -> None:
    d_k = D_Q if callable(score) else D_K
    score = score if callable(score) else made(score)
    key = normal(2, 4, d_k, seed=2)
    with_key, projected = prepared(score, key), project_key(score, key)
    for seed in range(3):
        query = normal(2, 1, D_Q, seed=seed)
        assert torch.equal(with_key(query), score(query, key))
        assert torch.equal(score_projected(score, query, projected), score(query, key))


@both
def test_keys_are_projected_once_and_their_rows_chosen(kind: str) -> None:
    score, calls = made(kind), []
    score.key.register_forward_hook(lambda *_: calls.append(1))
    with_key = prepared(score, normal(2, 4, D_K, seed=2))
    for seed in range(3):
        with_key(normal(2, 1, D_Q, seed=seed))
    assert len(calls) == 1
    score, key, query = made(kind), normal(2, 4, D_K, seed=2), normal(3, 2, D_Q, seed=3)
    rows = torch.tensor([1, 0, 1])
    projected = project_key(score, key).index_select(0, rows)
    close(score_projected(score, query, projected), score(query, key[rows]))


@both
def test_they_are_ordinary_modules(kind: str) -> None:
    query, key = normal(2, 3, D_Q, seed=1), normal(2, 4, D_K, seed=2)
    ordinary(made(kind), made(kind), query, key, single=1e-5, half=0.1)
