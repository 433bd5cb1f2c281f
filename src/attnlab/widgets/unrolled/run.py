"""A small recurrent model in a page: its weights as the page has them, and one sentence run."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from attnbook.rnn import RNNSeq2Seq

__all__ = ["EOS", "TENSORS", "Run", "run", "with_weights"]

BOS, EOS = 1, 2
_GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
TENSORS = (  # the names in RNNSeq2Seq(order="none"), in the order in which the page has them
    "encoder.embedding.weight",
    *(f"encoder.gru.{name}" for name in _GRU),
    *(f"encoder.gru.{name}_reverse" for name in _GRU),
    *("encoder.summary.weight", "encoder.summary.bias"),
    "decoder.embedding.weight",
    *(f"decoder.gru.{name}" for name in _GRU),
    *("decoder.output.weight", "decoder.output.bias"),
)


class Run(NamedTuple):
    """What a model does with one sentence of n tokens, written in m steps.

    forward (n, d/2) and backward (n, d/2) hold →h_j and ←h_j, states (m + 1, d) s_0 to s_m,
    probabilities (m, V) those of each next token; reads, chosen and written the m ids that each
    step reads, finds most probable, and hands on.
    """

    forward: np.ndarray
    backward: np.ndarray
    states: np.ndarray
    probabilities: np.ndarray
    reads: list[int]
    chosen: list[int]
    written: list[int]


def with_weights(model: RNNSeq2Seq, tensors: Sequence[np.ndarray]) -> RNNSeq2Seq:
    """Return a copy of the model, in double precision, that has these tensors."""
    mine = copy.deepcopy(model).cpu().double().eval()
    mine.load_state_dict(dict(zip(TENSORS, map(torch.from_numpy, tensors), strict=True)))
    return mine


@torch.no_grad()
def run(model: RNNSeq2Seq, source: Sequence[int], forced: Mapping[int, int], longest: int) -> Run:
    """Read ``source`` and write greedily until eos or ``longest`` tokens.

    ``forced`` maps a step t = 1, 2, … to the token that stands in the place of the one it chose.
    """
    lengths = torch.tensor([len(source)])
    encoded = model.encoder(torch.tensor([list(source)]), lengths)
    forward, backward = encoded.annotations[0].chunk(2, dim=-1)  # (n, d/2) each
    state = model.decoder.start(encoded, lengths)
    states, rows, reads, chosen, written = [state.hidden[0]], [], [BOS], [], []
    while len(written) < longest and written[-1:] != [EOS]:
        logits, state = model.step(torch.tensor(reads[-1:]), state)
        states.append(state.hidden[0])
        rows.append(logits[0].softmax(dim=-1))
        chosen.append(int(rows[-1].argmax()))
        written.append(forced.get(len(written) + 1, chosen[-1]))
        reads.append(written[-1])
    readers = forward.numpy(), backward.numpy()
    writer = torch.stack(states).numpy(), torch.stack(rows).numpy()
    return Run(*readers, *writer, reads[:-1], chosen, written)
