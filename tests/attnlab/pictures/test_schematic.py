"""Drawings: what they show and say, where things lie, and what they refuse."""

import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import attnlab
from attnlab.pictures import Schematic
from attnlab.pictures.parts import HEAD, ROLES, Area, pieces, width_of
from attnlab.pictures.routes import straight
from attnlab.pictures.schematic import Box, look
from tests.attnlab.pictures.drawings import DRAWINGS
from tests.attnlab.pictures.test_figures import contrast

CSS = (Path(attnlab.__file__).parent / "pictures/roles.css").read_text(encoding="utf-8")

each = pytest.mark.parametrize("make", DRAWINGS.values(), ids=DRAWINGS)


def small() -> tuple[Schematic, Box, Box]:
    drawing = Schematic("x becomes q")
    x = drawing.vector("x", "d", at=(0, 0))
    q = drawing.vector("q", "d_k", at=(1, 0), role="query")
    return drawing, x, q


def areas(found: list[dict]) -> list[Area]:
    return [Area(o["x"], o["y"], o["x"] + o["w"], o["y"] + o["h"]) for o in found]


def written(arrow: dict) -> Area:
    (x, y), wide = arrow["at"], width_of(arrow["shape"])
    left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[arrow["anchor"]]
    return Area(left, y - 12, left + wide, y + 4)


