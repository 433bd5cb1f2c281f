"""The table of kinds, the chunks that follow from it, and what a page and a notebook load."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab.widgets
from attnlab.widgets import build, page_script, stylesheet
from attnlab.widgets.core import chunks
from attnlab.widgets.kinds import KINDS, folder

HANGS_ON = ("notebooks",)

ROOT = Path(__file__).resolve().parents[3]
WIDGETS = Path(attnlab.widgets.__file__).parent
FOUND = [*WIDGETS.glob("*/widget.py"), *WIDGETS.glob("applications/*/widget.py")]
IMPORTED = """(source) => import(
  URL.createObjectURL(new Blob([source], { type: "text/javascript" })))"""


def exports(text: str) -> set[str]:
    inside = re.search(r"export\{([^{}]*)\};?\s*$", text)[1]
    return {part.split(" as ")[-1].strip() for part in inside.split(",")}


def imports(text: str) -> set[str]:
    found = re.findall(r'import\{([^{}]*)\}from"core"', text)
    return {part.split(" as ")[0].strip() for one in found for part in one.split(",")}


def test_the_table_has_the_folders_that_there_are_and_names_their_classes() -> None:
    assert {WIDGETS / folder(kind) for kind in KINDS} == {path.parent for path in FOUND}
    assert list(KINDS) == sorted(KINDS)
    assert {path.stem for path in (WIDGETS / "chunks").glob("*")} == {"core", *KINDS}
    for kind, (name, *_) in KINDS.items():
        widget = getattr(attnlab.widgets, name)
        assert widget._kind == kind
        assert widget._esm == chunks.module(kind)
        assert widget._css == stylesheet(kind)
    for name in attnlab.widgets.__all__:
        assert getattr(attnlab.widgets, name).__name__ == name
    assert "AttentionHeatmap" in dir(attnlab.widgets)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        attnlab.widgets.Nothing  # noqa: B018


@pytest.mark.parametrize("name", build.CHUNKS)
def test_a_chunk_is_of_these_sources_asks_the_core_alone_and_may_stand_in_a_page(name: str) -> None:
    text = chunks.chunk(name)
    assert build.recorded_hash(text) == build.source_hash(name), (
        f"chunks/{name}.js is older than {name}/: run `{build.COMMAND}`"
    )
    if name != "core":
        assert imports(text) <= exports(chunks.chunk("core"))
        assert set(re.findall(r'import\{[^{}]*\}from"([^"]*)"', text)) == {"core"}
        assert "widget" in exports(text)
    assert set(re.findall(r"https?://[^\"\s]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "eval(" not in text
    assert "innerHTML" not in text
    assert not re.search("</script|<!--", text)
    assert not re.search(r"\b(?i:click|hover) (?:an?|or)\b", text), "a finger presses"


def test_every_lecture_stays_within_its_budget() -> None:
    for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"):  # other notebooks show none
        page = path.read_text(encoding="utf-8").replace('\\"', '"')
        kinds = chunks.kinds_on(page)
        assert kinds, path.name
        code = page_script(*kinds), stylesheet(*kinds)
        assert sum(len(gzip.compress(text.encode())) for text in code) <= 40_000, path.name


def test_a_page_needs_the_kinds_that_it_shows_and_a_script_holds_no_more(show) -> None:
    page = '<figure class="attnbook attnbook-{}">'.format
    assert chunks.kinds_on("<p>nothing</p>") == ()
    assert chunks.kinds_on(page("steps") + page("beam") + page("beam")) == ("beam", "steps")
    assert chunks.kinds_on(page("block")) == ("block",)
    page = show()
    names = f"(source) => ({IMPORTED})(source).then((one) => Object.keys(one.kinds))"
    assert page.evaluate(names, chunks.module("steps", "beam")) == ["steps", "beam"]
    assert page.evaluate(names, chunks.module()) == list(KINDS)
    assert len(page_script("beam")) < len(page_script("beam", "steps")) < len(page_script())


def test_a_stale_chunk_is_named_with_the_command_that_makes_it(monkeypatch, capsys) -> None:
    made = {name: chunks.chunk(name) for name in build.CHUNKS}
    asked = []
    monkeypatch.setattr(build, "run_npm", lambda *command: asked.append(command))
    monkeypatch.setattr(build, "make", lambda: made | {"steps": "another"})
    assert build.main(["--check"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"chunks/steps.js differs from its sources: run {build.COMMAND}"
    monkeypatch.setattr(build, "make", lambda: made)
    assert build.main(["--check"]) == 0
    assert asked == [("run", "--silent", "check")] * 2  # the linter, the types, the tests


def test_a_source_that_changes_makes_its_own_chunk_stale_and_no_other(monkeypatch, tmp_path):
    for name in ("core/view", "steps", "beam"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("core/bundle.js", "package.json", "package-lock.json", "steps/widget.js"):
        (tmp_path / name).write_text("first")
    monkeypatch.setattr(build, "HERE", tmp_path)
    before = {name: build.source_hash(name) for name in ("core", "steps", "beam")}
    (tmp_path / "steps/widget.js").write_text("second")
    (tmp_path / "steps/widget.test.js").write_text("tests are no part of it")
    after = {name: build.source_hash(name) for name in ("core", "steps", "beam")}
    assert [name for name in before if before[name] != after[name]] == ["steps"]


def test_without_npm_the_build_says_what_is_missing(monkeypatch, capsys) -> None:
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    for arguments in ([], ["--check"]):
        assert build.main(arguments) == 1
        assert "npm was not found: install Node.js 20" in capsys.readouterr().out


WITHOUT = """
import sys
for name in ("anywidget", "ipywidgets", "traitlets"):
    sys.modules[name] = None  # as if it were not installed
from attnlab.widgets.core import checks, chunks, markup, numbers
print(len(chunks.page_script("steps")) > 0, markup.plain(0.5), checks.index_of("i", 1, count=2))
from attnlab.widgets import AttentionHeatmap
"""


def test_without_anywidget_the_plain_parts_work_and_a_widget_names_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout == "True 0.5 1\n"
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: attnlab.widgets.AttentionHeatmap needs the package traitlets:"
        ' pip install "attnlab"'
    )
