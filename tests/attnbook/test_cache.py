"""The cache: rows go in, all rows come out."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.cache import KVCache
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from tests.attnbook.strategies import close, normal

CHUNKS = st.lists(st.integers(0, 5), min_size=1, max_size=8)


@given(chunks=CHUNKS, capacity=st.integers(1, 9))
def test_a_cache_gives_back_all_that_came(chunks: list[int], capacity: int) -> None:
    key, value = normal(2, 3, sum(chunks), 4, seed=1), normal(2, 3, sum(chunks), 5, seed=2)
    cache, done = KVCache(capacity=capacity), 0
    for n in chunks:
        rows = slice(done, done + n)
        keys, values = cache.append(key[:, :, rows], value[:, :, rows])
        done += n
        assert cache.length == done
        close(keys, key[:, :, :done])
        close(values, value[:, :, :done])


@given(
    chunks=st.lists(st.integers(0, 5), max_size=8),
    size=st.integers(1, 9),
    pages=st.booleans(),
    rows=st.lists(st.integers(0, 2), min_size=1, max_size=6),
)
def test_a_reordered_cache_holds_the_chosen_rows(chunks, size, pages, rows) -> None:
    cache = PagedCache(PagePool(200, page=size)) if pages else KVCache(99, capacity=size)
    before = [normal(3, 2, 0, 4)] * 2
    for seed, n in enumerate(chunks):
        before = cache.append(normal(3, 2, n, 4, seed=seed), normal(3, 2, n, 4, seed=seed + 50))
    before = [part.clone() for part in before]
    other = cache.reorder(torch.tensor(rows))
    new = normal(len(rows), 2, 1, 4, seed=99), normal(len(rows), 2, 1, 4, seed=98)
    for part, old, added in zip(other.append(*new), before, new, strict=True):
        close(part, torch.cat((old[rows], added), dim=2))
    assert pages or other.max_length == 99
    # the first cache is as it was
    assert cache.length == sum(chunks)
    for part, old in zip(cache.append(*(normal(3, 2, 0, 4),) * 2), before, strict=True):
        close(part, old)


def test_memory_is_set_aside_before_it_is_needed_in_the_first_keys_dtype() -> None:
    cache, places = KVCache(), set()
    for _ in range(200):
        keys, _ = cache.append(normal(1, 1, 1, 2), normal(1, 1, 1, 2))
        places.add(keys.data_ptr())
    assert len(places) == 3  # 64, 128 and 256 rows
    cache = KVCache()
    keys, values = cache.append(
        torch.ones(1, 1, 1, 2).bfloat16(), torch.ones(1, 1, 1, 2).bfloat16()
    )
    assert keys.dtype == values.dtype == torch.bfloat16


def test_a_refused_row_leaves_the_cache_as_it_was() -> None:
    cache = KVCache(4)
    cache.append(normal(2, 3, 3, 4), normal(2, 3, 3, 5))
    with pytest.raises(ValueError, match="max_length"):
        cache.append(normal(2, 3, 2, 4), normal(2, 3, 2, 5))
    assert cache.length == 3
    keys, _ = cache.append(normal(2, 3, 1, 4, seed=7), normal(2, 3, 1, 5))
    close(keys[:, :, 3:], normal(2, 3, 1, 4, seed=7))


@given(chunks=CHUNKS, data=st.data())
def test_a_rewound_cache_goes_on_as_if_the_rest_had_never_come(chunks, data) -> None:
    kind = data.draw(st.sampled_from(("all", "pages", "window")))
    n = sum(chunks)
    key, value = normal(2, 3, n, 4, seed=1), normal(2, 3, n, 5, seed=2)
    cache = {
        "all": lambda: KVCache(capacity=2),
        "pages": lambda: PagedCache(PagePool(40, page=3)),
        "window": lambda: RollingCache(n + 2, sinks=1),
    }[kind]()
    cache.append(key, value)
    back = data.draw(st.integers(0, n))
    cache.rewind(back)
    assert cache.length == back
    new = normal(2, 3, 2, 4, seed=3), normal(2, 3, 2, 5, seed=4)
    for part, old, added in zip(cache.append(*new), (key, value), new, strict=True):
        close(part, torch.cat((old[:, :, :back], added), dim=2))


@pytest.mark.parametrize("kind", ["all", "pages", "window"])
@pytest.mark.parametrize("writer", [0, 1])
def test_a_copy_is_a_cache_of_its_own(kind: str, writer: int) -> None:
    cache = {
        "all": lambda: KVCache(9),
        "pages": lambda: PagedCache(PagePool(9, page=2)),
        "window": lambda: RollingCache(4, sinks=1),
    }[kind]()
    key = normal(2, 1, 3, 2)
    cache.append(key, key)
    caches = [cache, copy.copy(cache)]
    caches[writer].rewind(1)
    caches[writer].append(*(normal(2, 1, 2, 2, seed=1),) * 2)
    still = caches[1 - writer]
    assert (still.length, still.max_length) == (3, 9 if kind == "all" else None)
    for part in still.append(key[:, :, :0], key[:, :, :0]):
        close(part, key)
    new = normal(2, 1, 1, 2, seed=2)
    still.append(new, new)
    for part in caches[writer].append(key[:, :, :0], key[:, :, :0]):
        close(part, torch.cat((key[:, :, :1], normal(2, 1, 2, 2, seed=1)), dim=2))


def test_a_copy_of_an_empty_cache_is_empty() -> None:
    cache = KVCache()
    other = copy.copy(cache)
    other.append(normal(1, 1, 1, 2), normal(1, 1, 1, 2))
    assert (cache.length, other.length) == (0, 1)
    cache.append(normal(3, 2, 1, 4), normal(3, 2, 1, 4))  # of shapes of its own
