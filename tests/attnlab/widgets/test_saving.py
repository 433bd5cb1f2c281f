"""Every picture saves itself as an SVG file: what it shows, in light colours, and no markup."""

import re
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

from attnlab.pictures import sheets
from attnlab.widgets.kinds import KINDS
from tests.attnlab.widgets.examples import EXAMPLES, TOKENS, Example, steps
from tests.attnlab.widgets.pages import eventually, host, save, settle

QUESTIONS = {  # nothing is drawn: a file would hold the reader's own answer to a question
    "answer": "a form for numbers",
    "bughunt": "lines of code to choose from",
    "checkpoint": "a question with its options",
    "prediction": "a form for guesses",
}
PICTURES = {kind: one for kind, one in EXAMPLES.items() if kind not in QUESTIONS}
pictures = pytest.mark.parametrize("kind", PICTURES)
EVIL = "</text><script>alert(1)</script>"
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"rect", "line", "path", "circle", "ellipse", "polyline", "polygon", "g", "image"}

# what can be read outside of controls: texts, numbers in boxes, choices
READ = """(figure) => {
  const controls = `.attnbook-stepper, .attnbook-actions, .attnbook-sidehead button, summary,
    .attnbook-ask button, .attnbook-examples, .attnbook-known, .attnbook-hint, .attnbook-turn,
    :is(.attnbook-controls, .attnbook-presets) button, option`;
  const found = [];
  const read = (node, text) => {
    if (node.closest(controls) || !node.checkVisibility({ visibilityProperty: true })) return;
    for (let one = node; one !== figure; one = one.parentElement)
      if (getComputedStyle(one).clipPath !== "none") return;
    const cut = getComputedStyle(node).textOverflow === "ellipsis";
    if (!(cut && node.scrollWidth > node.clientWidth)) found.push(text.replace(/\\s/g, ""));
  };
  const live = figure.querySelector(".attnbook-live");
  const texts = document.createTreeWalker(live, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) read(texts.currentNode.parentElement, texts.currentNode.data);
  for (const box of live.querySelectorAll("input[type=text]")) read(box, box.value);
  for (const box of live.querySelectorAll("select:has(option)"))
    read(box, box.selectedOptions[0].text);
  return found.filter((text) => text);
}"""
OUTSIDE = """() => {
  const page = document.documentElement.getBoundingClientRect();
  return Array.from(document.querySelectorAll("svg *:not(title, g)"))
    .filter((node) => {
      const { left, top, right, bottom } = node.getBoundingClientRect();
      return left < page.left - 1 || top < page.top - 1
        || right > page.right + 1 || bottom > page.bottom + 1;
    }).map((node) => node.outerHTML);
}"""


def shown(show, one: Example, widget, **options):
    """A page with one picture, brought to life and at rest."""
    page = show(widget, **(one.looked | options))
    if one.awake:
        one.awake(page)
        assert eventually(lambda: at_rest(page))
    return page


def at_rest(page) -> bool:
    before = page.inner_text("figure")
    time.sleep(0.3)
    return page.inner_text("figure") == before


def html(view) -> str:
    """A figure's HTML, without attributes in which nothing is left."""
    return re.sub(r' (style|class)=""', "", view.evaluate("(figure) => figure.outerHTML"))


