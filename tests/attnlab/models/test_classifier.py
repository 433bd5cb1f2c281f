"""The classifier of 2016: its formulas, its padding, what it learns that a bag of words cannot."""

import math
from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnlab.language import Vocabulary
from attnlab.language.texts import opinions
from attnlab.models.classifier import BiLSTMClassifier, classification_loss, labelled_batches
from attnlab.training import train
from attnlab.training.seeds import seeded
from tests.attnbook.strategies import close

WORDS, CLASSES, D, HIDDEN = 11, 3, 5, 4
LENGTHS = torch.tensor([4, 6, 1])


def model_of(**options) -> BiLSTMClassifier:
    with seeded(0):
        model = BiLSTMClassifier(WORDS, CLASSES, d_model=D, d_hidden=HIDDEN, **options)
    return model.double().eval()


def tokens_of(lengths: Tensor = LENGTHS, width: int = 6, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, WORDS, (len(lengths), width), generator=generator)
    return tokens.masked_fill(torch.arange(width) >= lengths[:, None], 0)


def lstm_by_hand(words: Tensor, w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor) -> list[Tensor]:
    h, c, states = words.new_zeros(HIDDEN), words.new_zeros(HIDDEN), []
    for word in words:
        into, forget, new, out = (w_x @ word + b_x + w_h @ h + b_h).chunk(4)
        c = torch.sigmoid(forget) * c + torch.sigmoid(into) * torch.tanh(new)
        h = torch.sigmoid(out) * torch.tanh(c)
        states.append(h)
    return states


def by_hand(model: BiLSTMClassifier, sentence: list[int]) -> tuple[Tensor, Tensor]:
    """Return the logits (classes,) and the weights (n,) of one sentence, word by word."""
    words = model.embedding.weight[sentence]
    forward, backward = model.lstm.all_weights
    ahead = lstm_by_hand(words, *forward)
    back = lstm_by_hand(words.flip(0), *backward)[::-1]
    states = [a + b for a, b in zip(ahead, back, strict=True)]
    w = model.score.weight[0]
    exponentials = [math.exp((w @ torch.tanh(h)).item()) for h in states]
    weights = [e / sum(exponentials) for e in exponentials]
    summary = sum(a * h for a, h in zip(weights, states, strict=True))
    logits = model.output.weight @ torch.tanh(summary) + model.output.bias
    return logits, torch.tensor(weights, dtype=torch.float64)


def test_the_model_is_its_formulas_word_by_word() -> None:
    model, tokens = model_of(), tokens_of()
    logits = model(tokens, lengths=LENGTHS)
    weights = model.weights(tokens, lengths=LENGTHS)
    assert logits.shape == (3, CLASSES)
    assert weights.shape == (3, 6)
    for i, n in enumerate(LENGTHS.tolist()):
        wanted, seen = by_hand(model, tokens[i, :n].tolist())
        close(logits[i], wanted)
        close(weights[i, :n], seen)
        assert not weights[i, n:].any()
    close(weights.sum(dim=1), torch.ones(3).double())


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    wider=st.integers(0, 4),
    filler=st.integers(0, WORDS - 1),
    seed=st.integers(0, 99),
)
def test_mates_and_padding_change_nothing(lengths, wider, filler, seed) -> None:
    model, counts = model_of(), torch.tensor(lengths)
    width = max(lengths) + wider
    tokens = tokens_of(counts, width, seed)
    tokens[torch.arange(width) >= counts[:, None]] = filler
    logits = model(tokens, lengths=counts)
    weights = model.weights(tokens, lengths=counts)
    for i, n in enumerate(lengths):
        alone, own = tokens[i : i + 1, :n], counts[i : i + 1]
        close(logits[i : i + 1], model(alone, lengths=own))
        close(weights[i : i + 1, :n], model.weights(alone, lengths=own))
        assert not weights[i, n:].any()


def test_the_gradient_is_right_and_reaches_every_weight_but_no_padding() -> None:
    model, tokens = model_of(), tokens_of()
    assert torch.autograd.gradcheck(
        lambda *_: model(tokens, lengths=LENGTHS), tuple(model.parameters())
    )
    model(tokens, lengths=LENGTHS).square().sum().backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    assert all(gradient.abs().max() > 0 for gradient in gradients.values())
    assert not gradients["embedding.weight"][0].any()  # 0 is padding


