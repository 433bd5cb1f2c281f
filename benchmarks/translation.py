"""Measure the program that trains translators: against JoeyNMT, and by the number of processes.

python benchmarks/translation.py --data FOLDER    # Multi30k: train.en, train.de, or .gz
python benchmarks/translation.py --quick          # tiny sizes, the book's own sample

JoeyNMT is measured where requirements.txt is installed in _build/peers (how, stands there). What
eight GPUs would take is computed, not measured: this machine has none.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from time import process_time, sleep
from typing import Any

import timing
from joeynmt_process import JoeyNMT
from timing import Row, at_least

from attnlab._console import any_letter
from attnlab.translation.command import MEMORY, with_fast_numbers
from attnlab.translation.corpus import read_text
from attnlab.translation.model import parameters
from attnlab.translation.recipe import Recipe
from attnlab.translation.run import LOG_EVERY, Run
from attnlab.translation.team import Team

WHOLE = {"block": 20, "rounds": 8, "steps": 8 * LOG_EVERY}
QUICK = {"block": 2, "rounds": 1, "steps": LOG_EVERY}
SMALL: dict[str, Any] = {
    "vocabulary": 120,
    "d_model": 32,
    "d_ff": 32,
    "n_layers": 1,
    "tokens": 64,
    "held_out": 2,
}
# an H100's dense bfloat16 products and, one way, its NVLink; 100 Gbit/s between two machines
PRODUCTS, LINKS = 989e12, {"NVLink, 450 GB/s": 450e9, "network, 12.5 GB/s": 12.5e9}
USED = 0.4  # the share of an accelerator's products that a well-fed training reaches


def speeds(run: Run, peer: JoeyNMT | None, block: int, rounds: int) -> dict[str, list[float]]:
    """Return target pieces per CPU second, round by round; both take turns."""
    found: dict[str, list[float]] = {"ours": [], "JoeyNMT": []}
    for number in range(-1, rounds):
        began = process_time()
        tokens = sum(run.update()[1] for _ in range(block))
        ours = tokens / (process_time() - began)
        theirs = peer.block() if peer else 0.0
        if number >= 0:
            found["ours"].append(ours)
            found["JoeyNMT"].append(theirs)
    return found


def started(run: Run, folder: Path, block: int) -> tuple[JoeyNMT | None, str]:
    """Start JoeyNMT on the same pieces, sizes and batches; or say why not."""
    recipe, tokenizer = run.recipe, run.pieces.tokenizer
    text = [
        tuple([tokenizer.id_to_token(i) for i in ids] for ids in pair)
        for pair in run.buckets.examples
    ]
    words = [tokenizer.id_to_token(i) for i in range(4, len(run.pieces))]
    sizes = {
        "d": recipe.d_model,
        "heads": recipe.n_heads,
        "layers": recipe.n_layers,
        "d_ff": recipe.d_ff,
        "drop": recipe.dropout,
    }
    try:
        peer = JoeyNMT(text, folder, "transformer", sizes, recipe.tokens, block, shared=words)
    except OSError as error:
        return None, f"JoeyNMT was not measured: {error}."
    return peer, ""


def rate(data: Path, options: list[str], processes: int, steps: int) -> float:
    """Return the target pieces per second, on the clock, of the program on so many processes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(processes)]
        words += ["-m", "attnlab.translation", "--data", str(data), "--out", str(out)]
        words += ["--snapshot-every", "1000000", "--validate-every", "1000000", *options]
        env = {**os.environ, **MEMORY, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        with subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and len(logged(out)) < steps // LOG_EVERY:
                sleep(0.2)
            process.terminate()
        entries = logged(out)
    if len(entries) < steps // LOG_EVERY:
        raise OSError(f"the program stopped on {processes} processes")
    return entries[-1]["tokens_per_second"]


def logged(out: Path) -> list[dict]:
    """Read the log's entries of steps, as far as they are whole."""
    path = out / "log.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n") and "loss" in line]


