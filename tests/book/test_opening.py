"""The bar of the plan, and the translator's table before it is alive; the rest: test_pages."""

from playwright.sync_api import Page

from tests.book.lectures import NOTEBOOKS, ROOT, load, read

planner = load(ROOT / "book" / "tools" / "plan.py")
SCREENS = [(1280, 900), (390, 844)]
PLAN = "(links) => links.map((a) => [a.title.split(' ')[0], a.offsetWidth, a.hash])"


def test_the_bar_is_the_plan(visit) -> None:
    """A link for each planned section, wider where more minutes are planned."""
    page: Page = visit(f"notebooks/{NOTEBOOKS[4].stem}")
    plan = planner.plan(planner.header(read(NOTEBOOKS[4])))
    numbers, widths, places = zip(*page.locator(".lecture-plan a").evaluate_all(PLAN), strict=True)
    assert list(numbers) == list(plan)
    order = sorted(range(len(plan)), key=list(plan.values()).__getitem__)
    assert [widths[i] for i in order] == sorted(widths)
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
    for width, height in SCREENS:
        figure.page.set_viewport_size({"width": width, "height": height})
        found = figure.evaluate(top)
        figure.evaluate(wait, True)
        assert abs(figure.evaluate(top) - found) < 10
        figure.evaluate(wait, False)
