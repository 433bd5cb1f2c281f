"""Two models made of the layers: a translator and a language model.

Both can be decoded step by step, with ``start``, ``step`` and ``reorder``. A state is used up by
``step``, for its caches grow; ``reorder`` returns a new one. Tokens are int64, padded on the right.
"""

from typing import Literal, NamedTuple, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook import _check
from attnbook.attention import Chosen
from attnbook.cache import KVCache, RollingCache
from attnbook.embeddings import Embeddings
from attnbook.layers import BlockOptions, Decoder, Encoder
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


class _Model(nn.Module):
    """What both models share: positions by name, and logits from a tied or an own matrix."""

    def __init__(
        self, vocabulary: int, d_model: int, n_heads: int, positions: Positions, tied: bool
    ) -> None:
        super().__init__()
        positions = "rope" if isinstance(positions, Rotary) else positions
        _check.one_of("positions", positions, ("sinusoidal", "learned", "rope", "alibi", None))
        _check.sizes(vocabulary=vocabulary, d_model=d_model)
        _check.flags(tied=tied)
        self.vocabulary, self.n_heads, self.positions = vocabulary, n_heads, positions
        self.output = None if tied else nn.Linear(d_model, vocabulary, bias=False)

    def _logits(self, x: Tensor, embed: Embeddings) -> Tensor:
        weight = embed.tokens.weight if self.output is None else self.output.weight
        return functional.linear(x, weight)  # (…, vocabulary)

    def _bias(self, x: Tensor, n_k: int | None = None) -> Tensor | None:
        if self.positions != "alibi":
            return None
        return alibi_bias(self.n_heads, x.shape[1], n_k, dtype=x.dtype, device=x.device)[None]


