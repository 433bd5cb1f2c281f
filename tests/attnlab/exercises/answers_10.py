"""Lecture 10's exercises: wrong answers with the words that name the mistake."""

import torch

from attnlab.exercises import transformer_block as lecture_10


def permuting(layer, x):
    return torch.allclose(layer(x.flip(0)), layer(x).flip(0))


def first_alone(layer, x):
    return torch.allclose(layer(x[:1]), layer(x)[:1])


def last_alone(layer, x):
    return torch.allclose(layer(x[-1:]), layer(x)[-1:])


def ends_alone(layer, x):
    """Looks at the first and the last token only."""
    return first_alone(layer, x) and last_alone(layer, x)


def all_but_the_last(layer, x):
    alone = torch.cat([layer(token[None]) for token in x])
    return torch.allclose(alone[:-1], layer(x)[:-1])


def others_changed(layer, x):
    changed = x.clone()
    changed[1:] += 1
    return torch.allclose(layer(changed)[0], layer(x)[0])


def each_kept(layer, x):
    """Changes each other token, but never moves one: blind to positions."""
    for i in range(len(x)):
        changed = x + 1
        changed[i] = x[i]
        if not torch.allclose(layer(changed)[i], layer(x)[i]):
            return False
    return True


def neuron(reads, writes, bias=0, after=(0, 0)):
    """An answer to exercise 3 from what its one neuron reads and writes."""
    return [[one] for one in reads], [bias], [list(writes)], list(after)


def losses(whole=3.5, no_sums=4.8, no_norms=4.6, no_networks=3.6):
    return lambda: [whole, no_sums, no_norms, no_networks]


DIFFERENCE = (-1, 1)  # x_2 − x_1

WRONG = {
    lecture_10.sorting: [
        (neuron((0, 0), (1, -1)), "Nothing is written"),
        (neuron((1, -1), (-1, 1)), "The smaller comes first"),
        (neuron((1, -1), (1, -1)), "in order already"),
        (neuron(DIFFERENCE, (1, 0)), "The second must give away"),
        (neuron(DIFFERENCE, (0, -1)), "The first must gain"),
        (neuron(DIFFERENCE, (1, 1)), "added to both"),
        (neuron(DIFFERENCE, (2, -2)), "Twice too much"),
        (neuron(DIFFERENCE, (0.5, -0.5)), "Only half"),
        (neuron(DIFFERENCE, (1, -1), after=(1, 1)), "but for a constant"),
        (neuron(DIFFERENCE, (1, -1), bias=1), "(3, 1) must stay"),
        (7, "Four things were wanted"),
        (([[1, -1], [-1, 1]], [0, 0], [[1], [1]], [0]), "wanted is (2, 1)"),
    ],
    lecture_10.position_wise: [
        (permuting, "permutes its rows is less"),
        (first_alone, "its first row looks"),
        (last_alone, "its last row looks"),
        (ends_alone, "between the first and the last"),
        (all_but_the_last, "mixes all tokens into the last"),
        (others_changed, "its first row looks"),
        (each_kept, "adding positions is not"),
        (lambda layer, x: True, "attention is not"),
        (lambda layer, x: False, "feed-forward network is"),
        (lambda layer, x: layer(x), "True or False was wanted"),
    ],
    lecture_10.without_a_part: [
        (losses(24.5, 121.5, 121.5, 24.5), "look like perplexities"),
        (losses(whole=4.1), "average the last 20 losses"),
        (losses(whole=2.3), "too low for 100 steps"),
        (losses(3.5, 3.5, 3.5, 3.5), "by its argument `kind`"),
        (losses(no_sums=3.5, no_networks=4.8), "The order is"),
        (losses(no_sums=3.5), "return part(norm(x)) alone"),
        (losses(no_norms=3.5), "is there a norm left"),
        (losses(no_networks=4.1), "go on as it is"),
        (losses(no_networks=4.8), "go on as it is"),
        (lambda: 3.2, "wanted is (4,)"),
        (losses(), "trained for 0 steps"),
    ],
}
BLANK = {lecture_10.sorting: (..., (..., ..., ..., ...))}
