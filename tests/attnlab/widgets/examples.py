"""An example of every kind of widget: how it is made, how large it gets, what a hand does in it.

`EXAMPLES` is the one list of them. A new kind is added here and is then tested in every place
(`test_html.py`, `test_places.py`); what only it does is tested in a file of its own.
"""

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import Locator

from attnbook.layers import Config, EncoderBlock
from attnbook.rnn import RNNSeq2Seq
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language import Vocabulary, batches, english_french
from attnlab.models.caches import cached_models
from attnlab.models.recorded import (
    FewShots,
    HeadScores,
    LensPrompt,
    NextWord,
    ScoredHead,
    Visible,
    smollm_atlas,
    smollm_few_shots,
    smollm_lens,
)
from attnlab.models.roof import machines, roof_models
from attnlab.pretrained import Pretrained
from attnlab.training import train
from attnlab.training.seeds import seeded
from attnlab.widgets import (
    AlignmentPlayer,
    Answer,
    Atlas,
    AttentionHeatmap,
    AttentionSteps,
    BeamTree,
    BlockFlow,
    BugHunt,
    CacheCalculator,
    Checkpoint,
    DataFlow,
    FewShot,
    HeadBrowser,
    HeadGrid,
    LogitLens,
    MaskPainter,
    Memory,
    OwnSentence,
    PageTable,
    PositionExplorer,
    Prediction,
    RoleProjection,
    Roof,
    RotaryClocks,
    ScoreExplorer,
    Speculation,
    ThreeArrows,
    TileSteps,
    TrainHere,
    Translator,
    UnrolledModel,
    Visibility,
    prefix_table,
)
from tests.attnlab.pictures.drawings import layer, tower
from tests.attnlab.pretrained import tiny_bert
from tests.attnlab.widgets import joint
from tests.attnlab.widgets.pages import cell, press, settle
from tests.patience import BROWSER

X = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]
TOKENS = ["had", "bowl", "nuts"]
EYE, EYE_2 = np.eye(3).tolist(), [[1, 0], [0, 1]]
EVIL = "<img/src=x/onerror=alert(1)>"


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def named(n: int) -> list[str]:
    return [f"word{i:02}" for i in range(n)]


# heads side by side, three of them; the third sees differently from the others
QUERY = np.array([[[2, 0], [1, 1], [1, 2]], [[2, -1], [1, 1], [1, 2]], [[0, 1], [1, 0], [0, 0]]])
KEY = np.array([[[2, -1], [1, 1], [1, 2]], [[-1, 0], [1, 1], [2, 2]], [[3, 0], [0, 3], [1, 1]]])


# a small widget of each kind, whose arguments may be changed: heatmap(causal=True)
three = partial(HeadGrid, query=QUERY, key=KEY, tokens=TOKENS)
heatmap = partial(AttentionHeatmap, query=X, tokens=TOKENS)
painter = partial(MaskPainter, query=X, tokens=TOKENS)
steps = partial(AttentionSteps, vectors=X, tokens=TOKENS, step=4)
TWO = [[2, 0], [1, 1], [1, 2]]
arrows = partial(ThreeArrows, vectors=TWO, tokens=TOKENS)
tiles = partial(TileSteps, scores=[0, 2, 1, 3], values=[4, 1, 2, 0], step=4)
# three identities: the self-attention of the lecture before
roles = partial(RoleProjection, vectors=X, tokens=TOKENS, token=2, w_q=EYE, w_k=EYE, w_v=EYE)
# two texts and a fork of the first, which has written: of page 1 there is a copy, page 3
SHARED = ["start", *["write 1"] * 5, "start", *["write 2"] * 3, "fork 1", "write 3"]
pages = partial(PageTable, n_pages=6, page=4, actions=SHARED)
# a model that shares heads and one of experts; the caches of four texts
roof = partial(
    Roof, models=("Llama 3.1 8B", "DeepSeek-V3", "SmolLM2-135M"), machine=1, texts=4, cached=4096
)
memory = partial(Memory, third=True, write="delta")
speculation = partial(Speculation, alpha=0.5, guesses=3, cost=0.1)
# eight pairs, all of them drawn, at four times the trained length
HEAD = {"d": 16, "base": 100, "trained": 24}
clocks = partial(RotaryClocks, **HEAD, distance=96, scaling="ntk", pair=5)
# eight components of twelve positions: every cell has room for its number
positions = partial(PositionExplorer, d=8, n=12, base=100, position=2, shift=3, pair=1)


LOST = {"all": 35.0, "last 64": 130.0, "last 512": 70.0, "first 1, last 255": 40.0, "top 64": 38.0}


def seen_by(*, tokens=(*TOKENS, "."), heads: int = 2, size: float = 2.0) -> Visible:
    """Seeded scores of a model that saw the tokens, and what is said to have been measured."""
    n = len(tokens)
    scores = np.where(np.tri(n, dtype=bool), size * normal(heads, n, n).round(3), -np.inf)
    found = [ScoredHead(1, h, "first token", 0.5, one) for h, one in enumerate(scores)]
    return Visible(LOST, dict.fromkeys(LOST, 0.5), "a lecture", list(tokens), found)


def looked(*, layers: int = 6, heads: int = 2, texts=None, size: float = 1.0) -> HeadScores:
    """Seeded scores of heads, and where they are said to look in sentences of four tokens."""
    rng = np.random.default_rng(layers)
    texts = texts or [["had", " bowl", " nuts", "."], ["a", " small", " cat", "."]]
    scores = {on: size * rng.random((layers, heads, 4)).round(3) for on in ("sentences", "random")}
    i = rng.integers(1, 4, (layers, heads, 5, 3))
    parts = [rng.integers(len(texts), size=i.shape), i, i - 1, rng.integers(101, size=i.shape)]
    even = {on: [0.25, 0.25, 0.1, 0.1] for on in scores}
    counted = {on: [1200, 1200, 30, 20] for on in scores}
    return HeadScores(scores, even, counted, np.stack(parts, axis=-1), texts, 1107)


def through(
    *, tokens=("had", " bowl", "\n"), layers: int = 4, seed: int = 0, size=1.0
) -> LensPrompt:
    """A prompt that went through a model: seeded words and what its layers are said to add."""
    rng = np.random.default_rng(seed)
    n, names = len(tokens), [" nuts", ".", "\n", *tokens]
    best = np.argsort(rng.random((layers + 1, n, len(names))))[..., :3]
    chance = size * np.sort(rng.dirichlet([1] * 4, (layers + 1, n))[..., :3])[..., ::-1].round(2)
    adds = normal(layers, 2, n, seed=seed).round(1)
    last = chance[..., 0]
    return LensPrompt(list(tokens), names, best, chance, last, last, adds, {})


lens = partial(LogitLens, prompts=[through(), through(tokens=("a", "b"), seed=1)], step=2, token=1)
atlas = partial(Atlas, found=looked(), on="sentences", layer=1, head=1)


def shots(name: str = "numbers", *, shown=4, asked=("one", "two", "three"), p: float = 0.5):
    """A task in which a word is written rightly once as many examples as its letters are there."""
    settings = [(k, False) for k in range(shown + 1)] + [(k, True) for k in range(2, shown + 1)]
    words = [(word, word.upper()) for word in asked]
    found = {
        (k, exchanged): [
            NextWord(
                [(f" {answer[:1]}", p), ("\n", 0.25 / (k + 1))],
                answer if len(word) <= k and not exchanged else word,
            )
            for word, answer in words
        ]
        for k, exchanged in settings
    }
    known = [(one, one.upper()) for one in "abcdefgh"[:shown]]
    return FewShots(name, known, words, [f" {answer[:1]}" for _, answer in words], found)


few_shots = partial(FewShot, tasks=[shots(), shots("letters")], word=0, count=3)
visibility = partial(Visibility, found=seen_by(), measured=tuple(LOST), window=2)

trained = TrainHere  # the recorded run


