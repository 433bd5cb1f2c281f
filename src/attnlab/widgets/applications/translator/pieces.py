"""A joint set of pieces on its way into a page: byte-pair encoding by ``tokenizers``, run there.

The page has merges of two bytes a number and the few pieces that no merge makes, in the asset
behind the weights; what is done to a text before and after stands in the page, as short steps.
``translator/pieces.js`` does the same as the tokenizer whatever is typed, but for letters that are
newer than the browser's or the library's Unicode.

What can be carried:

normaliser   NFC, Lowercase, Strip, Prepend, Replace of a text
splitter     Split (isolated or removed; a text, or a pattern of letters, classes, ``\\w \\s \\d``,
             groups and repetitions), Whitespace, WhitespaceSplit, Metaspace
model        BPE, with a token for what is unknown or without, with a prefix of inner pieces or a
             suffix of last ones, without dropout and bytes
template     special tokens before and after the text
decoder      Fuse, Replace of a text, Strip, Metaspace, BPEDecoder, WordPiece
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import normalize

from attnlab.models.stored import pieces
from attnlab.widgets.core import checks

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MOST_LETTERS", "MOST_PIECES", "PagePieces"]

MOST_PIECES = 60  # of a sentence
MOST_LETTERS = 2_000
_LONGEST = 2, 20  # so many pieces for each of the source's, and so many more, may be written
_MOST_KNOWN = 2**14  # that the page can name in the bytes of a merge, and that fit into an asset
_SPECIAL = 3  # <pad>, <bos> and <eos> come first, as in every vocabulary of the book

# as the library's regular expressions have them: what JavaScript's \\w and \\s mean is less
_CLASSES = {
    "w": r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾",
    "s": r"\p{White_Space}",
    "d": r"\p{Nd}",
}
_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"  # of Whitespace, which has its own
_OTHER = r"[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]"
_PART = re.compile(
    r"\\(?P<kind>[wsd])|(?P<category>\\p\{[LMNPSZC][a-z]?\})|\\(?P<sign>[^\w\s])"
    r"|(?P<group>\(\?[:=!])|(?P<close>\))|(?P<either>\|)|(?P<set>\[\^?)"
    r"|(?P<often>(?:[?*+]|\{\d+(?:,\d*)?\})\??(?![?*+{]))|(?P<letter>[^\\()\[\]{}|?*+.^$&])",
    flags=re.DOTALL,
)
_CLEAN = {  # of WordPiece's decoder
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}

Step = list[Any]


class PagePieces:
    """A tokenizer whose pieces both sides of a model share, and what a page needs of it.

    Raises: ValueError for a tokenizer that the page cannot follow, with what it has.
    """

    known: ClassVar[list[str]] = []  # the pieces are in the asset

    def __init__(
        self, tokenizer: Tokenizer, *, lower: bool, about: dict[str, Any] | None = None
    ) -> None:
        self.lower = lower
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "<eos>" in a text is a text
        given = json.loads(tokenizer.to_str())
        model = given["model"]
        _check_model(model, given)
        self.target = pieces.named(model["vocab"])
        before, after = _template(given["post_processor"])
        self.table, merges = pieces.packed(given, about or {})
        self.page = {
            "count": len(self.target),
            "merges": merges,
            "bytes": len(self.table),
            "lower": lower,
            "normaliser": _steps(given["normalizer"], "normalizers", _NORMALISERS),
            "splitter": _steps(given["pre_tokenizer"], "pretokenizers", _SPLITTERS),
            "decoder": _steps(given["decoder"], "decoders", _DECODERS) or None,
            "unknown": model["vocab"].get(model["unk_token"]),
            "fuse": bool(model["fuse_unk"]),
            "inside": model["continuing_subword_prefix"] or "",
            "end": model["end_of_word_suffix"] or "",
            "before": before,
            "after": after,
            "special": [token["id"] for token in given["added_tokens"]],
            "most": [MOST_PIECES, MOST_LETTERS],
            "longest": list(_LONGEST),
        }

    def sentence(self, name: str, value: Any) -> list[str]:
        """Return the text as a list of one, its spaces made one and its letters one code each.

        Raises: ValueError where it is too long, or nothing is left of it.
        """
        texts = [value] if isinstance(value, str) else checks.texts(name, value)
        if len(texts) != 1:
            raise ValueError(f"{name} must be one text, got {len(texts)}")
        text = normalize("NFC", " ".join(texts[0].split()))
        if len(text) > MOST_LETTERS:
            raise ValueError(f"{name} must have at most {MOST_LETTERS} letters, got {len(text)}")
        count = len(self._tokenizer.encode(self._read(text), add_special_tokens=False).ids)
        if not 1 <= count <= MOST_PIECES:
            raise ValueError(f"{name} must make 1 to {MOST_PIECES} pieces, and makes {count}")
        return [text]

    def source(self, sentence: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return the numbers of a text's pieces, and the pieces."""
        found = self._tokenizer.encode(self._read(sentence[0]))
        return found.ids, found.tokens

    def longest(self, count: int) -> int:
        """Return how many pieces may be written for a source of ``count``."""
        return _LONGEST[0] * count + _LONGEST[1]

    def text(self, ids: Sequence[int]) -> str:
        """Join the pieces of a translation."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True).strip()

    def _read(self, text: str) -> str:
        return text.lower() if self.lower else text


def _check_model(model: dict[str, Any], given: dict[str, Any]) -> None:
    if model["type"] != "BPE":
        raise ValueError(f"tokenizer must be a BPE, which the page can run: got {model['type']}")
    for name in ("dropout", "byte_fallback", "ignore_merges"):
        if model.get(name):
            raise ValueError(f"tokenizer must have no {name}, which the page cannot run")
    ids = sorted(model["vocab"].values())
    if ids != list(range(len(ids))) or len(ids) > _MOST_KNOWN:
        told = f"got {len(ids)}, the last of them {ids[-1] if ids else 'none'}"
        raise ValueError(f"tokenizer must number at most {_MOST_KNOWN:,} pieces from 0 on: {told}")
    added = given["added_tokens"]
    odd = [token["content"] for token in added if not token["special"] or token["id"] >= len(ids)]
    if odd:
        told = f"got {', '.join(odd)}"
        raise ValueError(f"tokenizer must add special tokens of its vocabulary alone: {told}")
    if not set(range(_SPECIAL)) <= {token["id"] for token in added}:
        raise ValueError(
            "tokenizer must begin with three special tokens: padding, beginning and end, got"
            f" {', '.join(pieces.named(model['vocab'])[:_SPECIAL])}"
        )


def _template(given: dict[str, Any] | None) -> tuple[list[int], list[int]]:
    """Return the numbers of the special tokens before and after a text."""
    if given is None:
        return [], []
    if given["type"] != "TemplateProcessing":
        raise _foreign(given)
    found: list[list[int]] = [[]]
    for one in given["single"]:
        if "Sequence" in one:
            found.append([])
        else:
            found[-1] += given["special_tokens"][one["SpecialToken"]["id"]]["ids"]
    if len(found) != 2:
        raise _foreign(given)
    return found[0], found[1]


Table = dict[str, Callable[[dict[str, Any]], list[Step]]]


def _steps(given: dict[str, Any] | None, inner: str, known: Table) -> list[Step]:
    if given is None:
        return []
    if given["type"] == "Sequence":
        return [step for one in given[inner] for step in _steps(one, inner, known)]
    if given["type"] not in known:
        raise _foreign(given)
    return known[given["type"]](given)


def _foreign(given: dict[str, Any]) -> ValueError:
    shown = shorten(json.dumps(given, ensure_ascii=False), 120, placeholder=" …")
    return ValueError(f"tokenizer must do what the page can do too, which has no {shown}")


def _replace(given: dict[str, Any]) -> list[Step]:
    if not given["pattern"].get("String"):
        raise _foreign(given)
    return [["replace", given["pattern"]["String"], given["content"]]]


def _split(given: dict[str, Any]) -> list[Step]:
    behaviour, pattern = given["behavior"], given["pattern"]
    found = _escaped(pattern["String"]) if "String" in pattern else _pattern(pattern["Regex"])
    if not found or behaviour not in ("Isolated", "Removed"):
        raise _foreign(given)
    if behaviour == "Isolated":
        return [["split", found, True, True]]
    return [["split", found, given["invert"], not given["invert"]]]


def _metaspace(given: dict[str, Any]) -> list[Step]:
    if given["prepend_scheme"] == "first":
        raise _foreign(given)
    always = given["prepend_scheme"] == "always"
    mark, steps = given["replacement"], [["metaspace", given["replacement"], always]]
    if given["split"]:
        quoted = _escaped(mark)
        steps.append(["split", f"{quoted}[^{quoted}]*|[^{quoted}]+", True, True])
    return steps


def _escaped(text: str) -> str:
    """Return a pattern that finds the text, in JavaScript's words."""
    return re.sub(r"[\^$\\.*+?()\[\]{}|/-]", lambda found: f"\\x{ord(found[0]):02x}", text)


