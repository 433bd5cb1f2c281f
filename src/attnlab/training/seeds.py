"""Random numbers that depend on a seed alone, and leave those of everyone else as they were."""

from base64 import b64decode, b64encode
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from attnlab import _check


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """Draw torch's random numbers from ``seed`` inside the block; go on as before after it.

        with seeded(0):
            model = nn.Linear(2, 3)  # the same weights each time

    Raises: ValueError for a negative or fractional seed.
    """
    _check.whole_number("seed", seed)
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def random_state() -> dict[str, Any]:
    """Return the state of torch's random numbers as text, for JSON."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return {"cpu": _to_text(torch.get_rng_state()), "cuda": [_to_text(one) for one in cuda]}


def set_random_state(state: dict[str, Any]) -> None:
    """Let torch's random numbers go on from what ``random_state`` returned."""
    torch.set_rng_state(_from_text(state["cpu"]))
    for device, text in enumerate(state["cuda"][: torch.cuda.device_count()]):
        torch.cuda.set_rng_state(_from_text(text), device)


def _to_text(state: Tensor) -> str:
    return b64encode(state.numpy().tobytes()).decode("ascii")


def _from_text(text: str) -> Tensor:
    return torch.frombuffer(bytearray(b64decode(text)), dtype=torch.uint8)
