"""The reference pages: what they name is there, and says what they say."""

import json
import pkgutil
import re
from pathlib import Path
from statistics import mean

import pytest
from nbformat.v4 import new_markdown_cell

from attnlab.models import captions
from attnlab.models.caches import cached_models
from book.extensions.attnbook_captions import reached, shared
from book.extensions.attnbook_status import digest, rows
from book.extensions.attnbook_terms import concepts, glossary, link, sections
from tests.book.lectures import CITATION, HTML, ROOT
from tests.book.test_nbval_rules import one_cell, pytest_nbval, stream
from tests.book.test_terms import section

BOOK = ROOT / "book"
INDEX = (BOOK / "concepts.md").read_text(encoding="utf-8")
CONCEPTS = concepts(re.search(r"^```\{concepts\}\n(.*?)^```", INDEX, re.M | re.S)[1], glossary())
OTHER = {term.name: term.other for term in glossary()}
SMALL = {"and", "are", "as", "by", "for", "in", "its", "of", "on", "one", "the", "that", "to"}


@pytest.mark.parametrize("name", CONCEPTS)
def test_every_section_of_a_concept_speaks_of_it(name: str) -> None:
    words = set(re.findall(r"[\w-]{2,}", f"{name} {OTHER.get(name, '')}".lower())) - SMALL
    stems = [word[: max(2, len(word) - 1)] for word in words]  # keys and key; T5
    for number in CONCEPTS[name]:
        assert any(stem in section(number) for stem in stems), number


def test_the_index_holds_every_term_and_begins_with_where_it_is_taught() -> None:
    for term in glossary():
        assert CONCEPTS[term.name][: len(term.sections)] == term.sections
    assert list(CONCEPTS) == sorted(CONCEPTS, key=str.lower)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("head", r"`name \| sections`: 'head'"),
        ("head | 8.2 | a sentence", r"`name \| sections`"),
        ("head | 8.2\nhead | 8.3", "in the index once: head"),
        ("key | 3.2, 6.4, 3.2", "twice at key: 3.2, 6.4, 3.2"),
    ],
)
def test_a_line_of_the_index_that_is_none_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        concepts(text, [])


def test_a_section_that_is_none_is_no_link_and_each_page_leads_to_some() -> None:
    assert link("5.2", "book/teaching/index")["refuri"].startswith("../../notebooks/05-self-att")
    with pytest.raises(ValueError, match=r"no section 99\.1"):
        link("99.1", "book/concepts")
    for path in BOOK.glob("*.md"):
        for number in re.findall(r"\{section\}`([^`]*)`", path.read_text(encoding="utf-8")):
            assert number in sections(), f"{path.name}: {number}"


def test_every_name_of_the_table_is_one_in_the_package_or_in_pytorch() -> None:
    page = (BOOK / "paper-code-pytorch.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\{py:obj\}`(?:~|[^`<]* <)?([\w.]+)>?`", page))
    assert len(names) > 60
    for name in names:
        assert name.startswith(("attnbook.", "attnlab.", "torch."))
        assert pkgutil.resolve_name(name) is not None
    linked = (BOOK / "inventories" / "torch.txt").read_text(encoding="utf-8")
    assert [n for n in sorted(names) if n[0] == "t" and f"\n{n} " not in linked] == []


@pytest.mark.parametrize("name", ["paper-code-pytorch", "reading", "where-next"])
def test_what_a_page_cites_is_in_the_bibliography(name: str) -> None:
    entries = (BOOK / "references.bib").read_text(encoding="utf-8").split("\n@")
    for text, url in CITATION.findall((BOOK / f"{name}.md").read_text(encoding="utf-8")):
        cited = next((e for e in entries if url.removeprefix("https://doi.org/") in e), "")
        assert text[-4:] in cited, f"{text}: {url}"
        assert re.split(r" et al| and |,", text)[0].split()[-1] in cited, f"{text}: {url}"


@pytest.mark.heavy
def test_a_run_without_a_failure_writes_what_it_took_and_another_leaves_it(tmp_path: Path) -> None:
    table, copy = tmp_path / "status.json", tmp_path / "copy.ipynb"
    notebook = one_cell("print(1)", stream("1\n"))
    notebook.cells.insert(0, new_markdown_cell("# 1. One cell\n\nand its text"))
    for said in ("2", "1"):
        notebook.cells[1].outputs[0].text = f"{said}\n"
        options = ("-p", "tests.nbval.status", "-n0")
        done = pytest_nbval(tmp_path, notebook, *options, ATTNBOOK_STATUS=str(table))
        assert (done.returncode == 0) == table.exists() == (said == "1")
    told = json.loads(table.read_text(encoding="utf-8"))
    assert told["notebooks"]["copy"]["seconds"] > 0
    assert "cores" in told["machine"]
    (line,) = rows(told, [copy], "book/status")
    assert line.startswith("| [1. One cell](../notebooks/copy.ipynb) | 1 | 1 | 0 | 0 | ")
    assert line.endswith(f"{told['day']} |")


