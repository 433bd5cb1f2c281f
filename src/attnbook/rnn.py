"""Recurrent sequence to sequence: a GRU reads the source, another writes the target.

The writer looks back at the source in one of three orders. With "none" it has only the fixed-size
vector in which the reader ended. In Bahdanau's order the previous state s_{t−1} asks, and the
answer goes into the GRU; in Luong's the new state s_t asks, and the answer goes past the GRU.

Sizes: b sentences, n_s source and n_t target tokens, one width d = ``d_model``. Padding stands on
the right and changes nothing.
"""

from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnbook import _check, _core
from attnbook.attention import Attended, masked_softmax
from attnbook.masks import padding_mask
from attnbook.scores import Score, project_key, scaled_dot, score_projected

Order = Literal["none", "bahdanau", "luong"]


class Encoded(NamedTuple):
    """A read source: annotations h_j (b, n_s, d), 0 on padding, and their summary (b, d)."""

    annotations: Tensor
    summary: Tensor


class SourceMemory(NamedTuple):
    """What a decoder looks at: projected keys (b, n_s, …), values (b, n_s, d), mask (b, 1, n_s)."""

    keys: Tensor
    values: Tensor
    mask: Tensor


class DecoderState(NamedTuple):
    """A decoder between two steps: of each row s_t (rows, d), with input feeding h̃_t (rows, d), its
    memory (None without attention), and which sentence of the batch it is (rows,).
    """

    hidden: Tensor
    fed: Tensor | None
    memory: SourceMemory | None
    sentence: Tensor


