"""The alignment player on a phone, on paper, without a script, and through anywidget."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import AlignmentPlayer
from attnbook.widgets.core import markup
from attnbook.widgets.core.chunks import module
from tests.widgets.conftest import settle
from tests.widgets.players import button, current, player, status
from tests.widgets.test_everywhere import RENDER, violations

EVIL = "<img src=x onerror=alert(1)>"


def largest() -> AlignmentPlayer:
    """Ten sentences of 24 tokens a side."""
    rng = np.random.default_rng(0)
    rows = np.exp(rng.normal(size=(24, 24)) * 3)
    rows /= rows.sum(axis=1, keepdims=True)
    words = [f"word{i}" for i in range(24)]
    return AlignmentPlayer([(words, words, rows, [(i, i) for i in range(24)])] * 10, word=23)


def test_on_a_phone_nothing_scrolls_sideways_and_a_tap_goes_to_a_word(show) -> None:
    page = show(largest(), player(), width=390, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    stages = page.locator(".attnbook-stage, .attnbook-plot canvas").all()
    assert max(box.bounding_box()["width"] for box in stages) <= 358
    button(page, "noir").tap()
    expect(status(page).last).to_contain_text("noir looks most at black")
    tall = [node.bounding_box()["height"] for node in page.get_by_role("button").all()]
    assert min(tall) >= 44


def test_the_largest_player_stays_within_the_budget_of_nodes(show) -> None:
    page = show(largest())
    page.locator(".attnbook-twin > summary").click()
    settle(page)
    assert page.locator("figure *").count() <= 500


def test_the_lines_lead_from_the_source_words_to_the_current_one(show) -> None:
    page = show(player(word=2))
    ends = """() => { const svg = document.querySelector('.attnbook-lines');
      const box = svg.getBoundingClientRect();
      const [words, target] = Array.from(document.querySelectorAll('.attnbook-stage ol'), (list) =>
        Array.from(list.children, (item) => { const at = item.getBoundingClientRect();
          return (at.top + at.bottom) / 2; }));
      const high = svg.viewBox.baseVal.height;
      return Array.from(svg.children, (line) => ['y1', 'y2'].map((end) =>
        box.top + Number(line.getAttribute(end)) / high * box.height))
        .map(([from, to]) => Math.min(...words.map((y) => Math.abs(y - from)))
          + Math.abs(target[2] - to)); }"""
    assert max(page.evaluate(ends)) < 1.5


def test_hostile_and_blank_tokens_are_shown_as_text(show) -> None:
    page = show(AlignmentPlayer([([EVIL, " "], ["  "], [[0.5, 0.5]], [(0, 0)])], caption=EVIL))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.locator(".attnbook-twin > summary").click()
    settle(page)
    assert page.locator("figure img").count() == 0
    expect(status(page)).to_contain_text("␣ looks most at <img")
    expect(page.locator("figcaption")).to_have_text(EVIL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 900


def test_without_javascript_the_table_is_there(show) -> None:
    page = show(player(), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_contain_text("0.700*")
    expect(page.locator(".attnbook-fallback")).to_contain_text("It is 0.000 in this sentence.")


def test_on_paper_there_are_numbers_and_no_controls(show) -> None:
    page = show(player())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-twin table")).to_be_visible()
    expect(page.locator(".attnbook-stage")).to_be_visible()
    for hidden in (".attnbook-controls", ".attnbook-stepper", ".attnbook-status"):
        expect(page.locator(hidden)).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator(".attnbook-twin table")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_at_any_word_or_width(show, theme: str) -> None:
    for width in (900, 390):
        page = show(largest(), player(word=1), theme=theme, width=width)
        assert violations(page) == []
        page.locator(".attnbook-twin > summary").last.click()
        button(page, "noir").focus()
        settle(page)
        assert violations(page) == []


def rendered(show, widget: AlignmentPlayer, views: int = 2):
    page = show()
    page.evaluate(RENDER, [module(), markup.tidy(widget.state()), views])
    settle(page)
    return page


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, player())
    button(page, "next").first.click()
    settle(page)
    assert page.evaluate("model.get('word')") == 1
    page.get_by_label("threshold θ as a number").first.fill("0.25")
    page.get_by_label("temperature as a number").first.fill("2")
    page.get_by_label("sentence").first.select_option("2: how was your day")
    settle(page)
    names = ["chosen", "word", "threshold", "temperature"]
    assert page.evaluate("(names) => names.map(model.get)", names) == [1, 0, 0.25, 2]
    assert page.evaluate("saves") == 4
    assert set(status(page).all_inner_texts()) == {status(page).first.inner_text()}


def test_python_moves_the_view_and_hears_no_echo(show) -> None:
    page = rendered(show, player(chosen=1, word=5))
    page.evaluate("() => { model.set('chosen', 0); model.set('temperature', 0.5); }")
    settle(page)  # the word of the longer sentence is still there
    for view in page.locator("figure").all():
        expect(view.locator(".attnbook-status")).to_contain_text("noir looks most at black 0.994")
    page.evaluate("() => { model.set('word', 0); model.set('threshold', 0.95); }")
    settle(page)
    for view in page.locator("figure").all():
        expect(view.locator(".attnbook-status")).to_contain_text("le looks most at the 0.907")
        expect(view.locator(".attnbook-status")).to_contain_text("Links at θ = 0.95: none")
    assert page.evaluate("saves") == 0


def test_a_view_that_is_closed_plays_no_further(show) -> None:
    page = rendered(show, player(), views=1)
    button(page, "play").click()
    page.evaluate("stops.forEach((stop) => stop())")
    page.wait_for_timeout(1400)
    assert page.evaluate("model.get('word')") == 0


def test_two_views_share_the_word_and_one_plays(show) -> None:
    page = rendered(show, player())
    button(page, "play").first.click()
    expect(status(page).last).to_contain_text("chat looks most at", timeout=3000)
    assert button(page, "pause").count() == 1
    button(page, "pause").click()


def test_the_focus_stays_where_the_hand_is_when_another_view_moves(show) -> None:
    page = rendered(show, player())
    button(page, "le").first.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    expect(button(page, "chat").first).to_be_focused()
    assert (
        page.locator(".attnbook-stage button[aria-current=step]").all_inner_texts() == ["chat"] * 2
    )
    assert current(show(player())) == "le"
