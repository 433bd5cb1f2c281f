"""A lecture's two pages: each doubt is led to and back, and what passes its budget is named."""

import re

import nbformat
import pytest
from nbformat import v4

from tests.book.lectures import HTML, ROOT, load

form = load(ROOT / "book" / "tools" / "form.py")
IN_FORM = [evidence.stem for _, _, evidence in form.lessons()]
LESSON = """# 7. Scaling

Why?

## 7.1 Sure before it has learned

It is sure. *[How do we know?](evidence/07-scaling.ipynb#is-it-usual)*

## 7.2 Why scores grow

They grow. *[How do we know that of layers?](evidence/07-scaling.ipynb#do-layers-begin-so)*
"""
EVIDENCE = """# How we know: Scaling

## Is it usual?

**Asked.** Was it chosen?

```python
## no heading
```

[Back to 7.1](../07-scaling.ipynb#sure-before-it-has-learned)

## Do layers begin so?

**Asked.** Do they?

### Exercise

[Back to 7.2](../07-scaling.ipynb#why-scores-grow)
"""
# what is spoilt, and what is said of it: the file, the line, the words
SPOILT = {
    "a link that leads nowhere": (
        ("#is-it-usual", "#is-it-rare"),
        ["lectures/07-scaling.md:7: [How do we know?] leads nowhere: #is-it-rare"],
    ),
    "a question that nothing leads to": (
        (" *[How do we know?](evidence/07-scaling.ipynb#is-it-usual)*", ""),
        ["evidence/07-scaling.md:3: nothing in the lesson leads to the question 'Is it usual?'"],
    ),
    "two links in a section": (
        ("They grow. ", "They grow. [How do we know?](evidence/07-scaling.ipynb#is-it-usual) "),
        ["lectures/07-scaling.md:11: 2 quiet links in a section, 1 may be"],
    ),
    "another lecture's evidence": (
        ("07-scaling.ipynb#is-it", "08-heads.ipynb#is-it"),
        ["lectures/07-scaling.md:7: [How do we know?] leads nowhere: #is-it-usual"],
    ),
    "no way back": (
        ("[Back to 7.1](../07-scaling.ipynb#sure-before-it-has-learned)", ""),
        ["evidence/07-scaling.md:3: 'Is it usual?' has no way back"],
    ),
    "a way back to no section": (
        ("#sure-before-it-has-learned", "#sure"),
        ["evidence/07-scaling.md:11: [Back to 7.1](../07-scaling.ipynb#sure) leads nowhere"],
    ),
    "a way back to another section": (
        ("7.1](../07-scaling.ipynb#sure-before-it-has-learned",
         "7.2](../07-scaling.ipynb#why-scores-grow"),
        ["evidence/07-scaling.md:11: [Back to 7.2](../07-scaling.ipynb#why-scores-grow) leads to a"
         " section that has not led here"],
    ),
}  # fmt: skip


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A lesson and its evidence in a folder of their own."""
    monkeypatch.setattr(form, "ROOT", tmp_path)
    for folder, text in (("lectures", LESSON), ("evidence", EVIDENCE)):
        (tmp_path / "book" / folder).mkdir(parents=True)
        (tmp_path / "book" / folder / "07-scaling.md").write_text(text, encoding="utf-8")
    return tmp_path


def said(desk) -> list[str]:
    lesson, _, evidence = form.lessons()[0]
    return [f"{one}".removeprefix("book/") for one in form.links(lesson, evidence)]


def test_links_that_lead_to_their_question_and_back_are_in_form(desk):
    assert said(desk) == []


@pytest.mark.parametrize(("change", "wanted"), SPOILT.values(), ids=SPOILT)
def test_a_link_is_named_that_leads_nowhere_and_a_question_that_none_leads_to(desk, change, wanted):
    for path in (desk / "book").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(*change), encoding="utf-8")
    found = said(desk)
    assert set(wanted) <= set(found)
    # a link that leads elsewhere leaves its question alone, and nothing else is said
    assert all("is-it-usual" in one or "'Is it usual?'" in one or one in wanted for one in found)


def printing(text: str, *tags: str):
    output = [v4.new_output("stream", text=text)]
    return v4.new_code_cell("# a comment\nprint(1)", metadata={"tags": list(tags)}, outputs=output)


def test_each_budget_that_is_passed_is_named_with_its_line_and_number(desk, monkeypatch):
    monkeypatch.setattr(form, "MOST", dict.fromkeys(form.MOST, 1))
    lesson = form.lessons()[0][0]
    fold = (
        "<details>\n<summary>Hints</summary>\n\none two\n\n<details>three</details>\n\n</details>"
    )
    cells = [
        v4.new_markdown_cell("one, in section 7.2 and $x_2$"),
        v4.new_markdown_cell(fold),
        printing("0.25 0.50 0.75 1.00\n0.25 0.50 0.75 1.00\n"),
        printing("3\n", "hide-input"),
        printing("3\n", "hide-cell"),
        v4.new_markdown_cell("| a | b |\n|---|---|\n| 1 | 2 |\n"),
    ]
    notebook = v4.new_notebook(cells=cells)
    lesson.write_text("\n\n".join(cell.source for cell in cells), encoding="utf-8")
    counts, found = form.held(lesson, notebook)
    wanted = {"words": 13, "code lines": 1, "printed tables": 2, "printed numbers": 10, "folds": 4}
    assert counts == wanted
    assert [f"{one}".removeprefix("book/lectures/07-scaling.md:") for one in found] == [
        "12: a table of 2 rows × 4 numbers, 4 × 3 may be",
        "1: 13 words, 1 may be: here they are passed",
        "3: 4 folds, 1 may be: here they are passed",
        "12: 10 printed numbers, 1 may be: here they are passed",
        "21: 2 printed tables, 1 may be: here they are passed",
    ]


def test_all_lessons_that_have_evidence_are_in_form():
    assert [str(one) for one in form.complaints()] == []


@pytest.mark.parametrize("name", IN_FORM)
def test_the_pages_have_both_ends_of_each_link(name):
    """As built: a place of that name is on the other page, and the way back is on this one."""
    lesson = (HTML / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    evidence = (HTML / "notebooks" / "evidence" / f"{name}.html").read_text(encoding="utf-8")
    there = re.findall(rf'href="evidence/{name}\.html#([^"]+)"', lesson)
    back = re.findall(rf'href="\.\./{name}\.html#([^"]+)"', evidence)
    assert len(set(there)) >= 3
    assert len(back) >= len(set(there))
    for page, places in ((evidence, there), (lesson, back)):
        assert [one for one in places if f'id="{one}"' not in page] == []


@pytest.mark.parametrize("name", IN_FORM)
def test_the_next_page_of_a_lesson_is_no_evidence(name):
    lesson = (HTML / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    foot = lesson.partition('class="prev-next-area"')[2].partition("</footer>")[0]
    links = re.findall(r'class="(?:left-prev|right-next)"\s+href="([^"]+)"', foot)
    assert links
    assert not [one for one in links if "evidence/" in one]


def test_the_list_of_pages_calls_every_evidence_page_alike() -> None:
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    called = re.findall(r"file: notebooks/evidence/(\S+)\n +title: How we know\n", text)
    assert called == IN_FORM


@pytest.mark.parametrize("name", IN_FORM)
def test_each_section_of_evidence_says_what_was_asked_found_and_not_measured(name):
    """A question, what was run or derived, a verdict, and what was not measured, in this order."""
    path = ROOT / "notebooks" / "evidence" / f"{name}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    parts = re.split(r"(?m)^## ", text)[1:]
    assert len(parts) >= 4
    for part in parts:
        found = re.findall(r"(?m)^\*\*(Asked|Run|Derived|Verdict|Not measured)\.\*\*", part)
        order = [one.replace("Derived", "Run") for one in found]
        assert order == ["Asked", "Run", "Verdict", "Not measured"], part.partition("\n")[0]
        assert part.partition("\n")[0].endswith("?")
