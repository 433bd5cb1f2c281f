"""The block in a page: the browser's numbers are PyTorch's, and every control moves them."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import BlockFlow
from attnbook.widgets.core import markup
from attnbook.widgets.core.chunks import module
from tests.widgets.test_block import (
    NUTS,
    SIZES,
    WAYS,
    block,
    by_torch,
    example,
    made,
    near,
)
from tests.widgets.test_maths import OPEN

RUN = """([given]) => {
  const flow = maths.blockFlow(given);
  const trace = maths.traced(flow, given.vectors, given.token);
  return { outputs: flow.map(({ output }) => output), trace,
    stages: flow[0].stages, weights: flow[0].weights };
}"""


def rows(page) -> list[list[str]]:
    """The stages as they are drawn: formula, numbers, mean, sd and length."""
    items = page.locator(".attnbook-flow li").all()
    found = []
    for item in items:
        _, name, cells, measures = item.locator(":scope > span").all()
        texts = measures.locator(":scope > span").all_text_contents()
        found.append(
            [
                name.inner_text(),
                *cells.locator("span").all_inner_texts(),
                *(text.split()[1] for text in texts),
            ]
        )
    return found


def expected(widget: BlockFlow) -> list[list[str]]:
    found = []
    for name, values in widget.stages.items():
        x = values[widget.token]
        measures = (x.mean(), x.std(), np.linalg.norm(x))
        found.append([name, *(markup.fixed(one, 2) for one in x), *map(markup.fixed, measures)])
    return found


def agrees(page, widget: BlockFlow) -> None:
    """All that is drawn is what Python computes."""
    drawn = [[row[0].partition(" = ")[0].partition(",")[0], *row[1:]] for row in rows(page)]
    assert drawn == expected(widget)
    table = page.locator("table", has_text="attends to").locator("tbody tr").all()
    weights = [[f"{one:.3f}" for one in row] for row in widget.weights[:, widget.token]]
    assert [row.locator("td").all_inner_texts() for row in table] == weights
    length = markup.fixed(widget.trace[-1].length)
    expect(status(page)).to_contain_text(f"has length {length}")


def status(page):
    return page.get_by_role("status").first


def box(page, c: int):
    return page.get_by_label(f"number {c} of x")


def choice(page, name: str):
    return page.locator("label", has=page.get_by_text(name, exact=True)).locator("select")


@pytest.fixture
def nuts(show):
    return show(made(token=2))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_browsers_numbers_are_torchs(show, size: tuple) -> None:
    page = show()
    page.evaluate(OPEN, module("block"))
    one, x = block(size), example(size)
    for norm, residual in WAYS:
        tokens = [str(i) for i in range(len(x))]
        widget = BlockFlow(one, x, tokens, norm=norm, residual=residual, blocks=12, token=-1)
        found = page.evaluate(RUN, [markup.tidy(widget.state())])
        assert near(found["outputs"], by_torch(one, x, norm, residual, 12)[1:])
        assert near(found["weights"], widget.weights)
        for stage, (name, wanted) in zip(found["stages"], widget.stages.items(), strict=True):
            assert stage["name"] == name
            assert near(stage["rows"], wanted)
        for drawn, wanted in zip(found["trace"], widget.trace, strict=True):
            keys = ("length", "sd", "first", "others")
            assert [drawn[key] is None for key in keys] == [one is None for one in wanted]
            assert near([drawn[key] or 0 for key in keys], [one or 0 for one in wanted])


def test_the_browsers_gelu_is_exact(show) -> None:
    from torch import float64, nn, tensor

    page = show()
    page.evaluate(OPEN, module("block"))
    x = np.linspace(-9, 9, 181).tolist()
    drawn = page.evaluate("(x) => x.map(maths.gelu)", x)
    assert np.abs(nn.GELU()(tensor(x, dtype=float64)).numpy() - drawn).max() < 1e-7


def test_stages_weights_and_measures_stand_in_the_page(nuts) -> None:
    agrees(nuts, made(token=2))
    assert [row[0] for row in rows(nuts)] == [
        *("x", "n₁ = norm(x)", "a = attention(n₁)", "s₁ = x + a"),
        *("n₂ = norm(s₁)", "f = FFN(n₂)", "s₂ = s₁ + f"),
    ]
    expect(status(nuts)).to_contain_text("After 1 block, pre-norm, with the sum: nuts has length")
    assert nuts.get_by_role("button", name="next").count() == 0


def test_bars_go_to_the_side_of_their_sign_by_one_scale(nuts) -> None:
    most = max(np.abs(rows[2]).max() for rows in made(token=2).stages.values())
    expect(nuts.locator(".attnbook-note").first).to_contain_text(markup.fixed(most, 2))
    for place, value in enumerate(NUTS[2]):
        cell = nuts.locator(".attnbook-signed").first.locator("span").nth(place)
        ends = cell.evaluate(
            "(n) => ['from', 'to'].map((x) => parseFloat(n.style.getPropertyValue('--' + x)))"
        )
        assert ends == pytest.approx(sorted([50, 50 + 50 * value / most]))


def test_the_switches_move_every_stage_and_the_line_of_the_sum(nuts) -> None:
    for norm, residual in WAYS:
        switched(nuts, norm, residual)


def switched(nuts, norm: str, residual: bool) -> None:
    choice(nuts, "norm").select_option(index=["pre", "post", "none"].index(norm))
    nuts.get_by_label("residual sum").set_checked(residual)
    agrees(nuts, made(token=2, norm=norm, residual=residual))
    marks = nuts.locator(".attnbook-rail b").all_text_contents()
    assert marks.count("+") == (2 if residual else 0)
    # the line leaves at the start of a part, goes round it, and ends in a sum
    around = {"pre": 7, "post": 6, "none": 5}[norm] if residual else 0
    assert nuts.locator(".attnbook-rail svg:has(path + path)").count() == around


def test_every_number_of_every_token_can_be_edited(nuts) -> None:
    widget = made(token=2)
    for token, name in enumerate(widget.tokens):
        choice(nuts, "token").select_option(name)
        widget.token = token
        agrees(nuts, widget)
        for c in range(4):
            box(nuts, c + 1).fill("−3,5")
            x = [list(row) for row in widget.vectors]
            x[token][c] = -3.5
            widget.vectors = x
        box(nuts, 1).press("ArrowUp")
        widget.vectors = [[-3.4, *row[1:]] if i == token else row for i, row in enumerate(x)]
        agrees(nuts, widget)


def test_bad_input_is_marked_and_the_last_good_number_stays(nuts) -> None:
    for bad in ("", "101", "one"):
        box(nuts, 2).fill(bad)
        expect(box(nuts, 2)).to_have_attribute("aria-invalid", "true")
        expect(nuts.get_by_role("alert")).to_have_text(
            "number 2 of x: a number from −100 to 100 is wanted; 2 is kept."
        )
        agrees(nuts, made(token=2))
    box(nuts, 2).press("Tab")
    expect(box(nuts, 2)).to_have_value("2")


def test_several_blocks_are_walked_by_keys_buttons_and_clicks(nuts) -> None:
    choice(nuts, "blocks").select_option("6")
    widget = made(token=2, blocks=6)
    strip = nuts.locator(".attnbook-trace")
    for place, name in enumerate(("length", "sd", "first", "others")):
        wanted = [markup.fixed(getattr(one, name), 2) for one in widget.trace]
        assert strip.locator("tbody tr").nth(place).locator("td").all_inner_texts() == wanted
    expect(nuts.get_by_text("All blocks have the same weights here")).to_be_visible()
    nuts.get_by_role("button", name="next").click()
    widget.shown = 2
    agrees(nuts, widget)
    expect(nuts.get_by_text("x, from block 1")).to_be_visible()
    nuts.keyboard.press("End")
    expect(nuts.get_by_text("stages of block 6 of 6")).to_be_visible()
    strip.locator("thead th").nth(5).click()
    widget.shown = 4
    agrees(nuts, widget)
    choice(nuts, "blocks").select_option("3")
    widget.blocks = 3
    agrees(nuts, widget)
    expect(nuts.get_by_text("stages of block 3 of 3")).to_be_visible()


def test_reset_brings_back_numbers_and_switches(nuts) -> None:
    for _ in range(2):
        box(nuts, 1).fill("7")
        choice(nuts, "norm").select_option(index=1)
        nuts.get_by_label("residual sum").uncheck()
        choice(nuts, "blocks").select_option("5")
        box(nuts, 2).fill("")
        nuts.get_by_role("button", name="reset").click()
        agrees(nuts, made(token=2))
        assert nuts.locator("[aria-invalid]").count() == 0
        expect(box(nuts, 1)).to_have_value("1")


def test_the_table_says_the_same_with_more_decimals(nuts) -> None:
    nuts.locator("summary").click()
    wanted = [
        [markup.fixed(one) for one in (*x[2], x[2].mean(), x[2].std(), np.linalg.norm(x[2]))]
        for x in made(token=2).stages.values()
    ]
    twin = nuts.locator(".attnbook-twin tbody tr").all()
    assert [row.locator("td").all_inner_texts() for row in twin] == wanted


def test_large_and_small_numbers_are_short_and_never_nan(show) -> None:
    page = show(made(norm="none", blocks=12, x=[[100, -100, 3, 1]] * 3, shown=12))
    for norm in range(3):
        for on in (True, False):
            choice(page, "norm").select_option(index=norm)
            page.get_by_label("residual sum").set_checked(on)
            text = page.locator("main").inner_text()
            assert "NaN" not in text
            assert "Infinity" not in text
            assert max(len(one) for row in rows(page) for one in row[1:]) <= 8  # −1.2e100
    for c in range(1, 5):
        box(page, c).fill("0")
    assert "NaN" not in page.locator("main").inner_text()
