"""Training: what cannot be is refused, and what breaks stops before it does harm."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD

from tests.attnlab.training.runs import (
    BATCHES,
    Bigrams,
    bigram_loss,
    copied,
    quick,
    same_bits,
    trained,
)


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


def test_a_gradient_that_is_not_finite_stops_too() -> None:
    def flat(model: nn.Module, batch: Tensor) -> Tensor:
        return (model.output.weight * 0).sum().sqrt()  # 0, with a gradient of 0 · ∞

    model = Bigrams()
    with pytest.raises(ValueError, match="gradient's norm must be finite: at step 1 it is nan"):
        quick(model, loss=flat)
    assert same_bits(copied(model), copied(Bigrams()))


def test_a_validation_that_is_not_finite_stops_too() -> None:
    with pytest.raises(ValueError, match="result of validate must be finite: at step 3 it is inf"):
        quick(Bigrams(), validate=lambda model: math.inf, validate_every=3)


def number(model: nn.Module) -> float:
    """Validate, with a result that never changes."""
    return 1.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"steps": 0}, ValueError, "steps must be a whole number of at least 1: it is 0"),
        ({"steps": 1.5}, ValueError, "steps must be a whole number of at least 1: it is 1.5"),
        ({"lr": 0}, ValueError, "lr must be above 0 and finite: it is 0"),
        ({"lr": math.nan}, ValueError, "lr must be above 0 and finite: it is nan"),
        ({"clip": -1}, ValueError, "clip must be above 0 and finite: it is -1"),
        ({"seed": -1}, ValueError, "seed must be a whole number of at least 0: it is -1"),
        ({"optimizer": SGD([torch.zeros(1)])}, TypeError, "optimizer must be a class or function"),
        ({"optimizer": "adam"}, TypeError, "optimizer must be a class or function .* it is a str"),
        ({"schedule": 0.1}, TypeError, "schedule must be a function from a step .* it is a float"),
        ({"validate": 2, "validate_every": 1}, TypeError, "validate must be a function .* a int"),
        ({"schedule": lambda step: -1}, ValueError, "schedule must return a finite factor"),
        ({"validate": number}, ValueError, "validate and validate_every must be given together"),
        ({"validate_every": 2}, ValueError, "validate and validate_every must be given together"),
        ({"validate": number, "validate_every": 0}, ValueError, "validate_every must be a whole"),
        ({"patience": 1}, ValueError, "patience must come with validate"),
        ({"checkpoint_every": 1}, ValueError, "checkpoint_every must come with checkpoint"),
        ({"resume": True}, ValueError, "resume must come with checkpoint"),
        ({"batches": []}, ValueError, "batches must hold at least one: epoch 0 holds none"),
        ({"batches": iter(BATCHES)}, ValueError, "batches must be a list.* a list_iterator"),
        ({"batches": 3}, ValueError, "batches must be a list, or a function .* it is a int"),
        ({"batches": lambda epoch: []}, ValueError, "epoch 0 holds none"),
        ({"loss": "nll"}, TypeError, "loss must be a function .* it is a str"),
        (
            {"loss": lambda model, batch: 1.0},
            TypeError,
            "loss must return a torch.Tensor: .* float",
        ),
        (
            {"loss": lambda model, batch: model(batch)},
            ValueError,
            r"returned the shape \(3, 4, 7\)",
        ),
        ({"loss": lambda model, batch: torch.ones(())}, ValueError, "requires_grad=False"),
        ({"model": nn.Dropout()}, ValueError, "model must have weights that require a gradient"),
        ({"model": len}, TypeError, "model must be a torch.nn.Module: it is a builtin"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    model = options.get("model", Bigrams())
    before = copied(model) if isinstance(model, nn.Module) else {}
    with pytest.raises(error, match=message):
        quick(**{"model": model, **options})
    if before:
        assert same_bits(copied(model), before)
