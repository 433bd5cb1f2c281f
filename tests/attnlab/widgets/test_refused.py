"""What widgets refuse, as an argument and as an assignment: each says what is wrong.

What an argument is in the kind's example says what it does not take: a switch no text, a number no
text and no infinity, a list of texts no text alone. A table adds what is an argument's own.
"""

import inspect
import re
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import traitlets

from attnbook.layers import Config, DecoderBlock, EncoderBlock
from attnbook.positions import Rotary
from attnbook.rnn import RNNSeq2Seq
from attnlab.language import Vocabulary
from attnlab.pictures import Schematic
from attnlab.widgets import AlignmentPlayer, BeamTree, Translator, UnrolledModel
from attnlab.widgets.kinds import KINDS
from tests.attnlab.pictures.drawings import three_roles, tower
from tests.attnlab.widgets import examples as of
from tests.attnlab.widgets.examples import (
    CAT,
    DETERMINERS,
    EXAMPLES,
    HUNT,
    LAYER,
    TWO,
    WIDE,
    X,
    model,
)

NAN, INF = float("nan"), float("inf")


class Bad(NamedTuple):
    """A value that must be refused, pieces of the error, above all what came, and whom it names.

    ``along`` changes with it, and is None where an assignment of the value is refused too.
    """

    value: Any
    says: tuple[str, ...]
    called: str = ""
    along: dict[str, Any] | None = None


def bad(values: dict[str, Any], called: str = "", **along: Any) -> list[Bad]:
    """Values by what the error shows of them; it is a ValueError where it does not say so."""
    found = values.items()
    return [Bad(one, tuple(says.split(" … ")), called, along or None) for says, one in found]


def each(values: tuple, *wanted: str, converted: tuple = ()) -> list[Bad]:
    """Values whose error shows all of them; a trait takes those that it has ``converted``."""
    found = [Bad(one, (*wanted, repr(one))) for one in values]
    return found + [Bad(one, (*wanted, repr(one)), along={}) for one in converted]


ABOVE_0 = each((0, -1.0), "finite number above 0") + each(("1", NAN, INF), "number")
SWITCH = each((2, "yes", "", None, [True]), "TypeError", "be True or False", converted=(0, 1))
ONE_OF = each(("nonsense", ["a"], 3), "must be one of ")
EITHER = each(("nonsense", ["a"], 3, True), "must be ", " or ")
ASSET = each(("../x", "A b"), "must be a name of lower-case letters")


def whole(least: int, most: int) -> list[Bad]:
    values = (least - 1, most + 1, least + 0.5, "1", NAN)
    return each(values, f"whole number from {least} to {most}", converted=(float(least), True))


def place(count: int) -> list[Bad]:
    """A place among so many, from the front or from the end."""
    found = each((-count - 1, count, 0.5), f"whole number from {-count} to {count - 1}, got")
    return found + each(("1", INF, NAN), "number, got")


def number(least: float, most: float) -> list[Bad]:
    values = (least - 0.1, most + 0.1, "1", NAN, INF)
    return each(values, f"a number from {least:,} to {most:,}", converted=(True,))


def strings(count: int = 0) -> list[Bad]:
    found = bad({"TypeError … a list … 'ab'": "ab", "TypeError … got 1": [1] * (count or 1)})
    return found + (bad({f"{count} strings … got 1": ["a"]}) if count else [])


def shapes(wanted: str, *wrong: tuple[int, ...]) -> list[Bad]:
    return bad({f"{wanted} … {one}": np.zeros(one).tolist() for one in wrong})


def numbers(good: Any, beyond: float = 0, wanted: str = "") -> list[Bad]:
    """Numbers of one shape; those ``beyond`` are too large."""
    found = each(([["a"]], [[1], [1, 2]]), "must be numbers in rows of equal length")
    for one in (NAN, INF, beyond, -beyond)[: 4 if beyond else 2]:
        array = np.array(good, dtype=float)
        array.flat[0] = one
        says = f"must hold numbers {wanted}" if abs(one) < INF else "must be finite … NaN or inf"
        found += bad({says: array.tolist()})
    nothing = np.zeros((*array.shape[:-1], 0)).tolist()
    return found + bad({"dimensions … (1, 1, 1, 1)": [[[[1]]]], "is empty … 0": nothing})


def without(*prefix: str) -> dict:
    return {key: row for key, row in DETERMINERS.items() if key != prefix}


