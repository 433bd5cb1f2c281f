"""A task by examples alone: prompts and verdicts, in Python, in the browser and recorded."""

import itertools

import pytest
from playwright.sync_api import expect

from attnlab.models.recorded import smollm_few_shots
from attnlab.widgets import FewShot
from experiments import fewshot, smollm
from tests.attnlab.widgets.pages import button, keys, press, settle, status, twin

SETTINGS = list(itertools.product(range(2), range(7), (False, True)))


@pytest.fixture(scope="module")
def found():
    return smollm_few_shots()


def test_prompts_and_verdicts_are_those_of_the_lecture(found, maths) -> None:
    code = """([task, count, exchanged]) => {
        const row = maths.row(task, count, exchanged);
        return [maths.examples(task.shown, count, exchanged), row, maths.right(task, row)]; }"""
    widget = FewShot(found)
    for task, count, exchanged in SETTINGS:
        widget.task, widget.count, widget.exchanged = task, count, exchanged
        given = fewshot.prompts(found[task].name, count, exchanged)
        words = found[task].found[count, exchanged and count > 1]
        for place, prompt in enumerate(given):
            widget.word = place
            assert widget.prompt == prompt
        rights = [
            one.said == answer for one, (_, answer) in zip(words, found[task].asked, strict=True)
        ]
        assert widget.right == rights
        lines, row, came = maths(code, [widget.tasks[task], count, exchanged], "fewshot")
        said = [tuple(line.split(" -> ")) for line in given[0].split("\n")[:-1]]
        assert [tuple(line) for line in lines] == said
        assert [one["said"] for one in row] == [one.said for one in words]
        assert came == rights


def test_the_lecture_and_the_picture_have_the_same_answers(found) -> None:
    known, same = smollm.stored()["functions"]["answers"]["answers"], 0
    for task, (count, exchanged) in itertools.product(found, fewshot.settings(6)):
        key = smollm.key_of((fewshot.prompts(task.name, count, exchanged),))
        if key in known:
            same += 1
            assert known[key] == [one.said for one in task.found[count, exchanged]]
    assert same == 24  # every setting of both tasks


def test_examples_bring_the_answers_and_exchanged_ones_take_them(found, show) -> None:
    page = show(FewShot(found))
    asked = page.locator(".attnbook-prompt .attnbook-asked")
    assert asked.inner_text() == "young -> old ✓"
    assert page.locator(".attnbook-side .attnbook-fits").inner_text().split() == [
        "␣old", "✓", "0.89",
    ]  # fmt: skip
    slider, shares = page.get_by_role("slider", name="examples"), []
    for count in (0, 1, 3, 6):
        slider.fill(str(count))
        settle(page)
        shares.append(page.locator(".attnbook-hits .attnbook-fits").count())
        assert page.locator(".attnbook-prompt li").filter(visible=True).count() == count + 1
        assert f"Right for {shares[-1]} of these 8 words" in page.inner_text("figure")
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] > 6
    page.get_by_label("answers exchanged").check()
    settle(page)
    assert page.locator(".attnbook-hits .attnbook-fits").count() <= 2
    assert page.locator(".attnbook-prompt .attnbook-moved").count() == 6
    slider.fill("1")
    settle(page)
    assert "There is nothing to exchange yet." in status(page).inner_text()


def test_words_are_one_stop_and_the_table_follows(found, show) -> None:
    page = show(FewShot(found))
    group = page.get_by_role("group", name="words")
    assert group.locator("[tabindex='0']").count() == 1
    button(page, "fast, right").focus()
    keys(page, "End", "Enter")
    settle(page)
    expect(button(page, "long, right")).to_have_attribute("aria-pressed", "true")
    assert "“long ->”" in status(page).inner_text()
    page.get_by_role("combobox", name="task").select_option("plurals")
    settle(page)
    task = found[1]
    assert twin(page) == [
        [answer, one.said, "yes" if one.said == answer else "no"]
        for (_, answer), one in zip(task.asked, task.found[3, False], strict=True)
    ]
    press(page, "reset to the first settings")
    settle(page)
    assert "“young ->”" in status(page).inner_text()
