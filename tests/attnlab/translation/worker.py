"""Several processes, as torchrun would start them, and what each of them does in the tests.

They are forked from a server that has imported torch once: torchrun's own import it one by one.
"""

import multiprocessing
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from attnlab.translation.buckets import Buckets
from attnlab.translation.model import Learner, build, nothing
from attnlab.translation.run import train
from attnlab.translation.team import Team, leave, team
from tests.attnlab.translation.small import recipe

PAIRS = [([4 + k % 9] * (1 + k % 5), [5 + k % 7] * (1 + k % 4)) for k in range(40)]
LONG = 300  # seconds, for a machine that has much else to do


def together(n: int, work: Callable[..., Any], *arguments: Any) -> None:
    """Call ``work(team, *arguments)`` in n processes that are one team."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["attnlab.translation.run"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = [(rank, n, port, work, arguments) for rank in range(n)]
    processes = [context.Process(target=_join, args=own, daemon=True) for own in given]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LONG)
        process.kill()  # one that waits for another, which has failed
    assert [process.exitcode for process in processes] == [0] * n


def _join(rank: int, world: int, port: int, work: Callable[..., Any], arguments: tuple) -> None:
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world}
    place |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in place.items()}
    torch.set_num_threads(1)
    with team("cpu") as here:
        work(here, *arguments)
    leave()


def gradient(here: Team, tokens: int) -> dict[str, torch.Tensor]:
    """Return the gradient of a step's mean loss, as ``Run.update`` computes it, in float64."""
    model = build(recipe(), 20).double().eval()  # without dropout
    learner = here.shared(Learner(model, 0.1))
    share = Buckets(PAIRS, tokens, 0).step(3, here.rank, here.world)
    batch = nothing(here.device) if share.batch is None else share.batch
    (learner(batch) * (here.world / share.tokens)).backward()
    return {name: weight.grad for name, weight in model.named_parameters()}


def write_gradient(here: Team, file: Path, tokens: int) -> None:
    found = gradient(here, tokens)
    if here.main:
        safetensors.torch.save_file({name: one.contiguous() for name, one in found.items()}, file)


def train_exactly(here: Team, data: Path, run: Path, steps: int) -> None:
    """Train in float64, without dropout."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        train(recipe(dropout=0.0, steps=steps), data, run, team=here, precision="float32")
    finally:
        torch.set_default_dtype(before)
