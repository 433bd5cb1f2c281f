"""The landing page: what it asks first, its width, the path, the cards, the sidebar, the menus."""

import itertools
import os
import re
from math import exp
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from book.extensions import attnbook_launch as launch
from book.extensions.attnbook_landing import path_of
from book.extensions.attnbook_miniatures import KINDS, chosen, drawing
from tests.book.conftest import no_sideways_scroll
from tests.book.lectures import HTML, NOTEBOOKS
from tests.book.test_pages import RULES, STILL

LANDING = "book/index"
STEMS = [path.stem for path in NOTEBOOKS]


def test_the_path_links_every_lecture_and_parts_that_stand_alone_have_no_arrow() -> None:
    found = path_of(["I: start", "II"])
    assert re.findall(r'<a href="../notebooks/([^"]*)\.html', found) == STEMS
    marks = re.findall('(is-joined)?"? data-part="(.)"', found)
    assert marks[:3] == [("", "1"), ("", "2"), ("is-joined", "3")]
    assert "<strong>I. Translation and its bottleneck</strong> <span>start</span>" in found
    assert "<b>2</b> <span>Decoding</span>" in found
    both = path_of(["III: → begin with 5"])
    assert re.search('is-joined" data-part="3"><p><strong>[^<]*</strong> <span>begin with 5<', both)


def test_the_first_softmax_leads_to_what_it_says(visit) -> None:
    page = visit(LANDING)
    page.locator("article").get_by_role("link", name="softmax", exact=True).click()
    expect(page.locator(":target")).to_have_text("softmax")
    said = page.locator(":target + dd").inner_text()
    shares = [float(one) for one in re.findall(r"0\.\d+", said)]
    whole = sum(map(exp, (0, 5, 9)))
    assert shares == pytest.approx([exp(one) / whole for one in (0, 5, 9)], abs=2e-4)


@pytest.mark.parametrize("line", ["One", "X: start", "1 99"])
def test_a_part_that_there_is_not_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="number of a part: remark"):
        path_of([line])


def test_no_two_miniatures_are_of_one_kind_and_each_follows_its_numbers() -> None:
    found = chosen(STEMS)
    assert list(found) == STEMS
    assert len({kind for kind, _, _ in found.values()}) == len(STEMS)
    with pytest.raises(ValueError, match="the lecture other-texts has no live picture"):
        chosen(["other-texts"])
    state = {"vectors": [[1, 0], [0, 1]], "query": 0}
    other = {**state, "vectors": [[3, 0], [0, 1]]}
    assert KINDS["steps"](state, "") != KINDS["steps"](other, "")


@pytest.mark.parametrize("stem", STEMS)
def test_a_miniature_has_no_words_and_stays_in_its_frame(stem: str) -> None:
    svg = drawing(*chosen(STEMS)[stem])
    assert svg in (HTML / f"{LANDING}.html").read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    assert not "".join(root.itertext()).strip()
    assert len(root) > 4 or stem == "13-faster-decoding"
    for shape in root:
        places = re.findall(r"([\d.-]+),([\d.-]+)", shape.get("points", ""))
        if shape.tag == "rect":
            x, y, w, h = (float(shape.attrib[name]) for name in ("x", "y", "width", "height"))
            places = [(x, y), (x + w, y + h)]
        assert all(0 <= float(x) <= 120 and 0 <= float(y) <= 80 for x, y in places), shape.attrib


def menus(url: str) -> dict:
    colab = {"type": "link", "url": url, "text": "Colab", "icon": "colab.svg"}
    groups = [
        {"label": "launch-buttons", "buttons": [colab]},
        {"label": "download-buttons", "buttons": []},
    ]
    return {"header_buttons": groups, "pathto": lambda name, _: f"../{name}"}


