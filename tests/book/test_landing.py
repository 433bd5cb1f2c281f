"""The landing page: something to move at once, the path, the lectures' drawings, the menus."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from book.extensions import attnbook_launch as launch
from book.extensions.attnbook_landing import first_drawing, lectures, path_of, small
from tests.book.conftest import no_sideways_scroll
from tests.book.lectures import HTML, NOTEBOOKS

LANDING = "book/index"
STEMS = [path.stem for path in NOTEBOOKS]


def test_the_path_links_its_lectures_and_parts_that_stand_alone_have_no_arrow() -> None:
    svg = path_of(["One | 1 2", "Two | 5 6", "Three | → 9"], "three parts", named=True)
    assert re.findall(r'<a href="../notebooks/(\d\d)', svg) == ["01", "02", "05", "06", "09"]
    assert svg.count('class="attnbook-link"') == 3  # 1 to 2, 5 to 6, 6 to 9
    assert 'role="group"' in svg
    assert 'role="img"' not in svg
    assert "Decoding" in svg
    assert ">Decoding" not in path_of(["One | 1 2"], "one part", named=False)


@pytest.mark.parametrize("line", ["One", "One | 1 99", "One | →", "One |"])
def test_a_part_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"label \| numbers of lectures"):
        path_of([line], "a part", named=True)


def test_a_lecture_without_a_drawing_is_named() -> None:
    with pytest.raises(ValueError, match="the lecture errata has no drawing"):
        first_drawing("errata")


def test_every_lecture_stands_on_the_page_with_its_own_drawing() -> None:
    page = (HTML / f"{LANDING}.html").read_text(encoding="utf-8")
    cards = re.findall(r'<div class="attnbook attnbook-drawing lecture-drawing">.*?</div>', page)
    assert cards == [small(first_drawing(stem)) for stem in STEMS]
    for number, (stem, title) in lectures().items():
        assert page.count(f'href="../notebooks/{stem}.html" aria-label="{number}. {title}"') == 2


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
    for name, wanted in ((stem, [1, 2]), (STEMS[1], [0, 2]), ("errata", [0, 1])):
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


def test_a_visitor_can_move_a_number_without_scrolling(visit) -> None:
    page = visit(LANDING)
    number = page.locator("figure.attnbook-steps input[inputmode]").first
    box = number.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    figure = page.locator("figure.attnbook-steps")
    before = figure.inner_text()
    number.fill("1")
    expect(figure).not_to_have_text(before, use_inner_text=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_landing_page_fits_and_axe_finds_nothing(visit, width: int, theme: str) -> None:
    page = visit(LANDING, theme=theme, viewport={"width": width, "height": 900})
    assert no_sideways_scroll(page)
    shown = page.locator(".lecture-path:visible")
    expect(shown).to_have_count(1)
    assert ("is-narrow" in (shown.get_attribute("class") or "")) == (width < 768)
    found = Axe().run(page, context=[["article"]], options={"preload": False})
    assert [(one["id"], one["nodes"][0]["html"]) for one in found.response["violations"]] == []


def test_the_path_leads_to_its_lecture_by_keyboard(visit) -> None:
    page = visit(LANDING)
    page.locator(".is-wide a").nth(6).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("Scaling and masks"))


def test_a_caption_and_the_cell_before_it_are_marked_as_one() -> None:
    page = (HTML / "notebooks" / "07-scaling-and-masks.html").read_text(encoding="utf-8")
    captions = re.findall(r'<p class="figure-caption"><strong>Figure 7\.(\d+)\.</strong>', page)
    assert captions == [str(number + 1) for number in range(len(captions))]
    assert len(captions) > 4
    cells = re.findall(r'<div class="cell[^"]* figure-cell', page)
    assert len(cells) == len(captions)
