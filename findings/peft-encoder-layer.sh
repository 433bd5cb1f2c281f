#!/usr/bin/env bash
# An adapter on nn.TransformerEncoderLayer trains, and does nothing at all in eval mode.
#
# Guess before it was run: peft wraps linear1 and linear2, the layer calls the wrapped modules, and
# an adapter moves the output in training and in eval mode alike.
# Seen: peft 0.21.2 on torch 2.15.0 in eval mode returns the untuned model's output, within
# rounding, and says nothing. The layer's fast path reads `linear1.weight`, which the wrapper answers with
# the frozen matrix; frozen, it opens the fast path even where gradients are on. In training mode,
# with the fast path switched off, and merged, the adapter counts. On `out_proj` alone it counts in
# none of these but when merged: nn.MultiheadAttention never calls that module.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check torch==2.15.0 numpy==2.4.6 \
    peft==0.21.2 transformers==5.24.0 accelerate==1.15.0
env/bin/python - <<'PYTHON'
import copy
import warnings

import peft
import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
base = nn.Sequential(nn.TransformerEncoder(layer, 2)).eval()
x = torch.randn(2, 5, 16)
before = base(x).detach()
print("torch", torch.__version__, "peft", peft.__version__)
for targets, counts in [
    (["linear1", "linear2"], {"training": True, "eval": False, "switched off": True, "merged": True}),
    (["self_attn"], {"training": True, "eval": False, "switched off": True, "merged": True}),
    (["out_proj"], {"training": False, "eval": False, "switched off": False, "merged": True}),
]:
    config = peft.LoraConfig(r=4, target_modules=targets, init_lora_weights=False)
    tuned = peft.get_peft_model(copy.deepcopy(base), config)
    outputs = {"training": tuned.train()(x), "eval": tuned.eval()(x)}
    torch.backends.mha.set_fastpath_enabled(False)
    outputs["switched off"] = tuned(x)
    torch.backends.mha.set_fastpath_enabled(True)
    outputs["merged"] = tuned.merge_and_unload().eval()(x)
    for name, output in outputs.items():
        moved = float((output - before).detach().abs().max())
        print(f"{'+'.join(targets):16} {name:13} the adapter moves the output by {moved:.1e}")
        assert (moved > 0.1) is counts[name] and (moved > 0.1 or moved < 5e-6), "this has changed"
PYTHON
