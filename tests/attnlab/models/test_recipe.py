"""The recipe of all models: Adam, clipped, a warm-up, each epoch in another order; remembered."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook import rnn
from attnlab.language import batches
from attnlab.models import language_model, recipe, reversal, transformer, translator
from attnlab.models.recipe import CACHE, first_steps, fit, learn
from attnlab.models.tasks import Lesson
from attnlab.training.losses import teacher_forced_loss
from attnlab.training.schedules import warmup_cosine
from tests.attnlab.training.runs import copied, same_bits

SMALL = {"d_model": 16, "progress": False}
LAYER = {**SMALL, "n_heads": 2, "n_layers": 1, "d_ff": 16, "warmup": 4}


pytestmark = pytest.mark.usefixtures("no_cache")


@pytest.fixture(scope="module")
def digits() -> Lesson:
    return reversal(40, shortest=1, longest=4)


def begun(make: Callable[..., Any], lesson: Lesson, **options: Any) -> nn.Module:
    """Return a model as it is before the first step."""
    found: list[nn.Module] = []

    def caught(model: nn.Module, *arguments: object, **more: object) -> None:
        found.append(model)
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "fit", caught)
        with pytest.raises(InterruptedError):
            make(lesson, **options)
    return found[0].train()


@pytest.mark.parametrize(
    ("make", "options", "warmup"),
    [(translator, SMALL, 11), (transformer, LAYER, 4), (language_model, LAYER, 4)],
    ids=["translator", "transformer", "language model"],
)
def test_training_is_the_recipe_written_out(digits, make, options, warmup) -> None:
    # at so high a rate gradients grow, and clipping shows
    options = {**options, "steps": 12, "lr": 1.5, "batch_size": 16, "seed": 5}
    trained, history = make(digits, **options)
    model, rate = begun(make, digits, **options), warmup_cosine(warmup, 12)
    adam = torch.optim.Adam(model.parameters(), fused=True)
    speaks = make is language_model
    words = [digits.source.encode(pair.source) for pair in digits.train]
    examples = [(one, one) for one in words] if speaks else digits.examples(digits.train)
    # 40 pairs are three batches: four epochs, each shuffled by a seed of its own
    data = [b for epoch in range(4) for b in batches(examples, 16, seed=5_000 + epoch)]
    norms = []
    for step, batch in enumerate(data, 1):
        adam.param_groups[0]["lr"] = 1.5 * rate(step)
        if speaks:
            logits = model(batch.target_in)
        else:
            logits = model(batch.source, batch.target_in, source_lengths=batch.source_lengths)
        loss = cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=0)
        assert loss.item() == pytest.approx(history.losses[step - 1], rel=1e-6)
        adam.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        adam.step()
    assert max(norms) > 2
    for name, weight in trained.state_dict().items():
        torch.testing.assert_close(weight, model.state_dict()[name], rtol=1e-4, atol=1e-6)


class Reader(nn.Module):
    """Remembers the sources that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.read = nn.Parameter(torch.ones(())), list[tuple[int, ...]]()

    def forward(self, source: Tensor) -> Tensor:
        self.read += [tuple(row.tolist()) for row in source]
        return self.weight**2


def orders(seed: int, epochs: int = 2) -> list[list[tuple[int, ...]]]:
    """Return the order in which the examples are read, epoch after epoch."""
    model, examples = Reader(), [([k, k + 1], [1]) for k in range(1, 33)]
    settings = {"steps": 4 * epochs, "warmup": 0, "lr": 0.1, "batch_size": 8, "progress": False}
    learn(model, examples, lambda model, batch: model(batch.source), seed=seed, **settings)
    return [model.read[32 * k : 32 * (k + 1)] for k in range(epochs)]


def test_every_epoch_is_shuffled_anew_and_by_the_seed() -> None:
    first, second, third = orders(0, 3)
    assert sorted(first) == sorted(second) == sorted(third)
    assert first != second != third != first
    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert orders(0)[0] != orders(1)[0]


def files(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_every_setting_that_matters_is_remembered_apart(digits, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    plain = {**SMALL, "steps": 6}
    calls = [
        {},
        {"score": "dot"},  # no weights of its own,
        {"score": "scaled dot"},  # nor has this
        {"order": "luong"},
        {"steps": 7},
        {"lr": 1e-3},
        {"batch_size": 8},
        {"seed": 1},
        {"d_model": 8},
    ]
    for count, call in enumerate(calls, 1):
        translator(digits, **{**plain, **call})
        assert files(tmp_path) == count, call
    translator(digits._replace(train=digits.train[:39]), **plain)
    assert files(tmp_path) == len(calls) + 1
    for call in calls:
        translator(digits, **{**plain, **call})
    assert files(tmp_path) == len(calls) + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("MKL_CBWR", "COMPATIBLE"), ("ONEDNN_MAX_CPU_ISA", "SSE41"), ("DNNL_MAX_CPU_ISA", "SSE41")],
)
def test_a_model_trained_as_on_another_processor_is_another(
    digits, tmp_path, monkeypatch, name: str, value: str
) -> None:
    """Set after the libraries were loaded, so that even the bits of the first losses are equal."""
    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.delenv(name, raising=False)
    translator(digits, **SMALL, steps=6)
    assert files(tmp_path) == 1
    monkeypatch.setenv(name, value)
    translator(digits, **SMALL, steps=6)
    assert files(tmp_path) == 2


