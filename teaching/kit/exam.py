"""Make a printable exam, and its key apart, from the book's exam questions and your own.

    make exam SEED=7                                  # 60 points from all lectures
    make exam SEED=7 LECTURES=1,5-7 POINTS=30         # from these
    make exam SEED=7 BANK=FOLDER                      # your own questions first
    make exam SEED=7 BANK=FOLDER PRIVATE_ONLY=1       # and no others
    python -m teaching.kit.exam --seed 7              # the same without make

The seed decides which questions are asked, with which numbers, and in which order a question's
options stand; the same seed gives the same pages. They are written as HTML and, where there is a
Chromium, as PDF; beside the key lie the same questions for Moodle, as GIFT and for Canvas.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import random
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from attnlab._console import any_letter
from teaching.kit.bank import BOOK, EXAMS, Entry, courses, for_exams
from teaching.kit.lectures import ROOT, KitError
from teaching.kit.printed import pdf
from teaching.kit.sheets import HERE, key, sheet

POINTS = 60


@dataclass(frozen=True)
class Exam:
    """The questions of an exam, and what tells it from every other."""

    entries: list[Entry]  # in the book's order
    seed: int
    lectures: list[int]  # from which they were to come

    @property
    def points(self) -> float:
        return sum(entry["points"] for entry in self.entries)

    @property
    def check(self) -> str:
        """Four signs that change with every word and number of the exam."""
        told = json.dumps([self.seed, self.lectures, self.entries], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:4]

    @property
    def version(self) -> str:
        """What is printed on every sheet of the exam and of its key."""
        s = "s" if len(self.lectures) > 1 else ""
        lectures = ", ".join(spans(self.lectures, "–"))
        return (f"Version {self.seed} · lecture{s} {lectures} · {self.points:g} points · "
                f"check {self.check}")  # fmt: skip

    @property
    def name(self) -> str:
        """What its files are called: exam-7-lectures-1_5-7-60-points-3f9a."""
        lectures = "_".join(spans(self.lectures, "-"))
        return f"exam-{self.seed}-lectures-{lectures}-{self.points:g}-points-{self.check}"


def spans(numbers: list[int], to: str) -> list[str]:
    """Write numbers in order, each run of them by its ends: 1, 5-7."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return [f"{run[0]}{to}{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]


def whole(name: str, given: str, least: int) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"-?\d{1,9}", given) or int(given) < least:
        raise KitError(f"{name} is {given!r}; wanted a whole number from {least} on, such as 7")
    return int(given)


def numbers(given: str, known: set[int]) -> list[int]:
    """Read lectures such as "1,5-7"; all that have questions where nothing is given.

    Raises: KitError for what is no such list, and a lecture that has no questions.
    """
    if not given.strip():
        return sorted(known)
    found: set[int] = set()
    for part in given.split(","):
        ends = re.fullmatch(r"\s*(\d{1,3})\s*(?:-\s*(\d{1,3})\s*)?", part)
        if not ends:
            raise KitError(f"lectures is {given!r}; wanted numbers such as 1,5-7")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first:
            raise KitError(f"lectures is {given!r}: {first}-{last} runs backwards")
        found.update(range(first, last + 1))
    if lacking := sorted(found - known):
        have = ", ".join(map(str, sorted(known))) or "none"
        raise KitError(f"lecture {lacking[0]} has no exam questions; these have: {have}")
    return sorted(found)


def choose(entries: list[Entry], points: int | None, draw: random.Random) -> list[Entry]:
    """Choose questions that have just so many points, taking lectures in turn; in the book's order.

    A public question is chosen once all private ones of its lecture are. Without points: 60 of
    them, or all where there are fewer.

    Raises: KitError for more points than there are, and a sum that no choice gives.
    """
    there = sum(entry["points"] for entry in entries)
    if points is not None and points > there:
        raise KitError(f"{points} points are wanted, and the questions of these lectures have "
                        f"{there:g} in all")  # fmt: skip
    if points is None and there <= POINTS:
        return entries
    wanted = POINTS if points is None else points
    rows = {n: [e for e in entries if e["lecture"] == n] for n in {e["lecture"] for e in entries}}
    for row in rows.values():
        draw.shuffle(row)
        row.sort(key=lambda entry: not entry["private"])

    def waiting(entry: Entry, chosen: list[Entry]) -> bool:
        """Whether private questions of this one's lecture are still to be asked."""
        return any(one["private"] and one not in chosen for one in rows[entry["lecture"]])

    turns = sorted(rows)
    draw.shuffle(turns)
    reached: dict[float, list[Entry]] = {0: []}  # for each sum, of most lectures
    for k in range(max(map(len, rows.values()))):
        for entry in (rows[n][k] for n in turns if k < len(rows[n])):
            for total, chosen in list(reached.items()):
                more, longer = total + entry["points"], [*chosen, entry]
                better = merit(longer) > merit(reached.get(more, []))
                if better and more <= wanted and (entry["private"] or not waiting(entry, chosen)):
                    reached[more] = longer
        if wanted in reached:
            return sorted(reached[wanted], key=entries.index)
    near = max(reached)
    raise KitError(f"no choice of these questions has {wanted} points; {near:g} can be had")


