"""The question bank: exam questions, its two files, and the printable exam with its key."""

import json
import math
import random
import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from sacrebleu import sentence_bleu

from teaching.kit import bank, exam, moodle
from teaching.kit.__main__ import FOLDER
from teaching.kit.lectures import KitError, lectures
from teaching.kit.questions import Choice, Number, Question, Text, question

BOOK = {one.number: one for one in lectures()}
WRITTEN = bank.written()
QUESTIONS = [one for row in WRITTEN.values() for one in row]
SEEDS = range(20)
NUMBER = r"-?\d+(?:\.\d+)?"


def made(one: Question) -> list:
    return [one(random.Random(seed)) for seed in SEEDS]


def numbered(lecture: int, name: str) -> list:
    return made(next(one for one in WRITTEN[lecture] if one.name == name))


# ---- each exam question ------------------------------------------------------------------------


@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: f"{one.section}-{one.name}")
def test_each_seed_makes_a_question_that_can_be_asked(one: Question):
    lecture = BOOK[int(one.section.split(".")[0])]
    assert one.section in lecture.sections
    kinds = set()
    for asked in made(one):
        kinds.add(type(asked))
        assert one.points_of(asked) > 0
        for words in (asked.text, asked.solution):
            assert "{" not in re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$|`[^`]*`", "", words), words
            assert "nan" not in words.split()
        if isinstance(asked, Number):
            assert all(math.isfinite(value) for value in asked.answers.values())
            # what is asked for must be what is checked, however it is rounded
            for label, value in asked.answers.items():
                assert abs(float(asked.rounded(label)) - value) <= asked.within + 1e-9
        if isinstance(asked, Choice):
            assert len({asked.right, *asked.wrong}) == len(asked.wrong) + 1 >= 3
    assert len(kinds) == 1


@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: f"{one.section}-{one.name}")
def test_seeds_make_different_questions(one: Question):
    asked = made(one)
    assert len({each.text for each in asked}) > 1 or isinstance(asked[0], Choice | Text)
    if isinstance(asked[0], Number):
        assert len({tuple(each.answers.values()) for each in asked}) > 1
        # whether a whole number is asked for must not tell what this seed's answer is
        places = [[each.places(label) for label in each.answers] for each in asked]
        assert all(one == places[0] for one in places)


@pytest.mark.parametrize("lecture", WRITTEN)
def test_a_lecture_has_six_questions_two_of_each_kind(lecture: int):
    kinds = Counter(type(one(random.Random(0))) for one in WRITTEN[lecture])
    assert kinds.total() >= 6
    assert min(kinds[kind] for kind in (Number, Choice, Text)) >= 2
    assert len({one.name for one in WRITTEN[lecture]}) == kinds.total()


# ---- answers, computed another way from what the question says ---------------------------------


def test_a_gru_by_its_formula():
    for asked in numbered(1, "two_steps_of_a_gru"):
        h, z, n, later, second = map(float, re.findall(NUMBER + r"(?=\$)", asked.text))
        for gate, candidate in ((z, n), (later, second)):
            h = candidate + gate * (h - candidate)
        assert h == pytest.approx(asked.answers["after two words"])


def test_a_loss_is_the_mean_of_logarithms():
    for asked in numbered(1, "loss_and_perplexity"):
        chances = [1 / int(one) for one in re.findall(r"1/(\d+)", asked.text)]
        loss = -math.log(math.prod(chances)) / 4
        assert len(chances) == 4
        assert (loss, math.exp(loss)) == pytest.approx(tuple(asked.answers.values()))


def test_a_search_by_writing_down_all_sentences():
    for asked in numbered(2, "greedy_and_a_beam"):
        a, b, c, d, e, end = map(float, re.findall(r"0\.\d+", asked.text))
        sentences = {"AC": a * c * end, "AD": a * d * end, "BE": b * e * end}
        greedy = max("AC", "AD", key=sentences.__getitem__)
        assert a > b
        assert max(sentences, key=sentences.__getitem__) == "BE"
        assert asked.answers["greedy"] == pytest.approx(sentences[greedy])
        assert asked.answers["beam of two"] == pytest.approx(sentences["BE"])


def test_two_lengths_tie_where_their_scores_agree():
    for asked in numbered(2, "the_tie_of_two_lengths"):
        n, short, m, long = map(float, re.findall(NUMBER, asked.text)[:4])
        alpha = asked.answers["α"]
        assert short / n**alpha == pytest.approx(long / m**alpha)
        assert 0 < alpha < 1


def test_bleu_as_sacrebleu_has_it():
    for asked in numbered(2, "a_small_bleu"):
        n, r = map(int, re.findall(r"\d+", asked.text)[:2])
        reference = [f"w{k}" for k in range(r)]
        output = [*reference[:2], "other", *reference[3:n]]
        score = sentence_bleu(" ".join(output), [" ".join(reference)], tokenize="none")
        assert asked.answers["BLEU"] == pytest.approx(score.score)
        assert asked.answers["brevity factor"] == pytest.approx(score.bp)
        assert 100 * asked.answers["precision of 2-grams"] == pytest.approx(score.precisions[1])


def test_a_look_in_exact_shares():
    for asked in numbered(3, "a_look_by_hand"):
        shares = [int(one) for one in re.findall(r"\\log (\d+)", asked.text)]
        rows = [[int(a), int(b)] for a, b in re.findall(r"\((-?\d+), (-?\d+)\)", asked.text)]
        context = [sum(s * row[k] for s, row in zip(shares, rows, strict=True)) for k in (0, 1)]
        wanted = [shares[0] / sum(shares), *(one / sum(shares) for one in context)]
        assert list(asked.answers.values()) == pytest.approx(wanted)


# ---- the bank ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def entries() -> list:
    return bank.bank(3)


def test_the_bank_has_every_question_once(entries):
    asked = Counter(state["kind"] for one in BOOK.values() for _, state, _ in one.asked)
    kinds = Counter(entry["kind"] for entry in entries)
    assert kinds == {bank.KINDS[kind]: n for kind, n in asked.items()} | {"exam": len(QUESTIONS)}
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_the_bank_is_json_that_says_what_its_head_says(entries):
    assert json.loads(json.dumps(entries)) == entries
    for entry in entries:
        assert {"id", "kind", "lecture", "section", "title", "page", "type", "points"} < set(entry)
        has = {"choice": {"options", "multiple"}, "number": {"answers", "mistakes"}}
        assert has.get(entry["type"], {"marks"}) < set(entry)
        if entry["type"] == "choice":
            right = sum(option["right"] for option in entry["options"])
            assert right >= 1
            assert entry["multiple"] or right == 1


def test_what_only_a_widget_says_stays_as_it_was_written():
    assert bank.plain("$5 for `a_b` and a_b*") == r"\$5 for `a_b` and a\_b\*"
    assert bank.plain("from [a_page](https://example.org/a_b)").endswith("example.org/a_b)")


def test_one_question_does_not_depend_on_those_beside_it(tmp_path):
    few = tmp_path / "q01_few.py"
    few.write_text((bank.QUESTIONS / "q01_sequence_to_sequence.py").read_text(encoding="utf-8"),
                   encoding="utf-8")  # fmt: skip
    alone = {e["id"]: e for e in bank.bank(3, questions=tmp_path) if e["kind"] == "exam"}
    whole = {e["id"]: e for e in bank.bank(3)}
    assert alone
    assert all(whole[key] == entry for key, entry in alone.items())


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ('@question(section="1.99", points=1)\ndef f(draw):\n    return N()', "section 1.99"),
        ('@question(section="1.3", points=1)\ndef f(draw):\n    return 1 / 0', "f fails with seed"),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(tmp_path, code, says):
    head = "from teaching.kit.questions import Number, question\n\n\ndef N():\n"
    body = '    return Number(text="a", answers={"b": 1.0}, solution="c")\n\n\n'
    (tmp_path / "q01_x.py").write_text(head + body + code, encoding="utf-8")
    with pytest.raises(KitError, match=says):
        bank.bank(questions=tmp_path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Number(text="a", answers={"b": math.nan}, solution="c"), "finite"),
        (lambda: Number(text="a $x", answers={"b": 1.0}, solution="c"), "does not end"),
        (lambda: Choice(text="a", right="B", wrong={"b ": "c"}, solution="d"), "the same"),
        (lambda: Text(text="a", solution="b", marks=[]), "marks"),
        (lambda: question(section="seven"), "wanted a lecture and a section"),
    ],
)
def test_types_refuse_what_cannot_be_asked(make, says):
    with pytest.raises(ValueError, match=says):
        make()


# ---- Moodle ------------------------------------------------------------------------------------

# what Moodle knows as a share of a mark
SHARES = {100, 50, 33.33333, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 0}
GAP = re.compile(r"\{1:NUMERICAL:=-?[\d.]+(?:e[+-]?\d+)?:[\d.]+(?:e-\d+)?\}")


def test_moodle_gets_what_its_format_wants(entries):
    root = ET.fromstring(moodle.quiz(entries, "Book", 3).encode())
    asked = [one for one in root if one.get("type") != "category"]
    assert root.tag == "quiz"
    assert len(asked) == len(entries)
    assert len({one.findtext("idnumber") for one in asked}) == len(asked)
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
            case "essay":
                assert one.findtext("graderinfo/text")
            case other:
                pytest.fail(f"a question of type {other}")


def test_formulae_and_code_survive_the_way_to_moodle():
    entry = {
        "id": "1.3-a", "kind": "exam", "lecture": 1, "section": "1.3", "title": "T", "points": 2,
        "type": "text", "text": "Is $a < b$ in `x <y>`?\n\n```python\nif a < b:\n    pass\n```",
        "solution": r"$\frac{1}{2}$ & so on", "marks": [{"for": "$c$", "points": 2}],
    }  # fmt: skip
    (one,) = (q for q in ET.fromstring(moodle.quiz([entry], "B", 0)) if q.get("type") == "essay")
    words = one.findtext("questiontext/text") or ""
    assert r"\(a &lt; b\)" in words
    assert "<code>x &lt;y&gt;</code>" in words
    assert "if a &lt; b:\n    pass" in words
    assert r"\(\frac{1}{2}\)" in (one.findtext("graderinfo/text") or "")
    assert one.findtext("defaultgrade") == "2"


# ---- the exam ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    pages = []
    for place in ("a", "b"):
        chosen = exam.exam(7, "1-4", 40)
        pages.append([p.read_bytes() for p in exam.write(tmp_path / place, chosen, 7)])
    other = exam.sheet(exam.exam(8, "1-4", 40), 8)
    assert pages[0] == pages[1]
    assert pages[0][0].decode() != other


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


def test_only_the_key_has_the_answers():
    chosen = exam.exam(5, "1-4", 60)
    asked, told = exam.sheet(chosen, 5), exam.key(chosen, 5)
    for entry in chosen:
        assert entry["solution"]
        assert exam.page(entry["solution"]) in told
        assert exam.page(entry["solution"]) not in asked
        assert f"Taught in section {entry['section']}" in told
    assert 'box right"' in told
    assert 'box right"' not in asked


def test_a_whole_number_is_asked_for_and_printed_as_one():
    def asked(draw: random.Random) -> Number:
        return Number(text="a", answers={"n": 832, "x": 8.0}, decimals=2, solution="c")

    entry = bank.asked(Question(asked, "1.3", 2), 0)
    room, key = exam.room(entry), exam.answer(entry)
    assert re.findall(r'class="where">([^<]*)<', room) == ["a whole number", "2 decimals"]
    assert "n = <b>832</b></li>" in key
    assert "x = <b>8.00</b>, right within 0.005</li>" in key
    assert "1 point each" in key


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seed", "x"], "seed is 'x'; wanted a whole number"),
        (["--seed", ""], "seed is ''; wanted a whole number"),
        (["--seed", "7", "--lectures", "99"], "lecture 99 has no exam questions"),
        (["--seed", "7", "--lectures", "one"], "wanted numbers such as 1,5-7"),
        (["--seed", "7", "--lectures", "4-2"], "4-2 runs backwards"),
        (["--seed", "7", "--points", "9999"], "9999 points are wanted, and the questions"),
        (["--seed", "7", "--points", "0"], "points is '0'; wanted a whole number from 1"),
        (["--seed", "7", "--points", "1"], "no choice of these questions has 1 points"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, says, capsys, tmp_path):
    assert exam.main([*arguments, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr()
    assert says in told.err
    assert "Traceback" not in told.err
    assert not (tmp_path / "out").exists()
