"""The translators that training.py compares: the book's, and PyTorch's with the same weights."""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor, nn

from attnbook.embeddings import Embeddings
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import Seq2Seq


class TorchSeq2Seq(nn.Module):
    """A translator around ``nn.Transformer``, as PyTorch's own tutorial builds one.

    Embeddings and positions are the book's, so that only the Transformer differs.
    """

    def __init__(
        self, vocabularies: tuple[int, int], d: int, heads: int, layers: int, d_ff: int, drop: float
    ) -> None:
        super().__init__()
        self.source = Embeddings(vocabularies[0], d, dropout=drop)
        self.target = Embeddings(vocabularies[1], d, dropout=drop)
        with warnings.catch_warnings():  # it has no nested tensors for pre-norm, and says so
            warnings.simplefilter("ignore", UserWarning)
            self.transformer = nn.Transformer(
                d, heads, layers, layers, d_ff, drop, batch_first=True, norm_first=True
            )
        self.output = nn.Linear(d, vocabularies[1], bias=False)

    def forward(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return logits (b, n_t, vocabulary)."""
        padded = ~padding_mask(source_lengths, source.shape[1])[:, 0]  # True = masked
        n = target.shape[1]
        x = self.transformer(
            self.source(source),
            self.target(target),
            tgt_mask=torch.full((n, n), -math.inf).triu(1),
            src_key_padding_mask=padded,
            memory_key_padding_mask=padded,
            tgt_is_causal=True,
        )
        return self.output(x)


@torch.no_grad()
def copy_weights(mine: Seq2Seq, theirs: TorchSeq2Seq) -> None:
    """Give the book's model the weights of PyTorch's."""
    mine.embed_source.load_state_dict(theirs.source.state_dict())
    mine.embed_target.load_state_dict(theirs.target.state_dict())
    mine.output.load_state_dict(theirs.output.state_dict())
    for stack, other in (
        (mine.encoder, theirs.transformer.encoder),
        (mine.decoder, theirs.transformer.decoder),
    ):
        stack.norm.load_state_dict(other.norm.state_dict())
        for block, layer in zip(stack.blocks, other.layers, strict=True):
            _copy_block(block, layer)


def _copy_block(block: nn.Module, layer: nn.Module) -> None:
    pairs = [
        (block.attention, MultiHeadAttention.from_torch(layer.self_attn)),
        (block.feed_forward.widen, layer.linear1),
        (block.feed_forward.narrow, layer.linear2),
        *zip(block.norms, (layer.norm1, layer.norm2, getattr(layer, "norm3", None)), strict=False),
    ]
    if hasattr(layer, "multihead_attn"):
        pairs.append((block.cross, MultiHeadAttention.from_torch(layer.multihead_attn)))
    for mine, theirs in pairs:
        mine.load_state_dict(theirs.state_dict())