LEARNED = {
    "w": [[0, 1], [1, 0]],
    "w_q": [[1, 0.5, 0], [0, 1, -1]],
    "w_k": [[1, -1, 0.5], [0.5, 1, 1]],
    "v": [1, 1, -1],
}
NAMES = ["small", "black", "cat"]
# four scores with learned numbers that are all different
PLANE = {"query": [1.5, 1.0], "keys": [[2.0, -1.0], [0.5, 2.5], [-2.0, 1.0]], "tokens": NAMES}
learned = partial(ScoreExplorer, **PLANE, **LEARNED)
# identities everywhere, so that sums are easily followed
EYES = {"w": EYE_2, "w_q": EYE_2, "w_k": EYE_2, "v": [1, 1]}
scores = partial(learned, query=[1, 0], keys=[[1, -1], [0, 2], [-1, 1]], **EYES)


def most_scores() -> ScoreExplorer:
    keys = [[1, -1], [0, 2], [-1, 1], [-3, -2.5], [3.25, 3]]
    hidden = {"w_q": [[1, 0.5, 0, 2], [0, 1, -1, 1]], "w_k": [[1, -1, 0.5, 0], [0.5, 1, 1, 1]]}
    names = ["small", "black", "cat", "incomprehensibilities", ""]
    return scores(keys=keys, tokens=names, v=[1, 1, -1, 2], **hidden)


# translations with weights that are easy to check
CAT = (
    ["the", "black", "cat"],
    ["le", "chat", "noir"],
    [[0.7, 0.1, 0.2], [0.25, 0.25, 0.5], [0.05, 0.9, 0.05]],
    [(0, 0), (2, 1), (1, 2)],
)
DAY = (
    ["how", "was", "your", "day"],
    ["comment", "s'", "est", "passée", "ta", "journée"],
    [
        [0.97, 0.01, 0.01, 0.01],
        [0.1, 0.4, 0.1, 0.4],
        [0.05, 0.85, 0.05, 0.05],
        [0.0, 0.35, 0.05, 0.6],
        [0.0, 0.0, 1.0, 0.0],
        [0.01, 0.01, 0.4, 0.58],
    ],
    [(0, 0), (1, 1), (1, 2), (1, 3), (2, 4), (3, 5)],
)
UNKNOWN = (["yes"], ["oui", "!"], [[1.0], [1.0]], None)


player = partial(AlignmentPlayer, examples=[CAT, DAY, UNKNOWN])


def longest_player() -> AlignmentPlayer:
    """Ten sentences of 24 tokens a side."""
    rows = np.exp(normal(24, 24) * 3)
    rows /= rows.sum(axis=1, keepdims=True)
    words = named(24)
    return AlignmentPlayer([(words, words, rows, [(i, i) for i in range(24)])] * 10, word=23)


EOS = "</s>"
# greedy starts with "le", whose best end is worth less than that of "la"
DETERMINERS = {
    (): {"le": 0.5, "la": 0.4},
    ("le",): {"chat": 0.35, "chien": 0.33, EOS: 0.2},
    ("la",): {"souris": 0.9, EOS: 0.1},
    ("le", "chat"): {EOS: 1.0},
    ("le", "chien"): {EOS: 0.9, "noir": 0.1},
    ("la", "souris"): {EOS: 0.8, "grise": 0.2},
    ("le", "chien", "noir"): {EOS: 1},
    ("la", "souris", "grise"): {EOS: 1},
}


beam = partial(BeamTree, table=DETERMINERS, editable=True)


def full_table(seed: int, *, longest: int = 4, lacking: float = 0.0, step: float = 0.0) -> dict:
    """A table of every prefix of three words, shorter than `longest`.

    Each row lacks a random share, up to `lacking`; `step` rounds the rest, which makes equals.
    """
    rng = np.random.default_rng(seed)
    words = ["a", "b", "c", EOS]
    table = {}
    for n in range(longest):
        for prefix in product(words[:3], repeat=n):
            shares = rng.dirichlet(np.full(4, 0.7)) * (1 - lacking * rng.random())
            if step:
                shares = np.floor(shares / step) * step
            table[prefix] = dict(zip(words, shares.tolist(), strict=True))
    return table


@functools.cache
def model_table(words: int = 12, length: int = 20) -> dict:
    """The largest table that a page has: a chain of likely words, five of them alive."""
    vocabulary = Vocabulary([[f"word{i}" for i in range(words)]])
    source = torch.ones(1, 2, dtype=torch.long), torch.tensor([2])
    return prefix_table(RandomStepper(words), *source, vocabulary, max_length=length)


class RandomStepper:
    """A stepper with random logits of its own for every prefix; bos is one more than the words."""

    def __init__(self, words: int) -> None:
        self.words = words

    def start(self, source, source_lengths):
        return [None] * len(source)

    def reorder(self, state, rows):
        return [state[row] for row in rows.tolist()]

    def step(self, tokens, state):
        state = [
            () if before is None else (*before, token)
            for before, token in zip(state, tokens.tolist(), strict=True)
        ]
        return torch.stack([self.row(prefix) for prefix in state]), state

    def row(self, prefix: tuple[int, ...]) -> torch.Tensor:
        rng = np.random.default_rng([len(prefix), *prefix])
        logits = torch.tensor(rng.normal(size=self.words + 3) * 2)
        logits[:2] = -20.0  # padding, and the beginning of a sentence
        logits[2] += -2.0 if len(prefix) < 8 else 1.0
        return logits


TIRED = ["[CLS]", "the", "animal", "was", "too", "tired", ",", "so", "it", "sat", "[SEP]"]
WIDE = ["[CLS]", "the", "street", "was", "wide", "[SEP]"]


def attention(n: int, layers: int = 2, heads: int = 3, seed: int = 0, size: float = 3.0):
    """Seeded weights of shape (layers, heads, n, n), some of them very small."""
    return torch.softmax(torch.tensor(normal(layers, heads, n, n, seed=seed) * size), -1).numpy()


def pairs(**options) -> list:
    return [
        (tokens, attention(len(tokens), seed=len(tokens), **options)) for tokens in (TIRED, WIDE)
    ]


browser = partial(HeadBrowser, sentences=pairs())


def read_words(text: str) -> tuple[list[str], np.ndarray]:
    """A model's pieces and weights of a text, as ``HeadBrowser(read=…)`` asks for them."""
    if not text.isascii():
        raise ValueError(f"there is no piece for {text!r}")
    tokens = ["[CLS]", *text.split(), "[SEP]"]
    return tokens, attention(len(tokens), seed=len(tokens))


def all_heads(layers: int = 6, heads: int = 12, n: int = 20, count: int = 10) -> HeadBrowser:
    sentences = [(named(n), attention(n, layers, heads))] * count
    return HeadBrowser(sentences, names=["long " * 40] * count, asset=f"all-{layers}", row=3, key=2)


NUTS = [[2, -1, 0, 1], [1, 1, 1, 0], [1, 2, 2, -1]]
SIZES = [  # d_model, heads, key-value heads, d_ff, activation, eps, tokens
    (4, 2, 2, 8, "relu", 1e-5, 3),
    (8, 4, 2, 16, "gelu", 1e-12, 6),
    (6, 1, 1, 1, "gelu", 0.5, 1),
]


def block(size: tuple = SIZES[0], *, norm: str = "pre") -> EncoderBlock:
    """An untrained block whose norms have gains and shifts of their own, in double precision."""
    d, n_heads, n_kv_heads, d_ff, activation, eps, _ = size
    torch.manual_seed(d)
    options = {"norm": norm, "activation": activation, "eps": eps, "n_kv_heads": n_kv_heads}
    made = EncoderBlock(Config(d, n_heads, d_ff, **options)).double().eval()
    with torch.no_grad():
        for one in [*made.norms.parameters(), made.attention.qkv.bias, made.attention.out.bias]:
            one.add_(torch.randn_like(one) / 3)
        for one in made.parameters():  # as the page has them
            one.copy_(one.round(decimals=8))
    return made


def vectors(size: tuple) -> list:
    return normal(size[-1], size[0], seed=size[0]).round(3).tolist()


flow = partial(BlockFlow, block=block(), x=NUTS, tokens=TOKENS)


def largest_flow() -> BlockFlow:
    names = ["The", "animal", "incomprehensibilities", "", "the", "street"]
    return BlockFlow(block(SIZES[1]), vectors(SIZES[1]), names, token=2, blocks=12, shown=12)


