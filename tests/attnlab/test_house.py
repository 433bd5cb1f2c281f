"""The rooms of the lab: which may stand on which, and what says that a package is missing."""

import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import attnbook
import attnlab
from benchmarks import house
from tests.attnbook.test_house import imported

HANGS_ON = ("benchmarks",)

HOUSE = Path(attnlab.__file__).parent
FOLDERS = sorted(path.parent.name for path in HOUSE.glob("*/__init__.py"))


def stands_on(folder: Path) -> set[str]:
    """Return the packages, and of the lab the folders, that a folder's files import."""
    names = set().union(*(imported(path) for path in folder.rglob("*.py")))
    parts = [name.split(".") for name in names]
    return {two[1] if two[0] == "attnlab" and len(two) > 1 else two[0] for two in parts}


def test_no_room_stands_on_one_that_stands_on_it_nor_attention_on_the_lab() -> None:
    assert "attnlab" not in stands_on(Path(attnbook.__file__).parent)
    outside = {"book", "teaching", "experiments", "benchmarks", "tests", "tasks"}
    assert outside.isdisjoint(stands_on(HOUSE))
    arrows = {name: stands_on(HOUSE / name) & set(FOLDERS) - {name} for name in FOLDERS}
    assert list(TopologicalSorter(arrows).static_order())  # raises CycleError for a circle


MISSING = {
    "import attnlab.pictures": "matplotlib",
    "import attnlab.pictures.arcs": "spacy",
    "from attnlab.widgets import AttentionHeatmap": "anywidget",
}
HIDE = f"""
import sys
for code, missing in {MISSING}.items():
    sys.modules[missing] = None
    try:
        exec(code)
    except ImportError as error:
        print(error)
    del sys.modules[missing]
"""


def test_what_is_missing_is_named_with_what_brings_it() -> None:
    done = subprocess.run([sys.executable, "-c", HIDE], capture_output=True, text=True, check=True)
    for told, missing in zip(done.stdout.splitlines(), MISSING.values(), strict=True):
        assert missing in told
        assert 'pip install "attnlab"' in told


def test_a_room_above_its_ceiling_is_named_with_the_file_that_grew_most(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@localhost"]

    def commit(**files: int) -> None:
        for name, lines in files.items():
            (tmp_path / "experiments" / f"{name}.py").write_text("a\n" * lines)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "-c", "commit.gpgsign=false", "commit", "-qm", "x"], check=True)

    for folder in ("benchmarks", "experiments", "src/attnbook"):
        (tmp_path / folder).mkdir(parents=True)
    subprocess.run([*git, "init", "-q"], check=True)
    ceilings = tmp_path / "benchmarks" / "house.json"
    rooms = {name: 100 if name == "experiments" else 0 for name in house.rooms(tmp_path)}
    ceilings.write_text(json.dumps(rooms))
    commit(large=80, small=10)
    assert house.above(tmp_path, ceilings) == []
    commit(large=81, small=20)
    words = "experiments: 101 lines, its ceiling is 100; most grew experiments/small.py, by 10"
    assert house.above(tmp_path, ceilings) == [words]
    ceilings.write_text(json.dumps({**rooms, "cellar": 1}))
    assert "cellar" in house.above(tmp_path, ceilings)[0]
