"""Collect the book's questions: those that its lectures ask, and those that are kept for exams.

    python -m teaching.kit.bank                      # what lectures ask, into _build/kit
    python -m teaching.kit.bank --exam --seed 7      # exam questions, into _build/exams
    python -m teaching.kit.bank --check FOLDER       # is a folder of your own questions in order?

Each is written as JSON, as Moodle XML, as GIFT and as a QTI package for Canvas. The widgets'
questions are read from the stored notebooks, with the numbers that they computed. Exam questions
and their answers never go into the kit, which every student can have; with --bank FOLDER they are
those of a folder of your own.

The JSON is an object of ``book``, ``format`` (1), ``seed`` and ``questions``, a list of

    id          unique, and the same for every seed: "7.2-checkpoint-1", "7.2-spread_of_scores"
    kind        checkpoint, prediction, hunt, paper or exam
    lecture, section, title      where it is taught; page: where that page lies in the book
    type        choice, number or text
    points      a multiple of 0.5; 1 for all that stands in the lectures
    text        the question, as all texts in Markdown with `code`, and $…$ for formulae
    solution    the model answer, or ""
    options     of a choice: {text, right, why}; several right ones where multiple is true
    answers     of a number: {label, value, decimals, tolerance}
    mistakes    of a number: {answers: {label: value}, why}, or {why} alone
    marks       of a text: {for, points}
    private     of an exam question: whether it comes from a folder of your own
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from attnlab._console import any_letter
from teaching.kit import canvas, gift, moodle
from teaching.kit.lectures import ROOT, KitError, Lecture, lectures
from teaching.kit.questions import Choice, Number, Question, Text
from teaching.kit.written import QUESTIONS, draw, faults, read, sentence

BOOK = "Attention, Worked Out"
EXAMS = ROOT / "_build" / "exams"  # not the kit's folder, which is packed for everybody
KINDS = {"checkpoint": "checkpoint", "prediction": "prediction", "bughunt": "hunt"}
KINDS["answer"] = "paper"
Entry = dict[str, Any]


def in_lectures() -> list[Entry]:
    """Return what the lectures ask, lecture by lecture."""
    found: list[Entry] = []
    for lecture in lectures():
        counts: Counter[str] = Counter()
        for section, state, context in lecture.asked:
            entry = widget(state)
            if context:
                entry["text"] = f"{context}\n\n{entry['text']}"
            counts[key := f"{section}-{entry['kind']}"] += 1
            found.append(placed(entry, f"{key}-{counts[key]}", lecture, section))
    return found


def for_exams(
    seed: int = 0, folder: Path | None = None, *, private_only: bool = False
) -> list[Entry]:
    """Return the exam questions in the book's order, those of a private folder among them.

    Raises: KitError that names everything which is wrong with the folder's questions.
    """
    book = {name: lecture for lecture in lectures() for name in lecture.sections}
    found = [] if folder is None else entries(seed, folder, book, private=True)
    if not private_only:
        found += entries(seed, QUESTIONS, book, private=False)
    return sorted(found, key=lambda entry: entry["lecture"])


def entries(seed: int, folder: Path, book: dict[str, Lecture], *, private: bool) -> list[Entry]:
    """Return the questions of one folder; private ones are tried first."""
    questions = read(folder)
    # the book's own are tried in its tests
    if private and (wrong := faults(questions, book)):
        raise KitError("\n".join([f"the questions of {folder} cannot be asked:", *wrong]))
    found = []
    for one in questions:
        key = f"{one.section}-{'private-' * private}{one.name}"
        entry = placed(asked(one, seed), key, book[one.section], one.section)
        found.append({**entry, "private": private})
    return found


def placed(entry: Entry, key: str, lecture: Lecture, section: str) -> Entry:
    """Say where a question belongs."""
    where = {"lecture": lecture.number, "section": section, "title": lecture.sections[section]}
    page = f"notebooks/{lecture.name}.html"
    return {"id": key, "kind": entry.pop("kind"), **where, "page": page, **entry}


def asked(question: Question, seed: int) -> Entry:
    """Return an exam question, drawn from a seed and its own name, whatever stands beside it."""
    drawn = draw(question, seed)
    try:
        made = question(drawn)
    except Exception as error:  # whatever it is, it is this question's
        told = f"the question {question.name} fails with seed {seed}: {sentence(error)}"
        raise KitError(told) from error
    entry: Entry = {"kind": "exam", "points": question.points_of(made)}
    common = {"text": made.text.strip(), "solution": made.solution.strip()}
    if isinstance(made, Choice):
        options = [
            {"text": one, "right": one == made.right, "why": made.wrong.get(one, made.solution)}
            for one in made.options(drawn)
        ]
        return {**entry, "type": "choice", **common, "options": options, "multiple": False}
    if isinstance(made, Number):
        answers = [
            {"label": label, "value": float(value), "decimals": made.places(label),
             "tolerance": made.within}
            for label, value in made.answers.items()
        ]  # fmt: skip
        mistakes = [{"why": one} for one in made.mistakes]
        return {**entry, "type": "number", **common, "answers": answers, "mistakes": mistakes}
    assert isinstance(made, Text)
    marks = [{"for": what, "points": points} for what, points in made.marks]
    return {**entry, "type": "text", **common, "marks": marks}


def widget(state: dict[str, Any]) -> Entry:
    """Return the question of a checkpoint, prediction, hunt or answer, from the data it shows."""
    kind = state["kind"]
    entry: Entry = {"kind": KINDS[kind], "points": 1}
    question = plain(state["question"])
    if kind == "checkpoint":
        options = [
            {"text": plain(text), "right": right, "why": plain(why)}
            for text, right, why in state["options"]
        ]
        return {**entry, "type": "choice", "text": question, "solution": "", "options": options,
                "multiple": state["multiple"]}  # fmt: skip
    if kind == "bughunt":
        return {**entry, "type": "choice", **hunt(state, question)}
    answers = [
        {"label": plain(label), "value": value, "decimals": state["decimals"],
         "tolerance": state["tolerance"]}
        for label, value in zip(state["labels"], state["answers"], strict=True)
    ]  # fmt: skip
    mistakes = [
        {
            "answers": {
                plain(label): value
                for label, value in zip(state["labels"], values, strict=True)
                if value is not None
            },
            "why": plain(why),
        }
        for values, why in state.get("mistakes", [])
    ]
    return {**entry, "type": "number", "text": question, "solution": plain(state["reason"]),
            "answers": answers, "mistakes": mistakes}  # fmt: skip


def hunt(state: dict[str, Any], question: str) -> Entry:
    """Return a hunt as a choice among the lines that have an answer."""
    listing = "\n".join(f"{number:>2}  {line}" for number, line in enumerate(state["code"], 1))
    printed = f"\n\n```text\n{state['evidence']}\n```" if state["evidence"] else ""
    options = [
        {"text": f"Line {number}", "right": number in state["bugs"], "why": plain(why)}
        for number, why in enumerate(state["answers"], 1)
        if why
    ]
    several = len(state["bugs"]) > 1
    return {"text": f"{question}{printed}\n\n```python\n{listing}\n```", "solution": "",
            "options": options, "multiple": several}  # fmt: skip


def plain(text: str) -> str:
    """Return a widget's text as Markdown: only `code` and [words](https://…) keep their meaning."""
    parts = re.split(r"(`[^`]*`|\[[^\]]+\]\(https://[^)\s]+\))", text)
    escaped = (re.sub(r"([\\$*_<>\[\]#~|])", r"\\\1", part) for part in parts[::2])
    kept = [*parts[1::2], ""]
    return "".join(a + b for a, b in zip(escaped, kept, strict=True))


