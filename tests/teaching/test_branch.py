"""The branch `kit` grows: a student who pulled one release gets the next one, and keeps the work.

By day git alone pulls, by the steps of nbgitpuller; `make heavy` pulls by nbgitpuller itself.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from tests.book.lectures import ROOT
from tests.patience import PROCESS

SCRIPT = ROOT / "teaching" / "kit" / "branch.py"
BLANK, ANSWER = "def weights(scores):\n    ...", "def weights(scores):\n    return scores / 2"
WHO = ["-c", "user.name=student", "-c", "user.email=student@localhost"]


def run(folder: Path, *words: object) -> str:
    words = tuple(map(str, words))
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=PROCESS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def git(folder: Path, *words: object) -> str:
    return run(folder, "git", *WHO, *words)


class Course:
    """An instructor's clone with a kit in it, its remote, and the folder of a student."""

    def __init__(self, home: Path) -> None:
        self.remote, self.clone, self.student = home / "remote", home / "clone", home / "student"
        self.kit = self.clone / "_build" / "kit"
        git(home, "init", "-q", "--bare", self.remote)
        git(home, "clone", "-q", self.remote, self.clone)
        git(self.clone, "commit", "-qm", "The book", "--allow-empty")

    def lecture(self, name: str, *cells: str) -> None:
        """Write a student copy into the kit: an exercise between two texts, as Jupyter saves it."""
        path = self.kit / "students" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        made = [v4.new_code_cell(cells[1], id="exercise")]
        made.insert(0, v4.new_markdown_cell(cells[0], id="before"))
        made.append(v4.new_markdown_cell(cells[2], id="after"))
        nbformat.write(v4.new_notebook(cells=made), path)

    def release(self, *more: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, SCRIPT, self.kit, *map(str, more)]
        return subprocess.run(
            command, cwd=self.clone, capture_output=True, text=True, timeout=PROCESS, check=False
        )

    def released(self, *more: object) -> str:
        done = self.release(*more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def seen(self, name: str) -> list[str]:
        path = self.student / "students" / f"{name}.ipynb"
        return [cell.source for cell in nbformat.read(path, as_version=4).cells]

    def solve(self, name: str) -> None:
        path = self.student / "students" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[1].source = ANSWER
        notebook.cells[1].outputs = [v4.new_output("stream", text="Exercise 1: correct.\n")]
        nbformat.write(notebook, path)

    def history(self) -> list[str]:
        return git(self.remote, "log", "--format=%s", "kit").splitlines()

    def holds(self) -> list[str]:
        return git(self.remote, "ls-tree", "-r", "--name-only", "kit").splitlines()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = Course(tmp_path)
    made.lecture("01-one", "# One\n\nRead this.", BLANK, "The end.")
    return made


def by_git(course: Course) -> None:
    """What nbgitpuller does, by its own steps."""
    if not course.student.exists():
        source = course.remote.as_uri()
        git(course.kit, "clone", "-q", "--depth", 1, "--branch", "kit", source, course.student)
        return
    git(course.student, "fetch", "-q")
    git(course.student, "commit", "-qam", "Automatic commit", "--allow-empty")
    git(course.student, "merge", "-q", "-Xours", "origin/kit")


def by_nbgitpuller(course: Course) -> None:
    path = os.pathsep.join([str(ROOT / ".venv-grading" / "bin"), os.environ["PATH"]])
    program = shutil.which("gitpuller", path=path)
    if not program:
        pytest.skip("there is no nbgitpuller in .venv-grading; `make heavy` installs it")
    run(course.kit, program, course.remote.as_uri(), "kit", course.student)


@pytest.mark.parametrize("pull", [by_git, pytest.param(by_nbgitpuller, marks=pytest.mark.heavy)])
def test_the_second_release_reaches_a_student_who_has_worked(
    course: Course, pull: Callable[[Course], None]
) -> None:
    course.lecture("02-two", "# Two", BLANK, "The end.")
    course.released()
    pull(course)
    assert course.seen("01-one") == ["# One\n\nRead this.", BLANK, "The end."]
    course.solve("01-one")
    course.solve("02-two")
    course.lecture("01-one", "# One\n\nRead this.", BLANK, "The end, told better.")
    course.lecture("02-two", "# Two", BLANK.replace("...", "pass"), "The end.")
    course.lecture("03-three", "# Three", BLANK, "The end.")
    course.released()
    pull(course)
    assert course.seen("01-one") == ["# One\n\nRead this.", ANSWER, "The end, told better."]
    assert course.seen("02-two")[1] == ANSWER, "where both changed a line, the student's stays"
    assert course.seen("03-three") == ["# Three", BLANK, "The end."]


def test_the_branch_grows_by_what_changed_and_nothing_else_is_touched(course) -> None:
    (course.clone / "mine.txt").write_text("not committed")
    git(course.clone, "add", "mine.txt")
    before = git(course.clone, "status", "--porcelain", "--branch")
    assert "1 notebooks in commit" in course.released("--message", "One")
    assert "holds these already" in course.released("--message", "The same")
    git(course.clone, "fetch", "-q", "origin", "kit")
    git(course.clone, "switch", "-q", "--detach", "FETCH_HEAD")
    (course.clone / "README.md").write_text("of the branch")
    git(course.clone, "add", "README.md")
    git(course.clone, "commit", "-qm", "Read me", "--", "README.md")
    git(course.clone, "push", "-q", "origin", "HEAD:kit")
    git(course.clone, "switch", "-q", "-")
    course.lecture("02-two", "# Two", BLANK, "The end.")
    (course.kit / "students" / "01-one.ipynb").unlink()
    (course.kit / "slides.html").write_text("of the kit, not of the branch")
    course.released("--message", "Two", "--to", course.remote)
    assert course.history() == ["Two", "Read me", "One"]
    assert course.holds() == ["README.md", "students/02-two.ipynb"]
    assert git(course.clone, "status", "--porcelain", "--branch") == before


# git, but somebody else's commit comes between fetch and push, as often as told
MEANWHILE = """#!/bin/sh
case "$*" in *commit-tree*)
  echo x >> '{0}/times'
  if [ $(wc -l < '{0}/times') -le {1} ]; then
    theirs=$('{2}' --git-dir '{0}' {3} commit-tree -p kit -m Theirs 'kit^{{tree}}')
    '{2}' --git-dir '{0}' update-ref refs/heads/kit "$theirs"
  fi
esac
exec '{2}' "$@"
"""


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for git")
@pytest.mark.parametrize(("times", "code"), [(1, 0), (2, 1)])
def test_where_the_branch_moves_meanwhile_it_tries_once_more_and_never_forces(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, code: int
) -> None:
    course.released("--message", "One")
    course.lecture("02-two", "# Two", BLANK, "The end.")
    stand_in = tmp_path / "bin" / "git"
    stand_in.parent.mkdir()
    real = shutil.which("git")
    stand_in.write_text(MEANWHILE.format(course.remote, times, real, " ".join(WHO)))
    stand_in.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
        done = course.release("--message", "Two")
    assert done.returncode == code
    assert course.history() == [*["Two"] * (not code), *["Theirs"] * times, "One"]
    assert ("git refused, and the branch kit is as it was" in done.stderr) == bool(code)


def test_what_cannot_be_published_is_refused_in_a_sentence(course: Course) -> None:
    done = course.release("--to", "nowhere")
    assert done.returncode == 1
    assert "git refused" in done.stderr
    assert "nowhere" in done.stderr
    course.lecture("02-two", "git+https://github.com/OWNER/book@main", BLANK, "The end.")
    said = course.release().stderr
    assert "02-two.ipynb leads to OWNER, which is nobody; run `make address AT=https://" in said
    shutil.rmtree(course.kit / "students")
    assert "run `make kit` first" in course.release().stderr
    assert not git(course.remote, "branch", "--list", "kit")
