"""Write the repository's address, `repository` of `_config.yml`, wherever the old one stands.

`--check` lists the lines that differ instead. The old address is the line `Repository = "…"` of
pyproject.toml, which is written last: a run that was interrupted can be run again.
"""

import re
import sys
from pathlib import Path

import yaml

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
URL = r"https://github\.com/([A-Za-z\d](?:[A-Za-z\d-]{0,37}[A-Za-z\d])?)/([\w.-]*\w)(?<!\.git)"
# a branch, but no release and no commit: a link to one of those is meant as it stands
BRANCH = r"(?!v\d|[\da-f]{40}(?![\w.-]))[\w-]+(?:\.[\w-]+)*"
PLACEHOLDER = "https://github.com/OWNER/attention-worked-out"


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


def main(root: Path = ROOT, check: bool = False) -> int:
    old, new, branch = addresses(root)
    wrong = []
    for path in [path for place in PLACES for path in sorted(root.glob(place))]:
        text = path.read_bytes().decode()  # bytes, so that line endings stay as they are
        right = rewrite(text, old, new, branch)
        name = path.relative_to(root).as_posix()
        pairs = enumerate(zip(text.splitlines(), right.splitlines(), strict=True), start=1)
        wrong += [
            f"{name}:{i}: {a.strip()}\n    wanted: {b.strip()}" for i, (a, b) in pairs if a != b
        ]
        if not check:
            path.write_bytes(right.encode())
    print(*wrong, f"address: {len(wrong)} lines {'differ' if check else 'rewritten'}", sep="\n")
    if wrong and any(line.startswith("book/lectures/") for line in wrong):
        print("address: a lecture names it; run `make notebooks`, so that its notebook follows")
    return int(check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
