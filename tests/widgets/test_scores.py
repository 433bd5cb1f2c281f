"""The four scores: the package's in PyTorch, by pointer, by keys and by numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnbook.scores import Additive, Bilinear, dot, scaled_dot
from attnbook.widgets import ScoreExplorer
from attnbook.widgets.core import markup
from tests.widgets.examples import NAMES, learned, most_scores, scores
from tests.widgets.pages import rows, status


def by_torch(query, keys, *, w, w_q, w_k, v) -> torch.Tensor:
    """The four scores by attnbook.scores, in float64, of shape (4, n)."""
    q, k, w, w_q, w_k, v = (
        torch.tensor(np.array(x, dtype=float)) for x in ([query], keys, w, w_q, w_k, v)
    )
    bilinear, additive = Bilinear(2, 2).double(), Additive(2, 2, len(v)).double()
    with torch.no_grad():
        bilinear.key.weight.copy_(w)
        additive.query.weight.copy_(w_q.T)
        additive.key.weight.copy_(w_k.T)
        additive.energy.weight.copy_(v[None])
        return torch.cat([score(q, k) for score in (dot, scaled_dot, bilinear, additive)])


def random(seed: int) -> dict:
    """A query, keys and learned numbers of any shape that is allowed, 8 decimals at most."""
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    shapes = {"query": (2,), "keys": (n, 2), "w": (2, 2), "w_q": (2, h), "w_k": (2, h), "v": (h,)}
    return {name: rng.uniform(-4, 4, size).round(8) for name, size in shapes.items()}


def test_scores_and_weights_are_those_of_the_package_in_any_shape() -> None:
    for seed in range(20):
        given = random(seed)
        widget = ScoreExplorer(tokens=[str(j) for j in range(len(given["keys"]))], **given)
        wanted = by_torch(given.pop("query"), given.pop("keys"), **given)
        assert widget.scores.shape == wanted.shape
        assert np.allclose(widget.scores, wanted.numpy(), rtol=0, atol=1e-12)
        assert np.allclose(widget.weights, wanted.softmax(-1).numpy(), rtol=0, atol=1e-12)


def test_without_tanh_the_query_moves_no_weight_and_with_it_it_does() -> None:
    for tanh in (False, True):
        one, other = (learned(query=query, tanh=tanh) for query in ([1.5, 1], [-3, 4]))
        moved = abs(one.weights - other.weights).max(axis=1)
        assert moved[:3].min() > 0.1
        assert moved[3] < 1e-12 if not tanh else moved[3] > 0.1
        assert abs(one.scores - other.scores)[3].max() > 0.1


def test_scores_follow_the_traits() -> None:
    widget = learned()
    widget.query = [0, 0]
    assert not widget.scores[:3].any()
    widget.key = [[4, 4], [0, 0], [-4, -4]]
    widget.query = [1, 0]
    assert widget.scores[0].tolist() == [4, 0, -4]
    widget.w = [[2, 0], [0, 2]]
    assert widget.scores[2].tolist() == [8, 0, -8]
    widget.v = [0, 0, 0]
    assert widget.weights[3] == pytest.approx([1 / 3] * 3)


def test_the_fallback_shows_every_number() -> None:
    widget = learned(tanh=False)
    html = widget.html().split("</script>")[1]
    for value in widget.scores.ravel():
        assert f"<td>{markup.plain(value)}</td>" in html
    for value in widget.weights.ravel():
        assert f">{markup.fixed(value)}</td>" in html
    for words in ("The query q is (1.5, 1)", "W with the rows (0, 1), (1, 0)", "the tanh left out"):
        assert words in html
    assert "left out" not in learned().html()


def test_the_number_of_keys_and_the_chosen_score_stay_within_bounds() -> None:
    widget = learned(chosen=-1)
    assert widget.chosen == 3
    with pytest.raises(ValueError, match=r"key must keep its shape \(3, 2\), got shape \(2, 2\)"):
        widget.key = [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="chosen"):
        widget.chosen = 7


SCORES = ("dot", "scaled dot", "bilinear", "additive")


@pytest.fixture
def explorer(show):
    return show(scores())


def panel(page, name: str):
    return page.get_by_role("group", name=name, exact=True)


def drawn(page, kind: str) -> list[list[str]]:
    """The scores or the weights ("value") as they stand in the four tables."""
    return rows(page.locator(".attnbook-four > *"), f".attnbook-{kind}")


def agrees(page, widget: ScoreExplorer) -> None:
    energies = [[markup.plain(e) for e in row] for row in widget.scores]
    weights = [[markup.fixed(a) for a in row] for row in widget.weights]
    assert drawn(page, "score") == energies
    assert drawn(page, "value") == weights


def tip(page, name: str):
    return page.locator(".attnbook-tip", has=page.get_by_text(name, exact=True))


def lines(page) -> str:
    return page.locator(".attnbook-level").get_attribute("d")


def unit_of(page) -> float:
    """One unit of the plane in pixels."""
    plane = page.locator(".attnbook-plane")
    wide = float(plane.locator("svg").get_attribute("viewBox").split()[2])
    return plane.bounding_box()["width"] * 40 / wide


def drag(page, name: str, right: float, up: float) -> None:
    """Drag a tip by so many units of the plane, in several steps."""
    unit = unit_of(page)
    box = tip(page, name).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right * unit / 2, y - up * unit / 2)
    page.mouse.move(x + right * unit, y - up * unit)
    page.mouse.up()


def test_the_numbers_are_those_of_python_in_every_shape(show) -> None:
    for seed in range(6):
        given = random(seed)
        widget = ScoreExplorer(
            tokens=[f"k{j}" for j in range(len(given["keys"]))], tanh=bool(seed % 2), **given
        )
        agrees(show(widget), widget)


def test_a_dragged_tip_moves_scores_and_weights(show) -> None:
    page = show(scores())
    drag(page, "query", 1, 2)
    agrees(page, scores(query=[2, 2]))
    drag(page, "cat", -1, -3)
    agrees(page, scores(query=[2, 2], keys=[[1, -1], [0, 2], [-2, -2]]))
    expect(page.get_by_label("query, number 2")).to_have_value("2")
    expect(page.get_by_label("key cat, number 1")).to_have_value("−2")


def test_a_tip_stops_at_the_edge_and_lets_go_with_the_pointer(explorer) -> None:
    drag(explorer, "query", 9, 0.5)
    agrees(explorer, scores(query=[3, 0.5]))  # the plane grows when the pointer lets go
    drag(explorer, "query", 9, 0)
    agrees(explorer, scores(query=[4, 0.5]))
    explorer.mouse.move(10, 10)
    agrees(explorer, scores(query=[4, 0.5]))


def test_every_arrow_is_reached_by_tab_and_moved_by_keys(explorer) -> None:
    explorer.get_by_role("button", name="reset").focus()
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
    explorer.keyboard.press("Shift+ArrowDown")
    explorer.keyboard.press("ArrowUp")
    explorer.keyboard.press("ArrowLeft")
    agrees(explorer, scores(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))
    explorer.keyboard.press("Control+ArrowLeft")
    agrees(explorer, scores(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))


def test_every_number_can_be_typed(show) -> None:
    widget = learned()
    page = show(widget)
    page.locator("summary").click()
    rows = {"query": ["query"], "v": ["v"], "key": [f"key {name}" for name in NAMES]}
    for name, label in (("w", "W"), ("w_q", "W_q"), ("w_k", "W_k")):
        rows[name] = [f"{label}, row 1", f"{label}, row 2"]
    for name, labels in rows.items():
        for r, label in enumerate(labels):
            now = getattr(widget, name)
            for c in range(len(now[r]) if isinstance(now[0], list) else len(now)):
                value = round(0.3 * (r + 1) - 0.7 * c, 2)
                page.get_by_label(f"{label}, number {c + 1}", exact=True).fill(str(value))
                changed = [list(row) if isinstance(row, list) else row for row in now]
                if isinstance(now[0], list):
                    changed[r][c] = value
                else:
                    changed[c] = value
                setattr(widget, name, changed)
                now = changed
                agrees(page, widget)


def test_the_last_change_and_what_it_moved_are_told_in_words(explorer) -> None:
    best = "Greatest weight by dot: small (0.665); scaled dot: small (0.576)"
    expect(status(explorer)).to_contain_text(best)
    tip(explorer, "query").press("ArrowRight")
    tip(explorer, "query").press("ArrowRight")  # one series of keys is one change
    expect(status(explorer)).to_contain_text("query: (1, 0) → (1.2, 0). Greatest weight by dot:")
    was, now = scores().weights[0, 0], scores(query=[1.2, 0]).weights[0, 0]
    words = f"small {markup.fixed(was)} → {markup.fixed(now)}"
    expect(panel(explorer, "dot").locator("p").last).to_have_text(words)
    explorer.locator("summary").click()
    explorer.get_by_label("W, row 1, number 2").fill("3")
    expect(status(explorer)).to_contain_text("W, row 1: (1, 0) → (1, 3). Greatest")
    for name in ("dot", "scaled dot", "additive"):
        expect(panel(explorer, name).locator("p").last).to_have_text("No score moved.")
    expect(panel(explorer, "bilinear").locator("p").last).to_contain_text("→")


def test_a_tie_names_every_key_that_is_greatest(show) -> None:
    page = show(scores(query=[0, 0]))
    expect(status(page)).to_contain_text("by dot: small and black and cat (0.333)")
    assert panel(page, "dot").locator(".attnbook-most").count() == 3
    highest = markup.fixed(scores(query=[0, 0]).weights[3].max())
    assert panel(page, "additive").locator(".attnbook-most").all_inner_texts() == [highest]


def test_without_tanh_the_query_moves_every_score_alike_and_no_weight(explorer) -> None:
    explorer.get_by_label("additive score without tanh").check()
    expect(panel(explorer, "additive").locator("span").first).to_have_text("v · (q Wq + k Wk)")
    agrees(explorer, scores(tanh=False))
    explorer.get_by_role("button", name="additive", exact=True).click()
    before, weights = lines(explorer), drawn(explorer, "value")[3]
    drag(explorer, "query", -3, 2)
    agrees(explorer, scores(query=[-2, 2], tanh=False))
    assert drawn(explorer, "value")[3] == weights
    assert lines(explorer) == before  # the level lines do not see the query either
    expect(panel(explorer, "additive").locator("p").last).to_have_text(
        "All scores moved alike: no weight moved."
    )
    explorer.get_by_label("additive score without tanh").uncheck()
    expect(status(explorer)).to_contain_text("tanh: left out → there.")
    assert lines(explorer) != before


def test_another_score_draws_its_own_lines(explorer) -> None:
    seen = set()
    for name in SCORES:
        explorer.get_by_role("button", name=name, exact=True).click()
        pressed = explorer.locator("[aria-pressed=true]")
        expect(pressed).to_have_text(name)
        expect(explorer.get_by_text(f"The thin lines belong to the {name} score")).to_be_visible()
        seen.add(lines(explorer))
    assert len(seen) == 2  # dot, scaled dot and the identity's bilinear share theirs
    explorer.get_by_label("query, number 1").fill("0")
    explorer.get_by_role("button", name="dot", exact=True).click()
    assert lines(explorer) == ""  # every key has the same score


@pytest.mark.parametrize(("letter", "name"), [("W", "w"), ("Wq", "w_q"), ("Wk", "w_k")])
def test_a_matrix_becomes_the_identity(show, letter: str, name: str) -> None:
    given = learned()
    page = show(given)
    page.locator("summary").click()
    page.get_by_role("button", name=f"{letter} = identity", exact=True).click()
    rows = getattr(given, name)
    setattr(given, name, [[float(r == c) for c in range(len(row))] for r, row in enumerate(rows)])
    agrees(page, given)
    expect(status(page)).to_contain_text("→ (1, 0")


def test_a_box_moves_by_a_tenth_with_the_arrow_keys(explorer) -> None:
    box = explorer.get_by_label("query, number 1")
    box.press("ArrowUp")
    expect(box).to_have_value("1.1")
    agrees(explorer, scores(query=[1.1, 0]))


def test_the_largest_numbers_give_no_nan(show) -> None:
    most_scores = {name: [[10.0] * 4] * 2 for name in ("w_q", "w_k")}
    keys = [[4, 4], [-4, -4], [4, -4]]
    widget = scores(query=[4, 4], keys=keys, w=[[10, 10], [10, 10]], v=[10] * 4, **most_scores)
    page = show(widget)
    agrees(page, widget)
    page.get_by_label("additive score without tanh").check()
    assert "NaN" not in page.locator("main").inner_text()


def test_a_phone_shows_the_scores_two_by_two_and_no_page_scrolls(show) -> None:
    page = show(most_scores(), width=390, has_touch=True, is_mobile=True)
    page.locator("summary").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [box.bounding_box()["y"] for box in page.locator(".attnbook-four > *").all()]
    assert tops[0] == tops[1] < tops[2] == tops[3]
    small = """() => [...document.querySelectorAll('figure button, figure input, summary')]
      .filter((node) => node.type !== 'checkbox' && node.getBoundingClientRect().height)
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(small) == 0


