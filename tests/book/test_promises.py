"""What a lecture promises of a later one is kept there: every pointer ahead to Part IV."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.book.lectures import LECTURES, NOTEBOOKS, prose, read

# in which lecture, the words of the promise, and the words of the lecture that keep it
PROMISES = [
    (5, "lecture 14 is about what can be done then", 14, "more often than a recurrent layer"),
    (5, "whatever its layers are (lecture 13)", 13, "## 13.7 Guess, then check"),
    (7, "the keys of all earlier tokens are kept (lecture 13)", 13, "**end together**"),
    (8, "13245)): lecture 13", 13, "## 13.4 Share keys and values"),
    (9, "slowed down for texts longer than those of training is in lecture 14", 14, "**YaRN**"),
    (11, "are kept in a cache (lecture 13)", 13, "## 13.2 Keep what was computed"),
    (12, "a third of them are left (lecture 13)", 13, "SmolLM2 has 9 heads on 3"),
    (12, "lecture 13 begins there", 13, "## 13.3 Two sides of one roof"),
    (12, "Lecture 14 comes back to it", 14, "**attention sink**"),
    (12, "reads all its weights for each: that is lecture 13", 13, "brings every weight"),
    (13, "selection give up is lecture 14's subject", 14, "a small **indexer**"),
    (13, "Lecture 14 asks what may be left out", 14, "## 14.3 Windows and sinks"),
]


def text_of(lecture: int) -> str:
    (path,) = [path for path in NOTEBOOKS if path.stem.startswith(f"{lecture:02}-")]
    return "\n".join(cell.source for cell in prose(read(path)))


@pytest.mark.parametrize(("lecture", "words", "later", "kept"), PROMISES, ids=lambda one: str(one))
def test_a_promise_is_made_and_kept(lecture: int, words: str, later: int, kept: str) -> None:
    assert words in text_of(lecture)
    assert kept in text_of(later)


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_every_pointer_ahead_to_part_iv_is_a_promise_of_the_list(path: Path) -> None:
    lecture = int(path.stem[:2])
    text = text_of(lecture)
    listed = [words for number, words, *_ in PROMISES if number == lecture]
    inside = [range(text.index(words), text.index(words) + len(words)) for words in listed]
    for pointer in re.finditer(r"[Ll]ectures? (1[34])\b", text):
        ahead = int(pointer[1]) > lecture
        assert not ahead or any(pointer.start() in one for one in inside), pointer[0]
