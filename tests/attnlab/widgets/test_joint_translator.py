"""A translator of pieces: any text is typed, pieces are shown, and the logits are PyTorch's."""

import json

import pytest
import torch
from playwright.sync_api import expect

from attnbook.decoding import beam_search
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.models.stored import load_translator, rounded
from attnlab.models.stored.rows import pack_rows
from attnlab.models.stored.script import asset_script
from attnlab.models.stored.weights import names, tensors_of
from attnlab.widgets import Translator
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import box, choose, lesson, small, translate
from tests.attnlab.widgets.joint import SEVERAL, encoded, joint, learned, lines, shared, translator
from tests.attnlab.widgets.pages import button, eventually, settle, texts, trait

LINE, GERMAN = lines()[0]
HARD = ["😀 and 語", "<b>The cat</b> <script>alert(1)</script>", "Ωμέγα Кошка חתול قطة แมว"]
HARD += ["   the\t\tcat\u3000", "▁▁▁", "<eos> <pad>", "x" * 40, "1234567890"]


def test_a_shared_matrix_is_carried_once() -> None:
    model = shared()
    assert names(model).count("embed_source.tokens.weight") == 1
    assert "embed_target.tokens.weight" not in names(model)
    mine = rounded(model)
    assert mine.embed_source.tokens.weight is mine.embed_target.tokens.weight
    weight = model.embed_source.tokens.weight
    step = (weight.amax(1) - weight.amin(1)) / 255
    moved = (weight - mine.embed_target.tokens.weight).abs().amax(1)
    assert (moved <= step * 0.501 + 1e-7).all()
    numbers = sum(weight.numel() for weight in model.parameters())
    assert len(pack_rows(tensors_of(model))) < 1.1 * numbers
    apart = Seq2Seq(300, 300, ModelConfig(d_model=128, n_heads=4, n_layers=4, d_ff=256, tied=True))
    assert len(names(apart)) == len(names(model)) + 1


def test_the_largest_model_and_its_pieces_make_an_asset_of_three_and_a_half_megabytes() -> None:
    model = shared(size=8_000)
    assert 2_300_000 < sum(weight.numel() for weight in model.parameters()) < 2_400_000
    carried = len(pack_rows(tensors_of(rounded(model))))
    assert 4 * (carried + 4 * 8_000 + 4_000) / 3 < 3_500_000
    with pytest.raises(ValueError, match=r"must fit into 2,570,000 bytes, one for each weight"):
        rounded(shared(size=9_500))


def test_python_translates_a_text_of_pieces_as_beam_search_does() -> None:
    widget = translator()
    assert widget.translation == GERMAN
    for text, beam in ((lines()[40][0], 1), ("A cat <eos> 😀", 3)):
        widget.sentence, widget.beam = text, beam
        ids = encoded(text) if "<eos>" not in text else widget._reader.source([text])[0]
        source = torch.tensor([ids]), torch.tensor([len(ids)])
        wanted = beam_search(
            rounded(learned()), *source, beam=beam, max_length=2 * len(ids) + 20, length_penalty=1.0
        )[0]
        assert widget.hypotheses == wanted
        assert widget.translation == joint().decode(wanted[0].tokens).strip()


def test_what_is_typed_is_kept_as_one_text_and_its_pieces_are_in_the_asset_alone() -> None:
    widget = translator(sentence=f" {LINE}\n")
    assert widget.sentence == [LINE]
    state = widget.state()
    assert state["source_words"] == state["target_words"] == []
    assert len(widget.html()) < 25_000
    assert widget.carried.endswith(widget._reader.table)
    assert "▁" in widget.html()  # the server's table shows pieces
    words = Translator(small(), *lesson()[1:])
    assert "pieces" not in words.state()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sentence": ""}, "sentence must make 1 to 60 pieces, and makes 0"),
        ({"sentence": "the " * 61}, "sentence must make 1 to 60 pieces, and makes 61"),
        ({"sentence": "a " * 1_001}, "sentence must have at most 2000 letters, got 2001"),
        ({"sentence": ["the", "cat"]}, "sentence must be one text, got 2"),
        ({"examples": [" "]}, r"examples\[0\] must make 1 to 60 pieces"),
        ({"model": shared(size=301)}, "it has 300 pieces, and the model knows 301"),
        ({"target_vocabulary": lesson()[2]}, "target_vocabulary must be None"),
        ({"lower": "yes"}, "lower must be True or False"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict, words: str) -> None:
    given = {"model": learned(), "source_vocabulary": joint(), "sentence": LINE, "examples": []}
    with pytest.raises((ValueError, TypeError), match=words):
        Translator(**(given | changes))


