"""The beam tree: the search of Python, drawn, told in words, moved by hand and keyboard."""

import itertools
import math
import re
from itertools import product

import pytest
import torch
from playwright.sync_api import expect

from attnbook.decoding import beam_search, greedy
from attnbook.rnn import RNNSeq2Seq
from attnlab.language import Vocabulary
from attnlab.widgets import BeamTree, prefix_table
from attnlab.widgets.core import markup
from tests.attnlab.widgets.examples import DETERMINERS, EOS, full_table, model_table
from tests.attnlab.widgets.pages import HIDDEN, eventually, press, rows, says, settle, tells

PENALTIES = (0.0, 0.6, 1.0, 2.0)


def numbers(found) -> list[float]:
    return [number for one in found for number in (one.log_probability, one.score)]


def by_hand(table: dict, k: int, penalty: float, longest: int) -> list[tuple]:
    """Beam search once more, in plain Python, without ending early."""
    living, ended = [((), 0.0)], []
    for n in range(1, longest + 1):
        grown = [
            ((*words, word), log_p + math.log(p))
            for words, log_p in living
            for word, p in table[words].items()
            if p > 0
        ]
        kept = sorted(grown, key=lambda one: -one[1])[:k]
        ended += [(words, p / n**penalty) for words, p in kept if words[-1] == EOS]
        living = [one for one in kept if one[0][-1] != EOS]
    ended += [(words, p / longest**penalty) for words, p in living]
    return sorted(ended, key=lambda one: -one[1])[:k]


def test_what_a_row_lacks_is_never_chosen_and_never_shared_out() -> None:
    for seed, beam, penalty in product(range(6), range(1, 6), PENALTIES):
        table = full_table(seed, lacking=0.9 * (seed % 2))
        found = BeamTree(table, beam=beam, penalty=penalty).hypotheses
        wanted = by_hand(table, beam, penalty, 4)
        written = [(*one.tokens, EOS) if one.finished else tuple(one.tokens) for one in found]
        assert written == [words for words, _ in wanted]
        scores = [score for _, score in wanted]
        assert [one.score for one in found] == pytest.approx(scores, abs=1e-7)


def model() -> tuple[RNNSeq2Seq, Vocabulary]:
    torch.manual_seed(0)
    vocabulary = Vocabulary([list("abcdefghijkl")])
    size = len(vocabulary)
    rnn = RNNSeq2Seq(size, size, d_model=16, order="none").eval()
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.mul_(3)  # a new model finds everything equally likely
    return rnn, vocabulary


def test_the_table_of_a_model_has_few_words_of_each_prefix_and_is_searched_as_the_model() -> None:
    rnn, vocabulary = model()
    source = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    table = prefix_table(rnn, *source, vocabulary, beams=4, max_length=7)
    for beam in range(1, 5):
        for penalty in PENALTIES:
            options = {"beam": beam, "length_penalty": penalty, "max_length": 7}
            (wanted,) = beam_search(rnn, *source, **options)
            tree = BeamTree(table, beam=beam, beams=4, penalty=penalty)
            named = [[vocabulary.tokens[i] for i in one.tokens] for one in wanted]
            assert [one.tokens for one in tree.hypotheses] == named
            assert numbers(tree.hypotheses) == pytest.approx(numbers(wanted), abs=1e-5)
    (first,) = greedy(rnn, *source, max_length=7)
    found = BeamTree(table, beam=1, beams=4).hypotheses[0].tokens
    assert found == [vocabulary.tokens[i] for i in first.tokens]
    table = prefix_table(rnn, *source, vocabulary, beams=2, max_length=5, eos="fin")
    assert {len(row) for row in table.values()} == {6}
    assert all(list(row.values()) == sorted(row.values(), reverse=True) for row in table.values())
    assert not any("fin" in prefix for prefix in table)
    assert "<eos>" not in {word for row in table.values() for word in row}


def test_the_table_comes_back_as_it_was_given() -> None:
    assert BeamTree(DETERMINERS).table == DETERMINERS
    for seed in range(3):
        table = full_table(seed, lacking=0.3)
        back = BeamTree(table).table
        assert list(back) == list(table)
        for prefix, row in table.items():
            assert back[prefix] == pytest.approx(row, rel=1e-6)


