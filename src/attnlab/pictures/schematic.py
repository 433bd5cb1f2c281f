"""Drawings of a machine: boxes, matrices and arrows on a grid, as SVG whose text can be selected.

One visual language for the whole book. A shape for each kind: a vector is a flat strip with cells,
a matrix has cells at two of its edges, a learned matrix a thick left edge and a hatched corner, an
operation is round. A colour for each role: query, key, value, weight, output; who cannot tell the
colours apart reads the role's letter, on the box or in its label.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from typing import Any

from attnlab import _check
from attnlab.pictures import sheets
from attnlab.pictures.layout import placed
from attnlab.pictures.parts import ROLES, SMALL, Arrow, Box, Frame, Role, pieces

__all__ = ["KINDS", "ROLES", "Role", "Schematic"]

LEAST = 0.75  # of its own size, to which a drawing may shrink on a phone: letters of 10 pixels
KINDS = ("vector", "matrix", "learned", "operation", "text")


class Schematic:
    """A drawing of boxes and arrows on a grid, made box by box::

        drawing = Schematic("A vector x is multiplied by the learned matrix W^Q: the query q.")
        x = drawing.vector("x", "d", at=(0, 0))
        w = drawing.learned("W^Q", "d × d_k", at=(1, 0), role="query")
        q = drawing.vector("q", "d_k", at=(2, 0), role="query")
        drawing.arrow(x, w, "d")
        drawing.arrow(w, q, "d_k")

    Each of ``vector``, ``matrix``, ``learned``, ``operation`` and ``text`` adds a box and returns
    it, for arrows and frames. In labels and shapes, ``^`` raises and ``_`` lowers what follows:
    ``W^Q``, ``d_model``, ``W^{Q}_i``.

    What a box takes: ``label`` is written in it; ``shape`` is its shape in letters, such as
    "n × d_k", none if empty; ``at`` is (column, row), each at least 0 and counted from the upper
    left, 0.5 half way; ``role`` is "query", "key", "value", "weight" or "output" and gives it its
    colour. For ``DataFlow`` alone, ``about`` says what it computes in a sentence or two,
    ``example`` has its numbers in the running example as rows of a table, the first of which is the
    head, ``parameters`` how many numbers a learned box holds, such as "d × d_k + d_k" (those of its
    shape unless given), and ``multiplications`` how many it takes, such as "n × d × d_k".

    Args:
        alt: what the drawing shows, in a sentence or two, for a reader who cannot see it.

    Raises: TypeError for a text that is no string; ValueError for an empty alt or label, an unknown
    role, a place that is no (column, row) or taken, and an arrow or frame of a box that is not of
    this drawing. Showing it raises ValueError where it is empty, boxes overlap, an arrow cannot be
    led around the other boxes, or its label finds no room.
    """

    def __init__(self, alt: str) -> None:
        self.alt = _text("alt", alt, empty=False)
        self.boxes: list[Box] = []
        self.arrows: list[Arrow] = []
        self.frames: list[Frame] = []

    def vector(self, label: str, shape: str = "", **options: Any) -> Box:
        """Add a vector: a flat strip with cells."""
        return self._add("vector", label, shape, **options)

    def matrix(self, label: str, shape: str = "", **options: Any) -> Box:
        """Add a matrix, or anything with more dimensions: cells at two edges."""
        return self._add("matrix", label, shape, **options)

    def learned(self, label: str, shape: str = "", **options: Any) -> Box:
        """Add a matrix that is learned: a thick left edge and a hatched corner."""
        return self._add("learned", label, shape, **options)

    def operation(self, label: str, shape: str = "", **options: Any) -> Box:
        """Add an operation, whose ends are round; its shape is that of what comes out."""
        return self._add("operation", label, shape, **options)

    def text(self, label: str, shape: str = "", **options: Any) -> Box:
        """Add words without a box around them."""
        return self._add("text", label, shape, **options)

    def _add(
        self,
        kind: str,
        label: str,
        shape: str,
        *,
        at: tuple[float, float],
        role: str | None = None,
        about: str = "",
        example: Sequence[Sequence[Any]] = (),
        parameters: str = "",
        multiplications: str = "",
    ) -> Box:
        _text("label", label, empty=False)
        _text(f"the shape of {label!r}", shape)
        column, row = _place(f"at of {label!r}", at, least=0)
        for one in self.boxes:
            if (one.column, one.row) == (column, row):
                raise ValueError(
                    f"two boxes cannot be at one place: {one.label!r} and {label!r} are both at"
                    f" ({column:g}, {row:g})"
                )
        counts = {"about": about, "parameters": parameters, "multiplications": multiplications}
        for name, text in counts.items():
            _text(f"{name} of {label!r}", text)
        rows = tuple(tuple(map(_cell, line)) for line in example)
        if len({len(line) for line in rows}) > 1 or (rows and not rows[0]):
            raise ValueError(f"example of {label!r} must have rows of one length, at least 1")
        box = Box(kind, label, shape, column, row, _role(role), example=rows, **counts)
        self.boxes.append(box)
        return box

    def arrow(
        self,
        source: Box,
        target: Box,
        shape: str = "",
        *,
        role: str | None = None,
        via: Sequence[tuple[float, float]] = (),
    ) -> None:
        """Draw an arrow, with the shape of what goes along it, in the role's colour.

        The role is the source's unless given. The arrow finds its way around the other boxes; or it
        goes by way of given points of the grid, where it turns.
        """
        for name, box in (("source", source), ("target", target)):
            self._mine(f"an arrow's {name}", box)
        if source is target:
            raise ValueError(f"an arrow must join two boxes: both ends are {source.label!r}")
        _text("the shape on an arrow", shape)
        points = tuple(_place("via", point) for point in via)
        known = source.role if role is None else _role(role)
        self.arrows.append(Arrow(source, target, shape, known, points))

    def frame(self, label: str, *boxes: Box, times: str = "") -> None:
        """Draw a dashed line around boxes, with a label such as "h heads" in an upper corner.

        For ``DataFlow`` alone, ``times`` says how often the boxes stand there, such as "layers":
        each box counts one of them, the sums count all.
        """
        _text("label", label, empty=False)
        _text(f"times of the frame {label!r}", times)
        if not boxes:
            raise ValueError(f"the frame {label!r} must go around a box, and has none")
        for box in boxes:
            self._mine(f"what the frame {label!r} goes around", box)
        self.frames.append(Frame(label, boxes, times))

    def _mine(self, what: str, box: Box) -> None:
        if not isinstance(box, Box):
            raise TypeError(f"{what} must be a box: it is a {type(box).__name__}")
        if not any(box is one for one in self.boxes):
            raise ValueError(f"{what} must be a box of this drawing: {box.label!r} is of another")

    def layout(self, **options: Any) -> dict[str, Any]:
        """Return where everything goes, and each text: see ``layout.placed``."""
        if not self.boxes:
            raise ValueError("the drawing is empty: add a box, such as drawing.vector('x', at=…)")
        found = placed(self.boxes, self.arrows, self.frames, **options)
        return {**found, "alt": self.alt}

    @property
    def svg(self) -> str:
        """The drawing as SVG, whose colours are those of the style around it."""
        return svg_of(self.layout())

    def __repr__(self) -> str:
        return f"<Schematic: {self.alt}>"

    def _repr_html_(self) -> tuple[str, dict[str, Any]]:
        alt = html.escape(self.alt)
        drawn = (
            f'<div class="attnbook attnbook-drawing" role="group" tabindex="0" aria-label="{alt}">'
            f"<style>{look()}</style>{self.svg}</div>"
        )
        return drawn, {"alt": self.alt}


@cache
def look() -> str:
    """Return the style of drawings, light, dark and printed, without its comments."""
    return sheets.bare(sheets.OWN)


def svg_of(found: dict[str, Any], groups: Sequence[dict[str, Any]] | None = None) -> str:
    """Return a layout as SVG, of its own strokes or of these groups."""
    size = f'width="{found["width"]}" height="{found["height"]}"'
    least = f'style="min-width:{LEAST * found["width"]:.0f}px"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {least} viewBox="0 0'
        f' {found["width"]} {found["height"]}" aria-label="{html.escape(found["alt"])}">'
        f"{''.join(map(_group, strokes(found) if groups is None else groups))}</svg>"
    )


def strokes(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a layout as groups, in the order in which they are drawn.

    A group has its ``names`` of classes, a ``rect`` as (x, y, width, height, radius) or None, what
    is drawn as lines and what is filled, each as the text of a path, and ``texts``, each with
    what it is: label, shape, count or badge.
    """
    return [
        *map(_frame, found["frames"]),
        *map(_link, found["arrows"]),
        *map(_box, found["boxes"]),
    ]


