"""The papers of the repository agree with each other, and the workflows ask for nothing extra."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from pybtex.database import Entry, parse_file

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = sorted([*BOOK.glob("*.md"), *BOOK.glob("teaching/*.md")])
REFERENCES: dict[str, Entry] = dict(parse_file(str(BOOK / "references.bib")).entries.items())
SOURCES = ("Kushal Jain", "Varada Kolhatkar", "Martin Thissen", "Tarushii Goel", "Riedhammer")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def read(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def citation() -> dict[str, Any]:
    return yaml.safe_load(read("CITATION.cff"))


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))["project"]


# ---- citation ------------------------------------------------------------------------------------


def test_every_paper_names_the_same_version_year_and_address() -> None:
    cff, version = citation(), project()["version"]
    assert cff["version"] == cff["preferred-citation"]["version"] == version
    lab = tomllib.loads(read("src/attnlab/pyproject.toml"))["project"]
    assert lab["version"] == version
    assert f"attnbook=={version}" in lab["dependencies"]
    assert re.search(
        rf'^__version__ = "{re.escape(version)}"$', read("src/attnbook/__init__.py"), re.M
    )
    date = str(cff["date-released"])
    assert f"## {version} - {date}" in read("CHANGELOG.md")
    cite = read("book/cite.md")
    year, url = date[:4], cff["url"]
    assert str(cff["preferred-citation"]["year"]) == year
    assert cff["preferred-citation"]["url"] == url
    assert f"authors ({year}). *Attention, Worked Out* (version {version}). <{url}>" in cite
    for field, value in (("year", year), ("version", version), ("url", url)):
        assert re.search(rf"{field}\s*= \{{{re.escape(value)}\}}", cite), field
    assert cff["repository-code"] == project()["urls"]["Repository"]


# ---- bibliography ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(REFERENCES))
def test_each_reference_can_be_found_by_a_reader(key: str) -> None:
    entry = REFERENCES[key]
    assert entry.persons.get("author"), f"{key} has no author"
    for field in ("title", "year"):
        assert entry.fields.get(field), f"{key} has no {field}"
    assert re.fullmatch(r"(19|20)\d\d|n\.d\.", entry.fields["year"])
    assert any(entry.fields.get(field) for field in ("url", "doi", "note")), key
    if "doi" in entry.fields:
        assert re.fullmatch(r"10\.\d{4,}/\S+", entry.fields["doi"])
    if "url" in entry.fields:
        assert re.fullmatch(r"https://[\w.-]+/\S*", entry.fields["url"])


def test_no_work_is_listed_twice() -> None:
    for field in ("title", "url", "doi"):
        found = [
            entry.fields[field].lower() for entry in REFERENCES.values() if field in entry.fields
        ]
        assert len(found) == len(set(found)), f"two references share a {field}"


def test_a_year_in_a_key_is_the_year_of_the_work() -> None:
    for key, entry in REFERENCES.items():
        if year := re.search(r"\d{4}$", key):
            assert year[0] == entry.fields["year"], key


def test_the_five_sources_are_credited_and_listed() -> None:
    credits = read("book/credits.md")
    authors = " ".join(str(person) for e in REFERENCES.values() for person in e.persons["author"])
    for name in SOURCES:
        assert name in credits
        assert name.split()[-1] in authors
    named = {title.strip("*") for title in re.findall(r"\*[^*|]+\*", credits)}
    for entry in REFERENCES.values():
        if "url" not in entry.fields and "doi" not in entry.fields:
            assert entry.fields["title"].replace("{", "").replace("}", "") in named


# ---- pages -------------------------------------------------------------------------------------


def contents() -> set[str]:
    toc = yaml.safe_load(read("_toc.yml"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    for chapter in chapters:  # grows while it is walked: sections of sections
        chapters.extend(chapter.get("sections", []))
    return {toc["root"], *(chapter["file"] for chapter in chapters)}


def test_every_page_is_in_the_contents_and_every_entry_is_a_page() -> None:
    listed = {entry.removesuffix(".md") for entry in contents()}
    pages = {path.relative_to(ROOT).with_suffix("").as_posix() for path in PAGES}
    assert pages <= listed, f"not in _toc.yml: {pages - listed}"
    lectures = {f"notebooks/{path.stem}" for path in (BOOK / "lectures").glob("*.md")}
    assert listed - lectures <= pages, f"in _toc.yml, but no page: {listed - lectures - pages}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    lectures = {f"notebooks/{lecture.stem}.ipynb" for lecture in (BOOK / "lectures").glob("*.md")}
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if link.startswith(("https://", "#")):
            continue
        target = (path.parent / link.split("#")[0]).resolve()
        relative = target.relative_to(ROOT).as_posix()
        assert target.is_file() or relative in lectures, f"{path.name} links to {link}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_into_the_repository_name_a_file_that_is_there(path: Path) -> None:
    repository = yaml.safe_load(read("_config.yml"))["repository"]
    here = f"{re.escape(repository['url'])}/blob/{re.escape(repository['branch'])}/([^)\\s]+)"
    for name in re.findall(here, path.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file(), f"{path.name} links to {name}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_loads_a_picture_from_another_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"!\[[^\]]*\]\(https?:|src=[\"']?https?:|\{image\} https?:", text)


# ---- workflows ---------------------------------------------------------------------------------


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    program = shutil.which("zizmor", path=search)
    assert program, "zizmor is in requirements.txt, and not installed"
    command = [program, "--offline", "--no-progress", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def copied_workflows(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    return tmp_path / ".github" / "workflows"


def test_zizmor_finds_nothing() -> None:
    found = zizmor(ROOT / ".github" / "workflows")
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("permissions:\n  contents: read", "permissions: write-all", "excessive-permissions"),
        ("run: make test", "run: echo ${{ github.head_ref }}", "template-injection"),
        ("actions/checkout@v6", "someone/checkout@v6", "unpinned-uses"),
    ],
)
def test_zizmor_would_find_a_mistake(tmp_path: Path, old: str, new: str, rule: str) -> None:
    folder = copied_workflows(tmp_path)
    text = (folder / "test.yml").read_text(encoding="utf-8")
    assert old in text
    (folder / "test.yml").write_text(text.replace(old, new), encoding="utf-8")
    found = zizmor(folder)
    assert found.returncode != 0
    assert rule in found.stdout


def test_there_are_four_workflows() -> None:
    names = ["book.yml", "kit.yml", "test.yml", "weekly.yml"]
    assert [path.name for path in WORKFLOWS] == names


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "group" in workflow["concurrency"]
    for name, job in workflow["jobs"].items():
        longest = 350 if (path.name, name) == ("weekly.yml", "all") else 90  # hours, weekly
        assert 0 < job["timeout-minutes"] <= longest, name
        more = job.get("permissions", {})
        if (path.name, name) == ("book.yml", "deploy"):
            assert more == {"pages": "write", "id-token": "write"}
            assert job["environment"]["name"] == "github-pages"
            assert "default_branch" in job["if"]
        elif (path.name, name) == ("kit.yml", "publish"):
            assert more == {"contents": "write"}
            used = [step["uses"] for step in job["steps"] if "uses" in step]
            assert used == ["actions/download-artifact@v7"], "nothing of the book runs there"
        else:
            assert more == {}, f"{path.name}: the job {name} asks for more"
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_task_that_a_workflow_runs_is_there(path: Path) -> None:
    tasks = set(re.findall(r'"([\w-]+)": \w+[,}]', read("tasks.py")))
    assert "test" in tasks, "the list of tasks in tasks.py is no longer found"
    targets = read("Makefile").split("TARGETS =")[1].splitlines()[0].split()
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"python tasks\.py ([\w-]+)", text)) <= tasks
    assert set(re.findall(r"run: make ([\w-]+)", text)) <= set(targets)
