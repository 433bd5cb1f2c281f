"""Writing with a model, and watching one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook import decoding, speculation
from attnbook.record import record_attention
from attnbook.transformer import LanguageModel
from tests.attnbook.tables import Table
from tests.bad_input.models import language, translator
from tests.bad_input.rows import IDS, LENGTHS, NAN, WHOLE, Calls, Row, X, rows, zeros


def wrote(function: Callable[..., Any], **changed: Any) -> Callable[[], Any]:
    arguments = {"source": IDS, "source_lengths": LENGTHS, "max_length": 2} | changed
    return lambda: function(translator(), **arguments)


WRITERS = {
    "decoding.greedy": decoding.greedy,
    "decoding.sample": decoding.sample,
    "decoding.beam_search": partial(decoding.beam_search, beam=2),
}
WRITTEN: tuple[tuple[dict[str, Any], str], ...] = (
    *(({"max_length": n}, f"max_length {WHOLE} 1: it is {n}") for n in (0, -1, 2.5, True, None)),
    ({"source": IDS[0]}, "source must have the shape (b, n_s): its shape is (3,)"),
    ({"source_lengths": LENGTHS + 1}, "they are [4, 3]"),
    ({"source_lengths": LENGTHS - 3}, "they are [0, -1]"),
    ({"source_lengths": LENGTHS[:1]}, "source_lengths must be int64 of the shape (b,) = (2,)"),
    ({"eos": 9}, "eos must be below the vocabulary's 9: it is 9"),
    ({"bos": -1}, f"bos {WHOLE} 0: it is -1"),
    ({"bos": 9}, "from 0 to 8: 9 is among them"),
    ({"bos": LENGTHS.float()}, "bos must be a token, or int64 of the shape (b,) = (2,)"),
    ({"bos": LENGTHS[:1]}, "(b,) = (2,): its dtype is torch.int64, its shape (1,)"),
    ({"eos": -1}, f"eos {WHOLE} 0: it is -1"),
    ({"source": IDS[:0], "source_lengths": LENGTHS[:0]}, "for at least one sentence: they are []"),
    ({"source_lengths": LENGTHS.float()}, "source_lengths must be int64 of the shape (b,) = (2,)"),
)
SHAPES = ((3, 5), (2, 1, 5), (5,))
NUMBERS = "step must return logits that are numbers: they lead to NaN"


class Says(Table):
    """A stepper that gives the same logits, whatever is asked."""

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        return self.logits, state


def heard(function: Callable[..., Any], logits: Tensor) -> Callable[[], Any]:
    return lambda: function(Says(logits), IDS, LENGTHS, max_length=2)


def guessed(guess: Any, **changed: Any) -> Callable[[], Any]:
    prompt = changed.pop("prompt", IDS[0])
    options = {"max_length": 9} | changed
    return lambda: speculation.speculate(language(), prompt, guess, **options)


def certain(*tokens: int, **q: Any) -> Callable[..., speculation.Draft]:
    return lambda *_: speculation.Draft(list(tokens), **q)


P = zeros(2, 9) + 1 / 9
OWN = "draft must give probabilities of the shape (m, vocabulary) = (1, 9), the model's: its"
NINE = "draft must guess tokens of the model's vocabulary, from 0 to 8:"
CALLS: Calls = {
    "speculation.speculate": [
        (guessed(speculation.look_up, prompt=[1]), "prompt must be a torch.Tensor", TypeError),
        (guessed(speculation.look_up, prompt=IDS), "prompt must have the shape (n,), with at"),
        (guessed(speculation.look_up, prompt=IDS[0, :0]), "with at least one token: its shape is"),
        (guessed(speculation.look_up, prompt=X[0, 0]), "prompt must hold whole numbers"),
        (guessed(speculation.look_up, guesses=0), f"guesses {WHOLE} 1: it is 0"),
        (guessed(speculation.look_up, max_length=0), f"max_length {WHOLE} 1: it is 0"),
        (guessed(speculation.look_up, eos=-1), f"eos {WHOLE} 0: it is -1"),
        *(
            (
                guessed(speculation.look_up, temperature=heat),
                f"temperature must be at least 0 and finite: it is {heat!r}",
            )
            for heat in (-1.0, NAN, torch.inf, True, None)
        ),
        (guessed(certain(*[1] * 5)), "draft must guess at most 4 tokens: it guessed 5"),
        (guessed(certain(9)), f"{NINE} 9 is among them"),
        (guessed(certain(3, -1)), f"{NINE} -1 is among them"),
        (
            guessed(speculation.DraftModel(LanguageModel(12, d_model=8, n_heads=2))),
            "draft must know the model's 9 tokens: its vocabulary has 12",
        ),
        (guessed(certain(1, q=zeros(1, 12) + 1)), f"{OWN} shape is (1, 12)"),
        (guessed(certain(1, q=zeros(2, 9) + 1)), f"{OWN} shape is (2, 9)"),
    ],
    "speculation.verdict": [
        (lambda: speculation.verdict(P, [1, 2]), "p must have the shape (3, vocabulary): its"),
        (lambda: speculation.verdict(P, [9]), f"{NINE} 9 is among them"),
        (lambda: speculation.verdict(P, [1], zeros(1, 12)), f"{OWN} shape is (1, 12)"),
        (lambda: speculation.verdict(P, [1], zeros(1, 9)), "guess what its own q can give: a q is"),
    ],
    "speculation.look_up": [
        (lambda: speculation.look_up([1, 2], 3, longest=0), f"longest {WHOLE} 1: it is 0"),
    ],
    "speculation.DraftModel": [
        *(
            (
                partial(speculation.DraftModel, Table(P), temperature=heat),
                "temperature must be at least 0 and finite",
            )
            for heat in (-0.1, NAN, torch.inf, True, None)
        ),
    ],
    "record.record_attention": [
        (lambda: record_attention(nn.Linear(2, 2)).__enter__(), "hold a"),
    ],
}
ROWS = [
    *rows(CALLS),
    *(Row(of, wrote(f, **changed), w) for of, f in WRITERS.items() for changed, w in WRITTEN),
    *(
        Row(
            of, wrote(f, **{name: [[1]]}), f"{name} must be a torch.Tensor: it is a list", TypeError
        )
        for of, f in WRITERS.items()
        for name in ("source", "source_lengths")
    ),
    *(
        Row(of, heard(f, zeros(*shape)), "step must return logits of the shape (rows, vocabulary)")
        for of, f in WRITERS.items()
        for shape in SHAPES
    ),
    *(
        Row(of, heard(f, zeros(2 if k == 1 else 4, 5).index_fill(1, LENGTHS, bad)), NUMBERS)
        for of, f, k in ((of, f, 1 + (of == "decoding.beam_search")) for of, f in WRITERS.items())
        for bad in (NAN, torch.inf)
    ),
    *(
        Row("decoding.sample", wrote(decoding.sample, **changed), words)
        for changed, words in (
            ({"temperature": True}, "temperature must be above 0 and finite: it is True"),
            ({"temperature": 0.0}, "temperature must be above 0 and finite: it is 0.0"),
            ({"temperature": NAN}, "temperature must be above 0 and finite"),
            ({"temperature": -1.0}, "temperature must be above 0 and finite: it is -1.0"),
            ({"temperature": torch.inf}, "temperature must be above 0 and finite: it is inf"),
            ({"top_k": 0}, f"top_k {WHOLE} 1: it is 0"),
            ({"top_p": "x"}, "top_p must be above 0 and at most 1: it is 'x'"),
            ({"top_p": 0.0}, "top_p must be above 0 and at most 1: it is 0.0"),
            ({"top_p": NAN}, "top_p must be above 0 and at most 1: it is nan"),
            ({"top_p": 1.1}, "top_p must be above 0 and at most 1: it is 1.1"),
            ({"generator": []}, "one for each of the 2 sentences: there are 0"),
        )
    ),
    *(
        Row("decoding.beam_search", wrote(decoding.beam_search, beam=beam), f"beam {WHOLE} 1")
        for beam in (0, -1, 2.0, True)
    ),
    *(
        Row(
            "decoding.beam_search",
            wrote(decoding.beam_search, beam=2, length_penalty=alpha),
            f"length_penalty must be at least 0 and finite: it is {alpha!r}",
        )
        for alpha in (-1.0, NAN, torch.inf, True, "1", None)
    ),
    *(
        Row(
            "decoding.beam_search",
            wrote(decoding.beam_search, beam=2, length_penalty=alpha),
            f"max_length ** length_penalty within 1e30: it is {alpha!r}, with max_length = 2",
        )
        for alpha in (1e300, 100, 700)
    ),
]
