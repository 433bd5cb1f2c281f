"""The live drawing: its numbers are torch's, and the page's are Python's."""

import pytest
import torch
from playwright.sync_api import expect

from attnbook.multihead import MultiHeadAttention
from attnlab.pictures import Schematic
from attnlab.pictures.parts import pieces
from attnlab.widgets import DataFlow
from attnlab.widgets.dataflow import sizes as counting
from attnlab.widgets.dataflow.widget import _short
from tests.attnlab.widgets.examples import dataflow
from tests.attnlab.widgets.pages import HIDDEN, alert, button, host, settle, tells, trait, twin

SIZES = [
    {"b": 2, "n": 5, "d_model": 24, "h": 3},
    {"b": 1, "n": 1, "d_model": 8, "h": 1},
    {"b": 3, "n": 12, "d_model": 64, "h": 8},
]


@pytest.mark.parametrize("sizes", SIZES)
def test_parameters_and_shapes_are_those_of_a_real_layer(sizes: dict[str, int]) -> None:
    widget = dataflow()
    widget.sizes = sizes
    module = MultiHeadAttention(sizes["d_model"], sizes["h"]).eval()
    assert widget.parameters == sum(p.numel() for p in module.parameters())
    x, seen = torch.randn(sizes["b"], sizes["n"], sizes["d_model"]), {}
    module.out.register_forward_hook(
        lambda _, given, found: seen.update(merged=given[0].shape, mixed=found.shape)
    )
    module(x)
    query, key, value, _, _ = module._arguments(x, None, None, None, None)
    shapes = {count.label: count.shape for count in widget.counts}
    assert shapes["X"] == x.shape
    assert shapes["split"] == shapes["attend"] == query.shape == key.shape == value.shape
    assert shapes["Y"] == seen["mixed"]
    assert widget.along[-2] == seen["merged"]
    scores = query @ key.mT  # each of its numbers took d_k multiplications, each output's n
    attend = next(count for count in widget.counts if count.label == "attend")
    assert attend.multiplications == 2 * scores.numel() * query.shape[-1]


TEXTS = ["n", "12", "n × d_k", "d_model / h", "4·d_model*(n + 1) − 2", "n − 3 - 2", "((n))"]
TEXTS += ["n × d_model / h / 2", "h ÷ 3", "n / 0", "3 − n", " × ".join(["d_model"] * 6)]


def test_expressions_counts_and_labels_are_alike_in_the_page(maths) -> None:
    known = {"n": 12, "d_model": 512, "h": 8, "d_k": 64}
    trees, wanted = [counting.parse(text) for text in TEXTS], []
    for tree in trees:
        try:
            wanted.append(counting.value(tree, known))
        except ValueError as error:
            wanted.append(str(error))
    code = """([trees, known]) => trees.map((tree) => {
      try { return maths.value(tree, known); } catch (error) { return error.message; } })"""
    assert maths(code, [trees, known], "dataflow") == wanted
    found = maths("(all) => all.map(maths.short)", NUMBERS, "dataflow")
    assert found == list(map(_short, NUMBERS))
    for label in ("W^{Q}_i x", "d_model × d_k", "a_ b", "X X^ᵀ / √d", "plain"):
        found = maths("(label) => maths.pieces(label)", label, "dataflow")
        assert [tuple(part) for part in found] == pieces(label)


def test_expressions_bind_as_in_arithmetic_and_what_cannot_be_read_is_said() -> None:
    known = {"n": 12, "d": 6}
    for text, wanted in [("n + d × 2", 24), ("n − d − 1", 5), ("n / d × 2", 4), ("2·(n + d)", 36)]:
        assert counting.value(counting.parse(text), known) == wanted
    assert [counting.value(one, known) for one in counting.shape_of("(n × 2) × d + 1")] == [24, 7]
    low, high = counting.most(counting.parse("n / d"), {"n": (0, 64), "d": (1, 8)})
    assert (low, high) == (0, 64)

    for text in ("", "n +", "(n", "n)", "n d", "n ** 2", "n × × d", "n.real", "3n"):
        with pytest.raises(ValueError, match="cannot be read as sizes"):
            counting.parse(text)


NUMBERS = [0, 999, 1000, 9_999_999, 10_000_000, 12_582_912, 999_999_999, 10**12, 2**53 - 1]


def drawn(page) -> list[str]:
    settle(page)
    return page.locator("figure svg text").all_text_contents()


