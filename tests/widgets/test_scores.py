"""The four scores in Python: equal to the package's in PyTorch, and arguments checked."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnbook.scores import Additive, Bilinear, dot, scaled_dot
from attnbook.widgets import ScoreExplorer
from attnbook.widgets.core import markup

QUERY = [1.5, 1.0]
KEYS = [[2.0, -1.0], [0.5, 2.5], [-2.0, 1.0]]
NAMES = ["small", "black", "cat"]
LEARNED = {
    "w": [[0, 1], [1, 0]],
    "w_q": [[1, 0.5, 0], [0, 1, -1]],
    "w_k": [[1, -1, 0.5], [0.5, 1, 1]],
    "v": [1, 1, -1],
}


def made(**changes) -> ScoreExplorer:
    return ScoreExplorer(**({"query": QUERY, "keys": KEYS, "tokens": NAMES} | LEARNED | changes))


def by_torch(query, keys, *, w, w_q, w_k, v) -> torch.Tensor:
    """The four scores by attnbook.scores, in float64, of shape (4, n)."""
    q, k, w, w_q, w_k, v = (
        torch.tensor(np.array(x, dtype=float)) for x in ([query], keys, w, w_q, w_k, v)
    )
    bilinear, additive = Bilinear(2, 2).double(), Additive(2, 2, len(v)).double()
    with torch.no_grad():
        bilinear.key.weight.copy_(w)
        additive.query.weight.copy_(w_q.T)
        additive.key.weight.copy_(w_k.T)
        additive.energy.weight.copy_(v[None])
        return torch.cat([score(q, k) for score in (dot, scaled_dot, bilinear, additive)])


def random(seed: int) -> dict:
    """A query, keys and learned numbers of any shape that is allowed, 8 decimals at most."""
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    shapes = {"query": (2,), "keys": (n, 2), "w": (2, 2), "w_q": (2, h), "w_k": (2, h), "v": (h,)}
    return {name: rng.uniform(-4, 4, size).round(8) for name, size in shapes.items()}


def test_scores_and_weights_are_those_of_the_package_in_any_shape() -> None:
    for seed in range(20):
        given = random(seed)
        widget = ScoreExplorer(tokens=[str(j) for j in range(len(given["keys"]))], **given)
        wanted = by_torch(given.pop("query"), given.pop("keys"), **given)
        assert widget.scores.shape == wanted.shape
        assert np.allclose(widget.scores, wanted.numpy(), rtol=0, atol=1e-12)
        assert np.allclose(widget.weights, wanted.softmax(-1).numpy(), rtol=0, atol=1e-12)


def test_without_tanh_the_query_moves_no_weight_and_with_it_it_does() -> None:
    for tanh in (False, True):
        one, other = (made(query=query, tanh=tanh) for query in (QUERY, [-3, 4]))
        moved = abs(one.weights - other.weights).max(axis=1)
        assert moved[:3].min() > 0.1
        assert moved[3] < 1e-12 if not tanh else moved[3] > 0.1
        assert abs(one.scores - other.scores)[3].max() > 0.1


def test_scores_follow_the_traits() -> None:
    widget = made()
    widget.query = [0, 0]
    assert not widget.scores[:3].any()
    widget.key = [[4, 4], [0, 0], [-4, -4]]
    widget.query = [1, 0]
    assert widget.scores[0].tolist() == [4, 0, -4]
    widget.w = [[2, 0], [0, 2]]
    assert widget.scores[2].tolist() == [8, 0, -8]
    widget.v = [0, 0, 0]
    assert widget.weights[3] == pytest.approx([1 / 3] * 3)


def test_the_fallback_shows_every_number() -> None:
    widget = made(tanh=False)
    html = widget.html().split("</script>")[1]
    for value in widget.scores.ravel():
        assert f"<td>{markup.plain(value)}</td>" in html
    for value in widget.weights.ravel():
        assert f">{markup.fixed(value)}</td>" in html
    for words in ("The query q is (1.5, 1)", "W with the rows (0, 1), (1, 0)", "the tanh left out"):
        assert words in html
    assert "left out" not in made().html()


def test_tensors_arrays_and_lists_give_the_same_widget() -> None:
    lists = made().html()
    tensors = {name: torch.tensor(value, dtype=torch.float32) for name, value in LEARNED.items()}
    assert made(**tensors, query=np.array(QUERY), keys=torch.tensor(KEYS)).html() == lists


def test_the_repr_says_what_is_there() -> None:
    assert repr(made()) == "ScoreExplorer(query (1.5, 1), h 3, keys: small, black, cat)"


BAD = [
    ({"query": [1, 2, 3]}, r"query must have the shape \(2,\), got shape \(3,\)"),
    ({"query": [[1, 2]]}, "query must have 1 dimensions"),
    ({"query": [1, 4.5]}, "query must hold numbers from −4 to 4"),
    ({"query": ["a", 1]}, "query must be numbers"),
    ({"keys": [[1, 2]], "tokens": ["a"]}, r"keys must have the shape \(n, 2\) with n from 2 to 5"),
    ({"keys": [[0, 0]] * 6}, r"keys must have the shape .* got shape \(6, 2\)"),
    ({"keys": [[1, 2, 3]] * 3}, r"keys must have the shape .* got shape \(3, 3\)"),
    ({"keys": [[5, 0], [0, 0]]}, "keys must hold numbers from −4 to 4"),
    ({"keys": [[1, float("nan")]] * 3}, "keys must be finite"),
    ({"keys": [[1, 2], [1]]}, "keys must be numbers in rows of equal length"),
    ({"tokens": NAMES[:2]}, "tokens must be 3 strings"),
    ({"w": [[1, 2, 3]] * 2}, r"w must have the shape \(2, 2\), got shape \(2, 3\)"),
    ({"w": [[11, 0], [0, 0]]}, "w must hold numbers from −10 to 10"),
    ({"w_q": [[1] * 5] * 2}, r"w_q must have the shape \(2, h\) with h from 1 to 4"),
    ({"w_k": [[1, 2], [3, 4]]}, r"the same number of columns.*w_k \(2, 2\), v \(3,\)"),
    ({"v": [1, 2]}, r"v as many numbers: got the shapes w_q \(2, 3\).* v \(2,\)"),
    ({"v": [1, 2, 3, 4, 5]}, r"v must have the shape \(h,\) with h from 1 to 4"),
    ({"v": []}, "v is empty"),
    ({"chosen": 4}, "chosen must be a whole number from -4 to 3"),
]


@pytest.mark.parametrize(("changes", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_argument_is_named(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(**changes)


def test_a_switch_and_texts_must_be_such() -> None:
    with pytest.raises(TypeError, match="tanh must be True or False"):
        made(tanh=1)
    with pytest.raises(TypeError, match="tokens must hold strings"):
        made(tokens=["a", "b", 3])


@pytest.mark.parametrize("name", ["query", "key", "w", "w_q", "w_k", "v"])
def test_an_assignment_is_checked_and_a_bad_one_changes_nothing(name: str) -> None:
    widget = made()
    kept = getattr(widget, name)
    for bad in ([1], [[1, 2]], np.full(np.shape(kept), 11).tolist(), "nonsense"):
        with pytest.raises((ValueError, TypeError), match=name):
            setattr(widget, name, bad)
    assert getattr(widget, name) == kept


def test_the_number_of_keys_and_the_chosen_score_stay_within_bounds() -> None:
    widget = made(chosen=-1)
    assert widget.chosen == 3
    with pytest.raises(ValueError, match=r"key must keep its shape \(3, 2\), got shape \(2, 2\)"):
        widget.key = KEYS[:2]
    with pytest.raises(ValueError, match="chosen"):
        widget.chosen = 7
