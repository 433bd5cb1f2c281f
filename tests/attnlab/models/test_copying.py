"""The model that learns to copy: what it is made of, what it reads, how its heads are scored."""

import pytest
import torch
from torch import Tensor

from attnlab.models.copying import (
    ADAMW,
    AttentionOnly,
    copy_loss,
    head_scores,
    repeating,
    share_right,
    stood_before,
    without,
)
from attnlab.training import seeded, train


def fresh(**options) -> AttentionOnly:
    with seeded(0):
        return AttentionOnly(**options).double()


def test_it_is_attention_alone_and_has_as_many_numbers_as_the_lecture_says() -> None:
    model = fresh()
    assert sum(one.numel() for one in model.parameters()) == 5_184
    texts = repeating(3)[:, :-1]
    changed = texts.clone()
    changed[:, 12:] = (changed[:, 12:] + 1) % 12
    assert torch.allclose(model(texts)[:, :12], model(changed)[:, :12])  # it sees no later symbol
    assert torch.allclose(model.weights(texts).sum(dim=-1), torch.ones(()).double())


def test_texts_say_their_period_again_and_depend_on_the_seed_alone() -> None:
    texts = repeating(200, 20, symbols=12, periods=(4, 9), seed=3)
    assert texts.shape == (200, 21)
    assert torch.equal(texts, repeating(200, 20, seed=3))
    assert not torch.equal(texts, repeating(200, 20, seed=4))
    fits = torch.stack([(texts[:, k:] == texts[:, :-k]).all(dim=1) for k in range(1, 10)])
    assert fits.any(dim=0).all()
    assert set(texts.unique().tolist()) == set(range(12))


def test_a_head_without_its_output_changes_only_what_is_after_it() -> None:
    model, texts = fresh(heads=4), repeating(2)[:, :-1]
    whole, states = model.weights(texts), model.states(texts)
    with without(model, [(1, 2)]):
        assert torch.equal(model.weights(texts), whole)
        gone = model.states(texts)
    assert torch.equal(gone[1], states[1])
    assert not torch.allclose(gone[2], states[2])
    with without(model, [(0, head) for head in range(4)]):
        assert torch.equal(model.states(texts)[1], states[0])
    assert torch.equal(model.states(texts)[2], states[2])  # and all is as it was
    none_such = pytest.raises(ValueError, match="head must be whole numbers from 0 to 3")
    with none_such, without(model, [(0, 0), (0, 4)]):
        pass
    assert torch.equal(model.states(texts)[2], states[2])


def test_scores_count_the_previous_symbol_and_what_came_next() -> None:
    symbols = torch.tensor([[5, 7, 5, 5]])
    assert stood_before(symbols).tolist() == [[False, False, True, True]]
    rows = [[1, 0, 0, 0], [0.25, 0.75, 0, 0], [0.1, 0.7, 0.2, 0], [0.1, 0.2, 0.3, 0.4]]
    found = head_scores(torch.tensor(rows)[None, None, None], symbols)
    assert found.previous.item() == pytest.approx((0.25 + 0.7 + 0.3) / 3)
    # 5 at place 2 stood at 0, so 7 at place 1 came next; at place 3 also what follows place 2
    assert found.came_next.item() == pytest.approx((0.7 + 0.2 + 0.4) / 2)


def test_smeared_keys_are_those_of_the_previous_symbol_in_part() -> None:
    plain, smeared = fresh(layers=1, heads=2), fresh(layers=1, heads=2, smeared=True)
    texts = repeating(2)[:, :-1]
    changed = texts.clone()
    changed[:, 5] = (changed[:, 5] + 1) % 12  # its own key is 5, and that of 6 has a share of it

    def changes() -> Tensor:
        ratios = [smeared.weights(one)[0, :, :, 10].log() for one in (texts, changed)]
        apart = torch.stack([one - one[..., :1] for one in ratios])  # of scores, to the first's
        return (apart[0] - apart[1]).abs().amax(dim=(0, 1)) > 1e-9

    for smear, places in ((-80, [5]), (0, [5, 6]), (80, [6])):
        with torch.no_grad():
            smeared.smears[0].fill_(smear)
        assert changes().nonzero().flatten().tolist() == places
        assert torch.allclose(smeared(texts), plain(texts)) == (smear < 0)


def test_two_layers_or_smeared_keys_learn_what_one_layer_does_not() -> None:
    test = repeating(200, seed=10**6)

    def learned(layers: int, *, smeared: bool = False) -> float:
        with seeded(0):
            model = AttentionOnly(layers=layers, smeared=smeared)
        many = {"steps": 250, "lr": 5e-3, "optimizer": ADAMW, "clip": None, "progress": False}
        train(model, lambda epoch: [repeating(16, seed=epoch)], copy_loss, **many)
        return share_right(model, test).before

    assert learned(2) > 0.5 > learned(1)
    assert learned(1, smeared=True) > 0.5
