"""The three roles in Python: numbers equal to PyTorch's, arguments checked, words in the HTML."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnbook.widgets import RoleProjection
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, X

EYE = np.eye(3)
W_Q = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
W_K = [[1, 0, 0], [0, 0, 1], [0, 1, 1]]
W_V = [[1, 0, 1], [0, 1, 1], [1, 1, 1]]
PUBLISHED = [  # Thissen's printed rows
    [1.1634, 0.7909, 1.5817],
    [1.0, 0.8424, 1.5616],
    [1.1799, 0.8707, 1.6405],
    [1.1634, 0.7909, 1.5817],
]


def made(**changes) -> RoleProjection:
    given = {"vectors": X, "tokens": TOKENS, "w_q": W_Q, "w_k": W_K, "w_v": W_V}
    return RoleProjection(**(given | changes))


def test_the_published_four_words_come_out_in_every_row() -> None:
    words = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1]]
    widget = made(vectors=words, tokens=list("abcd"))
    query, key, value = (
        torch.tensor(words, dtype=torch.float64) @ torch.tensor(w, dtype=torch.float64)
        for w in (W_Q, W_K, W_V)
    )
    wanted = scaled_dot_product_attention(query, key, value).numpy()
    assert np.allclose(widget.output, wanted, atol=1e-12)
    assert widget.output.round(4).tolist() == PUBLISHED


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_weights_and_output_agree_with_torch_in_any_shape(scaled: bool, causal: bool) -> None:
    rng = np.random.default_rng(7)
    for n, d_model, d_k, d_v in [(1, 1, 1, 1), (6, 4, 2, 3), (3, 2, 4, 1), (5, 4, 4, 4)]:
        x, w_q, w_k, w_v = (
            rng.normal(size=size) * 2
            for size in [(n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)]
        )
        tokens = [str(i) for i in range(n)]
        widget = RoleProjection(x, tokens, w_q, w_k, w_v, scaled=scaled, causal=causal)
        q, k, v = (torch.tensor(np.round(x, 8) @ np.round(w, 8)) for w in (w_q, w_k, w_v))
        wanted = scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=None if scaled else 1.0
        )
        assert np.allclose(widget.output, wanted.numpy(), atol=1e-12)
        assert np.allclose(widget.weights.sum(axis=1), 1)
        assert widget.weights.shape == (n, n)
        assert not (causal and np.triu(widget.weights, 1).any())


def test_with_three_identities_it_is_the_self_attention_of_the_lecture_before() -> None:
    widget = made(w_q=EYE, w_k=EYE, w_v=EYE)
    assert widget.weights[2].round(3).tolist() == [0.005, 0.090, 0.905]
    assert widget.output[2].round(3).tolist() == [1.005, 1.895, 1.900]


def test_weights_and_output_follow_the_traits() -> None:
    widget = made(w_q=EYE, w_k=EYE, w_v=EYE)
    before = widget.output
    widget.w_v = (2 * EYE).tolist()
    assert np.allclose(widget.output, 2 * before)
    widget.w_k = np.zeros((3, 3)).tolist()
    assert np.allclose(widget.weights, 1 / 3)
    widget.causal = True
    assert np.allclose(widget.weights[1], [0.5, 0.5, 0])
    widget.vectors = [[1, 0, 0]] * 3
    assert np.allclose(widget.output, [2, 0, 0])


def test_the_same_matrix_for_query_and_key_gives_symmetric_scores() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        w = rng.normal(size=(3, 2))
        assert "symmetric: yes." in made(w_q=w, w_k=w).html()
        other = w + np.outer([1, 0, 0], [1, 1])
        assert "symmetric: no (" in made(w_q=w, w_k=other).html()


def test_the_plainest_exception_to_symmetry_is_named() -> None:
    html = made().html()
    scores = np.array(X) @ np.array(W_Q) @ (np.array(X) @ np.array(W_K)).T
    gaps = np.triu(abs(scores - scores.T))
    assert gaps.max() == gaps[0, 2]  # had and nuts
    there, back = (markup.plain(score) for score in (scores[0, 2], scores[2, 0]))
    assert f"(had → nuts {there}, nuts → had {back})" in html


def test_the_fallback_shows_all_roles_and_all_weights() -> None:
    html = made(token=2, causal=True).html().split("</script>")[1]
    for text in ("(2, −1, 0)", "W<sup>K</sup> with the rows (1, 0, 0), (0, 0, 1), (0, 1, 1)"):
        assert text in html
    q_nuts = markup.plain(0), markup.plain(1), markup.plain(2)
    assert f"<td>({', '.join(q_nuts)})</td>" in html
    assert html.count(">masked</td>") == 3
    assert "The output of nuts is (" in html


def test_tensors_arrays_and_lists_give_the_same_widget() -> None:
    lists = made().html()
    tensors = {
        name: torch.tensor(value, dtype=torch.bfloat16, requires_grad=True)
        for name, value in {"vectors": X, "w_q": W_Q, "w_k": W_K, "w_v": W_V}.items()
    }
    assert made(**tensors).html() == lists
    assert made(w_k=np.array(W_K, dtype=np.float32)).html() == lists


def test_the_repr_says_the_sizes() -> None:
    assert repr(made(token=-1, w_v=[[1], [2], [3]])) == (
        "RoleProjection(token nuts, d_model 3, d_k 3, d_v 1, tokens: had, bowl, nuts)"
    )


BAD = [
    ({"vectors": np.ones((7, 3)), "tokens": ["a"] * 7}, "vectors must be at most 6 × 4"),
    ({"vectors": np.ones((2, 5)), "tokens": ["a"] * 2}, "vectors must be at most 6 × 4"),
    ({"vectors": [[1e4, 0, 0]], "tokens": ["a"]}, "vectors must hold numbers up to 1,000"),
    ({"vectors": [1, 2, 3]}, "vectors must have 2 dimensions"),
    ({"w_q": np.ones((2, 3))}, r"w_q must have 3 rows.* got shape \(2, 3\)"),
    ({"w_v": np.ones((4, 3))}, r"w_v must have 3 rows.* got shape \(4, 3\)"),
    ({"w_k": np.ones((3, 2))}, r"w_q and w_k must have the same number of columns"),
    ({"w_v": np.ones((3, 5))}, r"w_v must be at most 4 × 4, got shape \(3, 5\)"),
    ({"w_k": [[1, 2, 3], [1, 2]]}, "w_k must be numbers in rows of equal length"),
    ({"w_k": [[float("nan")] * 3] * 3}, "w_k must be finite"),
    ({"tokens": TOKENS[:2]}, "tokens must be 3 strings"),
    ({"token": 3}, "token must be a whole number from -3 to 2"),
    ({"step": 0}, "step must be a finite number above 0"),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_a_bad_argument_is_named(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(**changes)


def test_switches_must_be_switches() -> None:
    with pytest.raises(TypeError, match="scaled must be True or False"):
        made(scaled=1)
    with pytest.raises(TypeError, match="causal must be True or False"):
        made(causal="yes")


@pytest.mark.parametrize("name", ["vectors", "w_q", "w_k", "w_v"])
def test_an_assignment_is_checked_and_a_bad_one_changes_nothing(name: str) -> None:
    widget = made()
    kept = getattr(widget, name)
    with pytest.raises(ValueError, match=rf"{name} must keep its shape \(3, 3\)"):
        setattr(widget, name, [[1, 2]])
    with pytest.raises(ValueError, match=f"{name} must hold numbers"):
        setattr(widget, name, [[1e6] * 3] * 3)
    assert getattr(widget, name) == kept
    with pytest.raises(ValueError, match="token"):
        widget.token = 3
    with pytest.raises(ValueError, match="step"):
        widget.step = -1.0
    widget.token = -1
    assert widget.token == 2
