"""Carry the repository's address from `_config.yml` to every place that names it.

`python book/tools/address.py` rewrites those places; `--check` lists the lines that differ instead
and exits with 1. The old address is read from one line of pyproject.toml, `Repository = "…"`, which
is rewritten last: a run that was interrupted can be run again.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
# in this order: pyproject.toml holds the old address, so it comes last
PLACES = (
    "README.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "_config.yml",
    "book/**/*.md",
    "pyproject.toml",
)
LECTURES = Path("book/lectures")
GITHUB = re.compile(r"https://github\.com/([A-Za-z\d](?:[A-Za-z\d-]{0,37}[A-Za-z\d])?)/([\w.-]+)")
# a branch, but no release tag and no commit: a link to one of those is meant as it stands
BRANCH = r"(?!v\d|[\da-f]{40}(?![\w.-]))[\w-]+(?:\.[\w-]+)*"
START = r"(?<![\w.-])"
END = r"(?![\w-]|\.(?!git\b)\w)"  # so that `book` is not found in `book-2`, nor in `book.js`


class AddressError(Exception):
    """An address that is missing or malformed; the message says where and what was wanted."""


class Address(NamedTuple):
    """Where the book lives: github.com/owner/repo, and the branch that readers see."""

    owner: str
    repo: str
    branch: str

    @property
    def url(self) -> str:
        return f"https://github.com/{self.owner}/{self.repo}"


class Difference(NamedTuple):
    """One line that does not name the wanted address."""

    path: Path
    line: int
    found: str
    wanted: str


PLACEHOLDER = Address("OWNER", "attention-worked-out", "main")
VIEWS = ("blob", "tree", "edit", "raw", "commits")

# every form in which the address is written, the longer before the shorter
FORMS = (
    "colab.research.google.com/github/{owner}/{repo}/blob/{branch}",
    "raw.githubusercontent.com/{owner}/{repo}/{branch}",
    "github.com/{owner}/{repo}@{branch}",
    "github.com/{owner}/{repo}.git@{branch}",
    *(f"github.com/{{owner}}/{{repo}}/{view}/{{branch}}" for view in VIEWS),
    "github.com/{owner}/{repo}",
    "github.com:{owner}/{repo}",
    "{owner}.github.io/{repo}",
)


def wanted_address(root: Path = ROOT) -> Address:
    """Read the address from `repository` in `_config.yml`.

    Raises: AddressError where it is missing, or is not https://github.com/OWNER/REPO and a branch.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8")) or {}
    repository = config.get("repository") or {}
    url, branch = str(repository.get("url", "")), str(repository.get("branch", ""))
    found = GITHUB.fullmatch(url)
    if not found or found[2].endswith(".git") or set(found[2]) == {"."}:
        raise AddressError(
            f"_config.yml: repository.url is {url!r}; wanted https://github.com/OWNER/REPO, "
            "with no slash and no .git at its end"
        )
    if not re.fullmatch(BRANCH, branch):
        raise AddressError(
            f"_config.yml: repository.branch is {branch!r}; wanted the name of a branch such as "
            "main: letters, digits, and - _ . inside it; not a tag or a commit"
        )
    return Address(found[1], found[2], branch)


def old_address(root: Path = ROOT) -> Address:
    """Read the address that the places name now, from pyproject.toml (its branch is not known).

    Raises: AddressError where there is not exactly one line `Repository = "https://github.com/…"`.
    """
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r'^Repository = "([^"\n]*)"[ \t\r]*$', text, re.M)
    found = GITHUB.fullmatch(lines[0]) if len(lines) == 1 else None
    if not found:
        raise AddressError(
            f"pyproject.toml: the lines Repository = … under [project.urls] hold {lines}; "
            f'wanted one, Repository = "{PLACEHOLDER.url}" or your own address'
        )
    return Address(found[1], found[2], PLACEHOLDER.branch)


def rewrite(text: str, old: Address, new: Address) -> str:
    """Replace each form of `old`, and of the placeholder, by that of `new`; any branch by its."""
    for known in dict.fromkeys((old, PLACEHOLDER, new)):
        for form in FORMS:
            right = form.format(**new._asdict())
            text = re.sub(_pattern(form, known), lambda _, right=right: right, text)
    return text


def _pattern(form: str, known: Address) -> str:
    owner, repo = re.escape(known.owner), re.escape(known.repo)
    pattern = re.escape(form)  # in it, {owner} stands as \{owner\}
    for name, part in (("owner", owner), ("repo", repo), ("branch", BRANCH)):
        pattern = pattern.replace(rf"\{{{name}\}}", part)
    return START + pattern + END


def places(root: Path = ROOT) -> list[Path]:
    """List the files that may name the address, pyproject.toml last."""
    return [path for place in PLACES for path in sorted(root.glob(place)) if path.is_file()]


def differences(root: Path = ROOT) -> list[Difference]:
    """List every line that names another address than `_config.yml` does.

    Raises: as `wanted_address` and `old_address`.
    """
    new, old = wanted_address(root), old_address(root)
    found = []
    for path in places(root):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            if (right := rewrite(line, old, new)) != line:
                found.append(Difference(path.relative_to(root), number, line, right))
    return found


def carry(root: Path = ROOT) -> list[Path]:
    """Write the address of `_config.yml` to every place, and return the files that changed.

    Raises: as `wanted_address` and `old_address`.
    """
    new, old = wanted_address(root), old_address(root)
    changed = []
    for path in places(root):
        text = path.read_bytes().decode("utf-8")  # bytes, so that line endings stay as they are
        if (right := rewrite(text, old, new)) != text:
            path.write_bytes(right.encode("utf-8"))
            changed.append(path.relative_to(root))
    return changed


def check(root: Path) -> int:
    """Print each line that differs; return 1 where there is one."""
    found = differences(root)
    for path, line, text, right in found:
        print(f"{path.as_posix()}:{line}: {text.strip()}\n    wanted: {right.strip()}")
    if found:
        print(f"address: {len(found)} lines differ from _config.yml; run `make address`")
        return 1
    print(f"address: every place names {wanted_address(root).url}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, list what differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this)")
    options = parser.parse_args(arguments)
    try:
        if options.check:
            return check(options.root)
        changed = carry(options.root)
    except AddressError as error:
        print(f"address: {error}", file=sys.stderr)
        return 2
    for path in changed:
        print(f"address: rewrote {path.as_posix()}")
    if not changed:
        print("address: nothing to do, every place agrees with _config.yml")
    if any(LECTURES in path.parents for path in changed):
        print("address: a lecture changed; run `make notebooks`, so that its notebook follows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
