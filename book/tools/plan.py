"""Print what a lecture's sections need beside what its plan gives them, or measure all lectures.

    python book/tools/plan.py            # every lecture, section by section
    python book/tools/plan.py 07         # those whose name begins so
    python book/tools/plan.py --table    # one row a lecture, as benchmarks/README.md has it

A model of classroom time: words read in class / 130, visible lines of code x 6 s, lines of output x
2 s, 2.5 minutes a live picture, all this x 1.15; then what is asked: 4 minutes for a hunt or a
checkpoint that is voted on, 2 for a prediction, 3 for an answer from paper. What stands before the
first section, the sections named in AT_HOME, and questions tagged "at-home" are not for class.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from attnlab._console import any_letter

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
AT_HOME = re.compile(r"Exercises|Summary|Further")
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell", "solution"}
KIND = re.compile(r'class="attnbook attnbook-(\w+)"')
ASKED = {"checkpoint": 4.0, "prediction": 2.0, "bughunt": 4.0, "answer": 3.0}
LIVE = 2.5  # minutes for any other kind
QUESTIONS = 1.15  # of the class, between what is asked of it
MOST = {"minutes": 70, "words": 2_900, "code": 180, "votes": 3}
NARROW = 70  # columns of output that fit beside the page's contents


@dataclass
class Section:
    """What a section holds, and the minutes that its lecture's plan gives it."""

    title: str
    plan: float = 0.0
    words: int = 0
    code: int = 0
    output: int = 0
    asked: float = 0.0
    votes: int = 0
    live: int = 0
    drawings: int = 0
    widest: int = 0

    @property
    def minutes(self) -> float:
        """What a class needs, by the model."""
        read = self.words / 130 + self.code / 10 + self.output / 30
        return (read + LIVE * self.live) * QUESTIONS + self.asked

    @property
    def at_home(self) -> bool:
        return bool(AT_HOME.search(self.title))


def sections(path: Path) -> list[Section]:
    """Read a notebook as its sections, those for home among them."""
    notebook = nbformat.read(path, as_version=4)
    planned = plan(header(notebook))
    found: list[Section] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in re.split(r"(?m)^(?=## )", cell.source):
                if part.startswith("## "):
                    title = part.splitlines()[0].removeprefix("## ").strip()
                    found.append(Section(title, planned.get(title.split()[0], 0.0)))
                if found:
                    found[-1].words += words(part)
        elif found:
            count(cell, found[-1])
    return found


def header(notebook: NotebookNode) -> str:
    """Return what is written before the first section: question, story, outcomes, plan, sources."""
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.split(r"(?m)^## ", text, maxsplit=1)[0]


def plan(header: str) -> dict[str, float]:
    """Return minutes by a section's number: from the plan in one line, or from a table."""
    rows = re.findall(r"(?m)^\| (\d+) \| (\d+\.\d+) ", header)
    line = re.search(r"(?m)^\*\*Plan.*$", header)
    one = re.findall(r"(\d+\.\d+) [^·]*? (\d+)(?: ·|\.?$)", line[0].split(":**")[1]) if line else []
    return {number: float(m) for m, number in rows} | {number: float(m) for number, m in one}


def words(text: str) -> int:
    """Count the words that are read: no fold, no displayed formula, no mark-up."""
    return len(
        re.sub(r"<details>.*?</details>|\$\$.*?\$\$|[#*_`>|]", " ", text, flags=re.S).split()
    )


def count(cell: NotebookNode, section: Section) -> None:
    """Add a code cell to its section."""
    tags = set(cell.metadata.get("tags", []))
    if not FOLDED & tags:
        section.code += sum(1 for line in cell.source.splitlines() if line.strip())
    for output in cell.outputs:
        data = output.get("data", {})
        kinds = KIND.findall(data.get("text/html", ""))
        if "at-home" not in tags:
            section.asked += sum(ASKED.get(kind, 0.0) for kind in kinds)
            section.votes += kinds.count("checkpoint")
        section.live += sum(kind not in ASKED and kind != "drawing" for kind in kinds)
        section.drawings += kinds.count("drawing") + kinds.count("dataflow")
        shown = {"text/html", "image/svg+xml", "image/png"} & data.keys()
        plain = "" if shown else data.get("text/plain", "")
        lines = output.get("text", plain).splitlines()
        section.output += len(lines)
        section.widest = max([section.widest, *map(len, lines)])


def in_class(path: Path) -> Section:
    """Add up the sections of a lecture that are read in class."""
    total = Section(path.stem)
    for one in sections(path):
        if not one.at_home:
            for name in ("plan", "words", "code", "output", "asked", "votes", "live", "drawings"):
                setattr(total, name, getattr(total, name) + getattr(one, name))
            total.widest = max(total.widest, one.widest)
    return total


def table(paths: list[Path]) -> str:
    """Return one row a lecture, in Markdown."""
    head = "| lecture | words | code | drawings | live pictures | widest output | minutes | plan |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for path in paths:
        t = in_class(path)
        numbers = (t.words, t.code, t.drawings, t.live, t.widest, round(t.minutes), int(t.plan))
        lines.append(f"| {path.stem} | {' | '.join(f'{n:,}' for n in numbers)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="what a lecture's name begins with (default: all)")
    parser.add_argument("--table", action="store_true", help="one row a lecture, in Markdown")
    options = parser.parse_args()
    paths = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    paths = [p for p in paths if not options.names or p.name.startswith(tuple(options.names))]
    if not paths:
        parser.error(f"no lecture's name begins with {' or '.join(options.names)}")
    if options.table:
        print(table(paths))
        return
    for path in paths:
        total = in_class(path)
        print(f"\n{path.stem}: {total.minutes:.0f} minutes needed, {total.plan:.0f} planned")
        print("  plan  needs  words  code  output  asked  live  section")
        for s in sections(path):
            numbers = f"{s.words:5}  {s.code:4}  {s.output:6}  {s.asked:5.1f}  {s.live:4}"
            needs = "   at home  " if s.at_home else f"{s.plan:6.0f}  {s.minutes:5.1f}"
            print(f"{needs}  {numbers}  {s.title}")


if __name__ == "__main__":
    any_letter()
    main()
