"""The alignment player: the book's metrics, played by mouse and keys."""

import itertools

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnlab.training.metrics import alignment_error_rate
from attnlab.widgets import AlignmentPlayer
from tests.attnlab.widgets.examples import CAT, DAY, UNKNOWN, player
from tests.attnlab.widgets.pages import (
    button,
    cell,
    press,
    rows,
    says,
    settle,
    stop_clock,
    tells,
    trait,
    twin,
    wait,
)


def source(page) -> list[str]:
    """The source words with the current word's weights: "black 0.900 ✓"."""
    items = page.locator(".attnbook-stage ol").first.locator("li")
    return [" ".join(parts) for parts in rows(items, "span")]


def scores(page) -> dict[str, list[str]]:
    """The table of error rate, precision and recall, by the heading of its rows."""
    found = rows(page.locator(".attnbook-live > .attnbook-scroll tbody tr"), "th, td")
    return {name: numbers for name, *numbers in found}


def current(page) -> str:
    """The word of the translation that is current, and the only one that Tab reaches."""
    settle(page)
    found = page.locator(".attnbook-stage button[aria-current=step]").all_inner_texts()
    assert found == page.locator(".attnbook-stage button[tabindex='0']").all_inner_texts()
    assert len(found) == 1
    return found[0]


PACE = 1200  # milliseconds a word


def random_examples(seed: int) -> list[tuple]:
    rng = np.random.default_rng(seed)
    found = []
    for k in range(int(rng.integers(1, 11))):
        n_t, n_s = (int(n) for n in rng.integers(1, 25, 2))
        weights = torch.softmax(torch.tensor(rng.normal(size=(n_t, n_s)) * 3), -1)
        gold = {(int(rng.integers(n_s)), int(rng.integers(n_t))) for _ in range(n_t)}
        words = [[f"{side}{i}" for i in range(n)] for side, n in (("s", n_s), ("t", n_t))]
        found.append((*words, weights, gold if k != 1 else None))
    return found


def test_weights_are_those_given_raised_to_a_power_and_renormalised() -> None:
    for seed, temperature in itertools.product(range(8), (0.5, 1.0, 3.0)):
        examples = random_examples(seed)
        widget = AlignmentPlayer(examples, temperature=temperature)
        for k, (_, _, weights, _) in enumerate(examples):
            widget.chosen = k
            powers = weights ** (1 / temperature)
            wanted = (powers / powers.sum(-1, keepdim=True)).numpy()
            assert np.abs(widget.weights - wanted).max() < 1e-4 / min(1, temperature)


def test_links_and_error_rate_are_those_of_the_books_metrics() -> None:
    for seed, threshold in itertools.product(range(8), (0.05, 0.3, 0.7)):
        examples = random_examples(seed)
        widget = AlignmentPlayer(examples, threshold=threshold)
        predicted, gold = [], []
        for k, (_, _, weights, links) in enumerate(examples):
            widget.chosen = k
            near = np.abs(weights.numpy() - threshold).min() < 2e-4
            wanted = {(s, t) for t, s in np.argwhere(weights.numpy() >= threshold).tolist()}
            assert near or widget.links == wanted
            if links is not None:
                predicted.append(widget.links)
                gold.append(links)
        assert widget.error_rate == alignment_error_rate(predicted, gold)
    assert AlignmentPlayer([UNKNOWN]).error_rate is None
    nothing = ["a", "b"], ["c"], [[0.5, 0.5]], []
    assert AlignmentPlayer([nothing], threshold=0.6).error_rate is None


def test_the_threshold_itself_links_the_word_stays_inside_and_tiny_weights_stay() -> None:
    widget = player(word=1)
    # 0.5 itself, though its half is carried inexactly
    assert widget.links == {(0, 0), (2, 1), (1, 2)}
    widget.threshold = 0.501
    assert widget.links == {(0, 0), (1, 2)}
    widget = player(chosen=1, word=-1)
    assert widget.word == 5
    widget.chosen = 0
    assert widget.word == 0
    widget.set_state({"chosen": 1, "word": 4})  # both at once, as the page sends them
    assert (widget.chosen, widget.word) == (1, 4)
    # What is carried has one range, so that nbval compares the logarithms themselves.
    rows = np.array([[1e-7, 1 - 1e-7], [0.5, 0.5]])
    other = np.array([[1.01e-7, 1 - 1.01e-7], [0.5, 0.5]])
    made = [AlignmentPlayer([(["a", "b"], ["c", "d"], w, None)]) for w in (rows, other)]
    assert made[0].ranges == made[1].ranges == [[-22.0, 0.0]]
    assert np.abs(made[0]._logs - made[1]._logs).max() / 22 < 0.001


