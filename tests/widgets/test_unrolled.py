"""The unrolled model in Python: PyTorch's numbers, arguments checked, words in the HTML."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from attnbook.decoding import greedy
from attnbook.language import Vocabulary
from attnbook.rnn import RNNSeq2Seq
from attnbook.widgets import UnrolledModel
from attnbook.widgets.core import markup, packing

DIGITS = Vocabulary([list("0123456789")])
WORDS = Vocabulary([["the", "cat", "eats", "an", "apple"]])
MOTS = Vocabulary([["le", "chat", "mange", "une", "pomme", "verte"]])


def model(source: Vocabulary = DIGITS, target: Vocabulary = DIGITS, *, d: int = 8, seed: int = 0):
    """An untrained model, made lively: its states and its choices differ from step to step."""
    torch.manual_seed(seed)
    made = RNNSeq2Seq(len(source), len(target), d, order="none")
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(2)
        made.decoder.output.bias[:2] = -20.0  # it never writes <pad> or <bos>
    return made.eval()


def digits(text: str = "31415", *, seed: int = 0, d: int = 8, **options) -> UnrolledModel:
    return UnrolledModel(model(seed=seed, d=d), DIGITS, DIGITS, list(text), **options)


def words(sentence: str = "the cat eats an apple", **options) -> UnrolledModel:
    return UnrolledModel(model(WORDS, MOTS, seed=1), WORDS, MOTS, sentence.split(), **options)


@torch.no_grad()
def expected(net: RNNSeq2Seq, source: list[int], forced: dict[int, int], longest: int):
    """PyTorch's states s_0, s_1 … and probabilities, by start and step, and what is written."""
    state = net.start(torch.tensor([source]), torch.tensor([len(source)]))
    states, rows, written = [state.hidden[0]], [], [1]
    while len(written) <= longest and written[-1] != 2:
        logits, state = net.step(torch.tensor(written[-1:]), state)
        states.append(state.hidden[0])
        rows.append(torch.softmax(logits[0], -1))
        written.append(forced.get(len(written), int(logits.argmax())))
    return torch.stack(states).numpy(), torch.stack(rows).numpy(), written[1:]


