"""Scores: one number for each query and key."""

import math

import pytest
import torch
from hypothesis import given

from attnbook.scores import dot, scaled_dot
from tests.attnbook.strategies import Case, cases

TOKENS = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)


def test_nuts_scores_0_5_9_and_these_over_root_three() -> None:
    assert dot(TOKENS[2:], TOKENS).tolist() == [[0, 5, 9]]
    expected = torch.tensor([[0, 2.8868, 5.1962]], dtype=torch.float64)
    torch.testing.assert_close(scaled_dot(TOKENS[2:], TOKENS), expected, atol=1e-4, rtol=0)


@given(case=cases())
def test_each_score_is_the_product_of_its_two_vectors(case: Case) -> None:
    query, key = case.query, case.key
    scores, scaled = dot(query, key), scaled_dot(query, key)
    assert scores.shape == (*query.shape[:-1], key.shape[-2])
    for i in range(query.shape[-2]):
        for j in range(key.shape[-2]):
            expected = (query[..., i, :] * key[..., j, :]).sum(dim=-1)
            torch.testing.assert_close(scores[..., i, j], expected)
            torch.testing.assert_close(scaled[..., i, j], expected / math.sqrt(query.shape[-1]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_does_not_overflow_when_the_query_is_scaled(dtype: torch.dtype) -> None:
    large = torch.full((1, 64), 40.0, dtype=dtype)
    assert scaled_dot(large, large).item() == 12800
    if dtype == torch.float16:
        assert dot(large, large).isinf().all()
