"""What course systems get: Moodle XML by its format, GIFT and QTI as others read and write them."""

import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from teaching.kit import bank, canvas, gift, moodle
from teaching.kit.answers import margin, stated
from tests.patience import PROCESS

PARSER = Path(__file__).parent / "gift"  # a parser of GIFT, from npm


@pytest.fixture(scope="module")
def entries() -> list:
    return bank.in_lectures() + bank.for_exams(3)


# what Moodle knows as a share of a mark
SHARES = {100, 50, 33.33333, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 0}
GAP = re.compile(r"\{([1-9]):NUMERICAL:=(-?\d+(?:\.\d+)?):(\d+(?:\.\d+)?)\}")


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
                places = max(map(int, re.findall(r"\((\d) decimal", words)), default=0)
                assert all(len(n.partition(".")[2]) <= places + 1 for _, n, _ in GAP.findall(words))
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


def test_a_number_is_right_however_it_is_rounded_and_between_two_both_are():
    for value, places, told in (0.1875, 3, "0.1875"), (1 / 3, 3, "0.333"), (-1e-9, 2, "0.00"):
        answer = {"value": value, "decimals": places, "tolerance": 0.5 * 10**-places}
        assert stated(answer) == told
        assert "e" not in margin({"tolerance": 0.00005})
    for near in 0.187, 0.188:
        assert abs(near - float("0.1875")) <= 0.0005 + 1e-12


def parsed(text: str) -> list:
    """Read GIFT by a parser of others; it is installed in CI, and by `npm ci` beside it."""
    if not (PARSER / "node_modules").exists():
        if not os.environ.get("CI"):
            pytest.skip(f"no parser of GIFT: `npm ci` in {PARSER} installs it")
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=PARSER, check=True)
    command = [shutil.which("node") or "node", "read.cjs"]
    done = subprocess.run(command, cwd=PARSER, input=text.encode(), capture_output=True,
                          check=True, timeout=PROCESS)  # fmt: skip
    return json.loads(done.stdout)


def test_gift_says_the_same_to_the_parser_of_others(entries):
    read = [one for one in parsed(gift.quiz(entries, "Book")) if one["type"] != "Category"]
    kinds = {"choice": "MC", "number": "Numerical", "text": "Essay"}
    wanted = [(entry, n) for entry in moodle.by_category(entries)
              for n in range(len(entry.get("answers", [1])))]  # fmt: skip
    assert len(read) == len(wanted)
    for one, (entry, n) in zip(read, wanted, strict=True):
        assert one["type"] == kinds[entry["type"]]
        assert one["stem"]["text"].startswith(moodle.page(entry["text"]))
        assert moodle.page(entry["solution"]) in one["globalFeedback"]["text"]
        if entry["type"] == "choice":
            told = [(row["text"]["text"], row["feedback"]["text"]) for row in one["choices"]]
            pairs = [(moodle.page(o["text"]), moodle.page(o["why"])) for o in entry["options"]]
            assert told == pairs
            right = [row["isCorrect"] or (row["weight"] or 0) > 0 for row in one["choices"]]
            assert right == [option["right"] for option in entry["options"]]
        elif entry["type"] == "number":
            first = one["choices"][0]
            number, answer = first["text"], entry["answers"][n]
            assert first["isCorrect"]
            assert number["range"] == pytest.approx(answer["tolerance"])
            assert abs(number["number"] - answer["value"]) <= answer["tolerance"] + 1e-9


# one question of each kind, as text2qti asks it; Canvas imports what text2qti writes
ASKED = """Quiz title: T

1. a
... told
a) b
... why
*b) c
... why

2. a2
... told
[*] b
... why
[ ] c
... why

3. a3
... told
= 0.5 +- 0.1

4. a4
... told
___
"""
FIXED = {"rcardinality", "texttype", "continue", "feedbacktype", "action", "fibtype", "type"}


def forms(package: bytes) -> set:
    """Every element by the way to it, its attributes, and the values of those that are fixed."""
    found = set()

    def walk(one: ET.Element, way: str) -> None:
        found.add(way := f"{way}/{one.tag}")
        found.update((way, name, value if name in FIXED else "") for name, value in one.items())
        for child in one:
            walk(child, way)

    with zipfile.ZipFile(io.BytesIO(package)) as files:
        for name in files.namelist():
            if name.endswith(".xml"):
                walk(ET.fromstring(files.read(name)), "")
    return found


def test_canvas_gets_nothing_that_text2qti_would_not_write(entries):
    config = {"latex_render_url": "", "pandoc_mathml": False, "run_code_blocks": False}
    known = forms(QTI(Quiz(ASKED, config=config)).zip_bytes())
    ours = forms(bank.courses({"A & B": entries}, "n", 3)["n-canvas.zip"])
    assert len(ours) > 50
    assert ours <= known


def scored(item: ET.Element, answer: set | float) -> bool:
    """Whether Canvas gives the points for what was ticked, or for a number."""

    def holds(one: ET.Element) -> bool:
        value = one.text or ""
        match one.tag:
            case "varequal":
                return value in answer if isinstance(answer, set) else float(value) == answer
            case "vargte" | "varlte" if isinstance(answer, float):
                return answer >= float(value) if one.tag == "vargte" else answer <= float(value)
            case "or":
                return any(map(holds, one))
            case "not":
                return not any(map(holds, one))
            case tag:
                assert tag in ("and", "conditionvar")
                return all(map(holds, one))

    rules = [one for one in item.iter("respcondition") if one.find("setvar") is not None]
    return any(holds(one) for rule in rules for one in rule.iter("conditionvar"))


def test_canvas_gives_points_for_what_is_right_and_for_nothing_else(entries):
    keys = []
    for entry in entries:
        items = canvas.questions(entry, 3)
        keys += [item.get("ident") for item in items]
        points = [float(item.findall(".//fieldentry")[1].text or "") for item in items]
        assert sum(points) == (entry["points"] if entry["kind"] == "exam" else len(items))
        for item in items:
            told = {one.get("linkrefid") for one in item.iter("displayfeedback")}
            assert told | {"general_fb"} == {one.get("ident") for one in item.iter("itemfeedback")}
        if entry["type"] == "choice":
            names = [one.get("ident") or "" for one in items[0].iter("response_label")]
            rows = list(zip(names, entry["options"], strict=True))
            right = {name for name, option in rows if option["right"]}
            assert scored(items[0], right)
            wrong = [{name} for name in names if {name} != right]
            assert not [one for one in wrong if scored(items[0], one)]
        elif entry["type"] == "number":
            for item, answer in zip(items, entry["answers"], strict=True):
                value, within = float(stated(answer)), answer["tolerance"]
                assert scored(item, value)
                assert scored(item, value + 0.99 * within)
                assert not scored(item, value - 1.01 * within - 1e-9)
    assert len(set(keys)) == len(keys)
