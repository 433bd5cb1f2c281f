"""Lecture 8's exercises: wrong answers with the words that name the mistake."""

import math

import torch
from ipywidgets import interact
from torch import nn

from attnbook.attention import attention
from attnbook.multihead import MultiHeadAttention
from attnlab.exercises import multi_head as lecture_8
from attnlab.pictures import heatmap


def cut(t, n_heads):
    return t.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def shares(rows=lambda w_o, own: w_o[own], order=1, width=None, slices=False):
    """An answer to exercise 1 with its parts exchanged."""

    def answer(x, w_q, w_k, w_v, w_o, n_heads):
        found = []
        for own in torch.arange(len(w_o)).chunk(n_heads):
            asked = slice(int(own[0]), int(own[-1]) + 1) if slices else slice(None)
            q, k, v = (x[:, asked] @ w[asked, own] for w in (w_q, w_k, w_v))
            if width:
                q = q * math.sqrt(len(own) / width)
            found.append(attention(q, k, v).output @ rows(w_o, own))
        return torch.stack(found[::order] if order == 1 else found[::-1])

    return answer


def layer(x, w_q, w_k, w_v, w_o, n_heads):
    return shares()(x, w_q, w_k, w_v, w_o, n_heads).sum(0)


def before_mixing(x, w_q, w_k, w_v, w_o, n_heads):
    return attention(*(cut(x @ w, n_heads) for w in (w_q, w_k, w_v))).output


def equal_parts(x, *rest):
    whole = layer(x, *rest)
    return torch.stack([whole / rest[-1]] * rest[-1])


def parts_of_the_sum(x, *rest):
    whole = layer(x, *rest)
    return torch.stack([0.25 * whole, 0.75 * whole])


def torchs(x, w_q, w_k, w_v, w_o, n_heads):
    """PyTorch's own layer, with the matrices copied in."""
    theirs = nn.MultiheadAttention(len(w_o), n_heads, bias=False).double().requires_grad_(False)
    theirs.in_proj_weight.copy_(torch.cat([w_q, w_k, w_v], dim=1).T)
    theirs.out_proj.weight.copy_(w_o.T)
    return theirs(x, x, x)[0]


def eight(**others):
    """Eight shares as they come out, with some exchanged: component_4=0.0."""
    found = [0.01, 0.02, 0.01, 0.01, 0.73, 0.0, 0.0, 0.0]
    for name, share in others.items():
        found[int(name[-1])] = share
    return torch.tensor(found)


