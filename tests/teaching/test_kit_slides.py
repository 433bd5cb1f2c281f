"""The slides: their format, and what they take from a lecture."""

import base64
import itertools
import re
from pathlib import Path

import nbformat
import pytest

from attnlab.pictures import Schematic, heatmap
from teaching.kit import slides
from teaching.kit.deck import cut
from teaching.kit.deck.read import SlidesError
from tests.book.lectures import ROOT


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    """A lecture with a figure, two like cells, a silent and a long one, and a hunt."""
    new = nbformat.v4
    said = [new.new_output("stream", name="stdout", text="1\n2\n")]
    drawn = [new.new_output("display_data", {"text/html": "<svg></svg>", "text/plain": "x"})]
    cells = [
        new.new_markdown_cell("# 1. A lecture"),
        new.new_markdown_cell("## 1.1 The question"),
        new.new_code_cell("draw()", outputs=drawn, metadata={"tags": ["hide-input"]}),
        new.new_markdown_cell("**Figure 1.1.** What is seen.\n\n## 1.2 The rest"),
        new.new_code_cell("first = 1\nprint(first)", outputs=said),
        new.new_code_cell("second = 1\nprint(1)", outputs=said),
        new.new_code_cell("silent = 1"),
        new.new_code_cell("folded = 1", outputs=said, metadata={"tags": ["hide-input"]}),
        new.new_code_cell("long = 1\n" + "print(1)\n" * 12, outputs=said),
    ]
    path = tmp_path / "01-x.ipynb"
    nbformat.write(new.new_notebook(cells=cells), path)
    return path


def made(lecture: Path, text: str) -> str:
    path = lecture.with_suffix(".md")
    path.write_text(text, encoding="utf-8")
    return slides.deck(path, lecture)[1]


WRONG = {
    "words without a title": (1, "before a title"),
    "Note:\nA note alone.": (1, "no title"),
    "## " + "word " * 9: (1, "9 words; a title has at most 8"),
    "## A title\n" + "word " * 31: (1, "31 words; a slide has, beside its title, at most 30"),
    "## One\n## Two": (2, "a second heading"),
    "## One\n\n{{ figure 1.1 }}\n\n$$ x $$": (5, "a second thing to show"),
    "## One\n\n$$\nx": (3, "no closing $$"),
    "## One\n\n{{ picture 1.1 }}": (3, "{{ picture 1.1 }} is none of {{ figure 7.1 }}"),
    "## One\n\n{{ code 1.2 }}": (3, "is none of"),
    "## One\n\nwords": (1, "no section"),
    "## 1.2 One\n\n{{ figure 1.1 }}": (1, "its title says 1.2"),
    "## 1.7 One": (1, "no section 1.7 in 01-x; it has 1.1, 1.2"),
    "## One\n\n{{ figure 1.1: left }}": (3, "figure 1.1 is no drawing that can be cut"),
    "## One\n\n{{ figure 1.7 }}": (3, "no figure 1.7 in 01-x; it has 1.1"),
    "## One\n\n{{ code 1.9: first }}": (3, "no section 1.9 in 01-x; it has 1.1, 1.2"),
    "## One\n\n{{ code 1.2: folded }}": (3, "no visible code cell of section 1.2 with 'folded'"),
    "## One\n\n{{ code 1.2: third }}": (3, "no visible code cell of section 1.2 with 'third'"),
    "## One\n\n{{ code 1.2: print }}": (3, "3 visible code cells of section 1.2 with 'print'"),
    "## One\n\n{{ code 1.2: long }}": (3, "the cell of 'long' has 13 lines; a slide holds 12"),
    "## One\n\n{{ output 1.2: silent }}": (3, "the cell of 'silent' in section 1.2 prints nothing"),
    "## One\n\n{{ hunt 1.2 }}": (3, "section 1.2 has no bug hunt"),
    "---\n".join(["## One\n"] * 31): (61, "the slide number 31; a lecture has at most 30"),
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: re.sub(r"\W+", " ", text)[:40])
def test_what_breaks_the_format_is_named_with_its_line(lecture, text):
    line, told = WRONG[text]
    with pytest.raises(SlidesError) as error:
        made(lecture, text)
    assert f"01-x.md:{line}: " in str(error.value)
    assert told in str(error.value)


def test_all_that_is_wrong_in_all_files_is_said_at_once(lecture, tmp_path):
    for name in ("01-x", "02-y"):
        (tmp_path / f"{name}.md").write_text(
            "## 1.1 One\n{{ no }}\n---\nno title\n", encoding="utf-8"
        )
    (tmp_path / "03-z.md").write_text("## 3.1 One\n", encoding="utf-8")
    with pytest.raises(SlidesError) as error:
        slides.write(tmp_path / "out", sources=tmp_path, notebooks=tmp_path)
    said = str(error.value).splitlines()
    places = " ".join(line.split(": ")[0] for line in said)
    assert places == "01-x.md:2 01-x.md:4 02-y.md:2 02-y.md:4 03-z.md:1"
    assert "there is no notebook 03-z.ipynb" in said[-1]
    assert not (tmp_path / "out").exists()


