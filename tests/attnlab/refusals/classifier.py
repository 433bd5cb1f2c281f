"""The classifier, its batches and its loss."""

import torch

from attnlab.models.classifier import (
    BiLSTMClassifier,
    Labelled,
    classification_loss,
    labelled_batches,
)
from tests.attnlab.refusals.rows import IDS, LENGTHS, NAN, WHOLE, Calls, rows, zeros


def small() -> BiLSTMClassifier:
    return BiLSTMClassifier(9, d_model=2, d_hidden=2).eval()


CALLS: Calls = {
    "models.classifier.BiLSTMClassifier": [
        (lambda: BiLSTMClassifier(0), f"vocabulary {WHOLE} 1: it is 0"),
        (lambda: BiLSTMClassifier(9, 1), f"n_classes {WHOLE} 2: it is 1"),
        (lambda: BiLSTMClassifier(9, True), f"n_classes {WHOLE} 2: it is True"),
        (lambda: BiLSTMClassifier(9, d_model=0), f"d_model {WHOLE} 1"),
        (lambda: BiLSTMClassifier(9, d_hidden=2.5), f"d_hidden {WHOLE} 1: it is 2.5"),
        (lambda: BiLSTMClassifier(9, dropout=1.0), "dropout must be at least 0 and below 1"),
        (lambda: BiLSTMClassifier(9, dropout=NAN), "dropout must be at least 0 and below 1"),
        (lambda: small()([[1]], lengths=LENGTHS), "tokens must be a torch.Tensor", TypeError),
        (lambda: small()(IDS[0], lengths=LENGTHS), "tokens must have the shape (b, n)"),
        (lambda: small()(IDS.float(), lengths=LENGTHS), "tokens must hold token ids of dtype"),
        (lambda: small()(IDS + 8, lengths=LENGTHS), "tokens must be from 0 to 8: 9 is among them"),
        (lambda: small()(IDS[:, :0], lengths=LENGTHS), "at least one token"),
        (lambda: small()(IDS, lengths=[3, 2]), "lengths must be a torch.Tensor", TypeError),
        (lambda: small()(IDS, lengths=LENGTHS[:1]), "lengths must be int64 of the shape (b,)"),
        (lambda: small()(IDS, lengths=LENGTHS + 1), "lengths must be from 1 to 3"),
        (lambda: small().weights(IDS, lengths=LENGTHS - 2), "lengths must be from 1 to 3"),
        (lambda: small().weights(IDS + 8, lengths=LENGTHS), "9 is among them"),
    ],
    "models.classifier.labelled_batches": [
        (lambda: labelled_batches([], 2), "the corpus is empty"),
        (lambda: labelled_batches([([3], 0)], 0), f"batch_size {WHOLE} 1: it is 0"),
        (lambda: labelled_batches([([3], 0)], 1, seed=-1), f"seed {WHOLE} 0"),
        (lambda: labelled_batches([([3], 0), ([], 1)], 1), "that of pair 1 is empty"),
        (lambda: labelled_batches([([0], 1)], 1), "for 0 is padding"),
        (lambda: labelled_batches([("ab", 1)], 1), "a list of whole numbers", TypeError),
        (lambda: labelled_batches([([3], -1)], 1), f"the label of example 0 {WHOLE} 0: it is -1"),
        (lambda: labelled_batches([([3], True)], 1), "it is True"),
        (lambda: labelled_batches([([3], "positive")], 1), "it is 'positive'"),
    ],
    "models.classifier.classification_loss": [
        (
            lambda: classification_loss(small(), Labelled(IDS, LENGTHS, torch.tensor([0, 2]))),
            "labels must be from 0 to 1: 2 is among them",
        ),
        (
            lambda: classification_loss(small(), Labelled(IDS, LENGTHS, torch.tensor([0, -1]))),
            "labels must be from 0 to 1: -1 is among them",
        ),
        (
            lambda: classification_loss(small(), Labelled(IDS, LENGTHS, torch.tensor([0]))),
            "labels must be int64 of the shape (b,) = (2,)",
        ),
        (
            lambda: classification_loss(small(), Labelled(IDS, LENGTHS, zeros(2))),
            "labels must be int64 of the shape (b,) = (2,): its dtype is torch.float32",
        ),
    ],
}
ROWS = rows(CALLS)
