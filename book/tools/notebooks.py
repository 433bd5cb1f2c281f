"""Make `notebooks/NN-name.ipynb` from `book/lectures/NN-name.md`, and `evidence/` beside both.

A lecture is executed where a code cell, its tags or its place among the others changed, where an
output is missing, or where `--force` asks for it. Otherwise the stored outputs are taken over, cell
by cell, measured times too: a change of prose costs under a second. A change of the package is no
reason to execute, for `make test` runs every cell again and compares; where it changes what a
lecture prints on purpose, `make notebooks FORCE=NN-name` renews that lecture, `FORCE=all` each.
A lecture that trains is executed twice, and refused where its numbers hang on rounding (steady.py).
Where only the widget of the questions changed, `--questions` draws their stored outputs anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from attnlab._console import any_letter

sys.path.insert(0, str(Path(__file__).resolve().parent))
import steady

ROOT = Path(__file__).resolve().parents[2]
LECTURES = ROOT / "book" / "lectures"
EVIDENCE = ROOT / "book" / "evidence"  # how we know what a lecture of the same name says
NOTEBOOKS = ROOT / "notebooks"
STATUS = ROOT / "book" / "status.json"
CAPTIONS = ROOT / "src" / "attnlab" / "models" / "captions"  # its weights are an asset too
CELL_SECONDS = 1200  # some twenty times what a cell may take on a quiet machine
TIMING_TAG = "nbval-ignore-output"
COLLAPSED = {"hide-input", "hide-cell", "remove-input"}
PICTURES = {"image/png", "image/svg+xml"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CHECKPOINT = re.compile(r'<figure class="attnbook attnbook-checkpoint".*?json">(.*?)</script>')
ASSET = re.compile(r'"asset":"([a-z0-9-]+)"')
# where a set-up cell installs from: another address prints nothing else
HOME = re.compile(r"git\+https://github\.com/[\w.-]+/[\w.-]+@[\w.-]+")
HANGS = "it hangs on rounding, and another processor prints other numbers"
NO_GPU = "No CUDA runtime is found"  # a machine that has CUDA's tools says so to stderr
ROUNDING = (
    "rounding"  # a notebook's metadata: its cells that train, and how far rounding moves them
)
BUILT = ("minilm.js",)  # written by the book's build, and in no repository


class LectureError(Exception):
    """A lecture that cannot become a notebook; the message names lecture, cell and error."""


def texts() -> dict[str, Path]:
    """What becomes a notebook, by its name: `NN-name`, or `evidence/NN-name`."""
    lessons = {path.stem: path for path in sorted(LECTURES.glob("*.md"))}
    return lessons | {name_of(path): path for path in sorted(EVIDENCE.glob("*.md"))}


def name_of(path: Path) -> str:
    """Return `NN-name` of a lesson's text or notebook, `evidence/NN-name` of its evidence's."""
    return f"evidence/{path.stem}" if path.parent.name == EVIDENCE.name else path.stem


def convert(path: Path) -> NotebookNode:
    """Read a lecture's text as a notebook with no outputs, with everything that its tags imply."""
    notebook = jupytext.read(path, fmt="md:myst")
    notebook.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, -1) + 1
        cell.id = f"{digest}-{seen[digest]}"
        collapse(cell)
    return notebook


def collapse(cell: NotebookNode) -> None:
    """Say in JupyterLab's and Colab's words what a `hide-…` tag says to the page."""
    tags = set(cell.metadata.get("tags", []))
    if "hide-output" in tags:
        cell.metadata["jupyter"] = {"outputs_hidden": True}
    if cell.cell_type != "code" or not tags & COLLAPSED:
        return
    cell.metadata["jupyter"] = {"source_hidden": True}
    cell.metadata["cellView"] = "form"
    title = cell.source.splitlines()[0].removeprefix("# @title ").split(":")[0]
    if cell.source.startswith("# @title "):
        cell.metadata["mystnb"] = {"code_prompt_show": title, "code_prompt_hide": title}
    if "hide-cell" in tags:
        cell.metadata["jupyter"]["outputs_hidden"] = True


def execute(
    notebook: NotebookNode, name: str, folder: Path, assets: Path, *, nudge: float = 0.0
) -> list[tuple[int, list[float]]]:
    """Run every cell in a fresh kernel, in `folder`; widgets leave their large data in `assets`.

    Return its trainings: of each the number of its cell and its losses. `nudge` moves each
    weight that one begins from by such a share.
    """
    # imported here: a change of prose needs neither a kernel nor the package
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    from attnlab.widgets.core.assets import FOLDER

    os.environ[FOLDER] = str(assets)
    log = folder / f".trainings.{os.getpid()}.json"
    os.environ[steady.LOG], os.environ[steady.NUDGE] = str(log), str(nudge)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        store_widget_state=False,
        extra_arguments=[f"--IPKernelApp.exec_lines={steady.BEGIN}"],
        coalesce_streams=True,  # else the machine's load decides in how many pieces prints arrive
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
        return steady.trainings(log)
    except CellTimeoutError as error:
        where = failed_cell(notebook)
        raise LectureError(f"{name}, {where}: ran past {CELL_SECONDS} s") from error
    except DeadKernelError as error:
        raise LectureError(f"{name}, {failed_cell(notebook)}: the kernel died") from error
    except CellExecutionError as error:
        where = failed_cell(notebook)
        raise LectureError(f"{name}, {where}: {error.ename}: {error.evalue}") from error
    finally:
        log.unlink(missing_ok=True)


