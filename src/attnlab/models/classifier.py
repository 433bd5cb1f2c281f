"""A sentence classifier of 2016: a bidirectional LSTM, and attention that sums up its states.

There is no decoder and so no query that changes: one learned vector asks every sentence the same
question, and the answer is all that the classes are decided by.

Sizes: b sentences of at most n words, d numbers a state. Batches are padded on the right with 0;
padding cannot change anything.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnbook.attention import masked_softmax
from attnbook.masks import padding_mask
from attnlab import _check
from attnlab.language.batching import batches


class Labelled(NamedTuple):
    """Some b sentences and their classes: tokens (b, n), lengths (b,), labels (b,), all int64."""

    tokens: Tensor
    lengths: Tensor
    labels: Tensor


class BiLSTMClassifier(nn.Module):
    """Read a sentence in both directions, weigh its words, decide on a class.

    With →h_t and ←h_t the states of two LSTMs at word t, and w a learned vector:

        h_t = →h_t + ←h_t,   e_t = wᵀ tanh(h_t),   α = softmax(e),   r = Σ_t α_t h_t

    and logits = W tanh(r) + b. The directions are added, not laid end to end as in ``RNNEncoder``,
    and dropout stands after the embeddings, after the LSTM and before W: both as in the paper.

    Shapes: tokens (b, n) and lengths (b,) in int64, lengths from 1 to n; logits (b, n_classes).
    Raises: ValueError for sizes below 1, fewer than 2 classes, a dropout outside [0, 1), tokens
    outside the vocabulary, and lengths that are not from 1 to n; TypeError for anything but
    tensors.
    Source: Zhou et al. (2016), section 3.
    """

    def __init__(
        self,
        vocabulary: int,
        n_classes: int = 2,
        *,
        d_model: int = 64,
        d_hidden: int = 64,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        _check.whole_number("vocabulary", vocabulary, at_least=1)
        _check.whole_number("n_classes", n_classes, at_least=2)
        _check.whole_number("d_model", d_model, at_least=1)
        _check.whole_number("d_hidden", d_hidden, at_least=1)
        _check.probability("dropout", dropout)
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(d_model, d_hidden, batch_first=True, bidirectional=True)
        self.score = nn.Linear(d_hidden, 1, bias=False)  # w: a bias would cancel in the softmax
        self.output = nn.Linear(d_hidden, n_classes)

    def forward(self, tokens: Tensor, *, lengths: Tensor) -> Tensor:
        """Return the logits (b, n_classes)."""
        states = self._read(tokens, lengths)
        weights = self._weigh(states, lengths)  # (b, 1, n)
        summary = (weights @ states)[:, 0]  # (b, d)
        return self.output(self.dropout(torch.tanh(summary)))

    def weights(self, tokens: Tensor, *, lengths: Tensor) -> Tensor:
        """Return α (b, n): each row sums to 1, padding has 0."""
        return self._weigh(self._read(tokens, lengths), lengths)[:, 0]

    def _read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return h (b, n, d), 0 on padding."""
        for name, numbers in (("tokens", tokens), ("lengths", lengths)):
            _check.integers(name, numbers)
        _check.shapes(tokens=(tokens, "b n"), lengths=(lengths, "b"))
        _check.ids("tokens", tokens, self.embedding.num_embeddings)
        _check.ids("lengths", lengths.cpu(), tokens.shape[1] + 1)
        embedded = self.dropout(self.embedding(tokens))  # (b, n, d_model)
        # packed, so that ←h begins at a sentence's own end, not in its padding
        packed = pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        both, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=tokens.shape[1]
        )
        forward, backward = both.chunk(2, dim=-1)
        return self.dropout(forward + backward)

    def _weigh(self, states: Tensor, lengths: Tensor) -> Tensor:
        energies = self.score(torch.tanh(states)).transpose(1, 2)  # (b, 1, n)
        return masked_softmax(energies, padding_mask(lengths, states.shape[1]))


def labelled_batches(
    examples: Sequence[tuple[Sequence[int], int]], batch_size: int, *, seed: int | None = None
) -> list[Labelled]:
    """Cut pairs (numbers of the words, class from 0) into batches, as ``corpus.batches`` does.

    Raises: as ``corpus.batches``; ValueError for a label that is no whole number of at least 0.
    """
    for place, (_, label) in enumerate(examples):
        _check.whole_number(f"the label of example {place}", label)
    # a class is a target of one word, counted from 1, for 0 is padding
    pairs = [(words, [label + 1]) for words, label in examples]
    cut = batches(pairs, batch_size, seed=seed)
    return [Labelled(one.source, one.source_lengths, one.target_out[:, 0] - 1) for one in cut]


def classification_loss(model: nn.Module, batch: Labelled) -> Tensor:
    """Average −log p(label) over a batch: the loss to give to ``training.train``.

    Shapes: returns ().
    Raises: ValueError for labels that are not int64 of the shape (b,), or that the model has no
    class for; else as the model.
    """
    logits = model(batch.tokens, lengths=batch.lengths)  # (b, n_classes)
    _check_labels(batch.labels, *logits.shape)
    return cross_entropy(logits, batch.labels)


def _check_labels(labels: Tensor, b: int, n_classes: int) -> None:
    if labels.dtype != torch.int64 or tuple(labels.shape) != (b,):
        raise ValueError(
            f"labels must be int64 of the shape (b,) = ({b},): its dtype is {labels.dtype}, "
            f"its shape {tuple(labels.shape)}"
        )
    wrong = labels[(labels < 0) | (labels >= n_classes)]
    if len(wrong):
        raise ValueError(f"labels must be from 0 to {n_classes - 1}: {int(wrong[0])} is among them")
