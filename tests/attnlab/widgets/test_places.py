"""Every widget in every place: http and file, a notebook, a phone, paper, no script, both themes.

Each place is visited once for a kind of widget; what only one kind does is tested in its file.
"""

import copy
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from attnlab.models.stored.script import asset_script
from attnlab.widgets import Widget
from tests.attnlab.widgets.examples import EVIL, EXAMPLES, OF_EACH, Example, box_named
from tests.attnlab.widgets.pages import (
    alert,
    button,
    cell,
    eventually,
    host,
    move,
    press,
    seen,
    seen_of_each,
    settle,
    trait,
    unfold,
    violations,
)

kinds = pytest.mark.parametrize("one", OF_EACH, ids=EXAMPLES)
BY_WIDTH = ("color-contrast", "scrollable-region-focusable")  # what theme and width may change
CONTROLS = ".attnbook-controls, .attnbook-stepper, .attnbook-ask, .attnbook-examples, "
CONTROLS += "input[type=range], select"
TOO_LOW = """() => Array.from(document.querySelectorAll(
  'figure :is(button, select, summary, [role=button], input[type=text])'))
  .filter((node) => node.getBoundingClientRect().height > 0)
  .filter((node) => node.getBoundingClientRect().height < 44).map((node) => node.outerHTML)"""


CUT = """() => [...document.querySelectorAll(".attnbook-live :is(input, button, select)")]
  .filter((one) => one.checkVisibility() && !one.closest(".attnbook-scroll"))
  .filter((one) => one.getBoundingClientRect().right
    > one.closest("figure").getBoundingClientRect().right + 0.5)
  .map((one) => one.getAttribute("aria-label") ?? one.textContent)"""


def named(page) -> list[int]:
    """How many letters the name of each figure has."""
    return page.locator("figure.attnbook").evaluate_all(
        "(all) => all.map((one) => (one.ariaLabel"
        " ?? one.querySelector('figcaption')?.textContent ?? '').length)"
    )


def figures(page) -> list:
    return page.locator("figure").all()


def use(one: Example, view) -> None:
    """Bring a view to life, do all that a hand does there, and leave a bad number."""
    if one.awake:
        one.awake(view)
    for do, _ in one.hand:
        do(view)
    leave_junk(one, view)
    unfold(view)
    settle(view)


def leave_junk(one: Example, view) -> None:
    for box, (junk, *_), *_ in one.bad:
        box_named(view, box).fill(junk)
    if one.mess:
        one.mess(view)


@kinds
def test_two_on_a_page_from_a_server_keep_apart_and_reset_brings_back_the_first_state(
    show, one: Example
) -> None:
    page = show(one.make(**one.start), one.make(**one.start), via="http", **one.looked)
    assert page.url.startswith("http")
    first, second = figures(page)
    if one.awake:
        one.awake(first)
        one.awake(second)
    before, other = seen_of_each(page)
    assert before == other
    has_reset = button(first, "reset").count()
    for _ in range(2 if has_reset else 1):
        now = before
        for do, _ in one.hand:
            do(first)
            assert eventually(lambda was=now: seen(first) != was)
            now = seen(first)
        leave_junk(one, first)
        if has_reset:
            press(first, "reset")
            assert eventually(lambda: seen(first) == before)
            expect(alert(first)).to_be_empty()
            assert first.locator("[aria-invalid=true]").count() == 0
    assert seen(second) == before


@kinds
def test_axe_finds_nothing_untouched_used_and_at_its_largest_and_paper_has_all_numbers(
    show, one: Example
) -> None:
    others = [one.large(), *(make() for make in one.more)]
    page = show(one.make(**one.start), one.make(**one.start), *others, **one.looked)
    untouched, used, largest, *_ = figures(page)
    use(one, used)
    for other in figures(page)[2:]:
        if one.awake:
            one.awake(other)
        unfold(other)
    settle(page)
    assert largest.locator("*").count() <= 500
    assert min(named(page)[:3]) > 5
    assert violations(page) == []
    used.locator("details").evaluate_all("(all) => all.forEach((fold) => { fold.open = false; })")
    folded = untouched.locator("details[open]").count()
    page.emulate_media(media="print")
    settle(page)
    for part in one.paper:
        expect((used if one.awake else untouched).locator(part).first).to_be_visible()
    if one.awake:
        expect(untouched.locator(".attnbook-fallback table")).to_be_visible()
    for view in figures(page):
        assert view.locator(CONTROLS).filter(visible=True).count() == 0
    page.emulate_media(media="screen")
    expect(untouched.locator("details[open]")).to_have_count(folded)


