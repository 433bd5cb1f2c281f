"""What the pages for teachers say of a lecture holds: its votes, its cuts, its exercises."""

import ast
import importlib
import re
from functools import cache

import pytest

from teaching.kit import lectures, teaching
from tests.book.lectures import LECTURES, ROOT, code, load

planner = load(ROOT / "book" / "tools" / "plan.py")
PAGES = ROOT / "book" / "teaching"
ALL = {lecture.name: lecture for lecture in lectures.lectures()}
each = pytest.mark.parametrize("name", [path.stem for path in LECTURES])
VOTED = re.compile(r"(hunt|checkpoint) of (\d+\.\d+) “(.+?)”")
SAVED = re.compile(r"\((\d+)(?: saved)?\)")
SHORT = 45  # minutes of teaching in a class of 50


@cache
def page(name: str) -> teaching.Page:
    return teaching.read(PAGES / f"{name}.md", list(ALL[name].sections))


def clock(name: str, begins: str) -> str:
    lines = [one for one in page(name).parts["The clock"].splitlines() if one.startswith(begins)]
    assert len(lines) == 1, begins
    return lines[0]


@each
def test_the_page_names_each_question_of_the_vote_and_each_for_home(name):
    at_home = {
        state["question"]: "at-home" in cell.metadata.get("tags", [])
        for cell in code(ALL[name].notebook)
        if (state := lectures.question(cell))
    }
    kinds = {"bughunt": "hunt", "checkpoint": "checkpoint"}
    asked = [
        (kinds[s["kind"]], n, s["question"]) for n, s, _ in ALL[name].asked if s["kind"] in kinds
    ]
    in_class, _, home = clock(name, "Voted on in class: ").partition("For home: ")
    for text, wanted in ((in_class, False), (home, True)):
        found = [
            [one for one in asked if one[:2] == (kind, number) and one[2].startswith(words)]
            for kind, number, words in VOTED.findall(text)
        ]
        assert all(len(one) == 1 for one in found), found
        assert sorted(one[0] for one in found) == sorted(
            one for one in asked if at_home[one[2]] == wanted
        )


@each
def test_what_may_be_left_out_makes_fifty_minutes_enough(name):
    planned = sum(ALL[name].minutes.values())
    saved = sum(map(int, SAVED.findall(clock(name, "At 50 minutes, "))))
    assert planned - SHORT <= saved <= planned - SHORT + 2


@each
def test_the_written_answer_stands_alone_and_tells_three_answers_apart(name):
    written = page(name).written
    assert "?" in written.question
    assert re.search(r"At most \w+ sentences\.$", written.question)
    pointer = re.compile(
        r"\b(?:section|exercise|figure) \d|\d+\.\d+ (?:shows|says)|above|below", re.I
    )
    assert not pointer.search(written.question), "an assignment has nothing beside it"
    assert len(set(written.rubric.values())) == len(teaching.POINTS)


SHEET = re.compile(r"(?m)^## Week (\d+):.*\n\nLecture (\d+), exercises ([\d, ]+)[.;]")


def numbers(text: str) -> set[int]:
    """Read "2, 4–6" as {2, 4, 5, 6}."""
    spans = re.findall(r"(\d+)(?:–(\d+))?", text)
    return {n for first, last in spans for n in range(int(first), int(last or first) + 1)}


def syllabus(part: str) -> list[dict[str, str]]:
    """The rows of a part's first table, by the names of its columns."""
    text = (PAGES / "syllabi.md").read_text(encoding="utf-8").split(f"\n## {part}\n")[1]
    table = text.split("\n## ")[0].split("\n\n|")[1].split("\n\n")[0]
    head, _, *rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def by_lecture(row: dict[str, str], column: str) -> dict[int, set[int]]:
    """Which exercises of which lectures a row names: "1: 2–5; 2: 3, 4", or those of its one."""
    named = row.get("lectures") or row["lecture"]
    taught = [int(number) for number in re.findall(r"(\d+)\. [A-Z]", named)]
    if ":" not in row[column]:
        return {taught[0]: numbers(row[column])} if taught else {}
    parts = [part.split(":") for part in row[column].split(";")]
    return {int(number): numbers(some) for number, some in parts}


def exercises(lecture: int) -> tuple[set[int], set[int]]:
    """The exercises of a lecture, and those that a check in the notebook decides."""
    (name,) = [one for one in ALL if int(one[:2]) == lecture]
    (path,) = [one for one in LECTURES if one.stem == name]
    text = re.split(r"(?m)^## .*Exercises$", path.read_text(encoding="utf-8"))[1]
    evidence = ROOT / "book" / "evidence" / path.name  # where a lesson's long ones stand
    if evidence.exists():
        text += evidence.read_text(encoding="utf-8")
    parts = re.split(r"(?m)^\*\*Exercise (\d+) ", text)
    all_ = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    return set(all_), {number for number, part in all_.items() if re.search(r"(?m)^check\.", part)}


@pytest.mark.parametrize("part", ["A week", "Half a semester", "A semester"])
def test_a_syllabus_sets_exercises_that_exist_and_marks_what_a_check_decides(part):
    rows = syllabus(part)
    assert len(rows) >= 7
    for row in rows:
        done, marked = by_lecture(row, "do"), by_lecture(row, "mark")
        assert done.keys() == marked.keys()
        for lecture, chosen in done.items():
            exist, checked = exercises(lecture)
            assert chosen <= exist, f"lecture {lecture} has {exist}"
            assert marked[lecture] == chosen & checked, f"lecture {lecture}: {checked} are checked"
        sections = {number for name in ALL for number in ALL[name].sections}
        assert set(re.findall(r"\d+\.\d+", " ".join(row.values()))) <= sections


def test_the_assistants_sheets_are_those_of_the_semester():
    text = (PAGES / "assistants.md").read_text(encoding="utf-8")
    sheets = {int(week): {int(n): numbers(some)} for week, n, some in SHEET.findall(text)}
    rows = syllabus("A semester")
    assert sheets == {int(row["week"]): done for row in rows if (done := by_lecture(row, "do"))}


def test_what_a_sheet_quotes_is_said_by_a_check_of_its_lecture():
    text = (PAGES / "assistants.md").read_text(encoding="utf-8")
    for sheet in re.split(r"(?m)^## ", text)[2:-1]:
        lecture = int(re.search(r"Lecture (\d+)", sheet)[1])
        (name,) = [one for one in ALL if int(one[:2]) == lecture]
        said = [
            *spoken(name),
            *(m for _, q, _ in ALL[name].asked for _, m in q.get("mistakes", [])),
        ]
        for words in re.findall(r"\(“(.+?)”\)", sheet):
            assert any(words in one for one in said), (lecture, words)


def spoken(name: str) -> list[str]:
    """All that the check of a lecture may say."""
    lecture = next(path for path in LECTURES if path.stem == name).read_text(encoding="utf-8")
    module = re.search(r"from attnlab\.exercises import (\w+) as check", lecture)[1]
    tree = ast.parse((ROOT / f"src/attnlab/exercises/{module}.py").read_text(encoding="utf-8"))
    return [
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def test_the_project_names_what_exists_and_its_points_sum_up():
    text = (PAGES / "project.md").read_text(encoding="utf-8")
    starts = re.findall(r"(?m)^- \*Start:\* (.*)$", text)
    assert len(starts) == 4
    for start in starts:
        module: object = None
        for name in re.findall(r"`([\w.]+)[^`\w.]?[^`]*`", start):
            if "." in name:
                module = importlib.import_module(name)
            else:
                assert hasattr(module, name), name
