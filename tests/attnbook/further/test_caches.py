"""Caches in pages and with a window: what they hold, share and give back."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.further.caches import PagedCache, PagePool, RollingCache
from tests.attnbook.strategies import close, normal
from tests.attnbook.test_cache import CHUNKS


@given(chunks=CHUNKS, page=st.integers(1, 6))
def test_pages_give_back_all_that_came(chunks: list[int], page: int) -> None:
    """Two texts grow by turns, so that the pages of both lie in disorder."""
    pool, n = PagePool(2 * 2 * (sum(chunks) // page + 1), page=page), sum(chunks)
    texts = [(normal(2, 3, n, 4, seed=s), normal(2, 3, n, 5, seed=s + 9)) for s in (1, 2)]
    caches, done = [PagedCache(pool), PagedCache(pool)], 0
    for count in chunks:
        rows = slice(done, done + count)
        done += count
        for cache, text in zip(caches, texts, strict=True):
            found = cache.append(*(part[:, :, rows] for part in text))
            for part, whole in zip(found, text, strict=True):
                close(part, whole[:, :, :done])
    assert sum(pool.users) == 2 * 2 * -(-n // page)


def test_a_page_is_held_for_the_text_and_no_longer() -> None:
    """Lengths 5 and 9 in pages of 4: 5 pages, 20 rows for 14 tokens."""
    pool = PagePool(5, page=4)
    short, long = PagedCache(pool), PagedCache(pool)
    short.append(normal(1, 2, 5, 3), normal(1, 2, 5, 3))
    long.append(normal(1, 2, 9, 3), normal(1, 2, 9, 3))
    assert pool.users == [1] * 5
    short.append(normal(1, 2, 3, 3), normal(1, 2, 3, 3))  # the second page has room
    with pytest.raises(ValueError, match="no free page: all 5 are in use"):
        short.append(normal(1, 2, 1, 3), normal(1, 2, 1, 3))
    assert short.length == 8
    long.rewind(4)
    assert sum(pool.users) == 3
    keys, _ = short.append(normal(1, 2, 8, 3, seed=5), normal(1, 2, 8, 3))
    close(keys[:, :, 8:], normal(1, 2, 8, 3, seed=5))
    assert pool.users == [1] * 5
    del short
    assert sum(pool.users) == 1
    long.rewind(0)
    assert sum(pool.users) == 0


def test_a_refused_page_is_not_kept() -> None:
    pool = PagePool(3, page=2)
    cache = PagedCache(pool)
    cache.append(normal(1, 1, 1, 2), normal(1, 1, 1, 2))
    with pytest.raises(ValueError, match="no free page"):
        cache.append(normal(1, 1, 9, 2), normal(1, 1, 9, 2))
    assert sum(pool.users) == 1


def test_texts_share_pages_until_one_writes_in_them() -> None:
    pool = PagePool(9, page=2)
    cache = PagedCache(pool)
    key = normal(1, 1, 5, 2)
    cache.append(key, key)
    three = cache.reorder(torch.tensor([0, 0, 0]))
    assert pool.users[:4] == [4, 4, 4, 0]  # a beam of three has cost no page
    new = normal(3, 1, 1, 2, seed=1)
    three.append(new[:, :, :0], new[:, :, :0])
    assert pool.users[:4] == [4, 4, 4, 0]  # nor have no rows
    for part in three.append(new, new):
        close(part, torch.cat((key.expand(3, 1, 5, 2), new), dim=2))
    assert pool.users == [4, 4, 1, 1, 1, 1, 0, 0, 0]
    for part in cache.append(new[:1], new[:1]):  # alone now, it writes where it is
        close(part, torch.cat((key, new[:1]), dim=2))
    assert sum(pool.users) == 12
    del three
    assert sum(pool.users) == 3


def test_a_copy_is_one_more_user_of_its_pages() -> None:
    """The copy may go, or write: the first one keeps its rows either way."""
    pool = PagePool(9, page=2)
    cache, key = PagedCache(pool), normal(1, 1, 3, 2)
    cache.append(key, key)
    other = copy.copy(cache)
    assert pool.users[:2] == [2, 2]
    other.append(*(normal(1, 1, 1, 2, seed=1),) * 2)
    assert (cache.length, other.length) == (3, 4)
    del other
    assert pool.users == [1, 1, *[0] * 7]
    stranger = PagedCache(pool)
    stranger.append(*(normal(1, 1, 14, 2, seed=2),) * 2)  # takes all pages that are free
    keys, values = cache.append(key[:, :, :0], key[:, :, :0])
    close(keys, key)
    close(values, key)


def test_a_pool_holds_rows_of_one_kind() -> None:
    pool, key = PagePool(9), normal(1, 1, 3, 2)
    PagedCache(pool).append(key, key)
    wide = normal(1, 1, 3, 4)
    with pytest.raises(ValueError, match=r"key must have the shape \(b, h = 1, n, d = 2\)"):
        PagedCache(pool).append(wide, wide)


def test_no_texts_need_no_pages() -> None:
    pool, none = PagePool(3), normal(0, 1, 2, 2)
    keys, values = PagedCache(pool).append(none, none)
    assert keys.shape == values.shape == (0, 1, 2, 2)
    cache = PagedCache(pool)
    cache.append(normal(2, 1, 2, 2), normal(2, 1, 2, 2))
    other = cache.reorder(torch.tensor([], dtype=torch.long))
    assert other.append(none, none)[0].shape == (0, 1, 4, 2)
    assert sum(pool.users) == 2


def test_a_window_needs_no_more_memory_than_its_rows() -> None:
    cache, key = RollingCache(4, sinks=1), normal(1, 1, 20, 2)
    places = set()
    for i in range(20):
        keys, _ = cache.append(key[:, :, i : i + 1], key[:, :, i : i + 1])
        places.add(keys.data_ptr())
        kept = {0, *range(max(i - 2, 0), i + 1)}
        assert keys.shape[2] == len(kept)
        assert {float(row) for row in keys[0, 0, :, 0]} == {float(key[0, 0, j, 0]) for j in kept}
    assert len(places) == 1


def test_rows_that_have_left_the_window_do_not_come_back() -> None:
    cache, key = RollingCache(4), normal(1, 1, 5, 2)
    cache.append(key[:, :, :4], key[:, :, :4])
    cache.rewind(3)
    cache.append(key[:, :, :2], key[:, :, :2])
    with pytest.raises(ValueError, match=r"length must be 5, .* have left the window: it is 4"):
        cache.rewind(4)
    cache.rewind(5)
