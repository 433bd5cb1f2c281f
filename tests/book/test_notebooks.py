"""Lectures become notebooks: what executes one, what does not, and what a cell that fails does."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from nbformat import v4

from tests.book.lectures import ROOT, code, load, read

HANGS_ON = ("src", "book/tools", "book/lectures/08-multi-head-attention.md", "notebooks/assets")
HANGS_ON += ("notebooks/08-multi-head-attention.ipynb", "book/status.json")
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
from attnlab.pictures.figures import heatmap
heatmap([[0.75, 0.25], [0.5, 0.5]], ["had", "nuts"], title="Weights")
```

```{code-cell} ipython3
from attnlab.widgets import AttentionHeatmap
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
    monkeypatch.setattr(tool, "EVIDENCE", tmp_path / "evidence")
    return desk


weekly = pytest.mark.heavy  # each starts kernels; by day one of each kind does
BAD_CELLS = [
    ("1 / 0", ["code cell 2", "`1 / 0`", "ZeroDivisionError: division by zero"]),
    pytest.param(
        "import warnings\nwarnings.warn('this is old')",
        ["code cell 2", "writes to stderr", "this is old"],
        marks=weekly,
    ),
    pytest.param(
        "import os\nos._exit(1)", ["code cell", "`import os`", "the kernel died"], marks=weekly
    ),
    pytest.param(
        "import time\ntime.sleep(60)", ["code cell", "`import time`", "ran past 2 s"], marks=weekly
    ),
]


@pytest.mark.parametrize(("source", "said"), BAD_CELLS)
def test_a_cell_that_fails_is_named_and_the_old_notebook_stays(
    desk: Desk, capsys, monkeypatch, source: str, said: list[str]
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


def test_what_a_machine_says_of_its_lack_of_a_gpu_is_no_fault_of_a_cell(desk: Desk) -> None:
    said = "W1129 torch/utils/cpp_extension.py:183] No CUDA runtime is found, using CUDA_HOME"
    outputs = [v4.new_output("stream", name=name, text=said) for name in ("stderr", "stdout")]
    notebook = v4.new_notebook(cells=[v4.new_code_cell("1", outputs=outputs)])
    desk.tool.normalise(notebook, "small")
    assert [one.name for one in notebook.cells[0].outputs] == ["stdout"]


def test_a_lecture_that_does_not_exist_is_named(desk, capsys) -> None:
    desk.write(HEAD + GOOD)
    with pytest.raises(SystemExit) as stopped:
        desk.run("98-missing")
    assert stopped.value.code == 2
    assert "no lecture named 98-missing" in capsys.readouterr().err
    assert not desk.notebook.exists()


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The good lecture's notebook, executed once."""
    folder = tmp_path_factory.mktemp("executed")
    lecture, notebook = folder / "99-small.md", folder / "99-small.ipynb"
    lecture.write_text(HEAD + GOOD, encoding="utf-8")
    tool = load(ROOT / "book" / "tools" / "notebooks.py")
    assert tool.make(lecture, notebook) == (True, True)
    return notebook.read_bytes()


@pytest.fixture
def made(desk: Desk, executed: bytes) -> Desk:
    """The desk after the good lecture was executed."""
    desk.write(HEAD + GOOD)
    desk.notebook.write_bytes(executed)
    return desk


