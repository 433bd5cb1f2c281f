"""What cannot be computed is refused at the door, in words: every public function and class.

One table: what is called, the exception, and words that its message must hold. The last tests
see to it that nothing public is missing from the table.
"""

import importlib
import inspect
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam

from attnbook import attention as att
from attnbook import checkpoint as chk
from attnbook import corpus, decoding, figures, layers, losses, masks, metrics, reference, rnn
from attnbook import efficient as eff
from attnbook import positions as pos
from attnbook import scores as sco
from attnbook.attend import Attend
from attnbook.cache import KVCache
from attnbook.embeddings import Embeddings
from attnbook.multihead import MultiHeadAttention
from attnbook.record import record_attention
from attnbook.schedules import constant, warmup_cosine, warmup_inverse_sqrt
from attnbook.seeds import seeded
from attnbook.training import train
from attnbook.transformer import LanguageModel, Seq2Seq

MODULES = (
    *("masks", "scores", "attention", "attend", "positions", "cache", "multihead", "embeddings"),
    *("efficient", "layers", "rnn", "transformer", "decoding", "record", "corpus", "training"),
    *("losses", "metrics", "schedules", "seeds", "checkpoint", "reference", "figures"),
)


class Row(NamedTuple):
    """A call that must fail. ``of`` is the module and the name that it tests."""

    of: str
    call: Callable[[], Any]
    words: str
    error: type[Exception] = ValueError


def zeros(*shape: int, **options: Any) -> Tensor:
    return torch.zeros(*shape, **options)


X, M = zeros(2, 5, 8), torch.ones(5, 5).bool()
IDS, LENGTHS = torch.ones(2, 3).long(), torch.tensor([3, 2])
HEADS = zeros(2, 4, 5, 2)
FLOATS, WHOLE = "must hold floating-point numbers", "must be a whole number of at least"
EIGHTS = "must have the shape (b, n, 8): its shape is"


@cache
def layer(**options: Any) -> MultiHeadAttention:
    return MultiHeadAttention(8, 4, **options).eval()


@cache
def translator() -> Seq2Seq:
    return Seq2Seq(9, 9, d_model=8, n_heads=2, n_layers=1).eval()


@cache
def recurrent() -> rnn.RNNSeq2Seq:
    return rnn.RNNSeq2Seq(9, 9, 8).eval()


def filled() -> KVCache:
    cache = KVCache(4)
    cache.append(zeros(2, 1, 3, 8), zeros(2, 1, 3, 8))
    return cache


def block(**options: Any) -> layers.EncoderBlock:
    return layers.EncoderBlock(8, 2, **options)


# whatever takes query, key and value refuses the same; a score takes the first two
THREE: tuple[tuple[tuple[Tensor, ...], str], ...] = (
    ((X[0, 0], X, X), "query must have at least 2 dimensions"),
    ((X, X[:1], X), "query and key must have the same leading dimensions"),
    ((X, X[..., :6], X), "query and key must have the same last dimension"),
    ((X.long(), X, X), f"query {FLOATS}"),
    ((X, X.double(), X), "query and key must have the same dtype"),
    ((X, X.to("meta"), X), "query and key must have the same device"),
)
VALUE = (
    ((X, X, X[:, :4]), "key and value must have the same length"),
    ((X, X, X.int()), f"value {FLOATS}"),
    ((X, X, X.to("meta")), "query and value must have the same device"),
)
MASK = (
    (M.float(), "mask must be boolean"),
    (M.long(), "mask must be boolean"),
    (M[:4], "mask must have the shape (n_q, n_k) = (5, 5)"),
    (M.expand(3, 2, 5, 5), "mask must have the shape (n_q, n_k) = (5, 5)"),
    (M.expand(3, 5, 5), "each of them equal or 1: its shape is (3, 5, 5)"),
    (M.to("meta"), "query and mask must have the same device"),
)
PAIRS = {
    "scores.dot": sco.dot,
    "scores.scaled_dot": sco.scaled_dot,
    "attention.attention_weights": att.attention_weights,
}
TRIPLES = {
    "attention.attention": att.attention,
    "attention.fused_attention": att.fused_attention,
    "efficient.tiled_attention": eff.tiled_attention,
    "efficient.local_attention": partial(eff.local_attention, window=2),
    "efficient.linear_attention": eff.linear_attention,
}
MASKED = {name: TRIPLES[name] for name in list(TRIPLES)[:3]}
SHARED = [
    *(Row(of, partial(f, *a[:2]), words) for of, f in PAIRS.items() for a, words in THREE),
    *(Row(of, partial(f, *a), words) for of, f in TRIPLES.items() for a, words in THREE + VALUE),
    *(Row(of, partial(f, X, X, X, mask), w) for of, f in MASKED.items() for mask, w in MASK),
    *(
        Row("attention.attention_weights", partial(att.attention_weights, X, X, mask), words)
        for mask, words in MASK
    ),
    *(
        Row(of, partial(f, [[0.0]], X, X), "query must be a torch.Tensor: it is a list", TypeError)
        for of, f in TRIPLES.items()
    ),
]

