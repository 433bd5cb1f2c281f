"""Writing with a model: greedily, by chance, or with a beam of the best hypotheses so far.

A model is asked for one token after another through three methods (``Stepper``), so a recurrent
state and a Transformer's cache are decoded by the same code. Sentences and hypotheses are rows of
one batch; a sentence's result never depends on the others in it. No gradient is computed, and
dropout is the model's own matter: call ``model.eval()`` first.

A hypothesis holds n tokens, eos among them where it is finished. Its log-probability is the sum
of theirs under the model, log p(y) = Σ_t log p(y_t | y_<t, x), in float32 or better.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Generator, Tensor

from attnbook import _chance, _check
from attnbook._beam import Ended, begin, check_numbers, extend, put_aside, settled

State = TypeVar("State")


class Stepper(Protocol[State]):
    """What can be decoded: ``RNNSeq2Seq``, ``Seq2Seq``, ``LanguageModel``, or a class of yours.

    ``start`` reads b sources; ``step`` reads one token per row and gives the logits of the next;
    ``reorder`` chooses rows of a state, with repetition. A row's logits may depend on no other
    row. A state is used once: ``step`` may change it.
    """

    def start(self, source: Tensor, source_lengths: Tensor) -> State:
        """Read source (b, n_s) of lengths (b,); return a state of b rows."""

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (rows, vocabulary) that follow tokens (rows,), and the new state."""

    def reorder(self, state: State, rows: Tensor) -> State:
        """Return a state of the chosen rows (m,)."""


class Hypothesis(NamedTuple):
    """A written sentence: tokens without bos and eos, log p(y), its score, whether eos came.

    The score is what ``beam_search`` sorts by; elsewhere it is log p(y) itself.
    """

    tokens: list[int]
    log_probability: float
    score: float
    finished: bool


def greedy(
    stepper: Stepper,
    source: Tensor,
    source_lengths: Tensor,
    *,
    max_length: int,
    bos: int | Tensor = 1,
    eos: int = 2,
) -> list[Hypothesis]:
    """Take the most probable token at every step, y_t = argmax p(y | y_<t, x).

    Among equals the lowest token id wins. It ends at eos, or unfinished after ``max_length``
    tokens, eos counted.

    Shapes: source (b, n_s), source_lengths (b,); bos is one token for all, or (b,) with one for
    each, such as the last of a prompt that the source holds; returns b hypotheses.

    Raises: ValueError for lengths outside the source, an empty batch, a ``max_length`` below 1,
    token ids that are negative or not in the vocabulary, and logits of another shape or NaN;
    TypeError for lengths or a source that are no tensors.
    """
    _check_batch(source, source_lengths, max_length, bos, eos)

    def choose(log_p: Tensor, step: int) -> Tensor:
        return log_p.argmax(dim=-1)

    return _write(stepper, source, source_lengths, choose, max_length, bos, eos)


def sample(
    stepper: Stepper,
    source: Tensor,
    source_lengths: Tensor,
    *,
    max_length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: Generator | Sequence[Generator] | None = None,
    bos: int | Tensor = 1,
    eos: int = 2,
) -> list[Hypothesis]:
    """Draw every token by chance, from p(y) ∝ exp(log p(y | y_<t, x) / temperature).

    ``top_k`` leaves the k most probable tokens (among equals the lowest ids); ``top_p`` leaves,
    of those, the fewest most probable ones that together have at least this share. The
    log-probability of the result is the model's, without temperature and cuts.

    Chance: sentence i has its own generator. Give one for each sentence, or a single one (None:
    torch's own), from which a seed for each sentence is drawn in order. So a sentence depends on
    its generator, or on the seed and its place, never on the others.

    Shapes, Raises: as ``greedy``; ValueError for a temperature that is not above 0 and finite, a
    ``top_k`` below 1, a ``top_p`` outside (0, 1], or another number of generators than sentences.

    Source: Fan, Lewis and Dauphin (2018) for top-k; Holtzman et al. (2020) for top-p.
    """
    _check_batch(source, source_lengths, max_length, bos, eos)
    _chance.check(temperature, top_k, top_p)
    draws = _chance.draws(generator, len(source), max_length)  # (b, max_length)

    def choose(log_p: Tensor, step: int) -> Tensor:
        return _chance.pick(log_p, draws[:, step], temperature, top_k, top_p)

    return _write(stepper, source, source_lengths, choose, max_length, bos, eos)


