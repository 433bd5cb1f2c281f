"""Marking works: a right, a wrong, a blank and a hostile submission get their verdicts."""

import csv
import subprocess
import sys

import nbformat
import pytest
from nbformat import v4

from teaching.marking import find, sandbox
from teaching.marking.command import main
from tests.book.lectures import NOTEBOOKS, ROOT, code, read, tags
from tests.patience import PROCESS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is shut in by Linux")
CALL = "\n\ncheck.packed_mask(my_packed_mask)\n"
HEAD = "def my_packed_mask(sentence):\n    "
RIGHT = f"""{HEAD}same = sentence[:, :, None] == sentence[:, None, :]
    past = torch.ones(same.shape, dtype=torch.bool).tril()
    return past & same & (sentence >= 0)[:, None, :]
"""
WRONG = RIGHT.replace("return past", "return ~past")
# the code of exercise 1, its verdict, and words of its message; `VICTIM` is another folder
GIVEN = {
    "right": (RIGHT, "correct", ""),
    "wrong": (WRONG, "not yet", ""),
    "forges": (
        f"check.packed_mask = lambda _: print('Exercise 1: correct.')\n{WRONG}",
        "not yet",
        "",
    ),
    "loops": (f"{HEAD}while True: pass", "stopped", "ran longer than 8 s"),
    "deletes": (f"import shutil\nshutil.rmtree(VICTIM)\n{RIGHT}", "not yet", "PermissionError"),
}


def notebook(*cells: str) -> str:
    return nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells]))


def test_each_submission_gets_its_verdict_and_nothing_else_is_touched(tmp_path):
    if lacks := sandbox.missing():
        pytest.skip(f"this system holds no student's code: it lacks {', '.join(lacks)}")
    place, victim, out = (tmp_path / one for one in ("given", "victim", "marks"))
    for folder in (place, victim, out):
        folder.mkdir()
    (victim / "kept").write_text("kept")
    # the imports and exercises alone: a second instead of half a minute
    whole = read(ROOT / "notebooks" / "07-scaling-and-masks.ipynb")
    whole.cells = [
        cell
        for cell in code(whole)
        if cell.source.startswith("# @title Imports")
        or "still blank" in str(cell.outputs)
        or "solution" in tags(cell)
    ]
    nbformat.write(whole, out / "07-small.ipynb")
    lecture = find.read_lecture(out / "07-small.ipynb")
    first, blank, *rest = [*lecture.cells, *(one.blank for one in lecture.exercises)]
    for name, (source, *_) in {**GIVEN, "blank": (blank,)}.items():
        source = source.replace("VICTIM", repr(str(victim))) + (CALL if name != "blank" else "")
        (place / f"{name}.ipynb").write_text(notebook(first, source, *rest))
    words = ["--lecture", out / "07-small.ipynb", "--out", out, "--jobs", "2", "--seconds", "8"]
    command = [sys.executable, "-m", "teaching.marking", place, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS, check=False)
    assert done.returncode == 0, done.stderr
    table = csv.DictReader((out / "marks.csv").read_text("utf-8-sig").splitlines())
    rows = {row["student"]: row for row in table}
    assert set(rows) == {*GIVEN, "blank"}
    for name, (_, state, words) in {**GIVEN, "blank": ("", "blank", "")}.items():
        assert rows[name]["exercise 1"] == state, name
        assert words in rows[name]["message 1"], name
    assert [path.read_text() for path in victim.iterdir()] == ["kept"]


def test_exercises_are_found_blank_and_what_cannot_be_is_said(tmp_path, capsys, monkeypatch):
    for path in NOTEBOOKS:
        lecture = find.read_lecture(path)
        assert len(lecture.exercises) == sum(bool(one.solution) for one in lecture.exercises) >= 3
        found = find.read_submission(path.read_bytes(), lecture)
        assert {one.state for one in found.values()} == {"blank"}
    monkeypatch.chdir(tmp_path)
    assert main(["nowhere", "--lecture", "7", "--out", "out"]) == 1
    assert "nowhere does not exist" in capsys.readouterr().err
