"""The block: PyTorch's numbers in Python and in the page, and every control moves them."""

import itertools

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor

from attnbook.layers import Config, EncoderBlock
from attnlab.widgets import BlockFlow
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import (
    NUTS,
    SIZES,
    block,
    box_named,
    flow,
    largest_flow,
    unfolded,
    vectors,
)
from tests.attnlab.widgets.pages import rows, settle, table_of, tells, twin

WAYS = list(itertools.product(["pre", "post", "none"], [True, False]))


@torch.no_grad()
def by_torch(one: EncoderBlock, x: list, norm: str, residual: bool, blocks: int) -> np.ndarray:
    """The vectors after each block, x first, from the block's own parts."""

    def apply(part, layer_norm, x: Tensor) -> Tensor:
        added = part(layer_norm(x) if norm == "pre" else x)
        total = x + added if residual else added
        return layer_norm(total) if norm == "post" else total

    found = [torch.tensor([x], dtype=torch.float64)]
    for _ in range(blocks):
        after = apply(one.attention, one.norms[0], found[-1])
        found.append(apply(one.feed_forward, one.norms[1], after))
    return torch.cat(found).numpy()


def near(here: np.ndarray, wanted: np.ndarray, atol: float = 1e-6) -> bool:
    """Whether numbers agree, of their own size where they are large."""
    return bool((np.abs(np.array(here) - wanted) <= atol * np.maximum(1, np.abs(wanted))).all())


def test_weights_are_the_blocks_stages_follow_their_formulas_and_nothing_has_no_cosine() -> None:
    one = block(SIZES[1])
    x = torch.tensor([vectors(SIZES[1])], dtype=torch.float64)
    widget = BlockFlow(one, x[0], list("abcdef"), blocks=2, shown=2)
    with torch.no_grad():
        wanted = one.attention.weights(one.norms[0](one(x)))[0].numpy()
    assert np.abs(widget.weights - wanted).max() < 1e-9
    found = flow().stages
    assert list(found) == ["x", "n₁", "a", "s₁", "n₂", "f", "s₂"]
    assert np.allclose(found["s₁"], found["x"] + found["a"])
    assert np.allclose(found["s₂"], found["s₁"] + found["f"])
    assert list(flow(norm="post").stages) == ["x", "a", "s₁", "n₁", "f", "s₂", "n₂"]
    assert list(flow(norm="none").stages) == ["x", "a", "s₁", "f", "s₂"]
    assert list(flow(residual=False).stages) == ["x", "n₁", "a", "n₂", "f"]
    assert flow(x=np.zeros((3, 4))).trace[0][2:] == (None, None)
    alone = flow(x=NUTS[:1], tokens=["had"])
    assert alone.trace[1].others is None
    assert alone.trace[1].first is not None
    assert "–" in alone.html()


@pytest.mark.parametrize("seed", range(4))
def test_without_the_sum_the_first_vector_is_forgotten_and_tokens_become_alike(seed: int) -> None:
    torch.manual_seed(seed)
    one = EncoderBlock(Config(4, 2, 8))
    with_sum, without = (flow(block=one, blocks=6, residual=on).trace for on in (True, False))
    assert with_sum[0] == without[0]
    assert with_sum[0][:3] == pytest.approx((np.linalg.norm(NUTS[0]), np.std(NUTS[0]), 1.0))
    assert with_sum[1].first > 0.8 > without[1].first
    assert without[6].others > 0.9999 > 0.99 > with_sum[6].others
    edited = flow(block=one, blocks=6, residual=False, x=[[100, -100, 0, 50], *NUTS[1:]])
    assert edited.trace[6].length == pytest.approx(without[6].length, abs=0.01)


RUN = """([given]) => {
  const flow = maths.blockFlow(given);
  const trace = maths.traced(flow, given.vectors, given.token);
  return { outputs: flow.map(({ output }) => output), trace,
    stages: flow[0].stages, weights: flow[0].weights };
}"""

STAGES = """(items) => items.map((item) => {
  const [, name, cells, measures] = item.querySelectorAll(":scope > span");
  const numbers = Array.from(cells.querySelectorAll("span"), (one) => one.innerText);
  const all = Array.from(measures.querySelectorAll(":scope > span"), (one) => one.textContent);
  return [name.innerText, ...numbers, ...all.map((text) => text.trim().split(/\\s+/)[1])];
})"""


def stages(page) -> list[list[str]]:
    """The stages as they are drawn: formula, numbers, mean, sd and length."""
    settle(page)
    return page.locator(".attnbook-flow li").evaluate_all(STAGES)


def expected(widget: BlockFlow) -> list[list[str]]:
    found = []
    for name, values in widget.stages.items():
        x = values[widget.token]
        measures = (x.mean(), x.std(), np.linalg.norm(x))
        found.append([name, *(markup.fixed(one, 2) for one in x), *map(markup.fixed, measures)])
    return found


def agrees(page, widget: BlockFlow) -> None:
    """All that is drawn is what Python computes."""
    drawn = [[row[0].partition(" = ")[0].partition(",")[0], *row[1:]] for row in stages(page)]
    assert drawn == expected(widget)
    table = page.locator("table", has_text="attends to").locator("tbody tr")
    assert rows(table) == table_of(widget.weights[:, widget.token])
    length = markup.fixed(widget.trace[-1].length)
    tells(page, f"has length {length}")


def choice(page, name: str):
    label = page.locator("label", has=page.get_by_text(name, exact=True))
    return unfolded(label.locator("select"))


@pytest.fixture
def nuts(show):
    return show(flow(token=2))


