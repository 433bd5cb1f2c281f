"""A drawing of a machine, live: the reader changes its sizes, and every shape follows."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import traitlets

from attnlab.pictures.grid import PHONE
from attnlab.pictures.parts import Box, width_of
from attnlab.pictures.schematic import Schematic, strokes, svg_of
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.dataflow import sizes as counting

__all__ = ["Count", "DataFlow"]

_MOST_SIZES = 8
_MOST_BOXES = 32
_LARGEST = 1_000_000
_PHONE = 358  # pixels that a page has there, of 390
_WIDEST = 8_888_888  # no count has more letters than this one
_CORNER, _LEAST = 14, 10.8  # there: of an operation, and the smallest letters


class Count(NamedTuple):
    """A box's shape, parameters and multiplications at the sizes that are chosen."""

    label: str
    shape: tuple[int, ...]
    parameters: int
    multiplications: int


class DataFlow(Widget, kind="dataflow"):
    """A ``Schematic`` whose sizes the reader changes; shapes, parameters and products follow.

    A press on a box opens what it computes: its formula at these sizes, the text that it was given
    as ``about``, and its ``example`` as a table.

    Shapes, ``parameters`` and ``multiplications`` of the drawing are read as products, quotients
    and sums of whole numbers and of the names of sizes: "b × h × n × d_k", "d_model × d_k + d_k".
    A learned box holds as many parameters as its shape says unless it was given others. A box in a
    frame with ``times`` counts one of them; the sums count them all.

    Args:
        drawing: a ``Schematic`` of at most 32 boxes.
        sizes: up to 8, by name: (first, least, most) or (first, least, most, step), whole numbers
            from 0 to 1,000,000; the slider and the arrow keys move by ``step``.
        derived: sizes that follow from the others, such as {"d_k": "d_model / h"}, each from those
            before it; or a whole number that stays.
        opened: the place of the box that is open at first, in the order in which they were drawn;
            None if none is.

    The traits sizes, letters (shapes are shown as letters) and opened follow the reader's hand.
    Sizes of which a derived one is not whole leave the last good drawing in place, marked.

    Raises: TypeError for a drawing that is none; ValueError for a size that does not fit, a text
    that cannot be read or asks for a size that is not there, first sizes that give no whole number,
    and whatever the drawing itself refuses.
    """

    picture = traitlets.Dict().tag(sync=True)
    ranges = traitlets.List().tag(sync=True)  # (name, least, most, step), in their order
    derived = traitlets.List().tag(sync=True)  # (name, text, tree)
    sizes = traitlets.Dict().tag(
        sync=True, rule=lambda self, name, value: _within(name, value, self.ranges)
    )
    # the last sizes that gave whole numbers
    kept = traitlets.Dict().tag(
        sync=True, rule=lambda self, name, value: _within(name, value, self.ranges)
    )
    letters = ruled(traitlets.Bool(False), checks.switch)
    opened = ruled(
        traitlets.Int(None, allow_none=True),
        checks.index_of,
        count=lambda self: len(self.picture["boxes"]),
    )
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        drawing: Schematic,
        sizes: Mapping[str, tuple[int, ...]],
        *,
        derived: Mapping[str, str | int] | None = None,
        opened: int | None = None,
        caption: str = "",
    ) -> None:
        if not isinstance(drawing, Schematic):
            raise TypeError(f"drawing must be a Schematic: it is a {type(drawing).__name__}")
        if len(drawing.boxes) > _MOST_BOXES:
            raise ValueError(
                f"drawing must have at most {_MOST_BOXES} boxes: it has {len(drawing.boxes)}"
            )
        first, ranges = _ranges(sizes)
        follows = _derived(derived or {}, set(first))
        known = {name: (least, most) for name, least, most, _ in ranges}
        for name, _, tree in follows:
            known[name] = counting.most(tree, known)
        super().__init__(
            caption=caption,
            picture=markup.tidy(_picture(drawing, known)),
            ranges=ranges,
            derived=follows,
            start={"sizes": first, "letters": False, "opened": opened},
        )
        self._work_out()

    @traitlets.observe("sizes")
    def _keep(self, change: dict[str, Any]) -> None:
        try:
            self._work_out()
        except ValueError:
            return  # the page says so, and draws those that are kept
        self.kept = change["new"]

    @property
    def all_sizes(self) -> dict[str, int]:
        """The sizes that are chosen, and those that follow from them."""
        return self._work_out()[0]

    @property
    def counts(self) -> list[Count]:
        """Each box's shape, parameters and multiplications, in the order of the drawing."""
        return self._work_out()[1]

    @property
    def along(self) -> list[tuple[int, ...]]:
        """The shape on each arrow, in the order of the drawing; empty where there is none."""
        return self._work_out()[2]

    @property
    def parameters(self) -> int:
        """How many numbers are learned, in all boxes together."""
        return self._sum("parameters")

    @property
    def multiplications(self) -> int:
        """How many multiplications all boxes take together."""
        return self._sum("multiplications")

    def _sum(self, name: str) -> int:
        known, counts, _ = self._work_out()
        return sum(
            getattr(count, name) * counting.value(_times_of(box), known)
            for box, count in zip(self.picture["boxes"], counts, strict=True)
        )

    def _work_out(self) -> tuple[dict[str, int], list[Count], list[tuple[int, ...]]]:
        known = dict(self.sizes)
        for name, text, tree in self.derived:
            known[name] = _valued(f"{name} = {text}", tree, known)
        counts = []
        for box in self.picture["boxes"]:
            shape = tuple(_valued(box["label"], tree, known) for tree in box["shape"])
            both = (_valued(box["label"], box[name]["tree"], known) for name in _COUNTED)
            counts.append(Count(box["label"], shape, *both))
        along = [
            tuple(_valued(arrow["letters"], tree, known) for tree in arrow["shape"])
            for arrow in self.picture["arrows"]
        ]
        return known, counts, along

    def _summary(self) -> str:
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        return f"{len(self.picture['boxes'])} boxes, {sizes}"

    def _fallback(self) -> str:
        rows = [
            [
                markup.escape(count.label + _often(box)),
                _times(count.shape),
                f"{count.parameters:,}",
                f"{count.multiplications:,}",
            ]
            for box, count in zip(self.picture["boxes"], self.counts, strict=True)
        ]
        rows.append(["all together", "", f"{self.parameters:,}", f"{self.multiplications:,}"])
        head = ["box", "shape", "parameters", "multiplications"]
        return (
            f'<div class="attnbook-drawing">{self._svg()}</div>'
            f"<p>At {markup.escape(self._sizes_said())}:</p>"
            f"{markup.table(head, rows, label='All boxes of the drawing')}"
        )

    def _svg(self) -> str:
        """Return the drawing with the numbers of these sizes in it."""
        _, counts, along = self._work_out()
        groups = copy.deepcopy(self.picture["frames"])
        groups += [
            _rewritten(group, {"shape": _times(shape)})
            for group, shape in zip(self.picture["arrows"], along, strict=True)
        ]
        groups += [
            _rewritten(group, {"shape": _times(count.shape), "count": _told(group["kind"], count)})
            for group, count in zip(self.picture["boxes"], counts, strict=True)
        ]
        return svg_of(self.picture, groups)

    def _sizes_said(self) -> str:
        return ", ".join(f"{name} = {size:,}" for name, size in self.all_sizes.items())