MATHS = [
    Row("masks.causal_mask", lambda: masks.causal_mask(-1), f"n_q {WHOLE} 0: it is -1"),
    Row("masks.causal_mask", lambda: masks.causal_mask(2, 2.5), f"n_k {WHOLE} 0: it is 2.5"),
    Row("masks.padding_mask", lambda: masks.padding_mask([2, -1], 3), "from 0 to n_k = 3"),
    Row("masks.padding_mask", lambda: masks.padding_mask([4], 3), "they are [4]"),
    Row("masks.padding_mask", lambda: masks.padding_mask([1.0], 3), "must be whole numbers"),
    Row("masks.padding_mask", lambda: masks.padding_mask([[1]], 3), "must have the shape (b,)"),
    Row("masks.padding_mask", lambda: masks.padding_mask([1], -3), f"n_k {WHOLE} 0"),
    Row("masks.window_mask", lambda: masks.window_mask(3, 3, 0), f"window {WHOLE} 1: it is 0"),
    Row("masks.window_mask", lambda: masks.window_mask(-1, 3, 2), f"n_q {WHOLE} 0"),
    Row("masks.as_torch_mha_mask", lambda: masks.as_torch_mha_mask(X), "mask must be boolean"),
    Row(
        "masks.as_torch_mha_mask",
        lambda: masks.as_torch_mha_mask([True]),
        "mask must be a torch.Tensor: it is a list",
        TypeError,
    ),
    Row("scores.Bilinear", lambda: sco.Bilinear(0, 3), f"d_q {WHOLE} 1"),
    Row("scores.Bilinear", lambda: sco.Bilinear(8, 3)(X, X), "key must have the shape (…, n, 3)"),
    Row("scores.Bilinear", lambda: sco.Bilinear(8, 8)(X, X.long()), f"key {FLOATS}"),
    Row("scores.Bilinear", lambda: sco.Bilinear(8, 8)(X, X[:1]), "same leading dimensions"),
    Row("scores.Additive", lambda: sco.Additive(8, 8, 0), f"d {WHOLE} 1"),
    Row("scores.Additive", lambda: sco.Additive(8, 8, 4, cap=0), f"cap {WHOLE} 1"),
    Row("scores.Additive", lambda: sco.Additive(6, 8, 4)(X, X), "query must have the shape"),
    Row("scores.Additive", lambda: sco.Additive(8, 8, 4)(X[0], X), "same leading dimensions"),
    Row("scores.project_key", lambda: sco.project_key(sco.Bilinear(8, 3), X), "key must have"),
    Row("scores.score_projected", lambda: sco.score_projected(sco.dot, X, X[:1]), "same leading"),
    Row("scores.prepared", lambda: sco.prepared(sco.Additive(8, 6, 4), X), "key must have"),
    Row("scores.prepared", lambda: sco.prepared(sco.dot, X[..., :6])(X), "same last dimension"),
    Row("attention.masked_softmax", lambda: att.masked_softmax(X.long()), f"scores {FLOATS}"),
    Row("attention.masked_softmax", lambda: att.masked_softmax(X, X), "mask must be boolean"),
    Row(
        "attention.masked_softmax",
        lambda: att.masked_softmax(X[:1], X.bool()),
        "each of them equal or 1: its shape is (2, 5, 8)",
    ),
    Row(
        "attention.attention",
        lambda: att.attention(X, X, X, bias=M),
        f"bias {FLOATS}: its dtype is torch.bool",
    ),
    Row(
        "attention.attention",
        lambda: att.attention(X, X, X, score=lambda q, k: q),
        "score(query, key) must return the shape",
    ),
    Row(
        "attention.attention_weights",
        lambda: att.attention_weights(X, X, rows=5),
        "rows must be from 0 to 4: 5 is among them",
    ),
    Row(
        "attention.attention_weights",
        lambda: att.attention_weights(X[0], X[0], heads=0),
        "heads needs a query of shape (…, h, n_q, d)",
    ),
    Row("attend.Attend", lambda: Attend()(HEADS, HEADS, HEADS, M.long()), "mask must be boolean"),
    Row("attend.Attend", lambda: Attend()(HEADS, HEADS, HEADS[:, :, 1:]), "the same length"),
    Row("positions.sinusoidal", lambda: pos.sinusoidal(3, 5), "d must be even"),
    Row("positions.sinusoidal", lambda: pos.sinusoidal(-1, 4), f"n {WHOLE} 0: it is -1"),
    Row("positions.sinusoidal", lambda: pos.sinusoidal(1, 4, offset=-1), f"offset {WHOLE} 0"),
    Row("positions.Sinusoidal", lambda: pos.Sinusoidal(7), "d must be even"),
    Row("positions.Sinusoidal", lambda: pos.Sinusoidal(4)(X), "x must have the shape (…, n, 4)"),
    Row("positions.Sinusoidal", lambda: pos.Sinusoidal(8)(X.long()), f"x {FLOATS}"),
    Row("positions.LearnedPositions", lambda: pos.LearnedPositions(0, 4), "max_length must be"),
    Row("positions.LearnedPositions", lambda: pos.LearnedPositions(4, 8)(X), "max_length = 4"),
    Row("positions.LearnedPositions", lambda: pos.LearnedPositions(9, 4)(X), "x must have"),
    Row("positions.Rotary", lambda: pos.Rotary(0), f"d {WHOLE} 2"),
    Row("positions.Rotary", lambda: pos.Rotary(4, base=-1.0), "base must be positive and finite"),
    Row("positions.Rotary", lambda: pos.Rotary(4)(X), "x must have the shape (…, n, 4)"),
    Row("positions.alibi_bias", lambda: pos.alibi_bias(0, 3), f"n_heads {WHOLE} 1"),
    Row("positions.alibi_bias", lambda: pos.alibi_bias(2, 3, -1), f"n_k {WHOLE} 0"),
    Row("cache.KVCache", lambda: KVCache(0), f"max_length {WHOLE} 1"),
    Row("cache.KVCache", lambda: KVCache(capacity=-1), f"capacity {WHOLE} 1"),
    Row("cache.KVCache", lambda: KVCache().append(X, X), "key must have the shape (b, h, n, d)"),
    Row("cache.KVCache", lambda: KVCache().append(HEADS.long(), HEADS), f"key {FLOATS}"),
    Row("cache.KVCache", lambda: KVCache().append(HEADS, HEADS[:, :, 1:]), "the same length"),
    Row("cache.KVCache", lambda: KVCache().append(HEADS, HEADS.double()), "the same dtype"),
    Row("cache.KVCache", lambda: filled().append(HEADS, HEADS), "must fit the rows in the cache"),
    Row(
        "cache.KVCache",
        lambda: filled().append(zeros(2, 1, 2, 8), zeros(2, 1, 2, 8)),
        "holds at most max_length = 4 rows: 3 are in it, and 2 more came",
    ),
    Row(
        "cache.KVCache",
        lambda: KVCache().append(zeros(1, 1, 1, 2, requires_grad=True), zeros(1, 1, 1, 2)),
        "must not need a gradient",
    ),
    Row("efficient.summarise", lambda: eff.summarise(X.long()), f"scores {FLOATS}"),
    Row("efficient.summarise", lambda: eff.summarise(X[..., :0]), "at least one score"),
    Row("efficient.online_softmax", lambda: eff.online_softmax(X, tile=0), f"tile {WHOLE} 1"),
    Row("efficient.online_softmax", lambda: eff.online_softmax(X.int()), f"scores {FLOATS}"),
    Row(
        "efficient.tiled_attention",
        lambda: eff.tiled_attention(X, X, X, tile=-1),
        f"tile {WHOLE} 1: it is -1",
    ),
    Row(
        "efficient.local_attention",
        lambda: eff.local_attention(X, X, X, 0),
        f"window {WHOLE} 1: it is 0",
    ),
    Row(
        "efficient.weights_from",
        lambda: eff.weights_from(X, X, X[..., 0, :]),
        "logsumexp must have the shape (…, n_q) = (2, 5)",
    ),
    Row(
        "efficient.weights_from",
        lambda: eff.weights_from(X, X, X[..., 0], rows=7),
        "rows must be from 0 to 4: 7 is among them",
    ),
    Row("efficient.feature_map", lambda: eff.feature_map(M), f"x {FLOATS}"),
    Row("reference.softmax", lambda: reference.softmax("abc"), "could not convert"),
    Row(
        "reference.masked_softmax",
        lambda: reference.masked_softmax(np.zeros((2, 3)), np.ones(4, dtype=bool)),
        "broadcast",
    ),
    Row("reference.attention_loops", lambda: reference.attention_loops(X, X, X), "(n_q, d)"),
    Row(
        "reference.attention_matrices",
        lambda: reference.attention_matrices(X, X, X[:, 1:]),
        "key and value must have the same length",
    ),
    Row(
        "reference.attention_matrices",
        lambda: reference.attention_matrices(X, X, X, M.long()),
        "mask must be boolean",
    ),
    Row(
        "reference.attention_matrices",
        lambda: reference.attention_matrices(X, X, X, M.expand(3, 5, 5)),
        "mask must fit the scores (2, 5, 5): its shape is (3, 5, 5)",
    ),
]

