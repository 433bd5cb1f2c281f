"""Exercises: the solution passes, the blank and named wrong answers fail with the right words."""

from __future__ import annotations

import math
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch

from attnbook.exercises import queries_keys_values as lecture_6
from attnbook.exercises import self_attention as lecture_5
from tests.book.lectures import NOTEBOOKS, code, read, tags

HAD_BOWL_NUTS = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]


def scaled(x):
    return x @ x.T / math.sqrt(x.shape[-1])


def masked(x, keep):
    return torch.softmax(scaled(x).masked_fill(~keep, -math.inf), -1) @ x


def lower(x, diagonal=0):
    return torch.ones(len(x), len(x), dtype=torch.bool).tril(diagonal)


def with_had(*had):
    return [list(had), *HAD_BOWL_NUTS[1:]]


def project(x, w_q, w_k, w_v, *, width=None, dim=-1):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return torch.softmax(q @ k.T / math.sqrt(width or q.shape[-1]), dim) @ v


def lookup(weigh):
    return lambda queries, keys, values: weigh(queries @ keys.T) @ values


def ones_at_best(scores):
    return (scores == scores.max(-1, keepdim=True).values).double()


INVERSE = torch.tensor(HAD_BOWL_NUTS, dtype=torch.float64).inverse()
CIRCLE = torch.eye(3, dtype=torch.float64).roll(1, dims=1)  # row i: a one for the next token


