"""The decks in a browser: nothing is cut off, all can be read from the back, and it is alive."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from attnlab.pictures.figures import DESK
from book.tools.pdf.read import Printed
from teaching.kit import __main__ as kit
from teaching.kit import slides
from teaching.kit.deck import pdf
from tests.book.lectures import ROOT
from tests.patience import BROWSER

SOURCES = sorted(slides.SOURCES.glob("[0-9]*.md"))
SCREENS = {"16:9": (1280, 720), "4:3": (1024, 768)}
# pixels on a slide 1280 wide, indices apart: of words, of code, and of whatever else can be read
LEAST = {"words": 28, "code": 20, "rest": 18}
POINTS, CHART = 9, 10  # the smallest letters of a figure that is an image, and of a chart
WRITTEN, MEASURE = (
    Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")
    for name in ("canvas", "slides")
)


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    slides.write(folder)
    return folder / "slides"


@pytest.fixture(scope="module")
def look(chromium: Browser, decks: Path) -> Iterator[Callable[..., Page]]:
    """Open a deck from the file system, once; it asks for no other host, and meets no error."""
    faults, contexts, own = [], [], ("file:", "data:", "about:")

    @cache
    def context(screen: str, media: str):
        width, height = SCREENS[screen]
        made = chromium.new_context(
            color_scheme="dark", viewport={"width": width, "height": height}
        )
        made.set_default_timeout(BROWSER)
        made.add_init_script(WRITTEN)
        made.on("request", lambda asked: asked.url.startswith(own) or faults.append(asked.url))
        made.on("weberror", lambda error: faults.append(str(error.error)))
        made.on("console", lambda line: line.type == "error" and faults.append(line.text))
        contexts.append(made)
        return made

    @cache
    def opened(name: str, query: str = "", screen: str = "16:9", media: str = "screen") -> Page:
        page = context(screen, media).new_page()
        page.emulate_media(media=media)
        page.goto(f"{(decks / name).as_uri()}.html{query}")
        page.wait_for_selector("html[data-ready]", state="attached")
        assert faults == []
        return page

    yield opened
    for one in contexts:
        one.close()
    assert faults == []


def faults(page: Page) -> dict[int, list[str]]:
    """What is wrong, by the number of the slide."""
    least = {**LEAST, "inch": POINTS / 72 * 144, "chart": CHART / 72 * 144 * DESK}
    found = page.evaluate(MEASURE, least)
    return {number: wrong for number, wrong in enumerate(found, start=1) if wrong}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("screen", ["16:9", pytest.param("4:3", marks=pytest.mark.heavy)])
def test_every_slide_can_be_read_from_the_back(look, path, screen):
    page = look(path.stem, screen=screen)
    expect(page.locator("mjx-container:has(mjx-merror, [data-mjx-error])")).to_have_count(0)
    assert faults(page) == {}


@pytest.mark.parametrize(
    "path", [path if path.stem[:2] == "06" else pytest.param(path, marks=pytest.mark.heavy)
             for path in SOURCES], ids=lambda path: path.stem)  # fmt: skip
def test_a_slide_opened_by_its_address_or_resized_is_as_one_that_was_stepped_to(look, path):
    stepped = look(path.stem, screen="4:3")
    at = stepped.evaluate("""Reveal.getSlides().indexOf(
        document.querySelector("section:has(.drawing)") ??
        document.querySelector("section:has(iframe)") ?? document.querySelector("section"))""")
    stepped.evaluate(f"Reveal.slide({at})")
    opened = look(path.stem, f"#/{at}", "4:3")
    resized = look(path.stem, f"#/{at}")
    width, height = SCREENS["4:3"]
    resized.set_viewport_size({"width": width, "height": height})
    resized.wait_for_function("Reveal.getScale() === 0.8")
    # pixels, since Chromium does not paint each letter where it says that the letter is
    seen = [page.locator("section.present").screenshot() for page in (stepped, opened, resized)]
    assert [picture == seen[0] for picture in seen] == [True] * 3
    for page in (opened, resized):
        assert faults(page) == {}
        page.close()


def test_what_fills_a_slide_to_its_limits_fits_on_it(look, decks, tmp_path):
    new = nbformat.v4
    long = "\n".join(f"value_{i:02} = " + "x" * 88 for i in range(12))  # 99 columns
    printed = [new.new_output("stream", name="stdout", text="y" * 70 + "\n" + "y\n" * 11)]
    cells = [
        new.new_markdown_cell("# 99. Limits\n\n## 99.1 The question"),
        new.new_code_cell(long, outputs=printed),
    ]
    nbformat.write(new.new_notebook(cells=cells), tmp_path / "99-limits.ipynb")
    title, words = "question " * 8, "attends " * 30
    shown = ["{{ code 99.1: x }}", "{{ output 99.1: x }}", "$$ " + "a + " * 20 + "b $$", ""]
    said = ["", "", "99.1 ", "99.1 "]  # what shows a cell does not say its section
    both = zip(said, shown, strict=True)
    text = "\n---\n".join(f"## {where}{title}\n\n{words}\n\n{what}" for where, what in both)
    (tmp_path / "99-limits.md").write_text(text, encoding="utf-8")
    _, page = slides.deck(tmp_path / "99-limits.md", tmp_path / "99-limits.ipynb")
    (decks / "99-limits.html").write_text(page, encoding="utf-8")
    assert faults(look("99-limits")) == {}


@pytest.mark.parametrize(
    "path", [path if path.stem[:2] == "07" else pytest.param(path, marks=pytest.mark.heavy)
             for path in SOURCES], ids=lambda path: path.stem)  # fmt: skip
def test_paper_has_a_page_for_each_slide_in_the_light(look, decks, chromium, path):
    page = look(path.stem, "?print-pdf", media="print")
    count = path.read_text(encoding="utf-8").count("\n---\n") + 1
    assert page.locator(".pdf-page").count() == count
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    cut = [fault for wrong in faults(page).values() for fault in wrong if " px" not in fault]
    assert cut == []
    assert len(Printed(pdf.printed(chromium, decks / f"{path.stem}.html")).pages) == count


def test_without_a_chromium_the_kit_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(pdf, "find_chromium", lambda: None)
    assert kit.main(["--pdf"], tmp_path / "kit") == 1
    assert "no slides as PDF: no Chromium was found" in capsys.readouterr().err
    assert not (tmp_path / "kit").exists()


def test_a_live_picture_is_alive_and_gives_the_keys_back(look):
    page = look("07-scaling-and-masks")
    page.bring_to_front()
    at = page.evaluate("Reveal.getSlides().findIndex((one) => one.querySelector('iframe'))")
    page.evaluate(f"Reveal.slide({at})")
    frame = page.locator("section.present iframe").element_handle().content_frame()
    box = frame.locator("canvas").first.bounding_box()
    # on a slide that is enlarged the pointer is still where it seems to be
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.8)
    expect(frame.locator(".attnbook-status")).to_contain_text("fresh → eat")
    frame.get_by_label("divide by √64").check()
    expect(frame.locator(".attnbook-status")).to_contain_text("attends most to")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == at
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement.tagName !== 'IFRAME'")  # it takes a moment
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"Reveal.getIndices().h === {at + 1}")
    for theme in ("dark", "light"):
        assert frame.evaluate("document.documentElement.dataset.theme") == theme
        page.keyboard.press("d")


def test_the_speaker_has_the_notes_in_a_window(look):
    page = look("05-self-attention")
    page.bring_to_front()
    with page.expect_popup() as asked:
        page.keyboard.press("s")
    notes = asked.value.locator(".speaker-controls-notes")
    expect(notes).to_contain_text("A table of word vectors has one row", timeout=BROWSER)
    page.keyboard.press("ArrowRight")
    expect(notes).to_contain_text("Nothing is learned today", timeout=BROWSER)


def test_the_list_of_decks_leads_to_each_and_reveal_is_small(decks):
    text = (decks / "index.html").read_text(encoding="utf-8")
    assert {f"{path.stem}.html" for path in SOURCES} <= {*re.findall('href="([^"?]+)', text)}
    files = {str(one.relative_to(decks)) for one in decks.rglob("*")}
    assert {*re.findall(r'(?:href|src)="([^"?]+)', text)} <= files
    kept = ROOT / "teaching" / "kit" / "deck" / "reveal"
    assert sum(path.stat().st_size for path in kept.iterdir()) <= 300_000
    assert (kept / "LICENSE").is_file()
