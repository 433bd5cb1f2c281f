"""The tables over seeds: made by the code as it is, and found again by training one model anew."""

import importlib
import json
from pathlib import Path

import pytest

from attnbook.models.recurrent import CACHE
from attnbook.models.results import names, read, spread
from experiments.harness import SEEDS, file_of, is_current

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    path for path in (ROOT / "experiments").glob("*.py") if path.name not in ("harness.py",)
)


def test_every_table_has_its_script() -> None:
    assert names() == [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_table_was_made_by_the_code_as_it_is(script: Path) -> None:
    assert is_current(script), f"run `python tasks.py experiments`: {script.stem} has changed"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_table_holds_every_model_and_seed(script: Path) -> None:
    module = importlib.import_module(f"experiments.{script.stem}")
    assert list(read(script.stem)) == list(module.MODELS)
    assert json.loads(file_of(script).read_text("utf-8"))["seeds"] == list(SEEDS)
    for measures in read(script.stem).values():
        assert {len(numbers) for numbers in measures.values()} == {len(SEEDS)}


@pytest.mark.heavy
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_one_model_trained_anew_gives_its_row_again(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another processor rounds otherwise, and ends elsewhere, as another seed does."""
    monkeypatch.delenv(CACHE, raising=False)
    module = importlib.import_module(f"experiments.{script.stem}")
    name, seed = module.AGAIN
    found, table = module.measure(seed, **module.MODELS[name]), read(script.stem)[name]
    assert list(found) == list(table)
    for key, allowed in module.TOLERANCE.items():
        stored = table[key][SEEDS.index(seed)]
        assert abs(found[key] - stored) <= allowed, (name, key, found[key], stored)


def test_spread_is_mean_and_range() -> None:
    assert spread([0.5, 0.75, 1.0]) == "0.75 (0.50–1.00)"
    assert spread([3], digits=0) == "3 (3–3)"
