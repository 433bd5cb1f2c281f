"""Lecture 11's exercises: wrong answers with the words that name the mistake."""

from copy import deepcopy

import torch
from torch.nn.functional import cross_entropy

from attnlab.exercises import encoder_decoder as lecture_11


def masks(source, target, diagonal=0):
    past = torch.ones(len(target), len(target), dtype=torch.bool).tril(diagonal)
    decoder = (target[:, None] == target) & past
    return source[:, None] == source, decoder, target[:, None] == source


def changed(change):
    """The right masks, changed by a function of the three."""
    return lambda *pairs: change(*masks(*pairs))


def remembered(source, target):
    return masks(source, target) if len(source) == 6 else masks(source * 0, target * 0)


def shares(model, batch, *, part="cross", padding=False, wanted="target_out", leave=False):
    found = []
    for silent in ((), (0,), (1,), (0, 1)):
        one = model if leave else deepcopy(model)
        for number in silent:
            getattr(one.decoder.blocks[number], part).register_forward_hook(
                lambda module, inputs, output: torch.zeros_like(output)
            )
        with torch.no_grad():
            sides = batch.source, batch.target_in
            best = one(*sides, source_lengths=batch.source_lengths).argmax(-1)
        real = torch.ones_like(best, dtype=torch.bool) if padding else batch.target_out != 0
        found.append((best == getattr(batch, wanted))[real].double().mean().item())
    return found


def picked(*places):
    """The right shares, in another order."""
    return lambda model, batch: [shares(model, batch)[place] for place in places]


def silent_for_ever(model, batch):
    found = shares(model, batch)
    for block in model.decoder.blocks:
        torch.nn.init.zeros_(block.cross.out.weight)
    return found


def smoothed(mix, *, rows=True):
    """The mean of `mix(log p of the right word, of all others but padding, of padding, ε)`."""

    def answer(logits, target, epsilon):
        log_p = logits.log_softmax(-1)
        right, pad = log_p.gather(1, target[:, None])[:, 0], log_p[:, 0]
        loss = -mix(right, log_p.sum(-1) - right - pad, pad, epsilon)
        return (loss[target != 0] if rows else loss).mean()

    return answer


def right_mix(right, others, pad, e):
    return (1 - e) * right + e * others / 4


WRONG = {
    lecture_11.packed_masks: [
        (changed(lambda e, d, c: (e, d)), "Three masks were wanted"),
        (changed(lambda e, d, c: (e, d, c.T)), "has its sides turned"),
        (changed(lambda e, d, c: (~e, d, c)), "encoder's mask is turned"),
        (changed(lambda e, d, c: (e, d, ~c)), "cross-attention's mask is t"),
        (changed(lambda e, d, c: (torch.ones_like(e), d, c)), "encoder's mask hides nothing"),
        (
            changed(lambda e, d, c: (e, d, torch.ones_like(c))),
            "cross-attention's mask hides nothing",
        ),
        (changed(lambda e, d, c: (e.tril(), d, c)), "encoder's mask is caus"),
        (changed(lambda e, d, c: (e.flip(0), d, c)), "encoder's mask is wro"),
        (changed(lambda e, d, c: (e, ~d, c)), "decoder's mask is turned"),
        (changed(lambda e, d, c: (e, torch.ones_like(d).tril(), c)), "sees the pairs before it"),
        (lambda *a: masks(*a, diagonal=9), "its own future"),
        (changed(lambda e, d, c: (e, d.T, c)), "looks forward"),
        (lambda *a: masks(*a, diagonal=-1), "from itself"),
        (lambda *a: masks(*a, diagonal=1), "decoder's mask is wrong"),
        (changed(lambda e, d, c: (e, d.int(), c)), "must be boolean"),
        (changed(lambda e, d, c: (e, d.tolist(), c)), "must be a tensor"),
        (changed(lambda e, d, c: (e[None], d, c)), "wanted is (6, 6)"),
        (remembered, "wrong for another"),
    ],
    lecture_11.silenced: [
        (picked(0, 2, 1, 3), "changed places"),
        (picked(3, 2, 1, 0), "order is reversed"),
        (picked(0, 0, 0, 0), "Nothing was silenced"),
        (lambda *a: [1 - share for share in shares(*a)], "that are wrong"),
        (lambda *a: [100 * share for share in shares(*a)], "not per cent"),
        (lambda *a: shares(*a, padding=True), "Padding is counted"),
        (lambda *a: shares(*a, part="attention"), "You silenced self-attention"),
        (lambda *a: [0, 0, 0, 0], "compare the likeliest word"),
        (lambda *a: [share / 2 for share in shares(*a)], "The shares are wrong"),
        (silent_for_ever, "weights are changed afterwards"),
        (lambda *a: shares(*a, leave=True), "take the hooks away"),
        (picked(0, 1, 2), "wanted is (4,)"),
    ],
    lecture_11.smoothed_loss: [
        (lambda x, y, e: cross_entropy(x, y, label_smoothing=e), "PyTorch's"),
        (
            lambda x, y, e: cross_entropy(x, y, label_smoothing=e, ignore_index=0),
            "PyTorch's: it gives a part",
        ),
        (smoothed(lambda r, o, p, e: r), "no smoothing"),
        (smoothed(lambda *a: -right_mix(*a)), "sign is turned"),
        (smoothed(lambda *a: 3 * right_mix(*a)), "sum over the rows"),
        (smoothed(right_mix, rows=False), "are counted: leave them out"),
        (smoothed(lambda *a: 3 / 4 * right_mix(*a)), "not of all"),
        (smoothed(lambda r, o, p, e: (1 - e) * r + e * (o + p) / 5), "padding gets a share"),
        (smoothed(lambda r, o, p, e: (1 - e) * r + e * (o + r) / 5), "a part of ε as well"),
        (smoothed(lambda r, o, p, e: (1 - e) * r + e * o / 6), "sums to less than 1"),
        (smoothed(lambda r, o, p, e: (1 - e) * r + e * o), "Each other word gets ε"),
        (smoothed(lambda r, o, p, e: right_mix(r, o, p, 1 - e)), "changed"),
        (smoothed(lambda r, o, p, e: (1 - e) * r), "goes to nobody"),
        (smoothed(lambda r, o, p, e: r * 7), "number is wrong"),
        (lambda x, y, e: x, "wanted is ()"),
    ],
}
