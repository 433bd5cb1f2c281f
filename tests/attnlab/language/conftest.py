"""The whole corpus, drawn once for all its tests."""

import pytest

from attnlab.language import Corpus, Pair, english_french


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return english_french()


@pytest.fixture(scope="session")
def pairs(corpus: Corpus) -> list[Pair]:
    return [pair for part in corpus for pair in part]
