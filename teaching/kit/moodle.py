"""Write questions as Moodle XML (https://docs.moodle.org/en/Moodle_XML_format).

A choice becomes ``multichoice``, one number ``numerical``, several ``cloze``, a text ``essay`` with
its model answer for the marker. Formulae are set by Moodle's own MathJax filter, from \\(…\\).
"""

from __future__ import annotations

import html
from typing import Any
from xml.etree import ElementTree as ET

from teaching.kit.answers import margin, places, shares, stated
from teaching.kit.marked import page, words

KINDS = {
    "checkpoint": "Checkpoints",
    "prediction": "Predictions",
    "hunt": "Hunts",
    "paper": "On paper",
    "exam": "Exam questions",
}
Entry = dict[str, Any]


def quiz(entries: list[Entry], book: str, seed: int) -> str:
    """Return a quiz in which each lecture's kinds of question have a category of their own."""
    root, last = ET.Element("quiz"), ""
    for entry in by_category(entries):
        where = category(entry, book)
        if where != last:
            text(ET.SubElement(root, "question", type="category"), "category", where)
            last = where
        root.append(question(entry, seed))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def by_category(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: (e["lecture"], list(KINDS).index(e["kind"])))


def category(entry: Entry, book: str) -> str:
    """Return where a question lies among those of a Moodle course."""
    return f"$course$/top/{book}/Lecture {entry['lecture']:02}/{KINDS[entry['kind']]}"


def question(entry: Entry, seed: int) -> ET.Element:
    """Return one question."""
    several = entry["type"] == "number" and len(entry["answers"]) > 1
    kinds = {"choice": "multichoice", "number": "numerical", "text": "essay"}
    kind = "cloze" if several else kinds[entry["type"]]
    element = ET.Element("question", type=kind)
    text(element, "name", name(entry))
    asked = page(entry["text"])
    if entry["type"] == "number":
        asked += gaps(entry) if several else wanted(entry["answers"][0])
    text(element, "questiontext", asked, "html")
    text(element, "generalfeedback", feedback(entry), "html")
    if not several:  # whose points are its gaps'
        plain(element, "defaultgrade", f"{entry['points']:g}")
    plain(element, "penalty", "0.3333333")
    plain(element, "hidden", "0")
    plain(element, "idnumber", ident(entry, seed))
    {"multichoice": choice, "numerical": number, "essay": essay, "cloze": lambda *_: None}[kind](
        element, entry
    )
    return element


def name(entry: Entry) -> str:
    return f"{entry['section']} {entry['title']}: {entry['id'].split('-', 1)[1]}"


def choice(element: ET.Element, entry: Entry) -> None:
    right = sum(option["right"] for option in entry["options"])
    lines = entry["kind"] == "hunt"
    plain(element, "single", str(not entry["multiple"]).lower())
    plain(element, "shuffleanswers", str(not lines).lower())
    plain(element, "answernumbering", "none" if lines else "abc")
    for option in entry["options"]:
        fraction = 100 / right if option["right"] else -100 / right if entry["multiple"] else 0
        shown = f"{fraction:.5f}".rstrip("0").rstrip(".")  # Moodle knows thirds by five decimals
        answer = ET.SubElement(element, "answer", fraction=shown, format="html")
        plain(answer, "text", page(option["text"]))
        text(answer, "feedback", page(option["why"]), "html")


def number(element: ET.Element, entry: Entry) -> None:
    (right,) = entry["answers"]
    rows = [("100", right, page(entry["solution"]))]
    rows += [("0", {**right, "value": value}, why) for value, why in alone(entry)]
    for fraction, one, why in rows:
        answer = ET.SubElement(element, "answer", fraction=fraction, format="moodle_auto_format")
        plain(answer, "text", stated(one))
        text(answer, "feedback", why, "html")
        plain(answer, "tolerance", margin(one))


def essay(element: ET.Element, entry: Entry) -> None:
    plain(element, "responseformat", "editor")
    plain(element, "responserequired", "1")
    plain(element, "responsefieldlines", "15")
    plain(element, "attachments", "0")
    plain(element, "attachmentsrequired", "0")
    text(element, "graderinfo", page(entry["solution"]) + scheme(entry), "html")
    text(element, "responsetemplate", "", "html")


def gaps(entry: Entry) -> str:
    """Return a gap for each number, in the syntax of Cloze.

    Its weight is its points; Cloze knows whole weights alone, so half points are all doubled.
    """
    points, rows = shares(entry), []
    scale = 1 if all(share % 1 == 0 for share in points) else 2
    for one, share in zip(entry["answers"], points, strict=True):
        gap = f"{{{share * scale:g}:NUMERICAL:={stated(one)}:{margin(one)}}}"
        rows.append(f"<li>{words(one['label'])} ({places(one)}): {gap}</li>")
    return f"<ul>{''.join(rows)}</ul>"


def alone(entry: Entry) -> list[tuple[float, str]]:
    """Return the wrong numbers of a question that asks for one, with what they say."""
    if len(entry["answers"]) > 1:
        return []
    known = [one for one in entry["mistakes"] if one.get("answers")]
    return [(value, page(one["why"])) for one in known for value in one["answers"].values()]


def wanted(answer: Entry) -> str:
    return f"<p>{words(answer['label'])} ({places(answer)})</p>"


def feedback(entry: Entry) -> str:
    """Return what stands below every answer: how it is worked out, what goes wrong, and where."""
    found = page(entry["solution"]) if entry["type"] != "text" and entry["solution"] else ""
    for mistake in entry.get("mistakes", []):
        numbers, digits = mistake.get("answers", {}), entry["answers"][0]["decimals"]
        shown = "; ".join(f"{words(a)}: {v:.{digits}f}" for a, v in numbers.items())
        if shown and len(entry["answers"]) > 1:
            found += f"<p>{shown}.</p>"
        if not shown or len(entry["answers"]) > 1:
            found += page(mistake["why"])
    return found + taught(entry)


def taught(entry: Entry) -> str:
    return f"<p>Section {entry['section']}, {html.escape(entry['title'])}</p>"


def scheme(entry: Entry) -> str:
    rows = "".join(f"<li>{one['points']:g}: {words(one['for'])}</li>" for one in entry["marks"])
    return f"<ul>{rows}</ul>"


def ident(entry: Entry, seed: int) -> str:
    """Return a name that no other question has, another for other numbers of an exam question."""
    return f"{entry['id']}-{seed}" if entry["kind"] == "exam" else entry["id"]


def text(parent: ET.Element, name: str, said: str, form: str = "") -> None:
    """Add an element that holds its words in a ``text`` of its own."""
    element = ET.SubElement(parent, name, {"format": form} if form else {})
    plain(element, "text", said)


def plain(parent: ET.Element, name: str, said: str) -> None:
    ET.SubElement(parent, name).text = said