def shown(page, which: str) -> list[str]:
    return texts(page.locator(f".attnbook-{which}"))


def test_the_translation_is_shown_piece_by_piece_and_as_a_text(started) -> None:
    page = started(widget := translator())
    assert page.evaluate("globalThis.attnbookAssets") is None
    translate(page)
    best = widget.hypotheses[0]
    wanted = [joint().id_to_token(number) for number in [*best.tokens, 2]]
    assert shown(page, "words button > span") == wanted
    expect(page.locator(".attnbook-written")).to_have_text(GERMAN)
    chances, _ = widget._run(best, "cross")
    assert shown(page, "words small") == [markup.fixed(p, 2) for p in chances]
    assert shown(page, "source li") == joint().encode(LINE).tokens
    going_on = [not name.startswith("▁") and name != "<eos>" for name in wanted]
    marked = "all => all.map((one) => one.classList.contains('attnbook-inside'))"
    assert page.locator(".attnbook-words li").evaluate_all(marked) == going_on
    button(page, "to the start").click()
    button(page, "next piece").click()
    assert shown(page, "words button > span") == wanted[:1]
    expect(page.locator(".attnbook-stepper")).to_contain_text(f"piece 1 of {len(wanted)}")


def test_heads_are_switched_off_in_the_page_as_in_python(started) -> None:
    widget = translator()
    page = started(widget)
    translate(page)
    plain = widget.translation
    folded = page.locator(".attnbook-all input[type=checkbox]")
    assert folded.evaluate_all("all => all.map((one) => one.checked)") == [True] * 4
    page.get_by_text("heads at once, with a switch for each").click()
    page.get_by_role("checkbox", name="layer 1, head 1").uncheck()
    widget.off = [("cross", -1, 1)]
    told = page.locator(".attnbook-note", has_text="Unchanged, the model writes")
    expect(told).to_contain_text(
        f"Off: decoder → source layer 1 head 1. Unchanged, the model writes: “{plain}”."
    )
    expect(page.locator(".attnbook-written")).to_have_text(widget.translation)
    button(page, "all of these off").click()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    choose("attention", 1)(page)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(4)
    for part in (1, 2):
        choose("attention", part)(page)
        button(page, "all of these off").click()
    expect(told).to_contain_text("Off: 12 of 12 heads.")
    widget.off = [
        (part, k, h) for part in ("cross", "encoder", "decoder") for k in (0, 1) for h in (0, 1)
    ]
    expect(page.locator(".attnbook-written")).to_have_text(widget.translation or "…")
    assert "NaN" not in page.locator(".attnbook-translator").inner_text()
    button(page, "every head on").click()
    expect(page.locator(".attnbook-written")).to_have_text(plain)
    expect(told).to_be_hidden()
    page.get_by_label("temperature as a number").fill("30")
    widget.off, widget.temperature = [], 30.0
    expect(told).to_contain_text("All scores are divided by 30.")
    expect(page.locator(".attnbook-written")).to_have_text(widget.translation)
    chances, _ = widget._run(widget.hypotheses[0], "cross")
    drawn = [float(p) for p in page.locator(".attnbook-words small").all_inner_texts()]
    assert drawn == pytest.approx(chances.tolist(), abs=0.006)
    button(page, "reset to the first sentence").click()
    expect(told).to_be_hidden()


