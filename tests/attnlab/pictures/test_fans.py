"""Fans: arrows at true angles, a row for each way through the layers, one of them chosen."""

import re

import numpy as np
import pytest

from attnlab.pictures import Fans

X = np.array([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=float)
FLAT = np.array([[-1, 1], [0, 2], [3, 0]], dtype=float)  # 45° and 90° from the second
WORDS = ["had", "bowl", "nuts"]


def drawn(**changes) -> Fans:
    given = {
        "ways": {"alone": {"the words": X}, "first": {"the words": FLAT}, "then": {"after": X}},
        "tokens": WORDS,
        "above": ["alone"],
        "chosen": "then",
    }
    return Fans(**given | changes)


def tips(html: str) -> list[tuple[float, float]]:
    found = re.findall(r'<line x2="([-\d.]+)" y2="([-\d.]+)"', html)
    return [(float(a), float(b)) for a, b in found]


def test_the_second_points_up_and_the_others_stand_at_their_true_angles() -> None:
    html, _ = Fans({"one": {"the words": FLAT}}, WORDS)._repr_html_()
    first, up, third = tips(html)
    assert up[0] == 0
    assert up[1] < 0
    assert first[0] == pytest.approx(first[1], abs=0.11)  # 45° to the left
    assert third == pytest.approx((46, 0), abs=0.11)  # the longest
    assert np.hypot(*first) / np.hypot(*third) == pytest.approx(np.sqrt(2) / 3, abs=0.01)
    assert Fans({"one": {"the words": FLAT}}, WORDS).off == pytest.approx(0)
    assert 0.5 < Fans({"one": {"the words": X}}, WORDS).off < 1.5


def test_of_the_ways_below_one_is_chosen_by_a_radio_button() -> None:
    html, data = drawn()._repr_html_()
    assert html.count('type="radio"') == 2
    assert html.count(" checked") == 1
    assert re.search(r'value="1" checked><span>then', html)
    assert html.index("<b>alone") < html.index("<fieldset>") < html.index("<b>first")
    assert data["alt"] == drawn().alt
    assert "first: the words 45° and 90°." in drawn().alt
    names = set(re.findall(r'name="(attnbook-\w+)"', html + drawn(lengths=True)._repr_html_()[0]))
    assert len(names) == 2  # two pictures of a page choose apart


def test_one_way_has_no_button_and_lengths_are_written() -> None:
    html, _ = Fans({"one": {"the words": X}}, WORDS, lengths=True)._repr_html_()
    assert "radio" not in html
    assert "length 3<" in html
    assert "longest 3" in Fans({"one": {"the words": X}}, WORDS, lengths=True).alt
    assert "<i>" not in Fans({"<i>": {"<i>": X}}, WORDS)._repr_html_()[0]
    assert repr(drawn()).startswith("<Fans: Arrows for had, bowl and nuts.")
