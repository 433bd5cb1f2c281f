"""Sentences on their way into the head browser: checked at the door, and named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from attnbook.widgets.core import checks

__all__ = ["SPECIAL", "read", "words"]

SPECIAL = ("[CLS]", "[SEP]")

_MOST_HEADS = 144
_MOST_SENTENCES = 20
_MOST_TOKENS = 20
_SUM_NEAR = 1e-3  # how near to 1 a row must sum


def read(sentences: Any) -> tuple[list[list[str]], list[np.ndarray]]:
    """Return the tokens and the weights of each sentence.

    Raises: TypeError for tokens that are no strings; ValueError for counts, shapes or weights that
    do not fit.
    """
    listed = hasattr(sentences, "__iter__") and not isinstance(sentences, (str, bytes))
    found = list(sentences) if listed else []
    if not 1 <= len(found) <= _MOST_SENTENCES:
        raise ValueError(
            f"sentences must be 1 to {_MOST_SENTENCES} of (tokens, weights), got"
            f" {len(found) if listed else checks.one_line(sentences)}"
        )
    pairs = [_sentence(f"sentences[{k}]", sentence) for k, sentence in enumerate(found)]
    shapes = {weights.shape[:2] for _, weights in pairs}
    if len(shapes) > 1:
        raise ValueError(f"sentences must all have the same layers and heads, got {sorted(shapes)}")
    return [tokens for tokens, _ in pairs], [weights for _, weights in pairs]


def _sentence(name: str, sentence: Any) -> tuple[list[str], np.ndarray]:
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


def words(tokens: list[str]) -> str:
    """Return pieces as words again: ## begins what goes on a word."""
    text = " ".join(token for token in tokens if token not in SPECIAL)
    return re.sub(r" (?=[.,;:?!])| ?##| (?=')|(?<=') ", "", text) or " ".join(tokens)
