"""The kit's notebooks: nothing to read in a student's that is to be found, all of it in the other.

That each student copy runs, blank and with the solutions pasted in, costs minutes: by day one
lecture, the others in `make test-all`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from attnlab.widgets import sealed
from book.tools import notebooks
from teaching.kit import __main__ as command
from teaching.kit import copies, lectures, teaching
from teaching.kit.instructor import answer, instructor, split
from teaching.kit.lectures import KitError, Lecture, is_solution, question
from teaching.kit.needed import WIDGETS, kept
from teaching.kit.student import ASIDES, student
from tests.book.lectures import LECTURES, NOTEBOOKS, ROOT, by_day, code, prose, read, tags
from tests.patience import PROCESS

HOME = lectures.home()
ALL = {lecture.name: lecture for lecture in lectures.lectures()}
STUDENTS = {name: student(lecture, HOME) for name, lecture in ALL.items()}
each = pytest.mark.parametrize("name", ALL)
run = pytest.mark.parametrize(
    "path", by_day(NOTEBOOKS, "06-queries-keys-values"), ids=lambda path: path.stem
)
SEALED = re.compile(r'sealed\(\s*"""(.*?)"""', re.S)
CHECK = re.compile(r"^check\.(\w+)\(", re.M)
PASSED = re.compile(r"Exercise (\d+): correct")


def text_of(notebook: NotebookNode) -> str:
    """The whole file, and its cells and what they show as a reader sees them."""
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    parts = [cell.source for cell in notebook.cells] + [o.get("text", "") for o in outputs]
    parts += [str(kind) for output in outputs for kind in output.get("data", {}).values()]
    return "\n".join([json.dumps(notebook, ensure_ascii=False), *parts])


def questions(lecture: Lecture) -> list[dict]:
    return [state for cell in code(lecture.notebook) if (state := question(cell))]


def test_there_is_a_copy_of_every_lecture() -> None:
    assert list(ALL) == [path.stem for path in LECTURES]


# ---- the student's -----------------------------------------------------------------------------


@each
def test_a_student_copy_has_no_line_of_a_solution_that_the_lecture_does_not_show(name: str) -> None:
    cells = code(ALL[name].notebook)
    solutions = [cell for cell in cells if is_solution(cell)]
    shown = [c.source for c in cells if not is_solution(c) and not question(c)]
    shown += ["\n".join(state["code"]) for state in questions(ALL[name]) if "code" in state]
    public = "\n".join(shown)
    lines = {line.strip() for cell in solutions for line in cell.source.splitlines()}
    secret = {line for line in lines if line not in public}
    assert len(secret) > len(solutions)
    text = text_of(STUDENTS[name])
    assert not [line for line in secret if line in text]
    assert "solution" not in set().union(*map(tags, STUDENTS[name].cells))


@each
def test_no_fold_is_left_but_what_answers_no_task(name: str) -> None:
    text = "\n".join(cell.source for cell in prose(STUDENTS[name]))
    assert set(re.findall("<summary>(.*?)</summary>", text)) <= ASIDES
    assert not re.search(r"[Ss]olution\w* [^.\n]*folded|folded [^.\n]*[Ss]olution", text)
    whole = "\n".join(cell.source for cell in prose(ALL[name].notebook))
    answers = re.findall(r"<summary>(.*?)</summary>(.*?)</details>", whole, re.S)
    for title, fold in answers:
        for line in filter(None, map(str.strip, fold.splitlines())):
            assert title in ASIDES or line not in text


@each
def test_nobody_reads_an_answer_in_the_cell_or_in_what_it_shows(name: str) -> None:
    text = text_of(STUDENTS[name])
    for state in questions(ALL[name]):
        secret = [reason for _, _, reason in state.get("options", [])]
        secret += [said for _, said in state.get("mistakes", [])]
        secret += [state["reason"]] if state.get("reason") else []
        secret += [said for said in state["answers"] if said] if state["kind"] == "bughunt" else []
        assert secret
        for one in secret:
            assert one not in text
            assert escape(one, quote=True) not in text
    for cell in code(STUDENTS[name]):
        called = {n.func for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Call)}
        assert not {f.id for f in called if isinstance(f, ast.Name)} & WIDGETS
        if SEALED.search(cell.source):
            html = "".join(o.get("data", {}).get("text/html", "") for o in cell.outputs)
            assert "attnbook-asked" in html
            assert not re.search("<script|<details|answers and reasons", html)


@each
def test_a_sealed_cell_asks_what_the_lecture_asks(name: str) -> None:
    texts = [m[1] for cell in code(STUDENTS[name]) if (m := SEALED.search(cell.source))]
    wanted = questions(ALL[name])
    assert len(texts) == len(wanted)
    for text, state in zip(texts, wanted, strict=True):
        made = json.loads(json.dumps(sealed(text).state()))
        assert made == state


@each
def test_exercises_are_blank_and_keep_their_checks(name: str) -> None:
    lecture, copy = ALL[name].notebook, STUDENTS[name]
    blank = [c for c in code(lecture) if CHECK.search(c.source) and not is_solution(c)]
    found = {cell.id: cell for cell in code(copy)}
    assert len(blank) >= 3
    for cell in blank:
        assert found[cell.id].source == cell.source
        if any("Exercise" in o.get("text", "") for o in cell.outputs):
            assert "still blank" in found[cell.id].outputs[-1].text
    asked = {
        word for cell in code(lecture) if is_solution(cell) for word in CHECK.findall(cell.source)
    }
    assert asked <= {word for cell in blank for word in CHECK.findall(cell.source)}


@each
def test_all_else_is_the_lecture_s(name: str) -> None:
    """Cells keep their ids, by which a submission is compared with its lecture."""
    lecture = {cell.id: cell for cell in ALL[name].notebook.cells}
    ids = [cell.id for cell in STUDENTS[name].cells]
    assert ids == [i for i in lecture if i in set(ids)]
    dropped = [cell for i, cell in lecture.items() if i not in set(ids)]
    assert all(is_solution(cell) or "<details>" in cell.source for cell in dropped)
    for cell in code(STUDENTS[name])[1:]:
        if not SEALED.search(cell.source):
            assert cell.source == lecture[cell.id].source
            assert [o.get("text") for o in cell.outputs] == [
                o.get("text") for o in lecture[cell.id].outputs
            ]


@each
def test_a_student_copy_says_so_and_leads_to_its_own_notebook(name: str) -> None:
    nbformat.validate(STUDENTS[name])
    first = STUDENTS[name].cells[0].source
    assert first.splitlines()[0].endswith("(student copy)")
    owner = re.fullmatch(r"https://github\.com/(.+)/blob/.*/", HOME.of(""))[1]
    assert f"colab.research.google.com/github/{owner}/blob/kit/students/{name}.ipynb)" in first
    assert not re.search(r"!\[[^]]*\]\(https?:", first), "no picture from elsewhere"
    assert "](/" not in "".join(cell.source for cell in prose(STUDENTS[name]))
    counts = [cell.execution_count for cell in code(STUDENTS[name])]
    assert counts == list(range(1, len(counts) + 1))


def test_a_fork_s_copies_install_from_and_lead_to_the_fork() -> None:
    fork = lectures.Home(("somebody", "course"), "spring", HOME.written)
    name = "06-queries-keys-values"
    copy = student(ALL[name], fork)
    assert "git+https://github.com/somebody/course@spring" in code(copy)[0].source
    assert f"github/somebody/course/blob/kit/students/{name}.ipynb)" in copy.cells[0].source
    text = "".join(cell.source for cell in prose(copy))
    assert "](https://github.com/somebody/course/blob/spring/book/credits.md)" in text
    elsewhere = student(ALL[name], fork, "teacher/class/blob/main/week-1").cells[0].source
    assert f"github/teacher/class/blob/main/week-1/{name}.ipynb)" in elsewhere


# ---- what stays of a question's cell -----------------------------------------------------------

NEEDED = {
    "nothing is looked up later": ("a = 1\nAnswer(a)", ["b = 2"], ""),
    "a name is": ("a = 1\nb = a\nc = b\nAnswer(c)", ["print(b)"], "a = 1\nb = a"),
    "but it was bound anew before": ("a = 1\nAnswer(a)", ["a = 2", "print(a)"], ""),
    "inside a function": ("a = 1\nAnswer(a)", ["def f(b):\n    return a + b"], "a = 1"),
    "an argument has that name": ("a = 1\nAnswer(a)", ["def f(a):\n    return a"], ""),
    "a loop binds it": ("a = 1\nAnswer(a)", ["for a in [1]:\n    print(a)"], ""),
    "after a with": ("a = 1\nAnswer(a)", ["with open('x') as a:\n    print(a)"], ""),
    "in a comprehension alone": ("a = 1\nAnswer(a)", ["print([a for a in [1]])"], ""),
    "a list that grows": (
        "a = []\nfor i in [1]:\n    a.append(i)\nAnswer(a)",
        ["print(a)"],
        "a = []\nfor i in [1]:\n    a.append(i)",
    ),
    "an entry that is set": ("a = {}\na['x'] = 1\nAnswer(a)", ["a"], "a = {}\na['x'] = 1"),
    "what is printed": ("a = 1\nprint(a)\nb = 2\nAnswer(b)", [], "a = 1\nprint(a)"),
    "no assertion": ("a = 1\nassert a\nAnswer(a)", ["a"], "a = 1"),
    "a text that is executed": (
        's = "def f():\\n    pass"\nexec(s)\nBugHunt(s)',
        ["f()"],
        's = "def f():\\n    pass"\nexec(s)',
    ),
    "with its decorators": (
        "import functools\n@functools.cache\ndef f():\n    pass\nAnswer(f())",
        ["f()"],
        "import functools\n@functools.cache\ndef f():\n    pass",
    ),
    "a question with a tolerance": ("a = 1\nPrediction(a).within(0.1)", [], ""),
}


@pytest.mark.parametrize(("cell", "later", "wanted"), NEEDED.values(), ids=NEEDED)
def test_of_a_question_s_cell_stays_what_is_looked_up_later(
    cell: str, later: list[str], wanted: str
) -> None:
    assert kept(cell, later) == wanted


def test_a_cell_that_goes_on_after_its_question_is_refused() -> None:
    with pytest.raises(KitError, match="does not end with it"):
        kept("Answer(1)\na = 2", [])


# ---- the instructor's --------------------------------------------------------------------------

PAGE = """# Teaching lecture 7

