"""Training in the page: torch's gradients and steps, the same run each time, and what is said."""

import json

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnlab.models.copying import (
    ADAMW,
    AttentionOnly,
    copy_loss,
    head_scores,
    repeating,
    share_right,
    without,
)
from attnlab.models.recorded import FOLDER
from attnlab.training import seeded
from tests.attnlab.widgets.examples import choose, fill, trained
from tests.attnlab.widgets.pages import HIDDEN, alert, button, host, press, status, trait
from tests.patience import BROWSER

USUAL = {"symbols": 12, "layers": 2, "heads": 1, "rate": 5e-3, "from": 4, "to": 9, "seed": 0}
NONE = [[False] * 4, [False] * 4]

SLOPES = """({ d, length, settings, flat, texts, off }) => {
  const all = maths.learner(d, length);
  const run = all.start(settings, flat);
  const loss = all.slopes(run, texts, off);
  return [loss, Array.from(run.slope)];
}"""


def flat(model: torch.nn.Module, *, slopes: bool = False) -> np.ndarray:
    """All parameters in a row, as the page has them, or their gradients."""
    found = [one.grad if slopes else one.detach() for one in model.parameters()]
    return torch.cat([one.flatten() for one in found]).double().numpy()


def shapes(seed: int) -> tuple[dict, list[tuple[int, int]]]:
    rng = np.random.default_rng(seed)
    heads, layers = (1, 4)[seed % 2], (1, 2)[seed // 2 % 2]
    size = {"symbols": int(rng.integers(1, 14)), "heads": heads, "layers": layers}
    size |= {"d": int(2 * heads * rng.integers(1, 5)), "length": int(rng.integers(1, 24))}
    gone = [(layer, head) for layer in range(layers) for head in range(heads)]
    return size, [one for one in gone if seed > 3 and rng.random() < 0.3]


@pytest.mark.parametrize("seed", range(16))
def test_loss_and_gradients_are_torchs_over_shapes_and_with_heads_removed(maths, seed: int) -> None:
    size, gone = shapes(seed)
    d, length = size.pop("d"), size.pop("length")
    with seeded(seed):
        model = AttentionOnly(d=d, **size).double()
    texts = repeating(3, length, symbols=size["symbols"], periods=(1, 5), seed=seed)
    with without(model, gone):
        loss = copy_loss(model, texts)
        loss.backward()
    off = [[(layer, head) in gone for head in range(4)] for layer in range(2)]
    asked = {"d": d, "length": length, "settings": USUAL | size, "off": off}
    asked |= {"flat": flat(model).tolist(), "texts": texts.tolist()}
    found, slopes = maths(SLOPES, asked, "trainer")
    assert found == pytest.approx(loss.item(), abs=1e-9)
    assert np.abs(np.array(slopes) - flat(model, slopes=True)).max() < 1e-6


STEPS = """([settings, given, count]) => {
  const all = maths.learner();
  const run = all.start(settings, given);
  const first = Array.from(run.flat);
  const losses = Array.from({ length: count }, () => all.step(run));
  return { first, losses, last: Array.from(run.flat), broken: run.broken,
    found: all.finished(all.tallied(run)),
    tests: run.tests.map((one) => Array.from(one)),
    texts: all.texts(settings, 16, 3).map((one) => Array.from(one)) };
}"""


def test_steps_scores_and_shares_are_torchs_from_the_same_weights(maths) -> None:
    with seeded(1):
        model = AttentionOnly(heads=4).double()
    found = maths(STEPS, [USUAL | {"heads": 4}, flat(model).tolist(), 0], "trainer")
    texts = torch.tensor(found["tests"])
    right, scores = (
        share_right(model, texts),
        head_scores(model.weights(texts[:, :-1]), texts[:, :-1]),
    )
    assert (found["found"]["before"], found["found"]["fresh"]) == pytest.approx(tuple(right))
    assert found["found"]["previous"] == pytest.approx(scores.previous.flatten().tolist())
    assert found["found"]["next"] == pytest.approx(scores.came_next.flatten().tolist())
    # the page's own batches, given to torch's AdamW
    batches = """(settings) => { const all = maths.learner();
      return [0, 1, 2, 3, 4].map((step) => all.texts(settings, 16, all.mixed(settings.seed, step))
        .map((one) => Array.from(one))); }"""
    optimizer = ADAMW(model.parameters(), lr=5e-3)
    for batch in maths(batches, USUAL, "trainer"):
        optimizer.zero_grad()
        copy_loss(model, torch.tensor(batch)).backward()
        optimizer.step()
    with seeded(1):
        begun = flat(AttentionOnly(heads=4).double()).tolist()
    last = maths(STEPS, [USUAL | {"heads": 4}, begun, 5], "trainer")["last"]
    assert np.abs(np.array(last) - flat(model)).max() < 1e-6


def test_a_run_is_the_same_to_the_digit_and_another_seed_another(maths) -> None:
    one, other = (maths(STEPS, [USUAL, None, 25], "trainer") for _ in range(2))
    assert one == other
    third = maths(STEPS, [USUAL | {"seed": 1}, None, 25], "trainer")
    assert third["first"] != one["first"]
    assert third["losses"] != one["losses"]
    recorded = json.loads((FOLDER / "trainer.json").read_text(encoding="utf-8"))["runs"]
    for layers, run in zip((2, 1), recorded, strict=True):
        losses = maths(STEPS, [USUAL | {"layers": layers}, None, 40], "trainer")["losses"]
        means = [round(float(np.mean(losses[k : k + 20])), 3) for k in (0, 20)]
        wanted = [loss for _, loss, *_ in run["points"][1:3]]
        assert means == pytest.approx(wanted, abs=1.1e-3), "run `python -m experiments.trainer`"


def test_weights_are_drawn_as_torch_draws_them_and_texts_repeat(maths) -> None:
    found = maths(STEPS, [USUAL, None, 0], "trainer")
    drawn = np.array(found["first"])
    with seeded(0):
        model = AttentionOnly()
    at = 0
    for name, one in model.named_parameters():
        mine, at = drawn[at : at + one.numel()], at + one.numel()
        assert mine.std() == pytest.approx(one.std().item(), rel=0.15), name
        assert abs(mine.mean()) < 0.15 * max(1, mine.std())
    texts = np.array(found["texts"])
    fits = [(texts[:, k:] == texts[:, :-k]).all(axis=1) for k in range(4, 10)]
    assert np.any(fits, axis=0).all()
    assert texts.min() >= 0
    assert texts.max() <= 11


def test_exponential_cosine_and_sine_are_the_browsers_to_their_last_digits(maths) -> None:
    script = """(xs) => { const { exp, turn } = maths.learner();
      return xs.map((x) => [exp(-x) / Math.exp(-x) - 1, turn(x)[0] - Math.cos(x),
        turn(x)[1] - Math.sin(x)]); }"""
    xs = np.linspace(0, 1, 400)
    assert np.abs(maths(script, xs.tolist(), "trainer")).max() < 1e-15
    far = maths(script, (xs * 700).tolist(), "trainer")
    assert np.abs(np.array(far)[:, 0]).max() < 1e-13
    assert maths("() => maths.learner().exp(-1e308)", None, "trainer") == 0


def test_what_is_no_number_stops_the_run_and_is_named(maths) -> None:
    huge = np.full(5_184, 1e200).tolist()
    script = """([settings, given]) => { const all = maths.learner();
      return all.finished(all.serve({ id: 1, settings, given, upto: 9, off: %s })); }"""
    found = maths(script % json.dumps(NONE), [USUAL, huge], "trainer")
    assert found["step"] == 0
    assert found["broken"] == "the loss is NaN"
    assert found["whole"] is None


def idle(page) -> None:
    """Wait until nothing is being computed."""
    page.wait_for_function("() => !document.querySelector('[data-busy]')", timeout=BROWSER)


STEP = """() => Number(document.querySelector('.attnbook-numbers').textContent
  .match(/^Step (\\d+)/)?.[1] ?? -1)"""


def start(page) -> None:
    """Start a run, and wait until the page shows it and no longer the one before."""
    press(page, "start")
    expect(button(page, "pause")).to_be_visible()


def run_to(page, step: int) -> None:
    page.wait_for_function(f"(read => () => read() >= {step})({STEP})", timeout=4 * BROWSER)


def course(page) -> dict[int, float]:
    """The loss at some steps, as the folded table has them."""
    fold = page.locator("details.attnbook-twin")
    fold.evaluate("(one) => { one.open = true; }")
    expect(fold.locator("tbody tr")).not_to_have_count(0)  # it is drawn once it has opened
    found = [row.locator("th, td").all_inner_texts() for row in fold.locator("tbody tr").all()]
    return {int(step): float(loss) for step, loss, *_ in found if loss != "–"}


def test_start_pressed_the_loss_bends_and_a_removed_head_takes_the_copying_away(show) -> None:
    page = show(trained(speed=20))
    expect(status(page)).to_contain_text("Recorded: two layers.")
    start(page)
    run_to(page, 400)
    press(page, "pause")
    idle(page)
    found = course(page)
    assert found[100] > 2
    assert found[400] < 1.5
    numbers = page.locator(".attnbook-numbers")
    before = numbers.inner_text()
    page.get_by_label("layer 0").uncheck()
    expect(status(page)).to_contain_text("Without layer 0, right where the symbol has stood before")
    all_heads, without_it = (
        float(text.split()[-1].rstrip("."))
        for text in reversed(status(page).inner_text().split(" instead of "))
    )
    assert all_heads > 0.6 > 0.5 > without_it
    page.get_by_label("layer 0").check()
    expect(numbers).to_have_text(before)
    press(page, "reset to the first picture")
    expect(status(page)).to_contain_text("Recorded: two layers.")


def test_where_a_page_may_have_no_worker_it_trains_in_slices(opened, show) -> None:
    page = show(trained(speed=20))
    page.evaluate("() => { window.Worker = class { constructor() { throw new Error('no'); } }; }")
    start(page)
    run_to(page, 40)
    assert page.evaluate("typeof Worker") == "function"
    press(page, "pause")
    idle(page)
    recorded = json.loads((FOLDER / "trainer.json").read_text(encoding="utf-8"))["runs"][0]
    known = {step: loss for step, loss, *_ in recorded["points"]}
    assert course(page)
    for step, loss in course(page).items():
        assert loss == pytest.approx(known[step], abs=0.006)


def test_a_rate_of_ten_one_symbol_and_periods_beyond_the_text_are_named(show) -> None:
    page = show(trained(rate=10, speed=20))
    warning = page.locator(".attnbook-warning")
    start(page)
    expect(warning).to_contain_text("Steps at a rate of 10 throw the weights too far.")
    press(page, "pause")
    idle(page)
    page.locator("summary", has_text="the texts").click()
    fill("learning rate as a number", "0.005")(page)
    expect(warning).to_be_empty()
    fill("symbols", "1")(page)
    expect(warning).to_contain_text("There is one symbol")
    fill("symbols", "3")(page)
    expect(warning).to_contain_text("The model knows 3 symbols: of your text's 6")
    fill("symbols", "12")(page)
    fill("longest period", "40")(page)
    expect(warning).to_contain_text("Periods above 20 are longer than a text")
    fill("shortest period", "25")(page)
    expect(warning).to_contain_text("No text comes to its repetition")
    press(page, "reset to the first picture")
    expect(warning).to_be_empty()


def test_the_readers_own_symbols_are_words_or_letters_and_the_rest_is_refused(show) -> None:
    page = show(trained())
    box = page.get_by_label("your text: letters, or words")
    box.fill("do re mi do re mi do re mi do")
    pairs = page.locator(".attnbook-strip li + li")
    expect(pairs.first).to_contain_text("do")
    cells = pairs.locator("span:last-child").all_inner_texts()
    assert cells[4:10] == ["re✓", "mi✓", "do✓", "re✓", "mi✓", "do✓"] or "do✓" in cells
    assert cells[-1] == "re"
    for text, said in (
        ("a", "a text of at least 2 symbols is wanted, and this has 1"),
        ("a b " * 11, "at most 20 symbols are read, and this has 22"),
        ("abcdefghijklm", "at most 12 different symbols are known, and this has 13"),
    ):
        box.fill(text)
        expect(alert(page)).to_contain_text(said)
        expect(box).to_have_attribute("aria-invalid", "true")
    box.fill("xyxyxy")
    expect(alert(page)).to_be_empty()


def test_on_a_phone_every_guess_with_its_tick_is_in_sight(show) -> None:
    page = show(trained(), width=390)
    for text in (
        "ABCDEFABCDEFABC",
        "do re mi fa sol la ti do re mi fa sol la ti do re mi fa sol la",
    ):
        page.get_by_label("your text: letters, or words").fill(text)
        guesses = page.locator(".attnbook-strip li span:last-child")
        expect(guesses).to_have_count(2 + len(text.split() if " " in text else text))
        assert page.locator("figure").evaluate(HIDDEN) == 0
        ends = guesses.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().right)")
        assert max(ends) <= 390


def test_a_run_that_is_done_stays_as_a_pale_curve_with_its_name(show) -> None:
    widget = trained(layers=1, seed=3, speed=20, step=780)
    page = host(show(), widget, views=1)
    idle(page)
    press(page, "start")
    expect(status(page)).to_contain_text("Done.", timeout=2 * BROWSER)
    expect(button(page, "start")).to_be_visible()
    assert trait(page, "step") == 800
    (kept,) = trait(page, "kept")
    assert kept["name"] == "one layer, seed 3"
    assert len(kept["points"]) == 41
    choose("layers", "two")(page)
    assert trait(page, "step", "layers") == [0, 2]
    expect(page.locator(".attnbook-course text", has_text="one layer, seed 3")).to_have_count(1)