MODELS = [
    Row("multihead.MultiHeadAttention", lambda: MultiHeadAttention(8, 3), "multiple of n_heads"),
    Row("multihead.MultiHeadAttention", lambda: MultiHeadAttention(0, 1), f"d_model {WHOLE} 1"),
    Row("multihead.MultiHeadAttention", lambda: layer(n_kv_heads=3), "multiple of n_kv_heads = 3"),
    Row("multihead.MultiHeadAttention", lambda: layer(dropout=1.0), "dropout must be at least 0"),
    Row("multihead.MultiHeadAttention", lambda: layer(rope=pos.Rotary(4)), "it turns 4"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X[0]), f"x {EIGHTS} (5, 8)"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X.long()), f"x {FLOATS}"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X, X[:1]), "same leading dimensions"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X, X[..., 1:]), f"memory {EIGHTS}"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X, mask=M.int()), "mask must be boolean"),
    Row(
        "multihead.MultiHeadAttention",
        lambda: layer()(X, mask=M.expand(3, 5, 5)),
        "each of them equal or 1: its shape is (3, 1, 5, 5)",
    ),
    Row("multihead.MultiHeadAttention", lambda: layer()(X, mask=M.to("meta")), "same device"),
    Row("multihead.MultiHeadAttention", lambda: layer()(X, X, cache=KVCache()), "use project"),
    Row("multihead.MultiHeadAttention", lambda: layer().weights(X, heads=4), "from 0 to 3"),
    Row("multihead.MultiHeadAttention", lambda: layer().project(X[0]), f"memory {EIGHTS}"),
    Row(
        "multihead.MultiHeadAttention",
        lambda: MultiHeadAttention.from_torch(nn.Linear(8, 8)),
        "other must be a torch.nn.MultiheadAttention: it is a Linear",
        TypeError,
    ),
    Row(
        "multihead.MultiHeadAttention",
        lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, kdim=4)),
        "kdim must equal embed_dim = 8: it is 4",
    ),
    Row("embeddings.Embeddings", lambda: Embeddings(0, 8), f"vocabulary {WHOLE} 1"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 7), "d must be even"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 8, positions="rope"), "one of"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 8)(IDS + 8), "from 0 to 8: 9 is among"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 8)(IDS - 2), "-1 is among them"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 8)(IDS.float()), "dtype torch.int64"),
    Row("embeddings.Embeddings", lambda: Embeddings(9, 8)(IDS, IDS), "n_types=0"),
    Row("layers.FeedForward", lambda: layers.FeedForward(8, 0), f"d_ff {WHOLE} 1"),
    Row("layers.FeedForward", lambda: layers.FeedForward(8, 8, activation="tanh"), "one of"),
    Row("layers.EncoderBlock", lambda: block(norm="both"), "norm must be one of 'pre', 'post'"),
    Row("layers.EncoderBlock", lambda: block(dropout=-0.1), "dropout must be at least 0"),
    Row("layers.EncoderBlock", lambda: block()(X[..., 1:]), f"x {EIGHTS}"),
    Row("layers.DecoderBlock", lambda: layers.DecoderBlock(8, 3), "multiple of n_heads = 3"),
    Row("layers.DecoderBlock", lambda: layers.DecoderBlock(8, 2)(X, X[0]), f"memory {EIGHTS}"),
    Row("layers.Encoder", lambda: layers.Encoder(0, 8, 2), f"n_layers {WHOLE} 1"),
    Row("layers.Encoder", lambda: layers.Encoder(2, 8, 2)(X, caches=[None]), "each of the 2"),
    Row("layers.Decoder", lambda: layers.Decoder(-1, 8, 2), f"n_layers {WHOLE} 1"),
    Row("layers.Decoder", lambda: layers.Decoder(2, 8, 2)(X, []), "memory must be a tensor, or"),
    Row("rnn.Encoder", lambda: rnn.Encoder(9, 7), "must be a multiple of the number of directions"),
    Row("rnn.Encoder", lambda: rnn.Encoder(9, 8)(IDS, LENGTHS - 2), "must be from 1 to 3"),
    Row("rnn.Encoder", lambda: rnn.Encoder(9, 8)(IDS + 9, LENGTHS), "from 0 to 8: 10 is among"),
    Row("rnn.AttentionDecoder", lambda: rnn.AttentionDecoder(9, 8, order="x"), "one of 'none'"),
    Row(
        "rnn.AttentionDecoder",
        lambda: rnn.AttentionDecoder(9, 8, input_feeding=True),
        "input_feeding is for order='luong' alone",
    ),
    Row(
        "rnn.RNNSeq2Seq",
        lambda: recurrent()(IDS, IDS[:1], source_lengths=LENGTHS),
        "target must have the shape (b, n_t) = (2, at least 1)",
    ),
    Row(
        "rnn.RNNSeq2Seq",
        lambda: rnn.RNNSeq2Seq(9, 9, 8, order="none").weights(IDS, IDS, source_lengths=LENGTHS),
        "order='none' has no weights",
    ),
    Row("transformer.Seq2Seq", lambda: Seq2Seq(0, 9), f"vocabulary {WHOLE} 1"),
    Row("transformer.Seq2Seq", lambda: Seq2Seq(9, 9, d_model=10), "multiple of n_heads = 4"),
    Row("transformer.Seq2Seq", lambda: Seq2Seq(9, 9, positions="x"), "positions must be one of"),
    Row(
        "transformer.Seq2Seq",
        lambda: translator()(IDS, IDS, source_lengths=LENGTHS - 2),
        "source_lengths must be from 1 to 3, for at least one sentence: they are [1, 0]",
    ),
    Row(
        "transformer.Seq2Seq",
        lambda: translator()(IDS, IDS, source_lengths=LENGTHS.float()),
        "source_lengths must be int64 of the shape (b,) = (2,)",
    ),
    Row(
        "transformer.Seq2Seq",
        lambda: translator().weights(IDS, IDS, source_lengths=LENGTHS, layer=1),
        "layer must be from 0 to 0: 1 is among them",
    ),
    Row("transformer.LanguageModel", lambda: LanguageModel(9, n_layers=0), f"n_layers {WHOLE} 1"),
    Row(
        "transformer.LanguageModel",
        lambda: LanguageModel(9, d_model=8, n_heads=2)(X),
        "tokens must hold token ids of dtype torch.int64",
    ),
    Row(
        "transformer.LanguageModel",
        lambda: LanguageModel(9, d_model=12, positions="rope"),
        "d_model / n_heads must be even",
    ),
]


