"""The translator: the book's own model and beam search, in Python and in the page."""

import base64
from collections.abc import Callable

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.decoding import beam_search
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language import tokenise
from attnlab.models.stored import rounded
from attnlab.models.stored.rows import pack_rows, unpack_rows
from attnlab.models.stored.weights import names, tensors_of
from attnlab.widgets import Translator
from attnlab.widgets.core.markup import fixed
from tests.attnlab.widgets import joint
from tests.attnlab.widgets.examples import (
    box,
    box_named,
    choose,
    lesson,
    longest_translation,
    random_translator,
    small,
    translate,
    translator,
    unfolded,
)
from tests.attnlab.widgets.pages import (
    HIDDEN,
    button,
    eventually,
    keys,
    plot,
    press,
    render,
    rows,
    settle,
    stop_clock,
    texts,
    trait,
    twin,
    wait,
)

PACE = 260  # milliseconds from word to word
LINE = "the small black cat does not eat the red apple"


def test_a_weight_moves_by_half_a_step_of_its_row_at_most_and_equal_ones_stay() -> None:
    model = small()
    mine = rounded(model).state_dict()
    for name, old in model.state_dict().items():
        if old.dim() == 1:
            assert torch.equal(old, mine[name])
        else:
            step = (old.amax(1) - old.amin(1)) / 255
            assert ((old - mine[name]).abs().amax(1) <= step * 0.501 + 1e-7).all()
    model = random_translator("an output of its own")
    with torch.no_grad():
        model.output.weight[3] = -0.7
    assert torch.equal(rounded(model).output.weight[3], model.output.weight[3])


def test_the_rounded_model_has_the_very_numbers_that_the_page_unpacks() -> None:
    for given in (small(), random_translator("an output of its own").train()):
        before = {name: value.clone() for name, value in given.state_dict().items()}
        tensors = tensors_of(given)
        data, shapes = pack_rows(tensors), [tensor.shape for tensor in tensors]
        model = rounded(given)
        mine = model.state_dict()
        for name, tensor in zip(names(given), unpack_rows(data, shapes), strict=True):
            assert np.array_equal(mine.pop(name).numpy(), tensor)
        assert not mine  # no tensor is left out
        assert len(data) == sum(np.prod(s) + 8 * s[0] if s[1:] else 4 * s[0] for s in shapes)
        assert not model.training  # and what was given is left alone
        assert all(torch.equal(before[name], value) for name, value in given.state_dict().items())
    assert given.training
    given.eval()  # others use it too


def searched(model: Seq2Seq, ids: list[int], beam: int, penalty: float) -> list:
    """The book's own beam search of one sentence."""
    source = torch.tensor([ids]), torch.tensor([len(ids)])
    options = {"beam": beam, "max_length": len(ids) + 10, "length_penalty": penalty}
    return beam_search(model, *source, **options)[0]


def test_it_translates_by_the_books_own_beam_search() -> None:
    widget = translator()
    assert widget.translation == "le petit chat noir ne mange pas la pomme rouge"
    widget.sentence = ["does", "the", "famous", "cat", "eat"]
    ids = lesson()[1].encode(widget.sentence)
    for beam, penalty in ((1, 1.0), (5, 0.0), (8, 1.7)):
        widget.beam, widget.penalty = beam, penalty
        assert widget.hypotheses == searched(rounded(small()), ids, beam, penalty)