def test_a_model_that_does_not_fit_is_named() -> None:
    rnn, vocabulary = model()
    two = torch.ones(2, 3, dtype=torch.long), torch.tensor([3, 3])
    one = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    for said, source, known, options in (
        (r"source must hold one sentence.*\(2, 3\)", two, vocabulary, {}),
        ("beams must be a whole number of at least 1", one, vocabulary, {"beams": 0}),
        ("eos must not be one of the vocabulary's words: 'a' is", one, vocabulary, {"eos": "a"}),
        ("a token for each of the stepper's 15 logits", one, Vocabulary([["a"]]), {}),
        ("vocabulary must be a Vocabulary", one, ["a"], {}),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            prefix_table(rnn, *source, known, max_length=4, **options)


def ranking(page) -> list[tuple[str, ...]]:
    table = page.get_by_role("group", name="The hypotheses that have ended")
    return [tuple(row) for row in rows(table.locator("tbody tr"), "th, td")]


def wanted(tree: BeamTree) -> list[tuple[str, ...]]:
    """The ranking as Python has it, in the words of the page."""
    return [
        (
            " ".join([*one.tokens, EOS if one.finished else "(unfinished)"]),
            markup.fixed(one.log_probability),
            str(len(one.tokens) + one.finished),
            markup.fixed(one.score),
        )
        for one in tree.hypotheses
    ]


def boxes(page, kind: str = "") -> list[str]:
    return page.locator(f".attnbook-tree button{kind} b").all_inner_texts()


def test_each_word_is_told_with_what_is_kept_pruned_and_ended(show) -> None:
    page = show(BeamTree(DETERMINERS))
    press(page, "next")
    says(page, "Word 1, k = 2, candidates: 2. Kept: “le” (−0.693), “la” (−0.916).")
    press(page, "next")
    says(page, "Word 2, k = 2, candidates: 5. Kept: “la souris” (−1.022), “le chat” (−1.743).")
    assert boxes(page, ".attnbook-kept") == ["le", "la", "souris", "chat"]
    press(page, "next")
    says(
        page,
        "Word 3, k = 2, candidates: 3. Ended and put aside: “la souris </s>” (−1.245), "
        "“le chat </s>” (−1.743). The search is over: no hypothesis lives on. "
        "Best: “la souris </s>”, score −1.245.",
    )
    assert boxes(page, ".attnbook-over") == [EOS, EOS]
    assert boxes(page, ".attnbook-best") == ["la", "souris", EOS]
    press(page, "previous")
    titles = [one.get_attribute("title") for one in page.locator(".attnbook-tree button").all()]
    assert [title.split(":")[0] for title in titles] == ["kept"] * 4 + ["pruned"] * 3
    pruned = page.locator(".attnbook-tree button", has_text="chien")
    pruned.hover()
    says(
        page,
        "“le chien”: log p = −0.693 + ln 0.33 = −0.693 + (−1.109) = −1.802; "
        "pruned: number 3 of the candidates, and k = 2.",
    )
    assert boxes(page, ".attnbook-best") == ["le", "chien"]
    page.locator(".attnbook-tree button", has_text="souris").click()
    tells(page, "−0.916 + (−0.105) = −1.022; kept.")
    expect(page.get_by_text("pruned: 3", exact=True)).to_be_visible()


def test_the_search_says_why_it_ends(show) -> None:
    page = show(BeamTree({(): {"a": 0.1, EOS: 0.8}, ("a",): {EOS: 1.0}}, beam=1, step=-1))
    tells(page, "The search is over: no hypothesis lives on.")
    page = show(BeamTree({(): {"a": 0.4, EOS: 0.6}, ("a",): {EOS: 1.0}}, beam=1, step=-1))
    tells(page, "no hypothesis lives on. Best: “</s>”, score −0.511.")
    table = {(): {"a": 0.3, "b": 0.3, EOS: 0.3}}
    table |= {(word,): {"a": 0.5, EOS: 0.01} for word in "ab"}
    page = show(BeamTree(table, beam=2, max_length=2, penalty=0, step=-1))
    tells(page, "no more words are allowed")
    table = {(): {EOS: 0.7, "a": 0.2}, ("a",): {EOS: 0.5, "a": 0.4}, ("a", "a"): {EOS: 1}}
    page = show(BeamTree(table, beam=2, penalty=0, step=-1))
    tells(page, "what lives on can no longer come among the best. Best: “</s>”")


def test_the_keyboard_goes_through_the_tree_and_on(show) -> None:
    tree = BeamTree(DETERMINERS, step=1)
    page = show(tree)
    page.locator(".attnbook-tree button[tabindex='0']").focus()
    tells(page, "“le”: log p = 0.000 + ln 0.5")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("word 2 of 3")).to_be_visible()
    tells(page, "“la souris”")
    way = ["Down", "le chat", "Down", "le chien", "Left", "la", "Up", "le", "Up", "le"]
    for key, words in zip(way[::2], way[1::2], strict=True):
        page.keyboard.press(f"Arrow{key}")
        tells(page, f"“{words}”: log p")
    for key, words in (("End", "la souris"), ("Home", "le")):
        page.keyboard.press(key)
        tells(page, f"“{words}”: log p")
    expect(page.get_by_text("word 2 of 3")).to_be_visible()  # only the right arrow goes on


