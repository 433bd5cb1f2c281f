"""Wrong answers to the exercises of lecture 2, each with words of what is said of it."""

from __future__ import annotations

import math

from attnbook.decoding import beam_search
from attnbook.exercises import decoding as lecture_2

RIGHT = 0.2 * 0.95 * 0.98


def says(words, p):
    """A search that returns these whatever it is given."""
    return lambda following: (words.split(), p)


def by_beam(following):
    return beam_search(following)


def every_sentence(following, prefix=(), p=1.0):
    """A full search that skips nothing: on a table without an end it never stops."""
    found = ([], 0.0)
    for word, share in following(prefix).items():
        one = (*prefix, word)
        ended = word == "<eos>"
        best = (list(one), p * share) if ended else every_sentence(following, one, p * share)
        found = max(found, best, key=lambda pair: pair[1])
    return found


def three_words_deep(following):
    """Exact up to three words: enough for the small table alone."""

    def search(prefix, p):
        if prefix[-1:] == ("<eos>",):
            return list(prefix), p
        if len(prefix) == 3:
            return list(prefix), 0.0
        found = [search((*prefix, w), p * q) for w, q in following(prefix).items()]
        return max(found, key=lambda pair: pair[1])

    return search((), 1.0)


def places(different=1, best=0.1026, like=1):
    return {"different": different, "best": best, "like": like}


def measures(search="B", divide="A", train="C", most=0.55):
    return {"search": search, "divide": divide, "train": train, "most": most}


def written(following, first, length, *, forbid="pair", stop=True):
    words, seen = [first], set()
    while len(words) <= length:
        row = following(words[-1])
        used = {w for w in row if (words[-1], w) in seen} if forbid == "pair" else set(words)
        allowed = [w for w in row if w not in used or forbid == "nothing"]
        if not allowed and stop:
            break
        words.append(max(allowed or row, key=row.get))
        seen.add((words[-2], words[-1]))
    return words[1:]


def least_probable(following, first, length):
    words = [first]
    for _ in range(length):
        row = following(words[-1])
        words.append(min(row, key=row.get))
    return words[1:]


WRONG = [
    (lecture_2.exact_search, by_beam, "beam_search is the lecture's"),
    (lecture_2.exact_search, beam_search, "beam_search is the lecture's"),
    (lecture_2.exact_search, says("une chatte noire <eos>", 0.0945), "greedy's sentence"),
    (lecture_2.exact_search, says("un chat <eos>", 0.12), "a beam of two finds"),
    (lecture_2.exact_search, says("une <eos>", 0.045), "the shortest"),
    (lecture_2.exact_search, says("minou noir", 0.19), "keep <eos>"),
    (lecture_2.exact_search, says("une souris <eos>", 0.162), "not the most probable"),
    (lecture_2.exact_search, says("minou noir <eos>", math.log(RIGHT)), "That is log p"),
    (lecture_2.exact_search, says("minou noir <eos>", 0.19), "their probability is 0.1862"),
    (lecture_2.exact_search, says("minou noir <eos>", RIGHT), "wrong for one without an end"),
    (lecture_2.exact_search, three_words_deep, "wrong for one without an end"),
    (lecture_2.exact_search, every_sentence, "your search does not stop"),
    (lecture_2.exact_search, lambda following: ("minou noir <eos>", RIGHT), "this is str"),
    (lecture_2.exact_search, lambda following: (["minou"], "p"), "A number was wanted"),
    (lecture_2.exact_search, lambda following: RIGHT, "Two things were wanted"),
    (lecture_2.all_places_alike, places(different=3), "different: 3 is not it"),
    (lecture_2.all_places_alike, places(best=0.1824), "what the right search finds"),
    (lecture_2.all_places_alike, places(best=math.log(0.1026)), "best: that is log p"),
    (lecture_2.all_places_alike, places(best=0.1496), "best: 0.1496 is not it"),
    (lecture_2.all_places_alike, places(like=3), "with k = 3 the right search"),
    (lecture_2.all_places_alike, {"different": 1}, "A dictionary was wanted"),
    (lecture_2.read_the_measures, measures(search="A"), "search: not A"),
    (lecture_2.read_the_measures, measures(divide="c"), "divide: not C"),
    (lecture_2.read_the_measures, measures(train="B"), "train: not B"),
    (lecture_2.read_the_measures, measures(most=0.3), "what it has now"),
    (lecture_2.read_the_measures, measures(most=1.0), "scores too low"),
    (lecture_2.read_the_measures, measures(most=0.75), "cannot be mended by search"),
    (lecture_2.read_the_measures, measures(most=0.5), "most: 0.5 is not it"),
    (lecture_2.read_the_measures, measures(most="half"), "A number was wanted"),
    (lecture_2.no_pair_twice, lambda f, w, n: written(f, w, n, forbid="nothing"), "as it was"),
    (lecture_2.no_pair_twice, lambda f, w, n: written(f, w, n, forbid="word"), "only pairs"),
    (lecture_2.no_pair_twice, lambda f, w, n: [w, *written(f, w, n)], "The first word is given"),
    (lecture_2.no_pair_twice, lambda f, w, n: [w, *written(f, w, n)][:n], "first word is given"),
    (lecture_2.no_pair_twice, lambda f, w, n: written(f, w, n, stop=False), "Right for 8 words"),
    (lecture_2.no_pair_twice, least_probable, "After '.' another word"),
    (lecture_2.no_pair_twice, lambda f, w, n: " ".join(written(f, w, n)), "this is str"),
]
BLANK = [
    (lecture_2.exact_search, lambda following: ...),
    (lecture_2.all_places_alike, {"different": ..., "best": ..., "like": ...}),
    (lecture_2.all_places_alike, None),
    (lecture_2.read_the_measures, {"search": ..., "divide": ..., "train": ..., "most": ...}),
    (lecture_2.no_pair_twice, lambda following, first, length: None),
]
