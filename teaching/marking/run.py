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
from torch import nn

from teaching.marking import find, sandbox, values

PREFIX = "Exercise {}: "
STARTS = {"correct": "correct.", "not yet": "not yet.", "blank": "still blank."}
# the kinds of messages, and how many parts follow
LENGTHS = {"value": 1, "raised": 2, "unable": 0, "module": 1, "ask": 2}


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
        # whether a child alone can see all that the check looks at: a function that is not
        # defined in the cells, or what became of a model which the answer was called with
        self.unseen = False

    def mark(self) -> Mark:
        """Return the check's verdict on the answer, or what stopped it."""
        notes = [*self.found.notes]
        try:
            codes = [compile(tree, "<answer>", "exec") for tree in self.trees]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Mark("not yet", f"The cell cannot be read: {error}", notes)
        self.codes, self.shapes = codes, _functions(codes)
        try:
            with self._started(self._serve) as self.child:
                kind, *rest = _read(self.child)
                if kind == "raised":
                    return Mark("not yet", f"Your code raised {rest[0]}: {rest[1]}", notes)
                answer = values.decode(rest[0], self._callable)
                marked = _mark(_said(self.check, answer), self.exercise.number, notes)
            if self.unseen and marked.state in ("correct", "not yet"):
                # its verdict only takes away
                kind, *rest = self._alone(self._verdict)
                said = str(values.decode(rest[0])) if kind == "value" else ""
                inside = _mark(said, self.exercise.number, notes)
                return marked if inside.state == "correct" else inside
        except sandbox.Stopped as stopped:
            # what is left of the time is not what a student should read
            late = f"ran longer than {self.limits.seconds:g} s"
            words = late if "ran longer" in str(stopped) else stopped
            return Mark("stopped", f"The answer {words}.", notes)
        except (values.Unreadable, Unable, ValueError, RecursionError) as error:
            return Mark("stopped", f"What the answer returned cannot be read: {error}", notes)
        return marked

    def _started(self, work: Callable[[sandbox.Pipes], None]) -> sandbox.Child:
        limits = sandbox.Limits(max(self.until - time.monotonic(), 0.1), self.limits.memory)
        self.random = torch.get_rng_state()
        return sandbox.Child(work, self.folder, limits, guarded=self.guarded)

    def _alone(self, work: Callable[[], list[Any]]) -> list[Any]:
        """Do ``work`` in a child of its own, and return its message."""
        with self._started(lambda pipes: pipes.send(_told(work))) as child:
            return _read(child)

    # in a child

    def _answer(self) -> Any:
        """Run the student's cells."""
        names = self.warm.names
        for code in self.codes:
            exec(code, names)
        return names[self.exercise.answer]

    def _verdict(self) -> list[Any]:
        return ["value", values.encode(_said(self.check, self._answer()))]

    def _serve(self, pipes: sandbox.Pipes) -> None:
        """Send the answer, and call of it what is asked for, until nobody asks."""
        kept: list[Any] = []  # the answer, and modules of the class that it is

        def answer() -> list[Any]:
            kept.append(self._answer())
            return ["value", values.encode(kept[0])]

        def result() -> list[Any]:
            place, path, method, sent, random, grad = json.loads(asked)
            if random:
                torch.set_rng_state(values.decode(random))
            arguments, named = values.decode(sent, functools.partial(_handed, pipes))
            what = values.part(kept[place], path)
            with torch.set_grad_enabled(grad):
                found = (getattr(what, method) if method else what)(*arguments, **named)
            if isinstance(found, nn.Module) and (method or isinstance(what, type)):
                kept.append(found)
                return ["module", len(kept) - 1]
            return ["value", values.encode(found, None)]

        pipes.send(_told(answer))
        with contextlib.suppress(EOFError):
            while True:
                asked = pipes.receive()
                pipes.send(_told(result))

    # here

    def _ask(
        self, place: int, path: values.Path, method: str, arguments: Any, named: dict[str, Any]
    ) -> Any:
        """Have the child call what it keeps, or a method of it; functions handed in run here.

        Raises: Unable where a function is called with what is no plain data; what the call raises.
        """
        sent, random = [list(arguments), named], torch.get_rng_state()
        # an unchanged state goes on in the child: two calls draw different numbers
        state = None if torch.equal(random, self.random) else values.encode(random)
        self.random = random
        asked = [place, path, method, values.encode(sent), state, torch.is_grad_enabled()]
        self.child.send(json.dumps(asked).encode())
        while True:
            kind, *rest = _read(self.child)
            if kind == "ask":
                self.child.send(_told(functools.partial(_called, sent, *rest)))
            elif kind == "unable":
                raise Unable
            elif kind == "module":
                return _Place(int(rest[0]))
            else:
                return _value(kind, *rest)

    def _callable(self, kind: str, path: values.Path, name: str) -> Callable[..., Any]:
        """Return what stands here for a function, or a class of modules, of the student's."""
        if kind == "class":
            return _remote(self._ask, path)

        def call(*arguments: Any, **named: Any) -> Any:
            if values.plain([arguments, named], functions=True):
                with contextlib.suppress(Unable):
                    return self._ask(0, path, "", arguments, named)
            self.unseen = True

            def work() -> list[Any]:
                function = values.part(self._answer(), path)
                return ["value", values.encode(function(*arguments, **named), None)]

            return _value(*self._alone(work))

        call.__name__ = name
        # a check that looks at the names which a function uses finds them here, never called
        if shape := self.shapes.get(name):
            functools.update_wrapper(call, shape)
        else:
            self.unseen = True
        return call


