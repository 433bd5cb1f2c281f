"""What the models' own functions refuse, in one table; the other rooms': refusals/test_calls."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import nan

import pytest
import torch

from attnbook.multihead import MultiHeadAttention
from attnlab.models.caches import cached_models
from attnlab.models.circuits import circuit
from attnlab.models.copying import repeating
from attnlab.models.heads import search
from attnlab.models.roof import Machine, machines, roof_models

GPT, LLAMA, H100 = cached_models()["GPT-2"], roof_models()["Llama 3.1 8B"], machines()["H100 SXM"]
CACHE, STEP, HEAD = (
    GPT.cache_bytes,
    partial(LLAMA.step, H100),
    MultiHeadAttention(12, 3, bias=False),
)
REFUSED = [
    (lambda: CACHE(-1), "n must be a whole number from 0 on: it is -1"),
    (lambda: CACHE(5, batch=0), "batch must be a whole number from 1 on"),
    (lambda: CACHE(5, bits=6), "bits must be 4, 8, 16 or 32: it is 6"),
    (lambda: GPT.bytes_per_token(bits=True), "bits must be 4, 8, 16 or 32"),
    (lambda: GPT.saving(0), "n must be a whole number from 1 on"),
    (lambda: STEP(texts=0), "texts must be a whole number from 1 on: it is 0"),
    (lambda: STEP(tokens=True), "tokens must be a whole number from 1 on"),
    (lambda: STEP(cached=-1), "cached must be a whole number from 0 on: it is -1"),
    (lambda: STEP(weight_bits=0), "weight_bits must be 4, 8, 16 or 32: it is 0"),
    (lambda: replace(H100, memory=nan), "memory must be a finite number above 0: it is nan"),
    (lambda: replace(LLAMA, pairs=0), "pairs must be a finite number above 0: it is 0"),
    (lambda: replace(LLAMA, chosen=1.5), r"chosen must be a share of at most 1: it is 1\.5"),
    (lambda: replace(LLAMA, routed=LLAMA.parameters), "must leave some of the parameters"),
    (lambda: replace(LLAMA, unread=-1), "unread must be a whole number from 0 on: it is -1"),
    (lambda: Machine(3, 1, 1, 1), "name must be a string: it is 3"),
    (lambda: circuit(HEAD, 3), "head must be whole numbers from 0 to 2"),
    (lambda: circuit(HEAD, 0, distance=1.5), "distance must be a whole number of at least 0"),
    (lambda: circuit(MultiHeadAttention(12, 3), 0), "layer must have no biases"),
    (lambda: circuit(MultiHeadAttention(12, 3, n_kv_heads=1, bias=False), 0), "a set of keys"),
    (lambda: repeating(0), "count must be a whole number of at least 1"),
    (lambda: repeating(2, 0), "length must be a whole number of at least 1"),
    (lambda: repeating(2, periods=(5, 4)), r"periods\[1\] must be a whole number of at least 5"),
    (lambda: search(torch.ones(3, 2), times=1), "have the shape"),
    (lambda: search(torch.ones(1, 2, 2), times=1), "be of at least 2 pairs"),
    (lambda: search(torch.ones(3, 2, 2), times=0), "times must be"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_cannot_be_is_refused_by_name(call: Callable[[], object], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        call()
