"""The roof: the page's numbers are Python's, and its sentences say what limits and what fits."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlab.models.roof import Machine, RoofModel, Step, Way, machines, roof_models
from attnlab.widgets import Roof
from attnlab.widgets.core import units
from tests.attnlab.widgets.examples import choose, roof
from tests.attnlab.widgets.pages import press, settle, tells

MODELS, MACHINES = list(roof_models()), list(machines())
# as Python names what the page counts
SAME = {name: name for name in Step._fields} | {"speed": "a_second", "operations": "operations"}
del SAME["a_second"]


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
    script = """({ models, machines, model, machine, ...call }) =>
      maths.step(models[model], machines[machine], call)"""
    for widget in map(random, range(40)):
        found = maths(script, widget.state(), "roof")
        wanted = {name: getattr(widget.step, own) for name, own in SAME.items()}
        if wanted["room"] < 0:  # the page counts on below 0
            assert found.pop("room") < 0
            del wanted["room"]
        assert found == pytest.approx(wanted, rel=1e-12)


WAYS = [
    Way("nothing kept", roof_models()["Llama 2 7B"], tokens=4_096, cached=0),
    Way("keep", roof_models()["Llama 2 7B"], cached=4_096),
    Way("guess", roof_models()["DeepSeek-V3"], 5, weight_bits=8, written=3, draft=0.4),
]


def test_a_way_takes_what_its_call_does_and_the_page_counts_as_python(maths) -> None:
    script = "({ ways, machines, texts }) => ways.map((way) => maths.pace(way, machines[0], texts))"
    machine = machines()["H100 SXM"]
    for texts in (1, 8, 4096):
        widget = Roof(ways=WAYS, texts=texts)
        for found, way in zip(maths(script, widget.state(), "roof"), WAYS, strict=True):
            pace = way.pace(machine, texts)
            assert [found[name] for name in pace._fields] == pytest.approx(list(pace))
            how = {"texts": texts, "cached": way.cached, "weight_bits": way.weight_bits}
            call, alone = (way.model.step(machine, tokens=n, **how) for n in (way.tokens, 1))
            both = call.seconds + way.draft * alone.seconds
            assert sum(pace) == pytest.approx(both / way.written)
            assert (pace.caches > 0) == (way.cached > 0)


def test_ways_are_bars_that_follow_the_number_of_texts(show) -> None:
    page = show(Roof(ways=WAYS[:2], texts=1))
    tells(page.locator("figure"), "1 text at once: a token of each takes at least")
    before = page.locator("path.attnbook-caches").last.get_attribute("d")
    page.get_by_label("texts at once", exact=True).press("End")
    settle(page)
    assert page.locator("path.attnbook-caches").last.get_attribute("d") != before
    tells(page.locator("figure"), "Not all of it fits in 80.0 GB: keep takes 82.")


def test_numbers_are_written_as_the_page_writes_them() -> None:
    # roof/maths.test.js has the same
    assert list(map(units.timed, (4.8e-3, 1.2e-10, 2_000))) == ["4.80 ms", "0.12 ns", "2,000 s"]
    assert list(map(units.many, (12, 15e9, 9.89e14))) == ["12", "15.0 billion", "989 trillion"]
    assert list(map(units.digits, (12.25, 0.125, 99.95))) == ["12.3", "0.13", "100"]


SAID = [
    (
        {"texts": 1},
        "Memory takes longer: a step takes at least 3.24 ms and writes at most 308.7 tok",
    ),
    ({"texts": 256}, "and writes at most 8,059 tokens a second, 31.48 of each text."),
    ({"tokens": 512}, "Arithmetic takes longer: a step takes at least 35.8 ms and reads at most"),
]
FITS = [
    ({}, "It fits: weights and caches take 18.2 GB, and the machine has 141 GB, room for 232"),
    ({"texts": 4096}, "It does not fit: weights and caches take 2.22 TB, and the machine"),
    ({"model": 1}, "Not even the weights fit: weights and caches take 1.34 TB, and the machine"),
]


def test_the_sentences_say_what_limits_and_what_fits(show) -> None:
    page = show(*(roof(**changes) for changes, _ in (*SAID, *FITS)))
    views = page.locator("figure").all()
    for view, (_, said) in zip(views, SAID, strict=False):
        tells(view, said)
    for view, (_, said) in zip(views[len(SAID) :], FITS, strict=True):
        expect(view.locator(".attnbook-fits")).to_contain_text(said)
    expect(page.locator(".attnbook-over")).to_have_count(3)


def test_bars_roof_and_formula_follow_the_hand(show) -> None:
    page = show(roof(texts=1))

    def drawn(name: str) -> str:
        settle(page)
        return page.locator(f".attnbook-curve path.attnbook-{name}").get_attribute("d")

    def formula() -> str:
        settle(page)
        return " ".join(page.locator(".attnbook-formula").inner_text().split())

    assert formula() == (
        "step ≥ max( (15.0 GB weights + 537 MB caches) / 4.80 TB/s,"
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
            assert 46 <= float(dot.get_attribute("cx")) <= 340
            assert 18 <= float(dot.get_attribute("cy")) <= 196
        assert "NaN" not in page.locator("figure .attnbook-main").inner_html()
