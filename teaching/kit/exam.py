"""Make a printable exam, and its key apart, from the exam questions of teaching/questions.

    make exam SEED=7                                  # 60 points from all lectures
    make exam SEED=7 LECTURES=1,5-7 POINTS=30         # from these
    python -m teaching.kit.exam --seed 7            # the same without make

The seed decides which questions are asked, with which numbers, and in which order a question's
options stand; the same seed gives the same bytes. The pages open in any browser without a network
and are printed from there.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import random
import re
import shutil
import sys
from pathlib import Path
from string import Template

from teaching.kit.bank import BOOK, Entry, bank
from teaching.kit.lectures import ROOT, KitError
from teaching.kit.marked import page, words

HERE = Path(__file__).resolve().parent / "paper"
POINTS = 60
LINES = 2  # to write on, for each point of a text


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

    Without points: 60 of them, or all where there are fewer.

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
    turns = sorted(rows)
    draw.shuffle(turns)
    reached: dict[float, list[Entry]] = {0: []}  # for each sum, of most lectures
    for k in range(max(map(len, rows.values()))):
        for entry in (rows[n][k] for n in turns if k < len(rows[n])):
            for total, chosen in list(reached.items()):
                more, longer = total + entry["points"], [*chosen, entry]
                if more <= wanted and spread(longer) > spread(reached.get(more, [])):
                    reached[more] = longer
        if wanted in reached:
            return sorted(reached[wanted], key=entries.index)
    near = max(reached)
    raise KitError(f"no choice of these questions has {wanted} points; {near:g} can be had")


def spread(chosen: list[Entry]) -> int:
    """Count the lectures that questions come from."""
    return len({entry["lecture"] for entry in chosen})


def exam(seed: int, lectures: str = "", points: int | None = None) -> list[Entry]:
    """Return the questions of an exam, in the book's order."""
    entries = [entry for entry in bank(seed) if entry["kind"] == "exam"]
    chosen = numbers(lectures, {entry["lecture"] for entry in entries})
    entries = [entry for entry in entries if entry["lecture"] in chosen]
    if not entries:
        raise KitError("there are no exam questions in teaching/questions")
    return choose(entries, points, random.Random(f"exam {seed} {chosen} {points}"))


def sheet(entries: list[Entry], seed: int) -> str:
    """Return the page that students get."""
    total = sum(entry["points"] for entry in entries)
    marks = "".join(f"<th>{n}</th>" for n in range(1, len(entries) + 1))
    worth = "".join(f"<td>{entry['points']:g}</td>" for entry in entries)
    empty = "<td>&nbsp;</td>" * (len(entries) + 1)
    head = (
        f"<h1>{BOOK}: exam</h1>\n<p>{len(entries)} questions, {total:g} points. Show how you come "
        "to a number: steps earn points. Round at the end only.</p>\n"
        '<p class="who"><span>Name</span><span>Number</span><span>Date</span></p>\n'
        f"<table><tr><th>question</th>{marks}<th>sum</th></tr><tr><th>points</th>{worth}"
        f"<td>{total:g}</td></tr><tr><th>reached</th>{empty}</tr></table>\n"
        f'<p class="where">Version {seed}</p>'
    )
    sections = [
        f"<section>{title(n, entry)}\n{room(entry)}\n</section>"
        for n, entry in enumerate(entries, 1)
    ]
    return whole_page(f"Exam, version {seed}: {BOOK}", head, sections)


def title(number: int, entry: Entry) -> str:
    points = f"{entry['points']:g} point{'s' if entry['points'] != 1 else ''}"
    asked = page(entry["text"])
    return (f"<h2><span>Question {number}</span><span>{points}</span></h2>\n"
            f'<div class="asked">{asked}</div>')  # fmt: skip


def room(entry: Entry) -> str:
    """Return what is ticked, filled in or written on."""
    if entry["type"] == "choice":
        rows = "".join(f'<li><span class="box"></span><div>{page(one["text"])}</div></li>'
                       for one in entry["options"])  # fmt: skip
        return f'<ul class="options">{rows}</ul>'
    lines = max(3, round(LINES * entry["points"]))
    if entry["type"] == "text":
        return f'<div class="room">{"<div></div>" * lines}</div>'
    rows = "".join(
        f'<li><span>{words(one["label"])} =</span><span class="gap">&nbsp;</span>'
        f'<span class="where">{places(one)}</span></li>'
        for one in entry["answers"]
    )
    return f'<div class="work" style="--lines: {lines}"></div><ul class="gaps">{rows}</ul>'