class Seq2Seq(_Model):
    """Translate with a Transformer: an encoder reads the source, a decoder writes the target.

    ``target`` begins with bos, and logits[:, t] predict the token after target[:, t]. Positions
    are "sinusoidal", "learned" (for up to ``max_length`` tokens), "rope", "alibi" or None, or a
    ``Rotary`` with a base or layout of its own. With ``tied`` the last layer uses the target
    embeddings' matrix; with ``scale`` these are multiplied by √d_model. All else is a block's
    option.

    Shapes: source (b, n_s), target (b, n_t), source_lengths (b,); returns logits
    (b, n_t, target_vocabulary).
    Raises: ValueError as ``Encoder`` and ``Embeddings``; for unknown positions.
    Source: Vaswani et al. (2017).
    """

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabulary: int,
        *,
        d_model: int = 128,
        n_heads: int = 4,
        n_layers: int = 2,
        d_ff: int | None = None,
        positions: Positions = "sinusoidal",
        max_length: int = 512,
        tied: bool = False,
        scale: bool = True,
        **options: Unpack[BlockOptions],
    ) -> None:
        super().__init__(target_vocabulary, d_model, n_heads, positions, tied)
        options |= {"rope": _rope(positions, d_model, n_heads)}
        self.embed_source, self.embed_target = (
            _embeddings(size, d_model, positions, max_length, scale, options)
            for size in (source_vocabulary, target_vocabulary)
        )
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, **options)
        self.decoder = Decoder(n_layers, d_model, n_heads, d_ff, **options)

    def forward(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return logits (b, n_t, target_vocabulary) for the token after each of ``target``."""
        x = self.vectors(source, target, source_lengths=source_lengths)
        return self._logits(x, self.embed_target)

    def vectors(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return the vectors (b, n_t, d_model) of which the last layer makes the logits."""
        memory, mask = self._encode(source, source_lengths)
        x = self._embedded(target, len(source))
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
        Raises: ValueError for a layer, head or row that does not exist.
        """
        (layer,) = _check.indices("layer", [layer], len(self.decoder.blocks))
        with record_attention(self.decoder) as seen:
            self(source, target, source_lengths=source_lengths)
        return seen.weights(f"blocks.{layer}.cross", heads=heads, rows=rows)

    @torch.no_grad()
    def start(self, source: Tensor, source_lengths: Tensor) -> Seq2SeqState:
        """Encode b sentences (b, n_s) of the given lengths (b,), with nothing written yet."""
        memory, mask = self._encode(source, source_lengths)
        sentence = torch.arange(len(source), device=source.device)
        return Seq2SeqState(self.decoder.project(memory), mask, sentence, _caches(self.decoder))

    @torch.no_grad()
    def step(self, tokens: Tensor, state: Seq2SeqState) -> tuple[Tensor, Seq2SeqState]:
        """Add one token to each row; return logits (rows, target_vocabulary) for the next."""
        length = state.caches[0].length
        x = self.embed_target(tokens[:, None], offset=length)  # (rows, 1, d_model)
        x = self.decoder(
            x,
            state.memory,
            memory_mask=state.memory_mask,
            bias=self._bias(x, length + 1),
            caches=state.caches,
        )
        return self._logits(x[:, 0], self.embed_target), state

    def reorder(self, state: Seq2SeqState, rows: Tensor) -> Seq2SeqState:
        """Return the state of the chosen rows (m,), with repetition if asked."""
        _check.rows(rows, state.sentence)
        memory, mask, sentence = state.memory, state.memory_mask, state.sentence[rows]
        # hypotheses that trade places within a sentence keep its keys and values where they are
        if not torch.equal(sentence, state.sentence):
            memory = [Projected(*(part[rows] for part in each)) for each in memory]
            mask = None if mask is None else mask[rows]
        caches = [cache.reorder(rows) for cache in state.caches]
        return Seq2SeqState(memory, mask, sentence, caches)

    def _embedded(self, target: Tensor, b: int) -> Tensor:
        _check.tokens("target", target, self.embed_target.tokens.weight, b=b)
        return self.embed_target(target)

    def _encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | None]:
        _check.tokens("source", source, self.embed_source.tokens.weight)
        _check.lengths("source_lengths", lengths, source, at_least=1)
        mask = _padding(source, lengths)
        x = self.embed_source(source)
        return self.encoder(x, mask, bias=self._bias(x)), mask


class LanguageModel(_Model):
    """Predict each token of a text from those before it, with a causal Transformer.

    Options as in ``Seq2Seq``. Padding on the right needs no mask: no token sees what is after it.

    Shapes: tokens (b, n); returns logits (b, n, vocabulary), where logits[:, t] predict the token
    after tokens[:, t].
    Raises: as ``Seq2Seq``.
    Source: Radford et al. (2018), section 3.1; Liu et al. (2018) for translation by such a model.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 128,
        n_heads: int = 4,
        n_layers: int = 2,
        d_ff: int | None = None,
        positions: Positions = "sinusoidal",
        max_length: int = 512,
        tied: bool = False,
        scale: bool = True,
        **options: Unpack[BlockOptions],
    ) -> None:
        super().__init__(vocabulary, d_model, n_heads, positions, tied)
        options |= {"rope": _rope(positions, d_model, n_heads)}
        self.embed = _embeddings(vocabulary, d_model, positions, max_length, scale, options)
        self.decoder = Encoder(n_layers, d_model, n_heads, d_ff, **options)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (b, n, vocabulary) for the token after each of ``tokens``."""
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
        _check.sentences("prompt", prompt, may_be_empty=True)
        _check.lengths("lengths", lengths, prompt)
        mask, n = _padding(prompt, lengths), prompt.shape[1]
        caches = _caches(self.decoder) if caches is None else caches
        for cache in caches:
            told = f"one holds {cache.length} rows"
            _check.must(cache.length == 0, "caches", "be empty at the start", but=told)
        before = None if mask is None else n - lengths
        sinks = [cache.sinks for cache in caches if isinstance(cache, RollingCache) and cache.sinks]
        told = "padding would take the sinks' place"
        _check.must(before is None or not sinks, "lengths", "be one length for all", but=told)
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
        offset, mask = caches[0].length, None
        n_k = offset + tokens.shape[1]
        if before is not None:
            slots = torch.arange(n_k, device=tokens.device)
            offset, mask = offset - before, (slots >= before[:, None])[:, None]  # (rows, 1, n_k)
        x = self.embed(tokens, offset=offset)
        x = self.decoder(x, mask, causal=True, bias=self._bias(x, n_k), caches=caches)
        return self._logits(x, self.embed), state

    def step(self, tokens: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState]:
        """Add one token to each row; return logits (rows, vocabulary) for the next."""
        logits, state = self.extend(tokens[:, None], state)
        return logits[:, 0], state

    def rewind(self, state: LanguageModelState, n: int) -> LanguageModelState:
        """Return the state before the last n tokens; the one given is used up.

        Raises: ValueError for more tokens than there are, or than the caches still hold.
        """
        _check.sizes(0, n=n)
        there = state.caches[0].length
        _check.must(n <= there, "n", f"be at most {there}, the tokens so far", n)
        for cache in state.caches:
            cache.rewind(there - n)
        return state

    def reorder(self, state: LanguageModelState, rows: Tensor) -> LanguageModelState:
        """Return the state of the chosen rows (m,), with repetition if asked."""
        before = state.before
        _check.rows(rows, before)
        before = None if before is None else before[rows]
        return LanguageModelState([cache.reorder(rows) for cache in state.caches], before)


def _rope(positions: Positions, d_model: int, n_heads: int) -> Rotary | None:
    if positions != "rope":
        return positions if isinstance(positions, Rotary) else None
    _check.sizes(n_heads=n_heads)
    _check.multiple("d_model", d_model, "n_heads", n_heads)
    d = d_model // n_heads
    why = "for rope takes its numbers in pairs"
    _check.must(d % 2 == 0, "d_model / n_heads", f"be even, {why}", d)
    return Rotary(d)


def _embeddings(
    vocabulary: int,
    d_model: int,
    positions: Positions,
    max_length: int,
    scale: bool,
    options: BlockOptions,
) -> Embeddings:
    named = None if isinstance(positions, Rotary) else positions
    return Embeddings(
        vocabulary,
        d_model,
        positions=named if named in ("sinusoidal", "learned") else None,
        max_length=max_length,
        scale=scale,
        dropout=options.get("dropout", 0.0),
    )


def _caches(stack: Encoder | Decoder) -> list[KVCache]:
    return [KVCache() for _ in stack.blocks]


def _padding(tokens: Tensor, lengths: Tensor) -> Tensor | None:
    mask = padding_mask(lengths, tokens.shape[1], device=tokens.device)
    if torch.compiler.is_compiling():
        return mask  # a compiled graph must not be asked
    return None if bool(mask.all()) else mask
