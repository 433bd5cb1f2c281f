"""Sentences on their way into the head browser: checked at the door, and named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from attnlab.widgets.core import checks, markup, packing

__all__ = [
    "MOST_SENTENCES",
    "is_causal",
    "largest",
    "pack",
    "read_all",
    "read_one",
    "special",
    "unpack",
    "words",
]

MOST_SENTENCES = 20

_SPECIAL = ("[CLS]", "[SEP]")
_MOST_HEADS = 288
_MOST_TOKENS = 20
_SUM_NEAR = 1e-3  # how near to 1 a row must sum


def read_all(sentences: Any, *, most: int) -> tuple[list[list[str]], list[np.ndarray]]:
    """Return the tokens and the weights of each sentence, of which there are at most ``most``.

    Raises: TypeError for tokens that are no strings; ValueError for counts, shapes or weights that
    do not fit.
    """
    listed = hasattr(sentences, "__iter__") and not isinstance(sentences, (str, bytes))
    found = list(sentences) if listed else []
    if not 1 <= len(found) <= most:
        raise ValueError(
            f"sentences must be 1 to {most} of (tokens, weights), got"
            f" {len(found) if listed else checks.one_line(sentences)}"
        )
    pairs = [read_one(f"sentences[{k}]", sentence) for k, sentence in enumerate(found)]
    shapes = {weights.shape[:2] for _, weights in pairs}
    if len(shapes) > 1:
        raise ValueError(f"sentences must all have the same layers and heads, got {sorted(shapes)}")
    return [tokens for tokens, _ in pairs], [weights for _, weights in pairs]


def read_one(name: str, sentence: Any) -> tuple[list[str], np.ndarray]:
    """Return the tokens and the weights of one sentence.

    Raises: as ``read_all``.
    """
    if not isinstance(sentence, (tuple, list)) or len(sentence) != 2:
        raise ValueError(f"{name} must be (tokens, weights), got {checks.one_line(sentence)}")
    tokens = checks.texts(f"the tokens of {name}", sentence[0])
    n = len(tokens)
    if not 2 <= n <= _MOST_TOKENS:
        raise ValueError(f"the tokens of {name} must be 2 to {_MOST_TOKENS}, got {n}")
    weights = checks.finite_array(f"the weights of {name}", sentence[1], ranks=(4,))
    layers, heads, *square = weights.shape
    if square != [n, n] or layers * heads > _MOST_HEADS:
        raise ValueError(
            f"the weights of {name} must have shape (layers, heads, {n}, {n}), at most"
            f" {_MOST_HEADS} heads in all, got {weights.shape}"
        )
    sums = weights.sum(axis=-1)
    if weights.min() < 0 or np.abs(sums - 1).max() > _SUM_NEAR:
        raise ValueError(
            f"the weights of {name} must be at least 0 and each row must sum to 1: the least is"
            f" {weights.min():.3g}, and rows sum to {sums.min():.4g} to {sums.max():.4g}"
        )
    return tokens, weights


def is_causal(weights: np.ndarray) -> bool:
    """Return whether no query looks at a later key, in any head of (layers, heads, n, n)."""
    return not np.triu(weights, k=1).any()


def pack(weights: np.ndarray, *, causal: bool) -> bytes:
    """Return weights (layers, heads, n, n) as bytes; of causal ones, the lower triangle alone."""
    return packing.pack_logs(weights[..., _kept(weights.shape[-1], causal)]).tobytes()


def unpack(packed: bytes, shape: tuple[int, ...], *, causal: bool) -> np.ndarray:
    """Return what ``pack`` wrote as weights of this shape; above the diagonal they are exactly 0.

    They are as the page has them: a weight that counts as 0 is 2e-9.
    """
    layers, heads, n, _ = shape
    whole = np.frombuffer(packed, dtype="<u2").reshape(layers, heads, -1)
    weights = np.zeros(shape)
    weights[..., _kept(n, causal)] = np.exp(packing.unpack_logs(whole))
    return weights


def _kept(n: int, causal: bool) -> np.ndarray:
    return np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)


def words(tokens: list[str]) -> str:
    """Return pieces as words again: ## begins what goes on a word, or a blank a new one."""
    if any(token[:1].isspace() for token in tokens):
        return "".join(tokens).strip() or " ".join(tokens)
    text = " ".join(token for token in tokens if token not in _SPECIAL)
    return re.sub(r" (?=[.,;:?!])| ?##| (?=')|(?<=') ", "", text) or " ".join(tokens)


def special(tokens: list[str], *, causal: bool) -> list[int]:
    """Return the places of [CLS] and [SEP] or, in a causal model, of the first token.

    That one every query can see, so that it takes what a head has no other use for.
    """
    return [0] if causal else [j for j, token in enumerate(tokens) if token in _SPECIAL]


def largest(tokens: list[str], row: np.ndarray) -> str:
    """Return the three largest weights of a row in words; tokens are already HTML."""
    best = np.argsort(-row.round(6), kind="stable")[:3]
    named = [f"{tokens[j]} {markup.fixed(float(row[j]))}" for j in best if row[j]]
    return ", ".join(named) or "nothing that is not hidden"
