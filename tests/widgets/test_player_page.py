"""The alignment player in a browser: played by mouse and keys, over http and file://."""

from __future__ import annotations

import functools

import pytest
from playwright.sync_api import expect

from attnbook.training.metrics import alignment_error_rate, argmax_links
from attnbook.widgets import AlignmentPlayer
from tests.widgets.conftest import settle
from tests.widgets.players import (
    CAT,
    DAY,
    UNKNOWN,
    button,
    current,
    player,
    scores,
    source,
    status,
)
from tests.widgets.test_player import random_examples


@pytest.fixture(params=["file", "http"])
def opened(request, show):
    """Open a page with one player, from a file or from a server."""
    return functools.partial(show, via=request.param)


@pytest.fixture
def page(opened):
    return opened(player())


def test_at_first_the_first_word_is_shown_with_its_weights_and_links(page) -> None:
    assert current(page) == "le"
    assert source(page) == ["the 0.700 ✓", "black 0.100", "cat 0.200"]
    expect(status(page)).to_have_text(
        "le looks most at the 0.700, cat 0.200, black 0.100; entropy 1.16 bits, as if spread "
        "evenly over 2.2 words. Links at θ = 0.5: the. Gold: the; they agree."
    )
    expect(page.get_by_text("word 1 of 3", exact=True)).to_be_visible()


def test_buttons_step_and_stop_at_the_ends(page) -> None:
    expect(button(page, "previous")).to_have_attribute("aria-disabled", "true")
    button(page, "previous").press("Enter")
    assert current(page) == "le"
    for word in ("chat", "noir", "noir"):
        button(page, "next").press("Enter")
        assert current(page) == word
    expect(button(page, "next")).to_have_attribute("aria-disabled", "true")
    assert source(page) == ["the 0.050", "black 0.900 ✓", "cat 0.050"]
    button(page, "previous").click()
    assert current(page) == "chat"


def test_arrow_keys_on_the_buttons_step(page) -> None:
    button(page, "next").focus()
    for key, word in [("ArrowRight", "chat"), ("ArrowDown", "noir"), ("ArrowLeft", "chat")]:
        page.keyboard.press(key)
        assert current(page) == word
    expect(button(page, "next")).to_be_focused()
    page.keyboard.press("Control+ArrowRight")  # the browser's own
    assert current(page) == "chat"


def test_arrow_keys_on_the_translation_move_the_focus_along(page) -> None:
    button(page, "le").focus()
    for key, word in [("ArrowDown", "chat"), ("End", "noir"), ("ArrowUp", "chat"), ("Home", "le")]:
        page.keyboard.press(key)
        assert current(page) == word
        expect(button(page, word)).to_be_focused()
    page.keyboard.press("Tab")  # the words are one stop
    assert page.evaluate("document.activeElement.closest('.attnbook-stage')") is None


def test_a_click_on_a_word_or_on_its_row_goes_there(page) -> None:
    button(page, "noir").click()
    assert current(page) == "noir"
    canvas = page.locator(".attnbook-plot canvas").bounding_box()
    height = 56  # a small matrix has the largest cells
    bottom = canvas["y"] + canvas["height"] - 2
    page.mouse.click(canvas["x"] + canvas["width"] / 2, bottom - 1.5 * height)
    assert current(page) == "chat"
    page.mouse.click(canvas["x"] + canvas["width"] / 2, canvas["y"] + 2)  # above all rows
    assert current(page) == "chat"


def test_the_translation_appears_word_by_word(page) -> None:
    later = page.locator(".attnbook-later")
    for word, left in [("le", ["chat", "noir"]), ("chat", ["noir"]), ("noir", [])]:
        button(page, word).click()
        settle(page)
        assert later.all_inner_texts() == left


def filled(page) -> int:
    """How many pixels of the matrix are of no shade of grey: those of written words."""
    settle(page)
    return page.evaluate(
        """() => { const canvas = document.querySelector('.attnbook-plot canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) count += data[at + 2] - data[at] > 16;
      return count; }"""
    )


