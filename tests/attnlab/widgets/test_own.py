"""The reader's own sentence: the encoder in the page is the book's, whatever is typed."""

import base64
import copy
import json
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnlab.language.texts import PronounPair, pronouns
from attnlab.models.interventions import leaning, swing
from attnlab.models.stored.script import asset_bytes
from attnlab.pretrained import Pretrained
from attnlab.widgets import OwnSentence
from attnlab.widgets.applications.own import weights
from attnlab.widgets.core.markup import to_json
from tests import needs
from tests.attnlab.pretrained import tiny_bert
from tests.attnlab.widgets.examples import encoder, own
from tests.attnlab.widgets.pages import button, eventually, settle, twin
from tests.attnlab.widgets.test_pieces import ODD, SCRIPTS, SPACES

SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "Where do I put this?",
    "Ceci n'est pas une pipe.",
    "12345 + 678 = 13,023!",
    "中文 and العربية",
    "a a a a a a a a a a",
)
ALL = [(layer, head) for layer in range(2) for head in range(3)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    return Pretrained(tiny_bert.write_long(tmp_path_factory.mktemp("tiny"), "a", "##a", "it"))


def silenced(model: Pretrained, off: list[tuple[int, int]]) -> Pretrained:
    """The model with zeros in place of what these heads give, before W^O."""
    mine = copy.deepcopy(model)

    def hook(heads: list[int]) -> Callable:
        def zero(attend, inputs, output):  # (b, h, n, d_k)
            output = output.clone()
            output[:, heads] = 0
            return output

        return zero

    for layer, block in enumerate(mine.encoder.blocks):
        heads = [head for one, head in off if one == layer]
        block.attention.attend.register_forward_hook(hook(heads))
    return mine


def test_a_weight_moves_by_half_a_step_of_its_row_at_most(tiny: Pretrained) -> None:
    mine, kept = weights.rounded(tiny).state_dict(), tiny.state_dict()
    for name in weights.names(tiny)[1:]:
        if kept[name].dim() == 1:
            assert torch.equal(mine[name], kept[name])
            continue
        step = (kept[name].amax(1) - kept[name].amin(1)) / 4095
        assert ((mine[name] - kept[name]).abs().amax(1) <= 0.501 * step + 1e-7).all()
    ids, _ = tiny.encode("the cat sat")
    assert torch.allclose(weights.rounded(tiny)(ids), tiny(ids), atol=1e-2)


def test_what_is_packed_is_unpacked_and_packed_again_the_same() -> None:
    rng = np.random.default_rng(0)
    for shapes in ([(3, 5), (7,)], [(1,), (4, 4), (2, 1)], [(5, 3), (2, 2)]):
        tensors = [rng.normal(size=shape) for shape in shapes]
        data = weights.pack(tensors)
        assert len(data) % 3 == 0
        found = weights.unpack(data, shapes)
        for tensor, one in zip(tensors, found, strict=True):
            assert one.shape == tensor.shape
            assert np.allclose(one, tensor, atol=2e-3)
    equal = np.full((2, 3), 0.7)
    assert np.array_equal(weights.unpack(weights.pack([equal]), [(2, 3)])[0], equal.astype("f4"))


def test_every_head_of_minilm_is_within_a_hundredth() -> None:
    model = needs.minilm()
    mine = weights.rounded(model)
    for sentence in SENTENCES:
        assert (mine.attention(sentence) - model.attention(sentence)).abs().max() < 1e-2


RUN = """([packed, shapes, sizes, table, ids, offs]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const all = new Float32Array(bytes.buffer);
  let at = 0;
  const tensors = shapes.map(([rows, columns = 1]) => all.subarray(at, (at += rows * columns)));
  const model = maths.assembled(tensors, sizes);
  const rows = ids.map((id) => Float32Array.from(table[id]));
  const plain = maths.read(model, rows);
  const last = (found) => Array.from(found.states.at(-1)).slice(0, rows.length * model.d);
  let before = plain;
  return offs.map((off) => {
    before = maths.read(model, rows, off, before);
    const anew = maths.read(model, rows, off);
    const same = last(before).every((value, c) => value === last(anew)[c]);
    return [before.seen.map((heads) => heads.map((one) => Array.from(one))), last(before), same];
  });
}"""


def in_the_page(model: Pretrained) -> dict:
    """What a page is told of a model: its numbers have eight decimals."""
    return json.loads(to_json(weights.sizes(model)))


def test_the_page_divides_no_padding_by_nothing() -> None:
    """Texts are padded to fours by rows of zeros, which need the norm's ε: 0 / 0 never ended."""
    assert float(in_the_page(needs.minilm())["eps"]) == 1e-12


@pytest.mark.parametrize("sentence", ["the", "the cat sat.", "dogs a it the cats sat the dog " * 4])
def test_weights_and_vectors_are_torchs_with_any_heads_off(maths, tiny, sentence: str) -> None:
    ids = tiny.encode(sentence)[0][0].tolist()
    offs = [[], [(0, 1)], [(0, 1), (1, 2)], [(1, 0)], [(1, h) for h in range(3)], ALL, []]
    tensors = weights.tensors_of(tiny)
    given = np.concatenate([one.ravel() for one in tensors]).astype("<f4").tobytes()
    packed = base64.b64encode(given).decode()
    shapes = [one.shape for one in tensors]
    table = tiny.embeddings.tokens.weight.tolist()
    found = maths(RUN, [packed, shapes, in_the_page(tiny), table, ids, offs], "own")
    for off, (seen, last, same) in zip(offs, found, strict=True):
        wanted = silenced(tiny, off)
        n = len(ids)
        mine = torch.tensor(seen, dtype=torch.float64).view(2, 3, n, n)
        assert (mine - wanted.attention(sentence)).abs().max() < 1e-5
        there = torch.tensor(last, dtype=torch.float64).view(n, -1)
        assert torch.isfinite(there).all()
        assert (there - wanted.hidden(sentence)[0][0]).abs().max() < 1e-4
        assert same  # what is kept of a run before changes nothing


UNPACK = """([packed, shapes]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const size = maths.taken(shapes).size;
  return [size, maths.unpack(bytes, shapes).map((one) => Array.from(one))];
}"""


def test_the_page_unpacks_the_very_numbers(maths, tiny: Pretrained) -> None:
    tensors = weights.tensors_of(tiny)
    shapes = [list(one.shape) for one in tensors]
    data = weights.pack(tensors)
    size, found = maths(UNPACK, [base64.b64encode(data).decode(), shapes], "own")
    assert size == len(data)
    for one, wanted in zip(found, weights.unpack(data, shapes), strict=True):
        assert np.array_equal(np.array(one, dtype="f4"), wanted.ravel())


CUT = """([names, special, texts]) => {
  window.ids ??= {};
  const ids = (window.ids[names.length] ??= maths.numbered(names));
  return texts.map((text) => maths.cut(text, ids, special).ids);
}"""
TYPED = [
    *ODD, *SENTENCES, "", " ", "word " * 200, "[SEP] and [MASK]x[CLS] [sep]", "😀 👩‍👩‍👧",
    "naïve café Ångström İstanbul ß ẞ ﬁ", "it's don't $5.00 a_b x^2 <i>no</i> `~|", "ΟΔΟΣ σς",
    "日本語 한국어 हिन्दी ภาษาไทย", "\u200d\u00ad\ufeffzero", "a" * 100 + " " + "a" * 101,
    "ｆｕｌｌ　ｗｉｄｔｈ！", "\x00\x01\x85\x1c\u2028x", "\ufffd",
]  # fmt: skip


def old(letter: str) -> bool:
    """Whether the oldest Unicode that Python has knows a letter as the newest does."""
    category = unicodedata.ucd_3_2_0.category(letter)
    return category != "Cn" and category == unicodedata.category(letter)


def typed() -> list[str]:
    """Texts as nobody types them, the same in every run; no letter is newer than a tokenizer."""
    chance = random.Random(0)

    def word() -> str:
        low, high = chance.choice(SCRIPTS)
        letters = (chr(chance.randint(low, high)) for _ in range(chance.randint(1, 6)))
        start = chance.choice(SENTENCES)[: chance.randint(0, 20)]
        return "".join(filter(old, letters)) + chance.choice(SPACES) + start

    return ["".join(word() for _ in range(chance.randint(1, 7))) for _ in range(300)]


def test_a_text_is_cut_as_by_minilms_tokenizer(maths) -> None:
    model = needs.minilm()
    names, special = "\n".join(weights.vocabulary(model)), weights.sizes(model)["special"]
    every = [chr(c) for c in range(0x30000) if not 0xD800 <= c < 0xE000 and old(chr(c))]
    letters = [" ".join(f"a{c}b" for c in every[k : k + 64]) for k in range(0, len(every), 64)]
    texts = [*TYPED, *typed(), *letters]
    found = maths(CUT, [names, special, texts], "own")
    for text, ids in zip(texts, found, strict=True):
        assert ids == model.tokenizer.encode(text).ids, text


def test_a_tokenizer_without_special_names_takes_them_for_words(maths, tmp_path: Path) -> None:
    model = Pretrained(tiny_bert.write(tmp_path))
    names = "\n".join(weights.vocabulary(model))
    texts = ["the [SEP] cat", "[UNK]", "cats."]
    found = maths(CUT, [names, weights.sizes(model)["special"], texts], "own")
    assert found == [model.tokenizer.encode(text).ids for text in texts]


def test_the_traits_are_the_models_own_numbers(tiny: Pretrained) -> None:
    widget = OwnSentence(tiny, examples=["the cat sat.", "the dogs sat"], off=[(0, 1), (0, 1)])
    assert widget.off == [[0, 1]]
    mine = weights.rounded(tiny)
    wanted = silenced(mine, [(0, 1)])
    assert np.allclose(widget.weights, wanted.attention("the cat sat."), atol=1e-6)
    assert np.allclose(widget.vectors, wanted.hidden("the cat sat.")[0][0], atol=1e-5)
    widget.off = ALL
    assert np.isfinite(widget.vectors).all()
    widget.row = 5
    widget.text = "the"
    assert widget.row is None  # there is no such piece any more
    assert widget.tokens == ["[CLS]", "the", "[SEP]"]


def test_the_asset_is_several_files(tiny: Pretrained, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(weights, "SHARD", 4)
    widget = OwnSentence(tiny, examples=["the cat sat."], asset="tiny")
    widget.save_asset(tmp_path)
    names = ["tiny", *(f"tiny-{k}" for k in range(4)), "tiny-stored"]
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(names)
    assert b"".join(asset_bytes(tmp_path / f"{name}.js") for name in names) == widget.carried
    assert (tmp_path / "tiny.js").stat().st_size == widget.size


def read(page, text: str) -> None:
    page.get_by_label("your own sentence", exact=True).fill(text)
    button(page, "read it").click()


def unfold(page) -> None:
    page.get_by_text("all 6 heads, and a switch for each").click()


def pieces(page) -> list[str]:
    return page.locator(".attnbook-pieces li").all_inner_texts()


def test_it_opens_with_a_stored_sentence_and_no_model(show) -> None:
    page = show(widget := own(layer=1, head=2))
    expect(page.locator(".attnbook-pieces li")).to_have_text(widget.tokens)
    loaded = page.evaluate("() => Object.keys(globalThis.attnbookAssets)")
    assert "tiny" not in loaded
    assert "tiny-0" not in loaded
    expect(page.locator(".attnbook-grid canvas")).to_have_count(6)
    expect(page.locator(".attnbook-grid input:disabled")).to_have_count(6)
    assert "loads MiniLM once, " in page.locator(".attnbook-ask").inner_text()
    page.get_by_label("or a stored sentence").select_option("the dogs sat it.")
    assert eventually(
        lambda: pieces(page) == ["[CLS]", "the", "dog", "##s", "sat", "it", ".", "[SEP]"]
    )


def test_a_sentence_that_is_typed_is_read_and_a_word_stays_pinned(show) -> None:
    page = show(widget := own(row=2))
    read(page, "A dog, the cat & it")
    wanted = ["[CLS]", "a", "dog", "[UNK]", "the", "cat", "[UNK]", "it", "[SEP]"]
    expect(page.locator(".attnbook-pieces li")).to_have_text(wanted)
    widget.text = "A dog, the cat & it"
    pressed = page.locator(".attnbook-pieces [aria-pressed=true]")
    expect(pressed).to_have_text("cat")
    expect(page.get_by_text("The model has no pieces for “,” and “&”")).to_be_visible()
    for row, weights_ in zip(twin(page, 1), widget.weights[0, 0], strict=True):
        assert f"{max(weights_):.3f}" in row[-1]


def test_an_eps_too_small_for_a_pictures_numbers_reaches_the_page(show) -> None:
    """MiniLM's 1e-12 came as 0, and a row that fills up to fours, of zeros, had no end."""
    model = copy.deepcopy(encoder())
    for part in model.encoder.modules():
        if hasattr(part, "eps"):
            part.eps = 1e-12
    page = show(widget := own(model=model, asset="tiny-eps", row=2))
    read(page, "A dog, the cat & it")  # nine pieces, and three rows to fill up
    expect(page.locator(".attnbook-pieces li")).to_have_count(9)
    widget.text = "A dog, the cat & it"
    for row, weights_ in zip(twin(page, 1), widget.weights[0, 0], strict=True):
        first = float(re.search(r"\d\.\d{3}", row[-1])[0])  # the greatest of a row stands first
        assert first == pytest.approx(max(weights_), abs=0.002)


def test_a_switch_takes_away_what_a_head_adds(show) -> None:
    page = show(widget := own(row=2, layer=1, head=0))
    unfold(page)
    read(page, "the cat sat.")
    page.get_by_role("checkbox", name="layer 0, head 1").uncheck()
    widget.off = [(0, 1)]
    told = page.get_by_text("Off: 0.1. The last vector of “cat” has a cosine of")
    expect(told).to_be_visible()
    before, after = own().vectors[2], widget.vectors[2]
    cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
    assert f"{cosine:.2f}".replace("-", "−") in told.inner_text()
    button(page, "all off").click()
    expect(page.get_by_text("Every head is off")).to_be_visible()
    settle(page)
    button(page, "all on").click()
    expect(page.get_by_text("Every head is on.")).to_be_visible()


TINY = PronounPair(
    ("the cat a dog sat it the.", "the cat a dog sat it a."),
    ("the dog a cat sat it the.", "the dog a cat sat it a."),
    "it",
    ("cat", "dog"),
    "book",
)


@pytest.mark.parametrize("turned", [False, True])
def test_what_reaches_the_pronoun_and_its_swing_are_those_of_the_lecture(show, turned) -> None:
    sentences = TINY.turned if turned else TINY.sentences
    asset = "tiny-turned" if turned else "tiny-straight"
    page = show(own(examples=sentences, row=6, between=["cat", "dog"], asset=asset))
    unfold(page)
    lean = page.locator(".attnbook-lean")
    rounded = weights.rounded(encoder())

    def wanted(off: list[tuple[int, int]]) -> list[str]:
        d = leaning(silenced(rounded, off), [TINY])[0, int(turned)]
        return [f"{x:.3f}".replace("-0.000", "0.000") for x in (d[0], d[1], d[0] - d[1])]

    def check(off: list[tuple[int, int]]) -> None:
        settle(page)
        said = lean.inner_text().replace("−", "-")
        assert page.locator(".attnbook-lean select").first.input_value() == "cat"
        found = re.findall(r"(?:=|of “\w+”:) (-?\d\.\d{3})(?: \((-?\d\.\d{3})\))?", said)
        assert [now for now, _ in found] == wanted(off)
        if off:
            assert [intact for _, intact in found] == wanted([])

    check([])  # stored, with no model
    read(page, sentences[0])
    expect(page.locator(".attnbook-grid input:enabled")).to_have_count(6)
    expect(lean).to_contain_text("With “a” in place of “the”")
    check([])
    page.get_by_role("checkbox", name="layer 0, head 1").uncheck()
    check([(0, 1)])
    button(page, "all off").click()
    check(ALL)
    assert wanted(ALL)[2] == "0.000"  # nothing else brings the changed word to the pronoun
    page.get_by_label("second piece").select_option("cat")  # the two change places
    expect(lean).to_contain_text("The lean of “it” to “dog”: ")


def test_minilms_swing_is_the_lectures_within_a_hundredth() -> None:
    model = needs.minilm()
    mine, pairs = weights.rounded(model), pronouns()[::7]
    for off in ([], [(3, 1)], [(2, 1), (2, 3), (2, 8)]):
        exact, page = (leaning(silenced(one, off), pairs) for one in (model, mine))
        assert (exact - page).abs().max() < 1e-2
        assert (swing(exact) - swing(page)).abs().max() < 1e-2


def test_two_pieces_are_found_where_none_is_chosen_or_the_sentence_lacks_one(show) -> None:
    page = show(own(row=6, between=["horse"], examples=["sat the dog a cat it."], asset="tiny-two"))
    chosen = [one.input_value() for one in page.locator(".attnbook-lean select").all()]
    assert chosen == ["dog", "cat"]  # those after an article
    button(page, "let go").click()
    expect(page.locator(".attnbook-lean")).to_be_hidden()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Type a sentence first."),
        ("  \u200b ", "The model finds no piece of a word in this text"),
        ("the cat " * 40, "This text makes 80 pieces, and at most 62 are read here: shorten it."),
        ("a" * 1001, "At most 1000 letters are wanted, not 1001: shorten the text."),
    ],
)
def test_what_cannot_be_read_is_said_and_the_picture_stays(show, text: str, said: str) -> None:
    page = show(widget := own())
    read(page, text)
    expect(page.locator(".attnbook-error")).to_contain_text(said)
    expect(page.get_by_label("your own sentence", exact=True)).to_have_attribute(
        "aria-invalid", "true"
    )
    expect(page.locator(".attnbook-pieces li")).to_have_text(widget.tokens)


def test_without_its_weights_the_stored_sentences_still_work(show, folder: Path) -> None:
    page = show(own(asset="tiny-lost"))
    (folder / "assets" / "tiny-lost.js").unlink()
    read(page, "a cat")
    expect(page.locator(".attnbook-error")).to_contain_text("The model could not be loaded")
    page.get_by_label("or a stored sentence").select_option("the dogs sat it.")
    assert eventually(lambda: "dog" in pieces(page))
    assert "ERR_FILE_NOT_FOUND" in show.logged.pop()
