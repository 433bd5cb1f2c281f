"""Three arrows and their average: PyTorch's numbers, by pointer and by keys; words for the rest."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.attnlab.widgets.examples import TWO, arrows
from tests.attnlab.widgets.pages import fixed, keys, rows, tells, unfold
from tests.attnlab.widgets.test_scores import drag, swipe

MIDDLES = """() => [...document.querySelectorAll(".attnbook-tip .attnbook-ring")].map((ring) => {
  const box = ring.getBoundingClientRect();
  const plane = ring.closest(".attnbook-plane").getBoundingClientRect();
  return [box.x + box.width / 2 - plane.x, plane.bottom - box.y - box.height / 2]
    .map((x) => (5 * x) / plane.width - 1.5); })"""  # in units of a plane from −1 to 3


def test_weights_and_output_are_torchs_in_python_and_in_the_page(maths) -> None:
    for seed in range(9):
        x = np.random.default_rng(seed).uniform(-4, 4, (3, 2)).round(2)
        widget, v = arrows(vectors=x, query=seed % 3), torch.tensor(x)
        weights = torch.softmax(v @ v[seed % 3] / 2**0.5, dim=0)
        given = {"vectors": x.tolist(), "query": seed % 3}
        now = maths("(given) => maths.average(given)", given, "arrows")
        for found in (widget.weights, now["weights"]):
            np.testing.assert_allclose(found, weights, atol=1e-9)
        for found in (widget.output, now["output"]):
            np.testing.assert_allclose(found, weights @ v, atol=1e-9)


def tip(page, name: str):
    return page.get_by_role("button", name=f"{name} (")


def agrees(page, vectors, **how) -> None:
    """The picture and its table are those of these vectors."""
    widget = arrows(vectors=vectors, **how)
    unfold(page)
    weights = [row[-1] for row in rows(page.locator("tbody tr"))]
    assert weights == fixed(widget.weights)
    parts = [f"{weight} {name}" for weight, name in zip(weights, widget.tokens, strict=True)]
    tells(page, f"= {' + '.join(parts)} = ({', '.join(fixed(widget.output))})")
    shares = page.locator(".attnbook-share").all_inner_texts()
    assert [one.strip() for one in shares] == [f"{one} %" for one in fixed(100 * widget.weights, 1)]


def test_the_output_lies_in_the_triangle_where_its_shares_put_it(show) -> None:
    page = show(widget := arrows())
    *tips, made = page.evaluate(MIDDLES)
    np.testing.assert_allclose(tips, np.array(TWO), atol=0.02)
    np.testing.assert_allclose(made, widget.weights @ np.array(tips), atol=0.02)
    widths = page.locator(".attnbook-pull").evaluate_all(
        "(all) => all.map((line) => Number(line.getAttribute('stroke-width')))"
    )
    np.testing.assert_allclose(widths / np.sum(widths), widget.weights, atol=2e-3)


def test_tips_are_dragged_and_moved_by_keys_and_the_example_is_a_press_away(show) -> None:
    page = show(arrows())
    agrees(page, TWO)
    drag(tip(page, "bowl"), 1, -1.5)
    agrees(page, [TWO[0], [2, -0.5], TWO[2]])
    tip(page, "bowl").focus()
    keys(page, "ArrowUp", "Shift+ArrowLeft")
    agrees(page, [TWO[0], [1, -0.4], TWO[2]])
    expect(tip(page, "bowl")).to_have_attribute("aria-label", "bowl (1, −0.4)")
    drag(tip(page, "nuts"), 9, 0)  # to the edge, and then to the next
    agrees(page, [TWO[0], [1, -0.4], [3, 2]])
    drag(tip(page, "nuts"), 9, 0)
    agrees(page, [TWO[0], [1, -0.4], [4, 2]])
    page.get_by_role("button", name="reset").click()
    tells(page, "new nuts = 0.088 had + 0.178 bowl + 0.734 nuts = (1.088, 1.646).")


SPECIAL = [
    ([[1, 1], [2, 0], [0, 0]], "nuts is all zeros: every score is 0, so each word gets a third."),
    ([[0, 0], [0, 0], [2, 1]], "had and bowl: all zeros, so the score is 0, and exp(0) = 1"),
    ([[1, 2]] * 3, "All three vectors are the same, and so is every average of them."),
    ([[0, 1], [1, 2], [2, 3]], "The three tips lie on one line, and so does every average"),
    ([[1, 1], [1, 1], [2, 3]], "The three tips lie on one line"),
]


@pytest.mark.parametrize(("vectors", "said"), SPECIAL)
def test_what_is_special_is_said_and_nothing_is_lost(show, vectors, said: str) -> None:
    page = show(arrows(vectors=vectors))
    tells(page, said)
    agrees(page, vectors)
    assert "NaN" not in page.locator("main").inner_html()


def test_on_a_phone_a_finger_drags_and_the_names_stay_in_the_picture(show) -> None:
    page = show(arrows(tokens=["had", "bowl", "incomprehensible"]), width=390, has_touch=True)
    for name in page.locator(".attnbook-tip .attnbook-token").all():
        box = name.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    swipe(tip(page, "had"), -0.5, -1)
    agrees(page, [[1, 0], *TWO[1:]], tokens=["had", "bowl", "incomprehensible"])


def test_the_plane_stands_on_one_screen_with_what_it_says(show) -> None:
    page = show(arrows(), width=1280)
    assert page.locator("figure.attnbook").bounding_box()["height"] <= 560
    assert page.locator(".attnbook-plane").bounding_box()["width"] >= 340
