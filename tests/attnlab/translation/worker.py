"""One of several processes: ``python -m tests.attnlab.translation.worker WHAT …``.

``gradient FILE TOKENS`` computes the gradient of a step in float64; ``train DATA RUN STEPS`` trains
in float64, without dropout.
"""

import sys
from pathlib import Path

import safetensors.torch
import torch

from attnlab.translation.buckets import Buckets
from attnlab.translation.model import Learner, build, nothing
from attnlab.translation.run import train
from attnlab.translation.team import Team, leave, team
from tests.attnlab.translation.small import recipe

PAIRS = [([4 + k % 9] * (1 + k % 5), [5 + k % 7] * (1 + k % 4)) for k in range(40)]


def gradient(here: Team, tokens: int) -> dict[str, torch.Tensor]:
    """Return the gradient of a step's mean loss, as ``Run.update`` computes it."""
    model = build(recipe(), 20).double().eval()  # without dropout
    learner = here.shared(Learner(model, 0.1))
    share = Buckets(PAIRS, tokens, 0).step(3, here.rank, here.world)
    batch = nothing(here.device) if share.batch is None else share.batch
    (learner(batch) * (here.world / share.tokens)).backward()
    return {name: weight.grad for name, weight in model.named_parameters()}


def main() -> None:
    what, first, *rest = sys.argv[1:]
    with team("cpu") as here:
        if what == "gradient":
            found = gradient(here, int(rest[0]))
            if here.main:
                safetensors.torch.save_file(
                    {name: one.contiguous() for name, one in found.items()}, first
                )
        else:
            torch.set_default_dtype(torch.float64)
            options = recipe(dropout=0.0, steps=int(rest[1]))
            train(options, Path(first), Path(rest[0]), team=here, precision="float32")


if __name__ == "__main__":
    main()
    leave()
