"""The question bank: every question with twenty seeds, and what of it everybody gets."""

import json
import math
import random
import zipfile
from collections import Counter

import pytest

from teaching.kit import bank, written
from teaching.kit.answers import shares, slip
from teaching.kit.lectures import lectures
from teaching.kit.questions import Choice, Number, Question, Text, question

READ = lectures()
QUESTIONS = written.read()
SECTIONS = {name for lecture in READ for name in lecture.sections}
each = pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: f"{one.section}-{one.name}")


@pytest.fixture(scope="module", autouse=True)
def entries() -> list:
    """The bank of one seed; no test reads the lectures again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bank, "lectures", lambda: READ)
        yield bank.in_lectures() + bank.for_exams(3)


def made(one: Question) -> list:
    return [one(random.Random(seed)) for seed in range(20)]


def test_every_question_of_the_book_can_be_asked_with_every_seed():
    assert written.faults(QUESTIONS, SECTIONS) == []


@each
def test_a_question_is_of_one_kind_and_asks_no_nan(one: Question):
    asked = made(one)
    assert len({type(each) for each in asked}) == 1
    for each in asked:
        assert "nan" not in f"{each.text} {each.solution}".split()
        assert not isinstance(each, Choice) or len(each.wrong) >= 2


@each
def test_other_seeds_ask_otherwise(one: Question):
    asked = made(one)
    assert len({repr(each) for each in asked}) > 1
    if isinstance(asked[0], Number):
        assert len({each.text for each in asked}) > 1
        assert len({tuple(each.answers.values()) for each in asked}) > 1
        # whether a whole number is asked for must not tell what this seed's answer is
        assert len({tuple(map(each.places, each.answers)) for each in asked}) == 1


REFUSED = {
    "finite": lambda: Number(text="a", answers={"b": math.nan}, solution="c"),
    "does not end": lambda: Number(text="a $x", answers={"b": 1.0}, solution="c"),
    "the same": lambda: Choice(text="a", right="B", wrong={"b ": "c"}, solution="d"),
    "needs marks": lambda: Text(text="a", solution="b", marks=[]),
    "wanted a lecture and a section": lambda: question(section="seven"),
    "wanted whole or half points": lambda: question(section="7.2", points=1.25),
    "is of 0.7 points": lambda: Text(text="a", solution="b", marks=[("c", 0.7)]),
    "a brace stands": lambda: Choice(text="{n}", right="a", wrong={"b": "c"}, solution="d"),
    "not within 0.001": lambda: Number(
        text="a", answers={"b": 0.26}, solution="c", decimals=1, tolerance=0.001
    ),
    "half a point for each": lambda: question(section="7.2", points=0.5)(
        lambda _: Number(text="a", answers={"b": 1.0, "c": 2.0}, solution="d")
    )(random.Random(0)),
}


@pytest.mark.parametrize(("says", "make"), REFUSED.items(), ids=REFUSED)
def test_types_refuse_what_cannot_be_asked(says, make):
    with pytest.raises(ValueError, match=says):
        make()


def test_the_bank_has_every_question_once_in_json_that_says_what_its_head_says(entries):
    asked = Counter(state["kind"] for one in READ for _, state, _ in one.asked)
    kinds = Counter(entry["kind"] for entry in entries)
    assert kinds == {bank.KINDS[kind]: n for kind, n in asked.items()} | {"exam": len(QUESTIONS)}
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert json.loads(json.dumps(entries)) == entries
    has = {"choice": {"options", "multiple"}, "number": {"answers", "mistakes"}, "text": {"marks"}}
    for entry in entries:
        assert {"id", "kind", "lecture", "section", "title", "page", "points"} < set(entry)
        assert has[entry["type"]] < set(entry)
        if entry["type"] == "choice":
            right = sum(option["right"] for option in entry["options"])
            assert right == 1 or (right > 1 and entry["multiple"])


def test_a_widgets_words_stay_and_a_question_depends_on_none_beside_it(entries, tmp_path):
    assert bank.plain("$5 for `a_b` and a_b*") == r"\$5 for `a_b` and a\_b\*"
    assert bank.plain("from [a_page](https://example.org/a_b)").endswith("example.org/a_b)")
    name = "q01_sequence_to_sequence.py"
    (tmp_path / name).write_bytes((written.QUESTIONS / name).read_bytes())
    told = {entry["text"] for entry in bank.for_exams(3, tmp_path, private_only=True)}
    assert told
    assert told < {entry["text"] for entry in entries}


def test_the_kit_holds_no_question_that_is_kept_for_exams(entries, tmp_path):
    files = bank.write(tmp_path)
    packed = [zipfile.ZipFile(file) for file in files if file.suffix == ".zip"]
    texts = [file.read_text("utf-8") for file in files if file.suffix != ".zip"]
    texts += [one.read(name).decode() for one in packed for name in one.namelist()]
    asked = {entry["kind"]: entry for entry in entries}
    for text in texts:
        assert not [one.name for one in QUESTIONS if one.name in text]
    for kind, entry in asked.items():
        assert (entry["id"] in "".join(texts)) == (kind != "exam")


def test_points_are_shared_in_halves_at_most_and_none_is_lost():
    for halves in range(1, 20):
        for count in range(1, halves + 1):
            entry = {"kind": "exam", "points": halves / 2, "answers": [{}] * count}
            each = shares(entry)
            assert sum(each) == halves / 2
            assert min(each) >= 0.5
            assert max(each) - min(each) <= 1
            assert all((2 * one) % 1 == 0 for one in (*each, *map(slip, each)))