def computed(weights: int, pieces: int, gpus: int = 8) -> list[list[str]]:
    """Return, for each link, what a step's products and its sum of gradients would take.

    Six operations a weight and piece, forward and backward; a ring moves 2 (N − 1) / N of the
    gradient's bytes through every link.
    """
    products = 6 * weights * pieces / gpus / (USED * PRODUCTS)
    moved = 2 * (gpus - 1) / gpus * 4 * weights
    return [
        [name, f"{1e6 * products:,.0f} µs", f"{1e6 * moved / speed:,.0f} µs"]
        for name, speed in LINKS.items()
    ]


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with Multi30k's train.en and train.de")
    given = parser.parse_args()
    os.environ["TQDM_DISABLE"] = "1"
    timing.settle()
    with_fast_numbers()
    sizes = QUICK if given.quick or given.data is None else WHOLE
    recipe = Recipe(lower="source")
    with tempfile.TemporaryDirectory() as name, as_file(files("attnlab.language")) as language:
        folder = Path(name)
        data, options = given.data, ["--lower", "source"]
        if sizes is QUICK:
            recipe, data = Recipe(pair="en-fr", **SMALL), folder / "sample"
            data.mkdir()
            for side in ("en", "fr"):
                text = (language / "data" / f"sample.{side}").read_text(encoding="utf-8")
                (data / f"train.{side}").write_text(text, encoding="utf-8")
            options = ["--pair", "en-fr"]
            options += [w for k, v in SMALL.items() for w in (f"--{k.replace('_', '-')}", str(v))]
        pairs = len(read_text(data, recipe).train)
        run = Run(recipe, data, folder / "ours", Team(), "auto")
        run.model.train()
        peer, failed = (None, "JoeyNMT is not part of a quick run.")
        if sizes is WHOLE:
            peer, failed = started(run, folder / "theirs", sizes["block"])
        found = speeds(run, peer, sizes["block"], sizes["rounds"])
        if peer:
            peer.stop()
        weights, length = parameters(run.model), run.buckets
        pieces = sum(t for t, _ in length.lengths) / length.per_epoch
        run.close()
        by_number = {n: rate(data, options, n, sizes["steps"]) for n in (1, 2)}
    rows = []
    if peer:
        gained = statistics.median(
            a / b for a, b in zip(found["ours"], found["JoeyNMT"], strict=True)
        )
        rows.append(at_least("the program against JoeyNMT", gained, 2, " its tokens/s"))
    rows.append(
        Row("two processes against one, on the clock", f"{by_number[2] / by_number[1]:.2f} ×")
    )
    lines = [["one process, per CPU second", f"{statistics.median(found['ours']):,.0f}"]]
    if peer:
        theirs = f"{statistics.median(found['JoeyNMT']):,.0f}"
        lines.append([f"JoeyNMT, {peer.parameters:,} parameters, per CPU second", theirs])
    lines += [[f"{n} × cpu, per second", f"{by_number[n]:,.0f}"] for n in by_number]
    note = (
        f"{pairs:,} pairs, {len(run.pieces):,} pieces, {weights:,} parameters, some {pieces:,.0f} "
        "target pieces a step. Both have the same pieces, sizes, limit of a batch and allocator."
    )
    gpus = (
        "Computed, not measured: a step on eight GPUs, its products at "
        f"{100 * USED:.0f} % of {PRODUCTS / 1e12:,.0f} TFLOP/s, and the sum of its gradients "
        f"({4 * weights / 1e6:.1f} MB in float32) round a ring."
    )
    parts = [timing.goals(rows), note, timing.table(["", "target pieces/s"], lines)]
    parts += [failed] if failed else []
    parts += [
        gpus,
        timing.table(["link", "products", "gradients"], computed(weights, 2 * int(pieces))),
    ]
    timing.write(given.out, "translation", "Training translators of real text", *parts)


if __name__ == "__main__":
    any_letter()
    main()
