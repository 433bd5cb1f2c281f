"""The lectures as the kit reads them: stored notebooks that are as new as their texts.

What they ask is read there, too, from the data that each widget shows.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from book.tools import address, notebooks, plan

ROOT = Path(__file__).resolve().parents[2]
TEACHING = ROOT / "book" / "teaching"
MAKE = "run `make notebooks` first"
STATE = re.compile(r'<figure class="attnbook attnbook-[\w-]+".*?json">(.*?)</script>', re.S)
SECTION = re.compile(r"(?m)^## (\d+\.\d+) (.+)$")
EXERCISE = re.compile(r"(?m)^(?:\*\*|### )Exercise \d")
ASKED = frozenset(plan.ASKED)  # the kinds of widget that have an answer
TAG = "instructor"  # of what the kit adds for the instructor


class KitError(Exception):
    """The kit cannot be made; the message is a sentence that says why, and what to do."""


@dataclass(frozen=True)
class Lecture:
    """A lecture: its name, such as 07-scaling-and-masks, and its notebook as stored; or how we know
    what it says, evidence/07-scaling-and-masks."""

    name: str
    notebook: NotebookNode
    minutes: dict[str, float]  # of each section by its number, 7.2, where the plan gives it any

    @property
    def number(self) -> int:
        return int(self.name.removeprefix("evidence/")[:2])

    @cached_property
    def sections(self) -> dict[str, str]:
        """The titles of its sections by their numbers."""
        cells = [cell.source for cell in self.notebook.cells if cell.cell_type == "markdown"]
        return {number: words.strip() for text in cells for number, words in SECTION.findall(text)}

    @property
    def asked(self) -> list[tuple[str, dict[str, Any], str]]:
        """Of each question its section, the data that it shows, which were computed when the
        notebook was executed, and, of an exercise, the text and the output that lead to it."""
        found, here, told = [], "", []
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown":
                if headings := SECTION.findall(cell.source):
                    here, told = headings[-1][0], []
                begins = [one.start() for one in EXERCISE.finditer(cell.source)]
                if begins:
                    told = [cell.source[begins[-1] :].strip()]
                elif told:
                    told.append(cell.source.strip())
                continue
            if told:
                printed = [out.text for out in cell.outputs if out.get("name") == "stdout"]
                told += [f"```text\n{text.rstrip()}\n```" for text in printed]
            if state := question(cell):
                context = "\n\n".join(told) if state["kind"] == "answer" else ""
                found.append((here, state, context))
        return found

    def copy(self) -> NotebookNode:
        """A notebook to change."""
        return copy.deepcopy(self.notebook)


def lectures(names: list[str] | None = None) -> list[Lecture]:
    """Read the lectures with these names or numbers, or whose names begin so; by default all.

    Raises: KitError for a name that no lecture has, a notebook that is missing, and one that is
    older than its text.
    """
    texts = sorted(notebooks.LECTURES.glob("[0-9]*.md"))
    found: list[Path] = []
    for name in names or [""]:
        begins = name.zfill(2) if name.isdecimal() else name
        chosen = [path for path in texts if path.name.startswith(begins)]
        if not chosen:
            known = ", ".join(path.stem[:2] for path in texts) or "none"
            raise KitError(f"there is no lecture {name!r}: name one of {known}, or its whole name")
        found += chosen
    return [read(path) for path in sorted(set(found))]


def evidence(lecture: Lecture) -> list[Lecture]:
    """Read how we know what a lecture says, where it has such a page."""
    text = notebooks.EVIDENCE / f"{lecture.name}.md"
    return [read(text)] if text.exists() else []


def read(text: Path) -> Lecture:
    """Read one text's stored notebook, and compare it with the text."""
    name = notebooks.name_of(text)
    path = notebooks.NOTEBOOKS / f"{name}.ipynb"
    where = f"notebooks/{name}.ipynb"
    if not path.exists():
        raise KitError(f"{where} is missing: {MAKE}")
    stored = notebooks.stored(path)
    if stored is None:
        raise KitError(f"{where} is no notebook that can be read: {MAKE}")
    wanted = notebooks.convert(text)
    if reason := older(wanted, stored):
        raise KitError(
            f"{where} is older than book/{text.parent.name}/{text.name} ({reason}): {MAKE}"
        )
    return Lecture(name, stored, plan.plan(plan.header(stored)))


def older(wanted: NotebookNode, stored: NotebookNode) -> str:
    """Say in what a stored notebook is not what its text gives; '' where it is."""
    if len(wanted.cells) != len(stored.cells):
        return f"{len(wanted.cells)} cells, {len(stored.cells)} are stored"
    for number, (new, old) in enumerate(zip(wanted.cells, stored.cells, strict=True), 1):
        if (new.cell_type, new.source) != (old.cell_type, old.source):
            return f"cell {number} changed"
        if set(new.metadata.get("tags", [])) != set(old.metadata.get("tags", [])):
            return f"the tags of cell {number} changed"
        if new.cell_type == "code" and new.source.strip() and old.execution_count is None:
            return f"cell {number} was never run"
    return ""


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def is_solution(cell: NotebookNode) -> bool:
    return "solution" in tags(cell)


def question(cell: NotebookNode) -> dict[str, Any] | None:
    """What the question that a cell shows is made of, its answer included; None where it asks
    nothing."""
    for output in cell.get("outputs", []):
        if found := STATE.search(output.get("data", {}).get("text/html", "")):
            state = json.loads(found[1])
            if state["kind"] in ASKED:
                return state
    return None


def number_cells(notebook: NotebookNode) -> None:
    """Count the code cells anew, as if they had been run from top to bottom."""
    for number, cell in enumerate(notebooks.code_cells(notebook), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


@dataclass(frozen=True)
class Home:
    """Where the book lives on GitHub, by _config.yml."""

    pair: tuple[str, str]  # owner and repository
    branch: str
    written: tuple[str, str]  # owner and repository as the lectures may still have them

    def of(self, path: str) -> str:
        """The address of one of the book's files."""
        return f"https://github.com/{'/'.join(self.pair)}/blob/{self.branch}/{path}"

    def place(self, cell: NotebookNode) -> None:
        """Let a cell install from here, and lead here with its links to the book's own files."""
        if cell.cell_type == "code":
            if "git+https://" in cell.source:
                old, new = self.written, self.pair
                cell.source = address.rewrite(cell.source, old, new, self.branch)
        else:
            cell.source = re.sub(r"\]\(/(?!/)", f"]({self.of('')}", cell.source)


def home() -> Home:
    """Read the book's address, which has one place.

    Raises: KitError for one that is no address.
    """
    try:
        old, new, branch = address.addresses(ROOT)
    except SystemExit as stopped:
        raise KitError(str(stopped)) from stopped
    return Home(new, branch, old)
