"""What the widgets ask of their arguments, in words a student understands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from traitlets import TraitType

__all__ = [
    "between",
    "either",
    "finite_array",
    "index_of",
    "known_or_own",
    "number_above_zero",
    "of_the_shape",
    "one_line",
    "one_of",
    "ruled",
    "switch",
    "texts",
    "whole",
]

Rule = Callable[[Any, str, Any], Any]

_Given = TypeVar("_Given")
_Trait = TypeVar("_Trait", bound="TraitType[Any, Any]")


def ruled(trait: _Trait, check: Callable[..., Any], **options: Any) -> _Trait:
    """Return a trait that the page has too, each new value of which is checked.

    ``check`` is called with name, value and the options, of which one may be a function of the
    widget; None is right where the trait allows it. What asks for more of the widget is a ``Rule``
    in the trait's tag "rule".
    """

    def rule(widget: Any, name: str, value: Any) -> Any:
        if value is None and trait.allow_none:
            return None
        given = {key: one(widget) if callable(one) else one for key, one in options.items()}
        return check(name, value, **given)

    return trait.tag(sync=True, rule=rule)


def finite_array(name: str, value: Any, *, ranks: tuple[int, ...]) -> np.ndarray:
    """Return ``value`` (tensor, array or nested lists) as float64, of one of the given ranks.

    Raises: ValueError for numbers that are not real, masked, ragged, of another rank, empty,
    infinite or NaN.
    """
    if hasattr(value, "detach"):  # a torch tensor, perhaps on a GPU or in bfloat16
        value = value.detach().cpu()
        value = value.numpy() if value.is_complex() else value.double().numpy()
    if np.ma.isMaskedArray(value):
        raise ValueError(f"{name} must be an array without a mask of its own, got a masked array")
    try:
        came = np.asarray(value)
        if came.dtype.kind in "cmM":  # NumPy would drop what is imaginary, and count days
            raise TypeError(came.dtype)
        array = np.array(came, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be numbers in rows of equal length, got {one_line(value)}"
        ) from error
    if array.ndim not in ranks:
        wanted = " or ".join(str(rank) for rank in ranks)
        raise ValueError(f"{name} must have {wanted} dimensions, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, but holds NaN or infinity")
    return array


def texts(name: str, value: Sequence[str], *, count: int | None = None) -> list[str]:
    """Return ``value`` as a list of ``count`` strings.

    Raises: TypeError for a single string, or something in the list that is not a string; ValueError
    for another number of strings than ``count``.
    """
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of strings, got the one string {value!r}")
    found = list(value)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"{name} must hold strings, got {one_line(item)}")
    if count is not None and len(found) != count:
        raise ValueError(f"{name} must be {count} strings, one for each row, got {len(found)}")
    return found


def of_the_shape(name: str, value: list[Any], *, now: list[Any]) -> list[Any]:
    """Return new numbers for a trait; raise unless they have the shape of those it holds now."""
    if now and np.shape(value) != np.shape(now):
        raise ValueError(f"{name} must keep its shape {np.shape(now)}, got shape {np.shape(value)}")
    return value


def number_above_zero(name: str, value: float) -> float:
    """Return ``value`` as a float, which must be finite and above 0; else ValueError."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def between(name: str, value: float, *, least: float, most: float) -> float:
    """Return ``value`` as a float from ``least`` to ``most``; else ValueError."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (real and least <= value <= most):
        raise ValueError(
            f"{name} must be a number from {least:,} to {most:,}, got {one_line(value)}"
        )
    return float(value)


def whole(name: str, value: int, *, least: int, most: int) -> int:
    """Return ``value`` as an int from ``least`` to ``most``; else ValueError."""
    real = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (real and least <= value <= most):
        raise ValueError(
            f"{name} must be a whole number from {least} to {most}, got {one_line(value)}"
        )
    return int(value)


def index_of(name: str, value: int, *, count: int) -> int:
    """Return ``value`` as an index from 0 to count − 1; a negative one counts from the end.

    Raises: ValueError for anything but a whole number in the range.
    """
    number = _number(name, value)
    if number != int(number) or not -count <= number < count:
        raise ValueError(
            f"{name} must be a whole number from {-count} to {count - 1}, got {value!r}"
        )
    return int(number) % count


def one_of(name: str, value: str, *, choices: Sequence[str], said: str = "") -> str:
    """Return ``value``, which must be one of the choices, ``said`` in words; else ValueError."""
    if not isinstance(value, str) or value not in choices:
        said = said or "one of " + ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be {said}, got {one_line(value)}")
    return value


def known_or_own(
    name: str, value: Sequence[Any], *, kind: type[_Given], known: Mapping[str, _Given], most: int
) -> list[_Given]:
    """Return 1 to ``most`` of a kind: each is given itself, or by its name among those ``known``.

    Raises: TypeError for no list, or something in it that is neither; ValueError for a name that is
    not known, or another count.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"{name} must be a list, got {one_line(value)}")
    if not 1 <= len(value) <= most:
        raise ValueError(f"{name} must be 1 to {most} {name}, got {len(value)}")
    found: list[_Given] = []
    for one in value:
        if isinstance(one, str):
            found.append(known[one_of(name, one, choices=tuple(known))])
        elif isinstance(one, kind):
            found.append(one)
        else:
            raise TypeError(f"{name} must hold names or {kind.__name__}s, got {one_line(one)}")
    return found


def either(name: str, value: int, *, choices: Sequence[int]) -> int:
    """Return ``value``, which must be one of a few whole numbers; else ValueError."""
    if isinstance(value, bool) or value not in choices:
        *most, last = choices
        said = f"{', '.join(map(str, most))} or {last}"
        raise ValueError(f"{name} must be {said}, got {one_line(value)}")
    return int(value)


def switch(name: str, value: bool) -> bool:
    """Return ``value``, which must be True or False; else TypeError."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {one_line(value)}")
    return bool(value)


def one_line(value: Any, *, width: int = 60) -> str:
    """Return the start of ``repr(value)`` on one line, for an error message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def _number(name: str, value: float) -> float:
    try:
        if isinstance(value, str):  # float() would read it
            raise TypeError
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number, got {one_line(value)}") from error
    if math.isnan(number) or math.isinf(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number
