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

``make experiments`` runs those whose table is stale, and of these the rows that are.
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
from typing import Any, NamedTuple

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
    model: nn.Module, lesson: Lesson, seed: int, *, steps: int = 1_500, lr: float = 3e-3
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
        if change := differs(table, name, fingerprint(module, name)):
            yield f"{name}, {change}"


def differs(table: dict[str, Any], name: str, now: dict[str, float]) -> str:
    """Say what of a row's fingerprint is other than it was; nothing where all is as it was."""
    was = table.get("fingerprint", {}).get(name, {})
    for key in was | now:
        if not _close(was.get(key), now.get(key)):
            return f"{key}: was {was.get(key)}, is {now.get(key)}"
    return ""


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
    table: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    asked, first = list(module.MODELS), {}
    if not (options.same or options.moves):
        why = "" if options.again else stale(script)
        if not (why or options.again):
            print(f"{stem}: nothing has changed since the table was made")
            return
        print(why or f"{stem}: again", flush=True)
        kept = {} if options.again else holding(script)
        rows = {name: kept.get(name) or _row(stem, name, module, first) for name in module.MODELS}
        asked, seeds, far = list(first), list(seeds_of(module)), table.get("moves", {})
        far = {name: far[name] for name in kept if name in far}
        torch_version = torch.__version__.split("+")[0]
        table = {"torch": torch_version, "rows": rows, "seeds": seeds, "moves": far}
    table["data"] = checksum(module.data())
    table["fingerprint"] = {name: fingerprint(module, name) for name in module.MODELS}
    _write(file, table)
    if not options.same:
        far = table.get("moves", {}) | moves(module, asked, first)
        table["moves"] = {name: far[name] for name in module.MODELS if name in far}
        print(f"{stem}, moves: {table['moves']}", flush=True)
        _write(file, table)


def _write(file: Path, table: dict[str, Any]) -> None:
    text = json.dumps(table, ensure_ascii=False, indent=1)
    file.write_text(text + "\n", encoding="utf-8")


def holding(script: str) -> dict[str, dict[str, list[float]]]:
    """Return the rows of a table that would come out as they are, seeds and data being the same."""
    module, file = load(script), file_of(script)
    table = json.loads(file.read_text("utf-8")) if file.exists() else {}
    same = table.get("seeds") == list(seeds_of(module))
    if not same or table.get("data") != checksum(module.data()):
        return {}
    rows = {name: row for name, row in table["rows"].items() if name in module.MODELS}
    return {
        name: row
        for name, row in rows.items()
        if not differs(table, name, fingerprint(module, name))
    }


class Run(NamedTuple):
    """What one seed of a row gave: the losses of each training, and the numbers measured."""

    losses: list[list[float]]
    numbers: dict[str, float]


def _run(module: Any, name: str, seed: int, nudge: float = 0.0) -> Run:
    with watched(nudge) as found:
        measured = module.measure(seed, **module.MODELS[name])
    return Run([one.losses for one in found], {key: float(n) for key, n in measured.items()})


def _row(stem: str, name: str, module: Any, first: dict[str, Run]) -> dict[str, list[float]]:
    row: dict[str, list[float]] = {}
    for seed in seeds_of(module):
        found = _run(module, name, seed)
        first.setdefault(name, found)
        print(f"{stem}, {name}, seed {seed}: {found.numbers}", flush=True)
        for key, number in found.numbers.items():
            row.setdefault(key, []).append(round(number, 4))
    return row


def moves(module: Any, rows: Sequence[str], first: dict[str, Run]) -> dict[str, dict[str, float]]:
    """Train rows' first seed from weights 1e-7 apart; say how far their numbers then are.

    ``first`` holds those of the first seeds that were measured. A row that trains nothing, for its
    model is remembered from the row before, has that row's losses.
    """
    seed, far = seeds_of(module)[0], 0.0
    first = {name: first.get(name) or _run(module, name, seed) for name in rows}
    for kept in vars(module).values():
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()  # what is remembered was trained from the weights as they are
    found: dict[str, dict[str, float]] = {}
    for name, (losses, numbers) in first.items():
        again = _run(module, name, seed, NUDGE)
        pairs = zip(losses, again.losses, strict=True)
        far = max((apart(*pair) for pair in pairs), default=far)
        both = ((numbers[key], again.numbers[key]) for key in numbers)
        by = max((abs(a - b) for a, b in both if a != b), default=0.0)  # ∞ - ∞ is no number
        found[name] = {"losses": float(f"{far:.2g}"), "numbers": float(f"{by:.2g}")}
    return found


def _close(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return False
    return math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=1e-9)
