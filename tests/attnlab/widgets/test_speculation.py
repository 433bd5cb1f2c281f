"""Speculative decoding's picture: equal to the package's own rule, in Python and in the browser."""

import numpy as np
import pytest
import torch
from torch import Generator, Tensor

from attnbook.further.speculation import Draft, speculate
from attnlab.widgets import Speculation
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import speculation
from tests.attnlab.widgets.pages import settle


class Coin:
    """A model of two tokens, one drawn with probability α, whatever came before."""

    vocabulary = 3  # the last is eos, which never comes

    def __init__(self, alpha: float) -> None:
        self.logits = torch.tensor([alpha, 1 - alpha, 0.0]).log()

    def start(self, source: Tensor, source_lengths: Tensor) -> None: ...

    def extend(self, tokens: Tensor, state: None) -> tuple[Tensor, None]:
        return self.logits.expand(1, tokens.shape[1], 3), None

    def rewind(self, state: None, n: int) -> None: ...


@pytest.mark.parametrize(("alpha", "guesses"), [(0.6, 3), (0.9, 5)])
def test_the_tokens_of_a_call_are_those_that_speculation_writes(alpha: float, guesses: int) -> None:
    options = {"guesses": guesses, "max_length": 3000, "temperature": 1.0}
    found = speculate(
        Coin(alpha),
        torch.tensor([0]),
        lambda text, n, _: Draft([0] * n),
        generator=Generator().manual_seed(0),
        **options,
    )
    wanted = Speculation(alpha, guesses).tokens[guesses]
    assert len(found.tokens) / found.calls == pytest.approx(wanted, rel=0.04)


def test_sums_are_those_of_the_formula_in_the_browser_too(maths) -> None:
    for alpha in (0.0, 0.3, 0.8):
        one = Speculation(alpha, 5, 0.2)
        assert one.reached.sum() == pytest.approx(one.tokens[5])
        powers = np.arange(1, 18)
        np.testing.assert_allclose(one.tokens, (1 - alpha**powers) / (1 - alpha), rtol=1e-12)
        np.testing.assert_allclose(one.gains, one.tokens / (1 + 0.2 * np.arange(17)))
    assert Speculation(1.0, 4).tokens.tolist() == list(range(1, 18))
    assert Speculation(0.0, 4).gains.tolist() == [1.0] * 17
    code = """([alpha, n, cost]) => ({ reached: maths.reached(alpha, n),
        tokens: maths.tokens(alpha, n), gain: maths.gain(alpha, n, cost) })"""
    for alpha, n, cost in [(0.0, 0, 0.0), (0.8, 4, 0.1), (1.0, 16, 1.0), (0.37, 9, 0.5)]:
        one, came = Speculation(alpha, n, cost), maths(code, [alpha, n, cost], "speculation")
        np.testing.assert_allclose(came["reached"], one.reached, atol=1e-12)
        assert came["tokens"] == pytest.approx(one.tokens[n], abs=1e-12)
        assert came["gain"] == pytest.approx(one.gains[n], abs=1e-12)


def test_sliders_change_the_picture_and_the_words(show) -> None:
    page = show(speculation())
    bars, line = (page.locator(f".attnbook-{name}") for name in ("bars", "line"))
    before = [part.get_attribute("d") for part in (bars, line)]
    assert before[0].count("z") == 4
    page.get_by_label("guesses γ", exact=True).fill("6")
    page.get_by_label("kept α", exact=True).fill("0.9")
    settle(page)
    assert bars.get_attribute("d").count("z") == 7
    assert line.get_attribute("d") != before[1]
    one = Speculation(0.9, 6, 0.1)
    best = int(one.gains.argmax())
    said = page.locator(".attnbook-status").inner_text()
    assert f"writes {markup.fixed(one.tokens[6])} tokens" in said
    assert f"The fastest is γ = {best}, with {markup.fixed(one.gains[best])}" in said
