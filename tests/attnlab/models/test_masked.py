"""One stack read in two ways: what each kind may see, is asked, and puts into a blank."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnlab.language import batches, pad_batch
from attnlab.models import reversal
from attnlab.models.masked import (
    MASK,
    TextModel,
    blanks,
    every_word_tried,
    hide,
    masked_loss,
    masked_vocabulary,
    text_model,
)
from attnlab.models.tasks import Lesson
from attnlab.models.transformers import next_word_loss
from attnlab.training import seeded, train, warmup_cosine
from tests.attnlab.training.runs import copied, same_bits

TINY = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16}
each_kind = pytest.mark.parametrize("causal", [False, True], ids=["masked", "causal"])


def fresh(causal: bool, seed: int = 0) -> TextModel:
    with seeded(seed):
        return TextModel(14, causal=causal, **TINY).double().eval()


pytestmark = pytest.mark.usefixtures("no_cache")


@pytest.fixture(scope="module")
def digits() -> Lesson:
    return reversal(400, shortest=2, longest=5)


@each_kind
def test_only_a_causal_model_is_blind_ahead_and_padding_changes_nothing(causal: bool) -> None:
    model, tokens = fresh(causal), torch.tensor([[4, 5, 6, 7, 2]])
    changed = tokens.clone()
    changed[0, 3] = 9
    moved = (model(tokens) - model(changed)).abs().amax(-1)[0] > 1e-9
    assert moved.tolist() == [not causal] * 3 + [True, True]
    model = fresh(causal)
    alone, padded = torch.tensor([[4, 5, 6]]), torch.tensor([[4, 5, 6, 0, 0], [7, 8, 9, 10, 2]])
    torch.testing.assert_close(model(padded)[:1, :3], model(alone))


def test_both_kinds_have_the_same_parts_and_the_mask_is_number_three(digits: Lesson) -> None:
    one, other = (fresh(causal).state_dict() for causal in (False, True))
    assert all(torch.equal(one[name], other[name]) for name in one | other)
    vocabulary = masked_vocabulary(digits)
    assert len(vocabulary) == len(digits.source) + 1
    assert vocabulary.encode(["<mask>", "7", "cat"]) == [MASK, MASK + 8, MASK]


def test_hidden_words_are_drawn_and_the_rest_stays() -> None:
    tokens = torch.randint(4, 14, (200, 50))
    tokens[:, -2], tokens[:, -1] = 2, 0
    with seeded(1):
        read, hidden = hide(tokens)
    assert torch.equal(read == MASK, hidden)
    assert torch.equal(read[~hidden], tokens[~hidden])
    assert not hidden[:, -2:].any()
    assert 0.13 < hidden[:, :-2].double().mean() < 0.17
    assert not hide(tokens, 0.0)[1].any()
    assert hide(tokens, 1.0)[1][:, :-2].all()


def test_masked_loss_asks_for_the_hidden_words_alone() -> None:
    model, batch = fresh(False), pad_batch([([4, 5, 6], [4, 5, 6]), ([7], [7, 8, 9, 10])])
    with seeded(3):
        found = masked_loss(model, batch)
    with seeded(3):
        read, hidden = hide(batch.target_out)
    assert hidden.any()
    log_p = model(read).log_softmax(-1)
    by_hand = [-log_p[i, t, batch.target_out[i, t]] for i, t in hidden.nonzero().tolist()]
    torch.testing.assert_close(found, torch.stack(by_hand).mean())


@each_kind
def test_a_blank_is_filled_from_what_may_be_seen(causal: bool) -> None:
    model, sentence = fresh(causal), [4, 5, 6, 7]
    log_p = blanks(model, sentence)
    assert log_p.shape == (4, 14)
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(4, dtype=torch.float64))
    assert (log_p[:, : MASK + 1] == -math.inf).all()  # what stands there is a word
    for changed in range(4):
        other = blanks(model, [9 if t == changed else word for t, word in enumerate(sentence)])
        same = [torch.equal(log_p[t], other[t]) for t in range(4)]
        # nobody sees the word asked for, and only a masked model sees what follows it
        assert same == [t == changed or (causal and t < changed) for t in range(4)]


def test_a_causal_model_that_tries_every_word_weighs_the_whole_sentence() -> None:
    model, sentence = fresh(True), [4, 5, 6]

    def log_p(words: list[int]) -> Tensor:
        batch = pad_batch([(words, words)])
        return -cross_entropy(model(batch.target_in)[0], batch.target_out[0], reduction="sum")

    found = every_word_tried(model, sentence)
    for t in range(3):
        tried = [log_p([*sentence[:t], word, *sentence[t + 1 :]]) for word in range(4, 14)]
        torch.testing.assert_close(found[t, 4:], torch.stack(tried).log_softmax(0))
    assert (found[:, :4] == -math.inf).all()


@each_kind
def test_training_is_the_recipe_written_out(digits: Lesson, causal: bool) -> None:
    options = {"steps": 12, "lr": 1e-2, "seed": 5}
    trained, history = text_model(
        digits, causal=causal, warmup=4, batch_size=16, progress=False, **TINY, **options
    )
    vocabulary = masked_vocabulary(digits)
    with seeded(5):
        model = TextModel(len(vocabulary), causal=causal, **TINY)
    sentences = [vocabulary.encode(pair.source) for pair in digits.train]
    examples = [(one, one) for one in sentences]
    told = train(
        model,
        lambda epoch: batches(examples, 16, seed=5_000 + epoch),
        next_word_loss if causal else masked_loss,
        schedule=warmup_cosine(4, 12),
        progress=False,
        **options,
    )
    assert history.losses == told.losses
    assert same_bits(copied(trained), copied(model))


def test_a_masked_model_learns_what_stands_on_the_right(digits: Lesson) -> None:
    """Each sentence is one word twice, so that the first is known from the second."""
    twins = tuple(pair._replace(source=(pair.source[0],) * 2) for pair in digits.train)
    make = partial(text_model, digits._replace(train=twins), **TINY, lr=2e-2, progress=False)
    right = {}
    for causal in (False, True):
        model, _ = make(causal=causal, steps=200)
        guesses = [blanks(model, [word, word])[0].argmax().item() for word in range(4, 14)]
        right[causal] = sum(g == word for g, word in zip(guesses, range(4, 14), strict=True))
    assert right[False] == 10
    assert right[True] == 1
