"""The glossary: each term where it says it is, and its sentence where a lecture first uses it."""

import re

import pytest
from playwright.sync_api import expect

from book.extensions.attnbook_terms import BLOCK, Term, explained, terms
from tests.book.lectures import LECTURES, ROOT

PAGE = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
FOUND = terms(BLOCK.search(PAGE)[1])


def section(number: str) -> str:
    """Return the text of a lecture's section."""
    path = LECTURES[int(number.split(".")[0]) - 1]
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(number)} .*?(?=^## |\Z)", text, re.M | re.S)
    assert found, number
    return found[0].lower().replace("_", " ")


@pytest.mark.parametrize("term", FOUND, ids=lambda term: term.name)
def test_every_section_of_a_term_speaks_of_it_and_its_sentence_is_one(term: Term) -> None:
    stems = [form.lower()[:-1] for form in (term.name, term.other) if form]  # key, keys; n-gram
    for number in term.sections:
        assert any(stem in section(number) for stem in stems), number
    assert term.sentence.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", term.sentence)
    assert len(term.sentence.split()) <= 40
    assert not term.sentence.lower().startswith(term.name.lower())


@pytest.mark.parametrize("line", ["a term alone", "term | 1.2", "term | | sentence."])
def test_a_line_of_another_form_is_shown(line: str) -> None:
    with pytest.raises(ValueError, match=r"term \| sections \| sentence.*term"):
        terms(line)


def test_a_term_stands_there_once_and_its_first_use_is_explained_as_text() -> None:
    with pytest.raises(ValueError, match="once: cache"):
        terms("KV cache / cache | 13.1 | one.\ncache | 13.2 | two.")
    known = {"key": Term("key", "", ("4.1",), "what is *compared* <b>.")}
    page = explained("<strong>keys</strong> <strong>key</strong> <strong>other</strong>", known)
    assert page.count("<dfn") == 1
    assert re.match(r'<dfn class="attnbook-term [^>]*tabindex="0"[^>]*><strong>keys</strong>', page)
    assert "what is compared &lt;b&gt;." in page


def test_a_term_shows_its_sentence_and_the_glossary_leads_to_its_section(visit) -> None:
    page = visit("notebooks/07-scaling-and-masks")
    term = page.locator("dfn.attnbook-term", has_text="saturated").first
    said = term.get_by_role("tooltip", include_hidden=True)
    expect(said).to_be_hidden()
    term.focus()
    expect(said).to_be_visible()
    page.keyboard.press("Tab")
    expect(said).to_be_hidden()
    term.hover()
    expect(said).to_be_visible()
    page = visit("book/glossary")
    page.get_by_role("link", name="13.7").first.click()
    expect(page).to_have_url(re.compile(r"13-faster-decoding\.html#.+"))
    expect(page.locator(":target h2")).to_contain_text("13.7")
