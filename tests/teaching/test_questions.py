"""Each exam question's answer, computed another way from the words of the question.

A method of `Answer` has its question's name and is given the numbers in its text. It returns the
values of a Number, the right option of a Choice or what tells it from the others, and what the
solution of a Text must say.
"""

import math
import random
import re
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from inspect import signature

import pytest
import torch
from sacrebleu import sentence_bleu
from torch import allclose
from torch.autograd.functional import jacobian
from torch.linalg import lstsq, matrix_rank, solve
from torch.nn.functional import cross_entropy, layer_norm, rms_norm, scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from attnbook.attention import attention, masked_softmax
from attnbook.further.caches import PagedCache, PagePool
from attnbook.further.linear import delta_steps
from attnbook.further.longer import Scaling
from attnbook.layers import Config, Encoder
from attnbook.masks import causal_mask, padding_mask, window_mask
from attnbook.positions import Rotary, rotary_speeds, sinusoidal
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from attnlab.models.roof import Machine, RoofModel
from teaching.kit import written
from teaching.kit.questions import Asked, Choice, Number, Text

QUESTIONS = {one.name: one for one in written.read()}
# an argument in words, from which no number follows, as in a Text whose marks name none
ARGUED = {
    "blind_to_its_query", "exchanged_answers", "high_loss_and_high_recall", "what_a_lens_shows",
    "what_a_sink_repairs", "what_can_come_at_once", "what_changes_nothing",
    "what_is_left_of_an_adapter", "which_exchange_tells", "which_mask_is_missing",
}  # fmt: skip
approx = pytest.approx
vector = partial(torch.tensor, dtype=torch.float64)


def drawn(name: str) -> list[Asked]:
    return [QUESTIONS[name](random.Random(seed)) for seed in range(20)]


def numbers(text: str) -> list:
    """All numbers of a text: 1,024 is one, as is −3 with either sign; ½ and the 1 of W_1 none."""
    found = re.findall(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-\d+)?", text)
    plain = [one.replace(",", "").replace("−", "-") for one in found]
    return [int(one) if re.fullmatch(r"-?\d+", one) else float(one) for one in plain]


