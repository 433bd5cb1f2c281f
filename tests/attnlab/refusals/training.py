"""Training, losses, metrics, schedules and seeds."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from attnlab.models import masked, recurrent, results, tasks, transformers
from attnlab.training import losses, metrics, train
from attnlab.training.schedules import constant, warmup_cosine, warmup_inverse_sqrt
from attnlab.training.seeds import seeded
from tests.attnlab.refusals.rows import FLOATS, IDS, NAN, WHOLE, Calls, Row, X, rows, zeros


def trained(**changed: Any) -> Callable[[], Any]:
    def call() -> Any:
        arguments = {
            "model": nn.Linear(2, 1),
            "batches": [zeros(1, 2)],
            "loss": lambda model, batch: model(batch).sum(),
            "steps": 2,
            "progress": False,
        }
        return train(**(arguments | changed))

    return call


DIGITS = tasks.reversal(20, shortest=1, longest=4)
TINY = partial(
    *(transformers.transformer, DIGITS),
    **{"d_model": 4, "n_layers": 1, "d_ff": 4, "steps": 1, "warmup": 0, "progress": False},
)
BLIND = recurrent.translator(DIGITS, order="none", d_model=4, steps=1, progress=False)[0]
LOGITS = zeros(2, 3, 9)
SEES_ALL = masked.TextModel(14, causal=False, d_model=4, n_heads=2, n_layers=1, d_ff=4)
CALLS: Calls = {
    "training.loop.train": [
        (trained(model=3), "model must be a torch.nn.Module", TypeError),
        (trained(loss=3), "loss must be a function", TypeError),
        (trained(optimizer="adam"), "optimizer must be a class or function", TypeError),
        (trained(schedule=0.1), "schedule must be a function from a step", TypeError),
        (trained(validate=3, validate_every=1), "validate must be a function", TypeError),
    ],
    "models.tasks.translation": [
        (lambda: tasks.translation(0), f"n {WHOLE} 1: it is 0"),
        (lambda: tasks.translation(24_001), "n must be at most 24000: it is 24001"),
    ],
    "models.tasks.reversal": [
        (lambda: tasks.reversal(0), f"n {WHOLE} 1: it is 0"),
        (lambda: tasks.reversal(9, shortest=3, longest=2), f"longest {WHOLE} 3"),
    ],
    "models.recurrent.translator": [
        (lambda: recurrent.translator(3), "lesson must be a Lesson", TypeError),
        (lambda: recurrent.translator(DIGITS, score="cosine"), "score must be one of 'dot'"),
        (lambda: recurrent.translator(DIGITS, order="new"), "order must be"),
        (lambda: recurrent.translator(DIGITS, d_model=3), "d_model must be a multiple"),
        (lambda: recurrent.translator(DIGITS, steps=0), f"steps {WHOLE} 1"),
        (lambda: recurrent.translator(DIGITS._replace(train=())), "the corpus is empty"),
    ],
    "models.transformers.transformer": [
        (lambda: transformers.transformer("x"), "translation(): it is a str", TypeError),
        (lambda: transformers.transformer(DIGITS, steps=9), f"steps {WHOLE} 201: it is 9"),
        (lambda: transformers.transformer(DIGITS, d_model=6), "d_model must be a multiple"),
        (lambda: transformers.transformer(DIGITS, norm="both"), "norm must be one of 'pre'"),
        (lambda: TINY(smoothing=2.0), "smoothing must be from 0 to 1: it is 2.0"),
        (lambda: TINY(batch_size=0), f"batch_size {WHOLE} 1"),
    ],
    "models.transformers.language_model": [
        (lambda: transformers.language_model(None), "lesson must be a Lesson", TypeError),
        (lambda: transformers.language_model(DIGITS, n_layers=0), f"n_layers {WHOLE} 1"),
        (lambda: transformers.language_model(DIGITS, warmup=-1), f"warmup {WHOLE} 0"),
    ],
    "models.transformers.next_word_loss": [
        (
            lambda: transformers.next_word_loss(nn.ReLU(), X),
            "batch must have the fields",
            TypeError,
        ),
    ],
    "models.masked.TextModel": [
        (lambda: masked.TextModel(9, causal=True, d_model=6), "d_model must be a multiple"),
        (lambda: masked.TextModel(0, causal=True), f"vocabulary {WHOLE} 1"),
        (lambda: SEES_ALL(IDS + 90), "tokens must be from 0 to 13"),
    ],
    "models.masked.masked_vocabulary": [
        (lambda: masked.masked_vocabulary(3), "lesson must be a Lesson", TypeError),
    ],
    "models.masked.text_model": [
        (lambda: masked.text_model(3, causal=True), "lesson must be a Lesson", TypeError),
        (lambda: masked.text_model(DIGITS, causal=True, steps=9), f"steps {WHOLE} 101: it is 9"),
        (lambda: masked.text_model(DIGITS, causal=False, n_layers=0), f"n_layers {WHOLE} 1"),
    ],
    "models.masked.hide": [
        (lambda: masked.hide(3), "tokens must be a torch.Tensor", TypeError),
        (lambda: masked.hide(X), "tokens must hold token ids of dtype torch.int64"),
    ],
    "models.masked.masked_loss": [
        (lambda: masked.masked_loss(SEES_ALL, X), "batch must have the fields", TypeError),
    ],
    "models.masked.blanks": [
        (lambda: masked.blanks(SEES_ALL, []), "sentence must hold at least one word"),
        (lambda: masked.blanks(SEES_ALL, [99, 4]), "tokens must be from 0"),
        (lambda: masked.blanks(SEES_ALL, "cat"), "sentence must be a list", TypeError),
    ],
    "models.masked.every_word_tried": [
        (lambda: masked.every_word_tried(SEES_ALL, [4]), "model must be causal"),
    ],
    "models.transformers.crossings": [
        (lambda: transformers.crossings(BLIND, 3, ()), "lesson must be a Lesson", TypeError),
        (
            lambda: transformers.crossings(TINY()[0], DIGITS, DIGITS.test[:2], layer=7),
            "layer must",
        ),
    ],
    "models.tasks.write": [
        (lambda: tasks.write(BLIND, DIGITS, []), "at least one pair"),
        (lambda: tasks.write(BLIND, 3, []), "lesson must be a Lesson", TypeError),
    ],
    "models.tasks.looks": [
        (lambda: tasks.looks(BLIND, 3, ()), "lesson must be a Lesson", TypeError),
        (lambda: tasks.looks(BLIND, DIGITS, DIGITS.test[:2]), "this decoder does not attend"),
    ],
    "models.tasks.by_length": [
        (lambda: tasks.by_length(DIGITS.test[:2], [True], (1, 9)), "each of the 2 pairs: it"),
        (lambda: tasks.by_length(DIGITS.test[:1], [True], (9, 1)), "rise: they are [9, 1]"),
    ],
    "models.tasks.check_lesson": [
        (lambda: tasks.check_lesson(DIGITS.train), "it is a tuple", TypeError),
    ],
    "models.results.read": [(lambda: results.read("nothing"), "it is 'nothing'")],
    "models.results.spread": [(lambda: results.spread([]), "there is none")],
    "training.losses.sequence_loss": [
        (lambda: losses.sequence_loss(LOGITS[0], IDS), "logits must have"),
        (lambda: losses.sequence_loss(LOGITS.int(), IDS), FLOATS),
        (lambda: losses.sequence_loss(LOGITS, IDS + 8), "from 0 to 8: 9 is among them"),
        (lambda: losses.sequence_loss(LOGITS, IDS, smoothing=True), "0 to 1: it is True"),
        (
            lambda: losses.sequence_loss(LOGITS, IDS, smoothing=1.5),
            "smoothing must be from 0 to 1: it is 1.5",
        ),
    ],
    "training.losses.teacher_forced": [
        (lambda: losses.teacher_forced(nn.ReLU(), 3), "batch must have the fields", TypeError),
    ],
    "training.losses.check_batch": [
        (lambda: losses.check_batch(IDS), "it is a Tensor", TypeError),
    ],
    "training.metrics.free_running": [
        (lambda: metrics.free_running(BLIND, 3), "batch must have the fields", TypeError),
    ],
    "training.losses.check_logits": [
        (lambda: losses.check_logits(LOGITS[:1], IDS), "(1, 3, 9)"),
    ],
    "training.metrics.perplexity": [
        (lambda: metrics.perplexity(nn.ReLU(), []), "they hold none"),
    ],
    "training.metrics.bleu": [
        (lambda: metrics.bleu([], []), "at least 1: they have 0 and 0"),
        (lambda: metrics.bleu("a", ["a"]), "it is a str", TypeError),
        (lambda: metrics.bleu([["a"]], ["a"]), "must be strings", TypeError),
        (
            lambda: metrics.bleu(["a"], ["a"], tokenize="x"),
            "tokenize must be one of 'none', 'zh', '13a'",
        ),
        (lambda: metrics.bleu(["a"], ["a"], tokenize=None), "'char'"),
    ],
    "training.metrics.exact_match": [
        (lambda: metrics.exact_match(["a"], []), "they have 1 and 0"),
        (lambda: metrics.exact_match(["a"], [[1]]), "'a' meets", TypeError),
        (
            lambda: metrics.exact_match({"a": 1}, {"b": 1}),
            "must be a list of sentences: it is a dict",
            TypeError,
        ),
        (lambda: metrics.exact_match([{1, 2}], [{1, 2}]), "must have an order", TypeError),
    ],
    "training.metrics.argmax_links": [
        (lambda: metrics.argmax_links(X), "must have the shape (n_t, n_s)"),
        (
            lambda: metrics.argmax_links(X[0] * NAN),
            "weights must be numbers of at least 0: nan is among",
        ),
        (
            lambda: metrics.argmax_links(X[0] - 1),
            "weights must be numbers of at least 0: -1.0 is among",
        ),
        (lambda: metrics.argmax_links(X[0, :, :0]), "n_s ≥ 1: their shape is (5, 0)"),
    ],
    "training.metrics.alignment_accuracy": [
        (
            lambda: metrics.alignment_accuracy(X, [{(8, 0)}, set()]),
            "gold must lie inside the weights: sentence 0 has the link (8, 0)",
        ),
        (lambda: metrics.alignment_accuracy(X, [(), ()]), "gold must hold at least one link"),
        (
            lambda: metrics.alignment_accuracy(X * NAN, [{(0, 0)}] * 2),
            "weights must be numbers of at least 0",
        ),
        (
            lambda: metrics.alignment_accuracy(X[:, 0], [{(0, 0)}] * 2),
            "weights must have the shape (n_t, n_s)",
        ),
        (lambda: metrics.alignment_accuracy(X, [{(0, 0)}, {(0.5, 0)}]), "sentence 1 has (0.5, 0)"),
        (
            lambda: metrics.alignment_accuracy(X, [{(0, 0)}] * 2, ["ab", "ab"]),
            "sentence 0 has a string",
            TypeError,
        ),
    ],
    "training.metrics.alignment_error_rate": [
        (lambda: metrics.alignment_error_rate([[]], [[]]), "must hold at least one link"),
        (
            lambda: metrics.alignment_error_rate([[(0, 0)]], []),
            "predicted and sure must have the same number of sentences",
        ),
        (
            lambda: metrics.alignment_error_rate([(0, 0)], [(0, 0)]),
            "predicted must hold links (source, target)",
        ),
        (lambda: metrics.alignment_error_rate([[(0, 0)]], [[(0, -1)]]), "sure must hold links"),
        (
            lambda: metrics.alignment_error_rate([[(0, 0)]], [[(0, 0)]], [[(1, 2, 3)]]),
            "possible must hold links",
        ),
    ],
    "training.schedules.constant": [
        (lambda: constant(-1), f"warmup {WHOLE} 0"),
    ],
    "training.schedules.warmup_cosine": [
        (lambda: warmup_cosine(5, 5), f"steps {WHOLE} 6"),
        (lambda: warmup_cosine(1, 5, final=2.0), "final must be from"),
    ],
    "training.schedules.warmup_inverse_sqrt": [
        (lambda: warmup_inverse_sqrt(0), f"warmup {WHOLE} 1"),
        (lambda: warmup_inverse_sqrt(1, d_model=0), f"d_model {WHOLE} 1"),
    ],
    "training.seeds.seeded": [
        (lambda: seeded(-1).__enter__(), f"seed {WHOLE} 0: it is -1"),
        (lambda: seeded(0.5).__enter__(), f"seed {WHOLE} 0: it is 0.5"),
    ],
}
ROWS = [
    *rows(CALLS),
    *(
        Row("training.loop.train", trained(**changed), words)
        for changed, words in (
            ({"steps": 0}, f"steps {WHOLE} 1: it is 0"),
            ({"lr": True}, "lr must be above 0 and finite: it is True"),
            ({"lr": None}, "lr must be above 0 and finite: it is None"),
            ({"lr": 0.0}, "lr must be above 0 and finite: it is 0.0"),
            ({"clip": float("nan")}, "clip must be above 0 and finite: it is nan"),
            ({"batches": []}, "batches must hold at least one: epoch 0 holds none"),
            ({"batches": iter([X])}, "batches must be a list, or a function"),
            ({"model": nn.ReLU()}, "model must have weights that require a gradient"),
            ({"seed": -1}, f"seed {WHOLE} 0"),
            ({"patience": 2}, "patience must come with validate"),
            ({"validate": len}, "validate and validate_every must be given together"),
            ({"resume": True}, "resume must come with checkpoint"),
            ({"schedule": lambda step: -1.0}, "finite factor of at least 0: it is -1.0"),
            ({"loss": lambda model, batch: model(batch)[0] * torch.inf}, "depends on"),
            (
                {"loss": lambda model, batch: model(batch).sum() * torch.nan},
                "the loss must be finite: at step 1 it is nan",
            ),
        )
    ),
]
