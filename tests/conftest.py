"""What all tests share: Hypothesis repeats itself in CI, torch keeps to one thread, one browser."""

import os
from collections.abc import Iterator

import hypothesis
import pytest
import torch

from tests.browser import MISSING, find_chromium, launch

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=60)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """A headless browser; the test fails, and is not skipped, where there is none."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        browser = launch(playwright, path)
        yield browser
        browser.close()
