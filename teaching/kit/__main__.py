"""Write the teaching kit into _build/kit, and all of it into one zip file.

    python -m teaching.kit                  # everything, from the notebooks as they are stored
    python -m teaching.kit 07               # the notebooks of one lecture; the rest stays
    python -m teaching.kit --at ADDRESS     # a badge for Colab that leads to your own folder
    python -m teaching.kit --for nbgrader   # the exercises as a course, into course/
    python -m teaching.kit --for nbgrader 5:1,2 13:2,3    # of two lectures, these earn points
    python -m teaching.kit --for otter --to FOLDER    # as assignments for Otter-Grader
    python -m teaching.kit --pdf            # the slides as PDF, too; needs a Chromium (a minute)

ADDRESS is a folder on GitHub as the browser shows it, such as
https://github.com/OWNER/REPO/tree/BRANCH/FOLDER, where you will put the students' notebooks.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from attnlab._console import any_letter
from teaching.kit import bank, copies, nbgrader, otter, slides
from teaching.kit.assignment import Assignment, assignment
from teaching.kit.deck import pdf
from teaching.kit.deck.read import SlidesError
from teaching.kit.lectures import ROOT, KitError, home, lectures
from teaching.kit.packed import NAME, pack

FOLDER = ROOT / "_build" / "kit"
GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:tree|blob)/([\w./-]*\w)/?")

# what the kit is made of besides the notebooks: each writes its files into the kit's folder
PARTS: dict[str, Callable[[Path], object]] = {
    "slides": slides.write,
    "questions": bank.write,
}
# who marks the exercises: each writes the assignments as its tool wants them
GRADERS: dict[str, Callable[[Path, list[Assignment]], object]] = {
    "nbgrader": nbgrader.write,
    "otter": otter.write,
}
FOLDERS = {"nbgrader": "course", "otter": "assignments"}  # not in _build, which `clean` empties


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    about, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m teaching.kit",
        description=about,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="lectures by name or number (default: all)")
    parser.add_argument("--at", metavar="ADDRESS", default="", help="see below")
    parser.add_argument("--for", dest="grader", choices=GRADERS, help="see above")
    parser.add_argument("--to", metavar="FOLDER", help="where the assignments go")
    parser.add_argument("--pdf", action="store_true", help="print the slides, too")
    options = parser.parse_args(arguments)
    if options.pdf and (options.names or options.grader):
        parser.error("--pdf prints all decks: name no lecture and no grader with it")
    if options.grader:
        return hand_to(options.grader, options.names, options.at, options.to)
    began = time.perf_counter()
    fresh = folder.with_name(f"{folder.name}.new")  # so that a mistake leaves the old kit whole
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        at = place(options.at)
        chromium = pdf.found() if options.pdf else ""
        if options.names and folder.exists():
            shutil.copytree(folder, fresh)
        count = copies.write(fresh, options.names, at)
        print(f"  notebooks: {count}, {time.perf_counter() - began:.1f} s", flush=True)
        for name, write in PARTS.items() if not options.names else ():
            start = time.perf_counter()
            write(fresh)
            print(f"  {name}: {time.perf_counter() - start:.1f} s", flush=True)
        if chromium:
            start = time.perf_counter()
            made = pdf.write(sorted((fresh / "slides").glob("[0-9]*.html")), chromium)
            print(f"  slides as PDF: {len(made)}, {time.perf_counter() - start:.1f} s", flush=True)
        pack(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    except (KitError, SlidesError) as error:
        print(f"\nkit: {error}\n(what was in _build/kit stays)", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    target = folder / f"{NAME}.zip"
    size = target.stat().st_size / 1e6
    print(f"kit: {target} ({size:.1f} MB) in {time.perf_counter() - began:.0f} s")
    return 0


def hand_to(grader: str, names: list[str], at: str, to: str | None) -> int:
    """Write the assignments of the lectures that are named for a grader; what else is there stays.

    A course's marks lie beside its sources, so the folder is not made anew.
    """
    folder = Path(to) if to else ROOT / FOLDERS[grader]
    try:
        if at:
            raise KitError("--at leads to students' copies, and --for makes none: give one of them")
        here = home()
        made = [
            assignment(lecture, here, chosen)
            for name, chosen in map(choice, names or [""])
            for lecture in lectures([name] if name else None)
        ]
        GRADERS[grader](folder, made)
    except (KitError, OSError) as error:
        print(f"\nkit: {error}", file=sys.stderr)
        return 1
    points = sum(len(one.graded) for one in made)
    print(f"kit: {len(made)} assignments for {grader}, {points} exercises to mark, in {folder}")
    if here.pair[0] == "OWNER":
        print("kit: their set-up cell installs from OWNER; say whose book it is by `make address`")
    return 0


def choice(given: str) -> tuple[str, set[int] | None]:
    """Read a lecture's name or number, and after a colon the exercises that are marked.

    Raises: KitError for what is no list of numbers.
    """
    name, colon, numbers = given.partition(":")
    if not colon:
        return name, None
    if not re.fullmatch(r"\d{1,2}(,\d{1,2})*", numbers) or not name:
        raise KitError(f"{given!r} names no exercises; wanted a lecture and numbers, such as 5:1,2")
    return name, {int(one) for one in numbers.split(",")}


def place(given: str) -> str:
    """Return the folder on GitHub that an address names, as Colab names it."""
    if not given:
        return ""
    if not (found := GITHUB.fullmatch(given)):
        raise KitError(
            f"--at is {given!r}; wanted a folder on GitHub as the browser shows it, such as "
            "https://github.com/OWNER/REPO/tree/BRANCH/FOLDER"
        )
    return f"{found[1]}/blob/{found[2]}"


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
