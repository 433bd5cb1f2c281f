"""The loss a few rows at a time is the loss, and so is its gradient."""

import pytest
import torch
from torch import Tensor

from attnlab.language import pad_batch
from attnlab.training.losses import sequence_loss, teacher_forced
from attnlab.training.seeds import seeded
from attnlab.translation.loss import smoothed_loss
from attnlab.translation.model import Learner, build, last_layer, nothing
from tests.attnlab.translation.small import recipe


def inputs(bias: bool) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    with seeded(0):
        tensors = torch.randn(7, 4), torch.randn(11, 4), torch.randn(11)
        vectors, matrix, b = (one.double().requires_grad_() for one in tensors)
        return vectors, matrix, b if bias else None, torch.randint(1, 11, (7,))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_rows_at_a_time_give_the_loss_and_its_gradients(bias, smoothing, chunk) -> None:
    vectors, matrix, b, target = inputs(bias)
    weights = [one for one in (vectors, matrix, b) if one is not None]
    logits = vectors @ matrix.T + (0 if b is None else b)
    wanted = 7 * sequence_loss(logits[None], target[None], smoothing=smoothing)
    came = smoothed_loss(vectors, matrix, target, bias=b, smoothing=smoothing, chunk=chunk)
    torch.testing.assert_close(came, wanted)
    gradients = torch.autograd.grad(wanted * 3, weights), torch.autograd.grad(came * 3, weights)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_padded_rows_do_not_count() -> None:
    vectors, matrix, _, target = inputs(False)
    target[2:4] = 0
    real = target != 0
    wanted = smoothed_loss(vectors[real], matrix, target[real], smoothing=0.1)
    came = smoothed_loss(vectors, matrix, target, smoothing=0.1, chunk=3)
    torch.testing.assert_close(came, wanted)
    gradients = [torch.autograd.grad(one, [vectors, matrix]) for one in (wanted, came)]
    torch.testing.assert_close(gradients[1], gradients[0])


def test_without_gradients_nothing_is_kept_and_no_rows_have_no_loss() -> None:
    vectors, matrix, _, target = inputs(False)
    with torch.no_grad():
        assert not smoothed_loss(vectors, matrix, target).requires_grad
    vectors, matrix, _, target = inputs(False)
    loss = smoothed_loss(vectors[:0], matrix, target[:0], smoothing=0.1)
    loss.backward()
    assert loss == 0
    assert matrix.grad is not None
    assert not matrix.grad.any()


def test_in_bfloat16_it_is_close() -> None:
    vectors, matrix, _, target = inputs(False)
    exact = smoothed_loss(vectors, matrix, target, smoothing=0.1)
    half = [one.detach().float().requires_grad_() for one in (vectors, matrix)]
    with torch.autocast("cpu", torch.bfloat16):
        came = smoothed_loss(*half, target, smoothing=0.1)
    assert came.dtype == torch.float32
    torch.testing.assert_close(came.double(), exact, rtol=0.02, atol=0)
    exact.backward()
    came.backward()
    torch.testing.assert_close(half[0].grad.double(), vectors.grad, rtol=0.1, atol=0.05)


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_a_learner_sums_its_models_loss_whose_one_matrix_embeds_and_ends(kind: str) -> None:
    model = build(recipe(model=kind), 30).double().eval()
    batch = pad_batch([([4, 5, 6], [7, 8]), ([9], [10, 11, 12, 13]), ([4, 4], [])])
    wanted = sequence_loss(teacher_forced(model, batch), batch.target_out, smoothing=0.1)
    came = Learner(model, 0.1)(batch)
    torch.testing.assert_close(came, wanted * int(batch.target_lengths.sum()))
    model.zero_grad()
    Learner(model, 0.1)(nothing(torch.device("cpu"))).backward()
    assert all(not weight.grad.any() for weight in model.parameters())
    model = build(recipe(model=kind), 30)
    matrix, _ = last_layer(model)
    large = [weight for weight in model.parameters() if len(weight) == 30 and weight.dim() == 2]
    assert len(large) == 1
    assert large[0] is matrix
