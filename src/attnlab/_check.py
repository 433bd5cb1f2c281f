"""Errors at the door, in the words of ``attnbook``: the argument, what was wanted, what came."""

import importlib
from collections.abc import Iterable
from operator import index
from typing import Any

# the two packages are released together, and say what is wrong in one way
from attnbook._check import (
    floats,
    indices,
    integers,
    is_a,
    is_number,
    lengths,
    multiple,
    must,
    one_of,
    positive,
    probability,
    rows,
    sizes,
    wrong,
)

__all__ = [
    "floats",
    "indices",
    "integers",
    "is_a",
    "is_number",
    "lengths",
    "multiple",
    "must",
    "needed",
    "one_of",
    "positive",
    "probability",
    "rows",
    "sizes",
    "whole_number",
    "whole_numbers",
    "wrong",
]


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


def needed(module: str, what: str, extra: str = "") -> Any:
    """Import a module that ``what`` needs, or say which extra of ``attnlab`` brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        asked = f"attnlab[{extra}]" if extra else "attnlab"
        words = f'{what} needs the package {package}: pip install "{asked}"'
        raise ImportError(words) from error