@functools.cache
def lesson() -> tuple[tuple, Vocabulary, Vocabulary]:
    """Pairs of the book's corpus, and the vocabulary of either side."""
    pairs = english_french(200, one_clause=True).test
    return pairs, *(Vocabulary([pair[side] for pair in pairs]) for side in (0, 1))


@functools.cache
def small() -> Seq2Seq:
    """A translator that knows the first 12 pairs by heart."""
    pairs, source, target = lesson()
    examples = [(source.encode(p.source), target.encode(p.target)) for p in pairs[:12]]
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_ff": 64, "tied": True}
    with seeded(0):
        model = Seq2Seq(len(source), len(target), ModelConfig(**sizes))
    steps = {"steps": 80, "lr": 1e-2, "seed": 0, "progress": False}
    train(model, lambda epoch: batches(examples, 12, seed=epoch), **steps)
    return model.eval()


def translator(**options) -> Translator:
    given = {"examples": ["how was your day"], "asset": "small"}
    return Translator(small(), *lesson()[1:], **(given | options))


@functools.cache
def random_translator(name: str) -> Seq2Seq:
    """A model with random weights and some other options."""
    torch.manual_seed(0)
    changed = {
        "as the lecture's": {"d_model": 128, "n_heads": 4, "d_ff": 256, "tied": True},
        "post-norm": {"norm": "post", "d_model": 24, "n_heads": 3, "d_ff": 13, "tied": True},
        "an output of its own": {"d_model": 16, "n_heads": 1, "n_layers": 1, "eps": 1e-3},
    }[name]
    _, source, target = lesson()
    model = Seq2Seq(len(source), len(target), ModelConfig(**changed)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)  # biases and norms too
    return model


def longest_translation() -> Translator:
    """A sentence of 16 words, and a translation of 26 that does not end."""
    _, source, target = lesson()
    model, words = random_translator("as the lecture's"), source.tokens[3:19]
    return Translator(model, source, target, sentence=words, beam=8, asset="long")


@functools.cache
def encoder() -> Pretrained:
    """An encoder of random weights, two layers of three heads, which knows a dozen pieces."""
    with tempfile.TemporaryDirectory() as folder:
        return Pretrained(tiny_bert.write_long(Path(folder), "a", "it", "##a"))


def own(**options) -> OwnSentence:
    """The reader's own sentence in that encoder, with two that are stored."""
    given = {"model": encoder(), "examples": ("the cat sat.", "the dogs sat it."), "asset": "tiny"}
    return OwnSentence(**given | options)


def hostile_translator(evil: str) -> Translator:
    known = Vocabulary([[evil, "</script>", "cat"]])
    model = Seq2Seq(len(known), len(known), ModelConfig(d_model=8, n_heads=2, n_layers=1))
    given = {"sentence": [evil], "examples": (), "asset": "evil", "caption": evil}
    return Translator(model, known, known, **given)


DIGITS = Vocabulary([list("0123456789")])
WORDS = Vocabulary([["the", "cat", "eats", "an", "apple"]])
MOTS = Vocabulary([["le", "chat", "mange", "une", "pomme", "verte"]])


def model(source: Vocabulary = DIGITS, target: Vocabulary = DIGITS, *, d: int = 8, seed: int = 0):
    """An untrained model, made lively: its states and its choices differ from step to step."""
    torch.manual_seed(seed)
    made = RNNSeq2Seq(len(source), len(target), d, order="none")
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(2)
        made.decoder.output.bias[:2] = -20.0  # it never writes <pad> or <bos>
    return made.eval()


def digits(text: str = "31415", *, seed: int = 0, d: int = 8, **options) -> UnrolledModel:
    return UnrolledModel(model(seed=seed, d=d), DIGITS, DIGITS, list(text), **options)


def words(sentence: str = "the cat eats an apple", **options) -> UnrolledModel:
    return UnrolledModel(model(WORDS, MOTS, seed=1), WORDS, MOTS, sentence.split(), **options)


def longest_model() -> UnrolledModel:
    many = Vocabulary([named(40)])
    forced = ["word01"] * 21
    return UnrolledModel(model(many, many), many, many, ["word07"] * 12, forced=forced, step=-1)


def hostile_model(evil: str) -> UnrolledModel:
    known = Vocabulary([[evil, "</script>"]])
    net = model(known, known)
    return UnrolledModel(net, known, known, [evil, "</script>"], forced=[evil], caption=evil)


LAYER = {"b": (2, 1, 64), "n": (12, 0, 64), "d_model": (512, 8, 1024, 8), "h": (8, 1, 16)}
dataflow = partial(DataFlow, drawing=layer(), sizes=LAYER, derived={"d_k": "d_model / h"})

OLDEST = ["GPT-2", "Llama 3.1 8B", "Mistral 7B v0.1"]
calculator = partial(CacheCalculator, models=OLDEST, chosen=1)


def hostile_calculator(evil: str) -> CacheCalculator:
    models = list(cached_models().values())[:2]
    named = [
        replace(one, name=evil + end) for one, end in zip(models, ("", "</script>"), strict=True)
    ]
    return CacheCalculator(named, caption=evil)


def hostile_roof(evil: str) -> Roof:
    models = [replace(one, name=evil + "</script>") for one in roof_models().values()]
    known = [replace(one, name=evil) for one in machines().values()]
    return Roof(models, known, caption=evil)


QUESTION = [
    ("A score", False, "A score comes before the `softmax`."),
    ("A weight", True, "It is positive, and a row of them sums to 1."),
]
GUESSES = {"had": 0.005, "bowl": 0.09}
question = partial(Checkpoint, question="What is `α`?", options=QUESTION)


def shown_at(text: str) -> int:
    """Where an option of the question stands, which was shuffled."""
    return [option[0] for option in question().options].index(text)


def several() -> Checkpoint:
    options = [("one", True, "yes, one"), ("two", True, "yes, two"), ("three", False, "no, three")]
    return Checkpoint("Which are true?", options, multiple=True)


ASKED = {"answers": GUESSES, "reason": "Scaled by √3."}
guess = partial(Prediction, question="How much?", tolerance=0.05, **ASKED)

HUNTED = """
mask = torch.ones(3, 3).tril(-1)

for row in scores.masked_fill(~mask, -inf):
    print(row.softmax(-1))
"""
HUNT = {
    1: "`tril(-1)` keeps `j < i`: see [the slides](https://example.org/slides).",
    3: "The mask is the wrong one, its use is right.",
    4: "A row of `-inf` is all it gets.",
}
WHY = {"question": "Why is the first row `nan`?", "evidence": "had: nan  nan  nan"}
hunt = partial(BugHunt, **WHY, code=HUNTED, lines=HUNT, bug=1)


def longest_hunt() -> BugHunt:
    code = "\n".join(f"    value_{i} = {'transformed + ' * 8}{i}" for i in range(30))
    lines = {i: f"Line {i} " + "is right, and says so at length. " * 4 for i in range(1, 31)}
    return hunt(code=code, lines=lines, bug=[29, 30], evidence=code)


MISTAKES = [({"bowl": 0.047, "had": 0.002}, "Divide by `√3` too."), ({"had": 0.5}, "Half?")]
paper = partial(Answer, question="What are the `weights`?", **ASKED, mistakes=MISTAKES)


@dataclass(frozen=True)
class Example:
    """One kind of widget, for the tests of what holds in every place."""

    make: Callable  # a small one, with other arguments if wanted
    large: Callable  # the largest that a page has
    evil: Callable  # with a text wherever a text may be given
    hand: tuple = ()  # what is done in a view, and the traits that Python then hears of
    moves: tuple = ()  # what Python sets, one after another
    bad: tuple = ()  # a box, what it refuses, what it wants, what it keeps, what it then takes
    more: tuple[Callable, ...] = ()  # others that look different
    start: dict = field(default_factory=dict)  # a first state that is not the usual one
    awake: Callable | None = None  # brings a page's view to life where that takes a press
    fallback: tuple[str, ...] = ()  # what stands there without a script
    rows: int | None = None  # how many rows have the tables there
    tables: tuple = ()  # which of them is which of a view's, as Python's numbers are the page's
    paper: tuple[str, ...] = (".attnbook-twin table",)  # what is seen on paper
    told: str = ""  # its repr
    mess: Callable | None = None  # leaves a text in a box that cannot be used
    narrow: str = ""  # what is no wider than a phone
    looked: dict = field(default_factory=dict)  # how a page with it is opened


