"""The set-up cell of every lecture, run as Colab runs it, but with no network."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.book.lectures import EVERY, HTML, ROOT, code, read
from tests.patience import PROCESS

LINK = re.compile(
    r"colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)/blob/([\w.-]+)/([\w./-]+\.ipynb)"
)
FOUND = """
import importlib.metadata, json
found = importlib.metadata.distributions()
print(json.dumps({one.metadata["Name"].lower(): one.version for one in found}))
"""
INSTALLED = f"""
import importlib.util
names = "torch", "numpy", "matplotlib", "anywidget", "attnbook", "attnlab"
print([bool(importlib.util.find_spec(name)) for name in names])
{FOUND}"""
USE = """
import attnbook
from attnbook.attention import attention
from attnlab.pictures.figures import heatmap
from attnlab.widgets import AttentionHeatmap
import torch
x = torch.tensor([[2, -1, 0], [1, 1, 1], [1, 2, 2]], dtype=torch.float64)
weights = attention(x, x, x).weights
widget = AttentionHeatmap(x, tokens=["had", "bowl", "nuts"])
assert "attnbook-heatmap" in widget.html()
heatmap(weights, ["had", "bowl", "nuts"])
print(attnbook.__file__)
print([f"{weight:.3f}" for weight in weights[2]])
"""


def repository() -> tuple[str, str]:
    """The book's address and branch, as `_config.yml` states them."""
    configured = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return configured["url"], configured["branch"]


@dataclass
class Session:
    """A Python like Colab's: PyTorch and the rest are there, the book's package is not."""

    python: Path
    folder: Path  # where the notebook runs: empty
    env: dict[str, str] = field(repr=False)  # may hold secrets

    def run(self, source: str, **env: str) -> str:
        command = [str(self.python), "-c", source]
        pipes = {"capture_output": True, "text": True, "timeout": PROCESS, "check": False}
        done = subprocess.run(command, cwd=self.folder, env={**self.env, **env}, **pipes)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def site(self) -> Path:
        return next(self.python.parents[1].rglob("site-packages"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository that holds the working tree as it is now, uncommitted work included."""
    copy = tmp_path_factory.mktemp("clone")
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-co", "-z", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():  # a deleted file is listed until the deletion is committed
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q", "-b", repository()[1]], ["add", "-A"], ["commit", "-qm", "tree"]):
        subprocess.run(["git", *who, *words], cwd=copy, check=True)
    return copy


def surroundings(clone: Path, scratch: Path) -> dict[str, str]:
    """No index, no cache, and the repository's address leads to the clone."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "GIT_"))}
    settings = {f"url.{clone.as_uri()}.insteadOf": repository()[0], "safe.directory": "*"}
    git = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_CONFIG_GLOBAL": os.devnull}
    for number, (key, value) in enumerate(settings.items()):
        git |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    # pip reads the value as that of `build isolation`: 0 means none, so no index is needed
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_CACHE_DIR": "1"}
    return {**kept, **git, **pip, "PIP_CONFIG_FILE": os.devnull, "TMPDIR": str(scratch)}


CELLS = list(dict.fromkeys(code(read(path))[0].source for path in EVERY))
EXTRA = "[pretrained]"
# by day the one that asks for more
BY_DAY = [cell if EXTRA in cell else pytest.param(cell, marks=pytest.mark.heavy) for cell in CELLS]


def test_all_cells_are_one_but_for_what_is_pretrained() -> None:
    assert {cell.replace(EXTRA, "") for cell in CELLS} == {CELLS[0].replace(EXTRA, "")}


@pytest.fixture(scope="module", params=BY_DAY, ids=lambda text: f"cell-{len(text)}")
def cell(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def session(cell: str, clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    home = tmp_path_factory.mktemp("colab")
    for name in ("empty", "scratch", "preinstalled"):
        (home / name).mkdir()
    venv.create(home / "venv")
    python = home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    session = Session(python, home / "empty", surroundings(clone, home / "scratch"))
    # what this environment has, but for the book and its link to the sources
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not {"attnbook", "attnlab"} & set(re.split(r"\W+|_+", entry.name)):
            (home / "preinstalled" / entry.name).symlink_to(entry, entry.is_dir())
    (session.site() / "preinstalled.pth").write_text(f"{home / 'preinstalled'}\n")
    return session


def test_the_cell_installs_the_book_and_nothing_else_and_a_second_run_does_nothing(
    cell: str, session: Session
) -> None:
    def files() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in session.site().rglob("*") if p.suffix != ".pyc"}

    there, before = session.run(INSTALLED).splitlines()
    assert there == "[True, True, True, True, False, False]"
    *said, where, weights, after = session.run(f"{cell}\n{USE}\n{FOUND}").splitlines()
    assert said == []
    assert Path(where).is_relative_to(session.site())
    assert weights == "['0.005', '0.090', '0.905']"
    after = json.loads(after)
    assert after.pop("attnbook") == after.pop("attnlab")
    assert after == json.loads(before)
    stored, scratch = files(), list(session.folder.with_name("scratch").iterdir())
    # with no way to the clone, any attempt to install would fail
    assert session.run(cell, GIT_CONFIG_COUNT="0") == ""
    assert files() == stored
    assert list(session.folder.with_name("scratch").iterdir()) == scratch
    assert list(session.folder.iterdir()) == []


def test_in_the_book_s_own_environment_the_cell_does_nothing(cell: str, tmp_path: Path) -> None:
    env = {**os.environ, "PIP_NO_INDEX": "1", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", cell]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_every_link_to_colab_names_a_notebook_that_exists() -> None:
    url, branch = repository()
    sources = [ROOT / "README.md", *sorted((ROOT / "book").rglob("*.md")), *HTML.rglob("*.html")]
    links = {p: LINK.findall(p.read_text(encoding="utf-8", errors="replace")) for p in sources}
    assert links[ROOT / "README.md"], "the README no longer leads to Colab"
    for path, found in links.items():
        for name, at, notebook in found:
            if at == "kit":  # the release's own branch, with a copy of each lecture for students
                assert notebook.startswith("students/"), path
                notebook = notebook.replace("students", "notebooks", 1)
            else:
                assert at == branch, path
            assert f"https://github.com/{name}" == url, path
            assert (ROOT / notebook).is_file(), f"{path} leads to {notebook}, which is not there"


def test_every_built_lecture_has_a_launch_button_once_the_book_has_an_address() -> None:
    assert HTML.is_dir(), "no built book: run `make book` first"
    wanted = "/OWNER/" not in repository()[0]
    for path in EVERY:
        built = HTML / path.relative_to(ROOT).with_suffix(".html")
        page = built.read_text(encoding="utf-8")
        buttons = page.partition('class="article-header-buttons"')[2].partition("</article>")[0]
        buttons = buttons.partition('<div id="searchbox">')[0]
        found = {notebook for _, _, notebook in LINK.findall(buttons)}
        assert (path.relative_to(ROOT).as_posix() in found) == wanted, path
        assert "/OWNER/" not in buttons, path
