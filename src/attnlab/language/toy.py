"""Toy tasks whose answers anyone can check: copy, reverse, and dates in many formats."""

from collections.abc import Callable
from datetime import date, timedelta

from attnlab import _check
from attnlab.language.grammar.draws import Draws
from attnlab.language.pairs import Pair

DIGITS = "0123456789"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
FIRST_DAY, DAYS = date(1950, 1, 1), 36_525  # a hundred years, leap days included
FORMATS: tuple[Callable[[date], str], ...] = (
    lambda day: f"{day.day} {MONTHS[day.month - 1]} {day.year}",
    lambda day: f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}",
    lambda day: f"{MONTHS[day.month - 1]} {day.day}, {day.year}",
    lambda day: f"{day.year} {MONTHS[day.month - 1]} {day.day}",
    lambda day: f"{day.day}/{day.month}/{day.year}",
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: f"the {ordinal(day.day)} of {MONTHS[day.month - 1]} {day.year}",
)


def copied(n: int, *, seed: int = 0, shortest: int = 4, longest: int = 12) -> list[Pair]:
    """Draw ``n`` different strings of digits, each its own translation.

    Raises: ValueError for lengths that are not 1 ≤ ``shortest`` ≤ ``longest``, where there are
    not ``n`` such strings, or for a seed that is not a whole number of at least 0.
    """
    return [_pair("copy", digits, digits, False) for digits in _strings(n, seed, shortest, longest)]


def reversed_digits(n: int, *, seed: int = 0, shortest: int = 4, longest: int = 12) -> list[Pair]:
    """Draw ``n`` different strings of digits, each to be written backwards.

    The gold alignment is the diagonal from corner to corner: (i, length − 1 − i).

    Raises: as ``copied``.
    """
    return [
        _pair("reverse", digits, digits[::-1], True)
        for digits in _strings(n, seed, shortest, longest)
    ]


def dates(n: int, *, seed: int = 0) -> list[Pair]:
    """Draw ``n`` different dates written in seven ways, to be written as year-month-day.

    The tokens are characters: "3 May 1999" is to become "1999-05-03". The days are those of
    1950 to 2049; there is no gold alignment.

    Raises: ValueError for more dates than there are, or a seed as for ``copied``.
    """
    _check.whole_number("n", n)
    _check.whole_number("seed", seed)
    if n > DAYS * 5:
        raise ValueError(f"n must be at most {DAYS * 5}: it is {n}")
    draws, pairs = Draws(seed, "dates"), {}
    while len(pairs) < n:
        day = FIRST_DAY + timedelta(days=draws.below(DAYS))
        text = draws.pick(FORMATS)(day)
        pairs[text] = _pair("date", text, day.isoformat(), None)
    return list(pairs.values())


def ordinal(number: int) -> str:
    """Write 1st, 2nd, 3rd, 4th … 11th … 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _strings(n: int, seed: int, shortest: int, longest: int) -> list[str]:
    _check.whole_number("n", n)
    _check.whole_number("seed", seed)
    _check.whole_number("shortest", shortest, at_least=1)
    _check.whole_number("longest", longest, at_least=shortest)
    there_are = sum(10**length for length in range(shortest, longest + 1))
    if n > there_are // 2:  # more would be slow to find by drawing
        raise ValueError(
            f"n must be at most {there_are // 2}, half of the strings of {shortest} to {longest} "
            f"digits: it is {n}"
        )
    draws, found = Draws(seed, "digits"), {}
    while len(found) < n:
        length = shortest + draws.below(longest - shortest + 1)
        found["".join(draws.pick(DIGITS) for _ in range(length))] = None
    return list(found)


def _pair(pattern: str, source: str, target: str, backwards: bool | None) -> Pair:
    last = len(source) - 1
    links = () if backwards is None else range(len(source))
    alignment = tuple((i, last - i if backwards else i) for i in links)
    return Pair(tuple(source), tuple(target), alignment, pattern, _kinds(source), _kinds(target))


def _kinds(text: str) -> tuple[str, ...]:
    return tuple("digit" if c.isdigit() else "character" for c in text)
