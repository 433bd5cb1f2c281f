"""The corpus, drawn once for all its tests: the part that it begins with, or the whole."""

import pytest

from attnlab.language import Corpus, Pair, english_french

WHOLE = 46_000


@pytest.fixture(scope="session", params=[6_000, pytest.param(WHOLE, marks=pytest.mark.heavy)])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    return english_french(request.param)


@pytest.fixture(scope="session")
def pairs(corpus: Corpus) -> list[Pair]:
    return [pair for part in corpus for pair in part]
