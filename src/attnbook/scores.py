"""How well a query and a key fit together: (…, n_q, d_q), (…, n_k, d_k) → (…, n_q, n_k)."""

from torch import Tensor

from attnbook import _check


def dot(query: Tensor, key: Tensor) -> Tensor:
    """Score by the dot product, e_ij = q_i · k_j.

    Shapes: query (…, n_q, d), key (…, n_k, d); returns (…, n_q, n_k).

    Raises: ValueError where the vectors differ in size, or the tensors in dtype, device or
    leading dimensions.

    Source: Luong, Pham and Manning (2015), section 3.1, "dot".
    """
    _check.same_kind(query=query, key=key)
    _check.same_dimension(query, key)
    return query @ key.mT


def scaled_dot(query: Tensor, key: Tensor) -> Tensor:
    """Score by the dot product over the root of its length, e_ij = q_i · k_j / √d.

    Shapes: query (…, n_q, d), key (…, n_k, d); returns (…, n_q, n_k).

    Raises: as ``dot``.

    Source: Vaswani et al. (2017), equation 1.
    """
    _check.same_kind(query=query, key=key)
    _check.same_dimension(query, key)
    # the query is scaled, not the scores: cheaper, and no overflow in half precision
    return (query * query.shape[-1] ** -0.5) @ key.mT
