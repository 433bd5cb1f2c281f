"""Every number that the book prints can be typed as it is printed, and junk is told so in words."""

import re

import pytest
from playwright.sync_api import expect

from tests.attnlab.widgets.examples import EXAMPLES, guess, paper, steps
from tests.attnlab.widgets.pages import alert, button, settle, unfold
from tests.attnlab.widgets.tasks import LECTURES, ROOT, tasks

HANGS_ON = ("notebooks", "book/lectures", "book/evidence")

BARE = ("fewshot", "lens", "pages", "unrolled", "visibility")  # pictures without a box
# not numbers to type: addresses, citations, names of places in the book, formulae's letters
ASIDE = re.compile(
    r"\]\([^)]*\)|\[[^\]]*\d{4}|(?:[Ff]igure|[Ll]ecture|Table|section) [\d.]+\d*|`[^`]*`"
    r"|[\w^_{}]*[A-Za-z_^√][\w^{}]*"
)
NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[½¼¾]")
FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}

# type each text into a box as a reader does, and press Enter: what stands there, what is said
TYPE = """(box, texts) => texts.map((text) => {
  const figure = box.closest("figure");
  box.focus();
  box.value = text;
  for (const name of ["input", "change"]) box.dispatchEvent(new Event(name, { bubbles: true }));
  const said = (role) => figure.querySelector(role).textContent;
  return [box.value, box.hasAttribute("aria-invalid"), said("[role=alert]"), said("[aria-live]")];
})"""
PASTE = """(box, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  if (!box.readOnly) box.value = "";
  box.focus();
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
  return box.value;
}"""


def numbers(text: str) -> dict[str, float]:
    """The numbers in a text as they are printed, and what each is."""
    bare = ASIDE.sub(" ", text.replace("{,}", ",").replace("$", ""))
    found = {one: one.replace(",", "").replace("−", "-") for one in NUMBER.findall(bare)}
    return {one: FRACTIONS.get(one) or float(value) for one, value in found.items()}


def boxes(view) -> list:
    view.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    return view.locator("input[inputmode=decimal]:not([disabled])").element_handles()


def value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def understood(shown: list, number: float) -> bool:
    """Whether a box took a number as what it is; else it must have refused it for its size."""
    text, bad, told, _ = shown
    if not bad:
        assert value(text) == pytest.approx(number, rel=1e-6), shown
        return True
    assert re.search(r"is wanted; [−\d.,e]+ is kept\.$", told), shown
    assert "is not a number" not in told, shown
    assert "more than one number" not in told, shown
    return False


def test_every_task_is_found_with_its_picture_its_answer_and_its_numbers() -> None:
    found = [one for lecture in LECTURES for one in tasks(lecture)]
    paths = [one if "/" in one else f"lectures/{one}" for one in LECTURES]
    texts = [(ROOT / "book" / f"{path}.md").read_text("utf-8") for path in paths]
    assert len(found) == sum(text.count("**Task.**") for text in texts) > 20
    assert all(task.answer for task in found)
    sizes = next(task for task in found if "paper's sizes" in task.asked)
    wanted = {"512": 512, "2,048": 2048, "37,000": 37000, "6": 6}
    assert numbers(sizes.asked + sizes.answer).items() >= wanted.items()
    # on a page of evidence, too
    tried = next(task for task in found if task.asked.startswith("**Task.** Try all six"))
    assert tried.kind == "block"
    assert "0.951" in tried.answer


@pytest.mark.parametrize("lecture", LECTURES)
def test_the_numbers_of_every_task_are_taken_as_they_are_printed(show, lecture: str) -> None:
    for task in tasks(lecture):
        start, kind, printed = task.asked[:60], task.kind, numbers(task.asked + task.answer)
        if kind in ("browser", "own", "drawing"):
            continue  # no box for a number, and what it shows is in a file beside the page
        view = show(task.picture).locator("figure")
        said = numbers(" ".join(view.locator("[role=status], figcaption").all_inner_texts()))
        fields = boxes(view)
        assert bool(fields) == (kind not in BARE), (start, kind)
        for box in fields:
            (_, bad, told, _) = box.evaluate(TYPE, ["much"])[0]
            assert bad, (start, told)
            bounds = numbers(told.split("; ", 1)[1])
            texts = said | bounds | printed
            for text, shown in zip(texts, box.evaluate(TYPE, list(texts)), strict=True):
                if "may be" in shown[2] and text not in bounds | printed:
                    continue  # 1,024 of a sentence, in a box that may mean 1.024
                taken = understood(shown, texts[text])
                assert taken or text not in bounds or "in all" in told, (told, text)