def test_an_unchanged_lecture_is_not_run_again_and_a_forced_run_gives_the_same_bytes(
    made: Desk, capsys
) -> None:
    first = made.notebook.read_bytes()
    kinds = [o.get("data", {}).keys() for c in code(read(made.notebook)) for o in c.outputs]
    assert [("image/png" in kind, "text/html" in kind) for kind in kinds] == [
        (False, False),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert made.run() == 0
    assert "1 read, 0 executed, 0 written" in capsys.readouterr().out
    assert made.run("--force", "99-small") == 0
    said = capsys.readouterr().out
    assert "executing (--force)" in said
    assert "1 read, 1 executed, 0 written" in said
    assert made.notebook.read_bytes() == first


def test_changed_prose_is_written_and_every_output_stays(made, capsys, monkeypatch) -> None:
    before = read(made.notebook)
    made.write(HEAD + "A comma, and a sentence.\n" + GOOD + "\nThe end.\n")
    monkeypatch.delattr(made.tool, "execute")
    assert made.run() == 0
    assert "1 read, 0 executed, 1 written" in capsys.readouterr().out
    after = read(made.notebook)
    assert "A comma, and" in after.cells[0].source
    assert after.cells[-1].source == "The end."
    assert code(after) == code(before)


FIRST, LAST = GOOD.index("```{code-cell} ipython3\nfrom"), GOOD.index("```{code-cell} ipython3\n:")
TAGS, MORE = ":tags: [nbval-ignore-output]", "\n1\n```\n\n```{code-cell}\nimport time"
CHANGES = [
    ("three words", "four words now", 'code cell 1 (`print("four'),
    ("\nimport time", MORE, "cell 4 (`1`)"),
    (GOOD[:FIRST], "\n", "cell 1"),
    (GOOD[LAST:], "", "are 3"),
    (TAGS, ":tags: [hide-input]", "tags of code cell 4"),
    (TAGS, ":tags: [nbval-ignore-output, x]", "tags of code cell 4"),
]


@pytest.mark.parametrize(("old", "new", "said"), CHANGES)
def test_changed_code_or_tags_are_a_reason_to_execute_and_are_named(
    made: Desk, capsys, monkeypatch, old: str, new: str, said: str
) -> None:
    ran = []
    monkeypatch.setattr(made.tool, "execute", lambda notebook, name, *where: ran.append(name))
    monkeypatch.setattr(made.tool, "normalise", lambda notebook, name: None)
    made.write(HEAD + GOOD.replace(old, new))
    assert made.run() == 0
    assert ran == ["99-small"]
    assert said in capsys.readouterr().out


@weekly
def test_a_changed_lecture_is_run_again_with_its_timing(made: Desk) -> None:
    timing = code(read(made.notebook))[-1].outputs
    made.write(HEAD + GOOD.replace("three words", "four words now"))
    assert made.run() == 0
    cells = code(read(made.notebook))
    assert cells[0].outputs[0].text == "four words now\n"
    assert cells[-1].outputs != timing, "a timing from before the change was kept"


# eight numbers that roll into a hollow each, or are thrown from one to the other
TRAINS = """
```{code-cell} ipython3
import torch
x = torch.nn.Parameter(torch.linspace(0.1, 0.9, 8))
optimiser = torch.optim.SGD([x], lr=%s)
for _ in range(200):
    optimiser.zero_grad()
    loss = (x.square() - 1).square().sum()
    loss.backward()
    optimiser.step()
print("trained")
```

```{code-cell} ipython3
%s
```
"""


def test_a_training_that_forgets_rounding_is_stored(desk: Desk) -> None:
    desk.write(HEAD + TRAINS % (0.05, 'print(f"{x.mean():.2f}")'))
    assert desk.run() == 0
    assert code(read(desk.notebook))[1].outputs[0].text == "1.00\n"
    (found,) = read(desk.notebook).metadata.rounding  # what the list in benchmarks/ is made from
    assert (found.cell, found.trainings, found.may) == (1, 1, 0.005)
    assert 0 <= found.moves < 1e-6
    desk.write(HEAD + "A sentence more.\n" + TRAINS % (0.05, 'print(f"{x.mean():.2f}")'))
    assert desk.run() == 0
    assert read(desk.notebook).metadata.rounding == [found]
    assert {path.name for path in desk.notebook.parent.iterdir()} == {desk.notebook.name}


@weekly
@pytest.mark.parametrize(("within", "refused"), [(90, 0), (0.001, 1)])
def test_a_margin_that_is_stated_is_one_for_losses_as_well(desk: Desk, within, refused) -> None:
    tag = f":tags: [numbers-within-{within}]\n\nimport torch"
    desk.write(HEAD + (TRAINS % (0.45, "1")).replace("import torch", tag, 1))
    assert desk.run() == refused
    if not refused:
        assert read(desk.notebook).metadata.rounding[0].may == 90


ASSERTS = """start = torch.linspace(0.1, 0.9, 8, requires_grad=True)
torch.optim.SGD([start], lr=1)
assert torch.equal(start, torch.linspace(0.1, 0.9, 8))"""
LOSSES = ["cell [1] (`import torch`): the losses of the last tenth", "move by"]
STATED = ["code cell 2", "AssertionError", "from first weights 1e-7 apart"]
HANGING = [
    (0.45, "print(float(x[0]))", [*LOSSES, "cell [2]", "it prints", "stored is"]),
    pytest.param(0.05, ASSERTS, STATED, marks=weekly),
]


@pytest.mark.parametrize(("rate", "then", "said"), HANGING)
def test_what_hangs_on_rounding_is_refused_by_cell_and_number_and_not_stored(
    desk: Desk, capsys, rate: float, then: str, said: list[str]
) -> None:
    desk.notebook.write_bytes(b"the old notebook")
    desk.write(HEAD + TRAINS % (rate, then))
    assert desk.run() == 1
    message = capsys.readouterr().err
    missing = [words for words in ["99-small", "hangs on rounding", *said] if words not in message]
    assert not missing, f"{missing} not in: {message}"
    assert desk.notebook.read_bytes() == b"the old notebook"


def test_what_was_never_run_or_lost_its_data_is_a_reason_to_execute(made, tmp_path) -> None:
    new, old = made.tool.convert(made.lecture), read(made.notebook)
    assets = tmp_path / "assets"
    assert made.tool.reason_to_execute(new, old, assets) == ""
    code(old)[2].outputs[0].data["text/html"] += '{"asset":"weights"}'
    said = made.tool.reason_to_execute(new, old, assets)
    assert said == "weights.js is missing in assets/"
    code(old)[1].execution_count = None
    said = made.tool.reason_to_execute(new, old, assets)
    assert said == "code cell 2 (`from attnlab.pictures.figures import heatmap`) was never run"


def test_another_address_to_install_from_is_no_reason_to_execute(made, tmp_path) -> None:
    new, old = made.tool.convert(made.lecture), read(made.notebook)
    cell = 'home = "git+https://github.com/OWNER/book@main"'
    code(old)[0].source = cell
    code(new)[0].source = cell.replace("OWNER/book@main", "ada/notes@lectures-2.x")
    assert made.tool.reason_to_execute(new, old, tmp_path) == ""
    code(new)[0].source += " "
    assert made.tool.reason_to_execute(new, old, tmp_path).startswith("code cell 1 (`home")


# what executes a lecture cannot be imported here
COMMA = """
import sys, importlib.util
from pathlib import Path
for name in ("torch", "numpy", "nbclient", "attnbook"):
    sys.modules[name] = None
spec = importlib.util.spec_from_file_location("tool", sys.argv[1])
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)
assert tool.make(*map(Path, sys.argv[2:])) == (False, True)
"""


def test_a_comma_in_a_lecture_executes_nothing_and_needs_no_torch(tmp_path: Path) -> None:
    name, tool = "08-multi-head-attention", ROOT / "book" / "tools" / "notebooks.py"
    shutil.copytree(ROOT / "notebooks" / "assets", tmp_path / "assets")
    shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", tmp_path)
    lecture, notebook = tmp_path / f"{name}.md", tmp_path / f"{name}.ipynb"
    text = (ROOT / "book" / "lectures" / lecture.name).read_text(encoding="utf-8")
    lecture.write_text(f"{text}\nA comma, more.\n", encoding="utf-8")
    command = [sys.executable, "-c", COMMA, tool, lecture, notebook]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert code(read(notebook)) == code(read(ROOT / "notebooks" / notebook.name))
    assert read(notebook).cells[-1].source.endswith("A comma, more.")


def test_a_lecture_that_is_executed_is_told_with_its_usual_time(made: Desk) -> None:
    assert made.tool.usual("05-self-attention").startswith(", some ")
    assert made.tool.usual("99-small") == ""
