"""Metrics: each against an example worked by hand, and against the library it follows."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from torch import Tensor, nn

from attnlab.training.metrics import (
    alignment_accuracy,
    alignment_error_rate,
    argmax_links,
    bleu,
    evaluating,
    exact_match,
    free_running,
    perplexity,
    teacher_forced,
)

NEVER = 0.0
BOS, EOS, A, B = 1, 2, 3, 4
# p(next | token): columns pad, bos, eos, a, b
CHANCES = torch.tensor(
    [
        [NEVER, NEVER, 1 / 2, 1 / 4, 1 / 4],  # after pad: never read
        [NEVER, NEVER, 1 / 4, 1 / 2, 1 / 4],  # after bos
        [NEVER, NEVER, 1 / 2, 1 / 4, 1 / 4],  # after eos
        [NEVER, NEVER, 3 / 4, 1 / 8, 1 / 8],  # after a
        [NEVER, NEVER, 1 / 4, 1 / 2, 1 / 4],  # after b
    ],
    dtype=torch.float64,
)


class Batch(NamedTuple):
    """The fields that a batch of ``attnlab.language`` has."""

    source: Tensor
    source_lengths: Tensor
    target_in: Tensor
    target_out: Tensor
    target_lengths: Tensor


class Table(nn.Module):
    """Each token depends on the one before it, by a table (V, V) of chances."""

    def __init__(self, chances: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(chances.log())
        self.part = nn.Dropout(0.5)
        self.seen: list[bool] = []

    def forward(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        self.seen.append(self.training or torch.is_grad_enabled())
        return self.logits[target]

    def start(self, source: Tensor, source_lengths: Tensor) -> int:
        return 0

    def step(self, tokens: Tensor, state: int) -> tuple[Tensor, int]:
        return self.logits[tokens], state + 1


def batch(*targets: Iterable[int]) -> Batch:
    """Return targets, each without bos and eos, as a batch with sources of one token."""
    lengths = torch.tensor([len(target) + 1 for target in targets])
    rows = [[BOS, *target, EOS] + [0] * (max(lengths) - len(target) - 1) for target in targets]
    whole = torch.tensor(rows)
    target_in = torch.where(whole[:, 1:] == 0, 0, whole[:, :-1])
    source = torch.ones(len(targets), 1, dtype=torch.long)
    return Batch(
        source, torch.ones(len(targets), dtype=torch.long), target_in, whole[:, 1:], lengths
    )


def test_both_perplexities_by_hand_agree_where_the_model_says_the_reference() -> None:
    model = Table(CHANCES)
    # fed the reference: p(b | bos) p(a | b) p(eos | a) = 1/4 · 1/2 · 3/4
    assert perplexity(model, [batch((B, A))]) == pytest.approx((32 / 3) ** (1 / 3))
    # it says a, eos, eos: p(b | bos) p(a | a) p(eos | eos) = 1/4 · 1/8 · 1/2 = 4^−3
    assert perplexity(model, [batch((B, A))], free_running) == pytest.approx(4)
    model, said = Table(CHANCES), [batch((A,))]
    assert perplexity(model, said) == pytest.approx(perplexity(model, said, free_running))


@pytest.mark.parametrize("size", [5, 7, 1000])
def test_the_perplexity_of_a_uniform_model_is_the_size_of_its_vocabulary(size: int) -> None:
    model = Table(torch.full((size, size), 1 / size))
    several = [batch((A, B, A), (B,)), batch((A,))]
    assert perplexity(model, several) == pytest.approx(size, rel=1e-5)
    assert perplexity(model, several, free_running) == pytest.approx(size, rel=1e-5)


@given(targets=st.lists(st.lists(st.sampled_from((A, B)), max_size=6), min_size=2, max_size=6))
def test_a_token_counts_the_same_in_any_batch(targets: list[list[int]]) -> None:
    model = Table(CHANCES)
    alone = [batch(target) for target in targets]
    for run in (teacher_forced, free_running):
        together = perplexity(model, [batch(*targets)], run)
        assert together == pytest.approx(perplexity(model, alone, run))


def test_free_running_feeds_what_was_said_and_the_impossible_is_infinite() -> None:
    logits = free_running(Table(CHANCES), batch((B, A, A)))
    assert logits.shape == (1, 4, 5)
    said = [logits[0, t].argmax().item() for t in range(4)]
    assert said == [A, EOS, EOS, EOS]
    assert perplexity(Table(CHANCES), [batch((BOS,))]) == math.inf
    huge = Table(torch.tensor([[1.0, 1e-38, 1e-38, 1e-38, 1e-38]]).pow(30).expand(5, 5))
    assert perplexity(huge, [batch((A,))]) == math.inf


def test_a_model_is_evaluated_in_eval_mode_and_put_back() -> None:
    model = Table(CHANCES)
    model.part.eval()
    perplexity(model, [batch((A,))])
    assert model.seen == [False]
    assert (model.training, model.part.training) == (True, False)
    with pytest.raises(ZeroDivisionError), evaluating(model):
        1 / int(model.training)
    assert (model.training, model.part.training, torch.is_grad_enabled()) == (True, False, True)


SAID = ["the black cat eats the red apple", "it is cold", "Hello, world!"]
WANTED = ["the small black cat eats the apple", "it is not cold today", "Hello world."]


@pytest.mark.parametrize("options", [{}, {"tokenize": "none"}, {"lowercase": True}])
def test_bleu_is_that_of_sacrebleu(options: dict[str, Any]) -> None:
    theirs = BLEU(**options)
    mine = bleu(SAID, WANTED, **options)
    assert mine.score == theirs.corpus_score(SAID, [WANTED]).score
    assert mine.signature == str(theirs.get_signature())
    assert 0 < mine.score < 100


@pytest.mark.parametrize(
    ("tokenize", "lines", "longest"),
    [
        ("13a", ["the red dog", "a man"], 3),
        ("none", ["a b, c."], 3),
        ("13a", ["", " "], 0),
        ("13a", ["一个男人在街上骑自行车。"], 1),
    ],
)
def test_bleu_of_texts_without_four_tokens_in_a_row_is_refused(tokenize, lines, longest) -> None:
    told = f"references must hold a sentence of at least 4 tokens: .* the longest has {longest}$"
    with pytest.raises(ValueError, match=told):
        bleu(lines, lines, tokenize=tokenize)
    with pytest.raises(ValueError, match=told):
        bleu(["a b c d e"] * len(lines), lines, tokenize=tokenize)
    longer = [f"{line} a b c d" for line in lines]
    assert bleu(longer, longer, tokenize=tokenize).score == pytest.approx(100)
    assert bleu(["a b c"] * len(lines), longer, tokenize=tokenize).score == 0  # they have no p_4


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_bleu_names_what_a_tokenizer_needs(language: str) -> None:
    name = f"{language}-mecab"
    try:
        BLEU(tokenize=name)
    except RuntimeError:
        told = rf"^tokenize='{name}' needs another package: pip install sacrebleu\[{language}\]$"
        with pytest.raises(ImportError, match=told):
            bleu(["a b c d"], ["a b c d"], tokenize=name)
    else:
        assert f"tok:{name}" in bleu(["a b c d"], ["a b c d"], tokenize=name).signature


def test_bleu_exact_match_and_argmax_links_by_hand() -> None:
    assert bleu(["a b c d"], ["a b c d"]).score == pytest.approx(100)
    # every n-gram is right, but 4 words stand for 5: exp(1 − 5/4)
    assert bleu(["a b c d"], ["a b c d e"]).score == pytest.approx(100 * math.exp(-1 / 4))
    # p_1 … p_4 = 4/5, 3/4, 2/3, 1/2, as long as the reference
    wanted = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d x"], ["a b c d e"]).score == pytest.approx(wanted)
    assert exact_match(["a b", "a", "c"], ["a b", "b", "c "]) == pytest.approx(1 / 3)
    assert exact_match([torch.tensor([3, 4]), [3]], [(3, 4), [3, 3]]) == 0.5
    assert exact_match([[], [1]], [[], [1]]) == 1
    weights = torch.tensor([[0.1, 0.9, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 0.0]])
    assert argmax_links(weights) == {(1, 0), (0, 1)}
    turned = weights.numpy().astype(">f8")[::-1, ::-1]
    assert argmax_links(turned) == argmax_links(turned.copy()) == {(1, 2), (0, 1)}
    with pytest.raises(ValueError, match=r"weights must be .*: some of its elements are masked"):
        argmax_links(np.ma.masked_equal(turned, 0))


# the small cat does not eat -> le petit chat ne mange pas; links are (source, target)
GOLD = [{(0, 0), (1, 1), (2, 2), (4, 3), (5, 4), (4, 5), (3, 5)}]
CLASSES = [["determiner", "adjective", "noun", "negation", "verb", "negation"]]
HIT = [2, 1, 2, 3, 5, 3, 5]  # source word of le petit chat ne mange pas and the end


def test_alignment_accuracy_by_hand_counts_tokens_and_no_padding() -> None:
    weights = torch.eye(6)[HIT][None]  # (1, 7, 6), with a row for eos
    found = alignment_accuracy(weights, GOLD, CLASSES)
    # le -> cat and ne -> does are wrong; pas -> does is one of its two links
    assert found.overall == pytest.approx(4 / 6)
    assert found.by_class == {
        "adjective": 1,
        "determiner": 0,
        "negation": 0.5,
        "noun": 1,
        "verb": 1,
    }
    assert found.counts == {"adjective": 1, "determiner": 1, "negation": 2, "noun": 1, "verb": 1}
    assert alignment_accuracy(weights, GOLD) == (found.overall, {}, {})
    weights = [torch.eye(6)[HIT], torch.tensor([[0.4, 0.6]])]
    gold = [*GOLD, {(0, 0)}]
    assert alignment_accuracy(weights, gold).overall == pytest.approx(4 / 7)
    assert alignment_accuracy(weights, [*GOLD, set()]).overall == pytest.approx(4 / 6)
    padded = torch.zeros(1, 9, 8)
    padded[0, :7, :6] = torch.eye(6)[HIT]
    wanted = alignment_accuracy(torch.eye(6)[HIT][None], GOLD, CLASSES)
    assert alignment_accuracy(padded, GOLD, CLASSES) == wanted


def test_the_error_rate_by_hand_and_links_that_are_read_once() -> None:
    wanted = alignment_accuracy(torch.eye(6)[HIT][None], GOLD)
    assert alignment_accuracy(torch.eye(6)[HIT][None], [iter(GOLD[0])]) == wanted
    assert alignment_accuracy([torch.eye(6)[HIT].tolist()], [np.array(list(GOLD[0]))]) == wanted
    assert alignment_error_rate([iter(GOLD[0])], [np.array(list(GOLD[0]))]) == 0
    found = [{(0, 0), (2, 1), (3, 3)}]
    sure, possible = [{(0, 0), (1, 2)}], [{(2, 1)}]
    # |A ∩ S| = 1, |A ∩ P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - 3 / 5)
    assert alignment_error_rate(found, sure) == pytest.approx(1 - 2 / 5)
    # a second sentence adds to the sums: 1, 1, 1, 2
    assert alignment_error_rate(
        [*found, {(0, 0)}], [*sure, {(0, 0), (1, 1)}], [*possible, set()]
    ) == pytest.approx(1 - 5 / 8)


links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1)


@given(found=links, sure=links, possible=links)
def test_properties_of_the_alignment_error_rate(found: set, sure: set, possible: set) -> None:
    rate = alignment_error_rate([found], [sure], [possible])
    assert 0 <= rate <= 1
    assert alignment_error_rate([sure], [sure], [possible]) == 0
    assert alignment_error_rate([sure | possible], [sure], [possible]) == 0
    # sure links only: 1 − F1
    hits = len(found & sure)
    precision, recall = hits / len(found), hits / len(sure)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0
    assert alignment_error_rate([found], [sure]) == pytest.approx(1 - f1)
