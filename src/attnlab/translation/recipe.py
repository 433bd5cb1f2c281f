"""The recipe of a run: every choice that decides what is learnt, with its reason."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from attnlab import _check


def _choice(value: Any, why: str) -> Any:
    # the reason is the help of the command line too, so that it stands in one place
    return field(default=value, metadata={"why": why})


@dataclass(frozen=True)
class Recipe:
    """All that two runs must share to reach the same weights, bit for bit.

    Where the data lie, how long the clock may run and on how many processes is not part of it.

    Raises: ValueError that names the choice that cannot be.
    """

    pair: str = _choice("en-de", "languages, from-to, as the files' names have them")
    model: str = _choice("transformer", "transformer, or gru: lecture 3's decoder that attends")
    seed: int = _choice(0, "of the first weights, the order of the batches and dropout")
    share: float = _choice(1.0, "share of the training pairs, drawn by the seed")
    held_out: int = _choice(1_000, "pairs kept for validation where there is no file of them")

    # text: fewer pieces make the last layer cheaper and the sentences longer; on Multi30k's 29,000
    # pairs 4,000 pieces need the fewest multiplications a sentence, and 8,000 translate better
    vocabulary: int = _choice(8_000, "pieces of the joint BPE, with the four special ones")
    bpe_dropout: float = _choice(0.0, "share of the joins left out each time that a word is read")
    lower: str = _choice("none", "what is read in lower case: none, source or both")
    longest: int = _choice(100, "pairs with more pieces than this on a side are left out")

    # size: Wu et al.'s Transformer-Tiny, 2.3 M parameters here for its vocabulary is smaller
    d_model: int = _choice(128, "width of every vector")
    n_heads: int = _choice(4, "heads of the Transformer's attention")
    n_layers: int = _choice(4, "blocks of the encoder, and of the decoder")
    d_ff: int = _choice(256, "width inside the feed-forward networks")
    norm: str = _choice("pre", "pre-norm trains at higher rates; post is the original")

    # 29,000 pairs are few: without these the model learns them by heart
    dropout: float = _choice(0.3, "on embeddings and on what each part of a block adds")
    attention_dropout: float = _choice(0.0, "on attention's weights; 0 leaves the fused kernel")
    smoothing: float = _choice(0.1, "label smoothing: share of the target given to all pieces")

    # steps: small batches, for on few processors a pair is worth more in more updates
    tokens: int = _choice(2_048, "longer side's pieces in a batch, over all processes")
    lr: float = _choice(0.005, "highest learning rate")
    warmup: int = _choice(1_000, "steps in which the rate rises; then it falls as 1/√step")
    beta2: float = _choice(0.98, "Adam's memory of squared gradients: a short one, as in 2017")
    clip: float = _choice(1.0, "longest gradient")
    steps: int = _choice(10_000, "updates; --time may stop before")
    cooldown: float = _choice(0.25, "share of the steps, the last: the rate falls in a line to 0")

    # the mean of several weights of late training is better than each of them
    snapshot_every: int = _choice(250, "steps between two sets of weights that are kept")
    averaged: int = _choice(10, "how many of the last sets are averaged")
    validate_every: int = _choice(1_000, "steps between two validations of the averaged weights")

    beam: int = _choice(5, "hypotheses of the beam search")
    length_penalty: float = _choice(1.0, "α: a hypothesis is worth log p / length^α")

    def __post_init__(self) -> None:
        for one in fields(self):
            came, kind = getattr(self, one.name), type(one.default)
            fine = isinstance(came, int | float if kind is float else kind)
            fine = fine and not isinstance(came, bool)
            _check.must(fine, one.name, f"be of the kind {kind.__name__}", came)
        _check.one_of("model", self.model, ("transformer", "gru"))
        _check.one_of("lower", self.lower, ("none", "source", "both"))
        _check.one_of("norm", self.norm, ("pre", "post"))
        first, dash, second = self.pair.partition("-")
        alike = dash and first.isalnum() and second.isalnum() and first != second
        _check.must(alike, "pair", "be two languages with a dash between, such as en-de", self.pair)
        _check.must(0 < self.share <= 1, "share", "be above 0 and at most 1", self.share)
        _check.whole_number("vocabulary", self.vocabulary, at_least=5)
        _check.whole_number("tokens", self.tokens, at_least=2)  # a piece and the end
        _check.sizes(d_model=self.d_model, n_heads=self.n_heads, n_layers=self.n_layers)
        if self.model == "transformer":
            _check.multiple("d_model", self.d_model, "n_heads", self.n_heads)
        _check.must(self.d_model % 2 == 0, "d_model", "be even, for its positions", self.d_model)
        _check.sizes(d_ff=self.d_ff, longest=self.longest, warmup=self.warmup)
        _check.sizes(steps=self.steps, snapshot_every=self.snapshot_every, averaged=self.averaged)
        _check.sizes(validate_every=self.validate_every, beam=self.beam, held_out=self.held_out)
        _check.sizes(0, seed=self.seed)
        _check.must(self.seed < 1 << 63, "seed", "be below 2^63", self.seed)
        shares = "bpe_dropout", "dropout", "attention_dropout", "smoothing", "beta2", "cooldown"
        for name in shares:
            _check.probability(name, getattr(self, name))
        for name in ("lr", "clip"):
            _check.positive(name, getattr(self, name))
        fine = _check.is_number(self.length_penalty) and self.length_penalty >= 0
        _check.must(fine, "length_penalty", "be at least 0", self.length_penalty)

    @property
    def languages(self) -> tuple[str, str]:
        """The source's and the target's language."""
        source, _, target = self.pair.partition("-")
        return source, target

    def to_json(self) -> str:
        """Write the recipe as JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        """Read a file of what ``to_json`` wrote.

        Raises: ValueError for other text, or choices that this version does not know.
        """
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} cannot be read by this version: {error}") from error

    def unlike(self, other: "Recipe") -> list[str]:
        """Name every choice in which two recipes of one model differ, with both values.

        How many steps a run takes may differ: a run can be made longer. Its rate, where it had
        fallen, then rises again and falls at the new end.
        """
        mine, theirs = asdict(self), asdict(other)
        names = [name for name in mine if mine[name] != theirs[name] and name != "steps"]
        return [f"{name} is {theirs[name]!r} there and {mine[name]!r} here" for name in names]
