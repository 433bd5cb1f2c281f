"""The Python side: arguments checked at the door, and HTML that is safe and always the same."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from attnbook.widgets import (
    AlignmentPlayer,
    AttentionHeatmap,
    AttentionSteps,
    Checkpoint,
    HeadGrid,
    PositionExplorer,
    Prediction,
    RoleProjection,
)
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, X
from tests.widgets.test_unrolled import digits

EVIL = "</script><img src=x onerror=alert(1)>\u2028&\"'"
OPTIONS = [("a", True, "because"), ("b", False, "no")]


def everything(token: str = "had") -> list:
    names = [token, "bowl", "nuts"]
    return [
        AttentionHeatmap(X, tokens=names, caption=token),
        AttentionSteps(X, names, caption=token),
        Checkpoint(token, [(token, True, token), ("b", False, token)], caption=token),
        Prediction(token, {token: 0.5}, reason=token, caption=token),
        RoleProjection(X, names, X, X, X, caption=token),
        HeadGrid([X, X], tokens=names, names=[token, "b"], row=0, caption=token),
        digits(caption=token),
        AlignmentPlayer([(names, [token], [[0.2, 0.3, 0.5]], [(0, 0)])], caption=token),
        PositionExplorer(8, 6, caption=token),
    ]


def data_of(html: str) -> dict:
    found = re.search(r'<script type="application/json">(.*?)</script>', html, flags=re.DOTALL)
    return json.loads(found.group(1))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_repr_names_the_widget_and_no_address() -> None:
    assert repr(everything()[0]) == "AttentionHeatmap(3 × 3, tokens: had, bowl, nuts)"
    assert repr(everything()[1]) == "AttentionSteps(query nuts, tokens: had, bowl, nuts)"
    assert not any(re.search(r"0x[0-9a-f]+", repr(widget)) for widget in everything())


@pytest.mark.parametrize("place", range(len(everything())))
def test_the_html_is_the_same_each_time(place: int) -> None:
    first, second = everything()[place], everything()[place]
    assert first.model_id != second.model_id
    assert first.html() == second.html()
    assert first.model_id not in first.html()


@pytest.mark.parametrize("place", range(len(everything())))
def test_the_mime_bundle_has_view_html_and_text(place: int) -> None:
    widget = everything()[place]
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"] == widget.html()
    assert data["text/plain"] == repr(widget)
    view = data["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == widget.model_id


@pytest.mark.parametrize("place", range(len(everything())))
def test_a_hostile_text_stays_text(place: int) -> None:
    html = everything(EVIL)[place].html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert "\u2028" not in html.split("attnbook-fallback")[0]
    parser = Tags()
    parser.feed(html)
    assert "img" not in parser.seen
    assert EVIL in json.dumps(data_of(html), ensure_ascii=False).replace('\\"', '"')


@pytest.mark.parametrize("place", range(len(everything())))
def test_the_json_holds_every_trait_of_data_and_state(place: int) -> None:
    widget = everything()[place]
    data = data_of(widget.html())
    assert data == markup.tidy(widget.state())
    assert {"kind", "caption"} <= set(data)
    assert not {"layout", "tooltip", "_esm"} & set(data)


def test_numbers_are_rounded_and_never_minus_zero() -> None:
    assert markup.to_json([-0.0, 1.0, 1 / 3, -1e-12]) == "[0,1,0.33333333,0]"
    assert markup.fixed(-0.0001) == "0.000"
    assert markup.plain(-2.5) == "−2.5"
    with pytest.raises(ValueError, match="finite"):
        markup.to_json(float("nan"))


def test_the_fallback_shows_the_weights_of_the_worked_example() -> None:
    html = everything()[0].html()
    for number in ("0.005", "0.090", "0.905"):
        assert f">{number}</td>" in html
    assert "(1.005, 1.895, 1.900)" in everything()[1].html()


def test_tensors_arrays_and_lists_give_the_same_widget() -> None:
    lists = AttentionHeatmap(X, tokens=TOKENS).html()
    assert AttentionHeatmap(np.array(X, dtype=np.float32), tokens=TOKENS).html() == lists
    half = torch.tensor(X, dtype=torch.bfloat16, requires_grad=True)
    assert AttentionHeatmap(half, tokens=TOKENS).html() == lists
    assert AttentionHeatmap(scores=np.array(X) @ np.array(X).T, d=3, tokens=TOKENS).html() == lists


def test_weights_agree_with_torch_and_follow_the_traits(nuts: AttentionHeatmap) -> None:
    x = torch.tensor(X, dtype=torch.float64)
    assert np.allclose(nuts.weights, torch.softmax(x @ x.T / 3**0.5, -1).numpy(), atol=1e-12)
    nuts.scaled = False
    nuts.temperature = 2.0
    nuts.causal = True
    scores = (x @ x.T / 2).masked_fill(torch.ones(3, 3).triu(1).bool(), -torch.inf)
    assert np.allclose(nuts.weights, torch.softmax(scores, -1).numpy(), atol=1e-12)


def test_a_large_matrix_travels_packed_and_within_its_budget() -> None:
    x = np.random.default_rng(1).normal(size=(72, 16, 8))
    widget = AttentionHeatmap(x, tokens=[str(i) for i in range(16)])
    data = data_of(widget.html())
    assert data["scores"] is None
    assert len(markup.to_json(widget.state())) <= 50 * 1024
    with pytest.raises(ValueError, match="50,000"):
        AttentionHeatmap(x[:1].repeat(200, 0), tokens=[str(i) for i in range(16)])


def test_scores_too_wide_for_sixteen_bits_are_refused() -> None:
    scores = np.random.default_rng(2).normal(size=(30, 30))
    scores[0, 0] = 1e4  # one number takes the whole range, the others share a few steps
    with pytest.raises(ValueError, match="packed"):
        AttentionHeatmap(scores=scores, tokens=[str(i) for i in range(30)])


BAD_HEATMAPS = [
    ({"query": X, "tokens": TOKENS[:2]}, "tokens"),
    ({"query": [[1, float("nan")]], "tokens": ["a"]}, "finite"),
    ({"query": [1, 2], "tokens": ["a", "b"]}, "dimensions"),
    ({"query": [[1], [1, 2]], "tokens": ["a", "b"]}, "equal length"),
    ({"query": X, "tokens": TOKENS, "temperature": 0}, "temperature"),
    ({"query": X, "tokens": TOKENS, "pinned": 3}, "pinned"),
    ({"query": X, "tokens": TOKENS, "head": 1}, "head"),
    ({"query": X, "tokens": TOKENS, "mask": [[True]]}, "mask"),
    ({"query": X, "tokens": TOKENS, "mask": np.ones((3, 3))}, "bool"),
    ({"query": X, "key": X[:2], "tokens": TOKENS}, "key_tokens"),
    ({"query": X, "key": [[1, 2]], "tokens": TOKENS}, "same d"),
    ({"tokens": TOKENS}, "query"),
    ({"query": X, "scores": X, "tokens": TOKENS}, "query"),
    ({"query": X, "d": 3, "tokens": TOKENS}, "scores"),
    ({"scores": X, "d": 0, "tokens": TOKENS}, "d must"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_HEATMAPS)
def test_a_heatmap_says_what_is_wrong(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AttentionHeatmap(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vectors": X, "tokens": TOKENS, "query": 3}, "query"),
        ({"vectors": X, "tokens": TOKENS, "step": 5}, "step"),
        ({"vectors": [[1e7]], "tokens": ["a"]}, "vectors"),
        ({"vectors": np.ones((13, 2)), "tokens": ["a"] * 13}, "12"),
        ({"vectors": X, "tokens": TOKENS * 2}, "tokens"),
    ],
)
def test_steps_say_what_is_wrong(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AttentionSteps(**arguments)


def test_a_string_for_a_list_of_tokens_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="list of strings"):
        AttentionHeatmap(X, tokens="had")
    with pytest.raises(TypeError, match="strings"):
        AttentionHeatmap(X, tokens=[1, 2, 3])


def test_assignments_are_checked_like_arguments(nuts: AttentionHeatmap) -> None:
    with pytest.raises(ValueError, match="temperature"):
        nuts.temperature = -1.0
    with pytest.raises(ValueError, match="pinned"):
        nuts.pinned = 7
    assert (nuts.temperature, nuts.pinned) == (1.0, None)
    nuts.pinned = -1
    assert nuts.pinned == 2
    steps = AttentionSteps(X, TOKENS)
    with pytest.raises(ValueError, match="shape"):
        steps.vectors = [[1, 2]]
    steps.vectors = [[0, 0, 0]] * 3
    assert np.allclose(steps.weights, 1 / 3)


def test_questions_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="one of them right"):
        Checkpoint("?", [("a", False, "x"), ("b", False, "y")])
    with pytest.raises(ValueError, match="multiple"):
        Checkpoint("?", [("a", True, "x"), ("b", True, "y")])
    with pytest.raises(ValueError, match="reason"):
        Checkpoint("?", [("a", True, ""), ("b", False, "y")])
    with pytest.raises(ValueError, match="correct, reason"):
        Checkpoint("?", [("a", True)])
    with pytest.raises(ValueError, match="finite"):
        Prediction("?", {"a": float("inf")})
    with pytest.raises(ValueError, match="tolerance"):
        Prediction("?", {"a": 1}, tolerance=-1)
    with pytest.raises(ValueError, match="answers"):
        Prediction("?", {})


def test_the_fallback_of_a_question_hides_its_answers_in_details() -> None:
    html = Checkpoint("?", OPTIONS).html().split("</script>")[1]
    assert "because" not in html.split("<details>")[0]
    html = Prediction("?", {"a": 0.25}, reason="so").html().split("</script>")[1]
    assert "0.25" not in html.split("<details>")[0]


def test_backticks_become_code_and_nothing_else_does() -> None:
    assert markup.inline("`a<b` & *c*") == "<code>a&lt;b</code> &amp; *c*"


def test_a_stated_tolerance_stands_in_the_html_for_nbval() -> None:
    widget = AttentionHeatmap(X, tokens=TOKENS)
    assert "data-tolerance" not in widget.html()
    assert 'data-tolerance="0.01"' in widget.within(0.01).html()
    with pytest.raises(ValueError, match="tolerance must be a finite number above 0"):
        widget.within(-1)
