"""The kit's notebooks: nothing to read in a student's that is to be found, all of it in the other.

That each student copy runs, blank and with the solutions, costs minutes: by day one lecture, the
others in `make test-all`.
"""

import ast
import base64
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from html import escape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from nbval.plugin import coalesce_streams

from attnlab.widgets import sealed
from book.tools import notebooks
from teaching.kit import __main__ as command
from teaching.kit import lectures, teaching
from teaching.kit.instructor import answer, instructor
from teaching.kit.lectures import KitError, is_solution, question
from teaching.kit.needed import WIDGETS, kept
from teaching.kit.seal import scrambled
from teaching.kit.student import ASIDE, student
from tests.book.lectures import LECTURES, NOTEBOOKS, by_day, code, prose, read, tags
from tests.nbval.rules import StrictFile

HOME = lectures.home()
ALL = {lecture.name: lecture for lecture in lectures.lectures()}
student_of = cache(lambda name: student(ALL[name], HOME))
instructor_of = cache(lambda name: instructor(ALL[name], HOME))
each = pytest.mark.parametrize("name", [path.stem for path in LECTURES])
run = pytest.mark.parametrize("path", by_day(NOTEBOOKS, "14-longer-contexts"), ids=lambda p: p.stem)
SEALED = re.compile(r'sealed\(\s*"""(.*?)"""', re.S)
CHECK = re.compile(r"^check\.(\w+)\(", re.M)
PASSED = re.compile(r"Exercise (\d+): correct")


def text_of(notebook: NotebookNode) -> str:
    """The whole file, and its cells and what they show as a reader sees them."""
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    parts = [cell.source for cell in notebook.cells] + [o.get("text", "") for o in outputs]
    parts += [str(kind) for output in outputs for kind in output.get("data", {}).values()]
    return "\n".join([json.dumps(notebook, ensure_ascii=False), *parts])


def questions(name: str) -> list[dict]:
    return [state for _, state, _ in ALL[name].asked]


@each
def test_no_line_of_a_solution_and_no_fold_is_left_in_a_student_copy(name):
    cells = code(ALL[name].notebook)
    solutions = [cell for cell in cells if is_solution(cell)]
    shown = [c.source for c in cells if not is_solution(c) and not question(c)]
    public = "\n".join([*shown, *(line for q in questions(name) for line in q.get("code", []))])
    lines = {line.strip() for cell in solutions for line in cell.source.splitlines()}
    secret = {line for line in lines if line not in public}
    assert len(secret) > len(solutions)
    text = text_of(student_of(name))
    assert not [line for line in secret if line in text]
    assert "solution" not in set().union(*map(tags, student_of(name).cells))
    text = "\n".join(cell.source for cell in prose(student_of(name)))
    assert not re.search(r"[Ss]olution\w* [^.\n]*folded|folded [^.\n]*[Ss]olution", text)
    whole = "\n".join(cell.source for cell in prose(ALL[name].notebook))
    for title, fold in re.findall(r"<summary>(.*?)</summary>(.*?)</details>", whole, re.S):
        kept = bool(ASIDE.match(title))
        assert (f"<summary>{title}</summary>" in text) == kept
        assert kept or not [one for one in fold.splitlines() if one.strip() and one.strip() in text]


@each
def test_nobody_reads_an_answer_in_the_cell_or_in_what_it_shows(name):
    text = text_of(student_of(name))
    for state in questions(name):
        secret = [reason for _, _, reason in state.get("options", [])]
        secret += [said for _, said in state.get("mistakes", [])]
        secret += [state["reason"]] if state.get("reason") else []
        secret += [said for said in state["answers"] if said] if state["kind"] == "bughunt" else []
        assert secret
        assert not [one for one in secret if one in text or escape(one, quote=True) in text]
    for cell in code(student_of(name)):
        called = {n.func for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Call)}
        assert not {f.id for f in called if isinstance(f, ast.Name)} & WIDGETS
        if SEALED.search(cell.source):
            html = "".join(o.get("data", {}).get("text/html", "") for o in cell.outputs)
            assert "attnbook-asked" in html
            assert not re.search("<script|<details|answers and reasons", html)