def wrote(function: Callable[..., Any], **changed: Any) -> Callable[[], Any]:
    arguments = {"source": IDS, "source_lengths": LENGTHS, "max_length": 2} | changed
    return lambda: function(translator(), **arguments)


WRITERS = {
    "decoding.greedy": decoding.greedy,
    "decoding.sample": decoding.sample,
    "decoding.beam_search": partial(decoding.beam_search, beam=2),
}
WRITTEN: tuple[tuple[dict[str, Any], str], ...] = (
    ({"max_length": 0}, f"max_length {WHOLE} 1: it is 0"),
    ({"source": IDS[0]}, "source must have the shape (b, n_s): its shape is (3,)"),
    ({"source_lengths": LENGTHS + 1}, "they are [4, 3]"),
    ({"source_lengths": LENGTHS - 3}, "they are [0, -1]"),
    ({"source_lengths": LENGTHS[:1]}, "source_lengths must be int64 of the shape (b,) = (2,)"),
    ({"eos": 9}, "eos must be below the vocabulary's 9: it is 9"),
    ({"bos": -1}, f"bos {WHOLE} 0: it is -1"),
    ({"bos": 9}, "from 0 to 8: 9 is among them"),
    ({"bos": LENGTHS.float()}, "bos must be a token, or int64 of the shape (b,) = (2,)"),
)
DECODING = [
    *(Row(of, wrote(f, **changed), w) for of, f in WRITERS.items() for changed, w in WRITTEN),
    *(
        Row(of, wrote(f, source=[[1]]), "source must be a torch.Tensor: it is a list", TypeError)
        for of, f in WRITERS.items()
    ),
    *(
        Row("decoding.sample", wrote(decoding.sample, **changed), words)
        for changed, words in (
            ({"temperature": 0.0}, "temperature must be above 0 and finite: it is 0.0"),
            ({"temperature": float("nan")}, "temperature must be above 0 and finite"),
            ({"top_k": 0}, f"top_k {WHOLE} 1: it is 0"),
            ({"top_p": 0.0}, "top_p must be above 0 and at most 1: it is 0.0"),
            ({"top_p": 1.1}, "top_p must be above 0 and at most 1: it is 1.1"),
            ({"generator": []}, "one for each of the 2 sentences: there are 0"),
        )
    ),
    *(
        Row("decoding.beam_search", wrote(decoding.beam_search, beam=beam), f"beam {WHOLE} 1")
        for beam in (0, -1, 2.0, True)
    ),
    Row(
        "decoding.beam_search",
        wrote(decoding.beam_search, beam=2, length_penalty=-1.0),
        "length_penalty must be at least 0 and finite: it is -1.0",
    ),
    Row("record.record_attention", lambda: record_attention(nn.Linear(2, 2)).__enter__(), "hold a"),
]

