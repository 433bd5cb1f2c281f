"""Changing one head's output: what is put there, where, and what it changes."""

from contextlib import ExitStack

import pytest
import torch
from torch import Tensor

from attnlab.language import pronouns
from attnlab.models import interventions as change
from attnlab.models.heads import places
from attnlab.pretrained import Pretrained

PAIRS = pronouns()[:2]
TIRED, WIDE = PAIRS[0].sentences


@pytest.fixture(scope="module")
def outputs(model: Pretrained) -> Tensor:
    return change.pronoun_outputs(model, PAIRS)


def test_a_head_that_gets_its_own_output_changes_nothing(model, outputs) -> None:
    intact = change.leaning(model, PAIRS)
    found = change.leaning_without(model, PAIRS, 3, outputs)
    assert found.shape == (12, 2, 2, 2)
    assert (found - intact).abs().max() < 1e-5


def test_all_heads_patched_give_the_other_runs_vector(model: Pretrained) -> None:
    it = places(model, WIDE, "it")[0]
    donor = change.head_outputs(model, TIRED, it)
    ids, mask = model.encode(WIDE)
    with torch.no_grad():
        with ExitStack() as stack:
            for layer in range(6):
                stack.enter_context(change.replaced(model, layer, it, donor[layer]))
            patched = model(ids, mask)[0, it]
        before = model(ids, mask)[0, it]
    wanted = model.hidden(TIRED)[0][0, it]
    assert (patched - wanted).abs().max() < 1e-4
    assert (before - wanted).abs().max() > 0.1


def test_only_the_chosen_heads_and_place_are_replaced(model: Pretrained, outputs: Tensor) -> None:
    seen: list[Tensor] = []
    attention = model.encoder.blocks[2].attention
    new = torch.full((12, 32), torch.nan)
    new[5] = 7
    keep = attention.attend.register_forward_hook(lambda *args: seen.append(args[2]))
    with change.replaced(model, 2, 4, new):
        after = attention.attend.register_forward_hook(lambda *args: seen.append(args[2]))
        model.hidden(TIRED)
    keep.remove()
    after.remove()
    before, found = seen
    same = torch.ones_like(found, dtype=torch.bool)
    same[:, 5, 4] = False
    assert torch.equal(before[same], found[same])
    assert (found[~same] == 7).all()


def test_the_model_is_left_as_it_was_even_after_an_error(model: Pretrained) -> None:
    before = model.hidden(TIRED)[0]
    with pytest.raises(KeyError), change.replaced(model, 0, 1, torch.zeros(12, 32)):
        raise KeyError
    assert torch.equal(model.hidden(TIRED)[0], before)


def test_to_ablate_is_the_mean_of_the_other_pairs_and_to_patch_the_other_sentence(outputs) -> None:
    ablated = change.replacements(outputs, "ablate")
    assert torch.allclose(ablated[0, 1, 0], outputs[1].mean(dim=(0, 1)), atol=1e-6)
    patched = change.replacements(outputs, "patch")
    assert torch.equal(patched[0, 1, 0], outputs[0, 1, 1])
    with pytest.raises(ValueError, match="how must be"):
        change.replacements(outputs, "erase")  # type: ignore[arg-type]


def test_groups_are_replaced_together_and_swing_is_above_nought(model, outputs) -> None:
    new = change.replacements(outputs, "ablate")
    both = change.leaning_without(model, PAIRS, 5, new, [[0, 1], [1]])
    one = change.leaning_without(model, PAIRS, 5, new)
    assert (both[1] - one[1]).abs().max() < 1e-5
    assert (both[0] - both[1]).abs().max() > 1e-5
    d = torch.tensor([[[0.3, -0.1], [0.2, 0.0]]])
    assert torch.allclose(change.swing(d), torch.tensor([0.3]))
    assert torch.allclose(change.swing(d.flip(-1)), torch.tensor([-0.3]))


def test_what_has_another_shape_is_refused(model: Pretrained) -> None:
    with (
        pytest.raises(ValueError, match="output must end in"),
        change.replaced(model, 0, 1, torch.zeros(2, 32)),
    ):
        pass
    with (
        pytest.raises(ValueError, match="layer"),
        change.replaced(model, 6, 1, torch.zeros(12, 32)),
    ):
        pass