def test_the_table_of_candidates_gives_every_number(show) -> None:
    page = show(BeamTree(DETERMINERS, step=2, beam=1))
    page.get_by_text("The candidates for word 2 as a table").click()
    rows = page.get_by_role("group", name="The candidates of this word").locator("tbody tr")
    expect(rows).to_have_count(3)  # a fold is filled when it has opened
    assert rows.all_inner_texts() == [
        "le chat\t−0.693\t0.35\t−1.743\tkept",
        "le chien\t−0.693\t0.33\t−1.802\tpruned: number 2 of the candidates, and k = 1",
        f"le {EOS}\t−0.693\t0.2\t−2.303\tpruned: number 3 of the candidates, and k = 1",
    ]
    page = show(BeamTree(model_table(), beam=2, step=2))
    page.get_by_text("The candidates for word 2 as a table").click()
    expect(page.get_by_role("row", name="and 19 more")).to_be_visible()


def test_every_probability_can_be_edited_and_the_rest_goes_to_others(show) -> None:
    tree = BeamTree(DETERMINERS, editable=True, step=-1)
    page = show(tree)
    page.get_by_text("The probabilities: change them").click()
    start = page.get_by_role("group", name="first")
    start.get_by_label("la, first").fill("0.05")
    expect(start).to_contain_text("others 0.45")
    tree.logs = [[math.log(0.5), math.log(0.05)], *tree.logs[1:]]
    assert ranking(page) == wanted(tree)
    assert ranking(page)[0][0] == f"le chat {EOS}"
    box = page.get_by_label("noir, after “le chien”")
    box.press("ArrowUp")
    expect(box).to_have_value("0.1")  # the row is full
    page.get_by_label(f"{EOS}, after “le chien”").press("ArrowDown")
    box.press("ArrowUp")
    expect(box).to_have_value("0.15")


