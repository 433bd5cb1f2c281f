"""Multi-head attention, embeddings, blocks, and the models made of them."""

from functools import cache, partial
from typing import Any

import torch
from torch import nn

from attnbook import layers, rnn
from attnbook import positions as pos
from attnbook.cache import KVCache, RollingCache
from attnbook.embeddings import Embeddings
from attnbook.latent import LatentAttention
from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import LanguageModel, Seq2Seq
from tests.bad_input.rows import FLOATS, IDS, LENGTHS, NAN, WHOLE, Calls, M, X, rows, zeros

SENTENCES = (
    "must have the shape (b, n) with at least one sentence of at least one token: its shape is (3,)"
)
EPS = (0.0, -1e-5, NAN, torch.inf, True, None)
PROJECTED = (
    "memory must hold keys and values of the shape (b, n_kv_heads, n_k, d) = (2, 4, 5, 2), as this "
    "layer's project returns them: one has"
)
EIGHTS = "must have the shape (b, n, 8): its shape is"


@cache
def layer(**options: Any) -> MultiHeadAttention:
    return MultiHeadAttention(8, 4, **options).eval()


def latent(**options: Any) -> LatentAttention:
    return LatentAttention(8, 4, **{"d_latent": 3, "d_rope": 2} | options).eval()


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


def read(model: Any, **changed: Any) -> Any:
    arguments = {"source": IDS, "target": IDS, "source_lengths": LENGTHS} | changed
    return model()(**arguments)