def box_named(view, label: str) -> Locator:
    """Return a box by its label, and open the folds that it lies in."""
    return unfolded(view.get_by_label(label, exact=True))


def unfolded(box: Locator) -> Locator:
    """Open the folds that something lies in."""
    box.evaluate(
        "(one) => { while ((one = one.parentElement?.closest('details'))) one.open = true; }"
    )
    return box


def fill(label: str, value: str) -> Callable:
    return lambda view: box_named(view, label).fill(value)


def check(label: str, on: bool = True) -> Callable:
    return lambda view: view.get_by_label(label, exact=True).set_checked(on)


def click(name: str) -> Callable:
    return lambda view: press(view, name)


def tick(name: str) -> Callable:
    return lambda view: view.get_by_role("checkbox", name=name).click()


def choose(name: str, option: str | int) -> Callable:
    given = {"index": option} if isinstance(option, int) else {"label": option}
    return lambda view: unfolded(
        view.get_by_role("combobox", name=name, include_hidden=True)
    ).select_option(**given)


def enter(label: str, text: str) -> Callable:
    def typed(view) -> None:
        box = box_named(view, label)
        box.fill(text)
        box.press("Enter")

    return typed


def at_cell(i: int, j: int) -> Callable:
    return lambda view: view.locator(".attnbook-plot canvas").first.click(position=cell(view, i, j))


def at_row(i: int) -> Callable:
    return lambda view: view.locator(".attnbook-plot canvas").first.click(
        position=cell(view, i, 0, n_q=4, n_k=4)
    )


def at_line(number: int) -> Callable:
    return lambda view: view.locator(".attnbook-code li").nth(number - 1).locator("button").click()


def load(page):
    """Have a page's head browser load its weights."""
    page.get_by_role("button", name="load all").click()
    page.locator(".attnbook-every").wait_for()
    settle(page)
    return page


def box(view):
    return view.get_by_label("English sentence")


def translate(page, text: str | None = None):
    """Have a sentence translated, and wait until its first word is there."""
    if text is not None:
        box(page).fill(text)
    press(page, "translate")
    page.locator(".attnbook-words li").first.wait_for()
    settle(page)
    return page


def retranslate(view) -> None:
    """Another sentence; its words are there when the first one's are gone."""
    view.get_by_label("English sentence").fill("how was your day")
    press(view, "translate")
    words = view.locator(".attnbook-words")
    words.filter(has_not_text="petit").filter(has_text="eos").wait_for()


BAD_TEMPERATURE = (
    "temperature as a number",
    ["0", "-1", "", "1e9", "0.001", "one", "-"],
    "a number from 0.01 to 1000",
    "1",
    "1,73",
)

IDLE = "() => !document.querySelector('[data-busy]')"


def waited(do: Callable) -> Callable:
    """Do it, and wait until every view has trained as far, and counted."""

    def done(view) -> None:
        do(view)
        settle(view)
        getattr(view, "page", view).wait_for_function(IDLE, timeout=BROWSER)
        settle(view)

    return done


