"""What the tests of the book share: the lectures, their notebooks, their cells."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
# a lecture has a number; what is written in the same way and is none has a name
TEXTS = sorted((ROOT / "book" / "lectures").glob("*.md"))
LECTURES = [path for path in TEXTS if path.name[0].isdigit()]
TWINS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [path for path in TWINS if path.name[0].isdigit()]
# how we know what a lecture says: its text, and its notebook
EVIDENCE = sorted((ROOT / "book" / "evidence").glob("*.md"))
KNOWN = sorted((ROOT / "notebooks" / "evidence").glob("*.ipynb"))
EVERY = [*TWINS, *KNOWN]
HTML = ROOT / "_build" / "html"
PAGES = [f"book/{path.stem}" for path in sorted((ROOT / "book").glob("*.md"))]
PAGES += [f"book/teaching/{path.stem}" for path in sorted((ROOT / "book/teaching").glob("*.md"))]
PAGES += [path.relative_to(ROOT).with_suffix("").as_posix() for path in EVERY]
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\w)")
CITATION = re.compile(r"\[([^\]]+? (?:et al\.|and [^\],]+)?,? ?\d{4}[a-z]?)\]\((\S+?)\)")


def load(path: Path) -> ModuleType:
    """Import a script of the book by its path."""
    name = f"book_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def by_day(paths: list[Path], *names: str) -> list:
    """Lectures as parameters of a test: those named in `make test`, the rest in `make test-all`."""
    assert set(names) <= {path.stem for path in paths}
    return [p if p.stem in names else pytest.param(p, marks=pytest.mark.heavy) for p in paths]


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@cache
def stored(path: Path) -> nbformat.NotebookNode:
    """A notebook that is only looked at: read once, and changed by nobody."""
    return read(path)


def code(notebook: nbformat.NotebookNode) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook: nbformat.NotebookNode) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell: nbformat.NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def printed(notebook: nbformat.NotebookNode) -> str:
    """All text that the notebook's cells print, show or draw into a page."""
    parts = []
    for cell in code(notebook):
        for output in cell.outputs:
            parts.append(output.get("text", ""))
            data = output.get("data", {})
            parts += [data.get(kind, "") for kind in ("text/plain", "text/html")]
    return "\n".join(parts)
