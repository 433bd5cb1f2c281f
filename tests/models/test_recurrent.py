"""The lectures' translators: what they learn, that a call is a model, and what is remembered."""

from pathlib import Path
from typing import Any

import pytest
import torch

from attnbook.models import recipe, recurrent
from attnbook.models.recurrent import translator
from attnbook.models.tasks import Lesson, by_length, looks, reversal, translation, write

SMALL = {"d_model": 16, "steps": 30, "progress": False}


@pytest.fixture(scope="module")
def digits() -> Lesson:
    return reversal(400, shortest=1, longest=4)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(recipe.CACHE, raising=False)


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_translation_knows_every_word_that_it_is_asked() -> None:
    lesson = translation(500)
    assert len(lesson.train) == 500
    for pairs in (lesson.test, lesson.combinations):
        assert len(lesson.examples(pairs)) == 1_000  # encode refuses unknown words
    assert lesson.source == translation(50).source


def test_reversal_asks_nothing_that_was_learned(digits: Lesson) -> None:
    learned = {pair.source for pair in digits.train}
    assert len(learned) == 400
    assert learned.isdisjoint(pair.source for pair in digits.test)
    assert all(pair.target == pair.source[::-1] for pair in digits.test)


def test_the_same_call_gives_the_same_model(digits: Lesson) -> None:
    torch.manual_seed(1)
    model, history = translator(digits, **SMALL)
    torch.manual_seed(2)
    again, other = translator(digits, **SMALL)
    assert same(model, again)
    assert history.losses == other.losses
    assert not model.training


def test_another_seed_gives_another_model(digits: Lesson) -> None:
    assert not same(translator(digits, **SMALL)[0], translator(digits, seed=1, **SMALL)[0])


@pytest.mark.parametrize("score", list(recurrent.SCORES))
def test_every_score_learns(digits: Lesson, score: str) -> None:
    _, history = translator(digits, score=score, **SMALL)
    assert sum(history.losses[-5:]) < 0.95 * sum(history.losses[:5])


def test_a_remembered_model_is_the_one_that_was_trained_cold(
    digits: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold, history = translator(digits, **SMALL)
    monkeypatch.setenv(recipe.CACHE, str(tmp_path / "models"))
    first, _ = translator(digits, **SMALL)
    assert len(list((tmp_path / "models").iterdir())) == 1

    whole = recipe.train

    def short(*arguments: Any, steps: int, **options: Any) -> Any:
        assert steps == recipe.FIRST, "it was to be remembered, and is trained again"
        return whole(*arguments, steps=steps, **options)

    monkeypatch.setattr(recipe, "train", short)
    remembered, losses = translator(digits, **SMALL)
    assert same(cold, first)
    assert same(cold, remembered)
    assert history.losses == losses.losses
    assert not remembered.training


def test_write_gives_the_words_of_each_pair_whatever_the_batch(digits: Lesson) -> None:
    model, _ = translator(digits, order="none", **SMALL)
    together = write(model, digits, digits.test[:20])
    alone = [write(model, digits, [pair])[0] for pair in digits.test[:20]]
    for one, other in zip(together, alone, strict=True):  # the limit depends on the batch
        assert one[: len(other)] == other[: len(one)]
    assert all(set(words) <= set("0123456789") for words in together)


def test_looks_gives_each_step_a_share_of_its_own_source(digits: Lesson) -> None:
    model, _ = translator(digits, **SMALL)
    for pair, weights in zip(digits.test[:9], looks(model, digits, digits.test[:9]), strict=True):
        assert weights.shape == (len(pair.target) + 1, len(pair.source))
        torch.testing.assert_close(weights.sum(-1), torch.ones(len(pair.target) + 1))


def test_by_length_counts_each_range(digits: Lesson) -> None:
    ones = [p for p in digits.test if len(p.source) == 1][:4]
    threes = [p for p in digits.test if len(p.source) == 3][:2]
    right = [True, True, True, False, True, False]
    assert by_length([*ones, *threes], right, (1, 2, 3, 5)) == {"1": 0.75, "3–4": 0.5}
