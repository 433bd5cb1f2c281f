"""What has passed as it is and need not run again: a key for each thing, kept in `_build/passed`.

A key is a digest of all that a result hangs on: the files, this Python and what is installed in it,
the processor's kind and the settings that imitate another. Whatever cannot be read means: run.
ATTNBOOK_EVERY=1 runs all, which the weekly run sets; a clean clone has no keys.
"""

import hashlib
import os
import platform
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "_build" / "passed"
EVERY = "ATTNBOOK_EVERY"
SETTINGS = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "ONEDNN_MAX_CPU_ISA")
PINS = ("requirements.txt", "pyproject.toml", "conftest.py")
# by others, from what is counted; tried.json is written of what passed
MADE = {"node_modules", "__pycache__", "tried.json"}


def key(*places: str, read: Callable[[str], str] | None = None) -> str:
    """Return a digest of the files at some places, and of what runs them."""
    found = hashlib.sha256(f"{sys.version} {platform.platform()} {processor()}".encode())
    found.update(repr([os.environ.get(name) for name in SETTINGS]).encode())
    found.update(installed().encode())
    for place in sorted({*places, *PINS}):
        found.update((read or contents)(place).encode())
    return found.hexdigest()


def contents(place: str) -> str:
    """Return a digest of a file, or of all files in a folder, with their names."""
    found, whole = hashlib.sha256(), ROOT / place
    for path in sorted(whole.rglob("*")) if whole.is_dir() else [whole]:
        if path.is_file() and not MADE & set(path.parts):
            found.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


@cache
def installed() -> str:
    """Name every package with its version: `make newest` changes them and no file."""
    return repr(sorted(f"{one.name} {one.version}" for one in distributions()))


def processor() -> str:
    """Name the processor's kind and instructions, as far as the system tells."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    return repr(sorted(set(re.findall(r"(?m)^(?:model name|flags)\s*: (.*)$", told))))


def before(name: str, now: str) -> bool:
    """Tell whether a thing of this name passed under this key."""
    if os.environ.get(EVERY):
        return False
    try:
        return (KEPT / name).read_text(encoding="utf-8") == now
    except (OSError, UnicodeDecodeError):
        return False


def keep(name: str, now: str) -> None:
    """Note that it passed under this key."""
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_text(now, encoding="utf-8")
