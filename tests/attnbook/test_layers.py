"""Blocks and stacks: PyTorch's own by copied weights, and what must hold for any."""

import pytest
import torch
from torch import nn

from attnbook.cache import KVCache
from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Decoder, DecoderBlock, Encoder, EncoderBlock, FeedForward
from attnbook.masks import as_torch_mha_mask, causal_mask, padding_mask
from attnbook.multihead import Attend
from attnbook.positions import Rotary, alibi_bias
from attnbook.record import record_attention
from tests.attnbook.copying import copied, gradients, ordinary, randomised
from tests.attnbook.strategies import close, normal

PRECISION = {torch.float32: 5e-5, torch.float64: 1e-10}
OPTIONS = {
    "pre": {"norm_first": True, "activation": "relu"},
    "post": {"norm_first": False, "activation": "gelu", "layer_norm_eps": 1e-12},
}


def theirs(kind: str, norm: str, dtype: torch.dtype, n_layers: int | None) -> nn.Module:
    """Return PyTorch's layer, or a stack of them, with random weights in every layer."""
    layers = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}
    stacks = {"encoder": nn.TransformerEncoder, "decoder": nn.TransformerDecoder}
    module = layers[kind](15, 3, 11, 0.1, batch_first=True, dtype=dtype, **OPTIONS[norm])
    if n_layers is not None:
        last = nn.LayerNorm(15, dtype=dtype) if norm == "pre" else None
        nested = {"enable_nested_tensor": False} if kind == "encoder" else {}
        module = stacks[kind](module, n_layers, norm=last, **nested)
    return randomised(module).eval()


both_norms = pytest.mark.parametrize("norm", ["pre", "post"])
every_precision = pytest.mark.parametrize("dtype", PRECISION)
layers_or_stacks = pytest.mark.parametrize("n_layers", [None, 1, 3])


@both_norms
@every_precision
@layers_or_stacks
@pytest.mark.parametrize(("b", "n"), [(1, 1), (1, 6), (3, 7)])
@pytest.mark.parametrize("masked", ["no", "causal", "padded"])
def test_encoders_are_torchs(norm, dtype, n_layers, b: int, n: int, masked: str) -> None:
    other = theirs("encoder", norm, dtype, n_layers)
    mine = copied(other)
    x = normal(b, n, 15, seed=1, dtype=dtype).requires_grad_()
    lengths = [max(1, n - i) for i in range(b)]
    mask = padding_mask(lengths, n) if masked == "padded" else None
    mine_output = mine(x, mask, causal=masked == "causal")
    name = "src_mask" if n_layers is None else "mask"
    wanted = other(
        x,
        **{name: as_torch_mha_mask(causal_mask(n)) if masked == "causal" else None},
        src_key_padding_mask=None if mask is None else as_torch_mha_mask(mask[:, 0]),
    )
    real = padding_mask(lengths, n).mT if masked == "padded" else torch.ones(b, n, 1).bool()
    mine_output, wanted = mine_output * real, wanted * real  # theirs may leave padding out
    close(mine_output, wanted, PRECISION[dtype])
    for one, two in zip(gradients(mine_output, [x]), gradients(wanted, [x]), strict=True):
        close(one, two, 1000 * PRECISION[dtype])


@both_norms
@every_precision
@layers_or_stacks
@pytest.mark.parametrize(("b", "n_t", "n_s"), [(1, 1, 1), (1, 5, 3), (3, 2, 7)])
@pytest.mark.parametrize("padded", [False, True])
def test_decoders_are_torchs(norm, dtype, n_layers, b, n_t, n_s, padded: bool) -> None:
    other = theirs("decoder", norm, dtype, n_layers)
    mine = copied(other)
    x = normal(b, n_t, 15, seed=1, dtype=dtype).requires_grad_()
    memory = normal(b, n_s, 15, seed=2, dtype=dtype).requires_grad_()
    mask = padding_mask([max(1, n_s - i) for i in range(b)], n_s) if padded else None
    output = mine(x, memory, memory_mask=mask)
    wanted = other(
        x,
        memory,
        tgt_mask=as_torch_mha_mask(causal_mask(n_t)),
        memory_key_padding_mask=None if mask is None else as_torch_mha_mask(mask[:, 0]),
    )
    close(output, wanted, PRECISION[dtype])
    inputs = [x, memory]
    for one, two in zip(gradients(output, inputs), gradients(wanted, inputs), strict=True):
        close(one, two, 1000 * PRECISION[dtype])


@pytest.mark.parametrize(("activation", "function"), [("relu", nn.ReLU()), ("gelu", nn.GELU())])
def test_feed_forward_is_two_linear_maps(activation, function) -> None:
    layer, x = FeedForward(3, 7, activation=activation).double(), normal(2, 4, 3)
    close(layer(x), layer.narrow(function(layer.widen(x))))


def test_dropout_acts_in_training_only() -> None:
    torch.manual_seed(0)
    vectors, ids = torch.randn(2, 5, 8), torch.ones(1, 9, dtype=torch.int64)
    parts = (
        (EncoderBlock(Config(8, 2, dropout=0.5)), vectors),
        (FeedForward(8, 8, dropout=0.5), vectors),
    )
    for part, x in (*parts, (Embeddings(5, 8, dropout=0.3), ids)):
        assert not torch.equal(part(x), part(x))
        part.eval()
        assert torch.equal(part(x), part(x))