class RNNEncoder(nn.Module):
    """Read a sentence in both directions: h_j = [→h_j; ←h_j], two GRUs of d/2 numbers each.

    The summary s_0 = tanh(W [→h_n; ←h_1]) joins the states in which the two readers end. Sentences
    are packed, so ``torch.compile`` breaks its graph here, and export and ``torch.vmap`` refuse.

    Shapes: source (b, n_s) int64, lengths (b,) int64 from 1 to n_s; returns ``Encoded``.
    Raises: ValueError for an odd ``d_model``, tokens outside the vocabulary, and lengths beyond
    n_s; RuntimeError for an empty sentence.
    Source: Bahdanau, Cho and Bengio (2015), section 3.2 and appendix A.2.1.
    """

    def __init__(self, vocabulary: int, d_model: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        _check.multiple("d_model", d_model, "the number of directions", 2)
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(d_model, d_model // 2, batch_first=True, bidirectional=True)
        self.summary = nn.Linear(d_model, d_model)

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Return the annotations and the summary of each sentence."""
        _check.shapes(source=(source, "b n_s"), source_lengths=(lengths, "b"))
        _check.ids("source", source, self.embedding.num_embeddings)
        _check.ids("source_lengths", lengths.cpu(), source.shape[1] + 1)
        embedded = self.dropout(self.embedding(source))  # (b, n_s, d)
        # packed, so that ←h begins at a sentence's own end, not in its padding
        packed = pack_padded_sequence(embedded, lengths.cpu(), True, enforce_sorted=False)
        annotations, last = self.gru(packed)  # last: (2, b, d/2), →h_n and ←h_1
        annotations, _ = pad_packed_sequence(annotations, True, total_length=source.shape[1])
        return Encoded(annotations, torch.tanh(self.summary(torch.cat([*last], dim=-1))))


class AttentionDecoder(nn.Module):
    """Write a sentence token by token, from the summary s_0 and the annotations h_j.

    With y_{t−1} the embedding of the token before and c(s) = Σ_j α_j h_j, where α is the softmax
    of score(s, h_j) over the sentence's own words:

        none        s_t = GRU(y_{t−1}, s_{t−1})                     h̃_t = s_t
        bahdanau    s_t = GRU([y_{t−1}; c(s_{t−1})], s_{t−1})       h̃_t = tanh(W [c(s_{t−1}); s_t])
        luong       s_t = GRU(y_{t−1}, s_{t−1})                     h̃_t = tanh(W [c(s_t); s_t])

    and logits_t = W_o h̃_t. With ``input_feeding`` Luong's GRU reads [y_{t−1}; h̃_{t−1}], h̃_0 = 0;
    without it teacher forcing computes all states in one call and all of the attention in another.
    Bahdanau's last layer is a maxout over y_{t−1} too; here it is Luong's, so that nothing differs
    but the order. ``score`` takes (b, n_q, d) and (b, n_s, d) and gives (b, n_q, n_s). Where it
    goes step by step, a traced decoder takes targets as long as the example's alone.

    Raises: ValueError for an unknown order, input feeding in another order than Luong's, tokens
    outside the vocabulary, a target of other sentences, and a score that returns another shape.
    Source: Bahdanau, Cho and Bengio (2015), section 3.1; Luong, Pham and Manning (2015),
    sections 3.1 and 3.3.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        order: Order = "bahdanau",
        score: Score = scaled_dot,
        input_feeding: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        _check.one_of("order", order, ("none", "bahdanau", "luong"))
        if input_feeding and order != "luong":
            raise _check.wrong("input_feeding", "be False unless order='luong'", input_feeding)
        self.order, self.input_feeding = order, input_feeding
        attends, wide = order != "none", order == "bahdanau" or input_feeding
        self.score = score if attends else None
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(2 * d_model if wide else d_model, d_model, batch_first=True)
        self.combine = nn.Linear(2 * d_model, d_model, bias=False) if attends else nn.Identity()
        self.output = nn.Linear(d_model, vocabulary)

    def start(self, encoded: Encoded, lengths: Tensor) -> DecoderState:
        """Return the state before the first token, one row for each sentence of lengths (b,)."""
        annotations, summary = encoded
        _check.shapes(annotations=(annotations, "b n_s d"), source_lengths=(lengths, "b"))
        fed = torch.zeros_like(summary) if self.input_feeding else None
        memory = None
        if self.score is not None:  # the keys are projected here, once for the whole sentence
            mask = padding_mask(lengths, annotations.shape[1])
            memory = SourceMemory(project_key(self.score, annotations), annotations, mask)
        sentence = torch.arange(summary.shape[0], device=summary.device)
        return DecoderState(summary, fed, memory, sentence)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Return the logits (rows, vocabulary) that follow tokens (rows,), and the new state."""
        word = self._embed("tokens", tokens, state, "rows")
        vector, state, _ = self._advance(word, state)
        return self.output(self.dropout(vector)), state

    def forward(self, target: Tensor, state: DecoderState) -> Tensor:
        """Return the logits (b, n_t, vocabulary) that follow each of target (b, n_t)."""
        return self.output(self.vectors(target, state))

    def vectors(self, target: Tensor, state: DecoderState) -> Tensor:
        """Return the vectors h̃ (b, n_t, d) of which the last layer makes the logits."""
        return self.dropout(self._teacher_forced(target, state)[0])

    def weights(self, target: Tensor, state: DecoderState) -> Tensor:
        """Return α (b, n_t, n_s): where each step looks while it reads ``target``."""
        if self.score is None:
            raise ValueError("order='none' has no weights: this decoder does not attend")
        return cast(Tensor, self._teacher_forced(target, state)[1])

    def _embed(self, name: str, tokens: Tensor, state: DecoderState, form: str) -> Tensor:
        _check.shapes(state=(state.hidden, "rows d"), **{name: (tokens, form)})
        _check.ids(name, tokens, self.embedding.num_embeddings)
        return self.dropout(self.embedding(tokens))

    def _teacher_forced(self, target: Tensor, state: DecoderState) -> tuple[Tensor, Tensor | None]:
        """Return all h̃ (b, n_t, d) and all α (b, n_t, n_s)."""
        embedded = self._embed("target", target, state, "rows n_t")  # (b, n_t, d)
        if self.order == "bahdanau" or self.input_feeding:
            vectors, rows = [], []
            for word in embedded.unbind(dim=1):  # (b, d)
                vector, state, weights = self._advance(word, state)
                vectors.append(vector)
                rows.append(weights)
            return torch.stack(vectors, dim=1), torch.stack(rows, dim=1)
        hidden, _ = self.gru(embedded, state.hidden[None].contiguous())  # (b, n_t, d)
        if self.order == "none":
            return hidden, None
        context, weights = self._look(hidden, state.memory)
        return self._combine(context, hidden), weights

    def _advance(
        self, word: Tensor, state: DecoderState
    ) -> tuple[Tensor, DecoderState, Tensor | None]:
        """Take one step for words (rows, d): the formulas of the class, line by line."""
        context = weights = None
        if self.order == "bahdanau":
            context, weights = self._look_once(state.hidden, state.memory)
            word = torch.cat([word, context], dim=-1)
        elif self.input_feeding:
            word = torch.cat([word, cast(Tensor, state.fed)], dim=-1)
        hidden = torch.gru_cell(word, state.hidden, *self.gru.all_weights[0])  # (rows, d)
        if self.order == "luong":
            context, weights = self._look_once(hidden, state.memory)
        vector = hidden if context is None else self._combine(context, hidden)
        fed = vector if self.input_feeding else None
        return vector, state._replace(hidden=hidden, fed=fed), weights

    def _look(self, query: Tensor, memory: SourceMemory | None) -> Attended:
        """Attend with queries (b, n_q, d): the context (b, n_q, d) and its weights."""
        keys, values, mask = cast(SourceMemory, memory)
        query = query.to(values.dtype)  # autocast may have made them differ
        scores = score_projected(cast(Score, self.score), query, keys)
        _core.check_energies(scores, query, values)
        weights = masked_softmax(scores, mask)  # (b, n_q, n_s)
        return Attended(weights.to(values.dtype) @ values, weights)

    def _look_once(self, query: Tensor, memory: SourceMemory | None) -> Attended:
        context, weights = self._look(query[:, None], memory)
        return Attended(context[:, 0], weights[:, 0])  # (rows, d), (rows, n_s)

    def _combine(self, context: Tensor, hidden: Tensor) -> Tensor:
        return torch.tanh(self.combine(torch.cat([context, hidden], dim=-1)))


class RNNSeq2Seq(nn.Module):
    """Translate with an ``RNNEncoder`` and an ``AttentionDecoder`` of one width; a ``Stepper``.

    ``target``, which the decoder reads, begins with bos (teacher forcing); logits[:, t] predicts
    the token after target[:, t]. The options are those of ``AttentionDecoder``.

    Shapes: source (b, n_s), target (b, n_t), source_lengths (b,), all int64; logits
    (b, n_t, target_vocabulary).
    Raises: as ``RNNEncoder`` and ``AttentionDecoder``.
    """

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabulary: int,
        d_model: int,
        *,
        order: Order = "bahdanau",
        score: Score = scaled_dot,
        input_feeding: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.encoder = RNNEncoder(source_vocabulary, d_model, dropout=dropout)
        self.decoder = AttentionDecoder(
            target_vocabulary,
            d_model,
            order=order,
            score=score,
            input_feeding=input_feeding,
            dropout=dropout,
        )

    def forward(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return the logits (b, n_t, target_vocabulary)."""
        return self.decoder(target, self.start(source, source_lengths))

    def vectors(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return the vectors (b, n_t, d_model) of which the last layer makes the logits."""
        return self.decoder.vectors(target, self.start(source, source_lengths))

    def weights(self, source: Tensor, target: Tensor, *, source_lengths: Tensor) -> Tensor:
        """Return where each step looks (b, n_t, n_s); each row sums to 1, padding has 0."""
        return self.decoder.weights(target, self.start(source, source_lengths))

    def start(self, source: Tensor, source_lengths: Tensor) -> DecoderState:
        """Read b sentences; return the state before the first token."""
        return self.decoder.start(self.encoder(source, source_lengths), source_lengths)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Return the logits (rows, target_vocabulary) that follow tokens (rows,)."""
        return self.decoder.step(tokens, state)

    def reorder(self, state: DecoderState, rows: Tensor) -> DecoderState:
        """Choose rows (m,) of a state, with repetition."""
        sentence, memory = state.sentence.index_select(0, rows), state.memory
        # rows of one sentence have one memory: where the sentences stay, nothing need be moved
        if memory is not None and not torch.equal(sentence, state.sentence):
            memory = SourceMemory(*(part[rows] for part in memory))
        fed = None if state.fed is None else state.fed[rows]
        return DecoderState(state.hidden[rows], fed, memory, sentence)
