"""The repository's address has one place, `_config.yml`; everything else follows it."""

import re
import shutil
from pathlib import Path

import pytest

from tests.book.lectures import ROOT, load

PLACEHOLDER = ("OWNER", "attention-worked-out")
ELSEWHERE = ("https://github.com/ada-l/attention-notes", "lectures-2.x")
# where the placeholder may stand although `make address` does not look there
ALLOWED = {"book/tools/address.py", "tests/book/test_address.py"}
NOT_OURS = {".git", ".venv", "_build", "node_modules", "notebooks", "__pycache__", "dist"}
TEXT = {".md", ".py", ".toml", ".yml", ".yaml", ".cff", ".txt", ".js", ".json", ".html", ".css"}


address = load(ROOT / "book" / "tools" / "address.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy every place to an empty folder, and add one line for each form of the address."""
    for path in address.places(ROOT):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    lecture = tmp_path / "book" / "lectures" / "99-forms.md"
    lecture.parent.mkdir(parents=True, exist_ok=True)
    lecture.write_bytes("\r\n".join(forms(*address.wanted_address(ROOT))).encode())
    return tmp_path


def forms(owner: str, repo: str, branch: str) -> list[str]:
    here = f"https://github.com/{owner}/{repo}"
    return [
        f"[![Colab](badge.svg)](https://colab.research.google.com/github/{owner}/{repo}"
        f"/blob/{branch}/notebooks/05-self-attention.ipynb)",
        f'source = "attnbook @ git+{here}@{branch}"',
        f'source = "attnbook @ git+{here}.git@{branch}"',
        f"See <{here}>, or {here}/blob/{branch}/LICENSE. It is at {here}.",
        f"[edit]({here}/edit/{branch}/x.md) [issues]({here}/issues) {here}/tree/{branch}",
        f"git clone {here}.git && git clone git@github.com:{owner}/{repo}.git",
        f"read https://{owner}.github.io/{repo}/ or https://{owner}.github.io/{repo}/book/cite.html",
        f"https://raw.githubusercontent.com/{owner}/{repo}/{branch}/README.md",
        f"{here}/releases/tag/v0.1.0 and pip install git+{here}@v0.1.0",
    ]


def configure(root: Path, url: str, branch: str) -> None:
    path = root / "_config.yml"
    text = path.read_text(encoding="utf-8")
    text, urls = re.subn(r"(?m)^  url: .*$", f"  url: {url}", text)
    text, branches = re.subn(r"(?m)^  branch: .*$", f"  branch: {branch}", text)
    assert (urls, branches) == (1, 1), "_config.yml no longer has one repository.url and one branch"
    path.write_text(text, encoding="utf-8")


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in address.places(root)}


def test_every_place_names_the_address_of_the_configuration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert address.main(["--check"]) == 0, capsys.readouterr().out


