"""Wrong answers to the exercises of lecture 2, each with words of what is said of it."""

from __future__ import annotations

import math
from collections import Counter

import torch

from attnbook.exercises import decoding as lecture_2


def greedy(table, until="</s>"):
    prefix, p = (), 1.0
    while not prefix or prefix[-1] != until:
        word = max(table[prefix], key=table[prefix].get)
        prefix, p = (*prefix, word), p * table[prefix][word]
    return list(prefix), p


def candidates(living, table):
    found = [((*x, w), q + math.log(p)) for x, q in living for w, p in table[x].items()]
    return sorted(found, key=lambda one: -one[1])


def split(kept):
    ends = [one[0][-1] == "</s>" for one in kept]
    return (
        [one for one, end in zip(kept, ends, strict=True) if not end],
        [one for one, end in zip(kept, ends, strict=True) if end],
    )


def stepped(change):
    """A right step, whose two lists are then changed."""
    return lambda living, table, k: change(*split(candidates(living, table)[:k]))


def with_numbers(number):
    """A right step with other numbers, by the parent's log p and the word's p."""

    def step(living, table, k):
        alive, ended = split(candidates(living, table)[:k])
        before = dict(living)
        return tuple(
            [(x, number(before[x[:-1]], table[x[:-1]][x[-1]])) for x, _ in part]
            for part in (alive, ended)
        )

    return step


def each_parent(living, table, k):
    kept = [one for parent in living for one in candidates([parent], table)[:k]]
    return split(sorted(kept, key=lambda one: -one[1]))


def places_for_the_living(living, table, k):
    alive, ended = split(candidates(living, table))
    return alive[:k], ended


def the_worst(living, table, k):
    return split(candidates(living, table)[-k:])


def the_first_parent(living, table, k):
    return split(candidates(living[:1], table)[:2])


def by(score):
    return lambda given, a: max(given, key=lambda one: score(one[1], len(one[0]), a))[0]


def grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def without_the_last(mine, theirs, n):
    a, b = grams(mine[:-1], n), grams(theirs[:-1], n)
    return right(a, b), a.total()


def counted_errors(found, references, better=float.__gt__, all_wrong=False):
    pairs = [(f, r) for f, r in zip(found, references, strict=True) if all_wrong or f[0] != r[0]]
    missed = sum(better(r[1], f[1]) for f, r in pairs)
    return missed, len(pairs) - missed


def counted(count):
    return lambda mine, theirs, n: count(grams(mine, n), grams(theirs, n))


def right(a, b):
    return sum((a & b).values())


