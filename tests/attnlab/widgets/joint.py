"""A joint set of pieces and a small model that reads and writes with it, for the tests."""

import functools

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer

from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language import batches, english_french
from attnlab.training import train
from attnlab.training.seeds import seeded
from attnlab.widgets import Translator

SPECIAL = ["<pad>", "<bos>", "<eos>"]
SPACED = r"▁?\w+(?:[-'’]\w+)*|▁?[^\w▁]|▁"  # a word with its space, or a sign with its own


@functools.cache
def lines() -> list[tuple[str, str]]:
    """Pairs of the book's corpus as lines, with a capital and a full stop."""
    pairs = english_french(200, one_clause=True).test
    both = [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
    return [(f"{source.capitalize()}.", f"{target.capitalize()}.") for source, target in both]


@functools.cache
def sentences() -> list[str]:
    """The lines of both languages, with more signs."""
    found = [text.rstrip(".") for pair in lines() for text in pair]
    signs = [".", "!", " ?", ", isn't it?", " (2 x 40 cm²)", " – très bien…"]
    return [f"{text}{signs[at % len(signs)]}" for at, text in enumerate(found)]


def trained(
    normalise=None,
    cut=None,
    join=None,
    after=None,
    *,
    pieces: int = 300,
    unknown: str | None = "<unk>",
    **options,
) -> Tokenizer:
    """A BPE of the corpus."""
    tokenizer = Tokenizer(models.BPE(unk_token=unknown, **options))
    for name, part in (("normalizer", normalise), ("pre_tokenizer", cut), ("decoder", join)):
        if part is not None:
            setattr(tokenizer, name, part)
    special = [*SPECIAL, *([unknown] if unknown else [])]
    named = ("continuing_subword_prefix", "end_of_word_suffix")
    kept = {name: options[name] for name in named if name in options}
    trainer = BpeTrainer(vocab_size=pieces, special_tokens=special, show_progress=False, **kept)
    tokenizer.train_from_iterator(sentences(), trainer)
    if after is not None:
        tokenizer.post_processor = after
    return tokenizer


@functools.cache
def joint() -> Tokenizer:
    """Pieces that carry the space before them, as the book's program for real text makes them."""
    return trained(
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        pre_tokenizers.Split(Regex(SPACED), "isolated"),
        decoders.Sequence([decoders.Fuse(), decoders.Replace("▁", " "), decoders.Strip(" ", 1, 0)]),
    )


def _marked() -> Tokenizer:
    end = processors.TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 2)])
    plain = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    return trained(plain, pre_tokenizers.Metaspace(), decoders.Metaspace(), end, fuse_unk=True)


def _unmarked() -> Tokenizer:
    mark = pre_tokenizers.Metaspace(prepend_scheme="never")
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), mark])
    return trained(normalizers.Strip(), cut, decoders.Metaspace(prepend_scheme="never"))


def _inside() -> Tokenizer:
    parts = normalizers.Lowercase(), pre_tokenizers.Whitespace(), decoders.WordPiece(prefix="##")
    return trained(*parts, continuing_subword_prefix="##")


def _ends() -> Tokenizer:
    signs = pre_tokenizers.Split(Regex(r"[.,!?()\[\]^'’-]"), "isolated")
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), signs])
    return trained(normalizers.Lowercase(), cut, decoders.BPEDecoder(), end_of_word_suffix="</w>")


def _without_unknown() -> Tokenizer:
    cut = pre_tokenizers.Split(Regex(r"\s+|\d"), "removed")
    return trained(normalizers.Replace("'", " "), cut, unknown=None)


def _alone() -> Tokenizer:
    return trained(None, pre_tokenizers.Split(Regex(r"\p{L}+|\p{Nd}{2}"), "removed", invert=True))


def _uncut() -> Tokenizer:
    return trained(normalizers.Prepend("▁"))


# all that a page can follow, each with something else
SEVERAL = {
    "spaces carried": joint,
    "metaspace, and an end": _marked,
    "metaspace never first": _unmarked,
    "inner pieces marked": _inside,
    "ends marked": _ends,
    "nothing unknown": _without_unknown,
    "words alone": _alone,
    "uncut": _uncut,
}


@functools.cache
def shared(norm: str = "pre", size: int | None = None) -> Seq2Seq:
    """A model whose source, target and output share one matrix, with random weights."""
    sizes = {"d_model": 128, "n_heads": 4, "n_layers": 4, "d_ff": 256, "tied": True, "norm": norm}
    count = joint().get_vocab_size() if size is None else size
    with seeded(0):
        model = Seq2Seq(count, count, ModelConfig(**sizes))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.02)  # biases and norms too
    model.embed_source.tokens = model.embed_target.tokens
    return model.eval()


@functools.cache
def learned() -> Seq2Seq:
    """A small one that knows some lines by heart."""
    known = [(encoded(text), encoded(other)) for text, other in lines()[:8]]
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_ff": 64, "tied": True}
    count = joint().get_vocab_size()
    with seeded(0):
        model = Seq2Seq(count, count, ModelConfig(**sizes))
    model.embed_source.tokens = model.embed_target.tokens
    steps = {"steps": 100, "lr": 1e-2, "seed": 0, "progress": False}
    train(model, lambda epoch: batches(known, 8, seed=epoch), **steps)
    return model.eval()


def encoded(text: str) -> list[int]:
    return joint().encode(text).ids


def translator(sentence: str | None = None, model: Seq2Seq | None = None, **options) -> Translator:
    given = {"sentence": lines()[0][0] if sentence is None else sentence, "asset": "joint"}
    given["examples"] = [lines()[1][0]]
    return Translator(learned() if model is None else model, joint(), **(given | options))
