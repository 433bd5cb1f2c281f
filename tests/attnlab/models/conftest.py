"""What the tests of the lab's models share."""

import pytest

from attnlab.models.recipe import CACHE
from attnlab.pretrained import Pretrained
from tests import needs


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE, raising=False)


@pytest.fixture(scope="module")
def model() -> Pretrained:
    return needs.minilm()