def test_dropout_is_for_training_alone() -> None:
    model, tokens = model_of(dropout=0.5), tokens_of()
    close(model(tokens, lengths=LENGTHS), model(tokens, lengths=LENGTHS))
    close(model(tokens, lengths=LENGTHS), model_of(dropout=0.0)(tokens, lengths=LENGTHS))
    model.train()
    with seeded(0):
        first, second = (model(tokens, lengths=LENGTHS) for _ in range(2))
    assert (first - second).abs().max() > 1e-3


EXAMPLES = [([3 + k % 5] * (1 + k % 4), k % CLASSES) for k in range(10)]


def rows_of(batches: list) -> list[tuple[tuple[int, ...], int]]:
    return [
        (tuple(row[:n].tolist()), int(label))
        for batch in batches
        for row, n, label in zip(*batch, strict=True)
    ]


def test_batches_hold_every_example_and_the_loss_averages_minus_log_p() -> None:
    wanted = [(tuple(words), label) for words, label in EXAMPLES]
    assert rows_of(labelled_batches(EXAMPLES, 4)) == wanted
    shuffled = [rows_of(labelled_batches(EXAMPLES, 4, seed=seed)) for seed in (0, 1, 0)]
    assert shuffled[0] == shuffled[2] != shuffled[1]
    assert Counter(shuffled[0]) == Counter(shuffled[1]) == Counter(wanted)
    assert all(part.dtype == torch.int64 for part in labelled_batches(EXAMPLES, 4)[0])
    model, (batch,) = model_of(), labelled_batches(EXAMPLES, 10)
    wanted = 0.0
    for words, label in EXAMPLES:
        logits, _ = by_hand(model, words)
        wanted -= logits.log_softmax(dim=0)[label] / len(EXAMPLES)
    close(classification_loss(model, batch), wanted)


def test_it_learns_which_of_two_words_comes_first() -> None:
    generator = torch.Generator().manual_seed(0)
    examples = []
    for k in range(256):
        words = torch.randint(5, WORDS, (8,), generator=generator)
        a, b = sorted(torch.randperm(8, generator=generator)[:2].tolist())
        words[a], words[b] = (3, 4) if k % 2 else (4, 3)
        examples.append((words.tolist(), k % 2))
    with seeded(0):
        model = BiLSTMClassifier(WORDS, d_model=8, d_hidden=8, dropout=0.0)
    cut = labelled_batches(examples[:192], 32)
    history = train(model, cut, classification_loss, steps=150, lr=0.02, progress=False)
    assert history.losses[0] > 0.6
    (unseen,) = labelled_batches(examples[192:], 64)
    says = model(unseen.tokens, lengths=unseen.lengths).argmax(dim=-1)
    assert (says == unseen.labels).double().mean() >= 0.95


def test_it_learns_opinions_that_a_bag_of_words_cannot() -> None:
    known = opinions().train
    vocabulary = Vocabulary([one.words for one in known], min_count=2, unknown="<unk>")
    examples = [(vocabulary.encode(one.words), one.label) for one in known]
    with seeded(0):
        model = BiLSTMClassifier(len(vocabulary))
    train(
        model,
        lambda epoch: labelled_batches(examples, 32, seed=epoch),
        classification_loss,
        steps=350,
        lr=3e-3,
        progress=False,
    )
    (every,) = labelled_batches(examples, len(examples))
    right = model(every.tokens, lengths=every.lengths).argmax(dim=-1) == every.labels
    pairs = torch.tensor([one.kind == "order" for one in known])
    assert right[~pairs].double().mean() >= 0.95
    assert right[pairs].double().mean() >= 0.8  # one bag for two labels: a count gets 0.5
    asked = opinions().test
    coded = [(vocabulary.encode(one.words), one.label) for one in asked]
    (new,) = labelled_batches(coded, len(coded))
    right = model(new.tokens, lengths=new.lengths).argmax(dim=-1) == new.labels
    assert right.double().mean() >= 0.62  # chance is 0.5, ± 0.034