def test_its_weights_are_the_models() -> None:
    _, source, target = lesson()
    widget = translator(layer=0, head=1)
    best = widget.hypotheses[0]
    wanted = rounded(small()).weights(
        torch.tensor([source.encode(LINE.split())]),
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


BAD_MODELS = [
    ({"positions": "rope"}, "positions='sinusoidal'.*got 'rope'"),
    ({"activation": "gelu"}, "activation='relu'.*got 'gelu'"),
    ({"n_kv_heads": 2}, "as many heads of keys.*n_kv_heads=2 for n_heads=4"),
    ({"d_model": 260}, "d_model of at most 256.*got 260"),
    ({"eps": 1e-12}, "eps of at least 1e-07"),
    ({"d_model": 256, "n_layers": 2}, "must fit into 2,570,000 bytes"),
    ({"norm_kind": "rms"}, "norm_kind='layer'.*got another"),
    ({"bias": False}, "bias=True.*got False"),
    ({"scale": False}, "scale=True.*got False"),
    ({"fill": float("nan")}, "must have finite weights"),
]


@pytest.mark.parametrize(("options", "words"), BAD_MODELS)
def test_a_model_that_the_page_cannot_run_is_refused(options: dict, words: str) -> None:
    _, source, target = lesson()
    given = {"d_model": 16, "n_layers": 1} | {k: v for k, v in options.items() if k != "fill"}
    model = Seq2Seq(len(source), len(target), ModelConfig(**given))
    if "fill" in options:
        torch.nn.init.constant_(model.embed_source.tokens.weight, options["fill"])
    for refused in (lambda: Translator(model, source, target), lambda: rounded(model)):
        with pytest.raises(ValueError, match=words):
            refused()


OPEN = """([packed, shapes, sizes]) => {
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


@pytest.fixture
def ask(maths) -> Callable:
    """Put a translator's model into the page of the mathematics, and ask it there."""

    def given(widget: Translator) -> None:
        weights = widget.carried[: -widget.pieces["bytes"]] if widget.pieces else widget.carried
        packed = base64.b64encode(weights).decode()
        maths(OPEN, [packed, widget.shapes, widget.sizes], "translator")

    return given


def of_words(model: Seq2Seq) -> Translator:
    return Translator(model, *lesson()[1:], examples=())


MODELS = {  # a model, its translator, how many pairs are read, how far logits may lie
    **{
        name: (lambda name=name: random_translator(name), of_words, count, 1e-4)
        for name, count in (
            ("as the lecture's", 50), ("post-norm", 20), ("an output of its own", 20))
    },
    **{
        f"one matrix, {norm}-norm": (
            lambda norm=norm: joint.shared(norm), lambda one: joint.translator(model=one), 12, 1e-3)
        for norm in ("pre", "post")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_torchs(ask, maths, name: str) -> None:
    make, translates, count, most = MODELS[name]
    model, (pairs, source, target) = make(), lesson()
    encoded = [(source.encode(one.source), target.encode(one.target)) for one in pairs[-count:]]
    if name.startswith("one matrix"):
        encoded = [tuple(map(joint.encoded, pair)) for pair in joint.lines()[:count]]
    ask(translates(model))
    examples, wanted, mine = [], [], rounded(model)
    for ids, words in encoded:
        written = [target.bos, *words]
        examples.append([ids, written])
        with torch.no_grad():
            both, lengths = (
                (torch.tensor([one]) for one in (ids, written)),
                torch.tensor([len(ids)]),
            )
            wanted.append(mine(*both, source_lengths=lengths).flatten().numpy())
    packed = base64.b64encode(np.concatenate(wanted).tobytes()).decode()
    assert maths(FARTHEST, [examples, packed], which="translator") < most


CHANGED = [
    ([["cross", 1, 1]], 1.0),
    ([["encoder", 0, 0], ["encoder", 1, 1], ["decoder", 1, 1]], 1.0),
    ([], 3.0),
    ([["cross", 0, 1], ["decoder", 0, 0]], 0.4),
    ([[p, k, h] for p in ("cross", "encoder", "decoder") for k in (0, 1) for h in (0, 1)], 1.0),
]


def hooked(off: list, temperature: float) -> Seq2Seq:
    """The small model, in which a head that is off meets W^O as zeros, and scores are divided."""
    model = rounded(small())
    parts = {"encoder": (model.encoder, "attention"), "decoder": (model.decoder, "attention")}
    parts["cross"] = model.decoder, "cross"
    for part, (stack, name) in parts.items():
        for number, block in enumerate(stack.blocks):
            layer = getattr(block, name)
            kept = torch.ones(2)
            kept[[head for *where, head in off if where == [part, number]]] = 0

            def silence(_, given, kept=kept):
                return (given[0].unflatten(-1, (2, -1)) * kept[:, None]).flatten(-2)

            layer.out.register_forward_pre_hook(silence)
            d = layer.d_model
            with torch.no_grad():
                layer.qkv.weight[:d].div_(temperature)
                layer.qkv.bias[:d].div_(temperature)
    return model


@pytest.mark.parametrize(("off", "temperature"), CHANGED)
def test_a_head_that_is_off_adds_nothing_and_a_temperature_divides_all_scores(
    ask, maths, off: list, temperature: float
) -> None:
    widget = of_words(small())
    ask(widget)
    maths("(given) => { Object.assign(model, given); }", {"off": off, "temperature": temperature})
    pairs, source, target = lesson()
    model, examples, wanted = hooked(off, temperature), [], []
    for pair in pairs[-8:]:
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
    assert maths(FARTHEST, [examples, packed], which="translator") < 1e-4
    widget.off, widget.temperature = off, temperature
    ids = source.encode(widget.sentence)
    mine, theirs = widget.hypotheses[0], searched(model, ids, 1, 1.0)[0]
    assert mine.tokens == theirs.tokens
    assert mine.log_probability == pytest.approx(theirs.log_probability, abs=1e-4)
    assert np.isfinite(mine.log_probability)


def test_beam_search_is_that_of_the_book(ask, maths) -> None:
    pairs, source, _ = lesson()
    ask(of_words(small()))
    model = rounded(small())
    for place, (beam, penalty) in enumerate([(1, 1.0), (2, 0.0), (4, 1.0), (8, 0.6), (8, 2.0)]):
        for pair in (pairs[place], pairs[100 + place]):  # one that it knows, one that it does not
            ids = source.encode(pair.source)
            wanted = searched(model, ids, beam, penalty)
            settings = {"beam": beam, "penalty": penalty, "longest": len(ids) + 10}
            found = maths(SEARCH, [ids, settings], which="translator")
            assert [words for words, _, _ in found] == [
                [*one.tokens, *([2] if one.finished else [])] for one in wanted
            ]
            numbers = [(one.log_probability, one.score) for one in wanted]
            assert np.allclose([one[1:] for one in found], numbers, atol=1e-4)


def test_a_text_is_cut_in_the_page_as_in_python(maths) -> None:
    for text in ("The small cat doesn't eat.", "THE small cat, does not eat!"):
        assert translator(sentence=text).sentence == ["the", "small", "cat", "does", "not", "eat"]
    texts = [
        " The small cat doesn’t eat; it can't!",
        "who cannot see the queen's well-known owl?",
        "3 owls, 1.5 apples & a café … canne cannot2",
        "I've DON'T 'tis l'homme constructor toString",  # words of JavaScript's own are words too
        "",
    ]
    for text in texts:
        plain = "".join(" " if sign in ".,;:!?…" else sign for sign in text.lower())
        cut = [{"n't": "not", "ca": "can"}.get(t, t) for t in tokenise(plain, plain=True)]
        assert maths("(text) => maths.tokensOf(text)", text, which="translator") == cut


def test_the_nearest_words_differ_in_the_fewest_letters(maths) -> None:
    def ask(name: str, *given):
        return maths(f"(given) => maths.{name}(...given)", list(given), "translator")

    far = ("cat", "cat", 0), ("aple", "apple", 1), ("teh", "the", 2), ("", "an", 2)
    for a, b, letters in far:
        assert ask("distance", a, b) == ask("distance", b, a) == letters
    known = ["chair", "apples", "apple", "the", "ape"]
    assert ask("nearest", "aple", known) == ["apple", "ape", "apples"]
    assert ask("nearest", "xylophone", known) == []
    words = ["qu'", "est", "-ce", "que", "l'", "ami", "'s"]
    assert ask("joined", words) == "qu'est-ce que l'ami's"


FRENCH = ["le", "petit", "chat", "noir", "ne", "mange", "pas", "la", "pomme", "rouge", "<eos>"]


def status(page):
    return page.get_by_role("status").last


def test_the_servers_table_leaves_weights_below_5_in_1000_blank_and_fits_a_phone(show) -> None:
    widget = translator()
    _, weights = widget._run(widget.hypotheses[0], "cross")
    page = show(widget, width=390)
    cells = page.locator(".attnbook-fallback td[style]").all_inner_texts()
    assert cells == ["" if w < 0.005 else fixed(w, 2) for w in weights.flatten().tolist()]
    assert "" in cells
    assert page.locator("figure").evaluate(HIDDEN) <= 0.25
    sizes = "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize))"
    assert min(page.locator(".attnbook-fallback :is(th, td)").evaluate_all(sizes)) >= 10


def words(page) -> list[str]:
    return texts(page.locator(".attnbook-words button > span"))


def written(page):
    return page.locator(".attnbook-written")


def test_the_page_loads_nothing_until_it_is_asked_and_then_translates_the_first_sentence(
    started,
) -> None:
    widget = translator()
    page = started(widget)
    assert page.evaluate("globalThis.attnbookAssets") is None
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    expect(page.get_by_text(f"loads the weights, {widget.size / 1e3:.0f} KB, once")).to_be_visible()
    expect(page.locator(".attnbook-stepper")).to_be_hidden()
    translate(page)
    assert words(page) == FRENCH
    expect(written(page)).to_have_text(widget.translation)
    chances, _ = widget._run(widget.hypotheses[0], "cross")
    drawn = page.locator(".attnbook-words small").all_inner_texts()
    assert drawn == [fixed(p, 2) for p in chances]
    expect(page.locator(".attnbook-fallback")).to_have_count(0)
    expect(page.get_by_text("loads the weights")).to_have_count(0)
    assert [float(row[0]) for row in twin(page, 1)] == pytest.approx(chances.tolist(), abs=6e-4)


def test_it_steps_word_by_word_names_the_rivals_and_pins_a_row(started) -> None:
    page = started(translator())
    translate(page)
    button(page, "to the start").click()
    assert words(page) == []
    expect(status(page)).to_contain_text("Press “next word”")
    on = button(page, "next word")
    on.evaluate("(node) => { node.click(); node.click(); }")  # both within one frame
    assert words(page) == ["le", "petit"]
    on.press("ArrowLeft")
    on.press("ArrowRight")
    assert words(page) == ["le", "petit"]
    expect(written(page)).to_have_text("le petit")
    expect(page.locator(".attnbook-side")).to_contain_text("Word 2, after le")
    expect(page.locator(".attnbook-side li").first).to_contain_text("petit")
    expect(status(page)).to_contain_text("To write “petit” (p 0.9")
    button(page, "back").click()
    assert words(page) == ["le"]
    button(page, "all").click()
    assert words(page) == FRENCH
    page.locator(".attnbook-words button").nth(2).click()
    expect(status(page)).to_contain_text("To write “chat” (p 0.9")
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_contain_text("chat")
    plot(page).focus()
    keys(page, "ArrowDown", "ArrowDown", "Enter")
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_contain_text("noir")
    expect(status(page)).to_contain_text("noir → the 0.")
    page.keyboard.press("Escape")
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_have_count(0)
    choose("attention", 1)(page)
    page.locator(".attnbook-words button").first.click()  # a word belongs to the decoder
    expect(page.get_by_role("combobox", name="attention")).to_have_js_property("selectedIndex", 0)
    expect(status(page)).to_contain_text("To write “le”")


def test_without_haste_the_words_come_one_after_another(show) -> None:
    page = show(translator(), clock=True)
    stop_clock(page)
    there = page.locator(".attnbook-words li")
    press(page, "translate")
    assert eventually(lambda: wait(page) or there.count())
    for count in range(2, 12):
        wait(page, PACE)
        expect(there).to_have_count(count)
    press(page, "translate")  # the same sentence again
    assert eventually(lambda: wait(page) or there.count() < 11)
    press(page, "back")
    wait(page)
    shown = there.count()
    assert shown < 11
    wait(page, 20 * PACE)
    assert there.count() == shown  # a hand took over


def test_a_typed_sentence_is_translated_by_enter_as_python_does(started) -> None:
    widget = translator(examples=["how was your day"])
    page = started(widget)
    box(page).fill("  The small RED cat doesn’t eat!")
    box(page).press("Enter")
    page.locator(".attnbook-words li").first.wait_for()
    widget.sentence = ["the", "small", "red", "cat", "does", "not", "eat"]
    expect(written(page)).to_have_text(widget.translation)
    unfolded(page.locator("button", has_text="how was your day")).click()
    widget.sentence = ["how", "was", "your", "day"]
    expect(written(page)).to_have_text(widget.translation)
    expect(box(page)).to_have_value("how was your day")


def test_what_a_quick_hand_types_before_the_first_drawing_stays(show) -> None:
    page = show(clock=True)
    stop_clock(page)
    render(page, translator())
    box(page).fill(typed := "how was your day")
    wait(page)
    expect(box(page)).to_have_value(typed)


def test_unknown_words_are_named_and_the_nearest_offered(started) -> None:
    page = started(translator())
    box(page).fill("teh cat eats xylophonic aples")
    button(page, "translate").click()
    alert = page.get_by_role("alert").first
    expect(alert).to_have_text("The model does not know “teh”, “xylophonic”, “aples”.")
    expect(page.get_by_text("No known word is near “xylophonic”.")).to_be_visible()
    expect(box(page)).to_have_attribute("aria-invalid", "true")
    assert page.evaluate("globalThis.attnbookAssets") is None
    offered = page.locator(".attnbook-hints p").last.get_by_role("button").all_inner_texts()
    assert len(offered) == 3
    assert "apples" in offered
    button(page, "apples").click()
    expect(box(page)).to_have_value("teh cat eats xylophonic apples")
    expect(alert).to_have_text("The model does not know “teh”, “xylophonic”.")
    box(page).fill("teh cat")
    box(page).press("Enter")
    button(page, "the").click()
    expect(alert).to_be_empty()
    expect(button(page, "translate")).to_be_focused()
    for junk, told in (("", "not 0"), ("the " * 17, "not 17"), (" .,! ", "not 0")):
        box(page).fill(junk)
        box(page).press("Enter")
        expect(alert).to_have_text(f"1 to 16 words are wanted, {told}.")


def test_a_refused_sentence_takes_the_last_answer_away(started) -> None:
    page = started(translator(sentence="the cat eats"))
    button(page, "translate").click()
    answer = page.locator(".attnbook-stepper")
    expect(answer).to_be_visible()
    box(page).fill("the sofa eats")
    box(page).press("Enter")
    expect(answer).to_be_hidden()
    box(page).fill("the cat eats")
    box(page).press("Enter")
    expect(answer).to_be_visible()


def test_a_beam_ranks_its_hypotheses_as_python_does(started) -> None:
    widget = translator(sentence="does the famous cat eat", beam=5, length_penalty=0.5)
    page = started(widget)
    translate(page)
    for _ in range(2):
        table = page.locator(".attnbook-translator .attnbook-scroll table").first
        expect(table.locator("tbody tr")).to_have_count(widget.beam)
        wanted = [
            [fixed(h.log_probability), str(len(h.tokens) + h.finished), fixed(h.score)]
            for h in widget.hypotheses
        ]
        assert rows(table.locator("tbody tr")) == wanted
        widget.beam, widget.penalty = 3, 2.0
        box_named(page, "length penalty α as a number").fill("2")
        choose("beam", "3")(page)
    choose("beam", "1 (greedy)")(page)
    expect(table).to_be_hidden()
    box_named(page, "length penalty α as a number").fill("7")
    expect(page.get_by_role("alert").first).to_contain_text("a number from 0 to 2 is wanted")


EVERY = {  # a translator, some of its layers and heads
    "words": (
        lambda: translator(sentence="the small cat does not eat"),
        ((0, None), (0, 1), (1, 0)),
    ),
    "pieces": (
        lambda: joint.translator(sentence="A cat.", model=joint.shared()),
        ((0, 3), (2, None), (3, 1)),
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_the_weights_of_every_part_layer_and_head_are_pythons(started, name: str) -> None:
    make, heads = EVERY[name]
    page = started(widget := make())
    translate(page)
    for place, part in enumerate(("cross", "encoder", "decoder")):
        widget.part = part
        choose("attention", place)(page)
        for layer, head in heads:
            widget.layer, widget.head = layer, head
            choose("layer", str(layer))(page)
            choose("head", "mean of all" if head is None else str(head))(page)
            drawn, weights = twin(page, 0), widget.weights
            if weights.size > 160:  # of a long text, what a row sees most of
                drawn = [[row[0].split(", ")[0].rsplit(" ", 1)[1]] for row in drawn]
                weights = weights.max(axis=1, keepdims=True)
            elif part == "decoder":
                masked = [[text == "masked" for text in row] for row in drawn]
                assert np.array_equal(masked, np.triu(np.ones_like(weights), 1))
            found = [[0.0 if text == "masked" else float(text) for text in row] for row in drawn]
            np.testing.assert_allclose(found, weights, atol=5.1e-4)


def test_a_translation_without_an_end_is_cut_off(started) -> None:
    page = started(longest_translation())
    translate(page)
    assert len(words(page)) == 26
    for fold in page.locator(".attnbook-twin > summary").all():
        fold.click()
    settle(page)
    assert page.locator("figure *").count() <= 500


def test_a_view_that_is_closed_shows_no_further_words(host) -> None:
    page = host(translator(), views=1, clock=True)
    stop_clock(page)
    press(page, "translate")
    assert eventually(lambda: wait(page) or trait(page, "shown") == 2)
    page.evaluate("stops.forEach((stop) => stop())")
    shown = trait(page, "shown")
    wait(page, 20 * PACE)
    assert trait(page, "shown") == shown
    assert page.evaluate("left()") == 0
