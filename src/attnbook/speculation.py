"""Speculative decoding: cheap guesses, many of them judged in one call of the model.

To write a token, a model reads all of its weights; to judge eight at once costs hardly more. A
*draft* guesses the next tokens, and the model computes their probabilities in one call. A guess x
that was drawn from q is kept with probability min(1, p(x) / q(x)); at the first that is not, a
token is drawn from what p has more than q, (p − q)₊, and if all are kept, one more from p. So each
token has the model's distribution p, whatever the draft, and a good draft saves calls.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnbook import _check
from attnbook.decoding import State, Stepper

__all__ = ["Draft", "DraftModel", "Rewindable", "Speculated", "look_up", "speculate", "verdict"]


class Rewindable(Stepper[State], Protocol[State]):
    """A ``Stepper`` that can judge guesses, and forget them: ``LanguageModel``, for one."""

    vocabulary: int

    def extend(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Add tokens (rows, n); return logits (rows, n, vocabulary) after each, and the state."""
        ...

    def rewind(self, state: State, n: int) -> State:
        """Return the state before the last n tokens."""
        ...


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


def speculate(
    model: Rewindable[State],
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

    ``draft(text, n, generator)`` guesses up to n tokens: ``look_up``, a ``DraftModel``, or a
    function of yours; at most ``guesses`` are asked for. Tokens are drawn from
    p ∝ exp(logits / temperature); at temperature 0 the most probable is taken, and the text is that
    of ``greedy``. It ends at eos, or after ``max_length`` tokens, eos counted.

    Shapes: prompt (n,) of at least one token.
    Raises: ValueError for another prompt, ``guesses`` or a ``max_length`` below 1, a temperature
    that is negative or not finite, a draft of too many tokens or of another vocabulary.
    Source: Leviathan, Kalman and Matias (2023), algorithm 1; Chen et al. (2023), algorithm 2.
    """
    _check.integers("prompt", prompt)
    fine = prompt.dim() == 1 and len(prompt)
    _check.must(fine, "prompt", "have the shape (n,), with at least one token", prompt)
    _check.sizes(guesses=guesses, max_length=max_length)
    _check.sizes(0, eos=eos)
    _check_temperature(temperature)
    if isinstance(draft, DraftModel):
        theirs, wanted = draft.reader.model.vocabulary, f"the model's {model.vocabulary} tokens"
        told = f"its vocabulary has {theirs}"
        _check.must(theirs == model.vocabulary, "draft", f"know {wanted}", but=told)
    reader, text, n_prompt = _Reader(model, prompt.device), prompt.tolist(), len(prompt)
    calls = drafted = kept = 0
    ended = False
    while len(text) - n_prompt < max_length and not ended:
        room = max_length - (len(text) - n_prompt) - 1  # one more token comes from the model
        n = min(guesses, room)
        guessed, q = draft(list(text), n, generator) if n else Draft([])
        wanted = f"guess at most {n} tokens"
        _check.must(len(guessed) <= n, "draft", wanted, but=f"it guessed {len(guessed)}")
        _check_draft(guessed, q, model.vocabulary)
        logits = reader.logits(text + guessed, len(guessed) + 1)
        p = _probabilities(logits, temperature)  # (m + 1, vocabulary)
        chances, rest = _verdict(p, guessed, q)
        i = 0
        while i < len(guessed) and not ended and _yes(chances[i], generator):
            ended = guessed[i] == eos  # what was guessed behind it is of no use
            i += 1
        text += guessed[:i]
        if not ended:
            text.append(_draw(rest[i], generator))
            ended = text[-1] == eos
        calls, drafted, kept = calls + 1, drafted + len(guessed), kept + i
    return Speculated(text[n_prompt : len(text) - ended], ended, calls, drafted, kept)


def verdict(p: Tensor, tokens: list[int], q: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return how probably each guess is kept, and what the next token is drawn from after i kept.

    min(1, p_i(x_i) / q_i(x_i)) for each guess x_i; (p_i − q_i)₊, divided by its sum, where it is
    the first that is not kept, and the last p where all are.

    Shapes: p (m + 1, vocabulary) for m tokens, q (m, vocabulary), or None where the guesses are
    certain; returns (m,) and (m + 1, vocabulary).
    Raises: ValueError for another number of rows, or another vocabulary; a token outside of it, or
    one that q cannot give.
    Source: Leviathan, Kalman and Matias (2023), section 2.3.
    """
    _check.shape("p", p, len(tokens) + 1, "vocabulary")
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

    Raises: ValueError for a ``longest`` below 1.
    Source: Saxena (2023); Yang et al. (2023) for the idea.
    """
    _check.sizes(longest=longest)
    for length in range(min(longest, len(text) - 1), 0, -1):
        ending = text[-length:]
        for start in range(len(text) - length - 1, -1, -1):
            if text[start : start + length] == ending:
                return Draft(text[start + length :][:n])
    return Draft([])


class DraftModel(Generic[State]):
    """Guess with a smaller model of the same vocabulary, at a temperature of its own.

    It remembers what it has read of one text, and reads on from there.

    Raises: ValueError for a temperature that is negative or not finite.
    Source: Leviathan, Kalman and Matias (2023), algorithm 1.
    """

    def __init__(
        self,
        model: Rewindable[State],
        *,
        temperature: float = 0.0,
        device: torch.device | str | None = None,
    ) -> None:
        _check_temperature(temperature)
        self.temperature = temperature
        self.reader = _Reader(model, device)

    def __call__(self, text: list[int], n: int, generator: torch.Generator | None = None) -> Draft:
        """Return n tokens, drawn one after another, and what each was drawn from."""
        text, rows, n_text = list(text), [], len(text)
        for _ in range(n):
            p = _probabilities(self.reader.logits(text, 1), self.temperature)[0]
            text.append(_draw(p, generator))
            rows.append(p)
        return Draft(text[n_text:], torch.stack(rows) if rows else None)


class _Reader(Generic[State]):
    """A model, and what it has read of one text: what comes otherwise is read anew."""

    def __init__(self, model: Rewindable[State], device: torch.device | str | None) -> None:
        self.model, self.device = model, device
        self.state: State | None = None
        self.read: list[int] = []

    @torch.no_grad()
    def logits(self, text: list[int], n: int) -> Tensor:
        """Return the logits after each of the last n tokens of a text: (n, vocabulary)."""
        state, old = self.state, len(text) - n
        if state is None:
            length = torch.tensor([old], device=self.device)
            state, same = self.model.start(self._tensor(text[:old]), length), old
        else:
            pairs = zip(self.read, text[:old], strict=False)
            same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(self.read), old))
            state = self.model.rewind(state, len(self.read) - same)
        logits, self.state = self.model.extend(self._tensor(text[same:]), state)
        self.read = list(text)
        return logits[0, -n:]

    def _tensor(self, tokens: list[int]) -> Tensor:
        return torch.tensor([tokens], dtype=torch.long, device=self.device)


def _probabilities(logits: Tensor, temperature: float) -> Tensor:
    """Return p ∝ exp(logits / temperature) in float64; all on the greatest at temperature 0."""
    if temperature == 0:
        return one_hot(logits.argmax(dim=-1), logits.shape[-1]).double()
    # the greatest become 0, so that no division by a tiny temperature is infinite
    logits = logits.double() - logits.amax(dim=-1, keepdim=True)
    return (logits / max(temperature, torch.finfo(torch.float32).tiny)).softmax(dim=-1)


def _draw(p: Tensor, generator: torch.Generator | None) -> int:
    """Return an index of p (k,), drawn with that probability."""
    device = "cpu" if generator is None else generator.device
    return int(torch.multinomial(p.to(device), 1, generator=generator))


def _yes(p: Tensor, generator: torch.Generator | None) -> bool:
    return _draw(torch.stack((1 - p, p)), generator) == 1


def _check_draft(tokens: list[int], q: Tensor | None, vocabulary: int) -> None:
    for one in tokens:
        wanted = f"guess tokens of the model's vocabulary, from 0 to {vocabulary - 1}"
        told = f"{one} is among them"
        _check.must(0 <= one < vocabulary, "draft", wanted, but=told)
    if q is not None:
        form = (len(tokens), vocabulary)
        wanted = f"give probabilities of the shape (m, vocabulary) = {form}, the model's"
        _check.must(tuple(q.shape) == form, "draft", wanted, q)
        own = all(q[i, one] > 0 for i, one in enumerate(tokens))
        _check.must(own, "draft", "guess what its own q can give", but="a q is 0")


def _check_temperature(temperature: float) -> None:
    fine = _check.is_number(temperature) and 0 <= temperature < torch.inf
    _check.must(fine, "temperature", "be at least 0 and finite", temperature)
