"""Wrong answers to the exercises of lecture 2, each with words of what is said of it."""

import math

import torch

from attnbook import decoding
from attnlab.exercises import decoding as lecture_2

RIGHT = 0.2 * 0.95 * 0.98


def says(words, p):
    """A search that returns these whatever it is given."""
    return lambda following: (words.split(), p)


def by_beam(following):
    source, lengths = torch.zeros(1, 1).long(), torch.ones(1).long()
    return getattr(decoding, "beam_search")(None, source, lengths, beam=2, max_length=3)  # noqa: B009


def every_sentence(following, prefix=(), p=1.0):
    """A full search that skips nothing: on a table without an end it never stops."""
    found = ([], 0.0)
    for word, share in following(prefix).items():
        one = (*prefix, word)
        ended = word == "<eos>"
        best = (list(one), p * share) if ended else every_sentence(following, one, p * share)
        found = max(found, best, key=lambda pair: pair[1])
    return found


def last_word_first(following):
    """Depth first, skipping what cannot win: it ends no sentence where the end comes first."""
    best, waiting = ([], 0.0), [((), 1.0)]
    while waiting:
        prefix, p = waiting.pop()
        if p <= best[1]:
            continue
        if prefix[-1:] == ("<eos>",):
            best = list(prefix), p
            continue
        waiting += [((*prefix, word), p * share) for word, share in following(prefix).items()]
    return best


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


def step(
    model, last, state, log_p, *, ends="kept", softmax=True, add=True, compete="sentence",
    reorder="kept", offset=True, flat=True, swap=False,
):  # fmt: skip
    """The right step, with one thing wrong."""
    b, k = log_p.shape
    logits, moved = model.step(last, state)
    before = log_p[..., None] if add else 0
    if ends == "masked first":
        all_ends = (log_p[..., None] + logits.log_softmax(-1).view(b, k, -1))[..., 2]
        logits[:, 2] = -math.inf
    total = before + (logits.log_softmax(-1) if softmax else logits).view(b, k, -1)
    size = total.shape[-1]
    if ends != "masked first":
        # the right ones where log_p is what is wrong, so that log_p is reached
        of_all = log_p[..., None] + logits.log_softmax(-1).view(b, k, -1)
        all_ends = {
            "bare": logits.log_softmax(-1).view_as(total),
            "raw": log_p[..., None] + logits.view_as(total),
        }
        all_ends = all_ends.get(ends, of_all)[..., 2].clone()
    if ends != "stay":
        total[..., 2] = -math.inf
    if ends == "late":
        all_ends = total[..., 2]
    if compete == "hypothesis":
        found, words = total.max(-1)
        parents = torch.arange(k).expand(b, k)
    elif compete == "batch":
        found, chosen = total.flatten().topk(b * k)
        found, chosen = found.view(b, k), chosen.view(b, k) % (k * size)
        parents, words = chosen // size, chosen % size
    else:
        found, chosen = total.flatten(1).topk(k)
        parents, words = chosen // size, chosen % size
    if swap:
        words = parents
    rows = (torch.arange(b)[:, None] * k if offset else 0) + parents
    rows = rows.flatten() if flat else rows
    if reorder == "nowhere":
        picked = moved
    else:
        picked = model.reorder(state if reorder == "old" else moved, rows)
    return words.flatten(), "state" if reorder == "lost" else picked, found, all_ends


def wrong_step(**wrong):
    return lambda model, last, state, log_p: step(model, last, state, log_p, **wrong)


WRONG = {
    lecture_2.exact_search: [
        (by_beam, "beam_search does it for you"),
        (decoding.beam_search, "beam_search does it for you"),
        (says("une chatte noire <eos>", 0.0945), "greedy's sentence"),
        (says("un chat <eos>", 0.12), "a beam of two finds"),
        (says("une <eos>", 0.045), "the shortest"),
        (says("minou noir", 0.19), "keep <eos>"),
        (says("une souris <eos>", 0.162), "not the most probable"),
        (says("minou noir <eos>", math.log(RIGHT)), "That is log p"),
        (says("minou noir <eos>", 0.19), "their probability is 0.1862"),
        (says("minou noir <eos>", RIGHT), "wrong for one without an end"),
        (three_words_deep, "wrong for one without an end"),
        (every_sentence, "your search does not stop"),
        (last_word_first, "your search does not stop"),
        (lambda following: ("minou noir <eos>", RIGHT), "this is str"),
        (lambda following: (["minou"], "p"), "one number was wanted"),
        (lambda following: RIGHT, "Two things were wanted"),
    ],
    lecture_2.all_places_alike: [
        (places(different=3), "different: 3 is not it"),
        (places(best=0.1824), "what the right search finds"),
        (places(best=math.log(0.1026)), "best: that is log p"),
        (places(best=0.1496), "best: 0.1496 is not it"),
        (places(like=3), "with k = 3 the right search"),
        ({"different": 1}, "A dictionary was wanted"),
    ],
    lecture_2.read_the_measures: [
        (measures(search="A"), "search: not A"),
        (measures(divide="c"), "divide: not C"),
        (measures(train="B"), "train: not B"),
        (measures(most=0.3), "what it has now"),
        (measures(most=1.0), "scores too low"),
        (measures(most=0.75), "mends no model errors"),
        (measures(most=0.5), "most: 0.5 is not it"),
        (measures(most="half"), "one number was wanted"),
    ],
    lecture_2.ends_take_no_place: [
        (wrong_step(ends="stay"), "an end took a place"),
        (wrong_step(softmax=False), "log_p: logits are no log p"),
        (wrong_step(ends="bare"), "<eos> alone"),
        (wrong_step(ends="raw"), "ends: logits are no log p"),
        (wrong_step(ends="late"), "before you write −∞"),
        (wrong_step(ends="masked first"), "before the softmax"),
        (wrong_step(add=False), "the words before"),
        (wrong_step(compete="hypothesis"), "each hypothesis kept its best"),
        (wrong_step(compete="batch"), "sentences compete with each other"),
        (wrong_step(swap=True), "last: the log p are right"),
        (wrong_step(reorder="nowhere"), "in the old order"),
        (wrong_step(reorder="old"), "the one before the step"),
        (wrong_step(reorder="lost"), "what the model's reorder returns"),
        (wrong_step(offset=False), "Sentence i begins at row i · k"),
        (wrong_step(flat=False), "flatten them"),
        (lambda model, *rows: rows, "Four things were wanted"),
        (lambda model, *rows: (*rows, rows[2]), "ends: wanted is"),
    ],
}
