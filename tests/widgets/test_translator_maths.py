"""The Transformer in the browser gives PyTorch's logits, hypotheses and weights."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import torch

from attnbook.decoding import beam_search
from attnbook.language import tokenise
from attnbook.widgets import Translator, rounded
from attnbook.widgets.core.chunks import module
from tests.widgets.test_translator import lesson, options_of, small

OPEN = """async ([source, packed, shapes, sizes]) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window.maths = (await import(url)).maths;
  window.bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  window.model = maths.assembled(maths.unpackRows(bytes(packed), shapes), sizes);
}"""

FARTHEST = """([examples, packed]) => {
  const wanted = new Float32Array(bytes(packed).buffer);
  let [at, farthest] = [0, 0];
  for (const [source, target] of examples) {
    const { memory } = maths.encode(model, source);
    let past = null;
    for (const id of target) {
      const next = maths.decode(model, memory, past, id);
      past = next.past;
      for (const logit of next.logits) {
        farthest = Math.max(farthest, Math.abs(logit - wanted[at++]));
      }
    }
  }
  return at === wanted.length ? farthest : NaN;
}"""

SEARCH = """([source, settings]) => {
  const work = maths.search(model, maths.encode(model, source).memory, settings);
  let found = work.next();
  while (!found.done) found = work.next();
  return found.value.map((one) =>
    [maths.path(one).map(({ word }) => word), one.logP, one.score]);
}"""


def opened(show, model):
    """A page with the model in it, and the model as the page has it."""
    _, source, target = lesson()
    widget = Translator(model, source, target, examples=())
    page = show()
    packed = base64.b64encode(widget.carried).decode()
    page.evaluate(OPEN, [module("translator"), packed, widget.shapes, widget.sizes])
    return page, rounded(model)


@pytest.mark.parametrize(
    ("name", "count"), [("as the lecture's", 200), ("post-norm", 20), ("an output of its own", 20)]
)
def test_logits_are_torchs_on_held_out_sentences(show, name: str, count: int) -> None:
    pairs, source, target = lesson()
    page, model = opened(show, options_of(name))
    examples, wanted = [], []
    for pair in pairs[-count:]:
        ids, written = source.encode(pair.source), [target.bos, *target.encode(pair.target)]
        examples.append([ids, written])
        with torch.no_grad():
            logits = model(
                torch.tensor([ids]),
                torch.tensor([written]),
                source_lengths=torch.tensor([len(ids)]),
            )
        wanted.append(logits.flatten().numpy())
    packed = base64.b64encode(np.concatenate(wanted).tobytes()).decode()
    assert page.evaluate(FARTHEST, [examples, packed]) < 1e-4


def test_beam_search_is_that_of_the_book(show) -> None:
    pairs, source, _ = lesson()
    page, model = opened(show, small())
    for place, (beam, penalty) in enumerate([(1, 1.0), (2, 0.0), (4, 1.0), (8, 0.6), (8, 2.0)]):
        for pair in (pairs[place], pairs[100 + place]):  # one that it knows, one that it does not
            ids = source.encode(pair.source)
            (wanted,) = beam_search(
                model,
                torch.tensor([ids]),
                torch.tensor([len(ids)]),
                beam=beam,
                max_length=len(ids) + 10,
                length_penalty=penalty,
            )
            settings = {"beam": beam, "penalty": penalty, "longest": len(ids) + 10}
            found = page.evaluate(SEARCH, [ids, settings])
            assert [words for words, _, _ in found] == [
                [*one.tokens, *([2] if one.finished else [])] for one in wanted
            ]
            numbers = [(one.log_probability, one.score) for one in wanted]
            assert np.allclose([one[1:] for one in found], numbers, atol=1e-4)


def test_the_bytes_of_another_model_are_refused(show) -> None:
    page, _ = opened(show, options_of("post-norm"))
    said = page.evaluate(
        "() => { try { maths.unpackRows(new Uint8Array(9), [[2, 3]]); }"
        " catch (error) { return error.message; } }"
    )
    assert said == "the weights are those of another model"


def test_a_text_is_cut_in_the_page_as_in_python(show) -> None:
    page, _ = opened(show, options_of("an output of its own"))
    texts = [
        " The small cat doesn’t eat; it can't!",
        "who cannot see the queen's well-known owl?",
        "3 owls, 1.5 apples & a café … canne cannot2",
        "I've DON'T 'tis l'homme",
        "",
    ]
    for text in texts:
        plain = "".join(" " if sign in ".,;:!?…" else sign for sign in text.lower())
        cut = [{"n't": "not", "ca": "can"}.get(t, t) for t in tokenise(plain, plain=True)]
        assert page.evaluate("(text) => maths.tokensOf(text)", text) == cut


def test_the_nearest_words_differ_in_the_fewest_letters(show) -> None:
    page, _ = opened(show, options_of("an output of its own"))
    far = "([a, b]) => maths.distance(a, b)"
    for a, b, letters in [
        ("cat", "cat", 0),
        ("aple", "apple", 1),
        ("teh", "the", 2),
        ("", "an", 2),
    ]:
        assert page.evaluate(far, [a, b]) == page.evaluate(far, [b, a]) == letters
    near = "([word, known]) => maths.nearest(word, known)"
    known = ["chair", "apples", "apple", "the", "ape"]
    assert page.evaluate(near, ["aple", known]) == ["apple", "ape", "apples"]
    assert page.evaluate(near, ["xylophone", known]) == []
    joined = "(words) => maths.joined(words)"
    words = ["qu'", "est", "-ce", "que", "l'", "ami", "'s"]
    assert page.evaluate(joined, words) == "qu'est-ce que l'ami's"