def test_the_browsers_gelu_is_exact(maths) -> None:
    x = torch.linspace(-9, 9, 181, dtype=torch.float64)
    drawn = maths("(x) => x.map(maths.gelu)", x.tolist(), "block")
    assert np.abs(torch.nn.functional.gelu(x).numpy() - drawn).max() < 1e-12


def test_stages_weights_bars_and_measures_stand_in_the_page_and_its_table(nuts) -> None:
    agrees(nuts, flow(token=2))
    assert [row[0] for row in stages(nuts)] == [
        *("x", "n₁ = norm(x)", "a = attention(n₁)", "s₁ = x + a"),
        *("n₂ = norm(s₁)", "f = FFN(n₂)", "s₂ = s₁ + f"),
    ]
    tells(nuts, "After 1 block, pre-norm, with the sum: “nuts” has length")
    assert nuts.get_by_role("button", name="next").count() == 0
    most = max(np.abs(rows[2]).max() for rows in flow(token=2).stages.values())
    expect(nuts.locator(".attnbook-note").first).to_contain_text(markup.fixed(most, 2))
    for place, value in enumerate(NUTS[2]):
        cell = nuts.locator(".attnbook-signed").first.locator("span").nth(place)
        ends = cell.evaluate(
            "(n) => ['from', 'to'].map((x) => parseFloat(n.style.getPropertyValue('--' + x)))"
        )
        assert ends == pytest.approx(sorted([50, 50 + 50 * value / most]))
    wanted = [
        [markup.fixed(one) for one in (*x[2], x[2].mean(), x[2].std(), np.linalg.norm(x[2]))]
        for x in flow(token=2).stages.values()
    ]
    assert twin(nuts) == wanted  # the same with more decimals


def test_the_switches_move_every_stage_and_the_line_of_the_sum(nuts) -> None:
    for norm, residual in WAYS:
        choice(nuts, "norm").select_option(index=["pre", "post", "none"].index(norm))
        nuts.get_by_label("residual sum").set_checked(residual)
        agrees(nuts, flow(token=2, norm=norm, residual=residual))
        marks = nuts.locator(".attnbook-rail b").all_text_contents()
        assert marks.count("+") == (2 if residual else 0)
        # the line leaves at the start of a part, goes round it, and ends in a sum
        around = {"pre": 7, "post": 6, "none": 5}[norm] if residual else 0
        assert nuts.locator(".attnbook-rail svg:has(path + path)").count() == around


def test_every_number_of_every_token_can_be_edited(nuts) -> None:
    widget = flow(token=2)
    for token, name in enumerate(widget.tokens):
        choice(nuts, "token").select_option(name)
        widget.token = token
        agrees(nuts, widget)
        for c in range(4):
            box_named(nuts, f"number {c + 1} of x").fill("−3,5")
            x = [list(row) for row in widget.vectors]
            x[token][c] = -3.5
            widget.vectors = x
        box_named(nuts, "number 1 of x").press("ArrowUp")
        widget.vectors = [[-3.4, *row[1:]] if i == token else row for i, row in enumerate(x)]
        agrees(nuts, widget)


def test_several_blocks_are_walked_by_keys_buttons_and_clicks(nuts) -> None:
    choice(nuts, "blocks").select_option("6")
    widget = flow(token=2, blocks=6)
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


def test_large_and_small_numbers_are_short_and_never_nan_and_a_phone_breaks_none(show) -> None:
    page = show(flow(norm="none", blocks=12, x=[[100, -100, 3, 1]] * 3, shown=12))
    for norm in range(3):
        for on in (True, False):
            choice(page, "norm").select_option(index=norm)
            page.get_by_label("residual sum").set_checked(on)
            text = page.locator("main").inner_text()
            assert "NaN" not in text
            assert "Infinity" not in text
            assert max(len(one) for row in stages(page) for one in row[1:]) <= 8  # −1.2e100
    for c in range(1, 5):
        box_named(page, f"number {c} of x").fill("0")
    assert "NaN" not in page.locator("main").inner_text()
    page = show(flow(), largest_flow(), width=390, has_touch=True, is_mobile=True)
    now = page.locator(".attnbook-trace .attnbook-now").last.bounding_box()
    assert now["x"] + now["width"] <= 390
    cells = page.locator(".attnbook-cells > span").all()
    assert all(one.bounding_box()["height"] < 30 for one in cells)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_numbers_of_python_and_of_the_browser_are_torchs(maths, size: tuple) -> None:
    one, x = block(size), vectors(size)
    for norm, residual in WAYS:
        tokens = [str(i) for i in range(len(x))]
        widget = BlockFlow(one, x, tokens, norm=norm, residual=residual, blocks=12, token=-1)
        found, wanted = maths(RUN, [markup.tidy(widget.state())], "block"), widget.outputs
        assert near(wanted, by_torch(one, x, norm, residual, 12))
        if residual and norm != "none":  # the reference is right
            real = block(size, norm=norm)
            twice = real(real(torch.tensor([x], dtype=torch.float64)))[0].detach().numpy()
            assert np.abs(wanted[2] - twice).max() < 1e-9
        assert near(found["outputs"], wanted[1:])
        assert near(found["weights"], widget.weights)
        for stage, (name, wanted) in zip(found["stages"], widget.stages.items(), strict=True):
            assert stage["name"] == name
            assert near(stage["rows"], wanted)
        for drawn, wanted in zip(found["trace"], widget.trace, strict=True):
            keys = ("length", "sd", "first", "others")
            assert [drawn[key] is None for key in keys] == [one is None for one in wanted]
            assert near([drawn[key] or 0 for key in keys], [one or 0 for one in wanted])
