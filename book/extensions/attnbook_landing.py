"""The landing page's path through the lectures: for each part a list of links.

``lecture-path`` has a line for each part, ``label: remark | 1 2 3 4``; an arrow leads to a part
from the one before it where its numbers begin with ``→``.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TITLE = re.compile(r"^# (\d+)\. (.+)$", re.M)


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


def path_of(parts: list[str]) -> str:
    """Return the path as lists of links, one a part.

    Raises: ValueError for a line of another form, or a lecture that there is not.
    """
    rows = []
    for place, part in enumerate(parts, start=1):
        label, bar, numbers = part.partition("|")
        names = numbers.split()
        joined = names[:1] == ["→"]
        wanted = [int(name) if name.isdigit() else 0 for name in names[joined:]]
        if not (bar and wanted and set(wanted) <= set(lectures())):
            raise ValueError(f"a line must be `label | numbers of lectures`: {part!r}")
        links = "".join(
            f'<li><a href="../notebooks/{stem}.html"><b>{number}</b> <span>{title}</span></a></li>'
            for number, (stem, title) in ((number, lectures()[number]) for number in wanted)
        )
        name, _, remark = (html.escape(one.strip()) for one in label.partition(":"))
        said = f"<strong>{name}</strong>" + (f" <span>{remark}</span>" if remark else "")
        kind = ' class="is-joined"' if joined else ""
        rows.append(f'<li{kind} data-part="{place}"><p>{said}</p><ol>{links}</ol></li>')
    return f'<ol class="lecture-path">{"".join(rows)}</ol>'


class LecturePath(SphinxDirective):
    """The path through the lectures."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            return [Ready(html=path_of(list(self.content)))]
        except ValueError as error:
            raise self.error(str(error)) from error


def write(translator, node: Ready) -> None:
    translator.body.append(node["html"])


def leave(translator, node: Ready) -> None:
    """Nothing is open."""


def style(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Give the landing page its style, and no other page."""
    if page == "book/index":
        app.add_css_file("landing.css")


def setup(app: Sphinx) -> dict:
    app.add_node(Ready, html=(write, leave))
    app.add_directive("lecture-path", LecturePath)
    for name in ("look.css", "sidebar.css"):
        app.add_css_file(name)
    app.add_js_file("sidebar.js", loading_method="defer", priority=80)
    app.connect("html-page-context", style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
