"""The translator in Python: rounded weights, the book's own beam search, and refused arguments."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

from attnbook.decoding import beam_search, greedy
from attnbook.language import Vocabulary, batches, english_french
from attnbook.training import train
from attnbook.training.seeds import seeded
from attnbook.transformer import Seq2Seq
from attnbook.widgets import Translator, rounded
from attnbook.widgets.core.assets import FOLDER, asset_bytes, asset_script
from attnbook.widgets.core.packing import pack_rows, unpack_rows
from attnbook.widgets.translator.weights import names, tensors_of

CAT = "the small black cat does not eat the red apple"
EVIL = "<img src=x onerror=alert(1)>"


@functools.cache
def lesson() -> tuple[tuple, Vocabulary, Vocabulary]:
    """Pairs of the book's corpus, and the vocabulary of either side."""
    pairs = english_french(200, one_clause=True).test
    return pairs, *(Vocabulary([pair[side] for pair in pairs]) for side in (0, 1))


@functools.cache
def small() -> Seq2Seq:
    """A translator that knows the first 48 pairs by heart."""
    pairs, source, target = lesson()
    examples = [(source.encode(p.source), target.encode(p.target)) for p in pairs[:48]]
    with seeded(0):
        model = Seq2Seq(
            len(source), len(target), d_model=32, n_heads=2, n_layers=2, d_ff=64, tied=True
        )
    steps = {"steps": 100, "lr": 1e-2, "seed": 0, "progress": False}
    train(model, lambda epoch: batches(examples, 48, seed=epoch), **steps)
    return model.eval()


def translator(**options) -> Translator:
    _, source, target = lesson()
    return Translator(
        small(), source, target, **{"examples": ["how was your day"], "asset": "small"} | options
    )


def put_asset(folder: Path, widget: Translator) -> None:
    """Write what the page loads on demand."""
    (folder / "assets").mkdir(exist_ok=True)
    text = asset_script(widget.asset, widget.carried)
    (folder / "assets" / f"{widget.asset}.js").write_text(text, encoding="ascii")


def options_of(name: str) -> Seq2Seq:
    """A model with random weights and some other options."""
    torch.manual_seed(0)
    changed = {
        "as the lecture's": {"d_model": 128, "n_heads": 4, "d_ff": 256, "tied": True},
        "post-norm": {"norm": "post", "d_model": 24, "n_heads": 3, "d_ff": 13, "tied": True},
        "an output of its own": {"d_model": 16, "n_heads": 1, "n_layers": 1, "eps": 1e-3},
    }[name]
    _, source, target = lesson()
    model = Seq2Seq(len(source), len(target), **changed).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)  # biases and norms too
    return model


def test_a_weight_moves_by_half_a_step_of_its_row_at_most() -> None:
    model = small()
    mine = rounded(model).state_dict()
    for name, old in model.state_dict().items():
        if old.dim() == 1:
            assert torch.equal(old, mine[name])
        else:
            step = (old.amax(1) - old.amin(1)) / 255
            assert ((old - mine[name]).abs().amax(1) <= step * 0.501 + 1e-7).all()


def test_the_rounded_model_has_the_very_numbers_that_the_page_unpacks() -> None:
    for model in (small(), options_of("an output of its own")):
        tensors = tensors_of(model)
        data, shapes = pack_rows(tensors), [tensor.shape for tensor in tensors]
        mine = rounded(model).state_dict()
        for name, tensor in zip(names(model), unpack_rows(data, shapes), strict=True):
            assert np.array_equal(mine.pop(name).numpy(), tensor)
        assert not mine  # no tensor is left out
        assert len(data) == sum(np.prod(s) if s[1:] else 4 * s[0] for s in shapes) + 8 * sum(
            s[0] for s in shapes if s[1:]
        )


def test_a_row_of_equal_weights_stays_what_it_is() -> None:
    model = options_of("an output of its own")
    with torch.no_grad():
        model.output.weight[3] = -0.7
    assert torch.equal(rounded(model).output.weight[3], model.output.weight[3])


def test_the_model_that_was_given_is_left_alone() -> None:
    model = options_of("post-norm").train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert not rounded(model).training
    assert model.training
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_rounding_loses_no_translation_that_was_learned() -> None:
    pairs, source, target = lesson()
    mine = rounded(small())
    for pair in pairs[:48]:
        ids = torch.tensor([source.encode(pair.source)])
        (best,) = greedy(mine, ids, torch.tensor([ids.shape[1]]), max_length=30)
        assert target.decode(best.tokens) == list(pair.target)


def test_it_translates_by_the_books_own_beam_search() -> None:
    _, source, _ = lesson()
    widget = translator()
    assert widget.translation == "le petit chat noir ne mange pas la pomme rouge"
    widget.sentence = ["does", "the", "famous", "cat", "eat"]
    for beam, penalty in ((1, 1.0), (5, 0.0), (8, 1.7)):
        widget.beam, widget.penalty = beam, penalty
        ids = torch.tensor([source.encode(widget.sentence)])
        (found,) = beam_search(
            rounded(small()),
            ids,
            torch.tensor([5]),
            beam=beam,
            max_length=15,
            length_penalty=penalty,
        )
        assert widget.hypotheses == found


