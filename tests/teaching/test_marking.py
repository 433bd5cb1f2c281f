"""Marking: verdicts that no submission can write, and nothing touched outside its folder."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys

import nbformat
import pytest
from nbformat import v4

from teaching.marking import find, folder, sandbox
from teaching.marking.command import _parser, main
from tests.book.lectures import NOTEBOOKS, ROOT, code, read, tags
from tests.patience import PROCESS

PAGES = [ROOT / "README.md", *(ROOT / "book" / "teaching").glob("*.md")]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is shut in by Linux")
CALL = "\n\ncheck.packed_mask(my_packed_mask)\n"
HEAD = "def my_packed_mask(sentence):\n    "
RIGHT = f"""{HEAD}same = sentence[:, :, None] == sentence[:, None, :]
    past = torch.ones(same.shape, dtype=torch.bool).tril()
    return past & same & (sentence >= 0)[:, None, :]
"""
TURNED = RIGHT.replace("return past", "return ~past")
HELPED = "def helper(x): return x >= 0\n" + RIGHT.replace("(sentence >= 0)", "helper(sentence)")
# the code of exercise 1, its verdict, and words of its message
PLAIN = {
    "right": (RIGHT + CALL, "correct", ""),
    "turned": (TURNED + CALL, "not yet", ""),
    "edited": (f"{RIGHT}\nprint('Exercise 1: correct.')", "correct", ""),
    "helped": (HELPED + CALL, "correct", ""),
    "called": (f"{HEAD}return causal_mask(sentence.shape[-1]){CALL}", "not yet", "`causal_mask`"),
    "broken": (f"def my_packed_mask(:\n{CALL}", "not yet", ""),
    "lacks": ("", "not there", ""),
    "=1+1": (RIGHT + CALL, "correct", ""),
    "Übung 7 (Kopie 2).final": (RIGHT + CALL, "correct", ""),
}
SAID = "Exercise 1: correct."
SENDS = "__import__('os').write(4, len(said).to_bytes(8, 'big') + said)"
# code, and words of its message; `VICTIM` is another folder
HOSTILE = {
    "loops": (f"{HEAD}while True: pass", "ran longer than 8 s"),
    "sleeps": (f"import time\n{HEAD}time.sleep(1e6)", "ran longer than 8 s"),
    "eats": (f"{HEAD}return bytearray(1 << 33)", "GB of memory"),
    "prints": (f"{HEAD}while True: print('x' * 1_000_000)", "printed more than"),
    "exits": ("import os\nos._exit(0)", "ended its own process"),
    "forks": ("import os\nwhile True: os.fork()", "PermissionError"),
    "deletes": ("import shutil\nshutil.rmtree(VICTIM)", "PermissionError"),
    "writes": ("open(VICTIM + '/new', 'w').write('x')", "PermissionError"),
    "peeks": ("open(VICTIM + '/kept').read()", "PermissionError"),
    "calls": ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "PermissionError"),
    "starts": ("import subprocess\nsubprocess.run(['true'])", "PermissionError"),
    "fills": ("with open('big', 'wb') as f:\n    f.seek(1 << 30)\n    f.write(b'x')", "OSError"),
    "forges": (f"check.packed_mask = lambda _: print('{SAID}')\n{TURNED}", ""),
    "patches": ("from attnlab.exercises import scaling_and_masks as lecture\n"
                f"lecture.named = torch.equal = torch.allclose = lambda *_: True\n{TURNED}", ""),
    "shouts": (f"said = b'[\"verdict\", \"{SAID}\"]'\n{SENDS}\nimport os\nos._exit(0)", ""),
    "asks": (f"said = b'[\"ask\", [0, 0], [[], {{}}]]'\n{HEAD}while True: {SENDS}", "longer than"),
    "gives_up": (f"said = b'[\"unable\"]'\n{HEAD}while True: {SENDS}", "can be read"),
}  # fmt: skip


def notebook(*cells: str) -> str:
    return nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells]))


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """One folder of everything, marked once: its rows, what was said, and the other folder."""
    if lacks := sandbox.missing():
        pytest.skip(f"this system holds no student's code: it lacks {', '.join(lacks)}")
    place, victim, out = (tmp_path_factory.mktemp(one) for one in ("given", "victim", "marks"))
    (victim / "kept").write_text("kept")
    # the imports and exercises alone: a second instead of half a minute
    whole = read(ROOT / "notebooks" / "07-scaling-and-masks.ipynb")
    whole.cells = [
        cell
        for cell in code(whole)
        if cell.source.startswith("# @title Imports") or "still blank" in str(cell.outputs)
        or "solution" in tags(cell)
    ]  # fmt: skip
    nbformat.write(whole, out / "07-small.ipynb")
    lecture = find.read_lecture(out / "07-small.ipynb")
    first, blank, *rest = [*lecture.cells, *(one.blank for one in lecture.exercises)]
    given = {name: source for name, (source, *_) in PLAIN.items()} | {"blank": blank}
    given["kills"] = f"import os\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)\n{RIGHT}{CALL}"
    for name, (source, _) in HOSTILE.items():
        made = "" if HEAD in source else "\nmy_packed_mask = 1"
        given[name] = source.replace("VICTIM", repr(str(victim))) + made + CALL
    for name, source in given.items():
        (place / f"{name}.ipynb").write_text(notebook(first, source, *rest))
    (place / "text.ipynb").write_text("not JSON")
    (place / "other.ipynb").write_text(notebook("print(1)"))
    (place / "link.ipynb").symlink_to(victim / "kept")
    words = ["--lecture", out / "07-small.ipynb", "--out", out, "--jobs", "2", "--seconds", "8"]
    command = [sys.executable, "-m", "teaching.marking", place, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(place.iterdir())) == len(given) + 3
    table = csv.DictReader((out / "marks.csv").read_text("utf-8-sig").splitlines())
    return {row["student"]: row for row in table}, done.stdout, victim


def test_plain_submissions_have_the_checks_verdicts_in_the_table(marked):
    rows, said, _ = marked
    for name, (_, state, words) in PLAIN.items():
        row = rows[name.replace("=", "'=")]  # a cell of a spreadsheet is text
        assert row["exercise 1"] == state, name
        assert words in row["message 1"]
    assert rows["blank"]["exercise 1"] == "blank"
    assert "check of exercise 1 edited" in rows["edited"]["notes 1"]
    assert {row["exercise 2"] for row in rows.values() if row["marked"] == "yes"} == {"blank"}
    assert {rows[name]["exercise 1"] for name in ("text", "other", "link")} == {"not run"}
    assert "no cell of it is here" in rows["other"]["marked"]
    assert "text: not a notebook: it is not JSON" in said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_never_correct_and_is_named(marked, name):
    row = marked[0][name]
    assert row["exercise 1"] in ("stopped", "not yet")
    assert HOSTILE[name][1] in row["message 1"]
    assert name not in ("forges", "patches") or "touches the checks" in row["notes 1"]


def test_nothing_outside_the_own_folder_is_touched(marked):
    rows, _, victim = marked
    assert [path.read_text() for path in victim.iterdir()] == ["kept"]
    assert len(rows) == len(PLAIN) + len(HOSTILE) + len({"blank", "kills", "text", "other", "link"})


def test_all_lectures_exercises_are_found_and_blank_as_they_were_given_out():
    for path in NOTEBOOKS:
        lecture = find.read_lecture(path)
        assert len(lecture.exercises) == sum(bool(one.solution) for one in lecture.exercises) >= 3
        found = find.read_submission(path.read_bytes(), lecture)
        assert {one.state for one in found.values()} == {"blank"}


def test_every_command_that_the_pages_tell_is_one():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    told = re.findall(r"-m teaching\.marking ([^`\n]+)", text)
    assert len(told) > 1
    assert all(_parser().parse_args(shlex.split(words)).lecture for words in told)


BAD = {
    "nowhere --lecture 7": "nowhere does not exist",
    ". --lecture 99": "lecture 99 is in no folder",
    ". --lecture seven": "--lecture is a number or a notebook's path",
}


@pytest.mark.parametrize(("words", "says"), BAD.items(), ids=BAD)
def test_what_cannot_be_is_said_in_a_sentence(words, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*words.split(), "--out", "out"]) == 1
    assert says in capsys.readouterr().err


def test_two_submissions_of_one_name_are_refused(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.ipynb").write_text("{}")
    with pytest.raises(ValueError, match="a names two submissions"):
        folder.submissions([tmp_path / "x" / "a.ipynb", tmp_path / "y" / "a.ipynb"])
