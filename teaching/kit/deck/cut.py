"""Cut a drawing between its boxes, or a heat map between its rows, to have letters for a slide."""

from __future__ import annotations

import base64
import html
import io
import re

import numpy as np
from PIL import Image

__all__ = ["HALVES", "gaps", "half", "layout", "rows", "view"]

LEAST, SHAPES = 18, 14  # pixels: what can be read from the back, and the least letters of a drawing
ROOMS = {"figure": (1176, 546), "beside figure": (916, 706)}  # width and height for each layout
HALVES = {"upper": (1, 0), "lower": (1, 1), "left": (0, 0), "right": (0, 1)}  # axis, which of both

_HEAD = re.compile(r'width="([\d.]+)" height="([\d.]+)"(?: style="[^"]*")? viewBox="([-\d. ]+)"')
_OPEN = re.compile(r"<svg\b[^>]*>")
_BADGE = re.compile(r'(attnbook-badge"[^>]*font-size:)[\d.]+')
_SIZE = re.compile(r"font-size:([\d.]+)px")
_FRAME = re.compile(r'<g class="attnbook-frame">.*?</g>', re.S)
_BOX = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')
_TEXT = re.compile(
    r'<text[^>]*font-size:([\d.]+)px" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">(.*?)</text>'
)
NEAR = 0.2  # of a drawing's length, how far from its middle it may be cut
LETTER = 0.55  # of a letter's size, its width
WHITE, LINE = 250, 0.7  # a paler dot is white; how much of a row of dots is not, where a line is


def layout(drawing: str) -> tuple[str, str]:
    """Return the layout of a slide for a drawing, and the drawing, with letters made large enough
    where it is tall and so drawn small."""
    _, _, width, height = view(drawing)
    scale = {name: min(w / width, h / height) for name, (w, h) in ROOMS.items()}
    best = max(scale, key=scale.__getitem__)
    grown = max(1.0, LEAST / (SHAPES * scale[best]))
    drawing = _BADGE.sub(rf"\g<1>{SHAPES}", drawing)  # which the book's page has smaller
    return best, _SIZE.sub(lambda one: f"font-size:{grown * float(one[1]):.4g}px", drawing)


def half(drawing: str, name: str) -> str:
    """Return a half of a drawing, cut in the widest gap near its middle between boxes and words."""
    axis, which = HALVES[name]
    box = view(drawing)
    start, end = box[axis], box[axis] + box[axis + 2]
    middle, far = (start + end) / 2, NEAR * (end - start)
    near = [one for one in gaps(drawing, axis) if abs(sum(one) / 2 - middle) <= far]
    cut = sum(max(near, key=lambda one: round(one[1] - one[0]), default=(middle, middle))) / 2
    box[axis], box[axis + 2] = (cut, end - cut) if which else (start, cut - start)
    left, top, width, height = (f"{one:g}" for one in box)
    head = f'width="{width}" height="{height}" viewBox="{left} {top} {width} {height}"'
    whole = _HEAD.sub(head, drawing, count=1)
    # an inner one shows nothing outside of its own borders, whatever room the outer one has
    inner = f'<svg class="half" x="{left}" y="{top}" {head}>'
    return _OPEN.sub(lambda one: one[0] + inner, whole, count=1).replace(
        "</svg>", "</svg></svg>", 1
    )


def view(drawing: str) -> list[float]:
    """Return what a drawing shows: left, top, width and height."""
    found = _HEAD.search(drawing)
    return [float(one) for one in found[3].split()] if found else [0.0, 0.0, 1.0, 1.0]


def gaps(drawing: str, axis: int) -> list[tuple[float, float]]:
    """Return where along an axis, 0 across and 1 down, there is neither box nor word."""
    body = _FRAME.sub("", drawing)
    spans = [(one[axis], one[axis] + one[axis + 2]) for one in map(numbers, _BOX.findall(body))]
    for size, x, y, anchor, words in _TEXT.findall(body):
        letters = len(re.sub(r"<[^>]+>|&[^;]+;", "", words))
        wide, left = letters * LETTER * float(size), float(x)
        left -= {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        above = float(y) - float(size)
        spans.append((above, above + 1.3 * float(size)) if axis else (left, left + wide))
    found, reached = [], 0.0
    for start, end in sorted(spans):
        if start > reached:
            found.append((reached, start))
        reached = max(reached, end)
    return found


def numbers(found: tuple[str, ...]) -> list[float]:
    return [float(one) for one in found]


def rows(png: str, name: str, alt: str) -> str | None:
    """Return the upper or the lower rows of a heat map as SVG, both under its keys' names.

    ``png`` is base64; None where it has no lines between rows, or is to be cut down.
    """
    dots = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("L"))
    high, wide = dots.shape
    lines = np.flatnonzero((dots < WHITE).mean(axis=1) > LINE).tolist()
    if name not in ("upper", "lower") or len(lines) < 3:
        return None
    first, middle = lines[0], (lines[0] + lines[-1]) / 2
    cut = min(lines, key=lambda line: abs(line - middle))
    parts = [(0, cut + 1)] if name == "upper" else [(0, first), (cut, high)]
    drawn, top = "", 0
    for start, end in parts:
        drawn += (
            f'<svg y="{top}" width="{wide}" height="{end - start}" '
            f'viewBox="0 {start} {wide} {end - start}"><image width="{wide}" height="{high}" '
            f'href="data:image/png;base64,{png}"/></svg>'
        )
        top += end - start
    return (
        f'<svg class="rows" role="img" aria-label="{html.escape(alt)}" viewBox="0 0 {wide} {top}">'
        f"{drawn}</svg>"
    )
