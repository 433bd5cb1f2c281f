"""Which kinds of live picture need no browser today: those that are as they were when all passed.

`tried.json` has of each kind a digest of all that its pictures hang on. A kind that differs from
it goes through every place and through its own tests in the browser; so do the sentinels, always,
and all kinds where ATTNBOOK_EVERY is set, as weekly. A green run of this whole folder, outside CI,
writes the file anew; it is committed with the change.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from attnlab.widgets import kinds
from tests.passed import EVERY, MADE, ROOT

HERE = Path(__file__).parent
TRIED = HERE / "tried.json"
SENTINELS = {"heatmap", "roles", "unrolled"}  # a canvas, boxes to type in, a model
WIDGETS = Path(kinds.__file__).parent
# of all kinds: attention, what pictures share, stored models, drawings, and the scenarios
SHARED = (ROOT / "src" / "attnbook", WIDGETS / "core", WIDGETS / "parts", ROOT / "requirements.txt")
SHARED += (WIDGETS.parent / "models" / "stored", WIDGETS.parent / "pictures")
SHARED += tuple(HERE / f"{name}.py" for name in ("conftest", "examples", "pages", "test_places"))


def files(places: Iterable[Path]) -> list[Path]:
    inside = [path for place in places for path in (place, *sorted(place.rglob("*")))]
    return [path for path in inside if path.is_file() and not MADE & set(path.parts)]


def digest(kind: str) -> str:
    """Return a digest of what a kind's pictures hang on, the same on every system."""
    own = [WIDGETS / kinds.folder(kind)]
    own += [*WIDGETS.glob(f"chunks/{kind}.*"), HERE / f"test_{kind}.py"]
    found = hashlib.sha256()
    for path in files((*SHARED, *own)):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        found.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()[:16]


def digests() -> dict[str, str]:
    return {kind: digest(kind) for kind in kinds.KINDS}


def unchanged() -> set[str]:
    """Name the kinds that are as they were when all passed, but for the sentinels."""
    if os.environ.get(EVERY):
        return set()
    try:
        tried = json.loads(TRIED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {kind for kind, now in digests().items() if tried.get(kind) == now} - SENTINELS


def kind_of(item: pytest.Function, names: dict[int, str]) -> str:
    """Name the kind that a test in the browser is about; '' where it is about several, or none."""
    if "opened" not in item.fixturenames:
        return ""
    given = getattr(item, "callspec", None)
    for value in given.params.values() if given else ():
        if id(value) in names:
            return names[id(value)]
        if isinstance(value, str) and value in kinds.KINDS:
            return value
    stem = item.path.stem.removeprefix("test_")
    return getattr(item.module, "KIND", stem if stem in kinds.KINDS else "")


def whole(config: pytest.Config) -> bool:
    """Tell whether a run leaves out nothing of this folder but what is heavy or unchanged."""
    rooms = {(config.rootpath / arg).resolve() for arg in config.args}
    all_of_it = bool(rooms & {HERE, *HERE.parents})
    return all_of_it and not config.option.keyword and config.option.markexpr in ("", "not heavy")


def write() -> None:
    TRIED.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8", newline="\n")