def test_a_notebook_that_is_another_since_its_run_says_so(tmp_path: Path) -> None:
    path, ran = tmp_path / "one.ipynb", {"seconds": 8.4, "code": "0"}
    cell = {"cell_type": "code", "source": ["print(1)"], "outputs": [1], "metadata": {}}
    cell["metadata"] = {"tags": ["nbval-ignore-output"]}
    cells = [{"cell_type": "markdown", "source": ["# One\n", "text"]}, cell, {**cell, "source": []}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    told = {"day": "2026-01-02", "notebooks": {"one": ran}}
    start = "| [One](../notebooks/one.ipynb) | 1 | 0 | 0 | 1 "
    changed = f"{start}| 8 | 2 January 2026, before its last change |"
    assert rows(told, [path], "book/status") == [changed]
    ran["code"] = digest(path)
    assert rows(told, [path], "book/status") == [f"{start}| 8 | 2 January 2026 |"]
    told["notebooks"] = {}
    assert rows(told, [path], "book/status") == [f"{start}| – | not yet |"]


def test_the_programs_page_has_each_run_its_command_mark_and_minutes() -> None:
    page = (HTML / "book" / "translator.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))
    common, options = shared([run.command for run in captions.runs()])
    assert re.sub(r"\s*\\\s*", " ", common) in text.replace(" \\", "")
    assert "41.02" in text
    for run, given in zip(captions.runs(), options, strict=True):
        scores = (run.validation, run.test)
        numbers = [f"{of[kind]:.2f}" for of in scores for kind in ("cased", "tokens")]
        assert " ".join([run.name, given or "none", f"{run.parameters:,}", *numbers]) in text
    for name, some in captions.trials().items():
        line = text.partition(f" {name} ")[2][:200]
        for scores in (
            [getattr(run, of)["tokens"] for run in some] for of in ("validation", "test")
        ):
            assert f" {mean(scores):.2f}" in line
            each = ", ".join(f"{one:.2f}" for one in scores)
            assert len(some) == 1 or f"({each})" in line
    assert 'alt="' in page[page.index("data:image/png") - 2_000 : page.index("data:image/png")]
    text, run = text.replace(" \\", ""), captions.long_run()
    assert run.command in text
    after = reached(run)
    assert list(after.values()) == sorted(after.values())
    minutes = " ".join(f"{some:.0f}" for some in after.values())
    assert f"{' '.join(map(str, after))} reached after minutes {minutes}" in text
    for scores in (run.validation, run.test):
        assert f"{scores['cased']:.2f} cased, {scores['tokens']:.2f} in tokens" in text


def test_a_point_is_reached_at_its_first_mark_and_what_commands_share_is_told_once() -> None:
    marks = [captions.Mark(k, 1.0, 0.0, tokens) for k, tokens in enumerate((33.0, 36.0, 35.0))]
    run = captions.long_run()._replace(curve=marks, minutes=(1.0, 2.0, 3.0))
    assert reached(run) == {34: 2.0, 35: 2.0, 36: 2.0}
    assert shared(["a b c", "a b d e"]) == ("a b", ["c", "d e"])
    assert shared(["a b", "a b c"]) == ("a b", ["", "c"])


def test_the_page_of_models_has_each_with_its_count_and_its_source() -> None:
    page = (HTML / "book" / "models.html").read_text(encoding="utf-8")
    lines = re.findall(r"<tr.*?</tr>", page, re.S)
    shown = [re.findall(r"<td[^>]*>(.*?)</td>", line, re.S) for line in lines]
    every = cached_models().values()
    for cells, model in zip([one for one in shown if len(one) == 7], every, strict=True):
        name, year, _, token, longest, whole, less = (
            re.sub(r"<.*?>", "", cell).strip().replace(",", "") for cell in cells
        )
        n = model.context
        assert (name, int(year), int(longest)) == (model.name, model.year, n)
        assert float(token) == pytest.approx(model.bytes_per_token(), abs=0.5)
        assert float(whole) == pytest.approx(model.cache_bytes(n) / 1e9, abs=0.006)
        assert float(less) == pytest.approx(model.saving(n), abs=0.6)
        assert f"<li><p><em>{name}</em>: " in page
    assert 'href="https://arxiv.org/abs/2607.24653"' in page  # one of their sources
    assert "twenty-one models" in page  # a sentence counts them
    assert len(every) == 21