def changed(place: int, value: object) -> list[tuple]:
    return [of.DAY, (*CAT[:place], value, *CAT[place + 1 :])]


def heavy(made: Any, path: str, value: float) -> Any:
    made.get_parameter(path).data.flatten()[0] = value
    return made


CORPUS = dict(zip(("source_vocabulary", "target_vocabulary"), of.lesson()[1:], strict=True))
DIGITS = dict.fromkeys(("source", "target"), of.DIGITS)
MAKE = {kind: one.make for kind, one in EXAMPLES.items()} | {
    "beam": partial(BeamTree, table=DETERMINERS),
    "player": partial(AlignmentPlayer, examples=[of.DAY, CAT, of.UNKNOWN], chosen=1),
    "unrolled": partial(UnrolledModel, model=model(), sentence=list("31415"), **DIGITS),
    "translator": lambda **changes: Translator(**{"model": of.small()} | CORPUS | changes),
}
WIDEN, BIAS = "feed_forward.widen.weight", "decoder.output.bias"
VOCABULARY = {"TypeError … a Vocabulary … a list": [0]}
SEEN, LENS, SHOTS = of.looked(), of.through(), of.shots()
W, OTHER = of.attention(6), [[None, None], *BeamTree(DETERMINERS).logs[1:]]
SCORES, FLAT = {"query": None, "key": None, "scores": X}, {"2 dimensions … (2, 3, 3)": [X, X]}
UP_TO_4, UP_TO_10 = "from −4 to 4", "from −10 to 10"
OF_A_KIND = {
    "arrows/heatmap/steps/painter/heads/roles/scores/block.tokens heads.names": strings(3),
    "browser.names": strings(2),
    "heatmap/painter.pinned arrows/steps.query heads.row roles/block.token player/cache.chosen "
    "player.word browser/own.head": place(3),
    "visibility/translator.head browser.chosen browser/own/translator.layer": place(2),
    "visibility.row positions.pair memory.step": place(4), "browser.row browser.key": place(11),
    "own.row": place(6), "steps/beam.step": place(5),
    "tiles.step": place(17), "positions.position": place(12),
    "dataflow.opened": place(10), "unrolled.step": place(16), "heatmap.head": place(1),
    "clocks.pair": place(8), "tiles.tile visibility.window visibility.top bughunt.bug": whole(1, 4),
    "pages.page translator.beam": whole(1, 8), "positions.n positions.d": whole(2, 64),
    "speculation.guesses": whole(0, 16), "beam.max_length": whole(1, 20),
    "clocks.distance": whole(1, 384), "positions.shift": whole(0, 63),
    "answer.decimals": whole(0, 8), "clocks.trained": whole(2, 2**20),
    "pages.n_pages": whole(1, 16), "pages.longest": whole(1, 64),
    "roof.model": place(3), "roof.machine": place(4), "roof.texts": whole(1, 4096),
    "roof.tokens": whole(1, 8192), "roof.cached": whole(0, 131_072),
    "cache.context": whole(128, 2**20), "cache.batch": whole(1, 1024), "beam.beams": whole(1, 5),
    "clocks.d": whole(4, 128), "memory.angle": number(0, 360),
    "player.threshold speculation.alpha speculation.cost memory.decay memory.beta": number(0, 1),
    "beam.penalty translator.length_penalty memory.length": number(0, 2),
    "translator.temperature": number(0.01, 1000), "answer.tolerance": number(0, 10**12),
    "clocks.factor": number(1, 16), "clocks.base": number(2, 10**8),
    "trainer.seed": whole(0, 9_999), "trainer.step": whole(-1, 800),
    "trainer.symbols": whole(1, 12), "trainer.shortest trainer.longest": whole(1, 40),
    "trainer.rate": number(1e-5, 10),
    "trainer.layers trainer.heads trainer.speed": EITHER,
    "heatmap/painter/heads/player.temperature roles/block.step": ABOVE_0,
    "browser/own/translator.asset": ASSET,
    "painter.show painter.fill heads.large block.norm memory.write browser.measure clocks.scaling "
    "translator.part atlas.across atlas.upwards atlas.on unrolled.right": ONE_OF,
    "atlas.layer": place(6), "atlas.head": place(2), "lens.prompt": place(2),
    "lens.step": place(5), "lens.token": place(3),
    "fewshot.task": place(2), "fewshot.word": place(3), "fewshot.count": whole(0, 4),
    "cache.bits cache.weight_bits cache.gpu roof.weight_bits roof.cache_bits visibility.first "
    "positions.formula": EITHER,
}  # fmt: skip
OF_ITS_OWN = {
    "heatmap/painter/heads.query": numbers(X) + bad({"one of the two": None}, key=None),
    "heatmap/painter/heads.key": bad({"same d and … number of heads … (1, 4)": [[1] * 4]})
        + bad({"with scores there is none": X}, **SCORES | {"key": X})
        + bad({"2 keys but 3 tokens: give key_tokens": X[:2]}, query=X),
    "heatmap/painter/heads.scores": bad({"one of the two": X}),
    "heatmap/painter/heads.d": bad({"only with scores": 3})
        + [one._replace(along=SCORES) for one in ABOVE_0],
    "heatmap/painter/heads.mask": bad({"of bool … float64": np.ones((3, 3)),
        "shape (3, 3) … (1, 1)": [[True]], "shape (3, 3) … (2, 3, 3)": np.ones((2, 3, 3)) > 0}),
    "prediction/answer.answers": bad({"NaN or infinity": {"a": NAN}, "is empty": {}}),
    "block.shown block.blocks": each((0, -1, 1.5), "a whole number of at least 1"),
    "trainer.text": bad({"TypeError … a string … 5": 5, "2 to 20 symbols, got 1: 'a'": "a",
        "2 to 20 symbols, got 22": "a b " * 11, "12 different symbols, got 13": "abcdefghijklm"}),
    "trainer.off": bad({"TypeError … (layer, head) … 'x'": "x", "(1, 3), got (0, 4)": [(0, 4)],
        "(1, 3), got [1]": [[1]], "(1, 3), got 1": [1], "(1, 3), got (0, True)": [(0, True)]}),
    "clocks/positions.d": bad({"even … 7": 7}), "prediction.tolerance": bad({"0 or more … -1": -1}),
    "steps.vectors": numbers(X, 1e7, "up to 1,000,000")
        + bad({"at most 12 × 12 … 13 × 2": np.ones((13, 2))}, tokens=["a"] * 13),
    "arrows.vectors": numbers(TWO, 5, UP_TO_4) + shapes("(3, 2)", (2, 3), (3, 3)),
    "tiles.scores": numbers([0] * 4, 1001, "up to 1,000") + bad({"16 … 17": [0] * 17}),
    "tiles.values": numbers([0] * 4, 1e7, "up to 1,000,000") + bad({"4 numbers … 1": [1]}),
    "memory.values": numbers([[0, 0]] * 3, 1e7, "up to 1,000,000")
        + shapes("(3, 2)", (2, 2), (3, 3)),
    "pages.actions": strings() + bad({**{f"with a text from 1 to 4 … got '{one}'": ["start", one]
           for one in ("stop", "write", "write 5", "start 1")},
        '"write 2", when there is no text 2': ["start", "write 2"],
        '"end 1", when there is no text 1': ["start", "end 1", "end 1"],
        '"start", when there are 4': ["start"] * 5, "400 … 401": ["start"] + ["write 1"] * 400,
        '"fork 2", when there are 4': [*["start"] * 4, "fork 2"]}),
    "painter.lengths": each((4, -1, [1, 2], 1.5), "one whole number from 0 to 3"),
    "painter.query": bad(FLAT) + bad({"keys … 17 × 17": np.ones((17, 2))}, called="queries"),
    "painter.scores": bad(FLAT | {"at most 1,000,000": [[1e7] * 3] * 3}, query=None),
    "heads.query": bad({"at most 16 … 17": np.ones((17, 3, 1))}, called="heads", key=None),
    "heads.chosen": [one._replace(value=[one.value]) for one in place(3)]
        + each((1, "01"), "a list of heads")
        + bad({"at most 6 … 7": range(7)}, query=np.ones((7, 3, 1)), key=None),
    **{f"roles.{name}": numbers(of.EYE, 1e4, "up to 1,000") + shapes(wanted, *wrong)
       for name, wanted, *wrong in (("vectors", "at most 6 × 4", (7, 3), (2, 5)),
            ("w_q", "3 rows", (2, 3), (4, 3)), ("w_k", "", (3, 2)), ("w_v", "", (4, 3), (3, 5)))},
    "beam.beam": whole(1, 5) + bad({"from 1 to 2 … 3": 3}, beams=2), "beam.table": bad({
        "('a',), but 'a' is not among": {("a",): {"b": 1}}, "no entry": {},
        "[()] … empty": {(): {}}, "[()] … at most 1 … 1.1": {(): {"a": 0.7, "b": 0.4}},
        **{f"[()] … from 0 to 1, got {one!r}": {(): {"a": one}} for one in (-0.1, NAN, "0.5")},
        "not go on after '</s>'": {(): {of.EOS: 1}, (of.EOS,): {"a": 1}},
        "('le', 'chat'): a beam of 1": without("le", "chat")})
        + bad({"'grise'): a beam of 4": without("la", "souris", "grise")}, max_length=4)
        + bad({"'noir')": without("le", "chien", "noir")}, max_length=4, editable=True)
        + bad({"at most 30 numbers … 160": of.full_table(0)}, editable=True)
        + bad({"TypeError … a dict … [1]": [1], "TypeError … tuples … ''": {"": {"a": 1}},
               "TypeError … ['a']": {(): ["a"]}, "TypeError … {1: 0.5}": {(): {1: 0.5}}}),
    "scores.query": numbers([0, 0], 4.5, UP_TO_4) + shapes("(2,)", (3,)),
    "scores.keys": numbers([[0, 0]] * 3, 5, UP_TO_4) + shapes("2 to 5", (1, 2), (6, 2), (3, 3)),
    "scores.v": numbers([0, 0], 11, UP_TO_10) + shapes("", (3,)) + shapes("h from 1 to 4", (5,)),
    **{f"scores.{name}": numbers(np.eye(2), 11, UP_TO_10) + shapes(*wrong) for name, *wrong in (
        ("w", "(2, 2)", (2, 3)), ("w_q", "h from 1 to 4", (2, 5)), ("w_k", "", (2, 3)))},
    "player.examples": each(([], 3, "cat"), "1 to 10 of (source")
        + bad({"1 to 10 of": [CAT] * 11, "[0] must be (source tokens,": [CAT[:3]],
               "24 tokens a side … 1 × 25": [(["a"] * 25, ["b"], [[0.04] * 25], None)],
               "weights of examples[1] … (3, 3) … (1, 3)": changed(2, [[1, 0, 0]]),
               "weights of examples[1] … (3, 0) … (3, 3)": changed(0, []),
               "examples[1] must sum to 1 … 1.5": changed(2, [[0.5] * 3] * 3),
               "examples[1] must be at least 0 … -1": changed(2, [[2, -1, 0]] * 3)})
        + bad({f"gold of examples[1] … from 0 to 2 … {one}": changed(3, one) for one in (
            [(3, 0)], [(0, -1)], [(0, 1.5)], [(True, 0)], 3, ["ab"])})
        + [one._replace(value=changed(place, one.value), says=(f"{side} of ex", *one.says))
           for place, side, kind in ((0, "source", strings()), (1, "target", strings()),
                                     (2, "weights", numbers(of.EYE)[:-1])) for one in kind],
    "visibility.measured": strings() + bad({f"names like 'all' … '{one}'": [one] for one in (
        "last 65", "tokens 20 to 23, last 252")}),
    "visibility.found": bad({"TypeError … a Visible … {}": {}})
        + bad({"1 to 32 … 0": of.seen_by(tokens=[]), "1 to 32 … 33": of.seen_by(tokens=["a"] * 33),
               "TypeError … strings … 1": of.seen_by(tokens=[1, 2])}, called="tokens")
        + bad({"1 to 8 … 9": of.seen_by(heads=9)}, called="heads")
        + bad({"NaN or inf": of.seen_by(size=INF),
               "(1, 1) … (4, 4)": of.seen_by()._replace(tokens=["a"])}, called="scores"),
    "fewshot.tasks": bad({"TypeError … a list of FewShots … {}": {},
            "TypeError … hold FewShots … 1": [1], "1 to 4 … 0": [], "1 to 4 … 5": [SHOTS] * 5})
        + bad({"1 to 8 … 0": [of.shots(shown=0)], "[3, 4]": [SHOTS, of.shots(shown=3)]},
              called="shown")
        + bad({"1 to 12 … 13": [of.shots(asked="a" * 13)], "[2, 3]": [SHOTS, of.shots(asked="ab")]},
              called="asked")
        + bad({"3 strings … 1": [SHOTS._replace(first=["a"])]}, called="first")
        + bad({"TypeError … strings … 1": [SHOTS._replace(name=1)]}, called="name")
        + bad({"from 0 to 1 … 2": [of.shots(p=2.0)]}, called="top")
        + bad({"no (3, True)": [SHOTS._replace(found={k: v for k, v in SHOTS.found.items()
                  if k != (3, True)})],
               "3 words … 0": [SHOTS._replace(found={key: [] for key in SHOTS.found})]},
              called="found"),
    "atlas.found": bad({"TypeError … a HeadScores … {}": {}})
        + bad({"of random must be four … (6, 2, 3)": SEEN._replace(
                   scores=SEEN.scores | {"random": SEEN.scores["random"][..., :3]}),
               "at most 1,024 … (513, 2, 4)": of.looked(layers=513),
               "the same heads … (6, 2, 4) and (5, 2, 4)": SEEN._replace(
                   scores=SEEN.scores | {"random": SEEN.scores["random"][1:]}),
               "from 0 to 1": of.looked(size=-1), "NaN or inf": of.looked(size=NAN),
               "3 dimensions … shape ()": SEEN._replace(scores={})}, called="scores")
        + bad({"4 numbers … 1": SEEN._replace(even={"sentences": [1], "random": [1]})},
              called="even")
        + bad({"1 to 4,096 … 0": of.looked()._replace(texts=[]),
               "TypeError … strings … 1": of.looked()._replace(texts=[[1, 2]]),
               "TypeError … the one string 'ab'": of.looked()._replace(texts=["ab"])},
              called="texts")
        + bad({"(6, 2, 5, k, 4), got (6, 2, 4, 3, 4)": SEEN._replace(best=SEEN.best[:, :, :4]),
               "sentences of texts": SEEN._replace(best=SEEN.best + 1),
               "two of their tokens": SEEN._replace(texts=[["a"]] * 2)}, called="best"),
    "lens.prompts": bad({"TypeError … a list … 'hot'": "hot", "TypeError … LensPrompts … 9": [9],
        "1 to 8 prompts, got 0": [], "1 to 8 prompts, got 9": [of.through()] * 9,
        "as many layers": [of.through(), of.through(layers=2)]})
        + bad({"1 to 64, got 0": [of.through(tokens=())],
               "1 to 64, got 65": [of.through(tokens=["a"] * 65)]}, called="tokens")
        + bad({"from 0 to 1": [of.through(size=2)], "NaN or inf": [of.through(size=NAN)],
               "(5, 3, 3), got (4, 3, 3)": [LENS._replace(best=LENS.best[1:])]},
              called="(chance|best)")
        + bad({"of the 6 names": [LENS._replace(best=LENS.best + 3)]}, called="best")
        + bad({"(4, 2, 3), got (4, 2, 2)": [LENS._replace(adds=LENS.adds[..., 1:])]},
              called="adds"),
    "unrolled.sentence": strings() + bad({"1 to 12 … 0": [], "1 to 12 … 13": ["3"] * 13,
        **{f"'{one}' … knows 0, 1": ["3", one] for one in ("x", "<eos>")}}),
    "unrolled.forced": bad({"TypeError … list of strings … '77'": "77",
        **{f"from 1 to 10 … {one}": {one: "7"} for one in (0, 11, 1.5, True)},
        **{f"{one!r} … knows <eos>, 0": {1: one} for one in ("x", "<bos>", ["7"])}}),
    "unrolled.source": bad(VOCABULARY | {"8 … encoder knows 13": of.WORDS}),
    "unrolled.target": bad(VOCABULARY | {
        "8 … decoder knows 13": of.WORDS, "40 … 41": Vocabulary([of.named(41)])}),
    "unrolled.model": bad({"TypeError … an RNNSeq2Seq … a Linear": torch.nn.Linear(2, 2),
        "order='none' … 'bahdanau'": RNNSeq2Seq(13, 13, 8), "at most 32 … 34": model(d=34),
        "12,000 … 13,453": model(d=32), "1,000 in size": heavy(model(), BIAS, 1e4)})
        + bad({"NaN or infinity": heavy(model(), BIAS, NAN)}, called=BIAS),
    "browser.read": bad({"TypeError … a function of a text … 'model'": "model"}),
    "browser.sentences": bad({"TypeError … [0] … a list of strings … 'wide'": [("wide", W)],
        "1 to 19 … 20": [(WIDE, W)] * 20, "[0] must be (tokens, weights)": [WIDE],
        "same layers … [(1, 3), (2, 3)]": [(WIDE, W), (WIDE, W[:1])]})
        + bad({"1 to 20 … 0": [], "20 … 'abc'": "abc", "20 … 21": [(WIDE, W)] * 21}, read=None)
        + bad({f"of sentences[0] must {says}": [one] for says, one in {
            "be 2 to 20, got 1": (["a"], W[..., :1, :1]), "have 4 dim": (WIDE, W[0]),
            "have shape (layers, heads, 5, 5)": (WIDE[:5], W), "be finite": (WIDE, W * NAN),
            "be at least 0 … -11.8": (WIDE, np.log(W)), "be at … sum to 0.5": (WIDE, W / 2),
            "have shape … 288 … (98, 3, 6, 6)": (WIDE, W.repeat(49, 0))}.items()}),
    "block.x": numbers(of.NUTS, 101, "from −100 to 100")
        + shapes("(n, 4), as the block has it, with n at most 6", (3, 3), (7, 4)),
    "block.shown": bad({"at most 2 … 3": 3}, blocks=2), "block.blocks": bad({"12 … 13": 13}),
    "block.block": bad({"TypeError … a DecoderBlock": DecoderBlock(Config(4, 2, 8)),
        "d_model of at most 8 … 16": EncoderBlock(Config(16, 2, 8)),
        "16 … 32": EncoderBlock(Config(4, 2, 32)),
        "no rope": EncoderBlock(Config(4, 2, 8, rope=Rotary(2))),
        "w_1 must be finite": heavy(of.block(), WIDEN, INF),
        "w_1 must hold numbers from −100 to 100": heavy(of.block(), WIDEN, 101.0)}),
    "cache.models": bad({"TypeError … a list … 'GPT-2'": "GPT-2", "TypeError … names … 9": [9],
        "1 to 10 … 0": [], "1 to 10 … 11": ["GPT-2"] * 11, "'GPT-9'": ["GPT-9"]}),
    "roof.models": bad({"TypeError … a list … 'M'": "M", "TypeError … RoofModels … 9": [9],
        "1 to 10 models … 0": [], "1 to 10 … 11": ["SmolLM2-135M"] * 11, "'GPT-9'": ["GPT-9"]}),
    "roof.machines": bad({"TypeError … a list … 'H'": "H", "TypeError … Machines … 9": [9],
        "1 to 10 machines … 0": [], "1 to 10 … 11": ["H100 SXM"] * 11, "'H9'": ["H9"]}),
    "roof.ways": bad({"at most 6 Ways … 9": [9]}),
    "roof.weight_bits": bad({"16, 8 or 4 … 0": 0}), "roof.cache_bits": bad({"16, 8 or 4 … 0": 0}),
    "dataflow.drawing": bad({"TypeError … a Schematic … a str": "X", "32 … 36": tower(9),
        "empty": Schematic("nothing")}) + bad({"d, which is no size": three_roles()}, called="W"),
    "dataflow.sizes": bad({"1 to 8 ranges … {}": {}})
        + bad({says: LAYER | {name: one} for says, name, one in (
            ("a name … 'h + n'", "h + n", (8, 1, 16)), ("'2h' cannot be read", "2h", (8, 1, 16)),
            ("(first, least, most) … 8", "h", 8), ("from 1 to 16 … 17", "h", (17, 1, 16)),
            ("from 1 to 16 … 8.5", "h", (8.5, 1, 16)), ("512 / 7 is not", "h", (7, 1, 16)),
            ("the most h … from 9 … 7", "h", (8, 9, 7)),
            ("the least h … from 0 … -1", "h", (8, -1, 16)))}, called="(h|size)"),
    "dataflow.derived": bad({"d_k asks for m, which is no size": {"d_k": "d_model / m"},
                             "say anew what h is": {"h": "n"}, "a text or … 1.5": {"d_k": 1.5}})
        + bad({"d_k, which is no size": {}, "512 / 0": {"d_k": "d_model / (n - 12)"}}, called="d_k")
        + bad({f"{one!r} cannot be read": {"d_k": one}
               for one in ("d_model / ", "__import__('os')")}, called="sizes"),
    "positions.base": each((0.5, 2e6), "from 1 to 1,000,000") + each((NAN, "a", 0.0), "number"),
    "own.model": bad({"TypeError … a Pretrained … a str": "model"}),
    "own.examples": bad({"1 to 6, got 0": [], "1 to 6, got 7": ["the cat"] * 7,
        "[0] must have 1 to 22 pieces … 0 of ' '": [" "], "got 23": ["the " * 23]}) + strings(),
    "own.text": bad({"1 to 62 pieces … got 0 of ''": "", "got 63": "the " * 63,
        "TypeError … a string, got 3": 3}),
    "own.between": [Bad("ab", ("TypeError", "a list", "'ab'"), along={}), *bad({
        "TypeError … hold strings, got 1": [1],
        "two different pieces, got ['a', 'a']": ["a", "a"],
        "two different pieces, got ['a',": ["a", "b", "c"]})],
    "own.off": bad({"list of (layer, head) … 'all'": "all", "off[0] … got 3": [3],
        "the layer of off[0] … from -2 to 1, got 2": [(2, 0)],
        "the head of off[1] … from -3 to 2, got 3": [(0, 0), (0, 3)]}),
    "translator.sentence": bad({"1 to 16 … 0": [], "1 to 16 … 17": ["the"] * 17,
        **{f"not know: {one}": ["the", one] for one in ("unicorn", "<eos>")}}),
    "translator.examples": bad({"[0] … know: unicorn": ["a unicorn"], "6 … 7": ["the cat"] * 7}),
    "translator.off": bad({"list of (part, layer, head) … cross": "cross", "off[0] … 3": [3],
        "the part of off[0] … one of": [("memory", 0, 0)],
        "the head of off[1] … from -2 to 1, got 2": [("cross", 0, 0), ("cross", 0, 2)]}),
    "translator.model": bad({"TypeError … a Seq2Seq … a str": "model"}),
    "translator.source_vocabulary": bad(VOCABULARY),
    "translator.target_vocabulary": bad({"339 … 504": CORPUS["source_vocabulary"]}),
    "checkpoint.options": bad({"[0] must be (text, correct, … ('a', True)": [("a", True)],
        **{says: [("a", one, reason), ("b", two, "y")] for says, one, two, reason in (
            ("one of them right", False, False, "x"), ("2 … say multiple=True", True, True, "x"),
            ("[0] needs a text and a reason", True, False, ""))}}),
    "bughunt.bug": bad({"of a line … none": [], "2, which has none": [1, 2]}),
    "bughunt.evidence": bad({"TypeError … strings … 3": 3}),
    "bughunt.code": each(("", " \n\t\n"), "a line to press") + bad({
        "30 … 31": "x\n" * 31, "TypeError … a string … ['x']": ["x"]}),
    "bughunt.lines": bad({"TypeError … map … ['a']": ["a"], "TypeError … [3] … 3": HUNT | {3: 3},
        "answer line 4, ' print": {1: "a", 3: "c"}, "line 2, which is": HUNT | {2: "b"},
        "[3] must be an answer … ' '": HUNT | {3: " "},
        **{f"number in lines … from 1 to 4 … {n!r}": HUNT | {n: "e"} for n in (5, 0, "1")}}),
    "answer.mistakes": bad({"TypeError … [0] must hold strings … 1": [({"had": 1}, 1)],
        **{f"[0] must be ({{label: number, … {one}": [one] for one in ("half", ({}, "half"))},
        "[0] must be one of … had … bowl … 'cat'": [({"cat": 1}, "half")],
        "[0] must be finite … NaN": [({"had": INF}, "a")],
        "[0] must say what went wrong … ''": [({"had": 1}, "")],
        "[0] must hold a wrong number … {'had': 0.0051}": [({"had": 0.0051}, "a")]}),
}  # fmt: skip
MOVED = {  # of what only an assignment changes, or has words of its own for
    "heads.head": place(3), "answer.tries": whole(0, 10**6)[:-2], "dataflow.letters": SWITCH[:-2],
    "tiles.scores": bad({"4 numbers … got 2": [1, 2]}), "bughunt.pressed": bad({
        "an answer … 2": [2], "from 1 to 4 … 0": [0], "from 1 to 4 … 5": [5]}),
    "steps.vectors": shapes("keep their shape (3, 3)", (1, 2)),
    "roles.vectors block.vectors": shapes("keep its shape (3, ", (2, 4)),
    "painter.mask": each(([1] * 8, [2] * 9, [[1, 1, 1]] * 3), "9 zeros and ones"),
    "beam.logs": each(([[0.0]],), "rows of log-probabilities")
        + bad({"at most 1 … 1.2": [np.log([0.6, 0.6]).tolist(), *OTHER[1:]]}),
    "browser.typed": each(({"turn": 1}, {"turn": "1", "text": ""}), "hold turn and text"),
    "browser.answer": each(({"turn": 1, "said": None},), "hold turn and said"),
    "dataflow.sizes dataflow.kept": bad({"a whole number for each of b, n": {"n": 3},
        "h must be … from 1 to 16 … 17": {"b": 2, "n": 12, "d_model": 512, "h": 17}}),
    "translator.shown translator.row": each((-1,), "None or at least 0"),
    "checkpoint.chosen": bad({"-2 to 1 … 2": [2]}), "prediction.guesses": bad({"2 … 1": [1.0]}),
    "answer.entries": bad({"2 texts of at most 1000 letters … ['1']": ["1"],
        "2 texts of at most 1000 letters … ['1', '222": ["1", "2" * 1001]}),
}  # fmt: skip