class Draft(nn.Module):
    """The layer of exercise 3 as the lecture gives it."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d = n_heads, d_model // n_heads
        maps = (nn.Linear(d_model, d_model) for _ in range(4))
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = maps

    def split(self, t):
        return t.view(len(t), -1, self.n_heads, self.d).transpose(1, 2)

    def weights(self, q, k, mask):
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        scores = scores.masked_fill(mask[:, None, None] == 1, -1e10)
        return nn.functional.dropout(torch.softmax(scores, dim=-1), p=0.1)

    def forward(self, x, mask):
        q, k, v = (self.split(fc(x)) for fc in (self.fc_q, self.fc_k, self.fc_v))
        heads = self.weights(q, k, mask) @ v
        return self.fc_o(heads.transpose(1, 2).flatten(2))


def mended(*, turned=True, blocked=-math.inf, dropping=True, free=True, scale=1.0, axis=True):
    """An answer to exercise 3 that leaves some of it undone."""

    class Mended(Draft):
        def weights(self, q, k, mask):
            scores = scale * q @ k.transpose(-1, -2) / math.sqrt(self.d)
            if mask is not None:
                mask = mask[:, None, None] if axis else mask[:, None, :, None]
                scores = scores.masked_fill(~mask if turned else mask, blocked)
            found = torch.softmax(scores, dim=-1)
            return nn.functional.dropout(found, 0.1, training=dropping and self.training)

        def forward(self, x, mask=None):
            if mask is None and not free:
                mask = torch.eye(x.shape[1]).bool()[:1].expand(len(x), -1)
            return super().forward(x, mask)

    return Mended


class NeedsAMask(mended()):
    def forward(self, x, mask):
        return super().forward(x, mask)


class Reached(mended()):
    """Its weights overflow where the numbers are halves."""

    def forward(self, x, mask=None):
        return super().forward(x, mask) * (1e6 if x.dtype == torch.float16 else 1)


def explored(change=lambda maps, t: maps(t), temperature=(0.25, 4, 0.25), head=(0, 1), own=True):
    """An answer to exercise 4 that draws other maps, or has other sliders."""

    def answer():
        def my_map(head, temperature):
            weights = change(lecture_8._maps, temperature)[head if own else 0]
            return heatmap(weights, ["gave", "my", "cat"])

        return interact(my_map, head=head, temperature=temperature)

    return answer


def unpictured():
    return interact(lambda head, temperature: 1, head=(0, 1), temperature=(0.25, 4))


WRONG = {
    lecture_8.shares_of_the_heads: [
        (layer, "the whole layer, the sum"),
        (torchs, "the whole layer, the sum"),
        (lambda x, *rest: x, "of shape (2, 4, 6)"),
        (before_mixing, "before W^O"),
        (lambda *all_: layer(*all_)[0], "wanted is (2, 4, 6)"),
        (shares(order=-1), "order is reversed"),
        (shares(lambda w, own: w[:, own].T), "columns of W^O"),
        (equal_parts, "equal part of the sum"),
        (shares(slices=True), "its slice of x alone"),
        (shares(width=6), "divided by √d_model"),
        (parts_of_the_sum, "its parts are not the heads'"),
        (lambda *all_: 2 * shares()(*all_), "is not the output"),
        (lambda *all_: shares()(*all_[:5], 2), "with 3 it is not"),
    ],
    lecture_8.without_mixing: [
        (lambda: eight() - 1, "never negative"),
        (lambda: eight(component_4=0.0), "W^O is still there"),
        (lambda: torch.linspace(0.3, 0.5, 8), "that is one head"),
        (lambda: torch.full((8,), 0.1), "not over components"),
        (lambda: eight().flip(0), "these are 0.00, 0.00, 0.00, 0.73"),
        (lambda: eight(component_0=0.5), "these are 0.50"),
        (lambda: 0.1, "wanted is (8,)"),
        (eight, "trained for 0 steps"),
    ],
    lecture_8.explorer: [
        (lambda: 1, "Return what `interact("),
        (explored(head=(0, 2)), "Wanted are sliders"),
        (explored(temperature=[0.25, 4]), "Wanted are sliders"),
        (unpictured, "must return the picture"),
        (explored(lambda maps, t: maps(1)), "changes nothing"),
        (explored(lambda maps, t: maps(1 / t)), "multiply by the temperature"),
        (explored(lambda maps, t: maps(t).mT), "The map is turned"),
        (explored(lambda maps, t: maps(t).flip(0)), "changed places"),
        (explored(lambda maps, t: maps(t).mean(0).expand(2, 3, 3)), "the mean of the two"),
        (explored(own=False), "Both maps are head 0's"),
        (explored(lambda maps, t: maps(min(t, 1))), "At some temperature"),
    ],
    lecture_8.mend_the_layer: [
        (Draft, "gives two outputs"),
        (mended(turned=False), "wrong way round"),
        (mended(scale=2.0), "numbers differ from the draft's"),
        (mended(axis=False), "do not see the words alone"),
        (NeedsAMask, "Without a mask the layer fails"),
        (mended(free=False), "every word should see every word"),
        (mended(blocked=-1e10), "In half precision the layer fails"),
        (Reached, "output is not finite"),
        (mended(dropping=False), "nothing is dropped"),
        (nn.MultiheadAttention, "instead of taking another"),
        (MultiHeadAttention, "instead of taking another"),
        (Draft(12, 4), "A class was wanted"),
    ],
}
BLANK = {lecture_8.mend_the_layer: (..., None)}
