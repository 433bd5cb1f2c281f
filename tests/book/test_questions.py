"""The book's questions: neither the place nor the length of an option tells which one is right."""

import json
from collections import Counter

import pytest

from attnlab.widgets import Checkpoint
from tests.book.lectures import KNOWN, NOTEBOOKS, ROOT, code, load, stored

maker = load(ROOT / "book" / "tools" / "notebooks.py")
MOST = 0.4  # of a place, and of right options that are the longest


@pytest.fixture(scope="module")
def asked() -> dict[str, list[dict]]:
    """The checkpoints of each lecture, as its page shows them."""
    return {
        maker.name_of(path): [
            json.loads(found[1]) | {"shuffle": "shuffle=False" not in cell.source}
            for cell in code(stored(path))
            for output in cell.outputs
            if (found := maker.CHECKPOINT.match(output.get("data", {}).get("text/html", "")))
        ]
        for path in [*NOTEBOOKS, *KNOWN]
    }


def test_the_right_options_are_spread_over_the_places(asked: dict[str, list[dict]]) -> None:
    places = Counter(
        place
        for states in asked.values()
        for state in states
        for place, (_, correct, _) in enumerate(state["options"])
        if correct
    )
    assert places.total() >= 2 * len(asked)
    assert max(places.values()) <= MOST * places.total(), places


def test_the_right_option_is_not_the_longest(asked: dict[str, list[dict]]) -> None:
    """Over all questions with one right option."""
    longest = {
        state["question"]: all(
            len(right) > len(text)
            for right, correct, _ in state["options"]
            if correct
            for text, other, _ in state["options"]
            if not other
        )
        for states in asked.values()
        for state in states
        if not state["multiple"]
    }
    given_away = [question for question, is_longest in longest.items() if is_longest]
    assert len(given_away) <= MOST * len(longest), given_away


def test_the_pages_show_the_order_that_the_texts_give(asked: dict[str, list[dict]]) -> None:
    """Else the stored outputs are older: `book/tools/notebooks.py --questions` renews them."""
    for name, states in asked.items():
        for state in states:
            how = {"multiple": True, "shuffle": state["shuffle"]}
            options = Checkpoint(state["question"], state["options"], **how).options
            assert state["options"] == options, f"{name}: {state['question']}"
