"""What the lectures ask, as their stored notebooks have it, and where each section stands."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from book.tools.kit.questions import Question

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "notebooks"
QUESTIONS = ROOT / "book" / "questions"
ASKED = {"checkpoint", "prediction", "bughunt", "answer"}
STATE = re.compile(r'<figure class="attnbook attnbook-[\w-]+".*?json">(.*?)</script>', re.S)
SECTION = re.compile(r"(?m)^## (\d+\.\d+) (.+)$")
EXERCISE = re.compile(r"(?m)^(?:\*\*|### )Exercise \d")


class BankError(Exception):
    """The bank or an exam cannot be made; the message is a sentence that says why."""


@dataclass(frozen=True)
class Lesson:
    """A lecture: its number, its name, its sections' titles, and what its widgets ask.

    ``asked`` has for each widget the section in which it stands, the data that it shows, which
    were computed when the notebook was executed, and, of an exercise, the text that leads to it.
    """

    number: int
    name: str
    title: str
    sections: dict[str, str]
    asked: list[tuple[str, dict[str, Any], str]]

    def place(self, section: str) -> str:
        return f"{section} {self.sections[section]}"


def lessons(folder: Path = NOTEBOOKS) -> dict[int, Lesson]:
    """Read all lectures, by number."""
    found = [read(path) for path in sorted(folder.glob("[0-9][0-9]-*.ipynb"))]
    if not found:
        raise BankError(f"there is no notebook in {folder}: run `make notebooks` first")
    return {one.number: one for one in found}


def read(path: Path) -> Lesson:
    """Read a lecture's stored notebook."""
    cells = nbformat.read(path, as_version=4).cells
    title = re.search(r"(?m)^# \d+\. (.+)$", cells[0].source)
    sections, asked, here, told = {}, [], "", []
    for cell in cells:
        if cell.cell_type == "markdown":
            for here, words in SECTION.findall(cell.source):
                sections[here] = words.strip()
            begins = [one.start() for one in EXERCISE.finditer(cell.source)]
            if begins or SECTION.search(cell.source):
                told = [cell.source[begins[-1] :].strip()] if begins else []
            elif told:
                told.append(cell.source.strip())
        for output in cell.get("outputs", []):
            state = STATE.search(output.get("data", {}).get("text/html", ""))
            if state and (one := json.loads(state[1]))["kind"] in ASKED:
                asked.append((here, one, "\n\n".join(told) if one["kind"] == "answer" else ""))
            elif told and output.get("name") == "stdout":
                told.append(f"```text\n{output.text.rstrip()}\n```")
    return Lesson(int(path.stem[:2]), path.stem, title[1] if title else "", sections, asked)


def written(folder: Path = QUESTIONS) -> dict[int, list[Question]]:
    """Load the exam questions, by lecture, in the order in which they are written."""
    found = {}
    for path in sorted(folder.glob("q[0-9][0-9]_*.py")):
        spec = importlib.util.spec_from_file_location(f"book.questions.{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[int(path.stem[1:3])] = [
            one for one in vars(module).values() if isinstance(one, Question)
        ]
    return found
