"""What does not fit is refused at the door, in words."""

import pytest
import torch
from torch import Tensor

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.masks import causal_mask

X = torch.zeros(2, 5, 8)


@pytest.mark.parametrize("compute", [attention, fused_attention])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (X, X, X[:, :4]),
            r"key and value must have the same length: key has 5 rows \(shape \(2, 5, 8\)\), "
            r"value has 4 rows \(shape \(2, 4, 8\)\)",
        ),
        (
            (X, X[..., :6], X),
            r"query and key must have the same last dimension: query has 8 "
            r"\(shape \(2, 5, 8\)\), key has 6 \(shape \(2, 5, 6\)\)",
        ),
        ((X[0, 0], X, X), r"query must have at least 2 dimensions.*its shape is \(8,\)"),
        ((X[0], X[0], X[0, 0]), r"value must have at least 2 dimensions.*its shape is \(8,\)"),
        (
            (X, X[:1], X),
            r"query and key must have the same leading dimensions: query has \(2,\) "
            r"\(shape \(2, 5, 8\)\), key has \(1,\) \(shape \(1, 5, 8\)\)",
        ),
        ((X, X, X[0]), r"query and value must have the same leading dimensions.*value has \(\)"),
        ((X.long(), X, X), r"query must hold floating-point numbers: its dtype is torch.int64"),
        ((X, X, X.int()), r"value must hold floating-point numbers: its dtype is torch.int32"),
        (
            (X, X.double(), X),
            "query and key must have the same dtype: query has torch.float32, "
            "key has torch.float64",
        ),
        (
            (X, X, X.to("meta")),
            "query and value must have the same device: query has cpu, value has meta",
        ),
        ((X, X, X, torch.ones(5, 5)), "mask must be boolean, .*its dtype is torch.float32"),
        ((X, X, X, torch.ones(5, 5).long()), "mask must be boolean, .*its dtype is torch.int64"),
        (
            (X, X, X, causal_mask(5, 4)),
            r"mask must have the shape \(n_q, n_k\) = \(5, 5\), or as many dimensions as the "
            r"scores \(2, 5, 5\), each of them equal or 1: its shape is \(5, 4\)",
        ),
        ((X, X, X, causal_mask(5).expand(1, 2, 5, 5)), r"its shape is \(1, 2, 5, 5\)"),
        ((X[:1], X[:1], X[:1], causal_mask(5).expand(2, 5, 5)), r"its shape is \(2, 5, 5\)"),
        ((X, X, X, torch.ones(5).bool()), r"its shape is \(5,\)"),
        ((X, X, X, torch.ones(1, 5).bool()), r"its shape is \(1, 5\)"),
        (
            (X, X, X, causal_mask(5, device="meta")),
            "query and mask must have the same device: query has cpu, mask has meta",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_words(compute, arguments, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute(*arguments)


@pytest.mark.parametrize("compute", [attention, fused_attention])
@pytest.mark.parametrize(
    ("bias", "message"),
    [
        (torch.zeros(2, 5, 4), r"bias must have the shape \(n_q, n_k\) = \(5, 5\)"),
        (torch.zeros(5), r"bias must have the shape.*its shape is \(5,\)"),
        (torch.zeros(5, 5).double(), "query and bias must have the same dtype"),
        (torch.ones(5, 5).bool(), "bias must hold floating-point numbers: .* torch.bool"),
        (torch.zeros(5, 5, device="meta"), "query and bias must have the same device"),
    ],
)
def test_a_bias_that_does_not_fit_is_refused(compute, bias: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute(X, X, X, bias=bias)


@pytest.mark.parametrize("compute", [attention, fused_attention])
@pytest.mark.parametrize("name", ["query", "key", "value", "mask", "bias"])
def test_only_tensors_are_taken(compute, name: str) -> None:
    arguments = {"query": X, "key": X, "value": X, name: [[0.0]]}
    with pytest.raises(TypeError, match=f"{name} must be a torch.Tensor: it is a list"):
        compute(**arguments)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            lambda q, k: torch.zeros(2, 5, 3),
            r"score\(query, key\) must return the shape \(…, n_q, n_k\) = \(2, 5, 5\): "
            r"it returned \(2, 5, 3\)",
        ),
        (lambda q, k: torch.zeros(2, 2, 5, 5), r"it returned \(2, 2, 5, 5\)"),
        (lambda q, k: torch.zeros(2, 5, 5).long(), "must hold floating-point numbers"),
    ],
)
def test_a_score_of_another_shape_is_refused(score, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention(X, X, X, score=score)
    with pytest.raises(ValueError, match=message):
        attention_weights(X, X, score=score)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"rows": 5}, "rows must be from 0 to 4: 5 is among them"),
        ({"rows": [0, -6]}, "rows must be from 0 to 4: -6 is among them"),
        ({"heads": [2]}, "heads must be from 0 to 1: 2 is among them"),
        ({"heads": 1.0}, "heads must be whole numbers: 1.0 is among them"),
        ({"rows": [True]}, "rows must be whole numbers: True is among them"),
        ({"rows": torch.tensor([True] * 5)}, "rows must be whole numbers: True is among them"),
    ],
)
def test_heads_and_rows_must_exist(chosen, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_weights(X, X, **chosen)


def test_heads_need_an_axis() -> None:
    with pytest.raises(ValueError, match=r"heads needs a query of shape .*its shape is \(5, 8\)"):
        attention_weights(X[0], X[0], heads=0)


def test_masked_softmax_checks_its_arguments() -> None:
    scores = torch.zeros(2, 3)
    with pytest.raises(ValueError, match="mask must be boolean"):
        masked_softmax(scores, torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"the scores \(2, 3\).*its shape is \(2, 2, 3\)"):
        masked_softmax(scores, torch.ones(2, 2, 3).bool())
    with pytest.raises(ValueError, match="scores must hold floating-point numbers"):
        masked_softmax(scores.long())
