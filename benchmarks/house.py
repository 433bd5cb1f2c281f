"""Count the house, room by room, and write it as a table.

    python benchmarks/house.py                # this tree, as it stands
    python benchmarks/house.py --before DIR   # beside an earlier checkout
    python benchmarks/house.py --check        # against the ceilings in house.json, as lint does

Each room has a ceiling, `house.json`. Whoever needs more raises it in the same commit, says why.

Lines of code are lines that hold a statement: no docstring, no comment, no blank. A check is a
`raise`, an `if` whose body raises, a call of `_check.*`, `check*` or `_check*` as a statement, a
function of such a name, what only prepares these (the words of an error), and all of `_check.py`.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple, TypeGuard

from attnlab._console import any_letter

ROOT = Path(__file__).resolve().parents[1]
# a room, and where its Python lay in each layout: the first places that are there count
ROOMS = {
    "attention, its top": ("src/attnbook/*.py",),
    "attention, further": ("src/attnbook/further/*.py",),
    **{
        f"lab: {name}": (f"src/attnlab/{name}/**/*.py", f"src/attnbook/{name}/**/*.py")
        for name in ("language", "training", "translation", "models", "pretrained", "pictures")
    },
    "lab: exercises": ("src/attnlab/exercises/**/*.py", "src/attnbook/exercises/**/*.py"),
    "lab: widgets": ("src/attnlab/widgets/**/*.py", "src/attnbook/widgets/**/*.py"),
    "teaching": ("teaching/**/*.py", "book/questions/**/*.py"),
    "tools: `tasks.py`, `book/tools`, `book/extensions`": (
        "tasks.py book/tools/**/*.py book/extensions/**/*.py",
    ),
    "experiments": ("experiments/**/*.py",),
    "benchmarks": ("benchmarks/**/*.py",),
    "tests": ("tests/**/*.py",),
}
OTHER = {
    "JavaScript of the live pictures": "src/**/*.js",
    "JavaScript of the pages": "book/assets/*.js book/tools/kit/**/*.js teaching/kit/**/*.js",
    "style sheets": "src/**/*.css book/assets/*.css book/tools/**/*.css teaching/kit/**/*.css",
}
CEILINGS = ROOT / "benchmarks" / "house.json"
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(path: Path, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that hold code."""
    with path.open("rb") as file:
        tokens = [t for t in tokenize.tokenize(file.readline) if t.type not in LAYOUT]
    held = {n for t in tokens[1:-1] for n in range(t.start[0], t.end[0] + 1)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for node in strings:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return held


def is_check(node: ast.AST) -> bool:
    """Tell whether a statement does nothing but refuse input."""
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.If):
        return any(isinstance(one, ast.Raise) for one in node.body)
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith(("check", "_check"))
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func)
        return called.startswith(("_check", "check"))
    return False


def checks(path: Path) -> tuple[int, int]:
    """Return the lines of checks and of code in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    code = code_lines(path, tree)
    if path.stem == "_check":
        return len(code), len(code)
    found = [node for node in ast.walk(tree) if is_check(node)]
    lines = {n for node in found for n in range(node.lineno, (node.end_lineno or 0) + 1)}
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        lines |= prepared(function, lines)
    return len(lines & code), len(code)


def prepared(function: ast.FunctionDef, checked: set[int]) -> set[int]:
    """Return the lines of assignments and loops that serve nothing but the checked lines."""
    lines = set(checked)
    inside = list(ast.walk(function))
    for node in reversed([one for one in inside if isinstance(one, ast.Assign | ast.For)]):
        own = set(range(node.lineno, (node.end_lineno or 0) + 1))
        if isinstance(node, ast.For):
            if all(one.lineno in lines for one in node.body):
                lines |= own
            continue
        bound = {one.id for one in ast.walk(node) if is_name(one, ast.Store)}
        uses = [one.lineno for one in inside if is_name(one, ast.Load) and one.id in bound]
        if uses and bound and all(line in lines for line in uses):
            lines |= own
    return lines - checked


def is_name(node: ast.AST, context: type[ast.expr_context]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)


class Room(NamedTuple):
    """How many lines a room has, and how many of them are code, checks among it."""

    lines: int
    code: int
    checks: int


def found(root: Path, places: str) -> list[Path]:
    """Return the files at some places, but for what npm brought."""
    paths = {path for place in places.split() for path in root.glob(place)}
    return sorted(path for path in paths if "node_modules" not in path.parts)


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def room(files: list[Path]) -> Room:
    """Count a room's Python."""
    counted = [checks(path) for path in files]
    sums = sum(code for _, code in counted), sum(check for check, _ in counted)
    return Room(sum(map(length, files)), *sums)


