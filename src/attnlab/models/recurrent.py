"""The recurrent translators of the lectures, trained by one call.

    lesson = translation()
    model, history = translator(lesson, order="bahdanau", seed=0)

Lecture 1 builds every part of this by hand. From there on, lectures and experiments that need the
same model train it by the same call, so that they speak of the same numbers.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

from torch import Tensor

from attnbook.rnn import Order, RNNSeq2Seq
from attnbook.scores import Additive, Bilinear, Score, dot, scaled_dot
from attnlab import _check
from attnlab.models.recipe import learn
from attnlab.models.tasks import Lesson, check_lesson
from attnlab.training.loop import History
from attnlab.training.seeds import seeded

ScoreName = Literal["dot", "scaled dot", "bilinear", "additive", "even"]


def _even(query: Tensor, key: Tensor) -> Tensor:
    """Score all keys alike, e_ij = 0, so that each of n_k is weighed 1/n_k: nothing is compared."""
    return query.new_zeros((*query.shape[:-1], key.shape[-2]))


SCORES: dict[str, Callable[[int], Score]] = {
    "dot": lambda d: dot,
    "scaled dot": lambda d: scaled_dot,
    "bilinear": lambda d: Bilinear(d, d),
    "additive": lambda d: Additive(d, d, d),
    "even": lambda d: _even,
}


def translator(
    lesson: Lesson,
    *,
    order: Order = "bahdanau",
    score: ScoreName = "additive",
    d_model: int = 192,
    steps: int = 1_500,
    lr: float = 3e-3,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
) -> tuple[RNNSeq2Seq, History]:
    """Train an ``RNNSeq2Seq`` on ``lesson.train``; return it in eval mode, and its history.

    Adam with gradients clipped to a norm of 1; the rate rises for 100 steps to ``lr`` and falls
    along half a cosine to 0. The seed decides the weights and the order of the pairs. The score
    "even" learns nothing: each word of the source is weighed alike, in training and in use.

    Where the environment's ``ATTNBOOK_CACHE`` names a folder, a model that was trained there
    before in the same way, on the same kind of machine, is read from it.

    Raises: ValueError for an unknown score, and as ``RNNSeq2Seq`` and ``train``; TypeError where
    ``lesson`` is none.
    """
    check_lesson(lesson)
    _check.one_of("score", score, list(SCORES))
    _check.whole_number("steps", steps, at_least=1)
    sizes = len(lesson.source), len(lesson.target), d_model
    with seeded(seed):
        kind = SCORES[score](d_model) if order != "none" else scaled_dot
        model = RNNSeq2Seq(*sizes, order=order, score=kind)
    recipe = partial(learn, steps=steps, warmup=min(100, steps - 1), lr=lr, batch_size=batch_size)
    examples = lesson.examples(lesson.train)
    return model, recipe(model, examples, seed=seed, progress=progress)