def test_the_matrix_grows_with_the_words(page) -> None:
    before = filled(page)
    button(page, "chat").click()
    between = filled(page)
    button(page, "noir").click()
    assert before < between < filled(page)


def test_it_plays_to_the_end_stops_and_starts_again(page) -> None:
    button(page, "play").click()
    expect(button(page, "pause")).to_be_visible()
    expect(status(page)).to_contain_text("chat looks most at", timeout=3000)
    expect(status(page)).to_contain_text("noir looks most at", timeout=3000)
    expect(button(page, "play")).to_be_visible(timeout=3000)
    button(page, "play").click()
    assert current(page) == "le"
    button(page, "pause").click()
    expect(button(page, "play")).to_be_visible()
    page.wait_for_timeout(1400)
    assert current(page) == "le"


@pytest.mark.parametrize("take", ["next", "noir", "reset"])
def test_a_hand_on_the_player_stops_the_play(show, take: str) -> None:
    page = show(player())
    button(page, "play").click()
    page.get_by_role("button", name=take).click()
    expect(button(page, "play")).to_be_visible()


def test_who_wants_little_motion_has_only_the_steps(show) -> None:
    page = show(player(), reduced_motion="reduce")
    expect(button(page, "play")).to_be_hidden()
    button(page, "next").click()
    assert current(page) == "chat"


def test_play_stops_where_little_motion_is_wanted_later(show) -> None:
    page = show(player())
    button(page, "play").click()
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_timeout(1400)
    assert current(page) == "le"
    expect(button(page, "pause")).to_be_hidden()


def test_another_sentence_starts_at_its_first_word(page) -> None:
    button(page, "noir").click()
    page.get_by_label("sentence").select_option("2: how was your day")
    assert current(page) == "comment"
    button(page, "passée").click()
    assert source(page) == ["how 0.000", "was 0.350", "your 0.050", "day 0.600 ✓"]
    expect(status(page)).to_contain_text("Gold: was; missed: was; too many: day.")
    page.get_by_label("sentence").select_option("3: yes")
    expect(status(page)).to_have_text(
        "oui looks most at yes 1.000; entropy 0.00 bits, as if spread evenly over 1.0 words. "
        "Links at θ = 0.5: yes. This sentence has no gold links."
    )


def test_the_scores_of_links_and_of_the_largest_weights_against_gold(page) -> None:
    assert scores(page) == {
        "this sentence, α ≥ 0.5": ["0.000", "1.000", "1.000"],
        "this sentence, largest α": ["0.000", "1.000", "1.000"],
        "all 2 with gold links, α ≥ 0.5": ["0.176", "0.875", "0.778"],
        "all 2 with gold links, largest α": ["0.111", "0.889", "0.889"],
    }
    page.get_by_label("sentence").select_option("3: yes")
    assert scores(page)["this sentence, α ≥ 0.5"] == ["–", "–", "–"]
    page.get_by_label("threshold θ as a number").fill("1")
    page.get_by_label("sentence").select_option("1: the black cat")
    assert scores(page)["this sentence, α ≥ 1"] == ["1.000", "–", "0.000"]


def test_one_sentence_alone_needs_no_choice_and_none_with_gold_no_scores(opened) -> None:
    page = opened(AlignmentPlayer([CAT]))
    assert page.get_by_label("sentence").count() == 0
    assert list(scores(page)) == ["this sentence, α ≥ 0.5", "this sentence, largest α"]
    page = opened(AlignmentPlayer([UNKNOWN]))
    expect(page.locator(".attnbook-live > .attnbook-scroll")).to_be_hidden()


@pytest.mark.parametrize("seed", range(3))
def test_the_page_counts_as_the_books_metrics_do(show, seed: int) -> None:
    examples = random_examples(seed)
    widget = AlignmentPlayer(examples)
    page = show(widget)
    known = [k for k, example in enumerate(examples) if example[3] is not None]
    gold = [examples[k][3] for k in known]
    for temperature, threshold in [(1, 0.5), (0.5, 0.3), (3, 0.12)]:
        page.get_by_label("temperature as a number").fill(str(temperature))
        page.get_by_label("threshold θ as a number").fill(str(threshold))
        widget.temperature, widget.threshold = temperature, threshold
        largest = []
        for k in known:
            widget.chosen = k
            largest.append(argmax_links(widget.weights))
        drawn = list(scores(page).values())[-2:]
        wanted = [widget.error_rate, alignment_error_rate(largest, gold)]
        assert [float(row[0]) for row in drawn] == pytest.approx(wanted, abs=5.1e-4)


