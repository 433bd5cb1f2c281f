"""What a reader does in the built book: edits, turns it dark, prints, asks a model."""

import re

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from attnlab.translation import captions
from tests.book.conftest import LECTURE, no_sideways_scroll
from tests.book.lectures import HTML, ROOT
from tests.book.test_pages import PHONE


def ask(page: Page, which: int, sentence: str) -> Locator:
    """Have a translator of the page translate."""
    widget = page.locator("figure.attnbook-translator").nth(which)
    widget.get_by_role("textbox").first.fill(sentence)
    widget.get_by_role("button", name="translate").click()
    return widget


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_translates_what_the_reader_types(visit, via):
    page = visit("notebooks/11-transformer", via)
    widget = ask(page, 0, "the small black cat does not eat the red apple")
    said = "le petit chat noir ne mange pas la pomme rouge"
    expect(widget.get_by_text(said, exact=True)).to_be_visible()
    expect(widget.locator(".attnbook-fallback")).to_have_count(0)
    a_caption_comes_out_in_german(page)


def test_the_landing_page_translates_too(visit):
    a_caption_comes_out_in_german(visit("book/index", "http"))


def a_caption_comes_out_in_german(page: Page) -> None:
    """And a piece of it says where the model looked."""
    caption = "a man in a red hat is standing in front of a house"
    widget = ask(page, -1, caption)
    (german,) = captions.translate([caption], beam=1)
    assert "roten" in german
    expect(widget.locator(".attnbook-written")).to_have_text(german)
    pieces = widget.locator(".attnbook-words button")
    expect(pieces.last).to_contain_text("<eos>")
    pieces.nth(1).click()
    name = pieces.nth(1).locator("> span").inner_text()
    expect(widget.get_by_text(f"while it wrote “{name}”")).to_be_visible()
    shares = "all => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    found = widget.locator(".attnbook-source li").evaluate_all(shares)
    assert sum(found) == pytest.approx(1, abs=0.02)
    assert max(found) > 0


def test_counting_the_second_number_moves_the_weights_of_nuts(lecture):
    """The promise of the book: no kernel, no network, and the numbers move."""
    arrows = lecture.locator("figure.attnbook-arrows").first
    expect(arrows).to_contain_text("0.088 had + 0.178 bowl + 0.734 nuts")
    arrows.get_by_label("count the second number too").check()
    expect(arrows).to_contain_text("0.005 had + 0.090 bowl + 0.905 nuts")
    arrows.get_by_role("button", name="reset").click()
    expect(arrows).to_contain_text("0.088 had + 0.178 bowl + 0.734 nuts")


def test_the_task_of_the_heatmap_has_the_answer_given(lecture):
    """Unscaled scores at the temperature √3 give the scaled weights; the slider gets near."""
    heatmap = lecture.locator("figure.attnbook-heatmap").first
    row = heatmap.locator(".attnbook-side .attnbook-value")
    heatmap.get_by_label("divide by").uncheck()
    expect(row).to_have_text(["0.000", "0.018", "0.982"])
    heatmap.get_by_role("slider").focus()
    for _ in range(24):
        lecture.keyboard.press("ArrowRight")
    expect(heatmap.get_by_label("temperature as a number")).to_have_value("1.74")
    heatmap.get_by_label("temperature as a number").fill("1.732")
    expect(row).to_have_text(["0.005", "0.090", "0.905"])


def test_theme_button_turns_the_page_dark_and_keeps_it_so(visit):
    page = visit(via="http")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("button.theme-switch-button").first
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert page.evaluate(ground) != light
    page.goto(page.url.replace(LECTURE, "book/notation"))
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_solutions_and_answers_are_closed_until_asked_for(lecture):
    solution = lecture.get_by_text("inside.all().item()")
    assert solution.count() == 1
    assert not solution.is_visible()
    lecture.locator("details summary", has_text="Solution 2").first.click()
    assert solution.is_visible()
    answer = lecture.get_by_text("You cannot pull it out")
    assert answer.count() == 1
    assert not answer.is_visible()
    # the source of a checkpoint would give its answers away
    assert lecture.get_by_text("Checkpoint(", exact=False).locator("visible=true").count() <= 1


