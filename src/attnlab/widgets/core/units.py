"""Numbers with three digits that count, and their unit, as ``parts/units.js`` writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from attnlab.widgets.core import markup

__all__ = ["digits", "many", "sized", "timed"]

_BYTES = ("bytes", "kB", "MB", "GB", "TB", "PB")
_SECONDS = ("ns", "µs", "ms", "s")
_MANY = ("", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion")


def digits(value: float) -> str:
    """Return a number with three digits that count: 17.2, 4.80 or 295."""
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    half_up = Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return markup.fixed(float(half_up), decimals)


def sized(count: float) -> str:
    """Return bytes: 17.2 GB, of 10⁹ bytes."""
    return _scaled(count, _BYTES, markup.plain)


def timed(seconds: float) -> str:
    """Return seconds: 4.80 ms."""
    return _scaled(seconds * 1e9, _SECONDS, digits)


def many(count: float) -> str:
    """Return a count: 15.0 billion."""
    return _scaled(count, _MANY, markup.plain)


def _scaled(value: float, units: Sequence[str], least: Callable[[float], str]) -> str:
    unit = 0
    while value >= 999.5 and unit < len(units) - 1:
        value, unit = value / 1000, unit + 1
    return f"{(digits if unit else least)(value)} {units[unit]}".strip()