def test_a_slide_holds_what_it_asks_for_and_leads_to_its_section(lecture):
    page = made(
        lecture,
        "## One $x$\n\nwords *here*\n\n{{ figure 1.1 }}\n\nNote:\nSay this.\n---\n"
        "## Two\n\n{{ code 1.2: first }}\n---\n## 1.1 Three\n\n- **A** $y < z$\n- **B** no\n---\n"
        "## Four\n\n{{ output 1.2: second }}\n---\n## Five\n\n{{ output 1.2: folded }}\n",
    )
    wanted = [
        ["Lecture 1 · A lecture", "One <span class=", "<em>here</em>", "<svg></svg>",
         '<aside class="notes"><p>Say this.</p>', "#the-question"],
        ["<pre", "<span", "#the-rest"],
        [r"\(y &lt; z\)", "<h2>Three</h2>", ">1.1</a>"],
        ['<pre class="printed">1\n2</pre>', ">1.2</a>"],
        ['<pre class="printed">1\n2</pre>'],
    ]  # fmt: skip
    for slide, parts in zip(page.split("<section ")[1:], wanted, strict=True):
        assert not [part for part in parts if part not in slide]


def tower(boxes: int) -> Schematic:
    """A drawing of boxes one below the other; the arrow has its shape beside it."""
    drawing = Schematic("Boxes, one below the other.")
    made = [drawing.operation(f"box {i}", at=(0, i)) for i in range(boxes)]
    for one, other in itertools.pairwise(made):
        drawing.arrow(one, other, "n × d")
    return drawing


def test_a_tall_drawing_has_larger_letters_and_no_others():
    low, tall = (tower(boxes)._repr_html_()[0] for boxes in (4, 8))
    assert cut.layout(low) == ("beside figure", low)
    shape, drawn = cut.layout(tall)
    assert shape == "beside figure"
    sizes = re.compile(r"font-size:([\d.]+)px")
    assert sizes.sub("", drawn) == sizes.sub("", tall)
    before, after = ([float(size) for size in sizes.findall(one)] for one in (tall, drawn))
    scale = cut.ROOMS[shape][1] / cut.view(tall)[3]
    assert min(before) * scale < cut.LEAST
    assert min(after) * scale == pytest.approx(cut.LEAST, abs=0.01)


@pytest.mark.parametrize("name", cut.HALVES)
def test_a_half_is_cut_between_boxes_and_words(name):
    drawing = tower(5)
    right = drawing.matrix("K", "n × d", at=(2, 2))
    drawing.arrow(drawing.boxes[2], right)
    axis, which = cut.HALVES[name]
    shown = cut.view(cut.half(drawing._repr_html_()[0], name))
    at = shown[axis] if which else shown[axis] + shown[axis + 2]
    for box in drawing.layout()["boxes"]:
        start = (box["x"], box["y"])[axis]
        assert not start < at < start + (box["w"], box["h"])[axis]


def test_rows_of_a_heat_map_stand_under_its_keys():
    weights = [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]
    png = base64.b64encode(heatmap(weights, [*"abcd"], [*"xy"])._repr_png_()[0]).decode()
    parts = {name: cut.rows(png, name, "a map") or "" for name in ("upper", "lower")}
    spans = {
        name: [(float(top), float(top) + float(high)) for top, high in PART.findall(part)]
        for name, part in parts.items()
    }
    (start, middle), (head, first), (rest, _) = *spans["upper"], *spans["lower"]
    assert start == head == 0
    assert 0 < first < rest == middle - 1  # the line between them belongs to both
    assert cut.rows(png, "left", "a map") is None


PART = re.compile(r'viewBox="0 (\d+) \d+ (\d+)"><image')


HEADING = re.compile(r"(?m)^## (\d+\.\d+) |^\*\*Figure (\d+\.\d+)\.\*\*")
TAKEN = re.compile(r"\{\{ *(\w+) (\d+\.\d+)|^## (\d+\.\d+) ", re.M)


@pytest.mark.parametrize("path", sorted(slides.SOURCES.glob("[0-9]*.md")), ids=lambda one: one.stem)
def test_a_foot_names_the_section_of_its_slide(path):
    text = (ROOT / "book" / "lectures" / path.name).read_text(encoding="utf-8")
    found = HEADING.findall(text)
    sections = [number for number, _ in found if number]
    here, figures = sections[0], {}
    for number, figure in found:
        here = number or here
        figures[figure] = here
    page = slides.deck(path, slides.NOTEBOOKS / f"{path.stem}.ipynb")[1]
    feet = re.findall(r'class="where" href="([^"]+)"[^>]*>([\d.]+)</a>', page)
    written = path.read_text(encoding="utf-8").split("\n---\n")
    for slide, (address, number) in zip(written, feet, strict=True):
        kind, place, said = TAKEN.findall(slide)[0]
        assert number == (said or (figures[place] if kind == "figure" else place)), slide
        assert "#" in address
        assert number in sections
