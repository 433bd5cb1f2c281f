"""The page of status: every notebook, how long it ran, what of it was compared or comes from a
record, and when.

The table is made from ``book/status.json``, which `make status` writes (tests/nbval/status.py), and
from the notebooks. Where a notebook's code is not what ran on that day, its row says so.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import json
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BOOK = Path(__file__).resolve().parents[1]
STORED = BOOK / "status.json"
NOTEBOOKS = BOOK.parent / "notebooks"
EXEMPT = "nbval-ignore-output"
HEAD = (
    "| Notebook | Cells of code | Outputs compared | of these, from records | Not compared "
    "| Seconds | Checked |\n| :-- | --: | --: | --: | --: | --: | :-- |"
)
# what a lecture imports from here was computed once and written down
RECORDS = ("attnlab.models.recorded", "attnlab.models.results", "attnlab.models.captions")


def cells(path: Path) -> list[dict]:
    """Return a notebook's cells of code that are not empty."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code" and "".join(cell["source"])]


def recorded(code: list[dict]) -> list[dict]:
    """Return the cells that use what was imported from a module of records."""
    names: set[str] = set()
    found = []
    for cell in code:
        nodes_ = list(ast.walk(ast.parse("".join(cell["source"]))))
        for node in nodes_:
            if isinstance(node, ast.ImportFrom):
                there = [
                    (f"{node.module}.{one.name}", one.asname or one.name) for one in node.names
                ]
                names |= {name for place, name in there if place.startswith(RECORDS)}
        if any(isinstance(node, ast.Name) and node.id in names for node in nodes_):
            found.append(cell)
    return found


def digest(path: Path) -> str:
    """Return a short name of a notebook's code, another one where a character of it is another."""
    text = "\0".join("".join(cell["source"]) for cell in cells(path))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def name_of(path: Path) -> str:
    """Return a notebook's name as the record has it: NN-name, or evidence/NN-name."""
    return f"evidence/{path.stem}" if path.parent.name == "evidence" else path.stem


def rows(told: dict, paths: list[Path], page: str) -> list[str]:
    """Return a table's line for each notebook, its links those of a page."""
    lines = []
    on = datetime.date.fromisoformat(told["day"])
    for path in paths:
        code = cells(path)
        printing = [cell for cell in code if cell["outputs"]]
        compared = [c for c in printing if EXEMPT not in c["metadata"].get("tags", [])]
        kept = sum(cell in compared for cell in recorded(code))
        title = next(
            "".join(cell["source"]).partition("\n")[0].lstrip("# ")
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
            if cell["cell_type"] == "markdown"
        )
        ran = told["notebooks"].get(name_of(path))
        seconds = f"{ran['seconds']:.0f}" if ran else "–"
        day = "not yet" if ran is None else f"{on.day} {on:%B %Y}"
        if ran and ran["code"] != digest(path):
            day += ", before its last change"
        up = "../" * page.count("/")
        lines.append(
            f"| [{title}]({up}notebooks/{name_of(path)}.ipynb) | {len(code)} "
            f"| {len(compared)} | {kept} | {len(printing) - len(compared)} | {seconds} | {day} |"
        )
    return lines


class Status(SphinxDirective):
    """The table of all notebooks, and the machine that ran them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(STORED))
        told = json.loads(STORED.read_text(encoding="utf-8"))
        lines = [
            HEAD,
            *rows(
                told,
                sorted(NOTEBOOKS.rglob("*.ipynb"), key=lambda path: path.name),
                self.env.docname,
            ),
        ]
        if took := [ran["seconds"] for ran in told["notebooks"].values()]:
            lines += ["", f"Together {sum(took) / 60:.0f} minutes, one after the other, with"]
            lines += [f"{told['machine']}."]
        shown = nodes.container(classes=["status"])  # its dates are in one line each: look.css
        text = "\n".join(lines).split("\n")
        self.state.nested_parse(StringList(text, source="status"), self.content_offset, shown)
        return [shown]


def setup(app: Sphinx) -> dict:
    app.add_directive("status", Status)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
