"""The repository's address has one place, `_config.yml`; everything else follows it."""

import re
import shutil
from pathlib import Path

import pytest

from tests.book.lectures import ROOT, load

address = load(ROOT / "book" / "tools" / "address.py")
# where an address may stand although `make address` does not look there
ELSEWHERE = re.compile(
    r"_build|notebooks|node_modules|\..*|.*\.egg-info|dist|address\.py|test_address\.py"
)
TEXT = {".md", ".py", ".toml", ".yml", ".cff", ".txt", ".js", ".json", ".html", ".css"}


def forms(owner: str, repo: str, branch: str) -> str:
    here = f"https://github.com/{owner}/{repo}"
    return "\r\n".join([
        f"https://colab.research.google.com/github/{owner}/{repo}/blob/{branch}/notebooks/5.ipynb",
        f'"attnbook @ git+{here}@{branch}" and "attnbook @ git+{here}.git@{branch}"',
        f"See <{here}>, or {here}/blob/{branch}/LICENSE. It is at {here}.",
        f"[edit]({here}/edit/{branch}/x.md) [issues]({here}/issues) {here}/tree/{branch}",
        f"git clone {here}.git && git clone git@github.com:{owner}/{repo}.git",
        f"https://{owner}.github.io/{repo}/ or https://{owner}.github.io/{repo}/book/cite.html",
        f"https://raw.githubusercontent.com/{owner}/{repo}/{branch}/README.md",
    ])  # fmt: skip


# a release, a commit and a longer name are meant as they stand
FIXED = "{0}/releases/tag/v0.1.0 git+{0}@v0.1.0 {0}/blob/0123456789abcdef0123456789abcdef01234567/x"
OTHERS = (
    "https://github.com/{0}/{1}-2 https://github.com/{0}/{1}.js "
    "https://github.com/MY{0}/{1} https://my{0}.github.io/{1}/"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that hold the address, and a lecture that names it in every form."""
    for name in ("_config.yml", "pyproject.toml", "README.md", "CITATION.cff", "book/cite.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    _, (owner, repo), branch = address.addresses(ROOT)
    text = "\r\n".join([forms(owner, repo, branch), OTHERS.format(owner, repo)])
    (tmp_path / "book" / "lectures").mkdir()
    (tmp_path / "book" / "lectures" / "99.md").write_bytes(text.encode())
    return tmp_path


def configure(root: Path, url: str, branch: str = "main") -> None:
    text = (root / "_config.yml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^  url: .*$", f"  url: {url}", text)
    text = re.sub(r"(?m)^  branch: .*$", f"  branch: {branch}", text)
    (root / "_config.yml").write_text(text, encoding="utf-8")


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_every_place_names_the_configured_address_and_no_other_does() -> None:
    assert address.main(check=True) == 0
    _, (owner, repo), _ = address.addresses(ROOT)
    names = re.compile(rf"{owner}(\.github\.io)?/{re.escape(repo)}|OWNER/attention-worked-out")
    looked_at = {path for place in address.PLACES for path in ROOT.glob(place)}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if (
            path.suffix in TEXT
            and path not in looked_at
            and not any(map(ELSEWHERE.fullmatch, parts))
        ):
            assert not names.search(path.read_text(encoding="utf-8", errors="ignore")), path


def test_every_form_and_the_branch_are_rewritten_and_come_back(copy, capsys) -> None:
    home, before = address.addresses(copy), contents(copy)
    configure(copy, "https://github.com/ada-l/attention-notes", "lectures-2.x")
    pyproject, configured = (copy / "pyproject.toml").read_bytes(), contents(copy)
    assert address.main(copy, check=True) == 1
    assert contents(copy) == configured, "--check changes nothing"
    printed = capsys.readouterr().out
    for number in range(1, 8):
        assert f"book/lectures/99.md:{number}: " in printed
    assert address.main(copy) == 0
    lecture = (copy / "book/lectures/99.md").read_bytes().decode()
    assert lecture.startswith(forms("ada-l", "attention-notes", "lectures-2.x"))
    assert lecture.endswith(OTHERS.format(*home[1]))
    done = contents(copy)
    (copy / "pyproject.toml").write_bytes(pyproject)  # all was written but the last file
    address.main(copy)
    assert contents(copy) == done
    configure(copy, "https://github.com/" + "/".join(home[1]), home[2])
    address.main(copy)
    assert contents(copy) == before


_, _, BRANCH = address.addresses(ROOT)
HOMES = {
    "https://github.com/ada-l/notes": BRANCH,
    "https://github.com/ada-l/notes/": BRANCH,
    "https://github.com/ada-l/notes.git": BRANCH,
    "git@github.com:ada-l/notes.git": BRANCH,
    "https://github.com/ada-l/notes@trunk": "trunk",
    "https://github.com/ada-l/notes/tree/lectures-2.x": "lectures-2.x",
}


@pytest.mark.parametrize(("at", "branch"), HOMES.items())
def test_one_command_sets_the_address_as_it_is_copied_and_carries_it(copy, at, branch) -> None:
    assert address.main(copy, at=at) == 0
    lecture = (copy / "book/lectures/99.md").read_bytes().decode()
    assert lecture.startswith(forms("ada-l", "notes", branch))
    assert address.addresses(copy) == (("ada-l", "notes"), ("ada-l", "notes"), branch)
    assert address.main(copy, check=True) == 0


def test_what_was_merged_from_another_home_gives_way_too(copy) -> None:
    address.main(copy, at="https://github.com/ada-l/notes")
    (copy / "book/lectures/99.md").write_bytes(forms("up", "book", BRANCH).encode())
    assert address.main(copy, source="git@github.com:up/book.git") == 0
    assert (copy / "book/lectures/99.md").read_bytes().decode() == forms("ada-l", "notes", BRANCH)


@pytest.mark.parametrize("at", [
    "github.com/ada-l/notes", "https://github.com/ada-l", "https://github.com//notes",
    "https://gitlab.com/ada-l/notes", "http://github.com/ada-l/notes", "notes", " ",
    "https://github.com/ada l/notes", "https://github.com/ada-l/notes/issues",
    "https://github.com/YOU/notes", "https://github.com/OWNER/notes", "https://github.com/-a/notes",
    "https://github.com/ada-l/notes@v1.0", "https://github.com/ada-l/notes@" + "0" * 40,
])  # fmt: skip
def test_a_wrong_address_is_refused_and_nothing_is_written(copy: Path, at: str) -> None:
    before = contents(copy)
    with pytest.raises(SystemExit, match=re.escape(f"AT is {at!r}; wanted https://github.com/")):
        address.main(copy, at=at)
    with pytest.raises(SystemExit, match=r"FROM is '-'; wanted https://github.com/"):
        address.main(copy, at="https://github.com/ada-l/notes", source="-")
    assert contents(copy) == before


def test_a_link_to_a_release_or_a_commit_keeps_it() -> None:
    right = FIXED.format("https://github.com/ada-l/notes")
    old = FIXED.format("https://github.com/OWNER/book")
    assert address.rewrite(old, ("OWNER", "book"), ("ada-l", "notes"), "trunk") == right
