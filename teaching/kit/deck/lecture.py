"""What slides take from a lecture: the stored outputs and visible code of its notebook."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from docutils.nodes import make_id
from nbformat import NotebookNode

from teaching.kit.deck.read import MOST, Slide

__all__ = ["Lecture", "Missing"]

_CAPTION = re.compile(r"\A\*\*Figure (\d+\.\d+)\.\*\* *(.*)")
_HEADING = re.compile(r"(?m)^## (\d+\.\d+) (.*)$")
_FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell", "solution"}
_DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.S)


class Missing(LookupError):
    """A lecture does not have what a slide asks for; the text says what it has."""


@dataclass
class Lecture:
    """A notebook by its sections: each one's code cells, and the figures of all."""

    name: str
    title: str = ""
    sections: dict[str, str] = field(default_factory=dict)  # number: its heading's words
    cells: dict[str, list[NotebookNode]] = field(default_factory=dict)
    # number: section, cell, caption
    figures: dict[str, tuple[str, NotebookNode, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Lecture:
        """Return the lecture of a notebook."""
        notebook = nbformat.read(path, as_version=4)
        title = re.match(r"# \d+\. (.*)", notebook.cells[0].source)
        found = cls(path.stem, title[1] if title else path.stem)
        here, last = "", None
        for cell in notebook.cells:
            if cell.cell_type == "code":
                found.cells.setdefault(here, []).append(cell)
                last = cell
                continue
            if (caption := _CAPTION.match(cell.source)) and last:
                found.figures[caption[1]] = (here, last, caption[2])
            for number, words in _HEADING.findall(cell.source):
                found.sections[number], here = words, number
        return found

    def section(self, slide: Slide) -> str:
        """Return the number of the section that a slide belongs to.

        Raises: Missing where the lecture does not have it, or the figure that it shows.
        """
        number = slide.section
        if slide.shown and slide.shown.kind != "formula":
            number = slide.shown.where
            if slide.shown.kind == "figure":
                self.figure(number)
                # what stands before all sections opens the first
                number = self.figures[number][0] or next(iter(self.sections))
        self._of(number)
        return number

    def anchor(self, section: str) -> str:
        """Return the end of the address of a section on the lecture's page."""
        words = self.sections.get(section)
        return f"#{make_id(f'{section} {words}')}" if words else ""

    def figure(self, number: str) -> tuple[NotebookNode, str]:
        """Return the stored output of a figure, and its caption.

        Raises: Missing where there is no such figure, or nothing stored.
        """
        if number not in self.figures:
            raise Missing(f"no figure {number} in {self.name}; it has {_list(self.figures)}")
        _, cell, caption = self.figures[number]
        shown = [out for out in cell.outputs if out.get("data", {}).keys() - {"text/plain"}]
        if not shown:
            raise Missing(f"figure {number} of {self.name} has no stored picture")
        return shown[0], caption

    def code(self, section: str, words: str) -> str:
        """Return the visible code cell of a section that holds these words.

        Raises: Missing where there is none, or more than one, or where it is too long.
        """
        lines = self._cell(section, words).source.rstrip()
        return _fits(lines, f"the cell of {words!r}")

    def output(self, section: str, words: str) -> str:
        """Return what such a cell printed, or one of which only the input is folded.

        Raises: as ``code``; Missing where it printed nothing.
        """
        cell = self._cell(section, words, _FOLDED - {"hide-input"})
        text = "".join(out.get("text", "") for out in cell.outputs)
        if not text.strip():
            raise Missing(f"the cell of {words!r} in section {section} prints nothing")
        return _fits(text.rstrip(), f"the output of {words!r}")

    def hunt(self, section: str) -> tuple[list[str], str]:
        """Return the listing of a section's bug hunt, and what it printed.

        Raises: Missing where the section has none, or one that is too long.
        """
        for cell in self._of(section):
            for output in cell.outputs:
                page = output.get("data", {}).get("text/html", "")
                if "attnbook-bughunt" in page and (data := _DATA.search(page)):
                    state = json.loads(data[1])
                    _fits("\n".join(state["code"]), "the listing of the hunt")
                    return state["code"], state.get("evidence", "")
        raise Missing(f"section {section} has no bug hunt")

    def _of(self, section: str) -> list[NotebookNode]:
        if section not in self.sections:
            raise Missing(f"no section {section} in {self.name}; it has {_list(self.sections)}")
        return self.cells.get(section, [])

    def _cell(self, section: str, words: str, folded: set[str] = _FOLDED) -> NotebookNode:
        visible = [c for c in self._of(section) if not folded & set(c.metadata.get("tags", []))]
        found = [cell for cell in visible if words in cell.source]
        if len(found) != 1:
            many = f"{len(found)} visible code cells" if found else "no visible code cell"
            raise Missing(f"{many} of section {section} with {words!r} in the source; wanted one")
        return found[0]


def _fits(text: str, what: str) -> str:
    count = len(text.splitlines())
    if count > MOST["lines"]:
        raise Missing(f"{what} has {count} lines; a slide holds {MOST['lines']}")
    return text


def _list(numbers: dict) -> str:
    """Say which numbers there are."""
    return ", ".join(numbers) if numbers else "none"
