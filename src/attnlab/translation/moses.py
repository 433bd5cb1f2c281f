"""Lower-cased tokens as Moses's scripts cut them, the form in which Multi30k is scored.

Multi30k's release holds each text once more, with its punctuation normalised, in lower case and
cut by Moses's tokenizer.perl; published BLEU is often that of these files. ``lowered_tokens`` makes
that form of plain English or German text, and leaves text that has it already as it is. It knows
no list of abbreviations. The release's own lines come out for all but 74 of 60,028 (training and
validation text of both languages).
"""

import re
from collections.abc import Sequence
from html import unescape

NORMAL = str.maketrans(
    {"„": '"', "“": '"', "”": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "‚": "'", "´": "'"}
    | {"`": "'", "–": "-", "—": " - ", "…": "...", "\u00a0": " "}
)
AT_A_WORD = re.compile(r"\w[.,!?;:](?=\s|$)")
LETTER = r"[^\W\d_]"
ESCAPED = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;"}


def lowered_tokens(text: str, language: str) -> str:
    """Return ``text`` in lower case, with spaces between its tokens, escaped as Moses does.

    English keeps *'s* together; in every other language an apostrophe stands alone.
    """
    text = unescape(text).translate(NORMAL).replace("''", '"').lower()
    text = re.sub(r"([^\w\s.'`,\-])", r" \1 ", text)
    text = re.sub(r"\.{2,}", lambda dots: f" {dots[0]} ", text)
    text = re.sub(r"(?<!\d),|,(?!\d)", " , ", text)
    text = _english(text) if language == "en" else text.replace("'", " ' ")
    words = text.split()
    cut = [part for k, word in enumerate(words) for part in _full_stop(word, words[k + 1 : k + 2])]
    return "".join(ESCAPED.get(letter, letter) for letter in " ".join(cut))


def are_tokens(text: Sequence[str]) -> bool | None:
    """Return whether lines are lower-cased tokens of any kind; None where many are and many not.

    A line is none that has a capital, or a mark that stands at a word.
    """
    have = sum(line == line.lower() and not AT_A_WORD.search(line) for line in text) / len(text)
    return have >= 0.9 if not 0.4 < have < 0.9 else None


def _english(text: str) -> str:
    text = re.sub(rf"(?<!{LETTER})'(?!(?:s|t|re|ve|ll|d|m)\b)", " ' ", text)
    text = re.sub(rf"(?<={LETTER})'(?!{LETTER})", " ' ", text)
    return re.sub(r"(?<=[^\W_])'(?=[^\W\d_])", " '", text)


def _full_stop(word: str, after: list[str]) -> list[str]:
    """Cut the full stop off a word, unless it seems to belong to an abbreviation."""
    before = word[:-1]
    if not word.endswith(".") or not before or before.endswith("."):
        return [word]
    abbreviated = re.search(LETTER, before) and "." in before
    # what goes on in lower case is one sentence; everything was lowered by the release, too
    if after and (abbreviated or re.match(LETTER, after[0])):
        return [word]
    return [before, "."]
