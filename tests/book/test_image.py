"""The image of the lectures' environment, .binder, asks for what the repository pins and needs."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / ".binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wanted() -> list[str]:
    lines = (BINDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_python_versions_extras_and_index_are_those_of_the_repository() -> None:
    found = re.fullmatch(r"python-(\d+)\.(\d+)\n", (BINDER / "runtime.txt").read_text())
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert found
    assert least
    assert tuple(map(int, found.groups())) >= tuple(map(int, least.groups()))
    (pins,) = [line.split()[1] for line in wanted() if line.startswith("-c ")]
    path = (BINDER / pins).resolve()  # pip reads it from where the list lies
    assert path == ROOT / "requirements.txt"
    pinned = {line.split("==")[0] for line in path.read_text(encoding="utf-8").splitlines()}
    named = {line for line in wanted() if not line.startswith(("-", "."))}
    assert named <= pinned
    attention, lab = [line for line in wanted() if line.startswith(".")]
    assert attention == "."
    extras = re.fullmatch(r"\./src/attnlab\[([\w,]+)\]", lab)
    assert extras
    own = tomllib.loads((ROOT / "src/attnlab/pyproject.toml").read_text("utf-8"))["project"]
    assert set(extras[1].split(",")) <= set(own["optional-dependencies"])
    (index,) = [line.split()[1] for line in wanted() if line.startswith("--extra-index-url")]
    workflow = (ROOT / ".github" / "workflows" / "weekly.yml").read_text(encoding="utf-8")
    assert f"PIP_EXTRA_INDEX_URL: {index}\n" in workflow


def test_the_page_and_the_workflow_name_one_version_of_repo2docker() -> None:
    named = set()
    for place in (".github/workflows/weekly.yml", "book/teaching/publish.md"):
        found = re.findall(
            r"jupyter-repo2docker==([\d.]+)\b", (ROOT / place).read_text(encoding="utf-8")
        )
        assert found, place
        named |= set(found)
    assert len(named) == 1


@pytest.mark.skipif(os.name == "nt", reason="a script for the image, which is Linux")
def test_the_last_step_finds_all_that_the_lectures_import() -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [BINDER / "postBuild"],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
