"""The page around the text: an old link, no storage, no script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.book.conftest import LECTURE

REFUSED = """Object.defineProperty(window, 'localStorage', { configurable: true,
  get() { throw new DOMException('refused', 'SecurityError'); } })"""


@pytest.mark.parametrize("via", ["http", "file"])
def test_a_link_to_a_section_that_is_gone_says_so_and_helps(visit, via: str) -> None:
    page = visit(LECTURE, via)
    said = page.locator(".book-lost")
    page.goto(f"{page.url}#the-%3Cb%3Emasked-softmax")
    expect(said).to_contain_text("no section of the name")
    assert said.locator("b").count() == 0
    page.goto(f"{page.url.partition('#')[0]}#%")
    expect(said).to_contain_text("“%”")
    page.goto(f"{page.url.partition('#')[0]}#summary")
    expect(said).to_have_count(0)
    page.goto(f"{page.url.partition('#')[0]}#masked-softmax")
    said.get_by_role("link").click()
    expect(page.locator(".search-sections a").first).to_be_visible()


def test_a_page_works_where_nothing_may_be_kept(visit) -> None:
    page = visit()
    page.context.add_init_script(REFUSED)
    page.reload()
    expect(page.locator("figure.attnbook:not([data-ready])")).to_have_count(0)
    expect(page.locator("mjx-container").first).to_be_attached()
    theme = page.locator("html")
    button = page.get_by_role("button", name="light/dark").first
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(theme.get_attribute("data-theme"))
    assert seen == {"light", "dark"}


def test_without_scripts_a_lecture_can_be_read(visit) -> None:
    page = visit(java_script_enabled=False)
    assert page.locator(".attnbook-fallback").first.is_visible()
    assert page.locator("article h2").count() > 5


def test_a_page_loads_formulae_only_where_it_has_some(visit) -> None:
    for name, wanted in (("book/cite", 0), ("notebooks/07-scaling-and-masks", 1)):
        page = visit(name)
        assert page.locator("script[src*=mathjax]").count() == wanted, name


def test_a_button_that_copies_says_which_code(visit) -> None:
    page = visit()
    buttons = page.locator(".copybtn")
    expect(buttons.last).to_have_attribute("aria-label", re.compile("^Copy code"))
    names = buttons.evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert len(set(names)) == len(names) > 10
    assert names[0].startswith("Copy code 1: Set-up: run this first")
    copied = page.locator("pre:has(+ .copybtn)")
    code = copied.evaluate_all("all => all.map((one) => one.textContent.trim().split('\\n')[0])")
    said = [name.partition(": ")[2] for name in names]
    assert [line for line, name in zip(code, said, strict=True) if name not in line] == []
    assert all(len(name) > 2 for name in said)