@each
def test_a_sealed_cell_asks_what_the_lecture_asks_and_exercises_are_blank(name):
    texts = [m[1] for cell in code(student_of(name)) if (m := SEALED.search(cell.source))]
    inner = [sealed(text).text for text in texts]
    asked = [json.loads(scrambled(t[:8], base64.b64decode(t[8:]))) for t in inner]
    assert asked == questions(name)
    lecture, copy = ALL[name].notebook, student_of(name)
    blank = [c for c in code(lecture) if CHECK.search(c.source) and not is_solution(c)]
    found = {cell.id: cell for cell in code(copy)}
    in_form = (notebooks.EVIDENCE / f"{name}.md").exists()  # then its long ones stand there
    assert len(blank) >= (1 if in_form else 3)
    for cell in blank:
        assert found[cell.id].source == cell.source
        if any("Exercise" in o.get("text", "") for o in cell.outputs):
            assert "still blank" in found[cell.id].outputs[-1].text
    solved = "\n".join(cell.source for cell in code(lecture) if is_solution(cell))
    given = "\n".join(cell.source for cell in blank)
    assert {*CHECK.findall(solved)} <= {*CHECK.findall(given)}


@each
def test_all_else_is_the_lecture_s(name):
    """Cells keep their ids, by which a submission is compared with its lecture."""
    lecture = {cell.id: cell for cell in ALL[name].notebook.cells}
    ids = [cell.id for cell in student_of(name).cells]
    assert ids == [i for i in lecture if i in ids]
    dropped = [cell for i, cell in lecture.items() if i not in ids]
    assert all(is_solution(cell) or "<details>" in cell.source for cell in dropped)
    for cell in code(student_of(name))[1:]:
        if not SEALED.search(cell.source):
            own = lecture[cell.id]
            assert cell.source == own.source
            assert [o.get("text") for o in cell.outputs] == [o.get("text") for o in own.outputs]


@each
def test_a_student_copy_says_so_and_leads_to_its_own_notebook(name):
    nbformat.validate(student_of(name))
    first = student_of(name).cells[0].source
    assert first.splitlines()[0].endswith("(student copy)")
    owner = re.fullmatch(r"https://github\.com/(.+)/blob/.*/", HOME.of(""))[1]
    assert f"colab.research.google.com/github/{owner}/blob/kit/students/{name}.ipynb)" in first
    assert not re.search(r"!\[[^]]*\]\(https?:", first), "no picture from elsewhere"
    assert "](/" not in "".join(cell.source for cell in prose(student_of(name)))
    counts = [cell.execution_count for cell in code(student_of(name))]
    assert counts == list(range(1, len(counts) + 1))


def test_a_fork_s_copies_install_from_and_lead_to_the_fork():
    fork = lectures.Home(("somebody", "course"), "spring", HOME.written)
    name = "11-transformer"
    copy = student(ALL[name], fork)
    assert "git+https://github.com/somebody/course@spring" in code(copy)[0].source
    assert f"github/somebody/course/blob/kit/students/{name}.ipynb)" in copy.cells[0].source
    text = "".join(cell.source for cell in prose(copy))
    assert "](https://github.com/somebody/course/blob/spring/book/translator.md)" in text
    elsewhere = student(ALL[name], fork, "teacher/class/blob/main/week-1").cells[0].source
    assert f"github/teacher/class/blob/main/week-1/{name}.ipynb)" in elsewhere


# what stands before a question, the cells after it, and what stays; ... is all of it
NEEDED = {
    "nothing is looked up later": ("a = 1", "b = 2", ""),
    "a name is": ("a = 1\nb = a\nc = b", "print(b)", "a = 1\nb = a"),
    "but it was bound anew before": ("a = 1", "a = 2|print(a)", ""),
    "inside a function": ("a = 1", "def f(b):\n    return a + b", ...),
    "an argument has that name": ("a = 1", "def f(a):\n    return a", ""),
    "a loop binds it": ("a = 1", "for a in [1]:\n    print(a)", ""),
    "after a with": ("a = 1", "with open('x') as a:\n    print(a)", ""),
    "in a comprehension alone": ("a = 1", "print([a for a in [1]])", ""),
    "a list that grows": ("a = []\nfor i in [1]:\n    a.append(i)", "print(a)", ...),
    "an entry that is set": ("a = {}\na['x'] = 1", "a", ...),
    "what is printed": ("a = 1\nprint(a)\nb = 2", "", "a = 1\nprint(a)"),
    "no assertion": ("a = 1\nassert a", "a", "a = 1"),
    "a text that is executed": ('s = "def f():\\n    pass"\nexec(s)', "f()", ...),
    "with its decorators": ("import x\n@x.y\ndef f():\n    pass", "f()", ...),
}


