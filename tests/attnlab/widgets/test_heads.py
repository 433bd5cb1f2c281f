"""Heads side by side: equal to torch, chosen, enlarged and compared, and said in words."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import torch
from playwright.sync_api import expect
from torch import nn

from attnlab.widgets import AttentionHeatmap, HeadGrid
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import TOKENS, X, normal, three
from tests.attnlab.widgets.pages import cell, fixed, keys, pixel, rows, save, says, settle, unfold


def title(page):
    return page.locator(".attnbook-title")


def small(page, h: int):
    return page.get_by_role("button", name=f"enlarge head {h}", exact=True)


def box(page, h: int):
    return page.get_by_role("checkbox", name=f"head {h}", exact=True)


def table(page) -> dict[str, list[str]]:
    """The table that says the same as the pictures: the cells of each row by its name."""
    unfold(page)
    found = rows(page.locator(".attnbook-twin tbody tr"), "th, td")
    return {name: numbers for name, *numbers in found}


def lanes(page) -> list[list[str]]:
    """The bars of each key, as their texts."""
    found = rows(page.locator(".attnbook-groups > li"), ".attnbook-lane")
    return [[" ".join(bar.split()) for bar in key] for key in found]


def test_weights_are_torchs_a_single_heads_the_heat_maps_and_the_chosen_sorted() -> None:
    alone = HeadGrid(X, tokens=TOKENS)
    assert np.array_equal(alone.weights[0], AttentionHeatmap(X, tokens=TOKENS).weights)
    assert alone.chosen == [0]
    widget = HeadGrid(np.ones((4, 3, 2)), tokens=TOKENS, chosen=[2, -4, 2])
    assert widget.chosen == [0, 2]
    assert widget.head == 0
    widget.chosen = [3, 1, 1]
    assert widget.chosen == [1, 3]
    assert three().chosen == [0, 1]
    assert three(chosen=[]).chosen == []
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 6, 5))
    widget = HeadGrid(query, key, tokens=list("abcd"), key_tokens=list("uvwxyz"))
    scores = torch.tensor(query @ key.swapaxes(1, 2))
    wanted = torch.softmax(scores / 5**0.5, -1).numpy()
    assert widget.weights.shape == (3, 4, 6)
    assert np.allclose(widget.weights, wanted, atol=1e-12)
    widget.scaled, widget.temperature, widget.causal = False, 2.0, True
    later = torch.ones(4, 6).triu(6 - 4 + 1).bool()
    wanted = torch.softmax((scores / 2).masked_fill(later, -torch.inf), -1).numpy()
    assert np.allclose(widget.weights, wanted, atol=1e-12)


def test_the_fallback_of_many_heads_names_each_head_s_largest_weights() -> None:
    rng = np.random.default_rng(3)
    widget = HeadGrid(rng.normal(size=(12, 20, 4)), tokens=[f"w{i}" for i in range(20)])
    html = widget.html().split("</script>")[1]
    assert html.count("<tr>") == 13
    i, j = np.unravel_index(widget.weights[5].argmax(), (20, 20))
    assert f"w{i} → w{j} {widget.weights[5].max():.3f}" in html


def test_mouse_and_keyboard_choose_heads(show) -> None:
    page = show(widget := three(chosen=[]))
    expect(title(page)).to_have_text("no head is chosen: average of all 3 heads")
    box(page, 2).check()
    expect(title(page)).to_have_text("head 2")
    small(page, 0).focus()
    page.keyboard.press("Enter")
    expect(box(page, 0)).to_be_checked()
    expect(title(page)).to_have_text(
        "head 0 and head 2: in each cell a bar for each, in this order"
    )
    page.get_by_label("query").select_option("nuts")
    rows = [fixed(row) for row in zip(*widget.weights[[0, 2], 2], strict=True)]
    assert lanes(page) == [[f"0 {a}", f"2 {b}"] for a, b in rows]
    page.get_by_role("button", name="their average").click()
    mean = fixed(widget.weights[[0, 2], 2].mean(0))
    expect(page.locator(".attnbook-groups > li").first).to_contain_text(f"average {mean[0]}")
    assert lanes(page) == [
        [f"0 {a}", f"2 {b}", f"average {c}"] for (a, b), c in zip(rows, mean, strict=True)
    ]


def test_keys_move_among_the_heads_enlarge_and_choose_them(show) -> None:
    page = show(HeadGrid(normal(12, 3, 4), tokens=TOKENS))
    tops = [small(page, h).bounding_box()["y"] for h in range(12)]
    columns = tops.count(tops[0])
    assert 1 < columns < 12
    small(page, 0).focus()
    ends = [("End", 11), ("ArrowRight", 11), ("Home", 0), ("ArrowLeft", 0), ("ArrowRight", 1)]
    for key, h in [("ArrowDown", columns), ("ArrowUp", 0), *ends]:
        page.keyboard.press(key)
        expect(small(page, h)).to_be_focused()
        expect(title(page)).to_have_text(f"head {h}")
        expect(small(page, h)).to_have_attribute("aria-pressed", "true")
    for key in ("Space", "Enter"):
        keys(page, key)
        expect(box(page, 1)).not_to_be_checked()
        expect(title(page)).to_have_text("head 0")
        keys(page, key)
        expect(box(page, 1)).to_be_checked()
        expect(title(page)).to_contain_text("head 0 and head 1")
        expect(small(page, 1)).to_be_focused()
    page.keyboard.press("Tab")  # the heads are one stop
    expect(page.get_by_role("button", name="one head")).to_be_focused()


def test_a_click_enlarges_a_head_and_the_average_is_that_of_the_chosen_or_of_all(show) -> None:
    page = show(three())
    widget = three()
    small(page, 2).click()
    expect(title(page)).to_have_text("head 2")
    assert list(table(page).values()) == [fixed(row) for row in widget.weights[2]]
    assert [box(page, h).is_checked() for h in range(3)] == [True, True, False]
    page.get_by_role("button", name="the chosen heads").click()
    assert list(table(page).values()) == [
        fixed(widget.weights[h, i]) for i in range(3) for h in (0, 1)
    ]
    assert list(table(page))[:2] == ["had, head 0", "had, head 1"]
    page = show(three())
    weights = three().weights
    page.get_by_role("button", name="their average").click()
    expect(title(page)).to_have_text("average of head 0 and head 1")
    assert list(table(page).values()) == [fixed(row) for row in weights[:2].mean(0)]
    small(page, 0).focus()
    keys(page, "ArrowRight", "ArrowRight", "Space")  # it stays while the keyboard chooses another
    expect(title(page)).to_have_text("average of all 3 heads")
    assert list(table(page).values()) == [fixed(row) for row in weights.mean(0)]
    for h in range(3):
        box(page, h).uncheck()
    assert list(table(page).values()) == [fixed(row) for row in weights.mean(0)]


def test_a_slow_press_on_let_go_is_a_click_and_at_most_six_heads_are_compared(show) -> None:
    """The press takes the focus from the map, which is drawn anew before the release."""
    page = show(three())
    page.get_by_role("application").focus()
    keys(page, "ArrowDown", "ArrowDown", "Enter")
    edge = page.get_by_role("button", name="let go").bounding_box()
    page.mouse.move(edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2)
    page.mouse.down()
    page.evaluate("() => new Promise((done) => setTimeout(done, 150))")
    page.mouse.up()
    expect(page.locator(".attnbook-groups")).to_have_count(0)
    page = show(HeadGrid(normal(8, 3, 4), tokens=TOKENS, chosen=range(6), row=0))
    box(page, 6).click()
    told = "At most 6 heads are compared: let one go first."
    expect(page.get_by_role("alert")).to_have_text(told)
    settle(page)
    expect(box(page, 6)).not_to_be_checked()
    box(page, 5).uncheck()
    expect(page.get_by_role("alert")).to_be_empty()
    box(page, 6).check()
    expect(title(page)).to_contain_text("head 4 and head 6")


def test_the_average_is_what_torch_returns_and_the_heads_are_what_it_averaged(show) -> None:
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(12, 4, batch_first=True, dtype=torch.float64)
    query, key = torch.randn(1, 10, 12).double() * 3, torch.randn(1, 20, 12).double() * 3
    _, average = layer(query, key, key)
    _, each = layer(query, key, key, average_attn_weights=False)
    w_q, w_k, _ = layer.in_proj_weight.chunk(3)
    q, k = ((x[0] @ w.T).view(-1, 4, 3).transpose(0, 1) for x, w in ((query, w_q), (key, w_k)))
    names = [f"k{j}" for j in range(20)]
    widget = HeadGrid(q, k, tokens=[f"q{i}" for i in range(10)], key_tokens=names, row=4)
    assert np.abs(widget.weights - each[0].detach().numpy()).max() < 1e-12
    widget.chosen = []
    page = show(widget)
    rows = table(page)
    wanted = [*each[0, :, 4], average[0, 4]]
    assert list(rows)[:4] == [f"head {h}" for h in range(4)]
    drawn = np.array(list(rows.values()), dtype=float)
    given = torch.stack(wanted).detach().numpy()
    assert np.abs(drawn - given).max() < 6e-4  # 1e-4 of the packing, and three decimals
    assert "average of all 4 heads" in list(rows)[-1]


def test_a_cell_and_the_pinned_row_are_said_for_every_chosen_head(show) -> None:
    page = show(three())
    weights = three().weights
    page.locator(".attnbook-plot canvas").hover(position=cell(page, 2, 1))
    a, b = fixed(weights[:2, 2, 1])
    says(page, f"nuts → bowl: {a} in head 0, {b} in head 1")
    small(page, 2).click()
    page.locator(".attnbook-plot canvas").hover(position=cell(page, 1, 0))
    says(page, f"bowl → had: {fixed([weights[2, 1, 0]])[0]} in head 2 (score 3)")
    page = show(widget := three(row=2))
    said = [f"“{TOKENS[row.argmax()]}” {markup.fixed(row.max())}" for row in widget.weights[:2, 2]]
    says(page, f"“nuts” is pinned; it attends most to {said[0]} in head 0; {said[1]} in head 1.")
    words = page.locator(".attnbook-item p")
    entropy = torch.distributions.Categorical(torch.tensor(widget.weights)).entropy().exp()
    for h in range(3):
        expect(words.nth(h)).to_contain_text(f"{markup.fixed(widget.weights[h, 2].max())}")
    page.get_by_label("query").select_option("none")
    for h in range(3):
        expect(words.nth(h)).to_have_text(f"over {entropy[h].mean():.1f} keys a row")


def test_keys_that_tie_are_named_together_and_an_empty_row_is_no_nan(show) -> None:
    scores = np.array([[[0, 0, 0], [1, 1, 0], [0, 0, 5]]])
    page = show(HeadGrid(scores=scores, tokens=TOKENS, row=0))
    words = page.locator(".attnbook-item p")
    expect(words).to_contain_text("3 keys alike, 0.333 each")
    page.get_by_label("query").select_option("bowl")
    expect(words).to_contain_text("had, bowl 0.422 each")
    mask = np.array([[False] * 3, [True] * 3, [True] * 3])
    page = show(three(mask=mask, row=0))
    says(page, "“had” is pinned; it attends to nothing: every key is masked.")
    assert table(page)["head 0"] == ["masked"] * 3
    page.get_by_label("query").select_option("none")
    assert "NaN" not in page.locator("main").inner_text()
    nothing = show(three(mask=np.zeros((3, 3), bool)))
    expect(nothing.locator(".attnbook-item p").first).to_have_text("nothing: every key is masked")


def test_heads_that_share_a_colour_differ_in_pattern_and_each_bar_bears_its_name(show) -> None:
    x = normal(14, 3, 4)
    page = show(HeadGrid(x, tokens=TOKENS, chosen=[0, 6, 12, 1], row=0, large="average"))
    settle(page)
    drawn = page.locator(".attnbook-groups > li").first.locator(".attnbook-lane")
    looks = drawn.evaluate_all(
        "(nodes) => nodes.map((n) => [n.style.getPropertyValue('--c'), n.dataset.pattern])"
    )
    names = drawn.locator("b").all_inner_texts()
    assert names == ["0", "1", "6", "12", "average"]
    assert looks[0][0] == looks[2][0] == looks[3][0] != looks[1][0]
    assert [looks[place][1] for place in (0, 2, 3)] == ["solid", "hollow", "striped"]
    widths = drawn.evaluate_all(
        "(nodes) => nodes.map((n) => parseFloat(getComputedStyle(n, '::before').width)"
        " / parseFloat(getComputedStyle(n).gridTemplateColumns.split(' ')[1]))"
    )
    weights = HeadGrid(x, tokens=TOKENS).weights[:, 0, 0]
    wanted = [*weights[[0, 1, 6, 12]], weights[[0, 1, 6, 12]].mean()]
    assert np.abs(np.array(widths) - wanted).max() < 0.02


def test_folded_small_maps_bear_the_tokens_and_a_press_on_one_opens_the_large_map(show) -> None:
    page = show(three(folded=True, row=2))
    expect(page.locator(".attnbook-plot")).to_be_hidden()
    assert page.locator(".attnbook-keys").first.locator("span").all_inner_texts() == TOKENS
    assert page.locator(".attnbook-queries").first.locator("span").all_inner_texts() == TOKENS
    page.get_by_label("query").select_option("bowl")
    expect(page.get_by_role("status").first).to_contain_text("“bowl” is pinned")
    small(page, 2).click()
    expect(title(page)).to_have_text("head 2")
    page.locator(".attnbook-plot canvas").hover(position=cell(page, 2, 1))
    expect(page.get_by_role("status").first).to_contain_text("nuts → bowl:")
    expect(page.locator(".attnbook-groups")).to_be_visible()


def test_each_cell_holds_a_bar_for_each_chosen_head(show) -> None:
    scores = np.zeros((2, 3, 3))
    scores[0, :, 0], scores[1, :, 2] = 50, 50  # head 0 sees only the first key, head 1 the last
    page = show(HeadGrid(scores=scores, tokens=TOKENS))

    def colour(j: int, aside: int) -> list[int]:
        place = cell(page, 1, j)
        return pixel(page, place["x"] + aside, place["y"])

    assert colour(0, -12) == [0x1F, 0x4E, 0x8C]  # on the left head 0 …
    assert colour(0, 12) == [255, 255, 255]
    assert colour(2, 12) == [0xA3, 0x4A, 0x00]  # … on the right head 1
    assert colour(2, -12) == [255, 255, 255]
    assert colour(1, -12) == colour(1, 12) == [255, 255, 255]


def test_the_csv_holds_the_table_and_the_svg_a_bar_for_each_weight_that_is_seen(show) -> None:
    page = show(widget := three(row=1, names=["=1+1", "b", "c"]))
    rows = list(csv.reader(io.StringIO(save(page, "CSV").read_text(encoding="utf-8"))))
    assert rows[0] == ["bowl: head", *TOKENS]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "b", "c", "average of =1+1 and b"]
    drawn = np.array([row[1:] for row in rows[1:]], dtype=float)
    wanted = [*widget.weights[:, 1], widget.weights[:2, 1].mean(0)]
    assert np.abs(drawn - wanted).max() < 1e-6
    page = show(three())
    root = ET.fromstring(save(page, "SVG").read_text(encoding="utf-8"))
    rects = root.iter("{http://www.w3.org/2000/svg}rect")
    fills = [rect.get("fill") for rect in rects]
    visible = (three().weights[:2] * 54 >= 0.5).sum((1, 2)).tolist()
    assert [fills.count("rgb(31,78,140)"), fills.count("rgb(163,74,0)")] == visible
