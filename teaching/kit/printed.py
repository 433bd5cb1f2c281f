"""Print an exam's pages as PDF, by the Chromium that tests the book."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Error, sync_playwright

from tests.browser import MISSING, find_chromium, launch

SET = "() => Promise.all([MathJax.startup.promise, document.fonts.ready])"


def pdf(pages: list[Path]) -> tuple[list[Path], str]:
    """Print each page into a PDF beside it; return those, and a sentence where there are none."""
    if find_chromium() is None:
        return [], f"no PDF was made, for {MISSING}"
    made = [page.with_suffix(".pdf") for page in pages]
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for page, target in zip(pages, made, strict=True):
                sheet = browser.new_page()
                sheet.goto(page.as_uri())
                sheet.evaluate(SET)
                sheet.pdf(path=target, prefer_css_page_size=True, tagged=True, outline=True)
            browser.close()
    except Error as error:
        return [], f"no PDF was made, for Chromium failed: {str(error).splitlines()[0]}"
    return made, ""