def places(answer: Entry) -> str:
    n = answer["decimals"]
    return "a whole number" if n == 0 else f"{n} decimal{'s' if n > 1 else ''}"


def key(entries: list[Entry], seed: int) -> str:
    """Return the page for those who mark."""
    total = sum(entry["points"] for entry in entries)
    head = (
        f"<h1>{BOOK}: key of the exam</h1>\n<p>Version {seed}, {len(entries)} questions, "
        f"{total:g} points. Not for students.</p>"
    )
    sections = [
        f'<section>{title(n, entry)}\n{answer(entry)}\n<p class="where">Taught in section '
        f"{entry['section']}, {html.escape(entry['title'])}.</p></section>"
        for n, entry in enumerate(entries, 1)
    ]
    return whole_page(f"Key, version {seed}: {BOOK}", head, sections)


def answer(entry: Entry) -> str:
    """Return the model answer, and how points are given."""
    solution = f'<div class="model">{page(entry["solution"])}</div>'
    if entry["type"] == "choice":
        rows = "".join(
            f'<li><span class="box{" right" if one["right"] else ""}"></span>'
            f"<div>{page(one['text'])}{why(one)}</div></li>"
            for one in entry["options"]
        )
        return f'<ul class="options">{rows}</ul>{solution}'
    if entry["type"] == "text":
        rows = "".join(f"<li>{one['points']:g}: {words(one['for'])}</li>" for one in entry["marks"])
        return f"{solution}<ul>{rows}</ul>"
    rows = "".join(
        f"<li>{words(one['label'])} = <b>{fixed(one)}</b>{within(one)}</li>"
        for one in entry["answers"]
    )
    wrong = "".join(f"<li>{words(one['why'])}</li>" for one in entry["mistakes"])
    share = entry["points"] / len(entry["answers"])
    each = f"{share:.3g} point{'s' if share != 1 else ''}"
    each += " each" if len(entry["answers"]) > 1 else ""
    scheme = f'<p class="where">{each}; half of that for the right way with a slip.</p>'
    seen = f'<div class="why"><p>What you may see:</p><ul>{wrong}</ul></div>' if wrong else ""
    return f"<ul>{rows}</ul>{scheme}{solution}{seen}"


def why(option: Entry) -> str:
    return "" if option["right"] else f'<div class="why">{page(option["why"])}</div>'


def within(answer: Entry) -> str:
    """Return how far off is right, but of a whole number that must be met."""
    exact = answer["decimals"] == 0 and answer["tolerance"] <= 0.5
    return "" if exact else f", right within {answer['tolerance']:.6g}"


def fixed(answer: Entry) -> str:
    value = round(answer["value"], answer["decimals"]) + 0.0
    return f"{value:.{answer['decimals']}f}"


def whole_page(name: str, head: str, sections: list[str]) -> str:
    frame = Template((HERE / "exam.html").read_text(encoding="utf-8"))
    return frame.substitute(title=html.escape(name), head=head, sections="\n".join(sections))


def write(folder: Path, entries: list[Entry], seed: int) -> list[Path]:
    """Write exam-SEED.html, its key, and what both load, into a folder; return the two pages."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise KitError("no MathJax: install what requirements.txt names (`make book` does it)")
    folder.mkdir(parents=True, exist_ok=True)
    # draws formulae as SVG, and so needs no font's file
    mathjax = Path(found.origin).parent / "static" / "mathjax" / "tex-svg.js"
    shutil.copyfile(mathjax, folder / "formulae.js")
    shutil.copyfile(ROOT / "book" / "assets" / "fonts.css", folder / "fonts.css")
    shutil.copyfile(HERE / "exam.css", folder / "exam.css")
    pages = {f"exam-{seed}.html": sheet(entries, seed), f"exam-{seed}-key.html": key(entries, seed)}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
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
    # not in the kit's folder, which is made anew, and packed for everybody
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "exams")
    options = parser.parse_args(arguments)
    try:
        seed = whole("seed", options.seed, 0)
        points = whole("points", options.points, 1) if options.points else None
        entries = exam(seed, options.lectures, points)
        paths = write(options.out, entries, seed)
    except KitError as error:
        print(f"exam: {error}", file=sys.stderr)
        return 1
    total = sum(entry["points"] for entry in entries)
    print(f"exam: {len(entries)} questions, {total:g} points")
    for path in paths:
        print(f"  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