def _group(one: dict[str, Any]) -> str:
    names = " ".join(f"attnbook-{name}" for name in one["names"])
    rect = ""
    if one["rect"]:
        x, y, w, h, radius = one["rect"]
        rect = f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}"/>'
    lines = f'<path d="{one["lines"]}"/>' if one["lines"] else ""
    filled = f'<path class="attnbook-bold" d="{one["filled"]}"/>' if one["filled"] else ""
    return f'<g class="{names}">{rect}{lines}{filled}{"".join(map(_write, one["texts"]))}</g>'


def _frame(one: dict[str, Any]) -> dict[str, Any]:
    x, y, w, h = (one[name] for name in "xywh")
    left = one["anchor"] == "start"
    label = _line("label", one["label"], (x + (9 if left else w - 9), y + 19), 14, one["anchor"])
    return _drawn("frame", one, rect=(x, y, w, h, 6), texts=[label])


def _link(one: dict[str, Any]) -> dict[str, Any]:
    line = one["line"]
    (x, y), (to_x, to_y) = line[-2:]
    # the line stops inside the head, whose tip is at the box
    way_x, way_y = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
    ends = [*line[:-1], (to_x - 6 * way_x, to_y - 6 * way_y)]
    base_x, base_y = to_x - 9 * way_x, to_y - 9 * way_y
    head = (
        f"M{to_x:g} {to_y:g}L{base_x + 4.5 * way_y:g} {base_y + 4.5 * way_x:g}"
        f"L{base_x - 4.5 * way_y:g} {base_y - 4.5 * way_x:g}Z"
    )
    path = "M" + "L".join(f"{a:g} {b:g}" for a, b in ends)
    shape = [_line("shape", one["shape"], one["at"], 14, one["anchor"])] if one["shape"] else []
    return _drawn("link", one, lines=path, filled=head, texts=shape)


