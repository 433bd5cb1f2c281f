"""Assignments: what is handed out is blank; a grader gives right answers all marks, others none.

Each lecture is marked by the real nbgrader and the real Otter in `make test-all`.
"""

import csv
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

import tasks
from attnlab.exercises import Blank
from teaching.kit import __main__ as command
from teaching.kit import assignment, grades, lectures, nbgrader, otter
from teaching.kit.needed import needed_cells
from tests.book.lectures import LECTURES, ROOT, code, read
from tests.patience import PROCESS

NAMES = [path.stem for path in LECTURES]
QUICK = "14-longer-contexts"
each = pytest.mark.parametrize("name", NAMES)
SOLVED = re.compile(rf"{nbgrader.BEGIN}.*?{nbgrader.END}", re.S)
# what becomes of a right answer: nothing in its place, and something near it
SPOILED = {
    "empty": "{0} = 0",
    "near": """
def _near(value):
    match value:
        case bool() | str():
            return value != True
        case dict():
            return {{name: _near(one) for name, one in value.items()}}
        case set() | frozenset():
            return set()
        case tuple() | list():
            return type(value)(map(_near, value))
        case torch.Tensor() if value.dtype == torch.bool:
            return ~value
        case type():
            return torch.nn.Identity
        case _ if callable(value):
            return lambda *given: _near(value(*given))
    return -1.5 * value - 1.5  # not +: scores that only grow choose as before


{0} = _near({0})""",
}


@cache
def made(name: str) -> assignment.Assignment:
    (lecture,) = lectures.lectures([name])
    return assignment.assignment(lecture, lectures.home())


@each
def test_a_course_s_cells_say_who_may_fill_them_and_what_they_earn(name):
    one, notebook = made(name), nbgrader.source(made(name))
    nbformat.validate(notebook)
    data = {cell.id: cell.metadata.nbgrader for cell in notebook.cells}
    assert [d["grade_id"] for d in data.values()] == list(data)
    tested = {key: d for key, d in data.items() if d["grade"] and d["locked"]}
    assert list(tested) == [f"exercise-{e.number}" for e in one.exercises.values()]
    assert {key for key, d in data.items() if d["solution"]} == {*one.exercises, "written"}
    assert all(d["locked"] != d["solution"] for d in data.values())
    assert sum(d.get("points", 0) for d in data.values()) == len(tested) + assignment.WRITTEN
    in_form = (ROOT / "book" / "evidence" / f"{name}.md").exists()
    assert len(tested) >= (1 if in_form else 3)
    for cell in code(notebook):
        if cell.id in one.exercises:  # cut as nbgrader cuts it
            assert SOLVED.sub("", cell.source) == one.exercises[cell.id].blank


@each
def test_no_solution_and_no_rubric_is_handed_out(name):
    one = made(name)
    notebook = nbgrader.source(one)
    released = [SOLVED.sub("", cell.source) for cell in notebook.cells]
    handed = [cell.source for cell in otter.handed_out(one).cells]
    public = "\n".join(cell.source for cell in one.cells)
    secret = {line.strip() for e in one.exercises.values() for line in e.solution.splitlines()}
    secret |= set(one.written.rubric.values())
    secret = {line for line in secret if line not in public}
    assert len(secret) > len(one.exercises)
    for text in ("\n".join(released), "\n".join(handed)):
        assert one.written.question in text
        assert not [line for line in secret if line in text]
        assert {fold[:5] for fold in re.findall(r"<summary>(.*?)</summary>", text)} == {"Hint "}


def test_an_assignment_passes_with_its_solutions_and_raises_while_it_is_blank(capsys):
    one = made(QUICK)
    names = {"__name__": "__main__"}
    for cell in one.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
        if exercise := one.exercises.get(cell.id):
            with pytest.raises(Blank, match="still blank"):
                exec(one.test(exercise), names)
            names["check"] = None  # a test looks its check up anew
            exec(f"{exercise.solution}\n{one.test(exercise)}", names)
    assert capsys.readouterr().out.count("still blank") == len(one.exercises)


def test_only_the_exercises_that_were_chosen_earn_points(tmp_path):
    assert command.main(["--for", "nbgrader", "--to", str(tmp_path), "14:2,3"]) == 0
    cells = read(tmp_path / "source" / QUICK / f"{QUICK}.ipynb").cells
    graded = [cell.id for cell in cells if cell.metadata.nbgrader.grade]
    assert graded == ["exercise-2", "exercise-3", "written"]


