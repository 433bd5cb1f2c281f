"""Where a drawing's boxes and frames go: columns and rows as wide as their texts ask for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from attnlab.pictures.parts import LABEL, Area, Arrow, Box, Frame, width_of

__all__ = ["DESK", "PHONE", "Room", "areas", "around", "lettered", "named"]

ROW_GAP = 34  # between rows, at least


class Room(NamedTuple):
    """What stands between columns, at least, and in a box beside its texts; how small one is.

    ``across`` is what becomes of every width, letters and all.
    """

    gap: float = 38
    beside: float = 24
    least: float = 56
    high: float = 46
    across: float = 1


DESK = Room()
PHONE = Room(16, 10, 44, 48, 0.8)  # most drawings in 358 px or a little more, with letters of 11


def _size(
    box: Box, widest: Callable[[str], str], counted: Callable[[Box], str] | None, room: Room
) -> tuple[float, float]:
    """Return width and height: a vector is a flat strip, all else has a line for each text."""
    label, shape = width_of(box.label, LABEL), width_of(widest(box.shape)) if box.shape else 0.0
    count = counted(box) if counted else ""
    flat = box.kind == "vector"
    lines = 1 + bool(box.shape and not flat) + bool(count)
    wide = label + shape + 10 * bool(shape) if flat else max(label, shape)
    wide = max(wide, width_of(count)) + room.beside
    wide += 8 * (box.kind in ("learned", "operation"))
    least = room.high if counted else 0
    if box.kind == "text":
        return wide - 16, 20 * lines
    return max(wide, room.least), max(14 + 20 * lines, least)


def areas(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame],
    widest: Callable[[str], str],
    counted: Callable[[Box], str] | None,
    room: Room = DESK,
) -> dict[Box, Area]:
    sizes = {box: _size(box, widest, counted, room) for box in boxes}
    across = [_gap_across(arrow, widest) for arrow in arrows]
    down = [_gap_down(arrow) for arrow in arrows]
    for frame in frames:
        across += [
            (at, max(room.gap + 10, 36)) for at in _beside([box.column for box in frame.boxes])
        ]
        down += [(at, ROW_GAP + 24) for at in _beside([box.row for box in frame.boxes])]
    xs = _track([(box.column, sizes[box][0]) for box in boxes], across, room.gap)
    ys = _track([(box.row, sizes[box][1]) for box in boxes], down, ROW_GAP)
    areas = {}
    for box in boxes:
        (x, y), (width, height) = (xs(box.column), ys(box.row)), sizes[box]
        areas[box] = Area(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    for one, other in itertools.combinations(boxes, 2):
        if areas[one].meets(areas[other]):
            raise ValueError(
                f"boxes must not overlap: {one.label!r} at ({one.column:g}, {one.row:g}) and"
                f" {other.label!r} at ({other.column:g}, {other.row:g}) do"
            )
    return areas


def _beside(places: list[float]) -> tuple[int, int]:
    """Return the gaps before the first and after the last of a frame's places."""
    return math.ceil(min(places)) - 1, math.floor(max(places))


def _gap_across(arrow: Arrow, widest: Callable[[str], str]) -> tuple[int, float]:
    """Return the gap between columns, by the column before it, that an arrow's label lies in."""
    start, end = arrow.source.column, arrow.target.column
    if not arrow.shape or start == end or arrow.via:
        return 0, 0
    last = math.ceil(end) - 1 if start < end else math.floor(end)
    return last, width_of(widest(arrow.shape)) + 40


def _gap_down(arrow: Arrow) -> tuple[int, float]:
    start, end = arrow.source.row, arrow.target.row
    beside = arrow.source.column != arrow.target.column
    if not arrow.shape or start == end or beside or arrow.via:
        return 0, 0
    return (math.ceil(end) - 1 if start < end else math.floor(end)), ROW_GAP + 10


def _track(
    sizes: list[tuple[float, float]], gaps: Iterable[tuple[int, float]], least: float
) -> Callable[[float], float]:
    """Return where a column or a row has its middle, also between two of them."""
    first = math.floor(min(place for place, _ in sizes))
    last = math.ceil(max(place for place, _ in sizes))
    wide = dict.fromkeys(range(first, last + 1), 0.0)
    for place, size in sizes:
        if place == int(place):
            wide[int(place)] = max(wide[int(place)], size)
    apart = dict.fromkeys(wide, least)
    for before, gap in gaps:
        apart[before] = max(apart.get(before, least), gap)
    middle = {first: 0.0}
    for one in range(first, last):
        middle[one + 1] = middle[one] + wide[one] / 2 + apart[one] + wide[one + 1] / 2

    def at(place: float) -> float:
        before = min(max(math.floor(place), first), last)
        after = min(before + 1, last)
        step = middle[after] - middle[before] or least + 40
        return middle[before] + (place - before) * step

    return at


def around(frame: Frame, areas: dict[Box, Area]) -> Area:
    inside = [areas[box] for box in frame.boxes]
    left, top = (min(area[at] for area in inside) for at in (0, 1))
    right, bottom = (max(area[at] for area in inside) for at in (2, 3))
    right = max(right, left + width_of(frame.label) - 8)
    return Area(left - 13, top - 30, right + 13, bottom + 13)


def named(frame: Frame, area: Area, lines: Sequence[Area]) -> tuple[Area, str]:
    """Return where a frame's label stands, and its anchor: right where a line is in its way."""
    wide = width_of(frame.label) + 12
    left = Area(area.left, area.top, area.left + wide, area.top + 24)
    if any(left.meets(line.grown(1)) for line in lines):
        return Area(area.right - wide, area.top, area.right, area.top + 24), "end"
    return left, "start"


def lettered(area: Area) -> Area:
    return Area(area.left, area.top - 14, area.left + 16, area.top)
