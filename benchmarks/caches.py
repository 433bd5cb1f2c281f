"""Measure what may be kept of a text while it is written: SmolLM2's caches, guesses, and MLA.

python benchmarks/caches.py            # some six minutes
python benchmarks/caches.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import NamedTuple

import smollm
import timing
import torch
from timing import Row, Times, ratio
from torch import Tensor

from attnbook.cache import KVCache
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.further.speculation import Speculated, look_up, speculate
from attnbook.latent import LatentAttention
from attnbook.masks import window_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import LanguageModel, LanguageModelState
from attnlab._console import any_letter
from attnlab.pretrained import SmolLM

AGAIN, FULL, WINDOW, PAGED = "no cache", "`KVCache`", "`RollingCache`", "`PagedCache`"
BITS = {"8 bits": 8, "4 bits": 4}
TEXTS = {  # those of lecture 13
    "a story": "My grandmother always told me that",
    "a list": (
        '[{"name": "Anna", "age": 31, "city": "Paris"},\n'
        ' {"name": "Ben", "age": 27, "city": "Rome"},\n {"name": "Clara", "age":'
    ),
    "a rewriting": (
        "<|im_start|>user\nWrite this again, with a dog instead of the cat: The cat sat by the"
        " window and looked at the rain. When the rain stopped, the cat went out and the cat was"
        " happy.<|im_end|>\n<|im_start|>assistant\n"
    ),
}
ABSORBED, UNABSORBED = "latent, absorbed", "latent, unabsorbed"
LAYER = "`MultiHeadAttention`"


class Sizes(NamedTuple):
    short: int  # tokens that can be read again for each new one
    long: int
    window: int
    written: int  # in one round
    guessed: int  # tokens that are written with guesses
    rounds: int
    latent: dict[str, int]  # of DeepSeek-V2-Lite


MLA = {"d_model": 2048, "n_heads": 16, "d": 128, "d_latent": 512, "d_rope": 64}
TINY = {"d_model": 32, "n_heads": 4, "d": 8, "d_latent": 16, "d_rope": 4}
WHOLE, QUICK = Sizes(512, 4096, 256, 4, 48, 7, MLA), Sizes(24, 48, 16, 2, 6, 2, TINY)
Runs = dict[str, Callable[[], object]]


class StoredCache(KVCache):
    """Keys and values as whole numbers of 8 or 4 bits, with one scale a row."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits, self.room = bits, 0
        self.parts: list[tuple[Tensor, Tensor]] = []  # numbers and scales, of keys and of values

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.length, self.length + key.shape[2]
        new = [packed(part, self.bits) for part in (key, value)]
        if end > self.room:
            self.room = max(end, 64, 2 * start)
            old, self.parts = self.parts, []
            for k, part in enumerate(new):
                b, h = key.shape[:2]
                empty = tuple(x.new_empty(b, h, self.room, x.shape[3]) for x in part)
                for wide, narrow in zip(empty, old[k] if old else part, strict=True):
                    wide[:, :, :start] = narrow[:, :, :start]
                self.parts.append((empty[0], empty[1]))
        for part, rows in zip(self.parts, new, strict=True):
            for kept, row in zip(part, rows, strict=True):
                kept[:, :, start:end] = row
        self.length = end
        keys, values = (unpacked(*(x[:, :, :end] for x in part), self.bits) for part in self.parts)
        return keys, values


class RoundedCache(KVCache):
    """What ``StoredCache`` gives back, kept in full."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return super().append(rounded(key, self.bits), rounded(value, self.bits))


def scales(x: Tensor, bits: int) -> Tensor:
    return x.abs().amax(-1, keepdim=True).clamp(min=1e-12) / (2 ** (bits - 1) - 1)


def rounded(x: Tensor, bits: int) -> Tensor:
    scale = scales(x, bits)
    return (x / scale).round() * scale


def packed(x: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Return whole numbers, two of 4 bits in a byte, and the scale of each row (…, 1)."""
    scale = scales(x, bits)
    whole = (x / scale).round().to(torch.int8)
    if bits == 4:
        low, high = (whole + 8).to(torch.uint8).chunk(2, dim=-1)
        whole = low | high << 4
    return whole, scale


