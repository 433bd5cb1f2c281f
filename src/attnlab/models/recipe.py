"""The recipe by which every model of the lectures is trained, and what is remembered of it.

    history = learn(model, examples, steps=500, warmup=50, lr=3e-3, batch_size=64, seed=0)

Where the environment's ``ATTNBOOK_CACHE`` names a folder, a model that was trained before is read
from there. It is found again by what the training does, not by the code that does it: the kind of
machine and what its libraries are told to do with it, the first weights, the data of two epochs,
the rate of every step and the first losses. So a comment trains nothing again, and another
initialisation does.
"""

import math
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from attnlab.language.batching import Example, batches
from attnlab.training.epochs import Batches, Epochs, checksum
from attnlab.training.loop import ADAM, History, Loss, train
from attnlab.training.losses import teacher_forced_loss
from attnlab.training.rounding import nudged, told, unwatched
from attnlab.training.schedules import Schedule, constant, warmup_cosine

CACHE = "ATTNBOOK_CACHE"
FIRST = 3  # steps that tell one training from another
# variables by which MKL and oneDNN are told to compute as on another processor: torch's name for
# the processor stays the same, the last bits of a matrix product and of GELU do not
_TOLD = ("MKL_", "ONEDNN_", "DNNL_")


class Beginning(NamedTuple):
    """The first losses of a training, and what shows only later.

    ``rates`` is lr · Σ schedule(s), the sum of the rates of all steps; ``clip`` is the greatest
    norm that a gradient may have, ∞ where it may have any.
    """

    losses: list[float]
    rates: float
    clip: float


_WATCHED: ContextVar[list[Beginning] | None] = ContextVar("watched", default=None)


@contextmanager
def first_steps() -> Generator[list[Beginning]]:
    """Let each training in the block take its first 3 steps only, in double precision.

        with first_steps() as beginnings:
            model, history = translator(lesson)  # weights in float64, hardly trained
        beginnings[0].losses

    What is made in the block is made in float64. Nothing is remembered. Dropout draws by
    ``torch.rand``, whose numbers are the same on every machine; so the losses are the same, too.
    """
    found: list[Beginning] = []
    token, dtype = _WATCHED.set(found), torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield found
    finally:
        torch.set_default_dtype(dtype)
        _WATCHED.reset(token)


def learn(
    model: nn.Module,
    examples: Sequence[Example],
    loss: Loss = teacher_forced_loss,
    *,
    steps: int,
    warmup: int,
    lr: float,
    batch_size: int,
    seed: int,
    progress: bool = True,
) -> History:
    """Train ``model`` on pairs (source, target) of numbers, each epoch in an order of its own.

    Adam with gradients clipped to a norm of 1; the rate rises for ``warmup`` steps to ``lr`` and
    falls along half a cosine to 0. ``seed`` decides the order of the pairs.

    Raises: ValueError as ``warmup_cosine``, ``train`` and ``language.batches``.
    """
    return fit(
        model,
        lambda epoch: batches(examples, batch_size, seed=seed * 1_000 + epoch),
        loss,
        steps=steps,
        lr=lr,
        schedule=warmup_cosine(warmup, steps),
        seed=seed,
        progress=progress,
    )


def fit(
    model: nn.Module,
    batches: Batches,
    loss: Loss = teacher_forced_loss,
    *,
    steps: int,
    lr: float,
    schedule: Schedule | None = None,
    optimizer: Callable[..., Optimizer] = ADAM,
    clip: float | None = 1.0,
    seed: int = 0,
    progress: bool = True,
) -> History:
    """``train`` with these arguments, or read what such a training gave before.

    Raises: ValueError and TypeError as ``train``.
    """
    same = {"lr": lr, "schedule": schedule, "optimizer": optimizer, "clip": clip, "seed": seed}
    run = partial(train, loss=loss, **same)
    begin = partial(run, batches=_first(batches), steps=min(FIRST, steps), progress=False)
    factor = constant() if schedule is None else schedule
    watched, folder = _WATCHED.get(), os.environ.get(CACHE)
    if watched is not None:
        with _even_dropout(model.double()):
            history = begin(model)
        rates = lr * sum(factor(step) for step in range(1, steps + 1))
        watched.append(Beginning(history.losses, rates, math.inf if clip is None else clip))
        return history
    if not folder:
        return run(model, batches, steps=steps, progress=progress)
    with unwatched():
        first = begin(deepcopy(model)).losses
    rates = lr, [factor(step) for step in range(1, steps + 1)]
    data = [Epochs(batches, seed).read(k) for k in (0, 1)]
    file = Path(folder) / f"{_sum_of(model, data, first, *rates, clip, seed)}.pt"
    if not file.exists():
        history = run(model, batches, steps=steps, progress=progress)
        _keep(file, (model.state_dict(), history.losses))
        return history
    state, losses = torch.load(file, weights_only=True)
    model.load_state_dict(state)
    model.eval()
    told(losses)
    return History(losses)


def _sum_of(model: nn.Module, data: list[Any], *run: Any) -> str:
    """Sum up what decides a training: the machine, the first weights, the data and the run."""
    machine = torch.backends.cpu.get_cpu_capability(), torch.get_num_threads()
    told = sorted(item for item in os.environ.items() if item[0].startswith(_TOLD))
    shapes = [(name, tuple(tensor.shape)) for name, tensor in model.state_dict().items()]
    weights = checksum([model.state_dict(), *data])
    behaviour = nudged(), torch.__version__, *machine, told, shapes, weights, *run
    return sha256(repr(behaviour).encode()).hexdigest()[:16]


def _keep(file: Path, trained: tuple[dict[str, Tensor], list[float]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_suffix(f".{os.getpid()}")
    torch.save(trained, half)
    half.replace(file)  # whole or not at all, where two write it at once


def _first(batches: Batches) -> Batches:
    """Return the batches of the first steps alone: no other is made."""
    if callable(batches):
        return lambda epoch: islice(batches(epoch), FIRST)
    return batches[:FIRST] if isinstance(batches, list) else batches


@contextmanager
def _even_dropout(model: nn.Module) -> Generator[None]:
    draws = torch.Generator().manual_seed(0)

    def drop(module: nn.Dropout, inputs: tuple[Tensor], output: Tensor) -> Tensor:
        if not module.training:
            return output
        (x,) = inputs
        kept = torch.rand(x.shape, generator=draws, dtype=x.dtype) >= module.p
        return x * kept / (1 - module.p)

    layers = [layer for layer in model.modules() if isinstance(layer, nn.Dropout)]
    hooks = [layer.register_forward_hook(drop) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
