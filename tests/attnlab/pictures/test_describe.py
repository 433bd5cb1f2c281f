"""Pictures in words: what the text of a figure says."""

import numpy as np
import torch

from attnlab.pictures.figures import alignment, curves, dots, head_grid, heatmap

WORDS = ["had", "bowl", "nuts"]
WEIGHTS = [[0.98, 0.01, 0.01], [0.24, 0.76, 0.0], [0.005, 0.09, 0.905]]


def test_a_heatmap_says_where_each_token_attends_its_keys_title_digits_and_ties() -> None:
    assert heatmap(WEIGHTS, WORDS).alt == (
        "Heatmap of attention weights, 3 queries by 3 keys. had attends most to had (0.98); "
        "bowl attends most to bowl (0.76); nuts attends most to nuts (0.91)."
    )
    alt = heatmap([[0.25, 0.75]], ["chat"], ["the", "cat"], title="head 3", digits=3).alt
    assert alt == (
        "Heatmap of attention weights (head 3), 1 query by 2 keys. "
        "chat attends most to cat (0.750)."
    )
    alt = heatmap([[0.5, 0.5, 0], [0, 0, 0], [1 / 3] * 3], WORDS).alt
    assert "had attends most to had and bowl (0.50 each)" in alt
    assert "bowl attends to nothing" in alt
    assert "nuts attends most to had and bowl and nuts (0.33 each)" in alt
    assert "a attends most to 4 keys alike (0.25 each)" in heatmap([[0.25] * 4], "a", "abcd").alt


def test_scores_are_told_with_their_sign_and_masked_ones_named_or_counted() -> None:
    matrix = [[-2.0, -0.5], [-torch.inf, 3.0], [-torch.inf, -torch.inf]]
    alt = heatmap(matrix, WORDS, ["had", "bowl"], signed=True, digits=1).alt
    assert alt == (
        "Heatmap of scores, 3 queries by 2 keys. had scores highest with bowl (−0.5); "
        "bowl scores highest with bowl (3.0), had masked; nuts is masked throughout."
    )
    hidden = [[1.0, -torch.inf, -torch.inf], [1.0, 2.0, -torch.inf], [1.0, 2.0, 3.0]]
    alt = heatmap(hidden, WORDS, signed=True, digits=0).alt
    assert "had scores highest with had (1), bowl and nuts masked;" in alt
    assert "bowl scores highest with bowl (2), nuts masked;" in alt
    assert alt.endswith("nuts scores highest with nuts (3).")
    many = [[0.0, -torch.inf, -torch.inf, -torch.inf, -torch.inf]]
    assert (
        "a scores highest with a (0.00), 4 keys masked"
        in heatmap(many, "a", "abcde", signed=True).alt
    )


def test_the_text_of_a_large_matrix_and_of_an_alignment_stays_short() -> None:
    picture = heatmap(np.eye(60), ["a token of great length"] * 60)
    assert len(picture.alt) < 700
    assert picture.alt.endswith("52 more rows follow.")
    words = [f"w{i}" for i in range(30)]
    alt = alignment(torch.eye(30), words, words, [(i, (i + 1) % 30) for i in range(30)]).alt
    assert "22 more rows follow." in alt
    assert alt.endswith(
        "0 of 30 words that have a gold link; not for w0, w1, w2, w3, w4, w5, w6, w7 and 22 more."
    )


def test_curves_say_where_they_go() -> None:
    picture = curves(
        [1, 2, 3],
        {"flat": [5, 5, 5], "up": [1, 2, 4000], "down": [0.5, -1, -0.25], "hill": [1, 9, 1]},
        x_label="tokens",
        y_label="steps",
        title="Cost",
    )
    assert picture.alt == (
        "Line chart (Cost): steps against tokens, 4 curves from 1 to 3. flat stays at 5; "
        "up rises from 1 to 4,000; down falls from 0.5 to −0.25, between −1 and 0.5; "
        "hill starts and ends at 1, between 1 and 9."
    )


def test_curves_say_how_far_their_bars_reach() -> None:
    spans = {"a": [(0, 1), (0.5, 1.25)]}
    picture = curves([1, 2], {"a": [0.5, 1], "b": [0, 0]}, x_label="x", y_label="y", spans=spans)
    assert picture.alt.endswith("b stays at 0. Bars, at the widest: 1 of a.")


def test_dots_say_each_mean_with_the_least_and_the_greatest() -> None:
    rows = {"linear": {"all": [0.7, 0.8], "plain": [1, 1]}, "low rank": {"all": [2], "plain": [0]}}
    assert dots(rows, x_label="share right", title="Ways").alt == (
        "Dot chart (Ways): share right. linear: all 0.75 (0.7 to 0.8), plain 1 (1 to 1); "
        "low rank: all 2 (2 to 2), plain 0 (0 to 0)."
    )


def test_an_alignment_counts_where_it_agrees_with_the_gold_links() -> None:
    weights = [[0.9, 0.05, 0.05], [0.1, 0.2, 0.7], [0.4, 0.2, 0.4], [0.0, 0.0, 0.0]]
    source, target = ["the", "black", "cat"], ["le", "chat", "noir", "dort"]
    gold = [(0, 0), (1, 2), (2, 1), (1, 3)]
    assert alignment(weights, source, target, gold, title="test 3").alt == (
        "Alignment (test 3) of 4 target words with 3 source words. le attends most to the (0.90); "
        "chat attends most to cat (0.70); noir attends most to the and cat (0.40 each); "
        "dort attends to nothing. The greatest weight agrees with the gold alignment for 2 of "
        "4 words that have a gold link; not for noir, dort."
    )
    assert alignment(weights, source, target, gold[:1]).alt.endswith(
        "for 1 of 1 word that has a gold link."
    )
    assert alignment(weights, source, target, []).alt.endswith("No word has a gold link.")
    assert "gold" not in alignment(weights, source, target).alt


def test_a_grid_names_the_strongest_link_of_each_head() -> None:
    heads = [WEIGHTS, torch.zeros(3, 3).tolist(), torch.eye(3).tolist(), [[0.25, 0.5, 0.25]] * 3]
    heads.append([[0.5, 0.5, 0], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    assert head_grid(heads, WORDS, title="layer 1").alt == (
        "Attention weights of 5 heads (layer 1), 3 queries by 3 keys each. "
        "head 0 is strongest from had to had (0.98); head 1 attends to nothing; "
        "head 2 is strongest from had to had and bowl to bowl and nuts to nuts (1.00 each); "
        "head 3 is strongest from had to bowl and bowl to bowl and nuts to bowl (0.50 each); "
        "head 4 is strongest from bowl to nuts and nuts to had (0.80 each)."
    )
    many = head_grid(torch.full((9, 2, 3), 1 / 3), ["a", "b"], WORDS).alt
    assert "head 7 has 6 links alike (0.33 each). 1 more head follows." in many
    assert "head 8" not in many
