"""The head browser in a browser: loaded, searched, hidden, by mouse and by keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import HeadBrowser
from attnbook.widgets.core.assets import FOLDER
from attnbook.widgets.core.chunks import module
from tests.widgets.browsers import (
    best,
    box,
    choose,
    expected,
    load,
    ranking,
    small,
    status,
    title,
    values,
)
from tests.widgets.conftest import settle
from tests.widgets.test_browser import TIRED, WIDE, attention, browser, pairs
from tests.widgets.test_maths import OPEN

MEASURE = """([bytes, lengths, heads, k, tokens, hide, what]) => {
  const may = maths.seen(tokens, hide);
  return maths.logWeights(Uint8Array.from(bytes), lengths, heads, k).map((logs) => {
    const weights = maths.weighed(logs, tokens.length, may);
    return [Array.from(weights), maths.measured(weights, may, { ...what, tokens })];
  });
}"""
MEASURES = {
    "key": "weight on the chosen key",
    "special": "weight on [CLS] and [SEP]",
    "spread": "over how many keys",
}


@pytest.fixture(autouse=True)
def _assets(monkeypatch: pytest.MonkeyPatch, folder) -> None:
    """Widgets leave their assets beside the page."""
    monkeypatch.setenv(FOLDER, str(folder / "assets"))


def test_the_pages_weights_and_measures_are_pythons(show) -> None:
    page = show()
    page.evaluate(OPEN, module("browser"))
    widget = HeadBrowser(pairs(size=12.0))  # of some rows nothing is left when keys are hidden
    for k, tokens in enumerate((TIRED, WIDE)):
        widget.chosen = k
        for measure in ("key", "previous", "next", "same", "special", "spread"):
            for row, key, hide in ((None, 2, False), (3, 2, True), (0, 0, True), (4, 1, False)):
                widget.row, widget.key, widget.hide, widget.measure = row, key, hide, measure
                what = {"row": row, "key": key, "measure": measure}
                arguments = [list(widget.carried), [11, 6], 6, k, tokens, hide, what]
                came = page.evaluate(MEASURE, arguments)
                weights = np.array([one for one, _ in came]).reshape(widget.weights.shape)
                assert np.abs(weights - widget.weights).max() < 1e-6
                measures = np.array([np.nan if one is None else one for _, one in came])
                assert np.allclose(measures, widget.measured.ravel(), atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("via", ["file", "http"])
def test_the_weights_come_when_they_are_asked_for(show, via: str) -> None:
    page = show(browser(row=8, key=2), via=via)
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    expect(page.locator(".attnbook-every")).to_have_count(0)
    ask = page.get_by_role("button", name="load all 6 heads of 2 sentences (3 KB)")
    ask.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".attnbook-every")).to_be_visible()
    expect(page.locator(".attnbook-fallback")).to_be_hidden()
    expect(ask).to_have_count(0)
    expect(box(page, "sentence")).to_be_focused()
    assert best(page) == ranking(browser(row=8, key=2))


def test_a_file_that_is_missing_or_of_another_page_is_said(show, folder) -> None:
    page = show(browser(asset="gone"))
    written = folder / "assets" / "gone.js"
    kept = written.read_text()
    written.unlink()
    ask = page.get_by_role("button", name="load all")
    ask.click()
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded: assets/gone.js")
    assert "ERR_FILE_NOT_FOUND" in show.logged.pop()
    written.write_text(kept.replace('="', '="AAAA'))
    ask.click()
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded: assets/gone.js")
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    page.evaluate("delete attnbookAssets.gone")
    written.write_text(kept)
    load(page)
    expect(page.get_by_role("alert")).to_be_empty()


def test_the_search_finds_which_heads_look_from_here_to_there(show) -> None:
    page = load(show(browser()))
    expect(page.locator(".attnbook-best p")).to_contain_text("From which word to which?")
    assert best(page) == []
    choose(page, "look from", "it")
    choose(page, "to", "animal")
    widget = browser(row=8, key=2)
    expect(page.locator(".attnbook-best p")).to_have_text("it → animal. Most in:")
    assert values(page) == expected(widget)
    assert best(page) == ranking(widget)
    page.locator(".attnbook-best button").first.click()
    first = best(page)[0].split(":")[0]
    expect(title(page)).to_have_text(first)
    expect(page.locator(".attnbook-best button").first).to_have_attribute("aria-pressed", "true")
    choose(page, "look from", "all queries")
    assert values(page) == expected(browser(key=2))
    choose(page, "to", "choose a key")
    assert best(page) == []


@pytest.mark.parametrize("measure", MEASURES)
def test_the_small_maps_are_shaded_by_each_measure(show, measure: str) -> None:
    page = load(show(browser(row=8, key=2)))
    choose(page, "shade by", MEASURES[measure])
    for hide in (False, True):
        page.get_by_label("hide [CLS] and [SEP]").set_checked(hide)
        widget = browser(row=8, key=2, measure=measure, hide=hide)
        assert values(page) == expected(widget)
        most = 11 if measure == "spread" else 1
        drawn = page.locator(".attnbook-every canvas").evaluate_all(
            "(all) => all.map((one) => Number(one.style.getPropertyValue('--w')))"
        )
        assert np.allclose(drawn, np.nan_to_num(widget.measured).ravel() / most, atol=1e-3)
    if measure == "special":
        expect(page.locator(".attnbook-best p")).to_contain_text("no such key, or it is hidden")


def test_hidden_keys_are_left_out_and_their_share_is_said(show) -> None:
    page = load(show(browser(row=8, layer=1, head=2)))
    page.get_by_label("hide [CLS] and [SEP]").check()
    share = attention(11, seed=11)[1, 2, 8, [0, 10]].sum()
    expect(status(page)).to_contain_text(f"[CLS] and [SEP] had {share:.3f} of it’s weight.")
    widget = browser(row=8, layer=1, head=2, hide=True)
    order = np.argsort(-widget.weights[1, 2, 8])
    top = f"{TIRED[order[0]]} {widget.weights[1, 2, 8, order[0]]:.3f}"
    expect(status(page)).to_contain_text(
        f"it is pinned; in layer 1 head 2 it attends most to {top}"
    )
    bars = page.locator(".attnbook-side li").all_inner_texts()
    assert "masked" in bars[0]


def test_arrows_move_among_the_heads_and_enter_makes_one_large(show) -> None:
    page = load(show(browser(row=8, key=2, layer=0, head=1)))
    small(page, 0, 1).focus()
    for key, place in [
        ("ArrowDown", (1, 1)),
        ("ArrowRight", (1, 2)),
        ("ArrowRight", (1, 2)),
        ("Home", (1, 0)),
        ("ArrowUp", (0, 0)),
        ("End", (0, 2)),
    ]:
        page.keyboard.press(key)
        expect(small(page, *place)).to_be_focused()
    number = browser(row=8, key=2).measured[0, 2]
    expect(status(page)).to_have_text(f"layer 0 head 2: it → animal, {number:.3f}")
    expect(title(page)).to_have_text("layer 0 head 1")
    page.keyboard.press("Enter")
    expect(title(page)).to_have_text("layer 0 head 2")
    expect(small(page, 0, 2)).to_have_attribute("aria-pressed", "true")
    expect(small(page, 0, 2)).to_be_focused()
    page.keyboard.press("Tab")  # the small maps are one stop
    expect(page.locator(".attnbook-best button").first).to_be_focused()
    small(page, 1, 0).click()
    expect(title(page)).to_have_text("layer 1 head 0")


def test_a_cell_of_the_large_map_asks_by_mouse_and_by_keyboard(show) -> None:
    page = load(show(browser(measure="spread")))
    plot = page.get_by_role("application")
    plot.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(box(page, "look from")).to_have_value("the")
    expect(box(page, "to")).to_have_value("the")
    expect(box(page, "shade by")).to_have_value(MEASURES["key"])
    page.keyboard.press("Escape")
    expect(box(page, "look from")).to_have_value("all queries")
    canvas = page.locator(".attnbook-plot canvas")
    bounds = canvas.bounding_box()
    # the last cell is beside the lower right corner, and the names stand at the left
    corner = {"x": bounds["width"] - 8, "y": bounds["height"] - 8}
    canvas.click(position=corner)
    assert best(page) == ranking(browser(row=10, key=10))
    canvas.click(position=corner)
    expect(box(page, "look from")).to_have_value("all queries")
    canvas.click(position={"x": 5, "y": bounds["height"] - 8})
    expect(box(page, "look from")).to_have_value("[SEP]")
    expect(box(page, "to")).to_have_value("choose a key")
    page.get_by_role("button", name="let go").click()
    expect(box(page, "look from")).to_have_value("all queries")


def test_another_sentence_keeps_the_words_that_it_has(show) -> None:
    page = load(show(browser(row=3, key=2)))  # was → animal
    choose(page, "sentence", "2: the street was wide")
    expect(box(page, "look from")).to_have_value("was")
    expect(box(page, "to")).to_have_value("choose a key")
    expect(box(page, "sentence")).to_be_focused()
    choose(page, "to", "wide")
    assert best(page) == ranking(browser(chosen=1, row=3, key=4))
    page.get_by_role("button", name="reset").click()
    assert best(page) == ranking(browser(row=3, key=2))


def test_the_tables_say_what_is_drawn(show) -> None:
    page = load(show(browser(chosen=1, row=3, key=4, layer=1)))
    for summary in page.locator("summary").all():
        summary.click()
    settle(page)
    widget = browser(chosen=1, row=3, key=4)
    heads, large = page.locator(".attnbook-twin table").all()
    order = np.argsort(-widget.measured[0])
    line = ", ".join(f"head {h}: {widget.measured[0, h]:.3f}" for h in order)
    expect(heads.locator("td").first).to_have_text(line)
    weights = widget.weights[1, 0, 2]
    three = ", ".join(f"{WIDE[j]} {weights[j]:.3f}" for j in np.argsort(-weights)[:3])
    expect(large.locator("td").nth(2)).to_have_text(three)


def test_a_word_that_comes_twice_says_which_it_is(show) -> None:
    tokens = ["[CLS]", "the", "old", "the", "[SEP]"]
    page = load(show(HeadBrowser([(tokens, attention(5))], row=3, key=1)))
    expect(page.locator(".attnbook-best p")).to_have_text("the (3) → the (1). Most in:")
