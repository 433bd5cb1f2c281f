"""What cannot be computed is refused at the door: the argument, what was wanted, what came.

Each public call stands here once, with arguments that it takes; every kind of argument knows what
is wrong with it. A refusal must name an argument first, say what it must be, and show what came.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnbook
from attnbook import attention as att
from attnbook import decoding, embeddings, latent, layers, masks, rnn, scores, transformer
from attnbook import positions as pos
from attnbook.cache import KVCache
from attnbook.further import caches, linear, longer, sparse, speculation, tiles
from attnbook.multihead import Attend, MultiHeadAttention, repeat_heads
from attnbook.record import record_attention

NAN, INF = float("nan"), float("inf")
SIZE = {"…": 2, "b": 2, "h": 4, "n": 5, "n_q": 3, "n_k": 5, "n_s": 3, "d": 6, "d_v": 7, "v": 9}


class Bad(NamedTuple):
    """A value that must be refused, what of it the error shows, and whether it names this one."""

    value: Any
    came: str
    error: type[Exception] = ValueError
    named: bool = True


class Arg(NamedTuple):
    """A value that a call takes, and values that it does not."""

    good: Any
    bad: list[Bad]


# --- the kinds of arguments -----------------------------------------------------------------------


def zeros(form: str) -> Tensor:
    """Return a tensor of the sizes that a form such as "… n_q d" or "b n 8" names."""
    return torch.zeros([SIZE.get(axis) or int(axis) for axis in form.split()])


def floats(form: str, *, shared: str = "", alone: bool = False) -> Arg:
    """A tensor of floats; ``shared`` axes must agree with others, one that is ``alone`` has none.

    Where axes disagree, the error may name either of two tensors.
    """
    good, axes = zeros(form), form.split()
    bad = [
        Bad([[0.0]], "a list", TypeError),
        Bad(good.long(), "torch.int64"),
        Bad(torch.zeros(()), "()", named=False),
    ]
    if not alone:
        bad += [
            Bad(good.double(), "float64", named=False),
            Bad(good.to("meta"), "meta", named=False),
        ]
    for axis in shared.split():
        cut = good.narrow(axes.index(axis), 0, good.shape[axes.index(axis)] - 1)
        bad.append(Bad(cut, "shape is", named=False))
    return Arg(good, bad)


def boolean(form: str, *wrong: str) -> Arg:
    """A mask, and forms of masks that do not fit."""
    good = zeros(form).bool() | True
    # a layer adds the axis of the heads
    shapes = [Bad(zeros(one).bool(), f"its shape is ({len(zeros(one))}") for one in wrong]
    bad = [Bad(good.float(), "float32"), Bad(good.long(), "int64"), Bad([True], "list", TypeError)]
    return Arg(good, [*bad, *shapes])


def bias(form: str, *wrong: str) -> Arg:
    good = zeros(form)
    shapes = [Bad(zeros(one), f"its shape is ({len(zeros(one))}") for one in wrong]
    bad = [Bad(good.double(), "float64"), Bad(good.bool(), "bool"), Bad([0.0], "list", TypeError)]
    return Arg(good, [*bad, *shapes])


def size(good: int, least: int = 1, *more: Any) -> Arg:
    """A whole number."""
    return Arg(good, [Bad(one, f"it is {one!r}") for one in (least - 1, 2.5, True, "2", *more)])


def number(good: float, *wrong: Any) -> Arg:
    return Arg(good, [Bad(one, f"it is {one!r}") for one in (NAN, INF, "1", True, *wrong)])


def chance(good: float = 0.0) -> Arg:
    return number(good, 1.0, -0.1)


def one_of(good: object) -> Arg:
    return Arg(good, [Bad("nonsense", "it is 'nonsense'")])


def whole(good: Tensor, beyond: int | None, *wrong: Tensor) -> Arg:
    """Whole numbers (…) below ``beyond``, and such tensors of another shape."""
    bad = [
        Bad(good.tolist(), "a list", TypeError),
        Bad(good.float(), "float32"),
        Bad(good > 0, "bool"),
        *(Bad(one, "shape is") for one in wrong),
    ]
    if beyond is not None:
        bad += [Bad(good + beyond, str(int(good.flatten()[0]) + beyond)), Bad(good - beyond, "-")]
    return Arg(good, bad)


IDS, LENGTHS = torch.ones(2, 3, dtype=torch.long), torch.tensor([3, 2])
TOKENS = whole(IDS, 9, IDS[0], IDS[:, :0])
BATCH = whole(LENGTHS, 9)
ROWS = whole(torch.tensor([1, 0, 1]), 2, LENGTHS[None])
OFFSET = Arg(3, [Bad(-1, "-1"), Bad(0.5, "0.5"), *whole(LENGTHS, None, LENGTHS[:1])[1][1:]])


# --- every public call ----------------------------------------------------------------------------

X = floats("b n 8", shared="8")
HEADS = floats("b h n d", shared="b h n")
THREE = {
    "query": floats("… n_q d", shared="… d"),
    "key": floats("… n_k d", shared="… d"),
}
VALUE = {"value": floats("… n_k d_v", shared="… n_k")}
MASK = {"mask": boolean("n_q n_k", "n_k", "n_q n_q", "1 n_k", "1 1 n_q n_k", "5 n_q n_k")}
BIAS = {"bias": bias("n_q n_k", "n_k", "n_q n_q", "1 n_k", "1 1 n_q n_k", "5 n_q n_k")}
RULE = {
    **{name: floats("… n 6", shared="… n 6") for name in ("query", "key")},
    "value": floats("… n d_v", shared="… n"),
    "beta": floats("… n", shared="… n", alone=True),
    "gate": floats("… n", shared="… n", alone=True),
    "state": floats("… 6 d_v", shared="… 6 d_v", alone=True),
}
LAYER_MASK = boolean("5 5", "4 5", "3 5 5", "2 3 5 5")
HEAD_BIAS = bias("5 5", "4 5", "3 5 5", "2 3 5 5")
ROTARY = {"d": size(6, 2, 5), "base": number(100.0, 0, -1)}
BLOCK = {
    **{"d_model": size(8, 1, 7), "n_heads": size(2), "d_ff": size(4), "n_kv_heads": size(1)},
    **{name: one_of(good) for name, good in (("norm", "pre"), ("norm_kind", "rms"))},
    **{"activation": one_of("gelu"), "eps": number(1e-5, 0, -1), "dropout": chance()},
}
MODEL = {**BLOCK, "d_model": size(8), "n_layers": size(1), "positions": one_of("rope")}
del MODEL["dropout"]  # PyTorch's own layer is the first to refuse it
KV_HEADS = Arg(2, [*size(2).bad, Bad(3, "n_kv_heads = 3", named=False)])
READ = {"source": TOKENS, "target": TOKENS, "source_lengths": BATCH}
DECODE = {
    "source": whole(IDS, 9),
    "source_lengths": BATCH,
    "max_length": size(2),
    "bos": Arg(LENGTHS, [*whole(LENGTHS, None, LENGTHS[:1]).bad[1:], Bad(9, "9", named=False)]),
    "eos": size(2, 0, 9),
}


class Call(NamedTuple):
    """The public name that a row is of, how it is called, and its arguments."""

    of: str
    call: Callable[..., Any]
    arguments: dict[str, Arg]


def layer(**options: Any) -> MultiHeadAttention:
    return MultiHeadAttention(8, 4, **options).eval()


def filled(cache: KVCache | None = None) -> KVCache:
    cache = KVCache() if cache is None else cache
    cache.append(zeros("b h n d"), zeros("b h n d"))
    return cache


def model(**options: Any) -> transformer.LanguageModel:
    return transformer.LanguageModel(9, d_model=8, n_heads=2, n_layers=1, **options).eval()


def translator(kind: str = "transformer") -> transformer.Seq2Seq | rnn.RNNSeq2Seq:
    if kind == "rnn":
        return rnn.RNNSeq2Seq(9, 9, 8).eval()
    return transformer.Seq2Seq(9, 9, d_model=8, n_heads=2, n_layers=1).eval()


def begun(kind: str = "transformer") -> Any:
    return translator(kind).start(IDS, LENGTHS)


@torch.no_grad()
def append(cache: KVCache, **rows: Tensor) -> Any:
    return cache.append(**rows)


def reorder(cache: KVCache, rows: Tensor) -> Any:
    return filled(cache).reorder(rows)


def sunk(output: Tensor, logsumexp: Tensor, sink: Tensor) -> tiles.Tiled:
    return tiles.with_sink(tiles.Tiled(output, logsumexp), sink)


def joined(output: Tensor, logsumexp: Tensor) -> tiles.Tiled:
    other = tiles.Tiled(zeros("b h n d"), zeros("b h n"))
    return tiles.combine(other, tiles.Tiled(output, logsumexp))


def speculated(**options: Any) -> Any:
    return speculation.speculate(model(), draft=speculation.look_up, **options)


def drafted(tokens: Tensor, vocabulary: int) -> Any:
    return speculation.verdict(torch.full((3, vocabulary), 1 / vocabulary), tokens.tolist())


# every function of a query and a key in that module, a new one too
SCORES = {
    name: score
    for name, score in inspect.getmembers(scores, inspect.isfunction)
    if list(inspect.signature(score).parameters) == ["query", "key"]
}
KEYS = {"key": HEADS, "value": HEADS}
HALF = {"d_q": size(8), "d_k": size(8)}
ONE_SIZE = {"query": floats("… n_q 8", shared="8"), "key": floats("… n_k 8", shared="8")}
PREPARED = {"query": ONE_SIZE["query"]}
CALLS = (
    Call("masks.causal_mask", masks.causal_mask, {"n_q": size(3, 0), "n_k": size(3, 0)}),
    Call(
        "masks.window_mask",
        masks.window_mask,
        {**{n: size(3, 0, None) for n in ("n_q", "n_k")}, "window": size(3), "sinks": size(1, 0, 3)},
    ),
    Call(
        "masks.padding_mask",
        masks.padding_mask,
        {
            "lengths": Arg(
                [2, 1],
                [
                    Bad([2, -1], "-1"),
                    Bad([4], "4"),
                    Bad([1.0], "float32"),
                    Bad([True], "bool"),
                    Bad([[1]], "(1, 1)"),
                    Bad(2, "()"),
                    Bad(None, "None", TypeError),
                ],
            ),
            "n_k": size(3, 0, None),
        },
    ),
    Call("masks.as_torch_mha_mask", masks.as_torch_mha_mask, {"mask": boolean("n_q n_k")}),
    *(Call(f"scores.{name}", score, THREE) for name, score in SCORES.items()),
    Call("scores.Bilinear", scores.Bilinear, HALF),
    Call("scores.Bilinear", scores.Bilinear(8, 8), ONE_SIZE),
    Call("scores.Additive", scores.Additive, {**HALF, "d": size(4), "cap": size(9)}),
    Call("scores.Additive", scores.Additive(8, 8, 4), ONE_SIZE),
    Call("scores.project_key", partial(scores.project_key, scores.Bilinear(8, 8)), {"key": X}),
    Call(
        "scores.score_projected", partial(scores.score_projected, scores.dot, projected=zeros("… n_k 8")), PREPARED
    ),
    Call("scores.prepared", lambda query: scores.prepared(scores.dot, zeros("… n_k 8"))(query), PREPARED),
    Call("attention.attention", att.attention, {**THREE, **VALUE, **MASK, **BIAS}),
    Call("attention.fused_attention", att.fused_attention, {**THREE, **VALUE, **MASK, **BIAS}),
    Call(
        "attention.attention_weights",
        att.attention_weights,
        {
            **THREE,
            **MASK,
            **BIAS,
            "rows": Arg([0, -1], [Bad(one, "rows") for one in (3, [0, -4], 1.0, [True])]),
        },
    ),
    Call(
        "attention.attention_weights",
        partial(att.attention_weights, zeros("b h n d"), zeros("b h n d")),
        {"heads": Arg([0, -1], [Bad(one, "heads") for one in (4, [-5], 1.0, [True])])},
    ),
    Call("attention.masked_softmax", att.masked_softmax, {"scores": floats("b n_q n_k", alone=True), **MASK}),
    Call("positions.sinusoidal", pos.sinusoidal, {"n": size(3, 0), "d": size(6, 2, 5), "offset": Arg(3, OFFSET.bad[:-1])}),
    Call("positions.Sinusoidal", pos.Sinusoidal, {"d": size(6, 2, 5)}),
    Call("positions.Sinusoidal", pos.Sinusoidal(8), {"x": floats("b n 8", shared="8", alone=True), "offset": OFFSET}),
    Call("positions.LearnedPositions", pos.LearnedPositions, {"max_length": size(9), "d": size(6)}),
    Call(
        "positions.LearnedPositions",
        pos.LearnedPositions(9, 8),
        {"x": floats("b n 8", shared="8", alone=True), "offset": OFFSET._replace(bad=[*OFFSET.bad, Bad(5, "9", named=False)])},
    ),
    Call("positions.Rotary", pos.Rotary, {**ROTARY, "layout": one_of("halves")}),
    Call("positions.Rotary", pos.Rotary(8), {"x": floats("b 1 n 8", shared="8", alone=True), "offset": OFFSET}),
    Call("positions.rotary_speeds", pos.rotary_speeds, ROTARY),
    Call("positions.alibi_bias", pos.alibi_bias, {"n_heads": size(3), "n_q": size(3, 0), "n_k": size(3, 0)}),
    Call("cache.KVCache", KVCache, {"max_length": size(9), "capacity": size(2)}),
    *(
        Call(f"{of}.{name}", call, arguments)
        for of, name, new in (
            ("cache", "KVCache", KVCache),
            ("further.caches", "RollingCache", partial(caches.RollingCache, 9)),
            ("further.caches", "PagedCache", lambda: caches.PagedCache(caches.PagePool(9))),
        )
        for call, arguments in (
            (lambda new=new, **rows: append(new(), **rows), KEYS),
            (lambda new=new, **rows: append(filled(new()), **rows), KEYS),
            (lambda new=new, **rows: reorder(new(), **rows), {"rows": ROWS}),
            (lambda new=new, **rows: filled(new()).rewind(**rows), {"length": size(4, 0, 6)}),
        )
    ),
    Call("further.caches.RollingCache", caches.RollingCache, {"window": size(3), "sinks": size(1, 0, 3)}),
    Call("further.caches.PagePool", caches.PagePool, {"n_pages": size(3), "page": size(3)}),
    Call(
        "further.caches.PagedCache",
        caches.PagedCache,
        {"pool": Arg(caches.PagePool(1), [Bad(9, "int", TypeError)])},
    ),
    Call("multihead.MultiHeadAttention", MultiHeadAttention, {"d_model": size(8, 1, 7), "n_heads": size(4), "n_kv_heads": KV_HEADS, "dropout": chance(), "rope": Arg(pos.Rotary(2), [Bad(True, "bool", TypeError), Bad(pos.Rotary(4), "4")])}),
    *(
        Call("multihead.MultiHeadAttention", call, {"x": X, "memory": floats("b n_k 8", shared="8"), "mask": LAYER_MASK, "bias": HEAD_BIAS})
        for call in (layer(), layer().weights, layer(n_kv_heads=2))
    ),
    Call("multihead.MultiHeadAttention", layer().project, {"memory": X}),
    Call("multihead.Attend", Attend, {"dropout": chance()}),
    Call("multihead.repeat_heads", partial(repeat_heads, zeros("b h n d")), {"n_heads": Arg(8, [Bad(6, "6"), Bad(2, "2")])}),
    Call("latent.LatentAttention", latent.LatentAttention, {"d_model": size(8, 1, 7), "n_heads": size(2), "d_latent": size(3), "d_rope": size(2, 2), "base": number(9.0, 0)}),
    Call("latent.LatentAttention", partial(latent.LatentAttention, 8, 2, d_latent=3, d_rope=2), {"d": size(3), "d_v": size(3)}),
    Call("latent.LatentAttention", latent.LatentAttention(8, 2, d_latent=3, d_rope=2), {"x": X, "mask": LAYER_MASK}),
    Call("embeddings.Embeddings", embeddings.Embeddings, {"vocabulary": size(9), "d_model": size(8), "max_length": size(9), "n_types": size(1, 0), "positions": one_of(None)}),
    Call("embeddings.Embeddings", embeddings.Embeddings(9, 8, n_types=9), {"tokens": TOKENS, "types": whole(IDS, 9, IDS[:, :1]), "offset": OFFSET}),
    Call("layers.FeedForward", layers.FeedForward, {"d_model": size(8), "d_ff": size(8), "activation": one_of("relu")}),
    Call("layers.Config", layers.Config, {name: BLOCK[name] for name in ("d_model", "n_heads", "norm", "norm_kind", "eps") if name != "d_model"}),
    Call("layers.EncoderBlock", layers.EncoderBlock, BLOCK),
    Call("layers.EncoderBlock", layers.EncoderBlock(8, 2), {"x": X, "mask": LAYER_MASK, "bias": HEAD_BIAS}),
    Call("layers.DecoderBlock", layers.DecoderBlock, BLOCK),
    Call("layers.DecoderBlock", layers.DecoderBlock(8, 2), {"x": X, "memory": X, "memory_mask": LAYER_MASK}),
    *(Call(f"layers.{f.__name__}", f, {"n_layers": size(1), **BLOCK}) for f in (layers.Encoder, layers.Decoder)),
    Call("layers.Encoder", layers.Encoder(1, 8, 2), {"x": X, "mask": LAYER_MASK}),
    Call("layers.Decoder", layers.Decoder(1, 8, 2), {"x": X, "memory": X}),
    Call("rnn.Encoder", rnn.Encoder, {"vocabulary": size(9), "d_model": size(8, 2, 7)}),
    Call("rnn.Encoder", rnn.Encoder(9, 8), {"source": TOKENS, "lengths": BATCH}),
    Call("rnn.AttentionDecoder", rnn.AttentionDecoder, {"vocabulary": size(9), "d_model": size(8), "order": one_of("luong")}),
    Call("rnn.RNNSeq2Seq", rnn.RNNSeq2Seq, {"source_vocabulary": size(9), "target_vocabulary": size(9), "d_model": size(8, 2, 7)}),
    Call("transformer.ModelConfig", transformer.ModelConfig, {"positions": one_of("rope")}),
    Call("transformer.LanguageModel", transformer.LanguageModel, {"vocabulary": size(9), **MODEL}),
    Call("transformer.LanguageModel", model(), {"tokens": TOKENS}),
    Call("transformer.LanguageModel", lambda tokens: model().extend(tokens, model().start(IDS, LENGTHS)), {"tokens": TOKENS}),
    Call("transformer.LanguageModel", lambda **a: model().start(**a), {"prompt": whole(IDS, 9, IDS[0]), "lengths": BATCH}),
    Call("transformer.LanguageModel", lambda tokens: model().step(tokens, model().start(IDS, LENGTHS)), {"tokens": whole(LENGTHS, 9)}),
    Call("transformer.LanguageModel", lambda n: model().rewind(model().start(IDS, LENGTHS), n), {"n": size(1, 0, 4)}),
    Call("transformer.Seq2Seq", transformer.Seq2Seq, {"source_vocabulary": size(9), "target_vocabulary": size(9), **MODEL}),
    *(Call(of, call, READ) for of, kind in (("transformer.Seq2Seq", "transformer"), ("rnn.RNNSeq2Seq", "rnn")) for call in (translator(kind), translator(kind).weights)),
    *(
        Call(of, call, arguments)
        for of, kind in (("transformer.Seq2Seq", "transformer"), ("rnn.RNNSeq2Seq", "rnn"))
        for call, arguments in (
            (lambda kind=kind, **a: translator(kind).start(**a), {"source": TOKENS, "source_lengths": BATCH}),
            (lambda tokens, kind=kind: translator(kind).step(tokens, begun(kind)), {"tokens": whole(LENGTHS, 9)}),
            (lambda rows, kind=kind: translator(kind).reorder(begun(kind), rows), {"rows": ROWS}),
        )
    ),
    Call("decoding.greedy", partial(decoding.greedy, translator()), DECODE),
    Call("decoding.sample", partial(decoding.sample, translator()), {**DECODE, "temperature": number(1.0, 0, -1), "top_k": size(2), "top_p": number(0.5, 0, 1.5)}),
    Call("decoding.beam_search", partial(decoding.beam_search, translator()), {**DECODE, "beam": size(2), "length_penalty": number(0.5, -1)}),
    Call("further.tiles.tiled_attention", tiles.tiled_attention, {**THREE, **VALUE, **MASK, "tile": size(2)}),
    Call("further.tiles.combine", joined, {"output": floats("b h n d", shared="b h n d"), "logsumexp": floats("b h n", shared="b h n")}),
    Call("further.tiles.with_sink", sunk, {"output": floats("b h n d", shared="b h n", alone=True), "logsumexp": floats("b h n", shared="b h n", alone=True), "sink": floats("h", shared="h", alone=True)}),
    Call("further.sparse.local_attention", sparse.local_attention, {**THREE, **VALUE, "window": size(2)}),
    Call("further.sparse.index_scores", sparse.index_scores, {"query": floats("b h n_q d", shared="b h d"), "key": floats("b n_k d", shared="b d"), "weight": floats("b h n_q", shared="b h n_q")}),
    Call("further.sparse.top_keys", sparse.top_keys, {"scores": floats("b n_q n_k", alone=True), "k": size(2, 1, 6), **MASK}),
    Call("further.linear.feature_map", linear.feature_map, {"x": Arg(zeros("n"), [Bad([0.0], "list", TypeError), Bad(IDS, "int64")])}),
    Call("further.linear.linear_attention", linear.linear_attention, {**THREE, **VALUE}),
    Call("further.linear.delta_steps", linear.delta_steps, RULE),
    Call("further.linear.delta_rule", linear.delta_rule, {**RULE, "chunk": size(2)}),
    Call("further.longer.Scaling", longer.Scaling, {"kind": one_of("yarn"), "factor": number(2.0, 0.5), "trained": size(9, 1, None)}),
    Call("further.speculation.look_up", partial(speculation.look_up, [1, 2, 1]), {"n": size(2, 0), "longest": size(2)}),
    Call("further.speculation.speculate", speculated, {"prompt": whole(LENGTHS, None, IDS, IDS[0, :0]), "guesses": size(2), "max_length": size(2), "eos": size(2, 0, 9), "temperature": number(1.0, -1)}),
    Call("further.speculation.verdict", drafted, {"tokens": Arg(LENGTHS, [Bad(LENGTHS + 9, "12", named=False), Bad(-LENGTHS, "-3", named=False)]), "vocabulary": Arg(9, [])}),
)  # fmt: skip


def cases(calls: Iterable[Call]) -> list:
    """Return every call with every argument of it that is wrong."""
    return [
        pytest.param(one, name, bad, id=f"{one.of} {name} {i}")
        for one in calls
        for name, argument in one.arguments.items()
        for i, bad in enumerate(argument.bad)
    ]


def taken(one: Call, **changed: Any) -> Any:
    """Call it with all that fits, but for what is ``changed``."""
    return one.call(**{name: arg.good for name, arg in one.arguments.items()} | changed)


def refused(one: Call, name: str, bad: Bad) -> str:
    """Return the message with which it refuses one wrong argument."""
    with pytest.raises(bad.error) as caught:
        taken(one, **{name: bad.value})
    message = str(caught.value)
    assert type(caught.value) is bad.error  # a subclass came from somewhere else
    assert bad.came in message, message
    return message


@pytest.mark.parametrize("one", CALLS, ids=lambda one: one.of)
def test_what_fits_is_taken(one: Call) -> None:
    taken(one)


@pytest.mark.parametrize(("one", "name", "bad"), cases(CALLS))
def test_what_does_not_is_refused_by_name(one: Call, name: str, bad: Bad) -> None:
    message = refused(one, name, bad)
    known = rf"[\w.,' ()]*({name}|{name.split('_')[-1]}) must" if bad.named else ""
    assert re.match(known, message), message
    assert re.search(r" must .+", message), message


# --- rules of their own ---------------------------------------------------------------------------


def of_score(came: Any) -> Callable[[], Any]:
    """Attention with a score of one's own, which returns something else."""
    score = came if isinstance(came, str) else lambda query, key: came
    return lambda: att.attention(zeros("b 5 8"), zeros("b 5 8"), zeros("b 5 8"), score=score)