@kinds
def test_a_dark_phone_never_scrolls_sideways_and_has_room_for_a_finger(show, one: Example) -> None:
    phone = {"width": 390, "has_touch": True, "is_mobile": True, **one.looked}
    others = [one.large(), *(make() for make in one.more)]
    page = show(one.make(**one.start), *others, theme="dark", **phone)
    for view in figures(page)[1:]:
        if one.awake:
            one.awake(view)
        unfold(view)
    use(one, figures(page)[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(TOO_LOW) == []
    narrow = page.locator(one.narrow).all() if one.narrow else []
    assert all(part.bounding_box()["width"] <= 358 for part in narrow)
    assert violations(page, *BY_WIDTH) == []


@kinds
def test_at_320_pixels_no_control_is_cut(show, one: Example) -> None:
    page = show(one.make(), width=320)
    if one.awake:
        one.awake(page)
    for font in ("sans-serif", "DejaVu Serif"):  # the second is as wide as a browser's own may be
        page.add_style_tag(content=f"body {{ font-family: {font} !important }}")
        assert page.evaluate(CUT) == []


def same(page) -> bool:
    first, second = seen_of_each(page)
    return first == second


@kinds
def test_the_hand_moves_python_and_the_other_view(show, one: Example) -> None:
    widget = one.make(**one.start)
    page = host(show(**one.looked), widget)
    assert min(named(page)) > 5
    first, kept = trait(page, "initial"), copy.deepcopy(getattr(widget, "initial", None))
    for at, (do, heard) in enumerate(one.hand):
        saves = page.evaluate("saves")
        do(figures(page)[at % 2])
        page.mouse.move(0, 0)  # what is pointed at is told in one view only
        assert eventually(lambda: same(page))
        for name, wanted in heard.items():
            value = trait(page, name)
            assert wanted is None or value == wanted
            setattr(widget, name, value)  # Python takes what the view sends
        # words that come one by one are a change of their own
        assert page.evaluate("saves") - saves in ({1, 2} if one.awake else {1})
    assert trait(page, "initial") == first
    assert getattr(widget, "initial", None) == kept
    as_python_has_it(show, page, widget, one)


@kinds
def test_python_moves_both_views_hears_no_echo_and_a_closed_one_leaves_nothing(show, one) -> None:
    widget = one.make()
    page = host(show(**one.looked), widget)
    for traits in one.moves:
        move(page, **traits)
        for name, value in traits.items():
            setattr(widget, name, value)
    assert eventually(lambda: same(page))
    assert page.evaluate("saves") == 0
    as_python_has_it(show, page, widget, one)


TABLES = """(figure, [html, pairs]) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const told = page.querySelectorAll(".attnbook-fallback table");
  const all = [...figure.querySelectorAll(".attnbook-live table")];
  const shown = all.filter((table) => table.checkVisibility());
  const rows = (table) => [...table.querySelectorAll("tr:has(td)")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent));
  return pairs.map(([first, second]) => [told[first], shown.at(second)].map(rows));
}"""


def near(one: str, other: str) -> bool:
    """Whether two texts are the same, or one number to its last decimal."""
    try:
        here, there = (float(text.replace("−", "-").replace(",", "")) for text in (one, other))
    except ValueError:
        return one == other
    return abs(here - there) <= 1.1e-3 * max(1, abs(here))


def as_python_has_it(show, page, widget: Widget, one: Example) -> None:
    """The views are those of the widget as Python has it; closed, they leave nothing."""
    drawn = seen(figures(page)[0])
    html = widget.html() if one.tables else ""
    for told, shown in figures(page)[0].evaluate(TABLES, [html, one.tables]):
        assert len(told) <= len(shown)
        for mine, theirs in zip(told, shown, strict=False):
            left = iter(theirs)  # a view may say more, in between
            told_of = [text for text in mine if re.match(r"[−\d]|masked|hidden", text)]
            assert all(any(near(text, there) for there in left) for text in told_of), (told, shown)
    page.evaluate("stops.forEach((stop) => stop())")
    assert page.locator("figure").count() == page.evaluate("left()") == 0
    anew = figures(host(page, widget, views=1))[0]
    assert eventually(lambda: seen(anew) == drawn)


STEPPED = {"unrolled": "step", "beam": "step", "player": "word", "steps": "step", "tiles": "step"}


@pytest.mark.parametrize(("kind", "name"), STEPPED.items())
def test_buttons_and_arrow_keys_step_and_stop_at_either_end(show, kind: str, name: str) -> None:
    page = host(show(), EXAMPLES[kind].make(**{name: 0}), views=1)
    on, back = button(page, "next"), button(page, "previous")
    on.evaluate("(node) => { node.click(); node.click(); }")  # both within one frame
    assert trait(page, name) == 2
    on.focus()
    for key, step in (("ArrowLeft", 1), ("ArrowRight", 2), ("Control+ArrowRight", 2), ("Home", 0)):
        page.keyboard.press(key)
        assert trait(page, name) == step
    expect(on).to_be_focused()
    expect(back).to_have_attribute("aria-disabled", "true")
    back.press("Enter")
    assert trait(page, name) == 0
    on.press("End")
    last = trait(page, name)
    expect(on).to_have_attribute("aria-disabled", "true")
    on.press("Enter")
    assert trait(page, name) == last > 1
    expect(on).to_be_focused()
    for box in page.locator("input[type=text]").all()[:1]:
        box.press("ArrowLeft")  # moves in the text
        assert trait(page, name) == last


def at(i: int, j: int) -> Callable:
    return lambda view: view.locator(".attnbook-plot canvas").first.tap(position=cell(view, i, j))


def first(selector: str, place: int = 0) -> Callable:
    return lambda view: view.locator(selector).nth(place).tap()


TAPS = [  # a first state, where a finger taps, and what is then said
    ("heatmap", {}, at(2, 1), "nuts attends to"),
    ("painter", {}, at(1, 0), "bowl → had: masked, weight 0"),
    ("heads", {}, at(2, 1), "nuts → bowl: 0.191 in head 0"),
    ("beam", {"step": 2}, first(".attnbook-tree button", 2), "“la souris”: log p = −0.916"),
    ("player", {}, lambda view: button(view, "noir").tap(), "“noir” looks most at “black”"),
    ("positions", {}, first(".attnbook-plot"), ", component "),
    ("browser", {"key": None}, first(".attnbook-every canvas", 5), "layer 1 head 2"),
    ("unrolled", {"step": 6}, first(".attnbook-next button", 1), "Forced: “"),
    ("roles", {}, first(".attnbook-part", 2), "q₃ = 1·0 + 2·0 + 2·1 = 2"),
]


@pytest.mark.parametrize(("kind", "start", "tap", "said"), TAPS, ids=[t[0] for t in TAPS])
def test_a_finger_does_what_a_mouse_does(show, kind: str, start: dict, tap, said: str) -> None:
    one = EXAMPLES[kind]
    page = show(one.make(**start), width=390, has_touch=True, is_mobile=True, **one.looked)
    view = figures(page)[0]
    if one.awake:
        one.awake(view)
    assert said not in view.inner_text()
    tap(view)
    expect(view).to_contain_text(said)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_parts_two_by_two(show) -> None:
    kinds = EXAMPLES["roles"].make(), EXAMPLES["scores"].make()
    page = show(*kinds, width=390, has_touch=True, is_mobile=True)
    for parts in ("trio", "four"):
        tops = [part.bounding_box()["y"] for part in page.locator(f".attnbook-{parts} > *").all()]
        assert tops[0] == tops[1] < tops[2] <= tops[-1]


HUGE = [[1e3] * 3] * 3
BLANKS = ("fewshot", "lens", "painter", "player")  # they have a sign for a blank token
HUGEST = {  # the largest numbers, what is pressed one after another, and how many are then alike
    "steps": ({"vectors": [[1e6] * 3] * 3}, "12345", 3),
    "roles": ({"vectors": HUGE, "w_q": HUGE, "w_k": [[-1e3] * 3] * 3, "w_v": HUGE}, "", 3),
    "tiles": ({"scores": [-1000, 1000] * 2, "values": [1e6, -1e6, 0, 1e6]}, "", 0),
}


@pytest.mark.parametrize("kind", HUGEST)
def test_the_largest_numbers_give_no_nan(show, kind: str) -> None:
    given, presses, alike = HUGEST[kind]
    page = show(EXAMPLES[kind].make(**given))
    for name in ["", *presses]:
        if name:
            page.get_by_role("button", name=name).click()
        text = page.locator("main").inner_text()
        assert "NaN" not in text
        assert "Infinity" not in text
    assert text.count("0.333") >= alike


@pytest.fixture(scope="module")
def unscripted(opened):
    """One page with every kind, without a script."""
    return opened(*(one.make() for one in OF_EACH), ready=False, java_script_enabled=False)


@pytest.mark.parametrize("place", range(len(OF_EACH)), ids=EXAMPLES)
def test_without_javascript_the_tables_are_there(unscripted, place: int) -> None:
    one, view = OF_EACH[place], unscripted.locator("figure").nth(place)
    expect(view.locator(".attnbook-fallback")).to_be_visible()
    for words in one.fallback:
        expect(view).to_contain_text(words)


def test_axe_finds_nothing_without_javascript_either(show) -> None:
    fallbacks = [one.make().html().replace("attnbook-fallback", "shown") for one in OF_EACH]
    page = show(*(html.replace('"kind"', '"no"') for html in fallbacks), ready=False)
    expect(page.locator(".shown table").first).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # those out of sight have their turn
    assert violations(page) == []
    assert len(show.logged) == len(fallbacks)  # each says that it is no widget any more
    show.logged.clear()


@kinds
def test_hostile_texts_never_become_markup(show, one: Example) -> None:
    widget = one.evil(EVIL)
    page = show(widget, **one.looked)
    view = page.locator("figure")
    if one.awake:
        view.get_by_label("English sentence").count() and view.get_by_label(
            "English sentence"
        ).fill("cat")
        one.awake(view)
    unfold(view)
    for choice in page.locator("input:is([type=radio], [type=checkbox]):enabled").all():
        choice.click()
    settle(page)
    assert page.locator("figure img").count() == 0
    assert page.locator("figure script").count() == 1
    expect(page.locator("figcaption")).to_have_text(EVIL)
    assert ("␣" in view.inner_text()) == (widget.kind in BLANKS)
    given = sum(EVIL in str(value) for value in widget.state().values())
    assert view.inner_text().count(EVIL) >= min(2, given)
    assert page.evaluate("document.documentElement.scrollWidth") <= 900


LATE = {  # what brings a view to life, and what is said where its data is not there or another's
    "browser": ("load all", *["could not be loaded: assets/late.js"] * 2),
    "translator": (
        "translate",
        "late.js could not be loaded",
        "The model cannot be used: the weights are those of another model.",
    ),
}


@pytest.mark.parametrize("kind", LATE)
def test_data_that_is_missing_or_of_another_model_is_said_to_be_and_may_be_asked_for_again(
    show, folder, kind: str
) -> None:
    one, (ask, missing, other) = EXAMPLES[kind], LATE[kind]
    page = show(one.make(asset="late"), **one.looked)
    path = folder / "assets" / "late.js"
    kept = path.read_text()
    path.unlink()
    page.get_by_role("button", name=ask).click()
    expect(alert(page)).to_contain_text(missing)
    assert "ERR_FILE_NOT_FOUND" in show.logged.pop()
    path.write_text(asset_script("late", b"12345678"), encoding="ascii")
    page.get_by_role("button", name=ask).click()
    expect(alert(page)).to_contain_text(other)
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    page.evaluate("delete attnbookAssets.late")
    path.write_text(kept)
    one.awake(page)
    expect(alert(page)).to_be_empty()


BOXES = {f"{kind}: {bad[0]}": (one, *bad) for kind, one in EXAMPLES.items() for bad in one.bad}
GIVEN = ("one", "label", "junk", "wanted", "kept", "good")


@pytest.mark.parametrize(GIVEN, BOXES.values(), ids=BOXES)
def test_a_bad_number_is_refused_in_words_and_the_last_one_stays(
    show, one: Example, label: str, junk: list[str], wanted: str, kept: str, good: str
) -> None:
    page = show(one.make(), **one.looked)
    view = page.locator("figure")
    if one.awake:
        one.awake(view)
    box = box_named(view, label)
    before = seen(view)
    for bad in [*junk, "<img src=x onerror=alert(1)>"]:
        box.fill(bad)
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(alert(view)).to_contain_text(f"{wanted} is wanted; {kept} is kept.")
        settle(page)
        assert "NaN" not in view.locator("td").all_inner_texts()
        box.press("Tab")
        expect(box).to_have_value(bad or kept)  # nothing is lost, and nothing guessed
        box.fill(kept)
        box.press("Tab")
        assert eventually(lambda: seen(view) == before)
    assert page.locator("figure img").count() == 0
    box.fill(good)
    expect(alert(view)).to_be_empty()
    assert box.get_attribute("aria-invalid") is None
    if good != kept:
        assert eventually(lambda: seen(view) != before)