@each
def test_it_is_one_svg_with_its_text_and_its_alt(make) -> None:
    drawing = make()
    svg = ElementTree.fromstring(drawing.svg)
    texts = {"".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    for box in drawing.boxes:
        assert re.sub(r"[\^_{}]", "", box.label) in texts
    assert svg.get("aria-label") == drawing.alt
    shown, metadata = drawing._repr_html_()
    assert metadata == {"alt": drawing.alt}
    assert drawing.svg in shown
    assert make()._repr_html_() == (shown, metadata)


@each
def test_nothing_overlaps_and_all_lies_inside(make) -> None:
    found = make().layout()
    boxes, labels = areas(found["boxes"]), [written(a) for a in found["arrows"] if a["shape"]]
    for one, other in itertools.combinations([*boxes, *labels], 2):
        assert not one.meets(other)
    whole = Area(0, 0, found["width"], found["height"])
    lines = [part for arrow in found["arrows"] for part in straight(arrow["line"])]
    for part in (*boxes, *labels, *lines):
        assert part.left >= whole.left
        assert part.top >= whole.top
        assert part.right <= whole.right
        assert part.bottom <= whole.bottom
    for line, box in itertools.product(lines, boxes):
        assert not line.meets(box.grown(-1))
    for label, line in itertools.product(labels, lines):
        assert not line.meets(label)


def test_the_style_sheet_has_the_colours_of_the_table() -> None:
    for name, role in ROLES.items():
        found = re.findall(rf"--attnbook-{name}: (#\w+);", CSS)
        assert found == [role.light, role.dark, role.dark]
    assert "/*" not in look()


@pytest.mark.parametrize("role", ROLES)
def test_a_roles_colour_can_be_read_on_the_page_and_on_its_tint(role: str) -> None:
    for colour, ground in ((ROLES[role].light, "#ffffff"), (ROLES[role].dark, "#121212")):
        tint = 0.1 * np.array(to_rgb(colour)) + 0.9 * np.array(to_rgb(ground))
        assert min(contrast(colour, ground), contrast(colour, tint)) >= 4.5


def test_a_role_has_a_letter_a_frame_goes_around_and_marks_raise_and_lower() -> None:
    drawing = Schematic("letters")
    drawing.operation("split", at=(0, 0), role="query")
    drawing.learned("W^K", at=(1, 0), role="key")
    drawing.matrix("A", at=(2, 0), role="weight")
    assert [box["badge"] for box in drawing.layout()["boxes"]] == ["q", "", ""]
    drawing, x, q = small()
    drawing.arrow(x, q, "d")
    drawing.frame("h heads", x, q)
    found = drawing.layout()
    (frame,) = areas(found["frames"])
    for box in areas(found["boxes"]):
        assert frame.left < box.left < box.right < frame.right
        assert frame.top < box.top < box.bottom < frame.bottom
    assert found["frames"][0]["anchor"] == "start"
    drawing = Schematic("a way in through the corner where the label would stand")
    x, q = drawing.text("x", at=(0, 0)), drawing.matrix("Q", at=(0, 1))
    drawing.arrow(x, q)
    drawing.frame("h heads", q, drawing.matrix("K", at=(2, 1)))
    assert drawing.layout()["frames"][0]["anchor"] == "end"
    assert pieces("W^{Q}_i x") == [("W", 0), ("Q", 1), ("i", -1), (" x", 0)]
    assert pieces("d_model × d_k") == [("d", 0), ("model", -1), (" × d", 0), ("k", -1)]
    assert pieces("a_ b") == [("a_ b", 0)]


def test_an_arrow_goes_by_given_points_and_texts_are_never_markup() -> None:
    drawing = Schematic("the sum goes round the part")
    x = drawing.vector("x", "d", at=(0, 1))
    part = drawing.operation("part", "d", at=(1, 1))
    total = drawing.operation("+", at=(2, 1))
    drawing.arrow(x, part)
    drawing.arrow(part, total)
    drawing.arrow(x, total, "d", via=[(0, 0), (2, 0)])
    line = drawing.layout()["arrows"][2]["line"]
    assert len(line) == 4
    assert line[1][1] == line[2][1] < line[0][1]
    drawing = Schematic(EVIL)
    x = drawing.matrix(EVIL, EVIL, at=(0, 0))
    drawing.arrow(x, drawing.text(EVIL, at=(1, 0)), EVIL)
    drawing.frame(EVIL, x)
    assert "<script" not in drawing._repr_html_()[0]
    ElementTree.fromstring(drawing.svg)


def test_an_arrow_is_longer_than_its_head_where_a_box_begins_almost_below_another() -> None:
    drawing = Schematic("weights, and the sum")
    q, k = (drawing.learned(f"W^{c}", "d_model × d_model", at=(i, 0)) for i, c in enumerate("QK"))
    weights = drawing.operation("softmax(Q Kᵀ / √d)", "h × n × n", at=(0.5, 1))
    total = drawing.operation("weighted sum of V", "h × n × d", at=(1, 2))
    for one, other in ((q, weights), (k, weights), (weights, total)):
        drawing.arrow(one, other)
    for arrow in drawing.layout()["arrows"]:
        assert math.dist(*arrow["line"][-2:]) > HEAD


EVIL = '"><script>alert(1)</script>&'


def add(**changes):
    given = {"label": "X", "shape": "n × d", "at": (0, 1)} | changes
    return lambda drawing, x, q: drawing.matrix(given.pop("label"), **given)


OTHER = small()[1]
REFUSED = (
    (add(role="asker"), "role must"),
    (add(shape=(3, 4)), "the shape of 'X' must be a string"),
    (add(label=" "), "label must say something"),
    (add(label=3), "label must be a string"),
    (add(at=(0, 0)), r"'x' and 'X' are both at \(0, 0\)"),
    (add(at=3), r"at of 'X' must be \(column, row\)"),
    (add(at=(-1, 0)), "must lie from 0 to 100"),
    (add(at=(float("nan"), 0)), "at of 'X'"),
    (add(about=3), "about of 'X'"),
    (add(example=[["a"], ["b", "c"]]), "rows of one length"),
    (lambda drawing, *_: (drawing.matrix("X", at=(0.1, 0)), drawing.svg), "not overlap: 'x' at"),
    (lambda drawing, x, q: drawing.arrow(OTHER, q), "source must be .* 'x' is of another"),
    (lambda drawing, x, q: drawing.arrow(x, "q"), "target must be a box"),
    (lambda drawing, x, q: drawing.arrow(x, x), "both ends are 'x'"),
    (lambda drawing, x, q: drawing.arrow(x, q, 3), "on an arrow"),
    (lambda drawing, x, q: drawing.frame("h"), "has none"),
    (lambda drawing, x, q: drawing.frame("h", OTHER), "is of another"),
    (lambda drawing, x, q: drawing.frame("h", x, times=3), "times of the frame 'h' must be"),
    (lambda *_: Schematic(""), "alt must say something"),
    (lambda *_: Schematic("nothing").svg, "the drawing is empty"),
)


@pytest.mark.parametrize(("do", "words"), REFUSED)
def test_what_is_wrong_is_said(do, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        do(*small())


def test_an_arrow_that_finds_no_way_says_how_to_lead_it() -> None:
    drawing = Schematic("three in a row")
    a, _, c = (drawing.matrix(name, at=(at, 0)) for at, name in enumerate("abc"))
    drawing.arrow(a, c)
    with pytest.raises(ValueError, match="from 'a' to 'c' runs through 'b': lead it around by via"):
        drawing.layout()
