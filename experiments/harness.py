"""Measure models over seeds, write the table into the package, and say whether it still holds.

A script beside this one says what to train and what to measure:

    MODELS = {"no attention": {"order": "none"}, "bahdanau": {"order": "bahdanau"}}

    def data() -> Any: all that is learnt and tested on
    def measure(seed: int, *, asked: int | None = None, **settings: Any) -> dict[str, float]: …

    if __name__ == "__main__":
        run(__file__)

``measure`` trains by ``attnlab.models`` (``recipe.fit``) and takes its numbers on the first
``asked`` held-out examples, on all unless it is given.

A table is stale when it would come out otherwise, whatever the code looks like. Its fingerprint is
a checksum of the data and, for each model, with a seed of its own and in double precision: the
first losses, the sum of the learning rates of all steps, where gradients are clipped, and what
``measure`` makes of a few examples with the model that is hardly trained. Numbers may differ by
1e-6 of their size, for another processor rounds otherwise. What shows only later, in trained
models, is seen by training one of each table anew (``make test-all``).

Each row is asked once whether it hangs on rounding (``attnlab.training.rounding``): its first seed
is trained again from weights 1e-7 apart. ``moves`` keeps how far the losses of the last tenth of
the steps, and the numbers that are measured, come out from each other; ``--moves`` asks alone.

``make experiments`` runs those whose table is stale.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnlab._console import any_letter
from attnlab.models.recipe import first_steps, learn
from attnlab.models.tasks import Lesson
from attnlab.training.rounding import NUDGE, apart, watched

SEEDS = (0, 1, 2)
SEED, ASKED = 3, 12  # of fingerprints: a seed that no row has
TOLERANCE = 1e-6
RENEW = "run `make experiments` (python tasks.py experiments)"
RESULTS = Path(__file__).resolve().parents[1] / "src" / "attnlab" / "models" / "results"


def teach(
    model: nn.Module, lesson: Lesson, seed: int, *, steps: int = 1_150, lr: float = 6e-3
) -> None:
    """Train a model that ``translator`` does not build, as it trains its own."""
    examples = lesson.examples(lesson.train)
    how = {"steps": steps, "warmup": 100, "lr": lr, "batch_size": 64}
    learn(model, examples, **how, seed=seed, progress=False)


def load(script: str | Path) -> Any:
    """Return a script as a module that has measured nothing yet."""
    spec = spec_from_file_location(f"experiments.{Path(script).stem}", script)
    module = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def file_of(script: str | Path) -> Path:
    """Return where the table of a script is kept."""
    return RESULTS / f"{Path(script).stem}.json"


def seeds_of(module: Any) -> Sequence[int]:
    """Return the seeds of a table: its script's own, where it names some."""
    return getattr(module, "SEEDS", SEEDS)


def some(lesson: Lesson, asked: int | None) -> Lesson:
    """Return a lesson whose held-out sets are cut to their first pairs."""
    return lesson._replace(test=lesson.test[:asked], combinations=lesson.combinations[:asked])


def checksum(value: Any) -> str:
    """Sum up data: of a pair the words and the alignment, for no measure reads more."""

    def plain(value: Any) -> Any:
        if isinstance(value, Lesson):
            return [[pair[:3] for pair in part] for part in value[:3]]
        value = value.tolist() if isinstance(value, Tensor) else value
        return list(map(plain, value)) if isinstance(value, list | tuple) else value

    return hashlib.sha256(json.dumps(plain(value)).encode()).hexdigest()[:16]


def fingerprint(module: Any, name: str) -> dict[str, float]:
    """Return how one model's training begins, and what is then measured."""
    with first_steps() as beginnings:
        found = module.measure(SEED, asked=ASKED, **module.MODELS[name])
    losses = [loss for beginning in beginnings for loss in beginning.losses]
    return {
        **{f"loss of step {step}": loss for step, loss in enumerate(losses, 1)},
        "sum of the rates": sum(beginning.rates for beginning in beginnings),
        "1 / clip": sum(1 / beginning.clip for beginning in beginnings),
        **found,
    }


def changes(script: str | Path, models: Sequence[str] | None = None) -> Iterator[str]:
    """Say what has changed since a table was made, in some of its models or in all."""
    module, file = load(script), file_of(script)
    if not file.exists():
        yield "there is no table yet"
        return
    table = json.loads(file.read_text("utf-8"))
    if list(table["rows"]) != list(module.MODELS):
        yield "it has other models"
        return
    if table.get("data") != checksum(module.data()):
        yield "the data are others"
    for name in module.MODELS if models is None else models:
        was, now = table.get("fingerprint", {}).get(name, {}), fingerprint(module, name)
        for key in was | now:
            if not _close(was.get(key), now.get(key)):
                yield f"{name}, {key}: was {was.get(key)}, is {now.get(key)}"
                break


def stale(script: str | Path, models: Sequence[str] | None = None) -> str:
    """Name a stale table, what changed first, and the command that renews it; else say nothing."""
    for change in changes(script, models):
        return f"the table {Path(script).stem} is stale ({change}): {RENEW}"
    return ""


def run(script: str) -> None:
    """Measure every model with every seed, and write the table."""
    any_letter()
    stem = Path(script).stem
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{stem}")
    parser.add_argument("--again", action="store_true", help="run even where nothing changed")
    parser.add_argument(
        "--same", action="store_true", help="keep the rows: what changed cannot change them"
    )
    parser.add_argument("--moves", action="store_true", help="ask alone what hangs on rounding")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["TQDM_DISABLE"] = "1"
    module, file = load(script), file_of(script)
    table: dict[str, Any]
    if options.same or options.moves:
        table = json.loads(file.read_text("utf-8"))
    else:
        why = "" if options.again else stale(script)
        if not (why or options.again):
            print(f"{stem}: nothing has changed since the table was made")
            return
        print(why or f"{stem}: again", flush=True)
        rows = {name: _row(stem, name, module) for name in module.MODELS}
        seeds = list(seeds_of(module))
        table = {"torch": torch.__version__.split("+")[0], "rows": rows, "seeds": seeds}
    if not options.same:
        table["moves"] = {name: moves(stem, name, module) for name in module.MODELS}
    table["data"] = checksum(module.data())
    table["fingerprint"] = {name: fingerprint(module, name) for name in module.MODELS}
    text = json.dumps(table, ensure_ascii=False, indent=1)
    file.write_text(text + "\n", encoding="utf-8")


def _row(stem: str, name: str, module: Any) -> dict[str, list[float]]:
    row: dict[str, list[float]] = {}
    for seed in seeds_of(module):
        found = module.measure(seed, **module.MODELS[name])
        print(f"{stem}, {name}, seed {seed}: {found}", flush=True)
        for key, number in found.items():
            row.setdefault(key, []).append(round(float(number), 4))
    return row


def moves(stem: str, name: str, module: Any) -> dict[str, float]:
    """Train a row's first seed from weights 1e-7 apart; return how far its numbers then are."""
    seed, runs = seeds_of(module)[0], []
    for nudge in (0.0, NUDGE):
        with watched(nudge) as found:
            measured = module.measure(seed, **module.MODELS[name])
        runs.append((found, {key: float(number) for key, number in measured.items()}))
    (first, a), (second, b) = runs
    losses = [apart(x.losses, y.losses) for x, y in zip(first, second, strict=True)]
    far = {"losses": max(losses, default=0.0), "numbers": max(abs(a[k] - b[k]) for k in a)}
    print(f"{stem}, {name}, moves: {far}", flush=True)
    return {key: float(f"{number:.2g}") for key, number in far.items()}


def _close(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return False
    return math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=1e-9)
