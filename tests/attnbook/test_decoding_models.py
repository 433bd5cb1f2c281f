"""Real models decoded: batched, alone and by a plain loop they write the same."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Generator, nn

from attnbook.decoding import Hypothesis, beam_search, greedy, sample
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.masks import window_mask
from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive, Bilinear
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from tests.attnbook.tables import plain_beam

V, D = 12, 8
LENGTHS = torch.tensor([3, 5, 1, 4])
SOURCE = torch.randint(3, V, (4, 5), generator=Generator().manual_seed(0))
SOURCE = SOURCE.masked_fill(torch.arange(5) >= LENGTHS[:, None], 0)

BUILDERS: dict[str, Callable[[], nn.Module]] = {
    "rnn none": partial(RNNSeq2Seq, V, V, D, order="none"),
    "rnn bahdanau additive": lambda: RNNSeq2Seq(V, V, D, score=Additive(D, D, D)),
    "rnn bahdanau dot": partial(RNNSeq2Seq, V, V, D),
    "rnn luong": lambda: RNNSeq2Seq(V, V, D, order="luong", score=Bilinear(D, D)),
    "rnn feeding": partial(RNNSeq2Seq, V, V, D, order="luong", input_feeding=True),
    "transformer": partial(Seq2Seq, V, V, ModelConfig(D, 2)),
    "transformer rope": partial(
        Seq2Seq, V, V, ModelConfig(D, 2, n_kv_heads=1, n_layers=1, positions="rope")
    ),
    "transformer alibi": partial(Seq2Seq, V, V, ModelConfig(D, 2, n_layers=1, positions="alibi")),
    "language model": partial(LanguageModel, V, ModelConfig(D, 2)),
    "language model rope": partial(LanguageModel, V, ModelConfig(D, 2, positions="rope")),
}
every_model = pytest.mark.parametrize("name", BUILDERS)


def model_of(name: str, dtype: torch.dtype = torch.float64) -> nn.Module:
    """Return a model in double precision that is sure enough of itself for no ties."""
    torch.manual_seed(0)
    model = BUILDERS[name]().to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


def same(mine: list[list[Hypothesis]], wanted: list[list[Hypothesis]]) -> None:
    """Raise unless the same words were written; the numbers may differ in their last digits."""
    for one, other in zip(mine, wanted, strict=True):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        assert [h.finished for h in one] == [h.finished for h in other]
        numbers = [[(h.log_probability, h.score) for h in each] for each in (one, other)]
        torch.testing.assert_close(*map(torch.tensor, numbers), atol=1e-5, rtol=0)


@every_model
def test_the_batched_beam_is_the_loop_over_hypotheses(name: str) -> None:
    model = model_of(name)
    for beam, alpha in ((1, 1.0), (3, 0.6)):
        options = {"beam": beam, "max_length": 6, "length_penalty": alpha}
        found = beam_search(model, SOURCE, LENGTHS, **options)
        same(found, plain_beam(model, SOURCE, LENGTHS, **options))


@every_model
def test_mates_order_and_padding_change_nothing(name: str) -> None:
    model = model_of(name)
    ways = [
        lambda *batch: beam_search(model, *batch, beam=3, max_length=7),
        lambda *batch: [[one] for one in greedy(model, *batch, max_length=7)],
    ]
    order = torch.tensor([2, 0, 3, 1])
    for way in ways:
        together = way(SOURCE, LENGTHS)
        same(way(SOURCE[order], LENGTHS[order]), [together[i] for i in order])
        same(way(nn.functional.pad(SOURCE, (0, 3)), LENGTHS), together)
        for i, n in enumerate(LENGTHS.tolist()):
            same(way(SOURCE[i : i + 1, :n], LENGTHS[i : i + 1]), together[i : i + 1])


@every_model
def test_samples_are_a_sentences_own(name: str) -> None:
    model = model_of(name)

    def write(rows: list[int]) -> list[list[Hypothesis]]:
        own = [Generator().manual_seed(i) for i in rows]
        found = sample(model, SOURCE[rows], LENGTHS[rows], max_length=7, generator=own)
        return [[one] for one in found]

    together = write([0, 1, 2, 3])
    same(write([3, 1]), [together[3], together[1]])


@pytest.mark.parametrize("name", [name for name in BUILDERS if "language" not in name])
def test_the_score_is_that_of_teacher_forcing(name: str) -> None:
    model = model_of(name)
    found = beam_search(model, SOURCE, LENGTHS, beam=3, max_length=6, length_penalty=1.0)
    for i, one in enumerate(found):
        for h in one:
            words = h.tokens + [2] * h.finished
            target = torch.tensor([[1, *words[:-1]]])
            logits = model(SOURCE[i : i + 1], target, source_lengths=LENGTHS[i : i + 1])
            log_p = logits[0].log_softmax(dim=-1).gather(1, torch.tensor(words)[:, None])
            log_p = log_p.sum().item()
            assert h.log_probability == pytest.approx(log_p, abs=1e-5)
            assert h.score == pytest.approx(log_p / len(words), abs=1e-5)


def test_a_language_model_goes_on_from_its_prompts_last_token() -> None:
    model = model_of("language model")
    last = SOURCE.gather(1, LENGTHS[:, None] - 1)[:, 0]
    for found, prompt, n in zip(
        greedy(model, SOURCE, LENGTHS - 1, max_length=5, bos=last), SOURCE, LENGTHS, strict=True
    ):
        text = prompt[:n].tolist()
        for _ in range(5):
            text.append(int(model(torch.tensor([text]))[0, -1].argmax()))
        written = text[n:]
        assert found.tokens == (written[: written.index(2)] if 2 in written else written)


@every_model
def test_single_and_half_precision_write_too(name: str) -> None:
    model = model_of(name, torch.float32)
    wanted = greedy(model_of(name), SOURCE, LENGTHS, max_length=6)
    found = greedy(model, SOURCE, LENGTHS, max_length=6)
    assert [h.tokens for h in found] == [h.tokens for h in wanted]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for one, *_ in beam_search(model, SOURCE, LENGTHS, beam=2, max_length=6):
            assert one.log_probability < 0


WRITERS = [name for name in BUILDERS if "language" in name]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("lengths", [[5, 5, 5, 5], [3, 5, 1, 4]])
def test_many_tokens_at_once_are_one_after_another(name: str, lengths: list[int]) -> None:
    """And after going back, as if the rest had never been read; with prompts of any length."""
    model, lengths = model_of(name), torch.tensor(lengths)
    tokens = torch.randint(3, V, (4, 6), generator=Generator().manual_seed(1))
    state, wanted = model.start(SOURCE, lengths), []
    for column in tokens.T:
        logits, state = model.step(column, state)
        wanted.append(logits)
    other = model.start(SOURCE, lengths)
    wrong = tokens.flip(1)
    first, other = model.extend(tokens[:, :2], other)
    _, other = model.extend(wrong, other)
    rest, other = model.extend(tokens[:, 2:], model.rewind(other, 6))
    torch.testing.assert_close(torch.cat((first, rest), dim=1), torch.stack(wanted, dim=1))
    assert other.caches[0].length == 11


@pytest.mark.parametrize("name", WRITERS)
def test_a_model_writes_with_other_caches(name: str) -> None:
    model = model_of(name)
    blocks, pool = len(model.decoder.blocks), PagePool(99, page=3)
    text = torch.randint(3, V, (4, 11), generator=Generator().manual_seed(2))
    kinds = {11: lambda: PagedCache(pool), 4: lambda: RollingCache(4, sinks=1)}
    for window, kind in kinds.items():
        mask = window_mask(11, 11, window, sinks=int(window < 11))
        x = model.embed(text)
        wanted = model._logits(model.decoder(x, mask=mask, bias=model._bias(x)), model.embed)
        caches = [kind() for _ in range(blocks)]
        state = model.start(text[:, :6], torch.full((4,), 6), caches=caches)
        for i in range(6, 11):
            logits, state = model.step(text[:, i], state)
            torch.testing.assert_close(logits, wanted[:, i])


@pytest.mark.parametrize("name", WRITERS)
def test_a_window_of_each_text_has_nothing_to_do_with_its_mates(name: str) -> None:
    """Prompts of other lengths are padded, and the padding is no part of a window."""
    model, found = model_of(name), []
    text = torch.randint(3, V, (4, 3), generator=Generator().manual_seed(2))
    for rows in (slice(None), slice(2, 3)):
        caches = [RollingCache(3) for _ in model.decoder.blocks]
        n = int(LENGTHS[rows].max())
        state = model.start(SOURCE[rows, :n], LENGTHS[rows], caches=caches)
        logits, _ = model.extend(text[rows], state)
        found.append(logits)
    torch.testing.assert_close(found[0][2:3], found[1])