def test_the_menus_offer_a_students_copy_where_there_is_one(tmp_path: Path, monkeypatch) -> None:
    stem = STEMS[0]
    monkeypatch.setattr(launch, "copies", lambda: {stem: tmp_path})
    for name, wanted in ((stem, [1, 2]), (STEMS[1], [0, 2]), ("other-texts", [0, 1])):
        context = menus("https://colab.research.google.com/github/a/b/blob/main/notebooks/x.ipynb")
        launch.offer(SimpleNamespace(), f"notebooks/{name}", "", context, None)
        at_colab, here = (group["buttons"] for group in context["header_buttons"])
        assert [len(here), len(at_colab)] == wanted
        if name == stem:
            assert here[0]["url"] == f"../_static/students/{stem}.ipynb"
            assert at_colab[1]["url"].endswith(f"/github/a/b/blob/kit/students/{stem}.ipynb")


def test_a_students_copy_that_is_older_than_its_lecture_is_left_out(tmp_path: Path) -> None:
    for name in ("students/01-new", "students/02-old", "01-new", "02-old"):
        path = tmp_path / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (9, 9))
    os.utime(tmp_path / "02-old.ipynb", (10, 10))
    assert set(launch.copies(tmp_path / "students", tmp_path)) == {"01-new"}


def test_it_opens_on_weights_and_asks_before_it_tells(visit) -> None:
    page = visit(LANDING, viewport={"width": 1280, "height": 720})
    figure, said = page.locator("figure.attnbook-steps"), page.locator(".landing-said")
    words = page.locator(".landing-guess button")
    assert words.all_inner_texts() == ["had", "bowl", "nuts"]
    # of the query that it opens with, weights and result are on the first screen; no other's
    expect(figure.get_by_label("query")).to_have_value("nuts")
    expect(figure.locator("td.attnbook-weight")).to_have_text(["0.005", "0.090", "0.905"])
    for seen in (said, figure.locator("td.attnbook-weight").last, figure.get_by_role("status")):
        expect(seen).to_be_in_viewport(ratio=1)
    expect(said).not_to_contain_text("0.")
    # a guess that is wrong is answered as one that is right is, and the picture shows why
    answers = []
    for word in words.all():
        word.press("Enter")
        answers.append(said.inner_text())
        expect(word).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".landing-guess [aria-pressed=true]")).to_have_count(1)
        expect(figure.get_by_label("query")).to_have_value("bowl")
        weight = figure.locator("td.attnbook-weight").last.inner_text()
        assert weight in answers[-1]
        assert "1 with had, 3 with bowl, 5 with nuts" in answers[-1]
    assert [one.startswith("Yes") for one in answers] == [False, False, True]
    number = figure.locator("input[inputmode]").first
    expect(number).to_be_in_viewport()
    before = figure.inner_text()
    number.fill("1")
    expect(figure).not_to_have_text(before, use_inner_text=True)


@pytest.mark.parametrize("width", [1440, 1920])
def test_the_landing_page_fills_its_width(visit, width: int) -> None:
    page = visit(LANDING, viewport={"width": width, "height": 900})
    article = page.locator("article.bd-article").bounding_box()
    main = page.locator("main").bounding_box()
    assert article["x"] + article["width"] > main["x"] + main["width"] - 60
    for name in (".landing-pair >> nth=0", ".landing-prose", ".lecture-path"):
        box = page.locator(name).bounding_box()
        assert box["x"] + box["width"] > article["x"] + article["width"] - 60, name
    figure = page.locator("figure.attnbook-steps").bounding_box()
    words = page.locator(".landing-words").first.bounding_box()
    assert figure["x"] > words["x"] + words["width"]
    assert figure["x"] + figure["width"] > article["x"] + article["width"] - 60


def test_the_weights_wait_until_they_are_asked_for(visit) -> None:
    page = visit(LANDING, via="http", reduced_motion="reduce")
    figure = page.locator("figure.attnbook-translator")
    assert figure.locator("table:visible, canvas:visible, select:visible").count() == 0
    page.evaluate(
        "() => { window.said = []; const look = () => { const now = document.querySelector("
        "'.attnbook-written'); if (!document.querySelector('.attnbook-words')) said.push("
        "now?.textContent ?? ''); }; new MutationObserver(look).observe(document.querySelector("
        "'figure.attnbook-translator'), { subtree: true, childList: true, characterData: true }); }"
    )
    figure.get_by_role("button", name="Translate").click()
    expect(figure.locator("canvas").first).to_be_visible(timeout=30_000)
    said = [text for text in page.evaluate("said") if text not in ("", "…")]
    whole = figure.locator(".attnbook-written").inner_text()
    assert len(set(said)) > 5
    assert all(whole.startswith(text) for text in said)


