"""The Transformers of the lectures, a translator and a language model, each trained by one call.

    lesson = translation()
    model, history = transformer(lesson, seed=0)
    french = write(model, lesson, lesson.test)

Lectures 10 and 11 build their parts by hand. From there on, lectures and experiments that need the
same model train it by the same call. ``tasks`` has the pairs, and ``write``.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn

from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from attnlab.language.pairs import Pair
from attnlab.models.recipe import learn
from attnlab.models.tasks import Lesson, check_lesson
from attnlab.training.loop import History
from attnlab.training.losses import check_batch, sequence_loss, teacher_forced_loss
from attnlab.training.metrics import evaluating
from attnlab.training.seeds import seeded


def transformer(
    lesson: Lesson,
    *,
    d_model: int = 128,
    n_heads: int = 4,
    n_layers: int = 2,
    d_ff: int = 256,
    tied: bool = True,
    smoothing: float = 0.0,
    steps: int = 1_500,
    warmup: int = 200,
    lr: float = 2e-3,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
    **options: Any,
) -> tuple[Seq2Seq, History]:
    """Train a ``Seq2Seq`` on ``lesson.train``; return it in eval mode, and its history.

    Adam with gradients clipped to a norm of 1; the rate rises for ``warmup`` steps to ``lr`` and
    falls along half a cosine to 0. ``smoothing`` is the label smoothing of the loss, and
    ``options`` are a block's. The seed decides the weights and the order of the pairs. Models are
    remembered as ``translator``'s are.

    Raises: ValueError as ``Seq2Seq``, ``sequence_loss``, ``warmup_cosine`` and ``train``;
    TypeError where ``lesson`` is none.
    """
    check_lesson(lesson)
    with seeded(seed):
        model = Seq2Seq(
            len(lesson.source),
            len(lesson.target),
            ModelConfig(
                d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff, tied=tied, **options
            ),
        )
    loss = partial(teacher_forced_loss, smoothing=smoothing)
    recipe = partial(learn, steps=steps, warmup=warmup, lr=lr, batch_size=batch_size)
    examples = lesson.examples(lesson.train)
    return model, recipe(model, examples, loss, seed=seed, progress=progress)


def language_model(
    lesson: Lesson,
    *,
    d_model: int = 128,
    n_heads: int = 4,
    n_layers: int = 2,
    d_ff: int = 256,
    steps: int = 600,
    warmup: int = 100,
    lr: float = 3e-3,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
    **options: Any,
) -> tuple[LanguageModel, History]:
    """Train a causal ``LanguageModel`` on the sources of ``lesson.train``, as ``transformer``.

    Raises: ValueError and TypeError as ``transformer``.
    """
    check_lesson(lesson)
    with seeded(seed):
        model = LanguageModel(
            len(lesson.source),
            ModelConfig(
                d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff, tied=True, **options
            ),
        )
    sentences = [lesson.source.encode(pair.source) for pair in lesson.train]
    examples = [(sentence, sentence) for sentence in sentences]
    recipe = partial(learn, steps=steps, warmup=warmup, lr=lr, batch_size=batch_size)
    return model, recipe(model, examples, next_word_loss, seed=seed, progress=progress)


def next_word_loss(model: nn.Module, batch: Any) -> Tensor:
    """Return ``sequence_loss`` of a language model that reads a batch's targets, and no source."""
    check_batch(batch)
    return sequence_loss(model(batch.target_in), batch.target_out)


def crossings(
    model: Seq2Seq, lesson: Lesson, pairs: Sequence[Pair], *, layer: int = -1
) -> list[Tensor]:
    """Return where each head of a decoder's layer looks while it reads the reference translation.

    Shapes: a list of α (h, n_t + 1, n_s), one for each pair; row t is the step that is to write
    target word t, the last row the one that is to write eos.
    Raises: IndexError for a layer that does not exist; TypeError where ``lesson`` is none.
    """
    check_lesson(lesson)
    weights: list[Tensor] = []
    with evaluating(model):
        for batch in lesson.batches(pairs):
            heads = model.weights(
                batch.source, batch.target_in, source_lengths=batch.source_lengths, layer=layer
            )
            sizes = zip(batch.target_lengths.tolist(), batch.source_lengths.tolist(), strict=True)
            weights += [one[:, :n_t, :n_s] for one, (n_t, n_s) in zip(heads, sizes, strict=True)]
    return weights