@pytest.fixture
def page(show):
    return show(player())


def test_arrow_keys_and_clicks_go_from_the_first_word_to_others(page) -> None:
    assert current(page) == "le"
    assert source(page) == ["the 0.700 ✓", "black 0.100", "cat 0.200"]
    says(
        page,
        "“le” looks most at “the” 0.700, “cat” 0.200, “black” 0.100; "
        "entropy 1.16 bits, as if spread "
        "evenly over 2.2 words. Links at θ = 0.5: “the”. Gold: “the”; they agree.",
    )
    expect(page.get_by_text("word 1 of 3", exact=True)).to_be_visible()
    button(page, "le").focus()
    for key, word in [("ArrowDown", "chat"), ("End", "noir"), ("ArrowUp", "chat"), ("Home", "le")]:
        page.keyboard.press(key)
        assert current(page) == word
        expect(button(page, word)).to_be_focused()
    page.keyboard.press("Tab")  # the words are one stop
    assert page.evaluate("document.activeElement.closest('.attnbook-stage')") is None
    button(page, "noir").click()
    assert current(page) == "noir"
    canvas = page.locator(".attnbook-plot canvas")
    canvas.click(position=cell(page, 1, 1))
    assert current(page) == "chat"
    canvas.click(position={"x": 80, "y": 2})  # above all rows
    assert current(page) == "chat"


def filled(page) -> int:
    """How many pixels of the matrix are of a strong colour: those of written words."""
    settle(page)
    return page.evaluate(
        """() => { const canvas = document.querySelector('.attnbook-plot canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) count += data[at + 2] - data[at] > 60;
      return count; }"""
    )


def test_words_appear_one_by_one_and_a_hand_stops_the_play(page) -> None:
    later, pixels = page.locator(".attnbook-later"), []
    for word, left in [("le", ["chat", "noir"]), ("chat", ["noir"]), ("noir", [])]:
        button(page, word).click()
        pixels.append(filled(page))
        assert later.all_inner_texts() == left
    assert pixels[0] < pixels[1] < pixels[2]
    for take in ("next", "noir", "reset"):
        button(page, "play").click()
        page.get_by_role("button", name=take).click()
        expect(button(page, "play")).to_be_visible()


def test_it_plays_to_the_end_and_again_or_in_little_motion_only_by_steps(show) -> None:
    page = show(player(), clock=True)
    stop_clock(page)
    press(page, "play")
    wait(page)
    expect(button(page, "pause")).to_be_visible()
    for word in ("chat", "noir"):
        wait(page, PACE)
        tells(page, f"“{word}” looks most at")
    wait(page, PACE)
    press(page, "play")
    wait(page)
    tells(page, "“le” looks most at")
    press(page, "pause")
    wait(page, 9 * PACE)
    expect(button(page, "play")).to_be_visible()
    tells(page, "“le” looks most at")
    page = show(player(), reduced_motion="reduce")
    expect(button(page, "play")).to_be_hidden()
    button(page, "next").click()
    assert current(page) == "chat"
    page = show(player(), clock=True)
    stop_clock(page)
    press(page, "play")
    page.emulate_media(reduced_motion="reduce")
    wait(page, 9 * PACE)
    tells(page, "“le” looks most at")
    expect(button(page, "pause")).to_be_hidden()