def test_the_best_marks_are_summed_and_what_lacks_counts_nothing(capsys, tmp_path):
    marks = {
        "b": {"05 exercise-1": 1.0, "05 written": 2.0, "06 exercise-1": 0.0, "06 written": 1.0},
        "a": {"05 exercise-1": 0.0, "05 written": 0.0, "06 exercise-1": 0.0, "06 written": 0.0},
    }
    head, first, last = grades.table(marks, 1, 1)
    assert head == ["student", "exercises", "written", *marks["b"]]
    assert first == ["a", 0, 0, 0, 0, 0, 0]
    assert last == ["b", 1, 2, 1, 2, 0, 1]
    assert grades.table(marks, None, None)[2][:3] == ["b", 1, 3]
    assert grades.main([str(tmp_path)]) == 1
    assert "gradebook.db is not there; wanted a course" in capsys.readouterr().err


def test_of_earlier_cells_those_are_kept_that_bind_what_is_used():
    cells = ["a = 1\nb = 2", "def f():\n    return a", "c = 3\nprint(c)", "b = f()", "f = None"]
    assert needed_cells(cells, ["b + 1"]) == [0, 1, 3]
    assert needed_cells(cells, ["b = 0\nb"]) == []
    assert needed_cells(cells, ["def g():\n    return c"]) == [2]


