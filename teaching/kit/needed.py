"""What must stay of a question's cell when the question itself is sealed.

A lecture's question may stand below lines that prepare it. Those on which nothing else depends go
with the answer, for they compute it; those that a later cell needs, or that print what the
question is about, stay.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable

from teaching.kit.lectures import KitError

WIDGETS = {"Answer", "BugHunt", "Checkpoint", "Prediction"}
SHOWS = {"print", "display"}
Blocks = ast.For | ast.With | ast.If | ast.While | ast.Try


def kept(source: str, later: Iterable[str]) -> str:
    """Return the lines above a question that are needed by the later cells, and those that print.

    Raises: KitError where the cell does not end with a question.
    """
    body = ast.parse(source).body
    if not body or not _is_question(body[-1]):
        raise KitError(f"this cell shows a question and does not end with it:\n{source}")
    above, lines = body[:-1], source.splitlines()
    scripts = _scripts(above)
    wanted = _wanted(later)
    own = set().union(*(_binds(one, scripts) for one in above))
    found: list[str] = []
    for one in reversed(above):
        uses, binds = _uses(one, scripts), _binds(one, scripts)
        prints = bool(uses & SHOWS) and not isinstance(one, ast.FunctionDef)
        # `found.append(…)` or `ends[task] = …` binds no name and changes what one stands for
        may_change = isinstance(one, Blocks) or not (binds or isinstance(one, ast.Assert))
        changes = may_change and bool(uses & wanted & own)
        if prints or changes or binds & wanted:
            wanted = (wanted if isinstance(one, Blocks) else wanted - binds) | uses
            found.append("\n".join(lines[_first(one) - 1 : one.end_lineno]))
    return "\n".join(reversed(found))


def needed_cells(earlier: list[str], later: Iterable[str]) -> list[int]:
    """Return the places of the cells that bind, directly or through others, what later ones use."""
    wanted, found = _wanted(later), list[int]()
    for place in reversed(range(len(earlier))):
        body = ast.parse(earlier[place]).body
        scripts = _scripts(body)
        if any(_binds(one, scripts) & wanted for one in body):
            found.append(place)
            for one in reversed(body):
                binds = set[str]() if isinstance(one, Blocks) else _binds(one, scripts)
                wanted = (wanted - binds) | _uses(one, scripts)
    return found[::-1]


def _is_question(one: ast.stmt) -> bool:
    names = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and bool(names & WIDGETS)


def _first(one: ast.stmt) -> int:
    """The line where a statement begins, with its decorators."""
    return min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", []))])


def _scripts(body: list[ast.stmt]) -> dict[str, str]:
    """Names that stand for a text: `exec` of one binds what its text binds."""
    return {
        target.id: one.value.value
        for one in body
        if isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Constant)
        and isinstance(one.value.value, str)
        for target in one.targets
        if isinstance(target, ast.Name)
    }


def _executed(one: ast.stmt, scripts: dict[str, str]) -> str:
    """The text that a statement executes among the notebook's own names; '' for any other."""
    match one:
        case ast.Expr(ast.Call(ast.Name("exec"), [ast.Name(name)], [])):
            return scripts.get(name, "")
        case _:
            return ""


def _symbols(text: str) -> tuple[set[str], set[str]]:
    """The names of the notebook that a text looks up, and those that it binds."""
    table = symtable.symtable(text, "cell", "exec")
    uses = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    binds = {
        one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()
    }
    inner = list(table.get_children())
    while inner:
        scope = inner.pop()
        uses |= {one.get_name() for one in scope.get_symbols() if one.is_global()}
        inner += scope.get_children()
    return uses, binds


def _uses(one: ast.stmt, scripts: dict[str, str]) -> set[str]:
    uses, _ = _symbols(ast.unparse(one))
    if text := _executed(one, scripts):
        uses |= _symbols(text)[0]
    return uses


def _binds(one: ast.stmt, scripts: dict[str, str]) -> set[str]:
    _, binds = _symbols(ast.unparse(one))
    if text := _executed(one, scripts):
        binds |= _symbols(text)[1]
    return binds


def _wanted(cells: Iterable[str]) -> set[str]:
    """The names that cells look up before they bind them themselves."""
    bound: set[str] = set()
    wanted: set[str] = set()
    for source in cells:
        _follow(ast.parse(source).body, bound, wanted)
    return wanted


def _follow(body: list[ast.stmt], bound: set[str], wanted: set[str]) -> None:
    scripts = _scripts(body)

    def looked_up(node: ast.AST) -> None:
        wanted.update(_symbols(ast.unparse(node))[0] - bound)

    def set_by(node: ast.expr) -> None:
        bound.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))

    for one in body:
        match one:
            case ast.For():
                looked_up(one.iter)
                set_by(one.target)
                _follow(one.body + one.orelse, bound, wanted)
            case ast.With():
                for item in one.items:
                    looked_up(item.context_expr)
                    if item.optional_vars is not None:
                        set_by(item.optional_vars)
                _follow(one.body, bound, wanted)
            case ast.If() | ast.While():
                looked_up(one.test)
                _follow(one.body + one.orelse, bound, wanted)
            case ast.Try():
                handled = [line for handler in one.handlers for line in handler.body]
                _follow(one.body + handled + one.orelse + one.finalbody, bound, wanted)
            case _:
                wanted.update(_uses(one, scripts) - bound)
                bound.update(_binds(one, scripts))
