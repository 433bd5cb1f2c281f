"""The mask painter: torch's numbers in every mode, painted by pointer and by keys."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.masks import causal_mask, padding_mask, window_mask
from attnlab.widgets import MaskPainter
from tests.attnlab.widgets.examples import TOKENS, X
from tests.attnlab.widgets.examples import painter as example
from tests.attnlab.widgets.pages import cell, keys, pixel, plot, says, settle, tells, twin


def test_lengths_are_a_number_or_a_list_of_one_as_for_a_batch() -> None:
    assert example().length == 2
    assert MaskPainter(X[:1], tokens=["had"]).length == 1
    for lengths in (1, [1], np.array([1]), torch.tensor([1])):
        assert example(lengths=lengths).length == 1


HAND = "0 1 1 / 1 1 1 / 1 1 1"


@pytest.fixture
def painter(show):
    return show(example())


def mask_of(page) -> str:
    """The mask as the page writes it in code, as rows of zeros and ones."""
    settle(page)
    code = page.locator(".attnbook-note code").inner_text()
    names = {"torch": torch, "causal_mask": causal_mask, "padding_mask": padding_mask}
    found: dict = {}
    exec(code, {**names, "window_mask": window_mask}, found)  # the page's own line of Python
    return " / ".join(" ".join(str(int(one)) for one in row) for row in found["mask"])


def alarm(page):
    return page.locator(".attnbook-alarm")


def preset(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settle(page)


def middle(page, i: int, j: int, which: int = 0) -> tuple[float, float]:
    """The middle of a cell of the mask (or, 1, of what follows) on the screen."""
    mask = page.locator(".attnbook-plot canvas").first.bounding_box()
    box = page.locator(".attnbook-plot canvas").nth(which).bounding_box()
    left, top = mask["width"] - 2 - 3 * 56, mask["height"] - 2 - 3 * 56
    return box["x"] + left + (j + 0.5) * 56, box["y"] + top + (i + 0.5) * 56


def test_a_click_turns_a_cell_round_and_a_drag_paints_with_the_first_ones_value(painter) -> None:
    painter.mouse.click(*middle(painter, 0, 0))
    assert mask_of(painter) == HAND
    says(painter, "had → had: masked, weight 0")
    painter.mouse.click(*middle(painter, 0, 0))
    assert mask_of(painter) == "1 1 1 / 1 1 1 / 1 1 1"
    says(painter, "had → had: may attend, weight 0.866 (score 5, divided 2.887), gradient 0.116")
    painter.mouse.click(*middle(painter, 1, 1))
    painter.mouse.move(*middle(painter, 0, 0))
    painter.mouse.down()
    painter.mouse.move(*middle(painter, 1, 1), steps=4)  # is masked already, and stays so
    painter.mouse.move(*middle(painter, 1, 2), steps=4)
    painter.mouse.up()
    painter.mouse.move(*middle(painter, 2, 2))  # the pointer is up again
    assert mask_of(painter) == "0 1 1 / 1 0 0 / 1 1 1"


def test_a_fast_drag_leaves_no_gap_and_a_drag_outside_paints_nothing_more(painter) -> None:
    painter.mouse.move(*middle(painter, 2, 0))
    painter.mouse.down()
    painter.mouse.move(*middle(painter, 2, 2))  # one step over two cells
    painter.mouse.move(5, 5)
    painter.mouse.up()
    assert mask_of(painter) == "1 1 1 / 1 1 1 / 0 0 0"


def test_keys_move_toggle_paint_on_and_pin(painter) -> None:
    plot(painter).focus()
    keys(painter, "ArrowRight")
    tells(painter, "had → had: may attend")
    keys(painter, "Space")
    tells(painter, "had → had: masked")
    keys(painter, "Shift+ArrowDown", "Shift+ArrowRight")
    assert mask_of(painter) == "0 1 1 / 0 0 1 / 1 1 1"
    keys(painter, "ArrowDown", "Shift+End")
    assert mask_of(painter) == "0 1 1 / 0 0 1 / 1 1 1"  # carried on: a cell that may
    keys(painter, "Space", "Shift+Home")
    assert mask_of(painter) == "0 1 1 / 0 0 1 / 0 0 0"
    painter.keyboard.press("Enter")
    painter.get_by_role("button", name="reset").focus()
    says(painter, "“nuts” is pinned; it attends most to nothing. Its gradients sum to 0.000.")
    plot(painter).focus()
    painter.keyboard.press("Escape")
    tells(painter, "Press or drag")


def test_a_browsers_modifier_is_left_alone_and_a_row_pinned_by_its_label(painter) -> None:
    plot(painter).focus()
    keys(painter, "Control+ArrowRight", "Alt+Space", "Meta+Enter")
    assert mask_of(painter) == "1 1 1 / 1 1 1 / 1 1 1"
    tells(painter, "Press or drag")
    x, y = middle(painter, 1, 0)
    painter.mouse.click(x - 56, y)
    says(
        painter,
        "“bowl” is pinned; it attends most to “nuts” 0.707, “bowl” 0.223, “had” 0.070. "
        "Its gradients sum to 0.446.",
    )
    painter.mouse.click(x - 56, y)
    tells(painter, "Press or drag")
    painter.mouse.click(*middle(painter, 2, 2, which=1))
    painter.mouse.move(5, 5)
    tells(painter, "“nuts” is pinned")
    assert mask_of(painter) == "1 1 1 / 1 1 1 / 1 1 1"


def test_the_row_that_is_emptied_is_the_pinned_one(painter) -> None:
    preset(painter, "nothing for had")
    assert mask_of(painter) == "0 0 0 / 1 1 1 / 1 1 1"
    plot(painter).focus()
    keys(painter, "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    preset(painter, "nothing for nuts")
    assert mask_of(painter) == "0 0 0 / 1 1 1 / 0 0 0"
    preset(painter, "swap 0 and 1")
    assert mask_of(painter) == "1 1 1 / 0 0 0 / 1 1 1"


def test_the_four_modes_tell_an_empty_row_apart(painter) -> None:
    preset(painter, "strictly past")
    expect(alarm(painter)).to_have_text(
        "“had” may attend to nothing: its weights are all 0, and no gradient flows."
    )
    assert twin(painter)[0] == ["masked"] * 3 + ["0.000"]
    choose = painter.get_by_label("a masked score becomes")
    choose.select_option(index=1)
    expect(alarm(painter)).to_contain_text("its weights are NaN")
    assert twin(painter)[0] == ["masked, yet NaN"] * 3 + ["NaN"]
    choose.select_option(index=2)
    expect(alarm(painter)).to_contain_text("every score is −10¹⁰, so its weights are 0.333 each")
    assert twin(painter)[0] == ["masked, yet 0.333"] * 3 + ["1.000"]
    assert twin(painter)[1] == ["1.000", "masked", "masked", "1.000"]
    choose.select_option(index=3)
    expect(alarm(painter)).to_contain_text(
        "What is masked still gets a share: “bowl” gives it 0.529 and “nuts” gives it 0.050."
    )
    assert twin(painter)[1] == ["0.471", "masked, yet 0.264", "masked, yet 0.264", "1.000"]
    painter.get_by_label("show the gradient").check()
    assert twin(painter)[1] == ["0.249", "masked", "masked", "0.249"]
    preset(painter, "causal")
    choose.select_option(index=0)
    expect(alarm(painter)).to_be_empty()


def test_several_empty_rows_are_named_and_many_are_counted(show) -> None:
    x = np.random.default_rng(1).normal(size=(6, 4))
    mask = np.zeros((6, 6), dtype=bool)
    mask[5] = True
    page = show(MaskPainter(x, tokens=list("abcdef"), mask=mask))
    expect(alarm(page)).to_contain_text(
        "“a”, “b”, “c” and 2 more may attend to nothing: their weights"
    )


def test_the_mask_is_drawn_as_it_is(painter) -> None:
    preset(painter, "causal")
    at = [cell(painter, i, j) for i in range(3) for j in range(3)]
    drawn = [pixel(painter, one["x"] - 20, one["y"] - 20) for one in at]
    may, masked = [143, 180, 221], [240, 241, 243]  # --attnbook-half and -masked
    assert drawn == [may, masked, masked, may, may, masked, may, may, may]


def test_presets_are_the_books_own_masks_aligned_at_the_end(show) -> None:
    page = show(MaskPainter(X[1:], X, tokens=TOKENS[1:], key_tokens=TOKENS, lengths=1))
    padding = padding_mask([1], 3)[0].expand(2, 3)
    for name, mask in [
        ("all", torch.ones(2, 3)),
        ("causal", causal_mask(2, 3)),
        ("strictly past", torch.ones(2, 3).tril(0)),
        ("last 2 are padding", padding),
        ("causal and padding", causal_mask(2, 3) & padding),
        ("window of 2", window_mask(2, 3, 2)),
    ]:
        preset(page, name)
        assert mask_of(page) == " / ".join(" ".join(str(int(x)) for x in row) for row in mask)
        pressed = page.locator(".attnbook-presets [aria-pressed=true]").all_inner_texts()
        assert name in pressed  # two may be the same mask
