"""Lecture 3's exercises: wrong answers with the words that name the mistake."""

import torch

from attnlab.exercises import bahdanau as lecture_3


def padding_test(*fillings, at_most=1e-9):
    """A test that pads by each (places, number), and compares with no padding."""

    def test(look, state, annotations):
        n, d = annotations.shape
        alone = look(state[None], annotations[None], torch.tensor([n]))
        moved = 0.0
        for places, number in fillings:
            longer = torch.cat([annotations, torch.full((places, d), number).double()])
            there = look(state[None], longer[None], torch.tensor([n]))
            moved = max(moved, (there - alone).abs().max().item())
        return moved > at_most

    return test


def between_contents(look, state, annotations):
    """Never compares with the sentence alone: two contents of as much padding."""
    n, d = annotations.shape
    there = [
        look(
            state[None],
            torch.cat([annotations, torch.full((2, d), number).double()])[None],
            torch.tensor([n]),
        )
        for number in (1.0, 100.0)
    ]
    return not torch.allclose(*there)


THOROUGH = padding_test((1, 0.0), (3, 100.0))


def source_test(loss, sources, target, near=1e-6):
    values = [loss(source, target) for source in sources]
    return max(values) - min(values) < near


def greatest_away(alpha):
    return alpha.scatter(-1, alpha.argmax(-1, keepdim=True), 0.0)


def without(alpha):
    rest = greatest_away(alpha)
    return rest / rest.sum(-1, keepdim=True)


def kept(alpha):
    return alpha - greatest_away(alpha)


def evenly(alpha):
    rest = greatest_away(alpha) > 0
    return rest / rest.sum(-1, keepdim=True)


def findings(change=without, share=0.54, than="fewer"):
    return {"change": change, "words right": share, "than even weights": than}


def reading(every=0.6, long=0.16, word_class="verb"):
    return {"all": every, "12 words or more": long, "class": word_class}


WRONG = {
    lecture_3.finds_padding: [
        (lambda *parts: not THOROUGH(*parts), "other way round"),
        (padding_test((1, 0.0), (5, 0.0)), "Put large numbers"),
        (between_contents, "how much of it"),
        (padding_test((2, 100.0), at_most=-1), "the answer is False"),
        (lambda look, s, h: h > 0, "put .all()"),
        (lambda look, s, h: True, "the answer is False"),
        (3, "A function was wanted"),
    ],
    lecture_3.finds_unread_source: [
        (lambda loss, sources, y: not source_test(loss, sources, y), "other way round"),
        (
            lambda loss, sources, y: loss(sources[0], y) == loss(sources[1], y),
            "begin with the same word",
        ),
        (lambda loss, sources, y: len({loss(x, y) for x in sources}) == 1, "rounding alone"),
        (lambda loss, sources, y: True, "the answer is False"),
        (lambda loss, sources, y: source_test(loss, sources, y) or None, "return False"),
    ],
    lecture_3.without_the_greatest: [
        (findings(greatest_away), "no longer sum to 1"),
        (findings(kept), "kept the greatest"),
        (findings(lambda a: kept(a).sign()), "kept the greatest"),
        (findings(lambda a: greatest_away(a) / greatest_away(a).sum()), "by its own sum"),
        (findings(lambda a: greatest_away(a).softmax(-1)), "second softmax"),
        (findings(evenly), "in proportion"),
        (findings(lambda a: a), "the new row is"),
        (findings(share=float("nan")), "words right: this is NaN"),
        (findings(share=0.97), "is not what words_right"),
        (findings(share=54), "a share was wanted"),
        (findings(share="half"), "one number was wanted"),
        (findings(than="more"), "run words_right(even)"),
        (findings(than="less"), '"more" or "fewer"'),
        (without, "A dictionary was wanted"),
    ],
    lecture_3.read_the_tables: [
        (reading(0.16, 0.6), "columns are exchanged"),
        (reading(0.4), "all: this is the share that remains"),
        (reading(0.76), "subtract the first row"),
        (reading(0.36), "all: this is the gain"),
        (reading(60), "from 0 to 1"),
        (reading(long=0.9), "12 words or more: ten times the steps lead from"),
        (reading("a quarter"), "one number was wanted"),
        (reading(word_class="adverb"), "Another loses more"),
        (reading(word_class="article"), "one of noun"),
        ([0.25], "A dictionary was wanted"),
    ],
}
BLANK = {
    lecture_3.without_the_greatest: (
        findings(share=...),
        findings(lambda a: ...),
        findings(than=...),
    )
}
