"""Schedules: pure functions of the step, equal to their formulas and to PyTorch's."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.training.schedules import constant, warmup_cosine, warmup_inverse_sqrt


def test_the_cosine_is_by_hand_and_pytorchs() -> None:
    factor = warmup_cosine(2, 10)
    halfway_down = {1: 0.5, 2: 1.0, 4: (1 + math.sqrt(0.5)) / 2, 6: 0.5, 10: 0.0, 99: 0.0}
    for step, wanted in halfway_down.items():
        assert factor(step) == pytest.approx(wanted, abs=1e-12)
    factor = warmup_cosine(0, 10, final=0.2)
    assert factor(5) == pytest.approx(0.6)
    assert factor(10) == factor(11) == pytest.approx(0.2)
    assert [constant()(s) for s in (1, 2, 1000)] == [1, 1, 1]
    assert [constant(4)(s) for s in range(1, 7)] == [0.25, 0.5, 0.75, 1, 1, 1]
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20, eta_min=0.1)
    ours = warmup_cosine(0, 20, final=0.1)
    for step in range(20):
        assert ours(step) == pytest.approx(theirs.get_last_lr()[0], abs=1e-9)
        optimizer.step()
        theirs.step()


@given(step=st.integers(1, 100_000), warmup=st.integers(1, 8000), d_model=st.integers(1, 1024))
def test_the_inverse_root_is_equation_3(step: int, warmup: int, d_model: int) -> None:
    wanted = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    assert warmup_inverse_sqrt(warmup, d_model=d_model)(step) == pytest.approx(wanted, rel=1e-9)
    scaled = warmup_inverse_sqrt(warmup)
    assert scaled(step) == pytest.approx(wanted * math.sqrt(d_model * warmup), rel=1e-9)
    assert scaled(step) <= scaled(warmup) == 1


@given(
    warmup=st.integers(0, 50), more=st.integers(1, 50), final=st.floats(0, 1), step=st.integers(1)
)
def test_a_factor_is_never_above_1_nor_below_its_end(warmup, more, final, step) -> None:
    factor = warmup_cosine(warmup, warmup + more, final=final)(step)
    assert 0 <= factor <= 1 + 1e-12
    if step >= warmup:
        assert factor >= final - 1e-12
