"""Make `notebooks/NN-name.ipynb` from `book/lectures/NN-name.md`: convert, execute, normalise.

`python book/tools/notebooks.py [--all] [NAME …]` executes what changed since the last run here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from attnbook.widgets.core.assets import FOLDER

ROOT = Path(__file__).resolve().parents[2]
LECTURES = ROOT / "book" / "lectures"
NOTEBOOKS = ROOT / "notebooks"
SEEN = ROOT / "_build" / "notebooks.json"
CELL_SECONDS = 300
TIMING_TAG = "nbval-ignore-output"
COLLAPSED = {"hide-input", "hide-cell", "remove-input"}
PICTURES = {"image/png", "image/svg+xml"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class LectureError(Exception):
    """A lecture that cannot become a notebook; the message names lecture, cell and error."""


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


def execute(notebook: NotebookNode, name: str, folder: Path) -> None:
    """Run every cell in a fresh kernel, in `folder`; widgets leave their large data beside it."""
    os.environ[FOLDER] = str(folder / "assets")
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        store_widget_state=False,
        coalesce_streams=True,  # in how many pieces prints arrive, hangs on the machine's load
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
    except CellTimeoutError as error:
        where = failed_cell(notebook)
        raise LectureError(f"{name}, {where}: ran past {CELL_SECONDS} s") from error
    except DeadKernelError as error:
        raise LectureError(f"{name}, {failed_cell(notebook)}: the kernel died") from error
    except CellExecutionError as error:
        where = failed_cell(notebook)
        raise LectureError(f"{name}, {where}: {error.ename}: {error.evalue}") from error


def failed_cell(notebook: NotebookNode) -> str:
    """Name the cell that execution stopped at, by number and first line."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    errors = [c for c in code if any(o.output_type == "error" for o in c.outputs)]
    answered = "shell.execute_reply"  # the time at which the kernel said that a cell was done
    waiting = [c for c in code if c.source and answered not in c.metadata.get("execution", {})]
    cell = (errors[-1:] or waiting or code)[0]
    first = cell.source.strip().splitlines()[0] if cell.source.strip() else ""
    return f"code cell {code.index(cell) + 1} (`{first}`)"


def normalise(notebook: NotebookNode, name: str) -> None:
    """Drop all that differs from run to run, and keep what the page needs."""
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.metadata.pop("execution", None)
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


def keep_timings(new: NotebookNode, old: NotebookNode | None) -> None:
    """Keep the stored output of timing cells where nothing else changed."""
    if old is None or untimed(new) != untimed(old):
        return
    for cell, before in zip(new.cells, old.cells, strict=True):
        if TIMING_TAG in cell.metadata.get("tags", []):
            cell.outputs = before.outputs


def untimed(notebook: NotebookNode) -> list:
    """All of a notebook's cells but the outputs of timing cells."""
    cells = []
    for cell in notebook.cells:
        timed = TIMING_TAG in cell.metadata.get("tags", [])
        cells.append((cell.id, cell.source, cell.metadata, None if timed else cell.get("outputs")))
    return cells


def make(path: Path, target: Path) -> bool:
    """Execute one lecture into `target`; an error leaves the old notebook as it was."""
    notebook = convert(path)
    execute(notebook, path.stem, target.parent)
    normalise(notebook, path.stem)
    old = nbformat.read(target, as_version=4) if target.exists() else None
    keep_timings(notebook, old)
    nbformat.validate(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    before = target.read_text(encoding="utf-8") if target.exists() else None
    target.write_text(text, encoding="utf-8", newline="\n")
    return text != before


def fingerprint(path: Path) -> str:
    """A hash of all that decides what a lecture prints: its text, the package, the versions."""
    digest = hashlib.sha256(path.read_bytes())
    package = ROOT / "src" / "attnbook"
    sources = [p for p in package.rglob("*") if p.suffix in {".py", ".js", ".css", ".json"}]
    sources = [p for p in sources if "node_modules" not in p.parts]
    for source in sorted([*sources, ROOT / "requirements.txt", Path(__file__)]):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="execute unchanged lectures too")
    parser.add_argument("names", nargs="*", help="lectures by name; default: all that changed")
    options = parser.parse_args()
    paths = sorted(LECTURES.glob("*.md"))
    unknown = set(options.names) - {path.stem for path in paths}
    if unknown:
        parser.error(f"no lecture named {', '.join(sorted(unknown))} in book/lectures")
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    done = 0
    for path in paths:
        target, mark = NOTEBOOKS / f"{path.stem}.ipynb", fingerprint(path)
        fresh = target.exists() and seen.get(path.stem) == mark and not options.all
        if (options.names and path.stem not in options.names) or (fresh and not options.names):
            continue
        began = time.perf_counter()
        print(f"  {path.stem}: executing …", flush=True)
        try:
            changed = make(path, target)
        except LectureError as error:
            print(f"\nnotebooks: {error}\n(the old notebook was left in place)", file=sys.stderr)
            return 1
        seconds, done = time.perf_counter() - began, done + 1
        print(f"  {path.stem}: {'written' if changed else 'unchanged'}, {seconds:.1f} s")
        seen[path.stem] = mark
        SEEN.parent.mkdir(exist_ok=True)
        SEEN.write_text(json.dumps(seen, indent=1))
    print(f"notebooks: {done} executed, {len(paths) - done} skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