def merit(chosen: list[Entry]) -> tuple[int, float]:
    """Of choices with the same points that of more lectures is better, then the more private."""
    private = sum(entry["points"] for entry in chosen if entry["private"])
    return spread(chosen), private


def spread(chosen: list[Entry]) -> int:
    """Count the lectures that questions come from."""
    return len({entry["lecture"] for entry in chosen})


def exam(
    seed: int,
    lectures: str = "",
    points: int | None = None,
    folder: Path | None = None,
    private_only: bool = False,
) -> Exam:
    """Draw an exam; ``folder`` holds private questions.

    Raises: KitError for what cannot be asked, and a folder of which nothing would be.
    """
    if private_only and folder is None:
        raise KitError("private questions alone are wanted, and no folder of them is given")
    entries = for_exams(seed, folder, private_only=private_only)
    chosen = numbers(lectures, {entry["lecture"] for entry in entries})
    entries = [entry for entry in entries if entry["lecture"] in chosen]
    found = choose(entries, points, random.Random(f"exam {seed} {chosen} {points}"))
    if folder is not None and not any(entry["private"] for entry in found):
        raise KitError(f"none of the questions of {folder} would be asked: none is on these "
                       "lectures, or fits into the points")  # fmt: skip
    return Exam(found, seed, chosen)


def write(folder: Path, made: Exam) -> list[Path]:
    """Write an exam, its key, what both load, and the key's files for course systems.

    Returns: the two pages. Every file but what both load is called by the exam's name.
    """
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise KitError("no MathJax: install what requirements.txt names (`make book` does it)")
    folder.mkdir(parents=True, exist_ok=True)
    # draws formulae as SVG, and so needs no font's file
    mathjax = Path(found.origin).parent / "static" / "mathjax" / "tex-svg.js"
    shutil.copyfile(mathjax, folder / "formulae.js")
    shutil.copyfile(ROOT / "book" / "assets" / "fonts.css", folder / "fonts.css")
    shutil.copyfile(HERE / "exam.css", folder / "exam.css")
    pages = {
        f"{made.name}.html": sheet(made.entries, BOOK, made.version),
        f"{made.name}-key.html": key(made.entries, BOOK, made.version),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    quiz = {f"{BOOK}: {made.version}": made.entries}
    for name, data in courses(quiz, f"{made.name}-key", made.seed).items():
        (folder / name).write_bytes(data)
    return [folder / name for name in pages]


def main(arguments: list[str] | None = None) -> int:
    about, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m teaching.kit.exam",
        description=about,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", default="", help="a whole number; the version of the exam")
    parser.add_argument("--lectures", default="", help="such as 1,5-7 (default: all)")
    parser.add_argument("--points", default="", help=f"how many (default: {POINTS}, or all)")
    parser.add_argument("--bank", type=Path, help="a folder of your own questions")
    parser.add_argument("--private-only", action="store_true", help="ask no public question")
    parser.add_argument("--out", type=Path, default=EXAMS, help="the folder to write into")
    options = parser.parse_args(arguments)
    try:
        seed = whole("seed", options.seed, 0)
        points = whole("points", options.points, 1) if options.points else None
        bank = options.bank and options.bank.expanduser()
        made = exam(seed, options.lectures, points, bank, options.private_only)
        pages = write(options.out, made)
    except KitError as error:
        print(f"exam: {error}", file=sys.stderr)
        return 1
    printed, told = pdf(pages)
    own = sum(entry["private"] for entry in made.entries)
    print(f"exam: {len(made.entries)} questions, {own} of them private. {made.version}")
    for path in [*pages, *printed]:
        print(f"  {path}")
    asked = {entry["lecture"] for entry in made.entries}
    if left := [n for n in made.lectures if n not in asked]:
        print(f"exam: no question of lecture {', '.join(spans(left, '–'))} fits into the points")
    if told:
        print(f"exam: {told}")
    return 0


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
