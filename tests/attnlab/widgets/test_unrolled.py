"""The unrolled model: PyTorch's numbers, typed, stepped through and forced."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.rnn import RNNSeq2Seq
from attnlab.widgets import UnrolledModel
from attnlab.widgets.core import markup, packing
from attnlab.widgets.unrolled.run import run
from tests.attnlab.widgets.examples import DIGITS, digits, model, words
from tests.attnlab.widgets.pages import alert, press, rows, save, says, settle, tells, unfold


@torch.no_grad()
def expected(net: RNNSeq2Seq, source: list[int], forced: dict[int, int], longest: int):
    """PyTorch's states s_0, s_1 … and probabilities, by start and step, and what is written."""
    state = net.start(torch.tensor([source]), torch.tensor([len(source)]))
    states, rows, written = [state.hidden[0]], [], [1]
    while len(written) <= longest and written[-1] != 2:
        logits, state = net.step(torch.tensor(written[-1:]), state)
        states.append(state.hidden[0])
        rows.append(torch.softmax(logits[0], -1))
        written.append(forced.get(len(written), int(logits.argmax())))
    return torch.stack(states).numpy(), torch.stack(rows).numpy(), written[1:]


def test_forced_words_are_teacher_forcing_and_may_end_or_forbid_the_end() -> None:
    widget = digits(forced=["5", "1", "4"])
    assert widget.forced == {1: "5", 2: "1", 3: "4"}
    net = model()
    source = torch.tensor([DIGITS.encode(list("31415"))])
    target = torch.tensor([[1, *DIGITS.encode(list("514"))]])
    with torch.no_grad():
        logits = net(source, target, source_lengths=torch.tensor([5]))
    assert np.abs(widget.probabilities[:4] - torch.softmax(logits[0], -1).numpy()).max() < 1e-5
    assert digits(forced={1: "<eos>"}).written == []
    endless = digits(forced=["7"] * 10)
    assert endless.written == ["7"] * 10
    assert endless.probabilities.shape == (10, len(DIGITS))


def test_without_an_end_it_is_cut_off_and_said(show) -> None:
    tells(show(digits("31", forced=["7"] * 6, step=-1)), "Cut off after 6 words: 7 7 7 7 7 7.")


def test_weights_come_back_within_their_last_bit() -> None:
    tensors = [np.random.default_rng(0).normal(size=(40, 30)) * 5, np.full(3, 2.5), np.zeros(2)]
    packed, fine, ranges = packing.pack_tensors(tensors)
    back = packing.unpack_tensors(packed, fine, ranges, [tensor.shape for tensor in tensors])
    for tensor, (low, high), came in zip(tensors, ranges, back, strict=True):
        assert np.abs(tensor - came).max() <= ((high - low) or 1) / (2**24 - 1) / 2 + 1e-12
    assert len(packed) + len(fine) == pytest.approx(4 * sum(t.size for t in tensors), abs=8)


def test_the_state_is_kept_within_what_there_is() -> None:
    widget = digits(step=-1)
    assert widget.step == 5 + len(widget.chosen)
    widget.sentence = ["3"]
    assert widget.step == 1 + len(widget.chosen)
    widget.step = 0
    widget.forced = {"1": "<eos>"}  # as JSON sends it
    assert widget.forced == {1: "<eos>"}
    with pytest.raises(ValueError, match="step must be a whole number from -3 to 2, got 3"):
        widget.step = 3
    assert widget.initial == {"sentence": list("31415"), "forced": {}, "step": digits(step=-1).step}
    widget = digits(step=-1)  # all at once, as the page sends it
    widget.set_state({"step": 2, "forced": {"1": "<eos>"}, "sentence": ["8"]})
    assert (widget.sentence, widget.forced, widget.step) == (["8"], {1: "<eos>"}, 2)


@pytest.fixture
def page(show):
    page = show(digits())
    unfold(page)
    return page


def sentence(page):
    return page.get_by_label("sentence", exact=True)


def target(page):
    return page.get_by_label("forced target", exact=True)


def enter(field, text: str) -> None:
    field.fill(text)
    field.press("Enter")


def net(page, which: int) -> list[list[str]]:
    """The readers (0) or the decoder (1): the rows' texts, headings left out."""
    lines = page.locator(".attnbook-net table").nth(which).locator("tr")
    return rows(lines, ":is(th, td):not(:first-child)")


def bars(page) -> list[tuple[str, str]]:
    lines = rows(page.locator(".attnbook-next li"), "button, .attnbook-value")
    return [(word, value) for word, value in lines]


