"""A lecture's notebook for students: exercises blank, no solution, and no answer to read.

Solution cells go, and what is folded up under a task. A question (checkpoint, prediction, hunt,
numbers on paper) stays and works, but its cell holds a sealed text in place of options and reasons,
and its stored output the question alone. What the lecture itself tells, such as the output under a
prediction, stays as it is.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from nbformat import NotebookNode

from attnlab.widgets import sealed
from teaching.kit.lectures import Home, Lecture, is_solution, number_cells, question
from teaching.kit.needed import kept
from teaching.kit.seal import seal

# where the workflow publishes the copies, so that Colab can open them: branch and folder
PUBLISHED = "kit/students"
FOLD = re.compile(r"\n*<details>\s*<summary>(.*?)</summary>.*?</details>", re.S)
ASIDE = re.compile(r"Plan \(|Why at rate 5|Hint \d")  # folds that answer no task: they stay
BELOW = re.compile(
    r"(?:, with (?:a|the) solution|; a solution is|\. The solution is)"
    r" folded up below(?: it| each)?"
)
BADGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="112" height="20">'
    '<rect width="112" height="20" rx="3" fill="#444"/><text x="56" y="14" fill="#fff"'
    ' font-family="sans-serif" font-size="11" text-anchor="middle">Open in Colab</text></svg>'
)


def student(lecture: Lecture, home: Home, at: str = "") -> NotebookNode:
    """Return the student notebook of a lecture; ``at`` is the folder on GitHub where it will lie,
    such as OWNER/REPO/blob/BRANCH/FOLDER, by default where the workflow publishes it."""
    notebook = lecture.copy()
    notebook.metadata.attnbook = {"copy": "student", "lecture": lecture.name}
    # from the end: what a question's cell must keep is what the later cells look up, and a solution
    # may look up what the reader's own answer will
    later: list[str] = []
    cells: list[NotebookNode] = []
    for cell in reversed(notebook.cells):
        if cell.cell_type == "code":
            if state := question(cell):
                close(cell, state, later)
            later.insert(0, cell.source)
        else:
            cell.source = without_answers(cell.source)
        if cell.source.strip() and not is_solution(cell):
            cells.insert(0, cell)
    notebook.cells = cells
    for cell in cells:
        home.place(cell)
    where = at or f"{'/'.join(home.pair)}/blob/{PUBLISHED}"
    entitle(cells[0], f"https://colab.research.google.com/github/{where}/{lecture.name}.ipynb")
    number_cells(notebook)
    return notebook


def entitle(cell: NotebookNode, colab: str) -> None:
    """Say in the title whose copy this is, and lead to Colab below it."""
    title, _, rest = cell.source.partition("\n")
    picture = base64.b64encode(BADGE.encode()).decode()
    badge = f"[![Open in Colab](data:image/svg+xml;base64,{picture})]({colab})"
    cell.source = f"{title} (student copy)\n\n{badge}\n{rest}"


def without_answers(text: str) -> str:
    """A lecture's text without what it folds up under its tasks."""
    text = FOLD.sub(lambda fold: fold[0] if ASIDE.match(fold[1]) else "", text)
    return BELOW.sub("", text).strip("\n")


def close(cell: NotebookNode, state: dict[str, Any], later: list[str]) -> None:
    """Put a sealed text in the place of a question, in its cell and in what the cell shows."""
    first = cell.source.splitlines()[0]
    title = [first] if first.startswith("# @title ") else []
    needed = kept(cell.source, later)
    text = seal(state)
    ask = f'from attnlab.widgets import sealed\n\nsealed(\n    """\n{text}\n"""\n)'
    cell.source = "\n".join([*title, *([needed, ""] if needed else []), ask])
    for output in cell.outputs:
        if "<figure class=" in output.get("data", {}).get("text/html", ""):
            shown = sealed(text)
            output.data |= {"text/html": shown.html(), "text/plain": repr(shown)}
