"""Where everything of a drawing goes: boxes on a grid, arrows around them, labels beside them.

Columns and rows are as wide and as far apart as their texts ask for. An arrow takes the cheapest of
a few straight or rectangular routes, and its label the cheapest place along it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["ROLES", "Arrow", "Box", "Frame", "Role", "badge_of", "pieces", "placed", "width_of"]


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
GAP, ROW_GAP, HEAD, MARGIN = 38, 34, 9, 6
PORT = 13  # between two arrows that end at the same side of a box
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
    """A dashed line around boxes, with a label."""

    label: str
    boxes: tuple[Box, ...]


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


def placed(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame] = (),
    *,
    widest: Callable[[str], str] = str,
    counted: Callable[[Box], str] | None = None,
) -> dict[str, Any]:
    """Return the whole drawing as numbers and texts: what Python and JavaScript draw alike.

    ``widest`` gives the widest text that may ever stand in place of a shape; ``counted`` gives that
    of the line beneath a box of a live drawing, whose boxes are large enough for a finger.

    Raises: ValueError for boxes that overlap, an arrow that finds no way around the others, and a
    label that finds no room.
    """
    areas = _areas(boxes, arrows, frames, widest, counted)
    routes = _routes(arrows, areas, widest)
    around = [_around(frame, areas) for frame in frames]
    taken = [_named(frame, area) for frame, area in zip(frames, around, strict=True)]
    taken += [_lettered(area) for box, area in areas.items() if badge_of(box)]
    notes = [_label_of(arrow, routes, areas, taken, widest) for arrow in arrows]
    whole = [*areas.values(), *taken, *around]
    whole += [Area(x, y, x, y) for line in routes.values() for x, y in line]
    left, top = (min(area[at] for area in whole) - MARGIN for at in (0, 1))
    right, bottom = (max(area[at] for area in whole) + MARGIN for at in (2, 3))

    def here(x: float, y: float) -> Point:
        return _tidy(x - left), _tidy(y - top)

    def drawn(area: Area) -> dict[str, float]:
        (x, y), (width, height) = here(area.left, area.top), (area[2] - area[0], area[3] - area[1])
        return {"x": x, "y": y, "w": _tidy(width), "h": _tidy(height)}

    return {
        "width": math.ceil(right - left),
        "height": math.ceil(bottom - top),
        "frames": [
            {**drawn(area), "label": frame.label}
            for frame, area in zip(frames, around, strict=True)
        ],
        "arrows": [
            {
                "line": [here(*point) for point in routes[arrow]],
                "shape": arrow.shape,
                "role": arrow.role or "",
                "at": here(*at),
                "anchor": anchor,
            }
            for arrow, (at, anchor) in zip(arrows, notes, strict=True)
        ],
        "boxes": [
            {
                **drawn(areas[box]),
                "kind": box.kind,
                "role": box.role or "",
                "label": box.label,
                "shape": box.shape,
                "badge": badge_of(box),
                "count": counted(box) if counted else "",
            }
            for box in boxes
        ],
    }


def _tidy(number: float) -> float:
    return int(number) if number == int(number) else round(number, 1)


# ---- boxes


def _size(
    box: Box, widest: Callable[[str], str], counted: Callable[[Box], str] | None
) -> tuple[float, float]:
    """Return width and height: a vector is a flat strip, all else has a line for each text."""
    label, shape = width_of(box.label, LABEL), width_of(widest(box.shape)) if box.shape else 0.0
    count = counted(box) if counted else ""
    flat = box.kind == "vector"
    lines = 1 + bool(box.shape and not flat) + bool(count)
    wide = label + shape + 10 * bool(shape) if flat else max(label, shape)
    wide = max(wide, width_of(count)) + (32 if box.kind in ("learned", "operation") else 24)
    least = 46 if counted else 0
    if box.kind == "text":
        return wide - 16, 20 * lines
    return max(wide, 56), max(14 + 20 * lines, least)


def _areas(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame],
    widest: Callable[[str], str],
    counted: Callable[[Box], str] | None,
) -> dict[Box, Area]:
    sizes = {box: _size(box, widest, counted) for box in boxes}
    framed = {box for frame in frames for box in frame.boxes}
    across = [_gap_across(arrow, widest) for arrow in arrows]
    down = [_gap_down(arrow) for arrow in arrows]
    if framed:
        across += [(at, GAP + 10) for box in framed for at in _around_it(box.column)]
        down += [(at, ROW_GAP + 24) for box in framed for at in _around_it(box.row)]
    xs = _track([(box.column, sizes[box][0]) for box in boxes], across, GAP)
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


def _around_it(place: float) -> tuple[int, int]:
    return math.floor(place) - 1, math.ceil(place)


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


def _around(frame: Frame, areas: dict[Box, Area]) -> Area:
    inside = [areas[box] for box in frame.boxes]
    left, top = (min(area[at] for area in inside) for at in (0, 1))
    right, bottom = (max(area[at] for area in inside) for at in (2, 3))
    right = max(right, left + width_of(frame.label) - 8)
    return Area(left - 13, top - 30, right + 13, bottom + 13)


def _named(frame: Frame, area: Area) -> Area:
    return Area(area.left, area.top, area.left + width_of(frame.label) + 12, area.top + 24)


def _lettered(area: Area) -> Area:
    return Area(area.left, area.top - 14, area.left + 16, area.top)


# ---- arrows


def _routes(
    arrows: Sequence[Arrow], areas: dict[Box, Area], widest: Callable[[str], str]
) -> dict[Arrow, list[Point]]:
    """Return each arrow's corners; those of one row or column first, for they are straight."""
    routes: dict[Arrow, list[Point]] = {}
    columns = _between(areas)

    def near(arrow: Arrow) -> tuple[int, float]:
        (x, y), (to_x, to_y) = areas[arrow.source].middle, areas[arrow.target].middle
        return (0 if x == to_x or y == to_y else 1), abs(x - to_x) + abs(y - to_y)

    for arrow in sorted(arrows, key=near):
        room = width_of(widest(arrow.shape)) + 10 if arrow.shape else 0
        fan_in = sum(_one_side(arrow, other, areas) for other in arrows) > 1
        costs = {
            tuple(line): _cost(line, arrow, areas, routes, room, fan_in)
            for line in (_by_way(arrow, areas, columns) if arrow.via else _ways(arrow, areas))
        }
        best = min(costs, key=lambda line: costs[line])
        blocked = [box for box in areas if _runs_through(best, box, arrow, areas)]
        if blocked:
            raise ValueError(
                f"the arrow from {arrow.source.label!r} to {arrow.target.label!r} runs through"
                f" {blocked[0].label!r}: lead it around by via=[(column, row), …]"
            )
        routes[arrow] = list(best)
    for arrow, line in routes.items():
        line[0] = _rounded(arrow.source, line[0], areas)
        line[-1] = _rounded(arrow.target, line[-1], areas)
    return routes


