"""Lecture 4's exercises: wrong answers with the words that name the mistake."""

import math

import torch

from attnlab.exercises import scoring_functions as lecture_4


def first_two(score, query, key):
    return same(rows(score, query[:2], key))


def eye(scale):
    return lambda d: torch.eye(d, dtype=torch.float64) * scale(d)


def rows(score, query, key):
    return torch.softmax(score(query, key), -1)


def same(matrix):
    return torch.allclose(matrix, matrix[:1].expand_as(matrix))


ALL = set(lecture_4.SCORES)
GOLD = {"dot, Luong", "bilinear, Luong"}
BEFORE = (ALL - {"linear"}) | {"additive, Luong", "scaled dot, Luong"}


def findings(*, keys=frozenset({"additive"}), query=frozenset(ALL - {"linear"})):
    return {"keys": keys, "query": query}


def reading(*, gold=frozenset(GOLD), best="before", linear=1):
    return {"gold": gold, "best": best, "linear": linear}


WRONG = {
    lecture_4.matrix_for_scaled_dot: [
        (eye(lambda d: 1), "scale is missing"),
        (eye(lambda d: 1 / d), "divided by d"),
        (eye(math.sqrt), "multiplied by √d"),
        (lambda d: torch.ones(d, d) / math.sqrt(d), "matrix of ones"),
        (eye(lambda d: 1 / math.sqrt(3)), "wrong for d ="),
        (eye(lambda d: 5), "that must have"),
        (lambda d: d**-0.5, "wanted is (3, 3)"),
    ],
    lecture_4.finds_the_blind: [
        (lambda score, query, key: same(score(query, key)), "Compare weights"),
        (lambda *given: not same(rows(*given)), "The other way round"),
        (lambda *given: True, "For the dot product the answer is False"),
        (lambda *given: False, "without its tanh the answer is True"),
        (first_two, "sees one of the queries only the answer is False"),
        (lambda score, query, key: same(score(query, key).softmax(0)), "over the keys (dim=-1)"),
        (lambda *given: rows(*given).isclose(rows(*given)[:1]), "put .all()"),
        (4, "A function was wanted"),
    ],
    lecture_4.what_a_shift_changes: [
        (findings(keys=ALL), "Compare weights, after the softmax"),
        (findings(query=ALL), "Compare weights, after the softmax"),
        (findings(keys=ALL - {"additive"}), "The other way round"),
        (findings(query={"linear"}), "The other way round"),
        (findings(keys={"additive", "linear"}), "that cancels"),
        (findings(keys={"additive", "dot"}), "keys, dot: q · (k + a)"),
        (findings(keys=set()), "inside the tanh"),
        (findings(query={"additive"}), "query, dot: another query"),
        (findings(keys={"cosine"}), "'cosine' is not one of"),
        (findings(keys="additive"), "a set of names was wanted"),
        ({"keys": ALL}, "A dictionary was wanted"),
    ],
    lecture_4.read_the_looks: [
        (reading(gold={"additive", "dot"}), "additive looks at the digit"),
        (reading(gold={"dot, Luong"}), "bilinear, Luong looks"),
        (reading(gold=BEFORE), "the column of the digit before"),
        (reading(gold=GOLD | {"linear"}), "8 of 100 steps"),
        (reading(best="to write"), "written by additive, Luong"),
        (reading(best="additive, Luong"), '"to write" or "before"'),
        (reading(linear=0.08), "a share of all steps"),
        (reading(linear=13), "a share of 0.08 is right"),
        (1, "A dictionary was wanted"),
    ],
}
