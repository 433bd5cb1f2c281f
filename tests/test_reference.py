"""The NumPy reference: loops and matrices agree with each other and with the worked example."""

import numpy as np
import pytest
import torch
from hypothesis import given

from attnbook.attention import attention
from attnbook.reference import attention_loops, attention_matrices, softmax
from attnbook.scores import dot
from tests.strategies import Case, cases

TOKENS = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]


def flat(case: Case) -> Case:
    """The first element of a batch, with a mask of its own."""
    mask = case.mask.expand(*case.query.shape[:-1], case.key.shape[-2])
    first = (0,) * (mask.dim() - 2)
    return Case(*(x[first] for x in (*case[:3], mask)))


@given(case=cases(at_least=0))
def test_loops_and_matrices_and_torch_agree(case: Case) -> None:
    case = flat(case)
    arrays = [x.numpy() for x in case]
    for scale in (True, False):
        torchs = attention(*case) if scale else attention(*case, score=dot)
        loops = attention_loops(*arrays, scale=scale)
        matrices = attention_matrices(*arrays, scale=scale)
        for one, two, three in zip(loops, matrices, torchs, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-10)
            np.testing.assert_allclose(two, three, atol=1e-10)


@given(case=cases())
def test_matrices_take_the_leading_dimensions_of_torch(case: Case) -> None:
    result = attention_matrices(*(x.numpy() for x in case))
    for mine, theirs in zip(result, attention(*case), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)


@pytest.mark.parametrize("attend", [attention_loops, attention_matrices])
def test_nuts_in_numpy(attend) -> None:
    output, weights = attend(TOKENS, TOKENS, TOKENS)
    np.testing.assert_allclose(weights[2], [0.005, 0.090, 0.905], atol=5e-4)
    np.testing.assert_allclose(output[2], [1.005, 1.895, 1.900], atol=5e-4)
    _, unscaled = attend(TOKENS, TOKENS, TOKENS, scale=False)
    np.testing.assert_allclose(unscaled[2], [0.0001, 0.018, 0.982], atol=5e-4)


@pytest.mark.parametrize("attend", [attention_loops, attention_matrices])
@pytest.mark.filterwarnings("error")
def test_a_query_with_nothing_to_attend_to_gets_zeros(attend) -> None:
    mask = np.tril(np.ones((3, 3), dtype=bool), -1)
    output, weights = attend(TOKENS, TOKENS, TOKENS, mask)
    assert not output[0].any()
    assert not weights[0].any()
    np.testing.assert_allclose(weights[1:].sum(axis=-1), 1)


@pytest.mark.parametrize("attend", [attention_loops, attention_matrices])
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_key_that_nobody_may_attend_to_has_no_influence(attend, bad: float) -> None:
    mask = np.array([[True, True, False]] * 3)
    poisoned = np.array(TOKENS, dtype=float)
    poisoned[2] = bad
    for mine, wanted in zip(
        attend(TOKENS, poisoned, poisoned, mask), attend(TOKENS, TOKENS, TOKENS, mask), strict=True
    ):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("attend", [attention_loops, attention_matrices])
@pytest.mark.filterwarnings("error")
def test_large_scores_do_not_overflow(attend) -> None:
    output, weights = attend([[100.0]], [[100.0], [99.0]], [[1.0], [2.0]])
    np.testing.assert_allclose(weights, [[1, 0]], atol=1e-12)
    np.testing.assert_allclose(output, [[1]], atol=1e-12)


def test_softmax_agrees_with_torch_and_sums_to_one() -> None:
    x = np.array([[0.0, 1.0, -2.0], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(softmax(x), torch.tensor(x).softmax(-1))
    np.testing.assert_allclose(softmax(x).sum(axis=-1), 1)


@pytest.mark.filterwarnings("error")
def test_softmax_does_not_overflow() -> None:
    np.testing.assert_allclose(softmax([1000, 1000]), [0.5, 0.5])
    np.testing.assert_allclose(softmax([0, -np.inf]), [1, 0])
