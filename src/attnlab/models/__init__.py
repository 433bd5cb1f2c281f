"""The models that the lectures train, each by one call, so that two lectures speak of the same.

``tasks`` holds what they learn, ``recurrent`` and ``transformers`` the translators and the language
model, ``masked`` a masked model beside a causal one, ``classifier`` a classifier of 2016,
``recipe`` how all of them are trained and remembered; ``results`` what training over several seeds
gave; ``recorded`` what SmolLM2 answered.
"""

from attnlab.models.classifier import BiLSTMClassifier, classification_loss, labelled_batches
from attnlab.models.recurrent import translator
from attnlab.models.tasks import Lesson, by_length, looks, reversal, translation, write
from attnlab.models.transformers import crossings, language_model, next_word_loss, transformer

__all__ = [
    "BiLSTMClassifier",
    "Lesson",
    "by_length",
    "classification_loss",
    "crossings",
    "labelled_batches",
    "language_model",
    "looks",
    "next_word_loss",
    "reversal",
    "transformer",
    "translation",
    "translator",
    "write",
]
