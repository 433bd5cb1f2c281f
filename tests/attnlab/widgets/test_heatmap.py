"""The heat map: torch's numbers, and every control moves them, by pointer and by keyboard."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attnlab.widgets import AttentionHeatmap
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import EVIL, TOKENS, X, heatmap
from tests.attnlab.widgets.pages import cell, keys, pixel, plot, save, says, settle, tells, twin


def test_a_large_matrix_travels_packed_or_is_refused_and_a_tolerance_stands_in_the_html() -> None:
    x = np.random.default_rng(1).normal(size=(72, 16, 8))
    widget = AttentionHeatmap(x, tokens=[str(i) for i in range(16)])
    data = widget.state()
    assert data["scores"] is None
    assert len(markup.to_json(widget.state())) <= 50 * 1024
    with pytest.raises(ValueError, match="50,000"):
        AttentionHeatmap(x[:1].repeat(200, 0), tokens=[str(i) for i in range(16)])
    scores = np.random.default_rng(2).normal(size=(30, 30))
    scores[0, 0] = 1e4  # one number takes the whole range, the others share a few steps
    with pytest.raises(ValueError, match="packed"):
        AttentionHeatmap(scores=scores, tokens=[str(i) for i in range(30)])
    widget = AttentionHeatmap(X, tokens=TOKENS)
    assert "data-tolerance" not in widget.html()
    assert 'data-tolerance="0.01"' in widget.within(0.01).html()
    with pytest.raises(ValueError, match="tolerance must be a finite number above 0"):
        widget.within(-1)


def pin(page, i: int, j: int) -> None:
    page.locator(".attnbook-plot canvas").click(position=cell(page, i, j))


def slide(page, place: float) -> None:
    page.get_by_role("slider").evaluate(
        "(slider, place) => { slider.value = place;"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        place,
    )
    settle(page)


def test_the_temperature_slider_moves_the_numbers(show, nuts) -> None:
    page = show(nuts)
    slide(page, 1)
    expect(page.get_by_label("temperature as a number")).to_have_value("10")
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(page.get_by_label("temperature as a number")).to_have_value("0.1")
    assert twin(page)[2] == ["0.000", "0.000", "1.000"]


def test_keys_and_clicks_move_pin_and_let_go(show, nuts) -> None:
    page = show(nuts)
    plot(page).focus()
    page.keyboard.press("ArrowDown")
    says(page, "had → had 0.866 (score 5, scaled 2.887)")
    keys(page, "ArrowDown", "ArrowDown", "ArrowRight")
    says(page, "nuts → bowl 0.090 (score 5, scaled 2.887)")
    page.keyboard.press("End")
    says(page, "nuts → nuts 0.905 (score 9, scaled 5.196)")
    page.keyboard.press("Home")
    says(page, "nuts → had 0.005 (score 0, scaled 0)")
    page.keyboard.press("Enter")
    bars = page.locator(".attnbook-side li")
    expect(bars).to_have_text(["had0.005", "bowl0.090", "nuts0.905"])
    page.keyboard.press("Escape")
    expect(bars).to_have_count(0)
    pin(page, 1, 2)
    expect(page.locator(".attnbook-side")).to_contain_text("bowl attends to")
    says(page, "bowl → nuts 0.707 (score 5, scaled 2.887)")
    pin(page, 1, 0)
    expect(page.locator(".attnbook-side li")).to_have_count(0)
    pin(page, 2, 0)
    page.get_by_text("let go", exact=True).click()
    expect(page.locator(".attnbook-side li")).to_have_count(0)
    assert plot(page).evaluate("(node) => node === document.activeElement")


def test_a_masked_cell_a_head_another_number_of_keys_and_packed_scores_are_drawn(show) -> None:
    mask = np.ones((3, 3), dtype=bool)
    mask[0] = False
    page = show(AttentionHeatmap(X, tokens=TOKENS, mask=mask, pinned=0))
    tells(page, "nothing: every key is masked")
    plot(page).focus()
    page.keyboard.press("ArrowDown")
    says(page, "had → had: masked")
    assert twin(page)[0] == ["masked"] * 3
    x = np.random.default_rng(0).normal(size=(4, 3, 5))
    page = show(widget := AttentionHeatmap(x, tokens=TOKENS))
    page.get_by_role("button", name="head 2").click()
    settle(page)
    assert page.get_by_role("button", name="head 2").get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="head 0").get_attribute("aria-pressed") == "false"
    assert twin(page)[1] == [f"{weight:.3f}" for weight in widget.weights[2, 1]]
    page = show(heatmap(query=X[1:], key=X, tokens=TOKENS[1:], key_tokens=TOKENS, causal=True))
    assert twin(page) == [["0.240", "0.760", "masked"], ["0.005", "0.090", "0.905"]]
    x = np.random.default_rng(0).normal(size=(2, 20, 8))
    page = show(widget := AttentionHeatmap(x, tokens=[f"word{i}" for i in range(20)]))
    drawn = np.array(twin(page), dtype=float)
    assert np.abs(drawn - widget.weights[0]).max() < 6e-4  # 1e-4, and three decimals


def test_long_and_odd_tokens_are_shortened_but_said_in_full(show) -> None:
    names = ["Donaudampfschifffahrtsgesellschaft" * 3, "注意力機制😀" * 20, "  "]
    page = show(AttentionHeatmap(X, tokens=names))
    plot(page).focus()
    page.keyboard.press("ArrowDown")
    tells(page, f"{names[0]} → {names[0]}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 900
    assert page.locator(".attnbook-plot canvas").bounding_box()["width"] < 450


def test_the_picture_is_repainted_when_the_theme_changes(show, nuts) -> None:
    page = show(nuts)
    assert pixel(page, 1, 1) == [255] * 3
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    settle(page)
    assert pixel(page, 1, 1) == [18] * 3
    page.evaluate("delete document.documentElement.dataset.theme")
    page.evaluate("document.body.setAttribute('data-jp-theme-light', 'false')")
    settle(page)
    assert pixel(page, 1, 1) == [18] * 3
    page.evaluate("document.body.removeAttribute('data-jp-theme-light')")
    settle(page)
    assert pixel(page, 1, 1) == [255] * 3
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert pixel(page, 1, 1) == [18] * 3


def test_the_png_is_a_picture_of_the_map_or_of_the_pinned_row_as_is_the_csv(show, nuts) -> None:
    picture = Image.open(save(show(nuts), "PNG"))
    assert picture.format == "PNG"
    assert min(picture.size) >= 2 * 3 * 56  # two pixels for one, three cells of 56
    right, bottom = picture.size
    red, _, blue = picture.convert("RGB").getpixel((right - 12, bottom - 12))
    assert red < 80 < blue  # nuts → nuts, 0.905, is nearly the full blue
    page = show(AttentionHeatmap(X, tokens=TOKENS, pinned=2))
    assert Image.open(save(page, "PNG")).size[1] < 2 * 3 * 56
    rows = list(csv.reader(io.StringIO(save(page, "CSV").read_text(encoding="utf-8"))))
    assert rows[0] == ["query", *TOKENS]
    assert len(rows) == 2
    assert [round(float(cell), 3) for cell in rows[1][1:]] == [0.005, 0.090, 0.905]


def test_svg_and_csv_hold_no_markup_and_run_no_formula(show) -> None:
    page = show(AttentionHeatmap(X, tokens=[EVIL, "a&b\x01", "\"'<"]))
    root = ET.fromstring(save(page, "SVG").read_text(encoding="utf-8"))
    tags = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in root.iter()}
    assert tags <= {"svg", "title", "rect", "line", "text", "g", "path"}
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "0.905" in words
    assert any(word.startswith("<img") for word in words)
    names = ["=1+1", 'say "so", he', "@cmd\nline"]
    page = show(AttentionHeatmap(X, tokens=names, causal=True))
    text = save(page, "CSV").read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows] == ["query", "'=1+1", 'say "so", he', "'@cmd\nline"]
    assert rows[0][1:] == ["'=1+1", 'say "so", he', "'@cmd\nline"]
    assert rows[1][1:] == ["1", "masked", "masked"]


def test_a_broken_widget_keeps_its_fallback_and_spares_the_others(show, nuts) -> None:
    broken = nuts.html().replace('"kind":"heatmap"', '"kind":"nonsense"')
    page = show(broken, nuts, ready=False)
    page.locator("figure[data-ready]").wait_for()
    settle(page)
    assert page.locator("figure").first.get_attribute("data-ready") is None
    expect(page.locator("figure").first.locator(".attnbook-fallback table")).to_be_visible()
    assert len(show.logged) == 1
    assert "nonsense" in show.logged.pop()


def test_a_table_unfolded_before_new_data_is_drawn_waits_for_it(host) -> None:
    page = host(heatmap(), views=1)
    page.evaluate(
        """() => {
          model.set('scores', [[0, 0, 0, 0, 0, 0, 0, 0, 0]]);
          const table = document.querySelector('.attnbook-twin');
          table.open = true;
          table.dispatchEvent(new Event('toggle'));
        }"""
    )
    expect(page.locator("td").first).to_have_text("0.333")