def words(root: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_questions_alone_have_no_button(show) -> None:
    assert set(PICTURES) | set(QUESTIONS) == set(KINDS)
    page = show(*(EXAMPLES[kind].make() for kind in QUESTIONS))
    assert page.get_by_role("button").count() > 0
    assert page.get_by_role("button", name="save as SVG").count() == 0


@pictures
def test_the_file_shows_what_the_picture_shows_and_the_picture_stays(show, kind: str) -> None:
    one = PICTURES[kind]
    page = shown(show, one, one.make(**one.start))
    view = page.locator("figure")
    button = page.get_by_role("button", name="save as SVG")
    button.focus()
    button.hover()
    settle(page)
    before, read = html(view), view.evaluate(READ)
    file = save(page, "SVG")
    settle(page)
    assert html(view) == before
    expect(button).to_be_focused()

    text = file.read_text(encoding="utf-8")
    root = ET.fromstring(text)
    tags = [node.tag.removeprefix(SVG) for node in root.iter()]
    assert set(tags) <= SHAPES | {"svg", "title", "text", "tspan"}
    assert tags.count("title") == 1
    assert root.findtext(f"{SVG}title")
    for node in root.iter():
        assert not re.search("NaN|undefined", " ".join(node.attrib.values()))
        assert not [name for name in node.attrib if name.startswith("on")]
        assert node.get("href", "data:image/png;base64,").startswith("data:image/png;base64,")
    assert not re.search(r"url\(|https?:(?!//www\.w3\.org/2000/svg\")|var\(", text)

    drawn = words(root)
    joined = "".join("".join(drawn).split())
    assert read
    lost = {said: n for said, n in Counter(read).items() if joined.count(said) < n}
    assert lost == {}
    if view.locator(".attnbook-plot canvas").count():
        assert len(drawn) > len(read)  # the map's numbers too

    page.goto(as_svg(file).as_uri())
    assert page.locator("svg text").count() == len(drawn)
    assert page.evaluate(OUTSIDE) == []


def as_svg(file: Path) -> Path:
    """A browser asks for the name; a download has lost it."""
    return file.rename(file.with_suffix(".svg"))


@pictures
def test_a_dark_page_saves_the_same_file(show, kind: str) -> None:
    one = PICTURES[kind]
    page = shown(show, one, one.make(**one.start))
    page.add_style_tag(content=sheets.bare(sheets.OWN))  # as a drawing in the same page brings it
    light = save(page, "SVG").read_text(encoding="utf-8")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    settle(page)
    ink = page.locator("figure").evaluate("(figure) => getComputedStyle(figure).color")
    assert ink == "rgb(228, 230, 233)"
    assert save(page, "SVG").read_text(encoding="utf-8") == light
    assert page.locator("figure").evaluate("(figure) => getComputedStyle(figure).color") == ink


@pytest.mark.parametrize("kind", ["heatmap", "steps", "beam", "player", "unrolled", "dataflow"])
def test_hostile_words_come_out_as_text(show, kind: str) -> None:
    one = PICTURES[kind]
    page = shown(show, one, one.evil(EVIL))
    root = ET.fromstring(save(page, "SVG").read_text(encoding="utf-8"))
    assert root.findtext(f"{SVG}title") == EVIL
    assert not list(root.iter(f"{SVG}script"))
    assert "</text><scr" in "".join("".join(words(root)).split())


def test_it_holds_what_was_typed_and_chosen_and_its_button_is_no_stop_nor_printed(show) -> None:
    page = show(steps())
    page.get_by_label("nuts, component 1").fill("1234.5")
    page.get_by_role("button", name="2 scale").click()
    page.get_by_role("combobox", name="query").select_option("bowl")
    settle(page)
    with page.expect_download() as caught:
        page.get_by_role("button", name="save as SVG").click()
    assert caught.value.suggested_filename == "attention-steps.svg"
    root = ET.fromstring(Path(caught.value.path()).read_text(encoding="utf-8"))
    assert root.findtext(f"{SVG}title") == "Self-attention, step by step"
    found = words(root)
    assert {"1,234.5", "bowl", "query", "Step 2 of 5: scale."} <= set(found)
    assert not {"reset", "previous", "next", "save as SVG", "had"} & set(found) - set(TOKENS)
    ticks = [path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2"]
    assert len(ticks) == 1  # √3 is divided by, and nothing masked
    page = show(steps())
    again, button = (page.get_by_role("button", name=name) for name in ("reset", "save as SVG"))
    again.focus()
    page.keyboard.press("ArrowRight")
    expect(button).to_be_focused()
    expect(again).to_have_attribute("tabindex", "-1")
    with page.expect_download():
        page.keyboard.press("Enter")
    expect(button).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(again).to_be_focused()
    expect(button).to_have_attribute("tabindex", "-1")
    page.emulate_media(media="print")
    expect(button).to_be_hidden()


@pytest.mark.parametrize("kind", ["steps", "positions"])
def test_a_notebook_saves_it_too(show, kind: str) -> None:
    page = host(show(), PICTURES[kind].make())
    with page.expect_download() as caught:
        page.get_by_role("button", name="save as SVG").nth(1).click()
    assert caught.value.suggested_filename == f"attention-{kind}.svg"
    assert len(words(ET.parse(caught.value.path()).getroot())) > 10