def test_a_finger_drags_a_tip_and_beside_it_scrolls_the_page(show) -> None:
    page = show(scores(), width=390, has_touch=True, is_mobile=True)
    action = "(node) => getComputedStyle(node).touchAction"
    assert tip(page, "query").evaluate(action) == "none"
    assert page.locator(".attnbook-plane").evaluate(action) == "auto"
    box = tip(page, "query").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    unit = unit_of(page)
    touch = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", x), ("touchMove", x + unit / 2), ("touchMove", x + unit)):
        points = [{"x": at, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    agrees(page, scores(query=[2, 0]))


def test_tips_at_the_edges_stay_within_the_picture(show) -> None:
    keys = [[4, 4], [-4, 4], [-4, -4], [4, -4]]
    names = ["incomprehensible", "b", "c", "unintelligible"]
    page = show(scores(keys=keys, tokens=names), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in page.locator(".attnbook-tip .attnbook-token").all():
        box = name.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_python_moves_the_view(host) -> None:
    widget = scores()
    page = host(widget, views=1)
    widget.query, widget.tanh = [0.5, -2], False
    page.evaluate("() => { model.set('query', [0.5, -2]); model.set('tanh', false); }")
    agrees(page, widget)
    assert page.evaluate("saves") == 0
    expect(status(page)).not_to_contain_text("→")
    drag(page, "query", 1, 1)
    widget.query = [1.5, -1]
    agrees(page, widget)
