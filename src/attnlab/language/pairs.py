"""What a corpus is made of: a sentence, its translation, and which words belong together."""

from typing import NamedTuple


class Pair(NamedTuple):
    """A sentence and its translation, with the gold alignment.

    ``alignment`` holds the links (i, j) in ascending order: source token i and target token j
    say the same. ``source_classes`` and ``target_classes`` name the class of each token
    ("noun", "determiner" …), ``pattern`` the rule that wrote the pair. ``combinations`` are the
    pairs of words that the rule joined: (adjective, noun) and (noun, verb).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    pattern: str
    source_classes: tuple[str, ...]
    target_classes: tuple[str, ...]
    combinations: tuple[tuple[str, str], ...] = ()


class Corpus(NamedTuple):
    """Pairs to train on and four held-out sets; no sentence is in two of them.

    ``valid`` and ``test`` are drawn as ``train`` is. Each pair of ``combinations`` joins two
    words that no other set joins. Each pair of ``longer`` is longer, on both sides, than any
    pair of the others.
    """

    train: tuple[Pair, ...]
    valid: tuple[Pair, ...]
    test: tuple[Pair, ...]
    combinations: tuple[Pair, ...]
    longer: tuple[Pair, ...]


def crosses(pair: Pair) -> bool:
    """Say whether two links cross: i < i′ but j > j′."""
    furthest = -1  # the largest j of the source tokens before the one being read
    here, largest = -1, -1
    for i, j in pair.alignment:
        if i != here:
            here, furthest = i, max(furthest, largest)
        if j < furthest:
            return True
        largest = max(largest, j)
    return False
