"""The loss of a model that writes sequences: the negative log-likelihood of the reference.

A batch has the fields source, source_lengths, target_in, target_out and target_lengths, as
``attnlab.language`` makes them; token 0 is padding and is never scored. ``target_in`` begins with
bos and is what the decoder reads; ``target_out`` is the same moved by one token, and ends with eos.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnlab import _check

PAD = 0


def teacher_forced(model: nn.Module, batch: Any) -> Tensor:
    """Return the logits of a model that is fed the reference: p(y_t | y_<t, x).

    Shapes: returns (b, n_t, vocabulary), where logits[:, t] belong to ``batch.target_out[:, t]``.
    Raises: TypeError for another kind of batch; else as the model.
    """
    check_batch(batch)
    return model(batch.source, batch.target_in, source_lengths=batch.source_lengths)


def sequence_loss(logits: Tensor, target_out: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """Average the negative log-likelihood of the target over its real tokens.

    loss = 1/N Σ [−(1 − ε) log p(y) − ε/V Σ_v log p(v)], summed over the N tokens that are not
    padding (0), with ε = ``smoothing`` and V the size of the vocabulary. Without any real token
    it is NaN.

    Shapes: logits (b, n_t, V), target_out (b, n_t); returns ().
    Raises: ValueError for shapes that do not fit, a target outside the vocabulary or
    ``smoothing`` outside 0 to 1.
    Source: label smoothing is that of Vaswani et al. (2017), section 5.4 (ε = 0.1), after
    Szegedy et al. (2016).
    """
    check_logits(logits, target_out)
    if not (_check.is_number(smoothing) and 0 <= smoothing <= 1):
        raise ValueError(f"smoothing must be from 0 to 1: it is {smoothing!r}")
    return cross_entropy(
        logits.flatten(0, -2), target_out.flatten(), ignore_index=PAD, label_smoothing=smoothing
    )


def teacher_forced_loss(model: nn.Module, batch: Any, *, smoothing: float = 0.0) -> Tensor:
    """Compute ``sequence_loss`` of a model that is fed the reference (``batch.target_in``)."""
    return sequence_loss(teacher_forced(model, batch), batch.target_out, smoothing=smoothing)


def check_logits(logits: Tensor, target_out: Tensor) -> None:
    """Raise ``ValueError`` unless every token of the target has its logits, and one of its own.

    Shapes: logits (b, n_t, vocabulary), target_out (b, n_t).
    """
    _check.kind("logits", logits)
    if logits.shape[:-1] != target_out.shape:
        raise ValueError(
            f"logits must have the shape (*target_out.shape, vocabulary): their shape is "
            f"{tuple(logits.shape)}, that of target_out {tuple(target_out.shape)}"
        )
    _check.integers("target_out", target_out)
    if target_out.device.type != "cpu" or torch.compiler.is_compiling():
        return  # only a CPU answers at once
    vocabulary = logits.shape[-1]
    wrong = target_out[(target_out < 0) | (target_out >= vocabulary)]
    if len(wrong):
        raise ValueError(
            f"target_out must hold tokens from 0 to {vocabulary - 1}: {int(wrong[0])} is among them"
        )


def check_batch(batch: Any) -> None:
    """Raise ``TypeError`` unless ``batch`` has the fields of a batch of sentences."""
    fields = ("source", "source_lengths", "target_in", "target_out")
    if not all(hasattr(batch, name) for name in fields):
        raise TypeError(
            f"batch must have the fields {', '.join(fields)}, as language.batches makes them: "
            f"it is a {type(batch).__name__}"
        )
