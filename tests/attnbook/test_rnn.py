"""The recurrent translator: its formulas, its padding, its steps."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from attnbook.rnn import RNNEncoder, RNNSeq2Seq
from tests.attnbook.recurrent import (
    LENGTHS,
    ORDERS,
    SOURCE,
    TARGET,
    D,
    batch_of,
    every_model,
    every_order,
    model_of,
)
from tests.attnbook.strategies import close


def gru_by_hand(x: Tensor, h: Tensor, weights: list[Tensor]) -> Tensor:
    w_x, w_h, b_x, b_h = weights
    x_r, x_z, x_n = (w_x @ x + b_x).chunk(3)
    h_r, h_z, h_n = (w_h @ h + b_h).chunk(3)
    reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    new = torch.tanh(x_n + reset * h_n)
    return (1 - update) * new + update * h


def read_by_hand(encoder: RNNEncoder, sentence: list[int]) -> tuple[Tensor, Tensor]:
    words = encoder.embedding.weight[sentence]
    ends, sides = [], []
    for weights, order in zip(encoder.gru.all_weights, (1, -1), strict=True):
        state, states = words.new_zeros(D // 2), []
        for word in words.flip(0) if order < 0 else words:
            state = gru_by_hand(word, state, weights)
            states.append(state)
        ends.append(state)
        sides.append(torch.stack(states[::order]))
    return torch.cat(sides, dim=1), torch.tanh(encoder.summary(torch.cat(ends)))


def write_by_hand(model: RNNSeq2Seq, sentence: list[int], target: list[int]):
    """Return logits (n_t, vocabulary) and weights (n_t, n_s), one word and one key at a time."""
    decoder = model.decoder
    annotations, state = read_by_hand(model.encoder, sentence)
    fed, logits, rows = torch.zeros(D).double(), [], []

    def look(query: Tensor) -> Tensor:
        energies = [decoder.score(query[None], h[None]).squeeze() for h in annotations]
        weights = torch.stack(energies).softmax(dim=0)
        rows.append(weights)
        return sum(a * h for a, h in zip(weights, annotations, strict=True))

    for token in target:
        word = decoder.embedding.weight[token]
        if decoder.order == "bahdanau":
            context = look(state)  # the state before this word asks
            word = torch.cat([word, context])
        elif decoder.input_feeding:
            word = torch.cat([word, fed])
        state = gru_by_hand(word, state, decoder.gru.all_weights[0])
        if decoder.order == "luong":
            context = look(state)  # the new state asks
        fed = state
        if decoder.order != "none":
            fed = torch.tanh(decoder.combine.weight @ torch.cat([context, state]))
        logits.append(decoder.output(fed))
    return torch.stack(logits), torch.stack(rows) if rows else None


@every_model
def test_the_model_is_its_formulas_word_by_word(order: str, feeding: bool, score: str) -> None:
    model = model_of(order, feeding, score)
    source, target = batch_of()
    logits = model(source, target, source_lengths=LENGTHS)
    assert logits.shape == (3, 5, TARGET)
    for i, n in enumerate(LENGTHS.tolist()):
        wanted, weights = write_by_hand(model, source[i, :n].tolist(), target[i].tolist())
        close(logits[i], wanted)
        if weights is not None:
            seen = model.weights(source, target, source_lengths=LENGTHS)
            close(seen[i, :, :n], weights)
            assert not seen[i, :, n:].any()
            close(seen.sum(dim=-1), torch.ones(3, 5).double())


@every_model
def test_step_by_step_is_teacher_forcing(order: str, feeding: bool, score: str) -> None:
    model = model_of(order, feeding, score)
    source, target = batch_of()
    wanted = model(source, target, source_lengths=LENGTHS)
    state = model.start(source, LENGTHS)
    for t in range(target.shape[1]):
        logits, state = model.step(target[:, t], state)
        close(logits, wanted[:, t])


@every_order
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    wider=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_mates_and_padding_change_nothing(order, feeding, lengths, wider, seed) -> None:
    model = model_of(order, feeding).float()
    lengths = torch.tensor(lengths)
    source, target = batch_of(lengths, n_t=3, seed=seed)
    together = model(source, target, source_lengths=lengths)
    # what stands in the padding is read by nobody
    padded = nn.functional.pad(source, (0, wider))
    padded = padded.where(torch.arange(padded.shape[1]) < lengths[:, None], torch.tensor(5))
    close(model(padded, target, source_lengths=lengths), together, atol=1e-6)
    for i, n in enumerate(lengths.tolist()):
        alone = model(source[i : i + 1, :n], target[i : i + 1], source_lengths=lengths[i : i + 1])
        close(alone[0], together[i], atol=1e-6)


def test_nan_in_the_embedding_of_padding_stays_there() -> None:
    model = model_of()
    with torch.no_grad():
        model.encoder.embedding.weight[0] = torch.nan
    source, target = batch_of()
    model(source, target, source_lengths=LENGTHS).sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@every_order
def test_later_words_of_the_target_change_nothing_before(order: str, feeding: bool) -> None:
    model = model_of(order, feeding)
    source, target = batch_of()
    before = model(source, target, source_lengths=LENGTHS)
    target[:, 3:] = 0
    assert torch.equal(model(source, target, source_lengths=LENGTHS)[:, :3], before[:, :3])


@every_order
def test_reordered_states_go_on_as_their_prefixes_would(order: str, feeding: bool) -> None:
    model = model_of(order, feeding)
    source, target = batch_of()
    for rows in ([2, 0, 1], [1, 1], [0, 0, 1, 1, 2, 2]):
        rows = torch.tensor(rows)
        wanted = model(source[rows], target[rows], source_lengths=LENGTHS[rows])
        state = model.start(source, LENGTHS)
        _, state = model.step(target[:, 0], state)
        state = model.reorder(state, rows)
        for t in range(1, 5):
            logits, state = model.step(target[rows, t], state)
            close(logits, wanted[:, t])


def test_rows_of_one_sentence_trade_places_without_moving_its_memory() -> None:
    model = model_of()
    source, target = batch_of()
    state = model.reorder(model.start(source, LENGTHS), torch.tensor([0, 0, 1, 1]))
    _, state = model.step(target[[0, 0, 1, 1], 0] + torch.arange(4), state)
    other = model.reorder(state, torch.tensor([1, 1, 3, 2]))
    assert other.memory is state.memory
    assert torch.equal(other.hidden, state.hidden[[1, 1, 3, 2]])
    moved = model.reorder(state, torch.tensor([2, 0, 1, 3]))
    assert torch.equal(moved.memory.values, state.memory.values[[2, 0, 1, 3]])


def calls_of(module: nn.Module) -> list[int]:
    calls: list[int] = []
    module.register_forward_hook(lambda *_: calls.append(1))
    return calls


def test_luongs_teacher_forcing_is_one_call_and_bahdanaus_keys_are_projected_once() -> None:
    source, target = batch_of()
    luong = model_of("luong")
    states, queries = calls_of(luong.decoder.gru), calls_of(luong.decoder.score.query)
    luong(source, target, source_lengths=LENGTHS)
    assert len(states) == len(queries) == 1
    bahdanau = model_of("bahdanau")
    keys, queries = (calls_of(getattr(bahdanau.decoder.score, n)) for n in ("key", "query"))
    bahdanau(source, target, source_lengths=LENGTHS)
    assert len(keys) == 1
    assert len(queries) == target.shape[1]
    state = bahdanau.start(source, LENGTHS)
    for t in range(3):
        _, state = bahdanau.step(target[:, t], state)
        state = bahdanau.reorder(state, torch.tensor([1, 0, 2]))
    assert len(keys) == 2


class Concat(nn.Module):
    """Luong's concat, v · tanh(W [s; h]), or without its tanh."""

    def __init__(self, tanh: bool) -> None:
        super().__init__()
        self.hidden, self.energy = nn.Linear(2 * D, 7), nn.Linear(7, 1)
        self.tanh = tanh

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        n_q, n_k = query.shape[-2], key.shape[-2]
        pairs = [query[:, :, None].expand(-1, -1, n_k, -1), key[:, None].expand(-1, n_q, -1, -1)]
        hidden = self.hidden(torch.cat(pairs, dim=-1))
        return self.energy(torch.tanh(hidden) if self.tanh else hidden).squeeze(-1)