def test_the_page_counts_as_python_does(show) -> None:
    widget = dataflow()
    page = host(show(), widget, views=1)
    for sizes in SIZES:
        for name, size in sizes.items():
            page.get_by_label(f"{name} as a number").fill(str(size))
        widget.sizes = trait(page, "sizes")
        assert widget.sizes == sizes
        rows = [
            [shape.replace(",", ""), f"{parameters:,}", f"{multiplications:,}"]
            for _, shape, parameters, multiplications in (
                (label, " × ".join(map(str, shape)), *counts)
                for label, shape, *counts in widget.counts
            )
        ]
        rows.append(["", f"{widget.parameters:,}", f"{widget.multiplications:,}"])
        assert [row[1:] for row in twin(page)] == rows
        texts = drawn(page)
        for shape in widget.along:
            assert not shape or " × ".join(map(str, shape)) in texts


def test_a_drawing_of_heads_that_do_not_divide_of_none_in_letters_and_large(show) -> None:
    page = show(dataflow())
    before = drawn(page)
    page.get_by_label("h as a number").fill("7")
    expect(page.get_by_role("alert").nth(1)).to_have_text(
        "d_k = d_model / h: 512 / 7 is not a whole number. The drawing below is still that of"
        " b = 2, n = 12, d_model = 512 and h = 8."
    )
    expect(page.locator(".attnbook-stale")).to_have_count(1)
    assert drawn(page) == before
    page.get_by_label("d_model as a number").fill("56")
    expect(page.locator(".attnbook-stale")).to_have_count(0)
    expect(page.get_by_role("alert").nth(1)).to_be_empty()
    assert "2 × 7 × 12 × 8" in drawn(page)
    button(page, "reset to the first sizes").click()
    page.get_by_label("n as a number").fill("0")
    tells(page, "Where n is 0, a shape holds no numbers.")
    expect(alert(page)).to_be_empty()
    assert "2 × 0 × 512" in drawn(page)
    page.get_by_label("n as a number").fill("12")
    page.get_by_label("shapes in letters").check()
    assert "b × h × n × dk" in drawn(page)
    large = dataflow()
    large.sizes = {"b": 64, "n": 64, "d_model": 1024, "h": 16}
    page = show(dataflow(), large)
    wide = page.evaluate(
        """() => Array.from(document.querySelectorAll("figure .attnbook-box"), (group) => {
          const frame = group.querySelector("rect").getBoundingClientRect();
          const texts = group.querySelectorAll(
            ".attnbook-label, .attnbook-shape, .attnbook-count");
          return Array.from(texts, (text) => text.getBoundingClientRect().width - frame.width);
        }).flat()"""
    )
    assert max(wide) < -8


def of_lecture(n: int) -> DataFlow:
    """Four columns with counts beneath, as the lectures' layers have them."""
    drawing = Schematic("a layer of attention")
    pairs = {"multiplications": "h × n × n × d"}
    x = drawing.matrix("X", "n × d_model", at=(2, 0))
    soft = drawing.operation("softmax(Q Kᵀ / √d)", "h × n × n", at=(1.5, 3), role="weight", **pairs)
    mixed = drawing.operation("weighted sum of V", "h × n × d", at=(2, 4), **pairs)
    roles = ("query", "key", "value")
    for column, (letter, role) in enumerate(zip("QKV", roles, strict=True), 1):
        w = drawing.learned(f"W^{letter}", "d_model × d_model", at=(column, 1), role=role)
        one = drawing.matrix(letter, "h × n × d", at=(column, 2), role=role)
        drawing.arrow(x, w)
        drawing.arrow(w, one, "n × d_model")
        drawing.arrow(one, mixed if letter == "V" else soft)
    drawing.arrow(soft, mixed)
    for row, step in ((1, "project"), (2, "split"), (3.5, "attend")):
        drawing.text(step, at=(0, row))
    sizes = {"n": (n, 1, 4096), "d_model": (1024, 8, 1024, 8), "h": (16, 1, 64)}
    return DataFlow(drawing, sizes, derived={"d": "d_model / h"})


# of each text in a box: its letters' least size as it is seen, and what is free beside it
LETTERS = """(view) => Array.from(view.querySelectorAll("svg text, svg tspan"), (text) => {
  const svg = text.ownerSVGElement;
  const shown = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const box = text.closest(".attnbook-box")?.querySelector("rect")?.getBoundingClientRect();
  const wide = text.getBoundingClientRect().width;
  const free = box && !text.matches(".attnbook-badge, tspan") ? box.width - wide : 9;
  return [parseFloat(getComputedStyle(text).fontSize) * shown, free];
})"""


