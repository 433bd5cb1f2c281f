"""Settings for every test: Hypothesis repeats itself in CI, and torch keeps to one thread."""

import os

import hypothesis
import torch

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=60)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")
torch.set_num_threads(1)
