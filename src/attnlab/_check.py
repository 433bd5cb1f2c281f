"""Errors at the door, in the words of ``attnbook``: the argument, what was wanted, what came."""

import importlib
from typing import Any

# the two packages are released together, and say what is wrong in one way
from attnbook._check import (
    flags,
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
    sentences,
    sizes,
    tokens,
    whole_number,
    whole_numbers,
)

__all__ = [
    "flags",
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
    "sentences",
    "sizes",
    "tokens",
    "whole_number",
    "whole_numbers",
]


def needed(module: str, what: str, extra: str = "") -> Any:
    """Import a module that ``what`` needs, or say which extra of ``attnlab`` brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        asked = f"attnlab[{extra}]" if extra else "attnlab"
        words = f'{what} needs the package {package}: pip install "{asked}"'
        raise ImportError(words) from error
