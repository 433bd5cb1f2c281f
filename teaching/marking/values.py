"""Answers as plain data: how they leave a student's process, and are read where they are judged."""

from __future__ import annotations

import base64
import binascii
import builtins
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnlab.exercises import Blank, Mistake

Path = tuple[int, ...]  # the place of a part within an answer
Callables = Callable[[str, Path, str], Any]  # of "function" or "class", its place and its name
DTYPES = {str(kind): kind for kind in vars(torch).values() if isinstance(kind, torch.dtype)}
DEPTH = 20


class Unreadable(Exception):
    """What came out of a student's process is no encoded value."""


def encode(value: Any, path: Path | None = ()) -> list[Any]:
    """Return ``value`` as lists that JSON can hold.

    What can be called becomes its place, ``path``, by which it is called, a class of modules too;
    with ``path`` None it and everything else that is no data becomes the name of its type.
    """
    if path is not None and len(path) > DEPTH:
        raise ValueError(f"nested more than {DEPTH} deep")
    if value is None or value is ...:
        return ["none" if value is None else "dots"]
    if isinstance(value, bool | np.bool_):
        return ["bool", bool(value)]
    if isinstance(value, np.ndarray | np.generic):
        return _array(value)
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, int | float):
        kind = "int" if isinstance(value, int) else "float"
        return [kind, int(value)] if kind == "int" else [kind, float(value).hex()]
    if isinstance(value, str):
        return ["str", str(value)]
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return [kind.__name__, [encode(one, _at(path, k)) for k, one in enumerate(value)]]
    if isinstance(value, Mapping):
        pairs = [
            [encode(key, None), encode(one, _at(path, k))]
            for k, (key, one) in enumerate(value.items())
        ]
        return ["dict", pairs]
    if path is not None and callable(value):
        modules = isinstance(value, type) and issubclass(value, nn.Module)
        kind = "class" if modules else "function"
        return [kind, list(path), str(getattr(value, "__name__", ""))]
    return ["object", type(value).__name__]


def _at(path: Path | None, place: int) -> Path | None:
    return None if path is None else (*path, place)


def _tensor(value: Tensor) -> list[Any]:
    if value.layout is not torch.strided or value.is_quantized or value.device.type != "cpu":
        return ["object", "Tensor"]
    # the bytes of any dtype, bfloat16 too, which numpy has not
    whole = value.detach().resolve_conj().resolve_neg().contiguous().flatten()
    held = whole.view(torch.uint8).numpy().tobytes() if whole.numel() else b""
    return ["tensor", str(value.dtype), list(value.shape), base64.b64encode(held).decode()]


def _array(value: Any) -> list[Any]:
    if value.dtype.kind not in "biufc":
        return ["object", type(value).__name__]
    held = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return [kind, value.dtype.str, list(value.shape), held]


def decode(data: Any, function: Callables | None = None) -> Any:
    """Return the value that ``encode`` wrote; ``function`` makes what stands for a function.

    Raises: Unreadable for anything else.
    """
    try:
        return _decode(data, function)
    except Unreadable:
        raise
    except (TypeError, ValueError, KeyError, IndexError, RuntimeError, binascii.Error) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def _decode(data: Any, function: Callables | None) -> Any:
    kind, *rest = data
    if kind in ("none", "dots"):
        return None if kind == "none" else ...
    if kind in ("bool", "int", "str"):
        (value,) = rest
        if type(value).__name__ != kind:
            raise Unreadable(f"{kind} of type {type(value).__name__}")
        return value
    if kind == "float":
        return float.fromhex(rest[0])
    if kind in ("list", "tuple", "set", "frozenset"):
        return getattr(builtins, kind)(_decode(one, function) for one in rest[0])
    if kind == "dict":
        return {_decode(key, None): _decode(one, function) for key, one in rest[0]}
    if kind == "tensor":
        return _as_tensor(*rest)
    if kind in ("array", "scalar"):
        name, shape, held = rest
        dtype = np.dtype(str(name))
        if dtype.kind not in "biufc":
            raise Unreadable(f"an array of {dtype}")
        found = np.frombuffer(base64.b64decode(held), dtype=dtype).reshape(shape).copy()
        return found if kind == "array" else found[()]
    if kind in ("function", "class") and function is not None:
        return function(kind, tuple(int(k) for k in rest[0]), str(rest[1]))
    if kind in ("object", "function", "class"):
        # a check names the type of what it refuses
        return type(str(rest[0]) if kind == "object" else kind, (), {})()
    raise Unreadable(f"a value of kind {kind!r}")


def _as_tensor(name: str, shape: list[int], held: str) -> Tensor:
    dtype, raw = DTYPES[name], base64.b64decode(held)
    if any(type(n) is not int or n < 0 for n in shape):
        raise Unreadable(f"a tensor of shape {shape}")
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise Unreadable(f"a tensor {shape} of {len(raw)} bytes")
    if not raw:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)


def plain(value: Any, *, functions: bool = False) -> bool:
    """Whether a value read from its encoding is what it was, a tensor's strides included.

    With ``functions``, one may be among them: what it is called with comes back.
    """
    if isinstance(value, Tensor):
        return type(value) is Tensor and value.is_contiguous() and not value.requires_grad
    if type(value) in (dict, OrderedDict):
        return all(plain(one, functions=functions) for one in value.values()) and plain([*value])
    if type(value) in (list, tuple, set, frozenset):
        return all(plain(one, functions=functions) for one in value)
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.flags.c_contiguous
    held = (type(None), bool, int, float, str, *((FunctionType,) if functions else ()))
    return type(value) in held


def part(value: Any, path: Path) -> Any:
    """Return the part of an answer at ``path``, as ``encode`` counted."""
    for place in path:
        parts = value.values() if isinstance(value, Mapping) else value
        value = list(parts)[place]
    return value


def raised(name: str, words: str) -> Exception:
    """Return what a student's code raised, as an exception that a check may catch by its type.

    The checks' own exceptions come from arguments that refuse what is done with them; raised by a
    student they say "not yet" or "blank", and never "correct".
    """
    if name in ("Mistake", "Blank"):
        return (Mistake if name == "Mistake" else Blank)(words)
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and kind is not StopIteration:
        try:
            return kind(words)
        except TypeError:  # UnicodeDecodeError wants five arguments
            pass
    return type(name, (Exception,), {})(words)
