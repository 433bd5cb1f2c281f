"""Lecture 11's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import encoder_decoder as lecture_11


def crossed(x, memory, w_q, w_k, w_v, divisor=None, dim=-1):
    divisor = math.sqrt(w_k.shape[1]) if divisor is None else divisor
    return torch.softmax((x @ w_q) @ (memory @ w_k).T / divisor, dim) @ (memory @ w_v)


def masks(lengths, n_s, n_t, more=0, diagonal=0):
    real = torch.arange(n_s) < torch.tensor(lengths)[:, None] + more
    past = torch.ones(n_t, n_t, dtype=torch.bool).tril(diagonal)
    return real[:, None], past, real[:, None]


def changed(change):
    """The right masks, changed by a function of the three."""
    return lambda *sizes: change(*masks(*sizes))


def smoothed(mix):
    """The mean over rows of `mix(log p of the right word, log p, ε)`."""

    def answer(logits, target, epsilon):
        log_p = logits.log_softmax(-1)
        return mix(log_p.gather(1, target[:, None])[:, 0], log_p, epsilon).mean()

    return answer


def right_loss(right, log_p, e):
    return -((1 - e) * right + e * log_p.mean(-1))


def writing(logits_of, limit, *, stop=True, row=-1, first=(1,), kept=slice(1, None), end=()):
    target = list(first)
    while len(target) <= limit:
        token = int(logits_of(target)[row].argmax())
        if stop and token == 2:
            target += end
            break
        target.append(token)
    return target[kept]


def forgetful(logits_of, limit):
    """Write the right words without reading any: only how many there are."""
    out = []
    while len(out) < limit and (token := int(logits_of([1] + [0] * len(out))[-1].argmax())) != 2:
        out.append(token)
    return out


def written(**options):
    return lambda logits_of, limit: writing(logits_of, limit, **options)


WRONG = [
    (lecture_11.cross_attention, lambda x, m, q, k, v: crossed(x, x, q, k, v), "x asks itself"),
    (lecture_11.cross_attention, lambda x, m, q, k, v: crossed(m, x, q, k, v), "There are 5 rows"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, divisor=1), "scores are raw"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, divisor=2), "divided by √d:"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, divisor=6), "divided by d_k:"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, divisor=2**0.5), "divided by √d_v"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, divisor=5**0.5), "divided by √n_s"),
    (lecture_11.cross_attention, lambda *a: crossed(*a, dim=0), "over the target"),
    (lecture_11.cross_attention, lambda x, m, q, k, v: crossed(x, m, k, q, v), "changed places"),
    (
        lecture_11.cross_attention,
        lambda x, m, q, k, v: (x @ q) @ (m @ k).T / 6**0.5 @ (m @ v),
        "softmax is missing",
    ),
    (lecture_11.cross_attention, lambda x, m, q, k, v: x[:, :2], "outputs are wrong"),
    (lecture_11.cross_attention, lambda x, m, q, k, v: x, "wanted is (3, 2)"),
    (lecture_11.cross_attention, lambda x, m, q, k, v: x @ m, "raised RuntimeError"),
    (lecture_11.paper_rate, lambda s, p, w: min(s / w, (w / s) ** 0.5), "its height is 1"),
    (lecture_11.paper_rate, lambda s, p, w: p * min(s**-0.5, s * w**-1.5), "the factor √warmup"),
    (
        lecture_11.paper_rate,
        lambda s, p, w: p * max(s / w, (w / s) ** 0.5),
        "the greater of the two",
    ),
    (lecture_11.paper_rate, lambda s, p, w: p * (w / s) ** 0.5, "warm-up is missing"),
    (lecture_11.paper_rate, lambda s, p, w: p * s / w, "the other argument"),
    (lecture_11.paper_rate, lambda s, p, w: p * min(1, s / w), "stays at the peak"),
    (lecture_11.paper_rate, lambda s, p, w: p * min(s / w, w / s), "one over its root"),
    (lecture_11.paper_rate, lambda s, p, w: p * min(s / w, w / s) ** 0.5, "rises as a root"),
    (lecture_11.paper_rate, lambda s, p, w: 0.5, "it is 0.001"),
    (lecture_11.paper_rate, lambda s, p, w: [s], "A number was wanted"),
    (lecture_11.three_masks, changed(lambda e, d, c: (~e, d, c)), "The encoder's mask is turned"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, d, ~c)), "The cross-attention's mask is"),
    (
        lecture_11.three_masks,
        changed(lambda e, d, c: (e, d, torch.ones_like(c))),
        "cross-attention's mask hides no padding",
    ),
    (lecture_11.three_masks, lambda *a: masks(*a, more=1), "shows one padding"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e.flip(-1), d, c)), "hides the wrong words"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, ~d, c)), "decoder's mask is turned"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, d.T, c)), "looks forward"),
    (lecture_11.three_masks, lambda *a: masks(*a, diagonal=-1), "from itself"),
    (lecture_11.three_masks, lambda *a: masks(*a, diagonal=9), "decoder's mask hides nothing"),
    (lecture_11.three_masks, lambda *a: masks(*a, diagonal=1), "decoder's mask is wrong"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, d)), "Three masks were wanted"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, d.int(), c)), "must be boolean"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e, d.tolist(), c)), "must be a tensor"),
    (lecture_11.three_masks, changed(lambda e, d, c: (e[:, 0], d, c)), "wanted is (3, 1, 4)"),
    (
        lecture_11.three_masks,
        lambda lengths, n_s, n_t: masks(lengths if n_s == 4 else [6, 6], n_s, n_t),
        "wrong for another",
    ),
    (lecture_11.smoothed_loss, smoothed(lambda r, p, e: -r), "no smoothing"),
    (lecture_11.smoothed_loss, smoothed(lambda r, p, e: -right_loss(r, p, e)), "sign is turned"),
    (
        lecture_11.smoothed_loss,
        smoothed(lambda r, p, e: 3 * right_loss(r, p, e)),
        "sum over the rows",
    ),
    (
        lecture_11.smoothed_loss,
        smoothed(lambda r, p, e: -((1 - e) * r + e * p.sum(-1))),
        "it is ε/N",
    ),
    (
        lecture_11.smoothed_loss,
        smoothed(lambda r, p, e: -((1 - e) * r + e * (p.sum(-1) - r) / 4)),
        "the other words alone",
    ),
    (
        lecture_11.smoothed_loss,
        smoothed(lambda r, p, e: -(r + e * p.mean(-1))),
        "must give its share up",
    ),
    (lecture_11.smoothed_loss, smoothed(lambda r, p, e: right_loss(r, p, 1 - e)), "changed places"),
    (lecture_11.smoothed_loss, smoothed(lambda r, p, e: -(1 - e) * r), "goes to nobody"),
    (
        lecture_11.smoothed_loss,
        smoothed(lambda r, p, e: -((1 - e) * r.exp() + e * p.exp().mean(-1))),
        "their logarithms",
    ),
    (
        lecture_11.smoothed_loss,
        lambda x, y, e: -((1 - e) * x.gather(1, y[:, None])[:, 0] + e * x.mean(-1)).mean(),
        "These are the logits",
    ),
    (lecture_11.smoothed_loss, smoothed(lambda r, p, e: r * 7), "number is wrong"),
    (lecture_11.smoothed_loss, lambda x, y, e: x, "wanted is ()"),
    (lecture_11.write_greedily, written(kept=slice(None)), "<bos> is still in front"),
    (lecture_11.write_greedily, written(end=(2,)), "<eos> is still at the end"),
    (lecture_11.write_greedily, written(end=(2,), kept=slice(None)), "<bos> and <eos> are"),
    (lecture_11.write_greedily, written(kept=slice(1, -1)), "last word is missing"),
    (lecture_11.write_greedily, written(stop=False), "go on after <eos>"),
    (lecture_11.write_greedily, written(row=0), "first row of the logits"),
    (lecture_11.write_greedily, written(first=(0,)), "begins with <bos>"),
    (
        lecture_11.write_greedily,
        lambda logits_of, limit: [int(logits_of([1])[-1].argmax()) for _ in range(limit)],
        "ask after <bos> each time",
    ),
    (lecture_11.write_greedily, forgetful, "the tokens written"),
    (lecture_11.write_greedily, lambda logits_of, limit: [4, 3], "You wrote [4, 3]"),
    (
        lecture_11.write_greedily,
        lambda logits_of, limit: writing(logits_of, limit + 1),
        "With limit=1 you wrote 2",
    ),
    (lecture_11.write_greedily, lambda logits_of, limit: 7, "A list of tokens was wanted"),
]
BLANK = [
    (lecture_11.cross_attention, lambda x, memory, w_q, w_k, w_v: None),
    (lecture_11.paper_rate, lambda step, peak, warmup: ...),
    (lecture_11.three_masks, lambda lengths, n_s, n_t: None),
    (lecture_11.smoothed_loss, lambda logits, target, epsilon: ...),
    (lecture_11.write_greedily, lambda logits_of, limit: None),
]
