"""The score explorer in a browser: by pointer, by keys and by numbers, it says what Python says."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from attnbook.widgets import ScoreExplorer
from attnbook.widgets.core import markup
from tests.widgets.test_scores import NAMES, made, random

SCORES = ("dot", "scaled dot", "bilinear", "additive")
IDENTITY = [[1, 0], [0, 1]]


def plain_one(**changes) -> ScoreExplorer:
    """Identities everywhere, so that sums are easily followed."""
    eyes = {"w": IDENTITY, "w_q": IDENTITY, "w_k": IDENTITY, "v": [1, 1]}
    return made(**({"query": [1, 0], "keys": [[1, -1], [0, 2], [-1, 1]]} | eyes | changes))


@pytest.fixture
def explorer(show):
    return show(plain_one())


def panel(page, name: str):
    return page.get_by_role("group", name=name, exact=True)


def drawn(page, kind: str) -> list[list[str]]:
    """The scores or the weights ("value") as they stand in the four tables."""
    return [panel(page, name).locator(f".attnbook-{kind}").all_inner_texts() for name in SCORES]


def agrees(page, widget: ScoreExplorer) -> None:
    scores = [[markup.plain(e) for e in row] for row in widget.scores]
    weights = [[markup.fixed(a) for a in row] for row in widget.weights]
    assert drawn(page, "score") == scores
    assert drawn(page, "value") == weights


def tip(page, name: str):
    return page.locator(".attnbook-tip", has=page.get_by_text(name, exact=True))


def lines(page) -> str:
    return page.locator(".attnbook-level").get_attribute("d")


def status(page):
    return page.get_by_role("status")


def drag(page, name: str, right: float, up: float) -> None:
    """Drag a tip by so many units of the plane, in several steps."""
    unit = page.locator(".attnbook-plane").bounding_box()["width"] / 9
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


@pytest.mark.parametrize("via", ["file", "http"])
def test_a_dragged_tip_moves_scores_and_weights_over_http_and_from_a_file(show, via: str) -> None:
    page = show(plain_one(), via=via)
    assert page.url.startswith(via)
    drag(page, "query", 1, 2)
    agrees(page, plain_one(query=[2, 2]))
    drag(page, "cat", -1, -3)
    agrees(page, plain_one(query=[2, 2], keys=[[1, -1], [0, 2], [-2, -2]]))
    expect(page.get_by_label("query, number 2")).to_have_value("2")
    expect(page.get_by_label("key cat, number 1")).to_have_value("−2")


def test_a_tip_stops_at_the_edge_and_lets_go_with_the_pointer(explorer) -> None:
    drag(explorer, "query", 9, 0.5)
    agrees(explorer, plain_one(query=[4, 0.5]))
    explorer.mouse.move(10, 10)
    agrees(explorer, plain_one(query=[4, 0.5]))


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
    agrees(explorer, plain_one(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-0.9, 1]]))
    explorer.keyboard.press("Shift+ArrowDown")
    explorer.keyboard.press("ArrowUp")
    explorer.keyboard.press("ArrowLeft")
    agrees(explorer, plain_one(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))
    explorer.keyboard.press("Control+ArrowLeft")
    agrees(explorer, plain_one(query=[1.1, 0], keys=[[1.1, -1], [0.1, 2], [-1, 0.1]]))


def test_every_number_can_be_typed(show) -> None:
    widget = made()
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
    was, now = plain_one().weights[0, 0], plain_one(query=[1.2, 0]).weights[0, 0]
    words = f"small {markup.fixed(was)} → {markup.fixed(now)}"
    expect(panel(explorer, "dot").locator("p").last).to_have_text(words)
    explorer.locator("summary").click()
    explorer.get_by_label("W, row 1, number 2").fill("3")
    expect(status(explorer)).to_contain_text("W, row 1: (1, 0) → (1, 3). Greatest")
    for name in ("dot", "scaled dot", "additive"):
        expect(panel(explorer, name).locator("p").last).to_have_text("No score moved.")
    expect(panel(explorer, "bilinear").locator("p").last).to_contain_text("→")


def test_a_tie_names_every_key_that_is_greatest(show) -> None:
    page = show(plain_one(query=[0, 0]))
    expect(status(page)).to_contain_text("by dot: small and black and cat (0.333)")
    assert panel(page, "dot").locator(".attnbook-most").count() == 3
    highest = markup.fixed(plain_one(query=[0, 0]).weights[3].max())
    assert panel(page, "additive").locator(".attnbook-most").all_inner_texts() == [highest]


def test_without_tanh_the_query_moves_every_score_alike_and_no_weight(explorer) -> None:
    explorer.get_by_label("additive score without tanh").check()
    expect(panel(explorer, "additive").locator("span").first).to_have_text("v · (q Wq + k Wk)")
    agrees(explorer, plain_one(tanh=False))
    explorer.get_by_role("button", name="additive", exact=True).click()
    before, weights = lines(explorer), drawn(explorer, "value")[3]
    drag(explorer, "query", -3, 2)
    agrees(explorer, plain_one(query=[-2, 2], tanh=False))
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
    given = made()
    page = show(given)
    page.locator("summary").click()
    page.get_by_role("button", name=f"{letter} = identity", exact=True).click()
    rows = getattr(given, name)
    setattr(given, name, [[float(r == c) for c in range(len(row))] for r, row in enumerate(rows)])
    agrees(page, given)
    expect(status(page)).to_contain_text("→ (1, 0")


def test_reset_brings_back_the_first_state_every_time(explorer) -> None:
    explorer.locator("summary").click()
    for _ in range(2):
        drag(explorer, "query", 1, 1)
        explorer.get_by_label("W, row 1, number 1").fill("7")
        explorer.get_by_label("v, number 1").fill("x")
        explorer.get_by_label("additive score without tanh").check()
        explorer.get_by_role("button", name="additive", exact=True).click()
        explorer.get_by_role("button", name="reset").click()
        agrees(explorer, plain_one())
        expect(explorer.get_by_label("v, number 1")).to_have_value("1")
        assert explorer.locator("[aria-invalid]").count() == 0
        expect(explorer.get_by_role("alert")).to_be_empty()
        expect(explorer.get_by_label("additive score without tanh")).not_to_be_checked()
        expect(explorer.locator("[aria-pressed=true]")).to_have_text("dot")
        expect(status(explorer)).not_to_contain_text("→")


@pytest.mark.parametrize("bad", ["", "4.1", "-5", "one", "1e", "NaN"])
def test_bad_input_is_marked_and_the_last_good_number_stays(explorer, bad: str) -> None:
    box = explorer.get_by_label("key black, number 2")
    box.fill(bad)
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(explorer.get_by_role("alert")).to_have_text(
        "key black, number 2: a number from −4 to 4 is wanted; 2 is kept."
    )
    agrees(explorer, plain_one())
    box.press("Tab")
    expect(box).to_have_value("2")
    box.fill("1,5")
    expect(explorer.get_by_role("alert")).to_be_empty()
    agrees(explorer, plain_one(keys=[[1, -1], [0, 1.5], [-1, 1]]))


def test_a_box_moves_by_a_tenth_with_the_arrow_keys(explorer) -> None:
    box = explorer.get_by_label("query, number 1")
    box.press("ArrowUp")
    expect(box).to_have_value("1.1")
    agrees(explorer, plain_one(query=[1.1, 0]))


def test_the_largest_numbers_give_no_nan(show) -> None:
    largest = {name: [[10.0] * 4] * 2 for name in ("w_q", "w_k")}
    keys = [[4, 4], [-4, -4], [4, -4]]
    widget = plain_one(query=[4, 4], keys=keys, w=[[10, 10], [10, 10]], v=[10] * 4, **largest)
    page = show(widget)
    agrees(page, widget)
    page.get_by_label("additive score without tanh").check()
    assert "NaN" not in page.locator("main").inner_text()
