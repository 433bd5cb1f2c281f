"""The rules of a lecture: what its text may hold, and that its notebook is its twin."""

import json
import re

import pytest

from tests.book.lectures import (
    CITATION,
    EVERY,
    EVIDENCE,
    KNOWN,
    LECTURES,
    NOTEBOOKS,
    NUMBER,
    ROOT,
    TEXTS,
    TWINS,
    code,
    load,
    printed,
    prose,
    stored,
    tags,
)

maker = load(ROOT / "book" / "tools" / "notebooks.py")
planner = load(ROOT / "book" / "tools" / "plan.py")

# the only cells whose output nbval does not compare, each with its reason
UNCOMPARED = {
    "01-sequence-to-sequence": {
        "# @title Eight digits through a funnel: the small model's own numbers": "what a model "
        "that was trained here writes, with every step of it in the table below the widget",
    },
    "evidence/01-sequence-to-sequence": {
        "# @title Three of its mistakes": "what a model that was trained here writes: another "
        "machine's model errs in other words",
    },
    "02-decoding": {
        "# @title More probable, and worse: a trained model's own mistakes": "sentences found "
        "among a trained model's own mistakes",
        "# @title Where the two part: sums over all sentences, and the two found": "such a "
        "sentence, read again; the cell asserts that it has what the search claimed",
    },
    "evidence/02-decoding": {
        "# @title The search of one lost sentence, as a tree": "the search of such a sentence",
    },
    "03-attention": {
        "# @title By length: what a trained model gets right": "whether a flat curve rises "
        "or falls is another machine's to say; the cell asserts how the two differ",
    },
    "evidence/03-attention": {
        "# @title Eight sentences to play: a trained model's own weights": "its text names where "
        "each word of a trained model looks, and which disagree with the gold",
    },
    "evidence/04-scoring-functions": {
        "from torch.utils.benchmark import Timer": "a ratio of times, other on each machine",
    },
    "evidence/05-self-attention": {
        "from torch.utils.benchmark import Timer": "a ratio of times, other on each machine",
    },
    "10-transformer-block": {
        "# @title Their curves": "whether a curve that hardly falls ends at its lowest is another "
        "machine's to say; the cell before prints where each ends",
        "# @title What became of their words": "how long words of a stack that does not learn grow "
        "is another machine's to say; the cell asserts which grow",
        "# @title What two blocks write": "a model that was trained here: another machine's writes "
        "other sentences",
    },
    "evidence/10-transformer-block": {
        "# @title The curves of pre-norm and post-norm, eight blocks": "whether a curve that "
        "hardly falls ends at its lowest is another machine's to say; the cell asserts the gap",
    },
    "evidence/11-transformer": {
        "# @title One pass against one call a word: a ratio of times": "ratios of times, others "
        "on each machine",
        "# @title A training step of each: a ratio of times": "a ratio of times, another on each "
        "machine",
    },
    "evidence/13-faster-decoding": {
        "print(answered())": "whether SmolLM2's file is on this machine"
    },
}
COLLAPSED = {"hide-input", "hide-cell", "remove-input"}
PAGE_BYTES = 500_000

notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
twins = pytest.mark.parametrize("path", EVERY, ids=maker.name_of)


def test_there_is_a_lecture_and_each_has_its_notebook():
    assert LECTURES
    assert [p.stem for p in TEXTS] == [p.stem for p in TWINS]
    assert [p.stem for p in EVIDENCE] == [p.stem for p in KNOWN]


@twins
def test_notebook_is_the_twin_of_its_text(path):
    """Same cells, same ids, same tags: a notebook edited by hand or left behind fails."""
    wanted = maker.convert(maker.texts()[maker.name_of(path)])
    found = stored(path)
    assert [c.id for c in found.cells] == [c.id for c in wanted.cells]
    for mine, theirs in zip(found.cells, wanted.cells, strict=True):
        metadata = json.loads(json.dumps(mine.metadata))
        if metadata.get("mystnb", {}).pop("image", None) and not metadata["mystnb"]:
            del metadata["mystnb"]  # the alt text came from the picture, not from the lecture
        assert (mine.source, metadata) == (theirs.source, theirs.metadata)


