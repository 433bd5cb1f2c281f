"""Two models made of the layers: a translator and a language model.

Both can be decoded step by step, with ``start``, ``step`` and ``reorder``. A state is used up by
``step``, for its caches grow; ``reorder`` returns a new one. Tokens are int64, padded on the right.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook import _ask, _check
from attnbook.attention import Chosen
from attnbook.cache import KVCache
from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Decoder, Encoder
from attnbook.masks import padding_mask
from attnbook.multihead import Projected
from attnbook.positions import Rotary, alibi_bias
from attnbook.record import record_attention

Positions = Literal["sinusoidal", "learned", "rope", "alibi"] | Rotary | None


class Seq2SeqState(NamedTuple):
    """Where a translation stands: each row's source, and the tokens of its target so far."""

    memory: list[Projected]  # of each block, (rows, h_kv, n_s, d)
    memory_mask: Tensor | None  # (rows, 1, n_s); None where nothing is padded
    sentence: Tensor  # (rows,), which sentence of the batch a row translates
    caches: list[KVCache]


class LanguageModelState(NamedTuple):
    """Where a text stands: the tokens so far, and how many slots before them are padding."""

    caches: list[KVCache]
    before: Tensor | None  # (rows,); None where nothing is padded


@dataclass(frozen=True)
class ModelConfig(Config):
    """The options of a model: those of its blocks, and these.

    ``positions`` are "sinusoidal", "learned" (for up to ``max_length`` tokens), "rope", "alibi" or
    None, or a ``Rotary`` with a base or layout of its own. With ``tied`` the last layer uses the
    embeddings' matrix; with ``scale`` these are multiplied by √d_model.

    Raises: ValueError as ``Config``, and for unknown positions.
    """

    n_layers: int = 2
    positions: Positions = "sinusoidal"
    max_length: int = 512
    tied: bool = False
    scale: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.positions, Rotary):
            known = ("sinusoidal", "learned", "rope", "alibi", None)
            _check.one_of("positions", self.positions, known)

    def rotary(self) -> Rotary | None:
        """Return what turns a block's queries and keys."""
        if self.positions == "rope":
            return Rotary(self.d_model // self.n_heads)
        return self.positions if isinstance(self.positions, Rotary) else super().rotary()

    def embeddings(self, vocabulary: int) -> Embeddings:
        """Return the embeddings of a vocabulary, with those positions that are added."""
        kind = self.positions
        return Embeddings(
            vocabulary,
            self.d_model,
            positions=None if isinstance(kind, Rotary) or kind in ("rope", "alibi") else kind,
            max_length=self.max_length,
            scale=self.scale,
            dropout=self.dropout,
        )


class _Model(nn.Module):
    """What both models share: their options, and logits from a tied or an own matrix."""

    def __init__(self, vocabulary: int, config: ModelConfig) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.output = None if config.tied else nn.Linear(config.d_model, vocabulary, bias=False)

    def _logits(self, x: Tensor, embed: Embeddings) -> Tensor:
        weight = embed.tokens.weight if self.output is None else self.output.weight
        return functional.linear(x, weight)  # (…, vocabulary)

    def _bias(self, x: Tensor, n_k: int | None = None) -> Tensor | None:
        if self.config.positions != "alibi":
            return None
        n_heads = self.config.n_heads
        return alibi_bias(n_heads, x.shape[1], n_k, dtype=x.dtype, device=x.device)[None]


class Seq2Seq(_Model):
    """Translate with a Transformer: an encoder reads the source, a decoder writes the target.

    ``target`` begins with bos, and logits[:, t] predict the token after target[:, t]. Where
    ``config.tied``, the last layer uses the target embeddings' matrix.

    Shapes: source (b, n_s), target (b, n_t), source_lengths (b,); returns logits
    (b, n_t, target_vocabulary).
    Raises: ValueError as ``ModelConfig``, ``Encoder`` and ``Embeddings``.
    Source: Vaswani et al. (2017).
    """

    def __init__(self, source_vocabulary: int, target_vocabulary: int, config: ModelConfig) -> None:
        super().__init__(target_vocabulary, config)
        self.embed_source = config.embeddings(source_vocabulary)
        self.embed_target = config.embeddings(target_vocabulary)
        self.encoder = Encoder(config.n_layers, config)
        self.decoder = Decoder(config.n_layers, config)

    def forward(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return logits (b, n_t, target_vocabulary) for the token after each of ``target``."""
        x = self.vectors(source, target, source_lengths=source_lengths)
        return self._logits(x, self.embed_target)

    def vectors(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return the vectors (b, n_t, d_model) of which the last layer makes the logits."""
        memory, mask = self._encode(source, source_lengths, target=(target, "b n_t"))
        x = self.embed_target(target)
        return self.decoder(x, memory, memory_mask=mask, bias=self._bias(x))

    def weights(
        self,
        source: Tensor,
        target: Tensor,
        *,
        source_lengths: Tensor,
        layer: int = -1,
        heads: Chosen | None = None,
        rows: Chosen | None = None,
    ) -> Tensor:
        """Return the weights with which one layer's target rows attend to the source.

        Shapes: as ``forward``; returns (b, h, n_t, n_s), of the chosen heads and rows.
        Raises: IndexError for a layer, head or row that does not exist.
        """
        layer = range(len(self.decoder.blocks))[layer]
        with record_attention(self.decoder) as seen:
            self(source, target, source_lengths=source_lengths)
        return seen.weights(f"blocks.{layer}.cross", heads=heads, rows=rows)

    @torch.no_grad()
    def start(self, source: Tensor, source_lengths: Tensor) -> Seq2SeqState:
        """Encode b sentences (b, n_s) of the given lengths (b,), with nothing written yet."""
        memory, mask = self._encode(source, source_lengths)
        sentence = torch.arange(source.shape[0], device=source.device)
        caches = [KVCache() for _ in self.decoder.blocks]
        return Seq2SeqState(self.decoder.project(memory), mask, sentence, caches)

    @torch.no_grad()
    def step(self, tokens: Tensor, state: Seq2SeqState) -> tuple[Tensor, Seq2SeqState]:
        """Add one token to each row; return logits (rows, target_vocabulary) for the next."""
        memory, mask, _, caches = state
        length = caches[0].length
        x = self.embed_target(tokens[:, None], offset=length)  # (rows, 1, d_model)
        bias = self._bias(x, length + 1)
        x = self.decoder(x, memory, memory_mask=mask, bias=bias, caches=caches)
        return self._logits(x[:, 0], self.embed_target), state

    def reorder(self, state: Seq2SeqState, rows: Tensor) -> Seq2SeqState:
        """Return the state of the chosen rows (m,), with repetition if asked."""
        memory, mask = state.memory, state.memory_mask
        sentence = state.sentence.index_select(0, rows)
        # hypotheses that trade places within a sentence keep its keys and values where they are
        if not torch.equal(sentence, state.sentence):
            memory = [Projected(*(part[rows] for part in each)) for each in memory]
            mask = None if mask is None else mask[rows]
        caches = [cache.reorder(rows) for cache in state.caches]
        return Seq2SeqState(memory, mask, sentence, caches)

    def _encode(
        self, source: Tensor, lengths: Tensor, **more: tuple[Tensor, str]
    ) -> tuple[Tensor, Tensor | None]:
        _check.shapes(source=(source, "b n_s"), source_lengths=(lengths, "b"), **more)
        mask = _padding("source_lengths", source, lengths)
        x = self.embed_source(source)
        return self.encoder(x, mask, bias=self._bias(x)), mask


class LanguageModel(_Model):
    """Predict each token of a text from those before it, with a causal Transformer.

    Padding on the right needs no mask: no token sees a later one.

    Shapes: tokens (b, n); returns logits (b, n, vocabulary), where logits[:, t] predict the token
    after tokens[:, t].
    Raises: as ``Seq2Seq``.
    Source: Radford et al. (2018), section 3.1; Liu et al. (2018) for translation by such a model.
    """

    def __init__(self, vocabulary: int, config: ModelConfig) -> None:
        super().__init__(vocabulary, config)
        self.embed = config.embeddings(vocabulary)
        self.decoder = Encoder(config.n_layers, config)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (b, n, vocabulary) for the token after each of ``tokens``."""
        _check.shapes(tokens=(tokens, "b n"))
        x = self.embed(tokens)
        return self._logits(self.decoder(x, causal=True, bias=self._bias(x)), self.embed)

    @torch.no_grad()
    def start(
        self, prompt: Tensor, lengths: Tensor, *, caches: list[KVCache] | None = None
    ) -> LanguageModelState:
        """Read b prompts (b, n), which may be empty, of lengths (b,); ``step`` goes on after them.

        The rows are moved to the right, so that the next token's slot is the same in all of them.
        ``caches``, one for each block and empty, may be of another kind than ``KVCache``; where
        they keep sinks, all prompts must be of one length.
        """
        _check.shapes(prompt=(prompt, "b n"), lengths=(lengths, "b"))
        mask, n = _padding("lengths", prompt, lengths), prompt.shape[1]
        caches = [KVCache() for _ in self.decoder.blocks] if caches is None else caches
        there = [cache.length for cache in caches]
        _check.must(not any(there), "caches", "be empty at the start", there)
        before = None if mask is None else n - lengths
        if before is not None and not all(cache.ragged for cache in caches):
            raise _check.wrong("lengths", "be the same where caches keep sinks", lengths.tolist())
        if n:
            if before is not None:
                slots = torch.arange(n, device=prompt.device) - before[:, None]  # (b, n)
                prompt, mask = prompt.gather(1, slots.clamp(min=0)), (slots >= 0)[:, None]
            x = self.embed(prompt, offset=0 if before is None else -before)
            self.decoder(x, mask, causal=True, bias=self._bias(x), caches=caches)
        return LanguageModelState(caches, before)

    @torch.no_grad()
    def extend(
        self, tokens: Tensor, state: LanguageModelState
    ) -> tuple[Tensor, LanguageModelState]:
        """Add n tokens to each row (rows, n); return logits (rows, n, vocabulary) after each."""
        caches, before = state
        there, mask = caches[0].length, None
        offset, n_k = there, there + tokens.shape[1]
        if before is not None:
            slots = torch.arange(n_k, device=tokens.device)
            offset, mask = there - before, (slots >= before[:, None])[:, None]  # (rows, 1, n_k)
        x = self.embed(tokens, offset=offset)
        try:
            x = self.decoder(x, mask, causal=True, bias=self._bias(x, n_k), caches=caches)
        except ValueError:  # one that has no more room must not part the layers' caches
            for cache in caches:
                cache.rewind(there)
            raise
        return self._logits(x, self.embed), state

    def step(self, tokens: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState]:
        """Add one token to each row; return logits (rows, vocabulary) for the next."""
        logits, state = self.extend(tokens[..., None], state)
        return logits[:, 0], state

    def rewind(self, state: LanguageModelState, n: int) -> LanguageModelState:
        """Return the state before the last n tokens; the one given is used up.

        Raises: ValueError for more tokens than there are, or than the caches still hold.
        """
        for cache in state.caches:
            cache.rewind(cache.length - n)
        return state

    def reorder(self, state: LanguageModelState, rows: Tensor) -> LanguageModelState:
        """Return the state of the chosen rows (m,), with repetition if asked."""
        before = None if state.before is None else state.before.index_select(0, rows)
        return LanguageModelState([cache.reorder(rows) for cache in state.caches], before)


def _padding(name: str, tokens: Tensor, lengths: Tensor) -> Tensor | None:
    n = tokens.shape[1]
    _check.ids(name, lengths.cpu(), n + 1)  # by the caller's name for them
    mask = padding_mask(lengths, n, device=tokens.device)  # (b, 1, n)
    return None if _ask.all_of(mask) else mask
