"""Train the translators of Multi30k, score them, and write the record and the page's weights.

    python -m experiments.multi30k --data FOLDER --test FOLDER --runs FOLDER

``--data`` holds train.en, train.de, val.en and val.de, or .gz, ``--tokens`` the same in the
release's lower-cased tokens; ``--test`` test_2016_flickr.en and .de, and of both the release's
tokens, test_2016_flickr.lc.norm.tok.en and .de. Each run lies in a folder of ``--runs``; one that
is finished there, trained on however many processes, is taken as it is. All recipes are alike but
for what the name says, and were chosen on validation. A run takes one core half an hour, some an
hour and more, the long one both of a machine for an hour; ``--only`` names some.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import torch

from attnlab._console import any_letter
from attnlab.models import captions
from attnlab.models.stored import rounded
from attnlab.translation.command import in_words
from attnlab.translation.corpus import read_text
from attnlab.translation.journal import read_log
from attnlab.translation.model import parameters
from attnlab.translation.saved import Saved, load
from attnlab.translation.score import read, scores
from attnlab.translation.scoring import score, translate
from attnlab.widgets import Translator

HOME = Path(captions.__file__).parent
COMMON = ("--lower", "source")
FIRST = ("--vocabulary", "4000", "--dropout", "0.2", "--cooldown", "0")  # what is compared
RUNS: dict[str, tuple[str, ...]] = {
    "Transformer": ("--steps", "8000"),
    "Transformer, seed 1": ("--steps", "8000", "--seed", "1"),
    "Transformer, seed 2": ("--steps", "8000", "--seed", "2"),
    "Transformer, half of the pairs": ("--steps", "8000", "--share", "0.5"),
    "Transformer, a quarter": ("--steps", "8000", "--share", "0.25"),
    "GRU with attention": ("--steps", "8000", "--model", "gru"),
}
LONG = "Transformer, an hour on two processes"  # its minutes are recorded: it needs a quiet machine
LONG_OPTIONS = ("--time", "60", "--steps", "40000")
PAGE = "more pieces, too, seed 0"  # whose weights the page has
TEST = "test_2016_flickr"


class Trial(NamedTuple):
    """What is changed of the first run's recipe, on plain text or on the release's tokens."""

    options: str
    seeds: int = 1
    tokens: bool = False


MORE = "--dropout 0.3 --validate-every 2000"
PIECES = "--steps 10000 --cooldown 0.25 --vocabulary 8000"
TRIALS = {
    "more dropout, longer": Trial(f"--vocabulary 4000 {MORE} --steps 14000 --cooldown 0.2857"),
    "more pieces, too": Trial(f"{MORE} {PIECES}", seeds=3),
    "more pieces, half of the pairs": Trial(f"{MORE} {PIECES} --share 0.5"),
    "the published terms": Trial(
        f"{MORE} --steps 14000 --cooldown 0.2857 --vocabulary 10000", seeds=3, tokens=True
    ),
}


class Plan(NamedTuple):
    """Which list of the record a run is in, the words that train it, and on what text."""

    kind: str
    words: list[str]
    tokens: bool = False


def plans() -> dict[str, Plan]:
    """Return all runs by their names: on one processor, or the long one on two."""
    one, two = ["python"], ["torchrun", "--nproc_per_node", "2"]
    program = ["-m", "attnlab.translation", "--data"]
    data = [*program, "FOLDER", "--pair", "en-de", *COMMON]
    first = [*data, *FIRST]
    found = {name: Plan("runs", [*one, *first, *words]) for name, words in RUNS.items()}
    found[LONG] = Plan("long", [*two, *first, *LONG_OPTIONS])
    tokens = [*program, "TOKENS", "--pair", "en-de"]
    for name, trial in TRIALS.items():
        words = [*one, *(tokens if trial.tokens else data), *trial.options.split()]
        for seed in range(trial.seeds):
            of_seed = [*words, *(["--seed", str(seed)] if seed else [])]
            found[f"{name}, seed {seed}"] = Plan("trials", of_seed, trial.tokens)
    return found


def folder_of(name: str, runs: Path) -> Path:
    """Return the folder of a run."""
    return runs / name.lower().replace(",", "").replace(" ", "-")


def train(plan: Plan, data: Path, folder: Path) -> None:
    """Train a run unless its folder holds one that is finished."""
    if (folder / "result.json").exists():
        return
    starter, *words = [str(data) if one in ("FOLDER", "TOKENS") else one for one in plan.words]
    start = ["-m", "torch.distributed.run"] if starter == "torchrun" else []
    program = [sys.executable, *start, *words, "--out", str(folder)]
    subprocess.run(program, check=True, env={**os.environ, "TQDM_DISABLE": ""})


def record(name: str, plan: Plan, data: Path, test: Path, folder: Path) -> dict[str, Any]:
    """Score a finished run on validation and on test 2016, and sum it up."""
    saved = load(folder)
    text = read_text(data, saved.recipe)
    of_tokens = f"{TEST}.lc.norm.tok"
    source = read(test / f"{of_tokens if plan.tokens else TEST}.en")
    references = {"tokens": read(test / f"{of_tokens}.de")}
    if not plan.tokens:
        references["reference"] = read(test / f"{TEST}.de")
    kinds = ("tokens",) if plan.tokens else ("cased", "tokens")
    written = translate(saved.model, saved.pieces, source, saved.recipe)
    found = scores(written, references, "de")
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    log = read_log(folder / "log.jsonl")
    marks = [entry for entry in log if "greedy" in entry]
    minutes = {
        "runs": [],
        "long": [round(mark["seconds"] / 60, 1) for mark in marks],
        "trials": [round(quiet_minutes(log), 1)],
    }
    return {
        "name": name,
        "command": " ".join(plan.words),
        "model": saved.recipe.model,
        "pairs": len(text.train),
        "parameters": parameters(saved.model),
        "steps": result["step"],
        "curve": [
            [
                mark["step"],
                round(mark["validation_loss"], 4),
                round(mark["greedy"], 2),
                round(mark["greedy_tokens"], 2),
            ]
            for mark in marks
        ],
        "validation": {kind: round(result["validation"][kind], 2) for kind in kinds},
        "test": {kind: found[kind] for kind in kinds},
        "signature": found[f"{kinds[0]}_signature"],
        "minutes": minutes[plan.kind],
    }


def quiet_minutes(log: list[dict[str, Any]]) -> float:
    """Return how long all steps take at the pace that a quarter of them kept or beat."""
    seconds = {0: 0.0, **{entry["step"]: entry["seconds"] for entry in log}}
    paces = [(t - s) / (k - j) for (j, s), (k, t) in pairwise(seconds.items())]
    return max(seconds) * quantiles(paces, n=4)[0] / 60


def round_off(saved: Saved, data: Path) -> dict[str, float]:
    """Write the page's weights, and score them on validation."""
    model = rounded(saved.model)  # type: ignore[arg-type]
    Translator(
        saved.model,  # type: ignore[arg-type]
        saved.pieces.tokenizer,
        lower=saved.recipe.lower == "source",
        sentence="a man is standing on a ladder",
        examples=[],
        asset="captions",
    ).save_asset(HOME)
    text = read_text(data, saved.recipe)
    sources, wanted = zip(*((pair.source, pair.target) for pair in text.validation), strict=True)
    written = translate(model, saved.pieces, list(sources), saved.recipe)
    found = asdict(score(written, list(wanted), "de"))
    return {kind: round(found[kind], 2) for kind in ("cased", "tokens")}


def main() -> None:
    """Do all of it, or of the record what ``--only`` names."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.multi30k",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    planned = plans()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokens", type=Path)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--only", nargs="*", choices=planned, default=list(planned))
    options = parser.parse_args()
    if options.tokens is None and any(planned[name].tokens for name in options.only):
        parser.error("--tokens must be a folder for the runs on the release's tokens")
    torch.set_num_threads(1)
    path = HOME / "runs.json"
    stored: dict[str, Any] = {}
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
    kinds = ("runs", "long", "trials")
    found = {run["name"]: run for kind in kinds for run in stored.get(kind, [])}
    for name in options.only:
        plan, folder = planned[name], folder_of(name, options.runs)
        data = options.tokens if plan.tokens else options.data
        train(plan, data, folder)
        found[name] = record(name, plan, data, options.test, folder)
        print(json.dumps({k: v for k, v in found[name].items() if k != "curve"}), flush=True)
        if name == PAGE:
            stored["page"] = name
            stored["rounded"] = round_off(load(folder), options.data)
        for kind in kinds:
            names = [one for one, plan in planned.items() if plan.kind == kind]
            stored[kind] = [found[one] for one in names if one in found]
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    any_letter()
    sys.exit(in_words(main))