def unpacked(whole: Tensor, scale: Tensor, bits: int) -> Tensor:
    if bits == 4:
        whole = torch.cat((whole & 15, whole >> 4), dim=-1).to(torch.int8) - 8
    return whole * scale


def kinds(model: LanguageModel, n: int, window: int) -> dict[str, list[KVCache]]:
    """Return empty caches of every kind, one for each block."""
    makers: dict[str, Callable[[], KVCache]] = {
        FULL: KVCache,
        WINDOW: functools.partial(RollingCache, window, sinks=4),
        PAGED: lambda: PagedCache(PagePool(n // 16 + 8)),
        **{name: functools.partial(StoredCache, bits) for name, bits in BITS.items()},
    }
    return {name: [make() for _ in model.decoder.blocks] for name, make in makers.items()}


def heads_of(model: LanguageModel) -> tuple[int, int, int]:
    """Return the numbers of blocks and of key heads, and the size of a key."""
    block = model.decoder.blocks[0].attention
    return len(model.decoder.blocks), block.n_kv_heads, block.d


def kept(model: LanguageModel, name: str, n: int, window: int) -> float:
    """Return the bytes that n tokens take in one kind of cache."""
    blocks, heads, d = heads_of(model)
    rows = 2 * blocks * heads * {AGAIN: 0, WINDOW: min(n, window)}.get(name, n)
    bits = BITS.get(name, 32)
    return rows * (d * bits / 8 + 4 * (bits < 32))


def again(model: LanguageModel, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the logits (b, vocabulary) after the last token, with everything read."""
    rows = model.decoder(model.embed(ids), mask, causal=True)
    return rows[:, -1] @ model.embed.tokens.weight.T


def read(model: LanguageModel, ids: Tensor, caches: list[KVCache]) -> Tensor:
    """Return the same logits, the last token read beside the caches of all before."""
    state = model.start(ids[:, :-1], torch.tensor([ids.shape[1] - 1]), caches=caches)
    return model.step(ids[:, -1], state)[0]


def compare(model: LanguageModel, n: int, window: int) -> None:
    """Stop unless every cache gives what it should."""
    ids = torch.randint(3, 50, (1, n))
    full, seen = again(model, ids), window_mask(n, n, window, sinks=4)
    wanted = {FULL: full, PAGED: full, WINDOW: again(model, ids, seen)}
    for name, bits in BITS.items():
        wanted[name] = read(model, ids, [RoundedCache(bits) for _ in model.decoder.blocks])
    for name, caches in kinds(model, n, window).items():
        logits = read(model, ids, caches)
        timing.same(f"logits after {n}, {name}", logits, wanted[name], tolerance=1e-3)


def fill(model: LanguageModel, caches: list[KVCache], n: int) -> None:
    """Put n tokens into the caches, by chance: time and memory do not hang on what they are."""
    _, heads, d = heads_of(model)
    for cache in caches:
        cache.append(*(torch.randn(1, heads, n, d) for _ in range(2)))


def go_on(model: LanguageModel, caches: list[KVCache], n: int) -> None:
    """Write n tokens greedily."""
    token, state = torch.tensor([3]), LanguageModelState(caches, None)
    for _ in range(n):
        logits, state = model.step(token, state)
        token = logits.argmax(dim=-1)


def rewrite(model: LanguageModel, ids: Tensor, n: int) -> None:
    """Write n tokens greedily, each time reading everything again."""
    for _ in range(n):
        ids = torch.cat((ids, again(model, ids).argmax(dim=-1)[:, None]), dim=1)


def writing(model: LanguageModel, n: int, sizes: Sizes) -> Times:
    """Return the times of writing some tokens after n in each kind of cache."""
    runs: Runs = {}
    for name, caches in kinds(model, n + 512, sizes.window).items():
        fill(model, caches, n)
        runs[name] = functools.partial(go_on, model, caches, sizes.written)
    if n == sizes.short:
        ids = torch.randint(3, 50, (1, n))
        runs[AGAIN] = functools.partial(rewrite, model, ids, sizes.written)
    return timing.interleaved(runs, sizes.rounds)


def memory(model: LanguageModel, name: str, n: int, window: int) -> float | None:
    """Return the MB that writing two tokens after n takes beside the model."""
    go_on(model, [KVCache() for _ in model.decoder.blocks], 1)
    if name == AGAIN:
        return timing.peak_memory(lambda: rewrite(model, torch.randint(3, 50, (1, n)), 2))

    def run() -> None:
        caches = kinds(model, n, window)[name]
        fill(model, caches, n)
        go_on(model, caches, 2)

    return timing.peak_memory(run)


def prompts(model: LanguageModel) -> tuple[dict[str, Tensor], int]:
    """Return the tokens of the texts, and which ends one; tokens by chance without a tokenizer."""
    if isinstance(model, SmolLM):
        return {name: model.encode(text)[0] for name, text in TEXTS.items()}, model.eos
    return {name: torch.randint(3, 50, (1, 20)) for name in TEXTS}, 2


def alone(model: LanguageModel, ids: Tensor, n: int, eos: int) -> list[int]:
    """Write at most n tokens greedily, up to eos."""
    state, token = model.start(ids[:, :-1], torch.tensor([ids.shape[1] - 1])), ids[:, -1]
    found: list[int] = []
    for _ in range(n):
        logits, state = model.step(token, state)
        token = logits.argmax(dim=-1)
        if token == eos:
            break
        found.append(int(token))
    return found


def speculation(model: LanguageModel, n: int, rounds: int) -> list[Row]:
    """Return for each text how many tokens a call writes, and how much faster that is."""
    rows, (texts, eos) = [], prompts(model)
    for name, ids in texts.items():

        def guess(ids: Tensor = ids) -> Speculated:
            return speculate(model, ids[0], look_up, guesses=7, max_length=n, eos=eos)

        greedy = functools.partial(alone, model, ids, n, eos)
        found = guess()
        timing.same(f"tokens, {name}, guessed", found.tokens, greedy())
        times = timing.interleaved({"guessed": guess, "alone": greedy}, rounds, warm_up=0)
        a_call = (len(found.tokens) + found.finished) / found.calls
        gained = f"{ratio(times, 'alone', 'guessed'):.2f} × as fast as one by one"
        rows.append(Row(f"guessed from the text, {name}", f"{a_call:.1f} tokens a call, {gained}"))
    return rows


def latent(sizes: dict[str, int], n: int) -> Runs:
    """Return one token's pass through a layer with n tokens in its cache."""
    torch.manual_seed(0)
    layer = LatentAttention(**sizes, d_v=sizes["d"]).eval()
    other = MultiHeadAttention(sizes["d_model"], sizes["n_heads"]).eval()
    x, caches = torch.randn(1, 1, sizes["d_model"]), [KVCache(), KVCache()]
    row = 1, 1, n, sizes["d_latent"] + sizes["d_rope"]
    caches[0].append(torch.randn(row), torch.empty(1, 1, n, 0))
    d = sizes["d_model"] // sizes["n_heads"]
    caches[1].append(*(torch.randn(1, sizes["n_heads"], n, d) for _ in range(2)))

    def run(way: Callable[..., Tensor], cache: KVCache) -> Tensor:
        output = way(x, cache=cache)
        cache.rewind(n)
        return output

    ways = {ABSORBED: functools.partial(layer, absorb=True)}
    ways[UNABSORBED] = functools.partial(layer, absorb=False)
    runs: Runs = {name: functools.partial(run, way, caches[0]) for name, way in ways.items()}
    timing.same(f"latent attention, {n} tokens", runs[ABSORBED](), runs[UNABSORBED]())
    return runs | {LAYER: functools.partial(run, functools.partial(other, causal=True), caches[1])}


def latent_table(times: Times, sizes: Sizes, quick: bool) -> str:
    of, lines = sizes.latent, []
    for name in times:
        numbers = of["d_latent"] + of["d_rope"] if name != LAYER else 2 * of["d_model"]
        peak = megabytes(quick, "latent", name, sizes.long)
        size = f"{4 * numbers * sizes.long / 1e6:.1f}"
        lines.append([name, f"{timing.milliseconds(times, name):.1f}", size, peak])
    head = [f"a token's pass, {sizes.long} in the cache", "ms", "kept, MB", "peak, MB"]
    return timing.table(head, lines)


def megabytes(quick: bool, what: str, name: str, n: int) -> str:
    more = ["--quick"] if quick else []
    size = timing.fresh("--memory-of", json.dumps([what, name, n]), *more, exact=True)
    return "–" if size is None else f"{size:.0f}"


def table(model: LanguageModel, times: dict[int, Times], sizes: Sizes, quick: bool) -> str:
    lines = []
    for name in times[sizes.short]:
        line = [name]
        for n, each in times.items():
            if name not in each:
                line += ["–"] * 3
                continue
            line += [f"{timing.milliseconds(each, name) / sizes.written:.1f}"]
            line += [f"{kept(model, name, n, sizes.window) / 1e6:.1f}"]
            line += [megabytes(quick, "cache", name, n)]
        lines.append(line)
    head = [f"{what}, n = {n}" for n in times for what in ("ms a token", "kept, MB", "peak, MB")]
    return timing.table(["cache", *head], lines)


def rows_of(times: dict[int, Times], sizes: Sizes) -> list[Row]:
    faster = ratio(times[sizes.short], AGAIN, FULL)
    what = f"a token after {sizes.short}: {FULL} against no cache"
    rows = [Row(what, f"{faster:.1f} × as fast")]
    for n, each in times.items():
        for name in each:
            if name not in (AGAIN, FULL):
                what = f"a token after {n}: {name} against {FULL}"
                rows.append(Row(what, f"{ratio(each, FULL, name):.2f} × as fast"))
    return rows


def alone_in_memory(of: list, sizes: Sizes, quick: bool) -> float | None:
    """Return the MB of one way, in this process."""
    what, name, n = of
    if what == "latent":
        return timing.peak_memory(latent(sizes.latent, n)[name], warm_up=True)
    return memory(smollm.ours(quick)[0], name, n, sizes.window)


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--memory-of", help="(used by the script itself)")
    given = parser.parse_args()
    sizes = QUICK if given.quick else WHOLE
    if given.memory_of:
        torch.set_num_threads(1)
        with torch.no_grad():
            of = json.loads(given.memory_of)
            return print(json.dumps(alone_in_memory(of, sizes, given.quick)))
    timing.settle()
    torch.manual_seed(0)
    model, source = smollm.ours(given.quick)
    with torch.no_grad():
        compare(model, sizes.short, sizes.window)
        times = {n: writing(model, n, sizes) for n in (sizes.short, sizes.long)}
        rows = rows_of(times, sizes) + speculation(model, sizes.guessed, sizes.rounds)
        passes = timing.interleaved(latent(sizes.latent, sizes.long), sizes.rounds)
    for name in (UNABSORBED, LAYER):
        what = f"{ABSORBED}, {sizes.long} in the cache, against {name.removeprefix('latent, ')}"
        rows.append(Row(what, f"{ratio(passes, name, ABSORBED):.1f} × as fast"))
    of = sizes.latent
    note = (
        f"SmolLM2 with {source}, one text, in float32; the window has {sizes.window} rows, 4 of "
        "them for the first tokens, and a page 16. Numbers of 8 and 4 bits have a scale of 32 a "
        "row and are turned back, all of them, for each token: here they save memory, not time. "
        "*Kept* is what the rows take; *peak* is that of filling the cache and writing two tokens, "
        "beside the model, where nothing that is free is held. "
        "*Guessed from the text* is `look_up`, at most seven tokens. The latent layer has "
        f"{of['n_heads']} heads of {of['d']}, latents of {of['d_latent']} and turned keys of "
        f"{of['d_rope']}; absorbed and unabsorbed compute the same, and `MultiHeadAttention` is "
        "another layer of as many heads; their peak is that of one pass, beside layer and cache."
    )
    tables = table(model, times, sizes, given.quick), latent_table(passes, sizes, given.quick)
    timing.write(given.out, "caches", "What is kept of a text", timing.goals(rows), note, *tables)


if __name__ == "__main__":
    any_letter()
    main()