WORDS = corpus.Vocabulary([["a", "b"]])
PAIR = ([3], [4])
CORPUS = [
    Row("corpus.Vocabulary", lambda: corpus.Vocabulary([]), "the corpus is empty"),
    Row("corpus.Vocabulary", lambda: corpus.Vocabulary([[]]), "the corpus is empty"),
    Row("corpus.Vocabulary", lambda: corpus.Vocabulary([["a"]], min_count=0), f"min_count {WHOLE}"),
    Row("corpus.Vocabulary", lambda: corpus.Vocabulary(["ab"]), "is a string", TypeError),
    Row("corpus.Vocabulary", lambda: corpus.Vocabulary([["<pad>"]]), "'<pad>' is there twice"),
    Row("corpus.Vocabulary", lambda: WORDS.encode(["c"]), "'c' is not in the vocabulary of 5"),
    Row("corpus.Vocabulary", lambda: WORDS.encode("ab"), "is a string", TypeError),
    Row("corpus.Vocabulary", lambda: WORDS.decode([5]), "ids must be from 0 to 4: 5 is among"),
    Row("corpus.pad_batch", lambda: corpus.pad_batch([]), "at least one pair: there is none"),
    Row("corpus.pad_batch", lambda: corpus.pad_batch([PAIR, ([], [4])]), "that of pair 1 is empty"),
    Row("corpus.batches", lambda: corpus.batches([], 2), "the corpus is empty"),
    Row("corpus.batches", lambda: corpus.batches([PAIR], 0), f"batch_size {WHOLE} 1: it is 0"),
    Row("corpus.batches", lambda: corpus.batches([PAIR], 2, pool=0), f"pool {WHOLE} 1"),
    Row("corpus.batches", lambda: corpus.batches([PAIR], 2, seed=-1), f"seed {WHOLE} 0"),
    Row("corpus.english_french", lambda: corpus.english_french(0), f"n {WHOLE} 1: it is 0"),
    Row("corpus.english_french", lambda: corpus.english_french(9, seed=-1), f"seed {WHOLE} 0"),
    Row("corpus.english_french", lambda: corpus.english_french(9, held_out=1), "held_out must"),
    Row("corpus.copied", lambda: corpus.copied(-1), f"n {WHOLE} 0"),
    Row("corpus.copied", lambda: corpus.copied(3, shortest=4, longest=3), f"longest {WHOLE} 4"),
    Row("corpus.reversed_digits", lambda: corpus.reversed_digits(3, shortest=0), "shortest must"),
    Row("corpus.reversed_digits", lambda: corpus.reversed_digits(9, longest=4, shortest=5), "5"),
    Row("corpus.dates", lambda: corpus.dates(2.5), f"n {WHOLE} 0: it is 2.5"),
    Row("corpus.dates", lambda: corpus.dates(10**9), "n must be at most"),
    Row("corpus.tokenise", lambda: corpus.tokenise("a", "it"), "one of en, fr, de: it is 'it'"),
]


