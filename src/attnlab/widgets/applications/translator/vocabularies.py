"""Two vocabularies of words, as the translator reads and writes with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from attnlab.language import Vocabulary, detokenise, tokenise
from attnlab.widgets.core import checks

__all__ = ["Vocabularies"]

_MORE = 10  # words than the source has may be written
_MOST_TOKENS = 16  # of a sentence
_SPECIAL = 3  # <pad>, <bos> and <eos>
_PUNCTUATION = re.compile(r"[.,;:!?…]")


class Vocabularies:
    """The words that a model reads, and those that it writes; what is in neither is refused."""

    table = b""  # the words stand in the page

    def __init__(self, source: Vocabulary, target: Vocabulary) -> None:
        self._source = source
        self.known, self.target = list(source.tokens), list(target.tokens)
        self.page: dict[str, Any] = {}

    def sentence(self, name: str, value: Any) -> list[str]:
        """Return a text as words, or words as they are.

        Raises: ValueError for too many, for none, and for words that the model does not know.
        """
        words = _tokens(value) if isinstance(value, str) else checks.texts(name, value)
        if not 1 <= len(words) <= _MOST_TOKENS:
            raise ValueError(f"{name} must hold 1 to {_MOST_TOKENS} words, got {len(words)}")
        odd = [word for word in words if word not in self.known[_SPECIAL:]]
        if odd:
            raise ValueError(f"{name} holds words that the model does not know: {', '.join(odd)}")
        return words

    def source(self, sentence: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return the numbers of the words, and the words."""
        return self._source.encode(sentence), list(sentence)

    def longest(self, count: int) -> int:
        """Return how many words may be written for a source of ``count``."""
        return count + _MORE

    def text(self, ids: Sequence[int]) -> str:
        """Join the words of a translation."""
        return detokenise([self.target[number] for number in ids])


def _tokens(text: str) -> list[str]:
    """Cut a text as the corpus has it: in lower case, without punctuation, n't as not."""
    whole = {"ca": "can", "n't": "not"}
    cut = tokenise(_PUNCTUATION.sub(" ", text.lower()), "en", plain=True)
    return [whole.get(token, token) for token in cut]