def test_a_pressed_piece_shows_which_pieces_of_the_source_it_looked_at(started) -> None:
    page = started(widget := translator(layer=1, head=0))
    translate(page)
    shares = "all => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    bars = page.locator(".attnbook-source li")
    assert set(bars.evaluate_all(shares)) == {0}
    page.locator(".attnbook-words button").nth(2).click()
    settle(page)
    assert bars.evaluate_all(shares) == pytest.approx(widget.weights[2].tolist(), abs=6e-4)
    name = joint().id_to_token(widget.hypotheses[0].tokens[2])
    expect(page.get_by_text(f"while it wrote “{name}”")).to_be_visible()
    choose("attention", 1)(page)
    settle(page)
    assert set(bars.evaluate_all(shares)) == {0}


def test_any_text_is_read_and_what_is_unknown_is_named(started) -> None:
    page = started(widget := translator())
    hints = page.locator(".attnbook-hints")
    for text in HARD:
        translate(page, text)
        widget.sentence = text
        tokens = widget._reader.source(widget.sentence)[1]
        assert eventually(lambda tokens=tokens: shown(page, "source li") == tokens)
        expect(page.locator(".attnbook-written")).to_have_text(widget.translation or "…")
        if "<unk>" in tokens:
            expect(hints).to_contain_text("The model has no piece for “")
            expect(hints).to_contain_text("and reads <unk> in its place.")
        else:
            expect(hints).to_be_empty()
        assert page.locator("figure b, figure script:not([type])").count() == 0


def test_what_cannot_be_read_is_said_in_a_sentence_and_what_was_there_stays(started) -> None:
    page = started(translator())
    alert = page.get_by_role("alert").first
    box(page).fill("  \t ")
    button(page, "translate").click()
    expect(alert).to_have_text("Type a sentence first.")
    assert page.evaluate("globalThis.attnbookAssets") is None
    box(page).fill("the cat " * 250)
    button(page, "translate").click()
    expect(alert).to_have_text("This text makes 750 pieces, and at most 60 are read: shorten it.")
    expect(page.get_by_text("loads the weights")).to_have_count(0)
    box(page).fill("the small cat " * 500)
    button(page, "translate").click()
    expect(alert).to_have_text("At most 2000 letters are wanted, not 6999: shorten the text.")
    expect(box(page)).to_have_attribute("aria-invalid", "true")
    translate(page, LINE)
    expect(page.locator(".attnbook-written")).to_have_text(GERMAN)
    expect(alert).to_be_empty()
    box(page).fill("")
    button(page, "translate").click()
    expect(page.locator(".attnbook-written")).to_have_text(GERMAN)


def test_a_text_of_which_nothing_is_known_is_said_to_be(started) -> None:
    tokenizer = SEVERAL["nothing unknown"]()
    count = tokenizer.get_vocab_size()
    model = Seq2Seq(count, count, ModelConfig(d_model=16, n_heads=2, n_layers=1, tied=True)).eval()
    widget = Translator(model, tokenizer, sentence="the cat", examples=[], asset="left-out")
    page = started(widget)
    box(page).fill("語😀")
    button(page, "translate").click()
    alert = page.get_by_role("alert").first
    expect(alert).to_have_text("The model knows no letter of this text.")
    translate(page, "語 the cat")
    hints = page.locator(".attnbook-hints")
    expect(hints).to_have_text("The model has no piece for “語”, and leaves it out.")


def test_the_last_text_that_is_asked_for_is_the_one_that_is_translated(started) -> None:
    page = started(widget := translator())
    two = """([first, second]) => {
      const box = document.querySelector("figure input[type=text]");
      const buttons = [...document.querySelectorAll("button")];
      const go = buttons.find((one) => one.textContent === "translate");
      for (const text of [first, second]) { box.value = text; go.click(); }
    }"""
    page.evaluate(two, [lines()[1][0], lines()[2][0]])
    page.locator(".attnbook-words li").first.wait_for()
    widget.sentence = lines()[2][0]
    expect(page.locator(".attnbook-written")).to_have_text(widget.translation)
    expect(box(page)).to_have_value(lines()[2][0])


