"""The bar at a phone's foot: where one is in a page, its contents, the search, and what is next."""

import pytest
from playwright.sync_api import Page, expect

from tests.book.conftest import LECTURE

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(visit) -> Page:
    return visit(LECTURE, viewport=PHONE, reduced_motion="reduce")


def test_it_says_where_one_is_and_leads_on(page: Page) -> None:
    bar = page.get_by_role("navigation", name="In this page")
    here, onward = bar.get_by_role("link").first, bar.locator(".book-foot-next")
    expect(here).to_have_text("5. Self-attention")
    onward.click()
    expect(here).to_have_text("5.1 The question")
    onward.click()
    expect(here).to_have_text("5.2 By hand")
    expect(page.locator("#by-hand")).to_be_in_viewport()
    expect(onward).to_have_attribute("aria-label", "next: 5.3 All tokens at once")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(onward).to_have_attribute("aria-label", "next page")
    onward.click()
    page.wait_for_url("**/06-queries-keys-values.html")


def test_contents_and_search_open_from_it(page: Page) -> None:
    bar = page.get_by_role("navigation", name="In this page")
    bar.get_by_role("button", name="search").click()
    expect(page.get_by_role("combobox", name="Search this book")).to_be_focused()
    page.keyboard.press("Escape")
    bar.get_by_role("button", name="contents").click()
    expect(page.get_by_role("link", name="5.6 What recurrence costs").last).to_be_visible()


def test_its_parts_have_room_for_a_finger_and_a_wide_screen_or_paper_has_none(page: Page) -> None:
    bar = page.locator(".book-foot")
    sizes = bar.locator("a, button").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert min(sizes) >= 44
    page.emulate_media(media="print")
    expect(bar).to_be_hidden()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(bar).to_be_hidden()


def test_a_page_without_a_list_of_its_own_opens_that_of_all_pages(visit) -> None:
    page = visit("index", viewport=PHONE)
    page.get_by_role("navigation", name="In this page").get_by_text("contents").click()
    expect(page.get_by_role("link", name="5. Self-attention").first).to_be_in_viewport()


def test_the_list_makes_way_once_a_section_is_chosen(visit) -> None:
    page = visit("book/teaching/syllabi", viewport=PHONE, reduced_motion="reduce")
    page.get_by_role("navigation", name="In this page").get_by_text("contents").click()
    chosen = page.locator(".bd-sidebar-secondary a[href^='#']").last
    chosen.click()
    expect(chosen).not_to_be_in_viewport()


FINGER = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}


@pytest.mark.parametrize("name", ["button.primary-toggle", "button.secondary-toggle", ".book-foot"])
def test_a_drawer_leaves_the_text_where_it_is(visit, name: str) -> None:
    page = visit("notebooks/09-positions", **FINGER)
    page.wait_for_load_state("load")
    page.evaluate("scrollTo(0, 6000)")
    page.evaluate("globalThis.read = document.elementFromPoint(195, 400)")
    top = page.evaluate("read.getBoundingClientRect().top")  # what is loaded above it moves nothing
    button = page.locator(name).get_by_text("contents") if name[0] == "." else page.locator(name)
    drawer = page.locator(f".bd-sidebar-{'primary' if 'primary' in name else 'secondary'}")
    for _ in range(2):
        expect(drawer).not_to_be_in_viewport()
        box = button.bounding_box()
        page.touchscreen.tap(box["x"] + 10, box["y"] + 10)  # `tap` may scroll the page itself
        expect(drawer.locator(":focus")).to_have_count(1)
        page.touchscreen.tap(385 if "primary" in name else 5, 500)
        expect(page.locator(".bd-header-article :focus")).to_have_count(1)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert page.evaluate("read.getBoundingClientRect().top") == pytest.approx(top, abs=2)


@pytest.mark.parametrize("width", [320, 390])
def test_the_menu_stays_in_sight_and_is_gone_with_its_tooltip_after_a_tap(visit, width) -> None:
    page = visit(**{**FINGER, "viewport": {"width": width, "height": 844}}, first="print = () => 0")
    menu = page.locator(".dropdown-download-buttons .dropdown-menu")
    page.locator(".dropdown-download-buttons > button").tap()
    expect(menu).to_be_visible()
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] > 40
    assert page.evaluate("document.documentElement.scrollWidth") == width
    menu.get_by_role("button", name="Print or save").tap()
    tip = page.locator("body > .tooltip")
    expect(tip).to_be_attached()  # the theme makes it
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        assert tip.evaluate_all("all => all.some((one) => one.checkVisibility())") is False
        assert not menu.is_visible()
    page.emulate_media(media="screen")
