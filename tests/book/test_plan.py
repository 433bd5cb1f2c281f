"""What a class can take in: the plan beside the model's minutes, and the limits of a lecture."""

import itertools
import re

import nbformat
import pytest

from tests.book.lectures import NOTEBOOKS, ROOT, code, load, prose, stored, tags

planner = load(ROOT / "book" / "tools" / "plan.py")
lecture = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
CAPTION = re.compile(r"\A\*\*Figure (\d+)\.(\d+)\.\*\* \S")


@lecture
def test_a_lecture_fits_its_class_section_by_section_and_its_plan_says_so(path):
    sections, total, header = (
        planner.sections(path),
        planner.in_class(path),
        planner.header(stored(path)),
    )
    for measure in ("minutes", "votes", "words", "code"):
        assert getattr(total, measure) <= planner.MOST[measure], measure
    assert total.plan <= planner.MOST["minutes"]
    assert total.drawings >= 1, "each lecture draws its machine"
    for section in sections:
        assert bool(section.plan) != section.at_home, f"{section.title} is for home, or has minutes"
        assert section.at_home or section.plan >= 0.8 * section.minutes, section
        assert "Further" not in section.title or section.words <= 500
    planned = planner.plan(header)
    assert list(planned) == [one.title.split()[0] for one in sections if one.plan]
    line = re.search(r"(?m)^\*\*Plan, (\d+) minutes:\*\*", header)
    assert line, "the plan is one line"
    assert int(line[1]) == total.plan
    lines = re.findall(r"(?m)^\d+ minutes: .*$", teaching(path.stem))
    assert len(lines) == 1, "the page for teachers says it once"
    assert {n: float(m) for n, m in re.findall(r"(\d+\.\d+) (\d+)", lines[0])} == planned
    row = re.search(rf"(?m)^\| {int(path.stem[:2])} \| \[.*$", teaching("index"))
    assert row
    assert int(row[0].split("|")[4]) == sum(planned.values()) == int(lines[0].split()[0])


def teaching(name: str) -> str:
    return (ROOT / "book" / "teaching" / f"{name}.md").read_text(encoding="utf-8")


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
