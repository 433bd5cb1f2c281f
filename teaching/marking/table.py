"""What an instructor reads: a row a student as CSV, and a summary of the exercises as text."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from teaching.marking.run import Mark, Marked

STATES = {
    "correct": "correct",
    "not yet": "not yet",
    "blank": "blank",
    "missing": "not there",
    "stopped": "stopped",
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(rows: list[Marked], numbers: list[int], path: Path) -> None:
    """Write a row a student: how many are correct, then state, message and notes an exercise."""
    head = ["student", "marked", "correct", "of"]
    for number in numbers:
        head += [f"exercise {number}", f"message {number}", f"notes {number}"]
    # the mark at the beginning tells a spreadsheet that this is UTF-8
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*head, "seconds"])
        for row in rows:
            right = sum(mark.state == "correct" for mark in row.marks.values())
            cells = [row.student, row.problem or "yes", str(right), str(len(numbers))]
            for number in numbers:
                mark = row.marks.get(number, Mark("not run"))
                state = STATES.get(mark.state, mark.state)
                cells += [state, mark.words, "; ".join(mark.notes)]
            writer.writerow([safe(cell) for cell in [*cells, f"{row.seconds:.1f}"]])


def safe(text: str) -> str:
    """Return text that a spreadsheet takes as text: students choose names and messages."""
    text = text.replace("\0", "")
    return f"'{text}" if text.startswith(FORMULA) else text


def summary(rows: list[Marked], numbers: list[int], name: str) -> str:
    """Return what the class did, exercise by exercise, and who has to be looked at."""
    marked = [row for row in rows if not row.problem]
    lines = [f"{name}: {len(rows)} submissions, {len(marked)} marked.", ""]
    for number in numbers:
        marks = [row.marks[number] for row in marked if number in row.marks]
        count = Counter(mark.state for mark in marks)
        said = ", ".join(f"{count[state]} {words}" for state, words in STATES.items())
        lines.append(f"Exercise {number}: {said}")
        wrong = Counter(
            _shown(mark.words) for mark in marks if mark.state in ("not yet", "stopped")
        )
        lines += [f"  {many:4d}  {words}" for words, many in wrong.most_common()]
        lines.append("")
    if broken := [row for row in rows if row.problem]:
        lines.append("Not marked:")
        lines += [f"  {_shown(row.student)}: {_shown(row.problem)}" for row in broken]
        lines.append("")
    noted = [
        f"  {_shown(row.student)}, exercise {number}: {_shown('; '.join(mark.notes))}"
        for row in marked
        for number, mark in sorted(row.marks.items())
        if mark.notes
    ]
    if noted:
        lines += ["To look at:", *noted, ""]
    return "\n".join(lines)


def _shown(text: str, most: int = 160) -> str:
    """One line, with nothing in it that a terminal would obey."""
    line = "".join(one if one.isprintable() else " " for one in " ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
