"""Measure decoding: a batch of sentences and hypotheses against loops over them.

python benchmarks/decoding.py            # some half a minute
python benchmarks/decoding.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import timing
import torch
from timing import Row, at_least, at_most, milliseconds, ratio
from torch import Tensor, nn

from attnbook.decoding import beam_search, greedy
from attnbook.rnn import DecoderState, RNNSeq2Seq
from attnbook.scores import Additive
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab._console import any_letter

BEAM, BOS, EOS = 4, 1, 2
SENTENCES, LENGTH, STEPS, VOCABULARY, D_MODEL = 32, 20, 25, 1000, 128


class One(NamedTuple):
    """A hypothesis of the loop: log p, words, and the state before the next one."""

    log_p: float
    words: tuple[int, ...]
    state: DecoderState


@torch.no_grad()
def one_by_one(model: RNNSeq2Seq, source: Tensor, lengths: Tensor, steps: int) -> list[list[int]]:
    """Search with a beam as a first program does it: a loop over sentences and hypotheses."""
    results = []
    for row, n in zip(source, lengths.tolist(), strict=True):
        living = [One(0.0, (), model.start(row[None, :n], torch.tensor([n])))]
        ended: list[tuple[float, tuple[int, ...]]] = []
        for _ in range(steps):
            best = sorted(continued(model, living), key=lambda one: -one.log_p)[:BEAM]
            ended += [scored(one) for one in best if one.words[-1] == EOS]
            living = [one for one in best if one.words[-1] != EOS]
            if not living:
                break
        ended += [scored(one) for one in living]
        words = max(ended, key=lambda each: each[0])[1]
        results.append([word for word in words if word != EOS])
    return results


def continued(model: RNNSeq2Seq, living: list[One]) -> list[One]:
    """Return each hypothesis with each of its likeliest next words."""
    longer = []
    for one in living:
        last = torch.tensor([one.words[-1] if one.words else BOS])
        logits, state = model.step(last, one.state)
        values, words = logits[0].log_softmax(dim=-1).topk(BEAM)
        for value, word in zip(values.tolist(), words.tolist(), strict=True):
            longer.append(One(one.log_p + value, (*one.words, word), state))
    return longer


def scored(one: One) -> tuple[float, tuple[int, ...]]:
    return one.log_p / len(one.words), one.words


def ways(
    model: nn.Module, source: Tensor, lengths: Tensor, steps: int
) -> dict[str, Callable[[], list[list[int]]]]:
    """Return the ways to write the same sentences."""

    def alone(search: Callable[[Tensor, Tensor], list]) -> list:
        rows = zip(source, lengths, strict=True)
        return [search(row[None, :n], n[None])[0] for row, n in rows]

    def write(s: Tensor, n: Tensor) -> list[list[int]]:
        return [each.tokens for each in greedy(model, s, n, max_length=steps)]

    def search(s: Tensor, n: Tensor) -> list[list[int]]:
        return [each[0].tokens for each in beam_search(model, s, n, beam=BEAM, max_length=steps)]

    found = {
        "greedy": lambda: write(source, lengths),
        "greedy, sentence by sentence": lambda: alone(write),
        "beam": lambda: search(source, lengths),
        "beam, sentence by sentence": lambda: alone(search),
    }
    if isinstance(model, RNNSeq2Seq):  # a Transformer's cache would have to be copied each time
        found["beam, hypothesis by hypothesis"] = lambda: one_by_one(model, source, lengths, steps)
    return found


def models(d: int, vocabulary: int) -> dict[str, nn.Module]:
    torch.manual_seed(0)
    gru = RNNSeq2Seq(vocabulary, vocabulary, d, score=Additive(d, d, d))
    transformer = Seq2Seq(vocabulary, vocabulary, ModelConfig(d_model=d, n_heads=4, n_layers=2))
    for model in (gru, transformer):
        sharpen(model, vocabulary)
    return {"GRU, additive score": gru.eval(), "Transformer, 2 + 2 layers": transformer.eval()}


@torch.no_grad()
def sharpen(model: nn.Module, vocabulary: int) -> None:
    # logits far apart, as after training: a rounding then never decides between two words
    layer = model.decoder.output if isinstance(model, RNNSeq2Seq) else model.output
    layer.weight.normal_(std=0.5)


def rows_of(name: str, times: timing.Times) -> list[Row]:
    beam = ratio(times, "beam", "greedy")
    per_sentence = ratio(times, "beam, sentence by sentence", "beam")
    rows = [
        at_most(f"{name}: beam {BEAM}, batched", beam, 3.5, " greedy"),
        at_least(
            f"{name}: batched beam against a loop over sentences", per_sentence, 4, " as fast"
        ),
    ]
    if "beam, hypothesis by hypothesis" in times:
        faster = ratio(times, "beam, hypothesis by hypothesis", "beam")
        rows.append(
            at_least(f"{name}: batched beam against a loop over hypotheses", faster, 6, " as fast")
        )
    return rows


def main() -> None:
    given = timing.options(__doc__.splitlines()[0]).parse_args()
    timing.settle()
    b, n, steps, rounds = (3, 5, 4, 2) if given.quick else (SENTENCES, LENGTH, STEPS, 11)
    vocabulary, d = (20, 16) if given.quick else (VOCABULARY, D_MODEL)
    torch.manual_seed(1)
    source = torch.randint(3, vocabulary, (b, n))
    lengths = torch.randint(n // 2, n + 1, (b,))
    lengths[0] = n
    rows, found = [], {}
    for name, model in models(d, vocabulary).items():
        run = ways(model, source, lengths, steps)
        for way, call in run.items():
            timing.same(f"{name}: {way}", call(), run[way.split(",")[0]]())
        found[name] = timing.interleaved(run, rounds)
        rows += rows_of(name, found[name])
    lines = [
        [way, *(f"{milliseconds(t, way):.0f}" if way in t else "–" for t in found.values())]
        for way in next(iter(found.values()))
    ]
    note = (
        f"{b} sentences of up to {n} words, {steps} steps, a vocabulary of {vocabulary}, d_model = "
        f"{d}. All ways of a kind write the same words."
    )
    tables = (timing.goals(rows), note, timing.table(["ms", *found], lines))
    timing.write(given.out, "decoding", "Decoding", *tables)


if __name__ == "__main__":
    any_letter()
    main()