@pytest.mark.parametrize(("cell", "later", "wanted"), NEEDED.values(), ids=NEEDED)
def test_of_a_question_s_cell_stays_what_is_looked_up_later(cell, later, wanted):
    for asked in ("Answer(a)", "BugHunt(a)", "Prediction(a).within(0.1)"):
        assert kept(f"{cell}\n{asked}", later.split("|")) == (cell if wanted is ... else wanted)


def test_a_cell_that_goes_on_after_its_question_is_refused():
    with pytest.raises(KitError, match="does not end with it"):
        kept("Answer(1)\na = 2", [])


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


@each
def test_an_instructor_copy_is_open_with_every_answer_page_and_minute(name):
    copy = instructor_of(name)
    nbformat.validate(copy)
    assert "(instructor's copy)" in copy.cells[0].source
    assert "<details>" not in "\n".join(cell.source for cell in copy.cells)
    for cell in code(copy):
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden")
        if is_solution(cell):
            assert not set(cell.metadata) & {"cellView", "jupyter"}
            assert "hide-cell" not in tags(cell)
    ids, lecture = [cell.id for cell in copy.cells], [cell.id for cell in ALL[name].notebook.cells]
    assert [i for i in ids if i in lecture] == lecture
    assert "part-1" in ids
    assert [c for c in copy.cells if c.id.startswith("note-") and "\n>\n" in c.source]
    for cell, following in zip(copy.cells, copy.cells[1:], strict=False):
        if cell.cell_type == "code" and (state := question(cell)):
            assert following.id == f"answer-{cell.id}"
            assert answer(state).splitlines()[0] in following.source
    for number, minutes in ALL[name].minutes.items():
        places = [i for i, c in enumerate(copy.cells) if c.source.startswith(f"## {number} ")]
        assert len(places) == 1
        above = copy.cells[places[0] - 1]
        assert "instructor" in tags(above)
        assert f"{number}, {minutes:g} minutes." in above.source


def test_the_page_s_parts_stand_at_the_head_and_its_notes_at_their_sections(tmp_path):
    (tmp_path / "07-scaling-and-masks.md").write_text(PAGE, encoding="utf-8")
    taught = instructor(ALL["07-scaling-and-masks"], HOME, tmp_path)
    story, clock = taught.cells[1:3]
    said = "Scores grow; the root keeps them. See a page and [Vaswani](https://a.b)."
    assert story.source == f"> **For the instructor: the story.**\n>\n> {said}"
    assert clock.source.endswith("> - 68 minutes\n> - at 50: leave out 7.7")
    by_id = {cell.id: cell.source for cell in taught.cells}
    said = "> Ask whether the shape matters.\n>\n>     a *line* of its own"
    assert by_id["note-7-2"] == f"> **For the instructor: 7.2, 11 minutes.**\n>\n{said}"
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
def test_a_page_in_another_shape_is_refused_by_name(page, said, tmp_path):
    path = tmp_path / "07-x.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(KitError, match=f"07-x.md: .*{said}"):
        teaching.read(path, ["7.2", "7.8"])


ITEMS = "- **2**: All.\n- **1**: Half.\n- **0**: None."
WRONG_ANSWERS = {
    "no part": PAGE,
    "no question": f"## The written answer\n\n{ITEMS}",
    "two items": "## The written answer\n\nWhy?\n\n" + ITEMS.replace("- **1**: Half.\n", ""),
    "another order": "## The written answer\n\nWhy?\n\n" + ITEMS.translate({50: "0", 48: "2"}),
    "a word between": f"## The written answer\n\nWhy?\n\nSo:\n\n{ITEMS}",
}


def test_a_written_answer_is_a_question_and_what_each_number_of_points_wants(tmp_path):
    path = tmp_path / "07-x.md"
    path.write_text(f"## The written answer\n\nWhy?\n\n{ITEMS}\n", encoding="utf-8")
    written = teaching.read(path, []).written
    assert (written.question, written.rubric) == ("Why?", {2: "All.", 1: "Half.", 0: "None."})


