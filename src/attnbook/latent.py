"""Multi-head latent attention: one short vector a token, from which every head's keys come."""

import torch
from torch import Tensor, nn

from attnbook import _check
from attnbook.cache import KVCache
from attnbook.multihead import Attend, of_all_heads
from attnbook.positions import Rotary


class LatentAttention(nn.Module):
    """Attend with ``n_heads`` heads whose keys and values are made from one latent vector a token.

    All that the heads share is c = RMSNorm(x W_down) and one key k^R, which is turned. Head i has
    the key [c W_uk,i; k^R], the value c W_uv,i and the query [q^C; q^R], of which q^R is turned. A
    cache holds c and k^R: d_latent + d_rope numbers a token, however many heads there are.

    There are two ways to the same output. *Unabsorbed*, each token's keys and values are written
    out, which is cheap where there are many queries. *Absorbed*, q^C · (c W_uk,i) is computed as
    (q^C W_uk,iᵀ) · c, so that all heads share the keys [c; k^R] and the values c, and W_uv,i comes
    after the weighted sum: nothing has to be written out for the tokens in the cache. k^R is apart
    because a turn between W_uk,i and c would be another matrix for each distance.

    ``d`` and ``d_v`` are d_model / n_heads unless given.

    Raises: ValueError for a ``d_rope`` that is not even and, unless both d and d_v are given, an
    ``n_heads`` that does not divide ``d_model``.
    Source: DeepSeek-AI (2024), section 2.1; queries are not compressed here.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_latent: int,
        d_rope: int,
        d: int | None = None,
        d_v: int | None = None,
        base: float = 10000.0,
        eps: float = 1e-6,
    ) -> None:
        super().__init__()
        if d is None or d_v is None:
            _check.multiple("d_model", d_model, "n_heads", n_heads)
        d, d_v = (d_model // n_heads if one is None else one for one in (d, d_v))
        self.d_model, self.n_heads, self.d_latent = d_model, n_heads, d_latent
        self.d, self.d_v = d, d_v
        self.rope = Rotary(d_rope, base)
        self.query = nn.Linear(d_model, n_heads * (d + d_rope), bias=False)
        self.down = nn.Linear(d_model, d_latent + d_rope, bias=False)
        self.norm = nn.RMSNorm(d_latent, eps=eps)
        self.up = nn.Linear(d_latent, n_heads * (d + d_v), bias=False)
        self.out = nn.Linear(n_heads * d_v, d_model, bias=False)
        self.attend = Attend()
        for linear in (self.query, self.down, self.up, self.out):
            nn.init.xavier_uniform_(linear.weight)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        cache: KVCache | None = None,
        absorb: bool | None = None,
    ) -> Tensor:
        """Let x attend to itself, behind what is in the cache.

        ``absorb`` says which way; unless told, it is the absorbed one where the cache holds rows.

        Shapes: x (b, n_q, d_model), mask as in ``MultiHeadAttention``; returns the shape of x.
        Raises: ValueError for other shapes; TypeError for anything but tensors.
        """
        _check.fit(self.query.weight, x=(x, f"b n {self.d_model}"))
        offset, mask = 0 if cache is None else cache.length, of_all_heads(mask)
        (b, n, _), h = x.shape, self.n_heads
        _check.parts(mask, None, (b, h, n, offset + n), x.dtype)
        query = self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        content, turned = query.split((self.d, self.rope.d), dim=-1)  # (b, h, n_q, d), and d_rope
        latent, key = self.down(x)[:, None].split((self.d_latent, self.rope.d), dim=-1)
        # (b, 1, n_k, d_latent + d_rope), what is kept of each token
        kept = torch.cat((self.norm(latent), self.rope(key, offset)), dim=-1)
        if cache is not None:
            mask, _, causal = cache.visible(kept, mask, None, causal)
            kept, _ = cache.append(kept, kept[..., :0])  # the values are in the keys
        parts = content, self.rope(turned, offset), kept
        absorb = offset > 0 if absorb is None else absorb
        way = self._absorbed if absorb else self._unabsorbed
        return self.out(way(*parts, mask, causal).transpose(1, 2).flatten(2))

    def _unabsorbed(
        self, content: Tensor, turned: Tensor, kept: Tensor, mask: Tensor | None, causal: bool
    ) -> Tensor:
        latent, key = kept.split((self.d_latent, self.rope.d), dim=-1)
        both = self.up(latent[:, 0]).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        own, value = both.split((self.d, self.d_v), dim=-1)  # (b, h, n_k, d), and d_v
        key = torch.cat((own, key.expand(-1, self.n_heads, -1, -1)), dim=-1)
        return self.attend(torch.cat((content, turned), dim=-1), key, value, mask, None, causal)

    def _absorbed(
        self, content: Tensor, turned: Tensor, kept: Tensor, mask: Tensor | None, causal: bool
    ) -> Tensor:
        up = self.up.weight.unflatten(0, (self.n_heads, -1))  # (h, d + d_v, d_latent)
        up_key, up_value = up.split((self.d, self.d_v), dim=1)
        query = torch.cat((content @ up_key, turned), dim=-1)  # (b, h, n_q, d_latent + d_rope)
        # attention divides by √(d_latent + d_rope), the size of these keys; √(d + d_rope) is right
        query = query * (query.shape[-1] / (self.d + self.rope.d)) ** 0.5
        value = kept[..., : self.d_latent]
        output = self.attend(query, kept, value, mask, None, causal)  # (b, h, n_q, d_latent)
        return output @ up_value.mT