def _one_side(arrow: Arrow, other: Arrow, areas: dict[Box, Area]) -> bool:
    """Return whether both come to the same box from its left, or from its right."""
    x = areas[arrow.target].middle[0]
    here, there = (areas[one.source].middle[0] - x for one in (arrow, other))
    return other.target is arrow.target and here * there > 0


def _rounded(box: Box, end: Point, areas: dict[Box, Area]) -> Point:
    """Return an arrow's end at the edge of an operation, whose sides are half circles."""
    area, (x, y) = areas[box], end
    radius, off = (area.bottom - area.top) / 2, abs(y - area.middle[1])
    if box.kind != "operation" or x not in (area.left, area.right) or off >= radius:
        return end
    inset = radius - math.sqrt(radius**2 - off**2)
    return (x + inset if x == area.left else x - inset), y


def _between(areas: dict[Box, Area]) -> Callable[[Point], Point]:
    """Return what turns a point of the grid into one of the drawing, from where the boxes are."""

    def along(places: dict[float, float]) -> Callable[[float], float]:
        known = sorted(places.items())

        def at(place: float) -> float:
            if len(known) == 1:
                return known[0][1] + 90 * (place - known[0][0])
            after = next((i for i, (one, _) in enumerate(known) if one >= place), len(known) - 1)
            (a, x), (b, y) = known[max(after, 1) - 1], known[max(after, 1)]
            return x + (place - a) / (b - a) * (y - x)

        return at

    across = along({box.column: area.middle[0] for box, area in areas.items()})
    down = along({box.row: area.middle[1] for box, area in areas.items()})
    return lambda point: (across(point[0]), down(point[1]))