@pytest.mark.parametrize(
    ("kind", "label", "texts"),
    [
        ("cache", "tokens in a text as a number", {"100,000": 100000, "100 000": 100000,
            "8.192": 8192, "1e5": 100000, "2^17": 131072}),
        ("positions", "base as a number", {"10,000": 10000, "10⁴": 10000, "1,5": 1.5}),
        ("speculation", "kept α as a number", {"½": 0.5, "50 %": 0.5, "1/4": 0.25, "0,512": 0.512}),
        ("scores", "key black, number 2", {"−1½": -1.5, "1.024": 1.024, "–2": -2}),
    ],
)  # fmt: skip
def test_what_was_understood_is_shown_back(show, kind: str, label: str, texts: dict) -> None:
    view = show(EXAMPLES[kind].make()).locator("figure")
    unfold(view)
    box = view.get_by_label(label, exact=True)
    for text, number in texts.items():
        box.fill(text)
        box.press("Enter")
        shown = box.input_value()
        assert value(shown) == number
        expect(alert(view)).to_be_empty()
        told = "" if text == shown or text == "–2" else f"“{text}” is read as {shown}."
        expect(view.locator(".attnbook-calm").first).to_have_text(told)


JUNK = {
    "1,2,3": "“1,2,3” is more than one number",
    "١٢": "“١٢” is not written in the digits 0 to 9",
    "9" * 400: "“99999999999999999999…” is too long: write fewer digits",
    "1e999": "“1e999” is too large",
    "1/0": "“1/0” has no value",
    "∞": "“∞” is not a number",
    "50 %": "“50 %” has a percent sign: write it without",
}


def test_junk_stays_in_its_box_with_a_sentence_and_the_picture_as_it_was(show) -> None:
    view = show(steps()).locator("figure")
    box = view.get_by_label("nuts, component 3", exact=True)
    wanted = "a number from −1,000,000 to 1,000,000 is wanted; 2 is kept."
    for text, clause in JUNK.items():
        box.fill(text)
        box.press("Tab")
        expect(box).to_have_value(text)
        expect(alert(view)).to_have_text(f"nuts, component 3: {clause}; {wanted}")
    box.fill("1,024")
    expect(alert(view)).to_contain_text("“1,024” may be 1024 or 1.024: write the one that you")
    box.fill("2")
    box.press("Enter")
    before = view.locator("tbody").first.inner_text()
    box.fill("")
    box.press_sequentially("1,2,3")  # 1 and 1,2 are numbers: they are taken back
    settle(view)
    expect(alert(view)).to_contain_text("2 is kept.")
    assert view.locator("tbody").first.inner_text() == before
    assert box.evaluate(PASTE, "1\t2\n3\t4\n") == "1 ↵ 2 ↵ 3 ↵ 4"
    expect(alert(view)).to_contain_text("more than one number")
    box.fill("")
    box.press("Tab")
    expect(box).to_have_value("2")
    expect(alert(view)).to_be_empty()


def test_a_question_reads_its_numbers_alike_and_a_block_that_cannot_be_is_refused(show) -> None:
    page = show(guess(), paper())
    predicted = page.get_by_label("your prediction for bowl")
    for text, clause in JUNK.items():
        predicted.fill(text)
        button(page, "reveal").click()
        expect(alert(page)).to_have_text(f"One of your predictions cannot be compared: {clause}.")
        expect(predicted).to_have_value(text)
    predicted.fill("½")
    predicted.press("Tab")
    expect(predicted).to_have_value("0.5")
    mine = page.get_by_label("your number for bowl")
    for text, clause in JUNK.items():
        mine.fill(text)
        button(page, "check").click()
        expect(page.locator(".attnbook-said").last).to_have_text(clause)
        expect(mine).to_have_value(text)
    mine.fill("9/100")
    expect(page.locator(".attnbook-read").last).to_have_text("“9/100” is read as 0.09.")
    block = next(one for one in tasks("12-pretrained-models") if "h_kv" in one.asked)
    view = show(block.picture).locator("figure")
    view.get_by_label("h_kv as a number").fill("4")
    expect(view.get_by_role("alert").nth(1)).to_contain_text("9 / 4 is not a whole number")
