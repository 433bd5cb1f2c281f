"""The lectures' translators and language models: what they learn, and what is remembered."""

from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.language import batches
from attnlab.models import recipe, recurrent
from attnlab.models.recurrent import translator
from attnlab.models.tasks import Lesson, by_length, looks, reversal, translation, write
from attnlab.models.transformers import crossings, language_model, next_word_loss, transformer
from tests.attnlab.training.runs import copied, same_bits

RECURRENT = {"d_model": 16, "progress": False}
SMALL = {**RECURRENT, "n_heads": 2, "n_layers": 1, "d_ff": 16, "warmup": 5}
each_kind = pytest.mark.parametrize(
    ("make", "options"),
    [(translator, RECURRENT), (transformer, SMALL), (language_model, SMALL)],
    ids=["translator", "transformer", "language model"],
)


pytestmark = pytest.mark.usefixtures("no_cache")


@pytest.fixture(scope="module")
def digits() -> Lesson:
    return reversal(400, shortest=1, longest=4)


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return same_bits(copied(one), copied(other))


def test_the_tasks_know_every_word_and_ask_nothing_that_was_learned(digits: Lesson) -> None:
    lesson = translation(500)
    assert len(lesson.train) == 500
    for pairs in (lesson.test, lesson.combinations):
        assert len(lesson.examples(pairs)) == 1_000  # encode refuses unknown words
    assert lesson.source == translation(50).source
    learned = {pair.source for pair in digits.train}
    assert len(learned) == 400
    assert learned.isdisjoint(pair.source for pair in digits.test)
    assert all(pair.target == pair.source[::-1] for pair in digits.test)


@each_kind
def test_the_same_call_gives_the_same_model_and_another_seed_another(digits, make, options) -> None:
    torch.manual_seed(1)
    model, history = make(digits, steps=20, **options)
    torch.manual_seed(2)
    again, other = make(digits, steps=20, **options)
    assert same(model, again)
    assert history.losses == other.losses
    assert not model.training
    assert not same(model, make(digits, steps=20, seed=1, **options)[0])


@pytest.mark.parametrize(
    ("make", "options"),
    [
        *((translator, {**RECURRENT, "score": score}) for score in recurrent.SCORES),
        (transformer, {**SMALL, "lr": 1e-2}),
        (language_model, {**SMALL, "lr": 1e-2}),
    ],
)
def test_every_kind_and_every_score_learns(digits: Lesson, make, options) -> None:
    _, history = make(digits, steps=30 if make is translator else 60, **options)
    assert sum(history.losses[-5:]) < 0.95 * sum(history.losses[:5])


@each_kind
def test_a_remembered_model_is_the_one_that_was_trained_cold(
    digits: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make, options
) -> None:
    cold, history = make(digits, steps=10, **options)
    monkeypatch.setenv(recipe.CACHE, str(tmp_path / "models"))
    first, _ = make(digits, steps=10, **options)
    (file,) = (tmp_path / "models").iterdir()
    before, whole = file.stat().st_mtime_ns, recipe.train

    def short(*arguments: Any, steps: int, **more: Any) -> Any:
        assert steps == recipe.FIRST, "it was to be remembered, and is trained again"
        return whole(*arguments, steps=steps, **more)

    with monkeypatch.context() as patch:
        patch.setattr(recipe, "train", short)
        warm, told = make(digits, steps=10, **options)
    assert file.stat().st_mtime_ns == before
    assert same(cold, first)
    assert same(cold, warm)
    assert history.losses == told.losses
    assert not warm.training
    if make is not translator:
        make(digits, steps=10, dropout=0.5, **options)  # every option counts
        make(digits, steps=10, norm="post", **options)
        assert len(list((tmp_path / "models").iterdir())) == 3


def test_write_and_looks_give_the_words_of_each_pair_and_their_shares(digits: Lesson) -> None:
    model, _ = translator(digits, order="none", steps=30, **RECURRENT)
    together = write(model, digits, digits.test[:20])
    alone = [write(model, digits, [pair])[0] for pair in digits.test[:20]]
    for one, other in zip(together, alone, strict=True):  # the limit depends on the batch
        assert one[: len(other)] == other[: len(one)]
    assert all(set(words) <= set("0123456789") for words in together)
    model, _ = translator(digits, steps=30, **RECURRENT)
    for pair, weights in zip(digits.test[:9], looks(model, digits, digits.test[:9]), strict=True):
        assert weights.shape == (len(pair.target) + 1, len(pair.source))
        torch.testing.assert_close(weights.sum(-1), torch.ones(len(pair.target) + 1))


def test_by_length_counts_each_range(digits: Lesson) -> None:
    ones = [p for p in digits.test if len(p.source) == 1][:4]
    threes = [p for p in digits.test if len(p.source) == 3][:2]
    right = [True, True, True, False, True, False]
    assert by_length([*ones, *threes], right, (1, 2, 3, 5)) == {"1": 0.75, "3–4": 0.5}


def test_smoothing_changes_the_loss_and_a_language_model_reads_no_source(digits: Lesson) -> None:
    _, plain = transformer(digits, steps=6, **SMALL)
    _, smooth = transformer(digits, steps=6, smoothing=0.1, **SMALL)
    assert plain.losses[0] != smooth.losses[0]
    model, _ = language_model(digits, steps=6, **SMALL)
    (batch,) = batches(digits.examples(digits.train[:8]), 8)
    other = batch._replace(source=batch.source.flip(0))
    assert next_word_loss(model, batch) == next_word_loss(model, other)


def test_crossings_are_cut_to_each_sentence_and_sum_to_one(digits: Lesson) -> None:
    model, _ = transformer(digits, steps=6, **SMALL)
    found = crossings(model, digits, digits.test[:30])
    for heads, pair in zip(found, digits.test[:30], strict=True):
        assert heads.shape == (2, len(pair.target) + 1, len(pair.source))
        torch.testing.assert_close(heads.sum(-1), torch.ones(heads.shape[:-1]))
