"""The mask painter on a phone, on paper, without a script, and through anywidget."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.masks import causal_mask, padding_mask, window_mask
from attnbook.widgets import MaskPainter
from attnbook.widgets.core import markup
from attnbook.widgets.core.chunks import module
from tests.widgets.conftest import TOKENS, X, settle
from tests.widgets.test_everywhere import RENDER
from tests.widgets.test_painter_page import mask_of, middle, preset, rows_of, status, table

EVIL = "<img src=x onerror=alert(1)>"


def test_a_finger_paints_and_what_it_did_is_said(show) -> None:
    page = show(MaskPainter(X, tokens=TOKENS), width=390, has_touch=True, is_mobile=True)
    page.touchscreen.tap(*middle(page, 1, 0))
    assert mask_of(page) == "1 1 1 / 0 1 1 / 1 1 1"
    expect(status(page)).to_have_text("bowl → had: masked, weight 0")


def test_presets_are_aligned_at_the_end_where_keys_are_more(show) -> None:
    page = show(MaskPainter(X[1:], X, tokens=TOKENS[1:], key_tokens=TOKENS, lengths=1))
    for name, mask in [
        ("causal", causal_mask(2, 3)),
        ("strictly past", torch.ones(2, 3).tril(0)),
        ("last 2 are padding", padding_mask([1], 3)[0].expand(2, 3)),
        ("window of 2", window_mask(2, 3, 2)),
    ]:
        preset(page, name)
        assert mask_of(page) == rows_of(mask)


def test_the_mask_is_drawn_as_it_is(show) -> None:
    painter = show(MaskPainter(X, tokens=TOKENS))
    preset(painter, "causal")
    pixel = """([x, y]) => { const canvas = document.querySelector('.attnbook-plot canvas');
      const box = canvas.getBoundingClientRect(); const dense = canvas.width / box.width;
      const at = [(x - box.left) * dense, (y - box.top) * dense].map(Math.round);
      return Array.from(canvas.getContext('2d').getImageData(...at, 1, 1).data); }"""
    inside = [[x - 20 for x in middle(painter, i, j)] for i in range(3) for j in range(3)]
    drawn = [painter.evaluate(pixel, place) for place in inside]
    may, masked = [143, 180, 221, 255], [240, 241, 243, 255]  # --attnbook-half and -masked
    assert drawn == [may, masked, masked, may, may, masked, may, may, may]


def test_sixteen_tokens_stay_within_the_budget_of_nodes_and_width(show) -> None:
    x = np.random.default_rng(0).normal(size=(16, 4))
    page = show(MaskPainter(x, tokens=[f"word{i}" for i in range(16)], fill="zero"))
    preset(page, "strictly past")
    table(page)
    assert page.locator("figure *").count() <= 500
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widths = [box.bounding_box()["width"] for box in page.locator(".attnbook-plot canvas").all()]
    assert max(widths) <= 358


def test_hostile_and_blank_tokens_are_shown_as_text(show) -> None:
    page = show(MaskPainter(X, tokens=[EVIL, "  ", "nuts" * 60], caption=EVIL, pinned=1))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    table(page)
    assert page.locator("figure img").count() == 0
    expect(status(page)).to_contain_text("␣ is pinned")
    expect(page.locator("figcaption")).to_have_text(EVIL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 900


def test_without_javascript_the_table_is_there(show) -> None:
    page = show(MaskPainter(X, tokens=TOKENS), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_contain_text("0.905")


def test_on_paper_there_are_numbers_and_no_controls(show) -> None:
    painter = show(MaskPainter(X, tokens=TOKENS))
    painter.emulate_media(media="print")
    expect(painter.locator(".attnbook-twin table")).to_be_visible()
    for hidden in (".attnbook-controls", ".attnbook-presets", ".attnbook-panelhead label"):
        expect(painter.locator(hidden)).to_be_hidden()
    painter.emulate_media(media="screen")
    expect(painter.locator(".attnbook-twin table")).to_be_hidden()


def rendered(show, widget: MaskPainter, views: int = 2):
    page = show()
    page.evaluate(RENDER, [module(), markup.tidy(widget.state()), views])
    settle(page)
    return page


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, MaskPainter(X, tokens=TOKENS))
    page.mouse.click(*middle(page, 0, 0))
    settle(page)
    assert page.evaluate("model.get('mask')") == [0] + [1] * 8
    assert page.evaluate("saves") == 1
    codes = page.locator(".attnbook-note code").all_inner_texts()
    assert codes == ["mask = torch.tensor([[0, 1, 1], [1, 1, 1], [1, 1, 1]]).bool()"] * 2


def test_python_moves_the_view_and_hears_no_echo(show) -> None:
    page = rendered(show, MaskPainter(X, tokens=TOKENS))
    page.evaluate(
        "() => { model.set('mask', [1, 0, 0, 1, 1, 0, 1, 1, 1]); model.set('fill', 'zero');"
        " model.set('show', 'gradient'); model.set('pinned', 1); }"
    )
    settle(page)
    for view in page.locator("figure").all():
        expect(view.get_by_role("button", name="causal", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(view.get_by_label("show the gradient")).to_be_checked()
        expect(view.locator(".attnbook-status")).to_contain_text("bowl is pinned")
    assert page.evaluate("saves") == 0
