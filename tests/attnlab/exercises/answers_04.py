"""Lecture 4's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

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


WRONG = [
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1), "scale is missing"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1 / d), "divided by d"),
    (lecture_4.matrix_for_scaled_dot, eye(math.sqrt), "multiplied by √d"),
    (lecture_4.matrix_for_scaled_dot, lambda d: torch.ones(d, d) / math.sqrt(d), "matrix of ones"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1 / math.sqrt(3)), "wrong for d = 4"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 5), "that must have"),
    (lecture_4.matrix_for_scaled_dot, lambda d: d**-0.5, "wanted is (3, 3)"),
    (
        lecture_4.finds_the_blind,
        lambda score, query, key: same(score(query, key)),
        "Compare weights",
    ),
    (lecture_4.finds_the_blind, lambda *given: not same(rows(*given)), "The other way round"),
    (lecture_4.finds_the_blind, lambda *given: True, "For the dot product the answer is False"),
    (lecture_4.finds_the_blind, lambda *given: False, "without its tanh the answer is True"),
    (lecture_4.finds_the_blind, first_two, "sees one of the queries only the answer is False"),
    (
        lecture_4.finds_the_blind,
        lambda score, query, key: same(score(query, key).softmax(0)),
        "over the keys (dim=-1)",
    ),
    (
        lecture_4.finds_the_blind,
        lambda *given: rows(*given).isclose(rows(*given)[:1]),
        "put .all()",
    ),
    (lecture_4.finds_the_blind, 4, "A function was wanted"),
    (lecture_4.what_a_shift_changes, findings(keys=ALL), "Compare weights, after the softmax"),
    (lecture_4.what_a_shift_changes, findings(query=ALL), "Compare weights, after the softmax"),
    (lecture_4.what_a_shift_changes, findings(keys=ALL - {"additive"}), "The other way round"),
    (lecture_4.what_a_shift_changes, findings(query={"linear"}), "The other way round"),
    (lecture_4.what_a_shift_changes, findings(keys={"additive", "linear"}), "that cancels"),
    (lecture_4.what_a_shift_changes, findings(keys={"additive", "dot"}), "keys, dot: q · (k + a)"),
    (lecture_4.what_a_shift_changes, findings(keys=set()), "inside the tanh"),
    (lecture_4.what_a_shift_changes, findings(query={"additive"}), "query, dot: another query"),
    (lecture_4.what_a_shift_changes, findings(keys={"cosine"}), "'cosine' is not one of"),
    (lecture_4.what_a_shift_changes, findings(keys="additive"), "a set of names was wanted"),
    (lecture_4.what_a_shift_changes, {"keys": ALL}, "A dictionary was wanted"),
    (lecture_4.read_the_looks, reading(gold={"additive", "dot"}), "additive looks at the digit"),
    (lecture_4.read_the_looks, reading(gold={"dot, Luong"}), "bilinear, Luong looks"),
    (lecture_4.read_the_looks, reading(gold=BEFORE), "the column of the digit before"),
    (lecture_4.read_the_looks, reading(gold=GOLD | {"linear"}), "8 of 100 steps"),
    (lecture_4.read_the_looks, reading(best="to write"), "written by additive, Luong"),
    (lecture_4.read_the_looks, reading(best="additive, Luong"), '"to write" or "before"'),
    (lecture_4.read_the_looks, reading(linear=0.08), "a share of all steps"),
    (lecture_4.read_the_looks, reading(linear=13), "a share of 0.08 is right"),
    (lecture_4.read_the_looks, 1, "A dictionary was wanted"),
]
BLANK = [
    (lecture_4.matrix_for_scaled_dot, lambda d: None),
    (lecture_4.finds_the_blind, lambda *given: None),
    (lecture_4.what_a_shift_changes, {"keys": ..., "query": ...}),
    (lecture_4.what_a_shift_changes, None),
    (lecture_4.read_the_looks, reading(linear=...)),
]
