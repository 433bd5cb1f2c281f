"""Slots: what each part of a vector says, who looked at whom, in words too, and text is text."""

import numpy as np
import pytest

from attnlab.pictures import Slots

PARTS = {"I am": ["A", "B"], "after": ["A", "B"]}
X = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], dtype=float)
Y = np.array([[1, 0, 0, 0], [0, 1, 0.9, 0.1]], dtype=float)
LOOKS = np.array([[1, 0], [0.8, 0.2]])


def drawn(**changes) -> Slots:
    given = {"stages": {"first": X, "then": Y}, "parts": PARTS, "links": [LOOKS]} | changes
    return Slots(**given)


def test_a_slot_says_its_largest_number_and_nothing_where_none_is_large() -> None:
    picture = drawn()
    assert picture.said("first") == [["I am A", ""], ["I am B", ""]]
    assert picture.said("then") == [["I am A", ""], ["I am B", "after A"]]
    assert picture.alt.endswith("first: I am A; I am B. then: I am A; I am B, after A.")
    assert picture.svg.count("attnbook-empty") == 3
    assert picture.svg.count("attnbook-bold") == 1  # one arrow: who looks at itself has none
    assert drawn(links=()).svg.count("attnbook-bold") == 0
    assert drawn(links=[None]).svg.count("attnbook-bold") == 0


def test_a_part_has_its_colour_in_every_stage_and_text_is_text() -> None:
    svg = drawn(parts={"I am": ["<b>", "B"], "after": ["A", "B"]}).svg
    assert svg.count('class="attnbook-part-1"') == 4
    assert "<b>" not in svg
    html, data = drawn()._repr_html_()
    assert "--attnbook-slot-1" in html
    assert data["alt"] == drawn().alt
    assert repr(drawn()).startswith("<Slots: The slots")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"stages": {}}, r"stages must have one shape, \(n, 4\): they have \[\]"),
        ({"stages": {"first": X, "then": Y[:1]}}, "stages must have one shape"),
        ({"parts": {}}, "parts must be 1 to 4"),
        ({"parts": {str(k): ["A"] for k in range(5)}}, "parts must be 1 to 4"),
        ({"parts": {"I am": ["A", "B"]}}, r"\(n, 2\)"),
        ({"links": [LOOKS, LOOKS]}, r"links must be 1 matrices of shape \(2, 2\)"),
        ({"links": [LOOKS[:1]]}, "links must be 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        drawn(**changes)