@torch.no_grad()
def beam_search(
    stepper: Stepper,
    source: Tensor,
    source_lengths: Tensor,
    *,
    beam: int,
    max_length: int,
    length_penalty: float = 1.0,
    bos: int | Tensor = 1,
    eos: int = 2,
) -> list[list[Hypothesis]]:
    """Keep the ``beam`` most probable hypotheses at every step; return the best at the end.

    All continuations of the living hypotheses compete, and the k best by log p(y) stay. Those
    that end in eos are put aside, and the next k come from the others. At ``max_length`` tokens,
    eos counted, the living are put aside too, unfinished. The best k by score are returned:

        score(y) = log p(y) / n^α,  α = ``length_penalty``, n the tokens with eos

    α = 0 is the log-probability, which favours short sentences; α = 1 its mean per token. Among
    equals the earlier finished, then the better parent, then the lower token id wins. The search
    ends early only when nothing living can still be among the k best, so that it changes nothing.

    Shapes: as ``greedy``; returns b lists of at most k hypotheses, best first.

    Raises: as ``greedy``; ValueError for a beam below 1, or a penalty that is negative, infinite,
    or so great that the scores of long hypotheses could not be told apart.

    Source: Wu et al. (2016), section 7, for n^α and its motives; their own variant is
    ((5 + n) / 6)^α.
    """
    _check_batch(source, source_lengths, max_length, bos, eos)
    length_penalty = _checked_penalty(beam, length_penalty, max_length)
    b = len(source)
    first_row = torch.arange(b, device=source.device)[:, None] * beam  # (b, 1)
    sentence = torch.arange(b * beam, device=source.device) // beam
    state = stepper.reorder(stepper.start(source, source_lengths), sentence)
    tokens = _first_tokens(bos, source)[sentence]
    living, ended = begin(b, beam, max_length, source.device)
    for n in range(1, max_length + 1):
        logits, state = stepper.step(tokens, state)
        living = extend(living, _log_probabilities(logits, len(tokens), eos))
        living, ended = put_aside(living, ended, n**length_penalty, eos)
        if n == max_length or settled(living, ended, max_length**length_penalty):
            break
        state = stepper.reorder(state, (first_row + living.parents).flatten())
        tokens = living.words[..., -1].flatten()
    _, ended = put_aside(living, ended, n**length_penalty, eos, everything=True)
    return _n_best(ended, eos)


@torch.no_grad()
def _write(
    stepper: Stepper,
    source: Tensor,
    source_lengths: Tensor,
    choose: Callable[[Tensor, int], Tensor],
    max_length: int,
    bos: int | Tensor,
    eos: int,
) -> list[Hypothesis]:
    """Write one hypothesis per sentence; ``choose`` takes log p (b, vocabulary) and the step."""
    state, tokens = stepper.start(source, source_lengths), _first_tokens(bos, source)
    done = torch.zeros_like(tokens, dtype=torch.bool)
    log_p, words = torch.zeros(len(tokens), device=tokens.device), []
    for step in range(max_length):
        logits, state = stepper.step(tokens, state)
        of_next = _log_probabilities(logits, len(tokens), eos)
        tokens = choose(of_next, step)
        gained = of_next.gather(1, tokens[:, None])[:, 0].masked_fill(done, 0)
        check_numbers(gained)
        words.append(tokens)
        log_p = log_p + gained
        done = done | (tokens == eos)
        if done.all():
            break
    rows = torch.stack(words, dim=1).tolist()
    return [_hypothesis(row, p, p, eos) for row, p in zip(rows, log_p.tolist(), strict=True)]


def _hypothesis(words: list[int], log_p: float, score: float, eos: int) -> Hypothesis:
    finished = eos in words
    return Hypothesis(words[: words.index(eos)] if finished else words, log_p, score, finished)


def _n_best(ended: Ended, eos: int) -> list[list[Hypothesis]]:
    scores, log_p, words = (part.tolist() for part in ended)
    return [
        [
            _hypothesis(row, p, score, eos)
            for score, p, row in zip(*sentence, strict=True)
            if score > -math.inf
        ]
        for sentence in zip(scores, log_p, words, strict=True)
    ]


def _first_tokens(bos: int | Tensor, source: Tensor) -> Tensor:
    if isinstance(bos, Tensor):
        return bos
    return source.new_full((len(source),), bos)


def _log_probabilities(logits: Tensor, rows: int, eos: int) -> Tensor:
    """Return log p (rows, vocabulary), in float32 or better: half precision ties and drowns."""
    if logits.dim() != 2 or len(logits) != rows:
        raise ValueError(
            f"step must return logits of the shape (rows, vocabulary), with {rows} rows: "
            f"their shape is {tuple(logits.shape)}"
        )
    if eos >= logits.shape[1]:
        raise ValueError(f"eos must be below the vocabulary's {logits.shape[1]}: it is {eos}")
    wide = torch.promote_types(logits.dtype, torch.float32)
    return logits.log_softmax(dim=-1, dtype=wide)


def _check_batch(
    source: Tensor, source_lengths: Tensor, max_length: int, bos: int | Tensor, eos: int
) -> None:
    if not isinstance(source, Tensor):
        raise TypeError(f"source must be a torch.Tensor: it is a {type(source).__name__}")
    if source.dim() != 2:
        raise ValueError(f"source must have the shape (b, n_s): its shape is {tuple(source.shape)}")
    _check.lengths("source_lengths", source_lengths, source)
    _check.whole_number("max_length", max_length, at_least=1)
    _check.whole_number("eos", eos)
    if not isinstance(bos, Tensor):
        _check.whole_number("bos", bos)
    elif bos.dtype != torch.int64 or tuple(bos.shape) != (len(source),):
        raise ValueError(
            f"bos must be a token, or int64 of the shape (b,) = ({len(source)},): "
            f"its dtype is {bos.dtype}, its shape {tuple(bos.shape)}"
        )


def _checked_penalty(beam: int, length_penalty: float, max_length: int) -> float:
    _check.whole_number("beam", beam, at_least=1)
    if not (_check.is_number(length_penalty) and 0 <= length_penalty < math.inf):
        raise ValueError(f"length_penalty must be at least 0 and finite: it is {length_penalty!r}")
    if length_penalty * math.log10(max_length) > 30:  # log p / n^α would become 0 in float32
        raise ValueError(
            f"length_penalty must keep max_length ** length_penalty within 1e30: "
            f"it is {length_penalty!r}, with max_length = {max_length}"
        )
    return float(length_penalty)  # a power of two ints can be too long for a tensor
