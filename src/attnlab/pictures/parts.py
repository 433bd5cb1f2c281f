"""What a drawing is made of: roles and their colours, boxes, arrows and frames, and their texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "ROLES",
    "Area",
    "Arrow",
    "Box",
    "Frame",
    "Point",
    "Role",
    "badge_of",
    "pieces",
    "width_of",
]


class Role(NamedTuple):
    """A role's letter, its colour on a light page and on a dark one, and what else tells it."""

    letter: str
    light: str
    dark: str
    also: str = ""  # first letters of a label that needs no letter beside it


ROLES = {
    "query": Role("q", "#1565c0", "#a9c8ff"),
    "key": Role("k", "#b34700", "#ffb27a"),
    "value": Role("v", "#00785e", "#5fd3a0"),
    "weight": Role("α", "#6a1b8a", "#d98cff", "a"),
    "output": Role("y", "#4a2c10", "#ffe566", "oc"),
}

LABEL, TEXT, SMALL = 16, 14, 0.75  # font sizes in px; of a superscript, its share
HEAD = 9  # length of an arrow's head, in px
_MARKED = re.compile(r"([\^_])(?:\{([^{}]*)\}|([^\W_]+))")

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Box:
    """A box of a drawing, at a place of its grid; see ``Schematic`` for what each field is."""

    kind: str
    label: str
    shape: str
    column: float
    row: float
    role: str | None = None
    about: str = ""
    example: tuple[tuple[str, ...], ...] = ()
    parameters: str = ""
    multiplications: str = ""


@dataclass(frozen=True, eq=False)
class Arrow:
    """An arrow between two boxes, by way of points of the grid."""

    source: Box
    target: Box
    shape: str
    role: str | None
    via: tuple[Point, ...]


@dataclass(frozen=True, eq=False)
class Frame:
    """A dashed line around boxes, with a label; what is in it may stand there several times."""

    label: str
    boxes: tuple[Box, ...]
    times: str = ""


class Area(NamedTuple):
    """A rectangle, by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Point:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def grown(self, by: float) -> Area:
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Area) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def pieces(text: str) -> list[tuple[str, int]]:
    """Return a label's parts with their level: 1 for what ``^`` raises, −1 for what ``_`` lowers.

    ``W^Q``, ``d_k`` and ``W^{Q}_i`` are such labels; braces hold more than letters and digits.
    """
    found: list[tuple[str, int]] = []
    at = 0
    for mark in _MARKED.finditer(text):
        found.append((text[at : mark.start()], 0))
        found.append((mark[2] or mark[3] or "", 1 if mark[1] == "^" else -1))
        at = mark.end()
    return [one for one in (*found, (text[at:], 0)) if one[0]]


def badge_of(box: Box) -> str:
    """Return the letter that tells a box's role to all eyes, where its label does not."""
    if box.role is None or box.kind == "text":
        return ""
    role = ROLES[box.role]
    told = {part[:1].lower() for part, _ in pieces(box.label)}
    return "" if told & {role.letter, *role.also} else role.letter


def width_of(text: str, size: float = TEXT) -> float:
    """Return how wide a text is at most in any of the usual fonts, in px."""
    return sum(size * (SMALL if level else 1) * _ems(part) for part, level in pieces(text))


def _ems(text: str) -> float:
    wide = {"narrow": 0.31, "capital": 0.7, "broad": 0.87, "other": 0.54}
    return sum(
        wide[
            "narrow"
            if letter in "iljtfI.,:;|!'()[] "
            else "broad"
            if letter in "mwMW"
            else "capital"
            if letter.isupper() or letter in "√Σ×"
            else "other"
        ]
        for letter in text
    )
