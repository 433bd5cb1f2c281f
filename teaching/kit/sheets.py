"""The pages of an exam: what students get, and the key for those who mark.

Both carry the version on every sheet of paper, so that a key of another exam is noticed.
"""

from __future__ import annotations

import html
from pathlib import Path
from string import Template
from typing import Any

from teaching.kit.answers import margin, places, shares, slip, stated
from teaching.kit.marked import page, words

HERE = Path(__file__).resolve().parent / "paper"
LINES = 2  # to write on, for each point of a text
ACROSS = 12  # questions in a row of the table of points, on A4
Entry = dict[str, Any]


def sheet(entries: list[Entry], book: str, version: str) -> str:
    """Return the page that students get."""
    total = sum(entry["points"] for entry in entries)
    head = (
        f"<h1>{book}: exam</h1>\n<p>{len(entries)} questions, {total:g} points. Show how you come "
        "to a number: steps earn points. Round at the end only.</p>\n"
        '<p class="who"><span>Name</span><span>Number</span><span>Date</span></p>\n'
        f"{table(entries)}"
    )
    sections = [
        f"<section>{title(n, entry)}\n{room(entry)}\n</section>"
        for n, entry in enumerate(entries, 1)
    ]
    return whole_page(f"Exam: {book}", version, head, sections)


def table(entries: list[Entry]) -> str:
    """Return what a marker fills in, in as many rows as the width of the paper asks for."""
    rows = -(-(len(entries) + 1) // (ACROSS + 1))  # one column is the sum's
    columns = [(str(n), f"{entry['points']:g}") for n, entry in enumerate(entries, 1)]
    columns.append(("sum", f"{sum(entry['points'] for entry in entries):g}"))
    each = -(-len(columns) // rows)
    parts = []
    for part in (columns[k : k + each] for k in range(0, len(columns), each)):
        asked = "".join(f"<th>{name}</th>" for name, _ in part)
        worth = "".join(f"<td>{points}</td>" for _, points in part)
        empty = "<td>&nbsp;</td>" * len(part)
        parts.append(f"<table><tr><th>question</th>{asked}</tr><tr><th>points</th>{worth}</tr>"
                     f"<tr><th>reached</th>{empty}</tr></table>")  # fmt: skip
    return "\n".join(parts)


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


def key(entries: list[Entry], book: str, version: str) -> str:
    """Return the page for those who mark."""
    total = sum(entry["points"] for entry in entries)
    head = (
        f"<h1>{book}: key of the exam</h1>\n<p>{len(entries)} questions, {total:g} points. Not for "
        "students. A slip is a wrong number, reached the right way.</p>"
    )
    sections = [
        f"<section>{title(n, entry)}\n{answer(entry)}\n{origin(entry)}</section>"
        for n, entry in enumerate(entries, 1)
    ]
    return whole_page(f"Key: {book}", version, head, sections)


def origin(entry: Entry) -> str:
    known = "From your own questions." if entry["private"] else "Public: students may have read it."
    taught = f"Taught in section {entry['section']}, “{html.escape(entry['title'])}”."
    return f'<p class="where">{taught} {known}</p>'


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
        f"<li>{words(one['label'])} = <b>{stated(one)}</b>{within(one)}: {worth(points)}</li>"
        for one, points in zip(entry["answers"], shares(entry), strict=True)
    )
    wrong = "".join(f"<li>{words(one['why'])}</li>" for one in entry["mistakes"])
    seen = f'<div class="why"><p>What you may see:</p><ul>{wrong}</ul></div>' if wrong else ""
    return f"<ul>{rows}</ul>{solution}{seen}"


def worth(points: float) -> str:
    """Say what a number earns, and the right way to it with a slip."""
    given = f"{points:g} point{'s' if points != 1 else ''}"
    return f"{given}, with a slip {slip(points):g}" if slip(points) else given


def why(option: Entry) -> str:
    return "" if option["right"] else f'<div class="why">{page(option["why"])}</div>'


def within(answer: Entry) -> str:
    """Return how far off is right, but of a whole number that must be met."""
    exact = answer["decimals"] == 0 and answer["tolerance"] <= 0.5
    return "" if exact else f", right within {margin(answer)}"


def whole_page(name: str, version: str, head: str, sections: list[str]) -> str:
    frame = Template((HERE / "exam.html").read_text(encoding="utf-8"))
    shown = {"title": html.escape(f"{name}, {version}"), "version": html.escape(version)}
    return frame.substitute(shown, head=head, sections="\n".join(sections))
