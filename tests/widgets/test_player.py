"""The alignment player in Python: attnbook's own metrics, and arguments checked at the door."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from attnbook.training.metrics import alignment_error_rate, argmax_links
from attnbook.widgets import AlignmentPlayer
from attnbook.widgets.core import markup
from tests.widgets.players import CAT, DAY, UNKNOWN, player

EVIL = "</script><img src=x onerror=alert(1)>\u2028&\"'"


def random_examples(seed: int) -> list[tuple]:
    rng = np.random.default_rng(seed)
    found = []
    for k in range(int(rng.integers(1, 11))):
        n_t, n_s = (int(n) for n in rng.integers(1, 25, 2))
        weights = torch.softmax(torch.tensor(rng.normal(size=(n_t, n_s)) * 3), -1)
        gold = {(int(rng.integers(n_s)), int(rng.integers(n_t))) for _ in range(n_t)}
        words = [[f"{side}{i}" for i in range(n)] for side, n in (("s", n_s), ("t", n_t))]
        found.append((*words, weights, gold if k != 1 else None))
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_weights_are_those_given_raised_to_a_power_and_renormalised(
    seed: int, temperature: float
) -> None:
    examples = random_examples(seed)
    widget = AlignmentPlayer(examples, temperature=temperature)
    for k, (_, _, weights, _) in enumerate(examples):
        widget.chosen = k
        powers = weights ** (1 / temperature)
        wanted = (powers / powers.sum(-1, keepdim=True)).numpy()
        assert np.abs(widget.weights - wanted).max() < 1e-4 / min(1, temperature)


@pytest.mark.parametrize("seed", range(8))
def test_links_and_error_rate_are_those_of_the_books_metrics(seed: int) -> None:
    examples = random_examples(seed)
    widget = AlignmentPlayer(examples)
    for threshold in (0.05, 0.3, 0.7):
        widget.threshold = threshold
        predicted, gold = [], []
        for k, (_, _, weights, links) in enumerate(examples):
            widget.chosen = k
            near = np.abs(weights.numpy() - threshold).min() < 2e-4
            wanted = {(s, t) for t, s in np.argwhere(weights.numpy() >= threshold).tolist()}
            assert near or widget.links == wanted
            if links is not None:
                predicted.append(widget.links)
                gold.append(links)
        assert widget.error_rate == alignment_error_rate(predicted, gold)


def test_a_weight_that_reads_as_the_threshold_is_a_link() -> None:
    widget = player(word=1)
    assert widget.links == {
        (0, 0),
        (2, 1),
        (1, 2),
    }  # 0.5 itself, though its half is carried inexactly
    widget.threshold = 0.501
    assert widget.links == {(0, 0), (1, 2)}


def test_the_error_rate_by_hand() -> None:
    one = AlignmentPlayer([CAT])
    assert one.error_rate == 0
    one.threshold = 0.6  # 2 links, both right, of 3
    assert one.error_rate == pytest.approx(1 - 4 / 5)
    one.threshold = 0.25  # 5 links, 3 of them right
    assert one.error_rate == pytest.approx(1 - 6 / 8)
    one.threshold = 0
    assert len(one.links) == 9
    both = player(threshold=0.6)  # in the second 4 links, 3 of them right, of 6
    assert both.error_rate == pytest.approx(1 - 2 * (2 + 3) / (2 + 4 + 3 + 6))
    assert AlignmentPlayer([UNKNOWN]).error_rate is None
    assert (
        AlignmentPlayer([(["a", "b"], ["c"], [[0.5, 0.5]], [])], threshold=0.6).error_rate is None
    )


def test_a_weight_of_nothing_stays_nothing_at_any_temperature() -> None:
    widget = player(chosen=1, temperature=1000.0)
    assert widget.weights[4].tolist() == [0, 0, 1, 0]
    assert widget.weights[3] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=1e-3)


def test_the_greatest_weight_stays_the_greatest_at_every_temperature() -> None:
    examples = random_examples(3)
    widget = AlignmentPlayer(examples)
    before = argmax_links(torch.tensor(widget.weights))
    for temperature in (0.1, 0.7, 5.0):
        widget.temperature = temperature
        assert argmax_links(torch.tensor(widget.weights)) == before


def test_choosing_a_shorter_sentence_keeps_the_word_inside_it() -> None:
    widget = player(chosen=1, word=-1)
    assert widget.word == 5
    widget.chosen = 0
    assert widget.word == 0
    widget.set_state({"chosen": 1, "word": 4})  # both at once, as the page sends them
    assert (widget.chosen, widget.word) == (1, 4)


def test_tensors_arrays_and_lists_give_the_same_widget() -> None:
    words, rows = CAT[:2], CAT[2]
    wanted = AlignmentPlayer([CAT]).html()
    for weights in (np.array(rows), torch.tensor(rows, dtype=torch.float64, requires_grad=True)):
        gold = {(np.int64(s), torch.tensor(t)) for s, t in CAT[3]}
        assert AlignmentPlayer([(*words, weights, gold)]).html() == wanted


def test_the_fallback_holds_every_weight_and_marks_the_gold() -> None:
    html = player(chosen=1).html()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", html)
    assert cells[:8] == ["0.970*", "0.010", "0.010", "0.010", "0.100", "0.400*", "0.100", "0.400"]
    assert "Every weight of at least 0.5 is a predicted link" in html
    assert "It is 0.273 in this sentence. Over the 2 sentences with gold links it is 0.176." in html
    html = AlignmentPlayer([UNKNOWN]).html()
    assert "gold link" not in html
    assert "1.000</td>" in html


def test_the_html_is_safe_stable_and_holds_every_trait() -> None:
    def made() -> AlignmentPlayer:
        return AlignmentPlayer([([EVIL], ["b"], [[1]], [(0, 0)])], caption=EVIL)

    html = made().html()
    assert html == made().html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    data = json.loads(re.search(r'json">(.*?)</script>', html, flags=re.DOTALL).group(1))
    assert data == markup.tidy(made().state())
    assert data["initial"] == {"chosen": 0, "word": 0, "threshold": 0.5, "temperature": 1}


def test_the_largest_player_stays_within_its_budget_of_data() -> None:
    rng = np.random.default_rng(0)
    words = ["extraordinarily"] * 24
    gold = [(i, i) for i in range(24)]
    weights = torch.softmax(torch.tensor(rng.normal(size=(24, 24)) * 4), -1)
    widget = AlignmentPlayer([(words, words, weights, gold)] * 10)
    assert len(markup.to_json(widget.state())) <= 50_000


def test_tiny_weights_of_another_machine_move_no_number_far() -> None:
    """What is carried has one range, so that nbval compares the logarithms themselves."""
    rows = np.array([[1e-7, 1 - 1e-7], [0.5, 0.5]])
    other = np.array([[1.01e-7, 1 - 1.01e-7], [0.5, 0.5]])
    made = [AlignmentPlayer([(["a", "b"], ["c", "d"], w, None)]) for w in (rows, other)]
    assert made[0].ranges == made[1].ranges == [[-22.0, 0.0]]
    assert np.abs(made[0]._logs - made[1]._logs).max() / 22 < 0.001


def test_the_repr_names_the_widget_and_no_address() -> None:
    assert repr(player()) == "AlignmentPlayer(3 sentences, shown: the black cat)"
    long = AlignmentPlayer([(list("abcdefgh"), ["x"], [[0.125] * 8], None)])
    assert repr(long) == "AlignmentPlayer(1 sentence, shown: a b c d e f …)"


def changed(place: int, value: object) -> list[tuple]:
    example = list(CAT)
    example[place] = value
    return [DAY, tuple(example)]


BAD = [
    ({"examples": []}, r"examples must be 1 to 10 of \(source tokens, .*got \[\]"),
    ({"examples": 3}, "examples must be 1 to 10 of .*got 3"),
    ({"examples": "cat"}, "examples must be 1 to 10"),
    ({"examples": [CAT] * 11}, "examples must be 1 to 10"),
    ({"examples": [CAT[:3]]}, r"examples\[0\] must be \(source tokens, target tokens, weights"),
    ({"examples": changed(2, [[1, 0, 0]])}, r"weights of examples\[1\] must have shape \(3, 3\)"),
    ({"examples": changed(2, [1, 2, 3])}, r"weights of examples\[1\] must have 2 dimensions"),
    ({"examples": changed(2, [[0.5] * 3] * 3)}, r"examples\[1\] must sum to 1 in .*sums to 1.5"),
    ({"examples": changed(2, [[2, -1, 0]] * 3)}, r"examples\[1\] must be at least 0, but -1"),
    (
        {"examples": changed(2, [[float("nan")] * 3] * 3)},
        r"weights of examples\[1\] must be finite",
    ),
    ({"examples": changed(0, [])}, r"weights of examples\[1\] must have shape \(3, 0\)"),
    ({"examples": changed(3, [(3, 0)])}, r"gold of examples\[1\] must be pairs .*from 0 to 2"),
    ({"examples": changed(3, [(0, -1)])}, r"gold of examples\[1\] must be pairs"),
    ({"examples": changed(3, [(0, 1.5)])}, r"gold of examples\[1\] must be pairs"),
    ({"examples": changed(3, [(True, 0)])}, r"gold of examples\[1\] must be pairs"),
    ({"examples": changed(3, 3)}, r"gold of examples\[1\] must be pairs .*or None, got 3"),
    ({"examples": changed(3, ["ab"])}, r"gold of examples\[1\] must be pairs"),
    ({"examples": [(["a"] * 25, ["b"], [[0.04] * 25], None)]}, "at most 24 tokens a side.*1 × 25"),
    ({"examples": [CAT], "chosen": 1}, "chosen must be a whole number from -1 to 0"),
    ({"examples": [CAT], "word": 3}, "word must be a whole number from -3 to 2"),
    ({"examples": [CAT], "threshold": 1.1}, "threshold must be a number from 0 to 1, got 1.1"),
    ({"examples": [CAT], "threshold": -0.1}, "threshold must be a number from 0 to 1"),
    ({"examples": [CAT], "threshold": "half"}, "threshold must be a number from 0 to 1"),
    ({"examples": [CAT], "threshold": float("nan")}, "threshold must be a number from 0 to 1"),
    ({"examples": [CAT], "temperature": 0}, "temperature must be a finite number above 0"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_a_player_says_what_is_wrong(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AlignmentPlayer(**arguments)


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_list_of_texts_is_a_type_error(place: int) -> None:
    side = ("source", "target")[place]
    with pytest.raises(TypeError, match=rf"the {side} of examples\[1\] must be a list of strings"):
        AlignmentPlayer(changed(place, "the"))
    with pytest.raises(TypeError, match=rf"the {side} of examples\[1\] must hold strings, got 1"):
        AlignmentPlayer(changed(place, [1, 2, 3]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("chosen", 3), ("word", 3), ("threshold", 2.0), ("threshold", -0.5), ("temperature", 0.0)],
)
def test_assignments_are_checked_like_arguments(name: str, value: float) -> None:
    widget = player(word=1)
    before = widget.state()
    with pytest.raises(ValueError, match=f"{name} must be"):
        setattr(widget, name, value)
    assert widget.state() == before
