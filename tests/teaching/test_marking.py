"""Marking: verdicts that no submission can write, and nothing touched outside its folder."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from importlib import import_module

import pytest

from teaching.marking import find, folder, sandbox, table
from teaching.marking.command import _parser
from tests.attnlab.exercises import answers_07
from tests.book.lectures import NOTEBOOKS, ROOT

PAGES = [ROOT / "README.md", *(ROOT / "book" / "teaching").glob("*.md")]
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="students' code is shut in by Linux"
)

LECTURE = ROOT / "notebooks" / "07-scaling-and-masks.ipynb"
MASK = """
def my_packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    past = torch.ones(same.shape, dtype=torch.bool).tril()
    return past & same & (sentence >= 0)[:, None, :]
"""
CALL = "\n\ncheck.packed_mask(my_packed_mask)\n"
TURNED = MASK.replace("return past", "return ~past")
HOSTILE = {
    "loops": "def my_packed_mask(sentence):\n    while True: pass",
    "sleeps": "import time\ndef my_packed_mask(sentence):\n    time.sleep(1e6)",
    "eats": "def my_packed_mask(sentence):\n    return bytearray(1 << 33)",
    "prints": "def my_packed_mask(sentence):\n    while True: print('x' * 1_000_000)",
    "exits": "import os\nos._exit(0)\nmy_packed_mask = 1",
    "kills": "import os, signal\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)" + MASK,
    "forks": "import os\nwhile True: os.fork()\nmy_packed_mask = 1",
    "deletes": "import shutil, pathlib\nshutil.rmtree({victim!r})\nmy_packed_mask = 1",
    "writes": "open({victim!r} + '/new', 'w').write('x')\nmy_packed_mask = 1",
    "peeks": "open({victim!r} + '/kept').read()\nmy_packed_mask = 1",
    "calls": "import socket\nsocket.create_connection(('127.0.0.1', 9))\nmy_packed_mask = 1",
    "starts": "import subprocess\nsubprocess.run(['true'])\nmy_packed_mask = 1",
    "fills": "with open('big', 'wb') as f:\n    f.seek(1 << 30)\n    f.write(b'x')\n"
    "my_packed_mask = 1",
    "forges": "check.packed_mask = lambda _: print('Exercise 1: correct. Mine.')" + TURNED,
    "patches": "torch.equal = lambda *_: True\ntorch.allclose = lambda *_: True\n"
    "import attnlab.exercises.scaling_and_masks as lecture\n"
    "lecture.named = lambda *_: None" + TURNED,
    "shouts": "import os\n"
    'said = b\'["verdict", "Exercise 1: correct. Mine."]\'\n'
    "os.write(4, len(said).to_bytes(8, 'big') + said)\nos._exit(0)\n"
    "my_packed_mask = 1",
    "asks": "import os\ndef my_packed_mask(sentence):\n"
    "    said = b'[\"ask\", [0, 0], [[], {}]]'\n"
    "    while True: os.write(4, len(said).to_bytes(8, 'big') + said)",
    "gives_up": "import os\ndef my_packed_mask(sentence):\n"
    "    said = b'[\"unable\"]'\n"
    "    while True: os.write(4, len(said).to_bytes(8, 'big') + said)",
}


def notebook(cells: list[str]) -> str:
    made = [
        {"cell_type": "code", "id": f"c{k}", "metadata": {}, "outputs": [], "source": cell}
        for k, cell in enumerate(cells)
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def smaller(lecture, folder):
    """A lecture with its imports and its exercises alone: a second instead of half a minute."""
    if lacks := sandbox.missing():
        pytest.skip(f"this system holds no student's code: it lacks {', '.join(lacks)}")
    whole = json.loads(lecture.read_text(encoding="utf-8"))
    whole["cells"] = [
        cell
        for cell in whole["cells"]
        if cell["cell_type"] == "code"
        and (
            "".join(cell["source"]).startswith("# @title Imports")
            or "solution" in cell["metadata"].get("tags", [])
            or "still blank" in str(cell["outputs"])
        )
    ]
    path = folder / f"{lecture.name[:2]}-small.ipynb"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return smaller(LECTURE, tmp_path_factory.mktemp("lecture"))


def mark(small, submissions, out, *more, timeout=900):
    command = [sys.executable, "-m", "teaching.marking", str(submissions), "--lecture"]
    command += [str(small), "--out", str(out), "--jobs", "2", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    with (out / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}, done.stdout


@pytest.fixture(scope="module")
def marked(small, tmp_path_factory):
    """One folder of everything, marked once."""
    folder = tmp_path_factory.mktemp("submissions")
    victim = tmp_path_factory.mktemp("victim")
    (victim / "kept").write_text("kept")
    lecture = find.read_lecture(small)
    cells = [*lecture.cells, *(one.blank for one in lecture.exercises)]

    def submit(name, *own):
        (folder / f"{name}.ipynb").write_text(notebook([cells[0], *own, *cells[2:]]))

    for name, code in HOSTILE.items():
        submit(name, code.replace("{victim!r}", repr(str(victim))) + CALL)
    submit("right", MASK + CALL)
    submit("blank", cells[1])
    submit("turned", TURNED + CALL)
    submit("edited", MASK + "\nprint('Exercise 1: correct.')")
    submit(
        "helped",
        "def helper(x):\n    return x >= 0",
        MASK.replace("(sentence >= 0)", "helper(sentence)") + CALL,
    )
    submit("called", "def my_packed_mask(s):\n    return causal_mask(s.shape[-1])" + CALL)
    submit("broken", "def my_packed_mask(:\n" + CALL)
    submit("lacks")
    submit("=1+1", MASK + CALL)
    submit("Übung 7 (Kopie 2).final", MASK + CALL)
    (folder / "text.ipynb").write_text("not JSON")
    (folder / "other.ipynb").write_text(notebook(["print(1)"]))
    (folder / "link.ipynb").symlink_to(victim / "kept")
    rows, said = mark(small, folder, tmp_path_factory.mktemp("out") / "marks", "--seconds", "8")
    return rows, said, victim, folder


def test_every_command_that_the_pages_tell_is_one() -> None:
    told = [
        words
        for page in PAGES
        for words in re.findall(r"-m teaching\.marking ([^`\n]+)", page.read_text("utf-8"))
    ]
    assert len(told) > 1
    for words in told:
        assert _parser().parse_args(shlex.split(words)).lecture


def test_plain_submissions_have_the_checks_verdicts(marked):
    rows, *_ = marked
    states = {name: rows[name]["exercise 1"] for name in rows if name not in HOSTILE}
    assert states == {
        "right": "correct",
        "blank": "blank",
        "turned": "not yet",
        "edited": "correct",
        "helped": "correct",
        "called": "not yet",
        "broken": "not yet",
        "lacks": "not there",
        "'=1+1": "correct",
        "Übung 7 (Kopie 2).final": "correct",
        "text": "not run",
        "other": "not run",
        "link": "not run",
    }
    assert "turned over" not in rows["right"]["message 1"]
    assert "your function calls `causal_mask`" in rows["called"]["message 1"]
    assert "check of exercise 1 edited" in rows["edited"]["notes 1"]
    assert rows["text"]["marked"] == "not a notebook: it is not JSON"
    assert "no cell of it is here" in rows["other"]["marked"]
    assert {row["exercise 2"] for row in rows.values() if row["marked"] == "yes"} == {"blank"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_never_correct_and_is_named(marked, name):
    rows, *_ = marked
    state, words = rows[name]["exercise 1"], rows[name]["message 1"]
    wanted = {
        "loops": "ran longer than 8 s",
        "sleeps": "ran longer than 8 s",
        "eats": "GB of memory",
        "prints": "printed more than",
        "exits": "ended its own process",
        "kills": "",
        "forks": "PermissionError",
        "deletes": "PermissionError",
        "writes": "PermissionError",
        "peeks": "PermissionError",
        "calls": "PermissionError",
        "starts": "PermissionError",
        "fills": "OSError",
        "forges": "",
        "patches": "",
        "shouts": "",
        "asks": "ran longer than 8 s",
        "gives_up": "can be read",
    }
    if name != "kills":
        assert state in ("stopped", "not yet")
    assert wanted[name] in words
    if name in ("forges", "patches"):
        assert "touches the checks" in rows[name]["notes 1"]


def test_nothing_outside_the_own_folder_is_touched(marked):
    _, _, victim, folder = marked
    assert [path.name for path in victim.iterdir()] == ["kept"]
    assert (victim / "kept").read_text() == "kept"
    assert len(list(folder.iterdir())) == len(HOSTILE) + 13


def test_summary_counts_and_names(marked):
    _, said, *_ = marked
    assert "Exercise 1: " in said
    assert "Not marked:" in said
    assert "text: not a notebook: it is not JSON" in said


def test_only_what_changed_is_marked_again(small, tmp_path):
    submissions = tmp_path / "in"
    (submissions / "anna").mkdir(parents=True)
    for place in ("anna/07", "bob"):
        (submissions / f"{place}.ipynb").write_text(notebook([MASK + CALL]))
    rows, said = mark(small, submissions, tmp_path / "out")
    assert set(rows) == {"anna/07", "bob"}
    assert said.count("1 of 3 correct") == 2
    (submissions / "bob.ipynb").write_text(notebook([TURNED + CALL]))
    rows, said = mark(small, submissions, tmp_path / "out")
    assert "anna" not in said.split("07-small: ")[1].split("07-small: ")[0] or "bob" in said
    assert rows["anna/07"]["exercise 1"] == "correct"
    assert rows["bob"]["exercise 1"] == "not yet"
    again = time.monotonic()
    _, said = mark(small, submissions, tmp_path / "out")
    assert "running the lecture" not in said
    assert time.monotonic() - again < 120


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", "--lecture", "7"], "nowhere does not exist"),
        ([".", "--lecture", "99"], "lecture 99 is in no folder"),
        ([".", "--lecture", "seven"], "--lecture is a number or a notebook's path"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments, words, tmp_path, capsys, monkeypatch):
    from teaching.marking.command import main

    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert words in capsys.readouterr().err


def test_all_lectures_exercises_are_found():
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        lecture = find.read_lecture(path)
        assert len(lecture.exercises) >= 3
        assert all(one.solution for one in lecture.exercises)
        # a notebook handed in as it was given out is blank, solutions in it or not
        found = find.read_submission(path.read_bytes(), lecture)
        assert {one.state for one in found.values()} == {"blank"}


# functions that are handed in, models, a class: the three ways in which an answer is asked
QUICK = {"05", "08", "12"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.name[:2] in QUICK else pytest.mark.heavy)
        for path in NOTEBOOKS
    ],
)
def test_each_named_mistake_and_blank_has_its_checks_verdict(path, tmp_path, monkeypatch):
    """As `test_exercises` has it, where check and answer share a process; here they do not."""
    # the tests' wrong answers are imported
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    short = smaller(path, tmp_path)
    lecture, submissions = find.read_lecture(short), tmp_path / "in"
    submissions.mkdir()
    names = {one.check: one for one in lecture.exercises}
    module = f"answers_{path.name[:2]}"
    answers = import_module(f"tests.attnlab.exercises.{module}")
    wanted = {}
    for kind, given in (("WRONG", answers.WRONG), ("BLANK", answers.BLANK)):
        for k, (check, _, *words) in enumerate(given):
            one = names[check.__name__]
            code = f"from tests.attnlab.exercises import {module}\n"
            code += f"{one.answer} = {module}.{kind}[{k}][1]"
            submission = submissions / f"{kind}-{k}.ipynb"
            submission.write_text(notebook([lecture.cells[0], code]), encoding="utf-8")
            state = "not yet" if kind == "WRONG" else "blank"
            wanted[submission.stem] = (one.number, state, *words)
    rows, _ = mark(short, submissions, tmp_path / "out")
    found = {}
    for name, (number, state, *words) in wanted.items():
        said = rows[name][f"exercise {number}"], rows[name][f"message {number}"]
        if said[0] != state or not all(one in f"not yet. {said[1]}" for one in words):
            found[name] = said, words
    assert found == {}


def test_cells_of_a_spreadsheet_are_text():
    assert table.safe("=HYPERLINK(1)") == "'=HYPERLINK(1)"
    assert table.safe("anna") == "anna"


def test_two_submissions_of_one_name_are_refused(tmp_path):
    places = [tmp_path / name / "a.ipynb" for name in ("x", "y")]
    for place in places:
        place.parent.mkdir()
        place.write_text("{}")
    with pytest.raises(ValueError, match="a names two submissions"):
        folder.submissions(places)


@pytest.mark.heavy  # two hundred notebooks, each with up to some twenty children
def test_two_hundred_submissions_have_the_right_verdicts(tmp_path, monkeypatch):
    """Right, blank, each named mistake and hostile, against the whole lecture; prints the time."""
    # the tests' wrong answers are functions that import what they need
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    lecture, submissions = find.read_lecture(LECTURE), tmp_path / "in"
    submissions.mkdir()
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").write_text("kept")
    names = {one.check: one for one in lecture.exercises}
    wanted = {}

    def submit(name, number, state, words, *own):
        (submissions / f"{name}.ipynb").write_text(notebook([lecture.cells[0], *own]))
        wanted[name] = (number, state, words)

    for k, (check, _, words) in enumerate(answers_07.WRONG):
        one = names[check.__name__]
        code = "from tests.attnlab.exercises import answers_07\n"
        code += f"{one.answer} = answers_07.WRONG[{k}][1]"
        submit(f"wrong-{k}", one.number, "not yet", words, code)
    for name, code in HOSTILE.items():
        if name != "kills":
            text = code.replace("{victim!r}", repr(str(victim))) + CALL
            submit(f"hostile-{name}", 1, None, "", text)
    for k, one in enumerate(lecture.exercises):
        submit(f"blank-{k}", one.number, "blank", "", one.blank)
    while len(wanted) < 200:
        submit(f"right-{len(wanted)}", 1, "correct", "Masks of one shape", MASK + CALL)
    began = time.monotonic()
    rows, _ = mark(LECTURE, submissions, tmp_path / "out", "--seconds", "60", timeout=7200)
    each = (time.monotonic() - began) / len(wanted)
    print(f"{len(wanted)} submissions, {each:.2f} s each")
    found = {}
    for name, (number, state, words) in wanted.items():
        said = rows[name][f"exercise {number}"], rows[name][f"message {number}"]
        good = said[0] == state if state else said[0] in ("stopped", "not yet")
        if not (good and words in said[1]):
            found[name] = said
    assert found == {}
    assert [path.name for path in victim.iterdir()] == ["kept"]


def test_this_system_shuts_code_in():
    assert isinstance(sandbox.missing(), list)
