"""Positions: what each kind promises."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.positions import LearnedPositions, Rotary, Sinusoidal, alibi_bias, sinusoidal
from attnbook.scores import dot
from tests.attnbook.strategies import close, normal


@given(n=st.integers(0, 20), half=st.integers(1, 8))
def test_each_number_is_that_of_the_paper(n: int, half: int) -> None:
    table = sinusoidal(n, 2 * half, dtype=torch.float64)
    assert table.shape == (n, 2 * half)
    for pos in range(n):
        for i in range(half):
            angle = pos / 10000 ** (2 * i / (2 * half))
            assert math.isclose(table[pos, 2 * i], math.sin(angle), abs_tol=1e-9)
            assert math.isclose(table[pos, 2 * i + 1], math.cos(angle), abs_tol=1e-9)


def test_sinusoidal_positions_go_on_at_an_offset() -> None:
    module, x = Sinusoidal(6), normal(2, 9, 6)
    whole = module(x)
    close(whole, x + sinusoidal(9, 6, dtype=torch.float64))
    close(module(x[:, 4:], 4), whole[:, 4:])
    each = module(x[:, 4:6], torch.tensor([4, -1]))
    close(each[0], whole[0, 4:6])
    close(each[1] - x[1, 4:6], sinusoidal(1, 6, dtype=torch.float64).expand(2, 6))
    assert module(x.half()).dtype == torch.float16
    assert not list(module.parameters())
    assert not module.state_dict()


def test_learned_positions_are_rows_of_the_table_and_end() -> None:
    module, x = LearnedPositions(9, 5).double(), normal(2, 9, 5)
    whole = module(x)
    close(whole, x + module.table.weight)
    close(module(x[:, 4:], 4), whole[:, 4:])
    close(module(x[:, :2], torch.tensor([7, -1]))[0], x[0, :2] + module.table.weight[7:])
    close(module(x[:, :2], torch.tensor([7, -1]))[1], x[1, :2] + module.table.weight[[0, 0]])
    x, none = torch.zeros(0, 3, 4), torch.zeros(0, dtype=torch.int64)
    for module in (LearnedPositions(3, 4), Sinusoidal(4)):
        assert module(x, none).shape == x.shape
    module, x = LearnedPositions(4, 2), torch.zeros(1, 2, 2)
    module(x, 2)
    with pytest.raises(ValueError, match="positions of x must be from 0 to 3: 4"):
        module(x, 3)
    with pytest.raises(ValueError, match="4 is among them"):
        module(x, torch.tensor([3]))


@given(
    half=st.integers(1, 4),
    i=st.integers(0, 50),
    j=st.integers(0, 50),
    shift=st.integers(0, 50),
    seed=st.integers(0, 99),
)
def test_rotary_scores_depend_on_the_distance_alone(half, i, j, shift, seed) -> None:
    rope = Rotary(2 * half)
    query, key = normal(1, 2 * half, seed=seed), normal(1, 2 * half, seed=seed + 1)
    here = dot(rope(query, i), rope(key, j))
    close(dot(rope(query, i + shift), rope(key, j + shift)), here, 1e-9)


def test_another_distance_gives_another_score() -> None:
    rope, query, key = Rotary(4), normal(1, 4, seed=1), normal(1, 4, seed=2)
    scores = torch.stack([dot(rope(query, i), key) for i in range(5)]).flatten()
    assert (scores.diff().abs() > 1e-3).all()


@given(n=st.integers(1, 9), half=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_turn_keeps_lengths_and_position_zero_stays(n: int, half: int, seed: int) -> None:
    x = normal(2, 3, n, 2 * half, seed=seed)
    turned = Rotary(2 * half)(x)
    close(turned[..., 0, :], x[..., 0, :])
    close(turned.norm(dim=-1), x.norm(dim=-1))


def test_neighbours_are_the_two_coordinates_of_a_point() -> None:
    x = torch.zeros(1, 4, dtype=torch.float64)
    x[0, 2] = 1
    turned = Rotary(4, base=100.0)(x, 3)
    angle = 3 * 100.0 ** (-2 / 4)
    expected = torch.tensor([[0, 0, math.cos(angle), math.sin(angle)]], dtype=torch.float64)
    close(turned, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_view_at_an_odd_offset_is_turned_too(dtype: torch.dtype) -> None:
    """It counts as contiguous, and cannot be read as complex numbers where it lies."""
    x = torch.randn(7, dtype=dtype)[3:5].view(1, 2)
    assert torch.equal(Rotary(2)(x, 4), Rotary(2)(x.clone(), 4))


def test_rotary_positions_go_on_at_an_offset() -> None:
    rope, x = Rotary(6), normal(2, 3, 9, 6)
    whole = rope(x)
    close(rope(x[..., 4:, :], 4), whole[..., 4:, :])
    each = rope(x[..., 4:6, :], torch.tensor([4, 0]))
    close(each[0], whole[0, :, 4:6])
    close(each[1], rope(x[1, :, 4:6]))


def test_rotary_works_in_half_precision_far_away_and_on_strided_input() -> None:
    rope, x = Rotary(4), normal(2, 7, 3, 4)
    expected = rope(x.transpose(1, 2).contiguous())
    close(rope(x.transpose(1, 2)), expected)
    for dtype in (torch.float16, torch.bfloat16):
        turned = rope(x.transpose(1, 2).to(dtype))
        assert turned.dtype == dtype
        close(turned.double(), expected, 0.05)
    x = torch.ones(1, 2)
    turned = Rotary(2)(x.bfloat16(), 1001).float()  # bfloat16 itself cannot count to 1001
    close(turned, Rotary(2)(x, 1001), 0.02)


def test_slopes_are_those_of_the_paper() -> None:
    def slopes(h: int) -> list[float]:
        return (-alibi_bias(h, 1, 2)[:, 0, 0]).tolist()

    assert slopes(8) == [2.0**-i for i in range(1, 9)]
    assert slopes(4) == [2.0 ** -(2 * i) for i in range(1, 5)]
    assert slopes(1) == [2.0**-8]
    for h in (5, 6, 7):  # those of four, and of eight every other one
        assert slopes(h) == [2.0**-power for power in (2, 4, 6, 8, 1, 3, 5)[:h]]
    sixteen = [2.0 ** (-i / 2) for i in range(1, 17)]
    assert slopes(12) == pytest.approx([2.0**-i for i in range(1, 9)] + sixteen[:8:2])


@given(h=st.integers(1, 9), n_q=st.integers(0, 6), cached=st.integers(0, 6))
def test_alibi_grows_with_the_distance_and_ends_with_the_keys(h, n_q, cached) -> None:
    n = n_q + cached
    bias = alibi_bias(h, n_q, n, dtype=torch.float64)
    assert bias.shape == (h, n_q, n)
    whole = alibi_bias(h, n, dtype=torch.float64)
    assert torch.equal(bias, whole[:, cached:])
    assert torch.equal(whole, whole.mT)
    if n:
        close(whole[:, 0], torch.arange(n) * alibi_bias(h, 1, 2, dtype=torch.float64)[:, :, 0])