def listed(table: dict[str, list[Bad]]) -> list[tuple[str, str, Bad]]:
    """Return a kind of widget, an argument and one bad value of it at a time."""
    named = [(*one.split("."), bads) for places, bads in table.items() for one in places.split()]
    rows = [(kinds.split("/"), name, bads) for kinds, name, bads in named]
    return [(kind, name, one) for kinds, name, of in rows for one in of for kind in kinds]


def by_example(kind: str) -> list[tuple[str, str, Bad]]:
    """The same of what the example gives, and of what an argument is if nothing is given."""
    made, given = EXAMPLES[kind].make(), getattr(MAKE[kind], "keywords", {})
    signature = inspect.signature(type(made).__init__).parameters
    found = []
    for name, value in ({name: one.default for name, one in signature.items()} | given).items():
        if isinstance(value, bool):
            found += [(kind, name, one) for one in SWITCH]
        elif isinstance(value, (int, float)) and (kind, name) != ("prediction", "tolerance"):
            found += [(kind, name, one) for one in each(("1", NAN, INF), "must be ")]
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            found += [(kind, name, one) for one in strings()]
    return found


GIVEN = [row for kind in EXAMPLES for row in by_example(kind)]
GIVEN += listed(OF_A_KIND) + listed(OF_ITS_OWN)
TRAITS = {"keys": "key", "x": "vectors", "length_penalty": "penalty"}  # of other names
# an argument's rule may want more than that of its trait, and another form
ASSIGNED = listed(MOVED)
ASSIGNED += [
    (kind, TRAITS.get(name, name), one._replace(says=one.says[-1:]))
    for kind, name, one in GIVEN
    if one.along is None and (kind, name) not in {("painter", "mask"), ("dataflow", "sizes")}
]
WANTED = " must |give |say |at most |empty|needs |there |not |which is|has no value"


BY_ARGUMENT = {
    place: [one for *_, one in rows]
    for place, rows in groupby(sorted(GIVEN, key=lambda row: row[:2]), lambda row: row[:2])
}


@pytest.mark.parametrize(("kind", "name"), BY_ARGUMENT)
def test_a_bad_argument_is_named_with_what_was_wanted_and_came(kind: str, name: str) -> None:
    for one in BY_ARGUMENT[kind, name]:
        error = TypeError if "TypeError" in one.says else ValueError
        try:
            MAKE[kind](**{name: one.value} | (one.along or {}))
        except error as caught:
            message = f"{type(caught).__name__}: {caught}"
        else:
            pytest.fail(f"{kind} took {name} = {one.value!r}")
        assert re.search(rf"\b({one.called or name})(s|_tokens)?\b", message), message
        assert re.search(WANTED, message), message
        assert all(says in message for says in one.says), message


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_bad_assignment_is_refused_and_changes_nothing(kind: str) -> None:
    widget, ruled = EXAMPLES[kind].make(), set()
    kept = widget.state()
    for of_kind, name, one in ASSIGNED:
        if of_kind != kind or name not in widget.rules:
            continue
        with pytest.raises((ValueError, TypeError, traitlets.TraitError), match=name) as caught:
            setattr(widget, name, one.value)
        by_trait = isinstance(caught.value, traitlets.TraitError)
        assert by_trait or all(says in caught.exconly() for says in one.says), caught.value
        assert widget.state() == kept
        ruled.add(name)
    assert ruled == widget.rules.keys()


def test_every_kind_has_an_example_and_an_uneditable_table_is_not_assigned() -> None:
    assert set(EXAMPLES) == {kind for kind, *_ in GIVEN} == set(KINDS)
    with pytest.raises(ValueError, match="made with editable=False"):
        BeamTree(DETERMINERS).logs = OTHER
