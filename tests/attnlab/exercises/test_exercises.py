"""Exercises: the solution passes, the blank and named wrong answers fail with the right words."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from attnlab import exercises
from tests.book.lectures import NOTEBOOKS, code, read, tags

WRONG, BLANK = {}, {}
for file in sorted(Path(__file__).parent.glob("answers_*.py")):
    lecture = import_module(f"tests.attnlab.exercises.{file.stem}")
    WRONG |= lecture.WRONG
    BLANK |= getattr(lecture, "BLANK", {})
for check, rows in WRONG.items():  # most answers are functions, or dictionaries
    tables = [answer for answer, _ in rows if isinstance(answer, dict)]
    whole = max(tables, key=len, default={})
    holes = (None, ..., *({**whole, name: ...} for name in whole))
    BLANK.setdefault(check, holes if tables else (lambda *_: None, lambda *_: ...))
CHECKS = [
    check
    for module in iter_modules(exercises.__path__, "attnlab.exercises.")
    for check in vars(import_module(module.name)).values()
    if hasattr(check, "__wrapped__") and check.__module__ == module.name
]


@pytest.mark.parametrize(
    ("check", "answer", "words"), [(check, *row) for check, rows in WRONG.items() for row in rows]
)
def test_wrong_answer_is_named(check, answer, words, capsys):
    check(answer)
    said = capsys.readouterr().out
    assert "not yet." in said
    assert words in said


@pytest.mark.parametrize(
    ("check", "answer"), [(check, blank) for check, blanks in BLANK.items() for blank in blanks]
)
def test_blank_is_called_blank_and_raises_nothing(check, answer, capsys):
    check(answer)
    assert "still blank" in capsys.readouterr().out


def test_each_exercise_has_three_wrong_answers_at_least():
    assert [check.__name__ for check in CHECKS if len(WRONG[check]) < 3] == []
    assert set(CHECKS) == set(WRONG) == set(BLANK)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_solutions_pass_and_stored_blanks_are_blank(path):
    """The notebook's own outputs say so, and nbval re-runs them."""
    cells = code(read(path))
    outputs = [(tags(c), "".join(o.get("text", "") for o in c.outputs)) for c in cells]
    solved = [text for tag, text in outputs if "solution" in tag]
    blank = [text for _, text in outputs if "still blank" in text]
    passed = [re.findall(r"Exercise (\d+): correct", text) for text in solved]
    asked = [re.findall(r"Exercise (\d+)", text) for text in blank]
    assert passed == asked
    # an exercise that the page checks itself has a number and no cell
    numbers = [int(number) for (number,) in asked]
    assert numbers == sorted(set(numbers))
