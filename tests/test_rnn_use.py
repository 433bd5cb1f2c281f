"""The recurrent translator in use: copies, other dtypes, training mode, and what it refuses."""

import copy

import pytest
import torch
from torch import Tensor

from attnbook.rnn import AttentionDecoder, Encoder, RNNSeq2Seq
from tests.recurrent import (
    LENGTHS,
    SCORES,
    SOURCE,
    TARGET,
    D,
    batch_of,
    every_model,
    every_order,
    model_of,
)
from tests.strategies import close


@every_order
def test_copies_and_saved_weights_give_the_same(order: str, feeding: bool) -> None:
    model = model_of(order, feeding)
    source, target = batch_of()
    wanted = model(source, target, source_lengths=LENGTHS)
    before = {name: set(vars(m)) for name, m in model.named_modules()}
    assert torch.equal(copy.deepcopy(model)(source, target, source_lengths=LENGTHS), wanted)
    torch.manual_seed(1)
    score = SCORES["additive"]()
    other = RNNSeq2Seq(SOURCE, TARGET, D, order=order, input_feeding=feeding, score=score)
    other.double().eval().load_state_dict(model.state_dict())
    assert torch.equal(other(source, target, source_lengths=LENGTHS), wanted)
    if order != "none":
        model.weights(source, target, source_lengths=LENGTHS)
    assert {name: set(vars(m)) for name, m in model.named_modules()} == before


@every_model
def test_other_dtypes_and_autocast(order: str, feeding: bool, score: str) -> None:
    model = model_of(order, feeding, score)
    source, target = batch_of()
    wanted = model(source, target, source_lengths=LENGTHS)
    model.float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half, state = model(source, target, source_lengths=LENGTHS), model.start(source, LENGTHS)
        for t in range(target.shape[1]):
            stepped, state = model.step(target[:, t], state)
            close(stepped.double(), wanted[:, t], atol=0.05)
    close(half.double(), wanted, atol=0.05)
    model.bfloat16()
    half = model(source, target, source_lengths=LENGTHS)
    assert half.dtype == torch.bfloat16
    close(half.double(), wanted, atol=0.05)


@every_order
def test_a_compiled_model_gives_the_same(order: str, feeding: bool) -> None:
    model = model_of(order, feeding)
    source, target = batch_of()
    wanted = model(source, target, source_lengths=LENGTHS)
    compiled = torch.compile(model, backend="aot_eager")
    mine = compiled(source, target, source_lengths=LENGTHS)
    close(mine, wanted)
    mine.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@every_order
def test_dropout_is_for_training_alone(order: str, feeding: bool) -> None:
    model = model_of(order, feeding, dropout=0.5)
    source, target = batch_of()

    def run() -> Tensor:
        return model(source, target, source_lengths=LENGTHS)

    assert torch.equal(run(), run())
    assert torch.equal(run(), model_of(order, feeding)(source, target, source_lengths=LENGTHS))
    model.train()
    assert not torch.equal(run(), run())


def run_with(**changed) -> None:
    source, target = batch_of()
    arguments = {"source": source, "target": target, "source_lengths": LENGTHS, **changed}
    model_of()(arguments["source"], arguments["target"], source_lengths=arguments["source_lengths"])


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"source": [[3]]}, TypeError, "source must be a torch.Tensor: it is a list"),
        ({"source": torch.ones(3, 6)}, ValueError, "source must .*torch.float32"),
        ({"source": torch.full((3, 6), SOURCE)}, ValueError, "source must .*from 0 to 10"),
        ({"source": torch.full((3, 6), -1)}, ValueError, "source must .*from 0 to 10.*-1"),
        ({"source": torch.ones(3).long()}, ValueError, r"source must .*shape .*\(3,\)"),
        ({"target": torch.full((3, 5), TARGET)}, ValueError, "target must .*from 0 to 8"),
        ({"target": torch.ones(2, 5).long()}, ValueError, r"target must .*\(2, 5\)"),
        ({"target": torch.ones(3, 0).long()}, ValueError, r"target must .*\(3, 0\)"),
        ({"source_lengths": [4, 6, 1]}, TypeError, "source_lengths must be a torch.Tensor"),
        ({"source_lengths": LENGTHS.int()}, ValueError, "source_lengths must be int64"),
        ({"source_lengths": LENGTHS[:2]}, ValueError, r"\(b,\) = \(3,\).*shape \(2,\)"),
        ({"source_lengths": LENGTHS - 1}, ValueError, r"from 1 to 6.*\[3, 5, 0\]"),
        ({"source_lengths": LENGTHS - 7}, ValueError, "source_lengths must be from 1 to 6"),
        ({"source_lengths": LENGTHS + 1}, ValueError, "source_lengths must be from 1 to 6"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(changed, error, message: str) -> None:
    with pytest.raises(error, match=message):
        run_with(**changed)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Encoder(5, 7), "d_model must be a multiple of the number of directions = 2: .*7"),
        (lambda: Encoder(0, 8), "vocabulary must be a whole number of at least 1: it is 0"),
        (lambda: Encoder(5, 0), "d_model must be a whole number of at least 2"),
        (lambda: Encoder(5, 8, dropout=1.0), "dropout must be at least 0 and below 1"),
        (lambda: AttentionDecoder(0, 8), "vocabulary must be a whole number of at least 1"),
        (lambda: AttentionDecoder(5, 0), "d_model must be a whole number of at least 1"),
        (lambda: AttentionDecoder(5, 8, dropout=-0.1), "dropout must be at least 0"),
        (lambda: AttentionDecoder(5, 8, order="cho"), "order must be one of 'none', .*'cho'"),
        (
            lambda: AttentionDecoder(5, 8, order="bahdanau", input_feeding=True),
            "input_feeding is for order='luong' alone: order is 'bahdanau'",
        ),
    ],
)
def test_a_model_that_cannot_be_is_refused(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_a_model_without_attention_has_no_weights_to_show() -> None:
    source, target = batch_of()
    with pytest.raises(ValueError, match="order='none' has no weights"):
        model_of("none").weights(source, target, source_lengths=LENGTHS)


def test_a_score_of_another_shape_is_refused() -> None:
    model = RNNSeq2Seq(SOURCE, TARGET, D, score=lambda q, k: q.sum(dim=-1, keepdim=True))
    source, target = batch_of()
    with pytest.raises(ValueError, match=r"score\(query, key\) must return the shape"):
        model(source, target, source_lengths=LENGTHS)
