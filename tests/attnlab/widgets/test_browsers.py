"""What other browsers, themes, paper and narrow screens show as wrong, and must not again."""

import pytest
from playwright.sync_api import expect

from attnlab.widgets import AttentionHeatmap
from tests.attnlab.widgets.examples import EXAMPLES, TOKENS, X, scores
from tests.attnlab.widgets.pages import button, tells, unfold

LIGHT = "document.documentElement.dataset.theme = 'light'"
PAPER = """() => { window.dispatchEvent(new Event("beforeprint"));
  return [...document.querySelectorAll("figure canvas")].filter((one) => one.checkVisibility())
    .map((one) => [...one.getContext("2d").getImageData(0, 0, 1, 1).data.slice(0, 3)]); }"""


@pytest.mark.parametrize("kind", ["heatmap", "painter"])
def test_a_canvas_is_white_for_paper_before_the_next_frame(show, kind: str) -> None:
    page = show(EXAMPLES[kind].make(), theme="dark")
    large = page.locator(".attnbook-plot canvas").first
    assert large.evaluate("c => c.getContext('2d').getImageData(0, 0, 1, 1).data[0]") < 64
    found = page.evaluate(f"() => {{ {LIGHT}; return ({PAPER})(); }}")
    assert [255, 255, 255] in found
    assert all(sum(pixel) > 3 * 128 for pixel in found)


def test_a_status_quotes_a_caption_names_a_small_number_is_blank_and_a_minus_a_minus(show) -> None:
    page = show(AttentionHeatmap(X, tokens=["the", "most", "it"], pinned=2))
    tells(page, "“it” is pinned; it attends most to “it” 0.905, “most”")
    page = show(AttentionHeatmap(X, tokens=TOKENS, caption="Who looks where"))
    expect(page.get_by_role("figure", name="Who looks where")).to_be_visible()
    expect(page.locator("figure[aria-label]")).to_have_count(0)
    page = show(AttentionHeatmap(scores=[[0.0, 9.0]], tokens=["q"], key_tokens=["a", "b"]))
    with page.expect_download() as got:
        button(page, "save as SVG").click()
    svg = got.value.path().read_text(encoding="utf-8")
    assert "1.000</text>" in svg
    assert "0.000</text>" not in svg
    page = show(EXAMPLES["steps"].make(vectors=[[-1, -1e-7], [1, 2]], tokens=["a", "b"]))
    expect(page.get_by_label("a, component 1")).to_have_value("−1")
    small = page.get_by_label("a, component 2")
    expect(small).to_have_value("−1e−7")
    small.press("End")
    small.press_sequentially("0")  # what stands there can be read again
    expect(page.locator("[aria-invalid]")).to_have_count(0)


CROWD = {"query": [1, 2], "keys": [[2, 0], [-1, 1], [1, 1], [0.5, 0.75]]}
CROWDED = ["small", "black", "cat", "the"]


def test_names_in_the_plane_lie_on_nothing_else_and_it_grows_with_its_vectors(show) -> None:
    page = show(scores(**CROWD, tokens=CROWDED))
    boxes = [
        [one.bounding_box() for one in page.locator(f".attnbook-tip .attnbook-{part}").all()]
        for part in ("token", "ring")
    ]
    for place, name in enumerate(boxes[0]):
        for other in [*boxes[1], *boxes[0][:place]]:
            apart = [
                abs(name[at] + name[size] / 2 - other[at] - other[size] / 2)
                - (name[size] + other[size]) / 2
                for at, size in (("x", "width"), ("y", "height"))
            ]
            assert max(apart) > -3
    corner = page.locator(".attnbook-plane text").first
    expect(corner).to_have_text("3")
    unfold(page)
    page.get_by_label("query, number 1").fill("−3.5")
    expect(corner).to_have_text("4")
    button(page, "reset to the first numbers").click()
    expect(corner).to_have_text("4")
