"""The score explorer wherever it is shown: anywidget, a phone, paper, no script; and its cost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from attnbook.widgets import ScoreExplorer
from attnbook.widgets.core import markup
from tests.widgets.conftest import settle
from tests.widgets.test_everywhere import EVIL, rendered, violations
from tests.widgets.test_scores import made
from tests.widgets.test_scores_page import agrees, drag, plain_one, status, tip


def largest() -> ScoreExplorer:
    keys = [[1, -1], [0, 2], [-1, 1], [-3, -2.5], [3.25, 3]]
    hidden = {"w_q": [[1, 0.5, 0, 2], [0, 1, -1, 1]], "w_k": [[1, -1, 0.5, 0], [0.5, 1, 1, 1]]}
    names = ["small", "black", "cat", "incomprehensibilities", ""]
    return plain_one(keys=keys, tokens=names, v=[1, 1, -1, 2], chosen=3, **hidden)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_folded_and_unfolded(show, theme: str) -> None:
    page = show(plain_one(), largest(), theme=theme)
    assert violations(page) == []
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_label("v, number 1").first.fill("x")
    tip(page, "black").first.press("ArrowUp")
    assert violations(page) == []


def test_a_phone_shows_the_scores_two_by_two_and_no_page_scrolls(show) -> None:
    page = show(largest(), width=390, has_touch=True, is_mobile=True)
    page.locator("summary").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [box.bounding_box()["y"] for box in page.locator(".attnbook-four > *").all()]
    assert tops[0] == tops[1] < tops[2] == tops[3]
    small = """() => [...document.querySelectorAll('figure button, figure input, summary')]
      .filter((node) => node.type !== 'checkbox' && node.getBoundingClientRect().height)
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(small) == 0


def test_a_finger_drags_a_tip_and_beside_it_scrolls_the_page(show) -> None:
    page = show(plain_one(), width=390, has_touch=True, is_mobile=True)
    action = "(node) => getComputedStyle(node).touchAction"
    assert tip(page, "query").evaluate(action) == "none"
    assert page.locator(".attnbook-plane").evaluate(action) == "auto"
    box = tip(page, "query").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    unit = page.locator(".attnbook-plane").bounding_box()["width"] / 9
    touch = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", x), ("touchMove", x + unit / 2), ("touchMove", x + unit)):
        points = [{"x": at, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    agrees(page, plain_one(query=[2, 0]))


def test_tips_at_the_edges_stay_within_the_picture(show) -> None:
    keys = [[4, 4], [-4, 4], [-4, -4], [4, -4]]
    names = ["incomprehensible", "b", "c", "unintelligible"]
    page = show(plain_one(keys=keys, tokens=names), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in page.locator(".attnbook-tip .attnbook-token").all():
        box = name.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_the_largest_picture_stays_within_its_budgets(show) -> None:
    widget = largest()
    page = show(widget)
    agrees(page, widget)
    assert page.locator("figure *").count() <= 500
    assert len(widget.html()) < 50_000


def test_hostile_names_never_become_markup(show) -> None:
    page = show(plain_one(tokens=[EVIL, "</script>", "cat"]))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert page.locator("figure img").count() == 0
    expect(page.locator("th", has_text=EVIL).first).to_be_visible()
    expect(status(page)).to_contain_text(EVIL)


def test_without_javascript_the_tables_are_there(show) -> None:
    page = show(made(), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_have_count(2)
    highest = markup.fixed(made().weights[0].max())
    expect(page.locator(".attnbook-fallback")).to_contain_text(highest)


def test_on_paper_there_are_all_numbers_and_no_controls(show) -> None:
    page = show(plain_one())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-controls")).to_be_hidden()
    expect(page.get_by_role("button", name="W = identity")).to_be_hidden()
    expect(page.get_by_label("W_k, row 2, number 1")).to_be_visible()
    settle(page)
    agrees(page, plain_one())


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, plain_one())
    page.get_by_label("key cat, number 2").first.fill("3.5")
    assert page.evaluate("model.get('key')") == [[1, -1], [0, 2], [-1, 3.5]]
    assert page.evaluate("saves") == 1
    expect(page.get_by_label("key cat, number 2").last).to_have_value("3.5")
    tip(page, "query").last.press("ArrowUp")
    assert page.evaluate("model.get('query')") == [1, 0.1]
    page.get_by_label("additive score without tanh").last.check()
    page.get_by_role("button", name="bilinear", exact=True).first.click()
    assert page.evaluate("[model.get('tanh'), model.get('chosen')]") == [False, 2]
    expect(page.get_by_label("additive score without tanh").first).to_be_checked()
    expect(page.locator("[aria-pressed=true]").last).to_have_text("bilinear")
    expect(status(page).first).not_to_contain_text("→")  # the change was not made in this view
    page.get_by_role("button", name="reset").last.click()
    assert page.evaluate("model.get('key')") == [[1, -1], [0, 2], [-1, 1]]
    assert page.evaluate("model.get('initial').key[2][1]") == 1


def test_python_moves_the_view(show) -> None:
    widget = plain_one()
    page = rendered(show, widget, views=1)
    widget.query, widget.tanh = [0.5, -2], False
    page.evaluate("() => { model.set('query', [0.5, -2]); model.set('tanh', false); }")
    agrees(page, widget)
    assert page.evaluate("saves") == 0
    expect(status(page)).not_to_contain_text("→")
    drag(page, "query", 1, 1)
    widget.query = [1.5, -1]
    agrees(page, widget)
