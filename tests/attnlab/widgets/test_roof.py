"""The roof: the page's numbers are Python's, and its sentences say what limits and what fits."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlab.models.roof import Machine, RoofModel, machines, roof_models
from attnlab.widgets import Roof
from attnlab.widgets.core import units
from tests.attnlab.widgets.examples import choose, roof
from tests.attnlab.widgets.pages import press, settle, tells

MODELS, MACHINES = list(roof_models()), list(machines())
SAME = ["weights", "caches", "products", "attention", "memory", "arithmetic", "seconds"]
SAME += ["aSecond", "held", "room"]


def random(seed: int) -> Roof:
    rng = np.random.default_rng(seed)
    bits = [int(one) for one in rng.choice([16, 8, 4], 2)]
    return Roof(
        MODELS,
        MACHINES,
        model=int(rng.integers(len(MODELS))),
        machine=int(rng.integers(len(MACHINES))),
        texts=int(2 ** rng.uniform(0, 12)),
        tokens=int(2 ** rng.uniform(0, 13)),
        cached=int(2 ** rng.uniform(0, 17)) - 1,
        weight_bits=bits[0],
        cache_bits=bits[1],
    )


def test_the_page_counts_as_python_does(maths) -> None:
    script = """({ models, machines, model, machine, weight_bits, cache_bits, ...call }) =>
      maths.step(models[model], machines[machine],
        { ...call, weightBits: weight_bits, cacheBits: cache_bits })"""
    for widget in map(random, range(40)):
        found = maths(script, widget.state(), "roof")
        assert [found[name] for name in SAME] == pytest.approx(list(widget.step), rel=1e-12)


def test_numbers_are_written_alike_in_the_page(maths) -> None:
    sizes = [0, 0.5, 12.25, 999, 999.5, 9_994, 99_950, 131_072, 12_250, 17_179_869_184, 9e18, 4e21]
    for name in ("sized", "many", "timed"):
        values = [one / 1e9 for one in sizes] if name == "timed" else sizes
        written = list(map(getattr(units, name), values))
        assert maths(f"(all) => all.map(maths.{name})", values, "roof") == written
    assert units.timed(4.8e-3) == "4.80 ms"
    assert units.many(15e9) == "15.0 billion"


SAID = [
    ({"texts": 1}, "memory takes longer, so a step takes 3.24 ms at least. It writes at most 309"),
    ({"texts": 256}, "It writes at most 8,059 tokens a second, 31.5 of each text."),
    ({"tokens": 512}, "arithmetic takes longer, so a step takes"),
    ({"tokens": 512}, "It takes in at most"),
]
FITS = [
    ({}, "It fits: weights and caches take 18.2 GB, and the machine has 141 GB: room for 232"),
    ({"texts": 4096}, "It does not fit: weights and caches take 2.22 TB, and the machine"),
    ({"model": 1}, "does not fit: the weights of DeepSeek-V3 alone take 1.34 TB"),
]


def test_the_sentences_say_what_limits_and_what_fits(show) -> None:
    page = show(*(roof(**changes) for changes, _ in (*SAID, *FITS)))
    views = page.locator("figure").all()
    for view, (_, said) in zip(views, SAID, strict=False):
        tells(view, said)
    for view, (_, said) in zip(views[len(SAID) :], FITS, strict=True):
        expect(view.locator(".attnbook-fits")).to_contain_text(said)
    expect(page.locator(".attnbook-over")).to_have_count(2)


def test_bars_roof_and_formula_follow_the_hand(show) -> None:
    page = show(roof(texts=1))

    def drawn(name: str) -> str:
        settle(page)
        return page.locator(f".attnbook-curve path.attnbook-{name}").get_attribute("d")

    def formula() -> str:
        settle(page)
        return " ".join(page.locator(".attnbook-formula").inner_text().split())

    assert formula() == (
        "step = max( (15.0 GB weights + 537 MB caches) / 4.80 TB/s,"
        " 17.2 billion operations / 989 trillion/s) = max(3.24 ms, 17.3 µs) = 3.24 ms"
    )
    before = drawn("caches"), drawn("limit")
    page.get_by_label("texts at once", exact=True).press("End")
    assert drawn("caches") != before[0]
    assert drawn("limit") == before[1]
    assert "2.20 TB caches" in formula()
    choose("machine", "a laptop's processor")(page)
    assert drawn("limit") != before[1]
    expect(page.locator("text", has_text="corner 11.4")).to_have_count(1)
    press(page, "reset to the first settings")
    assert (drawn("caches"), drawn("limit")) == before


def test_what_is_far_off_the_axes_is_drawn_at_their_ends(show) -> None:
    model = RoofModel("odd", 10**6, 10**9, 1)
    fast, slow = Machine("fast", 1, 1e15, 1e3), Machine("slow", 1e15, 1, 1e3)
    for machine in (fast, slow):
        page = show(Roof([model], [machine], texts=4096, tokens=8192, cached=0))
        settle(page)
        for dot in page.locator("circle").all():
            assert 46 <= float(dot.get_attribute("cx")) <= 346
            assert 18 <= float(dot.get_attribute("cy")) <= 196
        assert "NaN" not in page.locator("figure .attnbook-main").inner_html()