WRONG = [
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0][:-1], 0.105), "keep </s>"),
    (lecture_2.greedy_sentence, lambda t: (["une", "chatte", "</s>"], 0.09), "is possible"),
    (lecture_2.greedy_sentence, lambda t: (["un", "chat", "</s>"], 0.24), "most probable sentence"),
    (lecture_2.greedy_sentence, lambda t: (["une", "</s>"], 0.06), "other words"),
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0], 2.3), "multiply them"),
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0], 0.21), "last factor"),
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0], math.log(0.105)), "That is log p"),
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0], 0.5), "is not 0.5"),
    (lecture_2.greedy_sentence, lambda t: (greedy(t)[0], "p"), "A number was wanted"),
    (lecture_2.greedy_sentence, lambda t: (" ".join(greedy(t)[0]), 0.105), "this is str"),
    (lecture_2.greedy_sentence, greedy(lecture_2.small_table()), "A function was wanted"),
    (lecture_2.greedy_sentence, lambda t: (None, 0.105), "this is NoneType"),
    (
        lecture_2.greedy_sentence,
        lambda t: (["une", "chatte", "noire", "</s>"], 0.105),
        "wrong for another",
    ),
    (lecture_2.greedy_sentence, lambda t: greedy(t)[0], "Two things were wanted"),
    (lecture_2.beam_step, stepped(lambda alive, ended: (alive + ended, [])), "put aside"),
    (lecture_2.beam_step, stepped(lambda alive, ended: (alive, [])), "dropped what has ended"),
    (lecture_2.beam_step, stepped(lambda alive, ended: (alive[::-1], ended)), "best first"),
    (lecture_2.beam_step, stepped(lambda alive, ended: (ended, alive)), "Other hypotheses"),
    (lecture_2.beam_step, lambda living, t, k: split(candidates(living, t)), "kept everything"),
    (lecture_2.beam_step, places_for_the_living, "ended ones too"),
    (
        lecture_2.beam_step,
        lambda living, t, k: split(candidates(living, t)[-k:]),
        "kept the worst k",
    ),
    (
        lecture_2.beam_step,
        lambda living, t, k: split(candidates(living[:1], t)[:2]),
        "best hypothesis alone",
    ),
    (lecture_2.beam_step, with_numbers(lambda before, p: before + p), "take its logarithm"),
    (lecture_2.beam_step, with_numbers(lambda before, p: math.log(p)), "add it to the parent's"),
    (lecture_2.beam_step, with_numbers(lambda before, p: before - 1), "yours is"),
    (lecture_2.beam_step, lambda living, t, k: (5, 6), "list of pairs"),
    (lecture_2.beam_step, stepped(lambda alive, ended: (alive, ended * 2)), "there twice"),
    (
        lecture_2.beam_step,
        stepped(lambda alive, ended: (alive, [(x, p / len(x)) for x, p in ended])),
        "divided by the length",
    ),
    (
        lecture_2.beam_step,
        stepped(lambda alive, ended: ([*alive[:1], (alive[-1][0], -99.0)], ended)),
        "log p of ('un', 'chat')",
    ),
    (
        lecture_2.beam_step,
        stepped(lambda alive, ended: (alive, [(x, math.log(0.45)) for x, _ in ended])),
        "log p of ('une', '</s>')",
    ),
    (lecture_2.beam_step, lambda living, t, k: split(candidates(living, t)[:3]), "with k = 2"),
    (lecture_2.beam_step, lambda living, t, k: candidates(living, t)[:k], "Two things were wanted"),
    (lecture_2.best_by_score, by(lambda p, n, a: p), "for every α"),
    (lecture_2.best_by_score, by(lambda p, n, a: p / n), "whatever α is"),
    (lecture_2.best_by_score, by(lambda p, n, a: p * n**a), "You multiply"),
    (lecture_2.best_by_score, by(lambda p, n, a: p / max(n * a, 1e-9)), "α is an exponent"),
    (lecture_2.best_by_score, by(lambda p, n, a: -p / n**a), "lowest score"),
    (lecture_2.best_by_score, by(lambda p, n, a: p / (n - 1) ** a), "leaves </s> out"),
    (lecture_2.best_by_score, lambda given, a: given[3][0], "Another hypothesis"),
    (lecture_2.best_by_score, lambda given, a: given[9], "raised IndexError"),
    (lecture_2.best_by_score, by(lambda p, n, a: p / ((5 + n) / 6) ** a), "Wu et al."),
    (lecture_2.best_by_score, lambda given, a: given[1], "not its pair"),
    (lecture_2.best_by_score, lambda given, a: 2, "not its pair"),
    (lecture_2.best_by_score, lambda given, a: " ".join(given[1][0]), "not its pair"),
    (
        lecture_2.clipped_matches,
        counted(lambda a, b: (sum(c for g, c in a.items() if g in b), a.total())),
        "do not clip",
    ),
    (
        lecture_2.clipped_matches,
        counted(lambda a, b: (len(a.keys() & b.keys()), a.total())),
        "each n-gram once",
    ),
    (lecture_2.clipped_matches, counted(lambda a, b: (right(a, b), b.total())), "be recall"),
    (lecture_2.clipped_matches, counted(lambda a, b: (right(a, b), len(a))), "repeated ones too"),
    (
        lecture_2.clipped_matches,
        lambda a, b, n: (right(grams(a, 1), grams(b, 1)), len(a)),
        "always count single words",
    ),
    (
        lecture_2.clipped_matches,
        lambda a, b, n: (right(grams(a, n), grams(b, n)), 10),
        "nine pairs",
    ),
    (lecture_2.clipped_matches, without_the_last, "last n-gram is missing"),
    (lecture_2.clipped_matches, lambda a, b, n: (0, 1), "0 of 1"),
    (lecture_2.clipped_matches, lambda a, b, n: 0.5, "Two things were wanted"),
    (lecture_2.at_temperature, lambda p, t: torch.softmax(p / t, 0), "divide log p"),
    (lecture_2.at_temperature, lambda p, t: torch.softmax(p.log() * t, 0), "must sharpen"),
    (lecture_2.at_temperature, lambda p, t: p / t, "changes no proportion"),
    (lecture_2.at_temperature, lambda p, t: p / t / (p / t).sum(), "as they came"),
    (lecture_2.at_temperature, lambda p, t: p ** (1 / t), "the sum is not 1: divide"),
    (lecture_2.at_temperature, lambda p, t: p.log() / t, "These are logarithms"),
    (lecture_2.at_temperature, lambda p, t: torch.softmax(p.log2() / t, 0), "natural logarithm"),
    (lecture_2.at_temperature, lambda p, t: p.flip(0), "must return p"),
    (lecture_2.at_temperature, lambda p, t: torch.softmax(p.log() / 0.4, 0), "wrong for T = 3"),
    (lecture_2.at_temperature, lambda p, t: p[:2], "wanted is (4,)"),
    (lecture_2.missed_and_preferred, lambda f, r: counted_errors(f, r)[::-1], "swapped"),
    (lecture_2.missed_and_preferred, lambda f, r: counted_errors(f, r, float.__lt__), "swapped"),
    (
        lecture_2.missed_and_preferred,
        lambda f, r: counted_errors(f, r, all_wrong=True),
        "leave them out",
    ),
    (
        lecture_2.missed_and_preferred,
        lambda f, r: tuple(n / len(f) for n in counted_errors(f, r)),
        "you say 0.166667 and 0.5",
    ),
    (lecture_2.missed_and_preferred, lambda f, r: (1, 3), "first two of them"),
    (lecture_2.missed_and_preferred, lambda f, r: (0, 0), "you say 0 and 0"),
    (lecture_2.missed_and_preferred, lambda f, r: 4, "Two things were wanted"),
]
BLANK = [
    (lecture_2.greedy_sentence, lambda table: None),
    (lecture_2.beam_step, lambda living, table, k: ...),
    (lecture_2.best_by_score, lambda hypotheses, alpha: None),
    (lecture_2.clipped_matches, lambda output, reference, n: ...),
    (lecture_2.at_temperature, lambda p, temperature: None),
    (lecture_2.missed_and_preferred, lambda found, references: ...),
]
