"""A lecture's notebook for whoever teaches it: all answers open, and notes where they are needed.

What the kit adds stands in cells with the tag `instructor`, each a quotation that begins with the
words *For the instructor*: the parts of the lecture's page in book/teaching after the title, the
minutes and the note of a section before it, and the answer of a question below it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, v4

from book.tools import notebooks
from teaching.kit import teaching
from teaching.kit.lectures import (
    TAG,
    TEACHING,
    Home,
    Lecture,
    is_solution,
    number_cells,
    question,
    tags,
)

SECTION = re.compile(r"(?m)^(?=## )")
NUMBER = re.compile(r"## (\d+\.\d+) ")
MARKUP = re.compile(r"`[^`]*`|\]\(https?://[^)]*\)|[\\*_$<~|]")
HIDES = notebooks.COLLAPSED | {"hide-output"}


def instructor(lecture: Lecture, home: Home, pages: Path = TEACHING) -> NotebookNode:
    """Return the instructor's notebook of a lecture, with the notes that lie in ``pages``."""
    notebook = lecture.copy()
    notebook.metadata.attnbook = {"copy": "instructor", "lecture": lecture.name}
    cells = [part for cell in notebook.cells for part in split(cell)]
    sections = [found[1] for cell in cells if (found := NUMBER.match(cell.source))]
    page = teaching.Page()  # a page of evidence has no page for teachers
    if "/" not in lecture.name:
        page = teaching.read(pages / f"{lecture.name}.md", sections)
    notebook.cells = []
    for place, cell in enumerate(cells):
        if found := NUMBER.match(cell.source):
            notebook.cells += before(found[1], lecture.minutes, page)
        home.place(cell)
        show(cell)
        notebook.cells.append(cell)
        if place == 0:
            title, _, rest = cell.source.partition("\n")
            cell.source = f"{title} (instructor's copy)\n{rest}"
            notebook.cells += [
                note(f"part-{number}", f"For the instructor: {name.lower()}.", text)
                for number, (name, text) in enumerate(page.parts.items(), 1)
            ]
        if cell.cell_type == "code" and (state := question(cell)):
            notebook.cells.append(note(f"answer-{cell.id}", "For the instructor.", answer(state)))
    number_cells(notebook)
    return notebook


def split(cell: NotebookNode) -> list[NotebookNode]:
    """A cell of text as one for each section that begins in it."""
    if cell.cell_type == "code":
        return [cell]
    parts = [part.strip("\n") for part in SECTION.split(cell.source) if part.strip()]
    found = []
    for place, part in enumerate(parts):
        one = v4.new_markdown_cell(part, id=f"{cell.id}-{place}" if place else cell.id)
        one.metadata = cell.metadata
        found.append(one)
    return found


def before(number: str, minutes: dict[str, float], page: teaching.Page) -> list[NotebookNode]:
    """What stands before a section: its minutes, and its note."""
    planned = f"{minutes[number]:g} minutes" if minutes.get(number) else ""
    text = page.notes.get(number, "")
    if not planned and not text:
        return []
    label = f"For the instructor: {number}{', ' if planned else ''}{planned}."
    return [note(f"note-{number.replace('.', '-')}", label, text)]


def note(name: str, label: str, text: str) -> NotebookNode:
    """A cell of the kit's own: a quotation that says whom it is for."""
    lines = [f"**{label}**", *(["", *text.splitlines()] if text else [])]
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return v4.new_markdown_cell(quoted, id=name, metadata={"tags": [TAG]})


def show(cell: NotebookNode) -> None:
    """Open what is folded up: a solution's code, an output, an answer in the text."""
    if cell.cell_type == "markdown":
        cell.source = cell.source.replace("<details>", "<details open>")
        return
    hidden = cell.metadata.get("jupyter", {})
    if is_solution(cell):
        cell.metadata["tags"] = sorted(tags(cell) - HIDES)
        for name in ("cellView", "jupyter", "mystnb"):
            cell.metadata.pop(name, None)
    elif hidden.pop("outputs_hidden", None):
        cell.metadata["tags"] = sorted(tags(cell) - {"hide-output"})
        if not hidden:
            del cell.metadata["jupyter"]


def answer(state: dict[str, Any]) -> str:
    """What a question's widget says once it is answered, as Markdown."""
    return {"checkpoint": options, "bughunt": lines}.get(state["kind"], numbers)(state)


def options(state: dict[str, Any]) -> str:
    return "\n".join(
        f"- {'**Right:**' if right else 'Not right:'} {escaped(text)} — {escaped(reason)}"
        for text, right, reason in state["options"]
    )


def lines(state: dict[str, Any]) -> str:
    found = zip(state["code"], state["answers"], strict=True)
    return "\n".join(
        f"- Line {number}{', **the mistake**' if number in state['bugs'] else ''}:"
        f" `{line.strip()}` — {escaped(said)}"
        for number, (line, said) in enumerate(found, 1)
        if said
    )


def numbers(state: dict[str, Any]) -> str:
    labels = state["labels"]
    pairs = zip(labels, state["answers"], strict=True)
    found = [
        f"- {escaped(label)}: **{shown(number, state['decimals'])}**" for label, number in pairs
    ]
    for wrong, said in state.get("mistakes", []):
        entered = [
            f"{escaped(label)} {shown(number, 6)}"
            for label, number in zip(labels, wrong, strict=True)
            if number is not None
        ]
        found.append(f"- Entered instead, {', '.join(entered)}: {escaped(said)}")
    return "\n".join([*found, *(["", escaped(state["reason"])] if state["reason"] else [])])


def escaped(text: str) -> str:
    """A widget's text as Markdown that says the same: its only markup is `code` and links."""
    return MARKUP.sub(lambda one: one[0] if len(one[0]) > 1 else f"\\{one[0]}", text)


def shown(number: float, decimals: int) -> str:
    """A number with at most so many decimals."""
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
