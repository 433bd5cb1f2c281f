"""The page of status: every notebook, how long it ran and what of it was compared, and when.

The table is made from ``book/status.json``, which `make status` writes (tests/nbval/status.py), and
from the notebooks. Where a notebook's code is not what ran on that day, its row says so.
"""

from __future__ import annotations

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
    "| Notebook | Cells of code | Outputs compared | Not compared | Seconds | Checked |\n"
    "| :-- | --: | --: | --: | --: | :-- |"
)


def cells(path: Path) -> list[dict]:
    """Return a notebook's cells of code that are not empty."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code" and "".join(cell["source"])]


def digest(path: Path) -> str:
    """Return a short name of a notebook's code, another one where a character of it is another."""
    text = "\0".join("".join(cell["source"]) for cell in cells(path))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def rows(told: dict, paths: list[Path], page: str) -> list[str]:
    """Return a table's line for each notebook, its links those of a page."""
    lines = []
    for path in paths:
        code = cells(path)
        printing = [cell for cell in code if cell["outputs"]]
        exempt = sum(EXEMPT in cell["metadata"].get("tags", []) for cell in printing)
        title = next(
            "".join(cell["source"]).partition("\n")[0].lstrip("# ")
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
            if cell["cell_type"] == "markdown"
        )
        ran = told["notebooks"].get(path.stem)
        seconds = f"{ran['seconds']:.0f}" if ran else "–"
        day = "not yet" if ran is None else told["day"]
        if ran and ran["code"] != digest(path):
            day += ", before its last change"
        up = "../" * page.count("/")
        lines.append(
            f"| [{title}]({up}notebooks/{path.stem}.ipynb) | {len(code)} "
            f"| {len(printing) - exempt} | {exempt} | {seconds} | {day} |"
        )
    return lines


class Status(SphinxDirective):
    """The table of all notebooks, and the machine that ran them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(STORED))
        told = json.loads(STORED.read_text(encoding="utf-8"))
        lines = [HEAD, *rows(told, sorted(NOTEBOOKS.glob("*.ipynb")), self.env.docname)]
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