def test_what_is_refused_is_said_where_it_was_typed(show) -> None:
    page = show(BeamTree(DETERMINERS, editable=True, step=-1))
    page.get_by_text("The probabilities: change them").click()
    fold = page.locator("details", has_text="The probabilities: change them")
    page.get_by_label("la, first").fill("much")
    expect(fold.get_by_role("alert")).to_contain_text("“much” is not a number")
    page.get_by_label("length penalty α as a number").fill("much")
    expect(fold.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("length penalty α")


def test_a_table_of_zeros_is_said_to_lead_nowhere(show) -> None:
    page = show(BeamTree({(): {"a": 0.5}, ("a",): {EOS: 1}}, editable=True, step=-1))
    page.get_by_text("The probabilities: change them").click()
    page.get_by_label("a, first").fill("0")
    says(page, "Word 1, k = 2, candidates: 0. The search is over: no hypothesis lives on.")
    assert ranking(page) == []
    page.get_by_label("a, first").press("ArrowUp")
    expect(page.get_by_label("a, first")).to_have_value("0.05")
    assert ranking(page)[0][0] == f"a {EOS}"


# of each candidate in its order: its word's number, its box, and its smallest letters
STANDS = """(all) => all.map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const sizes = [one, ...one.children].map((part) => parseFloat(getComputedStyle(part).fontSize));
  const [size, cut] = [Math.min(...sizes), one.scrollWidth > one.clientWidth];
  return { left, right, top, bottom, size, cut };
})"""


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_the_search_grows_downwards_and_nothing_is_hidden_at_its_side(
    show, width: int
) -> None:
    page = show(BeamTree(full_table(0), beam=5, penalty=0, step=-1), width=width)
    tree = page.locator(".attnbook-tree")
    assert tree.evaluate("one => one.parentNode.scrollWidth === one.parentNode.clientWidth")
    assert page.locator("figure").evaluate(HIDDEN) <= 0.25
    found = page.locator(".attnbook-tree button").evaluate_all(STANDS)
    assert len(found) > 12
    for place, one in enumerate(found):
        assert one["left"] >= 0
        assert one["right"] <= width
        assert one["size"] >= 10
        assert not one["cut"]
        for other in found[place + 1 :]:
            beside = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert beside or one["bottom"] <= other["top"]  # and what comes later stands below
    best = page.locator(".attnbook-best").evaluate_all(STANDS)
    assert len(best) > 1
    assert all(one["bottom"] < two["top"] for one, two in itertools.pairwise(best))
    tree, last = tree.bounding_box(), found[-1]
    assert tree["y"] + tree["height"] >= last["bottom"]
    page.set_viewport_size({"width": 844, "height": 390})  # a phone that is turned
    words = page.get_by_text(re.compile("^word [12]$"))

    def level() -> bool:  # asked at once, as the tree is drawn anew meanwhile
        bottoms = [one["bottom"] for one in words.evaluate_all(STANDS)]
        return len(bottoms) == 2 and len(set(bottoms)) == 1

    assert eventually(level)


def test_on_a_phone_the_arrow_keys_go_as_the_tree_does(show) -> None:
    page = show(BeamTree(DETERMINERS, step=1), width=390)
    page.locator(".attnbook-tree button[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("word 2 of 3")).to_be_visible()
    way = ["Right", "le chat", "Right", "le chien", "Up", "la", "Left", "le", "Left", "le"]
    for key, words in zip(way[::2], way[1::2], strict=True):
        page.keyboard.press(f"Arrow{key}")
        tells(page, f"“{words}”: log p")
    expect(page.get_by_text("pruned: 3", exact=True)).to_be_visible()
    press(page, "next")  # no line leads through what was pruned: the count alone stays
    expect(page.get_by_text("pruned: 3", exact=True)).to_be_visible()
    assert boxes(page)[:6] == ["le", "la", "souris", "chat", EOS, EOS]


def test_the_words_just_written_are_in_sight_in_a_long_search(show) -> None:
    page = show(BeamTree(model_table(), beam=2), width=600)
    for _ in range(5):
        press(page, "next")
        settle(page)
        newest = page.locator(".attnbook-tree button[tabindex='0']").bounding_box()
        assert newest["x"] >= 0
        assert newest["x"] + newest["width"] <= 600


def test_paper_has_no_column_for_a_word_that_is_not_written_yet(show) -> None:
    page = show(BeamTree(model_table(), beam=2, step=2))
    column = page.get_by_text("word 3", exact=True)
    expect(column).to_be_visible()
    width = "node => node.offsetWidth"
    whole = page.locator(".attnbook-tree").evaluate(width)
    page.emulate_media(media="print")
    expect(column).to_be_hidden()
    last = page.locator(".attnbook-tree button").last.evaluate("b => b.offsetLeft + b.offsetWidth")
    assert last <= page.locator(".attnbook-tree").evaluate(width) == last + 24 < whole