class Unable(BaseException):
    """A function handed to an answer was called with what is no plain data."""


class _Place(int):
    """The place of a module among those that a child keeps."""


def _told(work: Callable[[], list[Any]]) -> bytes:
    """What ``work`` returns or raises, as a message."""
    try:
        told = work()
    except MemoryError:
        raise
    except Unable:
        told = ["unable"]
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        words = str(error)[:2000]
        if isinstance(error, RuntimeError) and "allocate memory" in words:
            raise MemoryError from error
        told = ["raised", type(error).__name__, words]
    return json.dumps(told).encode()


def _read(pipes: sandbox.Pipes) -> list[Any]:
    """Return the next message, its kind first."""
    try:
        told = json.loads(pipes.receive())
        if len(told) != 1 + LENGTHS[told[0]]:
            raise values.Unreadable("not what was asked for")
    except (ValueError, RecursionError, TypeError, LookupError) as error:
        raise values.Unreadable("not what was asked for") from error
    return told


def _value(kind: str, *rest: Any) -> Any:
    """Return what a call returned, or raise what it raised."""
    if kind == "raised":
        raise values.raised(str(rest[0]), str(rest[1]))
    return values.decode(rest[0] if kind == "value" else None)


def _handed(pipes: sandbox.Pipes, _: str, path: values.Path, name: str) -> Callable[..., Any]:
    """Return what stands in the child for a function that a check hands in."""

    def call(*arguments: Any, **named: Any) -> Any:
        if not values.plain([arguments, named]):
            raise Unable
        pipes.send(json.dumps(["ask", path, values.encode([[*arguments], named])]).encode())
        return _value(*_read(pipes))

    call.__name__ = name
    return call


def _called(sent: list[Any], path: Any, data: Any) -> list[Any]:
    """Call the function that was handed in at ``path``."""
    function, (arguments, named) = values.part(sent, path), values.decode(data)
    if not isinstance(function, FunctionType):
        raise TypeError("no function was handed in there")
    return ["value", values.encode(function(*arguments, **named), None)]


def _remote(ask: Callable[..., Any], path: values.Path) -> type[nn.Module]:
    """Return a class whose modules are kept by the child: what is done to them is done there."""

    class Remote(nn.Module):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__()
            self.place = ask(0, path, "", arguments, named)
            if not isinstance(self.place, _Place):
                raise values.Unreadable("a class that makes no module")

    def method(name: str) -> Callable[..., Any]:
        def call(self: Remote, *arguments: Any, **named: Any) -> Any:
            found = ask(self.place, (), name, arguments, named)
            if not isinstance(found, _Place):
                return found
            self.place = found
            return self

        return call

    Remote.__call__ = method("")
    for name in ("double", "half", "float", "train", "eval", "load_state_dict"):
        setattr(Remote, name, method(name))
    return Remote


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