@pytest.mark.parametrize("seed", range(8))
def test_states_probabilities_and_words_are_torchs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 13)), int(rng.choice([2, 8, 20]))
    source = [int(one) for one in rng.integers(0, 10, n)]
    forced = {int(t): str(rng.integers(0, 10)) for t in rng.integers(1, n + 3, seed % 4)}
    widget = digits("".join(map(str, source)), seed=seed, d=d, forced=forced)
    net, ids = model(seed=seed, d=d), DIGITS.encode(widget.sentence)
    forced_ids = {t: DIGITS.encode([word])[0] for t, word in forced.items()}
    states, rows, written = expected(net, ids, forced_ids, n * 3 // 2 + 3)
    assert np.abs(widget.probabilities - rows).max() < 1e-5
    assert np.abs(widget.norms.decoder - np.linalg.norm(states, axis=-1)).max() < 1e-5
    assert widget.written == DIGITS.decode(written)
    assert widget.chosen == [DIGITS.tokens[row.argmax()] for row in rows]
    annotations = net.encoder(torch.tensor([ids]), torch.tensor([n])).annotations[0].detach()
    there, back = annotations.reshape(n, 2, d // 2).norm(dim=-1).T.numpy()
    assert np.abs(widget.norms.forward - there).max() < 1e-5
    assert np.abs(widget.norms.backward - back).max() < 1e-5


def test_without_forced_words_it_writes_what_greedy_writes() -> None:
    for seed in range(6):
        widget, source = digits("2718", seed=seed), torch.tensor([DIGITS.encode(list("2718"))])
        found = greedy(model(seed=seed), source, torch.tensor([4]), max_length=9)[0]
        assert widget.written == DIGITS.decode(found.tokens)
        assert len(widget.chosen) == len(found.tokens) + found.finished


def test_a_forced_word_moves_what_follows_and_nothing_before() -> None:
    free = digits()
    other = next(word for word in "0123456789" if word != free.chosen[1])
    forced = digits(forced={2: other})
    assert forced.written[1] == other
    assert forced.chosen[:2] == free.chosen[:2]
    assert np.array_equal(forced.probabilities[:2], free.probabilities[:2])
    assert np.abs(forced.probabilities[2] - free.probabilities[2]).max() > 1e-3
    assert forced.norms.decoder[3] != free.norms.decoder[3]


def test_a_list_of_forced_words_is_teacher_forcing() -> None:
    widget = digits(forced=["5", "1", "4"])
    assert widget.forced == {1: "5", 2: "1", 3: "4"}
    net = model()
    source = torch.tensor([DIGITS.encode(list("31415"))])
    target = torch.tensor([[1, *DIGITS.encode(list("514"))]])
    with torch.no_grad():
        logits = net(source, target, source_lengths=torch.tensor([5]))
    assert np.abs(widget.probabilities[:4] - torch.softmax(logits[0], -1).numpy()).max() < 1e-5


def test_a_forced_end_ends_and_an_end_that_is_forced_away_does_not() -> None:
    assert digits(forced={1: "<eos>"}).written == []
    endless = digits(forced=["7"] * 10)
    assert endless.written == ["7"] * 10
    assert endless.probabilities.shape == (10, len(DIGITS))


def test_weights_come_back_within_their_last_bit() -> None:
    tensors = [np.random.default_rng(0).normal(size=(40, 30)) * 5, np.full(3, 2.5), np.zeros(2)]
    packed, fine, ranges = packing.pack_tensors(tensors)
    back = packing.unpack_tensors(packed, fine, ranges, [tensor.shape for tensor in tensors])
    for tensor, (low, high), came in zip(tensors, ranges, back, strict=True):
        assert np.abs(tensor - came).max() <= ((high - low) or 1) / (2**24 - 1) / 2 + 1e-12
    assert len(packed) + len(fine) == pytest.approx(4 * sum(t.size for t in tensors), abs=8)


def test_the_largest_model_stays_within_fifty_kilobytes() -> None:
    widget = digits("3" * 12, d=30, step=-1)
    html = widget.html()
    data = re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1]
    assert sum(p.numel() for p in model(d=30).parameters()) > 11_500
    assert len(data.encode()) <= 50_000


def test_the_state_is_kept_within_what_there_is() -> None:
    widget = digits(step=-1)
    assert widget.step == 5 + len(widget.chosen)
    widget.sentence = ["3"]
    assert widget.step == 1 + len(widget.chosen)
    widget.step = 0
    widget.forced = {"1": "<eos>"}  # as JSON sends it
    assert widget.forced == {1: "<eos>"}
    with pytest.raises(ValueError, match="step must be a whole number from -3 to 2, got 3"):
        widget.step = 3
    assert widget.initial == {"sentence": list("31415"), "forced": {}, "step": digits(step=-1).step}


def test_what_the_page_sends_at_once_is_taken_at_once() -> None:
    widget = digits(step=-1)
    widget.set_state({"step": 2, "forced": {"1": "<eos>"}, "sentence": ["8"]})
    assert (widget.sentence, widget.forced, widget.step) == (["8"], {1: "<eos>"}, 2)


def test_the_fallback_has_every_step() -> None:
    widget = words(forced={1: "une"})
    html = widget.html().split("</script>")[1]
    assert html.count("<tr>") == 1 + 5 + 1 + len(widget.chosen)
    assert "<td>→ the, ← apple</td>" in html
    assert "<td>[une]</td>" in html
    assert "A forced word stands in brackets." in html
    for number in (*widget.norms.decoder, *widget.norms.forward, *widget.probabilities.max(1)):
        assert markup.fixed(number) in html
    assert f"It writes: {' '.join(widget.written)}." in html


def test_the_html_is_the_same_each_time_and_holds_no_markup() -> None:
    evil = Vocabulary([["<img src=x onerror=alert(1)>", "</script>"]])
    one, two = (
        UnrolledModel(model(evil, evil), evil, evil, ["</script>"], step=1) for _ in range(2)
    )
    assert one.html() == two.html()
    assert "<img" not in one.html()
    assert one.html().count("</script>") == 1
    assert json.loads(markup.to_json(one.state()))["step"] == 1


def test_the_repr_says_what_is_read_and_written() -> None:
    widget = digits()
    said = f"UnrolledModel(d_model 8, reads 3 1 4 1 5, writes {' '.join(widget.written)})"
    assert repr(widget) == said


MANY = Vocabulary([[f"w{i}" for i in range(41)]])
BAD = [
    ({"sentence": []}, ValueError, "sentence must hold 1 to 12 tokens, got 0"),
    ({"sentence": ["3"] * 13}, ValueError, "sentence must hold 1 to 12 tokens, got 13"),
    ({"sentence": "314"}, TypeError, "sentence must be a list of strings"),
    ({"sentence": ["3", "x"]}, ValueError, "'x', which the model does not know; it knows 0, 1"),
    ({"sentence": ["<eos>"]}, ValueError, "sentence holds '<eos>'"),
    ({"step": 99}, ValueError, "step must be a whole number from"),
    ({"forced": {0: "7"}}, ValueError, "forced must name steps of the decoder from 1 to 10"),
    ({"forced": {11: "7"}}, ValueError, "got 11"),
    ({"forced": {1.5: "7"}}, ValueError, "got 1.5"),
    ({"forced": {True: "7"}}, ValueError, "got True"),
    ({"forced": {1: "x"}}, ValueError, "forced holds 'x'.* it knows <eos>, 0"),
    ({"forced": {1: "<bos>"}}, ValueError, "forced holds '<bos>'"),
    ({"forced": {1: ["7"]}}, ValueError, "forced holds"),
    ({"forced": "77"}, TypeError, "forced must be a list of strings"),
    ({"model": torch.nn.Linear(2, 2)}, TypeError, "model must be an RNNSeq2Seq, got a Linear"),
    ({"source": list("0123")}, TypeError, "source must be a Vocabulary, got a list"),
    ({"target": None}, TypeError, "target must be a Vocabulary, got a NoneType"),
    ({"source": WORDS}, ValueError, "source must be the model's vocabulary: it has 8 tokens"),
    ({"target": WORDS}, ValueError, "the model's decoder knows 13"),
    ({"target": MANY}, ValueError, "target must hold at most 40 words, got 41"),
    ({"model": RNNSeq2Seq(13, 13, 8)}, ValueError, "must have order='none', got order='bahdanau'"),
    ({"model": model(d=34)}, ValueError, "d_model of at most 32, got 34"),
    ({"model": model(d=32)}, ValueError, "at most 12,000 weights.* got 13,453"),
]


@pytest.mark.parametrize(("changes", "error", "said"), BAD)
def test_a_bad_argument_is_named(changes: dict, error: type[Exception], said: str) -> None:
    given = {"model": model(), "source": DIGITS, "target": DIGITS, "sentence": ["3", "1", "4"]}
    if "forced" in changes:
        given["sentence"] = list("31415")
    with pytest.raises(error, match=said):
        UnrolledModel(**(given | changes))


@pytest.mark.parametrize("value", [float("nan"), 1e4])
def test_weights_that_cannot_be_carried_are_refused(value: float) -> None:
    broken = model()
    with torch.no_grad():
        broken.decoder.output.bias[0] = value
    with pytest.raises(ValueError, match=r"finite|at most 1,000 in size"):
        UnrolledModel(broken, DIGITS, DIGITS, ["3"])


def test_a_bad_assignment_changes_nothing() -> None:
    widget = digits(forced={1: "7"})
    for name, bad in (("sentence", ["x"]), ("forced", {1: "x"}), ("step", -99)):
        kept = getattr(widget, name)
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, bad)
        assert getattr(widget, name) == kept