# fmt: off
EXAMPLES = {
    "heatmap": Example(
        heatmap,
        lambda: heatmap(query=normal(6, 12, 4), tokens=named(12), causal=True, pinned=3),
        lambda evil: heatmap(tokens=[evil, "</script>", "nuts"], pinned=0, caption=evil),
        hand=(
            (check("causal mask"), {"causal": True}),
            (check("divide by √3", False), {"scaled": False}),
            (fill("temperature as a number", "2"), {"temperature": 2}),
            (at_cell(1, 2), {"pinned": 1}),
        ),
        moves=({"pinned": 2, "temperature": 10.0}, {"caption": "second"},),
        bad=(BAD_TEMPERATURE,),
        more=(lambda: heatmap(query=normal(1, 24, 12), tokens=named(24), caption="and `code`"),),
        tables=((0, 0),),
        fallback=("0.005", "0.090", "0.905"),
        told="AttentionHeatmap(3 × 3, tokens: had, bowl, nuts)",
    ),
    "steps": Example(
        steps,
        lambda: steps(vectors=np.ones((12, 4)), tokens=named(12), step=3),
        lambda evil: steps(tokens=[evil, "</script>", "nuts"], caption=evil),
        hand=(
            (fill("bowl, component 2", "3"), {"vectors": [X[0], [1, 3, 1], X[2]]}),
            (click("previous"), {"step": 3}),
            (check("causal mask"), {"causal": True}),
            (check("divide by √3", False), {"scaled": False}),
            (choose("query", "had"), {"query": 0}),
        ),
        moves=({"vectors": [[0, 1, 0]] * 3}, {"step": 2, "query": 1},),
        bad=(
            ("nuts, component 3", ["", "2000000", "e-", "1e7"],
                "a number from −1,000,000 to 1,000,000", "2", "2,5",),
        ),
        more=(lambda: steps(causal=True, query=1, caption="and `code`"),),
        tables=((0, 0),),
        fallback=("(1.005, 1.895, 1.900)",),
        paper=(".attnbook-formula", ".attnbook-weight"),
        told="AttentionSteps(query nuts, tokens: had, bowl, nuts)",
    ),
    "arrows": Example(
        arrows,
        lambda: arrows(vectors=[[4, -4], [-4, 4], [-4, -4]]),
        lambda evil: arrows(tokens=[evil, "</script>", "nuts"], caption=evil),
        hand=(
            (fill("bowl, number 1", "1.5"), {"vectors": [TWO[0], [1.5, 1], TWO[2]]}),
            (lambda view: view.locator(".attnbook-tip").nth(2).press("ArrowUp"),
                {"vectors": [TWO[0], [1.5, 1], [1, 2.1]]}),
            (choose("what becomes of", "had"), {"query": 0}),
        ),
        moves=({"vectors": [[0, 1]] * 3}, {"query": 1},),
        bad=(
            ("nuts, number 2", ["", "4.1", "e-", "NaN"], "a number from −4 to 4", "2", "1,5"),
        ),
        more=(lambda: arrows(vectors=[[0, 0]] * 3, caption="and `code`"),),
        start={"query": 1},
        tables=((0, 0),),
        fallback=("(1.088, 1.646)", "0.734"),
        told="ThreeArrows(query nuts, tokens: had, bowl, nuts)",
    ),
    "tiles": Example(
        tiles,
        lambda: tiles(scores=np.arange(16), values=np.arange(16), tile=3, step=16),
        lambda evil: tiles(caption=evil),
        hand=(
            (fill("score of key 2", "5"), {"scores": [0, 5, 1, 3]}),
            (fill("value of key 4", "7"), {"values": [4, 1, 2, 7]}),
            (click("previous"), {"step": 3}),
            (check("multiply by the factor", False), {"factor": False}),
        ),
        moves=({"scores": [1, 1, 1, 1]}, {"tile": 3, "step": 1}, {"factor": False}),
        bad=(
            ("score of key 3", ["", "2000", "e-", "1e4"],
                "a number from −1000 to 1000", "1", "2,5",),
        ),
        more=(lambda: tiles(tile=3, step=0, factor=False, caption="and `code`"),),
        fallback=("1.875", "0.8", "sweeps 16 scores"),
        paper=("td input",),
        told="TileSteps(4 keys in tiles of 1, 4 seen)",
    ),
    "memory": Example(
        memory,
        lambda: memory(values=[[1e6, -1e6], [-1e6, 1 / 3], [0, 0]], angle=359, length=2),
        lambda evil: memory(caption=evil),
        hand=(
            (check("a third key", False), {"third": False, "step": 2}),
            (check("a third key"), {"third": True, "step": 3}),
            (fill("value 1, number 2", "4"), {"values": [[3, 4], [-1, 2], [1, 3]]}),
            (fill("angle of k₃, in degrees as a number", "120"), {"angle": 120}),
            (fill("length of k₃ as a number", "0.5"), {"length": 0.5}),
            (fill("gate g as a number", "0.5"), {"decay": 0.5}),
            (fill("β as a number", "0.25"), {"beta": 0.25}),
            (click("previous"), {"step": 2}),
            (choose("written by", "the sum, through φ"), {"write": "phi"}),
        ),
        moves=({"write": "sum"}, {"third": False, "step": 1}, {"decay": 0.0}),
        bad=(
            ("value 2, number 1", ["", "2000000", "e-"], "a number from −1,000,000 to 1,000,000",
                "−1", "2,5"),
            ("length of k₃ as a number", ["2.5", "-1"], "a number from 0 to 2", "1", "0"),
        ),
        more=(lambda: Memory(step=0, caption="and `code`"), lambda: memory(write="phi")),
        tables=((0, 1),),
        fallback=("(2.707, 1.621); (−1.293, 2.621)", "g = 1, β = 1"),
        rows=3,
        told="Memory(the delta rule, 3 of 3 pairs written)",
    ),
    "pages": Example(
        pages,
        lambda: pages(n_pages=16, page=8, actions=["start", *["write 1"] * 40, *["fork 1"] * 3],
            longest=64,),
        lambda evil: pages(caption=evil),
        hand=(
            (click("write a token of text 2"), {"actions": [*SHARED, "write 2"]}),
            (click("take back the last action"), {"actions": SHARED}),
            (click("fork text 1"), {"actions": [*SHARED, "fork 1"]}),
            (click("end text 1"), {"actions": [*SHARED, "fork 1", "end 1"]}),
            (click("start a text"), {"actions": [*SHARED, "fork 1", "end 1", "start"]}),
            (fill("pages", "9"), {"n_pages": 9}),
            (fill("rows in a page", "2"), {"page": 2}),
        ),
        moves=({"actions": [*SHARED, "end 1"]}, {"page": 2}, {"n_pages": 3}, {"actions": []}),
        more=(lambda: pages(n_pages=2, page=3, caption="and `code`"), lambda: pages(actions=[])),
        fallback=("0 → 0, 1 → 3", "1, 3", "38 %", "71 %"),
        rows=11,
        told="PageTable(6 pages of 4 rows, 4 in use, texts: 3)",
    ),
    "painter": Example(
        painter,
        lambda: painter(query=normal(16, 4), tokens=named(16), fill="zero"),
        lambda evil: painter(tokens=[evil, "  ", "nuts" * 60], caption=evil, pinned=1),
        hand=(
            (at_cell(0, 0), {"mask": [0, 0, 0, 1, 1, 0, 1, 1, 1]}),
            (check("divide by √3", False), {"scaled": False}),
            (fill("temperature as a number", "1.732"), {"temperature": 1.732}),
            (check("show the gradient"), {"show": "gradient"}),
            (choose("a masked score becomes", 2), {"fill": "-1e10"}),
        ),
        moves=(
            {"mask": [1, 0, 0, 1, 1, 0, 1, 1, 1], "fill": "zero"},
            {"show": "gradient", "pinned": 1},
        ),
        bad=(BAD_TEMPERATURE,),
        more=(
            lambda: painter(mask=~np.eye(3, dtype=bool), fill="zero", pinned=1),
            lambda: painter(query=normal(12, 4), tokens=named(12), show="gradient",
                mask=np.tri(12, k=-1, dtype=bool),),
        ),
        start={"mask": np.tri(3, dtype=bool), "fill": "nan", "pinned": 2},
        tables=((0, 0),),
        fallback=("0.905",),
        narrow=".attnbook-plot canvas",
        told="MaskPainter(3 × 3, 9 may attend, tokens: had, bowl, nuts)",
    ),
    "heads": Example(
        three,
        lambda: HeadGrid(normal(12, 28, 8), tokens=named(28), chosen=range(6), row=20),
        lambda evil: three(tokens=[evil, "</script>", "c"], names=[evil, "</script>", "c"], row=0,
            caption=evil),
        hand=(
            (check("head 2"), {"chosen": [0, 1, 2]}),
            (click("their average"), {"large": "average"}),
            (choose("query", "bowl"), {"row": 1}),
            (check("divide by √2", False), {"scaled": False}),
            (check("causal mask"), {"causal": True}),
            (fill("temperature as a number", "2.5"), {"temperature": 2.5}),
        ),
        moves=({"row": 1, "chosen": [2]}, {"large": "average", "causal": True},),
        bad=(BAD_TEMPERATURE,),
        more=(
            lambda: HeadGrid(normal(12, 12, 4), tokens=named(12), chosen=[1, 7, 11], row=8,
                causal=True, caption="Heads and `code`.",),
            lambda: three(folded=True, row=1),
        ),
        start={"row": 2, "large": "one"},
        tables=((0, 0),),
        fallback=("head 2: nuts",),
        told="HeadGrid(3 heads, 3 × 3, tokens: had, bowl, nuts)",
    ),
    "checkpoint": Example(
        question,
        several,
        lambda evil: Checkpoint(evil, [(evil, True, evil), (f"`{evil}`", False, evil)],
            caption=evil),
        hand=(
            (check("A score"), {"chosen": [shown_at("A score")], "checked": True}),
            (check("A weight"), {"chosen": [shown_at("A weight")]}),
        ),
        moves=({"chosen": [1], "checked": True},),
        fallback=("A weight",),
        paper=(".attnbook-fallback ol",),
    ),
    "prediction": Example(
        guess,
        guess,
        lambda evil: Prediction(evil, {evil: 1}, reason=evil, caption=evil),
        hand=(
            (fill("your prediction for bowl", "0.3"), {"guesses": [None, 0.3]}),
            (click("reveal"), {"revealed": True}),
        ),
        moves=({"guesses": [0.01, None], "revealed": True},),
        fallback=("How much?",),
        paper=(".attnbook-fallback",),
    ),
    "bughunt": Example(
        hunt,
        longest_hunt,
        lambda evil: BugHunt(evil, f"{evil}\nprint()", {1: evil, 2: f"[{evil}](https://a.b)"},
            bug=2, evidence=evil, caption=evil),
        hand=(
            (at_line(3), {"pressed": [3]}),
            (at_line(1), {"pressed": [3, 1]}),
        ),
        moves=({"pressed": [4]}, {"pressed": [4, 1]}),
        fallback=("Why is the first row nan?", "tril(-1)", "had: nan"),
        paper=(".attnbook-fallback ol", ".attnbook-fallback pre"),
        told="BugHunt('Why is the first row `nan`?')",
    ),
    "answer": Example(
        paper,
        lambda: paper(answers={f"the number {i} of {'many ' * 8}": i for i in range(8)},
            mistakes=()),
        lambda evil: Answer(evil, {evil: 1, "b": 2}, mistakes=[({evil: 2}, evil)], reason=evil,
            caption=evil),
        hand=(
            (fill("your number for bowl", "0.3"), {"entries": ["", "0.3"]}),
            (click("check"), {"checked": True, "tries": 1}),
            (fill("your number for had", "1/2"), {"entries": ["1/2", "0.3"], "checked": False}),
            (click("show the answer"), {"given": True}),
        ),
        moves=({"entries": ["0.005", "9"], "checked": True, "tries": 1}, {"given": True}),
        fallback=("What are the weights?", "0.090", "Work out on paper: had, bowl."),
        paper=(".attnbook-fallback",),
        told="Answer('What are the `weights`?')",
    ),
    "roles": Example(
        roles,
        lambda: RoleProjection(normal(6, 4, seed=3), named(6), *normal(3, 4, 4, seed=4), token=5),
        lambda evil: roles(tokens=[evil, "</script>", "nuts"], caption=evil),
        hand=(
            (fill("W^K, row 1, column 1", "11"), {"w_k": [[11, 0, 0], *EYE[1:]]}),
            (fill("number 1 of x", "5"), {"vectors": [*X[:2], [5, 2, 2]]}),
            (check("causal mask"), {"causal": True}),
            (check("divide by √3", False), {"scaled": False}),
            (lambda view: view.get_by_role("combobox").select_option("had"), {"token": 0}),
        ),
        moves=({"w_q": [[0.123456, 0, 0], [0, 0, 2], [0, 0, -1]]}, {"causal": True, "token": 1},),
        bad=(
            ("W^K, row 2, column 3", ["", "1001", "e-", "one"], "a number from −1000 to 1000",
                "0", "2",),
        ),
        more=(lambda: RoleProjection(X, TOKENS, X, X[::-1], np.eye(3)[:, :2], caption="`Roles`"),),
        tables=((1, 5),),
        fallback=("0.905",),
        rows=6,
        paper=(".attnbook-square",),
        told="RoleProjection(token nuts, d_model 3, d_k 3, d_v 3, tokens: had, bowl, nuts)",
    ),
    "beam": Example(
        beam,
        lambda: BeamTree(model_table(), beam=5, step=-1),
        lambda evil: beam(table={(): {evil: 1}, (evil,): {EOS: 1}}, step=-1, caption=evil),
        hand=(
            (click("next"), {"step": 3}),
            (lambda view: view.get_by_role("combobox").select_option("1 (greedy)"), {"beam": 1}),
            (fill("length penalty α", "1.25"), {"penalty": 1.25}),
            (fill("length penalty α as a number", "0.5"), {"penalty": 0.5}),
            (fill("le, first", "0.25"), {"logs": None}),
            (enter("le, first", "0.123456789"), {"logs": None}),
        ),
        moves=({"beam": 1, "step": 3},),
        bad=(
            ("le, first", ["", "0.61", "-0.1", "2", "half", "1e9", "1e400", "NaN"],
                "a number from 0 to 1, with at most 1 in all in its line,", "0.5", "0.6",),
            ("length penalty α as a number", ["", "-1", "2.1", "much"], "a number from 0 to 2",
                "0", "1,5",),
        ),
        more=(lambda: BeamTree(model_table(), beam=3, step=-1), lambda: beam(step=2, penalty=0.5),),
        start={"step": 2, "penalty": 0.75},
        tables=((1, 0),),
        fallback=("la souris </s>",),
        paper=(".attnbook-tree", ".attnbook-twin table"),
        told="BeamTree(8 prefixes, k = 2, α = 0, best: la souris </s>)",
    ),
    "roof": Example(
        roof,
        lambda: Roof(tuple(roof_models()), model=5, texts=4096, tokens=8192, cached=131_072),
        hostile_roof,
        hand=(
            (choose("model", 2), {"model": 2}),
            (choose("machine", "RTX 4090"), {"machine": 2}),
            (enter("texts at once as a number", "100"), {"texts": 100}),
            (lambda view: view.get_by_label("new tokens of each", exact=True).press("ArrowRight"),
                {"tokens": 2}),
            (lambda view: view.get_by_label("tokens in each cache", exact=True).press("Home"),
                {"cached": 0}),
            (choose("weights in", "4 bits"), {"weight_bits": 4}),
            (choose("caches in", "8 bits"), {"cache_bits": 8}),
        ),
        moves=({"model": 1, "texts": 4096}, {"tokens": 8192, "cached": 0}, {"machine": 3},
            {"weight_bits": 4, "cache_bits": 8}),
        bad=(
            ("texts at once as a number", ["", "0", "4097", "2.5", "many"],
                "a whole number from 1 to 4,096", "4", "300"),
            ("new tokens of each as a number", ["0", "8193"], "a whole number from 1 to 8,192",
                "1", "7"),
            ("tokens in each cache as a number", ["-1", "131073"],
                "a whole number from 0 to 131,072", "4,096", "0"),
        ),
        more=(lambda: Roof(model=2, machine=3, caption="A step and `code`."),),
        start={"model": -2, "machine": -4},
        tables=((0, 0),),
        fallback=("15.0 GB", "2.15 GB", "they fit in 141 GB"),
        rows=3,
        paper=(".attnbook-curve svg", ".attnbook-twin table"),
        narrow=".attnbook-curve svg",
        told="Roof(Llama 3.1 8B, H200 SXM, 4 × 1 tokens, 4,096 cached, 16 and 16 bits)",
    ),
    "scores": Example(
        scores,
        most_scores,
        lambda evil: scores(tokens=[evil, "</script>", "cat"], caption=evil),
        hand=(
            (fill("key cat, number 2", "3.5"), {"key": [[1, -1], [0, 2], [-1, 3.5]]}),
            (lambda view: view.locator(".attnbook-tip").first.press("ArrowUp"), {"query": [1,
                0.1]},),
            (check("with tanh", False), {"tanh": False}),
        ),
        moves=({"query": [0.5, -2], "tanh": False}, {"v": [2, 1]},),
        bad=(
            ("key black, number 2", ["", "4.1", "-5", "one", "1e", "NaN"],
                "a number from −4 to 4", "2", "1,5",),
        ),
        fallback=("0.665",),
        rows=6,
        paper=("[aria-label='W_k, row 2, number 1']",),
        told="ScoreExplorer(query (1, 0), h 2, keys: small, black, cat)",
    ),
    "player": Example(
        player,
        longest_player,
        lambda evil: AlignmentPlayer([([evil, " "], ["  "], [[0.5, 0.5]], [(0, 0)])],
            caption=evil),
        hand=(
            (click("next"), {"word": 3}),
            (fill("threshold θ as a number", "0.25"), {"threshold": 0.25}),
            (fill("temperature as a number", "2"), {"temperature": 2}),
            (tick("compare with gold links"), {"scored": False}),
            (tick("compare with gold links"), {"scored": True}),
            (choose("sentence", "1: the black cat"), {"chosen": 0, "word": 0}),
        ),
        moves=(
            {"chosen": 1, "word": 5},
            {"chosen": 0, "temperature": 0.5},
            {"word": 0, "threshold": 0.95},
            {"scored": False},
        ),
        bad=(
            ("threshold θ as a number", ["1.2", "-0.1", "much", "", "1e9", "NaN"],
                "a number from 0 to 1", "0.5", "0,7",),
            BAD_TEMPERATURE,
        ),
        start={"chosen": 1, "word": 2, "threshold": 0.3, "temperature": 3},
        narrow=".attnbook-stage, .attnbook-plot canvas",
        fallback=("0.700*", "It is 0.000 in this sentence."),
        paper=(".attnbook-twin table", ".attnbook-stage"),
        told="AlignmentPlayer(3 sentences, shown: the black cat)",
    ),
    "unrolled": Example(
        digits,
        longest_model,
        hostile_model,
        hand=(
            (lambda view: view.locator(".attnbook-next button").nth(1).click(), {"forced": None}),
            (enter("sentence", "88"), {"sentence": ["8", "8"], "forced": {}, "step": 0}),
            (click("next"), {"step": 1}),
        ),
        moves=({"sentence": ["8", "8"], "forced": {"1": "7"}}, {"step": 3},),
        more=(
            lambda: words(step=-1, forced={2: "une"}, caption="An unrolled model and `code`."),
            lambda: digits("123456789012"),
        ),
        start={"step": 7, "forced": {1: "9"}},
        mess=enter("sentence", "3x"),
        fallback=("It writes: ", "in 8 numbers: "),
        rows=16,
        paper=(".attnbook-fallback table", ".attnbook-fallback .attnbook-vector"),
    ),
    "atlas": Example(
        atlas,
        lambda: Atlas(smollm_atlas()),
        lambda evil: atlas(found=looked(texts=[[evil, "</script>", "a", "b"]]), caption=evil),
        hand=(
            (choose("across", "first token"), {"across": "first"}),
            (choose("upwards", "what came next"), {"upwards": "next"}),
            (choose("on", 1), {"on": "random"}),
            (choose("layer", "4"), {"layer": 4}),
            (choose("head", "0"), {"head": 0}),
            (lambda view: view.locator(".attnbook-points").press("Home"),
                dict(zip(("layer", "head"), divmod(int(
                    np.argmin(looked().scores["random"].reshape(-1, 4)[:, 1])), 2), strict=True))),
        ),
        moves=({"across": "same", "layer": 0}, {"on": "random", "head": 0}, {"upwards": "same"}),
        more=(lambda: atlas(across="first", upwards="first", caption="Heads and `code`."),),
        tables=((0, 1),),
        fallback=("layer 1 head 1", "what came next", "had bowl nuts."),
        rows=19,
        paper=(".attnbook-points svg", ".attnbook-twin table"),
        told="Atlas(6 × 2 heads on sentences: next and previous, layer 1 head 1)",
    ),
    "lens": Example(
        lens,
        lambda: LogitLens(smollm_lens()),
        lambda evil: lens(prompts=[through(tokens=[evil, "</script>"])], token=0, caption=evil),
        hand=(
            (choose("prompt", 1), {"prompt": 1, "step": 1}),  # where attention first adds
            (lambda view: view.get_by_role("button", name="a", exact=True).click(), {"token": 0}),
            (click("next"), {"step": 2}),
            (lambda view: view.get_by_role("button", name="next").press("Home"), {"step": 0}),
            (lambda view: view.locator(".attnbook-reading button").first.press("End"),
                {"token": 1}),
        ),
        moves=({"step": 4, "token": 2}, {"step": 0}, {"token": 0, "prompt": 1}),
        more=(lambda: lens(step=0, caption="and `code`."),),
        fallback=("after layer 3", "what the output would say after “␣bowl”"),
        rows=5,
        paper=(".attnbook-towards svg", ".attnbook-twin table"),
        told="LogitLens('had bowl ↵ ', step 2, token 1)",
        narrow=".attnbook-towards",
    ),
    "fewshot": Example(
        few_shots,
        lambda: FewShot(smollm_few_shots(), count=6, exchanged=True),
        lambda evil: few_shots(tasks=[shots(evil, asked=(evil, "</script>"))], caption=evil),
        hand=(
            (choose("task", 1), {"task": 1}),
            (fill("examples", "4"), {"count": 4}),
            (tick("answers exchanged"), {"exchanged": True}),
            (click("two, wrong"), {"word": 1}),
        ),
        moves=({"count": 4, "word": 2}, {"task": 1, "exchanged": True}, {"count": 0}),
        more=(lambda: few_shots(count=0, word=-1, caption="Examples and `code`."),),
        tables=((0, 0),),
        fallback=("Right for 2 of these 3 words", "␣O", "a -> A; b -> B; c -> C; one ->"),
        rows=5,
        paper=(".attnbook-prompt", ".attnbook-hits", ".attnbook-twin table"),
        told="FewShot(numbers, 3 examples, one)",
    ),
    "visibility": Example(
        visibility,
        lambda: visibility(found=seen_by(tokens=named(32), heads=8), window=9, first=4, top=7),
        lambda evil: visibility(found=seen_by(tokens=[evil, "</script>", "a"]), caption=evil),
        hand=(
            (fill("window: the last", "3"), {"window": 3}),
            (click("1 first tokens kept"), {"first": 1}),
            (fill("top-k: the largest", "1"), {"top": 1}),
            (choose("head", 1), {"head": 1}),
            (at_row(1), {"row": 1}),
        ),
        moves=({"window": 4, "top": 2}, {"head": 1, "first": 4}, {"row": None}, {"row": 0}),
        more=(lambda: visibility(measured=("top 64",), row=None, caption="and `code`"),),
        tables=((0, 1),),
        fallback=("layer 1 head 0", "first 1, last 255", "130.0"),
        rows=9,
        paper=(".attnbook-plot canvas", ".attnbook-ladder svg", ".attnbook-twin table"),
        told="Visibility(4 tokens, window 2, first 0)",
        narrow=".attnbook-plot",
    ),
    "browser": Example(
        partial(browser, row=8, key=2, read=read_words),
        all_heads,
        lambda evil: HeadBrowser([([evil, "</script>"], attention(2))], names=[evil], row=0,
            key=1, asset="evil-heads", caption=evil,),
        hand=(
            (choose("look from", "sat"), {"row": 9}),
            (lambda view: view.locator(".attnbook-every canvas").nth(5).click(), {"layer": 1,
                "head": 2},),
            (check("hide [CLS] and [SEP]"), {"hide": True}),
            (choose("shade by", "over how many keys"), {"measure": "spread"}),
        ),
        moves=({"chosen": 1}, {"row": None, "measure": "next"},),
        more=(lambda: all_heads(12, 12, 16, 9),),
        awake=load,
        paper=(".attnbook-twin table", ".attnbook-best button"),
        fallback=("weight of it",),
        rows=11,
        told="HeadBrowser(2 × 3 heads, 2 sentences, shown: the animal was too tired, so it sat)",
    ),
    "block": Example(
        flow,
        largest_flow,
        lambda evil: flow(tokens=[evil, "</script>", "nuts"], caption=evil),
        hand=(
            (fill("number 2 of x", "3.5"), {"vectors": [[2, 3.5, 0, 1], *NUTS[1:]]}),
            (choose("norm", 2), {"norm": "none"}),
            (check("residual sum", False), {"residual": False}),
            (choose("blocks", "4"), {"blocks": 4}),
            (click("next"), {"shown": 2}),
        ),
        moves=({"norm": "post", "token": 1}, {"residual": False},),
        bad=(("number 2 of x", ["", "101", "one"], "a number from −100 to 100", "−1", "2"),),
        more=(lambda: flow(norm="post", blocks=2, caption="A block and `code`."),),
        tables=((0, -1), (1, -2)),
        fallback=("a = attention(n₁)",),
        told="BlockFlow(token had, norm pre, with the sum, blocks 1",
    ),
    "cache": Example(
        calculator,
        lambda: CacheCalculator(list(cached_models())[-10:], batch=64, context=2**20, bits=4),
        hostile_calculator,
        hand=(
            (choose("model", 2), {"chosen": 2}),
            (enter("tokens in a text as a number", "5000"), {"context": 5000}),
            (lambda view: view.get_by_label("texts at once", exact=True).press("ArrowRight"),
                {"batch": 2}),
            (choose("cache in", "8 bits"), {"bits": 8}),
            (choose("weights in", "4 bits"), {"weight_bits": 4}),
            (choose("GPU of", "24 GB"), {"gpu": 24}),
        ),
        moves=({"context": 2**20, "chosen": 0}, {"batch": 100, "bits": 4}, {"gpu": 141},),
        bad=(
            ("tokens in a text as a number", ["", "127", "1048577", "200.5", "many"],
                "a whole number from 128 to 1,048,576", "8,192", "300"),
            ("texts at once as a number", ["0", "1025"], "a whole number from 1 to 1,024",
                "1", "7"),
        ),
        more=(lambda: CacheCalculator(chosen=3, gpu=24, caption="Caches and `code`."),),
        start={"chosen": -2, "batch": 1},
        tables=((0, 0),),
        fallback=("1.07 GB", "131 kB", "any length"),
        rows=3,
        paper=(".attnbook-curves svg", ".attnbook-twin table"),
        narrow=".attnbook-curves svg",
        told="CacheCalculator(Llama 3.1 8B, 8,192 tokens, batch 1, 16 bits, 80 GB)",
    ),
    "dataflow": Example(
        dataflow,
        lambda: dataflow(drawing=tower(floors=5), caption="A tower and `code`."),
        lambda evil: dataflow(drawing=layer(evil, evil), opened=0, caption=evil),
        hand=(
            (fill("h as a number", "4"), {"sizes": {"b": 2, "n": 12, "d_model": 512, "h": 4}}),
            (lambda view: view.get_by_label("n", exact=True).press("ArrowRight"),
                {"sizes": {"b": 2, "n": 13, "d_model": 512, "h": 4}}),
            (lambda view: view.get_by_role("button", name="W^K").press("Enter"), {"opened": 4}),
            (lambda view: view.get_by_role("button", name="attend").click(), {"opened": 1}),
            (fill("h as a number", "7"), {"sizes": {"b": 2, "n": 13, "d_model": 512, "h": 7}}),
        ),
        moves=(
            {"opened": 2, "letters": True},
            {"sizes": {"b": 1, "n": 0, "d_model": 8, "h": 2}},
            {"sizes": {"b": 1, "n": 0, "d_model": 8, "h": 3}},
        ),
        bad=(
            ("n as a number", ["", "65", "-1", "2.5", "many"], "a whole number from 0 to 64",
                "12", "0"),
        ),
        start={"opened": 0},
        fallback=("2 × 8 × 12 × 64", "all together", "1,050,624"),
        rows=11,
        paper=(".attnbook-drawing svg", ".attnbook-twin table"),
        told="DataFlow(10 boxes, b = 2, n = 12, d_model = 512, h = 8)",
    ),
    "positions": Example(
        positions,
        lambda: PositionExplorer(64, 64, position=40, shift=20, pair=9),
        lambda evil: positions(caption=evil),
        hand=(
            (fill("components d", "16"), {"d": 16}),
            (fill("positions n", "2"), {"n": 2, "position": 1}),
            (lambda view: view.get_by_role("combobox").select_option(index=1),
                {"formula": "multiplies"},),
            (fill("base as a number", "50"), {"base": 50}),
        ),
        moves=({"n": 6, "position": 5}, {"d": 4, "shift": 2}, {"pair": 1},),
        bad=(
            ("components d", ["7", "66"], "an even number from 2 to 64", "8", "10"),
            ("positions n", ["2.5"], "a whole number from 2 to 64", "12", "11"),
            ("base as a number", ["0", "<b>"], "a number from 1 to 1,000,000", "100", "5"),
        ),
        more=(
            lambda: PositionExplorer(position=8, shift=5, caption="Positions and `code`."),
            lambda: positions(folded=True),
        ),
        start={"position": -1, "pair": -1},
        tables=((0, 2), (1, 1), (2, 0)),
        fallback=("sin(pos / 1002i/8)",),
        paper=(".attnbook-plot canvas", ".attnbook-curve svg", ".attnbook-dials svg",
            ".attnbook-twin table",),
        told="PositionExplorer(d 8, n 12, base 100, divides, position 2, shift 3)",
    ),
    "clocks": Example(
        clocks,
        lambda: RotaryClocks(128, 1e8, 1_048_576, scaling="yarn", distance=16_777_216, factor=16),
        lambda evil: clocks(caption=evil),
        hand=(
            (fill("distance in tokens", "1"), {"distance": 48}),
            (choose("scaling", "YaRN"), {"scaling": "yarn"}),
            (fill("factor s as a number", "2.5"), {"factor": 2.5}),
            (fill("pair i", "2"), {"pair": 2}),
        ),
        moves=({"distance": 24, "scaling": "none"}, {"scaling": "llama3", "factor": 8.0},
            {"pair": 7},),
        bad=(
            ("distance in tokens as a number", ["0", "2.5", "385", "<b>"],
                "a whole number from 1 to 384", "96", "384",),
            ("factor s as a number", ["0.5", "17"], "a number from 1 to 16", "4", "8"),
        ),
        more=(lambda: clocks(scaling="interpolation", distance=1, caption="Clocks and `code`."),),
        start={"pair": -1},
        tables=((0, 0),),
        fallback=("n₀ = 24", "never met"),
        rows=8,
        paper=(".attnbook-dials svg", ".attnbook-curve svg", ".attnbook-twin table"),
        told="RotaryClocks(d 16, base 100, trained to 24, ntk by 4, distance 96)",
    ),
    "speculation": Example(
        speculation,
        lambda: Speculation(0.95, 16, 0.05),
        lambda evil: speculation(caption=evil),
        hand=(
            (fill("kept α as a number", "0.25"), {"alpha": 0.25}),
            (fill("guesses γ", "7"), {"guesses": 7}),
            (fill("cost c of a guess as a number", "1"), {"cost": 1}),
        ),
        moves=({"guesses": 6, "alpha": 0.25}, {"cost": 0.5}, {"alpha": 1.0}, {"guesses": 0}),
        bad=(
            ("kept α as a number", ["1.5", "<b>"], "a number from 0 to 1", "0.5", "0.7"),
            ("cost c of a guess as a number", ["-1"], "a number from 0 to 1", "0.1", "0.2"),
        ),
        more=(lambda: Speculation(0, 0, 1, caption="Guesses and `code`."),),
        tables=((0, 0),),
        fallback=("α = 0.5", "1.75"),
        rows=17,
        paper=(".attnbook-curve svg", ".attnbook-twin table"),
        told="Speculation(alpha 0.5, 3 guesses, cost 0.1)",
    ),
    "own": Example(
        own,
        lambda: own(examples=["the cat " * 11] * 6, off=[(1, 2)], row=23, asset="tiny-long"),
        lambda evil: own(examples=[evil, "</script>"], asset="tiny-evil", caption=evil),
        hand=(
            (choose("layer", 1), {"layer": 1}),
            (choose("head", 2), {"head": 2}),
            (choose("or a stored sentence", "the dogs sat it."), {"text": "the dogs sat it."}),
            (click("dog"), {"row": 2}),
        ),
        moves=({"text": "the dogs sat it.", "row": 3}, {"off": [[0, 1]], "head": 1}),
        more=(lambda: own(off=[(0, 0), (1, 1)], row=1, text="a cat", asset="tiny-off",
            caption="An encoder and `code`."),),
        mess=enter("your own sentence", ""),
        fallback=("layer 0 head 0", "the cat sat."),
        rows=6,
        told="OwnSentence(2 × 3 heads, 0 off: the cat sat.)",
        narrow=".attnbook-plot",
    ),
    "trainer": Example(
        trained,
        lambda: TrainHere(" ".join(named(20)[:11] + named(9)), heads=4, off=[(0, 1), (1, 3)],
            seed=9_999, symbols=9, shortest=1, longest=40, step=20),
        lambda evil: TrainHere(f"a {evil} b", caption=evil),
        hand=(
            (waited(check("layer 0", False)), {"off": [[0, 0]]}),
            (fill("your text: letters, or words", "do re do re"), {"text": "do re do re"}),
            (waited(choose("heads a layer", "four")), {"heads": 4, "off": [], "step": 0}),
            (waited(click("step")), {"step": 1}),
            (waited(check("head 0.1", False)), {"off": [[0, 1]]}),
            (waited(choose("layers", "one")), {"layers": 1, "off": [], "step": 0}),
            (waited(fill("learning rate as a number", "0.02")), {"rate": 0.02}),
            (waited(fill("seed", "3")), {"seed": 3}),
            (waited(fill("symbols", "5")), {"symbols": 5}),
            (waited(fill("shortest period", "2")), {"shortest": 2}),
            (waited(fill("longest period", "30")), {"longest": 30}),
            (choose("steps a frame", "20"), {"speed": 20}),
        ),
        moves=({"text": "xyxyx"}, {"speed": 1},),
        bad=(
            ("learning rate as a number", ["", "0", "11", "fast"],
                "a number from 0.00001 to 10", "0.005", "0.01"),
            ("seed", ["", "-1", "10000", "1.5"], "a whole number from 0 to 9999", "0", "7"),
            ("symbols", ["0", "13"], "a whole number from 1 to 12", "12", "4"),
            ("longest period", ["0", "41"], "a whole number from 1 to 40", "9", "12"),
        ),
        more=(lambda: TrainHere("do re mi do re", layers=1, step=0, caption="and `code`"),),
        fallback=("Two recorded runs of 800 steps", "0.96", "An even guess has a loss of 2.48"),
        rows=9,
        paper=(".attnbook-course svg", ".attnbook-twin table"),
        mess=fill("your text: letters, or words", "x"),
        narrow=".attnbook-course svg",
        told="TrainHere(two layers, one head, seed 0, recorded, text: ABCDEFABCDEFABC)",
    ),
    "translator": Example(
        translator,
        longest_translation,
        hostile_translator,
        hand=(
            (choose("attention", 2), {"part": "decoder"}),
            (choose("head", 1), {"head": 0}),
            (choose("beam", "3"), {"beam": 3}),
            (retranslate, {"sentence": ["how", "was", "your", "day"]}),
        ),
        moves=({"part": "encoder", "row": 3}, {"shown": 2, "part": "cross", "row": None},),
        bad=(("length penalty α as a number", ["7", "", "<b>"], "a number from 0 to 2", "1", "2"),),
        more=(
            lambda: Translator(random_translator("an output of its own"), *lesson()[1:],
                asset="own", caption="A `Seq2Seq`.",),
            joint.translator,
        ),
        awake=translate,
        mess=enter("English sentence", "unicorn"),
        paper=(".attnbook-twin table", ".attnbook-written"),
        fallback=("le petit chat noir ne mange pas",),
        rows=11,
        looked={"reduced_motion": "reduce"},
    ),
}
# fmt: on
OF_EACH = tuple(EXAMPLES.values())
