"""The mask painter in Python: torch's numbers in every mode, and arguments checked at the door."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from attnbook.attention import masked_softmax
from attnbook.masks import causal_mask
from attnbook.widgets import MaskPainter
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, X

EVIL = "</script><img src=x onerror=alert(1)>\u2028&\"'"
FILLS = {"none": -torch.inf, "nan": -torch.inf, "-1e10": -1e10, "zero": 0.0}
EMPTY_FIRST = np.tril(np.ones((3, 3), dtype=bool), k=-1)


def by_torch(scores, may: np.ndarray, fill: str) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and ∂α_ij/∂e_ij of each by autograd, from scores that are already divided."""
    e = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    allowed = torch.tensor(may)
    if fill == "none":
        weights = masked_softmax(e, allowed)
    else:
        weights = torch.softmax(e.masked_fill(~allowed, FILLS[fill]), dim=-1)
    flow = torch.zeros_like(e)
    for place in np.ndindex(*e.shape):
        flow[place] = torch.autograd.grad(weights[place], e, retain_graph=True)[0][place]
    return weights.detach().numpy(), flow.numpy()


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("seed", range(6))
def test_weights_and_gradient_agree_with_autograd(fill: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_q, n_k, d = (int(n) for n in rng.integers(1, 9, 3))
    query, key = rng.normal(size=(n_q, d)) * 2, rng.normal(size=(n_k, d))
    mask = rng.random((n_q, n_k)) > 0.4
    mask[0] = False  # a row with nothing to attend to
    names = [[f"{letter}{i}" for i in range(n)] for letter, n in (("q", n_q), ("k", n_k))]
    widget = MaskPainter(
        query,
        key,
        tokens=names[0],
        key_tokens=names[1],
        mask=mask,
        fill=fill,
        scaled=bool(seed % 2),
        temperature=0.7,
    )
    divisor = (d**0.5 if seed % 2 else 1) * 0.7
    weights, flow = by_torch(query @ key.T / divisor, mask, fill)
    assert np.allclose(widget.weights, weights, atol=1e-12, equal_nan=True)
    assert np.allclose(widget.gradient, flow, atol=1e-12)
    assert (widget.may == mask).all()
    assert np.isnan(weights[0]).all() == (fill == "nan")


def test_the_four_modes_differ_where_a_row_is_empty_and_one_leaks_elsewhere() -> None:
    rows = {
        fill: MaskPainter(X, tokens=TOKENS, mask=EMPTY_FIRST, fill=fill).weights.round(3).tolist()
        for fill in FILLS
    }
    assert rows["none"][0] == [0, 0, 0]
    assert rows["-1e10"][0] == rows["zero"][0] == [0.333] * 3
    assert rows["none"][1:] == [[1, 0, 0], [0.053, 0.947, 0]]
    assert rows["nan"][1:] == rows["-1e10"][1:] == rows["none"][1:]
    assert rows["zero"][1:] == [[0.471, 0.264, 0.264], [0.05, 0.9, 0.05]]


def test_a_row_with_one_key_has_weight_one_and_no_gradient() -> None:
    widget = MaskPainter(X, tokens=TOKENS)
    widget.mask = [1, 1, 1, 0, 0, 1, 1, 1, 1]  # bowl attends to nuts alone
    assert widget.weights[1].tolist() == [0, 0, 1]
    assert widget.gradient[1].tolist() == [0, 0, 0]


def test_the_gradients_of_a_row_sum_to_the_trace_of_its_jacobian() -> None:
    widget = MaskPainter(X, tokens=TOKENS, mask=causal_mask(3))
    e = torch.tensor(X, dtype=torch.float64) @ torch.tensor(X, dtype=torch.float64).T / 3**0.5
    for i, row in enumerate(widget.gradient):
        jacobian = torch.autograd.functional.jacobian(
            lambda scores, i=i: masked_softmax(scores, causal_mask(3)[i]), e[i]
        )
        assert row.sum() == pytest.approx(jacobian.trace().item(), abs=1e-12)


def test_tensors_arrays_lists_and_scores_give_the_same_widget() -> None:
    lists = MaskPainter(X, tokens=TOKENS, mask=np.tril(np.ones((3, 3), bool))).html()
    half = torch.tensor(X, dtype=torch.bfloat16, requires_grad=True)
    assert MaskPainter(half, tokens=TOKENS, mask=causal_mask(3)).html() == lists
    raw = np.array(X) @ np.array(X).T
    assert MaskPainter(scores=raw, d=3, tokens=TOKENS, mask=causal_mask(3)).html() == lists


def test_the_fallback_holds_every_number_that_the_widget_draws() -> None:
    html = MaskPainter(X, tokens=TOKENS, mask=EMPTY_FIRST, fill="zero").html()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", html)
    assert cells[:4] == ["masked, yet 0.333"] * 3 + ["1.000"]
    assert cells[4:8] == ["0.471", "masked, yet 0.264", "masked, yet 0.264", "1.000"]
    html = MaskPainter(X, tokens=TOKENS, mask=EMPTY_FIRST, fill="nan").html()
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html)[:4] == ["masked, yet NaN"] * 3 + ["NaN"]
    html = MaskPainter(X, tokens=TOKENS, show="gradient").html()
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html)[4:8] == ["0.065", "0.173", "0.207", "0.446"]


