"""The cache calculator: the page's numbers are Python's, which are counted from real shapes."""

import itertools

import numpy as np
from playwright.sync_api import expect

from attnlab.models.caches import cached_models
from attnlab.widgets import CacheCalculator
from attnlab.widgets.core.units import sized
from tests.attnlab.widgets.examples import calculator, choose
from tests.attnlab.widgets.pages import press, settle, tells

ALL = list(cached_models())


def random(seed: int) -> CacheCalculator:
    """A calculator of six models, at any context and batch."""
    rng = np.random.default_rng(seed)
    return CacheCalculator(
        [ALL[place] for place in rng.permutation(len(ALL))[:6]],
        chosen=int(rng.integers(6)),
        context=int(2 ** rng.uniform(7, 20)),
        batch=int(2 ** rng.uniform(0, 10)),
        bits=int(rng.choice([16, 8, 4])),
        weight_bits=int(rng.choice([16, 8, 4])),
        gpu=int(rng.choice([24, 80, 141])),
    )


def test_the_page_counts_as_python_does(maths) -> None:
    script = """({ models, context, batch, bits, weight_bits, gpu }) => models.map((model) => [
      maths.cacheBytes(model, context, batch, bits), maths.weightBytes(model, weight_bits),
      maths.room(model, gpu * 1e9, batch, bits, weight_bits)])"""
    for seed in range(20):
        widget = random(seed)
        known = [cached_models()[model["name"]] for model in widget.models]
        found = maths(script, widget.state(), "cache")
        assert [row[0] for row in found] == widget.cache_bytes
        weights = [model.weight_bytes(bits=widget.weight_bits) for model in known]
        assert [row[1] for row in found] == weights
        rooms = [None if row[2] == float("inf") else row[2] for row in found]
        assert rooms == widget.room


def test_the_room_is_the_longest_that_fits() -> None:
    for widget in map(random, range(10)):
        for name, room in zip((one["name"] for one in widget.models), widget.room, strict=True):
            model = cached_models()[name]
            left = widget.gpu * 10**9 - model.weight_bytes(bits=widget.weight_bits)
            if room is None or room < 0:
                longest = 0 if room else 2**30
                assert (model.cache_bytes(longest, batch=widget.batch) <= left) == (room is None)
                continue
            sizes = [
                model.cache_bytes(n, batch=widget.batch, bits=widget.bits) for n in (room, room + 1)
            ]
            assert sizes[0] <= left < sizes[1]


SIZES = [0, 0.5, 999, 999.5, 1000, 9_994, 9_996, 99_940, 99_960, 131_072, 999_499, 999_500]
SIZES += [17_179_869_184, 1.5e12, 4e15, 9e18]


def test_bytes_are_written_alike_in_the_page_and_names_keep_apart(maths) -> None:
    assert maths("(all) => all.map(maths.sized)", SIZES, "cache") == list(map(sized, SIZES))
    told = [sized(size) for size in (0, 0.5, 999.5, 131_072)]
    assert told == ["0 bytes", "0.5 bytes", "1.00 kB", "131 kB"]
    grouped = maths("(all) => all.map(maths.grouped)", [5, 999, 1000, 1_048_576], "cache")
    assert grouped == ["5", "999", "1,000", "1,048,576"]
    rng = np.random.default_rng(0)
    for count in (1, 2, 8, 10):
        wanted = rng.uniform(-500, 500, count).round(3).tolist()
        found = maths("(wanted) => maths.apart(wanted, 15, 10, 300)", wanted, "cache")
        assert all(10 <= y <= 300 for y in found)
        near = sorted(found)
        assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(near))
        order = np.argsort(wanted, kind="stable")
        assert [found[i] for i in order] == near


FITS = [
    ({}, "the cache takes 1.07 GB, where one more token adds 131 kB; the weights take 16.1 GB. "
        "They fit in a GPU of 80 GB: beside the weights it has room for 487,819 tokens."),
    ({"batch": 64}, "8,192 tokens in each of 64 texts: the cache takes 68.7 GB"),
    ({"batch": 64}, "They do not fit in a GPU of 80 GB: beside the weights it has room for 7,622"),
    ({"chosen": 0}, "The model itself was made for 1,024 tokens at most."),
    ({"chosen": 2}, "one more token adds 0 bytes"),
    ({"chosen": 2}, "has room for texts of any length."),
    ({"models": ["DeepSeek-V3"], "chosen": 0}, "The weights alone do not fit in a GPU of 80 GB."),
]  # fmt: skip


def test_the_sentence_says_what_fits(show) -> None:
    page = show(*(calculator(**changes) for changes, _ in FITS))
    for view, (_, said) in zip(page.locator("figure").all(), FITS, strict=True):
        tells(view, said)


def test_curves_follow_the_hand_the_chosen_one_is_thick_and_a_press_chooses_a_context(show) -> None:
    page = show(calculator())

    def path(name: str) -> str:
        settle(page)
        return page.locator(f".attnbook-curves path.attnbook-{name}").first.get_attribute("d")

    before = path("mine"), path("other"), path("here")
    page.get_by_label("texts at once", exact=True).press("End")
    assert path("mine") != before[0]
    assert path("other") != before[1]
    assert path("here") == before[2]
    page.get_by_label("tokens in a text", exact=True).press("Home")
    assert path("here") != before[2]
    tells(page, "128 tokens in each of 1,024 texts")
    choose("model", 0)(page)
    expect(page.locator("text.attnbook-mine").last).to_have_text("GPT-2")
    expect(page.locator("path.attnbook-gpu.attnbook-on")).to_have_count(1)
    press(page, "reset to the first settings")
    settle(page)
    box = page.locator(".attnbook-curves > svg").bounding_box()
    tick = page.locator(".attnbook-curves text", has_text="1,048,576").bounding_box()
    page.mouse.click(tick["x"] + tick["width"] / 2, box["y"] + 100)
    tells(page, "Llama 3.1 8B, 1,048,576 tokens:")
