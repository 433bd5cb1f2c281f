"""Ask SmolLM2 what it loses when it may see only some of the past, and keep what it says.

``python -m experiments.visible [lecture.md]`` reads 1,536 tokens of a lecture's prose, those of
the last record unless a lecture is named, and writes the perplexity of tokens 512 on
under each choice of visible keys, with the share of the full attention's weight that these keys
had. The choice holds in all layers alike; "top 64" are the 64 largest scores of each row of each
head. Of one sentence it keeps the scores of three heads, chosen on this sentence: those with the
most weight on the first token, on the previous one, and, where the last token repeats an earlier
one, on the token that came after that.
"""

from __future__ import annotations

import json
import math
import re
import sys
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, linear

from attnbook.masks import causal_mask, window_mask
from attnbook.multihead import Attend, repeat_heads
from attnbook.record import record_attention
from attnlab._console import any_letter
from attnlab.models.recorded import FOLDER
from attnlab.pretrained import SmolLM, load_smollm, smollm_file

LENGTH, FROM = 1_536, 512
WINDOWS = (64, 128, 256, 512)
SENTENCE = (
    "The keeper of the lighthouse wrote every storm into a red book. When the painter asked about"
    " the winter, the keeper opened the red"
)


def prose(lecture: str) -> str:
    """Return a lecture's paragraphs, without code, tables, headings and formulae set apart."""
    text = re.sub(r"\A---.*?^---$|```.*?```|\$\$.*?\$\$|<!--.*?-->", "", lecture, flags=re.S | re.M)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return "\n\n".join(part for part in paragraphs if part and part[0] not in "#|-<:>({[+")


def masks(n: int) -> dict[str, Tensor]:
    """Return each choice of visible keys, (n, n)."""
    found = {"all": causal_mask(n, n)}
    for window in WINDOWS:
        found[f"last {window}"] = window_mask(n, n, window)
        found[f"first 1, last {window - 1}"] = window_mask(n, n, window, sinks=1)
    found["first 4, last 252"] = window_mask(n, n, 256, sinks=4)
    elsewhere = window_mask(n, n, 252)
    elsewhere[:, 20:24] = causal_mask(n, n)[:, 20:24]
    return found | {"tokens 20 to 23, last 252": elsewhere}


def scaled(query: Tensor, key: Tensor) -> Tensor:
    """Return the scores (b, h, n_q, n_k)."""
    return query @ key.mT / math.sqrt(query.shape[-1])


class Top(Attend):
    """Attend to the keys with the k largest scores of each row."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Return the outputs (b, h, n, d_v)."""
        key, value = (repeat_heads(part, query.shape[1]) for part in (key, value))
        scores = scaled(query, key)
        scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -torch.inf)
        best = scores.topk(self.k, dim=-1)  # of an early row some are −∞
        weights = torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(-1))
        return weights @ value


def perplexity(model: SmolLM, ids: Tensor, mask: Tensor | None = None) -> float:
    """Return the perplexity of ids (1, n) from token ``FROM`` on."""
    x = model.decoder(model.embed(ids), mask, causal=True)
    weight = model.embed.tokens.weight if model.output is None else model.output.weight
    logits = linear(x[:, FROM - 1 : -1], weight)
    return math.exp(cross_entropy(logits[0], ids[0, FROM:]).item())


def masses(
    model: SmolLM, ids: Tensor, choices: dict[str, Tensor], tops: list[int]
) -> dict[str, float]:
    """Return the mean share of the weights of rows from ``FROM`` on that each choice keeps."""
    with record_attention(model.decoder) as seen:
        model.decoder(model.embed(ids), causal=True)
    found: dict[str, float] = dict.fromkeys([*choices, *(f"top {k}" for k in tops)], 0.0)
    for name in seen.names:
        weights = seen.weights(name, rows=range(FROM, ids.shape[1]))  # (1, h, rows, n)
        for choice, mask in choices.items():
            found[choice] += (weights * mask[FROM:]).sum(-1).mean().item() / len(seen.names)
        largest = weights.topk(max(tops), dim=-1).values.cumsum(-1).mean((0, 1, 2))
        for k in tops:
            found[f"top {k}"] += largest[k - 1].item() / len(seen.names)
    return found


def picture(model: SmolLM) -> dict[str, Any]:
    """Return the tokens of a sentence, and of three heads the scores below the diagonal."""
    ids, _ = model.encode(SENTENCE)
    with record_attention(model.decoder) as seen:
        model(ids)
    n = ids.shape[1]
    weights = torch.cat([seen.weights(name) for name in seen.names])[:, :, 8:]  # (30, 9, n - 8, n)
    earlier = ids[0, :-1].tolist().index(int(ids[0, -1]))
    of = {
        "first token": weights[..., 0].mean(-1),
        "previous token": weights.diagonal(7, -2, -1).mean(-1),
        "what came next": weights[:, :, -1, earlier + 1],
    }
    heads = []
    for what, share in of.items():
        layer, head = divmod(int(share.argmax()), share.shape[1])
        call = seen[seen.names[layer]][-1]
        key = repeat_heads(call.key, call.query.shape[1])
        scores = scaled(call.query, key)[0, head]
        rows = [[round(x, 3) for x in scores[i, : i + 1].tolist()] for i in range(n)]
        name = {"layer": layer, "head": head, "most": what}
        heads.append(name | {"share": round(share.max().item(), 3), "scores": rows})
    return {"tokens": [token.strip() for token in model.tokens(SENTENCE)], "heads": heads}


@torch.no_grad()
def run() -> None:
    """Measure all, and write the record into the package."""
    path = smollm_file()
    if path is None:
        print("visible: SmolLM2's file is not here, so the record stays as it is")
        return
    torch.set_num_threads(1)
    with as_file(FOLDER) as folder:
        record = folder / "visible.json"
        if len(sys.argv) > 1:
            source = Path(sys.argv[1])
            name, text = source.stem, prose(source.read_text("utf-8"))
        else:
            name, text = (json.loads(record.read_text("utf-8"))[key] for key in ("name", "text"))
        model = load_smollm(path)
        ids = model.encode(text)[0][:, :LENGTH]
        if ids.shape[1] < LENGTH:
            raise SystemExit(f"visible: {name} has only {ids.shape[1]} tokens of prose")
        drawn = picture(model)
        print(*[(head["layer"], head["head"], head["most"]) for head in drawn["heads"]], flush=True)
        rows: dict[str, dict[str, float]] = {}
        choices, tops = masks(LENGTH), [16, 64, 256]
        for choice, mask in choices.items():
            rows[choice] = {"perplexity": perplexity(model, ids, None if choice == "all" else mask)}
            print(choice, rows[choice], flush=True)
        kept = masses(model, ids, choices, tops)
        for k in tops:
            for block in model.decoder.modules():
                if isinstance(getattr(block, "attend", None), Attend):
                    block.attend = Top(k)
            rows[f"top {k}"] = {"perplexity": perplexity(model, ids)}
            print(k, rows[f"top {k}"], flush=True)
        for choice, row in rows.items():
            row |= {"perplexity": round(row["perplexity"], 2), "mass": round(kept[choice], 3)}
        print(rows, flush=True)
        found = {
            "file": path.name,
            "name": name,
            "text": model.decode(ids[0].tolist()),
            "rows": rows,
            "picture": drawn,
        }
        record.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    any_letter()
    run()
