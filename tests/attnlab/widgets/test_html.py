"""What every widget says in HTML: safe, stable, all of its state, and more than a picture."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from attnbook.masks import causal_mask
from attnlab.widgets import AlignmentPlayer, HeadBrowser
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import (
    CAT,
    EVIL,
    EXAMPLES,
    EYE,
    KEY,
    LEARNED,
    QUERY,
    UNKNOWN,
    Example,
    X,
    beam,
    flow,
    heatmap,
    learned,
    painter,
    pairs,
    player,
    roles,
    three,
    words,
)

HOSTILE = EVIL + "\u2028&\"'"
# bytes of the largest; of all others 50,000. The atlas holds 776 sentences: a third when packed
LIMIT = {"beam": 60_000, "atlas": 125_000, "lens": 60_000}


@pytest.fixture(params=EXAMPLES.values(), ids=EXAMPLES)
def one(request) -> Example:
    return request.param


def data_of(html: str) -> dict:
    return json.loads(re.search(r'json">(.*?)</script>', html, flags=re.DOTALL)[1])


class Tags(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list) -> None:
        assert tag != "img"
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_html_and_the_repr_are_the_same_each_time_and_hold_no_address(one: Example) -> None:
    first, second = one.make(), one.make()
    assert first.model_id != second.model_id
    assert first.html() == second.html()
    assert first.model_id not in first.html()
    assert repr(first) == repr(second)
    assert repr(first).startswith(one.told)
    assert not re.search(r"0x[0-9a-f]+", repr(first))

    widget = one.make()
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"] == widget.html()
    assert data["text/plain"] == repr(widget)
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id


@pytest.mark.parametrize("text", ["</script>" + HOSTILE, "</script>"], ids=["tag", "end"])
def test_a_hostile_text_stays_text(one: Example, text: str) -> None:
    html = one.evil(text).html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert "\u2028" not in html.split("attnbook-fallback")[0]
    Tags().feed(html)
    assert text in json.dumps(data_of(html), ensure_ascii=False).replace('\\"', '"')


def test_the_json_holds_every_trait_within_its_budget_and_the_fallback_words(one) -> None:
    widget = one.make()
    data = data_of(widget.html())
    assert data == markup.tidy(widget.state())
    assert {"kind", "caption"} <= set(data)
    assert not {"layout", "tooltip", "_esm"} & set(data)
    assert all(data[name] == value for name, value in data.get("initial", {}).items())
    assert len(one.large().html()) < LIMIT.get(widget.kind, 50_000)
    words = one.make().html().split("</script>")[1]
    text = re.sub("<[^>]*>", "", words)
    for said in one.fallback:
        assert said in text.replace("&lt;", "<").replace("&gt;", ">")
    if one.rows is not None:
        assert len(re.findall("<tr>(?:<th[^>]*>.*?</th>)+<td", words)) == one.rows


def all_of(text: str, values, write=markup.fixed) -> bool:
    """Whether a fallback has a cell for each of these numbers."""
    return all(f">{write(value)}</td>" in text for value in np.ravel(values))


EMPTY_FIRST = np.tri(3, k=-1, dtype=bool)
YET = "masked, yet {}</td>".format
TOLD = {  # what Python computes and the fallback tells, by numbers or in words
    "every head": (three(), lambda w: w.weights, "head 2: nuts"),
    "a row of heads": (three(row=0), lambda w: w.weights[:, 0], "head 2: had"),
    "a mask": (painter(mask=EMPTY_FIRST, fill="zero"), lambda w: [0.471], YET("0.333")),
    "an empty row": (painter(mask=EMPTY_FIRST, fill="nan"), lambda w: [1], YET("NaN")),
    "a gradient": (painter(show="gradient"), lambda w: w.gradient[1], "0.446"),
    "roles": (roles(causal=True), lambda w: w.weights[2], ">masked</td>"),
    "learned": (learned(tanh=False), lambda w: w.weights, "the tanh left out"),
    "gold": (player(chosen=1), lambda w: w.weights[0, 1:], "0.970*</td>"),
    "two sentences": (player(chosen=1), lambda w: [], "It is 0.273 in this sentence. Over the 2"),
    "no gold": (AlignmentPlayer([UNKNOWN]), lambda w: w.weights, "Weights"),
    "an unrolled model": (
        words(forced={1: "une"}),
        lambda w: w.probabilities.max(1),
        "<td>[une]</td>",
    ),
    "its end": (words(), lambda w: w.probabilities.max(1), "→ the, ← apple"),
    "a beam": (beam(penalty=1), lambda w: [w.hypotheses[0].score], "le (−0.693); la (−0.916)"),
    "stages": (flow(norm="post", blocks=3), lambda w: [], "n₁ = norm(s₁)"),
    "lengths": (flow(blocks=3), lambda w: [t.length for t in w.trace], "pre-norm, with the"),
}


@pytest.mark.parametrize("name", TOLD)
def test_the_fallback_tells_what_python_computes(name: str) -> None:
    widget, values, said = TOLD[name]
    text = widget.html().split("</script>")[1]
    assert said in text
    assert all_of(text, values(widget))
    if name == "learned":
        assert all_of(text, widget.scores, markup.plain)
    if name == "no gold":
        assert "gold link" not in text


def half(numbers) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.bfloat16, requires_grad=True)


RAW = {"query": None, "scores": np.array(X) @ np.array(X).T, "d": 3}
TRIL = np.tri(3, dtype=bool)
DOUBLE = torch.tensor(CAT[2], dtype=torch.float64, requires_grad=True)
GOLD = {(np.int64(s), torch.tensor(t)) for s, t in CAT[3]}
TENSORS = [(tokens, torch.tensor(weights, requires_grad=True)) for tokens, weights in pairs()]
GIVEN = [  # the same numbers as lists, and as tensors, arrays or scores
    (heatmap, {}, {"query": half(X)}),
    (heatmap, {}, {"query": np.array(X, dtype=np.float32)}),
    (heatmap, {}, RAW),
    (painter, {"mask": TRIL}, {"query": half(X), "mask": causal_mask(3)}),
    (painter, {"mask": TRIL}, RAW | {"mask": causal_mask(3)}),
    (three, {"key": None}, {"query": half(QUERY), "key": None}),
    (three, {}, {"query": None, "key": None, "scores": QUERY @ KEY.swapaxes(1, 2), "d": 2}),
    (roles, {}, {"vectors": half(X)} | {name: half(EYE) for name in ("w_q", "w_k", "w_v")}),
    (roles, {}, {"w_k": np.array(EYE, dtype=np.float32)}),
    (learned, {}, {name: torch.tensor(x, dtype=torch.float32) for name, x in LEARNED.items()}),
    (learned, {}, {"query": np.array([1.5, 1.0])}),
    (AlignmentPlayer, {"examples": [CAT]}, {"examples": [(*CAT[:2], np.array(CAT[2]), GOLD)]}),
    (AlignmentPlayer, {"examples": [CAT]}, {"examples": [(*CAT[:2], DOUBLE, GOLD)]}),
    (HeadBrowser, {"sentences": pairs()}, {"sentences": TENSORS}),
]


@pytest.mark.parametrize("place", range(len(GIVEN)))
def test_tensors_arrays_lists_and_scores_give_the_same_widget(place: int) -> None:
    make, lists, others = GIVEN[place]
    one, other = make(**lists), make(**others)
    assert one.html() == other.html()
    assert getattr(one, "carried", None) == getattr(other, "carried", None)


def test_numbers_are_rounded_and_never_minus_zero_and_backticks_alone_become_code() -> None:
    assert markup.to_json([-0.0, 1.0, 1 / 3, -1e-12]) == "[0,1,0.33333333,0]"
    assert markup.fixed(-0.0001) == "0.000"
    assert markup.plain(-2.5) == "−2.5"
    with pytest.raises(ValueError, match="finite"):
        markup.to_json(float("nan"))
    assert markup.inline("`a<b` & *c*") == "<code>a&lt;b</code> &amp; *c*"
