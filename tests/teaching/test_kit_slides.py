"""The slides: their format, what they take from a lecture, and decks in a real browser."""

import itertools
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from attnlab.pictures import Schematic
from teaching.kit import slides
from teaching.kit.deck import cut
from teaching.kit.deck.read import SlidesError
from tests.book.lectures import ROOT
from tests.patience import BROWSER

SOURCES = sorted(slides.SOURCES.glob("[0-9]*.md"))
# pixels on a slide of 1280 × 720, indices apart
LEAST = {"words": 28, "code": 20, "drawing": 18, "live": 18}


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    """A lecture with a figure, two like cells, a silent and a long one, and a hunt."""
    new = nbformat.v4
    said = [new.new_output("stream", name="stdout", text="1\n2\n")]
    drawn = [new.new_output("display_data", {"text/html": "<svg></svg>", "text/plain": "x"})]
    cells = [
        new.new_markdown_cell("# 1. A lecture"),
        new.new_markdown_cell("## 1.1 The question"),
        new.new_code_cell("draw()", outputs=drawn, metadata={"tags": ["hide-input"]}),
        new.new_markdown_cell("**Figure 1.1.** What is seen.\n\n## 1.2 The rest"),
        new.new_code_cell("first = 1\nprint(first)", outputs=said),
        new.new_code_cell("second = 1\nprint(1)", outputs=said),
        new.new_code_cell("silent = 1"),
        new.new_code_cell("folded = 1", outputs=said, metadata={"tags": ["hide-input"]}),
        new.new_code_cell("long = 1\n" + "print(1)\n" * 12, outputs=said),
    ]
    path = tmp_path / "01-x.ipynb"
    nbformat.write(new.new_notebook(cells=cells), path)
    return path


def made(lecture: Path, text: str) -> str:
    path = lecture.with_suffix(".md")
    path.write_text(text, encoding="utf-8")
    return slides.deck(path, lecture)[1]


WRONG = {
    "words without a title": (1, "before a title"),
    "Note:\nA note alone.": (1, "no title"),
    "## " + "word " * 9: (1, "9 words; a title has at most 8"),
    "## A title\n" + "word " * 31: (1, "31 words; a slide has, beside its title, at most 30"),
    "## One\n## Two": (2, "a second heading"),
    "## One\n\n{{ figure 1.1 }}\n\n$$ x $$": (5, "a second thing to show"),
    "## One\n\n$$\nx": (3, "no closing $$"),
    "## One\n\n{{ picture 1.1 }}": (3, "{{ picture 1.1 }} is none of {{ figure 7.1 }}"),
    "## One\n\n{{ code 1.2 }}": (3, "is none of"),
    "## One\n\n{{ figure 1.1: left }}": (3, "figure 1.1 is no drawing that can be cut"),
    "## One\n\n{{ figure 1.7 }}": (3, "no figure 1.7 in 01-x; it has 1.1"),
    "## One\n\n{{ code 1.9: first }}": (3, "no section 1.9 in 01-x; it has 1.1, 1.2"),
    "## One\n\n{{ code 1.2: folded }}": (3, "no visible code cell of section 1.2 with 'folded'"),
    "## One\n\n{{ code 1.2: third }}": (3, "no visible code cell of section 1.2 with 'third'"),
    "## One\n\n{{ code 1.2: print }}": (3, "3 visible code cells of section 1.2 with 'print'"),
    "## One\n\n{{ code 1.2: long }}": (3, "the cell of 'long' has 13 lines; a slide holds 12"),
    "## One\n\n{{ output 1.2: silent }}": (3, "the cell of 'silent' in section 1.2 prints nothing"),
    "## One\n\n{{ hunt 1.2 }}": (3, "section 1.2 has no bug hunt"),
    "---\n".join(["## One\n"] * 31): (61, "the slide number 31; a lecture has at most 30"),
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: re.sub(r"\W+", " ", text)[:40])
def test_what_breaks_the_format_is_named_with_its_line(lecture, text):
    line, told = WRONG[text]
    with pytest.raises(SlidesError) as error:
        made(lecture, text)
    assert f"01-x.md:{line}: " in str(error.value)
    assert told in str(error.value)


def test_all_that_is_wrong_in_all_files_is_said_at_once(lecture, tmp_path):
    for name in ("01-x", "02-y"):
        (tmp_path / f"{name}.md").write_text("## One\n{{ no }}\n---\nno title\n", encoding="utf-8")
    (tmp_path / "03-z.md").write_text("## One\n", encoding="utf-8")
    with pytest.raises(SlidesError) as error:
        slides.write(tmp_path / "out", sources=tmp_path, notebooks=tmp_path)
    said = str(error.value).splitlines()
    places = " ".join(line.split(": ")[0] for line in said)
    assert places == "01-x.md:2 01-x.md:4 02-y.md:2 02-y.md:4 03-z.md:1"
    assert "there is no notebook 03-z.ipynb" in said[-1]
    assert not (tmp_path / "out").exists()