def test_a_course_s_own_roster_and_settings_stay(tmp_path):
    assert command.main(["--for", "nbgrader", "--to", str(tmp_path), "14"]) == 0
    (tmp_path / "roster.csv").write_text("mine")
    (tmp_path / "gradebook.db").write_text("marks")
    target = tmp_path / "source" / QUICK / f"{QUICK}.ipynb"
    before = target.read_bytes()
    target.write_text("old")
    assert command.main(["--for", "nbgrader", "--to", str(tmp_path), "14"]) == 0
    assert target.read_bytes() == before
    assert (tmp_path / "roster.csv").read_text() == "mine"
    assert (tmp_path / "gradebook.db").read_text() == "marks"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "nbgrader", "99"], "there is no lecture '99'"),
        (["--for", "nbgrader", "14:1"], "no check for exercise 1, only 2, 3"),
        (["--for", "nbgrader", "14:2-3"], "wanted a lecture and numbers, such as 5:1,2"),
        (["--for", "nbgrader", "--at", "https://github.com/a/b/tree/main"], "give one of them"),
        (["--for", "otter", "14"], "`make kit FOR=otter` installs it"),
    ],
)
def test_what_cannot_be_made_is_said_and_nothing_is_written(
    words, said, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "otter.generate", None)
    assert command.main([*words, "--to", str(tmp_path / "new")]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_lecture_whose_page_asks_no_written_question_is_named(tmp_path):
    (lecture,) = lectures.lectures([QUICK])
    (tmp_path / f"{QUICK}.md").write_text("## The story\n\nA story.\n")
    with pytest.raises(lectures.KitError, match=f"{QUICK}.md: there is no part"):
        assignment.assignment(lecture, lectures.home(), pages=tmp_path)


# ---- by the real graders -----------------------------------------------------------------------


@pytest.fixture(scope="session")
def grading() -> Path:
    return tasks.grading()


def submissions(name: str, blank: nbformat.NotebookNode) -> dict[str, str]:
    """A blank notebook filled in: right, not at all, and wrong in two ways."""
    found = {"blank": nbformat.writes(blank)}
    for kind, spoil in {"right": "", **SPOILED}.items():
        for cell in blank.cells:
            if exercise := made(name).exercises.get(cell.id):
                head, call = exercise.blank.rsplit("\n", 1)
                spoiled = spoil.format(exercise.answer)
                cell.source = f"{head}\n\n{exercise.solution}\n\n{spoiled}\n\n{call}"
        found[kind] = nbformat.writes(blank)
    return found


def ask(python: Path, *words: object, where: Path) -> str:
    """Run a command of the graders' environment, with the sources that are tested."""
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    first = os.pathsep.join((str(python.parent), os.environ["PATH"]))  # nbgrader calls alembic
    given = [str(python.with_name(str(words[0]))), *map(str, words[1:])]
    done = subprocess.run(
        given, cwd=where, env={**os.environ, **tasks.QUIET, "PATH": first, "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=PROCESS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.heavy
@each
def test_nbgrader_marks_right_blank_and_wrong_and_returns_feedback(name, grading, tmp_path):
    nbgrader.write(tmp_path, [made(name)])
    kinds = ("right", "blank", *SPOILED)
    rows = [f"{kind},{kind.title()},Student,{kind}@example.org" for kind in kinds]
    (tmp_path / "roster.csv").write_text(nbgrader.ROSTER + "\n".join(rows) + "\n")
    ask(grading, "nbgrader", "db", "student", "import", "roster.csv", where=tmp_path)
    ask(grading, "nbgrader", "generate_assignment", name, where=tmp_path)
    released = read(tmp_path / "release" / name / f"{name}.ipynb")
    for kind, text in submissions(name, released).items():
        target = tmp_path / "submitted" / kind / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_text(text, encoding="utf-8")
    ask(grading, "nbgrader", "autograde", name, where=tmp_path)
    ask(grading, "nbgrader", "generate_feedback", name, where=tmp_path)
    ask(grading, "nbgrader", "export", where=tmp_path)
    with (tmp_path / "grades.csv").open(encoding="utf-8") as file:
        marks = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert marks == {"right": len(made(name).exercises), "blank": 0, "empty": 0, "near": 0}
    pages = {path.parts[-3] for path in (tmp_path / "feedback").glob("*/*/*.html")}
    assert pages == set(kinds)


@pytest.mark.heavy
@each
def test_otter_marks_right_blank_and_wrong(name, grading, tmp_path):
    words = ["-m", "teaching.kit", "--for", "otter", "--to", str(tmp_path), name]
    ask(grading, "python", *words, where=ROOT)
    place = tmp_path / name
    expected = {"right": 1.0, "blank": 0.0, "empty": 0.0, "near": 0.0}
    for kind, text in submissions(name, read(place / f"{name}.ipynb")).items():
        (place / kind).mkdir()
        (place / f"{kind}.ipynb").write_text(text, encoding="utf-8")
        ask(grading, "otter", "run", "-a", "autograder.zip", "-o", kind, f"{kind}.ipynb",
            where=place)  # fmt: skip
        results = json.loads((place / kind / "results.json").read_text(encoding="utf-8"))
        scores = {t["name"]: t["score"] for t in results["tests"] if "score" in t}
        asked = [f"exercise {e.number}" for e in made(name).exercises.values()]
        assert scores == dict.fromkeys(asked, expected[kind])


HANDED = """rm -rf downloaded/05-self-attention/archive ada_*.ipynb
    mkdir -p downloaded/05-self-attention/archive
    cp {0}/05-self-attention/05-self-attention.ipynb "ada_05-self-attention{1}.ipynb"
    python -m zipfile -c downloaded/05-self-attention/archive/all.zip ada_*.ipynb"""
# what an instructor does by hand before a command of the page: blank at first, and late the rest
BY_HAND = {
    "nbgrader db student import": "printf 'ada,Ada,L,ada@example.org\\n' >> roster.csv",
    "nbgrader zip_collect": HANDED.format("release", ""),
    "rm -r downloaded": HANDED.format("source", "-1"),
}
MAKE = """make() {
    local to=course
    [ "$2" = FOR=otter ] && to=assignments
    (cd "$BOOK"; python tasks.py "$1" --for "${2#FOR=}" --to "$TOP/$to" ${3#LECTURES=})
}"""


@pytest.mark.heavy
def test_every_command_of_the_page_runs_from_the_roster_to_the_gradebook(grading, tmp_path):
    text = (ROOT / "book" / "teaching" / "marking.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    assert len(blocks) >= 9
    (tmp_path / ".venv-grading").symlink_to(grading.parents[1])
    script = ["set -e", MAKE]
    for block in blocks:
        script += ['cd "$TOP"'] if block.startswith("cd ") else []
        script += [done for words, done in BY_HAND.items() if block.startswith(words)]
        script.append(block)
    assert sum(done in script for done in BY_HAND.values()) == len(BY_HAND)
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    env = {**os.environ, **tasks.QUIET, "PYTHONPATH": paths, "TOP": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=tmp_path, env={**env, "BOOK": str(ROOT)},
        capture_output=True, text=True, timeout=PROCESS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    with (tmp_path / "course" / "marks.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row == {
        "student": "ada", "exercises": "2.0", "written": "0.0",
        "05 exercise-2": "1.0", "05 exercise-3": "1.0", "05 written": "0.0",
    }  # fmt: skip
    assert list((tmp_path / "course" / "feedback" / "ada").rglob("*.html"))
    found = tmp_path / "assignments" / "05-self-attention" / "found" / "results.json"
    assert {one.get("score", 0) for one in json.loads(found.read_text())["tests"]} == {0}
