"""What is drawn first: the pictures in sight, then what is near or printed."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.conftest import LECTURE
from tests.patience import BROWSER

WAITING = "figure.attnbook:not([data-ready])"
BUSY = "window.requestIdleCallback = () => 0;"  # a browser that never has time


@pytest.fixture
def opened(chromium: Browser, roots: dict[str, str]) -> Iterator[Callable[..., Page]]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(BROWSER)
    expect.set_options(timeout=BROWSER)

    def open_page(script: str, place: str = "") -> Page:
        context.add_init_script(script)
        page = context.new_page()
        page.goto(f"{roots['file']}/{LECTURE}.html{place}")
        return page

    yield open_page
    context.close()


def test_what_is_far_waits_until_it_is_near(opened) -> None:
    page = opened(BUSY)
    expect(page.locator("figure.attnbook[data-ready]").first).to_be_visible()
    far = page.locator(WAITING).last
    assert page.locator(WAITING).count() > 5
    place = f"figure.attnbook >> nth={page.locator('figure.attnbook').count() - 1}"
    assert far.evaluate("f => f.getBoundingClientRect().top > 3 * innerHeight")
    page.locator(place).evaluate("f => f.scrollIntoView()")
    expect(page.locator(place)).to_have_attribute("data-ready", "")


def test_a_link_into_the_page_finds_all_above_it_drawn(opened) -> None:
    page = opened(BUSY, "#exercises")
    expect(page.locator("#exercises")).to_be_in_viewport()
    above = """(one) => [...document.querySelectorAll('figure.attnbook:not([data-ready])')]
      .filter((f) => f.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING).length"""
    assert page.locator("#exercises").evaluate(above) == 0


def test_the_print_has_every_picture(opened) -> None:
    page = opened(BUSY)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(WAITING).count() == 0