def test_a_slide_holds_what_it_asks_for_and_leads_to_its_section(lecture):
    page = made(
        lecture,
        "## One $x$\n\nwords *here*\n\n{{ figure 1.1 }}\n\nNote:\nSay this.\n---\n"
        "## Two\n\n{{ code 1.2: first }}\n---\n## Three\n\n- **A** $y < z$\n- **B** no\n---\n"
        "## Four, in section 1.1\n\n{{ output 1.2: second }}\n---\n"
        "## Five, in section 1.1\n---\n## Six\n\n{{ output 1.2: folded }}\n",
    )
    wanted = [
        ["Lecture 1 · A lecture", "One <span class=", "<em>here</em>", "<svg></svg>",
         '<aside class="notes"><p>Say this.</p>', "#the-question"],
        ["<pre", "<span", "#the-rest"],
        [r"\(y &lt; z\)", ">1.2</a>"],  # where the slide before it stands
        ['<pre class="printed">1\n2</pre>', ">1.2</a>"],
        [">1.1</a>"],
        ['<pre class="printed">1\n2</pre>'],
    ]  # fmt: skip
    for slide, parts in zip(page.split("<section ")[1:], wanted, strict=True):
        assert not [part for part in parts if part not in slide]


def tower(boxes: int) -> Schematic:
    """A drawing of boxes one below the other; the arrow has its shape beside it."""
    drawing = Schematic("Boxes, one below the other.")
    made = [drawing.operation(f"box {i}", at=(0, i)) for i in range(boxes)]
    for one, other in itertools.pairwise(made):
        drawing.arrow(one, other, "n × d")
    return drawing


def test_a_drawing_too_tall_for_a_slide_stands_in_two_columns():
    low, tall = (tower(boxes)._repr_html_()[0] for boxes in (4, 8))
    assert cut.layout(low) == ("beside figure", low)
    shape, both = cut.layout(tall)
    assert shape == "figure columns"
    upper, lower = re.findall(r"<svg [^>]*width.*?</svg></svg>", both, re.S)
    # each is the whole drawing, of which it shows what the other does not
    (_, top, _, height), (_, start, _, rest) = cut.view(upper), cut.view(lower)
    assert (top, start, height + rest) == (0, height, cut.view(tall)[3])
    assert both.count('role="img"') == 1


@pytest.mark.parametrize("name", cut.HALVES)
def test_a_half_is_cut_between_boxes_and_words(name):
    drawing = tower(5)
    right = drawing.matrix("K", "n × d", at=(2, 2))
    drawing.arrow(drawing.boxes[2], right)
    axis, which = cut.HALVES[name]
    shown = cut.view(cut.half(drawing._repr_html_()[0], name))
    at = shown[axis] if which else shown[axis] + shown[axis + 2]
    for box in drawing.layout()["boxes"]:
        start = (box["x"], box["y"])[axis]
        assert not start < at < start + (box["w"], box["h"])[axis]


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    slides.write(folder)
    return folder / "slides"


@pytest.fixture(scope="module")
def look(chromium: Browser, decks: Path) -> Iterator[Callable[..., Page]]:
    """Open a deck from the file system, once; it asks for no other host, and meets no error."""
    faults = []
    context = chromium.new_context(color_scheme="dark", viewport={"width": 1280, "height": 720})
    context.set_default_timeout(BROWSER)
    own = ("file:", "data:", "about:")
    context.on("request", lambda asked: asked.url.startswith(own) or faults.append(asked.url))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda line: line.type == "error" and faults.append(line.text))

    @cache
    def opened(name: str, query: str = "") -> Page:
        page = context.new_page()
        page.goto(f"{(decks / name).as_uri()}.html{query}")
        page.wait_for_selector("html[data-ready]", state="attached")
        assert faults == []
        return page

    yield opened
    context.close()
    assert faults == []