def test_the_score_of_a_remembered_model_is_its_own(digits, tmp_path, monkeypatch) -> None:
    options = {**SMALL, "steps": 6}
    cold = [translator(digits, score=score, **options)[0] for score in ("dot", "scaled dot")]
    monkeypatch.setenv(CACHE, str(tmp_path))
    warm = [translator(digits, score=score, **options)[0] for score in ("dot", "scaled dot")]
    assert [same_bits(copied(a), copied(b)) for a, b in zip(cold, warm, strict=True)] == [True] * 2


def test_another_initialisation_trains_again(digits, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    translator(digits, **SMALL, steps=6)
    before = rnn.RNNEncoder.__init__

    def smaller(self: nn.Module, *arguments: Any, **options: Any) -> None:
        before(self, *arguments, **options)
        with torch.no_grad():
            self.embedding.weight *= 0.5

    monkeypatch.setattr(rnn.RNNEncoder, "__init__", smaller)
    translator(digits, **SMALL, steps=6)
    assert files(tmp_path) == 2


def test_data_of_a_later_epoch_and_the_clip_count(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    x = torch.ones(3, 2)

    def run(second: float, clip: float | None) -> None:
        data = lambda epoch: [x * (second if epoch else 1.0)] * 4  # noqa: E731
        model = nn.Linear(2, 1, bias=False)
        nn.init.ones_(model.weight)
        loss = lambda model, batch: model(batch).square().mean()  # noqa: E731
        fit(model, data, loss, steps=8, lr=0.1, clip=clip, progress=False)

    for count, settings in enumerate([(1, 1), (2, 1), (1, 1e6), (1, None)], 1):
        run(*settings)
        assert files(tmp_path) == count
    run(1, 1)
    assert files(tmp_path) == 4


def test_the_first_steps_are_those_of_the_whole_training() -> None:
    def run() -> list[float]:
        model = nn.Linear(2, 1, bias=False)
        nn.init.ones_(model.weight)
        data = [torch.full((1, 2), float(k)) for k in range(1, 6)]
        loss = lambda model, x: model(x.to(model.weight.dtype)).square().sum()  # noqa: E731
        schedule = warmup_cosine(2, 10)
        return fit(model, data, loss, steps=10, lr=0.1, schedule=schedule, progress=False).losses

    with first_steps() as beginnings:
        short = run()
    whole = run()
    assert beginnings[0].losses == short
    assert len(short) == 3
    assert len(whole) == 10
    assert short == pytest.approx(whole[:3], rel=1e-6)
    assert beginnings[0].rates == pytest.approx(0.1 * sum(map(warmup_cosine(2, 10), range(1, 11))))


def test_first_steps_are_in_double_precision_and_leave_torch_as_it_was(digits: Lesson) -> None:
    with first_steps() as beginnings:
        model, history = translator(digits, **SMALL)
    assert {weight.dtype for weight in model.parameters()} == {torch.float64}
    assert not model.training
    assert beginnings[0].losses == history.losses
    assert torch.get_default_dtype() == torch.float32
    again, other = translator(digits, **SMALL, steps=4)
    assert len(other.losses) == 4
    assert next(again.parameters()).dtype == torch.float32


def test_dropout_counts_in_the_first_steps(digits: Lesson) -> None:
    losses = []
    for dropout in (0.0, 0.2, 0.2, 0.4):
        with first_steps() as beginnings:
            model, _ = transformer(digits, **LAYER, steps=20, dropout=dropout)
        losses.append(beginnings[0].losses)
        assert not any(layer._forward_hooks for layer in model.modules())
    assert losses[0] != losses[1] == losses[2] != losses[3]


def test_learn_takes_the_loss_of_a_translator_unless_told_another(digits: Lesson) -> None:
    def run(**options: Any) -> list[float]:
        settings = {"steps": 3, "warmup": 1, "lr": 0.01, "batch_size": 8, "seed": 0}
        model = begun(translator, digits, **SMALL)
        examples = digits.examples(digits.train)
        return learn(model, examples, **options, **settings, progress=False).losses

    assert run() == run(loss=teacher_forced_loss)
