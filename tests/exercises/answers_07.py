"""Lecture 7's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import scaling_and_masks as lecture_7


def attended(query, key, value, divisor=None, dim=-1):
    divisor = math.sqrt(key.shape[-1]) if divisor is None else divisor
    return torch.softmax(query @ key.mT / divisor, dim) @ value


def decoder(lengths, n, diagonal=0):
    real = torch.arange(n) < torch.tensor(lengths)[:, None]
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal), real[:, None, :].expand(-1, n, n)


def past(lengths, n):
    return decoder(lengths, n)[0].expand(len(lengths), n, n)


def real(lengths, n):
    return decoder(lengths, n)[1]


def right(lengths, n):
    return past(lengths, n) & real(lengths, n)


def two(ours, theirs):
    """An answer that hides by `ours` and `theirs`, given the real tokens (b, n)."""
    return lambda mask: (ours(mask.bool()), theirs(mask.bool()))


def queries(real):
    return real[:, None, :]


def listed(flags):
    return [tuple(pair) for pair in flags.nonzero().tolist()]


def cached(real, n_q, shift=0):
    n_k = real.shape[-1]
    past = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q + shift)
    return past.expand(len(real), n_q, n_k), real[:, None, :].expand(-1, n_q, -1)


def masked(join):
    """An answer whose mask is `join(past, real)`, with the pairs that follow from it."""

    def answer(real, n_q):
        mask = join(*cached(real, n_q))
        return mask, listed(~mask.any(-1))

    return answer


def both(past, real):
    return past & real


def paired(find):
    """An answer with the right mask, whose pairs are `find(mask)`."""
    return lambda real, n_q: (both(*cached(real, n_q)), find(both(*cached(real, n_q))))


def empty(mask):
    return listed(~mask.any(-1))


WRONG = [
    (lecture_7.softmax_jacobian, torch.diag, "also moves the other weights"),
    (lecture_7.softmax_jacobian, lambda a: torch.diag(a * (1 - a)), "The diagonal is right"),
    (lecture_7.softmax_jacobian, lambda a: -torch.outer(a, a), "lacks its first term"),
    (lecture_7.softmax_jacobian, lambda a: torch.outer(a, a) - torch.diag(a), "signs are turned"),
    (lecture_7.softmax_jacobian, lambda a: torch.outer(a, a) + torch.diag(a), "is a minus"),
    (lecture_7.softmax_jacobian, lambda a: torch.outer(a, 1 - a), "belongs to the diagonal"),
    (lecture_7.softmax_jacobian, lambda a: a * (torch.eye(len(a)) - a), "begins with α_k"),
    (
        lecture_7.softmax_jacobian,
        lambda a: torch.eye(len(a)) - torch.outer(a, a),
        "not the identity",
    ),
    (lecture_7.softmax_jacobian, lambda a: torch.eye(len(a)), "entries are wrong"),
    (
        lecture_7.softmax_jacobian,
        lambda a: torch.diag(a) - torch.outer(a, a) if len(a) == 3 else torch.diag(a),
        "wrong for four",
    ),
    (
        lecture_7.softmax_jacobian,
        lambda a: torch.eye(3) * a - a[:, None] * a,
        "raised RuntimeError",
    ),
    (lecture_7.softmax_jacobian, lambda a: a * (1 - a), "wanted is (3, 3)"),
    (lecture_7.batched_attention, lambda q, k, v: attended(q, k, v, 1), "raw scores"),
    (lecture_7.batched_attention, lambda q, k, v: attended(q, k, v, 7), "divided by d_k"),
    (lecture_7.batched_attention, lambda q, k, v: attended(q, k, v, 7**-0.5), "multiplied by"),
    (
        lecture_7.batched_attention,
        lambda q, k, v: attended(q, k, v, math.sqrt(k.shape[0])),
        "of the batch",
    ),
    (
        lecture_7.batched_attention,
        lambda q, k, v: attended(q, k, v, math.sqrt(k.shape[1])),
        "root of a length",
    ),
    (
        lecture_7.batched_attention,
        lambda q, k, v: attended(q, k, v, math.sqrt(q.shape[1])),
        "root of a length",
    ),
    (
        lecture_7.batched_attention,
        lambda q, k, v: attended(q, k, v, math.sqrt(v.shape[-1])),
        "divided by √d_v",
    ),
    (lecture_7.batched_attention, lambda q, k, v: q @ k.mT / 7**0.5 @ v, "softmax is missing"),
    (lecture_7.batched_attention, lambda q, k, v: attended(q, k, v, dim=1), "wrong axis"),
    (lecture_7.batched_attention, lambda q, k, v: attended(q, k, v, dim=0), "wrong axis"),
    (lecture_7.batched_attention, lambda q, k, v: q @ k, "raised RuntimeError"),
    (lecture_7.batched_attention, lambda q, k, v: q[..., :5], "outputs are wrong"),
    (lecture_7.decoder_mask, lambda *a: ~right(*a), "turned over"),
    (lecture_7.decoder_mask, past, "the padding is not"),
    (lecture_7.decoder_mask, real, "the future is not"),
    (lecture_7.decoder_mask, lambda *a: past(*a) | real(*a), "with `or`"),
    (
        lecture_7.decoder_mask,
        lambda lengths, n: decoder(lengths, n, -1)[0] & real(lengths, n),
        "hidden from itself",
    ),
    (lecture_7.decoder_mask, lambda *a: past(*a) & real(*a).mT, "as a query"),
    (lecture_7.decoder_mask, lambda *a: past(*a).mT & real(*a), "looks forward"),
    (lecture_7.decoder_mask, lambda *a: ~past(*a) & real(*a), "looks forward"),
    (
        lecture_7.decoder_mask,
        lambda lengths, n: past(lengths, n) & real([length + 1 for length in lengths], n),
        "One padding is still visible",
    ),
    (lecture_7.decoder_mask, lambda *a: right(*a) & right(*a).mT, "mask is wrong"),
    (
        lecture_7.decoder_mask,
        lambda lengths, n: right(lengths if n == 4 else [n, n], n),
        "wrong for another",
    ),
    (lecture_7.decoder_mask, lambda *a: right(*a).float(), "must be boolean"),
    (lecture_7.decoder_mask, lambda *a: right(*a).tolist(), "must be a tensor"),
    (lecture_7.decoder_mask, lambda *a: right(*a)[:, :1], "wanted is (3, 4, 4)"),
    (lecture_7.two_polarities, two(lambda r: ~queries(r), lambda r: r), "Both are turned over"),
    (lecture_7.two_polarities, two(lambda r: ~queries(r), lambda r: ~r), "book's mask is turned"),
    (lecture_7.two_polarities, two(queries, lambda r: r), "key_padding_mask is turned"),
    (lecture_7.two_polarities, two(lambda r: r, lambda r: ~r), "an axis for the queries"),
    (lecture_7.two_polarities, two(lambda r: r[None], lambda r: ~r), "wanted is (3, 1, 4)"),
    (lecture_7.two_polarities, two(queries, lambda r: ~queries(r)), "wanted: (3, 4)"),
    (lecture_7.two_polarities, two(lambda r: queries(r).int(), lambda r: ~r), "must be boolean"),
    (
        lecture_7.two_polarities,
        two(lambda r: queries(r.flip(-1)), lambda r: ~r),
        "hides the wrong keys",
    ),
    (lecture_7.two_polarities, lambda mask: mask.bool(), "Two masks were wanted"),
    (lecture_7.two_polarities, lambda m: (~m.bool(), queries(m.bool())), "other way round"),
    (lecture_7.cached_decoder, masked(lambda past, real: ~(past & real)), "turned over"),
    (lecture_7.cached_decoder, masked(lambda past, real: past), "the padding is not"),
    (lecture_7.cached_decoder, masked(lambda past, real: real), "the future is not"),
    (lecture_7.cached_decoder, masked(lambda past, real: past | real), "with `or`"),
    (lecture_7.cached_decoder, masked(lambda past, real: past.tril() & real), "the top left"),
    (lecture_7.cached_decoder, masked(lambda past, real: past.tril(1) & real), "from itself"),
    (lecture_7.cached_decoder, masked(lambda past, real: past.triu() & real), "mask is wrong"),
    (lecture_7.cached_decoder, paired(lambda mask: listed(~mask.any(-2))), "nobody attends to"),
    (lecture_7.cached_decoder, paired(lambda mask: listed(~mask.all(-1))), "hide *something*"),
    (lecture_7.cached_decoder, paired(lambda mask: listed(mask.any(-1))), "that are not empty"),
    (
        lecture_7.cached_decoder,
        paired(lambda mask: [pair[::-1] for pair in empty(mask)]),
        "turned round",
    ),
    (lecture_7.cached_decoder, paired(lambda mask: empty(mask)[::-1]), "another order"),
    (lecture_7.cached_decoder, paired(lambda mask: empty(mask)[:1]), "You found [(1, 0)]"),
    (
        lecture_7.cached_decoder,
        paired(lambda mask: [(1, 0), (1, 1), (2, 0)]),
        "wrong for another",
    ),
    (lecture_7.cached_decoder, paired(lambda mask: [1, 2]), "list of pairs was wanted"),
    (lecture_7.cached_decoder, lambda real, n_q: real, "Two things were wanted"),
    (
        lecture_7.cached_decoder,
        lambda real, n_q: (both(*cached(real, n_q)).float(), []),
        "must be boolean",
    ),
    (
        lecture_7.cached_decoder,
        lambda real, n_q: (both(*cached(real, real.shape[-1])), []),
        "wanted is (3, 3, 5)",
    ),
]
BLANK = [
    (lecture_7.softmax_jacobian, lambda weights: None),
    (lecture_7.batched_attention, lambda query, key, value: ...),
    (lecture_7.decoder_mask, lambda lengths, n: None),
    (lecture_7.two_polarities, lambda attention_mask: None),
    (lecture_7.cached_decoder, lambda real, n_q: ...),
]