## The story
Scores grow; {doc}`the root <07>` keeps them. See [a page](../index.md) and [Vaswani](https://a.b).

## The clock
- 68 minutes
- at 50: leave out 7.7

## Notes

### 7.2 with a title
Ask whether the shape matters.

    a *line* of its own

### 7.8
For home.
"""


@pytest.fixture
def taught(tmp_path: Path) -> NotebookNode:
    name = "07-scaling-and-masks"
    (tmp_path / f"{name}.md").write_text(PAGE, encoding="utf-8")
    return instructor(ALL[name], HOME, tmp_path)


@each
def test_an_instructor_copy_is_open_and_lists_every_answer(name: str) -> None:
    copy = instructor(ALL[name], HOME)
    nbformat.validate(copy)
    assert "(instructor's copy)" in copy.cells[0].source
    text = "\n".join(cell.source for cell in copy.cells)
    assert "<details>" not in text
    for cell in code(copy):
        if is_solution(cell):
            assert not set(cell.metadata) & {"cellView", "jupyter"}
            assert "hide-cell" not in tags(cell)
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden")
    own = [cell.id for cell in copy.cells if "instructor" not in tags(cell)]
    assert [i for i in own if i in {c.id for c in ALL[name].notebook.cells}] == [
        cell.id for cell in ALL[name].notebook.cells
    ]
    for cell, following in zip(copy.cells, copy.cells[1:], strict=False):
        if cell.cell_type == "code" and (state := question(cell)):
            assert following.id == f"answer-{cell.id}"
            assert answer(state).splitlines()[0] in following.source


@each
def test_every_section_in_class_begins_with_its_minutes(name: str) -> None:
    copy = instructor(ALL[name], HOME)
    for number, minutes in ALL[name].minutes.items():
        places = [i for i, c in enumerate(copy.cells) if c.source.startswith(f"## {number} ")]
        assert len(places) == 1
        above = copy.cells[places[0] - 1]
        assert "instructor" in tags(above)
        assert f"{number}, {minutes:g} minutes." in above.source


def test_the_page_s_parts_stand_at_the_head_and_its_notes_at_their_sections(
    taught: NotebookNode,
) -> None:
    story, clock = taught.cells[1:3]
    assert story.source == (
        "> **For the instructor: the story.**\n>\n> Scores grow; the root keeps them. "
        "See a page and [Vaswani](https://a.b)."
    )
    assert clock.source.endswith("> - 68 minutes\n> - at 50: leave out 7.7")
    by_id = {cell.id: cell.source for cell in taught.cells}
    assert by_id["note-7-2"] == (
        "> **For the instructor: 7.2, 9 minutes.**\n>\n> Ask whether the shape matters.\n>\n"
        ">     a *line* of its own"
    )
    assert by_id["note-7-8"] == "> **For the instructor: 7.8.**\n>\n> For home."
    assert taught.cells[3] == code(taught)[0], "then the set-up"


WRONG_PAGES = {
    "a note on no section": (PAGE.replace("### 7.8", "### 7.80"), r"a note on 7\.80, and no sec"),
    "a part twice": (PAGE.replace("## The clock", "## The story"), "'The story' is empty, or"),
    "a part without a name": (PAGE.replace("## The clock", "## "), "'' is empty, or"),
    "text at the head": (PAGE.replace("## The story", ""), "before the first part"),
    "text before the notes": (PAGE.replace("### 7.2", "Ask.\n\n### 7.2"), "between `## Notes`"),
}


@pytest.mark.parametrize(("page", "said"), WRONG_PAGES.values(), ids=WRONG_PAGES)
def test_a_page_in_another_shape_is_refused_by_name(page: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "07-x.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(KitError, match=f"07-x.md: .*{said}"):
        teaching.read(path, ["7.2", "7.8"])


@pytest.mark.parametrize("path", sorted(lectures.TEACHING.glob("[0-9]*.md")), ids=lambda p: p.stem)
def test_every_page_has_the_shape_that_the_kit_reads(path: Path) -> None:
    cells = [
        part for cell in prose(read(ROOT / f"notebooks/{path.stem}.ipynb")) for part in split(cell)
    ]
    sections = re.findall(r"(?m)^## (\d+\.\d+) ", "\n".join(cell.source for cell in cells))
    page = teaching.read(path, sections)
    assert page.parts
    assert page.notes


QUOTED = re.compile(r"(?:Checkpoint|Prediction|Hunt) of (\d+\.\d+), “(.+?)”")
ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|last) (?:option|answer)\b", re.I)


@each
def test_a_page_names_questions_and_options_by_their_words(name: str) -> None:
    """Options are shuffled: nobody finds the second one."""
    text = (lectures.TEACHING / f"{name}.md").read_text(encoding="utf-8")
    asked = {number: [] for number in ALL[name].sections}
    options = []
    for number, state, _ in ALL[name].asked:
        asked[number].append(state["question"])
        options += [option for option, _, _ in state.get("options", [])]
    for number, words in QUOTED.findall(text):
        assert any(words in question for question in asked[number]), (number, words)
    for words in re.findall(r"option “(.+?)”", text):
        assert any(option.startswith(words) for option in options), words
    assert not ORDINAL.search(text)


def test_an_answer_says_in_markdown_what_the_widget_says() -> None:
    state = {"kind": "checkpoint", "options": [["d_k * `a_b`", True, "[P](https://x.y/a_b) < 2"]]}
    assert answer(state) == r"- **Right:** d\_k \* `a_b` — [P](https://x.y/a_b) \< 2"
    state = {
        "kind": "bughunt",
        "code": ["a = 1", "", "b"],
        "answers": ["A.", "", "B."],
        "bugs": [3],
    }
    assert answer(state) == "- Line 1: `a = 1` — A.\n- Line 3, **the mistake**: `b` — B."
    state = {"kind": "answer", "labels": ["w"], "answers": [0.25], "decimals": 3, "reason": "So."}
    state["mistakes"] = [[[0.5], "Twice."]]
    assert answer(state) == "- w: **0.25**\n- Entered instead, w 0.5: Twice.\n\nSo."


# ---- the command -------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lectures in a folder of their own."""
    for folder, kind in (("lectures", "md"), ("notebooks", "ipynb")):
        (tmp_path / folder).mkdir()
        for name in ("06-queries-keys-values", "07-scaling-and-masks"):
            place = {"lectures": notebooks.LECTURES, "notebooks": notebooks.NOTEBOOKS}[folder]
            shutil.copy(place / f"{name}.{kind}", tmp_path / folder)
    monkeypatch.setattr(notebooks, "LECTURES", tmp_path / "lectures")
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(command, "PARTS", {})
    return tmp_path


def made(desk: Path) -> set[str]:
    return {p.relative_to(desk / "kit").as_posix() for p in (desk / "kit").rglob("*.*")}


def test_the_kit_is_one_zip_of_the_same_bytes_each_time(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([], desk / "kit") == 0
    assert "notebooks: 4" in capsys.readouterr().out
    file = desk / "kit" / "attention-worked-out-kit.zip"
    first = file.read_bytes()
    with zipfile.ZipFile(file) as held:
        names = held.namelist()
        assert held.testzip() is None
        assert {entry.date_time for entry in held.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert names == sorted(names)
    assert {name.partition("/")[2] for name in names} == made(desk) - {file.name}
    (desk / "kit" / "left.over").touch()
    assert command.main([], desk / "kit") == 0
    assert file.read_bytes() == first
    assert "left.over" not in made(desk)


def test_one_lecture_is_made_anew_and_the_rest_stays(desk: Path) -> None:
    assert command.main(["6"], desk / "kit") == 0
    assert made(desk) == {
        "attention-worked-out-kit.zip",
        "students/06-queries-keys-values.ipynb",
        "instructors/06-queries-keys-values.ipynb",
    }
    assert command.main(["07-scaling-and-masks"], desk / "kit") == 0
    assert len(made(desk)) == 5


def test_a_part_writes_into_the_kit_and_is_packed(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(folder: Path) -> None:
        (folder / "slides").mkdir()
        (folder / "slides" / "07.html").write_text("slides")

    monkeypatch.setattr(command, "PARTS", {"slides": write})
    assert command.main([], desk / "kit") == 0
    with zipfile.ZipFile(desk / "kit" / "attention-worked-out-kit.zip") as held:
        assert held.read("attention-worked-out-kit/slides/07.html") == b"slides"


def spoil(desk: Path, what: str) -> None:
    """Make lecture 7's notebook unfit in one way."""
    path = desk / "notebooks" / "07-scaling-and-masks.ipynb"
    if what == "missing":
        path.unlink()
        return
    if what == "not JSON":
        path.write_text("{", encoding="utf-8")
        return
    notebook = read(path)
    if what == "prose":
        notebook.cells[0].source += "\n\nMore."
    elif what == "tags":
        code(notebook)[3].metadata["tags"] = ["hide-output"]
    elif what == "cells":
        notebook.cells.append(v4.new_code_cell("1"))
    else:
        code(notebook)[3].execution_count = None
    nbformat.write(notebook, path)


SPOILT = {
    "missing": "notebooks/07-scaling-and-masks.ipynb is missing: run `make notebooks`",
    "not JSON": "is no notebook that can be read: run `make notebooks`",
    "prose": r"is older than book/lectures/07-scaling-and-masks.md \(cell 1 changed\): run",
    "tags": r"is older than .* \(the tags of cell \d+ changed\)",
    "cells": r"is older than .* \(\d+ cells, \d+ are stored\)",
    "never run": r"is older than .* \(cell \d+ was never run\)",
}


@pytest.mark.parametrize(("what", "said"), SPOILT.items(), ids=SPOILT)
def test_a_notebook_that_is_unfit_is_named_and_the_old_kit_stays(
    desk: Path, capsys: pytest.CaptureFixture[str], what: str, said: str
) -> None:
    assert command.main(["06"], desk / "kit") == 0
    before = {name: (desk / "kit" / name).read_bytes() for name in made(desk)}
    spoil(desk, what)
    assert command.main([], desk / "kit") == 1
    assert re.search(said, capsys.readouterr().err)
    assert {name: (desk / "kit" / name).read_bytes() for name in made(desk)} == before
    assert {p.name for p in desk.iterdir()} == {"lectures", "notebooks", "kit"}


WORDS = {
    "a lecture that is not there": (["15"], "there is no lecture '15': name one of 06, 07, or its"),
    "a name that is not there": (["7-scaling"], "there is no lecture '7-scaling'"),
    "the errata": (["errata"], "there is no lecture 'errata'"),
    "an address elsewhere": (["--at", "https://example.org/x"], "wanted a folder on GitHub"),
    "a repository alone": (["--at", "https://github.com/a/b"], "wanted a folder on GitHub"),
}


@pytest.mark.parametrize(("words", "said"), WORDS.values(), ids=WORDS)
def test_what_cannot_be_done_is_said_in_a_sentence(
    desk: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert command.main(words, desk / "kit") == 1
    assert said in capsys.readouterr().err
    assert not (desk / "kit").exists()


def test_an_address_of_github_s_becomes_colab_s() -> None:
    assert command.place("") == ""
    assert command.place("https://github.com/a/b.c/tree/main/w/1/") == "a/b.c/blob/main/w/1"
    assert command.place("https://github.com/a/b/tree/main") == "a/b/blob/main"


def test_an_address_that_the_book_cannot_have_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "_config.yml").write_text("repository: {url: example.org, branch: main}")
    monkeypatch.setattr(lectures, "ROOT", tmp_path)
    with pytest.raises(KitError, match=r"_config.yml: repository.url is 'example.org'"):
        lectures.home()


def test_nothing_is_written_where_one_lecture_is_unfit(desk: Path) -> None:
    spoil(desk, "missing")
    with pytest.raises(KitError):
        copies.write(desk / "kit")
    assert not (desk / "kit").exists()


# ---- running -----------------------------------------------------------------------------------


@run
def test_a_student_copy_runs_to_its_end_unfilled_and_shows_what_it_stores(
    path: Path, tmp_path: Path
) -> None:
    """By the lectures' own rules, sealed questions included: every output is compared."""
    copy = tmp_path / path.name
    nbformat.write(STUDENTS[path.stem], copy)
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.nbval.rules"]
    words += ["-c", "pyproject.toml", "--rootdir", ".", "--nbval", "--nbval-current-env", str(copy)]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=PROCESS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{len(code(STUDENTS[path.stem]))} passed" in done.stdout


@run
def test_with_the_solutions_pasted_in_every_check_passes(path: Path, tmp_path: Path) -> None:
    solutions = {
        tuple(CHECK.findall(cell.source)): cell.source
        for cell in code(ALL[path.stem].notebook)
        if is_solution(cell)
    }
    filled = json.loads(json.dumps(STUDENTS[path.stem]))
    notebook = nbformat.from_dict(filled)
    pasted = []
    for cell in code(notebook):
        checks = tuple(CHECK.findall(cell.source))
        if checks in solutions:
            cell.source = solutions[checks]
            pasted.append(cell)
    assert len(pasted) == len(solutions)
    notebooks.execute(notebook, path.stem, tmp_path)
    for cell in pasted:
        said = "".join(output.get("text", "") for output in cell.outputs)
        assert len(PASSED.findall(said)) == len(CHECK.findall(cell.source)), said
