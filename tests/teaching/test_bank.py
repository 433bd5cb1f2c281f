"""The question bank: every question with twenty seeds, the exam and its key, what Moodle gets."""

import json
import math
import random
import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from teaching.kit import bank, exam, moodle
from teaching.kit.__main__ import FOLDER
from teaching.kit.lectures import KitError, lectures
from teaching.kit.questions import Choice, Number, Question, Text, question

READ = lectures()
WRITTEN = bank.written()
QUESTIONS = [one for row in WRITTEN.values() for one in row]
each = pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: f"{one.section}-{one.name}")


@pytest.fixture(scope="module", autouse=True)
def entries() -> list:
    """The bank of one seed; no test reads the lectures again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bank, "lectures", lambda: READ)
        yield bank.bank(3)


def made(one: Question) -> list:
    return [one(random.Random(seed)) for seed in range(20)]


@each
def test_each_seed_makes_a_question_that_can_be_asked(one: Question):
    assert any(one.section in lecture.sections for lecture in READ)
    asked = made(one)
    assert len({type(each) for each in asked}) == 1
    for each in asked:
        assert one.points_of(each) > 0
        for words in (each.text, each.solution):
            assert "{" not in re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$|`[^`]*`", "", words), words
            assert "nan" not in words.split()
        if isinstance(each, Choice):
            assert len({each.right, *each.wrong}) == len(each.wrong) + 1 >= 3
        # what is asked for must be what is checked, however it is rounded
        for label, value in getattr(each, "answers", {}).items():
            assert math.isfinite(value)
            assert abs(float(each.rounded(label)) - value) <= each.within + 1e-9


@each
def test_the_same_seed_asks_the_same_and_other_seeds_ask_otherwise(one: Question):
    asked = made(one)
    assert asked == made(one)
    assert len({repr(each) for each in asked}) > 1
    if isinstance(asked[0], Number):
        assert len({each.text for each in asked}) > 1
        assert len({tuple(each.answers.values()) for each in asked}) > 1
        # whether a whole number is asked for must not tell what this seed's answer is
        assert len({tuple(map(each.places, each.answers)) for each in asked}) == 1


@pytest.mark.parametrize("lecture", WRITTEN)
def test_a_lecture_has_six_questions_two_of_each_kind(lecture: int):
    kinds = Counter(type(one(random.Random(0))) for one in WRITTEN[lecture])
    assert kinds.total() >= 6
    assert min(kinds[kind] for kind in (Number, Choice, Text)) >= 2
    assert len({one.name for one in QUESTIONS}) == len(QUESTIONS)


REFUSED = {
    "finite": lambda: Number(text="a", answers={"b": math.nan}, solution="c"),
    "does not end": lambda: Number(text="a $x", answers={"b": 1.0}, solution="c"),
    "the same": lambda: Choice(text="a", right="B", wrong={"b ": "c"}, solution="d"),
    "needs marks": lambda: Text(text="a", solution="b", marks=[]),
    "wanted a lecture and a section": lambda: question(section="seven"),
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
    (tmp_path / name).write_bytes((bank.QUESTIONS / name).read_bytes())
    alone = [entry for entry in bank.bank(3, questions=tmp_path) if entry["kind"] == "exam"]
    assert len(alone) == len(WRITTEN[1])
    assert all(entry in entries for entry in alone)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ('@question(section="1.99", points=1)\ndef f(draw):\n    return N', "section 1.99"),
        ('@question(section="1.3", points=1)\ndef f(draw):\n    return 1 / 0', "f fails with seed"),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(tmp_path, code, says):
    head = "from teaching.kit.questions import Number, question\n\n"
    head += 'N = Number(text="a", answers={"b": 1.0}, solution="c")\n'
    (tmp_path / "q01_x.py").write_text(head + code, encoding="utf-8")
    with pytest.raises(KitError, match=says):
        bank.bank(questions=tmp_path)


# what Moodle knows as a share of a mark
SHARES = {100, 50, 33.33333, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 0}
GAP = re.compile(r"\{1:NUMERICAL:=-?[\d.]+(?:e[+-]?\d+)?:[\d.]+(?:e-\d+)?\}")


def test_moodle_gets_what_its_format_wants(entries):
    xml = ET.fromstring(moodle.quiz(entries, "Book", 3).encode())
    asked = [one for one in xml if one.get("type") != "category"]
    assert xml.tag == "quiz"
    assert len({one.findtext("idnumber") for one in asked}) == len(asked) == len(entries)
    for one in asked:
        words = one.findtext("questiontext/text") or ""
        assert one.findtext("name/text")
        assert words.startswith("<")
        assert "$" not in re.sub(r"<code.*?</code>", "", words, flags=re.S)
        answers = one.findall("answer")
        shares = [float(answer.get("fraction", "")) for answer in answers]
        assert {abs(share) for share in shares} <= SHARES
        match one.get("type"):
            case "multichoice":
                assert sum(share for share in shares if share > 0) == pytest.approx(100, abs=1e-3)
                assert all(answer.findtext("feedback/text") for answer in answers)
            case "numerical":
                assert shares[0] == 100
                assert all(float(answer.findtext("tolerance") or "x") >= 0 for answer in answers)
            case "cloze":
                assert len(GAP.findall(words)) == words.count("NUMERICAL") > 1
            case kind:
                assert kind == "essay"
                assert one.findtext("graderinfo/text")


def test_formulae_and_code_survive_the_way_to_moodle():
    entry = {
        "id": "1.3-a", "kind": "exam", "lecture": 1, "section": "1.3", "title": "T", "points": 2,
        "type": "text", "text": "Is $a < b$ in `x <y>`?\n\n```python\nif a < b:\n    pass\n```",
        "solution": r"$\frac{1}{2}$ & so on", "marks": [{"for": "$c$", "points": 2}],
    }  # fmt: skip
    (one,) = (q for q in ET.fromstring(moodle.quiz([entry], "B", 0)) if q.get("type") == "essay")
    words = one.findtext("questiontext/text") or ""
    for wanted in (r"\(a &lt; b\)", "<code>x &lt;y&gt;</code>", "if a &lt; b:\n    pass"):
        assert wanted in words
    assert r"\(\frac{1}{2}\)" in (one.findtext("graderinfo/text") or "")
    assert one.findtext("defaultgrade") == "2"


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    def pages(seed, place):
        return [page.read_bytes() for page in exam.write(place, exam.exam(seed, "1-4", 40), seed)]

    assert pages(7, tmp_path / "a") == pages(7, tmp_path / "b") != pages(8, tmp_path / "c")


@pytest.mark.parametrize("points", [10, 23, 40])
def test_an_exam_has_its_points_from_its_lectures(points):
    for seed in range(5):
        chosen = exam.exam(seed, "1,3-4", points)
        assert sum(entry["points"] for entry in chosen) == points
        assert {entry["lecture"] for entry in chosen} <= {1, 3, 4}
        assert exam.spread(chosen) == 3 or points == 10


def test_an_exam_is_not_put_where_the_kit_is_packed(monkeypatch):
    places = []
    monkeypatch.setattr(exam, "write", lambda folder, *_: places.append(folder) or [])
    assert exam.main(["--seed", "7", "--points", "10"]) == 0
    assert FOLDER not in [places[0], *places[0].parents]


def test_only_the_key_has_the_answers_and_whole_numbers_are_asked_for_as_such():
    chosen = exam.exam(5, "1-4", 60)
    asked, told = exam.sheet(chosen, 5), exam.key(chosen, 5)
    for words in ('box right"', *(exam.page(entry["solution"]) for entry in chosen)):
        assert words
        assert words in told
        assert words not in asked
    assert all(f"Taught in section {entry['section']}" in told for entry in chosen)
    asked = Number(text="a", answers={"n": 832, "x": 8.0}, decimals=2, solution="c")
    entry = bank.asked(Question(lambda _: asked, "1.3", 2), 0)
    room, key = exam.room(entry), exam.answer(entry)
    assert re.findall(r'class="where">([^<]*)<', room) == ["a whole number", "2 decimals"]
    for words in (
        "n = <b>832</b></li>",
        "x = <b>8.00</b>, right within 0.005</li>",
        "1 point each",
    ):
        assert words in key


BAD = {
    "--seed x": "seed is 'x'; wanted a whole number",
    "--seed=": "seed is ''; wanted a whole number",
    "--seed 7 --lectures 99": "lecture 99 has no exam questions",
    "--seed 7 --lectures one": "wanted numbers such as 1,5-7",
    "--seed 7 --lectures 4-2": "4-2 runs backwards",
    "--seed 7 --points 9999": "9999 points are wanted, and the questions",
    "--seed 7 --points 0": "points is '0'; wanted a whole number from 1",
    "--seed 7 --points 1": "no choice of these questions has 1 points",
}


@pytest.mark.parametrize(("words", "says"), BAD.items(), ids=BAD)
def test_bad_input_gets_a_sentence(words, says, capsys, tmp_path):
    assert exam.main([*words.split(), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told
    assert not (tmp_path / "out").exists()
