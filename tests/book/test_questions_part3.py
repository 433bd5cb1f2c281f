"""The numbers of the exam questions for lectures 10 to 14, computed again from their words."""

from __future__ import annotations

import importlib
import itertools
import random
import re

import pytest
import torch

pytest.importorskip("book.tools.kit.questions")

LECTURES = {
    "10": "transformer_block",
}
seeds = pytest.mark.parametrize("seed", range(12))


def made(lecture, name, seed):
    module = importlib.import_module(f"book.questions.q{lecture}_{LECTURES[lecture]}")
    return getattr(module, name)(random.Random(seed))


def numbers(text):
    """All numbers of a text, as it reads: 1,024 is one number and ½ none."""
    found = re.findall(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [float(one.replace(",", "").replace("−", "-")) for one in found]


def agree(question, *wanted):
    """The answers in their order, to half of the last decimal that is asked for."""
    given = list(question.answers.values())
    assert given == pytest.approx(list(wanted), abs=1e-9 + 1e-6 * max(map(abs, wanted)))


def tokens_of(text):
    return [tuple(map(float, one)) for one in re.findall(r"token \$\((-?\d+), (-?\d+)\)\$", text)]


@seeds
def test_two_neurons_write_what_torch_computes(seed):
    asked = made("10", "two_neurons", seed)
    threshold = float(re.search(r"b_1 = \(-(\d+)", asked.text)[1])
    writes = re.search(r"W_2 = \\begin\{pmatrix\} (\d+) \\\\ (\d+)", asked.text).groups()
    w_1 = torch.tensor([[1.0, -1], [-1, 1]])
    w_2 = torch.tensor([[float(one)] for one in writes])
    first, second = (torch.tensor(one) @ w_1 - threshold for one in tokens_of(asked.text))
    agree(asked, *(float(one @ w_2) for one in (first.relu(), second.relu(), first)))
    assert all(asked.answers.values())


@seeds
def test_a_gradient_through_parts_is_what_autograd_finds(seed):
    asked = made("10", "gradient_through_parts", seed)
    n, c = numbers(asked.text)[0], numbers(asked.text)[1]

    def arrives(factors, add):
        start = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        x = start
        for one in factors:
            x = x + one * x if add else one * x
        x.backward()
        return start.grad.item()

    alike, turns = [c] * int(n), [c, -c] * (int(n) // 2)
    agree(asked, arrives(alike, False), arrives(alike, True), arrives(turns, True))


@seeds
def test_both_places_of_a_norm_are_torchs(seed):
    asked = made("10", "two_places_of_a_norm", seed)
    change, x = (
        torch.tensor([float(n) for n in re.findall(r"-?\d+", one)], dtype=torch.float64)
        for one in re.findall(r"\$\(([^)]*)\)\$", asked.text)
    )
    gain, bias = (
        float(one) for one in re.search(r"gain (\d+) and the bias (\d+)", asked.text).groups()
    )
    ones = torch.ones(4, dtype=torch.float64)
    post = torch.nn.functional.layer_norm(x + change, (4,), gain * ones, bias * ones, eps=0)
    agree(asked, float(x[0] + change[0]), float(post[0]))


@seeds
def test_a_wider_network_is_counted_by_its_matrices(seed):
    asked = made("10", "a_wider_network", seed)
    d = int(re.search(r"= (\d+)\$", asked.text)[1])
    ratio = int(re.search(r"= (\d+)\\,", asked.text)[1])
    matrices = [(d, d)] * 4 + [(d, ratio * d), (ratio * d, d)]
    weights = sum(a * b for a, b in matrices)
    n = next(n for n in itertools.count(d, d) if 4 * d * d + 2 * n * d >= 2 * ratio * d * d)
    assert 4 * d * d + 2 * n * d == 2 * ratio * d * d
    agree(asked, weights, n)


@seeds
def test_only_one_of_the_lines_passes_both_tests(seed):
    asked = made("10", "which_line_it_was", seed)
    x, factor = torch.tensor([1.0, 4, 1], dtype=torch.float64), 5

    def passes(line):
        read = []

        def part(vector):
            read.append(vector)
            return torch.zeros_like(vector)

        def norm(vector):
            return torch.nn.functional.layer_norm(vector, (3,), eps=1e-15)

        ends = []
        for start in (x, factor * x):
            scope = {"x": start, "f": part, "norm": norm}
            exec(line.strip("`"), scope)
            ends.append(scope["x"])
        return torch.allclose(ends[0], x) and torch.allclose(*read)

    assert passes(asked.right)
    assert not any(passes(line) for line in asked.wrong)


@seeds
def test_only_one_change_parts_the_two_norms(seed):
    asked = made("10", "which_norm_notices", seed)
    x = torch.tensor([1.0, 4, 2], dtype=torch.float64)
    shift, factor = numbers(asked.right)[0], numbers(" ".join(asked.wrong))[0]
    changes = [x + shift, factor * x, -x, x[[1, 0, 2]]]

    def kept(norm):
        return [
            torch.allclose(norm(x, (3,), eps=1e-12), norm(one, (3,), eps=1e-12)) for one in changes
        ]

    assert kept(torch.nn.functional.layer_norm) == [True, True, False, False]
    assert kept(torch.nn.functional.rms_norm) == [False, True, False, False]
