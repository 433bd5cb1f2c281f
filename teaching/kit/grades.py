"""One table of a course's marks, an exercise a column, for a grade that counts the best of them.

    python -m teaching.kit.grades course                             # all that can be had
    python -m teaching.kit.grades course --best 22 --written 9       # the sums of the best

It reads nbgrader's gradebook, whose own table has one sum a week. `marks.csv` beside it has a row
for each student of the roster; what was not handed in counts 0.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
from pathlib import Path
from typing import Any

from attnlab._console import any_letter


def main(arguments: list[str] | None = None) -> int:
    about, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m teaching.kit.grades",
        description=about,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("course", type=Path, help="the folder that holds gradebook.db")
    parser.add_argument("--best", type=int, metavar="N", help="how many exercises count")
    parser.add_argument("--written", type=int, metavar="N", help="how many written answers count")
    options = parser.parse_args(arguments)
    path = options.course / "gradebook.db"
    if not path.exists():
        print(f"grades: {path} is not there; wanted a course that was marked", file=sys.stderr)
        return 1
    marks = read(path)
    target = options.course / "marks.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table(marks, options.best, options.written))
    print(f"grades: {len(marks)} students in {target}")
    return 0


def read(path: Path) -> dict[str, dict[str, float]]:
    """Return each student's points by column: "05 exercise-1", "05 written"."""
    nbgrader: Any = importlib.import_module("nbgrader.api")
    with nbgrader.Gradebook(f"sqlite:///{path.resolve()}", "attention") as book:
        asked = [
            (f"{week.name[:2]} {cell.name}", cell.name, sheet.name, week.name)
            for week in sorted(book.assignments, key=lambda one: one.name)
            for sheet in week.notebooks
            for cell in sheet.grade_cells
        ]

        def points(where: tuple[str, str, str], student: str) -> float:
            try:
                return book.find_grade(*where, student).score
            except nbgrader.MissingEntry:
                return 0.0

        return {
            one.id: {column: points((*where,), one.id) for column, *where in asked}  # pyright: ignore
            for one in book.students
        }


def table(
    marks: dict[str, dict[str, float]], best: int | None, written: int | None
) -> list[list[str | float]]:
    """Return a head and a row a student: the two sums first, then every column."""
    columns = list(next(iter(marks.values()), {}))
    rows: list[list[str | float]] = [["student", "exercises", "written", *columns]]
    for student, found in sorted(marks.items()):
        answers = [points for column, points in found.items() if column.endswith(" written")]
        done = [points for column, points in found.items() if not column.endswith(" written")]
        sums = (sum(sorted(done)[::-1][:best]), sum(sorted(answers)[::-1][:written]))
        rows.append([student, *sums, *found.values()])
    return rows


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
