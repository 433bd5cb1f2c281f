"""Measure training: target tokens per second of the book's models and their peers.

    python benchmarks/training.py --data FOLDER    # Multi30k: train.de, train.en, or .gz
    python benchmarks/training.py                  # the book's own corpus
    python benchmarks/training.py --keep-memory    # with another allocator, a table of its own
    python benchmarks/training.py --quick          # tiny sizes, a few seconds

JoeyNMT is measured where requirements.txt is installed in _build/peers (how, stands there).
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import timing
import torch
from joeynmt_process import JoeyNMT
from peers import TorchSeq2Seq, copy_weights
from timing import Row, digits
from torch import nn

from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive, Bilinear
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab._console import any_letter
from attnlab.language import Batch, Vocabulary, batches, english_french, read_multi30k, tokenise
from attnlab.training import train

Text = list[tuple[list[str], list[str]]]
Examples = list[tuple[list[int], list[int]]]
BATCH, BLOCK, ROUNDS = 128, 5, 8
SIZES = {"d": 256, "heads": 8, "layers": 3, "d_ff": 512, "drop": 0.1}
OURS, OURS_PLAIN = "the book's Transformer", "the book's Transformer, unsorted"
TORCH, TORCH_PLAIN = "`nn.Transformer`", "`nn.Transformer`, unsorted"
JOEY, JOEY_GRU = "JoeyNMT, Transformer", "JoeyNMT, GRU with Bahdanau's attention"
GRU, LUONG = "the book's GRU, Bahdanau's order, additive score", "the book's GRU, Luong's, bilinear"


def read(folder: Path | None, *, quick: bool) -> Text:
    """Return the tokens of both sides, in lower case."""
    if folder is None or quick:
        corpus = english_french(200, held_out=2) if quick else english_french()
        return [(list(pair.source), list(pair.target)) for pair in corpus.train]
    pairs = read_multi30k(folder, "train", source="de", target="en")
    return [(tokenise(s.lower(), "de"), tokenise(t.lower(), "en")) for s, t in pairs]


def vocabularies(text: Text) -> tuple[Vocabulary, Vocabulary]:
    sides = zip(*text, strict=True)
    one, other = (Vocabulary(side, min_count=2, unknown="<unk>") for side in sides)
    return one, other


class Learner:
    """A model that trains a block of steps at a time, on an epoch of its own."""

    def __init__(self, model: nn.Module, examples: Examples, batch: int, *, bucketed: bool) -> None:
        self.model = model
        self.batches = self._endless(examples, batch, 100 if bucketed else 1)
        self.seen: list[Batch] = []

    def _endless(self, examples: Examples, batch: int, pool: int) -> Iterator[Batch]:
        # a pool of one batch is sorted within itself, which changes no padding
        for seed in itertools.count():
            yield from batches(examples, batch, seed=seed, pool=pool)

    def block(self, steps: int) -> float:
        """Train; return target tokens per second, with the making of the batches."""
        began = time.process_time()
        taken = list(itertools.islice(self.batches, steps))
        train(self.model, taken, steps=steps, lr=2e-4, progress=False)
        spent = time.process_time() - began
        self.seen += taken
        return sum(int(batch.target_lengths.sum()) for batch in taken) / spent

    def padding(self) -> float:
        """Return the share of padding in the target sides."""
        real = sum(int(batch.target_lengths.sum()) for batch in self.seen)
        return 1 - real / sum(batch.target_in.numel() for batch in self.seen)


def learners(examples: Examples, sizes: dict, words: tuple[int, int], b: int) -> dict[str, Learner]:
    torch.manual_seed(0)
    theirs, theirs_plain = (TorchSeq2Seq(words, **sizes) for _ in range(2))
    mine, mine_plain = (ours(words, sizes) for _ in range(2))
    copy_weights(mine, theirs)
    assert_equal(mine, theirs, examples[:5])
    d, drop = sizes["d"], sizes["drop"]
    additive = RNNSeq2Seq(*words, d, score=Additive(d, d, d), dropout=drop)
    luong = RNNSeq2Seq(*words, d, order="luong", score=Bilinear(d, d), dropout=drop)
    bucketed = {OURS: mine, TORCH: theirs, GRU: additive, LUONG: luong}
    plain = {OURS_PLAIN: mine_plain, TORCH_PLAIN: theirs_plain}
    return {
        **{name: Learner(model, examples, b, bucketed=True) for name, model in bucketed.items()},
        **{name: Learner(model, examples, b, bucketed=False) for name, model in plain.items()},
    }


def ours(words: tuple[int, int], sizes: dict) -> Seq2Seq:
    return Seq2Seq(
        *words,
        ModelConfig(
            d_model=sizes["d"],
            n_heads=sizes["heads"],
            n_layers=sizes["layers"],
            d_ff=sizes["d_ff"],
            dropout=sizes["drop"],
        ),
    )


def assert_equal(mine: Seq2Seq, theirs: TorchSeq2Seq, examples: Examples) -> None:
    batch = next(batches(examples, len(examples)))
    real = batch.target_out != 0
    given = batch.source, batch.target_in
    logits = [m.eval()(*given, source_lengths=batch.source_lengths)[real] for m in (mine, theirs)]
    timing.same("logits of the two Transformers", *logits, tolerance=1e-4)
    timing.same("their number of parameters", parameters(mine), parameters(theirs))


def parameters(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def measure(
    mine: dict[str, Learner], others: dict[str, JoeyNMT], rounds: int, steps: int
) -> dict[str, list[float]]:
    """Return the tokens per second of each round; all take turns."""
    found: dict[str, list[float]] = {name: [] for name in (*mine, *others)}
    runs = {name: one.block for name, one in mine.items()}
    runs |= {name: lambda _, one=one: one.block() for name, one in others.items()}
    for number in range(-1, rounds):
        for name, run in runs.items():
            speed = run(steps)
            if number >= 0:
                found[name].append(speed)
    return found


def speedup(found: dict[str, list[float]], name: str, unit: str) -> float:
    return statistics.median(a / b for a, b in zip(found[name], found[unit], strict=True))


def goal_rows(found: dict[str, list[float]], padding: float) -> list[Row]:
    rows = []
    if JOEY in found:
        gained = speedup(found, OURS, JOEY)
        what, goal = "the book's Transformer against JoeyNMT's", "≥ 2.2 × its tokens/s"
        # one arithmetic, so nothing but padding can be saved
        most = f"{100 * padding:.0f} % of an unsorted batch is padding: {1 / (1 - padding):.1f} ×"
        why = f"{most} is all that sorting can give, and the products take equally long in both"
        rows.append(Row(what, f"{digits(gained, 2.2, 2)} ×", goal, gained >= 2.2, why))
        rest = speedup(found, OURS_PLAIN, JOEY)
        rows.append(Row("– of which without sorting by length", f"{rest:.2f} ×"))
    bucketing = speedup(found, OURS, OURS_PLAIN)
    rows.append(
        Row("– of which bucketing by length (against itself, unsorted)", f"{bucketing:.2f} ×")
    )
    if JOEY_GRU in found:
        gained = speedup(found, GRU, JOEY_GRU)
        rows.append(Row("the book's GRU, Bahdanau's order, against JoeyNMT's", f"{gained:.2f} ×"))
    equal = speedup(found, OURS, TORCH)
    what = "the book's Transformer against a bucketed `nn.Transformer` of equal size"
    rows.append(Row(what, f"{digits(equal, 1, 2)} ×", "≥ 1 × its tokens/s", equal >= 1, NOISE))
    return rows


NOISE = "both spend their time in the same kernels; the difference is the machine's noise"


def joeynmts(text: Text, sizes: dict, folder: Path) -> tuple[dict[str, JoeyNMT], str]:
    """Start JoeyNMT's two models where it is installed; else say what failed."""
    kinds = {JOEY: "transformer", JOEY_GRU: "recurrent"}
    try:
        return {
            name: JoeyNMT(text, folder / kind, kind, sizes, BATCH, BLOCK)
            for name, kind in kinds.items()
        }, ""
    except OSError as error:
        return {}, f"JoeyNMT was not measured: {error}."


