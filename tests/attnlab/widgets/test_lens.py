"""The lens: the page's numbers are Python's, it plays layer by layer, and text is text."""

import pytest
from playwright.sync_api import expect

from attnlab.models.recorded import smollm_lens
from attnlab.widgets import LogitLens
from tests.attnlab.widgets.examples import EVIL, lens, through
from tests.attnlab.widgets.pages import press, settle, tells


def test_the_page_reads_what_python_does(maths) -> None:
    for widget in (lens(), LogitLens(smollm_lens(), prompt=2)):
        one = widget.shown
        for step in (0, 1, 4):
            for token in range(len(one["tokens"])):
                code = "({ one, step, token }) => maths.at(one, step, token)"
                given = {"one": one, "step": step, "token": token}
                found = [(word["name"], word["chance"]) for word in maths(code, given, "lens")]
                assert found == [(name, pytest.approx(p)) for name, p in widget.best(step, token)]


def test_what_is_recorded_is_what_it_says() -> None:
    prompts = smollm_lens()
    assert [len(one.chance) for one in prompts] == [31] * 4
    for one in prompts:
        assert one.names[one.best[0, -1, 0]] == one.tokens[-1]  # the embedding says itself
        assert one.chance[-1, :, 0] == pytest.approx(one.by_last[-1])
        named = one.best == one.best[-1, :, :1]  # (31, n, 3): the word that is said at last
        assert one.chance[named] == pytest.approx(one.last[named.any(-1)])
        assert (one.last <= one.chance[..., 2])[~named.any(-1)].all()
        assert len(one.without["drawn"]) == 20
        assert one.without["nothing"] == [pytest.approx(one.chance[-1, -1, 0], abs=0.002)]


def test_it_goes_layer_by_layer_and_says_so(show) -> None:
    page, widget = show(lens(step=0, token=0)), lens(step=0, token=0)
    tells(page, "Embeddings, after “had”: ")
    press(page, "next")
    (name, chance), *_ = widget.best(1, 0)
    tells(page, "After layer 0, after “had”: ")
    tells(page, f"{name.replace(' ', '␣')}” {chance:.2f}")
    press(page, "play")
    expect(page.get_by_role("button", name="pause")).to_be_visible()
    expect(page.get_by_role("button", name="play")).to_be_visible(timeout=6000)
    tells(page, "After layer 3, after “had”: ")  # it stops at the last


def test_a_press_follows_a_token_and_spaces_are_seen(show) -> None:
    page = show(lens())
    page.get_by_role("button", name="↵", exact=True).click()
    settle(page)
    tells(page, "after “↵”: ")
    expect(page.get_by_role("button", name="␣bowl", exact=True)).to_have_attribute(
        "aria-pressed", "false"
    )


def test_text_is_only_text(show) -> None:
    page = show(lens(prompts=[through(tokens=[EVIL, " <b>", "</script>"])]))
    settle(page)
    assert page.locator("figure img, figure b").count() == 0


def test_it_opens_where_attention_first_adds_to_the_word(maths, show) -> None:
    recorded = smollm_lens()
    for prompt, one in enumerate(recorded):
        widget = LogitLens(recorded, prompt=prompt)
        adds = [round(float(added), 1) for added in one.adds[:, 0, -1]]
        assert 2 * adds[widget.step - 1] >= max(adds)
        assert all(2 * added < max(adds) for added in adds[: widget.step - 1])
        given = {"one": widget.shown, "token": widget.token}
        assert maths("({ one, token }) => maths.opening(one, token)", given, "lens") == widget.step
    nothing = through()
    nothing.adds[:, 0] = -1
    assert LogitLens([nothing]).step == len(nothing.chance) - 1  # attention adds to no word
    page = show(LogitLens(recorded))
    page.get_by_role("combobox", name="prompt").select_option(index=2)
    tells(page, f"After layer {LogitLens(recorded, prompt=2).step - 1}, ")


def test_each_picture_is_named_and_the_sum_rises_before_the_probability_does(show) -> None:
    page = show(LogitLens(smollm_lens(), prompt=1))
    names = page.locator(".attnbook-half > p:first-child").all_inner_texts()
    assert len(names) == len(set(names)) == 2
    lines = page.locator(".attnbook-towards .attnbook-line")
    heights = [
        [float(point.split()[1]) for point in path.get_attribute("d")[1:].split("L")]
        for path in lines.all()
    ]
    likely, summed = ([max(one) - y for y in one] for one in heights)
    assert likely[28] < 0.02 * max(likely)  # it is flat to the last but one
    assert summed[28] > 0.3 * max(summed)
