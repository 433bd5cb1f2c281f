"""Train the translators of Multi30k, score them, and write the record and the page's weights.

    python -m experiments.multi30k --data FOLDER --test FOLDER --runs FOLDER

``--data`` holds train.en, train.de, val.en and val.de, or .gz; ``--test`` test_2016_flickr.en and
.de, and test_2016_flickr.lc.norm.tok.de, the release's tokens. Each run lies in a folder of
``--runs``; one that is finished there, trained on however many processes, is taken as it is. All
recipes are alike but for what the name says, and were chosen on validation. A run takes one core
some half an hour, the long one both of a machine for an hour; ``--only`` names some.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from attnlab.translation import captions
from attnlab.translation.command import in_words
from attnlab.translation.corpus import read_text
from attnlab.translation.journal import read_log
from attnlab.translation.model import parameters
from attnlab.translation.saved import Saved, load
from attnlab.translation.score import read, scores
from attnlab.translation.scoring import score, translate
from attnlab.widgets import Translator
from attnlab.widgets.translator.weights import rounded

HOME = Path(captions.__file__).parent
COMMON = ("--lower", "source")
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
PAGE = next(iter(RUNS))  # whose weights the page has
TEST = "test_2016_flickr"


def folder_of(name: str, runs: Path) -> Path:
    """Return the folder of a run."""
    return runs / name.lower().replace(",", "").replace(" ", "-")


def command(name: str, data: str = "FOLDER") -> list[str]:
    """Return the words that train a run: on one processor, or the long one on two."""
    starter = ["torchrun", "--nproc_per_node", "2"] if name == LONG else ["python"]
    program = ["-m", "attnlab.translation", "--data", data, "--pair", "en-de"]
    return [*starter, *program, *COMMON, *(LONG_OPTIONS if name == LONG else RUNS[name])]


def train(name: str, data: Path, folder: Path) -> None:
    """Train a run unless its folder holds one that is finished."""
    if (folder / "result.json").exists():
        return
    starter, *words = [*command(name, str(data)), "--out", str(folder)]
    start = ["-m", "torch.distributed.run"] if starter == "torchrun" else []
    program = [sys.executable, *start, *words]
    subprocess.run(program, check=True, env={**os.environ, "TQDM_DISABLE": ""})


def record(name: str, data: Path, test: Path, folder: Path) -> dict[str, Any]:
    """Score a finished run on validation and on test 2016, and sum it up."""
    saved = load(folder)
    text = read_text(data, saved.recipe)
    source = read(test / f"{TEST}.en")
    references = {
        "reference": read(test / f"{TEST}.de"),
        "tokens": read(test / f"{TEST}.lc.norm.tok.de"),
    }
    written = translate(saved.model, saved.pieces, source, saved.recipe)
    found = scores(written, references, "de")
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    marks = [entry for entry in read_log(folder / "log.jsonl") if "greedy" in entry]
    return {
        "name": name,
        "command": " ".join(command(name)),
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
        "validation": {kind: round(result["validation"][kind], 2) for kind in ("cased", "tokens")},
        "test": {kind: found[kind] for kind in ("cased", "tokens")},
        "signature": found["cased_signature"],
        "minutes": [round(mark["seconds"] / 60, 1) for mark in marks] if name == LONG else [],
    }


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
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--only", nargs="*", choices=[*RUNS, LONG], default=[*RUNS, LONG])
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = HOME / "runs.json"
    stored: dict[str, Any] = {"runs": []}
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
    found = {run["name"]: run for run in [*stored["runs"], *stored.get("long", [])]}
    for name in options.only:
        folder = folder_of(name, options.runs)
        train(name, options.data, folder)
        found[name] = record(name, options.data, options.test, folder)
        print(json.dumps({k: v for k, v in found[name].items() if k != "curve"}), flush=True)
        if name == PAGE:
            stored["rounded"] = round_off(load(folder), options.data)
        for kind, names in (("runs", list(RUNS)), ("long", [LONG])):
            stored[kind] = [found[one] for one in names if one in found]
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(in_words(main))
