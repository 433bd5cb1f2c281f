#!/usr/bin/env bash
# Flax's cache, once full, goes on without a word: each new key replaces the newest one kept.
#
# Guess before it was run: flax.nnx.MultiHeadAttention(decode=True) raises where a step no longer
# fits into what init_cache made, or rolls and drops the oldest key, as windows do.
# Seen: flax 0.12.8 on jax 0.10.2 counts on. The slice that would be written past the end is moved
# back to the last place, so of four places three keep the first words for good, and the fourth
# holds the word that asks. Each later word sees the beginning and itself; the words just before it
# are gone. The index in the cache shows 6 of 4.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check flax==0.12.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
env/bin/python - <<'PYTHON'
import flax
import jax.numpy as jnp
import numpy as np
from flax import nnx

print("flax", flax.__version__)
size = {"num_heads": 2, "in_features": 8, "qkv_features": 8}
steps = nnx.MultiHeadAttention(**size, decode=True, rngs=nnx.Rngs(0))
steps.init_cache((1, 4, 8))  # one sentence of at most four words
whole = nnx.MultiHeadAttention(**size, decode=False, rngs=nnx.Rngs(0))  # the same first weights
x = np.random.default_rng(0).standard_normal((1, 6, 8)).astype("float32")
for t in range(6):
    step = np.asarray(steps(x[:, t : t + 1]))[0, 0]
    apart = {}
    for name, kept in [
        ("every word so far", range(t + 1)),
        ("the last four", range(max(0, t - 3), t + 1)),
        ("the first three and itself", sorted({0, 1, 2, t} & set(range(t + 1)))),
    ]:
        seen = jnp.asarray(x[:, list(kept)])
        apart[name] = float(abs(np.asarray(whole(jnp.asarray(x[:, t : t + 1]), seen))[0, 0] - step).max())
    like = [name for name, d in apart.items() if d < 1e-5]
    print(f"word {t}: as if it saw {', or '.join(like)}")
    assert (len(like) == 3) if t < 4 else (like == ["the first three and itself"]), "this has changed"
assert int(steps.cache_index[...]) == 6, "this has changed"
PYTHON