@twins
def test_cells_were_run_are_compared_collapsed_short_and_free_of_leftovers(path):
    counts = [cell.execution_count for cell in code(stored(path)) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))
    assert not re.search("nbval[-_]skip|nbval_ignore", path.read_text(encoding="utf-8").lower())
    listed = UNCOMPARED.get(maker.name_of(path), {})
    found = [
        c.source.splitlines()[0] for c in code(stored(path)) if "nbval-ignore-output" in tags(c)
    ]
    assert sorted(found) == sorted(listed)
    for cell in code(stored(path)):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if tags(cell) & COLLAPSED:
            assert cell.metadata["jupyter"]["source_hidden"] is True
            assert cell.metadata["cellView"] == "form"
            assert cell.source.startswith("# @title "), "Colab shows a form only under a title"
        else:
            assert len(lines) <= 25, lines[0]
            assert max(map(len, lines)) <= 84, "a longer line is cut off at the page's width"
        for output in cell.outputs:
            assert output.get("name") != "stderr"
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
    assert "widgets" not in stored(path).metadata
    assert "execution" not in json.dumps([c.metadata for c in stored(path).cells])


@twins
def test_every_figure_has_alt_text_in_the_page_and_in_the_notebook(path):
    for cell in code(stored(path)):
        kinds = [
            (o, kind) for o in cell.outputs for kind in maker.PICTURES & o.get("data", {}).keys()
        ]
        assert len(kinds) <= 1, "one figure a cell: the page has one alt text for each"
        for picture, kind in kinds:
            alt = picture.metadata[kind]["alt"]
            assert len(alt) > 40
            assert cell.metadata["mystnb"]["image"]["alt"] == alt
    for cell in prose(stored(path)):
        assert not re.search(r"!\[\s*\]", cell.source), "a picture without alt text"
        assert not re.search(r"<img(?![^>]*alt=)", cell.source)


@twins
def test_every_number_in_prose_is_printed_by_a_cell_or_cited(path):
    """Decimals only: 0.905 must be in some output; a sentence with a citation may bring its own."""
    notebook = stored(path)
    # what a lesson only names, its evidence shows
    known = path.parent / "evidence" / path.name
    cells = printed(notebook) + (printed(stored(known)) if known.exists() else "")
    shown = {float(n) for n in re.findall(r"\d+\.\d+", cells)}
    headings = set(re.findall(r"(?m)^## (\d+\.\d+) ", "\n".join(c.source for c in prose(notebook))))
    for cell in prose(notebook):
        for sentence in re.split(r"(?<=[.!?])\s+|\n\n", re.sub(r"(?m)^#+ .*$", "", cell.source)):
            cited = CITATION.search(sentence)
            if sentence.startswith("[Back to "):  # the section of the lesson, which form.py asks
                continue
            for found in NUMBER.finditer(re.sub(r"\]\([^)]*\)", "]", sentence)):
                number, before = found[0], found.string[: found.start()]
                figure = before.endswith("Figure ")  # there may be more than sections
                section = (figure or number in headings) and re.search(
                    r"(section|in|\(|\||·|minutes:\*\*|Figure) ?$", before
                )
                decimals = len(number.split(".")[1])
                printed_so = float(number) in {round(value, decimals) for value in shown}
                assert printed_so or section or cited, f"{number} in: {sentence}"


@twins
def test_every_citation_is_in_the_bibliography_and_every_link_leads_somewhere(path):
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    found = [c for cell in prose(stored(path)) for c in CITATION.findall(cell.source)]
    assert found or path in KNOWN
    for text, url in found:
        known = url in bibliography or url.removeprefix("https://doi.org/") in bibliography
        assert known, f"{text}: {url} is not in book/references.bib"
        entry = next(e for e in bibliography.split("\n@") if url.split("doi.org/")[-1] in e)
        surname = re.split(r" et al| and |,", text)[0].split()[-1]
        assert surname.lower() in entry.lower(), f"{text} names nobody of the entry at {url}"
        assert text[-4:] in entry, f"{text}: the entry has another year"
    for cell in prose(stored(path)):
        for text, url in re.findall(r"\[([^\]]+)\]\(([^)\s]+)\)", cell.source):
            near = re.fullmatch(r"((?:evidence/|\.\./)\d\d-[\w-]+\.ipynb)(?:#.*)?", url)
            if url.startswith("/") or near:
                where = path.parent / near[1] if near else ROOT / url[1:].split("#")[0]
                assert where.exists(), url
            else:
                assert url.startswith("https://"), f"[{text}]({url}): neither a page nor a paper"
        # roles and directives would show as raw text outside the page
        assert not re.search(r"^(```|:::)+\s*\{", cell.source, re.M), cell.source
        assert not re.search(r"\{[a-z:-]+\}`", cell.source), cell.source
        assert cell.source.count("<details>") == cell.source.count("</details>")


