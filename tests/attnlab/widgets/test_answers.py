"""What the answer of a lecture's task says, tried in the very picture that the page holds."""

import math
import re

from playwright.sync_api import expect

from tests.attnlab.widgets.pages import press, rows, settle
from tests.book.lectures import NOTEBOOKS, prose, stored

PICTURE = re.compile(r'<figure class="attnbook attnbook-(\w+).*?</figure>', re.S)
ANSWER = re.compile(r"\*\*Task\.\*\*.*?<summary>Answer</summary>(.*?)</details>", re.S)


def notebook(lecture: int):
    return stored(NOTEBOOKS[lecture - 1])


def picture(lecture: int, kind: str, place: int = 0) -> str:
    """The stored HTML of a lecture's live picture: its first of a kind, its second …"""
    shown = [
        output["data"]["text/html"]
        for cell in notebook(lecture).cells
        for output in cell.get("outputs", [])
        if f'"attnbook attnbook-{kind}"' in output.get("data", {}).get("text/html", "")
    ]
    return shown[place]


def answer(lecture: int, place: int = 0) -> str:
    """What stands in the fold below a lecture's first task, its second …"""
    text = "\n\n".join(cell.source for cell in prose(notebook(lecture)))
    return " ".join(ANSWER.findall(text)[place].split())


def says(found: str, *words: str) -> None:
    for one in words:
        assert one in found, f"the answer no longer says {one!r}"


def write(page, text: str) -> str:
    """What the unrolled model of lecture 1 writes for a string of digits."""
    sentence = page.get_by_label("sentence", exact=True)
    sentence.fill(text)
    sentence.press("Enter")
    return finished(page)


def finished(page) -> str:
    page.locator(".attnbook-net .attnbook-scroll").first.press("End")
    settle(page)
    words = rows(page.locator(".attnbook-net table").last.locator("tr"), "th, td")
    line = next(line for line in words if line[0] == "writes")
    return "".join(word for word in line[1:] if word.isdigit())


def winner(page, k: int, penalty: str = "0") -> tuple[str, float]:
    """The best sentence of the tree for a width and an α, and its log p."""
    page.get_by_label("beam k").select_option("1 (greedy)" if k == 1 else str(k))
    page.get_by_label("length penalty α as a number").fill(penalty)
    press(page, "end")
    settle(page)
    ended = page.get_by_role("group", name="The hypotheses that have ended")
    words, log_p, *_ = rows(ended.locator("tbody tr"), "th, td")[0]
    return words.removesuffix(" <eos>"), float(log_p.replace("−", "-"))


def test_lecture_1_an_opening_string_that_goes_wrong_and_digits_that_do_not_fit(show) -> None:
    text = answer(1)
    says(text, "right as far as the fourth digit and comes out a digit short")
    says(text, "Twelve ask for more room", "here it stops too early", "never exceeds $\\sqrt{28}$")
    page = show(picture(1, "unrolled"))
    source = page.get_by_label("sentence", exact=True).input_value().replace(" ", "")
    written = finished(page)
    assert len(source) == 8
    assert len(written) == 7
    assert written[:4] == source[::-1][:4]
    assert written[4] != source[::-1][4]
    strings = {n: [str(k * 7919**2)[-n:].zfill(n) for k in range(1, 13)] for n in (4, 8, 12)}
    right = {n: sum(write(page, one) == one[::-1] for one in strings[n]) for n in strings}
    assert right[4] >= 8, "five of six"
    assert right[8] <= 3, "nine in ten have a mistake"
    assert right[12] == 0
    assert sum(len(write(page, one)) < 12 for one in strings[12]) >= 11


def test_lecture_2_a_wider_beam_finds_a_more_probable_sentence_and_a_worse_one(show) -> None:
    says(answer(2), "*le pomme rouge*", "with $k = 2$ it is right", "with $k = 3$ it is *pomme*")
    page = show(picture(2, "beam"))
    found = [winner(page, k) for k in (1, 2, 3, 4)]
    assert [words for words, _ in found] == ["le pomme rouge", "la pomme rouge", "pomme", "pomme"]
    assert found[0][1] < found[1][1] < found[2][1] == found[3][1]


