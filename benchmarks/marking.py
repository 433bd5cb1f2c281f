"""Measure the marking of 200 submissions; write it into benchmarks/RESULTS.md.

`python benchmarks/marking.py` runs it: some minutes. Lecture 5, run whole: every wrong answer and
every blank of its exercises' tests, code that loops, eats memory, floods, ends its process or
forges, and right answers, each a notebook of its own. What is not as it should be is named.
"""

from __future__ import annotations

import csv
import importlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import timing
from timing import Row

from teaching.marking import find

ROOT = Path(__file__).resolve().parents[1]
NAME = "05-self-attention"
RULE = "def my_rule(i, j):\n    {}\n    return j == 0 or (j <= i and (i - j) % 2 == 0)\n"
HOSTILE = {
    "loops": "while True: pass",
    "eats": "return bytearray(1 << 34)",
    "prints": "while True: print('x' * 1_000_000)",
    "exits": "import os; os._exit(0)",
    "forges": "import os; os.write(4, bytes(7) + b'\\x02[]'); return j > i",
    "forks": "import os; os.fork()",
    "deletes": "import shutil; shutil.rmtree({victim!r})",
}
FORBIDDEN = ("stopped", "not yet")  # what hostile code may be, of all states


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def submissions(folder: Path, victim: Path, count: int) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Write the notebooks, and return which exercise of each has which states."""
    lecture = find.read_lecture(ROOT / "notebooks" / f"{NAME}.ipynb")
    first, wanted = lecture.cells[0], dict[str, tuple[int, tuple[str, ...]]]()

    def submit(name: str, number: int, states: tuple[str, ...], code: str) -> None:
        (folder / f"{name}.ipynb").write_text(notebook(first, code), encoding="utf-8")
        wanted[name] = number, states

    answers = importlib.import_module("tests.attnlab.exercises.answers_05")
    of = {one.check: one for one in lecture.exercises}
    for kind, state in (("WRONG", "not yet"), ("BLANK", "blank")):
        for k, (check, *_) in enumerate(getattr(answers, kind)):
            one = of[check.__name__]
            given = f"from tests.attnlab.exercises import answers_05\n{one.answer} = answers_05"
            submit(f"{kind}-{k}", one.number, (state,), f"{given}.{kind}[{k}][1]")
    for name, code in HOSTILE.items():
        submit(name, 4, FORBIDDEN, RULE.format(code.replace("{victim!r}", repr(str(victim)))))
    (folder / "text.ipynb").write_text("not JSON", encoding="utf-8")
    (folder / "other.ipynb").write_text(notebook("print(1)"), encoding="utf-8")
    wanted |= {"text": (4, ("not run",)), "other": (4, ("not run",))}
    for k in range(len(wanted), count):
        submit(f"right-{k}", 4, ("correct",), RULE.format("pass"))
    return wanted


def main() -> None:
    given = timing.options(__doc__.splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as held:
        here = Path(held)
        folder, victim = here / "in", here / "victim"
        folder.mkdir()
        victim.mkdir()
        (victim / "kept").write_text("kept", encoding="utf-8")
        wanted = submissions(folder, victim, 60 if given.quick else 200)
        command = [sys.executable, "-m", "teaching.marking", str(folder)]
        command += ["--lecture", "5", "--out", str(here / "out"), "--seconds", "10"]
        began = time.monotonic()
        subprocess.run([*command, "--jobs", "2"], check=True, cwd=ROOT, stdout=sys.stderr)
        seconds = time.monotonic() - began
        with (here / "out" / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        found = {name: rows[name][f"exercise {number}"] for name, (number, _) in wanted.items()}
        wrong = sorted(name for name, (_, states) in wanted.items() if found[name] not in states)
        touched = [path.name for path in victim.iterdir()] != ["kept"]
    each = [float(rows[name]["seconds"]) for name in wanted if name not in HOSTILE]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    lines = [
        Row("verdicts that are right", f"{len(wanted) - len(wrong)} of {len(wanted)}"),
        Row("files touched outside a submission's own folder", "yes" if touched else "none"),
        Row("a submission, median", f"{statistics.median(each):.2f} s"),
        Row("a submission, the slowest that is not hostile", f"{max(each):.2f} s"),
        Row("all, the lecture's own run included", f"{seconds:.0f} s"),
        Row("memory of the largest process", f"{peak:.2f} GB"),
    ]
    note = (
        f"{len(wanted)} submissions of lecture 5, one answer each, two at once: every wrong answer "
        "and blank of the exercises' tests, right ones, a file that is no JSON, another notebook, "
        f"and hostile code: {', '.join(HOSTILE)}. Times are on the clock."
    )
    if wrong:
        note += f" Wrong verdicts: {', '.join(wrong)}."
    said = f"Measured on {timing.machine()}."
    timing.replace(given.out, "marking", "## Marking", timing.goals(lines), note, said)


if __name__ == "__main__":
    main()
