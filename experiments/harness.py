"""Run one experiment over models and seeds, and write its table into the package.

A script beside this one says what to train and what to measure:

    MODELS = {"no attention": {"order": "none"}, "bahdanau": {"order": "bahdanau"}}

    def measure(seed: int, **settings: Any) -> dict[str, float]: …

    if __name__ == "__main__":
        run(__file__, MODELS, measure)

``make experiments`` runs those whose code has changed since their table was made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from attnbook.models._code import code_hash

SEEDS = (0, 1, 2)
RESULTS = Path(__file__).resolve().parents[1] / "src" / "attnbook" / "models" / "results"
MODULES = (
    "attnbook.models.recurrent",
    "attnbook.training.metrics",
)  # what a table hangs on, unless it says so
Measure = Callable[..., dict[str, float]]


def fingerprint(script: str | Path, modules: Sequence[str] = MODULES) -> str:
    """Return the hash of everything that a table hangs on: the script, and the package's code."""
    text = Path(script).read_bytes().replace(b"\r\n", b"\n")
    return code_hash(modules[0], [code_hash(m) for m in modules], hashlib.sha256(text).hexdigest())


def file_of(script: str | Path) -> Path:
    """Return where the table of a script is kept."""
    return RESULTS / f"{Path(script).stem}.json"


def is_current(script: str | Path) -> bool:
    """Say whether the table was made by the code as it is."""
    file = file_of(script)
    if not file.exists():
        return False
    table = json.loads(file.read_text("utf-8"))
    return table["code"] == fingerprint(script, table.get("modules", MODULES))


def run(
    script: str,
    models: Mapping[str, dict[str, Any]],
    measure: Measure,
    modules: Sequence[str] = MODULES,
) -> None:
    """Measure every model with every seed, and write the table."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--again", action="store_true", help="run even where nothing changed")
    if is_current(script) and not parser.parse_args().again:
        print(f"{Path(script).stem}: the table is made by the code as it is")
        return
    torch.set_num_threads(1)
    os.environ["TQDM_DISABLE"] = "1"
    rows: dict[str, dict[str, list[float]]] = {}
    for name, settings in models.items():
        for seed in SEEDS:
            found = measure(seed, **settings)
            print(f"{Path(script).stem}, {name}, seed {seed}: {found}", flush=True)
            for key, number in found.items():
                rows.setdefault(name, {}).setdefault(key, []).append(round(float(number), 4))
    table = {"code": fingerprint(script, modules), "torch": torch.__version__.split("+")[0]}
    if modules != MODULES:
        table["modules"] = list(modules)
    table["rows"] = rows
    text = json.dumps({**table, "seeds": list(SEEDS)}, ensure_ascii=False, indent=1)
    file_of(script).write_text(text + "\n", encoding="utf-8")
