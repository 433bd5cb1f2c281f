"""Formulas: set when the book is built, refused by place, grown by their font, copied as TeX."""

import io
import re
from pathlib import Path

import pytest
from math_core import LatexError
from playwright.sync_api import Page
from sphinx.application import Sphinx

from tests.book.conftest import no_sideways_scroll
from tests.book.lectures import HTML, PAGES, ROOT, load

formulas = load(ROOT / "book" / "extensions" / "attnbook_formulas.py")
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "extensions")!r})
extensions = ["attnbook_formulas", "myst_parser"]
myst_enable_extensions = ["dollarmath"]
"""
COPY = """(selector) => {
  const [one] = document.querySelectorAll(selector), data = new DataTransfer();
  getSelection().selectAllChildren(one);
  one.dispatchEvent(new ClipboardEvent("copy",
    { clipboardData: data, bubbles: true, cancelable: true }));
  getSelection().removeAllRanges();
  return data.getData("text/plain");
}"""


def test_every_formula_of_the_book_is_mathml_with_its_tex_and_asks_for_no_script() -> None:
    found = 0
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        count = len(re.findall(r'class="[^"]*\bmath notranslate', text))
        assert text.count("<math") == text.count("<annotation") == count, name
        assert ("math-font.css" in text) == ("formulas.js" in text) == (count > 0), name
        assert "mathjax/" not in text.lower(), name
        found += count
    assert found > 2000


@pytest.mark.parametrize(
    ("tex", "wanted", "not_so"),
    [
        (r"\mathbf W", "𝐖", ""),
        (r"\begin{aligned} a &= b \\[4pt] c &= d \end{aligned}", "<mtr>", ">4<"),
        (r"\frac{Q K^\top}{\sqrt{d_k}}", "<mfrac>", ""),
        (r"f_j \odot c_{j-1}", 'largeop="false">⊙', ""),  # as large as a sum in Firefox, else
    ],
)
def test_a_formula_is_set_as_it_is_meant(tex: str, wanted: str, not_so: str) -> None:
    shown, _, annotation = formulas.mathml(tex, display=True).partition("<annotation")
    assert wanted in shown
    assert not not_so or not_so not in shown
    assert annotation


@pytest.mark.parametrize("tex", [r"\frobnicate x", r"\frac{1}", r"\left( x", "x_1_2"])
def test_what_is_not_known_is_refused_and_not_printed(tex: str) -> None:
    with pytest.raises(LatexError):
        formulas.mathml(tex, display=False)


def test_a_refused_formula_is_a_warning_that_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.md").write_text("# A page\n\nGood: $x$.\n\nBad: $\\frobnicate x$.\n")
    said = io.StringIO()
    folders = [tmp_path, tmp_path, tmp_path / "out", tmp_path / "trees"]
    Sphinx(*folders, "html", status=None, warning=said).build()  # of the book's, warnings fail
    told = re.sub(r"\x1b\[[\d;]*m", "", said.getvalue())
    assert re.search(r"index\.md:5: WARNING: the formula .frobnicate x cannot be set: ", told)


def test_brackets_grow_which_they_do_by_the_font_alone(lecture: Page) -> None:
    lecture.evaluate("document.fonts.ready")
    tall = """() => Math.max(...[...document.querySelectorAll("div.math mo")].filter(
      (one) => one.textContent === "(").map((one) => one.getBoundingClientRect().height))"""
    assert lecture.evaluate(tall) > 30
    assert lecture.evaluate("document.fonts.check('16px \"Attnbook Math\"')")


ALONE = """() => [...document.querySelectorAll("article span.math")].filter((one) => {
  const after = one.nextSibling;
  if (after?.nodeType !== 3 || !/^[.,;:)?!]/.test(after.data)) return false;
  if (!one.checkVisibility()) return false;
  const mark = document.createRange();
  mark.setStart(after, 0);
  mark.setEnd(after, 1);
  return mark.getBoundingClientRect().top > one.getBoundingClientRect().bottom - 8;
}).map((one) => one.closest("p, li").textContent.slice(0, 60))"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_line_begins_with_the_full_stop_of_a_formula(visit, width: int) -> None:
    for name in ("01-sequence-to-sequence", "10-transformer-block"):
        page = visit(f"notebooks/{name}", viewport={"width": width, "height": 844})
        assert page.locator(".formula-kept > .math").count() > 20
        assert page.evaluate(ALONE) == []
        assert no_sideways_scroll(page)


def test_a_formula_is_copied_as_tex_within_its_sentence_or_alone(lecture: Page) -> None:
    alone = lecture.evaluate(COPY, "div.math")
    assert re.fullmatch(r"\$\$\\begin\{aligned\}.*\\end\{aligned\}\$\$", alone, re.S)
    sentence = lecture.evaluate(COPY, "article p:has(span.math)")
    assert len(re.findall(r"\$[^$]+\$", sentence)) >= 1
    assert "application/x-tex" not in sentence
    words = lecture.evaluate(COPY, "article p:not(:has(.math))")
    assert words == ""  # left to the browser


def test_a_screen_reader_is_given_fractions_and_roots_and_never_the_tex(lecture: Page) -> None:
    line = lecture.context.new_cdp_session(lecture)
    nodes = line.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
    seen = "all => all.filter((one) => one.checkVisibility()).length"
    assert roles.count("MathMLMath") == lecture.locator("math").evaluate_all(seen) > 50
    assert min(roles.count(f"MathML{part}") for part in ("Fraction", "SquareRoot", "Sub")) > 3
    read = [node["name"]["value"] for node in nodes if node["role"]["value"] == "StaticText"]
    assert not [text for text in read if re.search(r"\\(frac|sqrt|text|begin)", text)]


def test_nothing_is_cut_off_a_formula_within_a_line(lecture: Page) -> None:
    room = """all => all.filter((one) => one.checkVisibility()).map((one) => {
      const [box, math] = [one, one.querySelector("math")].map((it) => it.getBoundingClientRect());
      return Math.min(math.top - box.top, box.bottom - math.bottom); })"""
    assert min(lecture.locator("span.math").evaluate_all(room)) > 5  # above and below its letters
