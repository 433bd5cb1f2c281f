#!/usr/bin/env bash
# nn.TransformerEncoderLayer runs another activation than the one it was given, once in eval mode.
#
# Guess before it was run: an activation that is none of ReLU and GELU keeps the layer off its fast
# path, so that with and without gradients the layer in eval mode returns the same.
# Seen: torch 2.15.0 asks `isinstance(activation, nn.ReLU)`. A squared ReLU written as a subclass
# passes for ReLU: trained with squares, read without them, and no word said. `nn.GELU("tanh")`
# passes for the exact GELU in the same way. With the fast path switched off all agree.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check torch==2.15.0 numpy==2.4.6
env/bin/python - <<'PYTHON'
import torch
from torch import nn


class SquaredReLU(nn.ReLU):
    def forward(self, x):
        return super().forward(x) ** 2


def apart(activation, switch):
    """The largest difference in eval mode between a call with gradients and one without."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation=activation).eval()
    x = 3 * torch.randn(2, 5, 16)
    torch.backends.mha.set_fastpath_enabled(switch)
    with torch.no_grad():
        fast = layer(x)
    return float((layer(x) - fast).detach().abs().max())


print("torch", torch.__version__)
for name, activation, least in [
    ("ReLU", nn.ReLU(), 0),
    ("squared ReLU", SquaredReLU(), 0.1),
    ("GELU by tanh", nn.GELU("tanh"), 5e-5),
    ("a function", lambda x: x.relu() ** 2, 0),
]:
    on, off = apart(activation, True), apart(activation, False)
    print(f"{name:13} apart by {on:.1e}, and by {off:.1e} without the fast path")
    assert off < 5e-6, "this has changed"
    assert on > least if least else on < 5e-6, "this has changed"
PYTHON
