"""Exchange: of a sentence's vectors the reader exchanges one, and reads the next word."""

import re

import numpy as np

from attnlab.pictures import Exchange

SOURCE, OTHER = ["the", "apple"], ["the", "book"]
WEIGHTS = np.array([[0.7, 0.3], [0.8, 0.2], [0.6, 0.4]])
CHANCES = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.2]])


def drawn(**changes) -> Exchange:
    given = {"weights": WEIGHTS, "chances": CHANCES} | changes
    return Exchange(SOURCE, OTHER, ["mange", "<i>"], ["la", "le"], **given)


def test_each_word_is_a_radio_button_and_nothing_is_exchanged_at_first() -> None:
    html, data = drawn()._repr_html_()
    assert re.findall(r'type="radio" name="[\w-]+" value="(\d)"', html) == ["1", "2", "0"]
    assert re.findall(r'value="(\d)" checked', html) == ["0"]
    for k, word in enumerate(("la", "le", "la")):
        assert f'<b class="attnbook-way attnbook-way-{k}">{word}</b>' in html
        assert f'input[value="{k}"]:checked) .attnbook-way-{k}' in html
    assert "<i>" not in html.replace('<i style="--w', "")
    assert data["alt"] == drawn().alt


def test_words_and_numbers_say_the_same_as_the_bars() -> None:
    assert "looks most at the (0.70)." in drawn().alt
    assert "nothing: la (0.90); the: le (0.80); apple: la (0.70)." in drawn().alt
    assert (
        drawn()._repr_html_()[0].count("--w:0.80") == 4
    )  # a bar and its number, of a weight and of a probability
    assert repr(drawn()) == "<Exchange: the apple>"


def test_a_trained_models_numbers_may_lie_off_by_what_is_stated() -> None:
    assert 'data-tolerance="0.25"' in drawn(tolerance=0.25)._repr_html_()[0]
    assert "data-tolerance" not in drawn()._repr_html_()[0]
    names = re.findall(r'name="([\w-]+)"', drawn()._repr_html_()[0])
    assert len(set(names)) == 1
    assert names[0] in drawn(chances=CHANCES / 2)._repr_html_()[0]  # nor does the name hang on them