WRONG = [
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i], 0), "divide the scores"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.exp(scaled(x)[i]), "do not sum to 1"),
    (lecture_5.weights_of_one_token, lambda x, i: scaled(x)[i], "softmax is still to come"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 2, 0), "√n"),
    (
        lecture_5.weights_of_one_token,
        lambda x, i: torch.softmax(scaled(x), 0)[i],
        "over the queries",
    ),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(scaled(x), -1), "wanted is (4,)"),
    (lecture_5.weights_of_one_token, lambda x, i: x[i, :4], "are wrong"),
    (lecture_5.weights_of_one_token, 7, "A function was wanted"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(scaled(x)[2], 0), "must be x[i]"),
    (lecture_5.causal_self_attention, lambda x: masked(x, lower(x, -1)), "Row 0 is NaN"),
    (lecture_5.causal_self_attention, lambda x: masked(x, ~lower(x, -1)), "upside down"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x), -1).tril() @ x,
        "after the softmax",
    ),
    (lecture_5.causal_self_attention, lambda x: torch.softmax(scaled(x), -1) @ x, "no mask"),
    (lecture_5.causal_self_attention, lambda x: masked(x, ~lower(x)), "hid what should stay"),
    (lecture_5.causal_self_attention, lambda x: x, "output is wrong"),
    (lecture_5.causal_self_attention, lambda x: x @ x, "raised RuntimeError"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax((x @ x.T).masked_fill(~lower(x), -math.inf), -1) @ x,
        "forgot to divide",
    ),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x).tril(), -1) @ x,
        "score of 0 still gets a share",
    ),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x).masked_fill(~lower(x), -math.inf), 0) @ x,
        "over the queries",
    ),
    (lecture_5.causal_self_attention, lambda x: (x, x), "wanted is (4, 5)"),
    (lecture_5.causal_self_attention, lambda x: "x", "A tensor or lists of numbers"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 3**0.5, 0), "by √3"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 5, 0), "square root"),
    (lecture_5.causal_self_attention, lambda x: masked(x, lower(x, 1)), "one token of the future"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x) + (1 - lower(x).double()) * -math.inf, -1) @ x,
        "Did you multiply 0 by ∞",
    ),
    (
        lecture_5.sees_no_order,
        lambda layer, x: torch.allclose(layer(x.flip(0)), layer(x)),
        "as it stands",
    ),
    (lecture_5.sees_no_order, lambda layer, x: True, "every layer blind"),
    (lecture_5.sees_no_order, lambda layer, x: False, "the answer is True"),
    (lecture_5.scores_computed, lambda n: n * n / 2, "cuts the diagonal in two"),
    (lecture_5.attend_to_had, 5, "wanted is (3, 3)"),
    (lecture_5.attend_to_had, with_had(2, math.inf, 0), "ordinary numbers"),
    (lecture_5.attend_to_had, with_had(2, math.nan, 0), "ordinary numbers"),
    (lecture_5.scores_computed, lambda n: n * n, "all n² scores"),
    (lecture_5.scores_computed, lambda n: n * (n - 1) // 2, "left the diagonal out"),
    (lecture_5.scores_computed, lambda n: n, "one score a token"),
    (lecture_5.scores_computed, lambda n: n + 3, "you say [4, 6, 103]"),
    (lecture_5.attend_to_had, HAD_BOWL_NUTS, "change one number of had"),
    (lecture_5.attend_to_had, with_had(4, 4, 0), "You changed 2 numbers"),
    (lecture_5.attend_to_had, [[2, -1, 0], [1, 1, 1], [1, 2, 0]], "only had may change"),
    (lecture_5.attend_to_had, with_had(2, 3, 0), "must exceed nuts · nuts = 9"),
    (lecture_5.attend_to_had, [[1, 2]], "wanted is (3, 3)"),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=1),
        "forgot to divide",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=5),
        "divided by √d_model",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, dim=0),
        "over the queries",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=4),
        "divided by d_k itself",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=6),
        "divided by √n",
    ),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, k, q, v), "changed places"),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, k, k, v), "keys with keys"),
    (lecture_6.projected_attention, lambda x, q, k, v: (project(x, q, k, v), q), "output alone"),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, q, q, v), "keys come from w_k"),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, torch.eye(5, dtype=torch.float64)),
        "average the values",
    ),
    (lecture_6.projected_attention, lambda x, q, k, v: x @ v, "output is wrong"),
    (lecture_6.projected_attention, lambda x, q, k, v: q @ x, "raised RuntimeError"),
    (lecture_6.parameters, lambda d, d_k, d_v: d * d_k, "there are three"),
    (lecture_6.parameters, lambda d, d_k, d_v: 3 * d * d_k, "width of their own"),
    (lecture_6.parameters, lambda d, d_k, d_v: d * (d_k + d_v), "counted two matrices"),
    (lecture_6.parameters, lambda d, d_k, d_v: (d + 1) * (2 * d_k + d_v), "biases"),
    (lecture_6.parameters, lambda d, d_k, d_v: d + d_k + d_v, "you say [500, 640, 16]"),
    (lecture_6.hard_lookup, lookup(lambda e: torch.softmax(e, -1)), "at T = 1:"),
    (
        lecture_6.hard_lookup,
        lookup(lambda e: torch.softmax(e / math.sqrt(3), -1)),
        "at T = √d_k:",
    ),
    (lecture_6.hard_lookup, lookup(lambda e: torch.softmax(e / 0.001, -1)), "Some row is wrong"),
    (lecture_6.hard_lookup, lambda q, k, v: v[(q @ k.T).argmax(-1)], "you take one"),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: torch.stack([v[(k == k[b]).all(-1)].mean(0) for b in (q @ k.T).argmax(-1)]),
        "you take one",
    ),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: v[torch.cosine_similarity(q[:, None], k, dim=-1).argmax(-1)],
        "most alike",
    ),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: v[torch.cdist(q, k).argmin(-1)],
        "most alike",
    ),
    (lecture_6.hard_lookup, lookup(ones_at_best), "add their values up"),
    (lecture_6.hard_lookup, lambda q, k, v: v[(q @ k.T).argmin(-1)], "smallest score"),
    (lecture_6.hard_lookup, lambda q, k, v: v[:3], "Some row is wrong"),
    (lecture_6.column_form, lambda x, w: x.T @ w, "here vectors are columns"),
    (lecture_6.column_form, lambda x, w: w @ x, "the colleague's"),
    (
        lecture_6.column_form,
        lambda x, w: w.T @ x if w.shape[0] == w.shape[1] else x.mT @ w,
        "here vectors are columns",
    ),
    (lecture_6.column_form, lambda x, w: -(w.T @ x), "the numbers are not"),
    (lecture_6.column_form, lambda x, w: w, "wanted is (3, 4)"),
    (lecture_6.around_the_circle, (INVERSE, INVERSE), "scores are symmetric"),
    (lecture_6.around_the_circle, (INVERSE, INVERSE @ (6 * CIRCLE)), "the other way"),
    (lecture_6.around_the_circle, (INVERSE @ CIRCLE, INVERSE), "each must be 0.9"),
    (lecture_6.around_the_circle, (INVERSE * math.nan, INVERSE), "ordinary numbers"),
    (lecture_6.around_the_circle, 6, "A pair was wanted"),
    (lecture_6.around_the_circle, {"w_q": INVERSE, "w_k": INVERSE}, "A pair was wanted"),
    (lecture_6.around_the_circle, (INVERSE,) * 3, "there are 3"),
    (lecture_6.around_the_circle, (INVERSE[:, :2], INVERSE), "wanted is (3, 3)"),
]
WRONG += [(lecture_5.causal_self_attention, lambda x: x.zero_(), "not yet.")]  # destroys x
BLANK = [
    (lecture_5.weights_of_one_token, lambda x, i: None),
    (lecture_5.causal_self_attention, lambda x: ...),
    (lecture_5.scores_computed, lambda n: None),
    (lecture_5.attend_to_had, ...),
    (lecture_5.sees_no_order, lambda layer, x: None),
    (lecture_6.projected_attention, lambda x, w_q, w_k, w_v: None),
    (lecture_6.parameters, lambda d_model, d_k, d_v: ...),
    (lecture_6.hard_lookup, lambda queries, keys, values: None),
    (lecture_6.column_form, lambda x, w: None),
    (lecture_6.around_the_circle, ...),
    (lecture_6.around_the_circle, (..., ...)),
]
# those of the other lectures, each in a file of its own
for file in sorted(Path(__file__).parent.glob("answers_*.py")):
    lecture = import_module(f"tests.exercises.{file.stem}")
    WRONG += lecture.WRONG
    BLANK += lecture.BLANK


@pytest.mark.parametrize(("check", "answer", "words"), WRONG)
def test_wrong_answer_is_named(check, answer, words, capsys):
    check(answer)
    said = capsys.readouterr().out
    assert "not yet." in said
    assert words in said


@pytest.mark.parametrize(("check", "answer"), BLANK)
def test_blank_is_called_blank_and_raises_nothing(check, answer, capsys):
    check(answer)
    assert "still blank" in capsys.readouterr().out


def test_each_exercise_has_three_wrong_answers_at_least():
    named = [check.__name__ for check, *_ in WRONG]
    assert all(named.count(check.__name__) >= 3 for check, _ in BLANK)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_solutions_pass_and_stored_blanks_are_blank(path):
    """The notebook's own outputs say so, and nbval re-runs them."""
    cells = code(read(path))
    outputs = [(tags(c), "".join(o.get("text", "") for o in c.outputs)) for c in cells]
    solved = [text for tag, text in outputs if "solution" in tag]
    blank = [text for _, text in outputs if "still blank" in text]
    assert [re.findall(r"Exercise (\d+): correct", text) for text in solved] == [
        [str(number)] for number in range(1, len(solved) + 1)
    ]
    assert [re.findall(r"Exercise (\d+)", text) for text in blank] == [
        [str(number)] for number in range(1, len(blank) + 1)
    ]
