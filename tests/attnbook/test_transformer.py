"""The two models: whole sequences, step by step, and what must change nothing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from attnbook.multihead import MultiHeadAttention
from attnbook.positions import sinusoidal
from attnbook.record import record_attention
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from tests.attnbook.copying import ordinary, randomised
from tests.attnbook.strategies import close

POSITIONS = ["sinusoidal", "learned", "rope", "alibi", None]
LENGTHS = torch.tensor([6, 2, 4])
every_position = pytest.mark.parametrize("positions", POSITIONS)


def translator(positions="sinusoidal", **options) -> Seq2Seq:
    options = {"d_model": 12, "n_heads": 6, "n_kv_heads": 2, "max_length": 12} | options
    return randomised(Seq2Seq(11, 13, ModelConfig(positions=positions, **options))).double().eval()


def writer(positions="sinusoidal", **options) -> LanguageModel:
    options = {"d_model": 12, "n_heads": 6, "n_kv_heads": 2, "max_length": 12} | options
    return (
        randomised(LanguageModel(13, ModelConfig(positions=positions, **options))).double().eval()
    )


def tokens(*shape: int, seed: int = 0, below: int = 11) -> Tensor:
    return torch.randint(3, below, shape, generator=torch.Generator().manual_seed(seed))


SOURCE, TARGET = tokens(3, 6), tokens(3, 5, seed=1, below=13)


@pytest.mark.parametrize("tied", [False, True])
def test_a_translator_is_its_parts(tied: bool) -> None:
    model = translator(tied=tied, n_layers=1)
    logits = model(SOURCE[:1], TARGET[:1], source_lengths=LENGTHS[:1])
    place = sinusoidal(6, 12, dtype=torch.float64)
    memory = model.encoder(model.embed_source.tokens.weight[SOURCE[:1]] * 12**0.5 + place)
    x = model.embed_target.tokens.weight[TARGET[:1]] * 12**0.5 + place[:5]
    x = model.decoder(x, memory)
    weight = model.embed_target.tokens.weight if tied else model.output.weight
    close(logits, linear(x, weight))
    assert logits.shape == (1, 5, 13)
    assert ("output.weight" in model.state_dict()) is not tied


@every_position
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_step_by_step_is_the_whole(positions, norm: str) -> None:
    model = translator(positions, norm=norm)
    whole = model(SOURCE, TARGET, source_lengths=LENGTHS)
    state, logits = model.start(SOURCE, LENGTHS), []
    for t in range(5):
        row, state = model.step(TARGET[:, t], state)
        logits.append(row)
    close(torch.stack(logits, dim=1), whole)


@every_position
@pytest.mark.parametrize("rows", [[2, 0, 1], [1, 1, 2, 0, 2], [1], [0, 0, 1, 1, 2, 2]])
def test_a_reordered_state_goes_on_as_the_chosen_rows(positions, rows: list[int]) -> None:
    model, state = translator(positions), None
    for first in (0, 1, 3):
        state = model.start(SOURCE, LENGTHS)
        for t in range(first):
            _, state = model.step(TARGET[:, t], state)
        state, new = model.reorder(state, torch.tensor(rows)), tokens(len(rows), 2, seed=9)
        prefix = torch.cat((TARGET[rows, :first], new), dim=1)
        whole = model(SOURCE[rows], prefix, source_lengths=LENGTHS[rows])
        for t in range(2):
            logits, state = model.step(new[:, t], state)
            close(logits, whole[:, first + t])


def test_the_source_is_projected_once_and_stays_where_it_is(monkeypatch) -> None:
    model, calls = translator(), []
    project = MultiHeadAttention.project
    monkeypatch.setattr(
        MultiHeadAttention, "project", lambda *args: calls.append(1) or project(*args)
    )
    state = model.start(SOURCE, LENGTHS)
    state = model.reorder(state, torch.tensor([0, 0, 1, 1, 2, 2]))
    _, state = model.step(TARGET[[0, 0, 1, 1, 2, 2], 0], state)
    swapped = model.reorder(state, torch.tensor([1, 0, 3, 3, 4, 4]))
    assert swapped.memory is state.memory
    moved = model.reorder(state, torch.tensor([2, 3, 0, 1, 4, 5]))
    assert moved.memory is not state.memory
    model.step(TARGET[[0, 0, 1, 1, 2, 2], 1], moved)
    assert len(calls) == 2  # once for each block, by start


@given(data=st.data(), positions=st.sampled_from(POSITIONS))
def test_padding_and_batch_mates_change_nothing(data: st.DataObject, positions) -> None:
    model = translator(positions)
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=3, max_size=3))
    lengths[0] = 6
    padded = SOURCE.clone()
    for b, length in enumerate(lengths):
        padded[b, length:] = data.draw(st.integers(0, 10))
    together = model(padded, TARGET, source_lengths=torch.tensor(lengths))
    for b, length in enumerate(lengths):
        one = slice(b, b + 1)
        alone = model(SOURCE[one, :length], TARGET[one], source_lengths=torch.tensor([length]))
        close(together[one], alone)


@given(now=st.integers(0, 4), positions=st.sampled_from(POSITIONS))
def test_the_future_cannot_change_the_past(now: int, positions) -> None:
    other = TARGET.clone()
    other[:, now:] = 15 - other[:, now:]
    model = translator(positions)
    before = model(SOURCE, TARGET, source_lengths=LENGTHS)
    after = model(SOURCE, other, source_lengths=LENGTHS)
    close(after[:, :now], before[:, :now])
    assert not torch.allclose(after[:, now], before[:, now])
    text = writer(positions)
    close(text(other)[:, :now], text(TARGET)[:, :now])


@every_position
def test_alignment_weights_are_what_the_layers_compute(positions) -> None:
    model = translator(positions)
    with record_attention(model) as seen:
        model(SOURCE, TARGET, source_lengths=LENGTHS)
    for layer, name in ((0, "decoder.blocks.0.cross"), (-1, "decoder.blocks.1.cross")):
        weights = model.weights(SOURCE, TARGET, source_lengths=LENGTHS, layer=layer)
        assert weights.shape == (3, 6, 5, 6)
        close(weights, seen.weights(name))
        assert weights[1, :, :, 2:].eq(0).all()
    chosen = model.weights(SOURCE, TARGET, source_lengths=LENGTHS, heads=[5, 0], rows=slice(1, 3))
    close(chosen, weights[:, [5, 0], 1:3])


def test_the_order_of_the_source_counts_only_with_positions() -> None:
    order = torch.tensor([3, 0, 5, 1, 2, 4])
    lengths = torch.tensor([6, 6, 6])
    for positions in POSITIONS:
        model = translator(positions)
        one = model(SOURCE, TARGET, source_lengths=lengths)
        other = model(SOURCE[:, order], TARGET, source_lengths=lengths)
        assert torch.allclose(one, other) is (positions is None)


@every_position
@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 2, 3], [1, 1, 0], [0, 0, 0]])
def test_a_text_goes_on_after_its_prompt(positions, lengths: list[int]) -> None:
    model, new = writer(positions), tokens(3, 3, seed=5)
    prompt = TARGET[:, : max(lengths)]
    first, state = model.step(new[:, 0], model.start(prompt, torch.tensor(lengths)))
    rows = [2, 0, 1, 0]
    state = model.reorder(state, torch.tensor(rows))
    second, state = model.step(new[rows, 1], state)
    third, state = model.step(new[rows, 2], state)
    wholes = [
        model(torch.cat((prompt[b, :length], new[b]))[None])[0, length:]
        for b, length in enumerate(lengths)
    ]
    close(first, torch.stack([whole[0] for whole in wholes]))
    close(second, torch.stack([wholes[b][1] for b in rows]))
    close(third, torch.stack([wholes[b][2] for b in rows]))


def test_padding_after_a_text_needs_no_mask() -> None:
    model, text = writer("alibi"), TARGET.clone()
    text[1, 2:] = 0
    close(model(text)[1, :2], model(TARGET[1:2, :2])[0])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_translator_learns_to_copy(norm: str) -> None:
    torch.manual_seed(0)
    model = Seq2Seq(11, 11, ModelConfig(d_model=32, n_heads=4, n_layers=1, norm=norm, dropout=0.05))
    adam = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for seed in range(120):
        source = tokens(32, 4, seed=seed)
        target = torch.cat((torch.ones(32, 1, dtype=torch.int64), source), dim=1)
        logits = model(source, target[:, :-1], source_lengths=torch.full((32,), 4))
        loss = cross_entropy(logits.flatten(0, 1), source.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert loss.item() < 0.5  # chance is log 8 = 2.08


def test_every_parameter_gets_a_gradient() -> None:
    for positions in POSITIONS:
        for tied in (False, True):
            model = translator(positions, tied=tied).train()
            model(SOURCE, TARGET, source_lengths=LENGTHS).square().sum().backward()
            assert all(part.grad is not None for part in model.parameters())
            text = writer(positions, tied=tied)
            text(TARGET).square().sum().backward()
            assert all(part.grad is not None for part in text.parameters())


@every_position
def test_they_are_ordinary_modules(positions) -> None:
    near = {"single": 1e-3, "half": 0.5}
    one, other = (translator(positions, tied=True) for _ in range(2))
    ordinary(one, other, SOURCE, TARGET, source_lengths=LENGTHS, **near)
    ordinary(*(writer(positions, tied=True) for _ in range(2)), TARGET, **near)


def test_dropout_reaches_every_layer_in_training_alone() -> None:
    for model in (
        Seq2Seq(5, 5, ModelConfig(dropout=0.3)),
        LanguageModel(5, ModelConfig(dropout=0.3)),
    ):
        parts = [part for part in model.modules() if isinstance(part, nn.Dropout)]
        assert {part.p for part in parts} == {0.3}
    model = translator(dropout=0.3)
    one = model(SOURCE, TARGET, source_lengths=LENGTHS)
    assert torch.equal(one, model(SOURCE, TARGET, source_lengths=LENGTHS))
    model.train()
    assert not torch.equal(one, model(SOURCE, TARGET, source_lengths=LENGTHS))
