"""Exercises: the solution passes, the blank and named wrong answers fail with the right words."""

import ast
import inspect
import re
from contextlib import suppress
from importlib import import_module
from itertools import count, cycle
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
import torch

from attnlab import exercises
from tests.book.lectures import KNOWN, NOTEBOOKS, code, read, stored, tags

HANGS_ON = ("notebooks", "tests/book", "book")

WRONG, BLANK, ALLOWED = {}, {}, {}
for file in sorted(Path(__file__).parent.glob("answers_*.py")):
    lecture = import_module(f"tests.attnlab.exercises.{file.stem}")
    WRONG |= lecture.WRONG
    BLANK |= getattr(lecture, "BLANK", {})
    ALLOWED |= getattr(lecture, "ALLOWED", {})
for check, rows in WRONG.items():  # most answers are functions, or dictionaries
    tables = [answer for answer, _ in rows if isinstance(answer, dict)]
    whole = max(tables, key=len, default={})
    holes = (None, ..., *({**whole, name: ...} for name in whole))
    BLANK.setdefault(check, holes if tables else (lambda *_: None, lambda *_: ...))
CHECKS = [
    check
    for module in iter_modules(exercises.__path__, "attnlab.exercises.")
    for check in vars(import_module(module.name)).values()
    if isinstance(check, exercises.Check) and check.__module__ == module.name
]
DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def solutions():
    """The lectures' own answers that are functions of something, with their checks.

    Of a notebook only imports and definitions run: such an answer needs no more.
    """
    for path in [*NOTEBOOKS, *KNOWN]:
        names = {}
        for cell in code(stored(path)):
            with suppress(SyntaxError):
                for one in ast.parse(cell.source).body:
                    with suppress(NameError):
                        if isinstance(one, DEFINES):
                            exec(compile(ast.Module([one], []), path.stem, "exec"), names)
            called = re.search(r"^check\.(\w+)\((\w+)\)$", cell.source, re.MULTILINE)
            solves = called and "solution" in tags(cell) and f"def {called[2]}(" in cell.source
            answer = names.get(called[2]) if solves else None
            if inspect.isfunction(answer) and inspect.signature(answer).parameters:
                yield pytest.param(getattr(names["check"], called[1]), answer, id=called[1])


SOLUTIONS = list(solutions())


@pytest.fixture(autouse=True)
def _draws(monkeypatch):
    """The same draws in each run of the tests, and no two alike."""
    seeds = count(1)
    monkeypatch.setattr(exercises, "fresh", lambda: torch.Generator().manual_seed(next(seeds)))


@pytest.mark.parametrize(
    ("check", "answer", "words"), [(check, *row) for check, rows in WRONG.items() for row in rows]
)
def test_wrong_answer_is_named_and_strictly_raised(check, answer, words, capsys):
    check(answer)
    said = capsys.readouterr().out
    assert "not yet." in said
    assert words in said
    with pytest.raises(Exception) as raised:  # noqa: PT011  whatever the answer's code raises
        check.strict(answer)
    if isinstance(raised.value, exercises.Mistake):
        assert words in f"not yet. {raised.value}"
        assert raised.traceback[-1].name == "strict"  # no line of a check, which holds the answer


@pytest.mark.parametrize(
    ("check", "answer"), [(check, blank) for check, blanks in BLANK.items() for blank in blanks]
)
def test_blank_is_called_blank_and_strictly_raised(check, answer, capsys):
    check(answer)
    assert "still blank" in capsys.readouterr().out
    with pytest.raises(exercises.Blank, match="still blank"):
        check.strict(answer)


@pytest.mark.parametrize(
    ("check", "answer"),
    [*SOLUTIONS, *((check, answer) for check, rows in ALLOWED.items() for answer in rows)],
)
def test_right_answer_passes_whatever_is_drawn(check, answer, capsys):
    said = {check.strict(answer) for _ in range(2)}
    check(answer)
    assert capsys.readouterr().out == f"Exercise {check.number}: correct. {said.pop()}\n"
    assert not said


@pytest.mark.parametrize(("check", "answer"), SOLUTIONS)
def test_table_of_right_answers_fails(check, answer):
    table = []

    def recorded(*given):
        table.append(answer(*given))
        return table[-1]

    check.strict(recorded)
    row = cycle(table)
    with pytest.raises(exercises.Mistake):
        check.strict(lambda *_: next(row))


