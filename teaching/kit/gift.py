"""Write questions as GIFT (https://docs.moodle.org/en/GIFT_format), which Moodle and others import.

GIFT has no question of several numbers: each number becomes a question of its own, under the whole
text. It has no points either; they stand in the name. The model answer of a text is its feedback.
"""

from __future__ import annotations

from typing import Any

from teaching.kit.answers import margin, shares, stated
from teaching.kit.marked import page
from teaching.kit.moodle import alone, by_category, category, feedback, name, scheme, wanted

Entry = dict[str, Any]


def quiz(entries: list[Entry], book: str) -> str:
    """Return a text of questions, each lecture's kinds in a category of their own."""
    parts, last = [], ""
    for entry in by_category(entries):
        if (where := category(entry, book)) != last:
            parts.append(f"$CATEGORY: {where}")
            last = where
        parts += questions(entry)
    return "\n\n".join(parts) + "\n"


def questions(entry: Entry) -> list[str]:
    """Return a question; one for each number that it asks for."""
    asked = page(entry["text"])
    if entry["type"] == "choice":
        return [one(entry, name(entry), asked, choice(entry), entry["points"])]
    if entry["type"] == "text":
        return [one(entry, name(entry), asked, "", entry["points"])]
    count = len(entry["answers"])
    return [
        one(entry, name(entry) + f", number {n} of {count}" * (count > 1), asked + wanted(answer),
            number(entry, answer), points)
        for n, (answer, points) in enumerate(zip(entry["answers"], shares(entry), strict=True), 1)
    ]  # fmt: skip


def one(entry: Entry, title: str, asked: str, answers: str, points: float) -> str:
    worth = f"{points:g} point{'s' if points != 1 else ''}"
    told = feedback(entry)
    if entry["type"] == "text":
        told = page(entry["solution"]) + scheme(entry) + told
    return f"::{safe(f'{title} ({worth})')}::[html]{safe(asked)}{{{answers}####{safe(told)}}}"


def choice(entry: Entry) -> str:
    right = sum(option["right"] for option in entry["options"])
    rows = []
    for option in entry["options"]:
        sign = "=" if option["right"] else "~"
        if entry["multiple"]:
            # five decimals, as Moodle knows its thirds
            share = f"{(100 if option['right'] else -100) / right:.5f}".rstrip("0").rstrip(".")
            sign = f"~%{share}%"
        rows.append(f"{sign}{safe(page(option['text']))}#{safe(page(option['why']))}")
    return "".join(rows)


def number(entry: Entry, answer: Entry) -> str:
    """Return the right number, and the wrong ones that have an answer of their own."""
    rows = [f"={stated(answer)}:{margin(answer)}"]
    rows += [f"=%0%{stated({**answer, 'value': value})}:{margin(answer)}#{safe(why)}"
             for value, why in alone(entry)]  # fmt: skip
    return "#" + "".join(rows)


def safe(text: str) -> str:
    """Return a text with the signs of GIFT as they are written in it."""
    for sign in "\\~=#{}:":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "\\n")