def must_hold(
    notebook: NotebookNode, path: Path, folder: Path, found: list[tuple[int, list[float]]]
) -> list[tuple[int, float, float]]:
    """Run a lecture that trains again, from weights a rounding apart; refuse what changes.

    Return of each training the number of its cell, how far its last losses move, and how far they
    may.
    """
    from attnlab.training.rounding import NUDGE

    if not found:
        return []
    moved, name = convert(path), name_of(path)
    with tempfile.TemporaryDirectory() as assets:
        try:
            again = execute(moved, name, folder, Path(assets), nudge=NUDGE)
        except LectureError as error:
            raise LectureError(f"{error} (from first weights 1e-7 apart: {HANGS})") from error
    complaints, rows = steady.unsteady(notebook, moved, found, again)
    if complaints:
        lines = "".join(f"\n  {complaint}" for complaint in complaints)
        raise LectureError(f"{name}, from first weights 1e-7 apart ({HANGS}):{lines}")
    return rows


def of_each_cell(rows: list[tuple[int, float, float]]) -> list[dict[str, float]]:
    """Say of each cell how many trainings it has, how far the worst moves, and may."""
    found: dict[int, dict[str, float]] = {}
    for cell, moves, may in rows:
        one = found.setdefault(cell, {"cell": cell, "trainings": 0, "moves": 0.0, "may": may})
        one |= {"trainings": one["trainings"] + 1, "moves": max(one["moves"], moves)}
    return list(found.values())


def failed_cell(notebook: NotebookNode) -> str:
    """Name the cell that execution stopped at, by number and first line."""
    code = code_cells(notebook)
    errors = [c for c in code if any(o.output_type == "error" for o in c.outputs)]
    answered = "shell.execute_reply"  # the time at which the kernel said that a cell was done
    waiting = [c for c in code if c.source and answered not in c.metadata.get("execution", {})]
    return title(notebook, (errors[-1:] or waiting or code)[0])


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def title(notebook: NotebookNode, cell: NotebookNode) -> str:
    """Name a code cell by its number and its first line."""
    first = cell.source.strip().splitlines()[0] if cell.source.strip() else ""
    number = next(i for i, one in enumerate(code_cells(notebook), 1) if one is cell)
    return f"code cell {number} (`{first}`)"


def shaping(cell: NotebookNode) -> set[str]:
    """Return a cell's tags but the one that says where a question is asked: it shapes no output."""
    return set(cell.metadata.get("tags", [])) - {"at-home"}


def reason_to_execute(new: NotebookNode, old: NotebookNode | None, assets: Path) -> str:
    """Say why stored outputs cannot be taken over; '' where they can."""
    if old is None:
        return "there is no stored notebook that can be read"
    mine, theirs = code_cells(new), code_cells(old)
    for cell, stored in zip(mine, theirs, strict=False):
        if HOME.sub("", cell.source) != HOME.sub("", stored.source):
            return f"{title(new, cell)} changed"
        if shaping(cell) != shaping(stored):
            return f"the tags of {title(new, cell)} changed"
        if cell.source.strip() and stored.execution_count is None:
            return f"{title(new, cell)} was never run"
    if len(mine) != len(theirs):
        return f"there are {len(mine)} code cells, {len(theirs)} are stored"
    shown = [o.get("data", {}).get("text/html", "") for cell in theirs for o in cell.outputs]
    names = sorted({f"{name}.js" for html in shown for name in ASSET.findall(html)})
    there = {n for n in names if (assets / n).exists() or (CAPTIONS / n).exists()}
    missing = [n for n in names if n not in {*there, *BUILT}]
    return f"{', '.join(missing)} is missing in {assets.name}/" if missing else ""


def take_over(new: NotebookNode, old: NotebookNode) -> None:
    """Give each code cell the outputs of its stored twin, and the notebook what its kernel said."""
    new.metadata.language_info = old.metadata.get("language_info", new.metadata.language_info)
    if ROUNDING in old.metadata:
        new.metadata[ROUNDING] = old.metadata[ROUNDING]
    for cell, stored in zip(code_cells(new), code_cells(old), strict=True):
        cell.outputs, cell.execution_count = stored.outputs, stored.execution_count


def draw_questions(notebook: NotebookNode) -> None:
    """Draw the stored checkpoints anew, from their own data: nothing is executed."""
    from attnlab.widgets import Checkpoint

    for cell in code_cells(notebook):
        shuffle = "shuffle=False" not in cell.source
        for data in (output.get("data", {}) for output in cell.outputs):
            if found := CHECKPOINT.match(data.get("text/html", "")):
                state = json.loads(found[1])
                given = {name: state[name] for name in ("question", "multiple", "caption")}
                options = [tuple(option) for option in state["options"]]
                drawn = Checkpoint(**given, options=options, shuffle=shuffle)
                data["text/html"], data["text/plain"] = drawn.html(), repr(drawn)


