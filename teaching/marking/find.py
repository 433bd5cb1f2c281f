"""Which cells are whose: a lecture's own, a student's answer, and what the answer needs."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

MOST = 100 << 20  # bytes of a notebook that is read
BLANK = re.compile(r"^Exercise (\d+): still blank", re.M)
SAYS = re.compile(r"Exercise \d+: correct|check\s*\.\s*\w+\s*=[^=]|attn(?:book|lab)\.exercises")


class Unmarked(Exception):
    """A submission that cannot be marked; the message says why, as the table shows it."""


@dataclass
class Cell:
    """A code cell: its text, and what its top level binds and all of it names."""

    source: str
    id: str = ""
    tree: ast.Module | None = None
    error: str = ""
    binds: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Exercise:
    """An exercise as the lecture asks it: the cell, the name that it binds, the check's call."""

    number: int
    answer: str
    check: str
    call: str  # ast.dump of the statement that calls the check
    blank: str
    id: str
    solution: str = ""


@dataclass(frozen=True)
class Lecture:
    """A lecture's own notebook: what is run once, and its exercises."""

    name: str
    cells: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    known: frozenset[str]
    ids: frozenset[str]


@dataclass
class Found:
    """A student's answer to an exercise: the cells to run, and what a marker should know."""

    cells: list[Cell]
    notes: list[str]
    state: str = "answered"  # or blank, missing, unreadable
    words: str = ""


def read_lecture(path: Path) -> Lecture:
    """Read a lecture's stored notebook.

    Raises: ValueError where it is none, or has no exercise whose check has a cell.
    """
    try:
        cells = code_cells(path.read_bytes())
    except (OSError, Unmarked) as error:
        raise ValueError(f"{path}: {error}") from error
    run, exercises, solutions = list[str](), list[Exercise](), list[Cell]()
    for cell, tags, printed in cells:
        stored = BLANK.search(printed)
        if "solution" in tags:
            solutions.append(parsed(cell))
        elif stored:
            exercises.append(_exercise(parsed(cell), int(stored[1])))
        else:
            run.append(cell.source)
    if not exercises:
        raise ValueError(f"{path}: no cell prints 'Exercise N: still blank': not a lecture")
    by_call = {solved.check: one for one in solutions for solved in _calls(one)}
    exercises = [
        replace(one, solution=_answer_of(by_call[one.check])) if one.check in by_call else one
        for one in exercises
    ]
    known = frozenset(_plain(cell.source) for cell, _, _ in cells)
    ids = frozenset(cell.id for cell, _, _ in cells if cell.id) - {one.id for one in exercises}
    return Lecture(path.stem, tuple(run), tuple(exercises), known, ids)


def code_cells(raw: bytes) -> list[tuple[Cell, set[str], str]]:
    """Return a notebook's code cells, each with its tags and what is stored as its output.

    Raises: Unmarked where it is no notebook.
    """
    try:
        notebook = json.loads(raw)
        cells = notebook["cells"]
        found = []
        for cell in cells:
            if cell["cell_type"] == "code":
                data: Any = cell.get("metadata") or {}
                outputs = cell.get("outputs") or []
                printed = "".join(_text(one.get("text", "")) for one in outputs)
                one = Cell(_text(cell["source"]), str(cell.get("id") or data.get("id") or ""))
                found.append((one, set(data.get("tags") or []), printed))
    except (ValueError, RecursionError) as error:
        raise Unmarked("not a notebook: it is not JSON") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Unmarked("not a notebook: its cells cannot be found") from error
    return found


def read_submission(raw: bytes, lecture: Lecture) -> dict[int, Found]:
    """Find the answers in a submitted notebook, by exercise number.

    Raises: Unmarked where it is no notebook, or not this lecture's.
    """
    if len(raw) > MOST:
        raise Unmarked(f"larger than {MOST >> 20} MB: not read")
    cells = code_cells(raw)
    blanks = {_plain(one.blank) for one in lecture.exercises}
    shared = sum(_plain(cell.source) in lecture.known | blanks for cell, _, _ in cells)
    own = [
        parsed(cell)
        for cell, _, _ in cells
        if cell.source.strip() and (_plain(cell.source) not in lecture.known)
    ]
    edited = [cell for cell in own if cell.id in lecture.ids]
    own = [cell for cell in own if cell.id not in lecture.ids]
    found = {one.number: _find(one, own, cells, lecture) for one in lecture.exercises}
    if shared == 0 and all(one.state == "missing" for one in found.values()):
        raise Unmarked(f"not the notebook of {lecture.name}: no cell of it is here")
    for one in found.values():
        if edited:
            many = f"{len(edited)} of the lecture's cells are"
            one.notes.append(f"{many if len(edited) > 1 else 'a cell of the lecture is'} edited")
    return found


