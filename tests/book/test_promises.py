"""A lecture that points ahead is kept to its word: the later section exists, and speaks of it."""

import re

import pytest

from tests.book.lectures import LECTURES

TEXT = {int(path.name[:2]): path.read_text(encoding="utf-8") for path in LECTURES}
POINTER = re.compile(r"[Ll]ectures? (\d+)(?: and (\d+))?")
# what stands near the pointer, the section that keeps it, and what that section must say
PROMISES = {
    1: {
        "a *subword*": ("12.3", "BPE"),
        "looks back at the source": ("3.2", "context"),
        "train the control": ("3.5", "no attention"),
        "on sentences and digits": ("4.7", "digits"),
        "asks whether that is wise": ("2.3", "beam"),
        "removes the single vector": ("3.2", "context"),
        "most probable sentence? That is": ("2.5", "more probable"),
        "the BLEU score": ("2.6", "BLEU"),
    },
    2: {"the decoder looks back": ("3.2", "context")},
    3: {
        "Luong's, the subject of": ("4.6", "Luong"),
        "asks of an explanation": ("15.8", "explanation"),
        "A sum of a long way and a short one": ("10.3", "sum"),
        "The others are the Transformer": ("11.8", "captions"),
        "the state would not be noticed": ("4.4", "blind"),
        "lecture 11 asks what that shows": ("11.8", "half the parameters"),
        "what else could a score be": ("4.3", "scores"),
    },
    4: {
        "derives the root": ("7.2", "variance"),
        "To get rid of that walk": ("5.6", "recurren"),
        "what weights explain": ("15.8", "explanation"),
        "when a sentence asks itself": ("5.3", "all tokens at once"),
        "a bilinear score in two thin pieces": ("6.5", "three matrices"),
        "a dot product after two projections": ("6.4", "projection"),
        "derives when the root helps": ("7.2", "variance"),
    },
    5: {
        "derives that the root keeps": ("7.2", "variance"),
        "makes them different": ("6.4", "three"),
        "for which sizes the root is made": ("7.2", "variance"),
        "a position added to each vector": ("9.8", "position"),
        "its quadratic growth counts": ("14.2", "recurrent layer"),
        "waits for each of its own words": ("13.2", "one by one"),
        "what to choose by: in lecture 6": ("6.2", "projection"),
        "adds three matrices": ("6.4", "three"),
        "leaves the projections out": ("8.7", "projection"),
        "besides, which come in": ("8.7", "projection"),
    },
    6: {
        "derives the root in the denominator": ("7.2", "variance"),
        "puts several sets of the three": ("8.3", "heads"),
    },
    7: {
        "PyTorch's own attention layer": ("8.8", "PyTorch"),
        "the keys of all earlier tokens are kept": ("13.2", "end together"),
        "follow two relations at once": ("8.2", "two relations"),
        "nn.MultiheadAttention(3": ("8.8", "PyTorch"),
    },
    8: {
        "cannot tell *had bowl nuts*": ("9.2", "bag"),
        "only linear mixtures of averages": ("10.2", "network"),
        "repeats this with MiniLM": ("15.3", "relation"),
        "MiniLM, which lecture 12 opens": ("12.7", "MiniLM"),
        "what it is for: that is tested": ("15.5", "head"),
        "why a sum, lecture 10 says": ("10.3", "sum"),
        "Shazeer, 2019": ("13.4", "Shazeer, 2019"),
    },
    9: {
        "takes it apart": ("10.5", "block"),
        "has further parts": ("10.5", "block"),
        "how a stack of blocks can be trained": ("10.6", "norm"),
        "rotations are slowed down": ("14.4", "interpolat"),
        "model takes": ("12.4", "halves"),
    },
    10: {"the second of which looks into the first": ("11.2", "memory")},
    11: {
        "T5 ([Raffel": ("12.2", "mask"),
        "a frequent word is one piece": ("12.3", "pieces"),
        "those before it are kept in a cache": ("13.2", "eleven rows"),
    },
    12: {
        "share one of keys and values: a third": ("13.4", "share"),
        "reading a prompt is limited by arithmetic": ("13.3", "prefill"),
        "keep it, and they go on": ("14.3", "sink"),
        "reads all its weights for each": ("13.3", "weights"),
    },
    13: {"what may be left out": ("14.3", "window")},
    14: {"what such heads are called": ("15.7", "induction head")},
    15: {"what these heads do to the output": ("16.6", "SmolLM2")},
}


def section(number: str) -> str:
    """Return the text of a section, from its heading to the next."""
    parts = re.split(r"(?m)^## ", TEXT[int(number.split(".")[0])])
    found = [part for part in parts if part.startswith(f"{number} ")]
    assert len(found) == 1, f"no section {number}"
    return found[0]


def ahead(lecture: int) -> list[tuple[str, set[int]]]:
    """Return what stands around each pointer to a later lecture, and which ones it names."""
    text, found = TEXT[lecture], []
    for pointer in POINTER.finditer(text):
        later = {int(n) for n in pointer.groups() if n and int(n) > lecture}
        if later:
            found.append((text[max(0, pointer.start() - 200) : pointer.end() + 200], later))
    return found


@pytest.mark.parametrize("lecture", sorted(TEXT))
def test_every_pointer_ahead_is_a_promise_that_is_kept(lecture):
    promises = PROMISES.get(lecture, {})
    used = set()
    for around, later in ahead(lecture):
        assert later <= set(TEXT), f"lecture {max(later)} does not exist: {around}"
        spoken = " ".join(around.split())
        mine = {near for near in promises if near.lower() in spoken.lower()}
        aims = {int(promises[near][0].split(".")[0]) for near in mine}
        assert aims & later, f"list this promise, and the section that keeps it: {around}"
        used |= mine
    assert used == set(promises), f"promised no more: {set(promises) - used}"


@pytest.mark.parametrize(
    ("number", "says"), sorted({kept for one in PROMISES.values() for kept in one.values()})
)
def test_the_section_speaks_of_what_was_promised(number, says):
    text = " ".join(section(number).split())
    assert re.search(says, text, re.I), f"section {number} says nothing of {says}"