def test_a_lecture_and_a_section_that_the_text_points_at_are_there():
    texts = {
        path: re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.S)
        for path in [*TEXTS, *EVIDENCE]
    }
    there = set(re.findall(r"(?m)^## (\d+\.\d+) ", "\n".join(texts.values())))
    there |= {f"{number:g}" for number in range(1, len(LECTURES) + 1)}
    pointer = re.compile(r"\b(?:lecture|section)s? (\d[\d., –]*(?:(?:and|or) [\d.]+)?)", re.I)
    for path, text in texts.items():
        named = {n for one in pointer.findall(text) for n in re.findall(r"\d+(?:\.\d+)*", one)}
        ours = {one for one in named if one.count(".") < 2}  # 3.2.1 is a paper's
        assert ours <= there, path.stem


def test_the_table_of_other_texts_leads_to_every_section():
    text = next(path for path in TEXTS if path.stem == "other-texts").read_text(encoding="utf-8")
    links = re.findall(r'\| <a href="#t(\d+)">T\.(\d+)</a> \|$', text, re.M)
    sections = re.findall(r'^<span id="t(\d+)"></span>\n\n### T\.(\d+) \S', text, re.M)
    assert sections == [(str(n), str(n)) for n in range(1, text.count("### T.") + 1)]
    assert set(links) == set(sections)


@notebooks
def test_lecture_has_its_parts(path):
    notebook = stored(path)
    first, second, third = notebook.cells[:3]
    assert first.cell_type == "markdown"
    opened = r"# .+\n\n\*\*[A-Z][^*]+\?\*\*\n\n\*[A-Z][^*]+\.\*"
    assert re.fullmatch(opened, first.source), "a title, a question, one story in one sentence"
    header = planner.header(notebook)
    for part in ("**Plan, ", "**Builds on**", "**Grew from**"):
        assert part in header.split("<details>")[1], part
    assert len(re.findall(r"(?m)^- ", header.split("you can**")[1])) == 3, "outcomes in three lines"
    assert "#subdirectory=src/attnlab" in second.source
    assert ("attnlab[pretrained] @" in second.source) == ("load_minilm" in third.source)
    assert third.source.startswith("# @title Imports\n")
    text = "\n".join(cell.source for cell in prose(notebook))
    for part in ("**Task.**", "**Read next.**"):
        assert part in text, part
    assert re.findall(r"(?m)^## [\d.]+ (Exercises|Summary)", text) == ["Exercises", "Summary"]
    sources = "\n".join(cell.source for cell in code(notebook))
    assert sources.count("BugHunt(") == 1
    assert sources.count("Answer(") >= 1, "one exercise on paper"
    assert sources.count("Checkpoint(") >= 2
    assert sources.count("Prediction(") >= 1
    blanks = [cell for cell in code(notebook) if "still blank" in str(cell.outputs)]
    solutions = [cell for cell in code(notebook) if "solution" in tags(cell)]
    in_form = (ROOT / "book" / "evidence" / f"{path.stem}.md").exists()
    assert (1 if in_form else 3) <= len(blanks) <= 6
    assert len(solutions) == len(blanks)
    minutes = planner.plan(header).values()
    assert (40 if in_form else 50) <= sum(minutes) <= planner.MOST["minutes"]


@notebooks
def test_widget_data_of_a_page_stays_small(path):
    htmls = [o.get("data", {}).get("text/html", "") for c in code(stored(path)) for o in c.outputs]
    assert sum(len(html.encode()) for html in htmls) <= PAGE_BYTES
    assert any("attnbook-" in html for html in htmls), "a lecture has at least one live widget"
