"""The checks of lecture 11, "The transformer"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.exercises import (
    Blank,
    Mistake,
    apart,
    called,
    drawn,
    exercise,
    named,
    shuffled,
    tensor_of,
    uniform,
    whole,
)
from attnlab.language.batching import Batch
from attnlab.training.seeds import seeded

CASES = ((), (0,), (1,), (0, 1))  # the blocks that are silenced


@exercise(2)
def packed_masks(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(source_pairs, target_pairs)` must return the masks of pairs packed into one row."""
    # three pairs, and a pair for each token: of six on one side, seven on the other
    source, target = (
        torch.cat([torch.arange(3), whole(0, 2, n - 3)]).sort().values for n in (6, 7)
    )
    encoder, decoder, cross = _three(called(function, source, target), 6, 7)
    right = _packed(source, target)
    _check_source_mask("encoder's", encoder, right[0])
    _check_source_mask("cross-attention's", cross, right[2])
    _check_own_past(decoder, right[1], target[:, None] == target)
    numbers = shuffled(50)[:5]
    source, target = (numbers.repeat_interleave(whole(2, 4, 5)) for _ in range(2))
    again = _three(called(function, source, target), len(source), len(target))
    if not all(torch.equal(a, b) for a, b in zip(again, _packed(source, target), strict=True)):
        raise Mistake("Right for this row, wrong for another: use source_pairs and target_pairs.")
    return "Each pair is computed as if it were alone, but for its positions."