def test_edit_leads_to_the_text_once_the_book_has_an_address():
    """Where Colab's buttons lead: test_colab.py."""
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    html = (HTML / f"{LECTURE}.html").read_text(encoding="utf-8")
    edit = f"{address['url']}/edit/{address['branch']}/"
    wanted = "/OWNER/" not in edit
    assert (f"{edit}book/lectures/05-self-attention.md" in html) == wanted
    assert f"{edit}notebooks" not in html


def test_print_shows_every_widget_as_text_and_a_dark_page_in_the_light(lecture):
    lecture.emulate_media(media="print", color_scheme="dark")
    for widget in lecture.locator("figure.attnbook-heatmap, figure.attnbook-steps").all():
        expect(widget.locator("table:visible").first).to_be_attached()
    assert lecture.locator("figure.attnbook input[type=range]:visible").count() == 0
    page = lecture.locator("html")
    for event, theme in ((None, "dark"), ("beforeprint", "light"), ("afterprint", "dark")):
        if event:
            lecture.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        expect(page).to_have_attribute("data-theme", theme)
    lecture.emulate_media(media="screen", color_scheme="light")


def test_the_tasks_of_lecture_8_have_the_answers_given(visit):
    page = visit("notebooks/08-multi-head-attention")
    # one row gives two relations at most a half each, where two rows come near to 1
    heads = page.locator("figure.attnbook-heads").first
    heads.get_by_label("temperature as a number").fill("0.1")
    expect(heads.get_by_role("status")).to_contain_text("“gave”, “my” 0.500 each in both")
    assert "most to gave 1.000" in heads.inner_text()
    assert "most to my 1.000" in heads.inner_text()
    # the number of heads costs nothing, and has to divide the model's size
    layer = page.locator("figure.attnbook-dataflow")
    cost = "1,050,624 parameters and 21,381,120 multiplications"
    for n_heads in ("1", "64"):
        layer.get_by_label("h as a number").fill(n_heads)
        expect(layer).to_contain_text(f"h = {n_heads}: {cost}")
    layer.get_by_label("h as a number").fill("5")
    expect(layer).to_contain_text("512 / 5 is not a whole number")


def test_the_tasks_of_lecture_10_have_the_answers_given(visit):
    page = visit("notebooks/10-transformer-block")
    # of six combinations one keeps a word apart from the others, without growing beyond bounds
    block = page.locator("figure.attnbook-block")
    said = block.get_by_role("status")
    expect(said).to_contain_text("1.000 with the other tokens")
    block.get_by_role("checkbox", name="residual sum").check()
    expect(said).to_contain_text("length 2.5e4")
    norm = block.get_by_label("norm")
    norm.select_option(label="pre: before each part")
    expect(said).to_contain_text("length 11.903")
    expect(said).to_contain_text("0.951 with the other tokens")
    norm.select_option(label="post: after each sum")
    expect(said).to_contain_text("length 2.000")
    expect(said).to_contain_text("1.000 with the other tokens")
    # beyond twice the model's size, attention multiplies more than the network
    block = page.locator("figure.attnbook-dataflow")
    for size, number in (("d_model", "768"), ("d_ff", "3072"), ("n", "1536")):
        block.get_by_label(f"{size} as a number", exact=True).fill(number)
    expect(block).to_contain_text("7,087,872 parameters")
    block.get_by_text("the same as a table").click()
    half = f"{2 * 1536 * 768 * 3072:,}"  # of the block: attention, or W_1 and W_2
    expect(block.locator("table tr", has_text="attention")).to_contain_text(half)


