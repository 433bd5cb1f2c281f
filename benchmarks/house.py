"""Count the house: entries, lines, and how much of the heart is checks. Write them as a table.

    python benchmarks/house.py              # this tree, as it stands
    python benchmarks/house.py --tree DIR   # another, a checkout of an earlier commit for instance

Lines of code are lines that hold a statement: no docstring, no comment, no blank. A check is a
`raise`, an `if` whose body raises, a call of `_check.*`, `check*` or `_check*` as a statement, a
function of such a name, what only prepares these (the words of an error), and all of `_check.py`.
"""

import argparse
import ast
import tokenize
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[1]
# before the package had folders, these files were what is now its heart
HEART = {
    "_beam", "_bert", "_chance", "_check", "_tiles", "attend", "attention", "cache", "decoding",
    "efficient", "embeddings", "layers", "masks", "multihead", "positions", "pretrained", "record",
    "reference", "rnn", "scores", "transformer",
}  # fmt: skip
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


def lines_of(*places: Path, ending: str = "py") -> int:
    """Count all lines of the files below ``places``; bundles and what npm brought are not ours."""
    files = [path for place in places for path in place.rglob(f"*.{ending}")]
    ours = [p for p in files if not {"node_modules", "chunks"} & set(p.parts)]
    ours = [p for p in ours if not (p.parent.name == "widgets" and p.name.startswith("bundle"))]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in ours)


def rows(root: Path) -> dict[str, str]:
    """Return what is counted, by its name."""
    package = root / "src" / "attnbook"
    entries = [path for path in package.iterdir() if path.name not in {"__pycache__", "py.typed"}]
    folders = (package / "language").is_dir()
    heart = [path for path in package.glob("*.py") if folders or path.stem in HEART]
    heart = [path for path in heart if path.stem != "__init__"]
    counted = [checks(path) for path in heart]
    share = sum(check for check, _ in counted) / sum(code for _, code in counted)
    tools = [root / "book" / "tools", root / "book" / "extensions"]
    parts = {
        "lines of src": lines_of(root / "src"),
        "lines of tests": lines_of(root / "tests", root / "notebooks"),
        "lines of tools: `tasks.py`, `book/tools`, `book/extensions`": lines_of(*tools)
        + len((root / "tasks.py").read_text(encoding="utf-8").splitlines()),
        "lines of experiments": lines_of(root / "experiments"),
        "lines of JavaScript": lines_of(root / "src", ending="js"),
    }
    return {
        "entries at the top of `src/attnbook`": str(len(entries)),
        "files of the heart": str(len(heart)),
        "lines of the heart": f"{sum(len(p.read_text('utf-8').splitlines()) for p in heart):,}",
        "checks, share of the heart's code": f"{100 * share:.1f} %",
        **{name: f"{count:,}" for name, count in parts.items()},
        "all lines of these": f"{sum(parts.values()):,}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the repository (default: this)")
    parser.add_argument("--before", type=Path, help="an earlier checkout, to stand beside it")
    options = parser.parse_args()
    now = rows(options.tree)
    columns = [now] if options.before is None else [rows(options.before), now]
    heads = ["now"] if options.before is None else ["before", "now"]
    print(f"| what | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for name in now:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


if __name__ == "__main__":
    main()