def _find(
    exercise: Exercise, own: list[Cell], all_cells: list[tuple[Cell, set[str], str]], of: Lecture
) -> Found:
    """Find an exercise's answer among a student's own cells."""
    number = exercise.number
    here = [
        k
        for k, cell in enumerate(own)
        if exercise.answer in cell.binds and not _is_others(cell, exercise, of)
    ]
    if not here:
        near = [cell for cell in own if cell.id == exercise.id or _checks(cell, exercise)]
        if broken := [cell for cell in near if cell.error]:
            return Found([], [], "unreadable", broken[-1].error)
        if near:
            note = f"check of exercise {number} edited: no {exercise.answer} in its cell"
            return Found([], [note], "missing", f"no {exercise.answer} is defined")
        if any(_plain(cell.source) == _plain(exercise.blank) for cell, _, _ in all_cells):
            return Found([], [], "blank")
        return Found([], [], "missing", "the cell of this exercise is not there")
    *_, last = here
    cell = own[last]
    notes = []
    if not any(ast.dump(line) == exercise.call for one in own for line in _lines(one)):
        notes.append(f"check of exercise {number} edited")
    if SAYS.search(cell.source):
        notes.append("prints a verdict or touches the checks")
    if exercise.solution and _answer_of(cell) == exercise.solution:
        notes.append("the lecture's own solution, to the letter")
    return Found(needed(cell, own[:last]), notes)


def needed(answer: Cell, before: list[Cell]) -> list[Cell]:
    """Return the earlier cells that bind a name which the answer uses, and the answer, in order."""
    wanted, kept = set(answer.uses), [answer]
    for cell in reversed(before):
        if "*" in cell.binds or cell.binds & wanted:
            kept.append(cell)
            wanted |= cell.uses
    return kept[::-1]


def parsed(cell: Cell) -> Cell:
    """Fill in what a cell binds and uses, or why it cannot be read."""
    try:
        cell.tree = ast.parse(_without_magics(cell.source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        cell.error = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
        return cell
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.Name):
            (cell.uses if isinstance(node.ctx, ast.Load) else cell.binds).add(node.id)
            if isinstance(node.ctx, ast.Store):
                cell.uses.add(node.id)  # `x += 1` reads x, and is stored alone
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            cell.binds.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            cell.binds |= {(one.asname or one.name).split(".")[0] for one in node.names}
    return cell


def without_checks(cell: Cell, lecture: Lecture) -> ast.Module:
    """Return a cell's code less every top-level call of a check."""
    checks = {one.check for one in lecture.exercises}
    kept = [line for line in _lines(cell) if _called(line) not in checks]
    return ast.Module(kept, [])


def _exercise(cell: Cell, number: int) -> Exercise:
    for line in reversed(_lines(cell)):
        if _called(line) and isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
            (name,) = (one.id for one in line.value.args if isinstance(one, ast.Name))
            check = _called(line) or ""
            return Exercise(number, name, check, ast.dump(line), cell.source, cell.id)
    raise ValueError(f"exercise {number}: its cell calls no check")


def _called(line: ast.stmt) -> str | None:
    """The name of the check that a statement calls: ``check.name(…)``."""
    value = line.value if isinstance(line, ast.Expr) else None
    function = value.func if isinstance(value, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id == "check" else None
    return None


@dataclass(frozen=True)
class _Call:
    check: str


def _calls(cell: Cell) -> list[_Call]:
    return [_Call(name) for line in _lines(cell) if (name := _called(line))]


def _checks(cell: Cell, exercise: Exercise) -> bool:
    return re.search(rf"\bcheck\.{exercise.check}\b", cell.source) is not None


def _is_others(cell: Cell, exercise: Exercise, lecture: Lecture) -> bool:
    """Whether a cell is another exercise's that binds the same name."""
    mine = any(call.check == exercise.check for call in _calls(cell))
    others = {one.check for one in lecture.exercises if one.answer == exercise.answer}
    return not mine and any(call.check in others for call in _calls(cell))


def _lines(cell: Cell) -> list[ast.stmt]:
    return cell.tree.body if cell.tree else []


def _answer_of(cell: Cell) -> str:
    """The statements up to the check, as text that spaces and comments do not change."""
    kept = []
    for line in _lines(cell):
        if _called(line):
            break
        kept.append(ast.dump(line))
    return "\n".join(kept)


def _without_magics(source: str) -> str:
    """Comment out IPython's own lines: `%` and `!` mean nothing to an answer."""
    return re.sub(r"(?m)^(\s*)([%!].*)$", r"\1pass  # \2", source)


def _plain(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _text(source: Any) -> str:
    text = source if isinstance(source, str) else "".join(source)
    # half a surrogate is JSON, and no text
    return text.encode("utf-8", "replace").decode()
