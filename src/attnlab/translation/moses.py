"""Lower-cased tokens as Moses's scripts cut them, the form in which Multi30k is scored.

Multi30k's release holds each text once more, in lower case, with its punctuation normalised and
cut by Moses's tokenizer.perl; published BLEU is often that of these files. ``lowered_tokens`` makes
that form of plain text, for the languages of ``RULES`` and without Moses's lists of abbreviations.
The release's own lines come out for all but 9 of 62,028 (English and German, all three parts), and
what sacremoses 0.2.0 makes of French for all but 25 of 30,014. sacremoses has the lists, and misses
8 of the 62,028: too few for one more package on every reader's machine.
"""

import re
from collections.abc import Sequence
from html import unescape

from attnlab import _check

LETTER, OTHER = r"[^\W\d_]", r"[\W\d_]"
ALONE = r"\1 ' \2"
# a quotation mark and a stop: in English the mark closes after it, elsewhere before it
IN_ENGLISH = (r'"([,.]+)', r'\1"')
ELSEWHERE = ((',"', '",'), (r'(\.+)"(\s*[^<])', r'"\1\2'))
# an apostrophe between two letters belongs to the second part, or to the first
IT_IS = (
    (rf"({OTHER})'({OTHER})", ALONE),
    (rf"([\W_])'({LETTER})", ALONE),
    (rf"({LETTER})'({OTHER})", ALONE),
    (rf"({LETTER})'({LETTER})", r"\1 '\2"),
    (r"(\d)'(s)", r"\1 '\2"),
)
L_HOMME = (
    (rf"({OTHER})'({OTHER})", ALONE),
    (rf"({OTHER})'({LETTER})", ALONE),
    (rf"({LETTER})'({OTHER})", ALONE),
    (rf"({LETTER})'({LETTER})", r"\1' \2"),
)
# the languages whose rules are here: quotation marks, apostrophes, and what keeps its full stop
RULES = {
    "en": ((IN_ENGLISH,), IT_IS, None),
    "de": (ELSEWHERE, (("'", " ' "),), r"[a-z]|[1-9]\d?"),
    "fr": (ELSEWHERE, L_HOMME, "[b-z]"),
    "it": ((), L_HOMME, None),
}
NORMAL = str.maketrans(
    {"„": '"', "“": '"', "”": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "‚": "'", "´": "'"}
    | {"–": "-", "—": " - ", "…": "...", "\u00a0": " "}
)
ESCAPED = {
    **{"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;"},
    **{"[": "&#91;", "]": "&#93;"},
}
AT_A_WORD = re.compile(r"\w[.,!?;:](?=\s|$)|\w'\w")


def lowered_tokens(text: str, language: str) -> str:
    """Return plain ``text`` in lower case, with spaces between its tokens, escaped as Moses does.

    An apostrophe between two letters begins the second part in English (*dog's*: dog 's), ends the
    first in French and Italian (*l'homme*: l' homme), and stands alone in German.

    Raises: ValueError for a ``language`` other than "en", "de", "fr", "it".
    Source: Koehn et al. (2007): Moses's normalize-punctuation.perl and tokenizer.perl.
    """
    _check.one_of("language", language, list(RULES))
    quotes, apostrophes, kept = RULES[language]
    text = text.lower().replace("`", "'").replace("''", ' " ').translate(NORMAL).replace("''", '"')
    text = " ".join(_each(quotes, text).split())
    text = re.sub(r"([^\w\s.',\-]|[_¹²³¼½¾])", r" \1 ", text).strip()
    text = re.sub(r"\.{2,}", lambda dots: f" {dots[0]} ", text)
    text = re.sub(r"(?<=\D),|,(?=\D|$)", " , ", text)
    words = _each(apostrophes, text).split()
    pairs = zip(words, [*words[1:], ""], strict=False)  # no word: no pair
    cut = [part for word, after in pairs for part in _full_stop(word, after, kept)]
    text = re.sub(r"\.'$", " . '", " ".join(cut))
    return "".join(ESCAPED.get(letter, letter) for letter in text)


def are_tokens(text: Sequence[str]) -> bool | None:
    """Return whether lines are lower-cased tokens of any kind; None where many are and many not.

    A line is none that has a capital, or a mark that stands at a word or an apostrophe in one. In
    a script that has no capitals it cannot be told.
    """
    told = [unescape(line) for line in text if line.lower() != line.upper()]  # &quot; has a mark
    if len(told) <= len(text) / 2:
        return None
    have = sum(line == line.lower() and not AT_A_WORD.search(line) for line in told) / len(told)
    return have >= 0.9 if not 0.4 < have < 0.9 else None


def _each(rules: Sequence[tuple[str, str]], text: str) -> str:
    for pattern, instead in rules:
        text = re.sub(pattern, instead, text)
    return text


def _full_stop(word: str, after: str, kept: str | None) -> list[str]:
    """Cut the full stop off a word, unless it seems to belong to an abbreviation."""
    before = word[:-1]
    if not word.endswith(".") or not before or before.endswith("."):
        return [word]
    abbreviated = "." in before and any(map(str.isalpha, before))
    # what goes on in lower case is one sentence; everything was lowered by the release, too
    if abbreviated or after[:1].islower() or (kept and re.fullmatch(kept, before)):
        return [word]
    return [before, "."]
