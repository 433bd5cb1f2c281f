"""The first screen of a lecture: its question, its plan as a bar, and a picture that is alive."""

import pytest
from playwright.sync_api import Page

from tests.book.lectures import NOTEBOOKS, ROOT, load, read

planner = load(ROOT / "book" / "tools" / "plan.py")
SCREENS = {"a laptop": (1280, 900), "a phone": (390, 844)}
TOPS = """() => [".lecture-question", ".lecture-plan", "figure.attnbook"].map((name) =>
  document.querySelector(`article.bd-article ${name}`).getBoundingClientRect().top)"""
PLAN = "(links) => links.map((a) => [a.title.split(' ')[0], a.offsetWidth, a.hash])"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lecture_opens_with_its_question_and_a_live_picture(visit, path) -> None:
    """Of the picture at least its upper half stands on the first screen, or 300 px of it."""
    page: Page = visit(f"notebooks/{path.stem}")
    for name, (width, height) in SCREENS.items():
        page.set_viewport_size({"width": width, "height": height})
        tops = page.evaluate(TOPS)
        assert tops == sorted(tops), name
        tall = page.locator("figure.attnbook").first.bounding_box()["height"]
        assert width < 1280 or tall <= 800, f"the picture is {tall:.0f} px tall"
        wanted = min(300, tall / 2)
        assert tops[-1] + wanted <= height, f"on {name} the picture begins at {tops[-1]:.0f} px"
    code = page.locator("article.bd-article > section > .cell:not(.lecture-opening)")
    assert code.count() == 0, "code that shows nothing is in the fold"
    fold = page.locator(".lecture-data > details")
    assert not fold.evaluate("(fold) => fold.open")
    assert fold.locator(".cell").count() >= 2
    for held in ("Plan, ", "Builds on"):
        told = page.locator("article.bd-article p > strong").filter(has_text=held)
        assert told.count() == 1, f"{held} stands in the fold alone"


@pytest.mark.parametrize("path", NOTEBOOKS[4:5], ids=lambda path: path.stem)
def test_the_bar_is_the_plan(visit, path) -> None:
    """A link for each planned section, wider where more minutes are planned."""
    page: Page = visit(f"notebooks/{path.stem}")
    plan = planner.plan(planner.header(read(path)))
    numbers, widths, places = zip(*page.locator(".lecture-plan a").evaluate_all(PLAN), strict=True)
    assert list(numbers) == list(plan)
    assert [widths[i] for i in sorted(range(len(plan)), key=list(plan.values()).__getitem__)] == (
        sorted(widths)
    )
    for place in places:
        assert page.locator(place).count() == 1
    page.locator(".lecture-plan a").nth(2).click()
    assert page.url.endswith(places[2])


def test_the_translators_table_stands_from_the_start_where_its_controls_leave_it(visit) -> None:
    figure = visit("notebooks/11-transformer").locator("figure.attnbook-translator").first
    top = """f => f.querySelector(".attnbook-fallback").getBoundingClientRect().top
      - f.getBoundingClientRect().top"""
    wait = """(f, on) => { f.toggleAttribute("data-ready", !on);
      f.querySelector(".attnbook-live").hidden = on; }"""
    for width, height in SCREENS.values():
        figure.page.set_viewport_size({"width": width, "height": height})
        found = figure.evaluate(top)
        figure.evaluate(wait, True)
        assert abs(figure.evaluate(top) - found) < 10
        figure.evaluate(wait, False)
