"""Errors at the door, in the words of ``attnbook``: the argument, what was wanted, what came."""

import importlib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np
import torch

# the two packages are released together, and say what is wrong in one way
from attnbook._check import ids, kind, multiple, must, one_of, shapes, wrong

__all__ = [
    "ids",
    "indices",
    "integers",
    "is_a",
    "is_number",
    "kind",
    "multiple",
    "must",
    "needed",
    "one_of",
    "positive",
    "probability",
    "shapes",
    "sizes",
    "tensor",
    "whole_number",
    "whole_numbers",
    "wrong",
]


def sizes(at_least: int = 1, /, **numbers: Any) -> None:
    """Ask for whole numbers that are large enough."""
    for name, number in numbers.items():
        if not isinstance(number, Integral) or isinstance(number, bool) or number < at_least:
            raise wrong(name, f"be a whole number of at least {at_least}", number)


def is_number(came: Any) -> bool:
    """Tell whether ``came`` is a finite real number; ``True`` is none."""
    return isinstance(came, Real) and not isinstance(came, bool) and math.isfinite(came)


def positive(name: str, number: Any) -> None:
    """Ask for a number above 0."""
    must(is_number(number) and number > 0, name, "be above 0 and finite", number)


def probability(name: str, number: Any) -> None:
    """Ask for a number from [0, 1)."""
    must(is_number(number) and 0 <= number < 1, name, "be at least 0 and below 1", number)


def is_a(name: str, came: object, kind: Any, words: str) -> None:
    """Raise ``TypeError`` for anything but a ``kind``, named by ``words``."""
    told = f"it is a {type(came).__name__}"
    must(isinstance(came, kind), name, f"be {words}", but=told, error=TypeError)


def indices(name: str, chosen: list[Any], size: int) -> list[int]:
    """Ask for indices below ``size``, which may count from the end; return them from the start."""
    whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in chosen)
    fine = whole and all(-size <= one < size for one in chosen)
    must(fine, name, f"be whole numbers from 0 to {size - 1}", chosen)
    return [int(one) % size for one in chosen]


def integers(name: str, tensor: Any) -> None:
    """Ask for a tensor of whole numbers."""
    is_a(name, tensor, torch.Tensor, "a torch.Tensor")
    other = tensor.dtype == torch.bool or tensor.is_floating_point() or tensor.is_complex()
    must(not other, name, "hold whole numbers", but=f"its dtype is {tensor.dtype}")


def whole_number(name: str, number: Any, *, at_least: int = 0) -> None:
    """Ask for a whole number that is large enough, whatever its name."""
    sizes(at_least, **{name: number})


def whole_numbers(name: str, came: Any) -> list[int]:
    """Return a list, an array or a tensor of whole numbers as a list; refuse all others."""
    came = came.tolist() if hasattr(came, "tolist") else came
    if isinstance(came, str | bytes) or not isinstance(came, Iterable):
        raise wrong(name, "be a list of whole numbers", came, error=TypeError)
    several = [one.tolist() if hasattr(one, "tolist") else one for one in came]
    for one in several:
        whole = hasattr(one, "__index__") and not isinstance(one, bool)
        must(whole, name, "be whole numbers", but=f"{one!r} is among them")
    return [index(one) for one in several]


def tensor(came: Any) -> torch.Tensor:
    """Return an array of any strides and bytes, or lists of arrays and numbers, as a tensor.

    Raises: ValueError for masked elements; TypeError, ValueError, RuntimeError for what is none.
    """
    if isinstance(came, np.ndarray):
        if np.ma.is_masked(came):
            raise ValueError("some of its elements are masked")
        long = came.dtype == np.longdouble  # torch has none, nor the bytes of another machine
        came = np.array(came, np.float64 if long else came.dtype.newbyteorder("="), order="C")
    nested = (torch.Tensor, np.ndarray, list, tuple)
    if isinstance(came, list | tuple) and any(isinstance(one, nested) for one in came):
        return torch.stack([tensor(one) for one in came])
    return torch.as_tensor(came)


def needed(module: str, what: str, extra: str = "") -> Any:
    """Import a module that ``what`` needs, or say which extra of ``attnlab`` brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        asked = f"attnlab[{extra}]" if extra else "attnlab"
        words = f'{what} needs the package {package}: pip install "{asked}"'
        raise ImportError(words) from error
