"""Mark a folder: a marker for each submission, several at once, and what is marked stays marked."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attnlab import exercises
from teaching.marking import find, sandbox
from teaching.marking.run import Marked, Warm

VERSION = 2  # of how is marked; another one marks all anew
SKIPPED = {".ipynb_checkpoints", "__MACOSX", ".git"}


@dataclass(frozen=True)
class Submission:
    """A file and the name of its row: its path below the folder that was given, less ``.ipynb``."""

    student: str
    path: Path


@dataclass
class _Running:
    submission: Submission
    digest: str
    process: int
    pipe: int
    until: float
    began: float
    folder: Path
    held: bytearray


def submissions(places: Sequence[Path]) -> list[Submission]:
    """Find the notebooks: files as they are named, folders by every ``.ipynb`` below them.

    Raises: ValueError where a place does not exist, or two rows would have one name.
    """
    found: dict[str, Path] = {}
    for place in places:
        if not place.exists():
            raise ValueError(f"{place} does not exist")
        inside = sorted(place.rglob("*.ipynb")) if place.is_dir() else [place]
        for path in inside:
            below = path.relative_to(place) if place.is_dir() else Path(path.name)
            if SKIPPED & set(below.parts) or (path.is_dir() and place != path):
                continue
            student = below.with_suffix("").as_posix()
            if found.get(student, path) != path:
                raise ValueError(f"{student} names two submissions, {found[student]} and {path}")
            found[student] = path
    if not found:
        raise ValueError(f"no .ipynb in {', '.join(map(str, places))}")
    return [Submission(name, path) for name, path in found.items()]


def mark_all(
    found: Iterable[Submission],
    warm: Callable[[], Warm],
    out: Path,
    *,
    settings: str,
    limits: sandbox.Limits,
    jobs: int = 1,
    guarded: bool = True,
    told: Callable[[Marked, bool], None] = lambda *_: None,
) -> list[Marked]:
    """Mark every submission that is not marked yet; ``told(marked, anew)`` hears of each.

    ``warm`` is called where there is something to mark. ``settings`` is what the marks depend on
    besides the file: other settings, or another file, are marked anew.
    """
    kept = out / "marks"
    kept.mkdir(parents=True, exist_ok=True)
    rows, waiting = dict[str, Marked](), list[tuple[Submission, str, bytes | None]]()
    order = list(found)
    for one in order:
        raw = _read(one.path)
        held = raw if raw is not None else b"unread"
        digest = hashlib.sha256(f"{VERSION}\n{settings}\n".encode() + held).hexdigest()
        before = _stored(_place(kept, one), digest)
        if before is not None:
            rows[one.student] = before
            told(before, False)
        else:
            waiting.append((one, digest, raw))
    if waiting:
        # forked from here: what the lecture holds is shared by all markers
        for row in _markers(warm(), waiting, limits, jobs, guarded):
            rows[row.student] = row
            (submission,) = (one for one in order if one.student == row.student)
            place = _place(kept, submission)
            place.with_suffix(".new").write_text(row.as_json(), encoding="utf-8")
            place.with_suffix(".new").replace(place)
            told(row, True)
    return [rows[one.student] for one in order]


def _markers(
    warm: Warm,
    waiting: list[tuple[Submission, str, bytes | None]],
    limits: sandbox.Limits,
    jobs: int,
    guarded: bool,
) -> Iterator[Marked]:
    """Keep ``jobs`` markers at work, and yield what each found."""
    queue, running = waiting[::-1], dict[int, _Running]()
    most = (limits.seconds + 10) * len(warm.lecture.exercises) + 30
    try:
        while queue or running:
            while queue and len(running) < jobs:
                submission, digest, raw = queue.pop()
                if raw is None:
                    why = "cannot be read: no file, a link, or larger than 100 MB"
                    yield Marked(submission.student, digest, why)
                    continue
                one = _start(warm, submission, digest, raw, limits, guarded, most)
                running[one.pipe] = one
            left = [one.until - time.monotonic() for one in running.values()]
            if not left:
                continue
            ready, _, _ = select.select(list(running), [], [], max(0.0, min(left)))
            for pipe in ready:
                one = running[pipe]
                more = os.read(pipe, 1 << 16)
                one.held += more
                if not more:
                    del running[pipe]
                    yield _end(one)
            for pipe, one in list(running.items()):
                if time.monotonic() >= one.until:
                    del running[pipe]
                    os.kill(one.process, signal.SIGKILL)
                    yield _end(one, f"not marked within {most:.0f} s")
    finally:
        for one in running.values():
            os.kill(one.process, signal.SIGKILL)
            _end(one)


def _start(
    warm: Warm,
    submission: Submission,
    digest: str,
    raw: bytes,
    limits: sandbox.Limits,
    guarded: bool,
    most: float,
) -> _Running:
    """Fork a marker, which sends its marks through a pipe and ends."""
    folder = Path(tempfile.mkdtemp(prefix="marking-"))
    inward, outward = os.pipe()
    began = time.monotonic()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(inward)
            if guarded:
                sandbox.close_network()
            sandbox.keep_within(limits.memory)
            row = Marked(submission.student, digest)
            try:
                row.marks = warm.mark(raw, folder, limits, guarded=guarded)
            except find.Unmarked as error:
                row.problem = str(error)
            with os.fdopen(outward, "wb") as pipe:
                pipe.write(row.as_json().encode())
            code = 0
        finally:
            os._exit(code)
    os.close(outward)
    until = began + most
    return _Running(submission, digest, process, inward, until, began, folder, bytearray())


def _end(one: _Running, problem: str = "") -> Marked:
    """Take a marker's marks; what crashed has a row that says so."""
    os.close(one.pipe)
    status = os.waitstatus_to_exitcode(os.waitpid(one.process, 0)[1])
    shutil.rmtree(one.folder, ignore_errors=True)
    row = Marked(one.submission.student, one.digest, problem)
    if not problem:
        try:
            row = Marked.from_json(one.held.decode())
        except (ValueError, KeyError, TypeError):
            row.problem = f"its marker crashed (exit code {status})"
    row.seconds = round(time.monotonic() - one.began, 2)
    return row


def _read(path: Path) -> bytes | None:
    """A submission's bytes; None where it is a link, no file or too large."""
    with suppress(OSError):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= find.MOST:
            return path.read_bytes()
    return None


def _place(kept: Path, submission: Submission) -> Path:
    """Where a submission's marks are kept: a name that any system takes, and no two share."""
    name = hashlib.sha256(submission.student.encode("utf-8", "replace")).hexdigest()[:24]
    return kept / f"{name}.json"


def _stored(place: Path, digest: str) -> Marked | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        row = Marked.from_json(place.read_text(encoding="utf-8"))
        return row if row.digest == digest else None
    return None


def settings_of(lecture: Path, limits: sandbox.Limits) -> str:
    """What marks depend on besides a submission: the lecture, its checks' package, the limits."""
    digest = hashlib.sha256(lecture.read_bytes())
    for path in sorted(Path(exercises.__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return json.dumps([digest.hexdigest(), limits.seconds, limits.memory])
