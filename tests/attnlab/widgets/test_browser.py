"""The head browser: weights and measures, searched, hidden, by mouse and by keyboard."""

import re
from itertools import product

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnlab.widgets import HeadBrowser
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import (
    EVIL,
    TIRED,
    WIDE,
    attention,
    browser,
    load,
    named,
    pairs,
    read_words,
)
from tests.attnlab.widgets.pages import host, keys, move, says, settle, tells, trait, violations


def small(page, layer: int, head: int):
    return page.get_by_role("button", name=re.compile(f"^layer {layer} head {head}:")).and_(
        page.locator("canvas")
    )


def walk(page, steps: dict[str, tuple[int, int]]) -> None:
    """Press one key after another; each leads to the small map of a layer and a head."""
    for key, place in steps.items():
        keys(page, key)
        expect(small(page, *place)).to_be_focused()


def title(page):
    return page.locator(".attnbook-title")


def best(page) -> list[str]:
    settle(page)
    return page.locator(".attnbook-best button").all_inner_texts()


def values(page) -> list[str]:
    """What each small map is called, without its layer and head."""
    settle(page)
    labels = "(all) => all.map((one) => one.ariaLabel.split(': ')[1])"
    return page.locator(".attnbook-every canvas").evaluate_all(labels)


def expected(widget: HeadBrowser) -> list[str]:
    decimals = 1 if widget.measure == "spread" else 3
    found = widget.measured.ravel()
    return ["–" if np.isnan(value) else markup.fixed(value, decimals) for value in found]


def ranking(widget: HeadBrowser) -> list[str]:
    heads = widget.shape[1]
    order = np.argsort(-widget.measured.ravel(), kind="stable")[:5]
    texts = expected(widget)
    return [f"layer {h // heads} head {h % heads}: {texts[h]}" for h in order]


def box(page, label: str):
    return page.get_by_role("combobox", name=label, exact=True)


def causal(n: int, layers: int = 2, heads: int = 3, seed: int = 0, size: float = 3.0):
    """Seeded weights of a model in which nobody looks ahead: (layers, heads, n, n)."""
    scores = np.random.default_rng(seed).normal(size=(layers, heads, n, n)) * size
    return torch.tensor(np.where(np.tri(n, dtype=bool), scores, -np.inf)).softmax(-1).numpy()


def causal_pairs(**options) -> list:
    return [(t, causal(len(t), seed=len(t), **options)) for t in (TIRED, WIDE)]


def choose(page, label: str, option: str) -> None:
    box(page, label).select_option(option)
    settle(page)


@pytest.mark.parametrize("size", [0.1, 3.0, 12.0])
def test_the_packed_weights_err_by_less_than_1e_4_hidden_or_not(size: float) -> None:
    widget = HeadBrowser(pairs(size=size))
    weights = attention(11, seed=11, size=size)
    assert np.abs(widget.weights - weights).max() < 1e-4
    widget.hide = True
    rest = weights[..., 1:-1] / weights[..., 1:-1].sum(-1, keepdims=True)
    assert (widget.weights[..., [0, -1]] == 0).all()
    left = weights[..., 1:-1].sum(-1)
    assert np.abs(widget.weights[..., 1:-1] - rest)[left > 1.001e-5].max() < 1e-4
    assert (widget.weights[left < 0.999e-5] == 0).all()


@pytest.mark.parametrize("row", [None, 0, 8])
def test_each_measure_is_what_it_says(row: int | None) -> None:
    weights = attention(11, seed=11)
    rows = range(11) if row is None else [row]
    keys = {
        "key": lambda i: [2],
        "previous": lambda i: [i - 1] if i else [],
        "next": lambda i: [i + 1] if i < 10 else [],
        "same": lambda i: [i],
        "special": lambda i: [0, 10],
    }
    for measure, of in keys.items():
        values = [weights[:, :, i, of(i)].sum(-1) for i in rows if of(i)]
        found = browser(row=row, key=2, measure=measure).measured
        if values:
            assert np.abs(found - np.mean(values, axis=0)).max() < 1e-4
        else:
            assert np.isnan(found).all()
    spread = torch.distributions.Categorical(torch.tensor(weights)).entropy().exp().numpy()
    found = browser(row=row, measure="spread").measured
    assert np.abs(found - spread[..., list(rows)].mean(-1)).max() < 2e-3