def test_temperature_and_threshold_move_weights_and_links(page) -> None:
    button(page, "chat").click()
    assert source(page) == ["the 0.250", "black 0.250", "cat 0.500 ✓"]
    page.get_by_label("temperature as a number").fill("0.5")  # squares: 1, 1, 4 of 6
    assert source(page) == ["the 0.167", "black 0.167", "cat 0.667 ✓"]
    page.get_by_label("threshold θ as a number").fill("0,7")
    assert source(page)[2] == "cat 0.667"
    expect(status(page)).to_contain_text("Links at θ = 0.7: none. Gold: cat; missed: cat.")
    page.get_by_label("threshold θ", exact=True).press("ArrowLeft")
    expect(page.get_by_label("threshold θ as a number")).to_have_value("0.69")


def test_numbers_that_cannot_be_used_are_refused_in_words(page) -> None:
    box = page.get_by_label("threshold θ as a number")
    for junk in ("1.2", "-0.1", "much", "", "1e9", "NaN"):
        box.fill(junk)
        expect(page.get_by_role("alert")).to_have_text(
            "threshold θ as a number: a number from 0 to 1 is wanted; 0.5 is kept."
        )
        assert source(page)[0] == "the 0.700 ✓"
    box.blur()
    expect(box).to_have_value("0.5")
    page.get_by_label("temperature as a number").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("a number from 0.01 to 1000 is wanted")


def test_reset_goes_back_to_the_first_state_more_than_once(opened) -> None:
    page = opened(player(chosen=1, word=2, threshold=0.3, temperature=2))
    for _ in range(2):
        page.get_by_label("sentence").select_option("1: the black cat")
        button(page, "next").click()
        page.get_by_label("temperature as a number").fill("7")
        page.get_by_label("threshold θ as a number").fill("seven")
        page.get_by_role("button", name="reset").click()
        assert current(page) == "est"
        expect(page.get_by_label("temperature as a number")).to_have_value("2")
        expect(page.get_by_label("threshold θ as a number")).to_have_value("0.3")
        expect(page.get_by_role("alert")).to_be_empty()
        expect(page.get_by_label("sentence")).to_have_js_property("selectedIndex", 1)


def test_the_table_twin_tells_every_word(page) -> None:
    page.locator(".attnbook-twin > summary").click()
    rows = page.locator(".attnbook-twin tbody tr")
    assert rows.nth(1).locator("td").all_inner_texts() == [
        "cat 0.500, the 0.250, black 0.250",
        "1.50",
        "cat",
        "cat",
    ]
    page.get_by_label("sentence").select_option("3: yes")
    settle(page)
    assert rows.count() == 2
    assert rows.nth(0).locator("td").all_inner_texts() == ["yes 1.000", "0.00", "yes"]


def test_lines_are_as_thick_as_weights_and_gold_is_dashed(opened) -> None:
    page = opened(AlignmentPlayer([DAY], word=3))
    thick = """() => Array.from(document.querySelectorAll('.attnbook-lines line'), (line) =>
      [Number(line.getAttribute('y1')),
        line.getAttribute('class') ?? Number(line.getAttribute('stroke-width'))])"""
    lines = page.evaluate(thick)
    assert [kind for _, kind in lines if kind == "attnbook-gold"] == ["attnbook-gold"]
    assert [1.5, "attnbook-gold"] in lines
    widths = {y: width for y, width in lines if width != "attnbook-gold"}
    assert widths == pytest.approx({1.5: 12 * 0.35, 2.5: 1, 3.5: 12 * 0.6}, abs=2e-3)
    gold = page.locator(".attnbook-stage li.attnbook-gold")
    assert gold.locator(".attnbook-token").all_inner_texts() == ["was"]
