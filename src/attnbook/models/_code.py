"""A hash of what a result hangs on: the package's code, without comments and docstrings."""

import ast
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "attnbook"
APART = ("attnbook", "attnbook._check")  # the version; what refuses input: neither computes


def code_hash(module: str, *settings: Any) -> str:
    """Return 16 hexadecimal digits of ``module``, all of the package that it imports, and settings.

    Docstrings, lines of comment and blank lines do not count; the tables in a module's folder
    ``data`` do. Settings count by their ``repr``.
    """
    digest = hashlib.sha256(repr(settings).encode())
    modules = _imported(module)
    for name, path in sorted(modules.items()):
        digest.update(f"\n{name}\n".encode())
        digest.update(_bare(path.read_text(encoding="utf-8")).encode())
    for folder in sorted({path.parent / "data" for path in modules.values()}):
        for file in sorted(folder.glob("*.tsv")):
            digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]


def _imported(module: str) -> dict[str, Path]:
    """Return the files of a module and of all the package's modules that it imports in turn."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or name in APART or not name.startswith(PACKAGE):
            continue
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        found[name] = Path(spec.origin)
        waiting += _names(found[name])
    return found


def _names(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # ``from attnbook import _check`` names a module too
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if _is_module(name)]


def _is_module(name: str) -> bool:
    if not name.startswith(PACKAGE):
        return False
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a function of a module, not a module of a package
        return False


def _bare(source: str) -> str:
    """Return the lines of code: no docstrings, no lines of comment, no blank lines.

    The text and not the syntax tree, whose form changes between versions of Python.
    """
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            for number in range(body[0].lineno - 1, body[0].end_lineno):
                lines[number] = ""
    kept = (line.rstrip() for line in lines)
    return "\n".join(line for line in kept if line and not line.lstrip().startswith("#"))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
