"""Which questions are done: counted by the build, kept in the browser alone, shown, forgotten."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.book.lectures import HTML, NOTEBOOKS, ROOT, load

made = load(ROOT / "book" / "extensions" / "attnbook_progress.py")
KEY = "attention-worked-out:done"
LECTURE = "notebooks/04-scoring-functions"
OTHER = "notebooks/09-positions"
KEPT = f"() => JSON.parse(localStorage.getItem('{KEY}'))"


def listed() -> dict[str, list[str]]:
    text = (HTML / "_static" / made.FILE).read_text(encoding="utf-8")
    return json.loads(text.removeprefix("globalThis.attnbookQuestions = ").removesuffix(";\n"))


def answer(page: Page, which: int = 0) -> str:
    """Answer a checkpoint as its author would; return its question."""
    figure = page.locator("figure.attnbook-checkpoint").nth(which)
    state = json.loads(figure.locator("script").text_content())
    for text, (_, correct, _) in enumerate(state["options"]):
        if correct:
            figure.locator("input").nth(text).check()
    if state["multiple"]:
        figure.get_by_role("button", name="check").click()
    expect(figure.get_by_role("status")).to_contain_text("Right.")
    return state["question"]


def done(page: Page) -> list[int]:
    """Return how many questions the plan calls done, section by section that has some."""
    marks = page.locator(".lecture-plan .plan-done").all()
    return [int(re.search(r"\((\d+) of", mark.text_content())[1]) for mark in marks]


def test_the_build_lists_every_question_of_every_page() -> None:
    found = listed()
    assert {f"notebooks/{path.stem}" for path in NOTEBOOKS} <= set(found)
    for name, ids in found.items():
        page = (HTML / f"{name}.html").read_text(encoding="utf-8")
        asked = [page.count(f'class="attnbook attnbook-{kind}"') for kind in made.KINDS]
        assert len(set(ids)) == len(ids) == sum(asked), name


def test_a_right_answer_is_kept_and_marked_on_every_page(visit) -> None:
    page = visit(LECTURE, via="http")
    ids, before = listed(), done(page)
    assert before
    assert sum(before) == 0
    counts = page.locator(".progress-count")
    expect(counts).to_have_count(0)  # nothing is said of what is not begun
    key = page.locator(".plan-key")
    expect(key).to_contain_text("down to where you are")
    expect(key.locator("span")).to_be_hidden()
    asked = [answer(page), answer(page, 1)]
    wanted = {LECTURE: [made.question_id(text) for text in asked]}
    assert page.evaluate(KEPT) == wanted
    assert sum(done(page)) == 2
    expect(key.locator("span")).to_have_text("The counts are of questions done.")
    expect(key.locator("span")).to_be_visible()
    shown = page.locator(".plan-done").evaluate_all("(all) => all.map((one) => !one.hidden)")
    assert shown == [count > 0 for count in done(page)]
    said = f"2/{len(ids[LECTURE])} (2 of {len(ids[LECTURE])} questions done)"
    expect(counts).to_have_text([said])
    page.get_by_role("button", name="try again").first.click()
    page.reload()  # what was done once stays done
    assert sum(done(page)) == 2
    root = page.url.removesuffix(f"{LECTURE}.html")
    page.goto(f"{root}{OTHER}.html")
    expect(counts).to_have_text([said])
    assert sum(done(page)) == 0
    page.goto(f"{root}book/index.html")
    expect(page.locator("nav.bd-links .progress-count")).to_have_text([said])
    expect(page.locator("article .progress-count")).to_have_text([said, said])  # path and cards
    expect(page.locator(".lecture-path a", has_text="Scoring")).to_contain_text(said)
    total = sum(map(len, ids.values()))
    expect(page.locator(".progress-sum")).to_contain_text(f"2 of {total} questions done")
    page.locator(".progress-sum button").press("Enter")
    expect(counts).to_have_count(0)
    expect(page.locator(".progress-sum")).to_be_focused()
    expect(page.locator(".progress-sum button")).to_be_hidden()
    assert page.evaluate(KEPT) is None


def answer_wrong(page: Page) -> tuple[Locator, int]:
    """Answer the first checkpoint by its first wrong option; return both."""
    figure = page.locator("figure.attnbook-checkpoint").first
    state = json.loads(figure.locator("script").text_content())
    wrong = next(at for at, (_, correct, _) in enumerate(state["options"]) if not correct)
    figure.locator("input").nth(wrong).check()
    if state["multiple"]:
        figure.get_by_role("button", name="check").click()
    return figure, wrong


def test_what_was_answered_stands_there_on_return_and_is_forgotten_with_the_rest(visit) -> None:
    page = visit(LECTURE, via="http")
    choice, wrong = answer_wrong(page)
    guess = page.locator("figure.attnbook-prediction").first
    guess.locator("input").first.fill("0.25")
    guess.get_by_role("button", name="reveal").click()
    paper = page.locator("figure.attnbook-answer").first
    paper.locator("input").first.fill("1/7")
    told = [one.get_by_role("status").inner_text() for one in (choice, guess)]
    page.reload()
    expect(choice.locator("input").nth(wrong)).to_be_checked()
    assert [one.get_by_role("status").inner_text() for one in (choice, guess)] == told
    expect(guess.locator("input").first).to_have_value(re.compile(r"0\.25"))
    expect(paper.locator("input").first).to_have_value("1/7")
    # another text of the question is another question
    page.route("**/04-scoring-functions.html", other_options)
    page.reload()
    expect(page.locator("figure.attnbook-checkpoint :checked")).to_have_count(0)
    expect(guess.locator("input").first).to_have_value(re.compile(r"0\.25"))
    page.locator(".progress-sum button").evaluate("(button) => button.click()")
    page.reload()
    expect(guess.locator("input").first).to_have_value("")
    expect(page.locator(".progress-sum")).to_have_count(0)


def other_options(route) -> None:
    there = route.fetch()
    route.fulfill(response=there, body=there.text().replace('"multiple":', '"was":0,"multiple":'))


def test_the_first_page_leads_back_to_where_one_was(visit) -> None:
    page = visit(LECTURE, via="http", reduced_motion="reduce")
    root = page.url.removesuffix(f"{LECTURE}.html")
    line = page.locator("article .progress-on")
    page.goto(f"{root}book/index.html")
    expect(line).to_have_count(0)  # nothing was begun
    page.goto(f"{root}{LECTURE}.html")
    answer(page)
    third = page.locator(".lecture-plan a").nth(2)
    third.click()
    expect(third).to_have_attribute("aria-current", "location")
    page.goto(f"{root}book/index.html")
    all_ = len(listed()[LECTURE])
    expect(line).to_have_text(f"Go on: lecture 4, section 4.3, 1 of {all_} answered.")
    line.get_by_role("link").click()
    expect(third).to_have_attribute("aria-current", "location")
    page.goto(f"{root}book/index.html")
    page.locator(".progress-sum button").press("Enter")
    expect(line).to_have_count(0)


def test_the_place_is_kept_at_once_and_shown_on_a_page_that_is_gone_back_to(visit) -> None:
    """A phone ends a page without a word, and keeps the one before it as it was."""
    deaf = """for (const name of ["pagehide", "visibilitychange"])
      addEventListener(name, (event) => event.stopImmediatePropagation(), true);"""
    page = visit(LECTURE, via="http", reduced_motion="reduce", first=deaf)
    first = page.context.new_page()
    first.goto(page.url.replace(LECTURE, "book/index"))
    question = page.locator("section:has(> h2) figure.attnbook-checkpoint").first
    place = question.evaluate("(one) => one.closest('section:has(> h2)').id")
    page.locator("figure.attnbook-prediction input").first.fill("0.25")
    assert page.evaluate("localStorage.getItem('attention-worked-out:place')") is not None
    answer(page)
    first.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    line = first.locator("article .progress-on a")
    expect(line).to_have_attribute("href", re.compile(f"{LECTURE}.html#{place}$"))


def test_axe_finds_nothing_in_the_marks_and_paper_has_none(visit) -> None:
    page = visit(LECTURE)
    answer(page)
    expect(page.locator(".progress-sum")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        parts = [[".bd-sidebar-primary"], [".bd-sidebar-secondary"]]
        found = Axe().run(page, context=parts, options={"preload": False})
        marked = [
            f"{one['id']}: {node['html']}"
            for one in found.response["violations"]
            for node in one["nodes"]
            if re.search("progress-|plan", f"{node['html']} {node['target']}")
        ]
        assert marked == []
    expect(page.locator(".lecture-plan").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".lecture-plan").first).to_be_hidden()
    expect(page.locator(".progress-sum")).to_be_hidden()


def test_a_wrong_answer_is_tried_and_not_done_until_it_is_right(visit) -> None:
    page = visit(LECTURE, via="http")
    figure, wrong = answer_wrong(page)
    assert page.evaluate(KEPT) is None
    all_ = len(listed()[LECTURE])
    said = f"0/{all_}, 1 tried (0 of {all_} questions done, 1 tried)"
    tried = "(one) => getComputedStyle(one, '::after').content"
    for _ in range(2):  # at once, and on return
        expect(page.locator(".progress-count")).to_have_text([said])
        expect(page.locator(".plan-done", has_text="1 tried")).to_have_count(1)
        assert sum(done(page)) == 0
        assert figure.evaluate(tried) == '"tried, not right yet"'
        expect(figure.locator("input").nth(wrong)).to_be_checked()
        expect(figure.get_by_text("Not right.").first).to_be_visible()
        page.reload()
    figure.get_by_role("button", name="try again").click()
    page.reload()  # what was tried is not forgotten with the choice
    assert figure.evaluate(tried) == '"tried, not right yet"'
    answer(page)
    assert figure.evaluate(tried) == "none"
    expect(page.locator(".progress-count")).to_have_text([f"1/{all_} (1 of {all_} questions done)"])


def test_an_answer_that_was_shown_is_tried(visit) -> None:
    page = visit(LECTURE, via="http")
    paper = page.locator("figure.attnbook-answer").first
    paper.locator("input").first.fill("-777")
    paper.get_by_role("button", name="check").click()
    paper.get_by_role("button", name="show the answer").click()
    page.reload()
    expect(page.locator(".plan-done", has_text="1 tried")).to_have_count(1)
    assert sum(done(page)) == 0


def test_another_window_is_followed(visit) -> None:
    page = visit(LECTURE, via="http")
    other = page.context.new_page()
    other.goto(page.url)
    answer(other)
    expect(page.locator(".plan-done", has_text="(1 of")).to_have_count(1)
    other.locator(".progress-sum button").evaluate("(button) => button.click()")
    expect(page.locator(".plan-done", has_text="(1 of")).to_have_count(0)


SPOILED = {
    "nonsense": f"localStorage.setItem('{KEY}', '{{[')",
    "another's": f"localStorage.setItem('{KEY}', '[1, null]')",
    "null": f"localStorage.setItem('{KEY}', 'null')",
    "nonsense beside it": """for (const [name, kept] of [["said", "[7]"], ["place", '{"a": 1}']])
        localStorage.setItem(`attention-worked-out:${name}`, kept);""",
    "of wrong types": f"""localStorage.setItem('{KEY}',
        '{{"{LECTURE}": "all", "{OTHER}": [1, null, "x"], "__proto__": ["y"]}}')""",
    "full": f"""const first = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, value) {{  // the theme, too, keeps something
        if (key === '{KEY}') throw new DOMException('', 'QuotaExceededError');
        first.call(this, key, value);
      }}""",
    "refused": f"""for (const name of ['getItem', 'setItem', 'removeItem']) {{
        const first = Storage.prototype[name];
        Storage.prototype[name] = function (key, value) {{
          if (key === '{KEY}') throw new DOMException('', 'SecurityError');
          return first.call(this, key, value);
        }};
      }}""",
}


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED)
def test_a_storage_that_is_spoiled_is_borne_in_silence(visit, script: str) -> None:
    page = visit(LECTURE, first=script)
    expect(page.locator("figure.attnbook:not([data-ready])")).to_have_count(0)
    assert sum(done(page)) == 0
    answer(page)
    # known to this page at least
    expect(page.locator(".plan-done", has_text="(1 of")).to_have_count(1)
    assert page.get_by_role("alert").all_text_contents() == [""] * page.get_by_role("alert").count()


ASK = """([key, page, question, id]) => {
  localStorage.removeItem(key);
  const figure = document.querySelector("figure.attnbook-checkpoint");
  figure.querySelector("script").textContent = JSON.stringify({ question });
  globalThis.attnbookQuestions[page].push(id);
  figure.firstElementChild.dispatchEvent(new CustomEvent("attnbook:done", { bubbles: true }));
}"""


def test_an_id_is_that_of_the_script_whatever_the_letters(visit) -> None:
    page = visit(LECTURE)
    for text in ("", "a", "α ≤ √3", "𝛼 and 🙂", "`code` & <b>"):
        page.evaluate(ASK, [KEY, LECTURE, text, made.question_id(text)])
        assert made.question_id(text) in page.evaluate(KEPT)[LECTURE]
