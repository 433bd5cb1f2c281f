"""Lecture 7's exercises: wrong answers with the words that name the mistake."""

import math

import torch

from attnbook.masks import causal_mask
from attnlab.exercises import scaling_and_masks as lecture_7

ROOT = math.sqrt(0.6)
STUCK, LEARNED = [0.12] * 300, [0.3] * 200 + [0.001] * 100


def parts(sentence):
    """What a packed mask is joined from: past, the same sentence, real keys, each (b, n, n)."""
    same = sentence[:, :, None] == sentence[:, None, :]
    past = torch.ones(same.shape, dtype=torch.bool).tril()
    return past, same, (sentence >= 0)[:, None, :].expand(same.shape)


def packed(join):
    """An answer whose mask is `join(past, same, real)`."""
    return lambda sentence: join(*parts(sentence))


def right(past, same, real):
    return past & same & real


def ready_made(sentence):
    return causal_mask(sentence.shape[-1]) & right(*parts(sentence))


def spread(number, errors=LEARNED):
    return lambda: (number, errors)


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


WRONG = {
    lecture_7.packed_mask: [
        (packed(lambda *a: ~right(*a)), "turned over"),
        (packed(lambda past, same, real: same & real), "future is visible"),
        (packed(lambda past, same, real: past & real), "before its own"),
        (packed(lambda past, same, real: past & same), "−1 equals −1"),
        (packed(lambda p, s, r: p & ~s & r), "*other* sentences"),
        (packed(lambda p, s, r: p.tril(-1) & s & r), "hidden from itself"),
        (packed(lambda p, s, r: p.mT & s & r), "looks forward"),
        (packed(lambda p, s, r: (p | s) & r), "with `or`"),
        (packed(lambda p, s, r: p & s & s.mT & r & r.mT & False), "four True"),
        (packed(lambda *a: right(*a).int()), "must be boolean"),
        (packed(lambda *a: right(*a).tolist()), "must be a tensor"),
        (packed(lambda *a: right(*a)[0]), "wanted is (2, 6, 6)"),
        (
            lambda sentence: right(*parts(sentence.clamp(max=1))) & (sentence < 2)[:, None],
            "may be any",
        ),
        (ready_made, "causal_mask does it for you"),
    ],
    lecture_7.repair: [
        (spread(ROOT), "the layer that got stuck"),
        (spread(ROOT / math.sqrt(512)), "whole root to each matrix"),
        (spread(ROOT / 512), "divided each matrix by 512"),
        (spread(512**-0.25), "√(3/5) belongs in front"),
        (spread(ROOT * 512**0.25), "made the matrices larger"),
        (spread(0.3), "begin with a spread of 3.39: wanted is 1"),
        (spread(torch.tensor(0.1)), "must be a number"),
        (spread(ROOT / 512**0.25, STUCK), "should be undivided"),
        (spread(ROOT / 512**0.25), "these are not the errors"),
        (spread(0.163, [0.0] * 300), "these are not the errors"),
        (spread(0.163, [math.nan] + [0.0] * 299), "these are not the errors"),
        (spread(ROOT / 512**0.25, 0.001), "wanted is (300,)"),
        (spread(ROOT / 512**0.25, (LEARNED, ())), "its errors alone"),
        (lambda: 0.16, "Two things were wanted"),
    ],
    lecture_7.cached_decoder: [
        (masked(lambda past, real: ~(past & real)), "turned over"),
        (masked(lambda past, real: past), "the padding is not"),
        (masked(lambda past, real: real), "the future is not"),
        (masked(lambda past, real: past | real), "with `or`"),
        (masked(lambda past, real: past.tril() & real), "the top left"),
        (masked(lambda past, real: past.tril(1) & real), "from itself"),
        (masked(lambda past, real: past.triu() & real), "mask is wrong"),
        (paired(lambda mask: listed(~mask.any(-2))), "nobody attends to"),
        (paired(lambda mask: listed(~mask.all(-1))), "hide *something*"),
        (paired(lambda mask: listed(mask.any(-1))), "that are not empty"),
        (paired(lambda mask: [pair[::-1] for pair in empty(mask)]), "turned round"),
        (paired(lambda mask: empty(mask)[::-1]), "another order"),
        (paired(lambda mask: empty(mask)[:1]), "You found [(1, 0)]"),
        (paired(lambda mask: [(1, 0), (1, 1), (2, 0)]), "wrong for another"),
        (paired(lambda mask: [1, 2]), "list of pairs was wanted"),
        (lambda real, n_q: real, "Two things were wanted"),
        (lambda real, n_q: (both(*cached(real, n_q)).float(), []), "must be boolean"),
        (lambda real, n_q: (both(*cached(real, real.shape[-1])), []), "wanted is (3, 3, 5)"),
        (
            lambda real, n_q: causal_mask(n_q, real.shape[-1]) & real[:, None, :],
            "causal_mask does it for you",
        ),
    ],
}
