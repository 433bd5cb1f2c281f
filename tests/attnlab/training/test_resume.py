"""Checkpoints: a resumed run ends on the same bits, whenever and however it was stopped."""

import json
import math
import pickle
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, RMSprop

from attnlab.training.resume import has_checkpoint, read_checkpoint, save_checkpoint
from tests.attnlab.training.runs import (
    Bigrams,
    bigram_loss,
    contents,
    copied,
    failing,
    full_run,
    same_bits,
)


@pytest.mark.parametrize(
    "optimizer",
    [Adam, partial(AdamW, weight_decay=0.1), SGD, partial(SGD, momentum=0.9), RMSprop],
    ids=["Adam", "AdamW", "SGD", "momentum", "RMSprop"],
)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("patience", [None, 2])
def test_a_resumed_run_ends_on_the_same_bits(tmp_path, optimizer, tied, patience) -> None:
    straight, stopped, resumed = (Bigrams(tied=tied, seed=s) for s in (0, 0, 9))
    options = {"optimizer": optimizer, "patience": patience}
    if patience is not None:
        options["validate"] = lambda model: 1.0  # never better than at first
    wanted = full_run(straight, **options)
    full_run(stopped, **options, steps=7, checkpoint=tmp_path)
    history = full_run(resumed, **options, checkpoint=tmp_path, resume=True)
    assert same_bits(copied(resumed), copied(straight))
    assert history == wanted
    if patience is None:
        assert not same_bits(copied(stopped), copied(straight))
    else:  # the best weights were those of step 3, before the stop
        assert (history.best_step, history.steps) == (3, 9)


@pytest.mark.parametrize("at", [1, 4, 6, 7, 12, 20])
def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(tmp_path: Path, at: int) -> None:
    straight, killed, resumed = Bigrams(), Bigrams(), Bigrams(seed=0 if at < 4 else 9)
    wanted = full_run(straight)
    options = {"checkpoint": tmp_path, "checkpoint_every": 3}
    with pytest.raises(KeyboardInterrupt):
        full_run(killed, failing(bigram_loss, at), **options)
    assert has_checkpoint(tmp_path) == (at > 3)
    assert full_run(resumed, **options, resume=True) == wanted
    assert same_bits(copied(resumed), copied(straight))


def test_a_run_resumed_in_many_pieces_ends_on_the_same_bits(tmp_path: Path) -> None:
    straight = Bigrams()
    full_run(straight)
    for steps in (1, 2, 6, 7, 13, 20):
        piece = Bigrams(seed=steps if steps > 1 else 0)
        full_run(piece, steps=steps, checkpoint=tmp_path, resume=True)
    assert same_bits(copied(piece), copied(straight))


def test_a_finished_run_is_read_back_without_another_step(tmp_path: Path) -> None:
    first, again = Bigrams(), Bigrams(seed=9)
    wanted = full_run(first, patience=1, checkpoint=tmp_path)
    before = contents(tmp_path)
    options = {"patience": 1, "checkpoint": tmp_path, "resume": True}
    assert full_run(again, failing(bigram_loss, 1), **options) == wanted
    assert same_bits(copied(again), copied(first))
    assert contents(tmp_path) == before


def test_only_the_last_checkpoint_is_kept(tmp_path: Path) -> None:
    full_run(Bigrams(), steps=8, checkpoint=tmp_path / "runs" / "one", checkpoint_every=3)
    assert list(contents(tmp_path / "runs" / "one")) == [
        "step-00000008/best.safetensors",
        "step-00000008/model.safetensors",
        "step-00000008/optimizer.safetensors",
        "step-00000008/state.json",
    ]
    assert read_checkpoint(tmp_path / "runs" / "one").step == 8


def test_nothing_is_pickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("pickle was called")

    for module, name in ((pickle, "dumps"), (pickle, "loads"), (torch, "save"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    full_run(Bigrams(), steps=7, checkpoint=tmp_path)
    full_run(Bigrams(), checkpoint=tmp_path, resume=True)
    for name, data in contents(tmp_path).items():
        readable = json.loads if name.endswith("json") else safetensors.torch.load
        assert readable(data)


def test_weights_can_be_read_for_use_alone(tmp_path: Path) -> None:
    first, other = Bigrams(tied=True), Bigrams(tied=True, seed=9)
    full_run(first, checkpoint=tmp_path)
    read_checkpoint(tmp_path).load_into(other)
    assert same_bits(copied(other), copied(first))
    assert other.output.weight is other.embed.weight
    assert len(safetensors.torch.load_file(tmp_path / "step-00000020/model.safetensors")) == 1


def test_weights_of_any_kind_come_back(tmp_path: Path) -> None:
    class Odd(nn.Module):
        def __init__(self, fill: float) -> None:
            super().__init__()
            self.small = nn.Parameter(torch.full((2, 3), fill, dtype=torch.bfloat16).mT)
            self.large = nn.Parameter(torch.full((), fill, dtype=torch.float64))
            table = torch.full((4,), fill)
            self.register_buffer("whole", table)
            self.register_buffer("part", table[:2])  # shares memory with the other
            self.register_buffer("none", torch.full((0, 2), fill))

    model, other = Odd(1.25), Odd(2.5)
    save_checkpoint(tmp_path, model, Adam(model.parameters()), step=3, run={"note": {4: "é"}})
    saved = read_checkpoint(tmp_path)
    saved.load_into(other)
    assert same_bits(copied(other), copied(model))
    assert (saved.step, saved.best, saved.state["run"]) == (3, None, {"note": {"4": "é"}})


@pytest.mark.parametrize(("of", "call", "step"), [(Path, "rename", 7), (shutil, "rmtree", 20)])
def test_a_machine_that_stops_while_writing_or_tidying_leaves_a_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Any, call: str, step: int
) -> None:
    full_run(Bigrams(), steps=7, checkpoint=tmp_path)
    before = contents(tmp_path)

    def stop(*arguments: Any) -> None:
        raise OSError("no more power")

    with monkeypatch.context() as patch:
        patch.setattr(of, call, stop)
        with pytest.raises(OSError, match="no more power"):
            full_run(Bigrams(), checkpoint=tmp_path, resume=True)
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert read_checkpoint(tmp_path).step == step
    resumed, straight = Bigrams(), Bigrams()
    full_run(resumed, checkpoint=tmp_path, resume=True)
    full_run(straight)
    assert same_bits(copied(resumed), copied(straight))
    if step == 7:
        assert {name.split("/")[0] for name in contents(tmp_path)} == {"step-00000020"}


def test_a_loss_that_is_not_finite_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    calls = iter(range(1, 30))

    def breaking(model: nn.Module, batch: Tensor) -> Tensor:
        return bigram_loss(model, batch) * (math.nan if next(calls) == 9 else 1)

    message = (
        "at step 9 it is nan. The weights are those after step 8; the last checkpoint is of step 6"
    )
    with pytest.raises(ValueError, match=message):
        full_run(Bigrams(), breaking, checkpoint=tmp_path, checkpoint_every=3)
    resumed, straight = Bigrams(), Bigrams()
    full_run(resumed, checkpoint=tmp_path, resume=True)
    full_run(straight)
    assert same_bits(copied(resumed), copied(straight))


def test_an_optimiser_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    model = Bigrams()
    optimizer = SGD(model.parameters())
    optimizer.state[model.embed.weight]["past"] = [torch.zeros(1)]
    with pytest.raises(ValueError, match="tensors and numbers only: its 'past' is a list"):
        save_checkpoint(tmp_path, model, optimizer, step=1)
    assert contents(tmp_path) == {}
