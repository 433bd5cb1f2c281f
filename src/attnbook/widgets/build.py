"""Make the bundles from the JavaScript sources, by esbuild and terser.

`python -m attnbook.widgets.build` does it. Only whoever changes the JavaScript needs Node. The
bundles are committed; their first lines hold the SHA-256 of the sources, and a test compares it.
`--check` compares the whole bundles.
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

__all__ = ["banner", "main", "make", "recorded_hash", "source_hash"]

HERE = Path(__file__).resolve().parent
ENTRIES = {"bundle.js": "index", "bundle-transformers.js": "transformers"}


def source_hash() -> str:
    """Return the SHA-256 of names and contents of all sources, line ends normalised."""
    digest = hashlib.sha256()
    for path in _sources():
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        digest.update(f"{path.name}\n{len(text)}\n{text}".encode())
    return digest.hexdigest()


def recorded_hash(text: str) -> str:
    """Return the hash in a bundle's banner, or an empty string where there is none."""
    found = re.search(r"^// sources: sha256-([0-9a-f]{64})$", text, flags=re.MULTILINE)
    return found.group(1) if found else ""


def banner() -> str:
    """Return the bundle's first lines."""
    return (
        "// Made from js/ by `python -m attnbook.widgets.build`; do not edit.\n"
        f"// sources: sha256-{source_hash()}\n"
    )


def make() -> dict[str, str]:
    """Return each bundle by its file's name, built in a folder that no node_modules outlive.

    Raises:
        RuntimeError: npm is missing, or npm or esbuild fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm was not found: install Node.js 18 or newer to build the widgets")
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, place / name)
        shutil.copytree(HERE / "js", place / "js")
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], place)
        for name, entry in ENTRIES.items():
            # npm hands such options on to its script in the environment
            _run([npm, "run", "--silent", "bundle", f"--entry={entry}", f"--output={name}"], place)
            made[name] = banner() + (place / name).read_text(encoding="utf-8")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the bundles, or with `--check` compare them with the committed ones."""
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    for name, text in make().items():
        file = HERE / name
        if check and (not file.exists() or file.read_text(encoding="utf-8") != text):
            print(f"{name} differs from its sources: run python -m attnbook.widgets.build")
            return 1
        if not check:
            file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.encode()):,} bytes")
    return 0


def _sources() -> list[Path]:
    lock = [HERE / "package-lock.json", HERE / "package.json"]
    return sorted((HERE / "js").glob("*.js")) + lock


def _run(command: list[str], place: Path) -> None:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
