"""A row of the tables of bad input: a call, the exception, and words that its message holds."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

Calls = dict[str, list[tuple[Any, ...]]]


class Row(NamedTuple):
    """A call that must fail. ``of`` is the module and the name that it tests."""

    of: str
    call: Callable[[], Any]
    words: str
    error: type[Exception] = ValueError


def rows(calls: Calls) -> list[Row]:
    """Return the rows of a table that lists each name's calls once."""
    return [Row(of, *call) for of, several in calls.items() for call in several]


def zeros(*shape: int, **options: Any) -> Tensor:
    return torch.zeros(*shape, **options)


X, M = zeros(2, 5, 8), torch.ones(5, 5).bool()
IDS, LENGTHS = torch.ones(2, 3).long(), torch.tensor([3, 2])
HEADS = zeros(2, 4, 5, 2)
NAN = float("nan")
FLOATS, WHOLE = "must hold floating-point numbers", "must be a whole number of at least"
