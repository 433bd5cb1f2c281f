"""Each cell of a lecture may be run again where a reader stands: it prints what it printed before.

A copy of the notebook is executed in which every code cell is there twice, and what the second run
of each leaves is compared with what is stored, by the rules of tests/nbval/rules.py. What a cell
spoils for those after it is named there too: the first that is named is the cause.
"""

import os
import re
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbval.plugin import coalesce_streams

from attnlab.widgets.core.assets import FOLDER
from tests.book.lectures import EVERY, ROOT, code, load
from tests.nbval.rules import StrictFile
from tests.patience import PROCESS

COLOUR = re.compile(r"\x1b\[[\d;]*m")
GOES_ON = "raises-exception"  # the tag by which nbclient keeps an error as an output


def run_twice(notebook: nbformat.NotebookNode, name: str, folder: Path) -> list[list]:
    """Execute each code cell twice in a row, in one kernel; return what the second runs left."""
    tool = load(ROOT / "book" / "tools" / "notebooks.py")
    tool.CELL_SECONDS = 5 * PROCESS  # as tests/nbval/rules.py has it
    cells, again = [], []
    for cell in code(notebook):
        cells.append(new_code_cell(cell.source))
        again.append(new_code_cell(cell.source, metadata={"tags": [GOES_ON]}))
        cells.append(again[-1])
    doubled = new_notebook(cells=cells, metadata=deepcopy(notebook.metadata))
    tool.execute(doubled, f"{name}, twice", folder, folder / "assets")
    return [coalesce_streams(cell.outputs) for cell in again]


def differences(path: Path, session: pytest.Session, folder: Path) -> list[str]:
    """Say of each cell that another run changes: lecture, cell, and what differs."""
    cells = list(StrictFile.from_parent(session, path=path).collect())
    if missing := cells[0].missing:
        assert not os.environ.get("CI"), missing
        pytest.skip(missing)
    found = []
    outputs = run_twice(cells[0].parent.nb, path.stem, folder)
    for cell, second in zip(cells, outputs, strict=True):
        raised = [f"{o.ename}: {o.evalue}" for o in second if o.output_type == "error"]
        said = raised[:1]
        if not raised and cell.options["check"]:
            stored = coalesce_streams(cell.cell.outputs)
            if not cell.compare_outputs(second, stored):
                said = [COLOUR.sub("", "\n".join(cell.comparison_traceback))]
        first = next(iter(cell.cell.source.strip().splitlines()), "")
        found += [f"{path.stem}, cell {cell.cell.id} (`{first}`), run again: {s}" for s in said]
    return found


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.setenv(FOLDER, "")  # given back afterwards: an execution sets it


@pytest.mark.heavy
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_each_cell_run_twice_in_a_row_prints_what_is_stored(path, tmp_path, request) -> None:
    if found := differences(path, request.session, tmp_path):
        pytest.fail("\n\n".join(found), pytrace=False)


WITHIN = "numbers-within-0.05"
SMALL = {  # a cell, its tag, and what its second run leaves that its first did not
    "import time\nfrom pathlib import Path\nx = y = z = 0": ("", ""),
    "x += 1\nprint(x)": ("", "2"),
    "print(2 + 3)": ("", ""),
    "y += 0.01\nprint(f'right {y}')": (WITHIN, ""),
    "z += 0.5\nprint(f'right {z}')": (WITHIN, "the numbers differ by 0.5, 0.05 may"),
    "print(time.perf_counter_ns())": ("nbval-ignore-output", ""),
    "Path('made').touch(exist_ok=False)": ("", "FileExistsError"),
    "if 'shown' in globals(): print('again')\nshown = True": ("", "Unexpected output"),
    "print('the end')": ("", ""),
}


@pytest.mark.heavy
@pytest.mark.usefixtures("quiet")
def test_a_cell_that_another_run_changes_is_named_and_no_other_is(tmp_path, request) -> None:
    cells = [new_code_cell(s, metadata={"tags": [*{tag} - {""}]}) for s, (tag, _) in SMALL.items()]
    notebook, folders = new_notebook(cells=cells), [tmp_path / "once", tmp_path / "twice"]
    for folder in folders:
        folder.mkdir()
    load(ROOT / "book" / "tools" / "notebooks.py").execute(
        notebook, "small", folders[0], folders[0]
    )
    path = tmp_path / "small.ipynb"
    nbformat.write(notebook, path)
    found = differences(path, request.session, folders[1])
    wrong = {c.id: SMALL[c.source][1] for c in cells if SMALL[c.source][1]}
    assert [re.match(r"small, cell (\S+) ", said)[1] for said in found] == list(wrong)
    for said, words in zip(found, wrong.values(), strict=True):
        assert words in said.partition("run again: ")[2]
