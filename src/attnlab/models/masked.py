"""One stack of blocks read in two ways: hide a word and ask for it, or ask for the next.

::

    lesson = translation()
    model, history = text_model(lesson, causal=False, seed=0)
    log_p = blanks(model, masked_vocabulary(lesson).encode(["the", "cat", "sleeps"]))

Both kinds have the same parts and sizes. Without the causal mask every place sees every other, so
a word must be hidden before it can be asked for; with it, each place is asked for the next word.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Encoder
from attnlab import _check
from attnlab.language.batching import Batch
from attnlab.language.vocabulary import BOS, EOS, PAD, Vocabulary
from attnlab.models.recipe import learn
from attnlab.models.tasks import Lesson, check_lesson
from attnlab.models.transformers import next_word_loss
from attnlab.training.loop import History
from attnlab.training.losses import check_batch
from attnlab.training.metrics import evaluating
from attnlab.training.seeds import seeded

MASK = 3  # after padding, bos and eos, where a vocabulary names it as its unknown token


class TextModel(nn.Module):
    """Embeddings with learned positions, a stack of blocks, and logits by the embeddings' matrix.

    ``causal`` is the only difference between the two kinds of model.

    Shapes: tokens (b, n), int64, padded with 0; returns logits (b, n, vocabulary).
    Raises: ValueError as ``Embeddings`` and ``Encoder``, and for tokens outside the vocabulary.
    Source: Devlin et al. (2019), section 3; Radford et al. (2018), section 3.1.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        causal: bool,
        d_model: int = 64,
        n_heads: int = 4,
        n_layers: int = 2,
        d_ff: int = 128,
        max_length: int = 64,
    ) -> None:
        super().__init__()
        self.causal = causal
        self.embed = Embeddings(vocabulary, d_model, positions="learned", max_length=max_length)
        self.blocks = Encoder(n_layers, Config(d_model, n_heads, d_ff))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (b, n, vocabulary): of the word here, or, if causal, of the next one."""
        x = self.embed(tokens)  # (b, n, d_model)
        real = (tokens != PAD)[:, None]  # (b, 1, n): nobody looks at padding
        return self.blocks(x, real, causal=self.causal) @ self.embed.tokens.weight.T


def masked_vocabulary(lesson: Lesson) -> Vocabulary:
    """Return the vocabulary of a lesson's sources, with ``<mask>`` as number 3.

    A word that is not in it has that number too.

    Raises: TypeError where ``lesson`` is none.
    """
    check_lesson(lesson)
    return Vocabulary([lesson.source.tokens[EOS + 1 :]], unknown="<mask>")


def text_model(
    lesson: Lesson,
    *,
    causal: bool,
    d_model: int = 64,
    n_heads: int = 4,
    n_layers: int = 2,
    d_ff: int = 128,
    steps: int = 1_200,
    warmup: int = 100,
    lr: float = 3e-3,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
) -> tuple[TextModel, History]:
    """Train a ``TextModel`` on the sources of ``lesson.train``; return it, and its history.

    The loss is ``next_word_loss`` if ``causal``, else ``masked_loss``; the recipe is that of
    ``transformer``, and models are remembered as ``translator``'s are.

    Raises: ValueError as ``TextModel``, ``warmup_cosine`` and ``train``; TypeError where
    ``lesson`` is none.
    """
    vocabulary = masked_vocabulary(lesson)
    with seeded(seed):
        model = TextModel(
            len(vocabulary),
            causal=causal,
            d_model=d_model,
            n_heads=n_heads,
            n_layers=n_layers,
            d_ff=d_ff,
        )
    sentences = [vocabulary.encode(pair.source) for pair in lesson.train]
    history = learn(
        model,
        [(sentence, sentence) for sentence in sentences],
        next_word_loss if causal else masked_loss,
        steps=steps,
        warmup=warmup,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
        progress=progress,
    )
    return model, history


def hide(tokens: Tensor, share: float = 0.15) -> tuple[Tensor, Tensor]:
    """Put ``<mask>`` in the place of words drawn by chance, each with the probability ``share``.

    Padding, bos and eos stay. The numbers are torch's own.

    Shapes: tokens (b, n); returns what is to be read (b, n), and which were hidden (b, n).
    Raises: ValueError for tokens that are not int64; TypeError for anything but a tensor.
    Source: Devlin et al. (2019), section 3.1, task 1, without its swapped and kept words.
    """
    _check.integers("tokens", tokens)
    _check.shapes(tokens=(tokens, "b n"))
    hidden = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens > EOS)
    return tokens.masked_fill(hidden, MASK), hidden


def masked_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Average −log p(x_t | the rest) over the hidden words of a batch's targets.

    Shapes: returns (); it is NaN where chance hid no word at all.
    Raises: TypeError for another kind of batch; else as ``hide`` and the model.
    """
    check_batch(batch)
    words = batch.target_out  # the small cat sleeps <eos>
    read, hidden = hide(words)  # the small <mask> sleeps <eos>
    return cross_entropy(model(read)[hidden], words[hidden])


def blanks(model: TextModel, sentence: list[int]) -> Tensor:
    """Return log p of every word at every place, from what the model may see of the other places.

    A masked model reads the sentence once for each place, with that word hidden; a causal one
    reads it once, and sees the left side alone. Padding, bos, eos and ``<mask>`` are no answers.

    Shapes: n numbers of words, without bos and eos; returns (n, vocabulary).
    Raises: ValueError for an empty sentence, and as the model.
    """
    words = _words(sentence)
    n = len(words)
    with evaluating(model):
        if model.causal:
            logits = model(torch.cat([words.new_tensor([BOS]), words[:-1]])[None])[0]
        else:
            places = torch.arange(n)
            read = torch.cat([words, words.new_tensor([EOS])]).repeat(n, 1)  # (n, n + 1)
            read[places, places] = MASK
            logits = model(read)[places, places]
    logits = logits.index_fill(-1, torch.arange(MASK + 1), -torch.inf)
    return logits.log_softmax(dim=-1)


def every_word_tried(model: TextModel, sentence: list[int]) -> Tensor:
    """Return the same from a causal model that weighs whole sentences, with each word in turn.

    p(w at t | the rest) ∝ p(x_1 … w … x_n): so what follows the blank counts too, at the price of
    reading n · vocabulary sentences.

    Shapes: as ``blanks``.
    Raises: ValueError for a model that is not causal, and as ``blanks``.
    """
    words = _words(sentence)
    wanted = "be causal, for it weighs whole sentences"
    _check.must(model.causal, "model", wanted, but="it is not")
    vocabulary = model.embed.tokens.num_embeddings
    ends = words.new_tensor([BOS]), words.new_tensor([EOS])
    whole = torch.cat([ends[0], words, ends[1]])
    found = torch.full((len(words), vocabulary), -torch.inf, dtype=model.embed.tokens.weight.dtype)
    candidates = torch.arange(MASK + 1, vocabulary)
    with evaluating(model):
        for t in range(len(words)):
            sentences = whole.repeat(len(candidates), 1)
            sentences[:, t + 1] = candidates
            log_p = model(sentences[:, :-1]).log_softmax(dim=-1)
            log_p = log_p.gather(-1, sentences[:, 1:, None])[..., 0]  # (candidates, n + 1)
            found[t, candidates] = log_p.sum(dim=-1)
    return found.log_softmax(dim=-1)


def _words(sentence: list[int]) -> Tensor:
    numbers = _check.whole_numbers("sentence", sentence)
    if not numbers:
        raise ValueError("sentence must hold at least one word: it is empty")
    return torch.tensor(numbers)
