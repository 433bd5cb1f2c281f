"""The book as some readers must have it: their own colours, a small or enlarged page.

Without scripts or storage: test_shell. On paper: test_print.
"""

from __future__ import annotations

import pytest

from tests.book.conftest import no_sideways_scroll

PAGES = ("book/translator", "notebooks/05-self-attention", "book/notation")
# a control without border, ground or letters of another colour than the page's cannot be seen
UNSEEN = """all => all.filter((one) => one.checkVisibility()).filter((one) => {
  const style = getComputedStyle(one);
  const page = getComputedStyle(document.body).backgroundColor;
  const edge = parseFloat(style.borderTopWidth) > 0 && style.borderTopColor !== page;
  const letters = one.innerText?.trim() && style.color !== page;
  const own = ["range", "checkbox", "radio"].includes(one.type) && style.appearance !== "none";
  return !(edge || letters || own || style.backgroundColor !== page);
}).map((one) => one.outerHTML.slice(0, 120))"""
# how many colours a drawing has: one is a blank sheet
COLOURS = """c => new Set(new Uint32Array(
  c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"""
CUT = """() => [...document.querySelectorAll('figure.attnbook [aria-label$="as a number"]')]
  .filter((box) => box.checkVisibility()).filter((box) => {
    const { left, right } = box.getBoundingClientRect();
    return left < 0 || right > innerWidth + 0.5 || box.scrollWidth > box.clientWidth + 1;
  }).map((box) => box.ariaLabel)"""


def test_in_the_readers_own_colours_controls_and_pictures_are_seen(visit) -> None:
    page = visit(forced_colors="active")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    link = page.locator(".page-toc a:visible").first
    link.focus()  # a shadow would be gone
    assert link.evaluate("(one) => getComputedStyle(one).outlineStyle") != "none"
    controls = page.locator("figure.attnbook :is(button, input, select, textarea)")
    assert controls.count() > 10
    assert controls.evaluate_all(UNSEEN) == []
    canvases = page.locator("figure.attnbook canvas:visible")
    assert canvases.count() > 0
    for canvas in canvases.all():
        canvas.scroll_into_view_if_needed()
        assert canvas.evaluate(COLOURS) > 2


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("zoomed", [False, True], ids=["320 px", "200 %"])
def test_small_and_enlarged_pages_keep_everything_in_reach(visit, name: str, zoomed: bool) -> None:
    """A page enlarged to 200 % has half the width and two dots for one."""
    size = {"width": 640, "height": 450} if zoomed else {"width": 320, "height": 640}
    page = visit(name, viewport=size, device_scale_factor=2 if zoomed else 1)
    assert no_sideways_scroll(page)
    boxes = page.locator("figure.attnbook [aria-label$='as a number']")
    assert (boxes.count() > 0) == name.startswith("notebooks")
    assert page.evaluate(CUT) == []
