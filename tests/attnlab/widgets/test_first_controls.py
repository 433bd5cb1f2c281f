"""Above a picture stand a verb and a knob; the rest is folded, reset and save are below it."""

import pytest
from playwright.sync_api import expect

from tests.attnlab.widgets.examples import EXAMPLES, roof, trained, translator
from tests.attnlab.widgets.pages import settle

FOLDED = {"block": EXAMPLES["block"].make, "roof": roof, "trainer": trained}
folded = pytest.mark.parametrize("kind", FOLDED)
# a slider and the box with its number are one knob
SEEN = """(live) => [...live.querySelectorAll(".attnbook-controls :is(button, select, input)")]
  .filter((one) => one.checkVisibility() && !one.closest(".attnbook-yours"))
  .map((one) => one.closest("label, .attnbook-slide") ?? one)
  .filter((one, place, all) => all.indexOf(one) === place).length"""
BELOW = """(live) => {
  const bar = live.querySelector(".attnbook-reset + button").getBoundingClientRect();
  const drawn = [...live.querySelectorAll("svg, canvas, table")];
  const ends = drawn.filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect().bottom);
  return Math.max(...ends) <= bar.top + 1;
}"""


@folded
@pytest.mark.parametrize("width", [900, 390])
def test_a_verb_and_a_knob_are_seen_and_a_fold_has_the_rest(show, kind: str, width: int) -> None:
    page = show(FOLDED[kind](), width=width)
    live = page.locator(".attnbook-live")
    assert live.evaluate(SEEN) <= 2
    fold = page.locator(".attnbook-settings")
    expect(fold).to_have_js_property("open", False)
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_js_property("open", True)
    settle(page)
    assert live.evaluate(SEEN) > 4
    page.keyboard.press("Enter")
    assert live.evaluate(SEEN) <= 2


@folded
def test_what_resets_and_saves_is_below_the_picture_and_still_resets(show, kind: str) -> None:
    page = show(FOLDED[kind]())
    assert page.locator(".attnbook-live").evaluate(BELOW)
    first = page.locator(".attnbook-live :is(button, select, input)").first
    expect(first).not_to_contain_class("attnbook-reset")
    box = page.locator(".attnbook-controls select:visible, .attnbook-controls input:visible").first
    before, typed = box.evaluate("one => [one.value, one.checked]"), box.get_attribute("type")
    if typed == "checkbox":
        box.click()
    elif typed == "range":
        box.press("ArrowRight")
    else:
        box.select_option(index=0)
    settle(page)
    assert box.evaluate("one => [one.value, one.checked]") != before
    page.locator(".attnbook-reset").click()
    settle(page)
    assert box.evaluate("one => [one.value, one.checked]") == before


def test_the_translators_examples_and_search_are_folded_and_can_be_pressed(show) -> None:
    page = show(translator())
    seen = page.locator(".attnbook-live :is(button, select, input):visible")
    names = seen.evaluate_all("(all) => all.map((one) => one.textContent || one.type)")
    assert names[:2] == ["text", "translate"]
    assert not {"how was your day", "range"} & set(names)
    page.locator(".attnbook-settings > summary").press("Enter")
    page.get_by_role("button", name="how was your day").click()
    page.locator(".attnbook-found").wait_for()
    first = page.locator(".attnbook-found, .attnbook-reset").first
    expect(first).to_contain_class("attnbook-found")  # what resets it stands below
