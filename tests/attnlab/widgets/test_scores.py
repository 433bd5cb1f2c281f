"""The four scores: the package's in PyTorch, by pointer, by keys and by numbers."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlab.widgets import ScoreExplorer
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import NAMES, learned, scores
from tests.attnlab.widgets.pages import button, keys, rows, settle, tells


@pytest.fixture
def explorer(show):
    return show(scores())


def panel(page, name: str):
    return page.get_by_role("group", name=name, exact=True)


def drawn(page, kind: str) -> list[list[str]]:
    """The scores or the weights ("value") as they stand in the four tables."""
    return rows(page.locator(".attnbook-four > *"), f".attnbook-{kind}")


def unfold(page) -> None:
    """Show the boxes of all numbers."""
    page.locator("summary").click()


def agrees(page, widget: ScoreExplorer) -> None:
    energies = [[markup.plain(e) for e in row] for row in widget.scores]
    weights = [[markup.fixed(a) for a in row] for row in widget.weights]
    assert drawn(page, "score") == energies
    assert drawn(page, "value") == weights


def tip(page, name: str):
    """The tip in the first plane: those of the others are for the pointer alone."""
    return page.locator(".attnbook-tip", has=page.get_by_text(name, exact=True)).first


def lines(page) -> list[str]:
    """The lines of equal score in each of the four planes."""
    return page.locator(".attnbook-level").evaluate_all(
        "all => all.map((p) => p.getAttribute('d'))"
    )


def middle(one) -> tuple[float, float, float]:
    """The middle of a tip, and one unit of its plane, in pixels."""
    plane, box = one.page.locator(".attnbook-plane").first, one.bounding_box()
    wide = float(plane.locator("svg").get_attribute("viewBox").split()[2])
    unit = plane.bounding_box()["width"] * 40 / wide
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, unit


def drag(one, right: float, up: float) -> None:
    """Drag a tip by so many units of the plane, in several steps."""
    one.scroll_into_view_if_needed()
    (x, y, unit), mouse = middle(one), one.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + right * unit / 2, y - up * unit / 2)
    mouse.move(x + right * unit, y - up * unit)
    mouse.up()


def swipe(one, *steps: float) -> None:
    """Drag a tip with a finger, to so many units on its right."""
    (x, y, unit), touch = middle(one), one.page.context.new_cdp_session(one.page)
    for kind, right in (("touchStart", 0), *(("touchMove", step) for step in steps)):
        points = [{"x": x + right * unit, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_dragged_tip_moves_scores_and_weights_and_stops_at_the_edge(show) -> None:
    page = show(scores())
    drag(tip(page, "query"), 1, 2)
    agrees(page, scores(query=[2, 2]))
    drag(tip(page, "cat"), -1, -3)
    agrees(page, scores(query=[2, 2], keys=[[1, -1], [0, 2], [-2, -2]]))
    expect(page.get_by_label("query, number 2")).to_have_value("2")
    expect(page.get_by_label("key cat, number 1")).to_have_value("−2")
    page.get_by_role("button", name="reset").click()
    drag(tip(page, "query"), 9, 0.5)
    agrees(page, scores(query=[3, 0.5]))  # the plane grows when the pointer lets go
    drag(tip(page, "query"), 9, 0)
    agrees(page, scores(query=[4, 0.5]))
    page.mouse.move(10, 10)
    agrees(page, scores(query=[4, 0.5]))


def test_every_arrow_is_reached_by_tab_and_moved_by_keys(explorer) -> None:
    places = {"query": [1.1, 0], "small": [1.1, -1], "black": [0.1, 2], "cat": [-0.9, 1]}
    for name, place in places.items():
        explorer.keyboard.press("Tab")
        explorer.keyboard.press("ArrowRight")
        shown = f"({', '.join(map(markup.plain, place))})"
        label = name if name == "query" else f"key {name}"
        focused = explorer.locator(":focus")
        expect(focused).to_have_attribute("aria-label", f"{label} {shown}")
        outline = "getComputedStyle(document.activeElement.firstChild).outlineWidth"
        assert explorer.evaluate(outline) == "2px"
    agrees(explorer, scores(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-0.9, 1]]))
    keys(explorer, "Shift+ArrowDown", "ArrowUp", "ArrowLeft")
    agrees(explorer, scores(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))
    keys(explorer, "Control+ArrowLeft")
    agrees(explorer, scores(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))


def test_every_number_can_be_typed(show) -> None:
    page = show(widget := learned())
    unfold(page)
    box = page.get_by_label("query, number 1")
    box.press("ArrowUp")  # by a tenth
    expect(box).to_have_value("1.6")
    agrees(page, learned(query=[1.6, 1.0]))
    labels = {"query": ["query"], "v": ["v"], "key": [f"key {name}" for name in NAMES]}
    labels |= {
        w: [f"{w.capitalize()}, row 1", f"{w.capitalize()}, row 2"] for w in ("w", "w_q", "w_k")
    }
    for name, of_rows in labels.items():
        now = np.array(getattr(widget, name), dtype=float)
        rows = np.atleast_2d(now)  # a view of the same numbers
        for (r, c), value in np.ndenumerate(np.add.outer(0.3 * np.arange(1, 4), [0, -0.7, -1.4])):
            if r < len(rows) and c < len(rows[0]):
                rows[r, c] = value
                page.get_by_label(f"{of_rows[r]}, number {c + 1}", exact=True).fill(f"{value:.2f}")
                setattr(widget, name, now.round(2).tolist())
                agrees(page, widget)


def test_the_last_change_and_what_it_moved_are_told_in_words(explorer) -> None:
    best = "Greatest weight by dot: small (0.665); scaled dot: small (0.576)"
    tells(explorer, best)
    tip(explorer, "query").press("ArrowRight")
    tip(explorer, "query").press("ArrowRight")  # one series of keys is one change
    tells(explorer, "query: (1, 0) → (1.2, 0). Greatest weight by dot:")
    was, now = scores().weights[0, 0], scores(query=[1.2, 0]).weights[0, 0]
    words = f"small {markup.fixed(was)} → {markup.fixed(now)}"
    expect(panel(explorer, "dot").locator("p").last).to_have_text(words)
    unfold(explorer)
    explorer.get_by_label("W, row 1, number 2").fill("3")
    tells(explorer, "W, row 1: (1, 0) → (1, 3). Greatest")
    for name in ("dot", "scaled dot", "additive"):
        expect(panel(explorer, name).locator("p").last).to_have_text("No score moved.")
    expect(panel(explorer, "bilinear").locator("p").last).to_contain_text("→")


def test_a_tie_names_every_key_that_is_greatest(show) -> None:
    page = show(scores(query=[0, 0]))
    tells(page, "by dot: small and black and cat (0.333)")
    assert panel(page, "dot").locator(".attnbook-most").count() == 3
    highest = markup.fixed(scores(query=[0, 0]).weights[3].max())
    assert panel(page, "additive").locator(".attnbook-most").all_inner_texts() == [highest]


def test_without_tanh_the_query_moves_every_score_alike_and_no_weight(explorer) -> None:
    explorer.get_by_label("with tanh").uncheck()
    expect(panel(explorer, "additive").locator("span").first).to_have_text("v · (q Wq + k Wk)")
    expect(panel(explorer, "additive").locator("strong")).to_have_text("sum, no tanh")
    tells(explorer, "; sum: ")
    agrees(explorer, scores(tanh=False))
    before, weights = lines(explorer), drawn(explorer, "value")[3]
    drag(tip(explorer, "query"), -3, 2)
    agrees(explorer, scores(query=[-2, 2], tanh=False))
    assert drawn(explorer, "value")[3] == weights
    assert lines(explorer)[3] == before[3]  # the level lines do not see the query either
    expect(panel(explorer, "additive").locator("p").last).to_have_text(
        "All scores moved alike: no weight moved."
    )
    explorer.get_by_label("with tanh").check()
    tells(explorer, "tanh: left out → there.")
    tells(explorer, "; additive: ")
    assert lines(explorer)[3] != before[3]


def test_the_dashed_circles_are_those_of_the_first_query(show) -> None:
    widget = scores(query=[1, 2], tanh=False)
    first, widget.query = widget.weights, [-2, 1]
    dashed = (
        show(widget)
        .locator(".attnbook-tip:not(.attnbook-asks)")
        .evaluate_all("all => all.map((tip) => Number(tip.style.getPropertyValue('--was')))")
    )
    assert np.reshape(dashed, (4, -1)) == pytest.approx(first, abs=1e-4)
    assert np.allclose(first[3], widget.weights[3])  # the blind score's circles fill theirs


def test_each_plane_has_its_own_lines_and_circles_and_a_hand_in_any_moves_all(show) -> None:
    page = show(learned())
    before = lines(page)
    assert before[0] == before[1]  # scaling moves no line
    assert len(set(before)) == 3
    across = page.locator(".attnbook-tip:not(.attnbook-asks) .attnbook-ring").evaluate_all(
        "all => all.map((ring) => ring.getBoundingClientRect().width)"
    )
    # a circle is 8 pixels across, and 20 more for a weight of 1
    assert (np.reshape(across, (4, -1)) - 8) / 20 == pytest.approx(learned().weights, abs=5e-3)
    for plane in page.locator(".attnbook-plane").all()[1:]:
        assert plane.get_attribute("aria-hidden") == "true"
        tips = plane.locator(".attnbook-tip").evaluate_all("all => all.map((tip) => tip.tabIndex)")
        assert set(tips) == {-1}
    drag(page.locator(".attnbook-plane").last.locator(".attnbook-asks").last, -1, 0)
    now = [float(x) - one for x, one in zip(learned().query, (1, 0), strict=True)]
    agrees(page, learned(query=now))
    unfold(page)
    page.get_by_label("query, number 1").fill("0")
    page.get_by_label("query, number 2").fill("0")
    assert lines(page)[:3] == [""] * 3  # every key has the same score


def test_a_matrix_becomes_the_identity(show) -> None:
    page = show(given := learned())
    unfold(page)
    for letter, name in (("W", "w"), ("Wq", "w_q"), ("Wk", "w_k")):
        button(page, f"{letter} = identity").click()
        setattr(given, name, np.eye(*np.shape(getattr(given, name))).tolist())
        agrees(page, given)
        tells(page, "→ (1, 0")


def test_alone_the_scaled_dot_product_has_one_plane_and_no_matrix(show) -> None:
    page = show(widget := scores(alone=True))
    expect(page.locator(".attnbook-plane")).to_have_count(1)
    assert widget.scores.shape == (1, 3)
    agrees(page, widget)
    drag(tip(page, "query"), 1, 2)
    agrees(page, moved := scores(query=[2, 2], alone=True))
    tells(page, f"Greatest weight: black ({moved.weights.max():.3f})")
    assert lines(page) == [""]
    unfold(page)
    assert page.get_by_label(", number").count() == 2 * (1 + len(NAMES))


def test_the_largest_numbers_give_no_nan(show) -> None:
    most_scores = {name: [[10.0] * 4] * 2 for name in ("w_q", "w_k")}
    most_scores |= {"keys": [[4, 4], [-4, -4], [4, -4]], "w": [[10, 10]] * 2}
    page = show(widget := scores(query=[4, 4], v=[10] * 4, **most_scores))
    agrees(page, widget)
    page.get_by_label("with tanh").uncheck()
    assert "NaN" not in page.locator("main").inner_text()


def test_a_finger_drags_a_tip_and_beside_it_scrolls_the_page(show) -> None:
    page = show(scores(), width=390, has_touch=True, is_mobile=True)
    action = "(node) => getComputedStyle(node).touchAction"
    assert tip(page, "query").evaluate(action) == "none"
    assert page.locator(".attnbook-plane").first.evaluate(action) == "auto"
    swipe(tip(page, "query"), 0.5, 1)
    agrees(page, scores(query=[2, 0]))


def test_a_finger_takes_the_nearest_of_two_tips_that_lie_close(show) -> None:
    near = scores(query=[1, 1], keys=[[1.4, 1], [0, 2], [-1, 1]])
    page = show(near, width=390, has_touch=True, is_mobile=True)
    for node in page.locator(".attnbook-plane").first.locator(".attnbook-tip").all():
        box = node.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    swipe(tip(page, "query"), -1)  # the key's lies above it
    agrees(page, scores(query=[0, 1], keys=[[1.4, 1], [0, 2], [-1, 1]]))


def test_planes_and_controls_fit_on_one_screen(show) -> None:
    page = show(scores(keys=[[1, 0], [0, 1], [1, 1], [2, 0]], tokens=[*"abcd"]), width=1280)
    assert page.locator("figure.attnbook").bounding_box()["height"] <= 800
    assert page.locator(".attnbook-plane").first.bounding_box()["width"] >= 190


def test_tips_at_the_edges_stay_within_the_picture(show) -> None:
    keys = [[4, 4], [-4, 4], [-4, -4], [4, -4]]
    names = ["incomprehensible", "b", "c", "unintelligible"]
    page = show(scores(keys=keys, tokens=names), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in page.locator(".attnbook-tip .attnbook-token").all():
        box = name.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_names_are_placed_anew_for_another_width_and_a_late_font(show) -> None:
    def placed(page) -> list[str]:
        settle(page)
        names = page.locator(".attnbook-tip .attnbook-token")
        return names.evaluate_all("all => all.map((name) => name.getAttribute('style'))")

    widget = scores(keys=[[4, 4], [-4, 0]], tokens=["incomprehensible", "unintelligible"])
    narrow = placed(show(widget, width=390))
    page = show(widget, width=1280)
    wide = placed(page)
    assert wide != narrow
    page.set_viewport_size({"width": 390, "height": 800})
    assert placed(page) == narrow
    page.set_viewport_size({"width": 1280, "height": 800})
    assert placed(page) == wide
    page.add_style_tag(content=".attnbook .attnbook-tip .attnbook-token { font-size: 2em }")
    page.evaluate("document.fonts.dispatchEvent(new Event('loadingdone'))")
    assert placed(page) != wide