def of_torch(**options: Any) -> Callable[[], Any]:
    return lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **options))


class Broken:
    """A model whose logits are not what a decoder needs."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def start(self, source: Tensor, source_lengths: Tensor) -> None: ...

    def step(self, tokens: Tensor, state: None) -> tuple[Tensor, None]:
        return self.logits, None

    def reorder(self, state: None, rows: Tensor) -> None: ...


def written(logits: Tensor, search: Callable[..., Any] = decoding.greedy) -> Callable[[], Any]:
    return lambda: search(Broken(logits), IDS, LENGTHS, max_length=2)


def guessed(q: Any, tokens: tuple[int, ...] = (1,)) -> Callable[[], Any]:
    def draft(*_: Any) -> speculation.Draft:
        return speculation.Draft(list(tokens), q)

    return lambda: speculation.speculate(model(), LENGTHS, draft, max_length=3, guesses=1)


def turned_memory() -> Tensor:
    return layer(rope=pos.Rotary(2))(zeros("b 5 8"), zeros("b 5 8"))


def with_gradient() -> Any:
    return KVCache().append(zeros("b h n d").requires_grad_(), zeros("b h n d"))


def begins(*given: KVCache) -> Callable[[], Any]:
    return lambda: model().start(IDS, LENGTHS, caches=list(given))


Q = torch.full((1, 9), 1 / 9)
OTHERS: tuple[tuple[str, Callable[[], Any]], ...] = (
    (r"^rows must fit max_length = 2: 0 are in it, and 5 ", lambda: filled(KVCache(2))),
    (r"^key must need no gradient, for a cache keeps none: compute under no_grad", with_gradient),
    (r"^key must have the shape \(2, 4, n, 6\): its shape is \(1, ", lambda: filled().append(zeros("1 h n d"), zeros("1 h n d"))),
    (r"^key must be torch.float32 .*float64", lambda: filled().append(zeros("b h n d").double(), zeros("b h n d").double())),
    (r"^value must have the shape \(2, 4, n, 6\): its shape is .*7\)", lambda: filled().append(zeros("b h n d"), zeros("b h n d_v"))),
    (r"^value must need no gradient", lambda: KVCache().append(zeros("b h n d"), zeros("b h n d").requires_grad_())),
    (r"^length must be 5: it is 4, and .* left the window", lambda: filled(caches.RollingCache(4, sinks=1)).rewind(4)),
    (r"^mask must be boolean", lambda: layer()(zeros("b 5 8"), mask=zeros("5 5"), cache=caches.RollingCache(4))),
    (r"^length must be 5: it is 4, and .* left the window", lambda: filled(caches.RollingCache(2)).rewind(4)),
    (r"^the pool has no free page: all 1 are in use", lambda: filled(caches.PagedCache(caches.PagePool(1, page=2)))),
    (r"^memory must be None where there is a cache or rope", turned_memory),
    (r"^memory must have the shape \(2, 4, n_k, 2\): its shape is \(1, 4, 5, 2\)", lambda: layer()(zeros("b 5 8"), layer().project(zeros("1 5 8")))),
    (r"^memory must be a torch.Tensor, or Projected: it is None", lambda: layers.DecoderBlock(8, 2)(zeros("b 5 8"), None)),
    (r"^memory must .*each of the 2 blocks: it holds 1", lambda: layers.Decoder(2, 8, 2)(zeros("b 5 8"), [zeros("b 5 8")])),
    (r"^caches must .*each of the 2 blocks: it holds 1", lambda: layers.Encoder(2, 8, 2)(zeros("b 5 8"), caches=[KVCache()])),
    (r"^caches must .*each of the 1 blocks: it holds 0", begins()),
    (r"^caches must be empty at the start: one holds rows", begins(filled())),
    (r"^lengths must be one length for all: .* sinks' place", begins(caches.RollingCache(4, sinks=1))),
    (r"^other must be a torch.nn.MultiheadAttention: it is a Linear", lambda: MultiHeadAttention.from_torch(nn.Linear(8, 8))),
    *(
        (r"^other must have no kdim, vdim, add_bias_kv or add_zero_attn", of_torch(**option))
        for option in ({"kdim": 4}, {"vdim": 4}, {"add_bias_kv": True}, {"add_zero_attn": True})
    ),
    (r"^score must be a function of query and key: it is a str", of_score("dot")),
    (r"^score\(query, key\) must have the shape .*\(2, 5, 3\)", of_score(zeros("b 5 3"))),
    (r"^score\(query, key\) must hold floating-point numbers", of_score(torch.ones(2, 5, 5, dtype=torch.int))),
    (r"^query must have the shape \(…, h, n_q, d\)", lambda: att.attention_weights(zeros("5 8"), zeros("5 8"), heads=0)),
    (r"^types must be None, for there are n_types = 0", lambda: embeddings.Embeddings(9, 8)(IDS, IDS)),
    (r"^d must be even", lambda: embeddings.Embeddings(9, 7)),
    (r"^x must have the shape \(…, 8\)", lambda: layers.FeedForward(8, 8)(zeros("b 5 7"))),
    (r"^input_feeding must be False, for it is for order='luong' alone", lambda: rnn.AttentionDecoder(9, 8, input_feeding=True)),
    (r"^order='none' has no weights", lambda: rnn.RNNSeq2Seq(9, 9, 8, order="none").weights(IDS, IDS, source_lengths=LENGTHS)),
    (r"^layer must be whole numbers from 0 to 0: it is \[1\]", lambda: translator().weights(IDS, IDS, source_lengths=LENGTHS, layer=1)),
    (r"^target must have the shape \(2, n_t\)", lambda: translator()(IDS, IDS[:1], source_lengths=LENGTHS)),
    (r"^model must hold a MultiHeadAttention: Linear has none", lambda: record_attention(nn.Linear(2, 2)).__enter__()),
    (r"^step's logits must have the shape \(2, vocabulary\)", written(zeros("1 9"))),
    (r"^step's logits must be numbers", written(torch.full((2, 9), NAN))),
    (r"^step's logits must be numbers", written(torch.full((4, 9), NAN), partial(decoding.beam_search, beam=2))),
    (r"^step's logits must be numbers", written(torch.full((2, 9), INF))),
    (r"^length_penalty must", lambda: decoding.beam_search(translator(), IDS, LENGTHS, max_length=2, beam=2, length_penalty=700)),
    (r"^generator must be one for each of 2 sentences", lambda: decoding.sample(translator(), IDS, LENGTHS, max_length=2, generator=[torch.Generator()])),
    (r"^generator must be a torch.Generator, or one for each", lambda: decoding.sample(translator(), IDS, LENGTHS, max_length=2, generator=3)),
    (r"^one must be a Tiled: it is a Tensor", lambda: tiles.combine(zeros("b 5 8"), zeros("b 5 8"))),
    (r"^scores must be numbers: NaN", lambda: sparse.top_keys(zeros("b 5 5") * NAN, 2)),
    (r"^base must be above 1 where speeds are scaled", lambda: pos.Rotary(4, 1.0, scaling=longer.Scaling("ntk", 2.0))),
    (r"^d must be at least 4 for", lambda: pos.Rotary(2, scaling=longer.Scaling("ntk", 2.0))),
    (r"^trained must be a whole number of at least 1: it is None", lambda: longer.Scaling("llama3", 2.0)),
    (r"^dtype must be one of floating-point numbers", lambda: pos.sinusoidal(3, 4, dtype=torch.int64)),
    (r"^model must have extend and rewind", lambda: speculation.speculate(Broken(Q), LENGTHS, speculation.look_up, max_length=2)),
    (r"^model must have extend and rewind", lambda: speculation.speculate("x", LENGTHS, speculation.look_up, max_length=2)),
    (r"^generator must be a torch.Generator or None: it is a int", lambda: speculation.speculate(model(), LENGTHS, speculation.look_up, max_length=2, generator=0)),
    (r"^draft must be a function of a text.*: it is a NoneType", lambda: speculation.speculate(model(), LENGTHS, None, max_length=2)),
    (r"^p must be a torch.Tensor: it is a NoneType", lambda: speculation.verdict(None, [1])),
    (r"^the draft's q must be a torch.Tensor: it is a str", lambda: speculation.verdict(torch.cat([Q, Q]), [1], "x")),
    (r"^the draft's q must hold rows of probabilities", lambda: speculation.verdict(torch.cat([Q, Q]), [1], 12 * Q)),
    (r"^attended must be a Tiled: it is a NoneType", lambda: tiles.with_sink(None, zeros("h"))),
    (r"^one.output must be a torch.Tensor: it is a NoneType", lambda: tiles.combine(tiles.Tiled(None, None), tiles.Tiled(None, None))),
    (r"^p must hold rows of probabilities", lambda: speculation.verdict(torch.cat([Q, 2 * Q]), [1])),
    (r"^draft must be a function of a text", lambda: speculation.speculate(model(), LENGTHS, "look up", max_length=2)),
    (r"^draft must guess at most 1 tokens: it guessed 2", guessed(None, (1, 2))),
    (r"^draft must guess tokens from 0 to 8", guessed(None, (9,))),
    (r"^draft must guess what its own q can give", guessed(torch.eye(9)[:1])),
    (r"^the draft's q must have the shape \(1, 9\)", guessed(Q[:, :8])),
    (r"^the draft's q must hold rows of probabilities", guessed(2 * Q)),
)  # fmt: skip


@pytest.mark.parametrize(("words", "call"), OTHERS)
def test_a_rule_of_its_own_is_told(words: str, call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_numpys_whole_numbers_are_whole_numbers() -> None:
    assert pos.sinusoidal(np.int64(3), np.int32(4), offset=np.int64(1)).shape == (3, 4)


# --- nothing is left out --------------------------------------------------------------------------

INSIDE = """
attention: allowed check_energies fused part_of with_causal without_unused_keys
cache: check_rows empty
decoding: begin best check_numbers extend pick put_aside settled Ended Living
multihead: of_all_heads
"""  # for who has checked the arguments
RESULTS = """
attention: Attended
decoding: Hypothesis Stepper
further.linear: Remembered
further.speculation: Draft Rewindable Speculated
further.tiles: Tiled
multihead: Projected
positions: Slowing
record: Recorded Seen record_attention
rnn: DecoderState Encoded Memory
transformer: LanguageModelState Seq2SeqState
"""  # what a call returned, and protocols; record_attention has a rule of its own


def public() -> set[str]:
    """Return every public function and class of the package that takes arguments to be wrong."""
    found = set()
    for module in pkgutil.walk_packages(attnbook.__path__, "attnbook."):
        if "._" in module.name or module.ispkg:
            continue
        loaded = importlib.import_module(module.name)
        for name, it in vars(loaded).items():
            own = getattr(it, "__module__", None) == module.name and not name.startswith("_")
            if own and (inspect.isfunction(it) or inspect.isclass(it)):
                found.add(f"{module.name.removeprefix('attnbook.')}.{name}")
    return found


def listed(text: str) -> set[str]:
    rows = (row.split(": ") for row in text.strip().splitlines())
    return {f"{module}.{name}" for module, names in rows for name in names.split()}


def test_every_public_name_has_its_rows_or_a_reason() -> None:
    called, others = {one.of for one in CALLS}, listed(INSIDE) | listed(RESULTS)
    assert public() == called | others
    assert not called & others
