"""What the book's own tools do with bad input: they stop, say what is wrong, and break nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.book.lectures import ROOT, code, load, read

HEAD = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A small lecture
"""
GOOD = """
```{code-cell} ipython3
print("three words")
```

```{code-cell} ipython3
from attnbook.pictures.figures import heatmap
heatmap([[0.75, 0.25], [0.5, 0.5]], ["had", "nuts"], title="Weights")
```

```{code-cell} ipython3
from attnbook.widgets import AttentionHeatmap
AttentionHeatmap([[1, 2], [2, 0]], tokens=["had", "nuts"])
```

```{code-cell} ipython3
:tags: [nbval-ignore-output]

import time
print(time.perf_counter_ns(), "ns")
```
"""


def with_cell(source: str) -> str:
    """The text of a lecture whose second code cell is `source`."""
    return (
        f"{HEAD}\n```{{code-cell}} ipython3\n1\n```\n\n```{{code-cell}} ipython3\n{source}\n```\n"
    )


class Desk:
    """`book/tools/notebooks.py` at work on one made-up lecture, in a folder of its own."""

    def __init__(self, tool: ModuleType, run: Callable[..., int], folder: Path) -> None:
        self.tool, self.run = tool, run
        self.lecture = folder / "lectures" / "99-small.md"
        self.notebook = folder / "notebooks" / "99-small.ipynb"
        for path in (self.lecture, self.notebook):
            path.parent.mkdir(parents=True)

    def write(self, text: str) -> None:
        self.lecture.write_text(text, encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    tool = load(ROOT / "book" / "tools" / "notebooks.py")

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["notebooks.py", *arguments])
        return tool.main()

    desk = Desk(tool, run, tmp_path)
    monkeypatch.setattr(tool, "LECTURES", desk.lecture.parent)
    monkeypatch.setattr(tool, "NOTEBOOKS", desk.notebook.parent)
    monkeypatch.setattr(tool, "SEEN", tmp_path / "_build" / "notebooks.json")
    return desk


BAD_CELLS = {
    "raises": ("1 / 0", ["code cell 2", "`1 / 0`", "ZeroDivisionError: division by zero"]),
    "does not parse": ("for", ["code cell 2", "`for`", "SyntaxError"]),
    "writes to stderr": (
        "import warnings\nwarnings.warn('this is old')",
        ["code cell 2", "writes to stderr", "this is old"],
    ),
    "kills the kernel": (
        "import os\nos._exit(1)",
        ["code cell", "`import os`", "the kernel died"],
    ),
    "runs for too long": (
        "import time\ntime.sleep(60)",
        ["code cell", "`import time`", "ran past 2 s"],
    ),
}


@pytest.mark.parametrize(("source", "said"), BAD_CELLS.values(), ids=BAD_CELLS)
def test_a_cell_that_fails_is_named_and_the_old_notebook_stays(
    desk: Desk,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    said: list[str],
) -> None:
    desk.notebook.write_bytes(b"the old notebook, byte for byte\r\n")
    desk.write(with_cell(source))
    if "sleep" in source:
        monkeypatch.setattr(desk.tool, "CELL_SECONDS", 2)
    assert desk.run() == 1
    message = capsys.readouterr().err
    missing = [words for words in ["99-small", "left in place", *said] if words not in message]
    assert not missing, f"{missing} not in: {message}"
    assert desk.notebook.read_bytes() == b"the old notebook, byte for byte\r\n"
    assert list(desk.notebook.parent.iterdir()) == [desk.notebook]
    assert not desk.tool.SEEN.exists(), "a lecture that failed counts as done"


def test_a_lecture_that_does_not_exist_is_named(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.write(HEAD + GOOD)
    with pytest.raises(SystemExit) as stopped:
        desk.run("98-missing")
    assert stopped.value.code == 2
    assert "no lecture named 98-missing" in capsys.readouterr().err
    assert not desk.notebook.exists()


def test_an_unchanged_lecture_is_not_run_again_and_a_forced_run_gives_the_same_bytes(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.write(HEAD + GOOD)
    assert desk.run() == 0
    assert "1 executed, 0 skipped" in capsys.readouterr().out
    first = desk.notebook.read_bytes()
    kinds = [o.get("data", {}).keys() for c in code(read(desk.notebook)) for o in c.outputs]
    assert [("image/png" in kind, "text/html" in kind) for kind in kinds] == [
        (False, False),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert desk.run() == 0
    assert "0 executed, 1 skipped" in capsys.readouterr().out
    assert desk.run("--all") == 0
    assert "99-small: unchanged" in capsys.readouterr().out
    assert desk.notebook.read_bytes() == first


def test_a_changed_lecture_is_run_again_with_its_timing(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.write(HEAD + GOOD)
    desk.run()
    timing = code(read(desk.notebook))[-1].outputs
    desk.write(HEAD + GOOD.replace("three words", "four words now"))
    assert desk.run() == 0
    assert "99-small: written" in capsys.readouterr().out
    cells = code(read(desk.notebook))
    assert cells[0].outputs[0].text == "four words now\n"
    assert cells[-1].outputs != timing, "a timing from before the change was kept"


def test_an_unknown_task_is_refused_with_the_list_of_tasks() -> None:
    command = [sys.executable, "tasks.py", "bok"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no task named 'bok'" in done.stderr
    assert {"book", "test", "notebooks"} <= {line.split()[0] for line in done.stdout.split("\n  ")}


BAD_PAGES = {
    "a link to no page": "[the next lecture](06-missing.md)",
    "a citation of nobody": "{cite}`nobody1999`",
    "a picture that is not there": "![Nothing](missing.png)",
    "a directive that does not exist": "```{no-such-directive}\nCompute.\n```",
}


@pytest.fixture
def small_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Callable]:
    """The book's configuration with one page: that page, and the task that builds the book."""
    for name in ("_config.yml", "book/references.bib"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("book/extensions", "book/assets"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    tasks = load(ROOT / "tasks.py")
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.setattr(tasks, "BIN", Path(sys.executable).parent)
    return tmp_path / "index.md", tasks.build


def test_a_page_with_nothing_wrong_is_built(small_book: tuple[Path, Callable]) -> None:
    page, build = small_book
    page.write_text("# A page\n\nNothing is wrong here.\n", encoding="utf-8")
    build()
    assert (page.parent / "_build" / "html" / "index.html").exists()


@pytest.mark.parametrize("fault", BAD_PAGES.values(), ids=BAD_PAGES)
def test_a_warning_fails_the_build_and_names_the_page(
    small_book: tuple[Path, Callable], capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    page, build = small_book
    page.write_text(f"# A page\n\n{fault}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        build()
    assert "failed with exit code" in str(stopped.value.code)
    captured = capfd.readouterr()
    assert "index.md:3" in captured.err + captured.out
