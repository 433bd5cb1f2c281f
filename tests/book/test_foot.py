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
