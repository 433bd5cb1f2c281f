"""The page about publishing: its commands lead from an empty repository to badges that open.

They are run as they stand, with no network: GitHub's repositories are bare ones on this machine,
what would install packages installs none, and the kit is that of one lecture.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from teaching.kit.__main__ import place
from tests.book.lectures import EVERY, ROOT, code, load, read
from tests.patience import PROCESS

address = load(ROOT / "book" / "tools" / "address.py")
head = load(ROOT / "book" / "extensions" / "attnbook_head.py")
PAGE = (ROOT / "book" / "teaching" / "publish.md").read_text(encoding="utf-8")
BLOCKS = [b for b in re.findall(r"(?ms)^ *```sh\n(.*?)^ *```", PAGE) if "pip install" not in b]
BOOK = "attention-worked-out"
NAME = "05-self-attention"
PYTHON = f"""#!/bin/sh
case "$*" in
  "-m pip "*) exit 0 ;;
  "-m teaching.kit"*) set -- "$@" 05 ;;
esac
exec '{sys.executable}' "$@"
"""
# the folder is there only once it is cloned
MAKE = 'make() { [ -d .venv ] || cp -r ../venv .venv; command make "$@"; }'
pytestmark = [  # by day: test_address, test_branch and test_kit_copies, each step alone
    pytest.mark.heavy,
    pytest.mark.skipif(os.name == "nt", reason="the page's commands are a POSIX shell's"),
]


class Desk:
    """An empty folder, and what stands on GitHub: the book, and nothing of ada's yet."""

    def __init__(self, home: Path) -> None:
        self.home, self.clone = home, home / "attention"
        self.theirs, self.mine = home / "theirs", home / "mine"
        _, pair, self.branch = address.addresses(ROOT)
        settings = {
            f"url.{self.theirs.as_uri()}.insteadOf": f"https://github.com/{'/'.join(pair)}",
            f"url.{self.mine.as_uri()}.insteadOf": f"https://github.com/ada/{BOOK}",
            "user.name": "ada", "user.email": "ada@localhost", "safe.directory": "*",
        }  # fmt: skip
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.env |= {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_CONFIG_GLOBAL": os.devnull}
        for number, (key, value) in enumerate(settings.items()):
            self.env[f"GIT_CONFIG_KEY_{number}"] = key
            self.env[f"GIT_CONFIG_VALUE_{number}"] = value
        self.env["PYTHONPATH"] = os.pathsep.join([str(self.clone / "src"), str(self.clone)])
        python = home / "venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(PYTHON)
        python.chmod(0o755)
        for bare in (self.theirs, self.mine):
            self.run(f"git init -q --bare -b {self.branch} '{bare}'")
        git = f"git --git-dir='{self.theirs}' --work-tree='{ROOT}'"  # uncommitted work, too
        not_ours = "rm -rq --cached --ignore-unmatch .venv src/attnlab/widgets/node_modules"
        self.run(f"{git} add -A && {git} {not_ours} && {git} commit -qm Book")

    def run(self, script: str, where: Path | None = None) -> str:
        command = ["bash", "-ec", f"{MAKE}\n{script}"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        place = {"cwd": where or self.home, "env": self.env, "timeout": PROCESS}
        done = subprocess.run(command, check=False, **pipes, **place)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def page(self, block: str) -> str:
        """Run commands of the page where its reader stands by then."""
        where = self.clone if self.clone.exists() else self.home
        return self.run(block.replace("YOU", "ada"), where)

    def opens(self, link: str) -> bool:
        """Say whether ada's repository has what an address on GitHub or in Colab names."""
        found = re.search(rf"github(?:\.com)?/ada/{BOOK}/blob/([^/]+)/([\w./-]+)", link)
        return bool(found and self.run(f"git cat-file -e {found[1]}:{found[2]} && echo", self.mine))

    def badge(self) -> str:
        cell = read(self.clone / "_build" / "kit" / "students" / f"{NAME}.ipynb").cells[0].source
        return re.search(r"\]\((https://colab\S+)\)", cell)[1]


def test_the_commands_of_the_page_lead_from_an_empty_repository_to_a_course(tmp_path) -> None:
    first, merge, kit, elsewhere = BLOCKS
    desk = Desk(tmp_path)
    said = desk.page(first)
    assert "executing" not in said
    assert f"{len(EVERY)} written" in said
    assert head.unaddressed(desk.clone) == []
    assert address.addresses(desk.clone)[1] == ("ada", BOOK)
    for path in EVERY:
        mine, theirs = code(read(desk.clone / path.relative_to(ROOT))), code(read(path))
        assert f"git+https://github.com/ada/{BOOK}@{desk.branch}" in mine[0].source
        assert [cell.outputs for cell in mine] == [cell.outputs for cell in theirs]
        assert mine[1:] == theirs[1:]
    page, readme = desk.clone / "book/teaching/publish.md", desk.clone / "README.md"
    links = re.findall(r"https://\S*/blob/[\w./-]+", page.read_text(encoding="utf-8"))
    links += re.findall(r"https://colab\S+ipynb", readme.read_text(encoding="utf-8"))
    assert len(links) == 2
    assert [link for link in links if not desk.opens(link)] == []

    _, pair, _ = address.addresses(ROOT)
    link = "See https://github.com/{}/issues.\n".format
    desk.run(f"git clone -q '{desk.theirs}' up")
    (tmp_path / "up/book/new.md").write_text(link("/".join(pair)))
    desk.run("git add book && git commit -qm New && git push -q", tmp_path / "up")
    said = desk.page(merge)
    assert "executing" not in said
    assert (desk.clone / "book/new.md").read_text() == link(f"ada/{BOOK}")

    assert not desk.run("git branch --list kit", desk.mine)
    assert "1 notebooks in commit" in desk.page(kit)
    assert desk.opens(desk.badge())
    assert place(elsewhere.split("AT=")[1].strip()) == "YOU/notes/blob/main/lectures"
