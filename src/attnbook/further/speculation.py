"""Speculative decoding: cheap guesses, many of them judged in one call of the model.

To write a token, a model reads all of its weights; to judge eight at once costs hardly more. A
*draft* guesses the next tokens, and the model computes their probabilities in one call. A guess x
that was drawn from q is kept with probability min(1, p(x) / q(x)); at the first that is not, a
token is drawn from what p has more than q, (p − q)₊, and if all are kept, one more from p. So each
token has the model's distribution p, whatever the draft, and a good draft saves calls.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnbook import _check
from attnbook.decoding import check_numbers
from attnbook.transformer import LanguageModel


class Draft(NamedTuple):
    """Up to n guessed tokens, and what each was drawn from, (m, vocabulary).

    Without probabilities the guesses are certain: all of q is on them.
    """

    tokens: list[int]
    q: Tensor | None = None


Drafter = Callable[[list[int], int, torch.Generator | None], Draft]


class Speculated(NamedTuple):
    """A written text without eos, whether eos came, and what it cost.

    ``calls`` of the model after the prompt, tokens ``drafted``, and those of them ``kept``.
    """

    tokens: list[int]
    finished: bool
    calls: int
    drafted: int
    kept: int


@torch.no_grad()
def speculate(
    model: LanguageModel,
    prompt: Tensor,
    draft: Drafter,
    *,
    guesses: int = 4,
    max_length: int,
    temperature: float = 0.0,
    generator: torch.Generator | None = None,
    eos: int = 2,
) -> Speculated:
    """Go on with one text, as the model alone would, in fewer calls.

    ``draft(text, n, generator)`` guesses up to n tokens: ``look_up``, or a function of yours, of a
    smaller model for instance; at most ``guesses`` are asked for. Tokens are drawn from
    p ∝ exp(logits / temperature); at temperature 0 the most probable is taken, and the text is that
    of ``greedy``. It ends at eos, or after ``max_length`` tokens, eos counted.

    Shapes: prompt (n,) of at least one token.
    Raises: ValueError for another prompt, a negative temperature, logits that are NaN, and as
    ``verdict`` for a draft, or one of too many tokens.
    Source: Leviathan, Kalman and Matias (2023), algorithm 1; Chen et al. (2023), algorithm 2.
    """
    _check.must(prompt.dim() == 1 and len(prompt), "prompt", "have the shape (n,), n ≥ 1", prompt)
    _check.must(temperature >= 0, "temperature", "be at least 0", temperature)
    prompt, text, ended = prompt.long(), prompt.tolist(), False
    written = calls = drafted = kept = 0
    state = model.start(prompt[None, :-1], prompt.new_tensor([len(prompt) - 1]))
    while written < max_length and not ended:  # the model has read all but the last token
        n = min(guesses, max_length - written - 1)  # one more token comes from the model
        guessed, q = draft(list(text), n, generator) if n else Draft([])
        _check.must(len(guessed) <= n, "draft", f"guess at most {n} tokens", guessed)
        _check_draft(guessed, q, model.vocabulary)
        logits, state = model.extend(prompt.new_tensor([[text[-1], *guessed]]), state)
        chances, rest = _verdict(_probabilities(logits[0], temperature), guessed, q)
        coins, i = torch.stack((1 - chances, chances), dim=-1), 0  # (m, 2)
        while i < len(guessed) and not ended and _draw(coins[i], generator):
            ended = guessed[i] == eos  # what was guessed behind it is of no use
            i += 1
        state = model.rewind(state, len(guessed) - i)
        new = guessed[:i] if ended else [*guessed[:i], _draw(rest[i], generator)]
        text, written, ended = text + new, written + len(new), new[-1] == eos
        calls, drafted, kept = calls + 1, drafted + len(guessed), kept + i
    return Speculated(text[len(prompt) : len(text) - ended], ended, calls, drafted, kept)


def verdict(p: Tensor, tokens: list[int], q: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return how probably each guess is kept, and what the next token is drawn from after i kept.

    min(1, p_i(x_i) / q_i(x_i)) for each guess x_i; (p_i − q_i)₊, divided by its sum, where it is
    the first that is not kept, and the last p where all are.

    Shapes: p (m + 1, vocabulary) for m tokens, q (m, vocabulary), or None where the guesses are
    certain; returns (m,) and (m + 1, vocabulary).
    Raises: ValueError for rows that are no probabilities, another number of them, or another
    vocabulary; a token outside of it, or one that q cannot give.
    Source: Leviathan, Kalman and Matias (2023), section 2.3.
    """
    _check_probabilities("p", p, f"{len(tokens) + 1} vocabulary")
    _check_draft(tokens, q, p.shape[-1])
    return _verdict(p, tokens, q)


def _verdict(p: Tensor, tokens: list[int], q: Tensor | None) -> tuple[Tensor, Tensor]:
    m, guess = len(tokens), torch.tensor(tokens, dtype=torch.long, device=p.device)
    q = one_hot(guess, p.shape[-1]).to(p) if q is None else q.to(p)
    of_guess, of_draft = (each.gather(1, guess[:, None])[:, 0] for each in (p[:m], q))
    more = (p[:m] - q).clamp(min=0)
    total = more.sum(dim=-1, keepdim=True)
    # where p = q nothing is left over, and nothing is ever refused
    rest = torch.where(total > 0, more / total.masked_fill(total == 0, 1), p[:m])
    return (of_guess / of_draft).clamp(max=1), torch.cat((rest, p[m:]))


def look_up(
    text: list[int], n: int, generator: torch.Generator | None = None, *, longest: int = 3
) -> Draft:
    """Guess that the text repeats itself: what followed when its last tokens last stood in it.

    The last ``longest`` tokens are looked for, then fewer, down to one; with none found there is
    no guess.

    Source: Saxena (2023); Yang et al. (2023) for the idea.
    """
    for length in range(min(longest, len(text) - 1), 0, -1):
        ending = text[-length:]
        for start in range(len(text) - length - 1, -1, -1):
            if text[start : start + length] == ending:
                return Draft(text[start + length :][:n])
    return Draft([])


def _probabilities(logits: Tensor, temperature: float) -> Tensor:
    """Return p ∝ exp(logits / temperature) in float64; all on the greatest at temperature 0."""
    # the greatest become 0, so that no division by a tiny temperature is infinite
    logits = logits.double() - logits.amax(dim=-1, keepdim=True)
    check_numbers(logits)
    if temperature == 0:
        return one_hot(logits.argmax(dim=-1), logits.shape[-1]).double()
    return (logits / max(temperature, torch.finfo(torch.float32).tiny)).softmax(dim=-1)


def _draw(p: Tensor, generator: torch.Generator | None) -> int:
    """Return an index of p (k,), drawn with that probability."""
    device = "cpu" if generator is None else generator.device
    return int(torch.multinomial(p.to(device), 1, generator=generator))


def _check_draft(tokens: list[int], q: Tensor | None, vocabulary: int) -> None:
    _check.ids("draft", torch.tensor(tokens, dtype=torch.long), vocabulary)
    if q is not None:
        _check_probabilities("the draft's q", q, f"{len(tokens)} {vocabulary}")
        own = all(q[i, one] > 0 for i, one in enumerate(tokens))
        _check.must(own, "draft", "guess what its own q can give", tokens)


def _check_probabilities(name: str, p: Tensor, form: str) -> None:
    _check.fit(**{name: (p, form)})
    fine = (p >= 0).all() and ((p.double().sum(dim=-1) - 1).abs() < 0.01).all()  # in bfloat16, too
    _check.must(fine, name, "hold rows of probabilities, with the sum 1", but="it does not")
