"""Where the shape on an arrow stands: the cheapest place beside one of its straight parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from attnlab.pictures.parts import HEAD, Area, Arrow, Box, Point, width_of
from attnlab.pictures.routes import straight

__all__ = ["label_of"]


def label_of(
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
    lines = [part for its in routes.values() for part in straight(its)]
    best = (math.inf, Area(0, 0, 0, 0), (0.0, 0.0), "")
    for at, part in enumerate(straight(line)):
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