def trained(**changed: Any) -> Callable[[], Any]:
    def call() -> Any:
        arguments = {
            "model": nn.Linear(2, 1),
            "batches": [zeros(1, 2)],
            "loss": lambda model, batch: model(batch).sum(),
            "steps": 2,
            "progress": False,
        }
        return train(**(arguments | changed))

    return call


LOGITS = zeros(2, 3, 9)
TRAINING = [
    *(
        Row("training.train", trained(**changed), words)
        for changed, words in (
            ({"steps": 0}, f"steps {WHOLE} 1: it is 0"),
            ({"lr": 0.0}, "lr must be greater than 0 and finite: it is 0.0"),
            ({"clip": float("nan")}, "clip must be greater than 0 and finite: it is nan"),
            ({"batches": []}, "batches must hold at least one: epoch 0 holds none"),
            ({"batches": iter([X])}, "batches must be a list, or a function"),
            ({"model": nn.ReLU()}, "model must have weights that require a gradient"),
            ({"seed": -1}, f"seed {WHOLE} 0"),
            ({"patience": 2}, "patience must come with validate"),
            ({"validate": len}, "validate and validate_every must be given together"),
            ({"resume": True}, "resume must come with checkpoint"),
            ({"schedule": lambda step: -1.0}, "finite factor of at least 0: it is -1.0"),
            ({"loss": lambda model, batch: model(batch)[0] * torch.inf}, "hangs on"),
            (
                {"loss": lambda model, batch: model(batch).sum() * torch.nan},
                "the loss must be finite: at step 1 it is nan",
            ),
        )
    ),
    Row("training.train", trained(model=3), "model must be a torch.nn.Module", TypeError),
    Row("training.train", trained(loss=3), "loss must be a function", TypeError),
    Row("losses.sequence_loss", lambda: losses.sequence_loss(LOGITS[0], IDS), "logits must have"),
    Row("losses.sequence_loss", lambda: losses.sequence_loss(LOGITS.int(), IDS), FLOATS),
    Row(
        "losses.sequence_loss",
        lambda: losses.sequence_loss(LOGITS, IDS, smoothing=1.5),
        "smoothing must be from 0 to 1: it is 1.5",
    ),
    Row("losses.check_logits", lambda: losses.check_logits(LOGITS[:1], IDS), "(1, 3, 9)"),
    Row("metrics.perplexity", lambda: metrics.perplexity(nn.ReLU(), []), "they hold none"),
    Row("metrics.bleu", lambda: metrics.bleu([], []), "at least 1: they have 0 and 0"),
    Row("metrics.bleu", lambda: metrics.bleu("a", ["a"]), "it is one string", TypeError),
    Row("metrics.bleu", lambda: metrics.bleu([["a"]], ["a"]), "must be strings", TypeError),
    Row("metrics.exact_match", lambda: metrics.exact_match(["a"], []), "they have 1 and 0"),
    Row("metrics.exact_match", lambda: metrics.exact_match(["a"], [[1]]), "'a' meets", TypeError),
    Row("metrics.argmax_links", lambda: metrics.argmax_links(X), "must have the shape (n_t, n_s)"),
    Row(
        "metrics.alignment_accuracy",
        lambda: metrics.alignment_accuracy(X, [{(8, 0)}, set()]),
        "gold must lie inside the weights: sentence 0 has the link (8, 0)",
    ),
    Row(
        "metrics.alignment_accuracy",
        lambda: metrics.alignment_accuracy(X, [(), ()]),
        "gold must hold at least one link",
    ),
    Row(
        "metrics.alignment_error_rate",
        lambda: metrics.alignment_error_rate([[]], [[]]),
        "must hold at least one link",
    ),
    Row(
        "metrics.alignment_error_rate",
        lambda: metrics.alignment_error_rate([[(0, 0)]], []),
        "predicted and sure must have the same number of sentences",
    ),
    Row("schedules.constant", lambda: constant(-1), f"warmup {WHOLE} 0"),
    Row("schedules.warmup_cosine", lambda: warmup_cosine(5, 5), f"steps {WHOLE} 6"),
    Row("schedules.warmup_cosine", lambda: warmup_cosine(1, 5, final=2.0), "final must be from"),
    Row("schedules.warmup_inverse_sqrt", lambda: warmup_inverse_sqrt(0), f"warmup {WHOLE} 1"),
    Row(
        "schedules.warmup_inverse_sqrt",
        lambda: warmup_inverse_sqrt(1, d_model=0),
        f"d_model {WHOLE} 1",
    ),
    Row("seeds.seeded", lambda: seeded(-1).__enter__(), f"seed {WHOLE} 0: it is -1"),
    Row("seeds.seeded", lambda: seeded(0.5).__enter__(), f"seed {WHOLE} 0: it is 0.5"),
]

