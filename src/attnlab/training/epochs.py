"""The data of a training run: one batch after another, epoch after epoch."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from attnlab.training.seeds import seeded

Batches = Iterable[Any] | Callable[[int], Iterable[Any]]


class Epochs:
    """Batches without end; two numbers, the epoch and the position in it, say where they stand."""

    def __init__(self, batches: Batches, seed: int) -> None:
        # an iterator could be read only once: it has no second epoch, and cannot be resumed
        if isinstance(batches, Iterator) or not (
            callable(batches) or isinstance(batches, Iterable)
        ):
            raise ValueError(
                "batches must be a list, or a function from the epoch to its batches: it is "
                f"a {type(batches).__name__}"
            )
        self.batches, self.seed = batches, seed
        self.epoch, self.position = 0, 0
        self.today: list[Any] | None = None

    def next(self) -> Any:
        """Return the next batch, of the next epoch where this one is over."""
        if self.today is None:
            self.today = self.read(self.epoch)
        if self.position == len(self.today):
            self.epoch, self.position = self.epoch + 1, 0
            self.today = self.read(self.epoch)
        self.position += 1
        return self.today[self.position - 1]

    def state(self) -> dict[str, Any]:
        """Say where the data stand, for a checkpoint."""
        return {
            "seed": self.seed,
            "epoch": self.epoch,
            "position": self.position,
            "batches in the epoch": 0 if self.today is None else len(self.today),
            "hash of the epoch": checksum(self.today),
        }

    def go_to(self, state: dict[str, Any]) -> None:
        """Stand where ``state`` says.

        Raises: ValueError for another seed, or an epoch with other batches.
        """
        self.epoch, self.position = state["epoch"], state["position"]
        self.today = self.read(self.epoch)
        here = self.state()
        different = [
            f"{name}: {state[name]} there, {here[name]} here"
            for name in here
            if here[name] != state[name]
        ]
        if different:
            raise ValueError(
                f"seed and batches must be those of the checkpoint's run ({'; '.join(different)})"
            )

    def read(self, epoch: int) -> list[Any]:
        """Return all batches of an epoch."""
        # epochs draw from seeds of their own, so that a run can begin with any of them
        with seeded(self.seed * 1_000_003 + epoch):
            today = list(self.batches(epoch) if callable(self.batches) else self.batches)
        if not today:
            raise ValueError(f"batches must hold at least one: epoch {epoch} holds none")
        return today


def checksum(data: Any) -> str:
    """Sum up all tensors in nested lists, tuples and dictionaries."""
    digest, rest = hashlib.sha256(), [data]
    while rest:
        value = rest.pop()
        if isinstance(value, Tensor):
            digest.update(
                value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data
            )
        elif isinstance(value, Mapping):
            rest.extend(value.values())
        elif isinstance(value, list | tuple):
            rest.extend(value)
    return digest.hexdigest()[:16]
