"""Look where each of SmolLM2's 270 heads looks, in the mean over sentences, and keep what is seen.

``python -m experiments.atlas`` reads the book's own English sentences, each alone, once and said
twice, and random tokens said twice, and writes the record. With α_ij the weight that the token at
place i gives to the one at place j ≤ i, places counted from 0, a head's scores are means over
tokens:

- previous: α of i − 1, over all i ≥ 2. At i = 1 the previous token is the first one.
- first: α of 0, over all i ≥ 2.
- same: the sum of α over all j of 1 to i − 2 at which i's token stands, over the i that have such.
- next: the sum of α over all j of 1 to i − 2 that follow i's token and are not that token, over the
  i that have such: what came next after the token when it stood here before.

So the last three of them never count the previous token, nor the last two the first one. ``even``
are the same scores of a head that gives all its tokens the same weight. "Random" are texts of 48
tokens drawn from the whole vocabulary, said twice; "random, short" the same of as many texts as
there are sentences, each as long as one of them. What is said twice is scored the second time,
where each token has stood before. Of each head and score, and of what none of the four nor the
token itself is ("elsewhere"), the three largest weights on sentences read once are kept, no two of
the same two tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import as_file

import numpy as np
import torch
from torch import Tensor

from attnbook.record import record_attention
from attnlab._console import any_letter
from attnlab.language import minimal_pairs, opinions, pronouns, treebank
from attnlab.models.recorded import FOLDER, LOOKS
from attnlab.pretrained import SmolLM, load_smollm, smollm_file

KEPT = 3  # best sentences of each
HALF, TEXTS, SEED = 48, 8, 0
AT_ONCE = 32
CONTROLS = 17  # the first ids stand for no text


def sentences() -> list[str]:
    """Return the sentences, each once."""
    both = [one for part in opinions() for one in part]
    pairs = [one for pair in pronouns() for one in (*pair.sentences, *pair.turned)]
    minimal = [one for pair in minimal_pairs() for one in (pair.right, pair.wrong)]
    found = [*(one.text for one in both), *(tree.text for tree in treebank()), *pairs, *minimal]
    return list(dict.fromkeys(found))


def drawn(model: SmolLM, shape: tuple[int, ...], seed: int = SEED) -> Tensor:
    """Return random tokens."""
    most = len(model.embed.tokens.weight)
    return torch.tensor(np.random.default_rng(seed).integers(CONTROLS, most, shape))


def twice(model: SmolLM) -> Tensor:
    """Return random tokens said twice, (texts, 2 · half)."""
    return drawn(model, (TEXTS, HALF)).repeat(1, 2)


def masks(ids: Tensor) -> Tensor:
    """Return for ids (n,) which keys count to each score, (4, n, n); a row may have none."""
    n = len(ids)
    i, j = torch.arange(n)[:, None], torch.arange(n)
    equal = ids[:, None] == ids
    after = torch.zeros(n, n, dtype=torch.bool)
    after[:, 1:] = equal[:, :-1]
    between = (j >= 1) & (j <= i - 2)
    late = i >= 2
    first, previous = (j == 0) & late, (j == i - 1) & late
    return torch.stack([previous, first, equal & between, after & ~equal & between])


def weights(model: SmolLM, ids: Tensor) -> Tensor:
    """Return the weights of all heads on ids (b, n), (b, 30, 9, n, n)."""
    with record_attention(model.decoder) as seen:
        model.decoder(model.embed(ids), causal=True)
    return torch.stack([seen.weights(name) for name in seen.names], dim=1)


def sums(alpha: Tensor, ids: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
    """Return the weights of each score, summed over rows from ``start``, and how many rows count.

    Shapes: alpha (..., n, n); returns (..., 4) and (4,).
    """
    keys = masks(ids)[:, start:]
    found = torch.einsum("...ij,kij->...k", alpha[..., start:, :].double(), keys.double())
    return found, keys.any(-1).sum(-1)


def even(n: int) -> Tensor:
    """Return the weights of a head that looks at all its tokens alike, (n, n)."""
    return torch.tril(torch.ones(n, n)) / torch.arange(1, n + 1)[:, None]


def best(alpha: Tensor, ids: Tensor) -> Tensor:
    """Return each head's largest weight of each look, its row and its column, (30, 9, 5, 3).

    Where a sentence has no such keys the weight is −1.
    """
    n, keys = len(ids), masks(ids)
    rest = (~keys.any(0)).tril(-1) & (torch.arange(n)[:, None] >= 2)
    looks = torch.cat([keys, rest[None]])
    flat = torch.where(looks, alpha[:, :, None].double(), -1).flatten(-2).max(-1)
    return torch.stack([flat.values, flat.indices // n, flat.indices % n], dim=-1)


def choose(found: list[Tensor], rows: list[Tensor]) -> Iterator[list[int]]:
    """Yield for each head the best of each look: sentence, from, to, weight in percent.

    Of equal percents the first comes first, and no two are of the same two tokens: sentences of a
    pair differ in a word.
    """
    of = torch.stack(found).flatten(1, 2).numpy()  # (sentences, 270, looks, 3)
    percent = (100 * of[..., 0]).round().astype(int)
    for head in range(of.shape[1]):
        flat: list[int] = []
        for look in range(len(LOOKS)):
            kept: dict[tuple[int, int], list[int]] = {}
            for place in np.argsort(-percent[:, head, look], kind="stable").tolist():
                i, j = of[place, head, look, 1:].astype(int).tolist()
                words = int(rows[place][i]), int(rows[place][j])
                kept.setdefault(words, [place, i, j, int(percent[place, head, look])])
                if len(kept) == KEPT:
                    break
            flat += [number for one in kept.values() for number in one]
        yield flat


def batches(rows: list[Tensor]) -> Iterator[list[int]]:
    """Yield the places of at most ``AT_ONCE`` rows of one length, so that none is padded."""
    by_length: dict[int, list[int]] = {}
    for place, ids in enumerate(rows):
        by_length.setdefault(len(ids), []).append(place)
    for places in by_length.values():
        yield from (places[k : k + AT_ONCE] for k in range(0, len(places), AT_ONCE))


@torch.no_grad()
def measure(
    model: SmolLM, rows: list[Tensor], start: int | None = 0
) -> tuple[dict[str, object], list[Tensor]]:
    """Return the means over rows of ids (n,) from token ``start``, and the best of each row.

    Without ``start``, from the middle of each row: of what is said twice, the second time.
    """
    count, base, total = torch.zeros(4), torch.zeros(4).double(), 0.0
    found: dict[int, Tensor] = {}
    for places in batches(rows):
        found_here = weights(model, torch.stack([rows[place] for place in places]))
        for place, alpha in zip(places, found_here, strict=True):
            ids = rows[place]
            late = len(ids) // 2 if start is None else start
            here, tokens = sums(alpha, ids, late)
            total, count = total + here, count + tokens
            base += sums(even(len(ids)), ids, late)[0]
            found[place] = best(alpha, ids)
    scores = (total / count).flatten(0, 1).numpy().round(3).tolist()
    return {
        "scores": scores,
        "even": (base / count).numpy().round(3).tolist(),
        "counted": count.int().tolist(),
        "tokens": sum(map(len, rows)),
    }, [found[place] for place in range(len(rows))]


def run() -> None:
    """Measure all, and write the record into the package."""
    path = smollm_file()
    if path is None:
        print("atlas: SmolLM2's file is not here, so the record stays as it is")
        return
    torch.set_num_threads(1)
    model, texts = load_smollm(path), sentences()
    rows = [model.encode(text)[0][0] for text in texts]
    measured, found = measure(model, rows)
    short = [drawn(model, row.shape, seed) for seed, row in enumerate(rows, SEED + 1)]
    said = {
        "sentences, twice": [row.repeat(2) for row in rows],
        "random, short": [row.repeat(2) for row in short],
        "random": list(twice(model)),
    }
    again = {name: measure(model, some, None)[0] for name, some in said.items()}
    chosen = list(choose(found, rows))
    used = sorted({place for flat in chosen for place in flat[::4]})
    number = {place: k for k, place in enumerate(used)}
    for flat in chosen:
        flat[::4] = [number[place] for place in flat[::4]]
    record = {
        "file": path.name,
        "sentences": len(texts),
        "measured": {"sentences": measured} | again,
        "best": chosen,
        "texts": [model.tokens(texts[place]) for place in used],
    }
    with as_file(FOLDER / "atlas.json") as file:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        file.write_text(text + "\n", encoding="utf-8")
    print(f"atlas: {len(texts)} sentences, {len(used)} of them among the best")


if __name__ == "__main__":
    any_letter()
    run()