def _by_way(
    arrow: Arrow, areas: dict[Box, Area], there: Callable[[Point], Point]
) -> list[list[Point]]:
    """Return the lines through given points, whose corners are rectangular."""
    source, target = areas[arrow.source], areas[arrow.target]
    stops = [source.middle, *map(there, arrow.via), target.middle]
    lines = []
    for flat in itertools.product((True, False), repeat=len(stops) - 1):
        line = [stops[0]]
        for (x, y), first, (to_x, to_y) in zip(stops, flat, stops[1:], strict=False):
            line += [(to_x, y) if first else (x, to_y), (to_x, to_y)]
        line = _straight(line)
        line[0] = _edge(source, line[1])
        line[-1] = _edge(target, line[-2])
        lines.append(line)
    return lines


def _straight(line: Sequence[Point]) -> list[Point]:
    """Return a line without points that lie on the way between their neighbours."""
    kept = [line[0]]
    for point in line[1:]:
        if point == kept[-1]:
            continue
        if len(kept) > 1 and any(kept[-2][at] == kept[-1][at] == point[at] for at in (0, 1)):
            kept.pop()
        kept.append(point)
    return kept


def _edge(area: Area, towards: Point) -> Point:
    """Return where the way from the middle of a box to a point beside it leaves the box."""
    (x, y), (to_x, to_y) = area.middle, towards
    if abs(to_y - y) < 0.01:
        return (area.right if to_x > x else area.left), y
    return x, (area.bottom if to_y > y else area.top)


def _ways(arrow: Arrow, areas: dict[Box, Area]) -> list[list[Point]]:
    source, target = areas[arrow.source], areas[arrow.target]
    (x, y), (to_x, to_y) = source.middle, target.middle
    lines: list[list[Point]] = []
    for shift in (0, -PORT, PORT, -2 * PORT, 2 * PORT):
        apart = (source.right < target.left, target.right < source.left)
        if any(apart):
            sign = 1 if apart[0] else -1
            start, end = (source[2], target[0]) if apart[0] else (source[0], target[2])
            end_y = to_y + shift
            if abs(y - to_y) < 0.01 and abs(shift) < min(source[3] - y, target[3] - to_y):
                lines.append([(start, end_y), (end, end_y)])
            elif abs(shift) < target[3] - to_y - 2:
                for bend in (start + 16 * sign, end - 22 * sign, (start + end) / 2):
                    lines.append([(start, y), (bend, y), (bend, end_y), (end, end_y)])
        apart = (source.bottom < target.top, target.bottom < source.top)
        if any(apart):
            start, end = (source[3], target[1]) if apart[0] else (source[1], target[3])
            sign = 1 if apart[0] else -1
            end_x = to_x + shift
            if abs(x - to_x) < 0.01 and abs(shift) < min(source[2] - x, target[2] - to_x):
                lines.append([(end_x, start), (end_x, end)])
            elif abs(shift) < target[2] - to_x - 2:
                for bend in ((start + end) / 2, start + 13 * sign, end - 19 * sign):
                    lines.append([(x, start), (x, bend), (end_x, bend), (end_x, end)])
            if abs(shift) < target[2] - to_x - 2 and not source.left < end_x < source.right:
                side = source.right if end_x > x else source.left
                lines.append([(side, y), (end_x, y), (end_x, end)])
            end_y = to_y + shift
            if abs(shift) < target[3] - to_y - 2 and not target.left < x < target.right:
                side = target.left if x < to_x else target.right
                lines.append([(x, start), (x, end_y), (side, end_y)])
    return lines


def _parts(line: Sequence[Point]) -> list[Area]:
    """Return a line's straight parts as rectangles of no width."""
    return [
        Area(min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y))
        for (x, y), (to_x, to_y) in itertools.pairwise(line)
    ]


