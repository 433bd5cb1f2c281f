"""What a class can take in: the plan beside the model's minutes, and the limits of a lecture."""

import itertools
import re
from pathlib import Path

import nbformat
import pytest

from tests.book.lectures import NOTEBOOKS, ROOT, code, load, prose, stored, tags

planner = load(ROOT / "book" / "tools" / "plan.py")
lecture = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
CAPTION = re.compile(r"\A\*\*Figure (\d+)\.(\d+)\.\*\* \S")


@lecture
def test_no_section_is_planned_more_than_a_fifth_below_its_model(path):
    for section in planner.sections(path):
        if section.at_home:
            assert section.plan == 0, f"{section.title} is for home"
        else:
            assert section.plan >= 0.8 * section.minutes, section


@lecture
def test_a_lecture_fits_its_class(path):
    total = planner.in_class(path)
    assert total.minutes <= planner.MOST["minutes"]
    assert total.plan <= planner.MOST["minutes"]
    assert total.votes <= planner.MOST["votes"]
    assert total.words <= planner.MOST["words"]
    assert total.code <= planner.MOST["code"]
    assert total.drawings >= 1, "each lecture draws its machine"


@lecture
def test_the_plan_says_its_sum(path):
    line = re.search(r"(?m)^\*\*Plan, (\d+) minutes:\*\*", planner.header(stored(path)))
    assert line, "the plan is one line"
    assert int(line[1]) == planner.in_class(path).plan


@lecture
def test_what_is_further_is_short(path):
    for section in planner.sections(path):
        if "Further" in section.title:
            assert section.words <= 500


@lecture
def test_outputs_are_no_wider_than_the_page(path):
    for cell in code(stored(path)):
        for output in cell.outputs:
            if output.get("name") == "stdout" and "solution" not in tags(cell):
                for line in output["text"].splitlines():
                    if not re.match(r"Exercise \d+: ", line):  # one paragraph, which wraps
                        assert len(line) <= planner.NARROW, line


@lecture
def test_every_picture_has_a_number_and_a_caption(path):
    cells = stored(path).cells
    numbers = []
    for cell, following in itertools.pairwise(cells):
        if cell.cell_type == "code" and is_picture(cell):
            caption = following.cell_type == "markdown" and CAPTION.match(following.source)
            assert caption, f"no caption below: {cell.source.splitlines()[0]}"
            numbers.append((int(caption[1]), int(caption[2])))
    lecture = int(path.stem[:2])
    assert numbers == [(lecture, place) for place in range(1, len(numbers) + 1)]
    captions = [CAPTION.match(cell.source) for cell in prose(stored(path))]
    assert len(numbers) == sum(map(bool, captions)), "a caption without a picture"


def is_picture(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a cell shows a figure, a drawing or a live picture that asks nothing."""
    for output in cell.outputs:
        data = output.get("data", {})
        if {"image/png", "image/svg+xml"} & data.keys():
            return True
        if set(planner.KIND.findall(data.get("text/html", ""))) - planner.ASKED.keys():
            return True
    return False


def notebook(folder: Path, *cells: nbformat.NotebookNode) -> Path:
    path = folder / "01-x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), path)
    return path


def test_the_model_counts_what_a_class_reads(tmp_path):
    new = nbformat.v4
    widget = '<figure class="attnbook attnbook-{}"><script></script></figure>'.format
    path = notebook(
        tmp_path,
        new.new_markdown_cell("# A lecture\n\n**Plan, 9 minutes:** 1.1 One, two 4 · 1.2 Two 5.\n"),
        new.new_markdown_cell("## 1.1 One, two\n\n" + "word " * 127 + "<details>fold</details>"),
        new.new_code_cell(
            "a\n\nb", outputs=[new.new_output("stream", name="stdout", text="x\n" * 3)]
        ),
        new.new_code_cell("c", metadata={"tags": ["hide-input"]}),
        new.new_markdown_cell("## 1.2 Two"),
        new.new_code_cell(
            "d",
            outputs=[
                new.new_output("display_data", {"text/html": widget(kind), "text/plain": "x" * 99})
                for kind in ("checkpoint", "bughunt", "steps")
            ],
        ),
        new.new_code_cell(
            metadata={"tags": ["remove-input", "at-home"]},
            outputs=[new.new_output("display_data", {"text/html": widget("checkpoint")})],
        ),
        new.new_markdown_cell("## 1.3 Exercises\n\nmany words here"),
    )
    one, two, home = planner.sections(path)
    assert (one.plan, one.words, one.code, one.output) == (4, 130, 2, 3)
    assert one.minutes == pytest.approx((1 + 0.2 + 0.1) * 1.15)
    assert (two.plan, two.asked, two.votes, two.live, two.output) == (5, 8, 1, 1, 0)
    assert two.minutes == pytest.approx((2 / 130 + 0.1 + 2.5) * 1.15 + 8)
    assert home.at_home
    assert planner.in_class(path).plan == 9


@lecture
def test_every_section_in_class_has_its_minutes_in_the_plan(path):
    wanted = [section.title.split()[0] for section in planner.sections(path) if section.plan]
    planned = planner.plan(planner.header(stored(path)))
    assert list(planned) == wanted
    assert all(section.plan or section.at_home for section in planner.sections(path))


@lecture
def test_the_pages_for_teachers_say_the_same_minutes(path):
    lines = re.findall(r"(?m)^\d+ minutes: .*$", teaching(path.stem))
    assert len(lines) == 1
    minutes = {number: float(m) for number, m in re.findall(r"(\d+\.\d+) (\d+)", lines[0])}
    assert minutes == planner.plan(planner.header(stored(path)))
    assert lines[0].startswith(f"{sum(minutes.values()):.0f} minutes")
    row = re.search(rf"(?m)^\| {int(path.stem[:2])} \| \[.*$", teaching("index"))
    assert row
    assert int(row[0].split("|")[4]) == sum(minutes.values())


def teaching(name: str) -> str:
    return (ROOT / "book" / "teaching" / f"{name}.md").read_text(encoding="utf-8")
