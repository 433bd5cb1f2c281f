"""What is visible of a past: equal to torch's masks and softmax, in Python and in the browser."""

import itertools
import json

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.masks import causal_mask, window_mask
from attnlab.models.recorded import smollm_visible
from attnlab.widgets import Visibility
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import seen_by
from tests.attnlab.widgets.pages import button, keys, plot, press, settle, status, twin

CHOICES = [(26, 0, 26), (4, 0, 26), (4, 1, 26), (26, 4, 3), (1, 2, 26), (9, 4, 5), (1, 0, 1)]


@pytest.fixture(scope="module")
def found():
    return smollm_visible()


def by_torch(scores: np.ndarray, window: int, first: int, top: int) -> tuple[torch.Tensor, ...]:
    """The weights of full attention, and those over what is visible."""
    n, e = len(scores), torch.tensor(scores)
    may = window_mask(n, n, window + first, sinks=first)
    seen = e.masked_fill(~may, -torch.inf)
    least = seen.topk(top, dim=-1).values[:, -1:]  # −∞ where fewer are visible
    return e.softmax(-1), seen.masked_fill(seen < least, -torch.inf).softmax(-1)


@pytest.mark.parametrize(("window", "first", "top"), CHOICES)
def test_weights_are_torchs_in_python_and_in_the_browser(found, maths, window, first, top) -> None:
    code = """([scores, n, how]) => { const e = maths.square(scores, n);
        const [may, all] = [how, { window: n, first: 0, top: n }].map((one) =>
          maths.visible(e, n, one));
        const full = Array.from(may, (one, at) => all[at]);
        return [Array.from(may), full]; }"""
    how = {"window": window, "first": first, "top": top}
    for place, head in enumerate(found.heads):
        widget = Visibility(found, head=place, **how)
        full, weights = by_torch(head.scores, window, first, top)
        np.testing.assert_allclose(widget.weights, weights, atol=1e-6)
        kept = (full * (weights > 0)).sum(-1)
        np.testing.assert_allclose(widget.kept, kept, atol=1e-6)
        may, causal = maths(code, [widget.heads[place]["scores"], 26, how], "visibility")
        assert np.array_equal(np.reshape(may, (26, 26)), widget.visible)
        assert np.array_equal(np.reshape(causal, (26, 26)), causal_mask(26, 26).numpy())
        code_kept = "([full, may, n]) => maths.kept(full, may, n)"
        given = [full.flatten().tolist(), may, 26]
        np.testing.assert_allclose(maths(code_kept, given, "visibility"), widget.kept, atol=1e-6)


def test_equal_scores_leave_the_earlier_keys_and_nothing_of_lecture_14_is_there(found) -> None:
    one = seen_by(heads=1)
    even = one.heads[0]._replace(scores=np.where(np.tri(4) > 0, 0.5, -np.inf))
    widget = Visibility(one._replace(heads=[even]), measured=(), top=2)
    assert widget.visible[-1].tolist() == [True, True, False, False]
    state = json.dumps(Visibility(found).state())
    shown = {one["name"] for one in Visibility(found).measured}
    hidden = {"tokens 20 to 23, last 252", "first 1, last 63"}
    assert shown == found.perplexity.keys() - hidden
    assert not any(name in state for name in hidden)


def test_the_measurement_that_is_lit_is_the_nearest_of_its_kind(found, maths) -> None:
    lit = {
        (26, 0, 26): "all",
        (22, 4, 26): "all",  # nothing is hidden
        (1, 0, 26): "last 64",
        (4, 0, 26): "last 256",
        (25, 0, 26): "last 512",
        (4, 1, 26): "first 1, last 255",
        (4, 4, 26): "first 4, last 252",
        (4, 2, 26): None,
        (4, 0, 2): None,  # a window and a top-k
        (4, 0, 5): "last 256",  # no more than four are seen
        (26, 0, 3): "top 256",
        (26, 1, 1): "top 64",
    }
    for (window, first, top), name in lit.items():
        assert Visibility(found, window=window, first=first, top=top).nearest == name
    code = "([all, now]) => all[maths.nearest(all, now)]?.name ?? null"
    widget = Visibility(found)
    for window, first, top in itertools.product(range(1, 27), (0, 1, 2, 4), (1, 2, 3, 4, 26)):
        widget.window, widget.first, widget.top = window, first, top
        now = {"n": 26, "length": 1536, "window": window, "first": first, "top": top}
        assert maths(code, [widget.measured, now], "visibility") == widget.nearest


