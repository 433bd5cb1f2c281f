"""The form of a lecture: a lesson within its budgets, and *How we know*, led to and back.

    python book/tools/form.py            # what each lesson in the form holds, and every complaint

A lesson is in the form once it has an evidence page: book/evidence/NN-name.md beside
book/lectures/NN-name.md. Its quiet links, `[How do we know?](evidence/NN-name.ipynb#slug)`, are at
most one between two headings and find their question. Each question is led to, and ends with
`[Back to 7.3](../NN-name.ipynb#slug)`, which leads to a section that led to it. The build warns of
what is not so (book/extensions/attnbook_form.py), with file, line and number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from docutils.nodes import make_id
from nbformat import NotebookNode

from attnlab._console import any_letter

sys.path.insert(0, str(Path(__file__).resolve().parent))
import plan

ROOT = Path(__file__).resolve().parents[2]
# what a lesson may hold; of a printed table its rows, and the numbers in one of them
MOST = {"words": 2_500, "code lines": 100, "printed tables": 3, "printed numbers": 80, "folds": 12}
ROWS, COLUMNS = 4, 3
MINUTES = {"without what is asked": 50, "with what is asked": 70}
SPOKEN = re.compile(r"\[(How do we know[^\]]*)\]\(evidence/([\w-]+)\.ipynb#([^)\s]*)\)")
BACK = re.compile(r"\[Back to [^\]]+\]\(\.\./([\w-]+)\.ipynb#([^)\s]*)\)")
NUMBER = re.compile(r"(?<![\w.^_])[-−]?\d[\d,]*(?:\.\d+)?%?(?![\w^])")
FOLDED = {"hide-input", "hide-output", "hide-cell"}
UNSEEN = {"hide-output", "hide-cell", "remove-output", "remove-cell"}
FOLD = re.compile(r"<details>(?:(?!<details>).)*?</details>", re.S)
FIRST = ("# @title Set-up", "# @title Imports")  # what every notebook begins with is no fold
# a number of these is a name, or stands in a formula
NAMES = re.compile(
    r"(?m)^#.*$|\]\([^)]*\)|\$[^$]*\$|`[^`]*`"
    r"|(?:[Ff]igure|[Ss]ection|[Ll]ecture|[Ee]xercise)s? [\d.]+"
)


@dataclass(frozen=True)
class Complaint:
    """What is wrong, and the line of the text where it is so."""

    path: Path
    line: int
    said: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT).as_posix()}:{self.line}: {self.said}"


@dataclass
class Section:
    """A part of a text between two headings: its first line, its text without what is fenced."""

    title: str
    level: int
    line: int
    text: str = ""

    @property
    def slug(self) -> str:
        """The heading's anchor, without its number: `why-scores-grow` of 7.2."""
        return make_id(self.title)

    def at(self, place: int) -> int:
        """Return the line at which a character of the text stands."""
        return self.line + self.text.count("\n", 0, place) + 1


def sections(path: Path) -> list[Section]:
    """Read a text as its sections, of which the first is what stands before its first heading."""
    found = [Section("", 1, 0)]
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fenced ^= line.startswith("```")
        heading = None if fenced else re.match(r"(##+) (.*)", line)
        if heading:
            found.append(Section(heading[2].strip(), len(heading[1]), number))
        else:
            found[-1].text += "\n" if fenced or line.startswith("```") else f"{line}\n"
    return found


def links(lesson: Path, evidence: Path) -> Iterator[Complaint]:
    """Say which quiet link finds no question, and which question lacks a way in or back."""
    asked, told = sections(lesson), sections(evidence)
    questions = {one.slug: one for one in told if one.level == 2}
    led: dict[str, set[str]] = {name: set() for name in questions}
    for section in asked:
        here = list(SPOKEN.finditer(section.text))
        for place, link in enumerate(here):
            line = section.at(link.start())
            if link[2] != evidence.stem or link[3] not in questions:
                yield Complaint(lesson, line, f"[{link[1]}] leads nowhere: #{link[3]}")
            else:
                led[link[3]].add(section.slug)
            if place:
                yield Complaint(lesson, line, f"{place + 1} quiet links in a section, 1 may be")
    for name, question in questions.items():
        if not led[name]:
            said = f"nothing in the lesson leads to the question {question.title!r}"
            yield Complaint(evidence, question.line, said)
        back = [(question, one) for one in BACK.finditer(question.text)]
        for below in told[told.index(question) + 1 :]:
            if below.level == 2:
                break
            back += [(below, one) for one in BACK.finditer(below.text)]
        if not back:
            yield Complaint(evidence, question.line, f"{question.title!r} has no way back")
        for section, link in back:
            if link[1] != lesson.stem or link[2] not in {one.slug for one in asked}:
                said = f"{link[0]} leads nowhere"
            elif led[name] and link[2] not in led[name]:
                said = f"{link[0]} leads to a section that has not led here"
            else:
                continue
            yield Complaint(evidence, section.at(link.start()), said)


