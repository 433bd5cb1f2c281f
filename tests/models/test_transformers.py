"""The lectures' Transformers: that a call is a model, that they learn, and what is remembered."""

from pathlib import Path

import pytest
import torch

from attnbook.language import batches
from attnbook.models import recipe
from attnbook.models.tasks import Lesson, reversal
from attnbook.models.transformers import crossings, language_model, next_word_loss, transformer

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16, "warmup": 5, "progress": False}


@pytest.fixture(scope="module")
def digits() -> Lesson:
    return reversal(400, shortest=1, longest=4)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(recipe.CACHE, raising=False)


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("make", [transformer, language_model])
def test_the_same_call_gives_the_same_model_and_another_seed_another(digits, make) -> None:
    torch.manual_seed(1)
    model, history = make(digits, steps=20, **SMALL)
    torch.manual_seed(2)
    again, other = make(digits, steps=20, **SMALL)
    assert same(model, again)
    assert history.losses == other.losses
    assert not model.training
    assert not same(model, make(digits, steps=20, seed=1, **SMALL)[0])


@pytest.mark.parametrize("make", [transformer, language_model])
def test_they_learn(digits, make) -> None:
    _, history = make(digits, steps=60, lr=1e-2, **SMALL)
    assert sum(history.losses[-5:]) < 0.95 * sum(history.losses[:5])


@pytest.mark.parametrize("make", [transformer, language_model])
def test_a_remembered_model_is_the_one_that_was_trained_cold(
    digits: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make
) -> None:
    cold, history = make(digits, steps=10, **SMALL)
    monkeypatch.setenv(recipe.CACHE, str(tmp_path))
    make(digits, steps=10, **SMALL)
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    warm, told = make(digits, steps=10, **SMALL)
    assert file.stat().st_mtime_ns == before
    assert same(cold, warm)
    assert history.losses == told.losses
    make(digits, steps=10, dropout=0.5, **SMALL)  # every option counts
    make(digits, steps=10, norm="post", **SMALL)
    assert len(list(tmp_path.iterdir())) == 3


def test_smoothing_changes_the_loss_and_not_the_first_weights(digits: Lesson) -> None:
    _, plain = transformer(digits, steps=6, **SMALL)
    _, smooth = transformer(digits, steps=6, smoothing=0.1, **SMALL)
    assert plain.losses[0] != smooth.losses[0]


def test_a_language_model_reads_no_source(digits: Lesson) -> None:
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
    with pytest.raises(ValueError, match="layer"):
        crossings(model, digits, digits.test[:1], layer=3)
