"""Put the student notebooks on the branch `kit`, as a commit on top of what stands there.

    python3 teaching/kit/branch.py               # those that `make kit` wrote, to `origin`

The branch grows and is never forced, so that whoever pulled an earlier release can merge this one.
Beside Python itself only git is needed; what you have checked out stays as it is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KIT = Path(__file__).resolve().parents[2] / "_build" / "kit"
BRANCH, FOLDER = "refs/heads/kit", "students"  # where the badges of the copies lead
WHO = ("-c", "user.name=kit", "-c", "user.email=kit@localhost")


class GitError(Exception):
    """A command of git that failed; the message holds git's own."""


def git(*words: str, **env: str) -> str:
    command = ["git", *words]
    pipes = {"capture_output": True, "text": True, "encoding": "utf-8"}
    done = subprocess.run(command, env={**os.environ, **env}, check=False, **pipes)
    if done.returncode:
        raise GitError(done.stderr.strip())
    return done.stdout.strip()


def publish(kit: Path, remote: str, message: str) -> str:
    """Make the folder of the branch the kit's, in one commit; return the commit, '' for none.

    Raises: GitError where git refuses, for instance a push because the branch has moved.
    """
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}  # not the one of your checkout
        before = []
        if git("ls-remote", remote, BRANCH):
            git("fetch", "--quiet", "--no-tags", remote, BRANCH)
            before = [git("rev-parse", "FETCH_HEAD")]
            git("read-tree", *before, **index)
        # what is gone from the kit's folder goes, too
        git("--work-tree", str(kit.resolve()), "add", "--force", "--", FOLDER, **index)
        tree = git("write-tree", **index)
    if before and tree == git("rev-parse", f"{before[0]}^{{tree}}"):
        return ""
    parents = [word for one in before for word in ("-p", one)]
    commit = git(*WHO, "commit-tree", tree, *parents, "-m", message)
    git("push", "--quiet", remote, f"{commit}:{BRANCH}")
    return commit


def main() -> str | None:
    about, _, rest = (__doc__ or "").partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=about, epilog=rest, formatter_class=raw)
    parser.add_argument("kit", nargs="?", type=Path, default=KIT, help="what `make kit` wrote")
    parser.add_argument("--to", metavar="REMOTE", default="origin", help="a remote or its address")
    parser.add_argument("--message", default="Student notebooks", help="of the commit")
    options = parser.parse_args()
    copies = sorted((options.kit / FOLDER).rglob("*.ipynb"))
    if not copies:
        return f"branch: no notebook in {options.kit / FOLDER}; run `make kit` first"
    if nowhere := [path.name for path in copies if b"/OWNER/" in path.read_bytes()]:
        return (
            f"branch: {nowhere[0]} leads to OWNER, which is nobody; run `make address "
            "AT=https://github.com/YOU/REPO` with your own name for YOU, then `make kit`"
        )
    arguments = (options.kit, options.to, options.message)
    try:
        try:
            commit = publish(*arguments)
        except GitError:  # somebody else's commit came between: once more, on top of theirs
            commit = publish(*arguments)
    except GitError as error:
        return f"branch: git refused, and the branch kit is as it was:\n{error}"
    done = f"{len(copies)} notebooks in commit {commit[:9]}" if commit else "holds these already"
    print(f"branch: kit, {done}")
    return None


if __name__ == "__main__":
    # as attnlab._console does, which may not be installed: a pipe may be unable to spell ×
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
