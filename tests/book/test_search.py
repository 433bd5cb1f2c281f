"""The search: a result names a section and lands on it, over http and from the file system."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.book.lectures import HTML


def asked(visit, question: str, via: str = "http") -> Page:
    """Open the page of the search with a question, as the field in every page does."""
    page = visit("search", via, reduced_motion="reduce")  # it jumps where it would glide
    page.goto(f"{page.url}?q={quote(question)}")
    expect(page.locator(".search-said")).not_to_be_empty()
    return page


WANTED = {
    "causal mask": "notebooks/07-scaling-and-masks.html",
    "RoPE": "notebooks/09-positions.html",
    "beam search": "notebooks/02-decoding.html",
    "masked_softmax": "book/api.html",
    "cross-attention": "notebooks/11-transformer.html",
    "permutation equivariant": "notebooks/05-self-attention.html",
    "grouped-query": "notebooks/13-faster-decoding.html",
    "BLEU": "notebooks/02-decoding.html",
}


WAYS = [*((question, "http") for question in WANTED), ("causal mask", "file")]


@pytest.mark.parametrize(("question", "via"), WAYS)
def test_the_first_result_is_the_section_that_teaches_it(visit, question: str, via: str) -> None:
    page = asked(visit, question, via)
    first = page.locator(".search-sections a").first
    address, place = first.get_attribute("href").split("#")
    assert address == WANTED[question], first.inner_text()
    first.click()
    page.wait_for_url(f"**/{address}#*")
    page.evaluate("window.MathJax?.startup.promise")  # formulae that are set move what is below
    section = page.locator(f"[id='{place}']")
    expect(section).to_be_in_viewport()
    assert section.evaluate("s => Math.abs(s.getBoundingClientRect().top)") < 200


def test_a_name_of_the_package_leads_to_its_entry(visit) -> None:
    page = asked(visit, "attnbook.masks.padding_mask")
    shown = page.locator(".search-sections a").evaluate_all("all => all.map(a => a.hash)")
    assert "#attnbook.masks.padding_mask" in shown


NOTHING = {
    "": "Type a word",
    "   ": "Type a word",
    "xyzzyplugh": "Nothing in the book holds “xyzzyplugh”",
    "<img src=x onerror=alert(1)>": "“<img src=x onerror=alert(1)>”",
    "!?": "Type a word",
    "mask " + "qqqq " * 100: "No section holds all the words of “mask qqqq",
    "constructor __proto__": "constructor __proto__",
}


@pytest.mark.parametrize("question", NOTHING)
def test_a_bad_question_is_answered_by_a_sentence(visit, question: str) -> None:
    page = asked(visit, question)
    expect(page.locator(".search-said")).to_contain_text(NOTHING[question].strip())
    assert page.locator("#search-results img").count() == 0
    assert len(page.locator(".search-said").inner_text()) < 250


def test_without_scripts_the_search_says_what_it_needs() -> None:
    text = (HTML / "search.html").read_text(encoding="utf-8")
    assert "searchtools" not in text, "one search is enough"
    said = text.partition("<noscript>")[2]
    assert "activate JavaScript" in said.partition("</noscript>")[0]


def test_the_list_of_sections_leads_only_to_places_that_exist() -> None:
    text = (HTML / "_static" / "sections.js").read_text(encoding="utf-8")
    pages = json.loads(text.partition(" = ")[2].rstrip(";\n"))
    assert sum(len(rows) for _, rows in pages) > 300
    for name, rows in pages:
        page = (HTML / name).read_text(encoding="utf-8")
        for place, title, *_, taught in rows:
            assert f'id="{place}"' in page, f"{name}: {title}"
            assert all((HTML / one.partition("#")[0]).exists() for one in taught), title
