# ruff: noqa: E501
"""A damaged or unfit file is refused in words, and nothing on the disk is changed."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.optim import Adam

from attnlab.language import dependencies, readers, vectors
from attnlab.language.vocabulary import Vocabulary
from attnlab.pretrained import Pretrained, SmolLM
from attnlab.training import resume
from tests.attnlab.pretrained import tiny_bert, tiny_smollm

Change = Callable[[Path], Any]


class Damage(NamedTuple):
    """What an error says, what happens to a whole file before, and how it is read then."""

    words: str
    change: Change = lambda folder: None
    options: Mapping[str, Any] = MappingProxyType({})
    error: type[Exception] = ValueError


class File(NamedTuple):
    """Who reads a file, what writes one that is whole into a folder, and what damages it."""

    of: str
    write: Change
    read: Callable[..., Any]
    damages: tuple[Damage, ...]


def nothing(folder: Path) -> None: ...


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path)


def without(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def gone(name: str, words: str = "^there is no file .*") -> Damage:
    return Damage(rf"{words}\b{name}", without(name), error=FileNotFoundError)


def holding(name: str, content: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content)


def altered(name: str, how: Callable[[bytes], bytes]) -> Change:
    return lambda folder: (folder / name).write_bytes(how((folder / name).read_bytes()))


def cut(name: str, share: float = 0.99) -> Change:
    return altered(name, lambda data: data[: int(share * len(data))])


def saved(folder: Path, *, step: int = 1, of: nn.Module | None = None, **options: Any) -> Path:
    model = nn.Linear(2, 1)
    optimizer = Adam((of or model).parameters())
    return resume.save_checkpoint(folder, model, optimizer, step=step, **options)


def two(source: bytes, target: bytes) -> Change:
    return lambda folder: (holding("a.en", source)(folder), holding("a.fr", target)(folder))


def of_text(name: str, content: bytes, read: Change) -> tuple[Any, Any]:
    """What writes a file of that content, and reads it."""
    return holding(name, content), lambda folder, **options: read(folder / name, **options)


def of_heads(*heads: int) -> bytes:
    """The rows of a tree whose words have these heads."""
    rows = (f"{i}\tI\t_\tPRON\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(heads, 1))
    return "".join(rows).encode()


def config(name: str = "config.json", /, **settings: Any) -> Change:
    return holding(name, json.dumps(settings).encode())


def other(**changed: Any) -> Change:
    return config(**tiny_bert.CONFIG | changed)


def setting(name: str, value: Any) -> Change:
    return partial(tiny_smollm.write, changed={name: value})


WORDS = Vocabulary([["a", "b"]])
NAMES = ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors")
SHORT = {key: value for key, value in tiny_bert.CONFIG.items() if key != "vocab_size"}
QUERY, BERT = "encoder.layer.1.attention.self.query.bias", r"must belong to a BERT: "
FEWER = {name: x for name, x in tiny_bert.weights(tiny_bert.CONFIG).items() if name != QUERY}
GGUF, KIND = "tiny.gguf", r"tiny\.gguf must hold a SmolLM2: "
ASKED, DOWN = "blk.1.attn_q.weight", "blk.0.ffn_down.weight"
FILES = (
    File("training.resume.read_checkpoint", saved, resume.read_checkpoint, (Damage(r"must hold a checkpoint", empty),)),
    File("training.resume.Checkpoint", saved, lambda folder, n=2: resume.read_checkpoint(folder).load_into(nn.Linear(n, 1)), (Damage(r"'weight' has the shape \(1, 2\) there and \(1, 3\) in the model", options={"n": 3}),)),
    File("training.resume.save_checkpoint", nothing, saved, (
        Damage(r"must not hold step 1 already", saved),
        Damage(r"nor a later one: it holds step-00000005", partial(saved, step=5)),
        *(Damage(rf"step must be a whole number of at least 0: it is {step!r}", options={"step": step}) for step in (-1, 2.5, True)),
        Damage(r"run must be a dictionary: it is a list", options={"run": []}, error=TypeError),
        Damage(r"best must have the shapes of model's", options={"best": {}}),
        Damage(r"it has \{'weight': \(3, 3\)\}", options={"best": {"weight": torch.ones(3, 3)}}),
        Damage(r"must move weights of model", options={"of": nn.Linear(2, 1)}),
    )),
    File("language.vocabulary.Vocabulary", lambda folder: WORDS.save(folder / "words"), lambda folder: Vocabulary.load(folder / "words"), (
        *(Damage(r"words is not a vocabulary", holding("words", content)) for content in (b"", b"[1, 2", b"[]", b'{"tokens": ["a"]}')),
        *(Damage(r"words is not a vocabulary", holding("words", b'{"tokens": %b, "unknown": %b}' % wrong)) for wrong in ((b"[1]", b"null"), (b'"abc"', b"null"), (b'["a"]', b"3"))),
        Damage(r"'a' is there twice", holding("words", b'{"tokens": ["a", "b", "a"], "unknown": null}')),
        gone("words", "No such file .*"),
    )),
    File("language.readers.read_aligned", two(b"a\nb", b"a\nb"), lambda folder: readers.read_aligned(folder / "a.en", folder / "a.fr"), (
        *(Damage(rf"must have as many lines: .*a\.en has {n}, .*a\.fr has {m}", two(b"a\n" * n, b"b\n" * m)) for n, m in ((5, 3), (3, 5), (0, 2), (3, 4))),
        Damage(r"a\.fr, line 2: this is not UTF-8", two(b"a\nb", b"a\n\xff")),
        *map(gone, ("a.en", "a.fr")),
    )),
    File("language.readers.read_multi30k", two(b"a", b"b"), lambda folder: readers.read_multi30k(folder, "a"), (gone("a.fr", "^there is neither "),)),
    File("language.dependencies.read_trees", *of_text("a.conllu", of_heads(0), dependencies.read_trees), (
        Damage(r"line 1: words must be numbered from 1 to 2", holding("a.conllu", of_heads(0, 1).replace(b"2\t", b"3\t"))),
        Damage(r"line 1: heads must be whole numbers from 0 to 2", holding("a.conllu", of_heads(0, 3))),
        Damage(r"line 1: heads must be whole numbers from 0 to 1", holding("a.conllu", of_heads(0).replace(b"\t0\t", b"\t_\t"))),
        *(Damage(rf"line 1: one word must have the head 0: {n} have it", holding("a.conllu", of_heads(*heads))) for n, heads in ((2, (0, 0)), (0, (2, 1)))),
        Damage(r"line 2: word 2 has no way to the root: a circle", holding("a.conllu", b"# text\n" + of_heads(0, 3, 2))),
        Damage(r"line 3: one word must have the head 0", holding("a.conllu", of_heads(0) + b"\n" + of_heads(1))),
        Damage(r"a\.conllu, line 1: a word must have 10 columns with tabs between them: it has 3", holding("a.conllu", b"1\tI\t_\n")),
        Damage(r"a\.conllu, line 2: this is not UTF-8", holding("a.conllu", b"# hello\n\xff\n")),
        gone("a.conllu"),
    )),
    File("language.readers.read_tab_separated", *of_text("a.tsv", b"one\tun\n", readers.read_tab_separated), (
        *(Damage(rf"a\.tsv, line 2: there must be a source and a target .*{re.escape(repr(line))}", holding("a.tsv", f"one\tun\n{line}\n".encode())) for line in ("two", "two\t", "\tdeux")),
        Damage(r"a\.tsv, line 1: this is not UTF-8", holding("a.tsv", b"one\t\xff\n")),
        gone("a.tsv"),
    )),
    File("language.vectors.read_vectors", *of_text("v.txt", b"a 1 2\n", partial(vectors.read_vectors, vocabulary=WORDS)), (
        Damage(r"v\.txt must hold at least one of the vocabulary's 5 tokens: it holds none", holding("v.txt", b"")),
        Damage(r"v\.txt must hold at least one of the vocabulary's 5 tokens", holding("v.txt", b"x 1 2\n")),
        Damage(r"line 2: there must be a word and 2 numbers", holding("v.txt", b"a 1 2\nb 1\n")),
        Damage(r"line 1: there must be a word and 1 numbers", holding("v.txt", b"a\n")),
        Damage(r"line 2: there must be a word and 3 numbers", holding("v.txt", b"1 3\na 1 2\n")),
        Damage(r"line 2: a vector must hold finite numbers: 'x' is among them", holding("v.txt", b"a 1 2\nb 1 x\n")),
        Damage(r"line 1: a vector must hold finite numbers: 'nan' is among them", holding("v.txt", b"a 1 nan\n")),
        Damage(r"line 1: this is not UTF-8", holding("v.txt", b"a \xff\n")),
        gone("v.txt"),
        *(Damage(rf"^seed must be a whole number of at least 0: it is {seed!r}", options={"seed": seed}) for seed in (-1, 2.5, True)),
    )),
    File("pretrained.bert.Pretrained", tiny_bert.write, Pretrained, (
        *map(gone, NAMES),
        *(Damage(rf"\b{name} {BERT}", cut(name)) for name in NAMES),
        Damage(rf"\bconfig\.json {BERT}", holding("config.json", b"[3]")),
        Damage(rf"{BERT}'vocab_size' is missing", config(**SHORT)),
        Damage(r"model_type must be one of 'bert': it is 'gpt2'", other(model_type="gpt2")),
        Damage(r"positions must be one of 'absolute': it is 'relative_key'", other(position_embedding_type="relative_key")),
        Damage(r"activation must be one of 'relu', 'gelu'.*'gelu_new'", other(hidden_act="gelu_new")),
        Damage(rf"{BERT}'NoneType' object cannot be interpreted as an integer", other(num_hidden_layers=None)),
        Damage(rf"\bmodel\.safetensors {BERT}'encoder\.layer\.2\.attention\.self\.query\.weight' is missing", other(num_hidden_layers=3)),
        Damage(r"encoder\.layer\.0\.intermediate\.dense\.weight must have the shape \(11, 6\): its shape is \(10, 6\)", other(intermediate_size=11)),
        Damage(rf"'{QUERY}' is missing", lambda folder: save_file(FEWER, folder / "model.safetensors")),
        Damage(r"sentence_bert_config\.json must be a whole number of at least 1: it is None", config("sentence_bert_config.json", max_seq_length=None)),
    )),
    File("pretrained.smollm.SmolLM", tiny_smollm.write, lambda folder: SmolLM(folder / GGUF), (
        gone(GGUF),
        Damage(r"tiny\.gguf must be a whole file in the format GGUF: GGUF magic invalid", holding(GGUF, b"PK\x03\x04" * 99)),
        *(Damage(r"tiny\.gguf must be a whole file in the format GGUF", cut(GGUF, share)) for share in (0, 0.02, 0.2, 0.99)),
        Damage(r"general\.architecture must be one of 'llama': it is 'gpt2'", partial(tiny_smollm.write, architecture="gpt2")),
        Damage(r"tokenizer\.ggml\.model must be one of 'gpt2': it is 'llama'", setting("tokenizer.ggml.model", "llama")),
        Damage(r"tokenizer\.ggml\.pre must be one of 'smollm': it is 'llama-bpe'", setting("tokenizer.ggml.pre", "llama-bpe")),
        Damage(r"llama\.rope\.scaling\.type must be one of 'none': it is 'yarn'", setting("llama.rope.scaling.type", "yarn")),
        Damage(r"llama\.rope\.dimension_count must be one of 8: it is 4", setting("llama.rope.dimension_count", 4)),
        Damage(rf"{KIND}d_model must be a whole number of at least 1: it is '32'", setting("llama.embedding_length", "32")),
        Damage(rf"{KIND}n_heads must be a whole number of at least 1: it is 0", setting("llama.attention.head_count", 0)),
        Damage(rf"{KIND}n_heads must be a multiple of n_kv", setting("llama.attention.head_count_kv", 3)),
        Damage(rf"{KIND}'blk\.2\.attn_q\.weight' is missing", setting("llama.block_count", 3)),
        Damage(r"its weights must be those of a SmolLM2: .*blk\.1\.attn_v\.weight, ", setting("llama.block_count", 1)),
        Damage(r"must have the shape \(65, 32\): its", setting("llama.feed_forward_length", 65)),
        *(Damage(rf"{KIND}'{name}' is missing", partial(tiny_smollm.write, without=name)) for name in ("llama.context_length", "llama.rope.freq_base", "tokenizer.ggml.merges", "tokenizer.ggml.eos_token_id", ASKED, "output_norm.weight")),
        Damage(rf"{ASKED} must have the shape \(32, 32\): its shape is \(24, 32\)", partial(tiny_smollm.write, more={ASKED: torch.zeros(24, 32)})),
        Damage(rf"{DOWN} must have the shape \(32, 64\): its shape is \(32, 32\)", partial(tiny_smollm.write, more={DOWN: torch.zeros(32, 32)})),
        Damage(r"its weights must be those of a SmolLM2: rope_freqs\.weight is more", partial(tiny_smollm.write, more={"rope_freqs.weight": torch.zeros(4)})),
        Damage(KIND, setting("tokenizer.ggml.tokens", tiny_smollm.pieces()[:-1])),
    )),
)  # fmt: skip
CASES = [
    pytest.param(file, damage, id=f"{file.of}: {damage.words}")
    for file in FILES
    for damage in file.damages
]


def held(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.of)
def test_a_whole_file_is_taken(tmp_path: Path, file: File) -> None:
    file.write(tmp_path)
    file.read(tmp_path)


def read_whole(file: File, damage: Damage, folder: Path) -> None:
    found = file.read(folder, **damage.options)
    if isinstance(found, Iterator):
        assert damage.error is not FileNotFoundError  # that is raised by the call
        list(found)


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_a_bad_file_is_refused_and_left_alone(tmp_path: Path, file: File, damage: Damage) -> None:
    file.write(tmp_path)
    damage.change(tmp_path)
    before = held(tmp_path)
    with pytest.raises(damage.error, match=damage.words) as caught:
        read_whole(file, damage, tmp_path)
    assert type(caught.value) is damage.error
    assert held(tmp_path) == before