READ: tuple[tuple[Any, ...], ...] = (
    ({"source": [[1]]}, "source must be a torch.Tensor: it is a list", TypeError),
    (
        {"source": IDS.float()},
        "source must hold token ids of dtype torch.int64: it has torch.float",
    ),
    ({"source": IDS + 8}, "source must hold token ids from 0 to 8: 9 is among them"),
    ({"source": IDS - 2}, "source must hold token ids from 0 to 8: -1 is among them"),
    ({"source": IDS[0]}, f"source {SENTENCES}"),
    ({"target": IDS + 8}, "target must hold token ids from 0 to 8: 9 is among them"),
    ({"target": IDS[0]}, f"target {SENTENCES}"),
    ({"target": IDS[:1]}, "target must have the shape (b, n_t) = (2, at least 1), for there are 2"),
    ({"target": IDS[:, :0]}, "target must have the shape (b, n) with at least one sentence"),
    ({"source_lengths": [3, 2]}, "source_lengths must be a torch.Tensor: it is a list", TypeError),
    ({"source_lengths": LENGTHS.int()}, "source_lengths must be int64 of the shape (b,) = (2,):"),
    ({"source_lengths": LENGTHS[:1]}, "= (2,): its dtype is torch.int64, its shape (1,)"),
    ({"source_lengths": LENGTHS - 2}, "from 1 to 3, for at least one sentence: they are [1, 0]"),
    ({"source_lengths": LENGTHS - 9}, "source_lengths must be from 1 to 3"),
    ({"source_lengths": LENGTHS + 1}, "source_lengths must be from 1 to 3"),
)
CALLS: Calls = {
    "multihead.MultiHeadAttention": [
        (lambda: MultiHeadAttention(8, 3), "d_model must be a multiple of n_heads = 3: it is 8"),
        (lambda: MultiHeadAttention(0, 1), f"d_model {WHOLE} 1: it is 0"),
        (lambda: MultiHeadAttention(8, 0), f"n_heads {WHOLE} 1: it is 0"),
        (lambda: MultiHeadAttention(8, -2), f"n_heads {WHOLE} 1: it is -2"),
        (lambda: layer(n_kv_heads=0), f"n_kv_heads {WHOLE} 1: it is 0"),
        (lambda: layer(n_kv_heads=3), "n_heads must be a multiple of n_kv_heads = 3: it is 4"),
        (lambda: layer(dropout=1.0), "dropout must be at least 0 and below 1: it is 1.0"),
        (lambda: layer(dropout=-0.1), "dropout must be at least 0 and below 1: it is -0.1"),
        (lambda: layer(rope=pos.Rotary(4)), "vectors of d_model / n_heads = 2: it turns 4"),
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
        (
            lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, vdim=4)),
            "vdim must equal embed_dim = 8: it is 4",
        ),
        *(
            (
                lambda name=name: MultiHeadAttention.from_torch(
                    nn.MultiheadAttention(8, 2, **{name: True})
                ),
                f"{name} must be False, for it has no counterpart here: it is True",
            )
            for name in ("add_bias_kv", "add_zero_attn")
        ),
        *(
            (partial(call, X, memory), words)
            for call in (layer(), layer().weights)
            for memory, words in (
                (X[0], f"memory {EIGHTS} (5, 8)"),
                (X[..., 1:], f"memory {EIGHTS} (2, 5, 7)"),
                (X.long(), f"memory {FLOATS}"),
                (X[:1], "x and memory must have the same leading dimensions"),
                (layer(n_kv_heads=2).project(X), f"{PROJECTED} (2, 2, 5, 2)"),
                (layer().project(X[:1]), f"{PROJECTED} (1, 4, 5, 2)"),
            )
        ),
        *(
            (partial(call, X, **part), words)
            for call in (layer(), layer().weights, partial(layer().weights, causal=True, heads=1))
            for part, words in (
                ({"mask": M.float()}, "mask must be boolean"),
                ({"mask": M[:4]}, "mask must have the shape (n_q, n_k) = (5, 5)"),
                ({"mask": M[:1].expand(3, 1, 5)}, "equal or 1: its shape is (3, 1, 1, 5)"),
                ({"mask": M.expand(2, 2, 5, 5)}, "equal or 1: its shape is (2, 2, 5, 5)"),
                ({"bias": M.float().expand(4, 5, 5)}, "its shape is (4, 1, 5, 5)"),
            )
        ),
        (lambda: layer()(X[:, :1], X, M[:1].expand(2, 2, 1, 5)), "its shape is (2, 2, 1, 5)"),
        (lambda: layer().weights(X, rows=5), "rows must be from 0 to 4: 5 is among them"),
        (lambda: layer().weights(X[0]), f"x {EIGHTS} (5, 8)"),
        (
            lambda: layer(rope=pos.Rotary(2))(X, X),
            "memory must be None, for this layer's rope turns a sequence by its own positions",
        ),
        (
            lambda: layer(rope=pos.Rotary(2)).weights(X, X),
            "memory must be None, for this layer's rope turns a sequence by its own positions",
        ),
        (lambda: layer()(X, cache=KVCache()), "compute under torch.no_grad()"),
    ],
    "latent.LatentAttention": [
        *(
            (partial(latent, **{name: 0}), f"{name} {WHOLE} 1: it is 0")
            for name in ("d_latent", "d", "d_v")
        ),
        (lambda: LatentAttention(0, 1, d_latent=2, d_rope=2), f"d_model {WHOLE} 1: it is 0"),
        (lambda: latent(d_rope=3), "d must be even, for its numbers are taken in pairs: it is 3"),
        (lambda: latent(base=0.0), "base must be above 0 and finite: it is 0.0"),
        *((partial(latent, eps=eps), "eps must be above 0 and finite") for eps in EPS),
        (
            lambda: LatentAttention(8, 3, d_latent=2, d_rope=2),
            "d_model must be a multiple of n_heads = 3: it is 8",
        ),
        (lambda: latent()(X[0]), f"x {EIGHTS} (5, 8)"),
        (lambda: latent()(X.double()), "x must have the layer's dtype, torch.float32: it has"),
        (lambda: latent()(X, M.long()), "mask must be boolean"),
        (lambda: latent()(X, M[:4]), "mask must have the shape (n_q, n_k) = (5, 5)"),
        (lambda: latent()(X, causal=1), "causal must be True or False: it is 1", TypeError),
        (lambda: latent()(X, cache=[]), "cache must be a KVCache or None: it is a", TypeError),
        (lambda: latent()(X, absorb=1), "absorb must be True, False or None: it is a", TypeError),
        (lambda: latent()(X, cache=KVCache()), "compute under torch.no_grad()"),
    ],
    "embeddings.Embeddings": [
        (lambda: Embeddings(0, 8), f"vocabulary {WHOLE} 1"),
        (lambda: Embeddings(9, 7), "d must be even"),
        (lambda: Embeddings(9, 8, positions="rope"), "one of"),
        (lambda: Embeddings(9, 8)(IDS + 8), "from 0 to 8: 9 is among"),
        (lambda: Embeddings(9, 8)(IDS - 2), "-1 is among them"),
        (lambda: Embeddings(9, 8)(IDS.float()), "dtype torch.int64"),
        (lambda: Embeddings(9, 0), f"d_model {WHOLE} 1"),
        (lambda: Embeddings(9, 8, n_types=-1), f"n_types {WHOLE} 0"),
        (lambda: Embeddings(9, 8)(IDS[0]), f"tokens {SENTENCES}"),
        (lambda: Embeddings(9, 8, n_types=1)(IDS, IDS), "types must hold token ids from 0 to 0: 1"),
        (
            lambda: Embeddings(9, 8, n_types=2)(IDS, IDS[:, :1]),
            "types must have the shape of tokens, (2, 3): its shape is (2, 1)",
        ),
        (lambda: Embeddings(9, 8)(IDS, IDS), "types must be None, for these embeddings were made"),
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
        (lambda: layers.FeedForward(0, 4), f"d_model {WHOLE} 1: it is 0"),
        (lambda: layers.FeedForward(8, 0), f"d_ff {WHOLE} 1"),
        (lambda: layers.FeedForward(8, 8, dropout=1.5), "dropout must be at least 0 and below 1"),
        (
            lambda: layers.FeedForward(8, 8, activation="tanh"),
            "activation must be one of 'relu', 'gelu', 'swiglu': it is 'tanh'",
        ),
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
        (lambda: block(norm_kind="batch"), "norm_kind must be one of 'layer', 'rms': it is 'b"),
        (lambda: block(bias=0), "bias must be True or False: it is 0", TypeError),
        (lambda: block(dropout=-0.1), "dropout must be at least 0"),
        (lambda: block()(X[..., 1:]), f"x {EIGHTS}"),
        (lambda: block()(X.double()), "x must have the layer's dtype, torch.float32"),
        *((partial(block, eps=eps), f"eps must be above 0 and finite: it is {eps}") for eps in EPS),
    ],
    "layers.DecoderBlock": [
        (lambda: layers.DecoderBlock(8, 3), "multiple of n_heads = 3"),
        (lambda: layers.DecoderBlock(8, 2, d_ff=0), f"d_ff {WHOLE} 1"),
        (lambda: layers.DecoderBlock(8, 2)(X, X[0]), f"memory {EIGHTS}"),
        (
            lambda: layers.DecoderBlock(8, 2)(X, None),
            "memory must be a torch.Tensor, or Pro",
            TypeError,
        ),
    ],
    "layers.Encoder": [
        (lambda: layers.Encoder(0, 8, 2), f"n_layers {WHOLE} 1"),
        (lambda: layers.Encoder(1, 8, 2)(X[..., 1:]), f"x {EIGHTS}"),
        (
            lambda: layers.Encoder(2, 8, 2)(X, caches=[None]),
            "caches must hold one KVCache for each of the 2 blocks: it holds 1",
        ),
        (
            lambda: layers.Encoder(2, 8, 2)(X, caches=[KVCache()] * 2),
            "of its own for each block: one comes twice",
        ),
    ],
    "layers.Decoder": [
        (lambda: layers.Decoder(-1, 8, 2), f"n_layers {WHOLE} 1"),
        (
            lambda: layers.Decoder(2, 8, 2)(X, [X]),
            "memory must be a tensor, or hold one Projected for each of the 2 blocks: it holds 1",
        ),
        (lambda: layers.Decoder(2, 8, 2)(X, None), "or Projected: it is None", TypeError),
    ],
    "rnn.Encoder": [
        (lambda: rnn.Encoder(9, 7), "a multiple of the number of directions = 2: it is 7"),
        (lambda: rnn.Encoder(0, 8), f"vocabulary {WHOLE} 1: it is 0"),
        (lambda: rnn.Encoder(9, 0), f"d_model {WHOLE} 2"),
        (lambda: rnn.Encoder(9, 8, dropout=1.0), "dropout must be at least 0 and below 1"),
        (lambda: rnn.Encoder(9, 8)(IDS, LENGTHS - 2), "must be from 1 to 3"),
        (lambda: rnn.Encoder(9, 8)(IDS + 9, LENGTHS), "from 0 to 8: 10 is among"),
        (lambda: rnn.Encoder(9, 8)(IDS[0], LENGTHS), f"source {SENTENCES}"),
    ],
    "rnn.AttentionDecoder": [
        (lambda: rnn.AttentionDecoder(0, 8), f"vocabulary {WHOLE} 1"),
        (lambda: rnn.AttentionDecoder(9, 0), f"d_model {WHOLE} 1"),
        (lambda: rnn.AttentionDecoder(9, 8, dropout=-0.1), "dropout must be at least 0"),
        (
            lambda: rnn.AttentionDecoder(9, 8, order="x"),
            "order must be one of 'none', 'bahdanau', 'luong': it is 'x'",
        ),
        (
            lambda: rnn.AttentionDecoder(9, 8, input_feeding=True),
            "input_feeding is for order='luong' alone: order is 'bahdanau'",
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
        *((partial(read, recurrent, **changed), *row) for changed, *row in READ),
        (
            lambda: rnn.RNNSeq2Seq(9, 9, 8, score=lambda q, k: q[..., :1])(
                IDS, IDS, source_lengths=LENGTHS
            ),
            "score(query, key) must return the shape (…, n_q, n_k)",
        ),
        (
            lambda: rnn.RNNSeq2Seq(9, 9, 8, order="none").weights(IDS, IDS, source_lengths=LENGTHS),
            "order='none' has no weights",
        ),
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
        (lambda: Seq2Seq(0, 9), f"vocabulary {WHOLE} 1: it is 0"),
        (lambda: Seq2Seq(9, -1), f"vocabulary {WHOLE} 1: it is -1"),
        (lambda: Seq2Seq(9, 9, d_model=10), "d_model must be a multiple of n_heads = 4: it is 10"),
        (
            lambda: Seq2Seq(9, 9, positions="x"),
            "positions must be one of 'sinusoidal', 'learned', 'rope', 'alibi', None: it is 'x'",
        ),
        (lambda: translator().start(IDS, LENGTHS - 2), "source_lengths must be from 1 to 3"),
        *((partial(read, translator, **changed), *row) for changed, *row in READ),
        (
            lambda: translator().weights(IDS, IDS, source_lengths=LENGTHS, layer=1),
            "layer must be from 0 to 0: 1 is among them",
        ),
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
        (lambda: LanguageModel(9, d_model=0), f"d_model {WHOLE} 1"),
        (
            lambda: LanguageModel(9, d_model=10, positions="rope"),
            "d_model must be a multiple of n_heads = 4: it is 10",
        ),
        (
            lambda: LanguageModel(9, d_model=12, positions="rope"),
            "d_model / n_heads must be even, for rope takes its numbers in pairs: it is 3",
        ),
        (lambda: language().start(IDS, LENGTHS + 1), "lengths must be from 0 to 3"),
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
        (
            lambda: language().rewind(language().start(IDS, LENGTHS), 4),
            "n must be at most 3, the tokens so far: it is 4",
        ),
        (lambda: language().rewind(language().start(IDS, LENGTHS), -1), f"n {WHOLE} 0: it is -1"),
        (
            lambda: language().start(IDS, LENGTHS, caches=[]),
            "caches must hold one KVCache for each of the 1 blocks: it holds 0",
        ),
        (
            lambda: language().start(IDS, LENGTHS, caches=language().start(IDS, LENGTHS).caches),
            "caches must be empty at the start: one holds 3 rows",
        ),
        (
            lambda: language().start(IDS, LENGTHS, caches=[RollingCache(4, sinks=1)]),
            "lengths must be one length for all: padding would take the sinks' place",
        ),
    ],
}
ROWS = rows(CALLS)
