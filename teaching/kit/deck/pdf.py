"""Print decks as PDF by a headless Chromium: a page for each slide."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from teaching.kit.lectures import KitError
from tests.browser import MISSING, find_chromium, launch

__all__ = ["found", "printed", "write"]

PATIENCE = 300_000  # ms: a deck's live pictures and formulae, on a busy machine


def found() -> str:
    """Return the path of the Chromium that prints.

    Raises: KitError where there is none.
    """
    if path := find_chromium():
        return path
    raise KitError(f"no slides as PDF: {MISSING}")


def write(decks: Iterable[Path], chromium: str) -> list[Path]:
    """Print each deck into a PDF of its name beside it; return the files."""
    made = []
    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        for deck in decks:
            made.append(deck.with_suffix(".pdf"))
            made[-1].write_bytes(printed(browser, deck))
        browser.close()
    return made


def printed(browser: Browser, deck: Path) -> bytes:
    """Return a deck as PDF."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(media="print")  # what is fitted is what will be printed
    page.goto(f"{deck.as_uri()}?print-pdf")
    page.wait_for_selector("html[data-ready]", state="attached")
    pdf = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True)
    page.close()
    return pdf
