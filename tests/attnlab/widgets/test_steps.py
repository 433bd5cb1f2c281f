"""The worked example, step by step: every number may be edited, and bad input never breaks it."""

import pytest
from playwright.sync_api import expect

from attnlab.widgets import AttentionSteps
from tests.attnlab.widgets.examples import TOKENS, X, steps


@pytest.fixture(name="steps")
def at_the_last_step(show):
    return show(steps())


def weights(page) -> list[str]:
    return page.locator(".attnbook-weight .attnbook-value").all_inner_texts()


def lines(page) -> list[str]:
    return page.locator(".attnbook-formula li").all_inner_texts()


def component(page, token: str, place: int):
    return page.get_by_label(f"{token}, component {place}")


def test_each_step_shows_its_formula_and_its_column(show) -> None:
    page = show(AttentionSteps(X, TOKENS))
    heads = page.locator("thead th")
    shown = ["token", "vector x", "score", "scaled", "mask", "weight"]
    for step, last in enumerate((3, 4, 5, 6, 6)):
        visible = [head.inner_text() for head in heads.all() if head.is_visible()]
        assert visible == shown[:last]
        if step < 4:
            page.get_by_role("button", name="next").click()
    page = show(AttentionSteps(X, TOKENS))
    following = page.get_by_role("button", name="next")
    assert "nuts · bowl = 1·1 + 2·1 + 2·1 = 5" in lines(page)
    assert "nuts · had = 1·2 + 2·(−1) + 2·0 = 0" in lines(page)
    following.click()
    assert "e(nuts, bowl) = 5 / √3 = 2.887" in lines(page)
    following.click()
    assert lines(page) == ["Not masked: the switch is off, every key stays."]
    following.click()
    assert "α(nuts, bowl) = exp(2.887) / (exp(0) + exp(2.887) + exp(5.196)) = 0.090" in lines(page)
    following.click()
    assert lines(page) == [
        "y(nuts) = 0.005·(2, −1, 0) + 0.090·(1, 1, 1) + 0.905·(1, 2, 2) = (1.005, 1.895, 1.900)"
    ]
    assert following.get_attribute("aria-disabled") == "true"
    following.click(force=True)
    expect(page.get_by_role("status")).to_contain_text("Step 5 of 5")


def test_the_mask_and_a_missing_scale_are_said_and_an_arrow_key_adds_one(steps) -> None:
    steps.get_by_label("query").select_option("bowl")
    steps.get_by_label("causal mask").check()
    assert weights(steps) == ["0.240", "0.760", "masked"]
    steps.get_by_role("button", name="3 mask").click()
    assert "nuts is masked: it stands after bowl" in lines(steps)
    steps.get_by_label("query").select_option("nuts")
    steps.get_by_label("causal mask").uncheck()
    steps.get_by_label("divide by √3").uncheck()
    assert weights(steps) == ["0.000", "0.018", "0.982"]
    steps.get_by_role("button", name="2 scale").click()
    assert lines(steps) == ["Not scaled: the switch is off, the scores stay as they are."]
    box = component(steps, "bowl", 2)
    box.press("ArrowUp")
    expect(box).to_have_value("2")
    expect(steps.get_by_role("row", name="bowl")).to_contain_text("7")  # 1·1 + 2·2 + 2·1