def vectors(parts, *sizes: int) -> tuple[torch.Tensor, ...]:
    return vector(parts[: sum(sizes)]).split(sizes)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def products(compute: Callable, *shapes: tuple[int, ...]) -> int:
    """The multiplications that torch counts in products of matrices of these shapes."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        compute(*map(torch.empty, shapes))
    return counter.get_total_flops() // 2


def attended(x: torch.Tensor) -> torch.Tensor:
    return x @ x.T @ x


def by_heads(x, w_q, w_k, w_v, w_o, h):
    q, k, v = (t.view(len(t), h, -1).transpose(0, 1) for t in (x @ w_q, x @ w_k, x @ w_v))
    return scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1) @ w_o


# of the numbers in a question; `Answer` has those that take more than an expression
FORMULAE: dict[str, Callable] = {
    "loss_and_perplexity": lambda *n: (loss := -vector(n[1:8:2]).pow(-1).log().mean(), loss.exp()),
    "the_vector_of_the_sentence": lambda option, n, *_: (
        numbers(option)[0] == n == n + 1 - numbers(option)[-1]
    ),
    "a_gate_that_keeps": lambda _, *n: (vector(n[:2]).sigmoid() ** n[2]).tolist(),
    "the_tie_of_two_lengths": lambda n, short, m, long, *_: (
        short / n, long / m,  # and where two straight lines meet
        solve(vector([[1, math.log(n)], [1, math.log(m)]]), vector([-short, -long]).log())[1],
    ),
    "the_temperature": lambda _, *n: [math.exp((math.log(n[0]) - math.log(n[1])) / 0.5)],
    "whose_fault": lambda option, _, found, right: option.startswith("none") == (found > right),
    "a_look_by_hand": lambda *n: (
        (w := vector(n[:3]) / sum(n[:3]))[0], *(w @ vector(n[3:]).view(3, 2))
    ),
    "sizes_of_a_step": lambda n, d, m: [n * m, *(torch.ones(m, n) @ torch.ones(n, d)).shape[1:]],
    "a_kernel_regression": lambda low, first, high, second, _, __, at: (
        (w := (-((vector([first, second]) - at) ** 2) / 2).softmax(0))[0], w @ vector([low, high])
    ),
    "three_scores": lambda *n: (
        (q := vector(n[:2])) @ (k := vector(n[2:4])), (q / 2**0.5) @ k,
        q @ vector(n[4:]).view(2, 2) @ k,
    ),
    "what_it_costs": lambda n_q, n_k, d: (
        pairs := products(torch.matmul, (n_q, d), (d, n_k)),
        pairs + products(torch.matmul, (n_k, d), (d, d)),
        products(torch.matmul, (n_q, n_k, d), (d, 1))
        + products(torch.matmul, (n_q + n_k, d), (d, d)),
        torch.empty(n_q, n_k, d).numel(),
    ),
    "work_against_recurrence": lambda d, n, longer: (
        (work := products(attended, (n, d))) / (2 * n * products(torch.matmul, (1, d), (d, d))), n,
        products(attended, (longer * n, d)) / work,
    ),
    "an_answer_that_cannot_be": lambda option, *n: solve(
        torch.stack([*vector(n).view(3, 2).T, torch.ones(3)]),  # weights that sum to 1
        vector([*numbers(option), 1]),
    ).min() < 0,
    "recurrence_replaced": lambda n, d: [f"$n/d = {2 * n * n * d / (2 * n * d * d):.0f}$"],
    "a_nudge": lambda *n: jacobian(lambda e: e.softmax(0), vector(n[:3]).log())[:, 1] * n[3],
    "two_sizes": lambda d, _, std: (
        word := std * vector([1] * d).norm(), place := sinusoidal(9, d)[3].norm(), place / word
    ),
    "one_clock": lambda option, m: (
        math.cos(vector(numbers(option)).diff() * 2 * math.pi / m) == approx(1)
    ),
    "a_wider_network": lambda d, ratio: (
        sum(map(math.prod, [(d, d)] * 4 + [(d, ratio * d), (ratio * d, d)])),
        bisect_left(range(10**6), 2 * d * ratio * d, key=lambda n: 4 * d * d + n * d + d * n),
    ),
    "what_must_wait": lambda up, down, _, n: [up + down, up + sum([down] * n) + down],
    "two_perplexities": lambda *n: [
        vector(some).log().mean().exp()
        for some in (n[1:10:2], n[13::2], [n[2 * i - 1] for i in n[10:12]])
    ],
    "tokens_and_a_power": lambda billions, trillions, usual, power, times: (
        each := trillions * 1_000 / billions, each / usual,
        math.exp(power * math.log(times)),  # a straight line in the logarithms of both
    ),
    "adapters_in_all_blocks": lambda blocks, wide, d, rank: (
        one := wide * rank + rank * d, sum([one] * blocks), 100 * one / (wide * d)
    ),
    # whether the best of as many coins is as good
    "best_of_many_heads": lambda heads, n, share: (
        (sum(math.comb(n, k) for k in range(share)) / 2**n) ** heads < 0.5
        and "Not much yet: it must be tried on pairs that did not choose it"
    ),
    # A, B and C by weight, loss and range: who looks without a loss, who loses without a look
    "weight_and_worth": lambda a, _, low, __, b, ___, none, high, c, ____, least, _____: (
        min(a, b) > 5 * c and none < 0 < high and min(low, least) > 0
        and "To look at the changed word is neither enough to matter for the swing, nor needed"
    ),
    "what_a_new_token_sees": lambda old, new, i: f"1 to {causal_mask(new, old + new)[i - 1].sum()}",
    # what is left of a difference of two runs, and how near each comes to the other
    "swing_lost_and_carried": lambda a, b, c, d, e, f: (
        a - b, 1 - (c - d) / (a - b), ((a - e) / (a - b) + (f - b) / (a - b)) / 2
    ),
    "numbers_of_a_circuit": lambda d, d_model: (
        sum(torch.empty(d_model, d).numel() for _ in "qkvo"),
        2 * torch.empty(d_model, d_model).numel(),
        matrix_rank(torch.eye(d_model, d) @ torch.eye(d, d_model)),
    ),
    "weight_of_a_match": lambda n, score, other, wanted: (
        vector([score, *[other] * (n - 1)]).softmax(dim=0)[0],
        math.log(wanted) - math.log((1 - wanted) / (n - 1)),
    ),
    "two_measures_of_a_head": lambda adds, others, before, after: (
        adds < 0.05 * others and before - after > 0.3
        and "What it writes is needed, and reaches the output through something that reads it"
    ),
    "read_as_what": lambda _, *left: "Mostly what the first wrote at the token" + (
        " that looks, to choose whom it asks",
        "s that are looked at, to choose among them",
        "s that are looked at, to hand it on",
    )[left.index(min(left))],  # queries, keys, values: the cut that costs most
    "weight_and_norm": lambda n, weight, first, norm: (
        1 / (1 + (1 / weight - 1) * norm / first), 1 / n
    ),
    # a pass waits for the slower of arithmetic and reading, in milliseconds
    "under_the_roof": lambda products, memory, weights, bits, *tokens: (
        *(max(n * weights / products, weights * bits / 8 / memory) for n in tokens),
        (weights * bits / 8 / memory) / (weights / products),
    ),
    # a single token is given no mask, so that its mask cannot be wrong
    "wrong_in_chunks": lambda _, __, alone, *___: [
        "The positions begin anew" if alone else "The mask is counted from the first key"
    ],
    "windows_in_most_layers": lambda layers, every, window, sets, d, size, n, *_: (
        layers // every * (row := 2 * sets * d * size),
        (kept := sum(min(n, n if i % every == 0 else window) for i in range(layers))) * row / 1e6,
        layers * n / kept,
    ),
    "a_longer_text_in_tiles": lambda times: [
        products(attended, (10 * times, 8)) / products(attended, (10, 8)), times
    ],
}  # fmt: skip


class Answer:
    def __init__(self, text: str) -> None:
        self.text = text

    def two_steps_of_a_gru(self, h, z, n, later, second, *_):
        def run(h):
            one = n + z * (h - n)
            return one, second + later * (one - second)

        return *run(h), run(h + 1)[1] - run(h)[1]

    def greedy_and_a_beam(self, a, b, c, d, e, end, _):
        sentences = {"AC": a * c * end, "AD": a * d * end, "BE": b * e * end}
        greedy, best = max(sentences["AC"], sentences["AD"]), max(sentences.values())
        assert a > b
        return greedy, best, math.log(best) - math.log(greedy)

    def a_small_bleu(self, n, r, *_):
        reference = [f"w{k}" for k in range(r)]
        output = " ".join([*reference[:2], "other", *reference[3:n]])
        score = sentence_bleu(output, [" ".join(reference)], tokenize="none")
        return score.precisions[1] / 100, score.bp, score.score

    def what_padding_takes(self, *n):
        scores, values = vector([*n[:3], *[1] * n[3]]).log(), normal(3)
        weights, masked = scores.softmax(0), scores[:3].softmax(0)
        return weights[:3].sum(), weights[:3] @ values / (masked @ values), masked[0]

    def an_error_rate(self, gold, predicted, right):
        gold, predicted = set(range(gold)), set(range(gold - right, gold - right + predicted))
        both, all_ = len(gold & predicted), len(gold) + len(predicted)
        return both / len(predicted), both / len(gold), len(gold ^ predicted) / all_

    def a_row_by_hand(self, *n):
        x = vector(n[:12]).view(3, 4)
        output, weights = attention(x, x, x)
        return *weights[0], output[0, 0]

    def pairs_that_are_left(self, real, n, *_):
        here = padding_mask([real], n_k=n)[0]
        right, left = causal_mask(n) & here, causal_mask(n) & here.flip(-1)
        return right.sum(), left.sum(), (~left.any(dim=-1)).sum()

    def zeros_as_padding(self, real, pad):
        x = normal(real, 5)
        padded = torch.cat([x, torch.zeros(pad, 5)])
        factor = attention(padded, padded, padded).output[:real] / attention(x, x, x).output
        torch.testing.assert_close(factor, factor[:, :1].expand_as(factor))
        assert 0 < factor.min() <= factor.max() < 1
        return "The right output multiplied by a factor below 1"

    def a_swap_under_a_causal_mask(self, n, _, i, j):
        x, order = normal(n, 4), list(range(n))
        order[i - 1], order[j - 1] = j - 1, i - 1
        before, after = (attention(t, t, t, causal_mask(n)).output for t in (x, x[order]))
        moved = (~torch.isclose(before, after).all(dim=-1)).nonzero()[:, 0] + 1
        assert moved.diff().eq(1).all()
        return f"At places {moved[0]} to {moved[-1]}"

    def zero_in_place_of_minus_infinity(self, *n):
        scores, may = vector(n[:3]), torch.tensor([True, True, False])
        wrong, right = (scores * may).softmax(0), masked_softmax(scores, may)
        assert wrong.argmax() == 2
        return [f"{one:.3f}" for one in (*wrong, *right[:2])]

    def two_directions(self, *n):
        a, b, w_q, w_k = vectors(n, 2, 2, 4, 4)
        scores = torch.stack([a, b]) @ w_q.view(2, 2) @ (torch.stack([a, b]) @ w_k.view(2, 2)).T
        return scores[0, 1], scores[1, 0], scores[0, 1] / 2**0.5

    def all_tokens_at_once(self, *n):
        q, k, v = vectors(n, 8, 8, 6)
        q, k, v = q.view(2, 4), k.view(2, 4), v.view(2, 3)
        output = scaled_dot_product_attention(q, k, v)
        weights = scaled_dot_product_attention(q, k, torch.eye(2).double())
        return *weights[0], output[0, 0], output.numel()

    def back_to_the_query(self, *n):
        alpha, values, keys, (_, wanted) = vectors(n, 3, 3, 3, 2)
        query = torch.ones((), dtype=torch.float64, requires_grad=True)
        scores = query * keys + alpha.log() - keys  # which give these weights
        scores.retain_grad()
        ((scores.softmax(0) @ values - wanted) ** 2).backward()
        return *scores.grad, query.grad

    def thin_matrices(self, d_model, d_k, d_v, n):
        x, *w = (normal(d_model, size, seed=i) for i, size in enumerate((n, d_k, d_k, d_v)))
        rank = matrix_rank(w[0] @ w[1].T)
        output = attention(*(x.T @ one for one in w)).output
        return sum(one.numel() for one in w), rank, output.numel()

    def factors_that_cancel(self, c, *_):
        q, k, v = normal(3, 4, 5)
        one, other = attention(q, k, v), attention(c * q, k / c, c * v)
        torch.testing.assert_close(other.weights, one.weights)
        larger = f"{other.output.norm() / one.output.norm():.0f}"
        return f"The weights stay and the output is {larger} times as large"

    def keys_against_queries(self, *_):
        c, q = int(re.search(r"-(\d*)W\^Q", self.text)[1] or 1), normal(4, 3)
        scores = q @ (-c * q).T
        torch.testing.assert_close(scores, scores.T)
        own = f"{-(scores.diagonal() / (q**2).sum(-1)).mean():.0f}"
        return [rf"$-{own.replace('1', '')}\lVert q_i \rVert^2"]

    def a_matrix_of_zeros(self):
        def moves(zeros, steps):
            """Which matrices get a gradient in the last step of plain descent from these zeros."""
            w = {one: normal(4, 3, seed=i) * (one not in zeros) for i, one in enumerate("QKV")}
            x, wanted = normal(5, 4, seed=8), normal(5, 3, seed=9)
            for _ in range(steps):
                made = [one.requires_grad_() for one in w.values()]
                error = ((attention(*(x @ one for one in made)).output - wanted) ** 2).sum()
                grads = dict(zip(w, torch.autograd.grad(error, made), strict=True))
                w = {one: (w[one] - 0.1 * grads[one]).detach() for one in w}
            return {one for one, grad in grads.items() if grad.abs().max() > 1e-12}

        zero = re.search(r"in the second \$W\^(.)\$", self.text)[1]
        assert moves("V", 1) == moves("QK", 1) == moves("QK", 5) == {"V"}
        assert moves("V", 2) == moves(zero, 2) == set("QKV")
        assert moves(zero, 1) == {zero, "V"}
        return [f"$W^{zero}$ and $W^V$ move"]

    def keys_with_a_mean(self, _, a, m, b, d):
        """By components that are as far below as above their mean."""
        one = vector([s * a * (m + t * b) for s in (1, -1) for t in (1, -1)])
        variance = d * one.var(correction=0)
        return d * one.mean(), variance, (variance / d) ** 0.5

    def what_dropout_leaves(self, *n):
        *alpha, p = n
        kept = torch.cartesian_prod(*[vector([0, 1])] * 3)
        chances, sums = (kept * (1 - p) + (1 - kept) * p).prod(1), kept @ vector(alpha) / (1 - p)
        return sums[3], chances[sums == 0].sum(), chances @ sums

    def a_divisor_forgotten(self, d_k):
        bare, divided = (one.softmax(0).log().diff() for one in (normal(2), normal(2) / d_k**0.5))
        return f"The ratio of any two weights is raised to the power {(bare / divided).item():.0f}"

    def what_the_test_cannot_find(self, option):
        past, x, n = causal_mask(7), normal(7, 4), (numbers(option) or [1])[0]
        back, ahead = past & ~past.tril(-1 - n), torch.ones(7, 7).bool().tril(n)
        layer = {
            "Keys more": lambda x: attention(x, x, x, back).output,
            "The weigh": lambda x: (x @ x.T).softmax(-1).tril() @ x,
            "The mask ": lambda x: attention(x, x, x, ahead).output,
            "The score": lambda x: (x @ x.T * past).softmax(-1) @ x,
        }[option[:9]]
        changed = (layer(torch.cat([x[:t], x[t:] + 3]))[:t] for t in range(7))
        return all(torch.equal(one, layer(x)[: len(one)]) for one in changed)

    def rows_of_padding(self, real, n, *_):
        may = causal_mask(n) & (torch.arange(n) >= n - real)
        empty = (~may.any(dim=-1)).nonzero()[:, 0] + 1
        filled = normal(n, n).masked_fill(~may, -1e10).softmax(-1)[0]
        assert filled.std() < 1e-12
        return [f"Rows {empty[0]} to {empty[-1]}:", f"1/{n} = {filled[0]:.3f}"]

    def values_of_two_sizes(self, first, second, _, one, two):
        """Independent numbers are vectors at right angles: what is lost is beside the shadow."""
        values = torch.diag(vector([one, two]))
        y = (vector([first, second]) @ values)[:, None]
        found = lstsq(y, values).solution
        return found[0, 0], *(((values - y @ found) ** 2).sum(0) / (values**2).sum(0))

    def what_heads_cost(self, d_model, h, n):
        square, heads = (d_model, d_model), (h, n, d_model // h)
        projected = 4 * products(lambda x, w: x @ w, (n, d_model), square)
        compared = products(lambda q, k, v: (q @ k.mT) @ v, heads, heads, heads)
        return 4 * math.prod(square), projected + compared, h * n * n, heads[-1]

    def split_by_hand(self, *n):
        q, *keys = vectors(n, 8, 8, 8)
        scores = torch.stack([(key * q).view(2, 4).sum(-1) for key in keys])  # by key and head
        return *(scores / 2).softmax(0)[0], (scores.sum(-1) / 8**0.5).softmax(0)[0]

    def a_view_too_soon(self, n, _, h, __, row, head):
        labels = torch.cartesian_prod(torch.arange(n), torch.arange(h))  # two numbers a slice
        token, part = labels.view(h, n, 2)[head, row].tolist()
        return f"Token {token}'s numbers from slice {part}"

    def heads_change_places(self, option, h, i, j):
        x, *w, w_o = normal(5, 2 * h, 2 * h)
        order = torch.arange(2 * h).view(h, 2)
        order[[i, j]] = order[[j, i]]
        order, before = order.flatten(), by_heads(x, *w, w_o, h)
        rows, columns = "of the rows of $W^O$" in option, "of the columns of $W^O$" in option
        changed = w_o[order] if rows else w_o[:, order] if columns else w_o
        return allclose(by_heads(x, *(one[:, order] for one in w), changed, h), before)

    def fold_the_mixing_away(self, d_model, h):
        x, w_q, w_k, w_v, w_o = normal(5, 2 * h, 2 * h)
        total = torch.zeros_like(x)
        for own in torch.arange(2 * h).chunk(h):
            folded = w_v[:, own] @ w_o[own]
            assert matrix_rank(folded) == len(own)
            total += attention(x @ w_q[:, own], x @ w_k[:, own], x @ folded).output
        torch.testing.assert_close(total, by_heads(x, w_q, w_k, w_v, w_o, h))
        said = f"{h * d_model**2:,} numbers, where $W^V$ and $W^O$ hold {2 * d_model**2:,}"
        return [said, f"rank at most {d_model // h}"]

    def products_of_positions(self, *n):
        p, r, _, s = n[4:]
        pe = sinusoidal(s + 1, 4, dtype=torch.float64)
        return pe[p] @ pe[r], torch.cosine_similarity(pe[p], pe[r], dim=0), pe[r] @ pe[s]

    def one_turning_pair(self, _, m, r, __, i, j, ___):
        turn = complex(math.cos(2 * math.pi / m), math.sin(2 * math.pi / m))
        scores = [(r * turn**k * r).real for k in range(m + 1)]
        again = next(k for k in range(1, m + 1) if scores[k] == approx(scores[0]))
        return scores[i - j], again, scores.index(min(scores))

    def slowest_hand(self, d, base, *_):
        # d / 2 speeds, evenly spaced on a logarithmic scale; the next would be 1 / base
        *speeds, _ = torch.logspace(0, -1, d // 2 + 1, base, dtype=torch.float64)
        return speeds[0] / speeds[1], 2 * math.pi / speeds[-1]

    def order_through_blocks(self, n):
        x, mask = normal(1, n, 8), causal_mask(n)
        swapped = x[:, [1, 0, *range(2, n)]]
        for blocks, words in (1, "One block"), (2, "Two blocks"):
            layer = Encoder(blocks, Config(8, 2)).double().eval()
            if not allclose(layer(x, mask)[:, -1], layer(swapped, mask)[:, -1]):
                return words
        return "No number is enough"

    def a_pair_of_two_speeds(self, _, c, k):
        def fit(speed):
            p = torch.arange(30).double()
            table = torch.stack([p.sin(), (speed * p).cos()], dim=-1)
            best, near = lstsq(table[:-k], table[k:]).solution, table @ table.T
            faults = table[:-k] @ best - table[k:], near.diagonal().diff(), near.diagonal(1).diff()
            return best[:, 0], [bool(one.abs().max() < 1e-9) for one in faults]

        (cos, sin), kept = fit(1)
        assert (kept, fit(c)[1]) == ([True] * 3, [False] * 3)
        return [rf"\cos k = {cos:.3f}$", rf"\sin k = {sin:.3f}$", f"$b = {sin:.3f}$"]

    def two_neurons(self, *n):
        w_1, b_1, w_2, _, first, second = vectors(n, 4, 2, 2, 1, 2, 2)
        read = torch.stack([first, second]) @ w_1.view(2, 2) + b_1
        return *(read.relu() @ w_2), read[0] @ w_2

    def gradient_through_parts(self, n, c, *_):
        def arrives(factors, sums):
            x = start = torch.ones((), dtype=torch.float64, requires_grad=True)
            for one in factors:
                x = sums * x + one * x
            return torch.autograd.grad(x, start)[0]

        return arrives([c] * n, 0), arrives([c] * n, 1), arrives([c, -c] * (n // 2), 1)

    def two_places_of_a_norm(self, *n):
        change, x, gain, bias = vectors(n, 4, 4, 1, 1)
        post = layer_norm(x + change, (4,), gain.expand(4), bias.expand(4), eps=0)
        return (x + change)[0], post[0]

    def which_norm_notices(self, option, *_):
        x, by = vector([1, 4, 2]), (numbers(option) or [-1])[0]
        y = x + by if "added" in option else x[[0, 2, 1]] if "places" in option else x * by
        same = [allclose(f(x, (3,)), f(y, (3,)), rtol=1e-3) for f in (layer_norm, rms_norm)]
        return same == [True, False]

    def which_line_it_was(self, option, *_):
        read = []
        for x in (vector([1, 4, 1]), vector([5, 20, 5])):
            scope = {"x": x, "f": lambda x: read.append(x) or torch.zeros(3).double()}
            scope["norm"] = lambda x: layer_norm(x, (3,), eps=1e-15)
            exec(option.strip("`"), scope)
        return allclose(scope["x"], x) and allclose(*read)

    def a_bigram_that_writes(self, *n):
        the, after = (counts.log() for counts in vectors(n, 3, 2))
        loss = cross_entropy(the, torch.tensor(0)) + cross_entropy(after, torch.tensor(1))
        cold = (the / 0.5).softmax(0)
        return (loss / 2).exp(), cold[0], cold[2]

    def one_row_of_cross_attention(self, *n):
        scores, value, old = vector([one or 1 for one in n[:3]]).log(), vector(n[3:6]), n[6]
        # the dot product of one number divides by nothing: √1
        row = partial(attention, vector([[1]]), scores[:, None], value[:, None])
        whole, masked = row(), row(torch.tensor([[True, True, False]]))
        return whole.weights[0, 1], old + whole.output, masked.weights[0, 1]

    def two_sentences_side_by_side(self, *lengths):
        calls = rows = idle = again = 0
        left = [one + 1 for one in lengths]  # with <eos>
        while max(left) > 0:
            calls, rows, idle = calls + 1, rows + 2, idle + sum(one <= 0 for one in left)
            again, left = again + 2 * calls, [one - 1 for one in left]
        return calls, rows, idle, again

    def sizes_of_a_translator(self, layers, d, ratio, words):
        def matrices(part):
            return sum(p.numel() for p in part.parameters() if p.dim() == 2)

        sizes = {"d_model": d, "n_heads": 8, "n_layers": layers, "d_ff": ratio * d}
        with torch.device("meta"):
            models = (ModelConfig(**sizes, tied=one) for one in (True, False))
            tied, apart = (Seq2Seq(words, words, one) for one in models)
        table = matrices(apart) - matrices(tied)
        return matrices(tied.encoder), matrices(tied.decoder), 2 * table

    def a_loss_far_too_low(self, option, *n):
        later, row = n[-2:]
        x, y = normal(later, 4), normal(later, 4)
        y[-1] += 1
        mask = {"The causal mask lets": None, "The target is not sh": causal_mask(later)}
        if option[:20] not in mask:
            return False  # neither gives an answer away
        rows = [attention(t, t, t, mask[option[:20]]).output[row - 1] for t in (x, y)]
        return torch.equal(*rows) != ("changes, too" in self.text)

    def two_merges(self, *times):
        counts = dict(zip(("art", "cart", "tart", "car"), times, strict=True))
        met = {
            piece: sum(n for word, n in counts.items() if piece in word)
            for piece in ("ar", "art", "car", "tar")
        }
        first, second, third, _ = sorted(met, key=met.get, reverse=True)
        assert (first, met[second] > met[third]) == ("ar", True)  # no other merge is possible
        return met[first], met[second], len(re.findall(f"{second}|ar|.", "tartcar"))

    def a_block_of_today(self, d, heads, _, shared, d_ff):
        with torch.device("meta"):
            config = ModelConfig(
                d_model=d, n_heads=heads, n_layers=1, d_ff=d_ff, norm_kind="rms",
                n_kv_heads=heads // shared, positions=Rotary(64), activation="swiglu",
                bias=False, tied=True, scale=False,
            )  # fmt: skip
            model = LanguageModel(10, config)
        block = model.decoder.blocks[0]
        parts = block.attention, block.feed_forward, block.norms
        return [sum(p.numel() for p in part.parameters()) for part in parts]

    def texts_that_fit(self, layers, heads, d, sets, _, weights, memory, *rest):
        token = torch.empty(layers, 2, sets, d, dtype=torch.bfloat16).nbytes
        room = (memory - weights) * 10**9 // rest[-1]
        return token, room // token, room // (token // sets * heads)

    def a_draft_and_its_worth(self, *n):
        p, q, (guesses,) = vectors(n, 3, 3, 1)
        kept, rest = (q * (p / q).clamp(max=1)).sum(), (p - q).clamp(min=0)
        # a call writes k + 1 tokens where k guesses are kept and the next is not
        length = sum((k + 1) * kept**k * (1 - kept) for k in range(int(guesses)))
        return kept, rest[0] / rest.sum(), length + (guesses + 1) * kept**guesses

    def pages_of_one_prompt(self, page, texts, prompt, new):
        cache = PagedCache(PagePool(400, page=page))
        cache.append(*torch.zeros(2, 1, 1, prompt, 2))
        both = cache.reorder(torch.zeros(texts, dtype=torch.long))
        both.append(*torch.zeros(2, texts, 1, new, 2))
        used = len({one for table in both.table for one in table})
        rows = prompt // page * page + texts * (prompt % page + new)
        return used, texts * math.ceil((prompt + new) / page), used * page - rows

    def a_step_before_and_after(self, weights, cache, rate, texts, *_):
        gpu = Machine("a GPU", rate * 1e12, 1e30, 1e12)
        model = RoofModel("a model", weights * 10**9 // 2, cache * 10**9 // 2_000, 1)
        steps = (1, 16, 16), (texts, 16, 16), (1, 4, 16), (texts, 16, 4)
        names = "texts", "weight_bits", "cache_bits"
        every = (dict(zip(names, one, strict=True)) for one in steps)
        return [1_000 * model.step(gpu, cached=999, **one).seconds for one in every]

    def what_makes_one_text_faster(self, option, weights, cache):
        """By the bytes that a step waits for."""
        share = (numbers(option) or [1])[0]
        halved = weights / 2 if option.startswith("Weights") else weights
        kept = cache / share if option.startswith("Keys") else cache * share
        return halved + kept < 0.75 * (weights + cache)

    def guesses_and_experts(self, weights, one_in, rate, guesses, kept):
        share, length = 0, (guesses + 1) * kept**guesses
        for k in range(int(guesses) + 1):  # each token reads its part of what is still unread
            share += (1 - share) / one_in
            length += (k + 1) * kept**k * (1 - kept) * (k < guesses)
        alone, judged = weights / one_in / rate, weights * share / rate / length
        return alone, judged, alone / judged, length

    def what_a_latent_costs(self, h, d, d_c, n):
        given = (h, 1, d), (n, d_c), (h, d_c, d), (h, d_c, d)
        written = products(lambda q, c, k, v: (q @ (c @ k).mT) @ (c @ v), *given)
        return 2 * h * d, written, products(lambda q, c, k, v: q @ k.mT @ c.mT @ c @ v, *given)

    def two_tiles(self, _, *n):
        scores, values = vectors(n, 4, 4)
        first, whole = scores[:2].max(), scores.max()
        sums = (2 ** (scores[:2] - first)).sum(), (2 ** (scores - whole)).sum()
        output = (scores * math.log(2)).softmax(0) @ values
        return sums[0], 2**first / 2**whole, sums[1], output

    def how_far_windows_reach(self, n, window):
        sees = window_mask(n, n, window)
        reach, layers = torch.eye(n), 0
        while not reach[-1, 0]:
            reach, layers = (reach @ sees.float()).clamp(max=1), layers + 1
        return sees.sum(), causal_mask(n).sum(), layers

    def which_hands_are_slowed(self, *_):
        n, s = (int(re.search(one, self.text)[1]) for one in (r"of (\d+) tokens", r"texts (\d+) t"))
        plain = rotary_speeds(16, 1e4, dtype=torch.float64)
        yarn, llama = (
            Scaling(kind, s, n, truncate=False).speeds(16, 1e4, dtype=torch.float64)
            for kind in ("yarn", "llama3")
        )
        stay, slow = (yarn == plain).sum(), (yarn == plain / s).sum()
        return stay, slow, 8 - stay - slow, (llama == plain).sum()

    def keys_that_overlap(self, *n):
        first, one, second, other = vectors(n, 2, 1, 2, 1)
        key, value = torch.stack([first, second]), torch.stack([one, other])
        state = delta_steps(key, key, value, vector([1, 0.5 if "½" in self.text else 1])).state
        return first @ key.T @ value, first @ state, second @ state

    def uneven_devices(self, n, devices, *_):
        parts = causal_mask(n).sum(1).view(2 * devices, -1).sum(1)  # keys seen, by part
        return parts[:2].sum(), parts[-2:].sum(), (parts + parts.flip(0)).unique().item()


COMPUTED = FORMULAE.keys() | {name for name in vars(Answer) if name[0] != "_"}


def test_no_question_lacks_an_answer_that_was_computed_another_way():
    for name in QUESTIONS.keys() - COMPUTED - ARGUED:
        assert isinstance(drawn(name)[0], Text), name
        for asked in drawn(name):
            marks = " ".join(mark for mark, _ in asked.marks)
            assert set(numbers(marks)) <= {0, 1, *numbers(asked.text)}, name
    assert all(isinstance(drawn(name)[0], Choice) for name in ARGUED)
    assert QUESTIONS.keys() >= COMPUTED
    assert not COMPUTED & ARGUED


def fits(option: str, answer: Callable, given: list) -> bool:
    if next(iter(signature(answer).parameters)) == "option":
        return answer(option, *given)
    found = answer(*given)
    rounded = isinstance(found, list) and numbers(option) == approx(found, rel=0.06, abs=0)
    return rounded or option == found


@pytest.mark.parametrize("name", sorted(COMPUTED))
def test_an_answer_is_what_the_words_of_the_question_give(name):
    for asked in drawn(name):
        answer = FORMULAE.get(name) or getattr(Answer(asked.text), name)
        given = numbers(asked.text)
        if isinstance(asked, Number):
            wanted = [float(one) for one in answer(*given)]
            assert list(asked.answers.values()) == approx(wanted, rel=1e-7, abs=1e-9), asked.text
        elif isinstance(asked, Choice):
            chosen = [one for one in (asked.right, *asked.wrong) if fits(one, answer, given)]
            assert chosen == [asked.right], asked.text
        else:
            said = "\n".join([asked.solution, *(mark for mark, _ in asked.marks)])
            assert not [one for one in answer(*given) if one not in said], asked.text


def test_each_right_option_of_several_is_drawn_by_some_seed():
    several = {"which_mask_is_missing": 3, "a_loss_far_too_low": 2, "what_changes_nothing": 2}
    assert {name: len({one.right for one in drawn(name)}) for name in several} == several


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_solution_states_each_answer_that_is_not_whole(name):
    for asked in drawn(name):
        shares = [Fraction(one) for one in re.findall(r"\d+/[1-9]\d*", asked.solution)]
        told = [*map(float, shares), *numbers(asked.solution)]
        for label, value in getattr(asked, "answers", {}).items():
            near = 0.5 * 10.0 ** -asked.places(label) + 1e-9
            stated = value == round(value) or any(abs(one - value) <= near for one in told)
            assert stated or label == "precision of 2-grams"  # told as what is left of how many
