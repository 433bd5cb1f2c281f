"""The processes of a run: one alone, or several that torchrun has started.

Each takes its share of every batch; the gradients are averaged by ``DistributedDataParallel``, over
gloo on processors and nccl on GPUs. The first of them, ``main``, alone writes.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from attnlab import _check

Value = TypeVar("Value")
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Team:
    """One process's place among ``world``, and its device."""

    rank: int = 0
    world: int = 1
    device: torch.device = CPU

    @property
    def main(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def broadcast(self, value: Value) -> Value:
        """Return what the first process gave."""
        if self.world == 1:
            return value
        box = [value if self.main else None]
        distributed.broadcast_object_list(box, src=0, device=self.device)
        return box[0]  # type: ignore[return-value]

    def gather(self, value: Value) -> list[Value]:
        """Return what each process gave, in every one of them."""
        if self.world == 1:
            return [value]
        box: list[Any] = [None] * self.world
        distributed.all_gather_object(box, value)
        return box

    def agree(self, numbers: list[float]) -> list[float]:
        """Sum each number over all processes."""
        if self.world == 1:
            return numbers
        kind = torch.float64
        box = torch.tensor(numbers, dtype=kind, device=self.device)
        distributed.all_reduce(box)
        return box.tolist()

    def shared(self, module: nn.Module) -> nn.Module:
        """Wrap a module whose gradients are to be averaged over all processes."""
        if self.world == 1:
            return module
        ids = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(module, device_ids=ids, gradient_as_bucket_view=True)


@contextmanager
def team(device: str = "auto") -> Generator[Team]:
    """Join the processes that torchrun started; without it there is this one alone.

    ``device`` is "cpu", "cuda", or "auto": a GPU for each process where there are enough.

    Raises: ValueError for another device, or one that is not there.
    """
    _check.one_of("device", device, ("auto", "cpu", "cuda"))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    of_node = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    gpus = torch.cuda.device_count()
    if device == "cuda" and gpus < of_node:
        raise ValueError(f"device must be cpu: there are {gpus} GPUs for {of_node} processes")
    on_gpu = device == "cuda" or (device == "auto" and gpus >= of_node > 0 and gpus > 0)
    place = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    if on_gpu:
        torch.cuda.set_device(place)
    if world == 1:
        yield Team(0, 1, place)
        return
    # a long time: while one process makes the pieces, the others wait
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=timedelta(hours=1))
    try:
        yield Team(rank, world, place)
        distributed.barrier()  # who leaves early takes the connections of the others along
    finally:
        distributed.destroy_process_group()


def leave(code: int = 0) -> NoReturn:
    """End this process at once, when all that it had to write is written.

    At the interpreter's own end gloo's threads may abort a process that has succeeded.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
