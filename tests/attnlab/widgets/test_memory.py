"""A memory of 2 × 2 numbers: the package's rules in Python and in the page; words for the rest."""

from itertools import product

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.further.linear import delta_steps, linear_attention
from attnlab.widgets import Memory
from tests.attnlab.widgets.examples import memory, normal
from tests.attnlab.widgets.pages import press, says, tells

TRAITS = ("values", "third", "angle", "length", "write", "decay", "beta")


def by_the_package(widget: Memory) -> torch.Tensor:
    """What each key reads at the end, by attnbook."""
    key = torch.tensor(widget.key)
    value = torch.tensor(widget.values, dtype=torch.double)[: len(key)]
    gate = torch.full((len(key),), widget.decay, dtype=torch.double)
    if widget.write == "phi":
        return linear_attention(key, key, value)
    if widget.write == "delta":
        beta = torch.full_like(gate, widget.beta)
        return key @ delta_steps(key, key, value, beta, gate=gate).state
    faded = torch.flip(gate.cumprod(0), [0])[:, None] / widget.decay
    return key @ (key.mT @ (faded * value))


@pytest.mark.parametrize("write", ["sum", "delta", "phi"])
def test_python_and_the_page_read_what_the_package_reads(maths, write: str) -> None:
    for seed, third in product(range(6), (False, True)):
        decay = 1.0 if write == "phi" else 0.25 * (1 + seed % 4)
        at = {"angle": 67.0 * seed, "length": [1.0, 0.0, 0.5, 2.0, 1.0, 1.5][seed]}
        how = {"write": write, "decay": decay, "beta": 1 - seed / 10}
        widget = Memory(normal(3, 2, seed=seed).round(3), third=third, **at, **how)
        wanted = by_the_package(widget)
        given = {name: getattr(widget, name) for name in TRAITS}
        now = maths("(given) => maths.written(given)", given, "memory")
        read = [one["read"] for one in now["asked"]]
        for found in (widget.read, read):
            np.testing.assert_allclose(found, wanted, atol=1e-9)
        np.testing.assert_allclose(now["S"], widget.memory, atol=1e-9)


def test_it_opens_with_two_keys_at_right_angles_and_a_third_is_one_press(show) -> None:
    page = show(Memory())
    says(page, "v₂ is written under k₂. k₁ and k₂ read their values back.")
    reads, cards = (page.locator(f".attnbook-{name}:visible") for name in ("reads", "right"))
    assert reads.all_inner_texts() == ["reads (3, 1)", "reads (−1, 2)"]
    assert cards.all_inner_texts() == ["its value"] * 2
    page.get_by_label("a third key").check()
    expect(page.get_by_text("3 of 3 pairs written")).to_be_visible()
    tells(page, "No key reads its value back. Three keys in a plane")
    expect(cards).to_have_count(3)
    expect(cards).to_have_text(["off by 2.236", "off by 2.236", "off by 2.55"])
    page.get_by_label("written by").select_option("the delta rule")
    tells(page, "Asked first, k₃ reads (1.414, 2.121)")
    tells(page, "k₃ reads its value back; k₁ and k₂ do not.")
    page.get_by_label("angle of k₃, in degrees", exact=True).focus()
    page.keyboard.press("Home")
    tells(page, "k₂ and k₃ read their values back; k₁ does not.")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("angle of k₃, in degrees as a number")).to_have_value("1")
    press(page, "previous", 3)
    says(page, "Nothing is written yet.")
    page.get_by_role("button", name="reset").click()
    expect(cards).to_have_count(2)


SPECIAL = [
    ({"length": 0}, "k₃ is all zeros: nothing is written under it, and it reads (0, 0)."),
    ({"length": 0, "write": "phi"}, "v₃ is written under φ(k₃) = (1, 1)."),
    ({"decay": 0, "write": "sum"}, "multiplies S by g = 0: all that was there is gone."),
    ({"length": 2}, "k₃ reads |k₃|² = 4 times what is written under it."),
    ({"values": [[1e6, -1e6]] * 3, "write": "sum"}, "No key reads its value back."),
    ({"values": [[0, 0]] * 3}, "k₁, k₂ and k₃ read their values back."),
]


@pytest.mark.parametrize(("given", "said"), SPECIAL)
def test_what_is_special_is_said_and_nothing_is_lost(show, given: dict, said: str) -> None:
    page = show(memory(**given))
    tells(page, said)
    assert "NaN" not in page.locator("main").inner_html()


@pytest.mark.parametrize(("width", "height"), [(1280, 640), (390, 1300)])
def test_keys_memory_and_answers_stand_together(show, width: int, height: int) -> None:
    page = show(memory(), width=width)
    assert page.locator("figure.attnbook").bounding_box()["height"] <= height


def test_a_memory_of_fewer_pairs_has_fewer_written() -> None:
    widget = memory()
    widget.third = False
    assert widget.step == 2
    np.testing.assert_array_equal(widget.memory, [[3, 1], [-1, 2]])