def written(page, widget: UnrolledModel) -> None:
    """At its last step, the page shows all that Python says of both tables."""
    page.locator(".attnbook-net .attnbook-scroll").first.press("End")
    words = [
        f"[{widget.forced[t]}]" if t in widget.forced else word
        for t, word in enumerate(widget.chosen, 1)
    ]
    ids = [widget.target_words.index(word.strip("[]")) for word in words]
    assert net(page, 1) == [
        [str(t) for t in range(1, len(words) + 1)],
        words,
        two(row[i] for row, i in zip(widget.probabilities, ids, strict=True)),
    ]


def two(values) -> list[str]:
    return [markup.fixed(value, 2) for value in values]


def test_stepping_reads_from_both_ends_and_then_writes_word_by_word(page) -> None:
    steps = 6 + len(digits().chosen)
    says(page, f"Step 1 of {steps}, reading: → reads “3”, ← reads “5”.")
    assert net(page, 0) == [list("31415"), ["→", "", "", "", "←"]]
    expect(page.locator(".attnbook-next")).to_be_hidden()
    widget = digits()
    press(page, "next", 2)
    assert net(page, 0)[1] == ["", "", "→←", "", ""]
    press(page, "next", 3)
    tells(page, "summary: the last states of → and ← become s₀, 8 numbers")
    assert net(page, 0)[1] == net(page, 1)[0] + [""] * 5  # all is read, nothing is written
    press(page, "next", 2)
    best = widget.probabilities[1].max()
    assert net(page, 1) == [
        ["1", "2"],
        widget.chosen[:2],
        two(widget.probabilities[:2].max(1)),
    ]
    tells(
        page,
        f"writing: the writer reads “{widget.chosen[0]}”, its own. "
        f"Most probable next: “{widget.chosen[1]}” ({best:.3f}).",
    )


def test_every_number_of_the_page_is_pythons(show) -> None:
    page = show(widget := digits("271828182", seed=3, forced={2: "7"}, step=-1))
    written(page, widget)
    last = widget.probabilities[-1]
    order = np.argsort(-last, kind="stable")[:8]
    assert bars(page) == [(DIGITS.tokens[i], markup.fixed(last[i])) for i in order]
    rest = abs(1 - last[order].sum())
    said = page.locator(".attnbook-next .attnbook-note")
    expect(said).to_have_text(f"The other 5 words together: {markup.fixed(rest)}.")
    drawn = page.locator(".attnbook-net table").last.locator(".attnbook-chip").all()
    share = "(one) => Number(one.style.getPropertyValue('--sure'))"
    sure = [cell.evaluate(share) for cell in drawn]
    shown = [float(value) for value in net(page, 1)[2]]
    assert sure == pytest.approx(shown, abs=0.006)  # pale where it is improbable


def test_a_word_has_the_colour_of_its_place_where_it_is_right(show) -> None:
    widget = digits(right="reversed", forced=["5", "1", "0"], step=-1)
    page = show(widget)
    hue = "(cells) => cells.map((cell) => cell.style.getPropertyValue('--hue'))"
    read, written = (
        page.locator(".attnbook-net table").nth(which).locator("tr").nth(1 - (which == 0))
        for which in (0, 1)
    )
    hues = read.locator("th:not(:first-child)").evaluate_all(hue)
    assert len(set(hues)) == 5
    assert written.locator("td").evaluate_all(hue)[:3] == [hues[4], hues[3], ""]
    assert net(page, 1)[1][:3] == ["[5]✓", "[1]✓", "[0]×"]


def test_others_of_the_same_length_are_drawn(page) -> None:
    press(page, "to the end")
    page.evaluate("Math.random = () => 0.75")
    page.get_by_role("button", name="others of this length").click()
    assert net(page, 0)[0] == list("77777")
    tells(page, f"Step {6 + len(digits('77777').chosen)} of")