def normalise(notebook: NotebookNode, name: str) -> None:
    """Drop all that differs from run to run, and keep what the page needs."""
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.metadata.pop("execution", None)
        cell.outputs = [one for one in cell.outputs if not machines(one)]
        for output in cell.outputs:
            if output.get("name") == "stderr":
                text = output.text.strip().splitlines()[-1]
                raise LectureError(f"{name}, code cell {number}: writes to stderr: {text}")
            data = output.get("data", {})
            # a saved view points to a model that no longer lives: the HTML beside it is the page's
            data.pop(WIDGET_VIEW, None)
            for kind in PICTURES & data.keys():
                data[kind] = data[kind].strip()
                alt = output.metadata.get(kind, {}).get("alt")
                if alt:
                    cell.metadata.setdefault("mystnb", {})["image"] = {"alt": alt}


def machines(output: NotebookNode) -> bool:
    """Return whether a cell's stderr has what the machine says, and not the cell."""
    return output.get("name") == "stderr" and NO_GPU in output.text


def keep_timings(new: NotebookNode, old: NotebookNode | None) -> None:
    """Keep the stored output of timing cells where no other code cell changed."""
    if old is None or untimed(new) != untimed(old):
        return
    for cell, before in zip(code_cells(new), code_cells(old), strict=True):
        if TIMING_TAG in cell.metadata.get("tags", []):
            cell.outputs = before.outputs


def untimed(notebook: NotebookNode) -> list:
    """All of a notebook's code cells but the outputs of timing cells."""
    cells = []
    for cell in code_cells(notebook):
        timed = TIMING_TAG in cell.metadata.get("tags", [])
        cells.append((cell.source, cell.metadata, None if timed else cell.outputs))
    return cells


def stored(target: Path) -> NotebookNode | None:
    """Read the notebook as it is stored; None where there is none, or none that can be read."""
    try:
        return nbformat.read(target, as_version=4)
    except (FileNotFoundError, ValueError, AttributeError, nbformat.ValidationError):
        return None


def usual(name: str) -> str:
    """Say how long a lecture ran when all were timed last, as the page about them tells."""
    timed = json.loads(STATUS.read_text(encoding="utf-8"))["notebooks"].get(name)
    return f", some {timed['seconds']:.0f} s" if timed else ""


def make(
    path: Path, target: Path, *, force: bool = False, questions: bool = False
) -> tuple[bool, bool]:
    """Write one text's notebook; return whether it was executed and whether its file changed.

    An error leaves the old notebook as it was.
    """
    notebook, old, name = convert(path), stored(target), name_of(path)
    assets = target.parents["/" in name] / "assets"  # one folder, whoever leaves something there
    reason = "--force" if force else reason_to_execute(notebook, old, assets)
    if reason:
        print(f"  {name}: executing{usual(name)} ({reason}) …", flush=True)
        found = execute(notebook, name, target.parent, assets)
        if rows := must_hold(notebook, path, target.parent, found):
            notebook.metadata[ROUNDING] = of_each_cell(rows)
        normalise(notebook, name)
        keep_timings(notebook, old)
    else:
        take_over(notebook, old)
        if questions:
            draw_questions(notebook)
        normalise(notebook, name)
    nbformat.validate(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    changed = not target.exists() or text != target.read_text(encoding="utf-8")
    if changed:
        target.write_text(text, encoding="utf-8", newline="\n")
    return bool(reason), changed


def main() -> int:
    about, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=rest)
    parser.add_argument("--force", action="store_true", help="execute, whatever changed")
    parser.add_argument("--questions", action="store_true", help="draw stored checkpoints anew")
    parser.add_argument("names", nargs="*", help="NN-name or evidence/NN-name; default: all")
    options = parser.parse_args()
    there = texts()
    unknown = set(options.names) - there.keys()
    if unknown:
        parser.error(f"no lecture named {', '.join(sorted(unknown))} in book/lectures or evidence")
    wanted = {name: path for name, path in there.items() if name in (options.names or there)}
    os.environ.setdefault("TQDM_DISABLE", "1")  # a progress bar would be stored as an output
    executed = written = 0
    for name, path in wanted.items():
        began = time.perf_counter()
        try:
            how = {"force": options.force, "questions": options.questions}
            ran, changed = make(path, NOTEBOOKS / f"{name}.ipynb", **how)
        except LectureError as error:
            print(f"\nnotebooks: {error}\n(the old notebook was left in place)", file=sys.stderr)
            return 1
        executed, written = executed + ran, written + changed
        if ran or changed:
            what = "written" if changed else "unchanged"
            print(f"  {name}: {what}, {time.perf_counter() - began:.1f} s")
    print(f"notebooks: {len(wanted)} read, {executed} executed, {written} written")
    return 0


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
