"""A kind that changed goes through the browser again, and one that did not is left out."""

import json
from pathlib import Path

import pytest

from tests.attnlab.widgets import tried
from tests.passed import EVERY


@pytest.fixture(autouse=True)
def by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EVERY, raising=False)


def test_all_but_sentinels_are_left_out_and_what_cannot_be_read_means_run(
    tmp_path: Path, monkeypatch
) -> None:
    file = tmp_path / "tried.json"
    monkeypatch.setattr(tried, "TRIED", file)
    assert tried.unchanged() == set()
    tried.write()
    every = set(tried.kinds.KINDS) - tried.SENTINELS
    assert tried.unchanged() == every
    file.write_text(json.dumps({**json.loads(file.read_text()), "heads": "another"}))
    assert tried.unchanged() == every - {"heads"}
    file.write_text("{")
    assert tried.unchanged() == set()
    tried.write()
    monkeypatch.setenv(EVERY, "1")
    assert tried.unchanged() == set()


def test_a_digest_hangs_on_the_kind_and_on_what_all_share(tmp_path: Path, monkeypatch) -> None:
    for name in ("ROOT", "WIDGETS", "HERE"):
        monkeypatch.setattr(tried, name, tmp_path)
    monkeypatch.setattr(tried.kinds, "folder", lambda kind: f"programs/{kind}")
    monkeypatch.setattr(tried, "SHARED", (tmp_path / "core", tmp_path / "examples.py"))
    own = (
        "programs/heads/widget.js",
        "programs/heads/view/style.css",
        "chunks/heads.js",
        "test_heads.py",
    )
    shared, other = ("core/view.js", "examples.py"), ("programs/beam/widget.js", "chunks/beam.js")
    for name in (*own, *shared, *other):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    first = tried.digest("heads")
    for name in (*own, *shared):
        (tmp_path / name).write_text("changed")
        assert tried.digest("heads") != first, name
        (tmp_path / name).write_text("")
    for name in other:
        (tmp_path / name).write_text("changed")
    assert tried.digest("heads") == first