def test_lecture_2_the_length_penalty_at_which_the_right_sentence_wins(show) -> None:
    says(answer(2, 1), "At 0.15 *pomme* still wins, at 0.2 it does not.", "lower *le* below 0.35")
    page = show(picture(2, "beam"))
    assert winner(page, 3, "0.15")[0] == "pomme"
    assert winner(page, 3, "0.2")[0] == "la pomme rouge"
    page.get_by_text("The probabilities: change them").click()
    page.get_by_label("la, first").fill("0.46")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("le, first").fill("0.34")
    assert winner(page, 1)[0] == "la pomme rouge"


def test_lecture_2_the_trained_model_s_right_sentence_is_lost_twice(show) -> None:
    says(
        answer(2, 2),
        "with $k = 2$, where",
        "*my clever child*",
        "from $k = 3$ on",
        "*must they cry*",
    )
    text = answer(2, 2)
    says(text, "with $k = 2$, where", "*my clever child*", "from $k = 3$ on", "*must they cry*")
    says(text, "With $\\alpha = 1$ the right sentence wins at every $k$.")
    page = show(picture(2, "beam", 1))
    right = "doivent -ils écouter ce bel enfant intelligent"
    found = [winner(page, k) for k in (1, 2, 3, 4)]
    other = "doivent -ils écouter mon enfant intelligent"
    assert [words for words, _ in found] == [right, other, *["doivent -ils pleurer"] * 2]
    assert found[0][1] < found[1][1] < found[2][1]
    assert {winner(page, k, "1")[0] for k in (1, 2, 3, 4)} == {right}


def test_lecture_3_the_threshold_with_the_lowest_error_rate(show) -> None:
    text = answer(3).replace("at one half", "at θ = 0.50")
    found = re.search(r"it is (0\.\d\d), at θ = (0\.\d\d)", text)
    again = re.search(r"a hundredth higher, with two right links fewer, it is (0\.\d\d) ", text)
    assert found, "the answer names the lowest rate and its threshold"
    assert again, "the answer says how exactly that threshold can be known"
    stated = {theta: one for one, theta in re.findall(r"(0\.\d\d) at θ = (0\.\d\d)", text)}
    page = show(picture(3, "player"))
    page.get_by_label("compare with gold links").check()

    def error_rates() -> list[str]:
        """Those of all eight sentences, at the threshold and by the greatest weights."""
        settle(page)
        table = rows(page.locator(".attnbook-live > .attnbook-scroll tbody tr"), "th, td")
        return [rate for name, rate, *_ in table if name.startswith("all 8")]

    def rate(theta: float) -> float:
        page.get_by_label("threshold θ as a number").fill(f"{theta:g}")
        return float(error_rates()[0])

    rates = {k / 100: rate(k / 100) for k in range(1, 100)}
    lowest = min(rates, key=rates.get)
    assert (f"{rates[lowest]:.2f}", f"{lowest:.2f}") == found.groups()
    assert stated.keys() == {"0.25", "0.50"}
    assert stated == {theta: f"{rates[float(theta)]:.2f}" for theta in stated}
    assert f"{rates[round(lowest + 0.01, 2)]:.2f}" == again[1]
    at_threshold, by_greatest = error_rates()
    page.get_by_label("temperature as a number").fill("3")
    assert error_rates()[0] != at_threshold
    assert error_rates()[1] == by_greatest


def test_lecture_4_the_additive_score_alone_gives_the_most_to_a_word_inside(show) -> None:
    says(answer(4), "With the additive score alone, for example at the query (1, ¼).")
    page = show(picture(4, "scores"))
    page.locator("summary").click()

    def winners(*query: float) -> list[set[int]]:
        """The words with the greatest weight, as they stand, by each of the four scores."""
        for place, number in enumerate(query, 1):
            page.get_by_label(f"query, number {place}").fill(f"{number:.2f}")
        settle(page)
        four = rows(page.locator(".attnbook-four > *"), ".attnbook-value")
        return [{k for k, one in enumerate(row) if one == max(row)} for row in four]

    assert winners(1, 0.25) == [{1}, {1}, {2}, {0}]
    for angle in range(0, 360, 15):
        x, y = (2 * turn(math.radians(angle)) for turn in (math.cos, math.sin))
        assert all(0 not in of_score for of_score in winners(x, y)[:3]), (x, y)
