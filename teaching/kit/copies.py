"""The notebooks that are handed out: a student's and an instructor's of each lecture."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from teaching.kit.instructor import instructor
from teaching.kit.lectures import evidence, home, lectures
from teaching.kit.student import student

STUDENTS, INSTRUCTORS = "students", "instructors"


def write(folder: Path, names: list[str] | None = None, at: str = "") -> int:
    """Write both notebooks of each lecture into the kit's folder; return how many there are now.

    ``names`` chooses lectures (default: all); ``at`` is where the students' will lie on GitHub.

    Raises: KitError where a lecture is not there, or not as it should be; then nothing is written.
    """
    here = home()
    made: dict[Path, NotebookNode] = {}
    for one in lectures(names):
        made[folder / STUDENTS / f"{one.name}.ipynb"] = student(one, here, at)
        made[folder / INSTRUCTORS / f"{one.name}.ipynb"] = instructor(one, here)
        for known in evidence(one):  # its exercises are blank in a student's copy, too
            made[folder / STUDENTS / f"{known.name}.ipynb"] = student(known, here, at)
            made[folder / INSTRUCTORS / f"{known.name}.ipynb"] = instructor(known, here)
    for path, notebook in made.items():
        nbformat.validate(notebook)
        path.parent.mkdir(parents=True, exist_ok=True)
        # as Jupyter saves it: a save changes what was changed, and git can merge the rest
        text = nbformat.writes(notebook) + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
    return len(made)
