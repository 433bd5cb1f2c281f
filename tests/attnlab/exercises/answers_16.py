"""Lecture 16's exercises: wrong answers with the words that name the mistake."""

import torch

from attnlab.exercises import what_heads_do as lecture_16


def parts(q, k, v, g):
    """The root of d, the weights, the gradient by a weight, and that by a score."""
    root = q.shape[-1] ** 0.5
    seen = torch.ones(len(q), len(q)).tril().bool()
    alpha = (q @ k.T / root).masked_fill(~seen, -torch.inf).softmax(-1)
    by_weight = g @ v.T
    return root, alpha, by_weight, alpha * (by_weight - (alpha * by_weight).sum(-1, keepdim=True))


def back(q, k, v, g, change=lambda root, alpha, by_weight, by_score: by_score, **other):
    root, alpha, by_weight, by_score = parts(q, k, v, g)
    new = change(root, alpha, by_weight, by_score)
    found = {"dq": new @ k / root, "dk": by_score.T @ q / root, "dv": alpha.T @ g}
    return tuple((found | {name: make(q, k, v, g) for name, make in other.items()}).values())


def by_score(q, k, v, g):
    return parts(q, k, v, g)[3]


def asked_without_grad(q, k, v, g):
    q = q.detach().requires_grad_()
    return torch.autograd.grad(q.sum(), q)


def circuit(am, at, after, nxt, *, back=2, look=30.0, first=None, whom=None, what=None):
    size = len(torch.cat([am, at, after, nxt]))

    def block(rows, columns, score):
        matrix = torch.zeros(size, size).double()
        matrix[rows, columns] = score
        return matrix

    looks = block(at[back:], at[: len(at) - back], look) if back else block(at, at, look)
    return (
        looks if first is None else first(block),
        block(am, after, 1),
        block(am, whom or after, look) if whom is None else block(am, whom, look),
        block(am, nxt, 1),
    )


def same(am, at, after, nxt):
    """Head 1 asks for its like, and finds itself the nearest by place."""
    first, says, asks, hands = circuit(am, at, after, nxt)
    asks = asks * 0
    asks[at, at] = 30
    return first, says, asks, hands


def before(am, at, after, nxt):
    """Head 1 looks at the token one place back."""
    first, says, asks, hands = circuit(am, at, after, nxt)
    asks = asks * 0
    asks[at[1:], at[:-1]] = 30
    return first, says, asks, hands


def pairs(right, h):
    whole = right(set())
    alone = {one: whole - right({one}) for one in range(h)}
    both = {(a, b): whole - right({a, b}) for b in range(h) for a in range(b)}
    return alone, both


def most_together(right, h):
    both = pairs(right, h)[1]
    return max(both, key=both.get)


def least_alone(right, h):
    alone = pairs(right, h)[0]
    return sorted(alone, key=alone.get)[:2]


def second_beyond(right, h):
    alone, both = pairs(right, h)
    beyond = sorted(both, key=lambda pair: both[pair] - sum(alone[one] for one in pair))
    known = set(least_alone(right, h)), set(most_together(right, h))
    return next(pair for pair in beyond[-2::-1] if set(pair) not in known)


def least_beyond(right, h):
    alone, both = pairs(right, h)
    return min(both, key=lambda pair: both[pair] - sum(alone[one] for one in pair))


WRONG = {
    lecture_16.backward: [
        (lambda *a: back(*a, dv=lambda *b: parts(*b)[1] @ b[-1]), "Transpose the weights"),
        (lambda *a: back(*a, dv=lambda q, k, v, g: g), "from each output i"),
        (lambda *a: back(*a, lambda r, al, w, s: s * r), "dQ: the scores were divided"),
        (lambda *a: back(*a, lambda r, al, w, s: w), "softmax is missing"),
        (lambda *a: back(*a, lambda r, al, w, s: al * w), "subtract the row's mean"),
        (lambda *a: back(*a, lambda r, al, w, s: al * (1 - al) * w), "diagonal of the Jacobian"),
        (lambda *a: back(*a, dq=lambda q, k, v, g: by_score(q, k, v, g) @ q / len(q[0]) ** 0.5),
            "meets keys, not queries"),
        (lambda *a: back(*a, lambda r, al, w, s: -s), "lecture 7's Jacobian"),
        (lambda *a: back(*a, dk=lambda q, k, v, g: by_score(q, k, v, g) @ q / len(q[0]) ** 0.5),
            "meets all queries i. Transpose"),
        (lambda *a: back(*a, dk=lambda q, k, v, g: by_score(q, k, v, g).T @ q), "dK: the scores"),
        (lambda *a: back(*a, dk=lambda q, k, v, g: by_score(q, k, v, g).T @ k), "dK: as dQ"),
        (lambda *a: back(*a)[:2], "Three tensors were wanted"),
        (lambda q, k, v, g: (q.T, k, v), "dQ: The shape is (4, 5)"),
        (asked_without_grad, "Your code raised"),
    ],
    lecture_16.two_after: [
        (lambda *a: circuit(*a, back=1), "This says what came next"),
        (same, "the symbol itself"),
        (before, "what came before"),
        (lambda *a: circuit(*a, look=1.0), "large enough"),
        (lambda *a: circuit(*a, back=3), "Rows ask"),
        (lambda *a: circuit(*a)[:3], "Four matrices"),
        (lambda *a: [one[1:] for one in circuit(*a)], "wanted is"),
    ],
    lecture_16.stand_ins: [
        (most_together, "Subtract what each costs"),
        (least_alone, "Remove them together"),
        (least_beyond, "The other way round"),
        (second_beyond, "minus what each costs"),
        (lambda right, h: (1, 1), "Two different heads"),
        (lambda right, h: 3, "Two heads were wanted"),
    ],
}  # fmt: skip
BLANK = {
    lecture_16.backward: (lambda *_: None, lambda *_: (..., ..., ...)),
    lecture_16.two_after: (lambda *_: ..., lambda *_: (None,) * 4),
}
