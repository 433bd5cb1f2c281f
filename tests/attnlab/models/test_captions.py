"""The translator of captions: the page's own weights, and a record whose commands can be run."""

import gzip
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from statistics import mean

import pytest

from attnlab.models import captions
from attnlab.models.stored.script import asset_bytes
from attnlab.translation import Recipe
from attnlab.translation.command import _parser
from attnlab.translation.model import build, parameters
from attnlab.translation.moses import lowered_tokens
from attnlab.translation.scoring import score
from attnlab.widgets import Translator
from book.extensions.attnbook_captions import reached
from experiments import multi30k
from tests.attnlab.translation.small import multi30k as small_corpus
from tests.attnlab.translation.small import naming
from tests.attnlab.translation.small import recipe as small_recipe

HANGS_ON = ("teaching/slides", "book/extensions")

ROOT = Path(__file__).resolve().parents[3]
MOST = 3_500_000  # bytes that a page loads


def test_a_caption_is_translated_greedily_and_by_a_beam() -> None:
    given = ["A man in a blue shirt is standing on a ladder.", ""]
    for beam in (1, 5):
        german, nothing = captions.translate(given, beam=beam)
        assert german == "Ein Mann in einem blauen Hemd steht auf einer Leiter."
        assert nothing == ""


def test_a_caption_may_name_control_tokens() -> None:
    named = naming("<pad>", "<bos>", "<eos>", "<unk>")
    given = ["A sign says <pad> on the wall.", *named]
    written = captions.translate(given, beam=1)
    assert written[0].startswith("Ein Schild")
    assert all(written)
    # the signs < and > are in no caption: to the model they are like another sign of this kind
    other = [text.replace("<", "⟨").replace(">", "⟩") for text in given]
    assert captions.translate(other, beam=1) == written
    assert 2 not in captions.load().tokenizer.encode("a <eos> dog").ids


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"sentences": "a man"}, "sentences must be a list of texts"),
        *(({"beam": beam}, f"beam must be .* at least 1: it is {beam}") for beam in (0, 1.5)),
    ],
)
def test_what_cannot_be_translated_is_refused(wrong: dict, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        captions.translate(**{"sentences": ["a man"], **wrong})


def test_the_weights_make_the_file_that_a_page_loads() -> None:
    stored = captions.load()
    packed = Path(str(captions.FOLDER / "captions.js"))
    assert packed.stat().st_size <= MOST
    again = Translator(
        stored.model, stored.tokenizer, lower=stored.lower, sentence="a dog", examples=[]
    )
    assert again.carried == asset_bytes(packed)
    assert not stored.model.training


def recipe_of(run: captions.Run) -> Recipe:
    """The recipe that a run's command asks for."""
    starter, options = run.command.split(" -m attnlab.translation ")
    assert starter in ("python", "torchrun --nproc_per_node 2")
    given = vars(_parser().parse_args(options.split()))
    return Recipe(**{name: given[name] for name in asdict(Recipe())})


def test_every_run_of_the_experiment_is_recorded_with_a_command_that_trains_it() -> None:
    found = captions.runs()
    assert [run.name for run in found] == list(multi30k.RUNS)
    assert {run.steps for run in found} == {8_000}
    long = captions.long_run()
    assert long.name == multi30k.LONG
    assert len(long.minutes) == len(long.curve)
    assert 55 < long.minutes[-1] <= 60
    trials = captions.trials()
    assert {name: len(some) for name, some in trials.items()} == {
        name: trial.seeds for name, trial in multi30k.TRIALS.items()
    }
    for run in [*found, long, *(one for some in trials.values() for one in some)]:
        recipe = recipe_of(run)
        assert recipe.model == run.model
        assert recipe.steps == run.steps or (run is long and recipe.steps > run.steps)
        assert run.pairs == 29_000 * recipe.share
        assert run.parameters == parameters(build(recipe, recipe.vocabulary))
        marks = [mark.step for mark in run.curve]
        assert marks == list(range(recipe.validate_every, run.steps + 1, recipe.validate_every))


def test_the_programs_recipe_is_that_of_the_pages_weights() -> None:
    assert recipe_of(captions.page_run()) == Recipe(lower="source", validate_every=2_000)


def test_rounding_costs_less_than_a_third_of_a_point() -> None:
    page, rounded = captions.page_run().validation, captions.rounded_scores()
    for kind in ("cased", "tokens"):
        assert abs(rounded[kind] - page[kind]) <= 0.3


def test_what_the_book_says_of_the_runs() -> None:
    """Lectures 3 and 11 and the page of the program read these rows so."""
    found = captions.runs()
    by_name = {run.name: run for run in found}
    tokens = {name: run.test["tokens"] for name, run in by_name.items()}
    seeds = [tokens["Transformer"]] + [
        tokens[f"Transformer, {which}"] for which in ("seed 1", "seed 2")
    ]
    gru, half = tokens["GRU with attention"], tokens["Transformer, half of the pairs"]
    assert half < gru < min(seeds)
    assert tokens["Transformer, a quarter"] < half
    assert gru >= 33
    assert max(seeds) - min(seeds) < min(seeds) - gru
    long = captions.long_run()
    assert long.steps > 3 * 8_000
    assert 0 < long.test["tokens"] - max(seeds) < 1
    assert long.test["tokens"] < 41.02  # the published mark
    after = reached(long)
    assert max(after) == 39
    assert after[38] < 20 < 30 < after[39]
    assert max(mark.tokens for mark in long.curve) < 40 < long.validation["cased"]
    (longer,), pieces, (halved,), published = captions.trials().values()
    assert -0.3 < halved.test["tokens"] - half < 0.1
    tests = [run.test["tokens"] for run in published]
    assert f"{mean(tests):.1f}" == "39.9"
    assert max(tests) - min(tests) == pytest.approx(1.1, abs=0.05)
    assert min(tests) < max(run.test["tokens"] for run in pieces)
    assert min(run.test["tokens"] for run in pieces) < max(tests)
    for some in (pieces, published):
        last, first = (
            by(some, key=lambda run, kind=kind: getattr(run, kind)["tokens"])
            for by, kind in ((min, "validation"), (max, "test"))
        )
        assert last is first
    others = [*found[:3], longer, *pieces, halved]
    assert min(run.validation["tokens"] for run in published) > max(
        run.validation["tokens"] for run in others
    )
    for kind, gained, brought in (("validation", 2, (0.3, 0.5)), ("test", 1, (1, 2))):
        plain, eight, ten = (
            [getattr(run, kind)["tokens"] for run in some]
            for some in (found[:3], pieces, published)
        )
        assert mean(ten) - mean(plain) == pytest.approx(gained, abs=0.25)
        assert abs(getattr(longer, kind)["tokens"] - mean(plain)) < 0.25
        assert mean(eight) - mean(plain) == pytest.approx(1, abs=0.3)
        assert min(eight) > max(plain)
        low, high = brought
        assert low < (mean(eight) - mean(plain)) / (mean(ten) - mean(plain)) < high
    assert long.parameters / 2.6e6 == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize(
    ("lecture", "title", "count"),
    [
        ("11-transformer", "What is the text worth?", 4),
    ],
)
def test_the_slides_have_the_records_numbers(lecture: str, title: str, count: int) -> None:
    slides = (ROOT / "teaching" / "slides" / f"{lecture}.md").read_text(encoding="utf-8")
    (slide,) = (one for one in slides.split("\n---\n") if f" {title}\n" in one)
    told = re.findall(r"\d\d\.\d", slide.partition(title)[2])
    assert len(told) == count
    assert set(told) <= {f"{run.test['tokens']:.1f}" for run in captions.runs()}


@pytest.mark.heavy
def test_the_experiment_records_a_run_and_the_pages_weights(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    data = small_corpus(tmp_path / "data")
    for side, other in (("en", "en"), ("fr", "de")):
        lines = (data / f"val.{side}").read_text(encoding="utf-8")
        (tmp_path / f"{multi30k.TEST}.{other}").write_text(lines, encoding="utf-8")
        tokens = "".join(lowered_tokens(one, "en") + "\n" for one in lines.splitlines())
        (tmp_path / f"{multi30k.TEST}.lc.norm.tok.{other}").write_text(tokens, encoding="utf-8")
    words = [f"--{k.replace('_', '-')}={v}" for k, v in asdict(small_recipe()).items()]
    monkeypatch.setattr(multi30k, "RUNS", {"a run": (*words, "--model=transformer")})
    monkeypatch.setattr(multi30k, "HOME", tmp_path)
    monkeypatch.setattr(multi30k, "PAGE", "a run")
    monkeypatch.setattr(multi30k, "LONG", "a long run")
    monkeypatch.setattr(multi30k, "LONG_OPTIONS", (*words, "--model=gru"))
    trial = multi30k.Trial(" ".join(words), seeds=2, tokens=True)
    monkeypatch.setattr(multi30k, "TRIALS", {"a trial": trial})
    options = ["--data", data, "--test", tmp_path, "--runs", tmp_path / "runs"]
    monkeypatch.setattr("sys.argv", ["multi30k", *map(str, options)])
    with pytest.raises(SystemExit):
        multi30k.main()
    assert "--tokens must be a folder" in capsys.readouterr().err
    options += ["--tokens", data]
    monkeypatch.setattr("sys.argv", ["multi30k", *map(str, options)])
    multi30k.main()
    found = json.loads((tmp_path / "runs.json").read_text(encoding="utf-8"))
    (run,), (long,), trials = found["runs"], found["long"], found["trials"]
    assert [one["name"] for one in trials] == ["a trial, seed 0", "a trial, seed 1"]
    assert trials[1]["command"] == f"{trials[0]['command']} --seed 1"
    assert trials[0]["command"].startswith("python -m attnlab.translation --data TOKENS ")
    assert [len(one["minutes"]) for one in trials] == [1, 1]
    paces = [3.0] * 5 + [1.0] * 5
    log = [{"step": 50 * k + 50, "seconds": 50 * sum(paces[: k + 1])} for k in range(10)]
    assert multi30k.quiet_minutes(log) == pytest.approx(500 / 60)
    assert [set(one["test"]) for one in trials] == [{"tokens"}] * 2
    assert run["command"].startswith("python -m ")
    assert long["command"].startswith("torchrun --nproc_per_node 2 -m ")
    assert (long["model"], len(long["minutes"]), run["minutes"]) == ("gru", 2, [])
    assert [mark[0] for mark in run["curve"]] == [6, 12]
    assert set(run["test"]) == {"cased", "tokens"} == set(found["rounded"])
    assert found["page"] == "a run"
    assert (tmp_path / "captions.js").stat().st_size > 1_000


@pytest.mark.heavy
@pytest.mark.skipif("ATTNBOOK_MULTI30K" not in os.environ, reason="needs your copy of Multi30k")
def test_the_stored_weights_have_their_score_on_validation() -> None:
    folder = Path(os.environ["ATTNBOOK_MULTI30K"])
    english, german = (
        gzip.decompress((folder / f"val.{side}.gz").read_bytes()).decode().splitlines()
        for side in ("en", "de")
    )
    found = score(captions.translate(english), german, "de")
    assert found.cased == pytest.approx(captions.rounded_scores()["cased"], abs=0.1)
    assert found.tokens == pytest.approx(captions.rounded_scores()["tokens"], abs=0.1)
