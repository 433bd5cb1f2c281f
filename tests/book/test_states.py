"""The live pictures of the lectures open in the state that shows their point."""

import pytest
from playwright.sync_api import Locator, expect

from tests.attnlab.widgets.pages import settle, unfold

PHONE = {"viewport": {"width": 390, "height": 844}}
# the buttons of a picture that its section names, and that can do nothing
GREY = """(figure) => {
  const mine = figure.closest("section");
  const said = [...mine.querySelectorAll("em")].filter((one) => one.closest("section") === mine);
  const names = said.map((one) => one.textContent.trim());
  return [...figure.querySelectorAll("button[aria-disabled=true]")]
    .map((one) => one.textContent.trim()).filter((name) => names.includes(name));
}"""


@pytest.fixture
def picture(visit):
    def opened(lecture: str, kind: str, **options) -> Locator:
        figure = visit(f"notebooks/{lecture}", **options).locator(f"figure.attnbook-{kind}").first
        figure.scroll_into_view_if_needed()
        settle(figure)
        return figure

    return opened


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lecture_1_marks_what_it_writes_wrong(picture, theme: str) -> None:
    figure = picture("01-sequence-to-sequence", "unrolled", theme=theme)
    rows = figure.locator(".attnbook-net table").nth(1).locator("tbody tr").all()
    cells = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    writes, should = cells["writes"], cells["should write"]
    digits = figure.get_by_label("sentence", exact=True).input_value()
    assert should == [*reversed(digits), "<eos>"]
    marked = [
        one.rstrip("✓×") + "✓×"[one.rstrip("✓×") != right]
        for one, right in zip(writes, should, strict=True)
    ]
    assert writes == marked
    assert any(one.endswith("×") for one in writes)
    assert figure.evaluate(GREY) == []


def test_lecture_7_s_strict_mask_makes_each_way_to_mask_look_different(picture) -> None:
    figure = picture("07-scaling-and-masks", "painter")
    unfold(figure)
    figure.get_by_role("button", name="strictly past").click()
    settle(figure)
    box = figure.get_by_role("combobox", name="a masked score becomes")
    seen = []
    for place in range(4):
        box.select_option(index=place)
        settle(figure)
        seen.append(figure.locator(".attnbook-alarm, .attnbook-twin table").all_inner_texts())
    assert len(set(map(str, seen))) == 4


def test_lecture_10_opens_where_the_words_are_kept_apart_and_one_change_melts_two(visit) -> None:
    page = visit("notebooks/10-transformer-block", **PHONE)
    figure = page.locator(".attnbook-fans").first
    expect(figure.get_by_label("two small changes")).to_be_checked()
    row = figure.locator(".attnbook-way:visible")
    expect(row).to_have_count(1)

    def tips() -> list[str]:
        last = row.locator("svg").last.locator("line")
        return [one.get_attribute("x2") for one in last.all()]

    had, _, nuts = map(float, tips())
    assert had < -20 < 20 < nuts
    figure.get_by_label("one small change").check()
    had, up, nuts = map(float, tips())
    assert had < -20
    assert abs(up - nuts) < 1
    box = row.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_lecture_14_opens_where_keys_read_what_they_should_not(picture) -> None:
    figure = picture("14-longer-contexts", "memory")
    expect(figure.locator(".attnbook-off:visible")).to_have_count(3)
    assert figure.evaluate(GREY) == []


def test_lecture_16_opens_where_attention_first_adds(picture) -> None:
    figure = picture("16-what-heads-do-together", "lens")
    unfold(figure)
    rows = figure.locator(".attnbook-twin tbody tr").all()[1:]
    adds = [float(row.locator("td").nth(3).inner_text().replace("−", "-")) for row in rows]
    first = next(layer for layer, one in enumerate(adds) if 2 * one >= max(adds))
    expect(figure.locator(".attnbook-status")).to_contain_text(f"After layer {first},")
    assert first < len(adds) - 1
    assert figure.evaluate(GREY) == []
    titles = figure.locator(".attnbook-half > p:first-child").all_inner_texts()
    assert len(set(titles)) == 2
    left, right = (one.bounding_box() for one in figure.locator(".attnbook-half").all())
    assert left["y"] == right["y"]  # side by side, over the whole width
    assert right["x"] + right["width"] - left["x"] > 0.95 * figure.bounding_box()["width"]
