"""Rotary clocks: the package's own speeds in Python and in the browser, and which hands are new."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.further.longer import Scaling
from attnbook.positions import Pace, Rotary
from attnlab.widgets import RotaryClocks
from attnlab.widgets.clocks.widget import SCALINGS
from tests.attnlab.widgets.examples import clocks
from tests.attnlab.widgets.pages import settle

HEADS = [(64, 1e5, 8192), (128, 1e4, 4096), (16, 100.0, 24), (4, 2.0, 2), (128, 1e8, 1_048_576)]


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_the_browsers_speeds_are_torchs_for_every_scaling(maths, head: tuple) -> None:
    d, base, trained = head
    code = "([head, kind, s]) => maths.speeds(head, kind, s)"
    for kind in SCALINGS:
        for s in (1, 2.5, 16):
            scaling = Pace() if kind == "none" else Scaling(kind, s, trained)
            wanted = scaling.speeds(d, base, dtype=torch.float64).numpy()
            given = {"d": d, "base": base, "trained": trained}
            np.testing.assert_allclose(maths(code, [given, kind, s], "clocks"), wanted, rtol=1e-9)
            one = RotaryClocks(d, base, trained, scaling=kind, factor=s)
            np.testing.assert_array_equal(one.speeds, wanted)


@pytest.mark.parametrize("kind", SCALINGS)
def test_the_browsers_hands_are_pythons_and_stand_where_rotary_turns_a_query(maths, kind) -> None:
    code = """([head, kind, s, distance]) =>
        maths.hands(maths.speeds(head, kind, s), maths.met(head), distance)"""
    head = {"d": 64, "base": 1e5, "trained": 8192}
    for distance in (1, 8192, 20_000, 32_768, 131_072):
        one = RotaryClocks(**head, scaling=kind, factor=4, distance=distance)
        came = maths(code, [head, kind, 4, distance], "clocks")
        np.testing.assert_allclose([hand["angle"] for hand in came], one.angles, atol=1e-6)
        assert [hand["outside"] for hand in came] == one.outside.tolist()
        assert [hand["beyond"] for hand in came] == one.beyond.tolist()
    one = clocks(scaling=kind)
    scaling = None if kind == "none" else Scaling(kind, 4, 24)
    upright = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(8)[None]
    turned = Rotary(16, 100, scaling=scaling)(upright, offset=96).view(8, 2)
    angles = torch.atan2(turned[:, 1], turned[:, 0]).numpy() % (2 * np.pi)
    np.testing.assert_allclose(one.angles, angles, atol=1e-9)


def test_within_the_trained_length_no_hand_is_new_and_a_shorter_one_keeps_the_rest_within() -> None:
    smol = {"d": 64, "base": 1e5, "trained": 8192}
    for kind in SCALINGS:
        assert not RotaryClocks(**smol, scaling=kind).beyond.any()
    at = {kind: RotaryClocks(**smol, scaling=kind, distance=32_768) for kind in SCALINGS}
    assert {kind: int(one.beyond.sum()) for kind, one in at.items()} == {
        "none": 12,
        "interpolation": 0,
        "ntk": 11,
        "yarn": 0,
        "llama3": 0,
    }
    one = clocks(distance=384)
    one.d, one.trained = 8, 12
    assert (one.pair, one.distance) == (3, 192)


def test_dragging_choosing_and_keys_change_clocks_curve_and_words(show) -> None:
    page = show(RotaryClocks(64, 1e5, 8192))
    status, line = page.get_by_role("status"), page.locator("path.attnbook-line")
    expect(status).to_contain_text("At the distance 8,192, 0 of 32 hands")
    expect(page.get_by_label("factor s", exact=True)).to_be_disabled()
    expect(page.locator(".attnbook-outside")).to_have_count(0)
    page.get_by_label("distance in tokens", exact=True).fill("2")
    expect(status).to_contain_text("At the distance 32,768, 10 of 32 hands")
    expect(status).to_contain_text("on the way from distance 0 to here, 12 come")
    assert page.locator(".attnbook-outside").count() > 0
    before = line.get_attribute("d")
    page.get_by_role("combobox", name="scaling").select_option("interpolation")
    expect(status).to_contain_text("0 of 32 hands")
    expect(status).to_contain_text("by 14.3°; in training it was 57.3°")
    settle(page)
    assert line.get_attribute("d") != before
    expect(page.locator(".attnbook-outside")).to_have_count(0)
    page.get_by_role("combobox", name="scaling").select_option("YaRN")
    expect(status).to_contain_text("1.139 times as long")
    slider = page.get_by_label("distance in tokens", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1, 0.000122 n₀")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "131,072, 16 n₀")
    for _ in range(8):  # each an eighth of an octave
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "65,536, 8 n₀")