def test_the_tasks_of_lecture_13_have_the_answers_given(visit):
    page = visit("notebooks/13-faster-decoding")
    # where the cache passes the weights, and where both outgrow 80 GB
    cache = page.locator("figure.attnbook-cache")
    cache.get_by_label("tokens in a text as a number").fill("123000")
    expect(cache).to_contain_text("the cache takes 16.1 GB")
    expect(cache).to_contain_text("the weights take 16.1 GB")
    expect(cache).to_contain_text("it has room for 487,819 tokens")
    # 189 MB in 16 bits, 377 in 32
    cache.get_by_role("combobox", name="model").select_option(label="SmolLM2-135M (2024)")
    cache.get_by_label("tokens in a text as a number").fill("8192")
    expect(cache).to_contain_text("the cache takes 189 MB")
    # from 14 texts on caches take longer than weights, or 16 on the slider
    roof = page.locator("figure.attnbook-roof")
    for texts, caches in (("13", "14.0"), ("14", "15.0"), ("16", "17.2")):
        roof.get_by_label("texts at once as a number").fill(texts)
        expect(roof).to_contain_text(f"15.0 GB weights + {caches} GB caches")
    # from 295 new tokens on arithmetic takes longer, after 8,192 from 246
    roof.get_by_label("texts at once as a number").fill("1")
    for cached, corner in (("0", 295), ("8192", 246)):
        roof.get_by_label("tokens in each cache as a number").fill(cached)
        for tokens, longer in ((corner - 1, "Memory"), (corner, "Arithmetic")):
            roof.get_by_label("new tokens of each as a number").fill(str(tokens))
            expect(roof.get_by_role("status")).to_contain_text(f"{longer} takes longer")
    # sharing saves reading, and no multiplication
    step = page.locator("figure.attnbook-dataflow")
    for size, number in (("h", "32"), ("d_k", "128"), ("n", "8192")):
        step.get_by_label(f"{size} as a number", exact=True).fill(number)
    for sets in (32, 8, 1):
        step.get_by_label("h_kv as a number", exact=True).fill(str(sets))
        expect(step).to_contain_text("67,108,864 multiplications")
        expect(step.get_by_role("button", name=f"K, {sets} × 8192 × 128")).to_be_visible()
    # the draft is paid: 2.4 times as fast, as Figure 13.12 has it; then exercise 5
    gain = page.locator("figure.attnbook-speculation")
    expect(gain).to_contain_text("writes 3.362 tokens on average: 2.401 times as fast")
    for alpha, best in (("0.7", 4), ("0.5", 2)):
        gain.get_by_label("kept α as a number").fill(alpha)
        expect(gain).to_contain_text(f"The fastest is γ = {best}")


def test_the_tasks_of_lecture_14_have_the_answers_given(visit):
    page = visit("notebooks/14-longer-contexts")
    # the first token brings back most of the loss, and book stays hidden
    seen = page.locator("figure.attnbook-visibility")
    expect(seen).to_contain_text("last 256 (the window is 17\xa0% of the text")
    expect(seen).to_contain_text("perplexity 82.1.")
    seen.get_by_role("button", name="1 first tokens kept").click()
    expect(seen).to_contain_text("perplexity 40.4.")
    expect(seen).to_contain_text("“red”, token 26: 0.008 of its weight is kept.")
    seen.get_by_label("window: the last").fill("26")
    expect(seen).to_contain_text("with all visible: perplexity 34.9.")
    seen.get_by_label("top-k: the largest").fill("1")
    expect(seen).to_contain_text("“red”, token 26: 0.991 of its weight is kept.")
    # the factor left out does no harm where the first tile holds the greatest score
    tiles = page.locator("figure.attnbook-tiles")
    tiles.get_by_label("multiply by the factor").uncheck()
    tiles.get_by_label("score of key 1").fill("9")
    for _ in range(3):
        tiles.get_by_role("button", name="next").click()
    expect(tiles.get_by_role("status")).to_contain_text("gives the same")
    tiles.get_by_label("score of key 1").fill("0")
    expect(tiles.get_by_role("status")).not_to_contain_text("gives the same")
    # which scalings leave no hand at a new angle, and which of them slows the fastest
    clocks = page.locator("figure.attnbook-clocks")
    scaling = clocks.get_by_role("combobox", name="scaling")
    for name, beyond, fastest in (
        ("interpolation", 0, "14.3°; in training it was 57.3°"),
        ("NTK-aware", 11, "57.3°, as in training"),
        ("YaRN", 0, "57.3°, as in training"),
        ("Llama 3", 0, "57.3°, as in training"),
    ):
        scaling.select_option(label=name)
        expect(clocks).to_contain_text(f"from distance 0 to here, {beyond} come to such angles")
        expect(clocks).to_contain_text(f"turns the fastest hand by {fastest}")
    scaling.select_option(label="NTK-aware")
    for factor, beyond in (("8.5", "1 comes"), ("8.6", "0 come")):
        clocks.get_by_label("factor s as a number").fill(factor)
        expect(clocks).to_contain_text(f"from distance 0 to here, {beyond}")
    # at four angles of the third key one of the first two is still exact
    memory = page.locator("figure.attnbook-memory")
    memory.get_by_label("a third key").check()
    one, two, none = "k₁ reads", "k₂ reads", "No key reads"
    for angle, exact in ((0, two), (45, none), (90, one), (180, two), (270, one)):
        memory.get_by_label("angle of k₃, in degrees as a number").fill(str(angle))
        expect(memory).to_contain_text(f"v₃ is written under k₃. {exact} its value back")


