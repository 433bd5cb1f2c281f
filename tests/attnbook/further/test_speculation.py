"""Speculative decoding: the text is the model's own, whoever guesses."""

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
import torch
from torch import Generator, Tensor

from attnbook.decoding import greedy
from attnbook.further import speculation
from attnbook.further.speculation import Draft, Drafter, Speculated, look_up, speculate, verdict
from attnbook.transformer import LanguageModel, ModelConfig
from tests.attnbook.strategies import close, normal

V, EOS = 3, 2


class Markov:
    """A model whose logits hang on the last two tokens, (V, V, V); its state is the text."""

    vocabulary = V

    def __init__(self, seed: int, *, ends: bool = True) -> None:
        self.table, self.read = normal(V, V, V, seed=seed) * 2, 0
        if not ends:
            self.table[..., EOS] = -torch.inf

    def start(self, source: Tensor, source_lengths: Tensor) -> list[int]:
        return source[0, : int(source_lengths)].tolist()

    def extend(self, tokens: Tensor, state: list[int]) -> tuple[Tensor, list[int]]:
        self.read += tokens.shape[1]
        text = state + tokens[0].tolist()
        logits = [self.after(text[: i + 1]) for i in range(len(state), len(text))]
        return torch.stack(logits)[None], text

    def rewind(self, state: list[int], n: int) -> list[int]:
        return state[: len(state) - n]

    def after(self, text: list[int]) -> Tensor:
        before, last = (0, *text)[-2:]
        return self.table[before, last]


def all_texts(model: Markov, prompt: list[int], length: int, heat: float) -> dict[tuple, float]:
    """Return the probability of each text under the model alone."""
    found = {}
    for n in range(1, length + 1):
        for words in product(range(V), repeat=n):
            if EOS in words[:-1] or not (words[-1] == EOS or n == length):
                continue
            p = 1.0
            for i, word in enumerate(words):
                p *= float((model.after([*prompt, *words[:i]]) / heat).softmax(dim=-1)[word])
            found[words] = p
    return found


def every_outcome(
    run: Callable[[], Speculated], monkeypatch: pytest.MonkeyPatch
) -> dict[tuple, float]:
    """Run with every outcome of every draw; return the probability of each text."""
    found: dict[tuple, float] = {}
    waiting: list[list[int]] = [[]]
    while waiting:
        planned, taken, chance = waiting.pop(), [], [1.0]

        def draw(p: Tensor, _: Generator | None, planned=planned, taken=taken, chance=chance):
            if len(taken) == len(planned):
                first, *others = p.nonzero().flatten().tolist()
                waiting.extend([*taken, other] for other in others)
                planned.append(first)
            taken.append(planned[len(taken)])
            chance[0] *= float(p[taken[-1]])
            return taken[-1]

        monkeypatch.setattr(speculation, "_draw", draw)
        result = run()
        words = (*result.tokens, *([EOS] * result.finished))
        found[words] = found.get(words, 0.0) + chance[0]
    return found


def wild(text: list[int], n: int, _: Generator | None) -> Draft:
    """Guess what is improbable as often as what is not."""
    return Draft([(text[-1] + i) % V for i in range(1, n + 1)])


def guesser(model: Markov | LanguageModel, heat: float = 0.0) -> Drafter:
    """A smaller model, which reads the text anew for each guess."""

    def draft(text: list[int], n: int, generator: Generator | None = None) -> Draft:
        text, rows, read = list(text), [], len(text)
        for _ in range(n):
            state = model.start(
                torch.tensor([text[:-1]], dtype=torch.long), torch.tensor([len(text) - 1])
            )
            logits = model.extend(torch.tensor([text[-1:]]), state)[0][0, -1:]
            rows.append(speculation._probabilities(logits, heat)[0])
            text.append(speculation._draw(rows[-1], generator))
        return Draft(text[read:], torch.stack(rows))

    return draft


DRAFTS = {
    "another model": lambda: guesser(Markov(7), 1.0),
    "a cooler one": lambda: guesser(Markov(7), 0.5),
    "its best guess": lambda: guesser(Markov(7)),
    "itself": lambda: guesser(Markov(1), 0.8),
    "look-up": lambda: look_up,
    "wild": lambda: wild,
    "none": lambda: lambda *_: Draft([]),
}


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("guesses", [1, 2, 3])
def test_every_text_has_the_models_own_probability(name, guesses, monkeypatch) -> None:
    prompt, options = [0, 1, 0], {"guesses": guesses, "max_length": 3, "temperature": 0.8}
    found = every_outcome(
        lambda: speculate(Markov(1), torch.tensor(prompt), DRAFTS[name](), eos=EOS, **options),
        monkeypatch,
    )
    wanted = all_texts(Markov(1), prompt, 3, 0.8)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert {w: p for w, p in found.items() if w not in wanted} == {}
    for words, p in wanted.items():
        assert found.get(words, 0.0) == pytest.approx(p, abs=1e-12)


