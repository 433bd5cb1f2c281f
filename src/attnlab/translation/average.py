"""The last few sets of a run's weights, and their mean, which translates better than each."""

from pathlib import Path

import torch
from torch import Tensor, nn

from attnlab import _check
from attnlab.translation.journal import write_whole

Weights = dict[str, Tensor]


class Snapshots:
    """The last ``keep`` sets of weights, in memory and, with a folder, on the disk.

    A set is written before the checkpoint of its step, and an old one removed only after it: so
    whenever a machine stops, the sets that the last checkpoint needs are there.
    """

    def __init__(self, folder: Path | None, keep: int) -> None:
        self.folder, self.keep = folder, keep
        self.sets: dict[int, Weights] = {}

    def add(self, step: int, model: nn.Module) -> None:
        """Keep a copy of the weights after ``step``."""
        self.sets[step] = distinct(model)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            save = _check.needed("safetensors.torch", "a snapshot").save
            write_whole(self._path(step), save(self.sets[step]))
        for old in sorted(self.sets)[: -self.keep]:
            del self.sets[old]

    def prune(self) -> None:
        """Remove from the disk what is no longer needed: a checkpoint was just written."""
        if self.folder is not None and self.sets:
            for path in self.folder.glob("step-*.safetensors"):
                if int(path.stem[5:]) < min(self.sets):
                    path.unlink()

    def read(self, step: int) -> None:
        """Read the last sets up to ``step`` from the disk.

        Raises: ValueError for a file that cannot be read.
        """
        if self.folder is None or not self.folder.is_dir():
            return
        load = _check.needed("safetensors.torch", "a snapshot").load
        paths = {int(path.stem[5:]): path for path in self.folder.glob("step-*.safetensors")}
        for number in sorted(n for n in paths if n <= step)[-self.keep :]:
            try:
                self.sets[number] = load(paths[number].read_bytes())
            except Exception as error:
                raise ValueError(f"{paths[number]} cannot be read: {error}") from error

    def mean(self, model: nn.Module) -> Weights:
        """Average the sets, in float64; with none, the weights as they are."""
        sets = list(self.sets.values()) or [distinct(model)]
        return {
            name: torch.stack([one[name].double() for one in sets]).mean(dim=0).to(first)
            for name, first in sets[0].items()
        }

    def _path(self, step: int) -> Path:
        return (self.folder or Path()) / f"step-{step:08d}.safetensors"


def distinct(model: nn.Module) -> Weights:
    """Copy a model's weights to the CPU, a shared one under its first name alone."""
    return {name: weight.detach().to("cpu", copy=True) for name, weight in model.named_parameters()}


def load_distinct(model: nn.Module, weights: Weights) -> None:
    """Copy into a model what ``distinct`` returned.

    Raises: ValueError for other names or shapes.
    """
    own = dict(model.named_parameters())
    shapes = [{name: tuple(one.shape) for name, one in some.items()} for some in (own, weights)]
    if shapes[0] != shapes[1]:
        wrong = sorted(set(shapes[0].items()) ^ set(shapes[1].items()))[0]
        raise ValueError(f"the weights must be this recipe's: {wrong[0]!r} is not")
    with torch.no_grad():
        for name, weight in weights.items():
            own[name].copy_(weight)
