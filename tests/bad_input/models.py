"""Multi-head attention, embeddings, blocks, and the models made of them."""

from functools import cache, partial
from typing import Any

import torch
from torch import nn

from attnbook import layers, rnn
from attnbook import positions as pos
from attnbook.cache import KVCache
from attnbook.embeddings import Embeddings
from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import LanguageModel, Seq2Seq
from tests.bad_input.rows import FLOATS, IDS, LENGTHS, NAN, WHOLE, Calls, M, X, rows, zeros

SENTENCES = (
    "must have the shape (b, n) with at least one sentence of at least one token: its shape is (3,)"
)
EPS = (0.0, -1e-5, NAN, torch.inf, True, None)
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


@cache
def language() -> LanguageModel:
    return LanguageModel(9, d_model=8, n_heads=2, n_layers=1).eval()


def block(**options: Any) -> layers.EncoderBlock:
    return layers.EncoderBlock(8, 2, **options)


CALLS: Calls = {
    "multihead.MultiHeadAttention": [
        (lambda: MultiHeadAttention(8, 3), "multiple of n_heads"),
        (lambda: MultiHeadAttention(0, 1), f"d_model {WHOLE} 1"),
        (lambda: layer(n_kv_heads=3), "multiple of n_kv_heads = 3"),
        (lambda: layer(dropout=1.0), "dropout must be at least 0"),
        (lambda: layer(rope=pos.Rotary(4)), "it turns 4"),
        (lambda: layer()(X[0]), f"x {EIGHTS} (5, 8)"),
        (lambda: layer()(X.double()), "x must have the layer's dtype, torch.float32: it has"),
        (lambda: layer()(X.half()), "x must have the layer's dtype, torch.float32: it has"),
        (lambda: layer()(X.to("meta")), "x must have the layer's device, cpu: it has meta"),
        (lambda: layer()(X, X.double()), "memory must have the layer's dtype, torch.float32"),
        (lambda: layer().weights(X.double()), "x must have the layer's dtype, torch.float32"),
        (lambda: layer()(X, causal="False"), "causal must be True or False: it is", TypeError),
        (lambda: layer()(X, causal=None), "causal must be True or False: it is None", TypeError),
        (
            lambda: layer()(X, cache=True),
            "cache must be a KVCache or None: it is a",
            TypeError,
        ),
        (lambda: layer(rope=True), "rope must be a Rotary or None: it is a bool", TypeError),
        (lambda: layer()(X.long()), f"x {FLOATS}"),
        (lambda: layer()(X, X[:1]), "same leading dimensions"),
        (lambda: layer()(X, X[..., 1:]), f"memory {EIGHTS}"),
        (lambda: layer()(X, mask=M.int()), "mask must be boolean"),
        (
            lambda: layer()(X, mask=M.expand(3, 5, 5)),
            "each of them equal or 1: its shape is (3, 1, 5, 5)",
        ),
        (lambda: layer()(X, mask=M.to("meta")), "same device"),
        (lambda: layer()(X, X, cache=KVCache()), "use project"),
        (lambda: layer().weights(X, heads=4), "from 0 to 3"),
        (lambda: layer().project(X[0]), f"memory {EIGHTS}"),
        (
            lambda: MultiHeadAttention.from_torch(nn.Linear(8, 8)),
            "other must be a torch.nn.MultiheadAttention: it is a Linear",
            TypeError,
        ),
        (
            lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, kdim=4)),
            "kdim must equal embed_dim = 8: it is 4",
        ),
        (lambda: layer()(X, X[0]), f"memory {EIGHTS} (5, 8)"),
        (lambda: layer()(X, X[..., 1:]), f"memory {EIGHTS} (2, 5, 7)"),
        (lambda: layer()(X, X.long()), f"memory {FLOATS}"),
        (lambda: layer()(X, X[:1]), "x and memory must have the same leading dimensions"),
        (
            lambda: layer()(X, layer(n_kv_heads=2).project(X)),
            "(2, 4, 5, 2), as this layer's project returns them",
        ),
        (
            lambda: layer()(X, layer().project(X[:1])),
            "(2, 4, 5, 2), as this layer's project returns them",
        ),
        (lambda: layer().weights(X, X[0]), f"memory {EIGHTS} (5, 8)"),
        (lambda: layer().weights(X, X[..., 1:]), f"memory {EIGHTS} (2, 5, 7)"),
        (lambda: layer().weights(X, X.long()), f"memory {FLOATS}"),
        (lambda: layer().weights(X, X[:1]), "x and memory must have the same leading dimensions"),
        (
            lambda: layer().weights(X, layer(n_kv_heads=2).project(X)),
            "(2, 4, 5, 2), as this layer's project returns them",
        ),
        (
            lambda: layer().weights(X, layer().project(X[:1])),
            "(2, 4, 5, 2), as this layer's project returns them",
        ),
    ],
    "embeddings.Embeddings": [
        (lambda: Embeddings(0, 8), f"vocabulary {WHOLE} 1"),
        (lambda: Embeddings(9, 7), "d must be even"),
        (lambda: Embeddings(9, 8, positions="rope"), "one of"),
        (lambda: Embeddings(9, 8)(IDS + 8), "from 0 to 8: 9 is among"),
        (lambda: Embeddings(9, 8)(IDS - 2), "-1 is among them"),
        (lambda: Embeddings(9, 8)(IDS.float()), "dtype torch.int64"),
        (lambda: Embeddings(9, 8)(IDS, IDS), "n_types=0"),
        (lambda: Embeddings(9, 8)(IDS.to("meta")), "must have the same device: the model has cpu"),
        (lambda: Embeddings(9, 8, norm="no"), "norm must be True or False: it is 'no'", TypeError),
        *(
            (partial(Embeddings, 9, 8, eps=eps), f"eps must be above 0 and finite: it is {eps}")
            for eps in EPS
        ),
        (lambda: Embeddings(9, 8, max_length=0), f"max_length {WHOLE} 1: it is 0"),
        (
            lambda: Embeddings(9, 8)(IDS, offset=LENGTHS[:1]),
            "offset must be a number, or have the shape (b,) = (2,)",
        ),
        (
            lambda: Embeddings(9, 8)(IDS[:1], offset=LENGTHS),
            "offset must be a number, or have the shape (b,) = (1,)",
        ),
    ],
    "layers.FeedForward": [
        (lambda: layers.FeedForward(8, 0), f"d_ff {WHOLE} 1"),
        (lambda: layers.FeedForward(8, 8, activation="tanh"), "one of"),
        (
            lambda: layers.FeedForward(8, 8)(X[..., 1:]),
            "x must have the shape (…, 8): its",
        ),
        (lambda: layers.FeedForward(8, 8)(X.double()), "x must have the layer's dtype"),
        (lambda: layers.FeedForward(8, 8)(X.long()), f"x {FLOATS}"),
        (lambda: layers.FeedForward(8, 8)([0.0]), "x must be a torch.Tensor", TypeError),
    ],
    "layers.EncoderBlock": [
        (lambda: block(norm="both"), "norm must be one of 'pre', 'post'"),
        (lambda: block(dropout=-0.1), "dropout must be at least 0"),
        (lambda: block()(X[..., 1:]), f"x {EIGHTS}"),
        (lambda: block()(X.double()), "x must have the layer's dtype, torch.float32"),
        *((partial(block, eps=eps), f"eps must be above 0 and finite: it is {eps}") for eps in EPS),
    ],
    "layers.DecoderBlock": [
        (lambda: layers.DecoderBlock(8, 3), "multiple of n_heads = 3"),
        (lambda: layers.DecoderBlock(8, 2)(X, X[0]), f"memory {EIGHTS}"),
        (
            lambda: layers.DecoderBlock(8, 2)(X, None),
            "memory must be a torch.Tensor, or Pro",
            TypeError,
        ),
    ],
    "layers.Encoder": [
        (lambda: layers.Encoder(0, 8, 2), f"n_layers {WHOLE} 1"),
        (lambda: layers.Encoder(2, 8, 2)(X, caches=[None]), "each of the 2"),
        (
            lambda: layers.Encoder(2, 8, 2)(X, caches=[KVCache()] * 2),
            "of its own for each block: one comes twice",
        ),
    ],
    "layers.Decoder": [
        (lambda: layers.Decoder(-1, 8, 2), f"n_layers {WHOLE} 1"),
        (lambda: layers.Decoder(2, 8, 2)(X, []), "memory must be a tensor, or"),
        (lambda: layers.Decoder(2, 8, 2)(X, None), "or Projected: it is None", TypeError),
    ],
    "rnn.Encoder": [
        (lambda: rnn.Encoder(9, 7), "must be a multiple of the number of directions"),
        (lambda: rnn.Encoder(9, 8)(IDS, LENGTHS - 2), "must be from 1 to 3"),
        (lambda: rnn.Encoder(9, 8)(IDS + 9, LENGTHS), "from 0 to 8: 10 is among"),
        (lambda: rnn.Encoder(9, 8)(IDS[0], LENGTHS), f"source {SENTENCES}"),
    ],
    "rnn.AttentionDecoder": [
        (lambda: rnn.AttentionDecoder(9, 8, order="x"), "one of 'none'"),
        (
            lambda: rnn.AttentionDecoder(9, 8, input_feeding=True),
            "input_feeding is for order='luong' alone",
        ),
        (
            lambda: recurrent().decoder.start(rnn.Encoded(X, X[:, 0]), LENGTHS - 3),
            "must be from 1 to 5",
        ),
        (
            lambda: recurrent().decoder.start(rnn.Encoded(X, X[:, 0]), LENGTHS[:1]),
            "shape (b,) = (2,)",
        ),
    ],
    "rnn.RNNSeq2Seq": [
        (
            lambda: recurrent()(IDS, IDS[:1], source_lengths=LENGTHS),
            "target must have the shape (b, n_t) = (2, at least 1)",
        ),
        (
            lambda: rnn.RNNSeq2Seq(9, 9, 8, order="none").weights(IDS, IDS, source_lengths=LENGTHS),
            "order='none' has no weights",
        ),
        (lambda: recurrent()(IDS[0], IDS, source_lengths=LENGTHS), f"source {SENTENCES}"),
        (lambda: recurrent()(IDS, IDS[0], source_lengths=LENGTHS), f"target {SENTENCES}"),
        (lambda: recurrent().start(IDS[0], LENGTHS), f"source {SENTENCES}"),
        (lambda: recurrent().step(IDS, recurrent().start(IDS, LENGTHS)), "tokens must have the"),
        (lambda: recurrent().step(LENGTHS + 9, recurrent().start(IDS, LENGTHS)), "from 0 to 8: 12"),
        (
            lambda: recurrent().reorder(recurrent().start(IDS, LENGTHS), IDS[0] > 0),
            "rows must hold whole",
        ),
        (
            lambda: recurrent().reorder(recurrent().start(IDS, LENGTHS), LENGTHS - 3),
            "rows must be from 0 to 1",
        ),
    ],
    "transformer.Seq2Seq": [
        (lambda: Seq2Seq(0, 9), f"vocabulary {WHOLE} 1"),
        (lambda: Seq2Seq(9, 9, d_model=10), "multiple of n_heads = 4"),
        (lambda: Seq2Seq(9, 9, positions="x"), "positions must be one of"),
        (
            lambda: translator()(IDS, IDS, source_lengths=LENGTHS - 2),
            "source_lengths must be from 1 to 3, for at least one sentence: they are [1, 0]",
        ),
        (
            lambda: translator()(IDS, IDS, source_lengths=LENGTHS.float()),
            "source_lengths must be int64 of the shape (b,) = (2,)",
        ),
        (
            lambda: translator().weights(IDS, IDS, source_lengths=LENGTHS, layer=1),
            "layer must be from 0 to 0: 1 is among them",
        ),
        (lambda: translator()(IDS[0], IDS, source_lengths=LENGTHS), f"source {SENTENCES}"),
        (lambda: translator()(IDS, IDS[0], source_lengths=LENGTHS), f"target {SENTENCES}"),
        (lambda: translator().start(IDS[0], LENGTHS), f"source {SENTENCES}"),
        (lambda: translator()(IDS.to("meta"), IDS, source_lengths=LENGTHS), "same device"),
        (
            lambda: translator().reorder(translator().start(IDS, LENGTHS), LENGTHS.to("meta")),
            "state and rows must have the same device",
        ),
        (
            lambda: Seq2Seq(9, 9, tied="False"),
            "tied must be True or False: it is",
            TypeError,
        ),
        (
            lambda: translator().reorder(translator().start(IDS, LENGTHS), IDS[0] > 0),
            "rows must hold whole",
        ),
        (
            lambda: translator().reorder(translator().start(IDS, LENGTHS), LENGTHS - 3),
            "rows must be from 0 to 1",
        ),
        (
            lambda: translator()([[1]], IDS, source_lengths=LENGTHS),
            "source must be a torch.Tensor",
            TypeError,
        ),
        (
            lambda: translator()(IDS, IDS[:1], source_lengths=LENGTHS),
            "target must have the shape (b, n_t) = (2,",
        ),
        (
            lambda: translator()(IDS + 8, IDS, source_lengths=LENGTHS),
            "source must hold token ids from 0 to 8",
        ),
        (lambda: translator().weights(IDS, IDS[0], source_lengths=LENGTHS), f"target {SENTENCES}"),
        (
            lambda: translator().weights(IDS, IDS, source_lengths=LENGTHS, layer=[0, 0]),
            "[0, 0] is among them",
        ),
    ],
    "transformer.LanguageModel": [
        (lambda: LanguageModel(9, n_layers=0), f"n_layers {WHOLE} 1"),
        (
            lambda: language()(X),
            "tokens must hold token ids of dtype torch.int64",
        ),
        (lambda: LanguageModel(9, d_model=12, positions="rope"), "d_model / n_heads must be even"),
        (lambda: language()(IDS[0]), f"tokens {SENTENCES}"),
        (
            lambda: language().start(IDS[0], LENGTHS),
            "prompt must have the shape (b, n): its shape is (3,)",
        ),
        (
            lambda: language().start(zeros(2, 0), LENGTHS - LENGTHS),
            "prompt must hold token ids of dtype",
        ),
        (
            lambda: language().step(IDS[0, :1], language().start(IDS, LENGTHS)),
            "have the shape (b,) = (1,)",
        ),
        (
            lambda: language().reorder(language().start(IDS, LENGTHS), LENGTHS[None]),
            "rows must have the shape (m,)",
        ),
    ],
}
ROWS = rows(CALLS)