def test_of_a_causal_model_the_lower_triangle_is_kept_and_the_first_token_is_special() -> None:
    weights = causal(20, 30, 9)
    widget = HeadBrowser([([f"w{i}" for i in range(20)], weights)] * 4)
    assert widget.causal
    assert len(widget.carried) == 4 * 270 * 210 * 2
    assert widget.size < 1_000_000
    assert np.abs(widget.weights - weights).max() < 1e-4
    assert (np.triu(widget.weights, k=1) == 0).all()
    assert not browser().causal
    weights = causal(11, seed=11)
    widget = HeadBrowser(causal_pairs(), measure="special")
    assert np.abs(widget.measured - weights[..., 0].mean(-1)).max() < 1e-4
    widget.measure = "next"
    assert np.isnan(widget.measured).all()
    widget.hide, widget.measure, widget.row = True, "key", 8
    widget.key = 2
    rest = weights[:, :, 8, 2] / weights[:, :, 8, 1:].sum(-1)
    assert np.abs(widget.measured - rest).max() < 1e-4
    widget.row = 0  # it saw nothing else
    assert np.isnan(widget.measured).all()
    assert "without the first token" in widget.html()


def test_names_read_as_sentences_and_blanks_around_tokens_are_not_shown() -> None:
    tokens = ["It", " didn", "'t", " ", "rain"]
    widget = HeadBrowser([(tokens, causal(5))])
    assert widget.tokens == ["It", "didn", "'t", " ", "rain"]
    assert widget.sentences[0]["name"] == "It didn't rain"
    pieces = ["[CLS]", "it", "didn", "'", "t", "token", "##ize", ",", "so", "what", "?", "[SEP]"]
    widget = HeadBrowser([(pieces, attention(len(pieces)))])
    assert widget.sentences[0]["name"] == "it didn't tokenize, so what?"
    told = "HeadBrowser(2 × 3 heads, 1 sentence, shown: it didn't tokenize, so what?)"
    assert repr(widget) == told
    assert browser(names=["one", "two"]).sentences[1]["name"] == "two"


def test_without_a_key_or_with_all_hidden_there_is_no_measure() -> None:
    assert np.isnan(browser(row=8).measured).all()
    assert np.isnan(browser(row=8, key=0, hide=True).measured).all()
    assert np.isnan(browser(measure="special", hide=True).measured).all()
    hidden = browser(row=8, key=2, hide=True)
    assert (hidden.measured > browser(row=8, key=2).measured).all()
    weights = np.full((1, 2, 3, 3), 1 / 3)
    weights[0, 0, 1] = [1 - 4e-6, 2e-6, 2e-6]  # all but [CLS] is next to nothing
    tokens = ["[CLS]", "a", "b"]
    for measure, of_all in (("next", [0.5, 0.5]), ("spread", [2, 2])):
        widget = HeadBrowser([(tokens, weights)], row=1, hide=True, measure=measure)
        assert np.isnan(widget.measured[0, 0])
        assert widget.measured[0, 1] == pytest.approx(of_all[1])
        widget.row = None
        assert widget.measured[0] == pytest.approx(of_all)


def test_all_heads_are_within_a_megabyte_and_a_shorter_sentence_lets_places_go() -> None:
    tokens = [f"word{i}" for i in range(20)]
    weights = attention(20, 6, 12)
    widget = HeadBrowser([(tokens, weights)] * 10)
    assert widget.size < 1_000_000
    with pytest.raises(ValueError, match="more than 1,000,000: show fewer or shorter ones"):
        HeadBrowser([(tokens, weights)] * 14)
    widget = browser(row=8, key=2)
    widget.chosen = 1
    assert (widget.row, widget.key) == (None, 2)
    widget.row = -1
    assert widget.row == 5
    with pytest.raises(ValueError, match="key"):
        widget.key = 6
    assert widget.initial["row"] == 8


