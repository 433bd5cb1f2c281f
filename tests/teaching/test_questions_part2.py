"""The exam questions of lectures 5 to 9: every answer computed again, from the text as printed."""

from __future__ import annotations

import math
import random
import re
from importlib import import_module

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, masked_softmax
from attnbook.layers import Encoder
from attnbook.masks import causal_mask, padding_mask
from attnbook.positions import sinusoidal
from teaching.kit.questions import Choice, Number, Question, Text
from tests.book.lectures import ROOT

NAMES = (
    "05-self-attention",
    "06-queries-keys-values",
    "07-scaling-and-masks",
    "08-multi-head-attention",
    "09-positions",
)
ASKED = {
    name: [
        found
        for found in vars(import_module(f"teaching.questions.q{name.replace('-', '_')}")).values()
        if isinstance(found, Question)
    ]
    for name in NAMES
}
BY_NAME = {asked.name: asked for questions in ASKED.values() for asked in questions}
SEEDS = range(8)
seeds = pytest.mark.parametrize("seed", SEEDS)


def make(name, seed):
    return BY_NAME[name](random.Random(seed))


def numbers(text):
    """All numbers of a text, in order; 1,024 is one number, as is −3 written with a hyphen."""
    found = re.findall(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [float(number.replace(",", "")) for number in found]


def vectors(text, *sizes):
    """The numbers of a text cut into vectors of these sizes; what is left comes last."""
    found = torch.tensor(numbers(text), dtype=torch.float64)
    return found.split([*sizes, len(found) - sum(sizes)])


def answered(made, *values):
    assert isinstance(made, Number)
    assert list(made.answers.values()) == pytest.approx([float(v) for v in values], abs=1e-9)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", NAMES)
def test_a_lecture_has_questions_of_each_kind_on_sections_that_it_has(name):
    kinds = [type(asked(random.Random(0))) for asked in ASKED[name]]
    assert len(kinds) >= 6
    assert min(kinds.count(kind) for kind in (Number, Choice, Text)) >= 2
    lecture = (ROOT / "book" / "lectures" / f"{name}.md").read_text(encoding="utf-8")
    for asked in ASKED[name]:
        assert f"\n## {asked.section} " in lecture, asked.name


@pytest.mark.parametrize("name", BY_NAME)
def test_the_same_seed_asks_the_same_and_other_seeds_ask_otherwise(name):
    assert make(name, 7) == make(name, 7)
    assert len({repr(make(name, seed)) for seed in SEEDS}) > 1


@pytest.mark.parametrize("name", BY_NAME)
def test_the_solution_states_each_answer_that_is_not_whole(name):
    made = make(name, 3)
    if isinstance(made, Number):
        for label, value in made.answers.items():
            assert value == round(value) or made.rounded(label).rstrip("0") in made.solution, label


# Lecture 5


@seeds
def test_a_row_by_hand(seed):
    made = make("a_row_by_hand", seed)
    x = torch.stack(vectors(made.text, 4, 4, 4)[:3])
    output, weights = attention(x, x, x)
    answered(made, *weights[0], output[0, 0])


@seeds
def test_pairs_that_are_left(seed):
    made = make("pairs_that_are_left", seed)
    real, n = (int(number) for number in numbers(made.text)[:2])
    right = causal_mask(n) & padding_mask([real], n_k=n)[0]
    left = causal_mask(n) & padding_mask([real], n_k=n)[0].flip(-1)
    answered(made, right.sum(), left.sum(), (~left.any(dim=-1)).sum())


@seeds
def test_work_against_recurrence(seed):
    made = make("work_against_recurrence", seed)
    d, n, longer = (int(number) for number in numbers(made.text))
    recurrent = sum(d * d + d * d for _ in range(n))
    attended = sum(2 * n * d for _ in range(n))
    longer_one = 2 * (longer * n) * (longer * n) * d
    answered(made, attended / recurrent, n, longer_one / attended)


@seeds
def test_zeros_as_padding(seed):
    real, pad = (int(number) for number in numbers(make("zeros_as_padding", seed).text)[:2])
    x = normal(real, 5, seed=seed)
    padded = torch.cat([x, torch.zeros(pad, 5)])
    factor = attention(padded, padded, padded).output[:real] / attention(x, x, x).output
    torch.testing.assert_close(factor, factor[:, :1].expand_as(factor))
    assert (factor > 0).all()
    assert (factor < 1).all()


@seeds
def test_a_swap_under_a_causal_mask(seed):
    made = make("a_swap_under_a_causal_mask", seed)
    n, _, i, j = (int(number) for number in numbers(made.text))
    x, order = normal(n, 4, seed=seed), list(range(n))
    order[i - 1], order[j - 1] = j - 1, i - 1
    before, after = (attention(t, t, t, causal_mask(n)).output for t in (x, x[order]))
    moved = (~torch.isclose(before, after).all(dim=-1)).nonzero()[:, 0] + 1
    assert moved.tolist() == list(range(i, j + 1))
    assert made.right == f"At places {i} to {j}"


@seeds
def test_zero_in_place_of_minus_infinity(seed):
    made = make("zero_in_place_of_minus_infinity", seed)
    scores = torch.tensor(numbers(made.text)[:3], dtype=torch.float64)
    may = torch.tensor([True, True, False])
    wrong, right = torch.softmax(scores * may, dim=0), masked_softmax(scores, may)
    assert wrong.argmax() == 2
    for weight in (*wrong, *right[:2]):
        assert f"{weight:.3f}" in made.solution


@seeds
def test_recurrence_replaced(seed):
    made = make("recurrence_replaced", seed)
    n, d = numbers(made.text)
    assert f"$n/d = {n / d:.0f}$" in made.solution


# Lecture 6


@seeds
def test_two_directions(seed):
    made = make("two_directions", seed)
    a, b, w_q, w_k, _ = vectors(made.text, 2, 2, 4, 4)
    scores = torch.stack([a, b]) @ w_q.view(2, 2) @ (torch.stack([a, b]) @ w_k.view(2, 2)).T
    answered(made, scores[0, 1], scores[1, 0], scores[0, 1] / 2**0.5)


@seeds
def test_back_to_the_query(seed):
    made = make("back_to_the_query", seed)
    alpha, values, keys, rest = vectors(made.text, 3, 3, 3)
    wanted = rest[-1]  # after d_k = 1
    query = torch.ones((), dtype=torch.float64, requires_grad=True)
    offset = alpha.log() - keys  # so that the scores give these weights
    scores = query * keys + offset
    scores.retain_grad()
    ((torch.softmax(scores, dim=0) @ values - wanted) ** 2).backward()
    answered(made, *scores.grad, query.grad)


@seeds
def test_thin_matrices(seed):
    made = make("thin_matrices", seed)
    d_model, d_k, d_v, n = (int(number) for number in numbers(made.text))
    w_q, w_k, w_v = (normal(d_model, width, seed=i) for i, width in enumerate((d_k, d_k, d_v)))
    x = normal(n, d_model, seed=3)
    rank = torch.linalg.matrix_rank(w_q @ w_k.T)
    output = attention(x @ w_q, x @ w_k, x @ w_v).output
    answered(made, w_q.numel() + w_k.numel() + w_v.numel(), rank, output.numel())


@seeds
def test_factors_that_cancel(seed):
    made = make("factors_that_cancel", seed)
    c = numbers(made.text)[0]
    q, k, v = normal(3, 4, 5)
    one, other = attention(q, k, v), attention(c * q, k / c, c * v)
    torch.testing.assert_close(other.weights, one.weights)
    torch.testing.assert_close(other.output, c * one.output)
    assert made.right == f"The weights stay and the output is {c:.0f} times as large"


@seeds
def test_an_answer_that_cannot_be(seed):
    made = make("an_answer_that_cannot_be", seed)
    values = torch.tensor(numbers(made.text)[:6], dtype=torch.float64).view(3, 2)
    system = torch.cat([values, torch.ones(3, 1)], dim=1).T  # weights that sum to 1
    for option in (made.right, *made.wrong):
        answer = torch.tensor([*numbers(option), 1.0], dtype=torch.float64)
        possible = (torch.linalg.solve(system, answer) > 0).all()
        assert possible == (option != made.right)


@seeds
def test_keys_against_queries(seed):
    text = make("keys_against_queries", seed).text
    c = float(re.search(r"-(\d*)W\^Q", text)[1] or 1)
    w_q = normal(6, 3, seed=seed)
    x = normal(4, 6, seed=seed + 1)
    q = x @ w_q
    q = q / q.norm(dim=-1, keepdim=True)  # queries of one length
    scores = q @ (-c * q).T
    torch.testing.assert_close(scores, scores.T)
    assert (scores.argmin(dim=-1) == torch.arange(4)).all()
    torch.testing.assert_close(scores.diagonal(), torch.full((4,), -c, dtype=torch.float64))


def moves(zeros, step):
    """Which matrices get a gradient in a step of plain descent, if these begin as zeros."""
    w = {name: normal(4, 3, seed=i) for i, name in enumerate("QKV")}
    for name in w:
        w[name] = (w[name] * (name not in zeros)).requires_grad_()
    x, wanted = normal(5, 4, seed=8), normal(5, 3, seed=9)
    for _ in range(step):
        output = attention(*(x @ matrix for matrix in w.values())).output
        grads = torch.autograd.grad(((output - wanted) ** 2).sum(), list(w.values()))
        for matrix, grad in zip(w.values(), grads, strict=True):
            matrix.data -= 0.1 * grad
    return {name for name, grad in zip(w, grads, strict=True) if grad.abs().max() > 1e-12}


@seeds
def test_a_matrix_of_zeros(seed):
    made = make("a_matrix_of_zeros", seed)
    zero = re.search(r"in the second \$W\^(.)\$", made.text)[1]
    assert moves("V", 1) == {"V"}
    assert moves("V", 2) == set("QKV")
    assert moves(zero, 1) == {zero, "V"}
    assert moves(zero, 2) == set("QKV")
    assert moves("QK", 1) == moves("QK", 5) == {"V"}
    assert any(f"$W^{zero}$ and $W^V$ move" in mark for mark, _ in made.marks)


# Lecture 7


@seeds
def test_keys_with_a_mean(seed):
    made = make("keys_with_a_mean", seed)
    _, a, m, b, d = numbers(made.text)  # the first is the query's mean
    scores = (a * normal(5_000, int(d)) * (m + b * normal(5_000, int(d), seed=1))).sum(dim=-1)
    mean, variance, spread = made.answers.values()
    assert abs(scores.mean() - mean) < 4 * scores.std() / 5_000**0.5
    assert scores.var().item() == pytest.approx(variance, rel=0.1)
    assert (scores / d**0.5).std().item() == pytest.approx(spread, rel=0.05)


@seeds
def test_a_nudge(seed):
    made = make("a_nudge", seed)
    *alpha, step = numbers(made.text)
    scores = torch.tensor(alpha, dtype=torch.float64).log()
    jacobian = torch.autograd.functional.jacobian(lambda e: e.softmax(dim=0), scores)
    answered(made, *(jacobian[:, 1] * step))


@seeds
def test_what_dropout_leaves(seed):
    made = make("what_dropout_leaves", seed)
    *alpha, p = numbers(made.text)
    total = mean = none = 0.0
    for kept in torch.cartesian_prod(*[torch.tensor([0, 1])] * 3).tolist():
        chance = math.prod(1 - p if k else p for k in kept)
        row = sum(a * k / (1 - p) for a, k in zip(alpha, kept, strict=True))
        mean += chance * row
        none += chance * (row == 0)
        total += row * (kept == [0, 1, 1])
    answered(made, total, none, mean)


@seeds
def test_a_divisor_forgotten(seed):
    made = make("a_divisor_forgotten", seed)
    d_k = int(numbers(made.text)[0])
    q, k = normal(1, d_k, seed=seed) / 4, normal(2, d_k, seed=seed + 50) / 4
    divided, bare = (torch.softmax(q @ k.T / s, dim=-1)[0] for s in (d_k**0.5, 1))
    power = (bare[0] / bare[1]).log() / (divided[0] / divided[1]).log()
    assert made.right.endswith(f"to the power {round(power.item())}")
    assert power.item() == pytest.approx(d_k**0.5)


@seeds
def test_what_the_test_cannot_find(seed):
    made = make("what_the_test_cannot_find", seed)
    ahead = next(re.search(r"next (\d*) ?token", o) for o in made.wrong if "next" in o)
    past, x = causal_mask(7), normal(7, 4, seed=seed)
    back = past & ~past.tril(-1 - int(numbers(made.right)[0]))
    further = torch.ones(7, 7).bool().tril(int(ahead[1] or 1))

    def scored(x):
        return x @ x.T / 2

    layers = {
        "Keys more": lambda x: attention(x, x, x, back).output,
        "The weights": lambda x: torch.softmax(scored(x), dim=-1).tril() @ x,
        "The mask": lambda x: attention(x, x, x, further).output,
        "The scores": lambda x: torch.softmax(scored(x) * past, dim=-1) @ x,
    }
    for begin, layer in layers.items():
        passes = True
        for t in range(7):
            changed = x.clone()
            changed[t] = 3.0
            passes &= torch.equal(layer(x)[:t], layer(changed)[:t])
        options = [o for o in (made.right, *made.wrong) if o.startswith(begin)]
        assert [o == made.right for o in options] == [passes]


@seeds
def test_rows_of_padding(seed):
    made = make("rows_of_padding", seed)
    real, n = (int(number) for number in numbers(made.text)[:2])
    may = causal_mask(n) & (torch.arange(n) >= n - real)
    empty = (~may.any(dim=-1)).nonzero()[:, 0] + 1
    assert empty.tolist() == list(range(1, n - real + 1))
    assert made.solution.startswith(f"Rows 1 to {n - real}")
    filled = torch.softmax(normal(n, n).masked_fill(~may, -1e10), dim=-1)[0]
    torch.testing.assert_close(filled, torch.full((n,), 1 / n, dtype=torch.float64))
    assert f"1/{n} = {filled[0]:.3f}" in made.solution


# Lecture 8


@seeds
def test_values_of_two_sizes(seed):
    """Independent numbers are vectors at right angles: what is lost is what the shadow lacks."""
    made = make("values_of_two_sizes", seed)
    first, second, _, one, two = numbers(made.text)  # the third is the mean, 0
    v1, v2 = torch.tensor([one, 0.0]).double(), torch.tensor([0.0, two]).double()
    y = (first * v1 + second * v2)[:, None]
    found = [torch.linalg.lstsq(y, v[:, None]).solution.item() for v in (v1, v2)]
    lost = [
        ((v - factor * y[:, 0]) ** 2).sum() / (v**2).sum()
        for v, factor in zip((v1, v2), found, strict=True)
    ]
    answered(made, found[0], *lost)
    assert sum(lost).item() == pytest.approx(1)


@seeds
def test_what_heads_cost(seed):
    made = make("what_heads_cost", seed)
    d_model, h, n = (int(number) for number in numbers(made.text))
    d = d_model // h
    shapes = [(n, d_model, d_model)] * 4 + [(n, d, n), (n, n, d)] * h  # of all products
    work = sum(a * b * c for a, b, c in shapes)
    answered(made, 4 * d_model * d_model, work, h * n * n, d)


@seeds
def test_split_by_hand(seed):
    made = make("split_by_hand", seed)
    q, k1, k2, _ = vectors(made.text, 8, 8, 8)
    keys = torch.stack([k1, k2])
    by_head = attention(
        q.view(2, 1, 4), keys.view(2, 2, 4).transpose(0, 1), torch.zeros(2, 2, 1).double()
    )
    single = attention(q[None], keys, torch.zeros(2, 1).double())
    answered(made, *by_head.weights[:, 0, 0], single.weights[0, 0])


@seeds
def test_a_view_too_soon(seed):
    made = make("a_view_too_soon", seed)
    n, _, h, _, row, head = (int(number) for number in numbers(made.text.replace("$i$ slice", "")))
    labels = torch.stack(torch.meshgrid(torch.arange(n), torch.arange(h), indexing="ij"), dim=-1)
    token, part = labels.view(n, 2 * h).view(h, n, 2)[head, row].tolist()  # d = 2: its labels
    assert made.right == f"Token {token}'s numbers from slice {part}"
    assert (token, part) != (row, head)


def by_heads(x, w_q, w_k, w_v, w_o, h):
    def split(t):
        return t.view(len(t), h, -1).transpose(0, 1)

    heads = scaled_dot_product_attention(split(x @ w_q), split(x @ w_k), split(x @ w_v))
    return heads.transpose(0, 1).flatten(1) @ w_o


@seeds
def test_heads_change_places(seed):
    made = make("heads_change_places", seed)
    h, i, j = (int(number) for number in numbers(made.text))
    d_model = 2 * h
    x, *w = normal(5, d_model, d_model, seed=seed)
    swapped = torch.arange(d_model).view(h, 2)
    swapped[[i, j]] = swapped[[j, i]]
    order = swapped.flatten()
    before = by_heads(x, *w, h)
    moved = [matrix[:, order] for matrix in w[:3]]
    torch.testing.assert_close(by_heads(x, *moved, w[3][order], h), before)
    assert not torch.allclose(by_heads(x, *moved, w[3], h), before)
    assert not torch.allclose(by_heads(x, *moved, w[3][:, order], h), before)
    assert made.right == f"Swap blocks {i} and {j} of the rows of $W^O$"


@seeds
def test_fold_the_mixing_away(seed):
    made = make("fold_the_mixing_away", seed)
    d_model, h = (int(number) for number in numbers(made.text))
    d, small = d_model // h, 2 * h
    assert (
        f"{h * d_model**2:,} numbers, where $W^V$ and $W^O$ hold {2 * d_model**2:,}"
        in made.solution
    )
    assert any(mark == f"rank at most {d}" for mark, _ in made.marks)
    x, w_q, w_k, w_v, w_o = normal(5, small, small, seed=seed)
    total = torch.zeros_like(x)
    for own in torch.arange(small).chunk(h):
        folded = w_v[:, own] @ w_o[own]
        assert torch.linalg.matrix_rank(folded) == 2
        total = total + attention(x @ w_q[:, own], x @ w_k[:, own], x @ folded).output
    torch.testing.assert_close(total, by_heads(x, w_q, w_k, w_v, w_o, h))


# Lecture 9


@seeds
def test_products_of_positions(seed):
    made = make("products_of_positions", seed)
    p, r = (
        int(number) for number in re.search(r"vectors of (\d+) and (\d+)\?", made.text).groups()
    )
    pe = sinusoidal(r + 10, 4, dtype=torch.float64)
    cosine = torch.cosine_similarity(pe[p], pe[r], dim=0)
    answered(made, pe[p] @ pe[r], cosine, pe[r] @ pe[2 * r - p])


@seeds
def test_one_turning_pair(seed):
    made = make("one_turning_pair", seed)
    _, m, r, _, i, j, _ = numbers(made.text)

    def score(i, j):
        query, key = (
            r * complex(math.cos(t), math.sin(t))
            for t in (2 * math.pi * i / m, 2 * math.pi * j / m)
        )
        return (query * key.conjugate()).real

    at = [score(i, i - distance) for distance in range(int(m) + 1)]
    again = next(k for k in range(1, len(at)) if at[k] == pytest.approx(at[0]))
    answered(made, score(i, j), again, min(range(again), key=lambda k: at[k]))


@seeds
def test_two_sizes(seed):
    made = make("two_sizes", seed)
    d, _, std = numbers(made.text)
    words = std * normal(2_000, int(d), seed=seed)
    word = (words**2).sum(dim=-1).mean().sqrt().item()
    place = sinusoidal(9, int(d), dtype=torch.float64).norm(dim=-1).mean().item()
    assert list(made.answers.values()) == pytest.approx([word, place, place / word], rel=0.01)


@seeds
def test_one_clock(seed):
    made = make("one_clock", seed)
    m = numbers(made.text)[0]
    for option in (made.right, *made.wrong):
        (s1, c1), (s2, c2) = (
            (math.sin(2 * math.pi * p / m), math.cos(2 * math.pi * p / m)) for p in numbers(option)
        )
        same = math.isclose(s1, s2, abs_tol=1e-9), math.isclose(c1, c2, abs_tol=1e-9)
        assert all(same) == (option == made.right)
        if option != made.right:
            assert (" sines are equal" in made.wrong[option]) == same[0]
            assert (" cosines are equal" in made.wrong[option]) == same[1]


@seeds
def test_order_through_blocks(seed):
    made = make("order_through_blocks", seed)
    n = int(numbers(made.text)[0])
    x, mask = normal(1, n, 8, seed=seed), causal_mask(n)
    swapped = x[:, [1, 0, *range(2, n)]]
    found = []
    for blocks in (1, 2):
        torch.manual_seed(seed)
        encoder = Encoder(blocks, 8, 2).double().eval()
        with torch.no_grad():
            found.append(torch.allclose(encoder(x, mask)[:, -1], encoder(swapped, mask)[:, -1]))
    assert found == [True, False]
    assert made.right == "Two blocks"


@seeds
def test_a_pair_of_two_speeds(seed):
    made = make("a_pair_of_two_speeds", seed)
    c = int(re.search(r"\\cos (\d)p", made.text)[1])
    k = int(re.search(r"every position by (\d)", made.text)[1])
    p = torch.arange(30, dtype=torch.float64)
    right = torch.stack([p.sin(), p.cos()], dim=-1)
    wrong = torch.stack([p.sin(), (c * p).cos()], dim=-1)
    for table, holds in ((right, True), (wrong, False)):
        best = torch.linalg.lstsq(table[:-k], table[k:]).solution
        products = (table @ table.T).diagonal(1)
        assert ((table[:-k] @ best - table[k:]).abs().max() < 1e-9) == holds
        assert (table.norm(dim=-1).std() < 1e-9) == holds
        assert (products.std() < 1e-9) == holds
    cos, sin = math.cos(k), math.sin(k)
    best = torch.linalg.lstsq(right[:-k], right[k:]).solution
    torch.testing.assert_close(best, torch.tensor([[cos, -sin], [sin, cos]]).double())
    asks = [(math.sin(q + k) - sin * math.cos(c * q)) / math.sin(q) for q in (1, 2)]
    assert abs(asks[0] - asks[1]) > 0.01
    assert f"{cos:.3f}" in made.solution
    assert f"b = {sin:.3f}" in made.solution
