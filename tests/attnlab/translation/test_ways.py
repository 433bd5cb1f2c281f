"""BPE-dropout: cuts differ from step to step, and spell the same words."""

import random
from collections import Counter

import pytest

from attnlab.language.readers import TextPair
from attnlab.translation.buckets import Buckets
from attnlab.translation.pieces import Pieces
from attnlab.translation.ways import Ways
from tests.attnlab.translation.small import texts

PAIRS = [TextPair(source, target) for source, target in zip(*texts(), strict=True)]
PIECES = Pieces.train([side for pair in PAIRS for side in pair], 120)
ROWS = range(len(PAIRS))


def usual(side: int) -> list[list[int]]:
    return PIECES.encode([pair[side] for pair in PAIRS])


def test_a_rate_of_0_is_the_usual_cut() -> None:
    cut = Ways(PIECES, PAIRS, rate=0.0, seed=0).pairs(ROWS, 1)
    assert cut == list(zip(usual(0), usual(1), strict=True))


def test_every_cut_spells_the_same_words_and_steps_and_seeds_differ() -> None:
    ways = Ways(PIECES, PAIRS, rate=0.3, seed=0)
    first, second = ways.pairs(ROWS, 1), ways.pairs(ROWS, 2)
    assert [PIECES.decode(ids) for ids, _ in first] == [pair.source for pair in PAIRS]
    assert [PIECES.decode(ids) for _, ids in second] == [pair.target for pair in PAIRS]
    assert first != second
    assert first == Ways(PIECES, PAIRS, rate=0.3, seed=0).pairs(ROWS, 1)
    assert first != Ways(PIECES, PAIRS, rate=0.3, seed=1).pairs(ROWS, 1)


def test_each_join_is_left_out_at_the_rate() -> None:
    pieces = Pieces.train(["abc ab"] * 3, 11)
    ways = Ways(pieces, [], rate=0.25, seed=0)
    drawn = random.Random(0)
    n = 20_000
    counts = Counter(len(ways.cut("ab", drawn)) for _ in range(n))
    assert counts[2] / n == pytest.approx(0.25, abs=0.02)


def test_a_batch_holds_the_cuts_of_its_step_whoever_takes_it() -> None:
    examples = list(zip(usual(0), usual(1), strict=True))
    ways = Ways(PIECES, PAIRS, rate=0.3, seed=0)
    buckets = Buckets(examples, 200, 0, ways)
    for step in (1, 2, buckets.per_epoch + 1):
        alone = buckets.step(step)
        parts = [buckets.step(step, rank, 2) for rank in range(2)]
        assert {part.tokens for part in parts} == {alone.tokens}
        assert alone.batch is not None
        assert alone.tokens == int(alone.batch.target_lengths.sum())
        shared = [part.batch.target_lengths.sum() for part in parts if part.batch is not None]
        assert sum(map(int, shared)) == alone.tokens
