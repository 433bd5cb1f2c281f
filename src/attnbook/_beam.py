"""The places of a beam: hypotheses of b sentences that live, and those that have ended.

Each sentence has k places. An empty place has the log-probability or score −∞.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Living(NamedTuple):
    """Hypotheses of n tokens: log p (b, k), words (b, k, n), and whom each continues (b, k)."""

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

    Raises: ValueError where a continuation's log-probability is NaN.
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

    Their score is log p / ``penalty``, where the penalty belongs to their own length.
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

    log p never rises and the penalty is greatest at the last length, so none can end with a
    score above log p / ``last_penalty``; of equals, the one that ended before stays.
    """
    bound = living.log_p.amax(dim=1) / last_penalty
    return bool((ended.scores[:, -1] >= bound).all())


def best(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k greatest of each row and their indices; of equals, those that come first.

    ``topk`` alone leaves open which of equals it takes.

    Raises: ValueError where NaN is among them.
    """
    values, indices = scores.topk(min(k + 1, scores.shape[-1]), dim=-1)
    check_numbers(values)  # NaN counts as the greatest
    if bool((values[:, k:] == values[:, k - 1 : k]).any()):  # equals on both sides of the border
        values, indices = scores.sort(dim=-1, descending=True, stable=True)
        return values[:, :k], indices[:, :k]
    indices = indices[:, :k].sort(dim=-1).values
    values, order = scores.gather(1, indices).sort(dim=-1, descending=True, stable=True)
    return values, indices.gather(1, order)


def check_numbers(log_p: Tensor) -> None:
    """Raise ``ValueError`` where a log-probability is NaN."""
    if log_p.isnan().any():
        raise ValueError("step must return logits that are numbers: they lead to NaN")


def _choose(words: Tensor, places: Tensor) -> Tensor:
    return words.gather(1, places[..., None].expand(-1, -1, words.shape[-1]))
