"""The landing page's drawings: the path through the lectures, and beside each its own, small.

``lecture-path`` draws a line for each part, ``label | 1 2 3 4``; an arrow leads to a part from the
one before it where its numbers begin with ``→``. ``lecture-cards`` is a list in which each item
links to a lecture: the first drawing in that lecture's stored output is set before its words.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnlab.pictures import Schematic
from attnlab.pictures.schematic import look

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TITLE = re.compile(r"^# (\d+)\. (.+)$", re.M)
LECTURE = re.compile(r"notebooks/(\d\d-[\w-]+)")
DRAWING = re.compile(r'<div class="attnbook attnbook-drawing".*?(<svg .*?</svg>)', re.S)
OPENING = re.compile(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>')
BOX = re.compile(r'<g class="attnbook-box">.*?</g>', re.S)


class Ready(nodes.General, nodes.Element):
    """HTML whose words are no words of the page: search does not look into it."""


@cache
def lectures() -> dict[int, tuple[str, str]]:
    """Return each lecture's notebook and title, by its number."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        if title := TITLE.search("".join(cells[0]["source"])):
            found[int(title[1])] = path.stem, title[2]
    return found


def first_drawing(stem: str) -> str:
    """Return the first drawing that a notebook holds, as SVG.

    Raises: ValueError where it holds none.
    """
    notebook = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if found := DRAWING.search("".join(output.get("data", {}).get("text/html", ""))):
                return found[1]
    raise ValueError(f"the lecture {stem} has no drawing to stand beside its name")


def small(drawing: str) -> str:
    """Return a drawing as large as its place; who cannot see it has the words beside it."""
    opening = r'<svg aria-hidden="true" viewBox="\1" preserveAspectRatio="xMidYMid meet">'
    inner = OPENING.sub(opening, drawing)
    return f'<div class="attnbook attnbook-drawing lecture-drawing">{inner}</div>'


def path_of(parts: list[str], alt: str, *, named: bool) -> str:
    """Return the path as SVG, each lecture a link; without names it is narrow enough for a phone.

    Raises: ValueError for a line of another form, or a lecture that there is not.
    """
    drawing = Schematic(alt)
    order = []
    before = None
    for row, part in enumerate(parts):
        label, bar, numbers = part.partition("|")
        names = numbers.split()
        joined = names[:1] == ["→"]
        wanted = [int(name) if name.isdigit() else 0 for name in names[joined:]]
        if not (bar and wanted and set(wanted) <= set(lectures())):
            raise ValueError(f"a line must be `label | numbers of lectures`: {part!r}")
        boxes = [
            drawing.operation(str(number), lectures()[number][1] if named else "", at=(column, row))
            for column, number in enumerate(wanted)
        ]
        for one, other in pairwise(boxes):
            drawing.arrow(one, other)
        if before and joined:  # between the two rows and around this one's label
            between, left = row - 0.58, -0.52
            turns = [(before.column, between), (left, between), (left, row)]
            drawing.arrow(before, boxes[0], via=turns)
        drawing.frame(label.strip(), *boxes)
        order += wanted
        before = boxes[-1]
    svg = drawing.svg.replace('role="img"', 'role="group"', 1)  # an image would hide its links
    following = iter(order)

    def linked(box: re.Match[str]) -> str:
        stem, title = lectures()[number := next(following)]
        name = f' aria-label="{number}. {title}"'
        return f'<a href="../notebooks/{stem}.html"{name}>{box[0]}</a>'

    return BOX.sub(linked, svg)


class LecturePath(SphinxDirective):
    """The path through the lectures; the argument says what it shows to who cannot see it."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        alt = " ".join(self.arguments[0].split())
        try:
            shown = [path_of(list(self.content), alt, named=named) for named in (True, False)]
        except ValueError as error:
            raise self.error(str(error)) from error
        wide, narrow = (
            f'<div class="attnbook attnbook-drawing lecture-path is-{name}">{svg}</div>'
            for name, svg in zip(("wide", "narrow"), shown, strict=True)
        )
        return [Ready(html=f"<style>{look()}</style>{wide}{narrow}")]


class LectureCards(SphinxDirective):
    """A list of lectures, each with its drawing."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        around = nodes.container(classes=["lecture-cards"])
        self.state.nested_parse(self.content, self.content_offset, around)
        for item in around.findall(nodes.list_item):
            if not (found := LECTURE.search(str(item))):
                raise self.error(f"each item must link to a lecture: {item.astext()!r}")
            item.insert(0, Ready(html=small(first_drawing(found[1]))))
        return [around]


def write(translator, node: Ready) -> None:
    translator.body.append(node["html"])


def leave(translator, node: Ready) -> None:
    """Nothing is open."""


def setup(app: Sphinx) -> dict:
    app.add_node(Ready, html=(write, leave))
    app.add_directive("lecture-path", LecturePath)
    app.add_directive("lecture-cards", LectureCards)
    app.add_css_file("look.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