EVEN, THREE_WORDS = np.full((2, 3), 1 / 3), ("a", "b", "c")
FIGURES = [
    *(
        Row("figures.heatmap", partial(figures.heatmap, weights, ("a", "b"), THREE_WORDS), words)
        for weights, words in (
            (EVEN[0], "weights must have the shape (n_q, n_k)"),
            (EVEN[:, :0], "the shape is (2, 0)"),
            (EVEN * np.nan, "must not hold NaN"),
            (EVEN * 9, "must be from 0 to 1: they go from 3 to 3"),
            (EVEN.T, "tokens must name each row of the weights: there are 2"),
        )
    ),
    Row(
        "figures.curves",
        lambda: figures.curves([1], {}, x_label="x", y_label="y"),
        "series must hold 1 to 6 curves: it holds 0",
    ),
    Row(
        "figures.curves",
        lambda: figures.curves([1, 2], {"a": [1]}, x_label="x", y_label="y"),
        "must have as many numbers as x: it has 1, x has 2",
    ),
    Row(
        "figures.curves",
        lambda: figures.curves([0, 1], {"a": [1, 2]}, x_label="x", y_label="y", log=True),
        "x must be positive for log=True",
    ),
    Row(
        "figures.alignment",
        lambda: figures.alignment(EVEN, THREE_WORDS, ("a", "b"), {(0, 2)}),
        "gold must link source words 0 to 2 with target words 0 to 1: (0, 2)",
    ),
    Row(
        "figures.alignment",
        lambda: figures.alignment(EVEN, ("a", "b"), ("a", "b")),
        "source must name each column of the weights",
    ),
    Row(
        "figures.head_grid",
        lambda: figures.head_grid(EVEN, ("a", "b"), THREE_WORDS),
        "weights must have the shape (h, n_q, n_k)",
    ),
    Row(
        "figures.head_grid",
        lambda: figures.head_grid(EVEN[None], ("a", "b"), THREE_WORDS, columns=0),
        "columns must be a whole number of at least 1",
    ),
    Row(
        "figures.head_grid",
        lambda: figures.head_grid(EVEN[None], ("a", "b"), THREE_WORDS, names=("a", "b")),
        "names must name each head: there are 2 for 1 heads",
    ),
    Row(
        "figures.Picture",
        lambda: figures.heatmap(EVEN, ("a", "b"), THREE_WORDS).save("a.jpg"),
        "path must end in .png: it is 'a.jpg'",
    ),
]
ROWS = [*SHARED, *MATHS, *MODELS, *DECODING, *CORPUS, *TRAINING, *FIGURES]

RESULT = "holds what a function returned, and takes anything"
ELSEWHERE = {
    **dict.fromkeys(("attention.Attended", "multihead.Projected", "decoding.Hypothesis"), RESULT),
    **dict.fromkeys(("efficient.Running", "efficient.Tiled", "metrics.Bleu"), RESULT),
    **dict.fromkeys(("rnn.Encoded", "rnn.Memory", "rnn.DecoderState"), RESULT),
    **dict.fromkeys(("transformer.Seq2SeqState", "transformer.LanguageModelState"), RESULT),
    **dict.fromkeys(("record.Recorded", "record.Seen", "training.History"), RESULT),
    **dict.fromkeys(("corpus.Batch", "corpus.Corpus", "corpus.Pair", "corpus.TextPair"), RESULT),
    "metrics.AlignmentAccuracy": RESULT,
    "checkpoint.Checkpoint": "read_checkpoint makes it: see the tests of files",
    "layers.BlockOptions": "names the options of a block, which checks them",
    "decoding.Stepper": "is a protocol",
    "efficient.merge": "takes what summarise made",
    "attend.spread": "takes what MultiHeadAttention has checked",
    "losses.teacher_forced": "hands a batch to the model, which checks it",
    "losses.teacher_forced_loss": "teacher_forced, then sequence_loss",
    "metrics.evaluating": "takes any module",
    "metrics.free_running": "hands a batch to the model, which checks it",
    "seeds.random_state": "takes nothing",
    "seeds.set_random_state": "takes what random_state returned; a checkpoint has its hash",
    "corpus.crosses": "takes a Pair",
    "corpus.detokenise": "takes any tokens",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.of}: {row.words}")
def test_it_is_refused_in_words(row: Row) -> None:
    with pytest.raises(row.error) as caught:
        row.call()
    assert row.words in str(caught.value)
    assert type(caught.value) is row.error  # a subclass came from somewhere else


# --- files ----------------------------------------------------------------------------------------


def saved(folder: Path, step: int = 1) -> tuple[nn.Module, Path]:
    model = nn.Linear(2, 1)
    return model, chk.save_checkpoint(folder, model, Adam(model.parameters()), step=step)


def older_version(folder: Path) -> None:
    path = saved(folder)[1] / "state.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 0'))


def cut_short(folder: Path) -> None:
    path = saved(folder)[1] / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


def one_bit(folder: Path) -> None:
    path = saved(folder)[1] / "optimizer.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def no_state(folder: Path) -> None:
    (saved(folder)[1] / "state.json").unlink()


def text(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content)