# what stands outside its slide, and the smallest letters of each kind, by slide
MEASURE = """() => [...document.querySelectorAll(".slides > section")].map((section) => {
  const [faults, least] = [[], { words: 99, code: 99, drawing: 99, live: 99 }];
  const room = section.getBoundingClientRect();
  const scale = room.width / 1280;
  for (const node of section.querySelectorAll("*")) {
    if (node.closest("aside, mjx-assistive-mml, style") || !node.getClientRects().length) continue;
    const box = node.getBoundingClientRect();
    const out = Math.max(room.left - box.left, room.top - box.top,
      box.right - room.right, box.bottom - room.bottom);
    if (out > 1 && !node.closest("svg.half")) // beyond its borders nothing is seen
      faults.push(`${node.tagName}.${node.className} is ${out} px outside`);
    if (node.matches("pre, .listing") && node.scrollWidth > node.clientWidth + 1)
      faults.push("a line of code is cut off");
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!own || node.closest("mjx-container")) continue;
    const size = parseFloat(getComputedStyle(node).fontSize);
    const svg = node.closest("svg");
    if (svg) {
      if (node.tagName === "text")
        least.drawing = Math.min(least.drawing, size * svg.getScreenCTM().a / scale);
    } else if (node.closest("pre, .listing")) least.code = Math.min(least.code, size);
    else least.words = Math.min(least.words, size * (node.tagName === "CODE" ? 1 / 0.86 : 1));
  }
  const words = [...section.querySelectorAll("h2, .head, .words, .shown, .where")];
  for (const [at, one] of words.entries()) for (const other of words.slice(at + 1)) {
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    const over = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    if (over) faults.push(`${one.className || "h2"} lies on ${other.className}`);
  }
  const frame = section.querySelector("iframe");
  if (frame) {
    const page = frame.contentDocument.documentElement;
    const scrolls = page.scrollHeight > page.clientHeight + 1; // may, where it is enlarged least
    if (scrolls && frame.dataset.zoom > 1.2) faults.push("a live picture is cut off");
    if (page.scrollWidth > page.clientWidth + 1) faults.push("a live picture is too wide");
    for (const node of page.querySelectorAll("figure *")) {
      const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
      if (!own || !node.checkVisibility() || node.closest("script, sub, sup")) continue;
      const svg = node.closest("svg");
      const size = parseFloat(frame.contentWindow.getComputedStyle(node).fontSize);
      const index = node.tagName === "tspan" && node.style.fontSize;
      const seen = index ? 99 : size * (svg ? svg.getScreenCTM().a : node.currentCSSZoom);
      least.live = Math.min(least.live, seen * frame.dataset.zoom);
    }
  }
  const image = section.querySelector("img");
  if (image && image.naturalWidth < 100) faults.push("a picture is not there");
  return { faults, least };
})"""


def readable(page: Page, *kinds: str) -> None:
    for number, slide in enumerate(page.evaluate(MEASURE), start=1):
        assert slide["faults"] == [], f"slide {number}"
        for kind in kinds:
            assert slide["least"][kind] >= LEAST[kind] - 0.05, f"slide {number}: {kind}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_slide_can_be_read_from_the_back(look, path):
    page = look(path.stem)
    expect(page.locator("mjx-container:has(mjx-merror, [data-mjx-error])")).to_have_count(0)
    readable(page, *LEAST)


def test_what_fills_a_slide_to_its_limits_fits_on_it(look, decks, tmp_path):
    new = nbformat.v4
    long = "\n".join(f"value_{i:02} = " + "x" * 88 for i in range(12))  # 99 columns
    printed = [new.new_output("stream", name="stdout", text="y" * 70 + "\n" + "y\n" * 11)]
    cells = [
        new.new_markdown_cell("# 99. Limits\n\n## 99.1 The question"),
        new.new_code_cell(long, outputs=printed),
    ]
    nbformat.write(new.new_notebook(cells=cells), tmp_path / "99-limits.ipynb")
    title, words = "## " + "question " * 8, "attends " * 30
    shown = ["{{ code 99.1: x }}", "{{ output 99.1: x }}", "$$ " + "a + " * 20 + "b $$", ""]
    text = "\n---\n".join(f"{title}\n\n{words}\n\n{what}" for what in shown)
    (tmp_path / "99-limits.md").write_text(text, encoding="utf-8")
    _, page = slides.deck(tmp_path / "99-limits.md", tmp_path / "99-limits.ipynb")
    (decks / "99-limits.html").write_text(page, encoding="utf-8")
    readable(look("99-limits"), "words", "code")


def test_paper_has_a_page_for_each_slide_in_the_light(look):
    page = look("07-scaling-and-masks", "?print-pdf")
    written = (slides.SOURCES / "07-scaling-and-masks.md").read_text(encoding="utf-8")
    assert page.locator(".pdf-page").count() == written.count("\n---\n") + 1
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    for section in page.locator(".pdf-page > section").all():
        assert section.evaluate("s => [s.clientWidth, s.clientHeight]") == [1280, 720]
        assert section.evaluate("s => s.scrollHeight <= 721 && s.scrollWidth <= 1281")
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == page.locator(".pdf-page").count()


def test_a_live_picture_is_alive_and_gives_the_keys_back(look):
    page = look("07-scaling-and-masks")
    page.bring_to_front()
    at = page.evaluate("Reveal.getSlides().findIndex((one) => one.querySelector('iframe'))")
    page.evaluate(f"Reveal.slide({at})")
    frame = page.locator("section.present iframe").element_handle().content_frame()
    box = frame.locator("canvas").first.bounding_box()
    # on a slide that is enlarged the pointer is still where it seems to be
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.8)
    expect(frame.locator(".attnbook-status")).to_contain_text("query 3 → key 6")
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