def write(
    folder: Path, given: list[Entry] | None = None, name: str = "questions", seed: int = 0
) -> list[Path]:
    """Write questions, by default those of the lectures, in every form; return the files."""
    found = in_lectures() if given is None else given
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"book": BOOK, "format": 1, "seed": seed, "questions": found}
    quizzes: dict[str, list[Entry]] = {}
    for entry in found:
        quizzes.setdefault(f"{BOOK}: lecture {entry['lecture']}", []).append(entry)
    forms = {f"{name}.json": (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()}
    forms |= courses(quizzes, name, seed)
    for file, data in forms.items():
        (folder / file).write_bytes(data)
    return [folder / file for file in forms]


def courses(quizzes: dict[str, list[Entry]], name: str, seed: int) -> dict[str, bytes]:
    """Return quizzes, by their titles, as the files that course systems import, by their names."""
    found = [entry for quiz in quizzes.values() for entry in quiz]
    return {
        f"{name}-moodle.xml": moodle.quiz(found, BOOK, seed).encode(),
        f"{name}-gift.txt": gift.quiz(found, BOOK).encode(),
        f"{name}-canvas.zip": canvas.package(quizzes, name, seed),
    }


def check(folder: Path) -> str:
    """Try the questions of a folder; return how many there are, and of which lectures.

    Raises: KitError that says what is wrong by file, line and question.
    """
    rows: dict[int, list[float]] = {}
    for entry in for_exams(0, folder, private_only=True):
        rows.setdefault(entry["lecture"], []).append(entry["points"])
    told = [f"  lecture {n}: {len(row)} questions, {sum(row):g} points" for n, row in rows.items()]
    count = sum(map(len, rows.values()))
    return "\n".join([f"bank: {folder} is in order: {count} questions", *told])


def main(arguments: list[str] | None = None) -> int:
    about, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m teaching.kit.bank",
        description=about,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", type=Path, metavar="FOLDER", help="try a folder's questions")
    parser.add_argument("--exam", action="store_true", help="write exam questions instead")
    parser.add_argument("--bank", type=Path, help="a folder of your own exam questions")
    parser.add_argument("--seed", type=int, default=0, help="of the exam questions' numbers")
    parser.add_argument("--out", type=Path, help="the folder to write into")
    options = parser.parse_args(arguments)
    try:
        if options.check:
            print(check(options.check.expanduser()))
            return 0
        if options.exam or options.bank:
            folder = options.bank and options.bank.expanduser()
            found = for_exams(options.seed, folder, private_only=folder is not None)
            paths = write(options.out or EXAMS, found, "exam-questions", options.seed)
        else:
            paths = write(options.out or ROOT / "_build" / "kit")
    except KitError as error:
        print(f"bank: {error}", file=sys.stderr)
        return 1
    print("bank:", *paths)
    return 0


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
