"""A prompt on its way through a language model, as the output would read it after each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.models.recorded import LensPrompt
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["LogitLens"]

_MOST = 8  # prompts
_MOST_TOKENS = 64
_BEST = 3


class LogitLens(Widget, kind="lens"):
    """Follow a prompt through the layers: what the output would say so far, and what each adds.

    p = softmax(norm(x_l) Uᵀ) after each layer l, x_l the residual path

    Under each token stands the most probable word after the present layer. Of the pressed token are
    shown the three most probable ones, and over all layers the probability of the word that is said
    at last; beside it what each layer's attention and feed-forward network add to its logit, and
    the sum of all that was added so far.

    Args:
        prompts: what ``smollm_lens`` returns: 1 to 8 prompts of at most 64 tokens.
        prompt: the place of the one that is shown; −1 is the last.
        step: 0 for the embeddings, k for after layer k − 1, −1 for the last. Unless it is given,
            the one where attention first adds to the word: after the first layer whose attention
            adds at least half of the most that any layer's adds.
        token: the place of the pressed one; the last unless given.

    The traits prompt, step and token follow the reader's hand.

    Raises: TypeError for anything but ``LensPrompt``; ValueError for counts, shapes or numbers that
    do not fit.
    Source: nostalgebraist (2020).
    """

    prompts = traitlets.List().tag(sync=True)
    prompt = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.prompts))
    step = ruled(
        traitlets.Int(0), checks.index_of, count=lambda self: len(self.prompts[0]["chance"])
    )
    token = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.shown["tokens"]))
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        prompts: Sequence[LensPrompt],
        *,
        prompt: int = 0,
        step: int | None = None,
        token: int = -1,
        caption: str = "",
    ) -> None:
        if isinstance(prompts, LensPrompt | str) or not isinstance(prompts, Sequence):
            raise TypeError(f"prompts must be a list, got {checks.one_line(prompts)}")
        if not 1 <= len(prompts) <= _MOST:
            raise ValueError(f"prompts must be 1 to {_MOST} prompts, got {len(prompts)}")
        found = [_prompt(one) for one in prompts]
        if len({len(one["chance"]) for one in found}) > 1:
            raise ValueError("prompts must all be of as many layers")
        if step is None:
            one = found[checks.index_of("prompt", prompt, count=len(found))]
            step = _opening(one, checks.index_of("token", token, count=len(one["tokens"])))
        super().__init__(
            caption=caption,
            prompts=found,
            start={"prompt": prompt, "step": step, "token": token},
        )

    @property
    def shown(self) -> dict[str, Any]:
        """The prompt that is shown."""
        return self.prompts[self.prompt]

    def best(self, step: int, token: int) -> list[tuple[str, float]]:
        """Return the three most probable words after a token at a step."""
        places = slice(token * _BEST, (token + 1) * _BEST)
        one = self.shown
        both = zip(one["best"][step][places], one["chance"][step][places], strict=True)
        return [(one["names"][name], chance / 100) for name, chance in both]

    def _summary(self) -> str:
        text = "".join(self.shown["tokens"]).replace("\n", " ↵ ")
        return f"{text!r}, step {self.step}, token {self.token}"

    def _fallback(self) -> str:
        one, steps = self.shown, len(self.shown["chance"])
        rows = []
        for step in range(steps):
            (word, chance), *_ = self.best(step, self.token)
            name = f"after layer {step - 1}" if step else "embeddings"
            adds = ["–", "–"]
            if step:
                adds = [markup.fixed(part[self.token], 1) for part in one["adds"][step - 1]]
            rows.append([name, markup.escape(_spaced(word)), markup.fixed(chance, 2), *adds])
        text = markup.escape("".join(one["tokens"]))
        head = [
            "step",
            "the output would say",
            "probability",
            "attention adds",
            "feed-forward adds",
        ]
        token = markup.escape(_spaced(one["tokens"][self.token]))
        return (
            f"<p>“{text}”: what the output would say after “{token}”, layer by layer.</p>"
            + markup.table(head, rows, label="Layer by layer")
        )


def _opening(one: dict[str, Any], token: int) -> int:
    """Return the step at which attention first adds to the word that is said at last."""
    adds = [attention[token] for attention, _ in one["adds"]]
    most = max(adds)
    return (
        1 + next(k for k, value in enumerate(adds) if 2 * value >= most) if most > 0 else len(adds)
    )


def _spaced(token: str) -> str:
    """Return a token that shows its spaces and ends of lines."""
    return token.replace("\n", "↵").replace(" ", "␣") or "∅"


def _prompt(one: Any) -> dict[str, Any]:
    if not isinstance(one, LensPrompt):
        raise TypeError(f"prompts must hold LensPrompts, got {checks.one_line(one)}")
    tokens = checks.texts("tokens", one.tokens)
    names = checks.texts("names", one.names)
    n = len(tokens)
    if not 1 <= n <= _MOST_TOKENS:
        raise ValueError(f"tokens must be 1 to {_MOST_TOKENS}, got {n}")
    chance = checks.finite_array("chance", one.chance, ranks=(3,))
    best = checks.finite_array("best", one.best, ranks=(3,)).astype(int)
    last = checks.finite_array("last", one.last, ranks=(2,))
    adds = checks.finite_array("adds", one.adds, ranks=(3,))
    steps = len(chance)
    for name, found, wanted in (
        ("chance", chance, (steps, n, _BEST)),
        ("best", best, (steps, n, _BEST)),
        ("last", last, (steps, n)),
        ("adds", adds, (steps - 1, 2, n)),
    ):
        if found.shape != wanted:
            raise ValueError(f"{name} must have shape {wanted}, got {found.shape}")
    for name, found in (("chance", chance), ("last", last)):
        if found.min() < 0 or found.max() > 1:
            raise ValueError(f"{name} must be from 0 to 1")
    if best.min() < 0 or best.max() >= len(names):
        raise ValueError(f"best must be places of the {len(names)} names")
    return {
        "tokens": tokens,
        "names": names,
        "best": best.reshape(steps, -1).tolist(),
        "chance": np.round(100 * chance).astype(int).reshape(steps, -1).tolist(),
        "last": np.round(100 * last).astype(int).tolist(),
        "adds": np.round(adds, 1).tolist(),
    }
