"""The atlas of heads: its numbers are Python's, a press and a key find a head, and text is text."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlab.models.recorded import LOOKS, smollm_atlas
from attnlab.widgets import Atlas
from attnlab.widgets.atlas.widget import NAMES
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import EVIL, atlas, choose, looked
from tests.attnlab.widgets.pages import keys, press, settle, status, tells

POINTS = ".attnbook-points"


@pytest.fixture(scope="module")
def found():
    return smollm_atlas()


def pressed(page) -> tuple[int, int]:
    """The head that a view shows as pressed."""
    settle(page)
    title = page.locator(".attnbook-pressed > .attnbook-title").inner_text()
    _, layer, _, head, *_ = title.replace(",", "").split()
    return int(layer), int(head)


def place_of(page, x: float, y: float) -> dict[str, float]:
    """Where a point with these scores is drawn, in pixels of the picture."""
    box = page.locator(f"{POINTS} svg").bounding_box()
    scale = box["width"] / 340
    return {"x": (54 + x * 276) * scale, "y": (296 - y * 286) * scale}


def test_orders_and_nearest_points_are_numpys(found, maths) -> None:
    rng = np.random.default_rng(0)
    for points in (Atlas(found).points, rng.random((30, 2)).round(1)):  # of which many are equal
        given = points.tolist()
        for axis in (0, 1):
            wanted = np.argsort(points[:, axis], kind="stable").tolist()
            code = f"(points) => maths.ordered(points, {axis})"
            assert maths(code, given, "atlas") == wanted
            wanted = np.argsort(-points[:, axis], kind="stable")[:10].tolist()
            code = f"(points) => maths.largest(points, 10, {axis})"
            assert maths(code, given, "atlas") == wanted
        for x, y in rng.random((20, 2)):
            far = np.hypot(*(points - (x, y)).T)
            wanted = int(far.argmin()) if far.min() <= 0.1 else -1
            code = f"(points) => maths.nearest(points, {x}, {y}, 0.1)"
            assert maths(code, given, "atlas") == wanted


def test_without_a_head_that_with_the_largest_score_across_is_pressed(found) -> None:
    widget = Atlas(found, across="next", on="random")
    place = widget.points[:, 0].argmax()
    assert (widget.layer, widget.head) == divmod(place, 9) == widget.largest[0]
    assert Atlas(found, layer=3).head == 0
    assert Atlas(found, layer=-1, head=-1).layer == 29


def test_a_head_is_pressed_by_pointer_and_found_by_keys(show) -> None:
    widget = atlas()
    page = show(widget)
    points = page.locator(POINTS)
    for layer, head in ((5, 0), (2, 1)):
        place = place_of(page, *widget.points[2 * layer + head])
        points.locator("svg").click(position=place)
        assert pressed(page) == (layer, head)
    points.locator("svg").click(position=place_of(page, 0.02, 0.98))  # nothing is near
    assert pressed(page) == (2, 1)
    points.focus()
    order = np.argsort(widget.points, axis=0, kind="stable")
    for key, axis, at in (
        ("Home", 0, 0), ("ArrowRight", 0, 1), ("ArrowRight", 0, 2), ("ArrowLeft", 0, 1),
        ("End", 0, -1), ("ArrowRight", 0, -1), ("PageUp", 1, -1), ("ArrowDown", 1, -2),
        ("ArrowUp", 1, -1), ("PageDown", 1, 0),
    ):  # fmt: skip
        keys(page, key)
        assert pressed(page) == divmod(int(order[at, axis]), 2), key


def test_a_pointer_that_rests_on_a_head_is_told_of_it(show) -> None:
    page, widget = show(atlas()), atlas()
    tells(page, "layer 1 head 1: what came next ")
    page.locator(f"{POINTS} svg").hover(position=place_of(page, *widget.points[10]))
    x, y = (markup.fixed(one, 2) for one in widget.points[10])
    tells(page, f"layer 5 head 0: what came next {x}, previous token {y}.")
    assert pressed(page) == (1, 1)
    page.mouse.move(0, 0)
    tells(page, "layer 1 head 1: what came next ")


def test_scores_and_sentences_follow_the_pressed_head_and_the_axes(found, show) -> None:
    page = show(Atlas(found, layer=18, head=6))
    choose("across", "same token earlier")(page)
    choose("on", "random tokens said twice")(page)
    choose("layer", "14")(page)
    choose("head", "3")(page)
    settle(page)
    widget = Atlas(found, layer=14, head=3, across="same", on="random")
    cells = page.locator(".attnbook-pressed td").all_inner_texts()
    own = [found.scores[on][14, 3] for on in ("sentences", "random")]
    even = [found.even[on] for on in ("sentences", "random")]
    wanted = np.stack([own[0], even[0], own[1], even[1]], axis=1).ravel()
    assert cells == [markup.fixed(one, 2) for one in wanted]
    lines = page.locator(".attnbook-cases li").all()
    shown = [case for _, cases in widget.shown for case in cases]
    assert len(lines) == len(shown) == 9
    for line, (sentence, i, j, percent) in zip(lines, shown, strict=True):
        expect(line.locator(".attnbook-from")).to_have_text(i)
        expect(line.locator(".attnbook-to")).to_have_text(j)
        said = f"“{i}” → “{j}” {markup.fixed(percent / 100, 2)}"
        expect(line.locator(".attnbook-way")).to_have_text(said)
        assert line.text_content() == sentence + said
    half = (widget.points > 0.5).sum(axis=0)
    wanted = f"{half[0]} give more than half to the same token earlier and {half[1]} to the prev"
    assert wanted in page.inner_text("main")
    press(page, "reset to the first settings")
    assert pressed(page) == (18, 6)


def test_equal_axes_are_told_once(show) -> None:
    page = show(atlas(across="next", upwards="next"))
    assert page.locator(".attnbook-group").count() == 2
    assert status(page).inner_text().count("what came next") == 1


def test_every_head_is_in_the_table_by_layer(found, show) -> None:
    page = show(Atlas(found))
    page.get_by_text("all heads as a table").click()
    settle(page)
    rows = page.locator("details[open] table").last.locator("tbody tr")
    assert rows.count() == 30
    points = Atlas(found).points.reshape(30, 9, 2)
    wanted = [" ".join(markup.fixed(one, 2) for one in axis) for axis in points[17].T]
    assert rows.nth(17).locator("td").all_inner_texts() == wanted


def test_the_page_stays_small(found, show) -> None:
    page = show(Atlas(found))
    settle(page)
    assert page.locator(".attnbook-live *").count() <= 250  # 270 heads are three elements


def test_a_sentence_is_never_markup(show) -> None:
    page = show(atlas(found=looked(texts=[[EVIL, " </script>", "<b>", EVIL]])))
    settle(page)
    assert page.locator("main img, main .attnbook-live b").count() == 0
    assert EVIL in page.locator(".attnbook-cases").inner_text()


def test_looks_are_told_in_one_order() -> None:
    assert tuple(NAMES) == LOOKS[:-1]