def test_another_sentence_is_read_or_named_if_it_cannot_be(page) -> None:
    press(page, "next", 3)
    enter(sentence(page), " 27 18")
    tells(page, "Step 1 of")
    assert net(page, 0)[0] == list("2718")
    expect(sentence(page)).to_have_value("2718")
    press(page, "to the end")
    enter(sentence(page), "8")
    widget = digits("8")
    assert net(page, 1)[1] == widget.chosen
    tells(page, f"Step {2 + len(widget.chosen)} of")
    for typed, said in (
        ("31x5", "“x” is not a word that the model knows, which are 0 1 2 3 4 5 6 7 8 9."),
        ("", "1 to 12 words are wanted, not 0."),
        ("1234567890123", "1 to 12 words are wanted, not 13."),
        ("3😀", "“😀” is not a word that the model knows"),
        ("3<eos>", "“<eos>” is not a word that the model knows"),
    ):
        before = net(page, 0)[0]
        enter(sentence(page), typed)
        expect(alert(page)).to_contain_text(f"sentence: {said}")
        expect(alert(page)).to_contain_text("What was there is kept.")
        expect(sentence(page)).to_have_attribute("aria-invalid", "true")
        assert net(page, 0)[0] == before
        press(page, "next")
        expect(sentence(page)).to_have_value(typed)  # still there to be mended
        enter(sentence(page), "77")
        expect(alert(page)).to_be_empty()
        assert net(page, 0)[0] == ["7", "7"]


def test_words_are_typed_with_spaces_and_an_unknown_one_is_named(show) -> None:
    page = show(words())
    enter(sentence(page), "  the   apple eats ")
    assert net(page, 0)[0] == ["the", "apple", "eats"]
    expect(sentence(page)).to_have_value("the apple eats")
    enter(sentence(page), "the dog eats")
    expect(alert(page)).to_contain_text("“dog” is not a word that the model knows, which are")
    expect(alert(page)).to_contain_text("cat")


def test_a_click_on_a_bar_or_typing_forces_a_word_and_another_click_lets_it_go(page) -> None:
    press(page, "next", 6)
    free = digits()
    order = np.argsort(-free.probabilities[0], kind="stable")
    other = next(DIGITS.tokens[i] for i in order[1:] if i > 2)
    page.locator(".attnbook-next").get_by_role("button", name=other, exact=True).click()
    p = free.probabilities[0][DIGITS.encode([other])[0]]
    tells(page, f"Forced: “{other}”, of probability {p:.3f}, a loss of −ln p = {-np.log(p):.3f}.")
    assert net(page, 1)[1] == [f"[{other}]"]
    press(page, "next")
    expect(target(page)).to_have_value(other)
    tells(page, f"the writer reads “{other}”, forced.")
    press(page, "previous")
    page.locator(".attnbook-next").get_by_role("button", name=other, exact=True).click()
    assert net(page, 1)[1] == free.chosen[:1]
    expect(target(page)).to_have_value("")
    for word in "0123456789":
        enter(target(page), word)
        assert net(page, 1)[1] == [f"[{word}]"]
    enter(target(page), "_ _7")
    expect(target(page)).to_have_value("__7")
    written(page, digits(forced={3: "7"}))
    enter(target(page), "<eos>")
    tells(page, "<eos> ends the sentence: no word at all.")
    tells(page, "Step 7 of 7")
    enter(target(page), "_")
    expect(target(page)).to_have_value("")
    written(page, digits())


def test_keys_and_clicks_on_columns_move_and_the_focus_stays_visible(page) -> None:
    page.locator(".attnbook-net .attnbook-scroll").first.focus()
    last = 6 + len(digits().chosen)
    for key, step in [("ArrowRight", 2), ("End", last), ("ArrowLeft", last - 1), ("Home", 1)]:
        page.keyboard.press(key)
        tells(page, f"Step {step} of {last}")
    page.get_by_role("button", name="next", exact=True).focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px"
    readers = page.locator(".attnbook-net table").first
    readers.locator("thead th").nth(2).click()
    tells(page, "Step 2 of")
    press(page, "to the end")
    page.locator(".attnbook-net table").last.locator("tbody td").nth(0).click()
    tells(page, "Step 7 of")


RUN = """([state, source, forced, longest]) => {
  const tensors = maths.unpackTensors(state.packed, state.fine, state.ranges, state.shapes);
  const run = maths.unrolled(tensors, source, forced, longest);
  const rows = (vectors) => vectors.map((vector) => Array.from(vector));
  return { states: rows(run.states), p: rows(run.steps.map(({ p }) => p)),
    written: run.steps.map(({ word }) => word), forward: rows(run.forward),
    backward: rows(run.backward) };
}"""


