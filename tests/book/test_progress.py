"""Which questions are done: counted by the build, kept in the browser alone, shown, forgotten."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

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
    """Return how many questions the plan's bar calls done, section by section."""
    links = page.locator(".lecture-plan a:has(.plan-done)").all()
    return [int(re.search(r": (\d+) of", link.get_attribute("title"))[1]) for link in links]


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
    asked = [answer(page), answer(page, 1)]
    wanted = {LECTURE: [made.question_id(text) for text in asked]}
    assert page.evaluate(KEPT) == wanted
    assert sum(done(page)) == 2
    filled = page.locator(".plan-done").evaluate_all("(all) => all.map((one) => one.offsetWidth)")
    assert [width > 0 for width in filled] == [count > 0 for count in done(page)]
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
    expect(page.locator("article .progress-count")).to_have_text([said])
    total = sum(map(len, ids.values()))
    expect(page.locator(".progress-sum")).to_contain_text(f"2 of {total} questions done")
    page.locator(".progress-sum button").press("Enter")
    expect(counts).to_have_count(0)
    expect(page.locator(".progress-sum")).to_be_focused()
    expect(page.locator(".progress-sum button")).to_be_hidden()
    assert page.evaluate(KEPT) is None


def test_axe_finds_nothing_in_the_marks_and_paper_has_none(visit) -> None:
    page = visit(LECTURE)
    answer(page)
    expect(page.locator(".progress-sum")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        parts = [[".bd-sidebar-primary"], [".lecture-plan"]]
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


def test_a_wrong_answer_is_not_done(visit) -> None:
    page = visit(LECTURE)
    for figure in page.locator("figure.attnbook-checkpoint").all():
        state = json.loads(figure.locator("script").text_content())
        wrong = next(at for at, (_, correct, _) in enumerate(state["options"]) if not correct)
        figure.locator("input").nth(wrong).check()
        if state["multiple"]:
            figure.get_by_role("button", name="check").click()
    assert sum(done(page)) == 0
    assert page.evaluate(KEPT) is None


def test_another_window_is_followed(visit) -> None:
    page = visit(LECTURE, via="http")
    other = page.context.new_page()
    other.goto(page.url)
    answer(other)
    expect(page.locator(".lecture-plan a[title*=': 1 of']")).to_have_count(1)
    other.locator(".progress-sum button").evaluate("(button) => button.click()")
    expect(page.locator(".lecture-plan a[title*=': 1 of']")).to_have_count(0)


SPOILED = {
    "nonsense": f"localStorage.setItem('{KEY}', '{{[')",
    "another's": f"localStorage.setItem('{KEY}', '[1, null]')",
    "null": f"localStorage.setItem('{KEY}', 'null')",
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
    expect(page.locator(".lecture-plan a[title*=': 1 of']")).to_have_count(1)
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
