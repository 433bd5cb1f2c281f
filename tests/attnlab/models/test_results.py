"""The tables over seeds: they hold as long as the models behave as they did, whatever the code."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from attnbook import layers, rnn
from attnlab.models import classifier, tasks
from attnlab.models.recipe import CACHE
from attnlab.models.results import names, read, spread
from attnlab.training import metrics
from experiments.harness import RENEW, file_of, seeds_of, stale

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted(
    path for path in (ROOT / "experiments").glob("*.py") if "\nMODELS" in path.read_text("utf-8")
)
# of each table a model or two, which say enough where the whole takes too long
FEW = {path.stem: list(read(path.stem))[:1] for path in SCRIPTS}
FEW["transformer"] = ["300 steps", "Bahdanau, 1,500 steps"]
each_table = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def test_every_table_has_its_script() -> None:
    assert names() == [path.stem for path in SCRIPTS]


def of_each_kind(script: Path) -> list[str]:
    """Return of a table's models that differ in numbers alone (steps, sizes, rates) the first."""
    kinds: dict[frozenset, str] = {}
    for name, settings in importlib.import_module(f"experiments.{script.stem}").MODELS.items():
        others = {(k, str(v)) for k, v in settings.items() if isinstance(v, bool | str | None)}
        kinds.setdefault(frozenset(others), name)
    return list(kinds.values())


@pytest.mark.parametrize("models", [of_each_kind, pytest.param(None, marks=pytest.mark.heavy)])
@each_table
def test_the_models_behave_as_when_the_table_was_made(script, models) -> None:
    assert stale(script, models and models(script)) == ""


@each_table
def test_table_holds_every_model_and_seed(script: Path) -> None:
    module = importlib.import_module(f"experiments.{script.stem}")
    assert list(read(script.stem)) == list(module.MODELS)
    assert json.loads(file_of(script).read_text("utf-8"))["seeds"] == list(seeds_of(module))
    for measures in read(script.stem).values():
        assert {len(numbers) for numbers in measures.values()} == {len(seeds_of(module))}


@pytest.mark.heavy
@each_table
def test_one_model_trained_anew_gives_its_row_again(script, monkeypatch) -> None:
    """Another processor rounds otherwise, and ends elsewhere, as another seed does."""
    monkeypatch.delenv(CACHE, raising=False)
    module = importlib.import_module(f"experiments.{script.stem}")
    name, seed = module.AGAIN
    found, table = module.measure(seed, **module.MODELS[name]), read(script.stem)[name]
    assert list(found) == list(table)
    for key, allowed in module.TOLERANCE.items():
        stored = table[key][seeds_of(module).index(seed)]
        assert abs(found[key] - stored) <= allowed, (name, key, found[key], stored)


def scaled(kind: type[nn.Module]) -> Callable[..., None]:
    """Return an ``__init__`` of the class that ends with weights of thrice the size."""
    before = kind.__init__

    def begin(self: nn.Module, *arguments: object, **options: object) -> None:
        before(self, *arguments, **options)
        with torch.no_grad():
            for weight in self.parameters():
                weight *= 3

    return begin


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (rnn.RNNEncoder, ["attention", "beams", "bottleneck", "scores", "transformer"]),
        (layers.FeedForward, ["lengths", "masked", "norms", "positions", "transformer", "tying"]),
        (classifier.BiLSTMClassifier, ["features"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_other_first_weights_make_the_right_tables_stale(kind, wanted, monkeypatch) -> None:
    monkeypatch.setattr(kind, "__init__", scaled(kind))
    models = {**FEW, "features": ["bi-LSTM, 10 examples"]}
    found = {path.stem: stale(path, models[path.stem]) for path in SCRIPTS}
    assert [name for name, message in found.items() if message] == wanted
    for name in wanted:
        assert f"the table {name} is stale (" in found[name]
        assert "loss of step 1: was " in found[name]
        assert found[name].endswith(f"): {RENEW}")


ATTENTION = ROOT / "experiments" / "attention.py"


def test_another_measure_makes_its_table_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    before = metrics.perplexity
    monkeypatch.setattr(metrics, "perplexity", lambda *some: before(*some) / 2)
    assert "Bahdanau, teacher-forced perplexity: was" in stale(ATTENTION, ["2,000 pairs, Bahdanau"])


def test_other_data_make_their_table_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tasks.translation()
    monkeypatch.setattr(tasks, "_translation", lambda: whole._replace(test=whole.test[:-1]))
    assert "the table attention is stale (the data are others)" in stale(ATTENTION, [])


def test_another_rate_in_late_steps_makes_a_table_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = ROOT / "experiments" / "norms.py"
    monkeypatch.setattr("attnlab.models.recipe.warmup_cosine", lambda warmup, steps: lambda s: 1.0)
    assert "norms is stale" in stale(changed, ["pre, no warm-up"])


def test_a_table_that_is_not_there_is_stale_and_spread_is_mean_and_range(tmp_path: Path) -> None:
    script = tmp_path / "new.py"
    script.write_text("MODELS = {}")
    assert stale(script) == f"the table new is stale (there is no table yet): {RENEW}"
    assert spread([0.5, 0.75, 1.0]) == "0.75 (0.50–1.00)"
    assert spread([3], digits=0) == "3 (3–3)"
