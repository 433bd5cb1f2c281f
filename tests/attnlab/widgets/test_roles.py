"""The three roles: PyTorch's numbers, and every number of every matrix moves what it should."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from torch.nn.functional import scaled_dot_product_attention

from attnlab.widgets import RoleProjection
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import EYE, TOKENS, X, roles
from tests.attnlab.widgets.pages import rows, status, table_of, tells

P_Q = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
P_K = [[1, 0, 0], [0, 0, 1], [0, 1, 1]]
P_V = [[1, 0, 1], [0, 1, 1], [1, 1, 1]]

PUBLISHED = [  # Thissen's printed rows
    [1.1634, 0.7909, 1.5817],
    [1.0, 0.8424, 1.5616],
    [1.1799, 0.8707, 1.6405],
    [1.1634, 0.7909, 1.5817],
]


def made(**changes) -> RoleProjection:
    given = {"vectors": X, "tokens": TOKENS, "w_q": P_Q, "w_k": P_K, "w_v": P_V}
    return RoleProjection(**(given | changes))


def test_the_published_words_come_out_and_one_matrix_for_both_is_symmetric() -> None:
    words = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1]]
    widget = made(vectors=words, tokens=list("abcd"))
    query, key, value = (
        torch.tensor(words, dtype=torch.float64) @ torch.tensor(w, dtype=torch.float64)
        for w in (P_Q, P_K, P_V)
    )
    wanted = scaled_dot_product_attention(query, key, value).numpy()
    assert np.allclose(widget.output, wanted, atol=1e-12)
    assert widget.output.round(4).tolist() == PUBLISHED
    w = np.random.default_rng(0).normal(size=(3, 2))
    assert "symmetric: yes." in made(w_q=w, w_k=w).html()
    scores = np.array(X) @ np.array(P_Q) @ (np.array(X) @ np.array(P_K)).T
    assert np.triu(abs(scores - scores.T)).argmax() == 2  # the plainest exception: had and nuts
    there, back = (markup.plain(score) for score in (scores[0, 2], scores[2, 0]))
    assert f"symmetric: no (had → nuts {there}, nuts → had {back})" in made().html()


W_Q = [[0, 1], [1, 0], [0, 0]]
W_K = [[1, 0], [0, 0], [0, 1]]
W_V = [[1], [0], [2]]


@pytest.fixture
def three(show):
    return show(roles())


@pytest.fixture
def asymmetric(show):
    return show(RoleProjection(X, TOKENS, W_Q, W_K, W_V))


def entry(page, letter: str, row: int, column: int):
    return page.get_by_label(f"W^{letter}, row {row}, column {column}")


def square(page, place: int) -> list[list[str]]:
    """The scores (0) or the weights (1) of all tokens."""
    return rows(page.locator(".attnbook-square").nth(place).locator("tbody tr"))


def asked(page) -> list[str]:
    return page.locator(".attnbook-asking .attnbook-value").all_inner_texts()


def test_every_number_of_every_matrix_can_be_edited(show) -> None:
    page = show(widget := RoleProjection(X, TOKENS, W_Q, W_K, W_V, token=1))
    for letter in "QKV":
        name = f"w_{letter.lower()}"
        for r, c in np.ndindex(*np.shape(getattr(widget, name))):
            entry(page, letter, r + 1, c + 1).fill("-1,5")
            changed = [list(values) for values in getattr(widget, name)]
            changed[r][c] = -1.5
            setattr(widget, name, changed)
            assert square(page, 1) == table_of(widget.weights)
            output = ", ".join(f"{number:.3f}" for number in widget.output[1])
            tells(page, f"output is ({output})".replace("-", "−"))


def test_the_value_matrix_leaves_the_weights_alone_and_the_largest_are_marked(three) -> None:
    before = square(three, 1)
    entry(three, "V", 2, 2).fill("7")
    assert square(three, 1) == before
    tells(three, "(1.005, 13.")

    def most() -> list[str]:
        return three.locator("td.attnbook-most").all_inner_texts()

    assert most() == ["0.866", "0.707", "0.905"]
    for r in (1, 2, 3):
        entry(three, "K", r, r).fill("0")
    assert most() == ["0.333"] * 9
    tells(three, "most to “had”, “bowl” and “nuts” (0.333)")


def test_hovering_over_a_component_or_focus_in_a_column_writes_its_sum_out(asymmetric) -> None:
    query = asymmetric.get_by_role("group", name="query: q = x W^Q")
    expect(query.locator(".attnbook-note")).to_have_text("q₁ = 2·0 + (−1)·1 + 0·0 = −1")
    query.locator(".attnbook-part").nth(1).hover()
    expect(query.locator(".attnbook-note")).to_have_text("q₂ = 2·1 + (−1)·0 + 0·0 = 2")
    assert query.locator(".attnbook-part[aria-pressed=true]").all_inner_texts() == ["2"]
    value = asymmetric.get_by_role("group", name="value: v = x W^V")
    expect(value.locator(".attnbook-note")).to_have_text("v₁ = 2·1 + (−1)·0 + 0·2 = 2")
    entry(asymmetric, "Q", 3, 1).focus()
    asymmetric.keyboard.press("Tab")  # the last box of the second column
    line = query.locator(".attnbook-note")
    expect(line).to_have_text("q₂ = 2·1 + (−1)·0 + 0·0 = 2")
    asymmetric.keyboard.type("4")
    expect(line).to_have_text("q₂ = 2·1 + (−1)·0 + 0·4 = 2")
    asymmetric.keyboard.press("Tab")  # the first component
    expect(line).to_have_text("q₁ = 2·0 + (−1)·1 + 0·0 = −1")
    focused = "getComputedStyle(document.activeElement).outlineWidth"
    assert asymmetric.evaluate(focused) == "2px"


def test_the_output_a_score_and_the_most_lopsided_pair_are_written_out(asymmetric) -> None:
    line = asymmetric.locator(".attnbook-asking .attnbook-note").first
    expect(line).to_have_text("q(had) · k(had) = (−1)·2 + 2·0 = −2")
    asymmetric.locator(".attnbook-asking .attnbook-part").nth(2).hover()
    expect(line).to_have_text("q(had) · k(nuts) = (−1)·1 + 2·2 = 3")
    asymmetric.locator(".attnbook-asking .attnbook-part").nth(1).focus()
    expect(line).to_have_text("q(had) · k(bowl) = (−1)·1 + 2·1 = 1")
    pressed = asymmetric.locator(".attnbook-asking .attnbook-part[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["1"]
    whole = "y(had) = 0.023·(2) + 0.191·(3) + 0.786·(5) = (4.549)"
    expect(asymmetric.locator(".attnbook-asking .attnbook-note").last).to_have_text(whole)
    expect(
        asymmetric.get_by_text("The scores are symmetric: no (had → bowl 1, bowl → had 2).")
    ).to_be_visible()
    assert square(asymmetric, 0) == [["−2", "1", "3"], ["2", "2", "3"], ["4", "3", "4"]]
    for r, row in enumerate(W_Q):  # give the keys the queries' matrix
        for c, number in enumerate(row):
            entry(asymmetric, "K", r + 1, c + 1).fill(str(number))
    expect(asymmetric.get_by_text("The scores are symmetric: yes.")).to_be_visible()


def test_one_number_of_the_keys_matrix_can_do_what_no_dot_product_can(show) -> None:
    page = show(RoleProjection(X, TOKENS, EYE, EYE, EYE))
    found = []
    for r, c in [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]:
        entry(page, "K", r, c).fill("1")
        if "“had” attends most to “nuts”" in status(page).inner_text():
            found.append((r, c))
            expect(page.get_by_text("no (had → nuts 4, nuts → had −1)")).to_be_visible()
        page.get_by_role("button", name="reset").click()
    assert found == [(2, 1)]


def test_keys_and_clicks_choose_the_token_and_switches_the_columns(three) -> None:
    scores = three.locator(".attnbook-square").first
    scores.focus()
    three.keyboard.press("ArrowUp")
    tells(three, "“bowl” attends most to “nuts” (0.707)")
    for _ in range(3):
        three.keyboard.press("ArrowUp")
    expect(three.get_by_role("combobox")).to_have_value("had")
    three.locator(".attnbook-square").last.locator("tbody tr").last.click()
    expect(three.get_by_role("combobox")).to_have_value("nuts")
    expect(three.get_by_role("columnheader", name="nuts asks")).to_be_visible()
    three.get_by_role("combobox").focus()
    three.keyboard.press("ArrowUp")
    tells(three, "“bowl” attends most to “nuts”")
    three.get_by_role("combobox").select_option("nuts")
    three.get_by_label("divide by √3").uncheck()
    assert asked(three) == ["0.000", "0.018", "0.982"]
    expect(three.get_by_role("columnheader", name="scaled")).to_be_hidden()
    three.get_by_label("divide by √3").check()
    three.get_by_label("causal mask").check()
    assert square(three, 0)[0] == ["5", "1", "0"]  # the raw scores are there all the same


def test_one_matrix_becomes_the_identity_and_arrow_keys_go_by_the_step(asymmetric, show) -> None:
    entry(asymmetric, "K", 1, 1).fill("9")
    entry(asymmetric, "Q", 1, 1).fill("")
    asymmetric.get_by_role("button", name="set W^Q to the identity").click()
    drawn = [[entry(asymmetric, "Q", r, c).input_value() for c in (1, 2)] for r in (1, 2, 3)]
    assert drawn == [["1", "0"], ["0", "1"], ["0", "0"]]
    assert entry(asymmetric, "K", 1, 1).input_value() == "9"
    assert asymmetric.locator("[aria-invalid]").count() == 0
    expect(asymmetric.get_by_role("alert")).to_have_text("")
    assert show(RoleProjection(X, TOKENS, W_V, W_V, EYE)).get_by_label("divide by").count() == 0
    page = show(roles(step=0.25))
    box = entry(page, "K", 1, 1)
    box.press("ArrowUp")
    expect(box).to_have_value("1.25")
    box.press("ArrowDown")
    box.press("ArrowDown")
    expect(box).to_have_value("0.75")
