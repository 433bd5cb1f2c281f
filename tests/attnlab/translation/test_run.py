"""A run: stopped at any moment, it goes on to the same bits, and nothing is half-written."""

import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.training.resume import has_checkpoint, read_checkpoint
from attnlab.translation import run as program
from attnlab.translation.journal import read_log
from attnlab.translation.recipe import Recipe
from attnlab.translation.run import Run, train
from attnlab.translation.saved import load
from attnlab.translation.team import Team
from tests.attnlab.training.runs import contents
from tests.attnlab.translation.small import multi30k, recipe, same, trained, weights


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return multi30k(tmp_path / "data")


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return what gives the folder of a whole run, trained once; nobody may change it."""
    folder = tmp_path_factory.mktemp("straight")
    data = multi30k(folder / "data")

    @cache
    def run(**choices: Any) -> Path:
        name = f"{choices}"
        train(recipe(**choices), data, folder / name)
        return folder / name

    return run


@pytest.fixture
def begun(straight: Callable[..., Path], tmp_path: Path) -> Path:
    """Return the folder of a run of four steps."""
    return shutil.copytree(straight(steps=4), tmp_path / "run")


def stopped(data: Path, folder: Path, after: int, **choices: Any) -> None:
    """Train, and stop as a kill would: after a step, without a last checkpoint."""
    run = Run(recipe(**choices), data, folder, Team(), "auto")
    for step in run.steps(None):
        if step == after:
            return


BY_DAY = {(2, "gru"), (7, "transformer")}


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text())


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        pytest.param(n, kind, marks=() if (n, kind) in BY_DAY else pytest.mark.heavy)
        for n in (2, 4, 7)
        for kind in ("transformer", "gru")
    ],
)
def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path, data, straight, kind, after) -> None:
    both = straight(model=kind), tmp_path / "stopped"
    stopped(data, tmp_path / "stopped", after, model=kind)
    assert same(trained(data, tmp_path / "stopped", model=kind), weights(both[0]))
    one, two = (run / "model.safetensors" for run in both)
    assert one.read_bytes() == two.read_bytes()
    logs = [read_log(run / "log.jsonl") for run in both]
    told = [[{**entry, "seconds": 0} for entry in log] for log in logs]
    assert told[0] == told[1]


def test_words_cut_anew_and_a_cooldown_go_on_to_the_same_bits(tmp_path: Path, data: Path) -> None:
    choices = {"bpe_dropout": 0.3, "cooldown": 0.5}
    stopped(data, tmp_path / "stopped", 5, **choices)
    whole = trained(data, tmp_path / "whole", **choices)
    assert same(trained(data, tmp_path / "stopped", **choices), whole)
    assert not same(trained(data, tmp_path / "usual", cooldown=0.5), whole)


def test_in_its_last_steps_the_rate_falls_to_0_in_a_line(tmp_path, data, monkeypatch) -> None:
    monkeypatch.setattr(program, "LOG_EVERY", 1)
    rates = []
    for cooldown in (0.0, 0.5):
        run = Run(recipe(cooldown=cooldown), data, tmp_path / f"{cooldown}", Team(), "auto")
        rates.append([run.optimizer.param_groups[0]["lr"] for _ in run.steps(None)])
        logged = read_log(tmp_path / f"{cooldown}" / "log.jsonl")
        assert [entry["rate"] for entry in logged if "rate" in entry] == rates[-1]
    shares = [cooled / usual for usual, cooled in zip(*rates, strict=True)]
    assert shares == pytest.approx([1.0] * 6 + [1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])


@pytest.mark.heavy
def test_the_order_and_dropout_depend_on_the_seed_alone(tmp_path: Path, data: Path) -> None:
    torch.manual_seed(1)
    one = trained(data, tmp_path / "one")
    torch.manual_seed(2)
    assert same(one, trained(data, tmp_path / "two"))
    assert not same(one, trained(data, tmp_path / "three", seed=1))
    assert not same(one, trained(data, tmp_path / "four", dropout=0.2))


@pytest.mark.heavy
def test_a_finished_run_is_scored_again_and_can_be_made_longer(tmp_path: Path, data: Path) -> None:
    trained(data, tmp_path / "run")
    before = result(tmp_path / "run")
    trained(data, tmp_path / "run")
    after = result(tmp_path / "run")
    assert before == {**after, "minutes": before["minutes"]}
    assert same(trained(data, tmp_path / "run", steps=16), trained(data, tmp_path / "b", steps=16))
    with pytest.raises(ValueError, match=r"steps must be enough: it is 12, .* has taken 16"):
        trained(data, tmp_path / "run")
    assert Recipe.read(tmp_path / "run" / "recipe.json").steps == 16


@pytest.mark.heavy
def test_the_clock_only_says_when_to_stop(tmp_path: Path, data: Path) -> None:
    found = train(recipe(), data, tmp_path / "run", minutes=1e-9)
    assert found["step"] == 1
    assert read_checkpoint(tmp_path / "run").step == 1
    assert same(trained(data, tmp_path / "run"), trained(data, tmp_path / "straight"))


@pytest.mark.heavy
def test_the_averaged_weights_are_the_mean_of_the_last_sets(tmp_path: Path, data: Path) -> None:
    sets = [
        trained(data, tmp_path / f"{steps}", steps=steps)["embed_target.tokens.weight"]
        for steps in (8, 12)
    ]
    saved = load(tmp_path / "12")
    mean = saved.model.embed_target.tokens.weight
    torch.testing.assert_close(mean.detach(), (sets[0] + sets[1]) / 2)
    assert len(list((tmp_path / "12" / "weights").iterdir())) == 2


def test_a_run_that_has_not_ended_can_be_read_already(tmp_path: Path, data: Path) -> None:
    stopped(data, tmp_path / "run", 9)
    assert load(tmp_path / "run").recipe == recipe()


def test_the_log_can_be_plotted(tmp_path: Path, data: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(program, "LOG_EVERY", 3)
    trained(data, tmp_path / "run")
    log = read_log(tmp_path / "run" / "log.jsonl")
    losses = {entry["step"]: entry["loss"] for entry in log if "loss" in entry}
    assert list(losses) == [3, 6, 9, 12]
    assert losses[12] < losses[3]
    assert [entry["step"] for entry in log if "validation_loss" in entry] == [6, 12]
    with (tmp_path / "run" / "log.jsonl").open("a") as file:
        file.write('{"step": 15, "lo')  # a kill
    assert read_log(tmp_path / "run" / "log.jsonl") == log


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"lr": 0.1}, "hold a run of this recipe: lr is 0.005 there and 0.1 here"),
        ({"share": 0.5, "seed": 3}, "seed is 0 there and 3 here; share is 1.0 there and 0.5 here"),
    ],
)
def test_a_run_of_another_recipe_stays_as_it_is(begun, data, choices, words) -> None:
    before = contents(begun)
    with pytest.raises(ValueError, match=words):
        train(recipe(**choices), data, begun)
    assert contents(begun) == before


def test_a_run_on_other_data_or_a_damaged_checkpoint_is_refused(begun: Path, data: Path) -> None:
    before = weights(begun)
    lines = (data / "train.fr").read_text().splitlines()
    (data / "train.fr").write_text("\n".join([lines[1], lines[0], *lines[2:]]) + "\n")
    with pytest.raises(ValueError, match="must hold a run on this data"):
        train(recipe(), data, begun)
    assert same(weights(begun), before)
    path = begun / "step-00000004" / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="must be a whole checkpoint"):
        train(recipe(), data, begun)


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ValueError, match="data must be empty, or hold a run"):
        train(recipe(), data, data)
    with pytest.raises(ValueError, match=r"train.en must be a folder: it is a file"):
        train(recipe(), data, data / "train.en")


def test_an_infinite_loss_names_the_step_and_pairs_too_long_are_refused(tmp_path, data) -> None:
    with pytest.raises(ValueError, match=r"gradient must be finite: at step \d+ it is not"):
        train(recipe(lr=1e30, warmup=1, clip=1e30), data, tmp_path / "run")
    with pytest.raises(ValueError, match="longest must leave pairs to train on: it is 1"):
        train(recipe(longest=1), data, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_pairs_left_out_are_counted(tmp_path: Path, data: Path, capsys: Any) -> None:
    train(recipe(steps=1), data, tmp_path / "all")
    assert "130 pairs, " in capsys.readouterr().out
    train(recipe(steps=1, longest=12), data, tmp_path / "short")
    ((kept, left),) = re.findall(r"(\d+) pairs \((\d+) too long", capsys.readouterr().out)
    assert int(kept) + int(left) == 130


@pytest.mark.parametrize(
    "at", [pytest.param(n, marks=() if n in (1, 13) else pytest.mark.heavy) for n in range(1, 14)]
)
def test_a_disk_that_fills_up_leaves_the_last_checkpoint(
    tmp_path: Path, data: Path, straight: Callable[..., Path], monkeypatch: Any, at: int
) -> None:
    """Whichever write fails, what was written before is whole, and the run goes on from there."""
    wanted = weights(straight(model="transformer"))
    real, calls = os.fsync, itertools.count(1)

    def full(descriptor: int) -> None:
        if next(calls) >= at:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        train(recipe(), data, tmp_path / "run")
    monkeypatch.setattr(os, "fsync", real)
    if has_checkpoint(tmp_path / "run"):
        read_checkpoint(tmp_path / "run")
    assert same(trained(data, tmp_path / "run"), wanted)
    names = {path.name for path in (tmp_path / "run").rglob("*")}
    assert not {name for name in names if name.startswith(".")}


@pytest.mark.heavy
def test_a_run_that_is_killed_ten_times_ends_on_the_same_bits(tmp_path: Path) -> None:
    data = multi30k(tmp_path / "data")
    choices = {"steps": 400, "snapshot_every": 5, "validate_every": 50}
    began = time.monotonic()
    wanted = trained(data, tmp_path / "straight", **choices)
    needed = time.monotonic() - began
    code = (
        "from tests.attnlab.translation.small import trained; from pathlib import Path;"
        f"trained(Path({str(data)!r}), Path({str(tmp_path / 'run')!r}), **{choices!r})"
    )
    chance, kills = random.Random(0), 0
    while kills < 10:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
        log = tmp_path / "run" / "recipe.json"
        while process.poll() is None and not log.exists():
            time.sleep(0.01)
        try:
            process.wait(timeout=chance.uniform(0, 3 + needed / 5))
            break  # it was done before
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        if has_checkpoint(tmp_path / "run"):
            read_checkpoint(tmp_path / "run")
    assert kills >= 5
    assert same(trained(data, tmp_path / "run", **choices), wanted)
