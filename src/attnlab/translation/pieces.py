"""Sub-words: one set of pieces for both languages, joined from letters by frequency.

A piece that begins a word carries its space, as "▁": so a translation is written by joining its
pieces, and turning each ▁ into a space. A word never shares a piece with punctuation next to it;
a hyphen or an apostrophe inside it stays: *t-shirt* can become one piece.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from attnlab import _check
from attnlab.language.vocabulary import EOS, SPECIAL

UNKNOWN = "<unk>"
CONTROL = (*SPECIAL, UNKNOWN)
SPACE = "▁"
PATTERN = rf"{SPACE}?\w+(?:[-'’]\w+)*|{SPACE}?[^\w{SPACE}]|{SPACE}"


class Pieces:
    """A trained set of pieces: text to numbers and back.

    0, 1, 2 and 3 are padding, the beginning, the end, and what is in no piece. No text makes the
    first three: "<eos>" in a text is a text, also for ``tokenizer`` itself from here on.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        tokenizer.encode_special_tokens = True  # as text, that is; no file keeps this setting

    @classmethod
    def train(cls, sentences: Iterable[str], size: int) -> "Pieces":
        """Join the most frequent neighbours until there are ``size`` pieces.

        Raises: ValueError where the text has no more to join, or more letters than ``size``.
        Source: Sennrich, Haddow and Birch (2016).
        """
        library = _check.needed("tokenizers", "a set of pieces", "pretrained")
        tokenizer = library.Tokenizer(library.models.BPE(unk_token=UNKNOWN))
        normal, cut, joined = library.normalizers, library.pre_tokenizers, library.decoders
        tokenizer.normalizer = normal.Sequence([normal.Prepend(SPACE), normal.Replace(" ", SPACE)])
        tokenizer.pre_tokenizer = cut.Split(library.Regex(PATTERN), "isolated")
        tokenizer.decoder = joined.Sequence(
            [joined.Fuse(), joined.Replace(SPACE, " "), joined.Strip(" ", 1, 0)]
        )
        trainer = library.trainers.BpeTrainer(
            vocab_size=size, special_tokens=list(CONTROL), show_progress=False
        )
        tokenizer.train_from_iterator(sentences, trainer)
        came = tokenizer.get_vocab_size()
        most = "most" if came < size else "least"
        told = f"it is {size}, and this text makes {came} pieces at {most}"
        _check.must(came == size, "vocabulary", "be what the text allows", but=told)
        return cls(tokenizer)

    @classmethod
    def from_json(cls, text: str) -> "Pieces":
        """Read what ``to_json`` wrote."""
        library = _check.needed("tokenizers", "a set of pieces", "pretrained")
        return cls(library.Tokenizer.from_str(text))

    def to_json(self) -> str:
        """Write the pieces as JSON."""
        return self.tokenizer.to_str()

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the numbers of each sentence's pieces, without bos and eos."""
        return [one.ids for one in self.tokenizer.encode_batch(list(sentences))]

    def words(self, sentence: str) -> list[str]:
        """Return what is cut into pieces each for itself: words, with their space, and marks."""
        normal = self.tokenizer.normalizer.normalize_str(sentence)
        return [word for word, _ in self.tokenizer.pre_tokenizer.pre_tokenize_str(normal)]

    def decode(self, ids: Sequence[int]) -> str:
        """Join the pieces up to eos into a text."""
        ids = list(ids)
        ids = ids[: ids.index(EOS)] if EOS in ids else ids
        return self.tokenizer.decode(ids, skip_special_tokens=True).strip()