def details(found: dict, mine: dict[str, Learner], others: dict[str, JoeyNMT]) -> str:
    lines = []
    for name, speeds in found.items():
        one = mine.get(name)
        size = parameters(one.model) if one else others[name].parameters
        padding = f"{100 * one.padding():.0f} %" if one else "–"
        lines.append([name, f"{size:,}", padding, f"{statistics.median(speeds):,.0f}"])
    return timing.table(["model", "parameters", "padding", "target tokens/s"], lines)


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with Multi30k's train.de and train.en")
    parser.add_argument("--keep-memory", action="store_true", help="as in the other benchmarks")
    given = parser.parse_args()
    os.environ["TQDM_DISABLE"] = "1"
    timing.settle(keep_memory=given.keep_memory)
    text = read(given.data, quick=given.quick)
    sizes = {**SIZES, "d": 32, "heads": 2, "layers": 1} if given.quick else SIZES
    b, rounds, steps = (16, 1, 2) if given.quick else (BATCH, ROUNDS, BLOCK)
    one, other = vocabularies(text)
    examples = [(one.encode(s), other.encode(t)) for s, t in text]
    mine = learners(examples, sizes, (len(one), len(other)), b)
    with tempfile.TemporaryDirectory() as folder:
        others, failed = {}, "JoeyNMT is not part of a quick run."
        if not given.quick:
            others, failed = joeynmts(text, sizes, Path(folder))
        for name, process in others.items():
            timing.same(f"{name}: vocabularies", process.vocabularies, [len(one), len(other)])
        if JOEY in others:
            size = parameters(mine[OURS].model)
            timing.same("JoeyNMT's parameters", others[JOEY].parameters, size)
        found = measure(mine, others, rounds, steps)
        table = details(found, mine, others)
        rows = goal_rows(found, mine[OURS_PLAIN].padding())
        for process in others.values():
            process.stop()
    corpus = (
        "Multi30k, German to English"
        if given.data and not given.quick
        else "the book's corpus, English to French"
    )
    note = (
        f"{len(text):,} pairs of {corpus}, batches of {b} sentences, Adam. Vocabularies of "
        f"{len(one):,} and {len(other):,} words. All but the rows “unsorted” and JoeyNMT's sort "
        "by length. The making of a batch is counted, the tokenisation is not."
    )
    parts = [part for part in (timing.goals(rows), note, table, failed) if part]
    name, title = "training", "Training"
    if given.keep_memory:
        name, title = "training-kept", "Training, with an allocator that keeps its memory"
    timing.write(given.out, name, title, *parts)


if __name__ == "__main__":
    any_letter()
    main()
