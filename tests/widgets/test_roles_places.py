"""The three roles wherever they are shown: http, file, anywidget, a phone, paper, no script."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import RoleProjection
from tests.widgets.conftest import settle
from tests.widgets.test_everywhere import rendered
from tests.widgets.test_roles_page import asked, bare, entry, square, status, three_decimals


@pytest.mark.parametrize("via", ["file", "http"])
def test_an_edit_moves_everything_over_http_and_from_a_file(show, via: str) -> None:
    widget = bare()
    page = show(widget, via=via)
    assert page.url.startswith(via)
    entry(page, "K", 1, 1).fill("11")
    widget.w_k = [[11, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert square(page, 1) == three_decimals(widget.weights)
    entry(page, "K", 1, 1).press("ArrowUp")
    widget.w_k = [[12, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert square(page, 1) == three_decimals(widget.weights)
    page.locator(".attnbook-square").last.locator("tbody tr").first.click()
    expect(status(page)).to_contain_text("had attends most to had (1.000)")


def test_the_numbers_stay_those_of_python_in_the_largest_picture(show) -> None:
    rng = np.random.default_rng(3)
    x, w_q, w_k, w_v = (rng.normal(size=size) for size in [(6, 4), (4, 4), (4, 4), (4, 4)])
    names = [f"word{i}" for i in range(6)]
    widget = RoleProjection(x, names, w_q, w_k, w_v, token=5)
    page = show(widget)
    assert square(page, 1) == three_decimals(widget.weights)
    output = ", ".join(f"{number:.3f}" for number in widget.output[5]).replace("-", "−")
    expect(status(page)).to_contain_text(f"({output})")
    assert page.locator("figure *").count() <= 500
    assert len(widget.html()) < 50_000


def test_a_phone_shows_two_roles_side_by_side_and_no_page_scrolls(show) -> None:
    page = show(bare(), width=390, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [box.bounding_box()["y"] for box in page.locator(".attnbook-trio > *").all()]
    assert tops[0] == tops[1] < tops[2]
    query = page.get_by_role("group", name="query: q = x W^Q")
    query.locator(".attnbook-part").nth(2).tap()
    expect(query.locator(".attnbook-note")).to_have_text("q₃ = 1·0 + 2·0 + 2·1 = 2")


def test_without_javascript_the_tables_are_there(show) -> None:
    page = show(bare(), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_have_count(2)
    expect(page.locator(".attnbook-fallback")).to_contain_text("0.905")


def test_on_paper_there_are_numbers_and_no_controls(show) -> None:
    page = show(bare())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-controls")).to_be_hidden()
    expect(page.get_by_role("button", name="set W^K to the identity")).to_be_hidden()
    expect(page.locator(".attnbook-square").last).to_be_visible()
    settle(page)
    assert square(page, 1)[2] == ["0.005", "0.090", "0.905"]


def test_the_view_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, bare())
    entry(page, "K", 1, 1).first.fill("11")
    assert page.evaluate("model.get('w_k')") == [[11, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert page.evaluate("model.get('initial').w_k[0][0]") == 1
    assert page.evaluate("saves") == 1
    assert entry(page, "K", 1, 1).last.input_value() == "11"
    page.get_by_role("combobox").last.select_option("had")
    assert page.evaluate("model.get('token')") == 0
    expect(page.get_by_role("combobox").first).to_have_value("had")


def test_python_moves_the_view(show) -> None:
    widget = bare()
    page = rendered(show, widget)
    widget.w_q = [[0.123456, 0, 0], [0, 0, 2], [0, 0, -1]]
    widget.causal = True
    page.evaluate("([w]) => { model.set('w_q', w); model.set('causal', true); }", [widget.w_q])
    assert entry(page, "Q", 1, 1).first.input_value() == "0.123"
    assert asked(page)[:3] == [f"{weight:.3f}" for weight in widget.weights[2]]
    assert page.evaluate("saves") == 0
    page.evaluate("model.set('step', 0.5)")
    entry(page, "Q", 2, 3).first.press("ArrowUp")
    assert page.evaluate("model.get('w_q')[1]") == [0, 0, 2.5]
