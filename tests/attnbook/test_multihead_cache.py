"""Multi-head attention with a cache: in pieces as in one go."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnbook import _core
from attnbook.cache import KVCache
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.masks import padding_mask, window_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary, alibi_bias
from tests.attnbook.strategies import close, normal

PIECES = [(1,) * 9, (5, 1, 3), (9,), (1, 8), (4, 5)]


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


def made(*, rope: bool = False, n_kv_heads: int = 2) -> MultiHeadAttention:
    torch.manual_seed(0)
    rotary = Rotary(4, base=20.0) if rope else None
    return MultiHeadAttention(24, 6, n_kv_heads=n_kv_heads, rope=rotary).double()


def in_pieces(
    layer: MultiHeadAttention,
    x: Tensor,
    pieces,
    cache: KVCache | None = None,
    **whole: Tensor | None,
) -> Tensor:
    """Run x through a cache piece by piece; ``whole`` holds masks and biases of the full pass."""
    cache, outputs = cache or KVCache(x.shape[1], capacity=2), []
    for piece in x.split(pieces, dim=1):
        rows = slice(cache.length, cache.length + piece.shape[1])
        parts = {
            name: None if part is None else part[..., rows, : rows.stop]
            for name, part in whole.items()
        }
        outputs.append(layer(piece, causal=True, cache=cache, **parts))
    assert cache.length == x.shape[1]
    return torch.cat(outputs, dim=1)


@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("rope", [False, True])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize("extra", [None, "alibi", "window", "padding"])
def test_pieces_through_a_cache_are_the_whole(pieces, rope: bool, n_kv_heads: int, extra) -> None:
    layer, x = made(rope=rope, n_kv_heads=n_kv_heads), normal(2, 9, 24)
    whole = {
        None: {},
        "alibi": {"bias": alibi_bias(6, 9, dtype=torch.float64)[None]},
        "window": {"mask": window_mask(9, 9, 3)},
        "padding": {"mask": padding_mask([9, 4], 9).expand(2, 9, 9)},
    }[extra]
    close(in_pieces(layer, x, pieces, **whole), layer(x, causal=True, **whole))


@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("rope", [False, True])
@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (3, 0), (4, 1), (5, 4), (12, 2)])
@pytest.mark.parametrize("extra", [None, "alibi", "padding"])
def test_pieces_through_a_rolling_cache_are_the_whole_under_its_mask(
    pieces, rope: bool, window: int, sinks: int, extra
) -> None:
    layer, x, seen = made(rope=rope), normal(2, 9, 24), window_mask(9, 9, window, sinks=sinks)
    whole = {
        None: {},
        "alibi": {"bias": alibi_bias(6, 9, dtype=torch.float64)[None]},
        "padding": {"mask": padding_mask([9, 4], 9).expand(2, 9, 9)},
    }[extra]
    wanted = layer(x, **whole | {"mask": whole.get("mask", True) & seen})
    close(in_pieces(layer, x, pieces, RollingCache(window, sinks=sinks), **whole), wanted)


@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("page", [1, 4, 16])
def test_pieces_through_a_paged_cache_are_the_whole(pieces, page: int) -> None:
    layer, x = made(rope=True), normal(2, 9, 24)
    cache = PagedCache(PagePool(18, page=page))
    close(in_pieces(layer, x, pieces, cache), layer(x, causal=True))


def test_a_reordered_window_goes_on_as_the_reordered_sequences() -> None:
    layer, x, rows = made(rope=True), normal(3, 12, 24), torch.tensor([2, 0, 0, 1])
    cache = RollingCache(4, sinks=1)
    layer(x[:, :7], cache=cache)
    cache = cache.reorder(rows)
    found = [layer(part, cache=cache) for part in x[rows, 7:].split([1, 3, 1], dim=1)]
    wanted = layer(x[rows], mask=window_mask(12, 12, 4, sinks=1))[:, 7:]
    close(torch.cat(found, dim=1), wanted)


@given(
    rope=st.booleans(),
    done=st.integers(0, 5),
    rows=st.lists(st.integers(0, 2), min_size=1, max_size=5),
)
def test_a_reordered_cache_goes_on_as_the_reordered_sequences(rope, done, rows) -> None:
    with torch.no_grad():
        layer, x = made(rope=rope), normal(3, 5, 24)
        cache = KVCache()
        if done:
            layer(x[:, :done], causal=True, cache=cache)
        cache = cache.reorder(torch.tensor(rows))
        new = normal(len(rows), 2, 24, seed=5)
        together = torch.cat((x[rows, :done], new), dim=1)
        expected = layer(together, causal=True)[:, done:]
        first = layer(new[:, :1], causal=True, cache=cache)
        second = layer(new[:, 1:], causal=True, cache=cache)
        close(torch.cat((first, second), dim=1), expected)


def test_one_token_needs_no_mask_and_half_precision_is_cached_as_such(monkeypatch) -> None:
    layer, x, cache = made(), normal(2, 4, 24), KVCache()
    layer(x[:, :3], causal=True, cache=cache)

    def refuse(*_: object, **__: object) -> Tensor:
        raise AssertionError("a mask was built")

    monkeypatch.setattr(_core, "causal_mask", refuse)
    layer(x[:, 3:], causal=True, cache=cache)
    with pytest.raises(AssertionError, match="a mask was built"):
        layer(x[:, :2], causal=True, cache=cache)
    layer, x, cache = made(rope=True).float(), normal(2, 4, 24).float(), KVCache()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        whole = layer(x, causal=True)
        parts = [layer(each, causal=True, cache=cache) for each in x.split(1, dim=1)]
    close(torch.cat(parts, dim=1).float(), whole.float(), 0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mask": torch.ones(2, 4).bool()},
        {"mask": torch.ones(2, 5)},
        {"bias": torch.zeros(2, 4)},
        {"bias": torch.zeros(2, 5).long()},
    ],
    ids=["mask's shape", "mask's dtype", "bias's shape", "bias's dtype"],
)
def test_a_refused_call_leaves_the_cache_as_it_was(wrong: dict[str, Tensor]) -> None:
    """A reader who mends the call and runs the cell again goes on at the right place."""
    layer, cache, x = MultiHeadAttention(8, 2, n_kv_heads=1), KVCache(), torch.randn(1, 5, 8)
    with torch.no_grad():
        layer(x[:, :3], causal=True, cache=cache)
        with pytest.raises(ValueError, match=next(iter(wrong))):
            layer(x[:, 3:], cache=cache, **wrong)
        assert cache.length == 3
        close(layer(x[:, 3:], causal=True, cache=cache), layer(x, causal=True)[:, 3:], 1e-6)


def test_a_cache_of_inference_mode_says_where_it_can_go_on() -> None:
    cache, key = KVCache(), torch.randn(1, 1, 2, 4)
    with torch.inference_mode():
        cache.append(key, key)
        cache.append(key, key)
    with pytest.raises(RuntimeError, match="outside InferenceMode is not allowed"):
        cache.append(key, key)
    assert cache.length == 4
