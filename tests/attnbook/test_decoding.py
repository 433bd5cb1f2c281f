"""Greedy and beam search: against brute force, against a plain loop, alone and in company."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.decoding import Hypothesis, beam_search, best, greedy, sample
from tests.attnbook.strategies import normal
from tests.attnbook.tables import EOS, Table, batch, brute_force, plain_beam, random_table, table_of

seeds = st.integers(0, 2**16)
penalties = st.sampled_from([0.0, 0.6, 1.0, 2.0])


def almost(mine: list[Hypothesis], wanted: list[Hypothesis]) -> None:
    """Raise unless two n-best lists hold the same sentences with nearly the same numbers."""
    assert [(h.tokens, h.finished) for h in mine] == [(h.tokens, h.finished) for h in wanted]
    for one, other in zip(mine, wanted, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)
        assert one.score == pytest.approx(other.score, abs=1e-9)


@given(seed=seeds, v=st.integers(3, 4), length=st.integers(1, 3), alpha=penalties)
def test_a_beam_as_wide_as_the_world_is_brute_force(seed, v, length, alpha) -> None:
    table = random_table(2, v, seed=seed)
    found = beam_search(table, *batch(2), beam=v**length, max_length=length, length_penalty=alpha)
    for sentence, mine in enumerate(found):
        almost(mine, brute_force(table, sentence, length, alpha))


@given(
    seed=seeds,
    v=st.integers(3, 7),
    beam=st.integers(1, 9),
    length=st.integers(1, 7),
    alpha=penalties,
    eos=st.sampled_from([-2.0, 0.0, 2.0]),
)
def test_the_batched_beam_is_the_loop_over_hypotheses(seed, v, beam, length, alpha, eos) -> None:
    """Exactly: the loop never stops early and keeps a state for each hypothesis."""
    table = random_table(3, v, seed=seed)
    table.logits[..., EOS] += eos
    options = {"beam": beam, "max_length": length, "length_penalty": alpha}
    assert beam_search(table, *batch(3), **options) == plain_beam(table, *batch(3), **options)


@given(seed=seeds, beam=st.integers(1, 5), alpha=penalties)
def test_mates_and_their_order_change_nothing(seed: int, beam: int, alpha: float) -> None:
    table = random_table(5, 6, seed=seed)
    source, lengths = batch(5)
    options = {"beam": beam, "max_length": 8, "length_penalty": alpha}
    together = beam_search(table, source, lengths, **options)
    written = greedy(table, source, lengths, max_length=8)
    order = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
    shuffled = beam_search(table, source[order], lengths, **options)
    assert shuffled == [together[i] for i in order]
    for i in range(5):
        one = source[i : i + 1], lengths[:1]
        assert beam_search(table, *one, **options) == together[i : i + 1]
        assert greedy(table, *one, max_length=8) == written[i : i + 1]


@given(seed=seeds, length=st.integers(1, 9), alpha=penalties)
def test_a_beam_of_one_is_greedy(seed: int, length: int, alpha: float) -> None:
    table = random_table(4, 5, seed=seed)
    options = {"max_length": length}
    found = beam_search(table, *batch(4), beam=1, length_penalty=alpha, **options)
    for (mine,), wanted in zip(found, greedy(table, *batch(4), **options), strict=True):
        n = len(mine.tokens) + mine.finished
        assert mine == wanted._replace(score=mine.score)
        assert mine.score == mine.log_probability / n**alpha


def test_greedy_takes_the_most_probable_word_each_time() -> None:
    table = table_of({(): [0, 0, 0.1, 0.6, 0.3], (3,): [0, 0, 0.2, 0.1, 0.7], (3, 4): [0.2] * 5}, 5)
    table.logits[0, 3, 4, EOS] = 3.0
    (found,) = greedy(table, *batch(1), max_length=9)
    assert found.tokens == [3, 4]
    assert found.finished
    last = math.exp(3) / (math.exp(3) + 4 * 0.2)
    assert found.log_probability == pytest.approx(math.log(0.6 * 0.7 * last))
    assert found.score == found.log_probability
    (cut,) = greedy(table, *batch(1), max_length=2)
    assert cut.tokens == [3, 4]
    assert not cut.finished
    assert cut.log_probability == pytest.approx(math.log(0.6 * 0.7))


# after the likelier first word nothing is sure; after the other one the rest is
GARDEN_PATH = {
    (): [0, 0, 0, 0.6, 0.4],
    (3,): [0.25, 0.25, 0.25, 0.25, 0],
    (4,): [0, 0, 0.9, 0, 0.1],
}


def test_here_a_beam_of_two_beats_greedy() -> None:
    table = table_of(GARDEN_PATH, 5)
    (first,) = greedy(table, *batch(1), max_length=2)
    assert first.tokens == [3, 0]
    assert first.log_probability == pytest.approx(math.log(0.6 * 0.25))
    ((found, _),) = beam_search(table, *batch(1), beam=2, max_length=2, length_penalty=0.0)
    assert found.tokens == [4]
    assert found.finished
    assert found.log_probability == pytest.approx(math.log(0.4 * 0.9))


SHORT_OR_LONG = {(): [0, 0, 0.5, 0.5], (3,): [0, 0, 0.9, 0.1]}


@pytest.mark.parametrize(
    ("alpha", "tokens"), [(0.0, [[], [3]]), (0.1, [[], [3]]), (0.5, [[3], []]), (1.0, [[3], []])]
)
def test_the_penalty_counts_eos_and_turns_short_against_long(alpha: float, tokens) -> None:
    """log 0.5 / 1 against log 0.45 / 2^α: the longer wins from α = 0.204 on."""
    table = table_of(SHORT_OR_LONG, 4)
    (found,) = beam_search(table, *batch(1), beam=2, max_length=5, length_penalty=alpha)
    assert [h.tokens for h in found] == tokens
    scores = {0: math.log(0.5), 1: math.log(0.45) / 2**alpha}
    for h in found:
        assert h.finished
        assert h.score == pytest.approx(scores[len(h.tokens)])


def test_a_great_penalty_still_tells_scores_apart() -> None:
    table = table_of(SHORT_OR_LONG, 4)
    (found,) = beam_search(table, *batch(1), beam=2, max_length=2, length_penalty=99)
    assert [h.tokens for h in found] == [[3], [3, 3]]
    wanted = [math.log(p) / 2**99 for p in (0.45, 0.05)]
    assert [h.score for h in found] == pytest.approx(wanted, abs=0)


def test_unfinished_sentences_are_scored_at_their_own_length() -> None:
    table = table_of({(): [0, 0, 0.3, 0.7], (3,): [0, 0, 0.5, 0.5], (3, 3): [0, 0, 0.1, 0.9]}, 4)
    (found,) = beam_search(table, *batch(1), beam=4, max_length=3, length_penalty=1.0)
    wanted = {
        (): (True, math.log(0.3)),
        (3,): (True, math.log(0.35) / 2),
        (3, 3): (True, math.log(0.035) / 3),
        (3, 3, 3): (False, math.log(0.315) / 3),
    }
    assert {tuple(h.tokens): (h.finished, pytest.approx(h.score)) for h in found} == wanted
    assert [len(h.tokens) for h in found] == [3, 1, 2, 0]


def test_a_sentence_may_be_eos_alone_and_the_search_stops_in_time() -> None:
    table = table_of({(): [0, 0, 1, 0]}, 4)
    wanted = Hypothesis([], 0.0, 0.0, True)
    assert greedy(table, *batch(1), max_length=3) == [wanted]
    table.steps = 0
    assert beam_search(table, *batch(1), beam=3, max_length=3) == [[wanted]]
    assert table.steps == 1  # nothing lives on
    table = table_of(SHORT_OR_LONG, 4)
    greedy(table, *batch(1), max_length=50)
    assert table.steps == 1
    table.steps = 0
    beam_search(table, *batch(1), beam=2, max_length=50, length_penalty=0.0)
    # [] and [3] are put aside with 0.5 and 0.45; [3, 3] lives with 0.05
    assert table.steps == 2
    table.steps = 0
    beam_search(table, *batch(1), beam=2, max_length=50, length_penalty=1.0)
    assert table.steps > 2  # log 0.05 / 50 would still win


def test_among_equals_the_better_parent_and_the_lower_token_come_first() -> None:
    even = Table(torch.zeros(2, 5, 5, 5))
    assert [h.tokens for h in greedy(even, *batch(2), max_length=3)] == [[0, 0, 0]] * 2
    for beam, wanted in ((2, [[0, 0], [0, 1]]), (4, [[], [0], [0, 0], [0, 1]])):
        found = beam_search(even, *batch(2), beam=beam, max_length=2, length_penalty=1.0)
        assert [[h.tokens for h in one] for one in found] == [wanted] * 2


@given(
    rows=st.lists(
        st.lists(st.sampled_from([-math.inf, 0.0, 1.0, 2.0]), min_size=6, max_size=6),
        min_size=1,
        max_size=4,
    ),
    k=st.integers(1, 6),
)
def test_the_best_of_equals_are_the_first(rows: list[list[float]], k: int) -> None:
    values, indices = best(torch.tensor(rows), k)
    for row, mine, where in zip(rows, values.tolist(), indices.tolist(), strict=True):
        assert where == sorted(range(6), key=lambda i: -row[i])[:k]
        assert mine == [row[i] for i in where]


def test_half_precision_is_widened_before_the_softmax() -> None:
    table = random_table(3, 8)
    table.logits = table.logits.bfloat16()
    exact = Table(table.logits.float())
    assert greedy(table, *batch(3), max_length=6) == greedy(exact, *batch(3), max_length=6)
    options = {"beam": 3, "max_length": 6}
    assert beam_search(table, *batch(3), **options) == beam_search(exact, *batch(3), **options)


def test_words_that_cannot_be_are_never_written() -> None:
    """−∞ forbids a word; where few may follow, there are fewer than k hypotheses."""
    table = random_table(2, 5)
    table.logits[..., [0, 1, 4]] = -math.inf
    found = beam_search(table, *batch(2), beam=9, max_length=3, length_penalty=0.0)
    for one in found:
        assert sorted(len(h.tokens) for h in one) == [0, 1, 2, 3]
        assert all(set(h.tokens) <= {3} for h in one)
        assert sum(math.exp(h.log_probability) for h in one) == pytest.approx(1)


def test_what_follows_an_ended_sentence_does_not_matter() -> None:
    """Not even NaN, which a model may give after eos."""
    table = random_table(3, 5)
    table.logits[..., EOS] += 2

    def write() -> list:
        own = [torch.Generator().manual_seed(i) for i in range(3)]
        return [
            beam_search(table, *batch(3), beam=3, max_length=6),
            greedy(table, *batch(3), max_length=6),
            sample(table, *batch(3), max_length=6, generator=own),
        ]

    wanted = write()
    table.logits[:, :, EOS] = math.nan
    assert write() == wanted


def test_each_sentence_may_begin_with_its_own_token_and_another_eos_ends_too() -> None:
    table = random_table(1, 6)
    source, lengths = torch.zeros(3, 1).long(), torch.ones(3).long()
    first = torch.tensor([3, 1, 4])
    written = greedy(table, source, lengths, max_length=4, bos=first)
    found = beam_search(table, source, lengths, beam=2, max_length=4, bos=first)
    for i, bos in enumerate(first.tolist()):
        one = source[:1], lengths[:1]
        assert greedy(table, *one, max_length=4, bos=bos) == written[i : i + 1]
        assert beam_search(table, *one, beam=2, max_length=4, bos=bos) == found[i : i + 1]
    table = Table(normal(1, 5, 5, 5))
    table.logits[..., 4] = 9.0
    (found,) = greedy(table, *batch(1), max_length=4, eos=4)
    assert found.tokens == []
    assert found.finished
    ((one, *_),) = beam_search(table, *batch(1), beam=2, max_length=4, eos=4)
    assert one.tokens == []
    assert one.finished


def test_no_gradient_is_kept() -> None:
    table = random_table(1, 5)
    table.logits.requires_grad_()
    seen = []
    step = table.step

    def watched(tokens, state):
        logits, state = step(tokens, state)
        seen.append(logits.requires_grad)
        return logits, state

    table.step = watched
    greedy(table, *batch(1), max_length=2)
    beam_search(table, *batch(1), beam=2, max_length=2)
    assert not any(seen)
