"""What cannot be computed is refused at the door: the argument, what was wanted, what came.

Each public call stands here once, with arguments that it takes; every kind of argument knows what
is wrong with it. A refusal must name an argument first, say what it must be, and show what came.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
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
from attnbook.multihead import MultiHeadAttention
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
        Bad(good.long(), "torch.int64", named=False),
        Bad(torch.zeros(()), "()", named=False),
    ]
    if not alone:
        bad.append(Bad(good.double(), "float64", named=False))
    for axis in shared.split():
        cut = good.narrow(axes.index(axis), 0, good.shape[axes.index(axis)] - 1)
        bad.append(Bad(cut, "shape is", named=False))
    return Arg(good, bad)


def sized(form: str, shared: str) -> Arg:
    """A tensor whose shape alone is compared."""
    return Arg(zeros(form), floats(form, shared=shared, alone=True).bad[2:])


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


def number(good: float | None, *wrong: Any) -> Arg:
    return Arg(good, [Bad(one, f"it is {one!r}") for one in wrong])


def one_of(good: object) -> Arg:
    return Arg(good, [Bad("nonsense", "it is 'nonsense'")])


def whole(good: Tensor, beyond: int | None, *wrong: Tensor) -> Arg:
    """Whole numbers (…) below ``beyond``, and such tensors of another shape."""
    bad = [Bad(one, "shape is") for one in wrong]
    if beyond is not None:
        bad += [Bad(good + beyond, str(int(good.flatten()[0]) + beyond)), Bad(good - beyond, "-")]
    return Arg(good, bad)


IDS, LENGTHS = torch.ones(2, 3, dtype=torch.long), torch.tensor([3, 2])
TOKENS = whole(IDS, 9, IDS[0])
INSIDE_TOKENS = whole(IDS, 9)
BATCH = whole(LENGTHS, 9, LENGTHS[:1], LENGTHS[None])
OFFSET = Arg(3, [Bad(LENGTHS[:1], "shape is", named=False), Bad(LENGTHS[:, None], "shape is")])


X = floats("b n 8", shared="8")
HEADS = floats("b h n d", shared="b h n")
THREE = {"query": floats("… n_q d", shared="… d"), "key": floats("… n_k d", shared="… d")}
VALUE = {"value": floats("… n_k d_v", shared="… n_k")}
MASK = {"mask": boolean("n_q n_k", "n_k", "n_q n_q", "1 n_k", "1 1 n_q n_k", "5 n_q n_k")}
BIAS = {"bias": bias("n_q n_k", "n_k", "n_q n_q", "1 n_k", "1 1 n_q n_k", "5 n_q n_k")}
RULE = {
    **{name: floats("… n 6", shared="… n 6") for name in ("query", "key")},
    "value": floats("… n d_v", shared="… n"),
    "beta": sized("… n", "… n"),
    "gate": sized("… n", "… n"),
    "state": sized("… 6 d_v", "… 6 d_v"),
}
LAYER_MASK = boolean("5 5", "4 5", "3 5 5", "2 3 5 5")
HEAD_BIAS = bias("5 5", "4 5", "3 5 5", "2 3 5 5")
EVEN = number(6, 5)
BLOCK = {
    "d_model": number(8, 7),
    **{name: one_of(good) for name, good in (("norm", "pre"), ("norm_kind", "rms"))},
    "activation": one_of("gelu"),
}
MODEL = {**BLOCK, "positions": one_of("rope")}
MODEL["d_model"] = Arg(8, [Bad(7, "3", named=False)])  # of a head, which is turned
# the embeddings call all of them tokens
SENTENCES = Arg(IDS, [TOKENS.bad[0], *(one._replace(named=False) for one in TOKENS.bad[1:])])
READ = {"source": SENTENCES, "target": SENTENCES, "source_lengths": BATCH}
DECODE = {
    "max_length": number(2, 0),
    "bos": Arg(LENGTHS, [Bad(LENGTHS[:1], "(1,)"), Bad(9, "9", named=False)]),
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
    return transformer.LanguageModel(
        9, transformer.ModelConfig(d_model=8, n_heads=2, n_layers=1, **options)
    ).eval()


def translator(kind: str = "transformer") -> transformer.Seq2Seq | rnn.RNNSeq2Seq:
    if kind == "rnn":
        return rnn.RNNSeq2Seq(9, 9, 8).eval()
    return transformer.Seq2Seq(
        9, 9, transformer.ModelConfig(d_model=8, n_heads=2, n_layers=1)
    ).eval()


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
ONE_SIZE = {"query": floats("… n_q 8", shared="8"), "key": floats("… n_k 8", shared="8")}
PREPARED = {"query": ONE_SIZE["query"]}
WINDOW = {"window": Arg(3, [Bad(0, "window = 0", named=False)]), "sinks": number(1, -1, 3)}
BOTH = (("transformer.Seq2Seq", "transformer"), ("rnn.RNNSeq2Seq", "rnn"))
CALLS = (
    Call("masks.window_mask", partial(masks.window_mask, 3, 3), {**WINDOW}),
    Call("masks.padding_mask", partial(masks.padding_mask, n_k=3), {"lengths": Arg([2, 1], [Bad([2, -1], "-1"), Bad([4], "4"), Bad([[1]], "(1, 1)"), Bad(2, "()")])}),
    Call("masks.as_torch_mha_mask", masks.as_torch_mha_mask, {"mask": boolean("n_q n_k")}),
    *(Call(f"scores.{name}", score, THREE) for name, score in SCORES.items()),
    Call("scores.Bilinear", scores.Bilinear(8, 8), ONE_SIZE),
    Call("scores.Additive", scores.Additive(8, 8, 4), ONE_SIZE),
    Call("scores.project_key", partial(scores.project_key, scores.Bilinear(8, 8)), {"key": X}),
    Call("scores.score_projected", partial(scores.score_projected, scores.dot, projected=zeros("… n_k 8")), PREPARED),
    Call("scores.prepared", lambda query: scores.prepared(scores.dot, zeros("… n_k 8"))(query), PREPARED),
    Call("attention.attention", att.attention, {**THREE, **VALUE, **MASK, **BIAS}),
    Call("attention.fused_attention", att.fused_attention, {**THREE, **VALUE, **MASK, **BIAS}),
    Call("attention.attention_weights", att.attention_weights, {**THREE, **MASK, **BIAS}),
    Call("attention.masked_softmax", att.masked_softmax, {"scores": floats("b n_q n_k", alone=True), **MASK}),
    Call("positions.sinusoidal", partial(pos.sinusoidal, 3), {"d": EVEN, "offset": Arg(3, OFFSET.bad[1:])}),
    Call("positions.Sinusoidal", pos.Sinusoidal, {"d": EVEN}),
    Call("positions.Sinusoidal", pos.Sinusoidal(8), {"x": floats("b n 8", shared="8", alone=True), "offset": OFFSET}),
    Call(
        "positions.LearnedPositions",
        pos.LearnedPositions(9, 8),
        {"x": floats("b n 8", shared="8", alone=True), "offset": OFFSET._replace(bad=[*OFFSET.bad, *(Bad(n, str(n), named=False) for n in (9, -1))])},
    ),
    Call("positions.Rotary", pos.Rotary, {"d": EVEN, "layout": one_of("halves")}),
    Call("positions.Rotary", pos.Rotary(8), {"x": floats("b 1 n 8", shared="8", alone=True), "offset": OFFSET}),
    Call("positions.rotary_speeds", pos.rotary_speeds, {"d": EVEN}),
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
            (lambda new=new, **rows: filled(new()).rewind(**rows), {"length": number(4, -1, 6)}),
        )
    ),
    Call("further.caches.RollingCache", caches.RollingCache, {**WINDOW}),
    Call("multihead.MultiHeadAttention", MultiHeadAttention, {"d_model": number(8, 7), "n_heads": Arg(4, []), "n_kv_heads": Arg(2, [Bad(3, "n_kv_heads = 3", named=False)])}),
    *(
        Call("multihead.MultiHeadAttention", call, {"x": X, "memory": floats("b n_k 8", shared="8"), "mask": LAYER_MASK, "bias": HEAD_BIAS})
        for call in (layer(), layer().weights, layer(n_kv_heads=2))
    ),
    Call("multihead.MultiHeadAttention", layer().project, {"memory": X}),
    Call("latent.LatentAttention", partial(latent.LatentAttention, n_heads=2, d_latent=3), {"d_model": number(8, 7), "d_rope": Arg(2, [Bad(3, "3", named=False)])}),
    Call("latent.LatentAttention", latent.LatentAttention(8, 2, d_latent=3, d_rope=2), {"x": X, "mask": LAYER_MASK}),
    Call("embeddings.Embeddings", embeddings.Embeddings(9, 8, n_types=9), {"tokens": INSIDE_TOKENS, "types": whole(IDS, 9, IDS[:, :1]), "offset": OFFSET}),
    Call("layers.FeedForward", partial(layers.FeedForward, 8, 8), {"activation": one_of("relu")}),
    Call("layers.Config", layers.Config, {name: BLOCK[name] for name in ("norm", "norm_kind")}),
    *(Call(f"layers.{f.__name__}", lambda f=f, **a: f(layers.Config(n_heads=2, **a)), BLOCK) for f in (layers.EncoderBlock, layers.DecoderBlock)),
    *(Call(f"layers.{f.__name__}", lambda f=f, **a: f(1, layers.Config(n_heads=2, **a)), BLOCK) for f in (layers.Encoder, layers.Decoder)),
    Call("layers.EncoderBlock", layers.EncoderBlock(layers.Config(8, 2)), {"mask": LAYER_MASK, "bias": HEAD_BIAS, "x": Arg(zeros("b n 8"), [Bad(zeros("n 8"), "(5, 8)")])}),
    Call("layers.DecoderBlock", layers.DecoderBlock(layers.Config(8, 2)), {"x": Arg(zeros("b n 8"), []), "memory": X, "memory_mask": LAYER_MASK}),
    Call("layers.Encoder", layers.Encoder(1, layers.Config(8, 2)), {"x": Arg(zeros("b n 8"), []), "mask": LAYER_MASK}),
    Call("layers.Decoder", layers.Decoder(1, layers.Config(8, 2)), {"x": Arg(zeros("b n 8"), []), "memory": Arg(zeros("b n 8"), X.bad[1:])}),
    Call("rnn.RNNEncoder", rnn.RNNEncoder, {"vocabulary": Arg(9, []), "d_model": number(8, 7)}),
    Call("rnn.RNNEncoder", rnn.RNNEncoder(9, 8), {"source": TOKENS, "lengths": BATCH}),
    Call("rnn.AttentionDecoder", partial(rnn.AttentionDecoder, 9, 8), {"order": one_of("luong")}),
    Call("transformer.ModelConfig", transformer.ModelConfig, {"positions": one_of("rope")}),
    Call("transformer.LanguageModel", lambda **a: transformer.LanguageModel(9, transformer.ModelConfig(n_heads=2, **a)), MODEL),
    Call("transformer.LanguageModel", model(), {"tokens": TOKENS}),
    Call("transformer.LanguageModel", lambda tokens: model().extend(tokens, model().start(IDS, LENGTHS)), {"tokens": INSIDE_TOKENS}),
    Call("transformer.LanguageModel", lambda **a: model().start(**a), {"prompt": SENTENCES, "lengths": BATCH}),
    Call("transformer.LanguageModel", lambda tokens: model().step(tokens, model().start(IDS, LENGTHS)), {"tokens": whole(LENGTHS, 9)}),
    Call("transformer.LanguageModel", lambda n: model().rewind(model().start(IDS, LENGTHS), n), {"n": Arg(1, [Bad(-1, "4", named=False), Bad(4, "-1", named=False)])}),
    Call("transformer.Seq2Seq", lambda **a: transformer.Seq2Seq(9, 9, transformer.ModelConfig(n_heads=2, **a)), MODEL),
    *(Call(of, call, READ) for of, kind in BOTH for call in (translator(kind), translator(kind).weights)),
    *(
        Call(of, call, arguments)
        for of, kind in BOTH
        for call, arguments in (
            (lambda kind=kind, **a: translator(kind).start(**a), {"source": SENTENCES, "source_lengths": BATCH}),
            (lambda tokens, kind=kind: translator(kind).step(tokens, begun(kind)), {"tokens": whole(LENGTHS, 9)}),
        )
    ),
    Call("decoding.greedy", partial(decoding.greedy, translator(), IDS, LENGTHS), DECODE),
    Call("decoding.sample", partial(decoding.sample, translator(), IDS, LENGTHS), {**DECODE, "temperature": number(1.0, 0, -1, NAN), "top_k": number(2, 0), "top_p": number(0.5, 0, 1.5, NAN)}),
    Call("decoding.beam_search", partial(decoding.beam_search, translator(), IDS, LENGTHS), {**DECODE, "beam": number(2, 0), "length_penalty": number(0.5, -1, NAN)}),
    Call("further.tiles.tiled_attention", tiles.tiled_attention, {**THREE, **VALUE, **MASK}),
    Call("further.tiles.combine", joined, {"output": Arg(zeros("b h n d"), floats("b h n d", shared="b h n d").bad[1:]), "logsumexp": sized("b h n", "b h n")}),
    Call("further.tiles.with_sink", sunk, {"output": sized("b h n d", "b h n"), "logsumexp": sized("b h n", "b h n"), "sink": sized("h", "h")}),
    Call("further.sparse.local_attention", sparse.local_attention, {**THREE, **VALUE, "window": Arg(2, [Bad(0, "window = 0", named=False)])}),
    Call("further.sparse.index_scores", sparse.index_scores, {"query": floats("b h n_q d", shared="b h d"), "key": floats("b n_k d", shared="b d"), "weight": floats("b h n_q", shared="b h n_q")}),
    Call("further.sparse.top_keys", sparse.top_keys, {"scores": floats("b n_q n_k", alone=True), "k": number(2, 0, 6), **MASK}),
    Call("further.linear.linear_attention", linear.linear_attention, {**THREE, **VALUE}),
    Call("further.linear.delta_steps", linear.delta_steps, RULE),
    Call("further.linear.delta_rule", linear.delta_rule, RULE),
    Call("further.longer.Scaling", longer.Scaling, {"kind": one_of("yarn"), "factor": number(2.0, 0.5, NAN), "trained": number(9, 0, None)}),
    Call("further.speculation.speculate", partial(speculated, max_length=2), {"prompt": whole(LENGTHS, None, IDS, IDS[0, :0]), "temperature": number(1.0, -1, NAN)}),
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


def begins(*given: KVCache) -> Callable[[], Any]:
    return lambda: model().start(IDS, LENGTHS, caches=list(given))


Q = torch.full((1, 9), 1 / 9)
OTHERS: tuple[tuple[str, Callable[[], Any]], ...] = (
    (r"^rows must fit max_length = 2: it is 5", lambda: filled(KVCache(2))),
    (r"^key and value must need no gradient: compute under no_grad", lambda: KVCache().append(zeros("b h n d").requires_grad_(), zeros("b h n d"))),
    (r"^key must have the shape \(b = 2, h = 4, n, d = 6\): its shape is \(1, ", lambda: filled().append(zeros("1 h n d"), zeros("1 h n d"))),
    (r"^key must be torch.float32: it is torch.float64", lambda: filled().append(zeros("b h n d").double(), zeros("b h n d").double())),
    (r"^value must have the shape \(b = 2, h = 4, n = 5, d_v = 6\): its shape is .*7\)", lambda: filled().append(zeros("b h n d"), zeros("b h n d_v"))),
    (r"^key and value must need no gradient", lambda: KVCache().append(zeros("b h n d"), zeros("b h n d").requires_grad_())),
    (r"^length must be 5, .* left the window: it is 4", lambda: filled(caches.RollingCache(4, sinks=1)).rewind(4)),
    (r"^mask must be boolean", lambda: layer()(zeros("b 5 8"), mask=zeros("5 5"), cache=caches.RollingCache(4))),
    (r"^length must be 5, .* left the window: it is 4", lambda: filled(caches.RollingCache(2)).rewind(4)),
    (r"^the pool has no free page: all 1 are in use", lambda: filled(caches.PagedCache(caches.PagePool(1, page=2)))),
    (r"^memory must be None with a cache or rope: it is given", lambda: layer(rope=pos.Rotary(2))(zeros("b 5 8"), zeros("b 5 8"))),
    (r"^memory must have the shape \(b = 2, 4, n_k, 2\): its shape is \(1, 4, 5, 2\)", lambda: layer()(zeros("b 5 8"), layer().project(zeros("1 5 8")))),
    (r"^memory must be a torch.Tensor: it is a NoneType", lambda: layers.DecoderBlock(layers.Config(8, 2))(zeros("b 5 8"), None)),
    (r"^memory must .*each for 2 blocks: it holds 1", lambda: layers.Decoder(2, layers.Config(8, 2))(zeros("b 5 8"), [zeros("b 5 8")])),
    (r"^caches must .*each for 2 blocks: it holds 1", lambda: layers.Encoder(2, layers.Config(8, 2))(zeros("b 5 8"), caches=[KVCache()])),
    (r"^caches must .*each for 1 blocks: it holds 0", begins()),
    (r"^caches must be empty at the start: it is \[5\]", begins(filled())),
    (r"^lengths must be the same where caches keep sinks: it is \[3, 2\]", begins(caches.RollingCache(4, sinks=1))),
    *(
        (rf"^other must have no kdim, vdim, add_bias_kv or add_zero_attn: it has {name}$", of_torch(**{name: came}))
        for name, came in (("kdim", 4), ("vdim", 4), ("add_bias_kv", True), ("add_zero_attn", True))
    ),
    (r"^other must be a torch.nn.MultiheadAttention: it is .Linear", lambda: MultiHeadAttention.from_torch(nn.Linear(2, 2))),
    (r"^score\(query, key\) must have the shape .*\(2, 5, 3\)", of_score(zeros("b 5 3"))),
    (r"^types must be None, for there are n_types = 0", lambda: embeddings.Embeddings(9, 8)(IDS, IDS)),
    (r"^d must be even", lambda: embeddings.Embeddings(9, 7)),
    (r"^input_feeding must be False unless order='luong': it is True", lambda: rnn.AttentionDecoder(9, 8, input_feeding=True)),
    (r"^order='none' has no weights", lambda: rnn.RNNSeq2Seq(9, 9, 8, order="none").weights(IDS, IDS, source_lengths=LENGTHS)),
    (r"^target must have the shape \(b = 2, n_t\)", lambda: translator()(IDS, IDS[:1], source_lengths=LENGTHS)),
    (r"^model must hold a MultiHeadAttention: it is 'Linear'", lambda: record_attention(nn.Linear(2, 2)).__enter__()),
    (r"^step's logits must have the shape \(2, vocabulary\)", written(zeros("1 9"))),
    (r"^step's logits must be numbers", written(torch.full((2, 9), NAN))),
    (r"^step's logits must be numbers", written(torch.full((4, 9), NAN), partial(decoding.beam_search, beam=2))),
    (r"^step's logits must be numbers", written(torch.full((2, 9), INF))),
    (r"^generator must be one for each of 2 sentences", lambda: decoding.sample(translator(), IDS, LENGTHS, max_length=2, generator=[torch.Generator()])),
    (r"^scores must be numbers: NaN", lambda: sparse.top_keys(torch.tensor([[0.0, NAN]]), 1)),
    (r"^trained must be a length: it is None", lambda: longer.Scaling("llama3", 2.0)),
    (r"^p must be a torch.Tensor: it is a NoneType", lambda: speculation.verdict(None, [1])),
    (r"^the draft's q must be a torch.Tensor: it is a str", lambda: speculation.verdict(torch.cat([Q, Q]), [1], "x")),
    (r"^the draft's q must hold rows of probabilities", lambda: speculation.verdict(torch.cat([Q, Q]), [1], 12 * Q)),
    (r"^one must be a torch.Tensor: it is a NoneType", lambda: tiles.combine(tiles.Tiled(None, None), tiles.Tiled(None, None))),
    (r"^p must hold rows of probabilities", lambda: speculation.verdict(torch.cat([Q, 2 * Q]), [1])),
    (r"^draft must guess at most 1 tokens: it is \[1, 2\]", guessed(None, (1, 2))),
    (r"^draft must be from 0 to 8: 9", guessed(None, (9,))),
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


INSIDE = """
decoding: begin best check_numbers extend pick put_aside settled Ended Living
multihead: Attend of_all_heads repeat_heads
"""  # for who has checked the arguments
RESULTS = """
attention: Attended
decoding: Hypothesis Stepper
further.linear: Remembered
further.speculation: Draft Speculated
further.tiles: Tiled
multihead: Projected
positions: Pace
record: Recorded Seen record_attention
rnn: DecoderState Encoded SourceMemory
transformer: LanguageModelState Seq2SeqState
"""  # what a call returned, and protocols; record_attention has a rule of its own
TORCHS = """
further.caches: PagePool
further.linear: feature_map
further.speculation: look_up
masks: causal_mask
positions: alibi_bias
"""  # nothing is refused, or by torch, Python or a part alone


def named(package: ModuleType, but: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield what the public modules of a package define by a public name, ``but`` for some."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if "._" in module.name or f"{module.name}.".startswith(but):
            continue
        for name, it in vars(importlib.import_module(module.name)).items():
            if getattr(it, "__module__", None) == module.name and not name.startswith("_"):
                yield f"{module.name.partition('.')[2]}.{name}", it


def public() -> set[str]:
    """Return every public function and class of the package that takes arguments to be wrong."""
    found = named(attnbook)
    return {name for name, it in found if inspect.isfunction(it) or inspect.isclass(it)}


def listed(text: str) -> set[str]:
    rows = (row.split(": ") for row in text.strip().splitlines())
    return {f"{module}.{name}" for module, names in rows for name in names.split()}


def test_every_public_name_has_its_rows_or_a_reason() -> None:
    called, others = {one.of for one in CALLS}, listed(INSIDE) | listed(RESULTS) | listed(TORCHS)
    assert public() == called | others
    assert not called & others