def test_every_measurement_is_drawn_once_by_the_sign_of_its_kind(found, show) -> None:
    page = show(Visibility(found))
    drawn = page.locator(".attnbook-ladder .attnbook-dots").evaluate_all(
        "all => all.map((one) => one.getAttribute('d').match(/M/g).length)"
    )
    assert drawn == [4, 3, 1, 3, 1]
    signs = ["● the last ones", "◆ and the first", "□ and more first", "▲ largest scores", "■ all"]
    assert page.locator(".attnbook-ladder .attnbook-sort").all_inner_texts() == signs


def test_a_first_token_brings_the_perplexity_back_and_their_numbers_are_one_tab_stop(
    found, show
) -> None:
    page = show(Visibility(found, window=4))
    lit = page.locator(".attnbook-lit")
    assert lit.text_content() == "82.1"
    spot, number = (page.locator(f"svg .attnbook-{one}").bounding_box() for one in ("spot", "lit"))
    assert spot["x"] < number["x"] + number["width"] / 2 < spot["x"] + spot["width"]
    assert number["y"] < spot["y"] < number["y"] + 2 * number["height"]  # the number is above it
    press(page, "1 first tokens kept")
    settle(page)
    assert lit.text_content() == "40.4"
    near = "first 1, last 255 (the window is 17\u00a0% of the text; yours is 15\u00a0%"
    assert near in page.inner_text("main")
    press(page, "2 first tokens kept")
    settle(page)
    assert not lit.is_visible()
    assert "Nothing of this kind was measured" in page.inner_text("main")
    press(page, "0 first tokens kept")
    page.get_by_label("window: the last").fill("26")
    settle(page)
    assert lit.text_content() == "34.9"
    group = page.get_by_role("group", name="first tokens kept")
    assert group.locator("[tabindex='0']").count() == 1
    button(page, "0 first tokens kept").focus()
    keys(page, "ArrowRight", "Enter")
    expect(button(page, "1 first tokens kept")).to_have_attribute("aria-pressed", "true")
    keys(page, "End")
    expect(button(page, "4 first tokens kept")).to_be_focused()
    assert group.locator("[tabindex='0']").count() == 1


def test_tables_and_words_follow_the_reader_and_all_is_reached_by_keyboard(found, show) -> None:
    page = show(Visibility(found, window=4, first=1, head=2))
    page.get_by_label("window: the last").fill("3")
    page.get_by_label("top-k: the largest").fill("2")
    settle(page)
    widget = Visibility(found, window=3, first=1, top=2, head=2)
    full, weights = by_torch(found.heads[2].scores, 3, 1, 2)
    row = zip(full[-1].tolist(), weights[-1].tolist(), widget.visible[-1], strict=True)
    wanted = [[markup.fixed(a), markup.fixed(b) if m else "hidden"] for a, b, m in row]
    assert twin(page) == wanted
    assert f"{markup.fixed(widget.kept.mean())} is kept" in status(page).inner_text()
    assert "of these, the 2 with the largest scores" in status(page).inner_text()
    page = show(Visibility(found, window=4, head=2))
    plot(page).focus()
    keys(page, "ArrowDown", "Home")
    settle(page)
    assert "red → The: 0.008 of full attention, now hidden." in status(page).inner_text()
    keys(page, "ArrowUp", "End", "Enter")
    settle(page)
    assert "the → red: later, so never seen." in status(page).inner_text()
    assert "“the”, token 25:" in page.locator(".attnbook-sentence").inner_text()
    keys(page, "Escape")
    settle(page)
    assert not page.locator(".attnbook-sentence").is_visible()
    button(page, "reset to the first settings").click()
    settle(page)
    assert "“red”, token 26:" in page.locator(".attnbook-sentence").inner_text()
