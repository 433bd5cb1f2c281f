"""The recurrent translator in use: copies, other dtypes, training mode, and what it refuses."""

import copy

import torch
from torch import Tensor

from attnbook.rnn import RNNSeq2Seq
from tests.attnbook.recurrent import (
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
from tests.attnbook.strategies import close


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
def test_dropout_is_for_training_alone(order: str, feeding: bool) -> None:
    model = model_of(order, feeding, dropout=0.5)
    source, target = batch_of()

    def run() -> Tensor:
        return model(source, target, source_lengths=LENGTHS)

    assert torch.equal(run(), run())
    assert torch.equal(run(), model_of(order, feeding)(source, target, source_lengths=LENGTHS))
    model.train()
    assert not torch.equal(run(), run())
