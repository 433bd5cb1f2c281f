"""The whole drawing as numbers and texts, from its boxes, arrows and frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from attnlab.pictures import grid
from attnlab.pictures.labels import label_of
from attnlab.pictures.parts import Area, Arrow, Box, Frame, Point, badge_of
from attnlab.pictures.routes import routes, straight

__all__ = ["placed"]

MARGIN = 6


def placed(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame] = (),
    *,
    widest: Callable[[str], str] = str,
    counted: Callable[[Box], str] | None = None,
    room: grid.Room = grid.DESK,
) -> dict[str, Any]:
    """Return the whole drawing as numbers and texts: what Python and JavaScript draw alike.

    ``widest`` gives the widest text that may ever stand in place of a shape; ``counted`` gives that
    of the line beneath a box of a live drawing, whose boxes are large enough for a finger. ``room``
    is what stands between the boxes, and how wide all of it becomes.

    Raises: ValueError for boxes that overlap, an arrow that finds no way around the others, and a
    label that finds no room.
    """
    areas = grid.areas(boxes, arrows, frames, widest, counted, room)
    lines = routes(arrows, areas, widest)
    around = [grid.around(frame, areas) for frame in frames]
    parts = [part for line in lines.values() for part in straight(line)]
    named = [grid.named(frame, area, parts) for frame, area in zip(frames, around, strict=True)]
    taken = [area for area, _ in named]
    taken += [grid.lettered(area) for box, area in areas.items() if badge_of(box)]
    notes = [label_of(arrow, lines, areas, taken, widest) for arrow in arrows]
    corners = [Area(x, y, x, y) for line in lines.values() for x, y in line]
    paper = _Paper([*areas.values(), *taken, *around, *corners], room.across)
    return {
        "width": paper.width,
        "height": paper.height,
        "frames": [
            {**paper.area(area), "label": frame.label, "anchor": anchor}
            for frame, area, (_, anchor) in zip(frames, around, named, strict=True)
        ],
        "arrows": [
            _arrow(arrow, lines[arrow], note, paper)
            for arrow, note in zip(arrows, notes, strict=True)
        ],
        "boxes": [
            {**paper.area(areas[box]), **_texts(box), "count": counted(box) if counted else ""}
            for box in boxes
        ],
    }


class _Paper:
    """The drawing's own edges, from which every number is counted."""

    def __init__(self, whole: Sequence[Area], across: float) -> None:
        self.across = across
        self.left, self.top = (min(area[at] for area in whole) - MARGIN for at in (0, 1))
        right, bottom = (max(area[at] for area in whole) + MARGIN for at in (2, 3))
        self.width, self.height = (
            math.ceil(across * (right - self.left)),
            math.ceil(bottom - self.top),
        )

    def point(self, point: Point) -> Point:
        return _tidy(self.across * (point[0] - self.left)), _tidy(point[1] - self.top)

    def area(self, area: Area) -> dict[str, float]:
        x, y = self.point((area.left, area.top))
        width, height = area.right - area.left, area.bottom - area.top
        return {"x": x, "y": y, "w": _tidy(self.across * width), "h": _tidy(height)}


def _arrow(
    arrow: Arrow, line: Sequence[Point], note: tuple[Point, str], paper: _Paper
) -> dict[str, Any]:
    return {
        "line": [paper.point(point) for point in line],
        "shape": arrow.shape,
        "role": arrow.role or "",
        "at": paper.point(note[0]),
        "anchor": note[1],
    }


def _texts(box: Box) -> dict[str, str]:
    return {
        "kind": box.kind,
        "role": box.role or "",
        "label": box.label,
        "shape": box.shape,
        "badge": badge_of(box),
    }


def _tidy(number: float) -> float:
    return int(number) if number == int(number) else round(number, 1)
