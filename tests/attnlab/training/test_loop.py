"""Training: one loop, counted in steps, that depends on its arguments alone."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD

from attnlab.training import History
from attnlab.training.seeds import seeded
from tests.attnbook.strategies import close, normal
from tests.attnlab.training.runs import (
    BATCHES,
    Bigrams,
    bigram_loss,
    copied,
    counting,
    quick,
    same_bits,
    shuffled,
    trained,
)


def total(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).sum()


def test_a_model_learns_and_a_step_is_one_of_gradient_descent() -> None:
    model = Bigrams(16)
    history = quick(model, shuffled, steps=150, lr=0.05)
    assert history.steps == 150
    assert history.losses[0] > 1.5
    assert bigram_loss(model, counting(8)[0]) < 0.1
    model = nn.Linear(2, 1, bias=False).double()
    before = model.weight.detach().clone()
    x = normal(3, 2)
    quick(model, [x], total, steps=1, lr=0.5, optimizer=SGD, clip=None)
    close(model.weight, before - 0.5 * x.sum(dim=0, keepdim=True))


def test_the_gradient_is_clipped_to_its_norm() -> None:
    def moved(scale: float, clip: float | None) -> float:
        model = nn.Linear(2, 1, bias=False).double()
        before = model.weight.detach().clone()
        loss = lambda model, x: scale * model(x).sum()  # noqa: E731
        x = torch.tensor([[3.0, 4.0]], dtype=torch.float64)  # the gradient is scale · (3, 4)
        quick(model, [x], loss, steps=1, lr=1, optimizer=SGD, clip=clip)
        return (model.weight - before).norm().item()

    assert moved(10, clip=2) == pytest.approx(2, rel=1e-5)
    assert moved(0.1, clip=2) == pytest.approx(0.5)
    assert moved(10, clip=None) == pytest.approx(50)


def test_the_schedule_scales_every_step_counted_from_1() -> None:
    seen = []

    def halves(step: int) -> float:
        seen.append(step)
        return 0.5**step

    model = nn.Linear(1, 1, bias=False).double()
    before = model.weight.item()
    one = torch.ones(1, 1, dtype=torch.float64)
    quick(model, [one], total, steps=4, lr=8, optimizer=SGD, clip=None, schedule=halves)
    assert seen == [1, 2, 3, 4]
    assert before - model.weight.item() == pytest.approx(4 + 2 + 1 + 0.5)


def test_groups_keep_their_own_rates_under_a_schedule() -> None:
    model = nn.Linear(1, 1).double()
    start = [p.item() for p in model.parameters()]

    def slow_bias(weights: list[nn.Parameter], lr: float) -> SGD:
        return SGD([{"params": weights[:1]}, {"params": weights[1:], "lr": lr / 10}], lr=lr)

    one = torch.ones(1, 1, dtype=torch.float64)
    options = {"optimizer": slow_bias, "clip": None, "schedule": lambda step: 0.5}
    quick(model, [one], total, steps=2, lr=1, **options)
    moved = [was - p.item() for was, p in zip(start, model.parameters(), strict=True)]
    assert moved == pytest.approx([1, 0.1])


def noting(seen: list[int], *, draws: bool = False) -> Callable[[nn.Module, Tensor], Tensor]:
    """Return a loss that notes how long each batch is, and may draw random numbers."""

    def noted(model: nn.Module, batch: Tensor) -> Tensor:
        seen.append(batch.shape[1])
        torch.rand(len(seen) * draws)  # what the loss draws is no matter for the data
        return bigram_loss(model, batch)

    return noted


def test_a_list_is_read_again_and_again_and_a_function_asked_for_each_epoch_once() -> None:
    seen = []
    quick(Bigrams(), loss=noting(seen), steps=7)
    assert seen == [4, 5, 6, 4, 5, 6, 4]
    asked = []

    def epochs(epoch: int) -> list[Tensor]:
        asked.append(epoch)
        return BATCHES[: epoch + 1]

    quick(Bigrams(), epochs, steps=6)
    assert asked == [0, 1, 2]


def test_the_same_seed_gives_the_same_bits_whatever_came_before() -> None:
    first = trained(batches=shuffled, seed=3)
    torch.rand(5)
    assert same_bits(first, trained(batches=shuffled, seed=3))
    assert not same_bits(first, trained(batches=shuffled, seed=4))


def test_the_order_of_the_data_depends_on_the_seed_and_the_epoch() -> None:
    seen = []
    quick(Bigrams(), shuffled, noting(seen, draws=True), steps=22)
    quick(Bigrams(), shuffled, noting(seen), steps=22)
    assert seen[:22] == seen[22:]
    assert seen[:5] != seen[11:16]  # epochs 0 and 2


def test_torch_goes_on_as_if_nothing_had_happened() -> None:
    torch.manual_seed(11)
    wanted = torch.rand(3)
    torch.manual_seed(11)
    trained(batches=shuffled, validate=lambda model: torch.rand(()), validate_every=2)
    with pytest.raises(ZeroDivisionError):
        quick(Bigrams(), loss=lambda model, batch: torch.rand(1 // 0))
    with seeded(5):
        torch.rand(7)
    assert torch.equal(torch.rand(3), wanted)


def test_weights_without_gradient_stay() -> None:
    model = Bigrams()
    model.embed.weight.requires_grad_(False)
    before = copied(model)
    quick(model)
    assert torch.equal(model.embed.weight, before["embed.weight"])
    assert not torch.equal(model.output.weight, before["output.weight"])


def test_validation_sees_eval_mode_and_training_goes_on_in_train_mode() -> None:
    modes = []

    def watched(model: nn.Module, batch: Tensor) -> Tensor:
        modes.append(model.training and model.dropout.training and torch.is_grad_enabled())
        return bigram_loss(model, batch)

    def validate(model: nn.Module) -> float:
        modes.append(model.training or model.dropout.training or torch.is_grad_enabled())
        return 1.0

    model = Bigrams().eval()
    quick(model, loss=watched, steps=4, validate=validate, validate_every=2)
    assert modes == [True, True, False, True, True, False]
    assert not model.training


def test_validation_changes_nothing_even_when_it_draws_and_history_counts_steps() -> None:
    def validate(model: nn.Module) -> Tensor:
        return torch.rand(3).sum() + bigram_loss(model, BATCHES[0])

    assert same_bits(trained(), trained(validate=validate, validate_every=1))
    values = iter([3.0, 1.0, 1.0])
    history = quick(Bigrams(), steps=7, validate=lambda model: next(values), validate_every=2)
    assert history.validations == {2: 3.0, 4: 1.0, 6: 1.0}
    assert (history.steps, history.best_step) == (7, 4)
    assert repr(history) == "<History: 7 steps, 3 validations>"
    assert History().best_step is None


def test_early_stopping_restores_the_best_weights_at_the_last_step_too() -> None:
    weights, values = {}, iter([3.0, 2.0, 2.5, 2.0, 1.0])

    def validate(model: nn.Module) -> float:
        weights[len(weights) + 1] = copied(model)
        return next(values)

    model = Bigrams()
    options = {"validate": validate, "validate_every": 1, "patience": 2}
    history = quick(model, steps=50, **options)
    assert (history.steps, history.best_step) == (4, 2)
    assert same_bits(copied(model), weights[2])
    assert not same_bits(weights[2], weights[4])
    values = iter([1.0, 2.0])
    options = {"validate": lambda model: next(values), "validate_every": 2}
    assert same_bits(trained(steps=4, patience=5, **options), trained(steps=2))
    values = iter([1.0, 2.0])
    assert same_bits(trained(steps=4, **options), trained(steps=4))


def test_the_bar_obeys_its_argument_and_the_environment(capsys, monkeypatch) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    quick(Bigrams(), progress=True)
    assert "6/6" in capsys.readouterr().err
    quick(Bigrams(), progress=False)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("TQDM_DISABLE", "1")
    quick(Bigrams(), progress=True)
    assert capsys.readouterr() == ("", "")


ALONE = """
import sys
for name in ("tqdm", "tqdm.auto", "safetensors", "safetensors.torch", "sacrebleu"):
    sys.modules[name] = None  # as if it were not installed
