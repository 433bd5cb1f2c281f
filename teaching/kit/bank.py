"""Collect the book's questions: checkpoints, predictions, hunts, paper answers, exam questions.

    python -m teaching.kit.bank              # questions.json and questions.xml, in _build/kit
    python -m teaching.kit.bank --seed 7     # the exam questions with the numbers of seed 7

The widgets' questions are read from the stored notebooks, with the numbers that they computed.

``questions.json`` is an object of ``book``, ``format`` (1), ``seed`` and ``questions``, a list of

    id          unique, and the same for every seed: "7.2-checkpoint-1", "7.2-spread_of_scores"
    kind        checkpoint, prediction, hunt, paper or exam
    lecture, section, title      where it is taught; page: where that page lies in the book
    type        choice, number or text
    points      a number above 0; 1 for all that stands in the lectures
    text        the question, as all texts in Markdown with `code`, and $…$ for formulae
    solution    the model answer, or ""
    options     of a choice: {text, right, why}; several right ones where multiple is true
    answers     of a number: {label, value, decimals, tolerance}
    mistakes    of a number: {answers: {label: value}, why}, or {why} alone
    marks       of a text: {for, points}
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from teaching.kit import moodle
from teaching.kit.lectures import ROOT, KitError, Lecture, lectures
from teaching.kit.questions import Choice, Number, Question, Text

BOOK = "Attention, Worked Out"
QUESTIONS = ROOT / "teaching" / "questions"
KINDS = {"checkpoint": "checkpoint", "prediction": "prediction", "bughunt": "hunt"}
KINDS["answer"] = "paper"
Entry = dict[str, Any]


def bank(seed: int = 0, *, questions: Path = QUESTIONS) -> list[Entry]:
    """Return all questions, lecture by lecture; the same for the same seed.

    Raises: KitError for a lecture or section that does not exist, and a question that fails.
    """
    book, exam = {one.number: one for one in lectures()}, written(questions)
    if unknown := sorted(exam.keys() - book.keys()):
        raise KitError(
            f"teaching/questions has questions for lecture {unknown[0]}: no such lecture"
        )
    found: list[Entry] = []
    for number, lecture in book.items():
        counts: Counter[str] = Counter()
        for section, state, context in lecture.asked:
            entry = widget(state)
            if context:
                entry["text"] = f"{context}\n\n{entry['text']}"
            counts[key := f"{section}-{entry['kind']}"] += 1
            found.append(placed(entry, f"{key}-{counts[key]}", lecture, section))
        for question in exam.get(number, []):
            if question.section not in lecture.sections:
                raise KitError(f"{question.name} names section {question.section}: none in "
                                f"{lecture.name}")  # fmt: skip
            key = f"{question.section}-{question.name}"
            found.append(placed(asked(question, seed), key, lecture, question.section))
    return found


def written(folder: Path = QUESTIONS) -> dict[int, list[Question]]:
    """Load the exam questions, by lecture, in the order in which they are written."""
    found = {}
    for path in sorted(folder.glob("q[0-9][0-9]_*.py")):
        spec = importlib.util.spec_from_file_location(f"teaching.questions.{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[int(path.stem[1:3])] = [
            one for one in vars(module).values() if isinstance(one, Question)
        ]
    return found


def placed(entry: Entry, key: str, lecture: Lecture, section: str) -> Entry:
    """Say where a question belongs."""
    where = {"lecture": lecture.number, "section": section, "title": lecture.sections[section]}
    page = f"notebooks/{lecture.name}.html"
    return {"id": key, "kind": entry.pop("kind"), **where, "page": page, **entry}


def asked(question: Question, seed: int) -> Entry:
    """Return an exam question, drawn from a seed and its own name, whatever stands beside it."""
    draw = random.Random(f"{seed} {question.section} {question.name}")
    try:
        made = question(draw)
    except Exception as error:  # whatever it is, it is this question's
        raise KitError(f"the question {question.name} fails with seed {seed}: {error}") from error
    entry: Entry = {"kind": "exam", "points": question.points_of(made)}
    common = {"text": made.text.strip(), "solution": made.solution.strip()}
    if isinstance(made, Choice):
        options = [
            {"text": one, "right": one == made.right, "why": made.wrong.get(one, made.solution)}
            for one in made.options(draw)
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


def write(folder: Path, seed: int = 0) -> list[Path]:
    """Write questions.json and questions.xml into a folder; return them."""
    found = bank(seed)
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"book": BOOK, "format": 1, "seed": seed, "questions": found}
    texts = {
        "questions.json": json.dumps(whole, ensure_ascii=False, indent=1) + "\n",
        "questions.xml": moodle.quiz(found, BOOK, seed),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of the exam questions' numbers")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "kit", help="the folder")
    options = parser.parse_args(arguments)
    try:
        paths = write(options.out, options.seed)
    except KitError as error:
        print(f"bank: {error}", file=sys.stderr)
        return 1
    print("bank:", *paths)
    return 0


if __name__ == "__main__":
    sys.exit(main())
