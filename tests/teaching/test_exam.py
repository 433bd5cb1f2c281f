"""An exam and its key: whose questions are asked, what is printed, and what is refused."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book.tools.pdf.read import Printed
from teaching.kit import bank, exam, packed, printed, sheets
from teaching.kit.lectures import KitError, lectures
from teaching.kit.questions import Number, Question
from tests.book.lectures import ROOT
from tests.patience import PROCESS

TEMPLATE = ROOT / "teaching" / "template"
PAGE = (ROOT / "book" / "teaching" / "exams.md").read_text(encoding="utf-8")
READ = lectures()
HEAD = "from teaching.kit.questions import Choice, Number, Text, question\n\n\n"
MINE = """@question(section="{section}", points={points})
def {name}(draw):
    n = draw.randint(1, 9)
    return Number(text=f"{name}: what is {{n}}?", answers={{"n": n}}, solution="That.")


"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No test reads the lectures again; a PDF is printed by the test of it alone."""
    monkeypatch.setattr(bank, "lectures", lambda: READ)
    monkeypatch.setattr(exam, "pdf", lambda pages: ([], "not here"))


@pytest.fixture
def mine(tmp_path) -> Path:
    """A private folder: two questions each on lectures 5 and 6, of 3 and 4 points."""
    rows = [("5.2", 3, "first"), ("5.3", 4, "second"), ("6.2", 3, "third"), ("6.4", 4, "fourth")]
    text = HEAD + "".join(MINE.format(section=s, points=p, name=n) for s, p, n in rows)
    (folder := tmp_path / "mine").mkdir()
    (folder / "questions.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("points", [10, 23, 40])
def test_an_exam_has_its_points_from_its_lectures(points):
    for seed in range(5):
        made = exam.exam(seed, "1,3-4", points)
        assert made.points == points
        assert {entry["lecture"] for entry in made.entries} <= {1, 3, 4}
        assert exam.spread(made.entries) == 3 or points == 10


def test_a_public_question_is_asked_once_all_private_ones_of_its_lecture_are(mine):
    mixed = set()
    for seed in range(8):
        made = exam.exam(seed, "5-7", 30, mine)
        assert made.points == 30
        for n in (5, 6):
            own = [one["private"] for one in made.entries if one["lecture"] == n]
            assert sum(own) == 2 or all(own)
        mixed.add(sum(entry["private"] for entry in made.entries))
        assert exam.spread(made.entries) == 3
    assert mixed == {4}


def test_private_questions_alone_are_asked_of_somebody_who_wants_no_other(mine):
    made = exam.exam(7, "", None, mine, private_only=True)
    assert [entry["private"] for entry in made.entries] == [True] * 4
    assert made.lectures == [5, 6]
    assert exam.exam(7, "5", 4, mine, private_only=True).entries == made.entries[1:2]


def test_paper_and_key_have_one_version_that_no_other_exam_has(mine, tmp_path):
    def version(*given):
        made = exam.exam(*given)
        pages = [page.read_text("utf-8") for page in exam.write(tmp_path / "out", made)]
        assert all(page.count(made.version) == 2 for page in pages)  # its title, and the foot
        assert made.name in {page.stem for page in (tmp_path / "out").glob("*.html")}
        return made.version, made.name

    told = [version(7, "5-7", 30), version(7, "5-7", 30, mine), version(8, "5-7", 30),
            version(7, "5,7", 30), version(7, "5-7", 29)]  # fmt: skip
    text = (mine / "questions.py").read_text(encoding="utf-8")
    (mine / "questions.py").write_text(text.replace("That.", "This."), encoding="utf-8")
    told.append(version(7, "5-7", 30, mine))
    assert len({one for one, _ in told}) == len({name for _, name in told}) == len(told)
    assert told[0][0].startswith("Version 7 · lectures 5–7 · 30 points · check ")
    assert told[3][1].startswith("exam-7-lectures-5_7-30-points-")
    assert told[0] == version(7, "5-7", 30)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    def files(seed, place):
        exam.write(place, exam.exam(seed, "1-4", 40))
        return {path.name: path.read_bytes() for path in place.iterdir()}

    assert files(7, tmp_path / "a") == files(7, tmp_path / "b") != files(8, tmp_path / "c")


def test_only_what_is_called_key_has_the_answers(tmp_path, mine):
    made = exam.exam(5, "1-5", 60, mine)
    exam.write(tmp_path / "out", made)
    for path in (tmp_path / "out").glob("exam-*.html"):
        text = path.read_text(encoding="utf-8")
        for words in ('box right"', *(sheets.page(one["solution"]) for one in made.entries)):
            assert (words in text) == ("key" in path.name)
        for words in ("Public: students may have read it", "From your own questions"):
            assert (words in text) == ("key" in path.name)
    others = [path for path in (tmp_path / "out").glob("exam-*") if path.suffix != ".html"]
    assert len(others) == 3
    assert all("-key-" in path.name for path in others)


def test_whole_numbers_are_asked_for_as_such_and_a_share_is_whole_or_half():
    asked = Number(text="a", answers={"n": 832, "x": 8.0}, decimals=2, solution="c")
    entry = bank.asked(Question(lambda _: asked, "1.3", 2.5), 0)
    room, key = sheets.room(entry), sheets.answer(entry)
    assert re.findall(r'class="where">([^<]*)<', room) == ["a whole number", "2 decimals"]
    assert "n = <b>832</b>: 1 point, with a slip 0.5</li>" in key
    assert "x = <b>8.00</b>, right within 0.005: 1.5 points, with a slip 0.5</li>" in key
    for one in (one for seed in range(4) for one in exam.exam(seed).entries):
        told = re.findall(r": ([\d.]+) points?(?:, with a slip ([\d.]+))?</li>", sheets.answer(one))
        assert all(2 * float(points) % 1 == 0 for row in told for points in row if points)
        assert one["type"] != "number" or sum(float(row[0]) for row in told) == one["points"]


WIDE = """(width) => [...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility() && !one.closest("mjx-assistive-mml"))  // for the ear
  .filter((one) => one.getBoundingClientRect().right > width + 1)
  .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("points", [60, 120])
def test_nothing_is_wider_than_the_paper(chromium, tmp_path, points):
    margin = 68  # px: 18 mm, as the page's style has it
    for path in exam.write(tmp_path, exam.exam(7, "", points)):
        page = chromium.new_page(viewport={"width": 794 - 2 * margin, "height": 1123})
        page.emulate_media(media="print")
        page.goto(path.as_uri())
        page.evaluate(printed.SET)
        assert page.evaluate(WIDE, 794 - 2 * margin) == []
        assert page.locator("table").count() > 1 or "key" in path.name
        page.close()


def test_a_pdf_lies_beside_each_page_and_carries_the_version_on_every_sheet(tmp_path):
    words = ["--seed", "7", "--lectures", "5-7", "--points", "30", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "teaching.kit.exam", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True,
                          timeout=PROCESS)  # fmt: skip
    version = exam.exam(7, "5-7", 30).version
    assert version in done.stdout
    found = sorted(tmp_path.glob("*.pdf"))
    assert len(found) == 2
    for path in found:
        pdf = Printed(path.read_bytes())
        assert b"[0 0 594.95" in pdf[pdf.pages[0]]  # A4, in points
        runs = []
        for number in pdf.pages:
            content = re.search(rb"/Contents (\d+) 0 R", pdf[number])
            drawn = re.findall(rb"BT\n.*?ET", pdf.stream(int(content[1])), re.S)
            runs.append({b"".join(re.findall(rb"<(\w+)> Tj", one)) for one in drawn})
        assert len(runs) > 2
        # two bytes a letter: a line as long as the version stands on every sheet
        assert 4 * len(version) in map(len, set.intersection(*runs))


def test_without_chromium_there_are_pages_and_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(exam, "pdf", printed.pdf)
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    assert exam.main(["--seed", "7", "--points", "10", "--out", str(tmp_path)]) == 0
    assert "no PDF was made, for no Chromium was found" in capsys.readouterr().out
    assert [path.suffix for path in tmp_path.glob("exam-*points-????.*")] == [".html"]


def test_an_exam_is_never_packed_for_everybody(tmp_path):
    assert tmp_path.joinpath("kit").mkdir() is None
    exam.write(tmp_path / "kit", exam.exam(7, "1", 10))
    with pytest.raises(KitError, match=r"exam-7-.*packed for everybody"):
        packed.pack(tmp_path / "kit")
    assert not list(tmp_path.rglob("*kit.zip"))
    assert "kit" not in bank.EXAMS.parts[-2:]


BAD = {
    "--seed x": "seed is 'x'; wanted a whole number",
    "--seed=": "seed is ''; wanted a whole number",
    "--seed 7 --lectures 99": "lecture 99 has no exam questions",
    "--seed 7 --lectures one": "wanted numbers such as 1,5-7",
    "--seed 7 --lectures 4-2": "4-2 runs backwards",
    "--seed 7 --points 9999": "9999 points are wanted, and the questions",
    "--seed 7 --points 0": "points is '0'; wanted a whole number from 1",
    "--seed 7 --points 1": "no choice of these questions has 1 points",
    "--seed 7 --private-only": "no folder of them is given",
    "--seed 7 --bank /nowhere": "/nowhere is no folder",
    "--seed 7 --bank {mine} --lectures 1": "none of the questions of",
    "--seed 7 --bank {mine} --private-only --lectures 1": "these have: 5, 6",
    "--seed 7 --bank {mine} --private-only --points 30": "30 points are wanted",
}


@pytest.mark.parametrize(("words", "says"), BAD.items(), ids=BAD)
def test_bad_input_gets_a_sentence_and_nothing_is_written(words, says, capsys, tmp_path, mine):
    given = [word.format(mine=mine) for word in words.split()]
    assert exam.main([*given, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told
    assert not (tmp_path / "out").exists()


ONE = '@question(section="5.2", points=2)\ndef broken(draw):\n    return '
NUMBER = 'Number(text="a", answers={"b": 1.0}, solution="c")\n'
# a file's text below its head of three lines, and what is said of it
BROKEN = {
    "no section": (ONE.replace("5.2", "5.99") + NUMBER, ":4: broken: there is no section 5.99; "),
    "no lecture": (ONE.replace("5.2", "99.1") + NUMBER, "wanted one of lectures 1, 2, "),
    "no number": (
        ONE + 'Number(text="a", answers={"b": "1"}, solution="c")',
        ":6: broken: the answer 'b' is '1'; wanted a finite number (seed 0)",
    ),
    "a fault": (ONE + "1 / 0", ":6: broken: ZeroDivisionError: division by zero (seed 0)"),
    "no question": (ONE + "{}", ":4: broken: broken returned {}; wanted a Number"),
    "a third": (ONE.replace("2)", "0.33)") + NUMBER, ":4: points is of 0.33 points; wanted whole"),
    "by chance": (
        "import random\n\n\n" + ONE + NUMBER.replace("1.0", "random.random()"),
        ":7: broken: asks two things with seed 0",
    ),
    "no f": (ONE + NUMBER.replace('"a"', '"{n}"'), ":6: broken: a brace stands outside"),
    "twice": (ONE + NUMBER + "\n\n" + ONE + NUMBER, ":10: SyntaxError: broken stands in line 5"),
    "no Python": ("def f(:\n", ":4: SyntaxError: "),
    "no function": ("", "holds no question"),
    "less than half": (
        ONE.replace("points=2", "points=0.5") + NUMBER.replace("1.0}", '1.0, "c": 2}'),
        ":4: broken: broken has 0.5 points for 2 answers",
    ),
}


@pytest.mark.parametrize(("text", "says"), BROKEN.values(), ids=BROKEN)
def test_a_private_folder_is_refused_by_file_line_and_question(text, says, tmp_path, capsys):
    (folder := tmp_path / "mine").mkdir()
    (folder / "week_5.py").write_text(HEAD + text, encoding="utf-8")
    assert bank.main(["--check", str(folder)]) == 1
    assert (told := capsys.readouterr().err).count(says) == 1
    assert says.startswith(":") == (f"week_5.py{says}" in told)
    # an exam refuses it with the same sentence
    assert exam.main(["--seed", "7", "--bank", str(folder), "--out", str(tmp_path / "out")]) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_every_fault_of_a_folder_is_named_at_once(mine, capsys):
    (mine / "more.py").write_text(HEAD + ONE + "None\n\n\n" + ONE.replace("broken", "other") + "1")
    shutil.copy(mine / "questions.py", mine / "zz.py")
    assert bank.main(["--check", str(mine)]) == 1
    told = capsys.readouterr().err.splitlines()[1:]
    assert [line.split(":")[0] for line in told] == ["more.py"] * 2 + ["zz.py"] * 4
    assert told[-1].endswith("section 6.4 has a question of this name in questions.py, too")


FENCED = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S) for line in block.split("\n")
]
COMMANDS = [line for line in FENCED if line]


def test_every_command_of_the_page_does_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    out = tmp_path / "out"
    assert len(COMMANDS) > 5
    for line in COMMANDS:
        words = shlex.split(line)
        if words[0] == "make":  # what it would run
            # the suite may itself be a make's, whose flags would be taken over
            apart = {name: is_ for name, is_ in os.environ.items() if not name.startswith("MAKE")}
            asked = ["make", "-n", "--no-print-directory", *words[1:]]
            done = subprocess.run(asked, cwd=ROOT, env=apart, capture_output=True, text=True)
            words = shlex.split(done.stdout.replace("\\\n", ""))
            assert words[1:3] == ["tasks.py", "exam"]
            assert exam.main([*words[3:], "--out", str(out)]) == 0, line
        elif words[0] == "cp":
            subprocess.run(line, shell=True, cwd=ROOT, check=True)
        else:
            assert words[:3] == [".venv/bin/python", "-m", "teaching.kit.bank"]
            writes = [] if "--check" in words else ["--out", str(out)]
            assert bank.main([*words[3:], *writes]) == 0, line
    told = capsys.readouterr().out
    assert "is in order: 3 questions" in told
    assert "3 questions, 3 of them private" in told
    names = {path.name for path in out.iterdir()}
    assert {"exam-questions-moodle.xml", "exam-questions-gift.txt", "formulae.js"} < names
    assert len([name for name in names if name.endswith("-key.html")]) == 3