def test_the_fallback_shows_the_pinned_row_of_the_chosen_head() -> None:
    widget = browser(layer=1, head=2, row=8, caption="A `browser`.")
    html = widget.html().split("</script>")[1]
    for weight in widget.weights[1, 2, 8]:
        assert f">{weight:.3f}</td>" in html
    assert "layer 1 head 2" in html
    assert "weight of it" in html
    without = browser(row=8, hide=True).html().split("</script>")[1]
    assert "[CLS]</th>" not in without
    short = browser(chosen=1).html().split("</script>")[1]
    best = browser(chosen=1).weights[0, 0, 2].argmax()
    assert f">street</th><td>{WIDE[best]} 0." in short


OWN = "the animal sat"


def test_a_sentence_of_the_readers_own_is_shown_not_stored_and_twenty_are_kept() -> None:
    widget = browser(row=8, key=2, read=read_words)
    kept, html = widget.state(), widget.html()
    widget.row = 9  # sat
    widget.add(f" {OWN} ")
    assert widget.tokens == ["[CLS]", "the", "animal", "sat", "[SEP]"]
    assert (widget.chosen, widget.row, widget.key) == (2, 3, 2)  # the same words
    assert np.abs(widget.weights - attention(5, seed=5)).max() < 1e-4
    assert widget.own[0]["name"] == OWN
    assert widget.state() == kept
    assert widget.html() == html
    assert OWN not in repr(widget)
    widget.chosen = 1
    assert widget.state()["chosen"] == 1
    widget = browser(read=read_words)
    for number in range(20):
        widget.add("a " * (1 + number % 15) + str(number))
    assert [one["name"].split()[-1] for one in widget.own] == [str(n) for n in range(2, 20)]
    assert widget.chosen == 19
    for k, one in enumerate(widget.own, 2):
        widget.chosen = k
        n = len(widget.tokens)
        assert widget.tokens == ["[CLS]", *one["name"].split(), "[SEP]"]
        assert np.abs(widget.weights - attention(n, seed=n)).max() < 1e-4


def other_model(text: str) -> tuple[list[str], np.ndarray]:
    return ["a", "b"], attention(2, layers=1)