def test_its_weights_are_the_models() -> None:
    _, source, target = lesson()
    widget = translator(layer=0, head=1)
    best = widget.hypotheses[0]
    wanted = rounded(small()).weights(
        torch.tensor([source.encode(CAT.split())]),
        torch.tensor([[target.bos, *best.tokens]]),
        source_lengths=torch.tensor([10]),
        layer=0,
    )[0]
    assert np.allclose(widget.weights, wanted[1].detach(), atol=1e-6)
    widget.head = None
    assert np.allclose(widget.weights, wanted.mean(0).detach(), atol=1e-6)
    for part, shape in (("encoder", (10, 10)), ("decoder", (11, 11))):
        widget.part = part
        assert widget.weights.shape == shape
        assert np.allclose(widget.weights.sum(-1), 1, atol=1e-5)
    assert np.allclose(np.triu(widget.weights, 1), 0)


def test_a_text_is_cut_as_the_corpus_is() -> None:
    for text in (
        "The small cat doesn't eat.",
        "the small cat does not eat",
        "THE small cat, does not eat!",
    ):
        assert translator(sentence=text).sentence == ["the", "small", "cat", "does", "not", "eat"]


def test_the_page_is_small_says_its_tolerance_and_is_the_same_every_time(monkeypatch, tmp_path):
    widget = translator(caption="`seq2seq`").within(0.05)
    html = widget.html()
    assert html == translator(caption="`seq2seq`").within(0.05).html()
    assert len(html) < 50_000
    assert "le petit chat noir ne mange pas la pomme rouge" in html
    assert 'data-tolerance="0.05"' in html
    assert repr(widget) == f"Translator(d_model 32, {CAT} → {widget.translation})"
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert widget.html() == html
    assert asset_bytes(tmp_path / "small.js") == widget.carried
    assert (tmp_path / "small.js").stat().st_size == widget.size


def test_the_lectures_model_fits_into_its_budget() -> None:
    _, source, target = lesson()
    widget = Translator(options_of("as the lecture's"), source, target, examples=())
    assert widget.size <= 1.5e6


def test_hostile_words_are_text_in_the_html() -> None:
    vocabulary = Vocabulary([[EVIL, "</script>"]])
    model = Seq2Seq(len(vocabulary), len(vocabulary), d_model=4, n_heads=2, n_layers=1)
    html = Translator(model, vocabulary, vocabulary, sentence=[EVIL], examples=()).html()
    assert "<img" not in html
    assert html.count("</script>") == 1


def other(**options) -> Seq2Seq:
    _, source, target = lesson()
    return Seq2Seq(len(source), len(target), **{"d_model": 16, "n_layers": 1} | options)


BAD_MODELS = [
    (lambda: other(positions="rope"), "positions='sinusoidal'.*got 'rope'"),
    (lambda: other(activation="gelu"), "activation='relu'.*got 'gelu'"),
    (lambda: other(n_kv_heads=2), "as many heads of keys.*n_kv_heads=2 for n_heads=4"),
    (lambda: other(d_model=260), "d_model of at most 256.*got 260"),
    (lambda: other(eps=1e-12), "eps of at least 1e-07"),
    (lambda: other(d_model=256), "must fit into 1,100,000 bytes"),
    (lambda: not_a_number(other()), "must have finite weights"),
]


def not_a_number(model: Seq2Seq) -> Seq2Seq:
    torch.nn.init.constant_(model.embed_source.tokens.weight, float("nan"))
    return model


@pytest.mark.parametrize(("make", "words"), BAD_MODELS)
def test_a_model_that_the_page_cannot_run_is_refused(make, words: str) -> None:
    _, source, target = lesson()
    with pytest.raises(ValueError, match=words):
        Translator(make(), source, target)
    with pytest.raises(ValueError, match=words):
        rounded(make())


BAD = [
    ({"sentence": "the blue unicorn"}, "does not know: unicorn"),
    ({"sentence": []}, "sentence must hold 1 to 16 words, got 0"),
    ({"sentence": ["the"] * 17}, "got 17"),
    ({"sentence": ["<eos>"]}, "does not know: <eos>"),
    ({"examples": ["the unicorn"]}, r"examples\[0\] holds words"),
    ({"examples": [CAT] * 7}, "at most 6"),
    ({"beam": 0}, "beam must be a whole number from 1 to 8, got 0"),
    ({"beam": 2.5}, "beam must be"),
    ({"length_penalty": -1}, "length_penalty must be a number from 0 to 2, got -1"),
    ({"part": "memory"}, "part must be one of cross, encoder, decoder, got 'memory'"),
    ({"layer": 2}, "layer must be a whole number from -2 to 1"),
    ({"head": 2}, "head must be a whole number from -2 to 1"),
    ({"asset": "../x"}, "asset must be a name of lower-case letters"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_arguments_are_refused_in_words(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        translator(**options)


def test_what_is_assigned_is_checked_too() -> None:
    widget = translator()
    for name, value in (("sentence", ["unicorn"]), ("beam", 9), ("penalty", 3.0), ("part", "x"),
                        ("layer", 7), ("head", 7), ("shown", -1), ("row", -1)):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
    assert widget.sentence == CAT.split()


def test_other_types_are_refused() -> None:
    _, source, target = lesson()
    with pytest.raises(TypeError, match="model must be a Seq2Seq, got a str"):
        rounded("model")
    with pytest.raises(TypeError, match="source_vocabulary must be a Vocabulary, got a list"):
        Translator(small(), list(source.tokens), target)
    with pytest.raises(ValueError, match="target_vocabulary must be the model's"):
        Translator(small(), source, source)
