#!/usr/bin/env bash
# PyTorch's own object for a causal mask, given to PyTorch's own layer, hides nothing.
#
# Guess before it was run: nn.MultiheadAttention takes `causal_lower_right(2, 5)`, or refuses it.
# Seen: torch 2.15.0 takes it and returns weights on the future. Only scaled_dot_product_attention
# knows the class; to all else it is a tensor, whose constructor was handed the kind of triangle as
# its first size: (2, 2, 5) for the lower right, (1, 2, 5) for the upper left, memory that nobody
# wrote, though it prints as the triangle. Two heads fit the first, one head the second, and the
# memory is added to the scores. With three heads the shape is refused, and the message names a
# shape that nobody asked for.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check torch==2.15.0 numpy==2.4.6
env/bin/python - <<'PYTHON'
import torch
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

print("torch", torch.__version__)
torch.manual_seed(0)
x, y = torch.randn(1, 2, 12), torch.randn(1, 5, 12)
for heads, mask, offset in [(2, causal_lower_right(2, 5), 3), (1, causal_upper_left(2, 5), 0)]:
    may = torch.ones(2, 5, dtype=torch.bool).tril(offset)
    print("prints as the triangle:", repr(mask) == repr(may), " its shape:", tuple(mask.shape))
    assert tuple(mask.shape) == (heads, 2, 5) and repr(mask) == repr(may), "this has changed"
    layer = nn.MultiheadAttention(12, heads, batch_first=True).eval()
    with torch.no_grad():
        mask.as_subclass(torch.Tensor).zero_()  # what fresh memory mostly holds; here for certain
        weights = layer(x, y, y, attn_mask=mask)[1][0].as_subclass(torch.Tensor)
        right = layer(x, y, y, attn_mask=~may)[1][0]
    future = float(weights[~may].max())
    print(f"heads {heads}: most weight on the future {future:.2f}; by a plain mask {right[~may].max():.2f}")
    assert future > 0.1 and right[~may].max() == 0, "this has changed"
try:
    nn.MultiheadAttention(12, 3, batch_first=True)(x, y, y, attn_mask=causal_lower_right(2, 5))
    raise SystemExit("this has changed")
except RuntimeError as error:
    print("heads 3:", error)
PYTHON
