"""The translator on a phone, on paper, without a script, and through anywidget."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import expect

from attnbook.language import Vocabulary
from attnbook.transformer import Seq2Seq
from attnbook.widgets import Translator
from attnbook.widgets.core import markup
from attnbook.widgets.core.chunks import module
from tests.widgets.conftest import settle
from tests.widgets.test_everywhere import RENDER, violations
from tests.widgets.test_translator import CAT, EVIL, lesson, options_of, put_asset, translator
from tests.widgets.test_translator_page import FRENCH, button, choose, translate, words

# anywidget hands bytes over as a DataView
CARRIED = RENDER.replace(
    "const heard = {};",
    "state.carried = new DataView("
    "Uint8Array.from(atob(state.carried), (one) => one.charCodeAt(0)).buffer); const heard = {};",
)


def ready(show, folder, widget=None, **options):
    widget = widget or translator()
    put_asset(folder, widget)
    return show(widget, reduced_motion="reduce", **options)


def longest() -> Translator:
    """A sentence of 16 words, and a translation of 26 that does not end."""
    _, source, target = lesson()
    model = options_of("as the lecture's")
    return Translator(model, source, target, sentence=source.tokens[3:19], beam=8, asset="long")


def test_the_longest_sentence_stays_within_the_budget_of_nodes(show, folder) -> None:
    page = ready(show, folder, longest())
    translate(page)
    assert len(words(page)) == 26
    for fold in page.locator(".attnbook-twin > summary").all():
        fold.click()
    settle(page)
    assert page.locator("figure *").count() <= 500


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_or_after(show, folder, theme: str) -> None:
    page = ready(show, folder, theme=theme)
    assert violations(page) == []
    translate(page)
    button(page, "back").click()
    choose(page, "beam", "3")
    page.locator(".attnbook-words button").first.click()
    page.locator(".attnbook-twin > summary").first.click()
    page.get_by_label("English sentence").fill("unicorns")
    button(page, "translate").click()
    settle(page)
    assert violations(page) == []


def test_on_a_phone_nothing_scrolls_sideways_and_a_finger_hits(show, folder) -> None:
    page = ready(show, folder, longest(), width=390, has_touch=True, is_mobile=True)
    translate(page)
    for fold in page.locator("summary").all():
        fold.click()
    page.get_by_label("English sentence").fill("teh aple")
    button(page, "translate").click()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tall = [one.bounding_box()["height"] for one in page.get_by_role("button").all()]
    tall.append(page.get_by_label("English sentence").bounding_box()["height"])
    assert min(tall) >= 44


def test_without_javascript_the_table_is_there(show) -> None:
    page = show(translator(), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback")).to_contain_text("le petit chat noir ne mange pas")
    expect(page.locator(".attnbook-fallback tbody tr")).to_have_count(11)


def test_on_paper_there_is_a_table_before_and_after(show, folder) -> None:
    page = ready(show, folder)
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    page.emulate_media(media="screen")
    translate(page)
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-twin table").first).to_be_visible()
    expect(page.locator(".attnbook-written")).to_be_visible()
    for hidden in (".attnbook-ask", ".attnbook-controls", ".attnbook-stepper"):
        expect(page.locator(hidden).first).to_be_hidden()


def test_hostile_words_are_shown_as_text(show, folder) -> None:
    known = Vocabulary([[EVIL, "</script>", "cat"]])
    model = Seq2Seq(len(known), len(known), d_model=8, n_heads=2, n_layers=1)
    widget = Translator(
        model, known, known, sentence=[EVIL], examples=(), asset="evil", caption=EVIL
    )
    page = ready(show, folder, widget)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.locator(".attnbook-known > summary").click()
    translate(page, "cat")
    page.get_by_label("English sentence").fill("<img src=x onerror=alert(2)>")
    button(page, "translate").click()
    settle(page)
    assert page.locator("figure img").count() == 0
    expect(page.locator("figcaption")).to_have_text(EVIL)


def rendered(show, widget: Translator, views: int = 2):
    page = show(reduced_motion="reduce")
    state = {**markup.tidy(widget.state()), "carried": base64.b64encode(widget.carried).decode()}
    page.evaluate(CARRIED, [module("translator"), state, views])
    page.locator(".attnbook-words li").first.wait_for()
    settle(page)
    return page


def test_in_jupyter_it_translates_at_once_and_the_hand_moves_python(show) -> None:
    page = rendered(show, translator())
    assert words(page) == FRENCH * 2
    assert page.evaluate("saves") == 0
    page.get_by_label("English sentence").first.fill("how was your day")
    button(page, "translate").first.click()
    expect(page.locator(".attnbook-words").last).not_to_contain_text("chat")
    settle(page)
    assert page.evaluate("model.get('sentence')") == ["how", "was", "your", "day"]
    expect(page.get_by_label("English sentence").last).to_have_value("how was your day")
    assert words(page)[: len(words(page)) // 2] * 2 == words(page)


def test_python_moves_the_views_and_hears_no_echo(show) -> None:
    page = rendered(show, translator())
    page.evaluate("() => { model.set('part', 'encoder'); model.set('row', 3); }")
    settle(page)
    for view in page.locator("figure").all():
        expect(view.get_by_role("status").last).to_contain_text("cat in the source looks most at")
    page.evaluate("() => { model.set('shown', 2); model.set('part', 'cross'); }")
    settle(page)
    assert words(page) == ["le", "petit"] * 2
    page.evaluate("() => { model.set('sentence', ['how', 'was', 'your', 'day']); }")
    expect(page.locator(".attnbook-words").first).not_to_contain_text("petit")
    assert page.evaluate("saves") == 0


def test_a_view_that_is_closed_shows_no_further_words(show) -> None:
    page = rendered(show, translator(sentence=CAT), views=1)
    page.emulate_media(reduced_motion="no-preference")
    button(page, "translate").click()
    page.wait_for_function("model.get('shown') >= 2")  # null once all of the words are there
    page.evaluate("stops.forEach((stop) => stop())")
    shown = page.evaluate("model.get('shown')")
    page.wait_for_timeout(700)
    assert page.evaluate("model.get('shown')") == shown
    assert page.evaluate("left()") == 0
