"""The head browser in Python: weights and measures, arguments checked, words in the HTML."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from attnbook.widgets import HeadBrowser
from attnbook.widgets.core.assets import FOLDER, asset_bytes

TIRED = ["[CLS]", "the", "animal", "was", "too", "tired", ",", "so", "it", "sat", "[SEP]"]
WIDE = ["[CLS]", "the", "street", "was", "wide", "[SEP]"]
EVIL = "</script><img src=x onerror=alert(1)>"


def attention(n: int, layers: int = 2, heads: int = 3, seed: int = 0, size: float = 3.0):
    """Seeded weights of shape (layers, heads, n, n), some of them very small."""
    scores = np.random.default_rng(seed).normal(size=(layers, heads, n, n)) * size
    return torch.softmax(torch.tensor(scores), -1).numpy()


def pairs(**options) -> list:
    return [
        (tokens, attention(len(tokens), seed=len(tokens), **options)) for tokens in (TIRED, WIDE)
    ]


def browser(**options) -> HeadBrowser:
    return HeadBrowser(pairs(), **options)


def data_of(html: str) -> dict:
    return json.loads(re.search(r'json">(.*?)</script>', html, flags=re.DOTALL).group(1))


@pytest.mark.parametrize("size", [0.1, 3.0, 12.0])
def test_the_packed_weights_err_by_less_than_1e_4_hidden_or_not(size: float) -> None:
    widget = HeadBrowser(pairs(size=size))
    weights = attention(11, seed=11, size=size)
    assert np.abs(widget.weights - weights).max() < 1e-4
    widget.hide = True
    rest = weights[..., 1:-1] / weights[..., 1:-1].sum(-1, keepdims=True)
    assert (widget.weights[..., [0, -1]] == 0).all()
    left = weights[..., 1:-1].sum(-1)
    assert np.abs(widget.weights[..., 1:-1] - rest)[left > 1.001e-5].max() < 1e-4
    assert (widget.weights[left < 0.999e-5] == 0).all()


def test_a_row_with_nothing_left_has_no_measure() -> None:
    weights = np.full((1, 2, 3, 3), 1 / 3)
    weights[0, 0, 1] = [1 - 4e-6, 2e-6, 2e-6]  # all but [CLS] is next to nothing
    tokens = ["[CLS]", "a", "b"]
    for measure, of_all in (("next", [0.5, 0.5]), ("spread", [2, 2])):
        widget = HeadBrowser([(tokens, weights)], row=1, hide=True, measure=measure)
        assert np.isnan(widget.measured[0, 0])
        assert widget.measured[0, 1] == pytest.approx(of_all[1])
        widget.row = None
        assert widget.measured[0] == pytest.approx(of_all)


@pytest.mark.parametrize("row", [None, 0, 8])
def test_each_measure_is_what_it_says(row: int | None) -> None:
    weights = attention(11, seed=11)
    rows = range(11) if row is None else [row]
    keys = {
        "key": lambda i: [2],
        "previous": lambda i: [i - 1] if i else [],
        "next": lambda i: [i + 1] if i < 10 else [],
        "same": lambda i: [i],
        "special": lambda i: [0, 10],
    }
    for measure, of in keys.items():
        values = [weights[:, :, i, of(i)].sum(-1) for i in rows if of(i)]
        found = browser(row=row, key=2, measure=measure).measured
        if values:
            assert np.abs(found - np.mean(values, axis=0)).max() < 1e-4
        else:
            assert np.isnan(found).all()
    spread = torch.distributions.Categorical(torch.tensor(weights)).entropy().exp().numpy()
    found = browser(row=row, measure="spread").measured
    assert np.abs(found - spread[..., list(rows)].mean(-1)).max() < 2e-3


def test_without_a_key_or_with_a_hidden_one_there_is_no_measure() -> None:
    assert np.isnan(browser(row=8).measured).all()
    assert np.isnan(browser(row=8, key=0, hide=True).measured).all()
    assert np.isnan(browser(measure="special", hide=True).measured).all()
    hidden = browser(row=8, key=2, hide=True)
    assert (hidden.measured > browser(row=8, key=2).measured).all()


def test_the_asset_holds_the_weights_and_the_page_does_not(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    widget = browser(asset="two-sentences")
    html = widget.html()
    path = tmp_path / "two-sentences.js"
    assert path.stat().st_size == widget.size
    assert asset_bytes(path) == widget.carried
    assert len(widget.carried) == 2 * 6 * (11**2 + 6**2)
    assert len(html) < 3_000
    assert html == browser(asset="two-sentences").html()
    assert data_of(html)["sentences"][1] == {"name": "the street was wide", "tokens": WIDE}


def test_all_heads_of_ten_sentences_of_minilms_size_are_within_a_megabyte() -> None:
    tokens = [f"word{i}" for i in range(20)]
    weights = attention(20, 6, 12)
    widget = HeadBrowser([(tokens, weights)] * 10)
    assert widget.size < 1_000_000
    with pytest.raises(ValueError, match="more than 1,000,000: show fewer or shorter ones"):
        HeadBrowser([(tokens, weights)] * 14)


def test_tensors_and_arrays_give_the_same_widget() -> None:
    tensors = [(tokens, torch.tensor(weights, requires_grad=True)) for tokens, weights in pairs()]
    assert HeadBrowser(tensors).html() == browser().html()
    assert HeadBrowser(tensors).carried == browser().carried


def test_names_read_as_sentences() -> None:
    pieces = ["[CLS]", "it", "didn", "'", "t", "token", "##ize", ",", "so", "what", "?", "[SEP]"]
    widget = HeadBrowser([(pieces, attention(len(pieces)))])
    assert widget.sentences[0]["name"] == "it didn't tokenize, so what?"
    assert (
        repr(widget) == "HeadBrowser(2 × 3 heads, 1 sentence, shown: it didn't tokenize, so what?)"
    )
    assert browser(names=["one", "two"]).sentences[1]["name"] == "two"


def test_the_fallback_shows_the_pinned_row_of_the_chosen_head() -> None:
    widget = browser(layer=1, head=2, row=8, caption="A `browser`.")
    html = widget.html().split("</script>")[1]
    for weight in widget.weights[1, 2, 8]:
        assert f">{weight:.3f}</td>" in html
    assert "layer 1 head 2" in html
    assert "weight of it" in html
    without = browser(row=8, hide=True).html().split("</script>")[1]
    assert "[CLS]</th>" not in without
    short = browser(chosen=1).html().split("</script>")[1]
    best = browser(chosen=1).weights[0, 0, 2].argmax()
    assert f">street</th><td>{WIDE[best]} 0." in short


def test_hostile_texts_stay_text() -> None:
    widget = HeadBrowser([([EVIL, "b"], attention(2))], names=[EVIL], caption=EVIL, row=0)
    html = widget.html()
    assert "<img" not in html
    assert html.count("</script>") == 1


def test_assignments_are_checked_and_a_shorter_sentence_lets_places_go() -> None:
    widget = browser(row=8, key=2)
    widget.chosen = 1
    assert (widget.row, widget.key) == (None, 2)
    widget.row = -1
    assert widget.row == 5
    bad = {"chosen": 2, "layer": 2, "head": 3, "row": 6, "key": 6, "measure": "most"}
    for name, value in bad.items():
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert widget.initial["row"] == 8


W = attention(6)
BAD = [
    ({"sentences": []}, "sentences must be 1 to 20 of (tokens, weights), got 0", ValueError),
    ({"sentences": "abc"}, "sentences must be 1 to 20 of (tokens, weights), got 'abc'", ValueError),
    ({"sentences": [(WIDE, W)] * 21}, "got 21", ValueError),
    ({"sentences": [WIDE]}, "sentences[0] must be (tokens, weights)", ValueError),
    ({"sentences": [("wide", W)]}, "the tokens of sentences[0] must be a list", TypeError),
    ({"sentences": [(["a"], W[..., :1, :1])]}, "must be 2 to 20, got 1", ValueError),
    ({"sentences": [(WIDE[:5], W)]}, "(layers, heads, 5, 5)", ValueError),
    ({"sentences": [(WIDE, W[0])]}, "must have 4 dimensions", ValueError),
    ({"sentences": [(WIDE, W * np.nan)]}, "must be finite", ValueError),
    ({"sentences": [(WIDE, np.log(W))]}, "must be at least 0 and each row must sum", ValueError),
    ({"sentences": [(WIDE, W / 2)]}, "rows sum to 0.5 to 0.5", ValueError),
    ({"sentences": [(WIDE, W.repeat(25, 0))]}, "at most 144 heads in all", ValueError),
    ({"sentences": [(WIDE, W), (WIDE, W[:1])]}, "must all have the same layers", ValueError),
    ({"names": ["a", "b"]}, "names must be 1 strings", ValueError),
    ({"names": "a"}, "names must be a list of strings", TypeError),
    ({"asset": "../heads"}, "asset must be a name of lower-case letters", ValueError),
    ({"chosen": 1}, "chosen must be a whole number", ValueError),
    ({"layer": 2}, "layer must be a whole number from -2 to 1", ValueError),
    ({"head": 0.5}, "head must be a whole number", ValueError),
    ({"row": 6}, "row must be a whole number", ValueError),
    ({"key": "wide"}, "key must be a number", ValueError),
    ({"measure": "entropy"}, 'measure must be one of "key", "previous"', ValueError),
    ({"hide": 1}, "hide must be True or False", TypeError),
]


@pytest.mark.parametrize(("arguments", "words", "error"), BAD, ids=[words for _, words, _ in BAD])
def test_it_says_what_is_wrong(arguments: dict, words: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=re.escape(words)):
        HeadBrowser(**{"sentences": [(WIDE, W)], **arguments})