def test_states_probabilities_and_words_are_torchs_in_python_and_in_the_page(maths) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 13)), int(rng.choice([2, 8, 20, 30]))
        text = "".join(map(str, rng.integers(0, 10, n)))
        forced = {int(t): str(rng.integers(0, 10)) for t in rng.integers(1, n + 3, seed % 4)}
        widget, net_ = digits(text, seed=seed, d=d, forced=forced), model(seed=seed, d=d)
        ids, longest = DIGITS.encode(widget.sentence), n * 3 // 2 + 3
        forced_ids = {t: DIGITS.encode([word])[0] for t, word in forced.items()}
        states, probabilities, written = expected(net_, ids, forced_ids, longest)
        found = net_.encoder(torch.tensor([ids]), torch.tensor([n])).annotations[0].detach()
        assert np.abs(widget.probabilities - probabilities).max() < 1e-5
        assert widget.written == DIGITS.decode(written)
        assert widget.chosen == [DIGITS.tokens[row.argmax()] for row in probabilities]
        came = maths(
            RUN, [widget.state(), ids, {str(t): w for t, w in forced_ids.items()}, longest]
        )
        assert came["written"] == written
        assert np.abs(np.array(came["states"]) - states).max() < 1e-5
        assert np.abs(np.array(came["p"]) - probabilities).max() < 1e-5
        both = np.concatenate([came["forward"], came["backward"]], axis=1)
        assert np.abs(both - found.numpy()).max() < 1e-5


def test_a_forced_target_is_teacher_forcing_until_the_sentence_is_another(page) -> None:
    enter(target(page), "51 4")
    tells(page, "Step 7 of")  # the first step that writes
    written(page, digits(forced=["5", "1", "4"]))
    expect(target(page)).to_have_value("514")
    enter(target(page), "5x")
    expect(alert(page)).to_contain_text("forced target: “x” is not a word")
    enter(target(page), "1" * 11)
    expect(alert(page)).to_contain_text("0 to 10 words are wanted, not 11.")
    enter(target(page), "51")
    expect(alert(page)).to_be_empty()
    enter(sentence(page), "8")
    expect(target(page)).to_have_value("")
    written(page, digits("8"))


def test_on_a_phone_the_present_column_is_brought_into_sight(show) -> None:
    page = show(digits("123456789012", step=13), width=390)
    press(page, "to the end")
    settle(page)
    seen = """() => Array.from(document.querySelectorAll('.attnbook-now'), (cell) => {
      const [inner, outer] = [cell, cell.closest('.attnbook-scroll')].map((node) =>
        node.getBoundingClientRect());
      return inner.left >= outer.left && inner.right <= outer.right + 1; })"""
    assert set(page.evaluate(seen)) == {True}


LIVE = ".attnbook-live .attnbook-vector"
# red, green and blue of each cell of s_0 as the browser paints it, and how strong it should be
CELLS = """(nodes) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  return nodes.map((node) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = getComputedStyle(node).backgroundColor;
    pen.fillRect(0, 0, 1, 1);
    return Array.from(pen.getImageData(0, 0, 1, 1).data).slice(0, 3);
  });
}"""
WHITE, BLACK = [255] * 3, [18] * 3  # of the page in either theme


def summary(text: str, *, seed: int = 0, d: int = 8) -> np.ndarray:
    """s_0 as PyTorch has it."""
    net = model(seed=seed, d=d)
    return run(net, DIGITS.encode(list(text)), {}, 1).states[0]


def painted(page, where: str = LIVE) -> list[list[int]]:
    return page.eval_on_selector_all(f"{where} span", CELLS)


def hued(colours: list[list[int]], values: np.ndarray, paper: list[int]) -> None:
    """Above 0 a cell is blue, below 0 orange, and the further from 0, the further from the page."""
    assert len(colours) == len(values)
    for (red, _, blue), value in zip(colours, values, strict=True):
        assert abs(value) < 0.02 or (blue > red if value > 0 else red > blue)
    off = np.abs(np.array(colours) - paper).sum(axis=1)
    for same in (values > 0, values < 0):
        assert (np.diff(off[same][np.argsort(np.abs(values[same]))]) >= -3).all()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("d", [2, 28, 30])
def test_s_0_has_a_cell_for_each_number_however_long_the_sentence(show, d: int, theme: str) -> None:
    page = show(digits("3", d=d, step=-1), theme=theme)
    places = []
    for text, said in [("3", "the one word"), ("314159265358", "all 12 words")]:
        enter(sentence(page), text)
        s_0 = summary(text, d=d)
        hued(painted(page), s_0, WHITE if theme == "light" else BLACK)
        expect(page.get_by_role("img", name=f"s₀: {d} numbers")).to_be_visible()
        expect(page.locator(".attnbook-told > span")).to_have_text(f"{said}, in {d} numbers")
        titles = page.eval_on_selector_all(f"{LIVE} span", "(all) => all.map((one) => one.title)")
        assert titles == [f"number {i}: {markup.fixed(x)}" for i, x in enumerate(s_0, 1)]
        page.locator(".attnbook-told details").evaluate("(fold) => { fold.open = true; }")
        listed = ", ".join(markup.fixed(x, 2) for x in s_0)
        expect(page.locator(".attnbook-told details p")).to_have_text(listed)
        places.append(page.locator(LIVE).bounding_box())
    assert places[0]["width"] == places[1]["width"]  # below the middle of what is read


