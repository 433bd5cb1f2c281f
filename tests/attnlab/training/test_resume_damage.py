"""Checkpoints: nothing damaged, outdated or foreign is believed, and nothing is overwritten."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam

from attnlab.training import train
from attnlab.training.resume import has_checkpoint, read_checkpoint, save_checkpoint
from tests.attnlab.training.runs import (
    Bigrams,
    bigram_loss,
    contents,
    copied,
    counting,
    full_run,
    same_bits,
)

Change = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    full_run(Bigrams(), steps=7, checkpoint=folder)
    return folder


@pytest.fixture
def saved(original: Path, tmp_path: Path) -> Path:
    """Return a folder with a checkpoint of step 7."""
    return shutil.copytree(original, tmp_path, dirs_exist_ok=True)


def refused(folder: Path, message: str, model: nn.Module | None = None, **options: Any) -> None:
    """Assert that a run does not go on from a folder, and that nothing at all is changed."""
    model = Bigrams(seed=9) if model is None else model
    weights, files = copied(model), contents(folder)
    with pytest.raises(ValueError, match=message) as caught:
        full_run(model, **{"checkpoint": folder, "resume": True, **options})
    assert caught.type is ValueError  # not one of JSON's
    assert same_bits(copied(model), weights)
    assert contents(folder) == files


FILES = ("model.safetensors", "optimizer.safetensors", "best.safetensors", "state.json")


def cut(share: float) -> Change:
    return lambda data: data[: int(share * len(data))]


def one_bit(where: float) -> Change:
    def change(data: bytes) -> bytes:
        at = int(where * len(data))
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return change


def state(**changed: Any) -> Change:
    return lambda data: json.dumps({**json.loads(data), **changed}).encode()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", [cut(0), cut(0.99), one_bit(0.3), one_bit(0.95)])
def test_a_damaged_file_is_refused(saved: Path, name: str, change: Change) -> None:
    file = saved / "step-00000007" / name
    file.write_bytes(change(file.read_bytes()))
    refused(saved, "step-00000007 must be a whole checkpoint")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused(saved: Path, name: str) -> None:
    (saved / "step-00000007" / name).unlink()
    refused(saved, f"whole checkpoint: {name} cannot be opened. Nothing was changed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (state(version=0), "must be of version 1 of the format: it is of version 0"),
        (state(version=2), "must be of version 1 of the format: it is of version 2"),
        (state(format="another"), "must hold an 'attnbook checkpoint': it holds 'another'"),
        (state(step=8), "state.json is not what was written"),
        *(
            (lambda _, text=text: text, "state.json cannot be read")
            for text in (b"[]", b"{}", b"7")
        ),
    ],
)
def test_another_state_is_refused(saved: Path, change: Change, message: str) -> None:
    file = saved / "step-00000007" / "state.json"
    file.write_bytes(change(file.read_bytes()))
    refused(saved, message)


def more() -> Bigrams:
    model = Bigrams()
    model.extra = nn.Linear(1, 1)
    return model


def fewer() -> Bigrams:
    model = Bigrams()
    model.output = nn.Identity()
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Bigrams(d=5),
            r"'embed.weight' has the shape \(7, 4\) there and \(7, 5\) in the model",
        ),
        (more, "only the model has it, 'extra.bias'"),
        (fewer, "only the checkpoint has it, 'output.weight'"),
        (lambda: Bigrams().double(), "dtype torch.float32 there and torch.float64 in the model"),
        (lambda: Bigrams(tied=True), "shared there are {}, in the model {'output.weight'"),
    ],
)
def test_another_model_is_refused(saved: Path, make: Any, message: str) -> None:
    refused(saved, message, make())


def frozen() -> Bigrams:
    model = Bigrams(seed=9)
    model.embed.weight.requires_grad_(False)
    return model


def test_another_optimiser_seed_or_data_is_refused(saved: Path) -> None:
    told = "must hold the optimiser's numbers: its class is Adam, the optimiser's SGD"
    refused(saved, told, optimizer=SGD)
    refused(saved, "its shapes is", frozen())
    told = "seed and batches must be those of the checkpoint's run .*seed: 1 there, 2 here"
    refused(saved, told, seed=2)
    model = Bigrams()
    for batches in (counting(4), counting(3, 4, 4, 5, 6, 8, seed=1)):
        with pytest.raises(ValueError, match=r"those of the checkpoint's run.*hash of the epoch: "):
            train(model, batches, bigram_loss, steps=9, seed=1, checkpoint=saved, resume=True)
    assert same_bits(copied(model), copied(Bigrams()))


def test_data_that_cannot_be_brought_back_are_noticed(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)  # lives on from epoch to epoch

    def epochs(epoch: int) -> list[Tensor]:
        return [counting(3, 4, 5, 6, 7)[k] for k in torch.randperm(5, generator=generator)]

    options = {"checkpoint": tmp_path, "progress": False}
    train(Bigrams(), epochs, bigram_loss, steps=7, **options)
    with pytest.raises(ValueError, match="hash of the epoch"):
        train(Bigrams(), epochs, bigram_loss, steps=20, resume=True, **options)


def test_a_checkpoint_is_not_overwritten_unasked(saved: Path) -> None:
    told = "^checkpoint must be a folder without one: .* holds one. Name another folder, or go on"
    refused(saved, f"{told} from it with resume=True", resume=False)
    with pytest.raises(ValueError, match="must not hold step 7 already"):
        save_checkpoint(saved, Bigrams(), Adam(Bigrams().parameters()), step=7)


def test_a_checkpoint_of_weights_alone_is_no_run(tmp_path: Path) -> None:
    model = Bigrams()
    save_checkpoint(tmp_path, model, Adam(model.parameters()), step=3)
    refused(tmp_path, "checkpoint must be one that train wrote: .*step-00000003 is not")


def test_a_folder_without_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "step-one").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="must hold a checkpoint, a folder named step-…: it holds"):
        read_checkpoint(tmp_path)
    assert not has_checkpoint(tmp_path / "nowhere")
    full_run(Bigrams(), steps=2, checkpoint=tmp_path, resume=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(ValueError, match=r"checkpoint must be a folder: .*notes.txt is a file"):
        full_run(Bigrams(), checkpoint=tmp_path / "notes.txt")