def test_the_task_of_lecture_15_has_the_answer_given(visit):
    page = visit("notebooks/15-what-a-head-shows")
    own = page.locator("figure.attnbook-own")
    stored = own.get_by_label("or a stored sentence")
    stored.select_option("The animal didn't cross the street because it was too wide.")
    expect(own).to_contain_text(
        re.compile(r"most to “\[CLS\]” [\d.]+, “animal” 0\.28\d*, “street” 0\.12")
    )
    stored.select_option("The animal didn't cross the street because it was too tired.")
    own.get_by_text("all 72 heads, and a switch for each").click()
    own.get_by_role("button", name=re.compile("^load MiniLM")).click()
    own.get_by_role("checkbox", name="layer 3, head 1", exact=True).uncheck()
    expect(own).to_contain_text("Off: 3.1. The last vector of “it” has a cosine of 0.99")


def test_the_tasks_of_lecture_16_have_the_answers_given(visit):
    page = visit("notebooks/16-what-heads-do-together")
    # neither head does it alone; the loss is that of all heads
    trainer = page.locator("figure.attnbook-trainer")
    for layer, right in (("layer 0", "0.35"), ("layer 1", "0.09")):
        trainer.get_by_label(layer).uncheck()
        expect(trainer).to_contain_text(f"right {right}, with all heads 0.82 and the loss 1.22;")
        trainer.get_by_label(layer).check()
    # layer 23's attention adds most to brook, which leads only after the last layer
    lens = page.locator("figure.attnbook-lens")
    lens.get_by_text("the same as a table").click()

    def layers(part: int) -> dict[str, float]:
        """A column of the table: 3 is the probability, 4 attention adds, 5 the network."""
        rows = [row.split("\t") for row in lens.locator("table tr").all_inner_texts()]
        column = {cells[0]: cells[part].replace("−", "-") for cells in rows[1:]}
        return {name: float(text) for name, text in column.items() if text[-1:].isdigit()}

    def says(step: str) -> str:
        return lens.locator("table tr", has_text=step).locator("td").first.inner_text()

    adds, network = layers(4), layers(5)
    assert max(adds, key=adds.get) == "After layer 23"
    assert adds["After layer 23"] == 4.4
    assert says("After layer 23") == "."
    assert (says("After layer 29"), layers(3)["After layer 29"]) == ("brook", 0.99)
    assert max(*adds.values(), *network.values()) == network["After layer 29"] == 10.9
    # exercise 5: old passes a half in one layer; and whose attention adds most to Paris
    choose = lens.get_by_role("combobox", name="prompt")
    choose.select_option(index=2)
    expect(lens.locator("table th", has_text="old")).to_be_visible()
    chance = layers(3)
    assert next(step for step, p in chance.items() if p > 0.5) == "After layer 24"
    assert chance["After layer 29"] == 0.76
    choose.select_option(index=0)
    expect(lens.locator("table th", has_text="Paris")).to_be_visible()
    adds = layers(4)
    assert max(adds, key=adds.get) == "After layer 23"


def test_arcs_of_a_long_sentence_scroll_in_their_own_box_on_a_phone(visit):
    page = visit("notebooks/other-texts", viewport=PHONE)
    box = page.locator(".cell_output:has(> img[src$='.svg'])").first
    assert box.evaluate("b => b.scrollWidth > b.clientWidth + 300")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    assert no_sideways_scroll(page)