def _runs_through(line: Sequence[Point], box: Box, arrow: Arrow, areas: dict[Box, Area]) -> bool:
    by = -1 if box in (arrow.source, arrow.target) else 4
    return any(part.meets(areas[box].grown(by)) for part in _parts(line))


def _cost(
    line: list[Point],
    arrow: Arrow,
    areas: dict[Box, Area],
    routes: dict[Arrow, list[Point]],
    room: float,
    fan_in: bool,
) -> float:
    """Return how bad a route is: through boxes, on other arrows, with no room for its label."""
    parts = _parts(line)
    long = sum(part.right - part.left + part.bottom - part.top for part in parts)
    cost = 0.02 * long + 15 * (len(line) - 2)
    cost += 10_000 * sum(_runs_through(line, box, arrow, areas) for box in areas)
    if room and not any(part.right - part.left >= room for part in parts):
        cost += 12
    (_, y), (_, to_y) = areas[arrow.source].middle, areas[arrow.target].middle
    if fan_in and y != to_y and line[-1][1] == line[-2][1]:  # from above it ends above the middle
        cost += 0.5 * abs(line[-1][1] - to_y - math.copysign(PORT / 2, y - to_y))
    else:
        (mid_x, mid_y), (x, y) = areas[arrow.target].middle, line[-1]
        cost += 0.5 * min(abs(mid_x - x), abs(mid_y - y))
    for other, its in routes.items():
        for one, two in itertools.product(parts, _parts(its)):
            if not one.grown(3).meets(two.grown(3)):
                continue
            flat = (one.top == one.bottom, two.top == two.bottom)
            together = other.source is arrow.source
            cost += 0 if together else 40 if flat[0] != flat[1] else 200
    return cost


# ---- labels of arrows


def _label_of(
    arrow: Arrow,
    routes: dict[Arrow, list[Point]],
    areas: dict[Box, Area],
    taken: list[Area],
    widest: Callable[[str], str],
) -> tuple[Point, str]:
    """Return where an arrow's label stands and how it is anchored; add its area to ``taken``."""
    line = routes[arrow]
    if not arrow.shape:
        return line[0], "middle"
    wide = width_of(widest(arrow.shape))
    lines = [part for its in routes.values() for part in _parts(its)]
    best = (math.inf, Area(0, 0, 0, 0), (0.0, 0.0), "")
    for at, part in enumerate(_parts(line)):
        for area, point, anchor, extra in _beside(part, wide, last=at == len(line) - 2):
            cost = extra + 0.02 * abs(at - len(line) + 2)
            cost += 1000 * sum(area.meets(box.grown(1)) for box in areas.values())
            cost += 1000 * sum(area.meets(other) for other in taken)
            cost += 50 * sum(area.meets(other.grown(1)) for other in lines)
            if cost < best[0]:
                best = (cost, area, point, anchor)
    if best[0] >= 1000:
        raise ValueError(
            f"there is no room for {arrow.shape!r} on the arrow from {arrow.source.label!r} to"
            f" {arrow.target.label!r}: move the boxes apart, or lead it around by via=[…]"
        )
    taken.append(best[1])
    return best[2], best[3]


def _beside(part: Area, wide: float, *, last: bool) -> Iterable[tuple[Area, Point, str, float]]:
    """Yield places beside a straight part: the area, the text's point and anchor, a cost."""
    (x, y), long = part.middle, part.right - part.left
    if part.top == part.bottom:
        x -= HEAD / 2 if last else 0
        tight = 5.0 if long < wide + HEAD else 0.0
        for share in (0, -0.25, 0.25):
            mid = x + share * max(0, long - wide)
            for up in (True, False):
                base = y - 5 if up else y + 16
                area = Area(mid - wide / 2, base - 12, mid + wide / 2, base + 4)
                yield area, (mid, base), "middle", tight + (0 if up else 0.5) + abs(share)
        return
    for share in (0, -0.25, 0.25):
        base = y + share * (part.bottom - part.top) + 4
        for right in (True, False):
            start = x + 7 if right else x - 7 - wide
            area = Area(start, base - 12, start + wide, base + 4)
            point = (x + 7, base) if right else (x - 7, base)
            cost = 1 + (0 if right else 0.5) + abs(share)
            yield area, point, "start" if right else "end", cost
