"""The assignments as an nbgrader course: `make kit FOR=nbgrader`.

nbgrader itself is not needed here: a course is a folder of notebooks whose cells say, in their
metadata, what is filled in, what is marked and what nobody may change
(https://nbgrader.readthedocs.io, "Creating and grading assignments", metadata of version 3).
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from teaching.kit.assignment import CALL, WRITTEN, Assignment, Exercise, head

HOW = (
    "Fill in the cells that hold three dots, and run all from top to bottom: the line that a check "
    "prints says what is wrong. The cell after it gives the mark: it raises an error until the "
    "answer is right. Leave it, and the folded cells, as they are."
)
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
# where a solution stood nothing stays: the blank above it is the lecture's own
CONFIG = r'''"""The course for nbgrader: run its commands in this folder."""

c = get_config()  # noqa: F821 (nbgrader's own)
c.CourseDirectory.course_id = "attention"
c.ClearSolutions.code_stub = {"python": ""}
c.ClearSolutions.text_stub = "(your answer)"
c.ExecutePreprocessor.timeout = 600  # seconds a cell: some lectures' exercises train
# files that are handed in: ID_05-self-attention.ipynb, whatever stands before
name = r".*?(?P<student_id>[^/_]+)_(?P<file_id>\d\d-[a-z-]*[a-z])(-\d+| \(\d+\))?\.ipynb"
c.FileNameCollectorPlugin.named_regexp = name
c.ExportApp.plugin_class = "nbgrader.plugins.CsvExportPlugin"
'''
ROSTER = "id,first_name,last_name,email\n"


def write(folder: Path, assignments: list[Assignment]) -> Path:
    """Write a course: a source of each lecture, and, once, its configuration and a roster."""
    for one in assignments:
        target = folder / "source" / one.name / f"{one.name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(source(one), target)
    for name, text in {"nbgrader_config.py": CONFIG, "roster.csv": ROSTER}.items():
        if not (folder / name).exists():  # an instructor's own stays
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def source(one: Assignment) -> NotebookNode:
    """Return an assignment with its solutions, as `nbgrader generate_assignment` reads it."""
    cells = [_marked(head(one.title, HOW), locked=True)]
    for cell in one.cells:
        exercise = one.exercises.get(cell.id)
        if exercise:
            cells.append(_answer(cell, exercise))
            cells += [_test(one, exercise)] if exercise in one.graded else []
        else:
            cells.append(_marked(cell, locked=True))
    cells.append(_marked(v4.new_markdown_cell(one.written.question, id="question"), locked=True))
    answer = v4.new_markdown_cell(_rubric(one), id="written")
    cells.append(_marked(answer, grade=True, solution=True, points=WRITTEN))
    return v4.new_notebook(cells=cells, metadata=one.metadata)


def _answer(cell: NotebookNode, exercise: Exercise) -> NotebookNode:
    """The cell that is filled in: the blank, its solution, and the check that prints."""
    at = CALL.search(exercise.blank)
    assert at, "an exercise has its check's call"
    above, call = exercise.blank[: at.start()], at[0]
    gap = above[len(above.rstrip()) + 1 :]  # so that what is released is the blank to the letter
    solved = f"{above.rstrip()}\n{BEGIN}\n{exercise.solution}\n{END}{gap}{call}"
    made = v4.new_code_cell(solved, id=cell.id)
    return _marked(made, solution=True)


def _test(one: Assignment, exercise: Exercise) -> NotebookNode:
    made = v4.new_code_cell(one.test(exercise), id=f"exercise-{exercise.number}")
    return _marked(made, grade=True, locked=True, points=1)


def _rubric(one: Assignment) -> str:
    """What a marker sees beside a written answer; students get the stub in its place."""
    rows = [f"- **{points}**: {words}" for points, words in one.written.rubric.items()]
    return "\n".join([BEGIN, *rows, END])


def _marked(cell: NotebookNode, **of: bool | int) -> NotebookNode:
    """Say in a cell's metadata what nbgrader does with it."""
    flags = dict.fromkeys(("grade", "locked", "solution", "task"), False)
    cell.metadata["nbgrader"] = {**flags, **of, "grade_id": cell.id, "schema_version": 3}
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell
