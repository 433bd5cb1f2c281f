"""What the answer to a task says, its picture shows: set as the answer has it, and read.

A row of the table is a task, found by words of its question. Its steps do what a reader does by
hand, and read. ``told`` is a pattern in the answer's own text: of what is to be typed, or of what
the picture must show then, group by group; words to the letter, numbers to the unit in which the
coarser of the two is written. A reason in place of steps says why there is nothing to be read.
"""

import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Error, Locator

from attnlab.widgets.applications.own.weights import packed
from attnlab.widgets.applications.own.widget import save_weights
from tests import needs
from tests.attnlab.widgets.pages import eventually, settle, unfold
from tests.attnlab.widgets.tasks import LECTURES, ROOT, Task, tasks

HANGS_ON = ("notebooks",)

ASSETS = (ROOT / "notebooks" / "assets", ROOT / "src" / "attnlab" / "models" / "captions")
N = r"(−?[\d.,]*\d)"
SIZES = {  # what an answer says in words: no less, no more
    "a half": (0.49, 0.5),
    "a third": (0.33, 0.34),
    "a quarter": (0.245, 0.255),
    "about a quarter": (0.2, 0.3),
    "about a tenth": (0.05, 0.15),
    "about a third": (0.28, 0.38),
    "a tenth": (0.05, 0.15),
    "an eighth": (0.12, 0.13),
    "four fifths": (0.75, 0.85),
    "less than a hundredth": (0, 0.01),
    "nearly everything": (0.9, 1),
    "over nine tenths": (0.9, 1),
    "none": (0, 0),
    "one": (1, 1),
    "twice": (2, 2),
    "four times": (4, 4),
    "seven": (7, 7),
    "eight": (8, 8),
}
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e\d+)?")


class At(NamedTuple):
    """A task, and its picture on a page."""

    view: Locator
    task: Task

    def said(self, told: str) -> tuple[str, ...]:
        """The groups of a pattern in the answer, which must be there."""
        found = re.search(told, self.task.answer, re.S)
        assert found, f"the answer no longer has {told!r}"
        return found.groups()

    def text(self) -> str:
        """All that the picture shows, its folds opened."""
        unfold(self.view)
        settle(self.view)
        return self.view.inner_text()

    def shown(self, pattern: str) -> tuple[str, ...]:
        """The groups of a pattern in the picture, which must be there."""
        text = self.text()
        found = re.search(pattern, text, re.M)
        assert found, f"the picture shows no {pattern!r}: … {text[-1000:]}"
        return found.groups()


Step = Callable[[At], object]


def number(text: str) -> tuple[float, float] | None:
    """A number as it is written, and half the unit of its last digit."""
    text, scale = text.strip(), 1.0
    if text.endswith(" million"):
        text, scale = text.removesuffix(" million"), 1e6
    if not NUMBER.fullmatch(text):
        return None
    digits, _, power = text.replace(",", "").replace("−", "-").partition("e")
    scale *= 10 ** int(power or 0)
    return float(digits) * scale, 0.5 * scale * 10 ** -len(digits.partition(".")[2])


def agree(told: str, shown: object) -> bool:
    """Whether a number or a word of the answer is that of the picture, or computed from it."""
    mine = number(told)
    other = number(shown) if isinstance(shown, str) else (shown, 0)
    if told in SIZES and other:
        return SIZES[told][0] <= other[0] <= SIZES[told][1]
    if mine and other:
        return abs(mine[0] - other[0]) <= max(mine[1], other[1]) * (1 + 1e-9)
    return told == shown


def compare(told: tuple, shown: tuple) -> None:
    pairs = zip(told, shown, strict=True)
    for mine, other in pairs:
        if not agree(mine, other):
            raise AssertionError(f"the answer says {mine!r}, the picture shows {other!r}")


# ---- what a reader does ------------------------------------------------------------------------


def opened(at: At) -> Locator:
    unfold(at.view)
    return at.view


def tick(label: str, on: bool = True) -> Step:
    return lambda at: opened(at).get_by_role("checkbox", name=label).first.set_checked(on)


def pick(label: str, option: str) -> Step:
    return lambda at: opened(at).get_by_role("combobox", name=label).select_option(label=option)


def fill(label: str, text: str = "", *, told: str = "", group: int = 0) -> Step:
    """Type a text, or what the answer tells, and press Enter."""

    def step(at: At) -> None:
        unfold(at.view)
        box = at.view.get_by_label(label, exact=True)
        box.fill(at.said(told)[group] if told else text)
        box.press("Enter")

    return step


def press(name: str, times: int = 1) -> Step:
    """Press the first button whose name begins so."""

    def step(at: At) -> None:
        unfold(at.view)
        found = at.view.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).first
        for _ in range(times):
            found.click(force=True)  # at either end one may be pressed all the same

    return step


def hit(label: str, *keys: str) -> Step:
    """Press keys in a control that has no box."""

    def step(at: At) -> None:
        opened(at).get_by_label(label).first.focus()
        for key in keys:
            at.view.page.keyboard.press(key)

    return step


def translate(sentence: str) -> Step:
    def step(at: At) -> None:
        fill("English sentence", sentence)(at)
        press("translate")(at)

    return step


def waits(pattern: str) -> Step:
    """Wait for what is loaded, or computed in pieces."""
    return lambda at: eventually(lambda: re.search(pattern, at.text()) is not None)


# ---- what is read ------------------------------------------------------------------------------


def shows(told: str, pattern: str) -> Step:
    """What the answer says, the picture shows; without groups both need only be there."""
    return lambda at: compare(at.said(told), at.shown(pattern))


def finds(told: str, *compute: Callable[[At], object]) -> Step:
    """What the answer says follows from what the picture shows."""
    return lambda at: compare(at.said(told), tuple(one(at) for one in compute))


def holds(told: str, check: Callable[[At], bool]) -> Step:
    """What the answer says of the picture holds."""

    def step(at: At) -> None:
        at.said(told)
        assert eventually(lambda: check(at)), (
            f"the answer says {told!r}, which the picture does not show"
        )

    return step


def each(told: str, label: str, pattern: str) -> Step:
    """Wherever the answer says two numbers so: type the second, and the picture shows the first."""

    def step(at: At) -> None:
        at.said(told)
        for found, typed in re.findall(told, at.task.answer):
            fill(label, typed)(at)
            compare((found,), at.shown(pattern))

    return step


def keeps(told: str, pattern: str, *steps: Step) -> Step:
    """What the picture shows stays as it is, as the answer says."""

    def step(at: At) -> None:
        at.said(told)
        before = at.shown(pattern)
        for one in steps:
            one(at)
            assert at.shown(pattern) == before, f"{before} changed, though the answer says {told!r}"

    return step


def refuses(told: str, label: str, text: str, words: str) -> Step:
    """What the answer calls refused is refused, in words."""

    def step(at: At) -> None:
        at.said(told)
        fill(label, text)(at)
        alerts = " ".join(at.view.get_by_role("alert").all_inner_texts())
        assert words in alerts, f"no {words!r} in {alerts!r}"

    return step


def writes(told: str) -> Step:
    """Wait until the translator has written what the answer says; then for the end of its work."""

    def step(at: At) -> None:
        (wanted,) = at.said(told)
        found = at.view.locator(".attnbook-written")
        written = eventually(lambda: wanted.lower() in found.inner_text().lower())
        assert written, f"the answer says {wanted!r}, the picture writes {found.inner_text()!r}"
        waits(r"log p = ")(at)

    return step


# ---- what is computed from it ------------------------------------------------------------------


def weights(at: At, name: str) -> list[float]:
    """A row of the table of weights, by its name."""
    return [float(one) for one in at.shown(rf"^{re.escape(name)}((?:\t[\d.]+)+)$")[0].split()]


def shares(at: At) -> tuple[str, ...]:
    """The weights of "bowl" and "nuts"."""
    return at.shown(r"^bowl\t.*\t([\d.]+)\nnuts\t.*\t([\d.]+)$")


def looks(piece: str, at: At) -> str:
    """The piece of the source that a piece of the translation looks at most, without its mark."""
    names = at.shown(r"^piece\t(▁.+)$")[0].split("\t")
    return max(zip(weights(at, piece), names, strict=True))[1].removeprefix("▁")


def product(at: At) -> float:
    """The product of the probabilities of all that is written."""
    return math.exp(float(at.shown(r"log p = ([−\d.]+\d)")[0].replace("−", "-")))


def boxes(at: At, box: str) -> list[int]:
    """The parameters and the multiplications of a box of a drawing."""
    found = at.shown(rf"^{re.escape(box)}\t.*\t([\d,]+)\t([\d,]+)$")
    return [int(one.replace(",", "")) for one in found]


def parameters(at: At) -> int:
    """Those of a whole drawing."""
    return boxes(at, "all together")[0]


def more_gradient(at: At) -> bool:
    """Whether the key "bowl", which "had" was given, lends it more gradient than "nuts" does."""
    (bowl,) = at.shown(r"^had\t.*\t([\d.]+)$")
    hit("Mask: who may attend", "Space", "ArrowRight", "Space")(at)
    return float(bowl) > float(at.shown(r"^had\t.*\t([\d.]+)$")[0])


def doubled(box: str) -> Callable[[At], float]:
    """How many times as many multiplications a box takes when n is doubled from 20."""

    def compute(at: At) -> float:
        counts = []
        for n in ("20", "40"):
            fill("n as a number", n)(at)
            counts.append(boxes(at, box)[1])
        return counts[1] / counts[0]

    return compute


def attention_takes_more(at: At) -> bool:
    return boxes(at, "attention")[1] > boxes(at, "W_1")[1] + boxes(at, "W_2")[1]


def gained(at: At) -> int:
    """The parameters that a block would gain if no head shared keys and values."""
    before = parameters(at)
    fill("h_kv as a number", "9")(at)
    after = parameters(at)
    fill("h_kv as a number", "3")(at)
    return after - before


def slowed(at: At) -> float:
    now, before = at.shown(rf"fastest hand by {N}°; in training it was {N}°")
    return float(now) / float(before)


def tallest(at: At, column: int) -> tuple[float, str]:
    """What a layer adds most, by a column of the table, and the layer's number."""
    rows = re.findall(r"^After layer (\d+)\t(.*)$", at.text(), re.M)
    return max((float(row.split("\t")[column].replace("−", "-")), layer) for layer, row in rows)


# ---- the tasks ---------------------------------------------------------------------------------

BEST = r"Best: “(.+?) <eos>”, score"
RIGHT = "Best: “est -ce que je suis aussi petit que le médecin <eos>”, score"
PENALTY, THRESHOLD = "length penalty α as a number", "threshold θ as a number"
ALL_LINKS = rf"^all 8 with gold links, α ≥ .*\t{N}\t{N[1:-1]}\t"
OTHERS = rf"and {N} with the other tokens"
ANGLES = rf"from distance 0 to here, {N} comes? to such"
ANGLE = "angle of k₃, in degrees as a number"
STORED = "The animal didn't cross the street because it was too {}."


def beam(k: str) -> list[Step]:
    return [pick("beam k", k), press("end")]


ROWS: dict[str, list[Step] | str] = {
    # ---- 1
    "From which place on is the string of Figure 1.1 wrong": [
        # the string backwards is 8 1 8 2 8 1 7 2
        shows("right as far as the fourth", r"^writes\t8✓\t1✓\t8✓\t2✓\t1×"),
        shows("fourth digit and comes out a digit short", r"ends the sentence: 8 1 8 2 1 8 2\."),
        shows(rf"not: {N} cells", rf"in {N} numbers"),
        *(fill("sentence", "3141"), press("to the end")),
        shows(rf"not: {N} cells", rf"in {N} numbers"),
    ],
    # ---- 2
    "In Figure 2.1 set $k$ to 1": [
        *(*beam("1 (greedy)"), shows(r"With \$k = 1\$ it is \*(.+?)\*", BEST)),
        *(*beam("2"), shows(r"with \$k = 2\$ it is right", "Best: “la pomme rouge <eos>”")),
        *(*beam("3"), shows(r"with \$k = 3\$ it is \*(.+?)\*", BEST)),
        *(*beam("4"), shows(r"still wider one changes nothing: \*(.+?)\*", BEST)),
    ],
    "raise $\\alpha$ until *la pomme rouge* wins": [
        fill(PENALTY, told=rf"At {N} \*pomme\* still wins"),
        shows(r"\*(pomme)\* still wins", BEST),
        fill(PENALTY, told=f"at {N} it does not"),
        shows("it does not", "Best: “la pomme rouge <eos>”"),
        *(fill(PENALTY, "0"), *beam("1 (greedy)")),
        refuses(r"above 0\.45 alone is refused", "la, first", "0.46", "at most 1 in all"),
        *(fill("la, first", "0.35"), fill("le, first", "0.36"), press("end")),
        shows(r"lower \*le\* below 0\.35", "Best: “le "),
        *(fill("le, first", "0.34"), press("end")),
        shows(r"lower \*le\* below 0\.35", "Best: “la pomme rouge <eos>”"),
    ],
    "With $k = 4$ the right sentence is lost": [
        *(*beam("1 (greedy)"), shows(r"than \*est-ce que je suis aussi", RIGHT)),
        *beam("2"),
        shows(r"\$k = 2\$, .* \*est-ce que je suis petit", "Best: “est -ce que je suis petit <"),
        *beam("4"),
        shows("a wider beam finds nothing better", "Best: “est -ce que je suis petit <eos>”"),
        fill(PENALTY, told=r"With \$\\alpha = (\d)\$"),
        *(
            step
            for k in ("1 (greedy)", "2", "3", "4")
            for step in (*beam(k), shows("the right sentence wins at every", RIGHT))
        ),
    ],
    # ---- 3
    "where do *ne* and *pas* look": "the maps are drawn once; their cell asserts the answer",
    "tick *compare with gold links*": [
        tick("compare with gold links"),
        each(rf"{N},? at θ = {N}", THRESHOLD, ALL_LINKS),
        *(fill(THRESHOLD, "0.5"), shows(f"{N} at one half", ALL_LINKS)),
        keeps(
            "rate of the greatest weights stays exactly as it was",
            rf"^all 8 with gold links, largest α\t{N}",
            fill("temperature as a number", "3"),
        ),
    ],
    # ---- 4
    "Which circles of the fourth plane change": [
        *(fill("query, number 1", "3"), fill("query, number 2", "-3")),
        shows(rf"\*small\* keeps {N}", rf"sum: small \({N}\)"),
        *(fill("query, number 1", "-2"), fill("query, number 2", "1")),
        tick("with tanh"),
        shows(r"With the tanh \*(\w+)\* wins", r"additive: (\w+) \("),
    ],
    "*The* lies inside the triangle": [
        tick("with tanh"),
        fill("query, number 1", told=r"at the query \((\S+), \S+\)"),
        fill("query, number 2", told=r"at the query \(\S+, (\S+)\)"),
        shows(
            "additive score alone", r"by dot: (?!the)\w.*scaled dot: (?!the)\w.*: (?!the)\w.*: the"
        ),
        *(fill("query, number 1", "0"), fill("query, number 2", "0")),
        shows("At the query 0 all four words have", r"^the\t0\t\s*0\.250$"),
    ],
    # ---- 5
    "Drag the tips. Can you pull the point out": [
        *(
            fill(f"{word}, number {number}", told=rf"\*{word}\* at \((\d), (\d)\)", group=group)
            for word in ("had", "bowl", "nuts")
            for group, number in enumerate((1, 2))
        ),
        shows(r"\*nuts\* at \((\d), (\d)\), halfway", rf"new nuts = .* = \({N}, {N}\)\."),
        *(press("reset"), fill("nuts, number 1", "0"), fill("nuts, number 2", "0")),
        shows("each word gets (a third)", f"new nuts = {N} had"),
    ],
    "Drag *bowl* alone until it has the share": [
        step
        for place in (r"\((\d), (\d)\), ", r"\((−\d), (\d)\) and", r"itself, \((\d), (\d)\)")
        for step in (
            fill("bowl, number 1", told=place),
            fill("bowl, number 2", told=place, group=1),
            shows(rf"has the score {N} with \*nuts\*", rf"^bowl\t.*\t{N}\t{N[1:-1]}\t"),
            holds("They lie on a line", lambda at: len(set(shares(at))) == 1),
        )
    ],
    # ---- 6
    "Drag the thick arrow of Figure 6.1 until *fish*": [
        fill("query, number 1", told=r"At \((\S+), \S+\)"),
        fill("query, number 2", told=r"At \(\S+, (\S+)\)"),
        shows(rf"\*fish\* has {N}\.", rf"Greatest weight: fish \({N}\)"),
        *(press("reset"), shows(rf"\*fish\* has {N}\.", rf"Greatest weight: fresh \({N}\)")),
    ],
    "Nobody looks for a verb yet": [
        keeps(
            "its query stays",
            r"^had\t0\t2\t4$",
            fill("W^Q, row 3, column 2", told="The third, to any number above 0. With (1)"),
        ),
        shows(
            r"scores with \*had\* (\d) and (\d), with the others 0",
            r"^had\t0\t2\t4\nbowl\t(\d)\t0\t0\nnuts\t(\d)\t0\t0$",
        ),
        *(pick("token", "bowl"), shows(r"become \((\d), (\d)\) and", r"^q\t(\d)\t(\d)$")),
        *(pick("token", "nuts"), shows(r"and \((\d), (\d)\), and their", r"^q\t(\d)\t(\d)$")),
    ],
    # ---- 7
    "What does *fresh* give to *fish* now?": [
        tick("divide by"),
        shows(rf"has {N} for \*often\*", rf"^fresh\t[\d.]+\t{N}"),
        shows(rf"and {N} for \*fish\*", rf"^fresh(?:\t[\d.]+){{4}}\t{N}"),
    ],
    # ---- 8
    "Lower the temperature in Figure 8.1": [
        fill("temperature as a number", "0.1"),
        shows("approaches (a half) for each", f"“gave”, “my” {N} each in both"),
        shows(rf"first two approach {N}\.", f"most to gave {N}"),
        shows(rf"first two approach {N}\.", f"most to my {N}"),
    ],
    "Change $h$ from 8 to 1": [
        keeps(
            r"Parameters and multiplications do not change with \$h\$",
            r": [\d,]+ parameters and [\d,]+ multiplications",
            fill("h as a number", "1"),
            fill("h as a number", "64"),
        ),
        shows(r"number of weights, \$h n\^2\$", r"√d\)\th × n × n\t64 × 20 × 20"),
        fill("h as a number", "5"),
        shows(rf"Five heads do not divide {N}\.", rf"{N} / 5 is not a whole number"),
        press("reset"),
        finds("the projections take (twice) as many", doubled("W^Q")),
        finds("weighted sums (four times) as", doubled("softmax(Q Kᵀ / √d)")),
        finds("weighted sums (four times) as", doubled("weighted sum of V")),
    ],
    # ---- 9
    "set $p$ to 0 and the shift to 44": [
        hit("position p", "Home"),
        hit("shift k", "Home", *["ArrowRight"] * 44),
        shows(rf"turned by {N}°, which is seven rounds", r"pair 0\s+\+ ([\d.,]+)°"),
        shows(
            rf"The second has turned by {N}°, and the third by {N}°",
            r"pair 1\s+\+ ([\d.,]+)°\s+pair 2\s+\+ ([\d.,]+)°",
        ),
    ],
    # ---- 10
    "Try all six combinations of norm and sum": [
        *(pick("blocks", "12"), tick("residual sum"), pick("norm", "pre: before each part")),
        shows(f"the cosine is {N}, and still rising", OTHERS),
        shows(f"before each part it is {N},", f"has length {N},"),
        pick("norm", "post: after each sum"),
        shows(f"after each sum it is always {N},", f"has length {N},"),
        shows(f"it is {N} in the five others", OTHERS),
        pick("norm", "none"),
        shows(f"reaches a length of {N},", r"has length ([\d.e]+),"),
        shows(f"it is {N} in the five others", OTHERS),
        tick("residual sum", on=False),
        *(
            step
            for norm in ("pre: before each part", "post: after each sum", "none")
            for step in (pick("norm", norm), shows(f"it is {N} in the five others", OTHERS))
        ),
    ],
    "From which $n$ on does attention": [
        *(fill("d_model as a number", "768"), fill("d_ff as a number", "3072")),
        fill("n as a number", told=f"From {N} words on"),
        holds("words on", attention_takes_more),
        *(
            fill("n as a number", "1536"),
            holds("From 1,537", lambda at: not attention_takes_more(at)),
        ),
    ],
    # ---- 11
    "Set Figure 11.4 to the paper's sizes": [
        *(fill("d_model as a number", "512"), fill("d_ff as a number", "2048")),
        *(fill(f"{name} as a number", "37,000") for name in ("V_s", "V_t")),
        fill("layers as a number", "6"),
        finds(r"About (\d+ million)\.", parameters),
        finds(r"or (\d+ million) numbers", lambda at: boxes(at, "embed source")[0]),
        finds(r"leaves (\d+ million)", lambda at: parameters(at) - boxes(at, "embed source")[0]),
    ],
    "Type the sentence backwards": [
        *(press("translate"), waits("log p = ")),
        finds(f"that of the first sentence is about {N} %", lambda at: 100 * product(at)),
        translate("apple red the eat not does cat black small the"),
        writes(r"The model of this page writes \*(.+?)\*"),
        finds("product of the probabilities is (about a quarter)", product),
    ],
    "Translate the first sentence": [
        *(press("translate"), waits("log p = ")),
        finds(r"\*Leiter\* looks at \*(\w+)\*", lambda at: looks("▁Leiter", at)),
        finds("with (over nine tenths) of the mean", lambda at: max(weights(at, "▁Leiter"))),
        pick("head", "0"),
        finds(r"head 0 looks at \*(\w+)\*", lambda at: looks("▁einem", at)),
        *(
            step
            for head in "123"
            for step in (
                pick("head", head),
                finds(r"\*Leiter\* looks at \*(\w+)\*", lambda at: looks("▁Leiter", at)),
                finds(r"other three most at \*(\w+)\*", lambda at: looks("▁einem", at)),
            )
        ),
        pick("head", "1"),
        finds("the least sure gives it (four fifths)", lambda at: max(weights(at, "▁Leiter"))),
        *(
            press("the parliament"),
            writes(r"\*(die Elternteil)\*"),
            writes(r"\*(das neuen Lastier)\*"),
        ),
        shows(rf"as \*Eltern\* is, with {N}", rf"^▁Eltern\t{N}\t▁"),
        *(translate("a man is still wearing a hat"), writes(r"ends in \*(.+?)\*, with it")),
        *(translate("a man is still wearing a hat."), writes(r"with it in \*(.+?)\*")),
    ],
    "Under the map, *All 4 × 4 heads*": [
        *(press("an old man"), waits("Gitarre"), pick("attention", "decoder → source")),
        *(press("all of these off"), writes(r"a man with a \*(\w+)\*")),
        *(translate("two dogs are playing in the snow."), writes(r"a man with a \*(\w+)\*")),
    ],
    # ---- 12
    "In Figure 12.1 three lines": [
        hit("examples", "Home"),
        shows(r"after none it writes \*(\w+)\*", r"The model writes “(\w+)”"),
        hit("examples", "ArrowRight"),
        shows(r"after one it copies \*(\w+)\*", r"The model writes “(\w+)”"),
        hit("examples", "ArrowRight"),
        shows(r"After two lines \*(\w+)\*", r"The model writes “(\w+)”"),
        hit("examples", "End"),
        shows(r"With six lines all (\w+) words", rf"Right for {N} of these 8 words"),
        tick("answers exchanged"),
        shows(r"exchanged it writes \*(\w+)\*", r"The model writes “(\w+)”"),
        shows(r"and (\w+) word of eight is right", rf"Right for {N} of these 8 words"),
    ],
    "Set `h_kv` to 9": [
        finds(f"{N}, (an eighth) of what it has", gained, lambda at: gained(at) / parameters(at)),
        *(
            step
            for name in ("K", "V")
            for step in (
                shows(rf"from \${N} \\times {N}\$ to", rf"^W\^{name}\t.*\t{N} × {N}\t"),
                fill("h_kv as a number", "9"),
                shows(rf"to \${N} \\times {N}\$", rf"^W\^{name}\t.*\t{N} × {N}\t"),
                fill("h_kv as a number", "3"),
            )
        ),
    ],
    # ---- 13
    "In Figure 13.1 drag": [
        *(
            step
            for texts, share, keep in (
                ("1", rf"takes {N} ms instead of", rf"instead of {N}, a sixth"),
                ("32", rf"For 32 it takes {N} ms", rf"instead of {N}\. \("),
            )
            for step in (
                fill("texts at once as a number", texts),
                shows(share, rf"^share\t.*\t{N} ms$"),
                shows(keep, rf"^keep\t.*\t{N} ms$"),
            )
        ),
        shows("would not fit in", "Not all of it fits in 80.0 GB: keep takes"),
    ],
    # ---- 14
    "In Figure 14.1, keep the window at 4": [
        shows(f"tokens visible, {N} falls", rf"perplexity {N}\."),
        press("1 first tokens kept"),
        shows(f"falls to {N};", rf"perplexity {N}\."),
        shows("keeps (less than a hundredth) of", f"“red”, token 26: {N} of its weight is kept"),
        shows(r"But \*(\w+)\* stays hidden", r"^(\w+)\t0\.[5-9]\d+\thidden$"),
        *(hit("window", "End"), shows(rf"with all it is {N}\.", rf"perplexity {N}\.")),
        *(hit("top-k", "Home"), shows(r"now \*red\* sees it", r"^book\t[\d.]+\t1\.000$")),
    ],
    "Which scores may you give": [
        *(fill("score of key 1", "9"), press("next", 4)),
        *(shows(f"every factor is {N}", rf"^{keys}\t9\t{N}\t") for keys in (4, 6, 8)),
    ],
    "With a factor of 4, which scalings": [
        *(
            step
            for scaling in ("interpolation", "YaRN", "Llama 3")
            for step in (
                pick("scaling", scaling),
                shows("Interpolation, YaRN and Llama 3's rule leave (none)", ANGLES),
                shows("only interpolation slows", "as in training")
                if scaling != "interpolation"
                else finds("by (a quarter) of what the model knows", slowed),
            )
        ),
        *(pick("scaling", "NTK-aware"), shows(rf"NTK-aware scaling by 4 leaves {N}\.", ANGLES)),
        fill("factor s as a number", told=rf"\$, about {N}\."),
        shows("leave (none)", ANGLES),
        shows(f"come round, needs {N}:", f"Now it takes .*: {N} times slower"),
        *(fill("factor s as a number", "8.5"), shows("about 8.6", "to here, [1-9]")),
    ],
    "what do two keys read?": [
        *(press("previous"), shows("Before it, their own", "k₁ and k₂ read their values back")),
        press("next"),
        *(
            step
            for angle, exact in (("0", "k₂"), ("90", "k₁"), ("180", "k₂"), ("270", "k₁"))
            for step in (
                fill(ANGLE, angle),
                shows(rf" {angle}°.* stays exact", f"{exact} reads its value back"),
            )
        ),
        *(fill(ANGLE, "91"), shows("third direction for both", "No key reads its value back")),
    ],
    # ---- 15
    "In Figure 15.1, choose the sentence": [
        *(waits("it attends to"), pick("or a stored sentence", STORED.format("wide"))),
        shows(rf"Still \*animal\*, with {N} against", rf"^animal\n{N}$"),
        shows(f"against {N}; most goes to", rf"^street\n{N}$"),
        shows(r"most goes to (\[CLS\])", "“it” attends most to “(.+?)”"),
        *(pick("or a stored sentence", STORED.format("tired")), press("load MiniLM")),
        *(tick("layer 3, head 1", on=False), waits("has a cosine of")),
        shows(
            rf"its cosine with what it was is {N}\.", f"“it” has a cosine of {N} with what it was"
        ),
    ],
    # ---- 16
    "In Figure 16.6 let the model train": [
        *(
            step
            for layer, share in (("0", "about a third"), ("1", "a tenth"))
            for step in (
                tick("layer 0", on=layer != "0"),
                tick("layer 1", on=layer != "1"),
                waits(f"Without layer {layer}, right"),
                shows(
                    f"ithout layer {layer} ({share})",
                    f"Without layer {layer}, right .*: {N} instead",
                ),
            )
        ),
    ],
    "“Our neighbour Marguerite …”: the name": [
        finds(rf"by {N}\.", lambda at: tallest(at, 3)[0]),
        finds(f"Layer {N}'s", lambda at: tallest(at, 3)[1]),
        shows("after it the lens says a full stop", r"^After layer 23\t\.\t"),
        shows(f"after the last layer it is, with {N}:", rf"^After layer 29\tbrook\t{N}\t"),
        finds(f"adds {N}, the tallest bar", lambda at: tallest(at, 4)[0]),
    ],
}


def row(task: Task) -> list[Step] | str | None:
    found = [steps for words, steps in ROWS.items() if words in task.asked]
    return found[0] if found else None


def played(show: Callable, task: Task) -> str:
    """Do what a task's row says; what is wrong in words, or ""."""
    at = At(show(task.picture).locator("figure"), task)
    for place, step in enumerate(row(task), 1):
        try:
            step(at)
        except (AssertionError, Error) as error:  # Playwright's own: there is no such control
            return f"“{task.asked[10:70]} …”, step {place}: {error}"
    return ""


def test_every_task_has_a_row_or_a_reason_and_every_row_its_task() -> None:
    every = [task for lecture in LECTURES for task in tasks(lecture)]
    assert [task.asked for task in every if not row(task)] == []
    # who has no live picture cannot be played, so its reason must be told
    unplayed = [task for task in every if not task.picture]
    assert [task.asked for task in unplayed if not isinstance(row(task), str)] == []
    counts = {words: sum(words in task.asked for task in every) for words in ROWS}
    assert counts == dict.fromkeys(ROWS, 1)


@pytest.fixture(scope="module")
def large(folder: Path) -> Path:
    """What the book's build puts beside its pages, in the folder of these."""
    assets = folder / "assets"
    assets.mkdir(exist_ok=True)
    for path in [path for place in ASSETS for path in place.glob("*.js")]:
        shutil.copy(path, assets)
    return assets


@pytest.mark.parametrize("lecture", LECTURES)
def test_what_the_answer_of_a_task_says_its_picture_shows(show, large, lecture: str) -> None:
    found = tasks(lecture)
    if any(task.kind == "own" for task in found) and not (large / "minilm.js").exists():
        save_weights("minilm", *packed(needs.minilm()), large)
    outcomes = [played(show, task) for task in found if isinstance(row(task), list)]
    if told := [said for said in outcomes if said]:
        pytest.fail("\n".join(told), pytrace=False)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("leaves 11.", "leaves 12.", "the answer says '12', the picture shows '11'"),
        ("needs 4:", "needs four:", "the answer no longer has"),
        ("about 8.6", "about 8.4", "the answer says 'none', the picture shows '1'"),
    ],
)
def test_an_answer_that_is_not_its_pictures_is_named(show, old: str, new: str, named: str) -> None:
    task = next(one for one in tasks("evidence/14-longer-contexts") if old in one.answer)
    assert played(show, task) == ""
    said = played(show, task._replace(answer=task.answer.replace(old, new)))
    assert said.startswith("“With a factor of 4, which scalings")
    assert named in said


@pytest.mark.parametrize(
    ("told", "shown", "right"),
    [
        ("0.24", "0.244", True),
        ("0.25", "0.244", False),
        ("24,823.9", "2.5e4", True),
        ("26,823.9", "2.5e4", False),
        ("82 million", 82_123_456, True),
        ("83 million", 82_123_456, False),
        ("−3", "−3.000", True),
        ("3", "−3.000", False),
        ("about a tenth", "0.11", True),
        ("about a tenth", "0.21", False),
        ("pomme", "pomme", True),
        ("pomme", "rouge", False),
    ],
)
def test_an_answer_agrees_to_the_unit_in_which_it_is_written(told, shown, right: bool) -> None:
    assert agree(told, shown) is right