def test_s_0_is_empty_until_both_readers_are_done_and_then_stays(page) -> None:
    row, fold = page.locator(LIVE), page.locator(".attnbook-told details")
    assert painted(page) == [WHITE] * 8
    expect(row).to_have_attribute("aria-label", "s₀: 8 numbers, not yet there")
    expect(page.locator(".attnbook-told > span")).to_have_text("8 numbers, made when all is read")
    expect(fold).to_be_hidden()
    row.click()
    tells(page, "Step 6 of")
    expect(row).to_have_class(re.compile("attnbook-at"))
    there = painted(page)
    hued(there, summary("31415"), WHITE)
    press(page, "next", 2)
    expect(row).not_to_have_class(re.compile("attnbook-at"))
    assert painted(page) == there
    page.locator(".attnbook-net .attnbook-scroll").first.press("Home")
    assert painted(page) == [WHITE] * 8


def test_a_phone_holds_the_widest_s_0_and_its_cells_are_no_stops(show) -> None:
    page = show(digits("314159265358", d=30, step=-1), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cells = [cell.bounding_box() for cell in page.locator(f"{LIVE} span").all()]
    assert min(cell["width"] for cell in cells) >= 2.5
    assert max(cell["x"] + cell["width"] for cell in cells) <= 390
    assert len({cell["y"] for cell in cells}) == 1
    assert page.locator(f"{LIVE} [tabindex], {LIVE}[tabindex]").count() == 0


def test_the_fallback_and_the_saved_file_have_s_0s_cells(show) -> None:
    widget, s_0 = digits("314159", d=28, step=-1), summary("314159", d=28)
    page = show(widget, ready=False, java_script_enabled=False)
    hued(painted(page, ".attnbook-fallback .attnbook-vector"), s_0, WHITE)
    listed = ", ".join(markup.fixed(x, 2) for x in s_0)
    expect(page.locator(".attnbook-fallback")).to_contain_text(f"in 28 numbers: {listed}.")
    page = show(widget)
    wanted = [f"rgb({','.join(map(str, colour))})" for colour in painted(page)]
    root = ET.fromstring(save(page, "SVG").read_text(encoding="utf-8"))
    fills = [node.get("fill") for node in root.iter("{http://www.w3.org/2000/svg}rect")]
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    drawn = [fill for fill in fills if fill != "none"]
    assert drawn[(at := drawn.index(wanted[0])) : at + 28] == wanted
    assert "all 6 words, in 28 numbers" in texts


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_judged_beside_what_should_be(show, seed: int) -> None:
    widget = digits("314", seed=seed, right="reversed", forced=["4", "7"], step=-1)
    page = show(widget)
    wrote = [*widget.chosen]
    wrote[:2] = ["4", "7"]
    names = ["[4]", "[7]", *wrote[2:]]
    wanted = ["4", "1", "3", "<eos>"]
    late = max(0, 4 - len(wrote))
    short = [*wanted, *["–"] * len(wrote)]
    signs = ["✓" if one == right else "×" for one, right in zip(wrote, short, strict=False)]
    marked = [name + sign for name, sign in zip(names, signs, strict=True)]
    assert net(page, 1)[1] == [*marked, *["–×"] * late]
    assert net(page, 1)[2] == short[: max(4, len(wrote))]
    press(page, "to the start")
    assert net(page, 1)[1] == []  # what it should be is not given away
    assert "It should write: 4 1 3" in widget.html()


def test_a_sentence_that_ends_too_early_lacks_what_should_be_there(show) -> None:
    page = show(digits("31", right="reversed", forced=["1", "<eos>"], step=-1))
    assert net(page, 1)[1] == ["[1]✓", "[<eos>]×", "–×"]
    assert net(page, 1)[2] == ["1", "3", "<eos>"]
    with pytest.raises(ValueError, match='right must be one of "", "reversed", got'):
        digits("31", right="sorted")
