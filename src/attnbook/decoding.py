"""Writing with a model: greedily, by chance, or with a beam of the best hypotheses so far.

A model is asked for one token after another through three methods (``Stepper``). Sentences and
hypotheses are rows of one batch; a sentence's result never depends on the others in it. No
gradient is computed; call ``model.eval()`` first.

A hypothesis holds n tokens, eos among them where it is finished. Its log-probability is
log p(y) = Σ_t log p(y_t | y_<t, x) under the model, in float32 or better.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from attnbook import _check

__all__ = ["Hypothesis", "Stepper", "beam_search", "greedy", "sample"]

State = TypeVar("State")
Choose = Callable[[Tensor, int], Tensor]  # of log p (b, vocabulary) and the step: (b,)


class Stepper(Protocol[State]):
    """What can be decoded: ``RNNSeq2Seq``, ``Seq2Seq``, ``LanguageModel``, or a class of yours.

    A row's logits may depend on no other row. A state is used once: ``step`` may change it.
    """

    def start(self, source: Tensor, source_lengths: Tensor) -> State:
        """Read source (b, n_s) of lengths (b,); return a state of b rows."""
        ...

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (rows, vocabulary) that follow tokens (rows,), and the new state."""
        ...

    def reorder(self, state: State, rows: Tensor) -> State:
        """Return a state of the chosen rows (m,), with repetition if asked."""
        ...


class Hypothesis(NamedTuple):
    """A written sentence: tokens without bos and eos, log p(y), its score, whether eos came.

    The score is what ``beam_search`` sorts by; elsewhere it is log p(y) itself.
    """

    tokens: list[int]
    log_probability: float
    score: float
    finished: bool


