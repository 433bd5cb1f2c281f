"""Mutation testing: change the package in one small place and see whether its tests notice.

    python benchmarks/mutation.py                         # all modules, 5 minutes each at most
    python benchmarks/mutation.py masks attention --minutes 20
    python benchmarks/mutation.py --survivors             # after a test was added

A mutant is a module with one change: a comparison or an operator replaced, a number moved by one,
a condition turned round, an argument, a statement, a decorator or the end of a slice left out.
The module's own tests run on each, in a copy of the tree, until one fails (the mutant is killed)
or all pass (it survives). Where the time does not suffice for all, the seed says which are taken.
What is found is written to mutation.md; explanations of survivors, written there by hand, stay.

mutmut leaves functions with decorators alone, which are the decoders' here (``no_grad``);
cosmic-ray starts a process for each mutant, which would spend most of the time on importing torch.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from attnlab._console import any_letter

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "benchmarks" / "mutation.md"
# each module's own tests, of some five seconds; without those that compile, which take most of it
TESTS = {
    "masks": "masks mutants refused",
    "scores": "scores scores_learned mutants refused",
    "_core": "attention attention_edges multihead_cache mutants refused",
    "attention": "attention attention_edges mutants refused",
    "positions": "positions further/longer mutants refused",
    "cache": "cache multihead_cache mutants refused",
    "multihead": "multihead multihead_cache multihead_module mutants refused",
    "record": "record refused",
    "latent": "latent refused",
    "embeddings": "embeddings transformer refused",
    "layers": "layers layer_options refused",
    "rnn": "rnn rnn_use decoding_models refused",
    "transformer": "transformer decoding_models further/speculation refused",
    "decoding": "decoding sampling mutants refused",
    "further/caches": "cache further/caches multihead_cache latent refused",
    "further/tiles": "further/tiles refused",
    "further/sparse": "further/sparse refused",
    "further/linear": "further/linear refused",
    "further/longer": "further/longer refused",
    "further/speculation": "further/speculation refused",
}
OTHER = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn},
    **{ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div},
    **{ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And},
}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min", "tril": "triu", "triu": "tril"}
# no mutants in types, in the words of an error, or in a protocol
LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.arg, ast.Import, ast.ImportFrom)
HEAD = "<!-- measured: begin -->", "<!-- measured: end -->"


class Mutant(NamedTuple):
    """A changed module, and where and how it was changed."""

    name: str
    source: str


class Found(NamedTuple):
    """How many mutants a module has, how many were run, and the names of those that survived."""

    mutants: int
    run: int
    survivors: list[str]


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of one node."""

    def with_(**changed: Any) -> ast.AST:
        other = copy.copy(node)
        for name, value in changed.items():
            setattr(other, name, value)
        return other

    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield with_(ops=[*ops[:i], OTHER[type(op)](), *ops[i + 1 :]])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in OTHER:
            yield with_(op=OTHER[type(op)]())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Attribute(attr=attr) if attr in NAMES:
            yield with_(attr=NAMES[attr])
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Call(keywords=words):
            for gone in words:
                if gone.arg != "strict":
                    yield with_(keywords=[word for word in words if word is not gone])
        case ast.Slice(lower=lower, upper=upper):
            if lower is not None:
                yield with_(lower=None)
            if upper is not None:
                yield with_(upper=None)
        case ast.comprehension(ifs=[_, *_]):
            yield with_(ifs=[])
        case ast.FunctionDef(decorator_list=[ast.Call(), *rest]):
            yield with_(decorator_list=rest)
        case ast.If(test=test) if not isinstance(test, ast.Compare):  # which has its own
            yield with_(test=ast.UnaryOp(ast.Not(), test))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()


def places(node: ast.AST, name: str) -> Iterator[tuple[ast.AST, Callable[[Any], None], str, str]]:
    """Yield every node below this one, how to replace it, its function and its statement."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns") or isinstance(node, LEFT_ALONE):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or getattr(child, "arg", "") == "strict":
                continue  # zip's strict=True says what holds anyway
            if isinstance(child, ast.ClassDef) and "Protocol" in ast.unparse(child.bases):
                continue
            where = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                where = f"{name}.{child.name}".lstrip(".")

            def put(other: Any, to: Any = value, index: int = index, field: str = field) -> None:
                if isinstance(to, list):
                    to[index] = other
                else:
                    setattr(node, field, other)

            yield child, put, where, _line(child) if isinstance(child, ast.stmt) else ""
            yield from places(child, where)


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module's source, each with a name of its own."""
    tree, found, seen, line = ast.parse(source), [], {}, ""
    for node, put, where, statement in places(tree, ""):
        line = statement or line
        for other in replacements(node):
            old, new = _line(node), _line(other)
            inside = f" in `{line}`" if line != old else ""
            if isinstance(node, ast.Attribute):
                old, new = f".{node.attr}", f".{other.attr}"
            if isinstance(node, ast.FunctionDef):
                old, new = f"@{ast.unparse(node.decorator_list[0])}", "pass"
            name = f"{where or 'module'}: `{old}` → `{new}`{inside}"
            seen[name] = seen.get(name, 0) + 1
            put(other)
            text = ast.unparse(ast.fix_missing_locations(tree))
            put(node)
            found.append(Mutant(name + (f" ({seen[name]})" if seen[name] > 1 else ""), text))
    return found