def test_another_sentence_starts_at_its_first_word_and_one_needs_no_choice(page, show) -> None:
    button(page, "noir").click()
    page.get_by_label("sentence").select_option("2: how was your day")
    assert current(page) == "comment"
    button(page, "passée").click()
    assert source(page) == ["how 0.000", "was 0.350", "your 0.050", "day 0.600 ✓"]
    tells(page, "Gold: “was”; missed: “was”; too many: “day”.")
    page.get_by_label("sentence").select_option("3: yes")
    says(
        page,
        "“oui” looks most at “yes” 1.000; entropy 0.00 bits, as if spread evenly over 1.0 words. "
        "Links at θ = 0.5: “yes”. This sentence has no gold links.",
    )
    page.get_by_label("sentence").select_option("1: the black cat")
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
    page = show(AlignmentPlayer([CAT]))
    assert page.get_by_label("sentence").count() == 0
    assert list(scores(page)) == ["this sentence, α ≥ 0.5", "this sentence, largest α"]
    page = show(AlignmentPlayer([UNKNOWN]))
    expect(page.locator(".attnbook-live > .attnbook-scroll")).to_be_hidden()


def test_temperature_and_threshold_move_weights_links_and_the_table(page) -> None:
    button(page, "chat").click()
    assert source(page) == ["the 0.250", "black 0.250", "cat 0.500 ✓"]
    page.get_by_label("temperature as a number").fill("0.5")  # squares: 1, 1, 4 of 6
    assert source(page) == ["the 0.167", "black 0.167", "cat 0.667 ✓"]
    page.get_by_label("threshold θ as a number").fill("0,7")
    assert source(page)[2] == "cat 0.667"
    tells(page, "Links at θ = 0.7: none. Gold: “cat”; missed: “cat”.")
    page.get_by_label("threshold θ", exact=True).press("ArrowLeft")
    expect(page.get_by_label("threshold θ as a number")).to_have_value("0.69")
    page.get_by_label("threshold θ as a number").fill("0.5")
    page.get_by_label("temperature as a number").fill("1")
    assert twin(page)[1] == ["cat 0.500, the 0.250, black 0.250", "1.50", "cat", "cat"]
    page.get_by_label("sentence").select_option("3: yes")
    found = twin(page)
    assert len(found) == 2
    assert found[0] == ["yes 1.000", "0.00", "yes"]


def test_lines_are_as_thick_as_weights_lead_to_the_word_and_gold_is_dashed(show) -> None:
    page = show(AlignmentPlayer([DAY], word=3))
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
    page = show(player(word=2))  # from the source words to the current one
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


def test_two_views_share_the_word_and_one_plays_keeps_the_focus_and_stops_when_closed(host) -> None:
    page = host(player(), clock=True)
    stop_clock(page)
    button(page, "play").first.click()
    wait(page, PACE + 50)
    expect(page.get_by_role("status").last).to_contain_text("“chat” looks most at")
    assert button(page, "pause").count() == 1
    page.evaluate("stops.forEach((stop) => stop())")
    wait(page, 9 * PACE)
    assert trait(page, "word") == 1
    page = host(player())
    button(page, "le").first.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    expect(button(page, "chat").first).to_be_focused()
    now = page.locator(".attnbook-stage button[aria-current=step]")
    assert now.all_inner_texts() == ["chat"] * 2


def test_the_looks_alone_have_no_gold_no_links_and_no_temperature(show) -> None:
    widget = player(word=1, temperature=3, scored=False)
    page = show(widget)
    assert source(page) == ["the 0.250", "black 0.250", "cat 0.500"]
    says(page, "“chat” looks most at “cat” 0.500, “the” 0.250, “black” 0.250.")
    assert page.locator(".attnbook-gold").count() == 0
    assert twin(page)[1] == ["cat 0.500, the 0.250, black 0.250"]
    hidden = ("threshold θ as a number", "temperature as a number")
    for name in hidden:
        expect(page.get_by_label(name)).to_be_hidden()
    expect(page.locator(".attnbook-live > .attnbook-scroll")).to_be_hidden()
    assert "*" not in widget.html().split("<table")[1]
    page.get_by_label("compare with gold links").check()
    for name in hidden:
        expect(page.get_by_label(name)).to_be_visible()
    assert source(page)[2] != "cat 0.500"  # the temperature is 3
    assert len(scores(page)) == 4
    page.get_by_role("button", name="reset").click()
    assert source(page)[2] == "cat 0.500"


def test_words_to_come_are_pale_in_the_map(page) -> None:
    strong = filled(page)
    button(page, "noir").click()
    assert filled(page) > strong > 0
