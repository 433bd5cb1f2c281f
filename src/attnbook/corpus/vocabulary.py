"""Tokens and their numbers."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from attnbook import _check

PAD, BOS, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<bos>", "<eos>")


class Vocabulary:
    """The tokens of a corpus, each with a number.

    0 is padding, 1 the beginning and 2 the end of a sentence, and 3 stands for unknown tokens
    where ``unknown`` is given. The tokens follow by frequency, the most frequent first, and
    alphabetically where equally frequent.

    ``sentences`` are lists of tokens; a token that occurs fewer than ``min_count`` times is left
    out. ``unknown`` is the name of the token for all that is left out, such as "<unk>".

    >>> vocabulary = Vocabulary([["the", "cat"], ["the", "dog"]])
    >>> vocabulary.encode(["the", "dog"]), vocabulary.decode([1, 3, 5, 2, 0])
    ([3, 5], ['the', 'dog'])

    Raises: ValueError for an empty corpus, or one that uses the name of a special token;
    TypeError for a sentence that is a string.
    """

    pad, bos, eos = PAD, BOS, EOS

    def __init__(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        min_count: int = 1,
        unknown: str | None = None,
    ) -> None:
        _check.whole_number("min_count", min_count, at_least=1)
        counts: Counter[str] = Counter()
        for sentence in sentences:
            if isinstance(sentence, str):
                raise TypeError(
                    f"sentences must be lists of tokens: {sentence!r} is a string "
                    f"(write list(…) for its characters, .split() for its words)"
                )
            counts.update(sentence)
        if not counts:
            raise ValueError("sentences must hold at least one token: the corpus is empty")
        in_order = sorted(counts, key=lambda token: (-counts[token], token))
        self._set([token for token in in_order if counts[token] >= min_count], unknown)

    def _set(self, tokens: Sequence[str], unknown: str | None) -> None:
        special = SPECIAL if unknown is None else (*SPECIAL, unknown)
        self.tokens: tuple[str, ...] = (*special, *tokens)
        self.unknown: int | None = None if unknown is None else len(SPECIAL)
        self._ids = {token: number for number, token in enumerate(self.tokens)}
        if len(self._ids) < len(self.tokens):
            twice = next(token for token, n in Counter(self.tokens).items() if n > 1)
            raise ValueError(f"every token must be different: {twice!r} is there twice")

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return (self.tokens, self.unknown) == (other.tokens, other.unknown)

    __hash__ = None  # type: ignore[assignment]

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Return the numbers of ``tokens``, without bos or eos.

        Raises: ValueError that names a token which is not in the vocabulary, where there is no
        ``unknown``; TypeError for a string.
        """
        if isinstance(tokens, str):
            raise TypeError(f"tokens must be a list of tokens: {tokens!r} is a string")
        if self.unknown is not None:
            return [self._ids.get(token, self.unknown) for token in tokens]
        for token in tokens:
            if token not in self._ids:
                raise ValueError(
                    f"{token!r} is not in the vocabulary of {len(self)} tokens "
                    f"(Vocabulary(…, unknown='<unk>') would give it a number)"
                )
        return [self._ids[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ``ids`` up to eos, without padding, bos and eos.

        Raises: ValueError for a number that is not in the vocabulary.
        """
        tokens = []
        for number in (int(one) for one in ids):
            if not 0 <= number < len(self):
                raise ValueError(f"ids must be from 0 to {len(self) - 1}: {number} is among them")
            if number == EOS:
                break
            if number not in (PAD, BOS):
                tokens.append(self.tokens[number])
        return tokens

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON."""
        words = {
            "unknown": None if self.unknown is None else self.tokens[self.unknown],
            "tokens": self.tokens[len(SPECIAL) + (self.unknown is not None) :],
        }
        Path(path).write_text(json.dumps(words, ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read a vocabulary that ``save`` wrote.

        Raises: ValueError for a file that is not one; FileNotFoundError where there is none.
        """
        try:
            words = json.loads(Path(path).read_text(encoding="utf-8"))
            tokens, unknown = words["tokens"], words["unknown"]
            texts = [*tokens, *([] if unknown is None else [unknown])]
            if not isinstance(tokens, list) or not all(isinstance(text, str) for text in texts):
                raise TypeError("tokens and unknown must be strings")
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is not a vocabulary: {error!r}") from error
        vocabulary = cls.__new__(cls)
        vocabulary._set(tokens, unknown)
        return vocabulary
