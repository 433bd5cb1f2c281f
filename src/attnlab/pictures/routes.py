"""Which way a drawing's arrows go: the cheapest of a few straight or rectangular routes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from attnlab.pictures.parts import HEAD, Area, Arrow, Box, Point, width_of

__all__ = ["routes", "straight"]

PORT = 13  # between two arrows that end at the same side of a box


def routes(
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
        line = _without_stops(line)
        line[0] = _edge(source, line[1])
        line[-1] = _edge(target, line[-2])
        lines.append(line)
    return lines


def _without_stops(line: Sequence[Point]) -> list[Point]:
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
            side = target.left if x < to_x else target.right
            beside = not target.left < x < target.right and abs(side - x) > HEAD
            if abs(shift) < target[3] - to_y - 2 and beside:
                lines.append([(x, start), (x, end_y), (side, end_y)])
    return lines


def straight(line: Sequence[Point]) -> list[Area]:
    """Return a line's straight parts as rectangles of no width."""
    return [
        Area(min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y))
        for (x, y), (to_x, to_y) in itertools.pairwise(line)
    ]


def _runs_through(line: Sequence[Point], box: Box, arrow: Arrow, areas: dict[Box, Area]) -> bool:
    by = -1 if box in (arrow.source, arrow.target) else 4
    return any(part.meets(areas[box].grown(by)) for part in straight(line))


def _cost(
    line: list[Point],
    arrow: Arrow,
    areas: dict[Box, Area],
    routes: dict[Arrow, list[Point]],
    room: float,
    fan_in: bool,
) -> float:
    """Return how bad a route is: through boxes, on other arrows, with no room for its label."""
    parts = straight(line)
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
        for one, two in itertools.product(parts, straight(its)):
            if not one.grown(3).meets(two.grown(3)):
                continue
            flat = (one.top == one.bottom, two.top == two.bottom)
            together = other.source is arrow.source
            cost += 0 if together else 40 if flat[0] != flat[1] else 200
    return cost