def _line(node: ast.AST) -> str:
    line = ast.unparse(node).split("\n")[0]
    return line if len(line) <= 100 else line[:99] + "…"


def sandbox(folder: Path) -> None:
    """Copy what the tests need, so that nobody's edits come between two mutants."""
    for name in ("src/attnbook", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "attnlab", "book", "teaching")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)


def passes(folder: Path, module: str, seconds: float) -> bool | None:
    """Run a module's tests in a process of their own; None where they take too long."""
    import pytest

    child = os.fork()  # torch is imported already
    if child == 0:
        os.chdir(folder)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        sys.path.insert(0, str(folder / "src"))
        names = [Path("tests/attnbook", name) for name in TESTS[module].split()]
        files = [str(name.with_name(f"test_{name.name}.py")) for name in names]
        options = ["-xq", "-pno:cacheprovider", "-knot compile", "--hypothesis-profile=mutation"]
        os._exit(pytest.main([*options, *files]))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def try_out(module: str, minutes: float, seed: int, last: Found | None) -> Found:
    """Run a module's mutants, or where there is a ``last`` run its survivors alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sandbox(folder)
        path = folder / "src" / "attnbook" / f"{module}.py"
        there_are = mutants(path.read_text(encoding="utf-8"))
        start = time.monotonic()
        if not passes(folder, module, 300):
            raise SystemExit(f"{module}: its tests must pass before anything is changed")
        took = time.monotonic() - start
        chosen = random.Random(seed).sample(there_are, len(there_are))
        if last is not None:
            chosen = [mutant for mutant in chosen if mutant.name in last.survivors]
            if len(chosen) < len(last.survivors):
                raise SystemExit(f"{module}: it has changed since the last run: run it again whole")
        survivors, run = [], 0
        for mutant in chosen:
            if last is None and time.monotonic() - start > 60 * minutes:
                break
            path.write_text(mutant.source, encoding="utf-8")
            run += 1
            if passes(folder, module, 3 * took + 10):
                survivors.append(mutant.name)
                print(f"{module}: survived: {mutant.name}", flush=True)
    found = Found(len(there_are), run if last is None else last.run, sorted(survivors))
    print(f"{row(module, found)} tests {took:.1f} s", flush=True)
    return found


def row(module: str, found: Found) -> str:
    n, run, survivors = found
    killed = run - len(survivors)
    return (
        f"| `{module}` | {n} | {run} | {killed} | {len(survivors)} | {100 * killed / run:.0f} % |"
    )


def read() -> dict[str, Found]:
    """Return what mutation.md holds for each module."""
    text = REPORT.read_text(encoding="utf-8")
    parts = dict(re.findall(r"^### `([\w/]+)`\n(.*?)(?=^###|^<!--)", text, re.M | re.S))
    return {
        module: Found(int(n), int(run), re.findall(r"^- (.+?) — ", parts.get(module, ""), re.M))
        for module, n, run in re.findall(r"^\| `([\w/]+)` \| (\d+) \| (\d+) ", text, re.M)
    }


def write(all_found: dict[str, Found]) -> None:
    """Write the table and the survivors into mutation.md; every explanation stays."""
    before, old, after = re.split("|".join(HEAD), REPORT.read_text(encoding="utf-8"))
    told = dict(re.findall(r"^- (.+?) — (.+)$", old, re.M))
    lines = [
        "| module | mutants | run | killed | survived | score |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    listed = [module for module in TESTS if module in all_found]
    lines += [row(module, all_found[module]) for module in listed]
    for module in listed:
        names = all_found[module].survivors
        lines += ["", f"### `{module}`", ""] if names else []
        lines += [f"- {name} — {told.get(name, 'not explained yet')}" for name in names]
    new = "\n".join(["", "", *lines, "", ""])
    REPORT.write_text(f"{before}{HEAD[0]}{new}{HEAD[1]}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing of the package's core.")
    parser.add_argument("modules", nargs="*", default=list(TESTS), help="such as masks attention")
    parser.add_argument("--minutes", type=float, default=5.0, help="at most, for each module")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the mutants")
    parser.add_argument("--survivors", action="store_true", help="run those of last time alone")
    given = parser.parse_args()
    # no plugins but one: to load them would take longer than the tests
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "_hypothesis_pytestplugin"}
    os.environ.update(plugins)
    sys.dont_write_bytecode = True  # two mutants of one second would share their compiled file
    import torch  # noqa: F401
    from hypothesis import Phase, settings

    # the same examples each time, and a failing one is not made smaller
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile(
        "mutation", derandomize=True, deadline=None, max_examples=30, phases=phases
    )
    for module in given.modules:
        last = read()[module] if given.survivors else None
        write(read() | {module: try_out(module, given.minutes, given.seed, last)})


if __name__ == "__main__":
    any_letter()
    main()