_COUNTED = ("parameters", "multiplications")


def _rewritten(group: dict[str, Any], now: dict[str, str]) -> dict[str, Any]:
    texts = [{**one, "text": now.get(one["what"], one["text"])} for one in group["texts"]]
    return {**group, "texts": texts}


def _told(kind: str, count: Count) -> str:
    """Return the line beneath a box: its parameters, or its multiplications."""
    if kind == "learned":
        return f"{_short(count.parameters)} param."
    return f"{_short(count.multiplications)} mult." if kind == "operation" else ""


def _short(number: int) -> str:
    """Return a count in at most nine letters: all digits below ten million, then one decimal."""
    if number < 10**7:
        return f"{number:,}"
    power = min((len(str(number)) - 1) // 3, 5)
    tenths = number // 10 ** (3 * power - 1)
    return f"{tenths // 10}.{tenths % 10} {' kMGTP'[power]}"


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _times_of(box: dict[str, Any]) -> counting.Tree:
    return box["times"]["tree"] if "times" in box else 1


def _often(box: dict[str, Any]) -> str:
    """Return what a table says of a box that stands there several times."""
    return f", one of {box['times']['text']}" if "times" in box else ""


def _valued(what: str, tree: counting.Tree, known: Mapping[str, int]) -> int:
    try:
        return counting.value(tree, known)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def _ranges(sizes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, int], list[list[Any]]]:
    """Return the first size and the range (name, least, most, step) of each."""
    if not isinstance(sizes, Mapping) or not 1 <= len(sizes) <= _MOST_SIZES:
        raise ValueError(f"sizes must be 1 to {_MOST_SIZES} ranges by name: {_said(sizes)}")
    first, ranges = {}, []
    for name, given in sizes.items():
        _name(name)
        if not isinstance(given, (tuple, list)) or len(given) not in (3, 4):
            raise ValueError(
                f"{name} must be (first, least, most) or (first, least, most, step), {_said(given)}"
            )
        start, least, most, step = (*given, 1)[:4]
        least = checks.whole(f"the least {name}", least, least=0, most=_LARGEST)
        most = checks.whole(f"the most {name}", most, least=least, most=_LARGEST)
        step = checks.whole(f"the step of {name}", step, least=1, most=_LARGEST)
        first[name] = checks.whole(name, start, least=least, most=most)
        ranges.append([name, least, most, step])
    return first, ranges


def _derived(given: Mapping[str, str | int], known: set[str]) -> list[list[Any]]:
    if not isinstance(given, Mapping):
        raise ValueError(f"derived must be texts by name: {_said(given)}")
    found, known = [], set(known)
    for name, text in given.items():
        _name(name)
        if name in known:
            raise ValueError(f"derived must not say anew what {name} is")
        if not isinstance(text, (str, int)) or isinstance(text, bool):
            raise ValueError(f"derived must be a text or a whole number for {name}, {_said(text)}")
        tree = _asked(f"derived {name}", counting.parse(str(text)), known)
        found.append([name, str(text), tree])
        known.add(name)
    return found


