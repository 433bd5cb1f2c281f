"""Make the chunks from the JavaScript sources, by esbuild and terser.

``python -m attnlab.widgets.build`` does it. Only whoever changes the JavaScript needs Node. The
chunks are committed; the first lines of each hold the SHA-256 of its sources, and a test compares
it. What some kinds share and most pages do not need lies in ``parts/``, and in those kinds'
chunks. ``--check`` lints the sources, checks their types, runs their tests, and compares whole
chunks.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attnlab._console import any_letter
from attnlab.widgets.kinds import KINDS, folder

__all__ = ["CHUNKS", "COMMAND", "banner", "main", "make", "recorded_hash", "source_hash"]

HERE = Path(__file__).resolve().parent
CHUNKS = ("core", *KINDS)
COMMAND = "python -m attnlab.widgets.build"


def source_hash(chunk: str) -> str:
    """Return the SHA-256 of names and contents of a chunk's sources, line ends normalised."""
    digest = hashlib.sha256()
    own = sorted((HERE / folder(chunk)).rglob("*.js"))
    asked = "".join(path.read_text(encoding="utf-8") for path in own)
    parts = [part for part in sorted(HERE.glob("parts/*.js")) if f'../parts/{part.name}"' in asked]
    tools = [HERE / name for name in ("core/bundle.js", "package-lock.json", "package.json")]
    for path in [*own, *parts, *tools]:
        if not path.name.endswith(".test.js"):
            text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
            digest.update(f"{path.relative_to(HERE).as_posix()}\n{len(text)}\n{text}".encode())
    return digest.hexdigest()


def recorded_hash(text: str) -> str:
    """Return the hash in a chunk's banner, or an empty string where there is none."""
    found = re.search(r"^// sources: sha256-([0-9a-f]{64})$", text, flags=re.MULTILINE)
    return found.group(1) if found else ""


def banner(chunk: str) -> str:
    """Return the first lines of a chunk."""
    return (
        f"// Made from {chunk}/ by `{COMMAND}`; do not edit.\n"
        f"// sources: sha256-{source_hash(chunk)}\n"
    )


def make() -> dict[str, str]:
    """Return each chunk by its name, built by the tools in node_modules, which npm installs.

    Raises: RuntimeError where npm is missing, or npm or esbuild fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        run_npm("run", "--silent", "bundle", "--", folder)
        return {
            name: banner(name) + (Path(folder) / f"{name}.js").read_text(encoding="utf-8")
            for name in CHUNKS
        }


def run_npm(*command: str) -> None:
    """Run npm beside the sources, after it has installed what package-lock.json asks for.

    Raises: RuntimeError where npm is missing or fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm was not found: install Node.js 20 or newer to build the widgets")
    lock, kept = HERE / "package-lock.json", HERE / "node_modules" / ".attnbook-lock"
    if not kept.exists() or kept.read_bytes() != lock.read_bytes():
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        kept.write_bytes(lock.read_bytes())
    _run([npm, *command])


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the chunks; or with ``--check``, check the sources and compare the committed chunks."""
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    (HERE / "chunks").mkdir(exist_ok=True)
    try:
        if check:
            run_npm("run", "--silent", "check")
        made = make()
    except RuntimeError as error:
        print(error)
        return 1
    for name, text in made.items():
        file = HERE / "chunks" / f"{name}.js"
        if check and (not file.exists() or file.read_text(encoding="utf-8") != text):
            print(f"chunks/{name}.js differs from its sources: run {COMMAND}")
            return 1
        if not check:
            file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.encode()):,} bytes")
    return 0


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
