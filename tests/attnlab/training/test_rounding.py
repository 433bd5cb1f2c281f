"""A training that hangs on rounding is told from one that does not, by one run more."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam

from attnlab.models.recipe import fit
from attnlab.training import Unsteady, seeded, steady, train
from attnlab.training.rounding import NUDGE, apart, nudged, told, unwatched, watched

DATA = torch.linspace(-1, 1, 12).view(4, 3)


class Numbers(nn.Module):
    """Eight numbers, each a model of its own."""

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.x = nn.Parameter(torch.linspace(0.1, 0.9, 8, dtype=dtype))


def well(model: nn.Module, batch: Tensor) -> Tensor:
    """Two hollows: a rate of 0.45 throws each number from one to the other for ever."""
    return (model.x.square() - 1).square().sum()


def thrown(lr: float = 0.45, dtype: torch.dtype = torch.float32) -> None:
    train(Numbers(dtype=dtype), [DATA], well, steps=200, lr=lr, optimizer=SGD, clip=None)


def line() -> nn.Module:
    with seeded(0):
        return nn.Linear(3, 2)


def squares(model: nn.Module, batch: Tensor) -> Tensor:
    return model(batch).square().mean()


def test_a_training_that_falls_into_a_hollow_is_steady():
    assert max(steady(partial(thrown, 0.05))) < 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_training_that_is_thrown_to_and_fro_hangs_on_rounding_in_double_precision_too(dtype):
    with pytest.raises(Unsteady, match=r"training 1 of 1 hangs on rounding: .* 0.005 may be"):
        steady(partial(thrown, dtype=dtype))


def test_a_coarser_unit_lets_more_pass():
    steady(thrown, unit=100)  # eight wells are not fifty deep


def test_each_training_of_a_run_is_asked_also_one_with_a_loop_of_its_own():
    def run() -> None:
        train(line(), [DATA], squares, steps=20)
        model = line()
        optimiser = Adam(model.parameters(), lr=0.01)
        for _ in range(20):
            optimiser.zero_grad()
            squares(model, DATA).backward()
            optimiser.step()

    assert len(steady(run)) == 2


def test_the_second_run_begins_a_rounding_away_and_the_first_where_it_would():
    def first_weight(nudge: float) -> Tensor:
        model = line()
        with watched(nudge):
            Adam(model.parameters())
        return model.weight.detach()

    plain, moved = line().weight.detach(), first_weight(NUDGE)
    assert torch.equal(first_weight(0.0), plain)
    ratios = (moved / plain).double() - 1
    assert ratios.ne(0).all()  # every weight, some up and some down
    assert ratios.gt(0).any()
    assert ratios.lt(0).any()
    assert ratios.abs().max() < 2.5e-7


def test_what_is_recorded_is_the_loss_of_each_step():
    with watched() as found:
        history = train(line(), [DATA], squares, steps=7, lr=0.1)
    assert found[0].losses == history.losses


def test_nothing_of_torch_is_changed_after_the_block():
    before = torch.optim.Optimizer.__init__, Tensor.backward
    with watched(NUDGE):
        assert nudged() == NUDGE
    assert (torch.optim.Optimizer.__init__, Tensor.backward) == before
    assert nudged() == 0
    told([1.0])  # to nobody


def test_only_the_innermost_block_records_and_a_beginning_is_left_out():
    with watched() as outer:
        with watched() as inner:
            train(line(), [DATA], squares, steps=2)
        with unwatched():
            train(line(), [DATA], squares, steps=2)
    assert (len(inner), len(outer)) == (1, 0)


def test_the_last_tenth_counts_and_an_agreement_at_the_very_end_does_not_help():
    a, b = [0.0] * 20, [9.0] * 18 + [0.5, 0.0]
    assert apart(a, b) == 0.5
    assert apart([1.0], [1.25]) == 0.25
    assert apart([1.0], [1.0, 1.0]) == math.inf


def test_a_training_that_is_remembered_is_asked_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path))

    def run() -> None:
        fit(Numbers(), [DATA], well, steps=200, lr=0.45, optimizer=SGD, clip=None)

    for kept in (0, 2):  # of the plain run and of the moved one
        assert len(list(tmp_path.glob("*.pt"))) == kept
        with pytest.raises(Unsteady):
            steady(run)


def test_a_run_that_trains_nothing_or_goes_on_from_the_last_is_refused():
    with pytest.raises(ValueError, match="run must train the same models at each call: it trained"):
        steady(lambda: None)
    with pytest.raises(ValueError, match="unit must be"):
        steady(thrown, unit=0)
