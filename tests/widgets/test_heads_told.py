"""What the heads' pictures say: in numbers, in words, in colours, in files and on paper."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from attnbook.widgets import HeadGrid
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, settle
from tests.widgets.heads import KEY, QUERY, cell, fixed, small, status, table, three

EVIL = "<img src=x onerror=alert(1)>"


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


def test_a_cell_is_said_for_every_chosen_head_and_their_average(show) -> None:
    page = show(three())
    weights = three().weights
    page.locator(".attnbook-plot canvas").hover(position=cell(page, 2, 1))
    a, b, c = fixed([weights[0, 2, 1], weights[1, 2, 1], weights[:2].mean(0)[2, 1]])
    expect(status(page)).to_have_text(
        f"nuts → bowl: {a} in head 0, {b} in head 1, {c} in their average"
    )
    small(page, 2).click()
    page.locator(".attnbook-plot canvas").hover(position=cell(page, 1, 0))
    expect(status(page)).to_have_text(
        f"bowl → had: {fixed([weights[2, 1, 0]])[0]} in head 2 (score 3)"
    )


def test_the_pinned_row_is_said_in_words_and_the_entropy_as_a_number_of_keys(show) -> None:
    widget = three(row=2)
    page = show(widget)
    rows = [*widget.weights[:2, 2], widget.weights[:2, 2].mean(0)]
    said = [f"{TOKENS[row.argmax()]} {markup.fixed(row.max())}" for row in rows]
    expect(status(page)).to_have_text(
        f"nuts is pinned; it attends most to {said[0]} in head 0; {said[1]} in head 1;"
        f" {said[2]} in their average."
    )
    words = page.locator(".attnbook-item p")
    entropy = torch.distributions.Categorical(torch.tensor(widget.weights)).entropy().exp()
    for h in range(3):
        expect(words.nth(h)).to_contain_text(f"over {entropy[h, 2]:.1f} keys")
    page.get_by_label("query").select_option("none")
    for h in range(3):
        expect(words.nth(h)).to_have_text(f"over {entropy[h].mean():.1f} keys a row")


def test_keys_that_tie_are_named_together(show) -> None:
    scores = np.array([[[0, 0, 0], [1, 1, 0], [0, 0, 5]]])
    page = show(HeadGrid(scores=scores, tokens=TOKENS, row=0))
    words = page.locator(".attnbook-item p")
    expect(words).to_contain_text("3 keys alike, 0.333 each")
    expect(words).to_contain_text("over 3.0 keys")
    page.get_by_label("query").select_option("bowl")
    expect(words).to_contain_text("had, bowl 0.422 each")


def test_an_empty_row_is_named_and_gives_no_nan(show) -> None:
    mask = np.array([[False] * 3, [True] * 3, [True] * 3])
    page = show(three(mask=mask, row=0))
    expect(status(page)).to_have_text("had is pinned; it attends to nothing: every key is masked.")
    assert table(page)["head 0"] == ["masked"] * 3
    page.get_by_label("query").select_option("none")
    assert "NaN" not in page.locator("main").inner_text()
    nothing = show(three(mask=np.zeros((3, 3), bool)))
    expect(nothing.locator(".attnbook-item p").first).to_have_text("nothing: every key is masked")


def test_heads_that_share_a_colour_differ_in_pattern_and_each_bar_bears_its_name(show) -> None:
    x = np.random.default_rng(0).normal(size=(14, 3, 4))
    page = show(HeadGrid(x, tokens=TOKENS, chosen=[0, 6, 12, 1], row=0))
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


def test_each_cell_holds_a_bar_for_each_chosen_head(show) -> None:
    scores = np.zeros((2, 3, 3))
    scores[0, :, 0], scores[1, :, 2] = 50, 50  # head 0 sees only the first key, head 1 the last
    page = show(HeadGrid(scores=scores, tokens=TOKENS))
    pixel = """([x, y]) => { const canvas = document.querySelector('.attnbook-plot canvas');
      const dense = canvas.width / parseFloat(canvas.style.width);
      const at = [x, y].map((value) => Math.round(value * dense));
      return Array.from(canvas.getContext('2d').getImageData(...at, 1, 1).data.slice(0, 3)); }"""

    def colour(j: int, aside: int) -> list[int]:
        place = cell(page, 1, j)
        return page.evaluate(pixel, [place["x"] + aside, place["y"]])

    assert colour(0, -12) == [0x1F, 0x4E, 0x8C]  # on the left head 0 …
    assert colour(0, 12) == [255, 255, 255]
    assert colour(2, 12) == [0xA3, 0x4A, 0x00]  # … on the right head 1
    assert colour(2, -12) == [255, 255, 255]
    assert colour(1, -12) == colour(1, 12) == [255, 255, 255]


def test_twelve_heads_of_twenty_eight_tokens_stay_within_the_budget_of_nodes(show) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 28, 8))
    tokens = [f"word{i}" for i in range(28)]
    page = show(HeadGrid(x, tokens=tokens, chosen=range(6), row=20))
    rows = table(page)
    assert page.locator("figure *").count() <= 500
    assert len(page.locator(".attnbook-groups > li").all()) == 4
    expect(page.locator(".attnbook-side")).to_contain_text("and 24 keys with less")
    assert list(rows)[:6] == [f"head {h}" for h in range(6)]
    page.get_by_role("button", name="let go").click()
    page.get_by_role("button", name="one head").click()
    assert len(table(page)) == 28
    assert page.locator("figure *").count() <= 500


def test_hostile_texts_are_shown_as_text(show) -> None:
    names = [EVIL, "</script>", "c"]
    page = show(HeadGrid(QUERY, KEY, tokens=names, names=names, row=0, caption=EVIL))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    table(page)
    assert page.locator("figure img").count() == 0
    expect(page.locator(".attnbook-side")).to_contain_text(EVIL)
    expect(page.locator(".attnbook-item label").first).to_have_text(EVIL)


def test_the_colours_follow_the_theme(show) -> None:
    page = show(three(row=2))
    ink = "getComputedStyle(document.querySelector('.attnbook-lane'), '::before').backgroundColor"
    assert page.evaluate(ink) == "rgb(31, 78, 140)"
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    settle(page)
    assert page.evaluate(ink) == "rgb(134, 180, 238)"


def test_without_javascript_and_on_paper_there_are_tables(show) -> None:
    page = show(three(row=2), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_contain_text("head 2: nuts")
    page = show(three(row=2))
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-twin table")).to_be_visible()
    expect(page.locator(".attnbook-large")).to_be_hidden()
    assert page.locator("input[type=range]:visible, select:visible").count() == 0


def test_the_page_data_is_what_python_wrote(show) -> None:
    page = show(three())
    text = page.locator('figure script[type="application/json"]').text_content()
    assert json.loads(text)["scores"] == (QUERY @ KEY.swapaxes(1, 2)).reshape(3, 9).tolist()
    assert json.loads(text)["chosen"] == [0, 1]


def save(page, name: str) -> str:
    with page.expect_download() as caught:
        page.get_by_role("button", name=f"save as {name}").click()
    return Path(caught.value.path()).read_bytes().decode("utf-8")


def test_the_csv_holds_the_table_and_runs_no_formula(show) -> None:
    widget = three(row=1, names=["=1+1", "b", "c"])
    page = show(widget)
    rows = list(csv.reader(io.StringIO(save(page, "CSV"))))
    assert rows[0] == ["bowl: head", *TOKENS]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "b", "c", "average of =1+1 and b"]
    drawn = np.array([row[1:] for row in rows[1:]], dtype=float)
    wanted = [*widget.weights[:, 1], widget.weights[:2, 1].mean(0)]
    assert np.abs(drawn - wanted).max() < 1e-6


def test_the_svg_holds_a_bar_for_each_weight_that_can_be_seen(show) -> None:
    page = show(three())
    root = ET.fromstring(save(page, "SVG"))
    rects = root.iter("{http://www.w3.org/2000/svg}rect")
    fills = [rect.get("fill") for rect in rects]
    visible = (three().weights[:2] * 54 >= 0.5).sum((1, 2)).tolist()
    assert [fills.count("rgb(31,78,140)"), fills.count("rgb(163,74,0)")] == visible
