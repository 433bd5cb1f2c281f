"""The command line: options, what it says on the way, errors in a sentence."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from teaching.marking import find, sandbox
from teaching.marking.folder import mark_all, settings_of, submissions
from teaching.marking.run import Marked, Warm
from teaching.marking.table import summary, write_table

EXAMPLE = """\
python -m teaching.marking submissions/ --lecture 7 --out marks/

writes marks/marks.csv, a row a student, and marks/summary.txt. Given again, it marks only files
that are new or have changed. Answers run shut in, without network, on Linux.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Mark as the arguments say; return 0, or 1 after an error in words."""
    options = _parser().parse_args(arguments)
    try:
        return _mark(options)
    except KeyboardInterrupt:
        words = "stopped; the same command goes on with what is not marked yet"
    except (ValueError, OSError, ImportError) as error:
        words = str(error)
    print(f"marking: {words}", file=sys.stderr)
    return 1


def _mark(options: argparse.Namespace) -> int:
    _shut_in(unguarded=options.unguarded)
    path = lecture_path(options.lecture)
    lecture = find.read_lecture(path)
    found = submissions([Path(one) for one in options.submissions])
    limits = sandbox.Limits(options.seconds, int(options.memory * (1 << 30)))
    os.environ.setdefault("MPLBACKEND", "Agg")
    os.environ.setdefault("TQDM_DISABLE", "1")
    count = 0

    def warm() -> Warm:
        began = time.monotonic()
        print(f"{lecture.name}: running the lecture's own cells …", flush=True)
        ready = Warm(lecture)
        print(f"  done in {time.monotonic() - began:.0f} s", flush=True)
        return ready

    def told(row: Marked, anew: bool) -> None:
        nonlocal count
        count += 1
        if anew:
            right = sum(mark.state == "correct" for mark in row.marks.values())
            said = row.problem or f"{right} of {len(lecture.exercises)} correct"
            print(
                f"  {count}/{len(found)} {row.student!r}: {said}, {row.seconds:.1f} s", flush=True
            )

    out = Path(options.out)
    rows = mark_all(
        found,
        warm,
        out,
        settings=settings_of(path, limits),
        limits=limits,
        jobs=options.jobs,
        guarded=not options.unguarded,
        told=told,
    )
    _write(rows, lecture, out)
    return 0


def _shut_in(*, unguarded: bool) -> None:
    """Raise where this system cannot hold students' code."""
    if sys.platform != "linux":
        raise ValueError(
            "students' code is shut in by Linux: mark there, in WSL or in a container. "
            f"This system is {sys.platform}"
        )
    lacks = sandbox.missing()
    if lacks and not unguarded:
        raise ValueError(
            f"this system lacks {', '.join(lacks)}, which shut students' code in: use another, "
            "or say --unguarded where all of the code is trusted"
        )


def _write(rows: list[Marked], lecture: find.Lecture, out: Path) -> None:
    """Write the table and the summary, and print where they are."""
    numbers = [one.number for one in lecture.exercises]
    write_table(rows, numbers, out / "marks.csv")
    text = summary(rows, numbers, lecture.name)
    (out / "summary.txt").write_text(text, encoding="utf-8")
    print(f"\n{text}\n{out / 'marks.csv'}, {out / 'summary.txt'}")


def lecture_path(lecture: str) -> Path:
    """Find a lecture's stored notebook: by its number, in the book's clone, or by its path.

    Raises: ValueError where there is none.
    """
    if lecture.endswith(".ipynb"):
        if not Path(lecture).is_file():
            raise ValueError(f"{lecture} does not exist")
        return Path(lecture)
    if not (lecture.isascii() and lecture.isdigit()):
        raise ValueError(f"--lecture is a number or a notebook's path, not {lecture!r}")
    here = [Path.cwd(), *Path.cwd().parents, *Path(__file__).resolve().parents]
    for folder in here:
        if found := sorted((folder / "notebooks").glob(f"{int(lecture):02d}-*.ipynb")):
            return found[0]
    raise ValueError(
        f"lecture {lecture} is in no folder notebooks/ here: run this in a clone of the book, or "
        "give the path of the lecture's own notebook"
    )


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _jobs(text: str) -> int:
    if not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to 256")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m teaching.marking",
        description="Mark submitted notebooks of one lecture.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("submissions", nargs="+", help="notebooks, or folders of them")
    add("--lecture", required=True, help="its number, or the path of its own notebook")
    add("--out", required=True, help="a folder for the marks")
    add("--jobs", type=_jobs, default=os.cpu_count() or 1, help="submissions at once")
    add("--seconds", type=_positive, default=60.0, help="an exercise may take (60)")
    add("--memory", type=_positive, default=2.0, help="GB an exercise may take (2)")
    add("--unguarded", action="store_true", help="go on where the system cannot shut code in")
    return parser