def held(lesson: Path, notebook: NotebookNode) -> tuple[dict[str, int], list[Complaint]]:
    """Count what of a lesson is seen; say where a budget is passed, and which table is large."""
    text, place = lesson.read_text(encoding="utf-8"), 0
    counts, passed, said = dict.fromkeys(MOST, 0), {}, []
    for cell in notebook.cells:
        place = max(text.find(cell.source, place), place)
        line = text.count("\n", 0, place) + 1
        found, tables = (prose if cell.cell_type == "markdown" else shown)(cell)
        for name, number in found.items():
            counts[name] += number
            if counts[name] > MOST[name]:
                passed.setdefault(name, line)
        for rows, columns in tables:
            if rows > ROWS or columns > COLUMNS:
                size = f"a table of {rows} rows × {columns} numbers, {ROWS} × {COLUMNS} may be"
                said.append(Complaint(lesson, line, size))
    for name, line in passed.items():
        here = f"{counts[name]:,} {name}, {MOST[name]:,} may be: here they are passed"
        said.append(Complaint(lesson, line, here))
    return counts, said


def prose(cell: NotebookNode) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """Count a cell of text, and the sizes of its tables; a 0 or 1 in a sentence is no number."""
    seen, before = cell.source, ""
    while seen != before:  # a hint may be folded within a hint
        before, seen = seen, re.sub(FOLD, " ", seen)
    seen = re.sub(r"\$\$.*?\$\$", " ", seen, flags=re.S)
    tables = []
    for table in re.findall(r"(?m)^\|[ :|-]+\|\n((?:^\|.*\n?)*)", seen):
        rows = [len(NUMBER.findall(row)) for row in table.splitlines()]
        tables.append((len(rows), max(rows, default=0)))
    read = re.sub(r"[#*_`>|$\\]", " ", re.sub(r"\]\([^)]*\)", "]", seen)).split()
    numbers = [one for one in NUMBER.findall(NAMES.sub(" ", seen)) if one not in ("0", "1")]
    counts = {"words": len(read), "printed numbers": len(numbers), "printed tables": len(tables)}
    return counts | {"folds": cell.source.count("<details")}, tables


def shown(cell: NotebookNode) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """Count a cell of code: its lines where they are seen, what it prints, its tables' sizes."""
    tags, first = set(cell.metadata.get("tags", [])), cell.source.startswith(FIRST)
    lines = [one.strip() for one in cell.source.splitlines()]
    code = [one for one in lines if one and not one.startswith("#")]
    numbers, tables = 0, []
    for output in [] if tags & UNSEEN else cell.outputs:
        data = output.get("data", {})
        pictured = {"text/html", "image/svg+xml", "image/png"} & data.keys()
        text = output.get("text", "" if pictured else data.get("text/plain", ""))
        rows = [len(NUMBER.findall(line)) for line in text.splitlines()]
        numbers += sum(rows)
        if sum(row > 1 for row in rows) > 1:
            tables.append((sum(row > 1 for row in rows), max(rows)))
    counts = {"printed numbers": numbers, "printed tables": len(tables)}
    counts["code lines"] = 0 if tags & plan.FOLDED else len(code)
    return counts | {"folds": int(bool(tags & FOLDED) and not first)}, tables


def minutes(lesson: Path, notebook: Path) -> Iterator[Complaint]:
    """Say where a class needs longer for a lesson than it has."""
    total = plan.in_class(notebook)
    needs = dict(zip(MINUTES, (total.minutes - total.asked, total.minutes), strict=True))
    for name, most in MINUTES.items():
        if needs[name] > most:
            yield Complaint(lesson, 1, f"{needs[name]:.0f} minutes {name}, {most} may be")


def lessons() -> list[tuple[Path, Path, Path]]:
    """Return each lesson in the form: its text, its notebook, its evidence's text."""
    found = []
    for evidence in sorted((ROOT / "book" / "evidence").glob("*.md")):
        lesson = ROOT / "book" / "lectures" / evidence.name
        found.append((lesson, ROOT / "notebooks" / f"{evidence.stem}.ipynb", evidence))
    return found


def complaints() -> list[Complaint]:
    """Return all that is not in form, of every lesson that has an evidence page."""
    found: list[Complaint] = []
    for lesson, notebook, evidence in lessons():
        if not lesson.exists():
            found.append(Complaint(evidence, 1, "there is no lesson of this name"))
            continue
        found += [*links(lesson, evidence), *held(lesson, nbformat.read(notebook, as_version=4))[1]]
        found += minutes(lesson, notebook)
    return found


def main() -> int:
    for lesson, notebook, _ in lessons():
        counts = held(lesson, nbformat.read(notebook, as_version=4))[0]
        print(lesson.stem, *(f"{number:,} {name}" for name, number in counts.items()), sep=" · ")
    found = complaints()
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
