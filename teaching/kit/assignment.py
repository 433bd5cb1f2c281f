"""A lecture's exercises as a notebook of their own, for the tools that mark them.

It holds the lecture's section of exercises, the earlier cells on which they depend, and one written
question. So it runs in seconds where the lecture trains for minutes, and no mark hangs on a cell
that has nothing to do with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode, v4

from teaching.kit import teaching
from teaching.kit.lectures import TEACHING, Home, KitError, Lecture, is_solution
from teaching.kit.needed import needed_cells
from teaching.kit.student import student

SECTION = re.compile(r"(?m)^## (\d+\.\d+) Exercises\n")
NEXT = re.compile(r"(?m)^## ")
CHECKS = re.compile(r"(?m)^from attnlab\.exercises import (\w+) as check$")
CALL = re.compile(r"(?m)^check\.(\w+)\((\w+)\)$")
ABOVE = ("# @title Set-up", "# @title Imports")
WRITTEN = 2  # points of the written answer


@dataclass(frozen=True)
class Exercise:
    """An exercise with a check: its number, the check's and the answer's name, and both cells."""

    number: int
    check: str
    answer: str
    blank: str
    solution: str


@dataclass(frozen=True)
class Assignment:
    """A lecture's exercises: what is handed out, in order, and what is marked in it."""

    name: str
    title: str
    metadata: NotebookNode
    cells: list[NotebookNode]
    exercises: dict[str, Exercise]  # by the id of the cell that is filled in
    marked: frozenset[int]  # the numbers of those that earn a point
    checks: str  # the module of attnlab.exercises that holds the lecture's
    written: teaching.Written
    install: str  # where pip finds the book's packages

    @property
    def graded(self) -> list[Exercise]:
        """The exercises that earn a point, in order."""
        return [one for one in self.exercises.values() if one.number in self.marked]

    def test(self, exercise: Exercise) -> str:
        """The code that raises unless the answer is right, whatever `check` has come to mean."""
        return (
            f"from attnlab.exercises import {self.checks} as check\n\n"
            # bound to a name: the value of a cell's last line would count as points
            f"said = check.{exercise.check}.strict({exercise.answer})"
        )


def assignment(
    lecture: Lecture, home: Home, chosen: set[int] | None = None, pages: Path = TEACHING
) -> Assignment:
    """Make a lecture's assignment from its student copy and the solutions of the lecture itself.

    ``chosen`` are the numbers of the exercises that earn a point, by default all with a check.

    Raises: KitError where the lecture has no exercises, a check has no solution, or no check
    belongs to a number that is chosen.
    """
    cells = student(lecture, home).cells
    begin = next((k for k, cell in enumerate(cells) if _asks(cell)), None)
    imports = "\n".join(cell.source for cell in cells if cell.source.startswith(ABOVE[1]))
    checks = CHECKS.search(imports)
    if begin is None or not checks:
        raise KitError(f"lecture {lecture.name} has no section of exercises, or no checks")
    asked = _section(cells[begin:])
    solved = {
        call: cell.source
        for cell in lecture.notebook.cells
        if is_solution(cell)
        for call in CALL.findall(cell.source)
    }
    exercises = {}
    for cell in asked:
        if cell.cell_type == "code" and (call := CALL.search(cell.source)):
            if call.groups() not in solved:
                raise KitError(f"lecture {lecture.name}: check.{call[1]} has no solution")
            number = re.match(r"Exercise (\d+)", cell.outputs[-1].text)
            assert number, "tests/attnlab/exercises hold each blank's output"
            solution = CALL.sub("", solved[call.groups()]).strip()
            exercises[cell.id] = Exercise(int(number[1]), *call.groups(), cell.source, solution)
    known = {one.number for one in exercises.values()}
    if lacking := sorted((chosen or set()) - known):
        have = ", ".join(map(str, sorted(known)))
        raise KitError(f"lecture {lecture.name}: no check for exercise {lacking[0]}, only {have}")
    later = [one.source for one in asked if one.cell_type == "code"]
    later += [one.solution for one in exercises.values()]
    code = [cell for cell in cells[:begin] if cell.cell_type == "code"]
    above = [cell for cell in code if cell.source.startswith(ABOVE)]
    below = [cell for cell in code if not cell.source.startswith(ABOVE)]
    kept = needed_cells([cell.source for cell in below], later)
    title = re.sub(r" \(student copy\)$", "", cells[0].source.partition("\n")[0].strip("# "))
    sections = list(lecture.sections)
    return Assignment(
        lecture.name,
        title,
        lecture.notebook.metadata,
        [*above, *(below[k] for k in kept), *asked],
        exercises,
        frozenset(known if chosen is None else chosen),
        checks[1],
        teaching.read(pages / f"{lecture.name}.md", sections).written,
        f"git+https://github.com/{'/'.join(home.pair)}@{home.branch}",
    )


def head(title: str, how: str) -> NotebookNode:
    """The first cell: which lecture it belongs to, and what is to be done."""
    text = (
        f"# Exercises of lecture {title}\n\nThe sections and figures that the tasks name are those "
        f"of the lecture. The folded cells below come from there. {how}"
    )
    return v4.new_markdown_cell(text, id="title")


def _asks(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and bool(SECTION.search(cell.source))


def _section(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells of a section that begins in the first of them, without what stands around it."""
    first = cells[0]
    first.source = first.source[SECTION.search(first.source).end() :].strip()  # pyright: ignore
    found = []
    for cell in cells:
        end = NEXT.search(cell.source) if cell.cell_type == "markdown" else None
        if end:
            cell.source = cell.source[: end.start()].strip()
        if cell.source:
            found.append(cell)
        if end:
            break
    return found
