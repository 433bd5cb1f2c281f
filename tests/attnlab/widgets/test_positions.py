"""Sinusoidal positions: equal to the package's, by pointer, by keys and by boxes."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.positions import Rotary, sinusoidal
from attnlab.widgets import PositionExplorer
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import positions
from tests.attnlab.widgets.pages import keys, pixel, says, settle, tells, unfold

DISTANCES = (1, 2, 5, 20)
RIGHT = [0.966, 0.884, 0.734, 0.590]  # cosines at d = 64, computed apart from this code
WRONG = [0.096, -0.089, -0.080, 0.054]


def random(seed: int) -> PositionExplorer:
    """An explorer of any shape and base, whose base has few decimals."""
    rng = np.random.default_rng(seed)
    d, n = 2 * int(rng.integers(1, 33)), int(rng.integers(2, 65))
    base = round(float(10 ** rng.uniform(0, 6)), 2)
    most = {"position": n, "shift": 64, "pair": d // 2}
    places = {name: int(rng.integers(many)) for name, many in most.items()}
    return PositionExplorer(d, n, base, formula=["divides", "multiplies"][seed % 2], **places)


def test_the_table_is_that_of_the_package_and_turns_with_any_base_as_rotary_positions_do() -> None:
    for d, n in [(2, 2), (8, 12), (64, 64), (38, 5)]:
        wanted = sinusoidal(n, d, dtype=torch.float64).numpy()
        assert np.abs(PositionExplorer(d, n).table - wanted).max() < 1e-12
    for seed in range(0, 10, 2):
        widget = random(seed)
        east = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(widget.n, widget.d // 2)
        cos_sin = Rotary(widget.d, widget.base)(east).numpy()
        assert np.abs(widget.table[:, 0::2] - cos_sin[:, 1::2]).max() < 1e-12
        assert np.abs(widget.table[:, 1::2] - cos_sin[:, 0::2]).max() < 1e-12


def test_similarities_are_torchs_stand_in_the_fallback_and_places_stay_within() -> None:
    for seed in range(10):
        widget = random(seed)
        rows = torch.from_numpy(widget.table)
        wanted = torch.cosine_similarity(rows, rows[widget.position][None], dim=-1)
        assert np.abs(widget.similarities - wanted.numpy()).max() < 1e-12
    widget = PositionExplorer(8, 12, 100, position=3, shift=2)
    html = widget.html().split("</script>")[1]
    for value in [*widget.similarities, *widget.table[3], *widget.table[5]]:
        assert f"<td>{markup.fixed(value)}</td>" in html
    assert "sin(pos / 100<sup>2i/8</sup>)" in html
    html = PositionExplorer().html()
    for value in RIGHT + WRONG:
        assert f"<td>{markup.fixed(value)}</td>" in html
    assert "sin(pos · 10,000<sup>2i/64</sup>)" in PositionExplorer(formula="multiplies").html()
    widget = PositionExplorer(8, 12, position=-1, pair=-1)
    assert (widget.position, widget.pair) == (11, 3)
    widget.n, widget.d = 5, 4
    assert (widget.position, widget.pair) == (4, 1)
    assert widget.similarities.shape == (5,)
    assert widget.initial["position"] == 11


ALL = """([d, n, base, formula, p, k]) => {
  const omega = maths.speeds(d, base, formula);
  const rows = Array.from({ length: n }, (_, q) => maths.encoded(q, omega));
  const [here, then] = [p, p + k].map((q) => maths.encoded(q, omega));
  const turned = maths.turned(here, omega, k);
  return { rows, then, turned, cosines: rows.map((row) => maths.alike(row, here)),
    farthest: maths.farthest(turned, then), alikeAt: maths.alikeAt(k, omega) };
}"""

LEFT, TOP = 44, 40  # of the map, in its picture


def agrees(page, widget: PositionExplorer) -> None:
    """Both tables, opened, hold what Python holds; and so do the sliders."""
    unfold(page)
    settle(page)
    cosines, pairs = page.locator(".attnbook-twin table").all()
    told = [text for text in cosines.locator("td").all_inner_texts() if text]
    assert told == [markup.fixed(value) for value in widget.similarities]
    far = PositionExplorer(widget.d, 64, widget.base, formula=widget.formula)
    then = encoded(far, widget.position + widget.shift)
    wanted = np.stack([widget.table[widget.position], then]).reshape(2, -1, 2)
    rows = pairs.locator("tbody tr").all_inner_texts()
    told = [row.split("\t")[2:] for row in rows]
    assert told == [[markup.fixed(x) for x in row.ravel()] for row in wanted.swapaxes(0, 1)]
    for label in ("position p", "shift k", "pair i"):
        value = getattr(widget, label.split()[0])
        expect(page.get_by_label(label, exact=True)).to_have_value(str(value))


def encoded(widget: PositionExplorer, position: int) -> np.ndarray:
    """One position, which may be beyond those that are drawn."""
    angles = position * 2 * np.pi / widget.wavelengths
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).ravel()


def spot(page, i: int, j: int) -> tuple[float, float]:
    """The middle of a cell of the map, on the page."""
    page.locator(".attnbook-plot canvas").scroll_into_view_if_needed()
    box = page.locator(".attnbook-plot canvas").bounding_box()
    n, d = (int(page.get_by_label(name).input_value()) for name in ("positions n", "components d"))
    wide, high = (box["width"] - LEFT - 2) / d, (box["height"] - TOP - 2) / n
    return box["x"] + LEFT + (j + 0.5) * wide, box["y"] + TOP + (i + 0.5) * high


def test_the_browsers_numbers_are_torchs_and_turning_needs_no_position(maths) -> None:
    came = maths(ALL, [64, 64, 10_000, "divides", 20, 5], "positions")
    assert np.abs(came["rows"] - sinusoidal(64, 64, dtype=torch.float64).numpy()).max() < 1e-12
    assert came["farthest"] < 1e-14
    for seed in range(12):
        w = random(seed)
        came = maths(ALL, [w.d, w.n, w.base, w.formula, w.position, w.shift], "positions")
        assert np.abs(came["rows"] - w.table).max() < 1e-6
        assert np.abs(came["cosines"] - w.similarities).max() < 1e-6
        assert np.abs(np.array(came["turned"]) - came["then"]).max() < 1e-6
        if w.position + w.shift < w.n:
            assert abs(came["alikeAt"] - w.similarities[w.position + w.shift]) < 1e-6


def test_sliders_by_keys_and_a_click_in_the_map_move_position_shift_and_pair(show) -> None:
    page = show(small := positions())
    for label, key in (("position p", "ArrowRight"), ("shift k", "End"), ("pair i", "Home")):
        page.get_by_label(label).press(key)
    small.position, small.shift, small.pair = 3, 63, 0
    agrees(page, small)
    tells(page, "Position 3 with position 66: cosine")
    tells(page, "Pair 0 (components 0 and 1) comes round every 6.283")
    page.get_by_role("button", name="reset").click()
    page.mouse.move(*spot(page, 7, 4))
    value = markup.fixed(small.table[7, 4])
    words = f"Position 7, component 4: sin(7 / 100^(4/8)) = sin(0.7) = {value}. Pair 2"
    tells(page, words)
    page.mouse.click(*spot(page, 7, 4))
    small.position, small.shift, small.pair = 7, 3, 2
    agrees(page, small)
    page.mouse.move(5, 5)
    tells(page, "Position 7 with position 10")


def test_both_formulas_stand_side_by_side_and_the_chosen_one_is_drawn(show) -> None:
    page = show(PositionExplorer(position=8))
    lines = page.locator(".attnbook-half table tbody tr").all_inner_texts()
    told = [[markup.fixed(value) for value in row] for row in (RIGHT, WRONG)]
    assert [line.split("\t")[1:] for line in lines] == told
    expect(page.locator(".attnbook-most")).to_have_text("divides")
    page.get_by_role("combobox").select_option(index=1)
    agrees(page, PositionExplorer(position=8, formula="multiplies"))
    expect(page.locator(".attnbook-most")).to_have_text("multiplies")
    expect(page.locator(".attnbook-letters")).to_contain_text("sin(pos · 10,0002i/64)")
    for distance, value in zip(DISTANCES, WRONG, strict=True):
        page.get_by_label("shift k").fill(str(distance))
        tells(page, f"{8 + distance}: cosine {markup.fixed(value)}")


def test_keys_walk_over_the_map_and_the_curve_is_read_out_under_the_pointer(show) -> None:
    page = show(small := positions())
    page.locator(".attnbook-plot").focus()
    keys(page, "ArrowDown", "ArrowDown", "ArrowRight")
    tells(page, "Position 3, component 3: cos(3 / 100^(2/8))")
    keys(page, "End", "ArrowUp", "Enter")
    small.position, small.pair = 2, 3
    agrees(page, small)
    keys(page, *["ArrowDown"] * 20)
    tells(page, "Position 11, component")
    page.get_by_role("button", name="reset").click()
    settle(page)
    box = page.locator(".attnbook-curve svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 30)
    value = small.similarities[11]
    words = f"position 11: cosine {markup.fixed(value)}, dot product {markup.fixed(4 * value)}."
    says(page, f"Position 2 with {words}")
    page.mouse.move(5, 5)
    tells(page, "Position 2 with position 5")


def test_what_is_above_and_below_0_has_its_colour_and_of_many_pairs_eight_are_drawn(show) -> None:
    page = show(PositionExplorer(64, 24, position=23))
    box = page.locator(".attnbook-plot canvas").bounding_box()
    shades = {}
    for name, i, j in (("one", 0, 1), ("zero", 0, 0), ("minus", 11, 0)):  # sin 11 = −0.99999
        x, y = spot(page, i, j)
        shades[name] = np.array(pixel(page, x - box["x"], y - box["y"]))
    assert abs(shades["zero"] - 255).max() <= 1
    assert abs(shades["one"] - [0x1F, 0x4E, 0x8C]).max() <= 2
    assert abs(shades["minus"] - [0xA3, 0x4A, 0x00]).max() <= 2
    page = show(PositionExplorer())
    for pair in (0, 6, 17, 31):
        page.get_by_label("pair i").fill(str(pair))
        settle(page)
        names = page.locator(".attnbook-dials p").all_inner_texts()
        assert len({name.split("\n")[0] for name in names}) == 8
        expect(page.locator(".attnbook-dials .attnbook-on p")).to_contain_text(f"pair {pair}\n")


def test_a_shift_turns_each_hand_by_the_same_angle_from_everywhere(show) -> None:
    page = show(small := positions())
    hands = page.locator(".attnbook-dials > div:visible")
    before = hands.all_inner_texts()
    angles = np.degrees(3 * 2 * np.pi / small.wavelengths)
    assert [text.split("\n")[-1] for text in before] == [f"+ {a:.4g}°" for a in angles]
    tip = hands.nth(1).locator(".attnbook-to").get_attribute("d").split("L")[1].split()
    sine, cosine = encoded(small, 5)[2:4]
    assert [float(x) for x in tip] == pytest.approx([sine, -cosine], abs=1e-3)
    page.get_by_label("position p").press("End")
    settle(page)
    assert hands.all_inner_texts() == before
    assert hands.nth(1).locator(".attnbook-to").get_attribute("d").split("L")[1].split() != tip
    note = page.locator(".attnbook-half .attnbook-note")
    expect(note).to_contain_text("PE[11], turned by k = 3, is PE[14]")
