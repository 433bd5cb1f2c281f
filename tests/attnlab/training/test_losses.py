"""Losses: by hand, and the same with any padding."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.training.losses import sequence_loss
from tests.attnbook.strategies import close, normal

LOGITS = torch.tensor([[[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]], dtype=torch.float64)


def test_sequence_loss_by_hand() -> None:
    first = math.log(math.e + math.e**2 + math.e**4)  # the logarithm of the sum
    both = sequence_loss(LOGITS, torch.tensor([[2, 1]])).item()
    assert both == pytest.approx((first - 4 + math.log(3)) / 2)
    # padding is left out of the sum and of the count
    assert sequence_loss(LOGITS, torch.tensor([[2, 0]])).item() == pytest.approx(first - 4)
    smooth = sequence_loss(LOGITS, torch.tensor([[2, 0]]), smoothing=0.3).item()
    assert smooth == pytest.approx(0.7 * (first - 4) + 0.3 * (first - 7 / 3))


@given(seed=st.integers(0, 99), width=st.integers(0, 3), smoothing=st.floats(0, 1))
def test_padding_cannot_change_the_loss(seed: int, width: int, smoothing: float) -> None:
    logits, targets = normal(2, 3, 5, seed=seed), torch.tensor([[1, 2, 3], [4, 1, 0]])
    more = torch.cat([logits, normal(2, width, 5, seed=seed + 1)], dim=1)
    padded = torch.cat([targets, torch.zeros(2, width, dtype=torch.long)], dim=1)
    wanted = sequence_loss(logits, targets, smoothing=smoothing)
    close(sequence_loss(more, padded, smoothing=smoothing), wanted)
