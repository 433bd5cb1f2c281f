"""Look into a running model: every attention layer's queries and keys, weights when asked."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.module_tracker import ModuleTracker

from attnbook import _check, _core
from attnbook.attention import Chosen, attention_weights
from attnbook.cache import KVCache
from attnbook.multihead import Attend, repeat_heads


@dataclass(frozen=True)
class Recorded:
    """One call of one layer: its queries and keys, from which its weights can be computed.

    Shapes: query (b, h, n_q, d), key (b, h_kv, n_k, d), mask and bias as in ``attention``.
    """

    query: Tensor
    key: Tensor
    mask: Tensor | None
    bias: Tensor | None
    causal: bool

    def weights(self, *, heads: Chosen | None = None, rows: Chosen | None = None) -> Tensor:
        """Compute the weights (b, h, n_q, n_k) of the chosen heads and rows, before dropout.

        Raises: IndexError for heads or rows that do not exist.
        """
        key, mask = repeat_heads(self.key, self.query.shape[1]), self.mask
        mask = _core.with_causal(mask, self.query, key) if self.causal else mask
        return attention_weights(self.query, key, mask, bias=self.bias, heads=heads, rows=rows)


@dataclass
class Seen:
    """What ``record_attention`` has seen: for each layer's name, its calls in order."""

    calls: dict[str, list[Recorded]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the layers that were called, in the order of their first calls."""
        return list(self.calls)

    def __getitem__(self, name: str) -> list[Recorded]:
        """Return the calls of one layer.

        Raises: KeyError for a layer that was not called; the message lists those that were.
        """
        if name not in self.calls:
            raise KeyError(f"no call of {name!r} was seen, only of {self.names}")
        return self.calls[name]

    def weights(
        self, name: str, *, call: int = -1, heads: Chosen | None = None, rows: Chosen | None = None
    ) -> Tensor:
        """Compute the weights (b, h, n_q, n_k) of one layer's call, the last unless told.

        Raises: KeyError for a layer that was not seen; IndexError as ``Recorded.weights``.
        """
        return self[name][call].weights(heads=heads, rows=rows)


class _Copies(dict[Any, Any]):
    """Copies of what a cache or a caller may write to later."""

    def of(self, part: Tensor | None) -> Tensor | None:
        """Copy a mask or bias, unless the last of its form was the same."""
        if part is None:
            return None
        form = part.shape, part.dtype, part.device
        if form not in self or not torch.equal(self[form], part):
            self[form] = part.clone()
        return self[form]

    def of_keys(self, name: str, key: Tensor, query: Tensor) -> Tensor:
        """Copy a layer's keys, those of its last call once where these begin with them."""
        if key.untyped_storage().data_ptr() == query.untyped_storage().data_ptr():
            return key  # made together with the queries: nobody else has them
        form = name, key.dtype, key.device
        kept, last = self.get(form, (KVCache(capacity=0), key[:, :, :0]))
        new = key[:, :, last.shape[2] :]
        if not torch.equal(last, key[:, :, : last.shape[2]]):
            kept, new = KVCache(capacity=0), key
        keys, _ = kept.append(new, new[..., :0])
        self[form] = kept, keys
        return keys


@contextmanager
def record_attention(model: nn.Module) -> Generator[Seen]:
    """Watch every ``MultiHeadAttention`` within ``model`` while the ``with`` block runs.

    ``with record_attention(model) as seen: model(x)``, then
    ``seen.weights(name, heads=0, rows=3)``. Only queries and keys are kept, without gradients:
    n · d numbers for each head, not n², and a mask or bias once for all layers that were given the
    same. What was seen stays, whatever a cache or a caller writes later. What checkpointing
    computes again in the backward pass is not a call. The model is left as it was, also after an
    error. Record before ``torch.compile``.

    Raises: ValueError for a model without such a layer.
    """
    seen, copies = Seen(), _Copies()
    layers = [(name, part) for name, part in model.named_modules() if isinstance(part, Attend)]
    _check.must(layers, "model", "hold a MultiHeadAttention", type(model).__name__)
    handles = [
        part.register_forward_pre_hook(_hook(seen, copies, name.removesuffix("attend").rstrip(".")))
        for name, part in layers
    ]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hook(seen: Seen, copies: _Copies, name: str) -> Any:
    @torch.inference_mode(False)
    @torch.no_grad()
    def keep(_: nn.Module, arguments: tuple[Any, ...]) -> None:
        if ModuleTracker().is_bw:
            return
        query, key, _value, *others, causal = arguments
        query, (mask, bias) = query.detach(), map(copies.of, others)
        call = Recorded(query, copies.of_keys(name, key.detach(), query), mask, bias, causal)
        seen.calls.setdefault(name, []).append(call)

    return keep
