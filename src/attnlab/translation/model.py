"""The two models that the program trains, and their loss on a share of a step."""

import torch
from torch import Tensor, nn

from attnbook.multihead import Attend
from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language.batching import Batch
from attnlab.language.vocabulary import PAD
from attnlab.training.seeds import seeded
from attnlab.translation.loss import smoothed_loss
from attnlab.translation.recipe import Recipe

Translator = Seq2Seq | RNNSeq2Seq


def build(recipe: Recipe, vocabulary: int) -> Translator:
    """Return a new model; one matrix embeds source and target and is the last layer's too.

    Source: Vaswani et al. (2017), section 3.4, and Press and Wolf (2017) for the one matrix.
    """
    with seeded(recipe.seed):
        return (
            _gru(recipe, vocabulary) if recipe.model == "gru" else _transformer(recipe, vocabulary)
        )


def _transformer(recipe: Recipe, vocabulary: int) -> Seq2Seq:
    model = Seq2Seq(
        vocabulary,
        vocabulary,
        ModelConfig(
            d_model=recipe.d_model,
            n_heads=recipe.n_heads,
            n_layers=recipe.n_layers,
            d_ff=recipe.d_ff,
            tied=True,
            norm="pre" if recipe.norm == "pre" else "post",
            dropout=recipe.dropout,
        ),
    )
    model.embed_source.tokens = model.embed_target.tokens
    for part in model.modules():
        if isinstance(part, Attend):
            part.dropout = recipe.attention_dropout
    for stack in (model.encoder, model.decoder):
        for block in stack.blocks:
            block.feed_forward.dropout.p = 0.0  # type: ignore[union-attr]
    return model


def _gru(recipe: Recipe, vocabulary: int) -> RNNSeq2Seq:
    d = recipe.d_model
    score = Additive(d, d, d)
    model = RNNSeq2Seq(vocabulary, vocabulary, d, score=score, dropout=recipe.dropout)
    model.encoder.embedding = model.decoder.embedding
    nn.init.normal_(model.decoder.embedding.weight, std=d**-0.5)
    model.decoder.output.weight = model.decoder.embedding.weight
    return model


class Learner(nn.Module):
    """A model and its loss in one module, so that ``DistributedDataParallel`` sees the whole step.

    Shapes: as a ``Batch``; returns (), the loss summed over the batch's real tokens.
    """

    def __init__(self, model: Translator, smoothing: float) -> None:
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: Batch) -> Tensor:
        """Sum the smoothed loss over the real tokens of the batch."""
        x = self.model.vectors(
            batch.source, batch.target_in, source_lengths=batch.source_lengths
        )  # (b, n_t, d)
        matrix, bias = last_layer(self.model)
        rows, target = x.flatten(0, 1), batch.target_out.flatten()
        return smoothed_loss(rows, matrix, target, bias=bias, smoothing=self.smoothing)


def last_layer(model: Translator) -> tuple[Tensor, Tensor | None]:
    """Return the matrix (V, d) and the bias (V,) that make logits of vectors."""
    if isinstance(model, Seq2Seq):
        return model.embed_target.tokens.weight, None
    return model.decoder.output.weight, model.decoder.output.bias


def parameters(model: nn.Module) -> int:
    """Count the numbers that are learnt, a shared matrix once."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def nothing(device: torch.device) -> Batch:
    """Return a batch of one pair without a target: no loss, and gradients of 0."""
    one = torch.ones(1, 1, dtype=torch.int64, device=device)
    return Batch(one, one[0], one, one * PAD, one[0])