@pytest.mark.parametrize("name", [LANDING, "notebooks/08-multi-head-attention"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_while_a_page_is_loaded(visit, name: str, width: int) -> None:
    page = visit(name, via="http", viewport={"width": width, "height": 900})
    page.wait_for_function("document.readyState === 'complete'")
    moved = page.evaluate(
        "() => new Promise((done) => { let sum = 0; new PerformanceObserver((list) => {"
        " for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value; })"
        ".observe({ type: 'layout-shift', buffered: true });"
        " document.fonts.ready.then(() => setTimeout(() => done(sum), 500)); })"
    )
    assert moved < 0.05


def test_the_landing_page_fits_axe_finds_nothing_and_the_parts_colours_are_strong(visit) -> None:
    page = visit(LANDING)
    page.add_style_tag(content=STILL)
    for width, theme in itertools.product((320, 390, 1280), RULES):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        assert no_sideways_scroll(page)
        box = page.locator(".lecture-path").bounding_box()
        assert box is not None
        assert box["height"] < 700
        found = Axe().run(page, [["article"]], {"preload": False, **RULES[theme]})
        assert [(o["id"], o["nodes"][0]["html"]) for o in found.response["violations"]] == []
        assert min(page.evaluate(CONTRASTS)) >= 3


CONTRASTS = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((one) =>
      one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const style = getComputedStyle(document.documentElement);
  const ground = light(style.getPropertyValue("--pst-color-background"));
  return [1, 2, 3, 4, 5].map((part) => light(style.getPropertyValue(`--part-${part}`))).map((one) =>
    Math.max(one, ground) / Math.min(one, ground));
}"""


def test_the_path_leads_to_its_lecture_by_keyboard(visit) -> None:
    page = visit(LANDING)
    page.locator(".lecture-path a").nth(6).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("Scaling and masks"))


def test_the_list_of_pages_moves_only_where_the_page_would_be_out_of_sight(visit) -> None:
    page = visit(LANDING, via="http", viewport={"width": 1280, "height": 700})
    at = "document.querySelector('.sidebar-primary-item:has(.bd-docs-nav)').scrollTop"

    def follow(name: str) -> float:
        page.locator(".bd-docs-nav").get_by_role("link", name=name).click()
        page.wait_for_load_state("load")
        for always in (".logo__title", ".sidebar-primary-item .search-button__button"):
            expect(page.locator(always)).to_be_in_viewport(ratio=1)
        expect(page.locator(".bd-docs-nav a.current").last).to_be_in_viewport(ratio=1)
        return page.evaluate(at)

    assert page.evaluate(at) == 0
    assert follow("5. Self-attention") == 0
    there = follow("What other texts say")
    assert there > 0
    assert follow("Bibliography") == pytest.approx(there, abs=60)
    page.evaluate(f"{at} = 300")
    page.goto(page.url.replace("bibliography", "index"))
    page.wait_for_load_state("load")
    assert page.evaluate(at) == 0


def test_what_is_ticked_is_large_enough_for_a_finger(visit) -> None:
    page = visit(viewport={"width": 390, "height": 844})
    boxes = page.locator(":is([type=checkbox], [type=radio]):visible")
    sizes = boxes.evaluate_all("all => all.map((one) => one.getBoundingClientRect().width)")
    assert len(sizes) > 2
    assert min(sizes) >= 24


def test_a_caption_and_the_cell_before_it_are_marked_as_one() -> None:
    page = (HTML / "notebooks" / "07-scaling-and-masks.html").read_text(encoding="utf-8")
    captions = re.findall(r'<p class="figure-caption"><strong>Figure 7\.(\d+)\.</strong>', page)
    assert captions == [str(number + 1) for number in range(len(captions))]
    assert len(captions) > 4
    cells = re.findall(r'<div class="cell[^"]* figure-cell', page)
    assert len(cells) == len(captions)