def sheets(root: Path, places: str) -> list[Path]:
    """Return what is written in JavaScript or CSS, but for what is made and what others wrote."""
    return [path for path in found(root, places) if not {"chunks", "reveal"} & set(path.parts)]


def rooms(root: Path) -> dict[str, list[Path]]:
    """Return each room's files."""
    python = {
        name: next((files for places in layouts if (files := found(root, places))), [])
        for name, layouts in ROOMS.items()
    }
    return python | {name: sheets(root, places) for name, places in OTHER.items()}


def above(root: Path, ceilings: Path) -> list[str]:
    """Say which rooms are above their ceilings, and which file of each grew most since those."""
    allowed, said = json.loads(ceilings.read_text(encoding="utf-8")), []
    files = rooms(root)
    if files.keys() != allowed.keys():
        said.append(f"{ceilings.name} and the rooms differ in {files.keys() ^ allowed.keys()}")
    for name in files.keys() & allowed.keys():
        lines = sum(map(length, files[name]))
        if lines > allowed[name]:
            most, grown = max(grown_since(ceilings, files[name]).items(), key=lambda one: one[1])
            said.append(
                f"{name}: {lines:,} lines, its ceiling is {allowed[name]:,}; "
                f"most grew {most.relative_to(root).as_posix()}, by {grown}"
            )
    return said


def grown_since(ceilings: Path, files: list[Path]) -> dict[Path, int]:
    """Return by how many lines each file grew since the ceilings were set: all, if it is new."""
    git = ["git", "-C", str(ceilings.parent)]
    asked = [*git, "log", "-1", "--format=%H", "--", ceilings.name]
    then = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    grown = {}
    for path in files:
        asked = [*git, "show", f"{then}:./{os.path.relpath(path, ceilings.parent)}"]
        old = subprocess.run(asked, capture_output=True, text=True, check=False)
        before = len(old.stdout.splitlines()) if not old.returncode else 0
        grown[path] = length(path) - before
    return grown


def rows(root: Path) -> dict[str, list[str]]:
    """Return for each room its lines, lines of code, and the share of checks in them."""
    files = rooms(root)
    counted = {name: room(files[name]) for name in ROOMS}
    table = {
        name: [f"{one.lines:,}", f"{one.code:,}", f"{100 * one.checks / max(one.code, 1):.0f} %"]
        for name, one in counted.items()
    }
    sums = {name: sum(map(length, files[name])) for name in OTHER}
    table |= {name: [f"{lines:,}", "", ""] for name, lines in sums.items()}
    total = sum(one.lines for one in counted.values()) + sum(sums.values())
    entries = [p for p in (root / "src/attnbook").iterdir() if p.name not in ("__pycache__",)]
    return {
        **table,
        "all of these": [f"{total:,}", f"{sum(one.code for one in counted.values()):,}", ""],
        "entries at the top of `src/attnbook`": [str(len(entries)), "", ""],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the repository (default: this)")
    parser.add_argument("--before", type=Path, help="an earlier checkout, to stand beside it")
    parser.add_argument(
        "--check", action="store_true", help="fail above the ceilings of house.json"
    )
    options = parser.parse_args()
    if options.check:
        if said := above(ROOT, CEILINGS):
            sys.exit("\n".join([*said, "cut, or raise the ceiling in this commit and say why"]))
        return
    columns = [rows(options.tree)]
    heads = ["lines", "code", "checks"]
    if options.before is not None:
        columns.insert(0, rows(options.before))
        heads = [f"{head}, {when}" for when in ("before", "now") for head in heads]
    print(f"| room | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for name in columns[-1]:
        cells = [cell for column in columns for cell in column.get(name, ["", "", ""])]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    any_letter()
    main()
