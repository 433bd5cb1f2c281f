"""Mark one submission: the lecture runs once, each answer in a child of its own."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from attnbook.exercises.marking import find, sandbox, values

PREFIX = "Exercise {}: "
STARTS = {"correct": "correct.", "not yet": "not yet.", "blank": "still blank."}
OWN = "checked in the student's own process: read this answer"


@dataclass
class Mark:
    """What became of one exercise: a state of `STATES` and the check's words."""

    state: str
    words: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Marked:
    """A submission's row: why it could not be marked, or a mark an exercise."""

    student: str
    digest: str
    problem: str = ""
    marks: dict[int, Mark] = field(default_factory=dict)
    seconds: float = 0.0

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Marked:
        held = json.loads(text)
        held["marks"] = {int(k): Mark(**mark) for k, mark in held["marks"].items()}
        return cls(**held)


class Warm:
    """A lecture that has been run, but for its exercises; markers are forked from it."""

    def __init__(self, lecture: find.Lecture) -> None:
        torch.set_num_threads(1)  # a fork has one thread; torch would wait for its others
        self.lecture = lecture
        self.names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        with contextlib.redirect_stdout(io.StringIO()):
            for number, source in enumerate(lecture.cells, 1):
                exec(compile(source, f"<{lecture.name}, cell {number}>", "exec"), self.names)
        if not isinstance(self.names.get("check"), ModuleType):
            raise ValueError(f"{lecture.name}: it does not import its checks as `check`")
        self.check = importlib.import_module(self.names["check"].__name__)

    def mark(
        self, raw: bytes, folder: Path, limits: sandbox.Limits, *, guarded: bool = True
    ) -> dict[int, Mark]:
        """Mark every exercise of a submission; in a process that may run this one alone.

        Raises: find.Unmarked where the submission cannot be read.
        """
        marks = {}
        for number, found in find.read_submission(raw, self.lecture).items():
            (exercise,) = (one for one in self.lecture.exercises if one.number == number)
            began = time.monotonic()
            if found.state == "answered":
                with _folder(folder) as own:
                    judge = Judge(self, exercise, found, own, limits, guarded)
                    marks[number] = judge.mark()
            elif found.state == "unreadable":
                words = f"The cell cannot be read: {found.words}"
                marks[number] = Mark("not yet", words, found.notes)
            else:
                marks[number] = Mark(found.state, found.words, found.notes)
            marks[number].seconds = round(time.monotonic() - began, 3)
        return marks


@contextlib.contextmanager
def _folder(above: Path) -> Any:
    """A temporary folder; one that cannot be cleared is left, and harms nobody."""
    own = Path(tempfile.mkdtemp(dir=above))
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


class Judge:
    """Check one answer here, and have it computed in children."""

    def __init__(
        self,
        warm: Warm,
        exercise: find.Exercise,
        found: find.Found,
        folder: Path,
        limits: sandbox.Limits,
        guarded: bool,
    ) -> None:
        self.warm, self.exercise, self.found = warm, exercise, found
        self.folder, self.limits, self.guarded = folder, limits, guarded
        self.trees = [find.without_checks(cell, warm.lecture) for cell in found.cells]
        self.until = time.monotonic() + limits.seconds
        self.check = getattr(warm.check, exercise.check)

    def mark(self) -> Mark:
        """Return the check's verdict on the answer, or what stopped it."""
        notes = [*self.found.notes]
        try:
            codes = [compile(tree, "<answer>", "exec") for tree in self.trees]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Mark("not yet", f"The cell cannot be read: {error}", notes)
        self.codes, self.shapes = codes, _functions(codes)
        try:
            kind, *rest = self._child(self._value)
            if kind == "together":
                kind, *rest = self._child(self._verdict)
                return _mark(str(rest[0]), self.exercise.number, [*notes, OWN])
            if kind == "raised":
                return Mark("not yet", f"Your code raised {rest[0]}: {rest[1]}", notes)
            answer = values.decode(rest[0], self._function)
            said = _said(self.check, answer)
        except sandbox.Stopped as stopped:
            return Mark("stopped", f"The answer {stopped}.", notes)
        except (values.Unreadable, ValueError, RecursionError) as error:
            return Mark("stopped", f"What the answer returned cannot be read: {error}", notes)
        return _mark(said, self.exercise.number, notes)

    def _child(self, work: Callable[[], list[Any]]) -> list[Any]:
        """Do ``work`` in a child, and read the list that it returns."""
        limits = sandbox.Limits(max(self.until - time.monotonic(), 0.1), self.limits.memory)

        def sent() -> bytes:
            try:
                told = work()
            except MemoryError:
                raise
            except (Exception, SystemExit, KeyboardInterrupt) as error:
                words = str(error)[:2000]
                if isinstance(error, RuntimeError) and "allocate memory" in words:
                    raise MemoryError from error
                told = ["raised", type(error).__name__, words]
            return json.dumps(told).encode()

        try:
            raw = sandbox.outside(sent, self.folder, limits, guarded=self.guarded)
        except sandbox.Stopped as stopped:
            # what is left of the time is not what a student should read
            late = f"ran longer than {self.limits.seconds:g} s"
            raise sandbox.Stopped(late if "ran longer" in str(stopped) else stopped) from None
        try:
            told = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise values.Unreadable("not what was asked for") from error
        if not isinstance(told, list) or not told:
            raise values.Unreadable("not what was asked for")
        return told

    def _answer(self) -> Any:
        """Run the student's cells; in a child alone."""
        names = self.warm.names
        for code in self.codes:
            exec(code, names)
        return names[self.exercise.answer]

    def _value(self) -> list[Any]:
        try:
            return ["value", values.encode(self._answer())]
        except values.NotPlain:
            return ["together"]

    def _verdict(self) -> list[Any]:
        return ["verdict", _said(self.check, self._answer())]

    def _function(self, path: values.Path, name: str) -> Callable[..., Any]:
        """Return what stands here for a function of the student's."""

        def call(*arguments: Any, **named: Any) -> Any:
            def work() -> list[Any]:
                function = values.part(self._answer(), path)
                return ["value", values.encode(function(*arguments, **named), None)]

            kind, *rest = self._child(work)
            if kind == "raised":
                raise values.raised(str(rest[0]), str(rest[1]))
            return values.decode(rest[0])

        call.__name__ = name
        # a check that looks at the names which a function uses finds them here, never called
        if shape := self.shapes.get(name):
            functools.update_wrapper(call, shape)
        return call


def _said(check: Callable[[Any], None], answer: Any) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        check(answer)
    return printed.getvalue()


def _mark(said: str, number: int, notes: list[str]) -> Mark:
    """Read the line that a check printed."""
    line = said.strip().removeprefix(PREFIX.format(number))
    for state, start in STARTS.items():
        if line.startswith(start):
            return Mark(state, line.removeprefix(start).strip(), notes)
    return Mark("stopped", "The check said nothing that can be read.", notes)


def _functions(codes: list[CodeType]) -> dict[str, FunctionType]:
    """The functions that cells define, with those beside them as globals: to look at."""
    shapes: dict[str, Any] = {"__name__": "__main__"}
    for code in codes:
        for inner in code.co_consts:
            if isinstance(inner, CodeType) and not inner.co_freevars:
                shapes[inner.co_name] = FunctionType(inner, shapes)
    return shapes