def _three(answer: Any, n_s: int, n_t: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the encoder's, the decoder's and the cross-attention's mask of an answer."""
    if not isinstance(answer, tuple | list) or len(answer) != 3:
        raise Mistake("Three masks were wanted: `return encoder, decoder, cross`.")
    if any(part is None or part is ... for part in answer):
        raise Blank
    if n_s != n_t and isinstance(answer[2], Tensor) and tuple(answer[2].shape) == (n_s, n_t):
        raise Mistake("The cross-attention's mask has its sides turned: a row for each query, n_t.")
    return (
        _mask("encoder's", answer[0], (n_s, n_s)),
        _mask("decoder's", answer[1], (n_t, n_t)),
        _mask("cross-attention's", answer[2], (n_t, n_s)),
    )


def _check_source_mask(name: str, mask: Tensor, wanted: Tensor) -> None:
    """Name what is wrong with a mask over the source."""
    named(
        mask,
        wanted,
        (~wanted, f"The {name} mask is turned over: True means may attend."),
        (torch.ones_like(wanted), f"The {name} mask hides nothing: pairs mix."),
        (
            wanted & torch.ones_like(wanted).tril(),
            f"The {name} mask is causal: the whole source is there from the beginning.",
        ),
        otherwise=f"The {name} mask is wrong: True where both tokens are of one pair.",
    )


def _check_own_past(mask: Tensor, wanted: Tensor, same: Tensor) -> None:
    """Name what is wrong with the decoder's own mask; ``same`` is True within a pair."""
    past = torch.ones_like(wanted).tril()
    named(
        mask,
        wanted,
        (~wanted, "The decoder's mask is turned over: True means may attend."),
        (past, "The decoder's mask is causal, but a pair sees the pairs before it."),
        (same, "The decoder's mask shows a pair its own future."),
        (wanted.T, "The decoder's mask looks forward: keep j ≤ i."),
        (wanted & past.tril(-1), "The decoder's mask hides a token from itself: keep j ≤ i."),
        otherwise="The decoder's mask is wrong: the same pair, and not later.",
    )


def _packed(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    same = (target[:, None] == target).tril()
    return source[:, None] == source, same, target[:, None] == source


def _mask(name: str, mask: Any, shape: tuple[int, ...]) -> Tensor:
    if not isinstance(mask, Tensor):
        raise Mistake(f"The {name} mask must be a tensor: this is {type(mask).__name__}.")
    if mask.dtype != torch.bool:
        raise Mistake(f"The {name} mask must be boolean: its dtype is {mask.dtype}.")
    if tuple(mask.shape) != shape:
        raise Mistake(f"The {name} mask has the shape {tuple(mask.shape)}, wanted is {shape}.")
    return mask


@exercise(3)
def silenced(function: Callable[[Seq2Seq, Batch], Any]) -> str:
    """`function(model, batch)` must return four shares of words right: none, 0, 1, both silent.

    The model is the check's own, untrained: what it says in the four cases differs, and the batch
    asks for one in some rows and for another in others.
    """
    while True:
        model, batch = _model_and_batch()
        wanted = _shares(model, batch)
        wrong = (
            wanted[[0, 2, 1, 3]],
            wanted.flip(0),
            1 - wanted,
            100 * wanted,
            wanted[:1].expand(4),
            _shares(model, batch, padding=True),
            _shares(model, batch, part="attention"),
            torch.zeros(4),
        )
        if apart(wanted, *wrong):
            break
    before = deepcopy(model)
    found = tensor_of(called(function, model, batch), (4,))
    for name, weight in model.state_dict().items():
        if not torch.equal(weight, before.state_dict()[name]):
            raise Mistake("The model's weights are changed afterwards: work on a copy.")
    if not torch.equal(_best(model, batch), _best(before, batch)):
        raise Mistake("The model says something else afterwards: take the hooks away again.")
    words = (
        "Blocks 0 and 1 changed places.",
        "The order is reversed: nothing silenced comes first.",
        "These are the shares of words that are wrong.",
        "Return shares from 0 to 1, not per cent.",
        "Nothing was silenced: all four shares are the same.",
        "Padding is counted: leave those rows out.",
        "You silenced self-attention: `block.cross`.",
        "No word is right in any case: compare the likeliest word with target_out.",
    )
    otherwise = "The shares are wrong. What cross-attention adds must be 0, and no more."
    named(found, wanted, *zip(wrong, words, strict=True), otherwise=otherwise)
    return "Now call it with the trained model: is one block enough?"


def _best(model: Seq2Seq, batch: Batch) -> Tensor:
    with torch.no_grad():
        sides = batch.source, batch.target_in
        return model(*sides, source_lengths=batch.source_lengths).argmax(-1)


def _silent(model: Seq2Seq, blocks: Sequence[int], part: str = "cross") -> Seq2Seq:
    """Return a copy in which a part of these decoder blocks adds nothing."""

    def nothing(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        return torch.zeros_like(output)

    copy = deepcopy(model)
    for number in blocks:
        getattr(copy.decoder.blocks[number], part).register_forward_hook(nothing)
    return copy


def _shares(model: Seq2Seq, batch: Batch, *, part: str = "cross", padding: bool = False) -> Tensor:
    real = torch.ones_like(batch.target_out, dtype=torch.bool) if padding else batch.target_out != 0
    found: list[Tensor] = []
    for blocks in CASES:
        right = _best(_silent(model, blocks, part), batch) == batch.target_out
        found.append(right[real].double().mean())
    return torch.stack(found)


def _model_and_batch() -> tuple[Seq2Seq, Batch]:
    with seeded(int(whole(0, 1_000_000))):
        model = (
            Seq2Seq(12, 40, ModelConfig(d_model=16, n_heads=2, n_layers=2, d_ff=16)).double().eval()
        )
        source, target = torch.randint(3, 12, (6, 5)), torch.randint(3, 40, (6, 9))
    weights = model.state_dict()  # the model's own tensors
    for number in (0, 1):
        weights[f"decoder.blocks.{number}.cross.out.weight"] *= 8  # so that silence is heard
    weights["output.weight"][0] = 0  # padding is never likeliest
    lengths = torch.tensor([9, 9, 8, 8, 7, 6])
    wanted = torch.zeros_like(target)
    batch = Batch(source, torch.full((6,), 5), target, wanted, lengths)
    for blocks, places in zip(CASES, ((0, 4, 5, 8), (1, 6), (2, 7), (3,)), strict=True):
        wanted[:, places] = _best(_silent(model, blocks), batch)[:, places]
    wanted[torch.arange(9) >= lengths[:, None]] = 0
    return model, batch


@exercise(4)
def smoothed_loss(function: Callable[[Tensor, Tensor, float], Any]) -> str:
    """`function(logits, target, epsilon)` must smooth over the other words but padding, word 0."""
    logits, target = drawn(4, 6), torch.cat([torch.zeros(1).long(), whole(1, 5, 3)])[shuffled(4)]
    eps = float(uniform(0.1, 0.4))
    found = tensor_of(called(function, logits, target, eps), ())
    log_p = logits.log_softmax(-1)
    rows = target != 0
    right = log_p.gather(1, target[:, None])[:, 0]
    every, pad = log_p.sum(-1), log_p[:, 0]

    def mean(loss: Tensor) -> Tensor:
        return loss[rows].mean()

    each = -((1 - eps) * right + eps * (every - right - pad) / 4)
    wanted = mean(each)
    named(
        found,
        wanted,
        (
            cross_entropy(logits, target, label_smoothing=eps),
            "That is PyTorch's: it smooths over all N words, and counts padding.",
        ),
        (
            cross_entropy(logits, target, label_smoothing=eps, ignore_index=0),
            "That is PyTorch's: it gives a part of ε to the right word and to the padding.",
        ),
        (mean(-right), "There is no smoothing in it: epsilon changes nothing."),
        (-wanted, "The sign is turned: a loss is −Σ q log p."),
        (each[rows].sum(), "This is the sum over the rows: the mean is wanted."),
        (each.mean(), "Rows whose right word is padding are counted: leave them out."),
        (each[rows].sum() / len(rows), "Divide by the number of rows that count, not of all."),
        (
            mean(-((1 - eps) * right + eps * (every - right) / 5)),
            "The padding gets a share: ε goes to the N − 2 others.",
        ),
        (
            mean(-((1 - eps) * right + eps * (every - pad) / 5)),
            "The right word gets a part of ε as well: it gets 1 − ε and no more.",
        ),
        (
            mean(-((1 - eps) * right + eps * (every - right - pad) / 6)),
            "ε is divided by N, but only N − 2 words share it: the target sums to less than 1.",
        ),
        (
            mean(-((1 - eps) * right + eps * (every - right - pad))),
            "Each other word gets ε: it is to be shared among the N − 2.",
        ),
        (
            mean(-(eps * right + (1 - eps) * (every - right - pad) / 4)),
            "ε and 1 − ε changed places.",
        ),
        (mean(-(1 - eps) * right), "What is taken from the right word goes to nobody."),
        otherwise="The number is wrong. Begin with one row, and write its target down.",
    )
    return "A model of N words reaches its least loss where it is as sure as 1 − ε."
