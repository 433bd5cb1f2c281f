"""How well a query and a key fit together: (…, n_q, d_q), (…, n_k, d_k) → (…, n_q, n_k).

All four are called alike. Where the same keys meet many queries, as in a decoder, the keys' part
of the work is done once: ``prepared(score, key)(query)`` equals ``score(query, key)``.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attnbook import _ask, _check

Score = Callable[[Tensor, Tensor], Tensor]


def dot(query: Tensor, key: Tensor) -> Tensor:
    """Score by the dot product, e_ij = q_i · k_j.

    Shapes: query (…, n_q, d), key (…, n_k, d); returns (…, n_q, n_k).
    Raises: ValueError where the vectors differ in size, or the tensors in dtype or leading
    dimensions.
    Source: Luong, Pham and Manning (2015), section 3.1, "dot".
    """
    _check.attention(query, key, one_size=True)
    return UNCHECKED[dot](query, key)


def scaled_dot(query: Tensor, key: Tensor) -> Tensor:
    """Score by the dot product over the root of its length, e_ij = q_i · k_j / √d.

    Shapes, Raises: as ``dot``.
    Source: Vaswani et al. (2017), equation 1.
    """
    _check.attention(query, key, one_size=True)
    return UNCHECKED[scaled_dot](query, key)


# for who has checked query and key; the query is scaled, not the scores: cheaper, and no overflow
# in half precision
UNCHECKED: dict[Score, Score] = {
    dot: lambda query, key: query @ key.mT,
    scaled_dot: lambda query, key: (query * query.shape[-1] ** -0.5) @ key.mT,
}


class _Learned(nn.Module):
    """A score with a linear map of its own for the keys, ``self.key``."""

    key: nn.Linear

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (…, n_q, n_k) of query (…, n_q, d_q) and key (…, n_k, d_k)."""
        return score_projected(self, query, self.project(key))

    def project(self, key: Tensor) -> Tensor:
        """Return the keys' part of the work, (…, n_k, d), from key (…, n_k, d_k)."""
        _check.fit(self.key.weight, key=(key, f"… n_k {self.key.in_features}"))
        return self.key(key)


class Bilinear(_Learned):
    """Score through a learned matrix, e_ij = q_i W k_jᵀ.

    Shapes: W (d_q, d_k), the weight of ``self.key``; query (…, n_q, d_q), key (…, n_k, d_k);
    returns (…, n_q, n_k).
    Raises: ValueError for tensors that do not fit.
    Source: Luong, Pham and Manning (2015), section 3.1, "general".
    """

    def __init__(self, d_q: int, d_k: int) -> None:
        super().__init__()
        self.key = nn.Linear(d_k, d_q, bias=False)

    def with_projected(self, query: Tensor, projected: Tensor) -> Tensor:
        """Return q (k Wᵀ)ᵀ for each pair."""
        _check.attention(query, projected, one_size=True)
        return query @ projected.mT


class Additive(_Learned):
    """Score by a network of one hidden layer, e_ij = v · tanh(W_q q_i + W_k k_j).

    The hidden layer has one vector for each query *and* key, so the queries are taken in chunks: it
    never holds more than ``cap`` numbers at once (or one query's), in training neither, where each
    chunk is computed again for its gradient. An exported or traced graph does not cut them.

    Shapes: W_q (d, d_q), W_k (d, d_k), v (1, d); query (…, n_q, d_q), key (…, n_k, d_k);
    returns (…, n_q, n_k).
    Raises: ValueError for tensors that do not fit.
    Source: Bahdanau, Cho and Bengio (2015), appendix A.1.2.
    """

    def __init__(self, d_q: int, d_k: int, d: int, *, cap: int = 2**22) -> None:
        super().__init__()
        self.query = nn.Linear(d_q, d, bias=False)
        self.key = nn.Linear(d_k, d, bias=False)
        self.energy = nn.Linear(d, 1, bias=False)
        self.cap = cap

    def with_projected(self, query: Tensor, projected: Tensor) -> Tensor:
        """Return v · tanh(W_q q + projected) for each pair, a chunk of queries at a time."""
        _check.fit(query=(query, f"… n_q {self.query.in_features}"), key=(projected, "… n_k d"))
        query = self.query(query)  # (…, n_q, d)
        chunk = max(1, self.cap // max(1, projected.numel()))
        if _ask.for_all_sizes() or query.shape[-2] <= chunk:
            return self._energies(query, projected)
        chunks = [
            checkpoint(self._energies, part, projected, use_reentrant=False)
            for part in query.split(chunk, dim=-2)
        ]
        return torch.cat(chunks, dim=-2)

    def _energies(self, query: Tensor, projected: Tensor) -> Tensor:
        # in place: the sum is the largest tensor here, and nobody else holds it
        hidden = (query.unsqueeze(-2) + projected.unsqueeze(-3)).tanh_()  # (…, n_q, n_k, d)
        return self.energy(hidden).squeeze(-1)


def project_key(score: Score, key: Tensor) -> Tensor:
    """Do the keys' part of a score once: ``score.project(key)``, or the key where there is none.

    A tensor, so that a decoder can keep it in its state and choose rows of it.

    Shapes: key (…, n_k, d_k); returns (…, n_k, d), of a size that the score chooses.
    """
    project: Callable[[Tensor], Tensor] | None = getattr(score, "project", None)
    return key if project is None else project(key)


def score_projected(score: Score, query: Tensor, projected: Tensor) -> Tensor:
    """Compute ``score(query, key)`` from the query and ``project_key(score, key)``.

    Shapes: query (…, n_q, d_q), projected (…, n_k, d); returns (…, n_q, n_k).
    """
    return getattr(score, "with_projected", score)(query, projected)


def prepared(score: Score, key: Tensor) -> Callable[[Tensor], Tensor]:
    """Return ``score`` as a function of the query alone, with the keys' part of the work done.

    Shapes: key (…, n_k, d_k); the function takes (…, n_q, d_q) and returns (…, n_q, n_k).
    """
    projected = project_key(score, key)
    return lambda query: score_projected(score, query, projected)
