"""What is said of a page where it is not open: description, preview, title, missing pages."""

from __future__ import annotations

import re

import pytest
from docutils import nodes
from docutils.utils import new_document
from playwright.sync_api import expect

from tests.book.lectures import HTML, PAGES, ROOT, load

made = load(ROOT / "book" / "extensions" / "attnbook_head.py")
TAG = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"')


def page(*paragraphs: nodes.Node) -> nodes.document:
    document = new_document("a page")
    document += [nodes.paragraph("", "", one) for one in paragraphs]
    return document


def test_a_description_is_the_first_paragraph_its_formulae_in_a_line() -> None:
    first = nodes.Text("Scores  grow\nwith \\sqrt{d_k}.")
    assert made.description(page(first, nodes.Text("More."))) == "Scores grow with √d_k."
    assert made.description(page()) == made.description(None) == ""


def test_a_long_description_is_cut_after_a_word() -> None:
    said = made.description(page(nodes.Text("attention, " * 40)))
    assert len(said) <= made.LONGEST + 2
    assert said.endswith("attention …")


def test_what_needs_an_address_waits_for_one() -> None:
    assert made.site("https://github.com/OWNER/book") == ""
    home = made.site("https://github.com/Ada/book/")
    assert home == "https://ada.github.io/book/"
    assert "og:url" not in made.meta("A", "B", "c.png")
    tags = dict(TAG.findall(made.meta('<b>7.</b> "A" &amp; B', "C <d>", "e.png", home)))
    assert tags["og:title"] == "7. &quot;A&quot; &amp; B"
    assert tags["og:description"] == tags["description"] == "C &lt;d&gt;"
    assert tags["og:url"] == home


@pytest.mark.parametrize("name", PAGES)
def test_a_shared_page_has_a_title_a_sentence_and_a_picture(name: str) -> None:
    text = (HTML / f"{name}.html").read_text(encoding="utf-8")
    tags = dict(TAG.findall(text))
    assert tags["og:title"]
    assert 20 <= len(tags["description"]) <= made.LONGEST + 2
    assert tags["og:description"] == tags["description"]
    assert "\\" not in tags["description"]
    if "://" not in (image := tags["og:image"]):
        assert ((HTML / name).parent / image).resolve().is_file()
    assert text.count('name="viewport"') == 1
    (title,) = re.findall(r"<title>(.*?)</title>", text)
    assert title.count("Attention, Worked Out") == 1


def test_the_root_and_a_missing_page_are_whole_pages() -> None:
    for name in ("index", "404"):
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
        assert "<title>" in text
        assert "book/index.html" in text


def test_the_missing_page_leads_on(visit) -> None:
    found = visit("404", theme="dark")
    found.get_by_label("Search this book").fill("causal mask")
    found.get_by_role("button").click()
    expect(found.locator(".search-sections a").nth(3)).to_be_visible()
