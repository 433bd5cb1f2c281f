"""What passed as it is runs no second time, and what hangs on anything that changed does."""

import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests import passed
from tests.book.lectures import ROOT

# a book of two lectures: its root is where this file lies
CONFTEST = """
from pathlib import Path
from tests import passed
passed.ROOT = Path(__file__).parent
passed.KEPT = passed.ROOT / "_build" / "passed"
pytest_plugins = ["tests.nbval.rules"]
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    for folder in ("notebooks/assets", "src", "tests/nbval"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml", "tests/patience.py", "src/one.py"):
        (tmp_path / name).touch()
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name, printed in (("01-right", "2\n"), ("02-wrong", "3\n")):
        output = new_output("stream", name="stdout", text=printed)
        cell = new_code_cell("print(1 + 1)", execution_count=1, outputs=[output])
        write(new_notebook(cells=[cell]), tmp_path / "notebooks" / f"{name}.ipynb")
    return tmp_path


# a file of the lab's tests that reads a lecture, and tells so or does not
READS = """
from pathlib import Path
{told}
def test_it(): assert Path("notebooks/01-right.ipynb").read_text()
"""


def run(book: Path, **env: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "notebooks"]
    command += [
        "tests",
        "-p",
        "tests.again",
        "-q",
        "-n",
        "1",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
    ]
    ours = {passed.EVERY, "PYTEST_ADDOPTS"}  # of the run that this test is part of
    kept = {name: value for name, value in passed.os.environ.items() if name not in ours}
    env = {**kept, "PYTHONPATH": str(ROOT), **env}
    done = subprocess.run(command, cwd=book, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_lecture_that_passed_runs_again_when_something_under_it_changed(book: Path) -> None:
    assert "1 failed, 1 passed" in run(book)[1]
    (book / "notebooks" / "02-wrong.ipynb").unlink()
    rc, said = run(book)
    assert rc == 0  # nothing is left to run, which is no failure
    assert "as they passed as they are: 01" in said
    (book / "src" / "one.py").write_text("a = 1")
    assert "1 passed" in run(book)[1]


def test_a_file_of_tests_that_reads_what_it_does_not_hang_on_fails(book: Path) -> None:
    (book / "notebooks" / "02-wrong.ipynb").unlink()
    file = book / "tests" / "attnlab" / "test_one.py"
    file.parent.mkdir()
    file.write_text(READS.format(told=""))
    assert "test_one.py reads notebooks/01-right.ipynb and does not say so" in run(book)[1]
    file.write_text(READS.format(told='HANGS_ON = ("notebooks",)'))
    assert run(book)[0] == 0
    assert "as they passed as they are: 01-right, test_one" in run(book)[1]
    (book / "notebooks" / "more.txt").touch()  # of the file's places, not of the lecture's
    assert "1 passed" in run(book)[1]


def test_a_key_hangs_on_every_file_and_on_the_processor(book: Path, monkeypatch) -> None:
    monkeypatch.setattr(passed, "ROOT", book)
    monkeypatch.setattr(passed, "KEPT", book / "kept")
    monkeypatch.delenv(passed.EVERY, raising=False)
    first = passed.key("src")
    assert not passed.before("all", first)
    passed.keep("all", first)
    assert passed.before("all", passed.key("src"))
    (book / "kept" / "all").write_bytes(b"\xff")
    assert not passed.before("all", first)  # unreadable: run
    passed.keep("all", first)
    monkeypatch.setenv(passed.EVERY, "1")
    assert not passed.before("all", first)
    monkeypatch.delenv(passed.EVERY)
    (book / "requirements.txt").write_text("torch==1")
    assert not passed.before("all", passed.key("src"))
    (book / "requirements.txt").write_text("")
    monkeypatch.setattr(passed, "installed", lambda: "torch 3")
    assert passed.key("src") != first
    monkeypatch.undo()
    monkeypatch.setattr(passed, "ROOT", book)
    assert passed.key("src") == first
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    assert passed.key("src") != first
