"""What makes a step cheaper changes nothing of what it computes."""

from dataclasses import replace

import pytest
import torch

from attnlab.language import pad_batch
from attnlab.training.seeds import seeded
from attnlab.translation.fast import BytesDropout, products, quicken
from attnlab.translation.model import Learner, build
from tests.attnlab.translation.small import SMALL

BATCH = pad_batch([([4, 5, 6], [7, 8]), ([9], [10, 11, 12, 13])])


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_the_quick_step_is_the_step(kind: str) -> None:
    gradients = []
    for quick in (False, True):
        model = build(replace(SMALL, model=kind, dropout=0.0), 30).train()
        if quick:
            quicken(model)
        with products("medium" if quick else "highest"):
            Learner(model, 0.1)(BATCH).backward()
        gradients.append({name: weight.grad for name, weight in model.named_parameters()})
    for name, wanted in gradients[0].items():
        # bfloat16 inside, where the processor has tiles for it
        torch.testing.assert_close(gradients[1][name], wanted, rtol=0.05, atol=0.05)


def test_the_precision_is_left_as_it_was_and_dropout_off_outside_training() -> None:
    before = torch.get_float32_matmul_precision()
    with products("medium"):
        assert torch.get_float32_matmul_precision() == "medium"
    assert torch.get_float32_matmul_precision() == before
    x = torch.ones(3, 3)
    assert BytesDropout(0.5).eval()(x) is x
    assert BytesDropout(0.0)(x) is x


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_dropout_keeps_its_share_and_the_mean(p: float) -> None:
    x = torch.ones(1000, 1001, requires_grad=True)
    with seeded(0):
        y = BytesDropout(p)(x)
    assert (y == 0).float().mean().item() == pytest.approx(p, abs=0.004)
    assert y.mean().item() == pytest.approx(1, abs=0.005)
    assert y.unique().tolist() == pytest.approx([0, 256 / (256 - round(256 * p))])
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_neighbours_are_dropped_independently() -> None:
    with seeded(0):
        kept = (BytesDropout(0.5)(torch.ones(80_000)) > 0).float().view(-1, 8)
    together = torch.corrcoef(kept.T) - torch.eye(8)
    assert together.abs().max() < 0.04
