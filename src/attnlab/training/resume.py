"""Checkpoints: what a training run needs to go on as if it had never stopped, without pickle.

A checkpoint is a folder inside the run's folder, named after its step:

    run/step-00000400/model.safetensors       the weights
                      optimizer.safetensors   the optimiser's tensors
                      best.safetensors        the best weights so far, where the run validates
                      state.json              all else, and the hash of each file

It is written under another name and renamed when it is complete, and only then are older ones
removed; so whenever a machine stops, the run's folder holds the last complete checkpoint.
"""

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from attnlab import _check
from attnlab.training.seeds import random_state

FORMAT, VERSION = "attnbook checkpoint", 1
Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and found whole: its step, weights and ``state.json``."""

    folder: Path
    step: int
    weights: Tensors
    best: Tensors | None
    optimizer: Tensors
    state: dict[str, Any]

    def load_into(self, model: nn.Module, optimizer: Optimizer | None = None) -> None:
        """Copy the weights into ``model``, and the optimiser's numbers into ``optimizer``.

        Everything is compared first: where anything does not fit, both stay as they are.

        Raises: ValueError for other names, shapes, dtypes or shared weights than the model's, or
        for another kind of optimiser.
        """
        self._must_fit(model)
        if optimizer is not None:
            self._must_fit_optimizer(optimizer)
        model.load_state_dict(self.weights)
        if optimizer is not None:
            groups = optimizer.state_dict()["param_groups"]
            numbers = _nested(self.optimizer | self.state["optimizer"]["numbers"])
            optimizer.load_state_dict({"state": numbers, "param_groups": groups})

    def _must_fit(self, model: nn.Module) -> None:
        own = model.state_dict()
        for name in sorted(own.keys() ^ self.weights.keys()):
            where = "the model has it" if name in own else "the checkpoint has it"
            raise ValueError(f"{self.folder} must hold the model's weights: only {where}, {name!r}")
        for name, saved in sorted(self.weights.items()):
            for what in ("shape", "dtype"):
                mine, theirs = getattr(own[name], what), getattr(saved, what)
                if mine != theirs:
                    mine, theirs = (tuple(x) if what == "shape" else x for x in (mine, theirs))
                    raise ValueError(
                        f"{self.folder} must hold the model's weights: {name!r} has the {what} "
                        f"{theirs} there and {mine} in the model"
                    )
        if _shared(model) != self.state["shared"]:
            raise ValueError(
                f"{self.folder} must hold the model's weights: shared there are "
                f"{self.state['shared']}, in the model {_shared(model)}"
            )

    def _must_fit_optimizer(self, optimizer: Optimizer) -> None:
        saved, own = self.state["optimizer"], _describe(optimizer)
        for what in ("class", "shapes"):
            if saved[what] != own[what]:
                raise ValueError(
                    f"{self.folder} must hold the optimiser's numbers: its {what} is "
                    f"{saved[what]}, the optimiser's {own[what]}"
                )


def save_checkpoint(
    folder: str | Path,
    model: nn.Module,
    optimizer: Optimizer,
    *,
    step: int,
    best: Tensors | None = None,
    run: dict[str, Any] | None = None,
) -> Path:
    """Write a checkpoint of ``step`` into ``folder``, remove older ones and return its path.

    ``best`` is a state_dict of the model; ``run`` is a dictionary that JSON can hold. The state of
    torch's random numbers is written too.

    Raises: ValueError where that step or a later one is there already, ``best`` does not fit the
    model, or the optimiser moves weights of another or keeps what neither safetensors nor JSON
    can hold; TypeError for a ``run`` that is no dictionary.
    """
    folder = Path(folder)
    _check.whole_number("step", step)
    target = folder / f"step-{step:08d}"
    last = _steps(folder)[-1:]
    if last and int(last[0].name[5:]) >= step:
        raise ValueError(
            f"{folder} must not hold step {step} already, nor a later one: it holds {last[0].name}"
        )
    _check_parts(model, optimizer, best, run)
    tensors, numbers = _flat(optimizer.state_dict()["state"])
    shared = _shared(model)
    files = {"model": _without(model.state_dict(), shared), "optimizer": tensors}
    if best is not None:
        files["best"] = _without(best, shared)
    state = {
        "step": step,
        "shared": shared,
        "optimizer": {**_describe(optimizer), "numbers": numbers},
        "random": random_state(),
        "run": run or {},
    }
    _write(target, {f"{name}.safetensors": _bytes(file) for name, file in files.items()}, state)
    for older in _steps(folder):
        if older != target:
            shutil.rmtree(older)
    return target


def has_checkpoint(folder: str | Path) -> bool:
    """Tell whether ``folder`` holds a checkpoint, whole or not."""
    return bool(_steps(Path(folder)))


def read_checkpoint(folder: str | Path) -> Checkpoint:
    """Read the latest checkpoint in ``folder`` and check that it is whole; change nothing.

    Raises: ValueError where there is none, where it was written in another version of the
    format, or where a file is missing, cut short or changed.
    """
    safetensors, error_of = (
        _check.needed(f"safetensors{sub}", "a checkpoint") for sub in (".torch", "")
    )
    folder = Path(folder)
    steps = _steps(folder)
    if not steps:
        raise ValueError(f"{folder} must hold a checkpoint, a folder named step-…: it holds none")
    state = _read_state(steps[-1])
    files = {}
    for name, digest in state["files"].items():
        data = _read(steps[-1] / name)
        if _hash(data) != digest:
            raise _damaged(steps[-1], f"{name} is not the file that state.json names")
        try:
            files[name] = safetensors.load(data)
        except error_of.SafetensorError as error:
            raise _damaged(steps[-1], f"{name} cannot be read ({error})") from error
    best = files.get("best.safetensors")
    return Checkpoint(
        folder=steps[-1],
        step=state["step"],
        weights=_with(files["model.safetensors"], state["shared"]),
        best=None if best is None else _with(best, state["shared"]),
        optimizer=files["optimizer.safetensors"],
        state=state,
    )


def _check_parts(
    model: nn.Module, optimizer: Optimizer, best: Tensors | None, run: dict[str, Any] | None
) -> None:
    if not isinstance(run, dict | None):
        raise TypeError(f"run must be a dictionary: it is a {type(run).__name__}")
    own = {id(weight) for weight in model.parameters()}
    if any(id(weight) not in own for g in optimizer.param_groups for weight in g["params"]):
        raise ValueError("optimizer must move weights of model: it moves others")
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    came = shapes if best is None else {name: tuple(best[name].shape) for name in best}
    if came != shapes:
        raise ValueError(f"best must have the shapes of model's weights, {shapes}: it has {came}")


def _write(target: Path, files: dict[str, bytes], state: dict[str, Any]) -> None:
    state = {"files": {name: _hash(data) for name, data in files.items()}, **state}
    state = json.loads(_json(state))  # as it will be read: JSON's keys are strings
    whole = {"format": FORMAT, "version": VERSION, "hash": _hash(_json(state)), **state}
    draft = target.parent / ".writing"
    if draft.exists():  # of a run that was stopped while it wrote
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    for name, data in {**files, "state.json": _json(whole)}.items():
        with open(draft / name, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # the name must not reach the disk before the content
    draft.rename(target)


def _read_state(folder: Path) -> dict[str, Any]:
    data = _read(folder / "state.json")
    try:
        state = json.loads(data)
        form, version, digest = (state.pop(key) for key in ("format", "version", "hash"))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise _damaged(folder, "state.json cannot be read") from error
    if form != FORMAT:
        raise ValueError(f"{folder} must hold an {FORMAT!r}: it holds {form!r}")
    if version != VERSION:
        raise ValueError(
            f"{folder} must be of version {VERSION} of the format: it is of version {version!r}. "
            f"Read it with the package that wrote it, or train again in another folder"
        )
    if _hash(_json(state)) != digest:
        raise _damaged(folder, "state.json is not what was written")
    return state


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path.parent, f"{path.name} cannot be opened") from error


def _damaged(folder: Path, what: str) -> ValueError:
    return ValueError(f"{folder} must be a whole checkpoint: {what}. Nothing was changed")


def _steps(folder: Path) -> list[Path]:
    found = folder.glob("step-*") if folder.is_dir() else ()
    named = [(path, re.fullmatch(r"step-(\d+)", path.name)) for path in found]
    return sorted((path for path, name in named if name), key=lambda path: int(path.name[5:]))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode()


def _bytes(tensors: Tensors) -> bytes:
    # each a tensor of its own: safetensors refuses those that share memory
    alone = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    return _check.needed("safetensors.torch", "a checkpoint").save(alone)


def _shared(model: nn.Module) -> dict[str, str]:
    """Map the second and later names of each weight to its first."""
    first: dict[int, str] = {}
    names = ((name, id(value)) for name, value in model.state_dict(keep_vars=True).items())
    return {name: first[i] for name, i in names if first.setdefault(i, name) != name}


def _without(tensors: Tensors, shared: dict[str, str]) -> Tensors:
    return {name: tensor for name, tensor in tensors.items() if name not in shared}


def _with(tensors: Tensors, shared: dict[str, str]) -> Tensors:
    return tensors | {name: tensors[first] for name, first in shared.items()}


def _describe(optimizer: Optimizer) -> dict[str, Any]:
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    return {"class": type(optimizer).__name__, "shapes": [list(w.shape) for w in weights]}


def _flat(state: dict[int, dict[str, Any]]) -> tuple[Tensors, dict[str, Any]]:
    tensors, numbers = {}, {}
    for index, entry in state.items():
        for name, value in entry.items():
            if not isinstance(value, Tensor | int | float | bool | None):
                raise ValueError(
                    f"optimizer must keep tensors and numbers only: its {name!r} is a "
                    f"{type(value).__name__}"
                )
            kind = tensors if isinstance(value, Tensor) else numbers
            kind[f"{index}.{name}"] = value
    return tensors, numbers


def _nested(flat: dict[str, Any]) -> dict[int, dict[str, Any]]:
    state: dict[int, dict[str, Any]] = {}
    for key, value in flat.items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = value
    return state
