"""How an entry's numbers are given, on paper and to a course system: value, margin, points."""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]


def stated(answer: Entry) -> str:
    """Return an answer with its decimals, and one more where it lies between two such numbers.

    Of 0.1875 to three decimals both neighbours are right; from 0.188 one would be too far away.
    """
    for places in (answer["decimals"], answer["decimals"] + 1):
        value = round(answer["value"], places) + 0.0  # no minus before nothing
        if abs(value - answer["value"]) < 1e-9:
            return f"{value:.{places}f}"
    return f"{round(answer['value'], answer['decimals']) + 0.0:.{answer['decimals']}f}"


def margin(answer: Entry) -> str:
    """Return how far from the answer a right one may be, as a decimal number."""
    return f"{answer['tolerance']:.10f}".rstrip("0").rstrip(".")


def places(answer: Entry) -> str:
    """Say how many decimals are asked for."""
    n = answer["decimals"]
    return "a whole number" if n == 0 else f"{n} decimal{'s' if n > 1 else ''}"


def shares(entry: Entry) -> list[float]:
    """Return the points of each number that an entry asks for: whole ones where there are enough,
    else halves; what is left over goes to the last ones, which need those before them. What stands
    in a lecture has a point each."""
    count = len(entry["answers"])
    if entry["kind"] != "exam":
        return [1.0] * count
    unit = 1.0 if entry["points"] % 1 == 0 and entry["points"] >= count else 0.5
    units = round(entry["points"] / unit)
    each, over = divmod(units, count)
    return [unit * (each + (k >= count - over)) for k in range(count)]


def slip(points: float) -> float:
    """Return what the right way with a slip earns: half, rounded down to half points."""
    return points // 1 / 2
