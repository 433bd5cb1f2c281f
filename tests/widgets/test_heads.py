"""Heads side by side in Python: checked at the door, equal to torch, readable without a script."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnbook.widgets import AttentionHeatmap, HeadGrid
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, X

EVIL = "</script><img src=x onerror=alert(1)>\u2028&\"'"
TWO = np.stack([X, np.array(X)[::-1]]).astype(float)  # (2, 3, 3)


def grid(**changes) -> HeadGrid:
    return HeadGrid(**{"query": TWO, "key": TWO, "tokens": TOKENS, **changes})


def test_weights_agree_with_torch_and_follow_the_traits() -> None:
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 6, 5))
    widget = HeadGrid(query, key, tokens=list("abcd"), key_tokens=list("uvwxyz"))
    scores = torch.tensor(query @ key.swapaxes(1, 2))
    wanted = torch.softmax(scores / 5**0.5, -1).numpy()
    assert widget.weights.shape == (3, 4, 6)
    assert np.allclose(widget.weights, wanted, atol=1e-12)
    widget.scaled, widget.temperature, widget.causal = False, 2.0, True
    later = torch.ones(4, 6).triu(6 - 4 + 1).bool()
    wanted = torch.softmax((scores / 2).masked_fill(later, -torch.inf), -1).numpy()
    assert np.allclose(widget.weights, wanted, atol=1e-12)


def test_a_mask_holds_for_every_head_and_an_empty_row_is_zeros() -> None:
    mask = np.array([[False] * 3, [True, False, True], [True] * 3])
    weights = grid(mask=mask).weights
    assert (weights[:, 0] == 0).all()
    assert (weights[:, 1, 1] == 0).all()
    assert np.allclose(weights[:, 1:].sum(-1), 1)


def test_scores_and_vectors_give_the_same_widget() -> None:
    scores = TWO @ TWO.swapaxes(1, 2)
    assert HeadGrid(scores=scores, d=3, tokens=TOKENS).html() == grid(key=None).html()
    torch_made = HeadGrid(torch.tensor(TWO, dtype=torch.bfloat16), tokens=TOKENS)
    assert torch_made.html() == grid(key=None).html()


def test_one_head_is_a_heat_map() -> None:
    alone = HeadGrid(X, tokens=TOKENS)
    assert np.array_equal(alone.weights[0], AttentionHeatmap(X, tokens=TOKENS).weights)
    assert alone.chosen == [0]


def test_sixteen_heads_of_sixteen_tokens_stay_within_the_budget_of_data() -> None:
    x = np.random.default_rng(1).normal(size=(16, 16, 8))
    widget = HeadGrid(x, tokens=[str(i) for i in range(16)])
    assert len(markup.to_json(widget.state())) <= 50 * 1024
    twelve = np.random.default_rng(1).normal(size=(12, 28, 8))
    widget = HeadGrid(twelve, tokens=[str(i) for i in range(28)])
    assert len(markup.to_json(widget.state())) <= 50 * 1024


def test_what_is_chosen_is_sorted_and_each_head_once() -> None:
    widget = HeadGrid(np.ones((4, 3, 2)), tokens=TOKENS, chosen=[2, -4, 2])
    assert widget.chosen == [0, 2]
    assert widget.head == 0
    widget.chosen = [3, 1, 1]
    assert widget.chosen == [1, 3]
    assert grid().chosen == [0, 1]
    assert grid(chosen=[]).chosen == []


BAD = [
    ({"tokens": TOKENS[:2]}, "tokens must be 3 strings"),
    ({"query": [[[1.0, float("nan")]]], "key": None, "tokens": ["a"]}, "finite"),
    ({"query": [1, 2]}, "dimensions"),
    ({"key": TWO[:1]}, "same number of heads"),
    ({"query": None}, "scores: one of the two"),
    ({"key": TWO[:, :2]}, "there are 2 keys but 3 tokens: give key_tokens"),
    ({"names": ["only one"]}, "names must be 2 strings, one for each head, got 1"),
    ({"chosen": [2]}, "chosen must be a whole number from -2 to 1, got 2"),
    ({"chosen": 1}, "chosen must be a list of heads, got 1"),
    ({"chosen": "01"}, "chosen must be a list of heads"),
    ({"row": 3}, "row must be a whole number from -3 to 2, got 3"),
    ({"large": "both"}, 'large must be one of "one", "chosen", "average", got \'both\''),
    ({"temperature": 0}, "temperature"),
    ({"mask": np.ones((3, 3))}, "bool"),
    ({"mask": np.ones((2, 3, 3), bool)}, r"mask must have shape \(3, 3\)"),
    ({"query": np.ones((17, 1, 1)), "key": None, "tokens": ["a"]}, "at most 16 heads .* got 17"),
    (
        {"query": np.ones((7, 3, 1)), "key": None, "chosen": range(7)},
        "chosen must be at most 6 heads, got 7",
    ),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_bad_input_is_named_with_what_came_and_what_was_wanted(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        grid(**changes)


def test_a_switch_that_is_no_truth_value_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="causal must be True or False"):
        grid(causal="yes")
    with pytest.raises(TypeError, match="names must be a list of strings"):
        grid(names="ab")


def test_assignments_are_checked_like_arguments() -> None:
    widget = grid()
    for trait, bad in [
        ("chosen", [5]),
        ("row", 9),
        ("head", 2),
        ("large", "all"),
        ("temperature", -1.0),
    ]:
        before = getattr(widget, trait)
        with pytest.raises(ValueError, match=trait):
            setattr(widget, trait, bad)
        assert getattr(widget, trait) == before
    widget.row = -1
    assert widget.row == 2


def test_reset_goes_back_to_the_arguments_whatever_has_happened_since() -> None:
    widget = grid(row=2, chosen=[1], large="average", temperature=2.0, causal=True)
    first = dict(widget.initial)
    widget.row, widget.chosen, widget.large, widget.causal = None, [0], "one", False
    assert widget.initial == first
    for name, value in first.items():
        setattr(widget, name, value)
    assert (widget.row, widget.chosen, widget.large, widget.temperature) == (2, [1], "average", 2)


def test_the_fallback_shows_every_weight_where_they_are_few() -> None:
    widget = grid()
    html = widget.html()
    for h, i, j in np.ndindex(2, 3, 3):
        assert f">{markup.fixed(widget.weights[h, i, j])}</td>" in html
    assert "head 1: nuts" in html
    pinned = grid(row=0).html()
    assert "head 1: had" in pinned
    assert "head 1: nuts" not in pinned


def test_the_fallback_of_many_heads_names_each_head_s_largest_weights() -> None:
    rng = np.random.default_rng(3)
    widget = HeadGrid(rng.normal(size=(12, 20, 4)), tokens=[f"w{i}" for i in range(20)])
    html = widget.html().split("</script>")[1]
    assert html.count("<tr>") == 13
    i, j = np.unravel_index(widget.weights[5].argmax(), (20, 20))
    assert f"w{i} → w{j} {widget.weights[5].max():.3f}" in html


def test_hostile_texts_never_become_markup_in_the_html() -> None:
    names = [EVIL, "b", "c"]
    html = grid(tokens=names, names=[EVIL, "x"], row=0, caption=EVIL).html()
    assert "<img" not in html
    assert html.count("</script>") == 1


def test_the_repr_and_the_html_hold_no_address_and_are_the_same_each_time() -> None:
    assert repr(grid()) == "HeadGrid(2 heads, 3 × 3, tokens: had, bowl, nuts)"
    assert grid().html() == grid().html()
    assert grid().within(0.01).html() != grid().html()