def _pattern(pattern: str) -> str:
    """Return the library's pattern in JavaScript's words; empty where it has more than these."""
    found, at, inside = [], 0, False
    while at < len(pattern):
        if inside and pattern[at] == "]":
            inside, at = False, at + 1
            found.append("]")
            continue
        part = _PART.match(pattern, at)
        kind = part.lastgroup if part else None
        if part is None or kind is None:
            if not inside or pattern[at] not in "(){}|?*+.^$":
                return ""
            found.append(_escaped(pattern[at]))
            at += 1
            continue
        if inside and kind in ("group", "close", "either", "often"):
            found.append(_escaped(part[0]))
        elif inside and kind == "set":
            return ""
        elif kind == "kind":
            listed = _CLASSES[part["kind"]]
            found.append(listed if inside else f"[{listed}]")
        elif kind == "sign":
            found.append(_escaped(part["sign"]))
        else:
            found.append(part[0])
            inside = inside or kind == "set"
        at = part.end()
    return "" if inside else "".join(found)


_NORMALISERS: Table = {
    "NFC": lambda _: [["nfc"]],
    "Lowercase": lambda _: [["lower"]],
    "Strip": lambda given: [["strip", given["strip_left"], given["strip_right"]]],
    "Prepend": lambda given: [["prepend", given["prepend"]]],
    "Replace": _replace,
}
_SPLITTERS: Table = {
    "Split": _split,
    "Metaspace": _metaspace,
    "Whitespace": lambda _: [["split", f"{_WORD}+|{_OTHER}+", True, False]],
    "WhitespaceSplit": lambda _: [["split", r"\p{White_Space}", False, True]],
}
_DECODERS: Table = {
    "Fuse": lambda _: [["fuse"]],
    "Replace": _replace,
    "Strip": lambda given: [["strip", given["content"], given["start"], given["stop"]]],
    "Metaspace": lambda given: [
        ["metaspace", given["replacement"], given["prepend_scheme"] != "never"]
    ],
    "BPEDecoder": lambda given: [["suffix", given["suffix"]]],
    "WordPiece": lambda given: [
        ["prefix", given["prefix"]],
        *(["replace", *pair] for pair in _CLEAN.items() if given["cleanup"]),
    ],
}