def test_the_html_is_safe_stable_and_holds_every_trait() -> None:
    def made() -> MaskPainter:
        return MaskPainter(X, tokens=[EVIL, "bowl", "nuts"], caption=EVIL)

    html = made().html()
    assert html == made().html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    data = json.loads(re.search(r'json">(.*?)</script>', html, flags=re.DOTALL).group(1))
    assert data == markup.tidy(made().state())
    assert data["mask"] == data["initial"]["mask"] == [1] * 9


def test_the_largest_painter_stays_far_below_its_budget_of_data() -> None:
    x = np.random.default_rng(0).normal(size=(16, 64)) * 10
    widget = MaskPainter(x, tokens=[f"word{i}" for i in range(16)])
    assert len(markup.to_json(widget.state())) <= 10_000


def test_the_repr_names_the_widget_and_no_address() -> None:
    widget = MaskPainter(X, tokens=TOKENS, mask=causal_mask(3))
    assert repr(widget) == "MaskPainter(3 × 3, 6 may attend, tokens: had, bowl, nuts)"


def test_lengths_are_a_number_or_a_list_of_one_as_for_a_batch() -> None:
    assert MaskPainter(X, tokens=TOKENS).length == 2
    assert MaskPainter(X[:1], tokens=["had"]).length == 1
    for lengths in (1, [1], np.array([1]), torch.tensor([1])):
        assert MaskPainter(X, tokens=TOKENS, lengths=lengths).length == 1


BAD = [
    ({"query": X, "tokens": TOKENS[:2]}, "tokens"),
    ({"query": [X, X], "tokens": TOKENS}, "query must have 2 dimensions"),
    ({"scores": [X, X], "tokens": TOKENS}, "scores must have 2 dimensions"),
    ({"query": X, "key": [[1, 2]], "tokens": TOKENS}, "same d"),
    ({"query": X, "key": X[:2], "tokens": TOKENS}, "key_tokens"),
    ({"query": np.ones((17, 2)), "tokens": ["a"] * 17}, "at most 16 queries and 16 keys.*17 × 17"),
    ({"scores": [[1e7]], "tokens": ["a"]}, "scores must be at most 1,000,000"),
    ({"query": [[1, float("nan")]], "tokens": ["a"]}, "finite"),
    ({"tokens": TOKENS}, "query"),
    ({"query": X, "d": 3, "tokens": TOKENS}, "scores"),
    ({"query": X, "tokens": TOKENS, "mask": np.ones((3, 3))}, "mask must be of bool"),
    ({"query": X, "tokens": TOKENS, "mask": [[True]]}, r"mask must have shape \(3, 3\)"),
    ({"query": X, "tokens": TOKENS, "fill": "inf"}, "fill must be one of none, nan, .*'inf'"),
    ({"query": X, "tokens": TOKENS, "show": "both"}, "show must be one of weights, gradient"),
    ({"query": X, "tokens": TOKENS, "temperature": 0}, "temperature"),
    ({"query": X, "tokens": TOKENS, "pinned": 3}, "pinned"),
    ({"query": X, "tokens": TOKENS, "lengths": 4}, "lengths must be one whole number from 0 to 3"),
    ({"query": X, "tokens": TOKENS, "lengths": [1, 2]}, "lengths"),
    ({"query": X, "tokens": TOKENS, "lengths": 1.5}, "lengths"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_a_painter_says_what_is_wrong(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MaskPainter(**arguments)


def test_what_is_no_switch_or_no_list_of_texts_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="scaled must be True or False"):
        MaskPainter(X, tokens=TOKENS, scaled=1)
    with pytest.raises(TypeError, match="list of strings"):
        MaskPainter(X, tokens="had")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mask", [1] * 8),
        ("mask", [2] * 9),
        ("mask", [[1, 1, 1]] * 3),
        ("fill", "inf"),
        ("show", "both"),
        ("temperature", -1.0),
        ("pinned", 7),
    ],
)
def test_assignments_are_checked_like_arguments(name: str, value) -> None:
    widget = MaskPainter(X, tokens=TOKENS, pinned=0)
    before = widget.state()
    with pytest.raises(ValueError, match=f"{name} must be"):
        setattr(widget, name, value)
    assert widget.state() == before
