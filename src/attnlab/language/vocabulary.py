"""Tokens and their numbers."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from attnlab import _check

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

    Raises: ValueError for an empty corpus, one that uses the name of a special token, or one of
    which ``min_count`` leaves nothing; TypeError for a sentence that is a string, and for tokens
    that are none.
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
            counts.update(list(sentence))
        for token in counts:
            _check_string("sentences", token)
        if unknown is not None:
            _check_string("unknown", unknown)
        if not counts:
            raise ValueError("sentences must hold at least one token: the corpus is empty")
        in_order = sorted(counts, key=lambda token: (-counts[token], token))
        kept = [token for token in in_order if counts[token] >= min_count]
        if not kept:
            raise ValueError(
                f"min_count must leave at least one token: it is {min_count}, and the most "
                f"frequent token comes {counts[in_order[0]]} times"
            )
        self._set(kept, unknown)

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

        Padding, bos and eos are no words: a word that has such a name is an unknown one.

        Raises: ValueError that names a token which is not in the vocabulary, where there is no
        ``unknown``; TypeError for a string, and for tokens that are none.
        """
        if isinstance(tokens, str):
            raise TypeError(f"tokens must be a list of tokens: {tokens!r} is a string")
        found = ((token, self._ids.get(token, PAD)) for token in tokens)
        return [number if number > EOS else self._missing(token) for token, number in found]

    def _missing(self, token: str) -> int:
        _check_string("tokens", token)
        if self.unknown is not None:
            return self.unknown
        if token in SPECIAL:
            told = f"{token!r} is among them, the name of the control token {self._ids[token]}"
            raise ValueError(f"tokens must be words: {told}")
        raise ValueError(
            f"{token!r} is not in the vocabulary of {len(self)} tokens "
            f"(Vocabulary(…, unknown='<unk>') would give it a number)"
        )

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ``ids`` up to eos, without padding, bos and eos.

        Raises: ValueError for what is no whole number, or not in the vocabulary; TypeError for a
        string.
        """
        tokens = []
        for number in _check.whole_numbers("ids", ids):
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


def _check_string(name: str, token: object) -> None:
    if not isinstance(token, str):
        raise TypeError(f"{name} must be made of strings: {token!r} is a {type(token).__name__}")