def test_the_address_is_the_placeholder_or_a_real_one() -> None:
    owner, repo, branch = address.wanted_address(ROOT)
    named = [
        f"{path.relative_to(ROOT).as_posix()}:{number}"
        for path in address.places(ROOT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if f"{owner}/{repo}" in line or f"{owner}.github.io" in line
    ]
    print(f"{owner}/{repo} ({branch}) stands at:", *named, sep="\n  ")
    if owner == PLACEHOLDER[0]:
        assert repo == PLACEHOLDER[1], "an address is either the whole placeholder or a real one"
    else:
        left = [
            path
            for path in address.places(ROOT)
            if "/".join(PLACEHOLDER).encode() in path.read_bytes()
        ]
        assert not left, f"the placeholder is left in {left}"
    places = {place.rsplit(":", 1)[0] for place in named}
    assert {"_config.yml", "pyproject.toml", "CITATION.cff", "book/cite.md"} <= places


def test_the_address_stands_nowhere_that_make_address_does_not_look() -> None:
    owner, repo, _ = address.wanted_address(ROOT)
    known = {path.relative_to(ROOT).as_posix() for path in address.places(ROOT)} | ALLOWED
    stray = [
        name
        for path in ROOT.rglob("*")
        if path.suffix in TEXT
        and not NOT_OURS & set(path.relative_to(ROOT).parts)
        and (name := path.relative_to(ROOT).as_posix()) not in known
        and re.search(
            "|".join(
                map(re.escape, (f"{owner}/{repo}", f"{owner}.github.io", "/".join(PLACEHOLDER)))
            ),
            path.read_text(encoding="utf-8", errors="ignore"),
        )
    ]
    assert not stray, f"read the address from _config.yml there, or add to PLACES: {stray}"


def test_check_names_the_file_and_line_of_every_difference(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(copy, *ELSEWHERE)
    before = contents(copy)
    assert address.main(["--check", "--root", str(copy)]) == 1
    printed = capsys.readouterr().out
    assert contents(copy) == before, "--check changes nothing"
    for number in range(1, len(forms("", "", "")) + 1):
        assert f"book/lectures/99-forms.md:{number}: " in printed
    repository = [i for i, s in enumerate(lines(copy / "pyproject.toml"), 1) if "Repository =" in s]
    assert f"pyproject.toml:{repository[0]}: " in printed


def test_running_it_carries_every_form_and_the_branch(copy: Path) -> None:
    configure(copy, *ELSEWHERE)
    assert address.main(["--root", str(copy)]) == 0
    carried = (copy / "book/lectures/99-forms.md").read_bytes().decode()
    assert carried.split("\r\n") == forms("ada-l", "attention-notes", "lectures-2.x")
    assert address.main(["--check", "--root", str(copy)]) == 0
    if address.wanted_address(ROOT).owner == PLACEHOLDER[0]:
        left = [str(path) for path, data in contents(copy).items() if b"OWNER" in data]
        assert not left, f"the placeholder is left in {left}"


def test_running_it_twice_changes_nothing_more(copy: Path) -> None:
    configure(copy, *ELSEWHERE)
    address.main(["--root", str(copy)])
    once = contents(copy)
    assert address.main(["--root", str(copy)]) == 0
    assert contents(copy) == once


def test_moving_there_and_back_restores_every_byte(copy: Path) -> None:
    before = contents(copy)
    home = address.wanted_address(copy)
    configure(copy, *ELSEWHERE)
    address.main(["--root", str(copy)])
    configure(copy, home.url, home.branch)
    address.main(["--root", str(copy)])
    assert contents(copy) == before


def test_an_interrupted_run_can_be_run_again(copy: Path) -> None:
    configure(copy, *ELSEWHERE)
    pyproject = (copy / "pyproject.toml").read_bytes()
    address.main(["--root", str(copy)])
    done = contents(copy)
    (copy / "pyproject.toml").write_bytes(pyproject)  # all was written but the last file
    address.main(["--root", str(copy)])
    assert contents(copy) == done


def test_a_longer_name_is_not_taken_for_the_address() -> None:
    old, new = address.PLACEHOLDER, address.Address("ada-l", "notes", "trunk")
    others = (
        f"https://github.com/{old.owner}/{old.repo}-2 https://github.com/{old.owner}/{old.repo}.js "
        f"https://github.com/MY{old.owner}/{old.repo} https://my{old.owner}.github.io/{old.repo}/"
    )
    assert address.rewrite(others, old, new) == others


def test_a_link_to_a_release_or_a_commit_keeps_it() -> None:
    old, new = address.PLACEHOLDER, address.Address("ada-l", "notes", "trunk")
    for fixed in ("v0.1.0", "0123456789abcdef0123456789abcdef01234567"):
        text = f"{old.url}/blob/{fixed}/LICENSE"
        assert address.rewrite(text, old, new) == f"{new.url}/blob/{fixed}/LICENSE"


@pytest.mark.parametrize(
    "url",
    [
        "github.com/ada-l/notes",
        "https://github.com/ada-l",
        "https://github.com/ada-l/notes/",
        "https://github.com/ada-l/notes.git",
        "https://example.org/ada-l/notes",
        "https://github.com/ada l/notes",
        "",
    ],
)
def test_a_malformed_address_is_refused(
    copy: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    configure(copy, f'"{url}"', "main")
    before = contents(copy)
    assert address.main(["--root", str(copy)]) == 2
    message = capsys.readouterr().err
    assert repr(url) in message
    assert "https://github.com/OWNER/REPO" in message
    assert contents(copy) == before


@pytest.mark.parametrize("branch", ["", "v1.0", "a b", "feature/x", "0" * 40])
def test_a_malformed_branch_is_refused(
    copy: Path, capsys: pytest.CaptureFixture[str], branch: str
) -> None:
    configure(copy, ELSEWHERE[0], f'"{branch}"')
    assert address.main(["--check", "--root", str(copy)]) == 2
    assert f"repository.branch is {branch!r}" in capsys.readouterr().err


def test_a_missing_line_in_pyproject_is_named(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = [line for line in lines(copy / "pyproject.toml") if "Repository =" not in line]
    (copy / "pyproject.toml").write_text("\n".join(kept), encoding="utf-8")
    assert address.main(["--root", str(copy)]) == 2
    assert 'Repository = "https://github.com/OWNER/attention-worked-out"' in capsys.readouterr().err


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
