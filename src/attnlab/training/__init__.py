"""What every model of the book is trained and measured with.

``loop`` trains, ``resume`` brings a stopped run back, ``losses`` says what is made small,
``schedules`` how the rate rises and falls, ``metrics`` how good the result is, ``seeds`` where
every random number comes from, and ``rounding`` whether another processor would end elsewhere.
"""

from attnlab.training.loop import History, train
from attnlab.training.losses import PAD, sequence_loss, teacher_forced, teacher_forced_loss
from attnlab.training.metrics import (
    alignment_accuracy,
    alignment_error_rate,
    argmax_links,
    bleu,
    evaluating,
    exact_match,
    free_running,
    perplexity,
)
from attnlab.training.rounding import Unsteady, steady
from attnlab.training.schedules import constant, warmup_cosine, warmup_inverse_sqrt
from attnlab.training.seeds import seeded

__all__ = [
    "PAD",
    "History",
    "Unsteady",
    "alignment_accuracy",
    "alignment_error_rate",
    "argmax_links",
    "bleu",
    "constant",
    "evaluating",
    "exact_match",
    "free_running",
    "perplexity",
    "seeded",
    "sequence_loss",
    "steady",
    "teacher_forced",
    "teacher_forced_loss",
    "train",
    "warmup_cosine",
    "warmup_inverse_sqrt",
]
