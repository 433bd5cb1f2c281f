"""The unrolled model wherever it is shown: http, file, anywidget, a phone, paper, no script."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.language import Vocabulary
from attnbook.widgets import UnrolledModel
from attnbook.widgets.core.chunks import module
from tests.widgets.conftest import settle
from tests.widgets.test_everywhere import rendered, violations
from tests.widgets.test_maths import OPEN
from tests.widgets.test_unrolled import DIGITS, digits, expected, model, words
from tests.widgets.test_unrolled_page import enter, net, press, sentence, status, target

EVIL = "<img/src=x/onerror=alert(1)>"
RUN = """([state, source, forced, longest]) => {
  const tensors = maths.unpackTensors(state.packed, state.fine, state.ranges, state.shapes);
  const run = maths.unrolled(tensors, source, forced, longest);
  const rows = (vectors) => vectors.map((vector) => Array.from(vector));
  return { states: rows(run.states), p: rows(run.steps.map(({ p }) => p)),
    written: run.steps.map(({ word }) => word), forward: rows(run.forward),
    backward: rows(run.backward) };
}"""


def test_the_pages_own_model_is_torchs(show) -> None:
    page = show()
    page.evaluate(OPEN, module())
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 13)), int(rng.choice([2, 8, 20, 30]))
        widget = digits("".join(map(str, rng.integers(0, 10, n))), seed=seed, d=d)
        source, net_ = DIGITS.encode(widget.sentence), model(seed=seed, d=d)
        forced = {int(t): int(rng.integers(3, 13)) for t in rng.integers(1, n + 3, seed % 4)}
        longest = n * 3 // 2 + 3
        names = {str(t): word for t, word in forced.items()}
        came = page.evaluate(RUN, [widget.state(), source, names, longest])
        states, rows, written = expected(net_, source, forced, longest)
        assert came["written"] == written
        assert np.abs(np.array(came["states"]) - states).max() < 1e-5
        assert np.abs(np.array(came["p"]) - rows).max() < 1e-5
        halves = net_.encoder(torch.tensor([source]), torch.tensor([n])).annotations[0].detach()
        both = np.concatenate([came["forward"], came["backward"]], axis=1)
        assert np.abs(both - halves.numpy()).max() < 1e-5


@pytest.mark.parametrize("via", ["file", "http"])
def test_it_runs_over_http_and_from_a_file(show, via: str) -> None:
    page = show(digits(), via=via)
    assert page.url.startswith(via)
    enter(sentence(page), "271")
    press(page, "to the end")
    assert net(page, 1)[3] == ["", *digits("271").chosen]
    page.locator(".attnbook-net .attnbook-scroll").last.press("Home")
    expect(status(page)).to_contain_text("→ reads “2”")


def test_a_finger_forces_a_word_and_no_page_scrolls_sideways(show) -> None:
    widget = digits("123456789012", step=13)
    page = show(widget, width=390, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".attnbook-next button").nth(1).tap()
    expect(status(page)).to_contain_text("Forced: “")
    press(page, "to the end")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    seen = """() => Array.from(document.querySelectorAll('.attnbook-now'), (cell) => {
      const [inner, outer] = [cell, cell.closest('.attnbook-scroll')].map((node) =>
        node.getBoundingClientRect());
      return inner.left >= outer.left && inner.right <= outer.right + 1; })"""
    assert set(page.evaluate(seen)) == {True}  # the present column is brought into sight
    low = """() => Array.from(document.querySelectorAll('figure :is(button, select, input)'))
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(low) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(show, theme: str) -> None:
    page = show(digits("123456789012"), words(step=-1, forced={2: "une"}), theme=theme)
    assert violations(page) == []
    enter(sentence(page).first, "x")
    page.get_by_role("button", name="to the end").first.click()
    assert violations(page) == []


def test_the_largest_picture_stays_within_the_budget_of_nodes(show) -> None:
    many = Vocabulary([[f"word{i:02}" for i in range(40)]])
    net_ = model(many, many)
    widget = UnrolledModel(net_, many, many, ["word07"] * 12, forced=["word01"] * 21, step=-1)
    page = show(widget)
    expect(page.locator(".attnbook-net table").last.locator("thead th")).to_have_count(23)
    assert page.locator("figure *").count() <= 500


def test_hostile_words_are_shown_as_text(show) -> None:
    evil = Vocabulary([[EVIL, "</script>"]])
    page = show(UnrolledModel(model(evil, evil), evil, evil, [EVIL], forced=[EVIL], caption=EVIL))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    enter(sentence(page), f"{EVIL} </script>")
    enter(target(page), EVIL)
    assert page.locator("figure img").count() == 0
    assert page.locator("figure script").count() == 1
    expect(page.locator(".attnbook-net th", has_text=EVIL).first).to_be_visible()
    enter(sentence(page), "<b>x</b>")
    expect(page.get_by_role("alert")).to_contain_text("“<b>x</b>” is not a word")


def test_without_javascript_the_table_is_there(show) -> None:
    widget = digits()
    page = show(widget, ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table tbody tr")).to_have_count(6 + len(widget.chosen))
    expect(page.locator(".attnbook-fallback")).to_contain_text(f"{widget.norms.decoder[0]:.3f}")


def test_on_paper_every_step_is_a_table_and_there_are_no_controls(show) -> None:
    widget = digits()
    page = show(widget)
    expect(page.locator(".attnbook-fallback")).to_be_hidden()
    page.emulate_media(media="print")
    rows = page.locator(".attnbook-fallback tbody tr")
    expect(rows).to_have_count(6 + len(widget.chosen))
    expect(rows.last).to_be_visible()
    expect(page.locator(".attnbook-live")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator(".attnbook-live")).to_be_visible()


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, digits(step=7))
    page.locator(".attnbook-next button").nth(1).click()
    word = page.locator(".attnbook-next button").nth(1).inner_text()
    assert page.evaluate("model.get('forced')") == {"2": word}
    assert page.evaluate("saves") == 1
    assert target(page).last.input_value() == f"_{word}"
    enter(sentence(page).first, "88")
    state = "['sentence', 'forced', 'step', 'initial'].map(model.get)"
    initial = {"sentence": list("31415"), "forced": {}, "step": 7}
    assert page.evaluate(state) == [["8", "8"], {}, 0, initial]
    assert sentence(page).last.input_value() == "88"
    assert page.evaluate("saves") == 2


def test_python_moves_the_view_and_hears_no_echo(show) -> None:
    page = rendered(show, digits())
    page.evaluate("() => { model.set('sentence', ['8', '8']); model.set('forced', { 1: '7' }); }")
    page.evaluate("model.set('step', 3)")
    for view in page.locator("figure").all():
        expect(view.locator(".attnbook-status")).to_contain_text("Step 4 of")
        expect(view.locator(".attnbook-status")).to_contain_text("Forced: “7”")
        expect(view.get_by_label("forced target")).to_have_value("7")
    assert page.evaluate("saves") == 0
