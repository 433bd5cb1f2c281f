"""From token ids to the vectors that the first block reads."""

from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from attnbook import _check
from attnbook.positions import LearnedPositions, Sinusoidal


class Embeddings(nn.Module):
    """Look up each token's vector and add its position's, and its type's where there are types.

    x = dropout(norm(√d_model · E[token] + position + type)). The factor √d_model is the
    Transformer's (``scale=True``); BERT has none of it, but the norm, learned positions and two
    types: ``Embeddings(v, d, positions="learned", n_types=2, norm=True, eps=1e-12, scale=False)``.

    Shapes: tokens (b, n), int64; returns (b, n, d_model).
    Raises: KeyError for other ``positions``.
    Source: Vaswani et al. (2017), section 3.4; Devlin et al. (2019), section 3.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        positions: Literal["sinusoidal", "learned"] | None = "sinusoidal",
        max_length: int = 512,
        n_types: int = 0,
        norm: bool = False,
        eps: float = 1e-5,
        scale: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, d_model)
        # scaled by √d_model, a vector's numbers then have a variance of 1
        nn.init.normal_(self.tokens.weight, std=d_model**-0.5 if scale else 0.02)
        kinds = {"sinusoidal": Sinusoidal, "learned": partial(LearnedPositions, max_length)}
        self.positions = None if positions is None else kinds[positions](d_model)
        self.types = nn.Embedding(n_types, d_model) if n_types else None
        self.norm = nn.LayerNorm(d_model, eps=eps) if norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.factor = d_model**0.5 if scale else 1.0

    def forward(
        self, tokens: Tensor, types: Tensor | None = None, *, offset: int | Tensor = 0
    ) -> Tensor:
        """Return the vectors of tokens (b, n), the first of which stands at ``offset``.

        ``types`` (b, n) are all 0 unless given. An offset may be one for each sentence, (b,).

        Raises: ValueError for ids outside the vocabulary, or types where there are none.
        """
        _check.ids("tokens", tokens, self.tokens.num_embeddings)
        x = self.tokens(tokens) * self.factor
        if self.positions is not None:
            x = self.positions(x, offset)
        if self.types is not None:
            types = torch.zeros_like(tokens) if types is None else types
            _check.shapes(tokens=(tokens, "… n"), types=(types, "… n"))
            _check.ids("types", types, self.types.num_embeddings)
            x = x + self.types(types)
        elif types is not None:
            raise _check.wrong("types", "be None, for there are n_types = 0", types)
        return self.dropout(self.norm(x))