def test_on_a_phone_a_drawing_is_narrow_enough_its_letters_large_enough_and_no_box_too_small(
    show,
) -> None:
    large = dataflow()
    large.sizes = {"b": 64, "n": 64, "d_model": 1024, "h": 16}
    page = show(large, of_lecture(4096), width=390, has_touch=True, is_mobile=True)
    for view in page.locator("figure").all():
        for letters in (False, True):
            view.get_by_label("shapes in letters").set_checked(letters)
            settle(page)
            assert view.evaluate(HIDDEN) <= 0.25
            sizes, free = zip(*view.evaluate(LETTERS), strict=True)
            assert min(sizes) >= 10
            assert min(free) >= 3
        heights = view.locator("svg [role=button]").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().height)"
        )
        assert min(heights) >= 44
    page.locator(".attnbook-box[role=button]").first.press("Enter")
    page.set_viewport_size({"width": 844, "height": 390})  # a phone that is turned
    first, width = page.locator("svg[role=group]").first, large.picture["width"]
    expect(first).to_have_attribute("width", str(width))
    expect(page.locator(".attnbook-box[aria-pressed=true]")).to_have_count(1)


def test_boxes_are_one_stop_arrow_keys_go_to_each_and_it_opens_and_closes(show) -> None:
    page = show(dataflow())
    box = page.get_by_role("button", name="X, 2 × 12 × 512")
    for key in ("Enter", " "):
        box.press(key)
        expect(box).to_have_attribute("aria-pressed", "true")
        panel = page.locator(".attnbook-opened")
        expect(panel).to_contain_text("shape: b × n × dmodel = 2 × 12 × 512")
        expect(panel).to_contain_text("One row for each token.")
        expect(panel.locator("td")).to_have_text(["−1.5", "0.25"])
        box.press(key)
        expect(panel).to_be_empty()
    boxes = page.locator("svg [role=button]")
    labels = boxes.evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert len(labels) > 3
    assert page.locator("svg [tabindex='0']").count() == 1
    boxes.first.focus()
    for label in labels[1:]:
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.ariaLabel") == label
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.ariaLabel") == labels[-2]
    page.keyboard.press("Enter")
    expect(page.locator(".attnbook-opened")).not_to_be_empty()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == labels[-2]


def test_a_size_that_stays_and_a_bias_are_counted_and_what_gives_no_number_is_named() -> None:
    drawing = Schematic("a layer")
    drawing.learned("W", "d × m", at=(0, 0), parameters="d × m + m")
    drawing.learned("b", "m", at=(1, 0))
    widget = DataFlow(drawing, {"d": (4, 1, 9)}, derived={"m": 3})
    assert [count.parameters for count in widget.counts] == [15, 3]
    assert widget.all_sizes == {"d": 4, "m": 3}
    assert widget.multiplications == 0
    widget = dataflow()
    widget.sizes = {**widget.sizes, "h": 7}
    with pytest.raises(ValueError, match="512 / 7 is not a whole number"):
        _ = widget.counts


def test_what_stands_several_times_is_counted_as_often_in_the_sums_alone(maths) -> None:
    drawing = Schematic("two frames, one in the other")
    boxes = [drawing.learned(name, "d × d", at=(0, row)) for row, name in enumerate("abc")]
    drawing.frame("inner", boxes[0], times="h")
    drawing.frame("outer", *boxes[:2], times="layers")
    widget = DataFlow(drawing, {"d": (4, 1, 9), "h": (2, 1, 9), "layers": (3, 0, 9)})
    assert [count.parameters for count in widget.counts] == [16, 16, 16]
    code = "([picture, sizes]) => maths.worked(picture, [], sizes).parameters"
    for layers, wanted in ((3, 6 * 16 + 3 * 16 + 16), (0, 16)):
        widget.sizes = {**widget.sizes, "layers": layers}
        assert widget.parameters == wanted
        assert maths(code, [widget.picture, widget.sizes], "dataflow") == wanted
    assert "b, one of layers" in widget._fallback()
    drawing.frame("lost", boxes[2], times="blocks")
    with pytest.raises(ValueError, match="times of 'c' asks for blocks"):
        DataFlow(drawing, {"d": (4, 1, 9), "h": (2, 1, 9), "layers": (3, 0, 9)})