def test_an_example_a_beam_and_reset_work_as_for_words(started) -> None:
    page = started(widget := translator(beam=3, length_penalty=0.5))
    button(page, lines()[1][0]).click()
    page.locator(".attnbook-words li").first.wait_for()
    widget.sentence = lines()[1][0]
    table = page.locator(".attnbook-translator .attnbook-scroll table").first
    expect(table.locator("tbody tr")).to_have_count(3)
    drawn = table.locator("tbody th").all_inner_texts()
    assert [text.removesuffix(" (unfinished)") for text in drawn] == [
        widget._reader.text(one.tokens) for one in widget.hypotheses
    ]
    page.get_by_role("button", name="reset to the first sentence").click()
    expect(box(page)).to_have_value(LINE)
    expect(page.locator(".attnbook-written")).to_have_text(GERMAN)


PIXELS = """(all) => all.map((canvas) => Array.from(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data))"""


def test_all_layers_and_heads_are_seen_at_once_and_a_press_makes_one_large(started) -> None:
    page = started(translator())
    translate(page)
    maps = page.locator(".attnbook-all canvas")
    expect(maps).to_have_count(0)  # drawn when they are asked for
    page.get_by_text("All 2 × 2 heads at once").click()
    expect(maps).to_have_count(4)
    settle(page)
    large = page.get_by_role("button", name="layer 0, head 1", exact=True)
    large.click()
    settle(page)
    expect(large).to_have_attribute("aria-pressed", "true")
    for name, value in (("layer", "0"), ("head", "1")):
        box_ = page.get_by_role("combobox", name=name, exact=True)
        assert box_.evaluate("(one) => one.selectedOptions[0].textContent") == value
    cross = maps.evaluate_all(PIXELS)
    assert len({str(one) for one in cross}) == 4  # no head is another's
    choose("attention", 1)(page)
    settle(page)
    own = maps.evaluate_all(PIXELS)
    rows = len(joint().encode(LINE).ids)
    assert all(len(one) == 4 * rows * rows for one in own)
    button(page, "to the start").click()
    choose("attention", 2)(page)
    expect(page.locator(".attnbook-all .attnbook-grid")).to_be_hidden()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_model_is_read_back_from_the_pages_own_file(tmp_path, norm: str) -> None:
    widget = translator(model=shared(norm), lower=True)
    widget.save_asset(tmp_path)
    model, tokenizer, lower = load_translator(tmp_path / "joint.js")
    assert lower
    assert not model.training
    assert model.embed_source.tokens is model.embed_target.tokens
    mine = rounded(shared(norm)).state_dict()
    assert all(torch.equal(mine[name], value) for name, value in model.state_dict().items())
    assert json.loads(tokenizer.to_str()) == json.loads(joint().to_str())
    again = Translator(model, tokenizer, sentence=LINE, examples=[], lower=lower)
    assert again.carried == widget.carried  # to the last bit, so that the file stays as it is


def test_a_file_that_holds_no_translator_of_pieces_is_refused(tmp_path) -> None:
    for name, data in (("words", Translator(small(), *lesson()[1:]).carried), ("short", b"1234")):
        path = tmp_path / f"{name}.js"
        path.write_text(asset_script(name, data), encoding="ascii")
        with pytest.raises(ValueError, match="must be the asset of a translator of pieces"):
            load_translator(path)
    with pytest.raises(FileNotFoundError):
        load_translator(tmp_path / "nothing.js")


def test_in_a_notebook_python_is_told_of_the_text_and_two_views_agree(host) -> None:
    page = host(translator(), reduced_motion="reduce")
    first, second = page.locator("figure").all()
    first.get_by_label("English sentence").fill(f"  {lines()[1][0]}\t")
    first.get_by_role("button", name="translate").click()
    first.locator(".attnbook-words li").first.wait_for()
    settle(page)
    assert trait(page, "sentence") == [lines()[1][0]]
    expect(second.get_by_label("English sentence")).to_have_value(lines()[1][0])
    expect(second.locator(".attnbook-written")).to_have_text(lines()[1][1])
