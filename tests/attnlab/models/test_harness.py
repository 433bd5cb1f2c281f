"""A table of three rows through the harness: what is measured again, and what rounding moves."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import harness

SCRIPT = """
import torch
from functools import cache
from torch import nn
from attnlab.models.recipe import fit

MODELS = {"a": {"lr": 0.1}, "b": {"lr": %s}, "b, twice": {"lr": %s, "by": 2}}
SEEDS = 0, 1

def data():
    return [1, 2]

@cache
def trained(seed, lr):
    torch.manual_seed(seed)
    model = nn.Linear(2, 1)
    loss = lambda model, batch: (model(batch) - 1).square().sum()
    fit(model, [torch.ones(1, 2)], loss, steps=10, lr=lr, progress=False)
    return model

def measure(seed, *, lr, by=1, asked=None):
    return {"weights": by * trained(seed, lr).weight.sum().item()}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.delenv("ATTNBOOK_CACHE", raising=False)

    def run(rate: float, *options: str) -> dict[str, Any]:
        (tmp_path / "small.py").write_text(SCRIPT % (rate, rate))
        monkeypatch.setattr(sys, "argv", ["small", *options])
        harness.run(str(tmp_path / "small.py"))
        return json.loads((tmp_path / "small.json").read_text())

    return run


@pytest.mark.heavy
def test_rows_that_hold_are_kept_and_those_that_changed_are_measured_and_asked(run, capsys) -> None:
    first = run(0.2)
    assert [len(row["weights"]) for row in first["rows"].values()] == [2, 2, 2]
    assert list(first["moves"]) == ["a", "b", "b, twice"]
    capsys.readouterr()
    assert run(0.2) == first
    assert "nothing has changed" in capsys.readouterr().out
    other = run(0.3)
    assert "small, a, seed" not in capsys.readouterr().out
    for part in ("rows", "moves"):
        assert other[part]["a"] == first[part]["a"]
    assert other["rows"]["b"] != first["rows"]["b"]


def test_a_nudge_reaches_a_model_that_is_remembered(run) -> None:
    moved = run(0.2)["moves"]
    assert 0 < moved["b"]["numbers"] < 1e-5
    assert moved["b, twice"]["numbers"] == pytest.approx(2 * moved["b"]["numbers"], rel=0.1)
    assert moved["b, twice"]["losses"] == moved["b"]["losses"]


def test_moves_alone_keeps_the_rows(run) -> None:
    first = run(0.2)
    first["moves"]["a"]["losses"] = 9.0
    harness.file_of("small").write_text(json.dumps(first))
    again = run(0.2, "--moves")
    assert again["rows"] == first["rows"]
    assert again["moves"]["a"]["losses"] < 1e-5