import torch
from attnlab.training import bleu, train
from attnlab.training.resume import read_checkpoint

def run(**options):
    data = [torch.ones(1, 2)]
    return train(torch.nn.Linear(2, 1), data, lambda model, x: model(x).sum(), **options)

print(run(steps=3))
for call in (
    lambda: run(steps=3, checkpoint="run"),
    lambda: read_checkpoint("run"),
    lambda: bleu(["a"], ["a"]),
):
    try:
        call()
    except ImportError as error:
        print(error)
"""


def test_torch_alone_trains_and_a_missing_package_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", ALONE]
    environment = {**os.environ, "TQDM_DISABLE": "0"}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    install = 'pip install "attnlab"'
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "<History: 3 steps, 0 validations>",
        *[f"a checkpoint needs the package safetensors: {install}"] * 2,
        f"bleu needs the package sacrebleu: {install}",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_before_it_does_harm(bad: float) -> None:
    steps = iter(range(1, 10))

    def breaking(model: nn.Module, batch: Tensor) -> Tensor:
        return bigram_loss(model, batch) * (bad if next(steps) == 5 else 1)

    model = Bigrams()
    with pytest.raises(ValueError, match=f"the loss must be finite: at step 5 it is {bad}.*step 4"):
        quick(model, loss=breaking)
    assert same_bits(copied(model), trained(steps=4))
    assert not model.training
    assert all(weight.grad is None for weight in model.parameters())


def test_a_gradient_or_a_validation_that_is_not_finite_stops_too() -> None:
    def flat(model: nn.Module, batch: Tensor) -> Tensor:
        return (model.output.weight * 0).sum().sqrt()  # 0, with a gradient of 0 · ∞

    model = Bigrams()
    with pytest.raises(ValueError, match="gradient's norm must be finite: at step 1 it is nan"):
        quick(model, loss=flat)
    assert same_bits(copied(model), copied(Bigrams()))
    with pytest.raises(ValueError, match="result of validate must be finite: at step 3 it is inf"):
        quick(Bigrams(), validate=lambda model: math.inf, validate_every=3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"schedule": lambda step: -1},
        {"batches": lambda epoch: []},
        {"loss": lambda model, batch: model(batch)},
        {"optimizer": "adam"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_setting_that_is_refused_leaves_the_weights(wrong: dict[str, object]) -> None:
    model = Bigrams()
    with pytest.raises((ValueError, TypeError), match=f"{next(iter(wrong))} must|epoch 0"):
        quick(model, **wrong)
    assert same_bits(copied(model), copied(Bigrams()))
