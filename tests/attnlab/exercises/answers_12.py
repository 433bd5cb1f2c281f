"""Lecture 12's exercises: wrong answers with the words that name the mistake."""

from copy import deepcopy

import torch
from torch.nn import functional

from attnlab.exercises import pretrained_models as lecture_12


def each_hidden(ids, hidden):
    return torch.where(torch.eye(len(ids), dtype=torch.bool), hidden, ids)


def every(model, ids, hidden):
    """log p of all words at all places, a row for each hidden word: (n, n, v)."""
    return model(each_hidden(ids, hidden)).log_softmax(-1)


def own(log_p, ids):
    at = torch.arange(len(ids))
    return log_p[at, at, ids]


def asked(model, ids, hidden):
    return own(every(model, ids, hidden), ids)


def all_at_once(model, ids, hidden):
    log_p = model(torch.full((1, len(ids)), hidden))[0].log_softmax(-1)
    return log_p[torch.arange(len(ids)), ids].sum()


def only_the_past(model, ids, hidden):
    seen = torch.where(torch.ones(len(ids), len(ids)).tril(-1).bool(), ids, hidden)
    return own(model(seen).log_softmax(-1), ids).sum()


def next_words(model, ids, hidden):
    later = torch.arange(1, len(ids))
    return every(model, ids, hidden)[later, later - 1, ids[1:]].sum()


def cosines(model, ids, cases):
    """Of the sentence vectors without these blocks, by hand."""

    def vector(without):
        x = model.embeddings(ids)
        for number, block in enumerate(model.encoder.blocks):
            x = x if number in without else block(x)
        return functional.normalize(x[0].mean(0), dim=0)

    return torch.stack([vector(case) for case in cases]) @ vector(())


ONE_EACH = ({0}, {1}, {2})


def lengthy(model, ids):
    def vector(without):
        x = model.embeddings(ids)
        for number, block in enumerate(model.encoder.blocks):
            x = x if number == without else block(x)
        return x[0].mean(0)

    return torch.stack([vector(number) for number in range(3)]) @ vector(None)


def first_pieces(model, ids):
    def vector(without):
        x = model.embeddings(ids)
        for number, block in enumerate(model.encoder.blocks):
            x = x if number == without else block(x)
        return functional.normalize(x[0, 0], dim=0)

    return torch.stack([vector(number) for number in range(3)]) @ vector(None)


def hooked(model, ids, *, silent, remove):
    """The cosines with hooks: on the blocks, or on their attention."""
    whole, found = functional.normalize(model(ids)[0].mean(0), dim=0), []
    for block in model.encoder.blocks:
        part = block.attention if silent else block
        hook = part.register_forward_hook(
            lambda module, inputs, output: torch.zeros_like(output) if silent else inputs[0]
        )
        found.append(functional.normalize(model(ids)[0].mean(0), dim=0) @ whole)
        if remove:
            hook.remove()
    return torch.stack(found)


def shorter(model, ids):
    answer = cosines(model, ids, ONE_EACH)
    del model.encoder.blocks[2]
    return answer


def scaled(model, ids):
    answer = cosines(deepcopy(model), ids, ONE_EACH)
    with torch.no_grad():
        model.encoder.blocks[0].attention.out.weight.zero_()
    return answer


WRONG = {
    lecture_12.sentence_score: [
        (
            lambda m, i, h: m(i[None])[0].log_softmax(-1)[torch.arange(len(i)), i].sum(),
            "hide it before you ask",
        ),
        (all_at_once, "hidden at once"),
        (only_the_past, "reads both sides"),
        (lambda m, i, h: asked(m, i, h).mean(), "This is the mean"),
        (lambda m, i, h: -asked(m, i, h).sum(), "sign is turned"),
        (lambda m, i, h: asked(m, i, h).exp().sum(), "add up their"),
        (lambda m, i, h: asked(m, i, h).exp().prod(), "the product"),
        (lambda m, i, h: (asked(m, i, h) / torch.tensor(2.0).log()).sum(), "base 2"),
        (lambda m, i, h: own(m(each_hidden(i, h)), i).sum(), "softmax is missing"),
        (
            lambda m, i, h: own(every(m, i, h).amax(-1)[..., None].expand(-1, -1, 9), i).sum(),
            "the likeliest word",
        ),
        (next_words, "for its own word"),
        (
            lambda m, i, h: every(m, i, h)[torch.arange(len(i)), :, h].sum(),
            "the hidden token itself",
        ),
        (lambda m, i, h: asked(m, i, h).sum() + 1, "number is wrong"),
        (asked, "wanted is ()"),
    ],
    lecture_12.left_out: [
        (lambda m, i: torch.ones(3), "Nothing was left out"),
        (lambda m, i: cosines(m, i, ONE_EACH).flip(0), "order is reversed"),
        (lambda m, i: 1 - cosines(m, i, ONE_EACH), "Return the cosine"),
        (lengthy, "both lengths"),
        (lambda m, i: cosines(m, i, ({1, 2}, {0, 2}, {0, 1})), "kept one"),
        (lambda m, i: cosines(m, i, ({0, 1, 2}, {1, 2}, {2})), "You stopped"),
        (lambda m, i: cosines(m, i, ({0}, {0, 1}, {0, 1, 2})), "pile up"),
        (first_pieces, "the first piece"),
        (lambda m, i: hooked(m, i, silent=True, remove=True), "attention alone"),
        (lambda m, i: hooked(m, i, silent=False, remove=False), "take the hooks"),
        (shorter, "lost a block"),
        (scaled, "is changed afterwards"),
        (lambda m, i: cosines(m, i, ONE_EACH) / 2, "cosines are wrong"),
        (lambda m, i: m(i), "wanted is (3,)"),
    ],
    lecture_12.adapted: [
        (lambda x, w, a, b: x @ w.mT, "W alone"),
        (lambda x, w, a, b: x @ (b @ a).mT, "adapter alone"),
        (lambda x, w, a, b: x @ (w - b @ a).mT, "not subtracted"),
        (lambda x, w, a, b: x @ (w + b @ a / len(a)).mT, "divided by r"),
        (lambda x, w, a, b: x @ w.mT + x @ w.mT @ w @ a.mT @ b.mT, "A reads what W"),
        (lambda x, w, a, b: 2 * x @ (w + b @ a).mT, "numbers are wrong"),
        (lambda x, w, a, b: x, "wanted is (2, 3, 5)"),
    ],
}