def test_each_exercise_has_three_wrong_answers_at_least():
    assert [check.__name__ for check in CHECKS if len(WRONG[check]) < 3] == []
    assert set(CHECKS) == set(WRONG) == set(BLANK)
    assert len(SOLUTIONS) >= 30


@pytest.mark.parametrize("path", [*NOTEBOOKS, *KNOWN], ids=lambda p: f"{p.parent.name}-{p.stem}")
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


THREE = np.array([3.0, 1.0, 2.0])
FIXED = THREE.copy()
FIXED.flags.writeable = False
ARRAYS = {
    "turned round": (THREE[::-1], [2, 1, 3]),
    "sorted and turned round": (np.sort(THREE)[::-1], [3, 2, 1]),
    "every second": (np.arange(6.0)[::2], [0, 2, 4]),
    "a column": (np.arange(6.0).reshape(3, 2)[:, 1], [1, 3, 5]),
    "of another machine": (THREE.astype(">f8"), [3, 1, 2]),
    "whole, of another machine": (THREE.astype(">i4")[::-1], [2, 1, 3]),
    "read-only": (FIXED, [3, 1, 2]),
    "one value at each place": (np.broadcast_to(np.float64(2), (3,)), [2, 2, 2]),
    "of long doubles": (THREE.astype(np.longdouble), [3, 1, 2]),
    "nothing masked": (np.ma.array(THREE), [3, 1, 2]),
    "0-d": (np.array(2.0), 2),
    "in lists": ([THREE[::-1], THREE], [[2, 1, 3], [3, 1, 2]]),
    "in lists of lists": ([[THREE[::-1]], [torch.tensor([1.0, 2, 3])]], [[[2, 1, 3]], [[1, 2, 3]]]),
    "a few of each": ([1.0, torch.tensor(2.0), np.float64(3)], [1, 2, 3]),
    "sparse": (torch.tensor([1.0, 0, 2]).to_sparse(), [1, 0, 2]),
}
NONE = [
    (np.ma.array(THREE, mask=[0, 1, 0]), "some of its elements are masked"),
    ([np.ma.array(THREE, mask=[0, 1, 0])], "some of its elements are masked"),
    (THREE.astype(complex), "Real numbers were wanted, these are complex"),
    (torch.tensor([1, 2j, 3]), "Real numbers were wanted, these are complex"),
    ([1, 2j, 3], "Real numbers were wanted, these are complex"),
    (THREE.astype(str), "A tensor or lists of numbers were wanted, this is ndarray"),
    (np.array([1, None, 3]), "A tensor or lists of numbers were wanted, this is ndarray"),
    (torch.empty(3, device="meta"), "This tensor is on the device meta: it has no numbers"),
    ([[1], [2, 3]], "A tensor or lists of numbers were wanted, this is list"),
    ({1, 2, 3}, "A tensor or lists of numbers were wanted, this is set"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ARRAYS)
def test_an_answer_may_be_any_array_of_numbers(name: str) -> None:
    answer, wanted = ARRAYS[name]
    shape = torch.tensor(wanted).shape
    found = exercises.tensor_of(answer, tuple(shape))
    assert found.dtype == torch.float64
    assert found.tolist() == wanted
    with pytest.raises(exercises.Mistake, match=r"wanted is \(7,\)"):
        exercises.tensor_of(answer, (7,))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("answer", "words"), NONE)
def test_what_is_no_array_of_numbers_is_told(answer, words: str) -> None:
    with pytest.raises(exercises.Mistake, match=words):
        exercises.tensor_of(answer, (3,))


def test_a_truth_value_may_be_an_array_of_one_element() -> None:
    for right in (np.array([True])[::-1], np.array(True), torch.tensor([[True]])):
        assert exercises.truth(right) is True
    for wrong in (np.array([1, 0], dtype=">i4")[::-1], np.ma.array([True], mask=[True]), THREE):
        with pytest.raises(exercises.Mistake, match="True or False was wanted, this is"):
            exercises.truth(wrong)
    with pytest.raises(exercises.Mistake, match=r"put \.all\(\) after"):
        exercises.truth(np.array([True, False])[::-1])