@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_a_linear_score_of_both_cannot_see_the_decoder(order: str) -> None:
    """Without tanh the state adds one number to all energies of a row: the softmax drops it."""
    source, target = batch_of()
    for tanh in (False, True):
        torch.manual_seed(0)
        model = RNNSeq2Seq(SOURCE, TARGET, D, order=order, score=Concat(tanh)).double().eval()
        weights = model.weights(source, target, source_lengths=LENGTHS)
        change = (weights - weights[:, :1]).abs().amax()  # against the first step's
        assert change > 1e-4 if tanh else change < 1e-12


@every_model
def test_gradients_reach_every_parameter(order: str, feeding: bool, score: str) -> None:
    model = model_of(order, feeding, score)
    source, target = batch_of()
    logits = model(source, target, source_lengths=LENGTHS)
    logits.logsumexp(dim=-1).sum().backward()
    unreached = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not unreached


def test_nothing_is_dropped_unless_it_is_asked_for() -> None:
    model, (source, target) = RNNSeq2Seq(20, 20, 4), batch_of()
    found = model(source, target, source_lengths=LENGTHS)
    close(found, model.eval()(source, target, source_lengths=LENGTHS))


def test_gradients_agree_with_finite_differences() -> None:
    source, target = batch_of(torch.tensor([2, 1]), n_t=2)
    for order, feeding in ORDERS:
        model = model_of(order, feeding)
        weights = [p for n, p in model.named_parameters() if "embedding" not in n]

        def run(*_, model=model):
            return model(source, target, source_lengths=torch.tensor([2, 1]))

        assert torch.autograd.gradcheck(run, weights, fast_mode=True)
