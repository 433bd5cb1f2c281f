"""Write the repository's address wherever the old one stands.

The address is `repository` of `_config.yml`, which `--at` sets. The old one is the line
`Repository = "…"` of pyproject.toml, which is written last: a run that was interrupted can be run
again. `--check` lists the lines that differ and writes nothing. Notebooks follow from their
lectures: `make address` brings them, too, and executes nothing.
"""

import argparse
import re
import sys
from pathlib import Path

import yaml

from attnlab._console import any_letter

ROOT = Path(__file__).resolve().parents[2]
PLACES = (
    "*.md",
    "CITATION.cff",
    "_config.yml",
    "book/**/*.md",
    ".github/**/*.yml",
    "src/attnlab/pyproject.toml",
    "pyproject.toml",
)
PAIR = r"([A-Za-z\d](?:[A-Za-z\d-]{0,37}[A-Za-z\d])?)/([\w.-]*\w)(?<!\.git)"
URL = rf"https://github\.com/{PAIR}"
# a branch, but no release and no commit: a link to one of those is meant as it stands
BRANCH = r"(?!v\d|[\da-f]{40}(?![\w.-]))[\w-]+(?:\.[\w-]+)*"
# an address as somebody copies it: from the browser, from git, with a branch
GIVEN = rf"(?:https://github\.com/|git@github\.com:){PAIR}(?:\.git)?/?(?:(?:@|/tree/)({BRANCH}))?"
PLACEHOLDER = "https://github.com/OWNER/attention-worked-out"
CONFIGURED = r"(?m)^(repository:\r?\n  url: )\S*(\r?\n  branch: )(\S*)"


def given(option: str, text: str, nobody: tuple[str, ...] = ()) -> tuple[str, str, str]:
    """Return owner, repository and branch ("" for none) of an address that somebody typed."""
    found = re.fullmatch(GIVEN, text)
    if not found or found[1] in nobody:
        sys.exit(
            f"address: {option} is {text!r}; wanted https://github.com/YOU/REPO, as the browser "
            "shows it, with your own name for YOU, and @BRANCH after it where that changes "
            "(not a tag or a commit)"
        )
    owner, repo, branch = found.groups(default="")
    return owner, repo, branch


def configure(root: Path, owner: str, repo: str, branch: str) -> None:
    """Write an address into `_config.yml`; without a branch, the one that stands there stays."""
    path = root / "_config.yml"
    text = path.read_bytes().decode()
    url = f"https://github.com/{owner}/{repo}"
    text, found = re.subn(CONFIGURED, lambda m: m[1] + url + m[2] + (branch or m[3]), text)
    if found != 1:
        sys.exit("_config.yml: wanted once the lines repository:, url: …, branch: …, in this order")
    path.write_bytes(text.encode())


def addresses(root: Path) -> tuple[tuple[str, str], tuple[str, str], str]:
    """Return owner and repository as they stand and as they are wanted, and the wanted branch."""
    wanted = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]
    url, branch = str(wanted.get("url", "")), str(wanted.get("branch", ""))
    if not (new := re.fullmatch(URL, url)):
        sys.exit(
            f"_config.yml: repository.url is {url!r}; wanted https://github.com/OWNER/REPO, "
            "with no slash and no .git at its end"
        )
    if not re.fullmatch(BRANCH, branch):
        sys.exit(
            f"_config.yml: repository.branch is {branch!r}; wanted the name of a branch such as "
            "main: letters, digits, and - _ . inside it; not a tag or a commit"
        )
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r'^Repository = "([^"\n]*)"\s*$', text, re.M)
    if len(lines) != 1 or not (old := re.fullmatch(URL, lines[0])):
        sys.exit(
            f"pyproject.toml: the lines Repository = … under [project.urls] hold {lines}; "
            f'wanted one, Repository = "{PLACEHOLDER}" or your own address'
        )
    return old.groups(), new.groups(), branch


def rewrite(text: str, old: tuple[str, str], new: tuple[str, str], branch: str) -> str:
    for owner, repo in (old, new):  # the new one too, for another branch
        site = rf"(?<![\w.-]){owner}(\.github\.io)?/{re.escape(repo)}(?![\w-]|\.(?!git\b)\w)"
        text = re.sub(site, rf"{new[0]}\1/{new[1]}", text)
    here = rf"github(?:\.com)?/{new[0]}/{re.escape(new[1])}"
    text = re.sub(
        rf"({here}(?:\.git@|@|/(?:blob|tree|edit|raw)/)){BRANCH}", rf"\g<1>{branch}", text
    )
    raw = here.replace("github(?:", "raw.githubusercontent(?:")
    return re.sub(rf"({raw}/){BRANCH}", rf"\g<1>{branch}", text)


def main(root: Path = ROOT, *, check: bool = False, at: str = "", source: str = "") -> int:
    """Carry the address on; ``at`` sets it first, ``source`` is one more that gives way to it."""
    came = [given("FROM", source)[:2]] if source else []
    if at:
        configure(root, *given("AT", at, ("YOU", "OWNER")))
    old, new, branch = addresses(root)
    wrong = []
    for path in [path for place in PLACES for path in sorted(root.glob(place))]:
        text = right = path.read_bytes().decode()  # bytes, so that line endings stay as they are
        for one in (old, *came):
            right = rewrite(right, one, new, branch)
        name = path.relative_to(root).as_posix()
        pairs = enumerate(zip(text.splitlines(), right.splitlines(), strict=True), start=1)
        wrong += [
            f"{name}:{i}: {a.strip()}\n    wanted: {b.strip()}" for i, (a, b) in pairs if a != b
        ]
        if not check:
            path.write_bytes(right.encode())
    print(*wrong, f"address: {len(wrong)} lines {'differ' if check else 'rewritten'}", sep="\n")
    return int(check and bool(wrong))


if __name__ == "__main__":
    any_letter()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at", default="", help="https://github.com/YOU/REPO, or with @BRANCH")
    parser.add_argument("--from", dest="source", default="", help="where merged changes came from")
    parser.add_argument("--check", action="store_true", help="list what differs, write nothing")
    sys.exit(main(**vars(parser.parse_args())))