def both(folder: Path) -> None:
    text("a", b"one\ntwo\n")(folder)
    text("b", b"un\n")(folder)


FILES: list[tuple[str, Callable[[Path], Any], Callable[[Path], Any], str, type[Exception]]] = [
    *(
        ("checkpoint.read_checkpoint", damage, chk.read_checkpoint, words, ValueError)
        for damage, words in (
            (older_version, "must be of version 1 of the format: it is of version 0"),
            (cut_short, "must be a whole checkpoint: model.safetensors"),
            (one_bit, "must be a whole checkpoint: optimizer.safetensors"),
            (no_state, "must be a whole checkpoint: state.json"),
            (lambda folder: None, "must hold a checkpoint"),
        )
    ),
    *(
        ("training.train", damage, lambda f: trained(checkpoint=f, resume=True)(), w, ValueError)
        for damage, w in (
            (older_version, "of version 1"),
            (cut_short, "must be a whole checkpoint"),
            (
                lambda folder: trained(checkpoint=folder, optimizer=SGD)(),
                "must hold the optimiser's numbers: its class is SGD, the optimiser's Adam",
            ),
            (
                lambda folder: trained(checkpoint=folder, seed=1)(),
                "seed and batches must be those of the checkpoint's run",
            ),
        )
    ),
    (
        "training.train",
        saved,
        lambda folder: trained(checkpoint=folder)(),
        "checkpoint must be a folder without one",
        ValueError,
    ),
    (
        "checkpoint.save_checkpoint",
        saved,
        lambda folder: saved(folder),
        "must not hold step 1 already",
        ValueError,
    ),
    (
        "checkpoint.save_checkpoint",
        lambda folder: None,
        lambda folder: saved(folder, step=-1),
        f"step {WHOLE} 0: it is -1",
        ValueError,
    ),
    (
        "checkpoint.Checkpoint",
        saved,
        lambda folder: chk.read_checkpoint(folder).load_into(nn.Linear(3, 1)),
        "'weight' has the shape (1, 2) there and (1, 3) in the model",
        ValueError,
    ),
    (
        "corpus.Vocabulary",
        text("words.json", b"[1, 2"),
        lambda folder: corpus.Vocabulary.load(folder / "words.json"),
        "is not a vocabulary",
        ValueError,
    ),
    (
        "corpus.read_aligned",
        both,
        lambda folder: list(corpus.read_aligned(folder / "a", folder / "b")),
        "must have as many lines",
        ValueError,
    ),
    (
        "corpus.read_aligned",
        both,
        lambda folder: corpus.read_aligned(folder / "a", folder / "c"),
        "there is no file",
        FileNotFoundError,
    ),
    (
        "corpus.read_multi30k",
        text("train.en", b"a\n"),
        lambda folder: corpus.read_multi30k(folder),
        "there is neither train.fr nor train.fr.gz",
        FileNotFoundError,
    ),
    (
        "corpus.read_tab_separated",
        text("a.tsv", b"one\tun\ntwo\n"),
        lambda folder: list(corpus.read_tab_separated(folder / "a.tsv")),
        "line 2: there must be a source and a target",
        ValueError,
    ),
    (
        "corpus.read_tab_separated",
        text("a.tsv", b"one\t\xff\n"),
        lambda folder: list(corpus.read_tab_separated(folder / "a.tsv")),
        "line 1: this is not UTF-8",
        ValueError,
    ),
]


@pytest.mark.parametrize(("of", "prepare", "call", "words", "error"), FILES)
def test_a_bad_file_is_refused_and_left_alone(
    tmp_path: Path, of: str, prepare, call, words: str, error: type[Exception]
) -> None:
    prepare(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(error) as caught:
        call(tmp_path)
    assert words in str(caught.value)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


def test_a_checkpoint_of_another_optimiser_changes_nothing(tmp_path: Path) -> None:
    saved(tmp_path)
    model = nn.Linear(2, 1)
    weights = model.weight.detach().clone()
    with pytest.raises(ValueError, match="its class is Adam, the optimiser's SGD"):
        chk.read_checkpoint(tmp_path).load_into(model, SGD(model.parameters(), lr=1.0))
    assert torch.equal(model.weight, weights)


def test_a_folder_without_a_checkpoint_is_no_error(tmp_path: Path) -> None:
    assert not chk.has_checkpoint(tmp_path / "nowhere")


# --- nothing is missing ---------------------------------------------------------------------------


def public(name: str) -> set[str]:
    """Return the public functions and classes that a module defines or, in a package, exports."""
    module = importlib.import_module(f"attnbook.{name}")
    if hasattr(module, "__all__"):
        return {f"{name}.{one}" for one in module.__all__}
    return {
        f"{name}.{one}"
        for one, value in vars(module).items()
        if not one.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_row_or_a_reason(module: str) -> None:
    tested = {row.of for row in ROWS} | {row[0] for row in FILES} | {"checkpoint.has_checkpoint"}
    assert sorted(public(module) - tested - ELSEWHERE.keys()) == []


def test_the_table_names_what_there_is() -> None:
    there_is = set().union(*(public(module) for module in MODULES))
    named = {row.of for row in ROWS} | {row[0] for row in FILES} | ELSEWHERE.keys()
    assert sorted(named - there_is) == []