def test_a_guess_is_kept_as_often_as_the_two_agree_and_nothing_is_left_over() -> None:
    """p = (½, ½), q = (¾, ¼): the first is kept twice in three, the second always; ¾ in all."""
    p = torch.tensor([[0.5, 0.5], [0.1, 0.9]], dtype=torch.float64)
    q = torch.tensor([[0.75, 0.25]], dtype=torch.float64)
    kept = [verdict(p, [x], q)[0].item() for x in (0, 1)]
    assert kept == pytest.approx([2 / 3, 1])
    assert sum(float(q[0, x]) * kept[x] for x in (0, 1)) == pytest.approx(3 / 4)
    close(verdict(p, [0], q)[1], torch.tensor([[0, 1], [0.1, 0.9]], dtype=torch.float64))
    close(verdict(p, [0])[1][0], torch.tensor([0.0, 1.0], dtype=torch.float64))
    p = torch.tensor([[0.5, 0.5], [0.1, 0.9]], dtype=torch.float64)
    kept, rest = verdict(p, [0], p[:1])
    assert kept.item() == 1
    close(rest, p)
    draft = lambda text, n, generator: Draft([0])  # noqa: E731
    result = speculate(Markov(1, ends=False), torch.tensor([0]), draft, guesses=3, max_length=9)
    assert result.drafted <= result.calls
    p = speculation._probabilities(normal(1, 9).float(), 0.7)
    close(p, (normal(1, 9).float().double() / 0.7).softmax(dim=-1), 1e-12)


def test_a_perfect_draft_is_always_kept_and_only_wrong_guesses_are_read_twice() -> None:
    draft, model = guesser(Markov(3, ends=False), 1.0), Markov(3, ends=False)
    options = {"guesses": 4, "max_length": 40, "temperature": 1.0, "eos": EOS}
    result = speculate(
        model, torch.tensor([0]), draft, generator=Generator().manual_seed(0), **options
    )
    assert len(result.tokens) == 40
    assert not result.finished
    assert (result.calls, result.drafted, result.kept) == (8, 32, 32)  # 5 tokens a call
    assert model.read == 40  # the prompt's token, and each but the last, once
    model = Markov(1, ends=False)
    result = speculate(model, torch.tensor([0]), wild, guesses=3, max_length=30, eos=EOS)
    assert model.read == 30 + result.drafted - result.kept
    assert result.calls == 30 - result.kept


def test_look_up_goes_on_as_the_text_last_did() -> None:
    text = [5, 6, 7, 8, 5, 6, 9, 9, 5, 6]
    assert look_up(text, 3).tokens == [9, 9, 5]
    assert look_up([*text, 7], 2).tokens == [8, 5]  # 5 6 7, further back
    assert look_up([*text, 8], 9).tokens == [5, 6, 9, 9, 5, 6, 8]
    assert look_up([*text, 4], 3).tokens == []
    assert look_up([1], 3).tokens == []
    # of two matches the longer counts, further back
    assert look_up([1, 2, 3, 9, 2, 3, 8, 1, 2, 3], 1).tokens == [9]
    assert look_up([1, 1], 3).tokens == [1]
    assert look_up([3, 4, 1, 2, 4, 1, 5, 2, 4, 1], 1, longest=2).tokens == [5]


def model_of(positions: str, seed: int, **options: int) -> LanguageModel:
    torch.manual_seed(seed)
    model = LanguageModel(
        12, ModelConfig(d_model=8, n_heads=2, positions=positions, **{"n_layers": 2} | options)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model.double().eval()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rope", "alibi"])
@pytest.mark.parametrize("draft", ["look-up", "model", "itself"])
def test_a_real_model_writes_what_it_writes_alone(positions: str, draft: str) -> None:
    model, small = model_of(positions, 0, n_kv_heads=1), model_of("rope", 1, n_layers=1)
    drafts = {"look-up": look_up, "model": guesser(small), "itself": guesser(model)}
    for prompt in ([3, 4, 5, 3, 4], [7]):
        alone = greedy(
            model,
            torch.tensor([prompt[:-1]], dtype=torch.long),
            torch.tensor([len(prompt) - 1]),
            max_length=25,
            bos=prompt[-1],
        )
        for guesses in (1, 4):
            result = speculate(
                model, torch.tensor(prompt), drafts[draft], guesses=guesses, max_length=25
            )
            assert result.tokens == alone[0].tokens
            assert result.finished == alone[0].finished
            more = result.calls + result.kept - len(result.tokens)
            assert more in (result.finished, 2 * result.finished)  # 2 where a guess was eos
            if draft == "itself":
                behind_eos = result.drafted - result.kept
                assert behind_eos < guesses if result.finished else behind_eos == 0


def test_a_seed_gives_the_same_text_and_a_low_temperature_the_best() -> None:
    model, prompt = model_of("rope", 0), torch.tensor([3, 4, 5])
    draft = guesser(model_of("rope", 1), 1.0)
    write = partial(speculate, model, prompt, draft, max_length=12)
    one, other = (write(temperature=1.0, generator=Generator().manual_seed(4)) for _ in range(2))
    assert one == other
    assert write(temperature=1e-300).tokens == write().tokens


def test_what_greedy_refuses_is_refused_here_too() -> None:
    model, prompt = model_of("rope", 0), torch.tensor([3, 4, 5])
    with torch.no_grad():
        model.embed.tokens.weight.fill_(torch.nan)
    for temperature in (0.0, 1.0):
        with pytest.raises(ValueError, match="NaN"):
            speculate(model, prompt, look_up, max_length=4, temperature=temperature)