def greedy(
    stepper: Stepper[State],
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

    Shapes: source (b, n_s), source_lengths (b,); bos is one token for all, or (b,), such as the
    last of a prompt that the source holds; returns b hypotheses.
    Raises: ValueError for a ``max_length`` below 1, a bos of another shape, and logits of another
    shape or NaN; what ``start`` raises for the source and its lengths.
    """
    first = _first_tokens(source, max_length, bos)
    state = stepper.start(source, source_lengths)
    return _write(stepper, state, first, lambda log_p, _: log_p.argmax(dim=-1), max_length, eos)


def sample(
    stepper: Stepper[State],
    source: Tensor,
    source_lengths: Tensor,
    *,
    max_length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | Sequence[torch.Generator] | None = None,
    bos: int | Tensor = 1,
    eos: int = 2,
) -> list[Hypothesis]:
    """Draw every token by chance, from p(y) ∝ exp(log p(y | y_<t, x) / temperature).

    ``top_k`` leaves the k most probable tokens (among equals the lowest ids); ``top_p`` leaves,
    of those, the fewest most probable ones that together have at least this share. The
    log-probability of the result is the model's, without temperature and cuts.

    ``generator`` is one for each sentence, or a single one (None: torch's own), from which a seed
    for each sentence is drawn in order, so that none depends on the others.

    Shapes, Raises: as ``greedy``; ValueError for a temperature that is not above 0, a ``top_k``
    below 1, a ``top_p`` outside (0, 1], or another number of generators than sentences.
    Source: Fan, Lewis and Dauphin (2018) for top-k; Holtzman et al. (2020) for top-p.
    """
    first = _first_tokens(source, max_length, bos)
    _check.must(temperature > 0, "temperature", "be above 0", temperature)
    _check.must(top_k is None or top_k > 0, "top_k", "be at least 1", top_k)
    _check.must(top_p is None or 0 < top_p <= 1, "top_p", "be in (0, 1]", top_p)
    draws = _draws(generator, len(source), max_length)  # (b, max_length)
    cuts = temperature, top_k, top_p
    state = stepper.start(source, source_lengths)
    choose: Choose = lambda log_p, step: pick(log_p, draws[:, step], *cuts)  # noqa: E731
    return _write(stepper, state, first, choose, max_length, eos)


@torch.no_grad()
def beam_search(
    stepper: Stepper[State],
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

    Among equals the earlier finished, then the better parent, then the lower token id wins. The
    search ends early only when nothing living can still be among the k best.

    Shapes: as ``greedy``; returns b lists of at most k hypotheses, best first.
    Raises: as ``greedy``; ValueError for a beam below 1, or a negative penalty.
    Source: Wu et al. (2016), section 7, for n^α; their own variant is ((5 + n) / 6)^α.
    """
    first = _first_tokens(source, max_length, bos)
    _check.must(beam > 0, "beam", "be at least 1", beam)
    _check.must(length_penalty >= 0, "length_penalty", "be at least 0", length_penalty)
    length_penalty = float(length_penalty)  # a power of two ints can be too long for a tensor
    b = len(source)
    first_row = torch.arange(b, device=source.device)[:, None] * beam  # (b, 1)
    sentence = torch.arange(b * beam, device=source.device) // beam
    state = stepper.reorder(stepper.start(source, source_lengths), sentence)
    tokens = first[sentence]
    living, ended = begin(b, beam, max_length, source.device)
    n = 1
    for n in range(1, max_length + 1):
        logits, state = stepper.step(tokens, state)
        living = extend(living, _log_probabilities(logits, len(tokens)))
        living, ended = put_aside(living, ended, n**length_penalty, eos)
        if n == max_length or settled(living, ended, max_length**length_penalty):
            break
        state = stepper.reorder(state, (first_row + living.parents).flatten())
        tokens = living.words[..., -1].flatten()
    _, ended = put_aside(living, ended, n**length_penalty, eos, everything=True)
    scores, log_p, words = (part.tolist() for part in ended)
    return [
        [_hypothesis(*row, eos) for row in zip(*one, strict=True) if row[2] > -math.inf]
        for one in zip(words, log_p, scores, strict=True)
    ]


@torch.no_grad()
def _write(
    stepper: Stepper[State], state: State, tokens: Tensor, choose: Choose, max_length: int, eos: int
) -> list[Hypothesis]:
    """Write one hypothesis for each of the first tokens (b,)."""
    done = torch.zeros_like(tokens, dtype=torch.bool)
    log_p, words = torch.zeros(len(tokens), device=tokens.device), []
    for step in range(max_length):
        logits, state = stepper.step(tokens, state)
        of_next = _log_probabilities(logits, len(tokens))
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


def _log_probabilities(logits: Tensor, rows: int) -> Tensor:
    """Return log p (rows, vocabulary), in float32 or better: half precision ties and drowns."""
    _check.shapes(**{"step's logits": (logits, f"{rows} vocabulary")})
    wide = torch.promote_types(logits.dtype, torch.float32)
    return logits.log_softmax(dim=-1, dtype=wide)


def _first_tokens(source: Tensor, max_length: int, bos: int | Tensor) -> Tensor:
    """Return the tokens (b,) that all three ways begin with."""
    _check.must(max_length > 0, "max_length", "be at least 1", max_length)
    if not isinstance(bos, Tensor):
        return source.new_full((len(source),), bos)
    _check.shapes(bos=(bos, f"{len(source)}"))
    return bos


def check_numbers(log_p: Tensor) -> None:
    """Ask a model for logits that are numbers; NaN would count as the greatest."""
    _check.must(not log_p.isnan().any(), "step's logits", "be numbers", but="they lead to NaN")


def _draws(generator: torch.Generator | Sequence[torch.Generator] | None, b: int, n: int) -> Tensor:
    """Return n numbers from [0, 1) for each of b sentences, (b, n), on the CPU."""
    if generator is None or isinstance(generator, torch.Generator):
        device = "cpu" if generator is None else generator.device
        # one by one: a sentence's seed must not depend on how many come after it
        seeds = [torch.randint(2**62, (), generator=generator, device=device) for _ in range(b)]
        generator = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
    _check.must(len(generator) == b, "generator", f"be one for each of {b} sentences", generator)
    rows = [torch.rand(n, generator=g, device=g.device, dtype=torch.float64) for g in generator]
    return torch.stack([row.cpu() for row in rows])


def pick(
    log_p: Tensor, draw: Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> Tensor:
    """Return each row's token at which the probabilities, added up, pass its ``draw``: (b,).

    Shapes: log_p (b, vocabulary), draw (b,) from [0, 1).
    """
    ordered, tokens = log_p.sort(dim=-1, descending=True, stable=True)
    # below this float32 would divide 0 by 0; the greatest are alone already
    temperature = max(temperature, torch.finfo(torch.float32).tiny)
    p = ((ordered - ordered[:, :1]) / temperature).softmax(dim=-1)
    if top_k is not None:
        p = p.masked_fill(torch.arange(p.shape[-1], device=p.device) >= top_k, 0)
    if top_p is not None and top_p < 1:
        before = p.cumsum(dim=-1) - p  # what the more probable tokens have together
        p = p.masked_fill(before >= top_p * p.sum(dim=-1, keepdim=True), 0)
    so_far = p.cumsum(dim=-1)  # (b, vocabulary)
    rank = torch.searchsorted(so_far, draw[:, None].to(p) * so_far[:, -1:], right=True)
    # rounding may lead beyond the last; a row of NaN has none, and is refused afterwards
    last = ((p > 0).sum(dim=-1, keepdim=True) - 1).clamp(min=0)
    return tokens.gather(1, rank.minimum(last))[:, 0]


class Living(NamedTuple):
    """A beam's hypotheses of n tokens: log p (b, k), words (b, k, n), whom each continues (b, k).

    A sentence has k places; an empty one has the log-probability −∞.
    """

    log_p: Tensor
    words: Tensor
    parents: Tensor


class Ended(NamedTuple):
    """Hypotheses put aside, best first: scores and log p (b, k), words (b, k, max_length).

    Behind the end there is eos; an unfinished hypothesis fills its row without one.
    """

    scores: Tensor
    log_p: Tensor
    words: Tensor


def begin(b: int, k: int, max_length: int, device: torch.device) -> tuple[Living, Ended]:
    """Return one living hypothesis per sentence, without words, and none that has ended."""
    nothing = torch.full((b, k), -torch.inf, device=device)
    words = torch.zeros(b, k, max_length, dtype=torch.long, device=device)
    log_p = nothing.clone()
    log_p[:, 0] = 0
    return Living(log_p, words[..., :0], words[..., 0]), Ended(nothing, nothing, words)


def extend(living: Living, log_p: Tensor) -> Living:
    """Let all continuations compete, log p(y_≤n) = log p(y_<n) + log p(y_n | y_<n); k stay.

    Shapes: log_p (b · k, vocabulary), of the next word.
    Raises: ValueError where one is NaN.
    """
    b, k = living.log_p.shape
    vocabulary = log_p.shape[-1]
    total = living.log_p[..., None] + log_p.view(b, k, vocabulary)
    empty = living.log_p == -torch.inf
    if empty.any():  # −∞ + NaN would be NaN: what follows an empty place does not count
        total.masked_fill_(empty[..., None], -torch.inf)
    log_p, chosen = best(total.flatten(1), k)  # (b, k) of k · vocabulary
    parents, words = chosen // vocabulary, chosen % vocabulary
    before = _choose(living.words, parents)
    return Living(log_p, torch.cat([before, words[..., None]], dim=-1), parents)


def put_aside(
    living: Living, ended: Ended, penalty: float, eos: int, *, everything: bool = False
) -> tuple[Living, Ended]:
    """Move those that end in eos, or ``everything``, to the ended, of which the best k stay.

    Their score is log p / ``penalty``, that of their own length.
    """
    log_p, words, _ = living
    leaves = torch.ones_like(log_p).bool() if everything else words[..., -1] == eos
    if not leaves.any():
        return living, ended
    leaving = (log_p / penalty).masked_fill(~leaves, -torch.inf)
    scores, chosen = best(torch.cat([ended.scores, leaving], dim=1), log_p.shape[1])
    room = ended.words.shape[-1] - words.shape[-1]
    words = torch.nn.functional.pad(words, (0, room), value=eos)
    ended = Ended(
        scores,
        torch.cat([ended.log_p, log_p], dim=1).gather(1, chosen),
        _choose(torch.cat([ended.words, words], dim=1), chosen),
    )
    return living._replace(log_p=log_p.masked_fill(leaves, -torch.inf)), ended


def settled(living: Living, ended: Ended, last_penalty: float) -> bool:
    """Say whether no living hypothesis of any sentence can still get among the best k.

    log p never rises and the penalty is greatest at the last length; of equals, the one that ended
    before stays.
    """
    bound = living.log_p.amax(dim=1) / last_penalty
    return bool((ended.scores[:, -1] >= bound).all())


def best(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k greatest of each row and their indices; of equals, those that come first.

    ``topk`` alone leaves open which of equals it takes.

    Raises: ValueError for NaN.
    """
    values, indices = scores.topk(min(k + 1, scores.shape[-1]), dim=-1)
    check_numbers(values)  # NaN counts as the greatest
    if bool((values[:, k:] == values[:, k - 1 : k]).any()):  # equals on both sides of the border
        values, indices = scores.sort(dim=-1, descending=True, stable=True)
        return values[:, :k], indices[:, :k]
    indices = indices[:, :k].sort(dim=-1).values
    values, order = scores.gather(1, indices).sort(dim=-1, descending=True, stable=True)
    return values, indices.gather(1, order)


def _choose(words: Tensor, places: Tensor) -> Tensor:
    return words.gather(1, places[..., None].expand(-1, -1, words.shape[-1]))
