"""The landing page's path through the lectures: for each part of the contents a list of links.

``lecture-path`` has a line ``number: remark`` for each part that one can begin with; to any other
an arrow leads from the part before it, and to one whose remark begins with an arrow.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
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


@cache
def contents() -> dict[str, list[str]]:
    """Return each part that has lectures, by its caption, with their notebooks in order."""
    known = {stem for stem, _ in lectures().values()}
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    stems = {
        part["caption"]: [Path(one["file"]).name for one in part["chapters"]] for part in parts
    }
    return {caption: found for caption, found in stems.items() if known & set(found)}


def path_of(lines: list[str]) -> str:
    """Return the path as lists of links, one a part.

    Raises: ValueError for a line that names no part of the contents.
    """
    remarks = dict(line.split(": ", 1) if ": " in line else (line, "") for line in lines)
    if strange := remarks.keys() - {caption.partition(".")[0] for caption in contents()}:
        raise ValueError(f"a line must be `number of a part: remark`: {min(strange)!r}")
    titles = {stem: (number, title) for number, (stem, title) in lectures().items()}
    rows = []
    for place, (caption, stems) in enumerate(contents().items(), start=1):
        links = "".join(
            f'<li><a href="../notebooks/{stem}.html">'
            f"<b>{titles[stem][0]}</b> <span>{titles[stem][1]}</span></a></li>"
            for stem in stems
        )
        remark = remarks.get(caption.partition(".")[0])
        said = f"<strong>{html.escape(caption)}</strong>"
        told = (remark or "").removeprefix("→ ")
        said += f" <span>{html.escape(told)}</span>" if told else ""
        kind = ' class="is-joined"' if remark is None or told != remark else ""
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
    """Give the landing page its style and its script, and no other page."""
    if page == "book/index":
        app.add_css_file("landing.css")
        app.add_js_file("landing.js", loading_method="defer", priority=120)


def setup(app: Sphinx) -> dict:
    app.add_node(Ready, html=(write, leave))
    app.add_directive("lecture-path", LecturePath)
    for name in ("look.css", "sidebar.css"):
        app.add_css_file(name)
    app.add_js_file("sidebar.js", loading_method="defer", priority=80)
    app.connect("html-page-context", style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
