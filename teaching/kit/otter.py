"""The assignments for Otter-Grader: `make kit FOR=otter`.

Of each lecture a notebook to hand out, a test file an exercise, and the archive that Gradescope and
`otter run` take. The archive is Otter's own work, so Otter must be there.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from teaching.kit.assignment import Assignment, Exercise, head
from teaching.kit.lectures import KitError

HOW = (
    "Fill in the cells that hold three dots, and run all from top to bottom: the line that a check "
    "prints says what is wrong. Hand in this notebook."
)
# of Gradescope's container, which has no GPU
PYTHON = "3.12"
CPU = "--extra-index-url https://download.pytorch.org/whl/cpu\n"
TEST = '''"""Exercise {number} of {name}: the lecture's own check, which raises what is wrong."""

from otter.test_files import test_case

OK_FORMAT = False
name = "exercise {number}"
points = 1


@test_case()
def test_exercise({answer}):
{body}
'''


def write(folder: Path, assignments: list[Assignment]) -> Path:
    """Write a folder a lecture: its notebook, ``tests/``, and ``autograder.zip``.

    Raises: KitError where Otter-Grader is not installed.
    """
    try:
        generate = importlib.import_module("otter.generate").main
    except ImportError as error:
        raise KitError(
            "Otter-Grader is not installed here: `make kit FOR=otter` installs it into "
            ".venv-grading, apart from the book's own packages"
        ) from error
    for one in assignments:
        target = folder / one.name
        shutil.rmtree(target, ignore_errors=True)
        (target / "tests").mkdir(parents=True)
        nbformat.write(handed_out(one), target / f"{one.name}.ipynb")
        for exercise in one.graded:
            path = target / "tests" / f"exercise_{exercise.number}.py"
            path.write_text(test(one, exercise), encoding="utf-8")
        (target / "requirements.txt").write_text(requirements(one), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            generate(
                tests_dir=str(target / "tests"),
                output_path=str(target / "autograder.zip"),
                requirements=str(target / "requirements.txt"),
                no_config=True,
                no_environment=True,
                python_version=PYTHON,
            )
    return folder


def handed_out(one: Assignment) -> NotebookNode:
    """Return the notebook for students; the written answer is marked for `otter export`."""
    ask = f"<!-- BEGIN QUESTION -->\n\n{one.written.question}"
    written = [
        v4.new_markdown_cell(ask, id="question"),
        v4.new_markdown_cell("(your answer)", id="written"),
        v4.new_markdown_cell("<!-- END QUESTION -->", id="end"),
    ]
    cells = [head(one.title, HOW), *one.cells, *written]
    return v4.new_notebook(cells=cells, metadata=one.metadata)


def test(one: Assignment, exercise: Exercise) -> str:
    """Return the test file of an exercise, in Otter's exception-based form."""
    body = "\n".join(f"    {line}".rstrip() for line in one.test(exercise).splitlines())
    return TEST.format(number=exercise.number, name=one.name, answer=exercise.answer, body=body)


def requirements(one: Assignment) -> str:
    """Return what Gradescope's container must install: the book's packages from their home."""
    return (
        f"{CPU}attnbook @ {one.install}\n"
        f"attnlab[pretrained] @ {one.install}#subdirectory=src/attnlab\n"
    )
