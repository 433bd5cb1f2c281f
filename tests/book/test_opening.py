"""The first screen of a lecture, and the plan that is its contents; the rest: test_pages."""

import sys

import pytest
from playwright.sync_api import Page, expect

from tests.book.lectures import NOTEBOOKS, ROOT, load, read

sys.path.insert(0, str(ROOT / "book" / "extensions"))  # as the build finds them
opening = load(ROOT / "book" / "extensions" / "attnbook_opening.py")
planner = load(ROOT / "book" / "tools" / "plan.py")
SCREENS = [(1280, 900), (390, 844)]
PLAN = """(rows) => rows.map((row) => [row.querySelector("b").textContent,
  parseFloat(getComputedStyle(row, "::before").height), row.querySelector("a").hash])"""
READ = "(rows) => rows.map((row) => Number(row.style.getPropertyValue('--read')))"
DESK = {"width": 1440, "height": 900}
SHORT = {"width": 1280, "height": 720}
LONGER = """() => [...document.querySelectorAll('.bd-sidebar-secondary')].some(
  (rail) => rail.clientHeight < innerHeight && rail.scrollHeight > rail.clientHeight)"""


def test_the_plan_is_the_contents_and_a_bar_is_as_long_as_its_minutes(visit) -> None:
    """Every section by its name, once; of those with minutes the bars are in their ratio."""
    page: Page = visit(f"notebooks/{NOTEBOOKS[4].stem}", viewport=DESK)
    plan = planner.plan(planner.header(read(NOTEBOOKS[4])))
    rows = page.locator(".bd-sidebar-secondary .lecture-plan li")
    found = {number: (tall, place) for number, tall, place in rows.evaluate_all(PLAN)}
    heads = page.locator("article section > h2").all_inner_texts()
    told = rows.locator("a").all_inner_texts()
    assert len(told) == len(heads)
    assert all(one.startswith(head.rstrip("#")) for one, head in zip(told, heads, strict=True))
    unit = {found[number][0] / minutes for number, minutes in plan.items()}
    assert max(unit) / min(unit) < 1.01
    assert all(f"{plan[number]:.0f} min" in one for number, one in zip(plan, told, strict=False))
    for _, place in found.values():
        assert page.locator(f"article {place}").count() == 1
    assert page.locator("nav.page-toc, .page-toc:visible, article .lecture-plan").count() == 0
    rows.locator("a").nth(2).click()
    assert page.url.endswith(list(found.values())[2][1])


def test_the_plan_fills_as_one_reads_and_says_where_one_is(visit) -> None:
    page: Page = visit(f"notebooks/{NOTEBOOKS[4].stem}", viewport=DESK, reduced_motion="reduce")
    rows = page.locator(".lecture-plan li")
    current = page.locator(".lecture-plan [aria-current]")
    expect(current).to_have_count(0)
    assert set(rows.evaluate_all(READ)) == {0}
    page.locator("#all-tokens-at-once").evaluate("(part) => part.scrollIntoView()")
    page.evaluate(
        "part => scrollBy(0, document.querySelector('#all-tokens-at-once').offsetHeight / 2)"
    )
    expect(current).to_contain_text("5.3 All tokens at once")
    expect(current).to_have_attribute("aria-current", "location")
    one, two, three, four, *_ = rows.evaluate_all(READ)
    assert [one, two, four] == [1, 1, 0]
    assert 0.3 < three < 0.9
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(current).to_contain_text("Summary")
    assert set(rows.evaluate_all(READ)) == {1}


@pytest.mark.parametrize("which", [4, 8, 11])
def test_the_plan_is_in_sight_as_a_whole_and_so_is_its_last_line(visit, which: int) -> None:
    page: Page = visit(f"notebooks/{NOTEBOOKS[which].stem}", viewport=SHORT)
    rail, key = page.locator(".bd-sidebar-secondary"), page.locator(".plan-key")
    assert rail.evaluate("(one) => one.scrollHeight <= one.clientHeight")
    page.set_viewport_size({"width": 1280, "height": 400})  # now it must scroll
    page.wait_for_function(LONGER)
    box, line = rail.bounding_box(), key.bounding_box()
    assert line["y"] + line["height"] <= box["y"] + box["height"] + 1


def test_in_a_narrower_window_a_line_says_it_and_opens_the_plan(visit) -> None:
    page: Page = visit(f"notebooks/{NOTEBOOKS[4].stem}", viewport={"width": 1024, "height": 768})
    page.emulate_media(reduced_motion="reduce")
    line, plan = page.locator("button.secondary-toggle"), page.locator(".lecture-plan")
    expect(line).to_contain_text("50 minutes")
    expect(plan).not_to_be_in_viewport()
    page.evaluate("document.querySelector('#by-hand').scrollIntoView()")
    expect(line).to_contain_text("5.2 By hand · ")
    line.press("Enter")
    expect(plan.locator("a").first).to_be_in_viewport()
    expect(plan.locator(":focus")).to_have_count(1)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(plan).not_to_be_in_viewport()
    expect(line).to_contain_text("Summary")


def test_tab_goes_from_the_picture_to_the_code_below_it(visit) -> None:
    """In what opens a lecture no stop lies above the one before it by more than a line."""
    page: Page = visit(f"notebooks/{NOTEBOOKS[6].stem}", viewport={"width": 1280, "height": 900})
    page.wait_for_function("document.readyState === 'complete'")
    assert (
        page.locator(".lecture-opening > :first-child")
        .get_attribute("class")
        .startswith("cell_output")
    )
    page.locator(".lecture-asks a").last.focus()
    tops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        at = page.evaluate(STOP)
        if at is None:
            break
        tops.append(at)
    assert len(tops) > 3
    figure = page.locator(".lecture-opening :is(figure, .attnbook-drawing)").bounding_box()
    fold = page.locator(".lecture-opening > details").bounding_box()
    assert figure["y"] < fold["y"]
    assert tops[-1][1] == "summary of code"
    assert "summary of code" not in [what for _, what in tops[:-1]]


STOP = """() => { const one = document.activeElement;
  if (!one.closest(".lecture-opening")) return null;
  return [scrollY + one.getBoundingClientRect().top,
    one.matches(".lecture-opening > details > summary") ? "summary of code" : "picture"]; }"""
WIDE = {"width": 1920, "height": 1080}
BESIDE = """() => { const [asks, shows] = [".lecture-asks", ".lecture-shows"].map((name) =>
  document.querySelector(name).getBoundingClientRect());
  return [shows.left >= asks.right, shows.top - asks.top, shows.width,
    document.querySelector(".lecture-opening :is(figure, .attnbook-drawing)").offsetWidth]; }"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_picture_stands_beside_the_question_where_it_keeps_its_width(visit, notebook) -> None:
    page: Page = visit(f"notebooks/{notebook.stem}", viewport=WIDE, reduced_motion="reduce")
    natural = 16 * opening.NATURAL.get(notebook.name[:2], 999)
    for width in (1920, 1600, 1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        room = page.locator(".lecture-first").bounding_box()["width"]
        beside, lower, column, figure = page.evaluate(BESIDE)
        assert beside == (room >= natural + 20.5 * 16), width
        assert not beside or (abs(lower) < 2 and min(column, figure) >= natural)
    assert natural > 16 * 45 or room < natural


MOVES = NOTEBOOKS[:2]  # those that have steps and stand at the last
FILLED = """figure => Math.max(...[...figure.children].map((part) =>
  part.getBoundingClientRect().bottom)) - figure.getBoundingClientRect().top"""
SHOWN = "figure => figure.querySelector('.attnbook-live').innerText"


@pytest.mark.parametrize("notebook", MOVES, ids=lambda path: path.stem)
def test_a_picture_with_steps_moves_once_by_itself_and_a_key_stops_it(visit, notebook) -> None:
    name = f"notebooks/{notebook.stem}"
    page: Page = visit(name, viewport=WIDE)
    figure = page.locator(".lecture-opening :is(figure, .attnbook-drawing)")
    before, tall = figure.evaluate(SHOWN), figure.bounding_box()["height"]
    page.mouse.move(5, 5)
    expect(page.locator("figure[data-moving]")).to_have_count(1)
    page.wait_for_function(
        "before => document.querySelector('.lecture-opening .attnbook-live').innerText !== before",
        arg=before,
    )
    assert abs(figure.bounding_box()["height"] - tall) < 1  # what is below it has not moved
    assert figure.evaluate(FILLED) > 0.8 * tall  # and it is no hole that keeps it there
    page.keyboard.press("Shift")
    expect(page.locator("figure[data-moving]")).to_have_count(0)
    there = figure.evaluate(SHOWN)
    page.wait_for_timeout(1000)
    assert figure.evaluate(SHOWN) == there
    still: Page = visit(name, viewport=WIDE, reduced_motion="reduce")
    figure = still.locator(".lecture-opening :is(figure, .attnbook-drawing)")
    before = figure.evaluate(SHOWN)
    still.wait_for_timeout(2500)
    assert figure.evaluate(SHOWN) == before
    assert still.locator("figure[data-moving]").count() == 0


def test_it_ends_where_it_stood(visit) -> None:
    page: Page = visit(f"notebooks/{NOTEBOOKS[1].stem}", viewport=WIDE)
    figure = page.locator(".lecture-opening :is(figure, .attnbook-drawing)")
    before = figure.evaluate(SHOWN)
    expect(page.locator("figure[data-moving]")).to_have_count(1)
    expect(page.locator("figure[data-moving]")).to_have_count(0)
    assert figure.evaluate(SHOWN) == before
    assert page.locator("[aria-live=off]").count() == 0


def test_the_translators_table_stands_from_the_start_where_its_controls_leave_it(visit) -> None:
    figure = visit("notebooks/11-transformer").locator("figure.attnbook-translator").first
    top = """f => f.querySelector(".attnbook-fallback").getBoundingClientRect().top
      - f.getBoundingClientRect().top"""
    wait = """(f, on) => { f.toggleAttribute("data-ready", !on);
      f.querySelector(".attnbook-live").hidden = on; }"""
    for width, height in SCREENS:
        figure.page.set_viewport_size({"width": width, "height": height})
        found = figure.evaluate(top)
        figure.evaluate(wait, True)
        assert abs(figure.evaluate(top) - found) < 10
        figure.evaluate(wait, False)
