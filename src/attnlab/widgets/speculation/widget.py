"""Speculative decoding: how many tokens a call of the model writes, and what that gains."""

from __future__ import annotations

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["Speculation"]

_MOST = 16  # guesses in a call


class Speculation(Widget, kind="speculation"):
    """Change how often guesses are kept and how many there are; see what a call then writes.

    With γ guesses, each of them kept with probability α if those before it were, a call writes i
    tokens or more with probability α^(i − 1), so 1 + α + … + α^γ on average. Where a guess costs a
    share c of a call, that is (1 + α + … + α^γ) / (1 + c γ) times as fast as a call for each token.

    Args:
        alpha: α, from 0 to 1.
        guesses: γ, from 0 to 16.
        cost: c, from 0 to 1.

    The traits of the same names follow the reader's hand.

    Raises: ValueError for a number out of its range.
    Source: Leviathan, Kalman and Matias (2023), equation 1 and theorem 3.8.
    """

    alpha = ruled(traitlets.Float(0.8), checks.between, least=0, most=1)
    guesses = ruled(traitlets.Int(4), checks.whole, least=0, most=_MOST)
    cost = ruled(traitlets.Float(0.0), checks.between, least=0, most=1)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self, alpha: float = 0.8, guesses: int = 4, cost: float = 0.0, *, caption: str = ""
    ) -> None:
        super().__init__(caption=caption, start={"alpha": alpha, "guesses": guesses, "cost": cost})

    @property
    def reached(self) -> np.ndarray:
        """The probability that a call writes so many tokens or more, of shape (γ + 1,)."""
        return self.alpha ** np.arange(self.guesses + 1)

    @property
    def tokens(self) -> np.ndarray:
        """The tokens of a call on average, for 0 to 16 guesses, of shape (17,)."""
        return np.cumsum(self.alpha ** np.arange(_MOST + 1))

    @property
    def gains(self) -> np.ndarray:
        """How many times as fast it is with 0 to 16 guesses, of shape (17,)."""
        return self.tokens / (1 + self.cost * np.arange(_MOST + 1))

    def _summary(self) -> str:
        alpha, cost = markup.plain(self.alpha), markup.plain(self.cost)
        return f"alpha {alpha}, {self.guesses} guesses, cost {cost}"

    def _fallback(self) -> str:
        rows = [
            [str(n), markup.fixed(tokens), markup.fixed(gain)]
            for n, (tokens, gain) in enumerate(zip(self.tokens, self.gains, strict=True))
        ]
        return (
            f"<p>Each guess is kept with probability α = {markup.plain(self.alpha)} and costs"
            f" {markup.plain(self.cost)} of a call.</p>"
            + markup.table(
                ["guesses γ", "tokens a call", "times as fast"], rows, label="For each γ"
            )
        )
