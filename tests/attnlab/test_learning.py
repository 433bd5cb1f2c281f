"""The book's translators learn with the one loop, and resume on the same bits."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn

from attnbook.decoding import greedy
from attnbook.rnn import RNNSeq2Seq
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language import Batch, Vocabulary, batches, pad_batch, reversed_digits
from attnlab.language.batching import Example
from attnlab.training import train
from attnlab.training.metrics import exact_match, free_running, perplexity, teacher_forced
from attnlab.training.schedules import warmup_cosine
from attnlab.training.seeds import seeded
from tests.attnbook.strategies import close
from tests.attnlab.training.runs import copied, same_bits

DIGITS = Vocabulary([list("0123456789")])
RUNS = teacher_forced, free_running
SIZES = len(DIGITS), len(DIGITS)


def reversals(n: int) -> list[Example]:
    """Return strings of three to five digits, in numbers, and the same read backwards."""
    pairs = reversed_digits(n, shortest=3, longest=5)
    return [(DIGITS.encode(pair.source), DIGITS.encode(pair.target)) for pair in pairs]


def bucketed(examples: list[Example], size: int) -> Callable[[int], Iterator[Batch]]:
    """Return what ``train`` calls for each epoch's batches."""
    return lambda epoch: batches(examples, size, seed=epoch)


def recurrent(dropout: float = 0.0) -> nn.Module:
    return RNNSeq2Seq(*SIZES, 64, order="luong", dropout=dropout)


def transformer(dropout: float = 0.0) -> nn.Module:
    return Seq2Seq(
        *SIZES, ModelConfig(d_model=64, n_heads=4, n_layers=1, dropout=dropout, tied=dropout > 0)
    )


@pytest.fixture(params=[recurrent, transformer])
def make(request: pytest.FixtureRequest) -> Callable[..., nn.Module]:
    """Return what makes one of the two translators."""
    return request.param


@pytest.mark.parametrize(("make", "steps"), [(recurrent, 600), (transformer, 400)])
def test_a_translator_learns_to_read_backwards(make: Callable[..., nn.Module], steps: int) -> None:
    with seeded(0):
        model = make()
    examples = reversals(10_300)  # all different
    train_on, test_on = bucketed(examples[300:], 64), pad_batch(examples[:300])
    schedule = warmup_cosine(30, steps)
    train(model, train_on, steps=steps, lr=5e-3, schedule=schedule, progress=False)
    written = greedy(model, test_on.source, test_on.source_lengths, max_length=9)
    wanted = [DIGITS.decode(row) for row in test_on.target_out]
    assert exact_match([DIGITS.decode(one.tokens) for one in written], wanted) > 0.95
    fed_the_truth, fed_itself = (perplexity(model, [test_on], run) for run in RUNS)
    assert 1 < fed_the_truth < fed_itself + 1e-6 < 1.3


def test_free_running_is_a_forward_pass_over_what_was_said(make: Callable[..., nn.Module]) -> None:
    with seeded(1):
        model = make().double().eval()
    batch = pad_batch(reversals(5))
    with torch.no_grad():
        logits = free_running(model, batch)
        fed = torch.cat([batch.target_in[:, :1], logits.argmax(dim=-1)[:, :-1]], dim=1)
        wanted = model(batch.source, fed, source_lengths=batch.source_lengths)
    close(logits, wanted)


def test_a_translator_resumes_on_the_same_bits(make, tmp_path) -> None:
    with seeded(0):
        straight, stopped, resumed = (make(dropout=0.2) for _ in range(3))
    stopped.load_state_dict(straight.state_dict())

    epochs = bucketed(reversals(24), 4)  # six batches
    options = {"schedule": warmup_cosine(5, 20), "progress": False}
    train(straight, epochs, steps=20, **options)
    train(stopped, epochs, steps=7, checkpoint=tmp_path, **options)
    history = train(resumed, epochs, steps=20, checkpoint=tmp_path, resume=True, **options)
    assert same_bits(copied(resumed), copied(straight))
    assert history.steps == 20