def dropouts(model: nn.Module) -> list[float]:
    """Return the dropout of every layer that has one, attention's included."""
    parts = [part for part in model.modules() if isinstance(part, nn.Dropout | Attend)]
    return [part.p if isinstance(part, nn.Dropout) else part.dropout for part in parts]


def test_dropout_falls_on_every_part_once_and_both_attentions_share_keys() -> None:
    block, calls = DecoderBlock(Config(8, 2, dropout=0.3)), []
    assert dropouts(block) == [0.3] * 4  # two attentions, one feed-forward network, the sums
    for part in block.modules():
        if isinstance(part, nn.Dropout):
            part.register_forward_hook(lambda *_: calls.append(1))
    block(torch.zeros(1, 2, 8), torch.zeros(1, 3, 8))
    assert len(calls) == 3 + 1
    assert dropouts(EncoderBlock(Config(8, 2, dropout=0.3))) == [0.3] * 3
    block = DecoderBlock(Config(8, 4, n_kv_heads=2))
    assert block.attention.n_kv_heads == block.cross.n_kv_heads == 2
    assert DecoderBlock(Config(8, 4)).cross.n_kv_heads == 4


def test_a_hidden_token_of_the_target_reaches_no_other_row() -> None:
    block, x, memory = DecoderBlock(Config(8, 2)).double().eval(), normal(1, 4, 8), normal(1, 3, 8)
    hidden = torch.tensor([True, False, True, True]).expand(4, 4)  # no row attends to token 1
    changed = x.index_fill(1, torch.tensor([1]), 2.0)
    one, other = (block(each, memory, mask=hidden) for each in (x, changed))
    close(one[:, [0, 2, 3]], other[:, [0, 2, 3]])
    assert not torch.equal(one[:, 1], other[:, 1])


def test_a_bias_reaches_every_block_of_a_stack() -> None:
    stack, x, bias = (
        Encoder(2, Config(8, 2)).double().eval(),
        normal(2, 5, 8),
        alibi_bias(2, 5).double(),
    )
    close(
        stack(x, bias=bias), stack.norm(stack.blocks[1](stack.blocks[0](x, bias=bias), bias=bias))
    )


def test_a_block_is_four_times_as_wide_inside_unless_told() -> None:
    for d_ff, wide in ((None, 32), (7, 7)):
        assert EncoderBlock(Config(8, 2, d_ff)).feed_forward.widen.out_features == wide


@pytest.mark.parametrize("pieces", [(1,) * 9, (5, 1, 3), (9,)])
@pytest.mark.parametrize("kind", ["plain", "rope", "alibi", "shared"])
def test_a_stack_with_caches_goes_on_where_it_was(pieces, kind: str) -> None:
    options = {"rope": Rotary(4)} if kind == "rope" else {}
    options |= {"n_kv_heads": 1} if kind == "shared" else {}
    stack = randomised(Decoder(2, Config(12, 3, **options)).double())
    x, memory = normal(2, 9, 12, seed=1), normal(2, 4, 12, seed=2)
    mask, caches = padding_mask([4, 2], 4), [KVCache(), KVCache()]

    def bias(n_q: int, n_k: int):
        return alibi_bias(3, n_q, n_k, dtype=torch.float64)[None] if kind == "alibi" else None

    with torch.no_grad():
        whole = stack(x, memory, memory_mask=mask, bias=bias(9, 9))
        assert kind != "alibi" or not torch.allclose(whole, stack(x, memory, memory_mask=mask))
        projected, outputs = stack.project(memory), []
        for piece in x.split(pieces, dim=1):
            n = piece.shape[1]
            extra = bias(n, caches[0].length + n)
            outputs.append(stack(piece, projected, memory_mask=mask, bias=extra, caches=caches))
    close(torch.cat(outputs, dim=1), whole)


@both_norms
def test_cross_weights_are_those_of_the_block(norm) -> None:
    block = randomised(DecoderBlock(Config(12, 3, norm=norm)).double())
    x, memory, mask = normal(2, 4, 12, seed=1), normal(2, 5, 12, seed=2), padding_mask([5, 2], 5)
    seen = []
    block.cross.register_forward_hook(lambda _, args, output: seen.append((args, output)))
    with record_attention(block) as recorded:
        block(x, memory, memory_mask=mask)
    ((inputs, output),) = seen
    weights = recorded.weights("cross")
    value = block.cross.project(memory).value
    close(block.cross.out((weights @ value).transpose(1, 2).flatten(2)), output)
    close(weights, block.cross.weights(*inputs))
    chosen = recorded.weights("cross", heads=1, rows=[0, 3])
    close(chosen, weights[:, 1:2, [0, 3]])


@both_norms
def test_they_are_ordinary_modules(norm) -> None:
    stack, other = (
        randomised(Decoder(2, Config(12, 3, norm=norm, rope=Rotary(4), activation="gelu")).double())
        for _ in range(2)
    )
    x, memory = normal(2, 4, 12, seed=1), normal(2, 5, 12, seed=2)
    ordinary(stack, other, x, memory, single=1e-4, half=0.3)
