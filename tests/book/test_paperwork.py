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
HOUSE = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", ".github/RELEASING.md")
] + sorted(
    path
    for room in ("benchmarks", "experiments", "notebooks", "src", "teaching")
    for path in (ROOT / room).rglob("README.md")
    if not {"node_modules", "reveal"} & set(path.parts)
)
REFERENCES: dict[str, Entry] = dict(parse_file(str(BOOK / "references.bib")).entries.items())


def read(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def citation() -> dict[str, Any]:
    return yaml.safe_load(read("CITATION.cff"))


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))["project"]


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


def test_no_work_is_listed_twice_and_a_year_in_a_key_is_the_works() -> None:
    for field in ("title", "url", "doi"):
        found = [
            entry.fields[field].lower() for entry in REFERENCES.values() if field in entry.fields
        ]
        assert len(found) == len(set(found)), f"two references share a {field}"
    for key, entry in REFERENCES.items():
        if year := re.search(r"\d{4}$", key):
            assert year[0] == entry.fields["year"], key


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_into_the_repository_name_a_file_that_is_there(path: Path) -> None:
    repository = yaml.safe_load(read("_config.yml"))["repository"]
    here = f"{re.escape(repository['url'])}/blob/{re.escape(repository['branch'])}/([^)\\s]+)"
    for name in re.findall(here, path.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file(), f"{path.name} links to {name}"


@pytest.mark.parametrize("path", HOUSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_beside_its_room_leads_to_files_that_are_there(path: Path) -> None:
    prose = re.sub(r"`[^`]*`", "", path.read_text(encoding="utf-8"))
    for name in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose):
        assert (path.parent / name).exists(), f"{path.name} leads to {name}"


def test_zizmor_finds_nothing_in_the_workflows() -> None:
    found = shutil.which("zizmor", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    assert found, "zizmor is in requirements.txt, and not installed"
    command = [found, "--offline", "--no-progress", str(ROOT / ".github" / "workflows")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# what a job may do beside reading: to publish pages, and to push the branch of the kit
MORE = {
    ("book", "deploy"): {"pages": "write", "id-token": "write"},
    ("kit", "publish"): {"contents": "write"},
}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_runs_tasks_that_are_there(path: Path) -> None:
    workflow, text = yaml.safe_load(read(path)), read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions", {}) == MORE.get((path.stem, name), {}), name
    targets = read("Makefile").replace("\\\n", " ").split("TARGETS =")[1].splitlines()[0].split()
    assert set(re.findall(r"(?:python tasks\.py|run: make) ([\w-]+)", text)) <= set(targets)