def _name(name: Any) -> None:
    if not isinstance(name, str) or counting.names_in(counting.parse(name)) != {name}:
        raise ValueError(f"a size must have a name such as n or d_k, {_said(name)}")


def _said(value: Any) -> str:
    return f"got {checks.one_line(value)}"


def _asked(what: str, tree: counting.Tree, known: Any) -> counting.Tree:
    """Return a tree, which must ask for sizes that are there."""
    for name in sorted(counting.names_in(tree) - set(known)):
        raise ValueError(f"{what} asks for {name}, which is no size: there are {', '.join(known)}")
    return tree


def _within(what: str, value: Mapping[str, int], ranges: list[list[Any]]) -> dict[str, int]:
    names = [name for name, *_ in ranges]
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise ValueError(f"{what} must have a whole number for each of {', '.join(names)}")
    return {
        name: checks.whole(f"{what}: {name}", value[name], least=least, most=most)
        for name, least, most, _ in ranges
    }


def _picture(drawing: Schematic, known: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return the drawing for the page: groups of strokes, and what each counts, as trees."""
    counted = {box: _counted(box, _times_in(drawing, box), known) for box in drawing.boxes}
    shapes = {}
    for one in (*drawing.boxes, *drawing.arrows):
        what = f"the shape {one.shape!r}"
        shapes[one.shape] = [_asked(what, tree, known) for tree in counting.shape_of(one.shape)]

    def widest(text: str) -> str:
        digits = _times(tuple(_nines(tree, known) for tree in shapes[text]))
        return max(text, digits, key=width_of)

    def most(box: Box, limit: int = counting.LARGEST) -> str:
        name = {"learned": "parameters", "operation": "multiplications"}.get(box.kind, "")
        tree = counted[box].get(name, {}).get("tree", 0)
        return f"{_short(min(_nines(tree, known), limit))} param." if tree else ""

    tight = functools.partial(most, limit=_WIDEST)
    found = drawing.layout(widest=widest, counted=most)
    small = _small(drawing, widest=widest, counted=tight) if found["width"] > _PHONE else {}
    frames, arrows = len(found["frames"]), len(found["arrows"])
    groups = strokes(found)
    return {
        **{name: found[name] for name in ("width", "height", "alt")},
        **small,
        "frames": groups[:frames],
        "arrows": [
            {**group, "letters": arrow.shape, "shape": shapes[arrow.shape]}
            for group, arrow in zip(groups[frames:], drawing.arrows, strict=False)
        ],
        "boxes": [
            {
                **group,
                **counted[box],
                "kind": box.kind,
                "label": box.label,
                "letters": box.shape,
                "shape": shapes[box.shape],
                "about": box.about,
                "example": box.example,
            }
            for group, box in zip(groups[frames + arrows :], drawing.boxes, strict=True)
        ],
    }


def _small(drawing: Schematic, **options: Any) -> dict[str, Any]:
    """Return the strokes of the same drawing for a phone; none where labels then find no room."""
    try:
        found = drawing.layout(room=PHONE, **options)
    except ValueError:
        return {}
    groups = [_smaller(group) for group in strokes(found)]
    return {"phone": {**{name: found[name] for name in ("width", "height")}, "groups": groups}}


def _smaller(group: dict[str, Any]) -> dict[str, Any]:
    """Return what a phone has otherwise: smaller letters, and corners that leave them room."""
    rect = group["rect"] and (*group["rect"][:4], min(group["rect"][4], _CORNER))
    texts = [
        {name: one[name] for name in ("x", "y", "anchor")}
        | {"size": max(_LEAST, PHONE.across * one["size"])}
        for one in group["texts"]
    ]
    return {"rect": rect, "lines": group["lines"], "filled": group["filled"], "texts": texts}


def _times_in(drawing: Schematic, box: Box) -> str:
    found = [frame.times for frame in drawing.frames if frame.times and box in frame.boxes]
    return found[0] if len(found) == 1 else " × ".join(f"({times})" for times in found)


def _nines(tree: counting.Tree, known: Mapping[str, tuple[int, int]]) -> int:
    """Return the widest number of as many digits as the most that a tree may come to."""
    return int("8" * len(str(counting.most(tree, known)[1])))


def _counted(
    box: Box, times: str, known: Mapping[str, tuple[int, int]]
) -> dict[str, dict[str, Any]]:
    """Return a box's counts, each as a text and a tree: 0 if none, no ``times`` if it is one."""
    texts = {"parameters": box.parameters, "multiplications": box.multiplications}
    if times:
        texts["times"] = times
    trees = {name: counting.parse(text) if text else 0 for name, text in texts.items()}
    if box.kind == "learned" and box.shape and not box.parameters:
        texts["parameters"] = box.shape
        trees["parameters"] = counting.product_of(counting.shape_of(box.shape))
    return {
        name: {
            "text": texts[name],
            "tree": _asked(f"{name} of {box.label!r}", tree, known),
        }
        for name, tree in trees.items()
    }