@pytest.mark.parametrize("page", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_a_written_answer_in_another_shape_is_refused_by_name(page, tmp_path):
    path = tmp_path / "07-x.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(KitError, match=r"07-x\.md: .*The written answer"):
        _ = teaching.read(path, ["7.2", "7.8"]).written


QUOTED = re.compile(r"(?:Checkpoint|Prediction|Hunt) of (\d+\.\d+), “(.+?)”")
ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|last) (?:option|answer)\b", re.I)


@each
def test_a_page_names_questions_and_options_by_their_words(name):
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


def test_an_answer_says_in_markdown_what_the_widget_says():
    options = [["d_k * `a_b`", True, "[P](https://x.y/a_b) < 2"]]
    said = r"- **Right:** d\_k \* `a_b` — [P](https://x.y/a_b) \< 2"
    assert answer({"kind": "checkpoint", "options": options}) == said
    hunt = {"code": ["a = 1", "", "b"], "answers": ["A.", "", "B."], "bugs": [3]}
    said = "- Line 1: `a = 1` — A.\n- Line 3, **the mistake**: `b` — B."
    assert answer({"kind": "bughunt", **hunt}) == said
    state = {"kind": "answer", "labels": ["w"], "answers": [0.25], "decimals": 3, "reason": "So."}
    said = "- w: **0.25**\n- Entered instead, w 0.5: Twice.\n\nSo."
    assert answer({**state, "mistakes": [[[0.5], "Twice."]]}) == said


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lectures in a folder of their own."""
    for name in ("LECTURES", "NOTEBOOKS", "EVIDENCE"):
        folder = tmp_path / name.lower()
        for path in getattr(notebooks, name).rglob("0[67]-*"):
            place = folder / path.relative_to(getattr(notebooks, name))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        monkeypatch.setattr(notebooks, name, folder)
    monkeypatch.setattr(command, "PARTS", {})
    return tmp_path


def made(desk: Path) -> set[str]:
    return {p.relative_to(desk / "kit").as_posix() for p in (desk / "kit").rglob("*.*")}


def test_the_kit_is_one_zip_of_the_same_bytes_each_time(desk, capsys, monkeypatch):
    def slides(folder: Path) -> None:
        (folder / "slides").mkdir(exist_ok=True)
        (folder / "slides" / "07.html").write_text("slides")

    monkeypatch.setattr(command, "PARTS", {"slides": slides})
    assert command.main([], desk / "kit") == 0
    assert "notebooks: 8" in capsys.readouterr().out
    file = desk / "kit" / "attention-worked-out-kit.zip"
    first = file.read_bytes()
    with zipfile.ZipFile(file) as held:
        names = held.namelist()
        assert held.testzip() is None
        assert {entry.date_time for entry in held.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert held.read("attention-worked-out-kit/slides/07.html") == b"slides"
    assert names == sorted(names)
    assert {name.partition("/")[2] for name in names} == made(desk) - {file.name}
    (desk / "kit" / "left.over").touch()
    assert command.main([], desk / "kit") == 0
    assert file.read_bytes() == first
    assert "left.over" not in made(desk)


def test_one_lecture_is_made_anew_and_the_rest_stays(desk):
    assert command.main(["6"], desk / "kit") == 0
    pages = ("06-queries-keys-values", "evidence/06-queries-keys-values")
    copies = {f"{who}/{page}.ipynb" for who in ("students", "instructors") for page in pages}
    assert made(desk) == copies | {"attention-worked-out-kit.zip"}
    assert command.main(["07-scaling-and-masks"], desk / "kit") == 0
    assert len(made(desk)) == 9


def test_a_copy_that_jupyter_saves_keeps_its_bytes(desk, tmp_path):
    assert command.main(["6"], desk / "kit") == 0
    for path in (desk / "kit").rglob("*.ipynb"):
        nbformat.write(nbformat.read(path, as_version=4), tmp_path / "saved")
        assert (tmp_path / "saved").read_bytes() == path.read_bytes()


def changed(change: Callable[[NotebookNode], object]) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        notebook = read(path)
        change(notebook)
        nbformat.write(notebook, path)

    return spoil


# what makes lecture 7's notebook unfit, and what is said of it
SPOILT = {
    "missing": (Path.unlink, "notebooks/07-scaling-and-masks.ipynb is missing: run `make noteb"),
    "not JSON": (lambda path: path.write_text("{"), "is no notebook that can be read: run `make"),
    "prose": (
        changed(lambda one: one.cells[0].update(source="More.")),
        r"is older than book/lectures/07-scaling-and-masks.md \(cell 1 changed\): run",
    ),
    "tags": (
        changed(lambda one: code(one)[3].metadata.update(tags=["x"])), r"tags of cell \d+ changed"
    ),
    "cells": (changed(lambda one: one.cells.append(v4.new_code_cell())), r"\d+ cells, \d+ are sto"),
    "never run": (
        changed(lambda one: code(one)[3].update(execution_count=None)), r"cell \d+ was never r"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "said"), SPOILT.values(), ids=SPOILT)
def test_a_notebook_that_is_unfit_is_named_and_the_old_kit_stays(desk, capsys, spoil, said):
    assert command.main(["06"], desk / "kit") == 0
    before = {name: (desk / "kit" / name).read_bytes() for name in made(desk)}
    spoil(desk / "notebooks" / "07-scaling-and-masks.ipynb")
    assert command.main([], desk / "kit") == 1
    assert re.search(said, capsys.readouterr().err)
    assert {name: (desk / "kit" / name).read_bytes() for name in made(desk)} == before
    assert {p.name for p in desk.iterdir()} - {"evidence"} == {"lectures", "notebooks", "kit"}


WORDS = {
    "15": "there is no lecture '15': name one of 06, 07, or its",
    "7-scaling": "there is no lecture '7-scaling'",
    "other-texts": "there is no lecture 'other-texts'",
    "--at https://example.org/x": "wanted a folder on GitHub",
    "--at https://github.com/a/b": "wanted a folder on GitHub",
}


@pytest.mark.parametrize(("words", "said"), WORDS.items(), ids=WORDS)
def test_what_cannot_be_done_is_said_in_a_sentence(desk, capsys, words, said):
    assert command.main(words.split(), desk / "kit") == 1
    assert said in capsys.readouterr().err
    assert not (desk / "kit").exists()


def test_an_address_of_github_s_becomes_colab_s_and_another_is_said(tmp_path, monkeypatch):
    assert command.place("") == ""
    assert command.place("https://github.com/a/b.c/tree/main/w/1/") == "a/b.c/blob/main/w/1"
    assert command.place("https://github.com/a/b/tree/main") == "a/b/blob/main"
    (tmp_path / "_config.yml").write_text("repository: {url: example.org, branch: main}")
    monkeypatch.setattr(lectures, "ROOT", tmp_path)
    with pytest.raises(KitError, match=r"_config.yml: repository.url is 'example.org'"):
        lectures.home()


@run
def test_a_student_copy_shows_what_it_stores_and_its_checks_pass_the_solutions(
    path, tmp_path, request
):
    """Each solution runs after its blank, as in the lecture; by the lectures' rules of outputs."""
    place = tmp_path / path.name
    nbformat.write(student_of(path.stem), place)
    cells = list(StrictFile.from_parent(request.session, path=place).collect())
    solved = [cell for cell in code(ALL[path.stem].notebook) if is_solution(cell)]
    solutions = {tuple(CHECK.findall(cell.source)): cell.source for cell in solved}
    assert len(solutions) == len(solved) > 0
    given = [v4.new_code_cell(cell.cell.source) for cell in cells]
    asked = {tuple(CHECK.findall(cell.source)): i for i, cell in reversed([*enumerate(given)])}
    pasted = {asked[of]: v4.new_code_cell(solutions.pop(of)) for of in [*solutions] if of in asked}
    assert solutions == {}, "in the lecture, and asked in no cell of the copy"
    both = [one for i, cell in enumerate(given) for one in (cell, pasted.get(i)) if one]
    whole = v4.new_notebook(cells=both, metadata=deepcopy(student_of(path.stem).metadata))
    notebooks.execute(whole, path.stem, tmp_path, tmp_path / "assets")
    for cell, ran in zip(cells, given, strict=True):
        outputs = map(coalesce_streams, (ran.outputs, cell.cell.outputs))
        assert not cell.options["check"] or cell.compare_outputs(*outputs), ran.source
    for cell in pasted.values():
        said = "".join(output.get("text", "") for output in cell.outputs)
        assert len(PASSED.findall(said)) == len(CHECK.findall(cell.source)), said