REFUSED = [
    (pairs, read_words, " ", "1 to 300 characters, got 0"),
    (pairs, read_words, "a" * 301, "1 to 300 characters, got 301"),
    (pairs, read_words, "é", "there is no piece for 'é'"),
    (pairs, read_words, "a " * 19, "the tokens of your sentence must be 2 to 20, got 21"),
    (pairs, other_model, "a b", r"the layers and heads of the others, \[2, 3\], got \[1, 3\]"),
    (pairs, lambda text: text, "a b", r"your sentence must be \(tokens, weights\), got 'a b'"),
    (causal_pairs, read_words, "a b", "your sentence must be causal, as the others"),
    (pairs, None, "a b", "there is nothing to read a sentence with: give read=…"),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_a_sentence_that_cannot_be_read_is_refused_in_words_and_changes_nothing(place) -> None:
    make, reads, text, said = REFUSED[place]
    widget = HeadBrowser(make(), read=reads, row=1)
    with pytest.raises(ValueError, match=said):
        widget.add(text)
    widget.typed = {"turn": 1, "text": text}
    assert widget.answer["turn"] == 1
    assert re.search(said, widget.answer["said"])
    assert (widget.own, widget.chosen, widget.row) == ([], 0, 1)


def test_what_is_no_string_is_refused_and_a_model_that_fails_leaves_nobody_waiting() -> None:
    widget = browser(read=lambda text: 1 / 0)
    with pytest.raises(TypeError, match="your sentence must be a string, got 3"):
        widget.add(3)
    with pytest.raises(ZeroDivisionError):
        widget.typed = {"turn": 1, "text": "a b"}
    told = "It could not be read: the notebook's log says why."
    assert widget.answer == {"turn": 1, "said": told}


MEASURE = """([bytes, lengths, heads, k, tokens, causal, ways]) => ways.map(([hide, what]) => {
  const may = maths.seen(tokens, hide, causal);
  return maths.stored(Uint8Array.from(bytes), lengths, heads, k, causal).map((given) => {
    const weights = maths.weighed(given, tokens.length, may);
    return [Array.from(weights), maths.measured(weights, may, { ...what, tokens, causal })];
  });
})"""

MEASURES = {
    "key": "weight on the chosen key",
    "special": "weight on [CLS] and [SEP]",
    "spread": "over how many keys",
}


@pytest.mark.parametrize("make", [pairs, causal_pairs])
def test_the_pages_weights_and_measures_are_pythons(maths, make) -> None:
    widget = HeadBrowser(make(size=12.0))  # of some rows nothing is left when keys are hidden
    for k, tokens in enumerate((TIRED, WIDE)):
        widget.chosen = k
        measures = ("key", "previous", "next", "same", "special", "spread")
        places = ((None, 2, False), (3, 2, True), (0, 0, True), (4, 1, False))
        ways = [
            (hide, {"row": row, "key": key, "measure": measure})
            for measure, (row, key, hide) in product(measures, places)
        ]
        given = [list(widget.carried), [11, 6], 6, k, tokens, widget.causal, ways]
        for (hide, what), came in zip(ways, maths(MEASURE, given, "browser"), strict=True):
            widget.hide = hide
            for name, value in what.items():
                setattr(widget, name, value)
            weights = np.array([one for one, _ in came]).reshape(widget.weights.shape)
            assert np.abs(weights - widget.weights).max() < 1e-6
            found = np.array([np.nan if one is None else one for _, one in came])
            assert np.allclose(found, widget.measured.ravel(), atol=1e-6, equal_nan=True)


def test_the_weights_come_when_they_are_asked_for(show) -> None:
    page = show(browser(row=8, key=2, read=read_words))
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
    assert page.locator("figure input[type=text]").count() == 0  # nobody reads a sentence here
    assert page.get_by_text("your own").count() == 0
    page = show(browser(row=8, key=2, at_once=True))  # nobody asked for them
    expect(page.locator(".attnbook-every")).to_be_visible()
    expect(page.get_by_role("button", name="load all")).to_have_count(0)
    assert best(page) == ranking(browser(row=8, key=2))


def test_the_search_finds_which_heads_look_from_here_to_there_by_lists_mouse_and_keys(show) -> None:
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
    choose(page, "shade by", MEASURES["spread"])
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


def test_the_small_maps_are_shaded_by_each_measure_and_hidden_keys_have_their_share_said(
    show,
) -> None:
    page = load(show(browser(row=8, key=2)))
    for measure, hide in product(MEASURES, (False, True)):
        choose(page, "shade by", MEASURES[measure])
        page.get_by_label("hide [CLS] and [SEP]").set_checked(hide)
        widget = browser(row=8, key=2, measure=measure, hide=hide)
        assert values(page) == expected(widget)
        most = 11 if measure == "spread" else 1
        drawn = page.locator(".attnbook-every canvas").evaluate_all(
            "(all) => all.map((one) => Number(one.style.getPropertyValue('--w')))"
        )
        assert np.allclose(drawn, np.nan_to_num(widget.measured).ravel() / most, atol=1e-3)
        if measure == "special" and hide:
            expect(page.locator(".attnbook-best p")).to_contain_text("no such key, or it is hidden")
    small(page, 1, 2).click()
    box(page, "look from").focus()
    page.mouse.move(0, 0)  # or the small map would be told
    share = attention(11, seed=11)[1, 2, 8, [0, 10]].sum()
    tells(page, f"[CLS] and [SEP] had {share:.3f} of the weight of “it”.")
    widget = browser(row=8, layer=1, head=2, hide=True)
    order = np.argsort(-widget.weights[1, 2, 8])
    top = f"“{TIRED[order[0]]}” {widget.weights[1, 2, 8, order[0]]:.3f}"
    tells(page, f"“it” is pinned; in layer 1 head 2 it attends most to {top}")
    bars = page.locator(".attnbook-side li").all_inner_texts()
    assert "masked" in bars[0]


def test_arrows_move_among_the_heads_and_enter_makes_one_large(show) -> None:
    page = load(show(browser(row=8, key=2, layer=0, head=1)))
    small(page, 0, 1).focus()
    down = {"ArrowDown": (1, 1), "ArrowRight": (1, 2)}
    walk(page, down | {"Home": (1, 0), "ArrowUp": (0, 0), "End": (0, 2)})
    number = browser(row=8, key=2).measured[0, 2]
    says(page, f"layer 0 head 2: it → animal, {number:.3f}")
    expect(title(page)).to_have_text("layer 0 head 1")
    page.keyboard.press("Enter")
    expect(title(page)).to_have_text("layer 0 head 2")
    expect(small(page, 0, 2)).to_have_attribute("aria-pressed", "true")
    expect(small(page, 0, 2)).to_be_focused()
    page.keyboard.press("Tab")  # the small maps are one stop
    expect(page.locator(".attnbook-best button").first).to_be_focused()
    small(page, 1, 0).click()
    expect(title(page)).to_have_text("layer 1 head 0")


def test_another_sentence_keeps_its_words_a_twin_says_which_and_tables_what_is_drawn(show) -> None:
    page = load(show(browser(row=3, key=2)))  # was → animal
    choose(page, "sentence", "2: the street was wide")
    expect(box(page, "look from")).to_have_value("was")
    expect(box(page, "to")).to_have_value("choose a key")
    expect(box(page, "sentence")).to_be_focused()
    choose(page, "to", "wide")
    assert best(page) == ranking(browser(chosen=1, row=3, key=4))
    page.get_by_role("button", name="reset").click()
    assert best(page) == ranking(browser(row=3, key=2))
    tokens = ["[CLS]", "the", "old", "the", "[SEP]"]
    page = load(show(HeadBrowser([(tokens, attention(5))], row=3, key=1)))
    expect(page.locator(".attnbook-best p")).to_have_text("the (3) → the (1). Most in:")
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


LIVE = ("reads", "own", "typed", "answer")


def live(page, widget: HeadBrowser, views: int = 1):
    """The browser as a notebook with a kernel shows it."""
    state = widget.state() | {name: getattr(widget, name) for name in LIVE}
    widget.state = lambda: state
    return host(page, widget, views)


def send(page, widget: HeadBrowser, text: str) -> None:
    """Type a sentence, and have Python read it."""
    own(page).fill(text)
    own(page).press("Enter")
    widget.typed = trait(page, "typed")
    settle(page)
    expect(page.get_by_text("reading it …").first).to_be_visible()
    move(page, **{name: getattr(widget, name) for name in ("own", "chosen", "row", "key")})
    move(page, answer=widget.answer)


def own(page):
    return page.get_by_label("your own sentence").first


def test_a_typed_sentence_joins_the_list_and_the_oldest_of_twenty_goes(show) -> None:
    widget = browser(row=9, key=2, read=read_words)
    page = live(show(), widget)
    send(page, widget, OWN)
    expect(box(page, "sentence")).to_have_value(f"yours: {OWN}")
    expect(box(page, "look from")).to_have_value("sat")
    expect(page.locator(".attnbook-best p")).to_have_text("sat → animal. Most in:")
    assert best(page) == ranking(widget)
    assert values(page) == expected(widget)
    expect(own(page)).to_have_value("")
    expect(own(page)).to_be_focused()
    expect(page.get_by_text("It is the last in the list.")).to_be_visible()
    assert violations(page) == []
    choose(page, "sentence", "1: the animal was too tired, so it sat")
    widget.chosen, widget.row = 0, 9
    assert best(page) == ranking(widget)
    own(page).fill("the  street was")
    page.get_by_role("button", name="show", exact=True).click()
    assert trait(page, "typed") == {"turn": 2, "text": "the  street was"}
    own(page).fill("  ")
    keys(page, "Enter")
    assert trait(page, "typed")["turn"] == 2
    page.emulate_media(media="print")
    expect(own(page)).to_be_hidden()
    widget = browser(read=read_words)
    page = live(show(), widget)
    for number in range(17):
        widget.add(f"a {number}")
    move(page, own=widget.own, chosen=widget.chosen)
    send(page, widget, "b c")
    send(page, widget, "the last one was")
    options = box(page, "sentence").locator("option").all_inner_texts()
    assert len(options) == 20
    assert options[1:3] == ["2: the street was wide", "yours: a 1"]
    assert options[-2:] == ["yours: b c", "yours: the last one was"]
    choose(page, "look from", "last")
    choose(page, "to", "one")
    widget.row, widget.key = 2, 3
    assert best(page) == ranking(widget)


def test_what_is_wrong_with_a_typed_sentence_is_said_beside_it_and_changes_nothing(show) -> None:
    widget = browser(row=8, key=2, read=read_words)
    page = live(show(), widget)
    before = best(page)
    junk = "é <img src=x onerror=alert(1)>"
    long = "a " * 19, "the tokens of your sentence must be 2 to 20, got 21"
    for text, said in ((junk, f"there is no piece for '{junk}'"), long):
        send(page, widget, text)
        expect(page.locator(".attnbook-yours [role=alert]")).to_have_text(said)
        expect(own(page)).to_have_value(text)
        expect(own(page)).to_have_attribute("aria-invalid", "true")
        assert best(page) == before
        assert page.locator("figure img").count() == 0
        assert violations(page) == []
    page.get_by_role("button", name="reset").click()
    expect(page.locator(".attnbook-yours [role=alert]")).to_be_empty()
    send(page, widget, OWN)
    expect(page.locator(".attnbook-yours [role=alert]")).to_be_empty()
    assert own(page).get_attribute("aria-invalid") is None


def test_a_hostile_sentence_is_text_in_every_view_on_a_dark_phone(show) -> None:
    widget = HeadBrowser(causal_pairs(), read=lambda text: (["a", text], causal(2)), row=0)
    page = live(show(theme="dark", width=390, has_touch=True, is_mobile=True), widget, views=2)
    send(page, widget, EVIL)
    for view in page.locator("figure").all():
        expect(box(view, "sentence")).to_have_value(f"yours: {EVIL}")
        choose(view, "look from", EVIL)
        expect(view.locator(".attnbook-status")).to_contain_text(f"“{EVIL}” is pinned")
    assert page.locator("figure img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert own(page).bounding_box()["height"] >= 44
    assert violations(page, "color-contrast") == []


def test_a_causal_model_masks_what_comes_later_and_many_layers_are_columns_or_rows(show) -> None:
    widget = HeadBrowser(causal_pairs(), row=8, key=2, layer=1, head=2)
    page = load(show(widget))
    assert best(page) == ranking(widget)
    page.get_by_label("hide the first token").check()
    choose(page, "shade by", "weight on the first token")
    expect(page.locator(".attnbook-best p")).to_contain_text("no such key, or it is hidden")
    share = causal(11, seed=11)[1, 2, 8, 0]
    said = f"Before it was hidden, the first token had {share:.3f} of the weight of “it”."
    tells(page, said)
    expect(page.locator("main")).not_to_contain_text("[CLS] and [SEP]")
    page.mouse.move(0, 0)
    plot = page.get_by_role("application")
    plot.focus()
    for key in ("Escape", "Home", "ArrowDown", "End"):
        plot.press(key)
    says(page, "the → [SEP]: comes later")
    widget = HeadBrowser([(named(13), causal(13, 30, 9))], row=8, key=2, layer=3, head=1)
    page = load(show(widget))
    assert page.locator("figure *").count() <= 500
    right, below = (small(page, *place).bounding_box() for place in ((4, 1), (3, 2)))
    here = small(page, 3, 1).bounding_box()
    assert (right["y"], below["x"]) == (here["y"], here["x"])
    small(page, 3, 1).focus()
    walk(page, {"ArrowRight": (4, 1), "ArrowDown": (4, 2), "End": (29, 2)})
    walk(page, {"ArrowRight": (29, 2), "ArrowUp": (29, 1), "Home": (0, 1)})
    assert page.locator(".attnbook-every").bounding_box()["height"] < 400
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    right, below = (small(page, *place).bounding_box() for place in ((3, 2), (4, 1)))
    here = small(page, 3, 1).bounding_box()
    assert (right["y"], below["x"]) == (here["y"], here["x"])
    assert here["width"] > 30
    page.keyboard.press("ArrowDown")
    expect(small(page, 1, 1)).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