def _box(one: dict[str, Any]) -> dict[str, Any]:
    x, y, w, h = (one[name] for name in "xywh")
    kind = one["kind"]
    middle = x + w / 2 + (2 if kind == "learned" else 0)
    texts = [
        _line("label", one["label"], (middle, 0), 14 if kind == "text" else 16, "middle"),
        _line("shape", one["shape"], (middle, 0), 14, "middle"),
        _line("count", one["count"], (middle, 0), 14, "middle"),
    ]
    flat = kind == "vector" and one["shape"]
    texts = [text for text in texts if text["text"]]
    if flat:  # a strip: its shape stands beside its label
        texts[0] |= {"x": x + 12, "anchor": "start"}
        texts[1] |= {"x": x + w - 12, "anchor": "end"}
    rows = len(texts) - bool(flat)
    for at, text in enumerate(texts):
        text["y"] = y + h / 2 - 10 * rows + 15 + 20 * max(0, at - bool(flat))
    if one["badge"]:
        texts.append(_line("badge", one["badge"], (x + 2, y - 4), 12, "start"))
    if kind == "text":
        return _drawn("box", one, texts=texts)
    radius = h / 2 if kind == "operation" else 3 if kind == "vector" else 0
    bar = f"M{x:g} {y:g}h5v{h:g}h-5Z" if kind == "learned" else ""
    rect = (x, y, w, h, radius)
    return _drawn("box", one, rect=rect, lines=_marks(one), filled=bar, texts=texts)


def _drawn(
    name: str,
    one: dict[str, Any],
    *,
    rect: tuple[float, ...] | None = None,
    lines: str = "",
    filled: str = "",
    texts: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    role = one.get("role")
    names = [name, f"of-{role}"] if role else [name]
    kept = list(texts)
    return {"names": names, "rect": rect, "lines": lines, "filled": filled, "texts": kept}


def _line(what: str, text: str, at: tuple[float, float], size: int, anchor: str) -> dict[str, Any]:
    x, y = at
    return {"what": what, "text": text, "x": x, "y": y, "size": size, "anchor": anchor}


def _marks(one: dict[str, Any]) -> str:
    """Return the small lines by which a kind is told: cells, or a hatched corner."""
    x, y, w, h = (one[name] for name in "xywh")
    if one["kind"] == "vector":
        return "".join(f"M{x + w * at / 4:g} {y + h:g}v-5" for at in (1, 2, 3))
    if one["kind"] == "matrix":
        across = "".join(f"M{x + w * at / 4:g} {y:g}v5" for at in (1, 2, 3))
        return across + "".join(f"M{x:g} {y + h * at / 3:g}h5" for at in (1, 2))
    if one["kind"] == "learned":
        return "".join(f"M{x + w - at:g} {y:g}l{at} {at}" for at in (5, 10, 15))
    return ""


def _write(one: dict[str, Any]) -> str:
    size = one["size"]
    spans, before = [], 0.0
    for part, level in pieces(one["text"]):
        base = {0: 0.0, 1: -0.36 * size, -1: 0.22 * size}[level]
        dy = f' dy="{base - before:.3g}"' if base != before else ""
        small = f' style="font-size:{size * SMALL:g}px"' if level else ""
        before = base
        words = html.escape(part)
        spans.append(f"<tspan{dy}{small}>{words}</tspan>" if dy or small else words)
    place = f'x="{one["x"]:g}" y="{one["y"]:g}" text-anchor="{one["anchor"]}"'
    name = f'class="attnbook-{one["what"]}" style="font-size:{size}px"'
    return f"<text {name} {place}>{''.join(spans)}</text>"


def _cell(value: Any) -> str:
    """Return a cell of an example: a text as it is, a number with at most four digits."""
    return value if isinstance(value, str) else f"{float(value):.4g}".replace("-", "−")


def _text(name: str, value: Any, *, empty: bool = True) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string: it is {value!r}")
    if not (empty or value.strip()):
        raise ValueError(f"{name} must say something: it is {value!r}")
    return value


def _role(role: str | None) -> str | None:
    if role is not None:
        _check.one_of("role", role, ROLES)
    return role


def _place(name: str, place: Any, least: float | None = None) -> tuple[float, float]:
    known = isinstance(place, (tuple, list)) and len(place) == 2
    if not (known and all(_check.is_number(one) for one in place)):
        raise ValueError(f"{name} must be (column, row): it is {place!r}")
    column, row = (float(one) for one in place)
    if not all(abs(one) <= 100 and (least is None or one >= least) for one in (column, row)):
        raise ValueError(
            f"{name} must lie from {-100 if least is None else least:g} to 100: it is {place!r}"
        )
    return column, row
