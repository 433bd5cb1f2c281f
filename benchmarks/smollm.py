"""Measure SmolLM2 in the book's layers against the library `transformers`, with the same weights.

python benchmarks/smollm.py            # some four minutes
python benchmarks/smollm.py --quick    # tiny sizes, a few seconds
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import timing
import torch
from timing import Row, Times, at_least, milliseconds, ratio
from torch import Tensor, nn

from attnbook.positions import Rotary
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab._console import any_letter
from attnlab.pretrained import load_smollm

OURS, PEERS = "the book's layers", {"eager": "transformers, eager", "sdpa": "transformers, SDPA"}
SIZES = {"d_model": 576, "n_heads": 9, "n_kv_heads": 3, "n_layers": 30}
TINY = {"d_model": 24, "n_heads": 3, "n_kv_heads": 1, "n_layers": 2}
PROMPT, READ, WRITTEN, BATCHES = 16, 512, 64, (1, 8)
PRODUCT = "one matrix times one vector"
Writer = Callable[[Tensor, int], Tensor]


def ours(quick: bool) -> tuple[LanguageModel, str]:
    """Return SmolLM2, or a model of its sizes: how long it takes does not hang on the weights."""
    if not quick:
        try:
            return load_smollm(), "the published weights"
        except (FileNotFoundError, ImportError):
            pass
    torch.manual_seed(0)
    sizes = TINY if quick else SIZES
    rope = Rotary(sizes["d_model"] // sizes["n_heads"], 1e5, layout="halves")
    kind = {"norm_kind": "rms", "activation": "swiglu", "bias": False, "scale": False}
    d_ff = sizes["d_model"] * 8 // 3
    config = ModelConfig(d_ff=d_ff, positions=rope, tied=True, **sizes, **kind)
    model = LanguageModel(50 if quick else 49152, config)
    return model.eval(), "random weights"


def theirs(model: LanguageModel, implementation: str) -> nn.Module:
    """Return the Llama of `transformers` that computes with the same numbers, in place."""
    from transformers import LlamaConfig, LlamaForCausalLM

    block = model.decoder.blocks[0]
    heads, kv_heads = block.attention.n_heads, block.attention.n_kv_heads
    vocabulary, d_model = model.embed.tokens.weight.shape
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=d_model,
        intermediate_size=block.feed_forward.narrow.in_features,
        num_hidden_layers=len(model.decoder.blocks),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=8192,
        rms_norm_eps=block.norms[0].eps,
        rope_parameters={"rope_type": "default", "rope_theta": block.attention.rope.base},
        tie_word_embeddings=True,
        attn_implementation=implementation,
    )
    matrix = model.embed.tokens.weight
    found = {"model.embed_tokens": matrix, "lm_head": matrix}
    found["model.norm"] = model.decoder.norm.weight
    for i, each in enumerate(model.decoder.blocks):
        d = each.attention.d
        parts = each.attention.qkv.weight.split((heads * d, kv_heads * d, kv_heads * d))
        gate, up = each.feed_forward.widen.weight.chunk(2)
        of_block = {
            "input_layernorm": each.norms[0].weight,
            "post_attention_layernorm": each.norms[1].weight,
            **{f"self_attn.{name}_proj": part for name, part in zip("qkv", parts, strict=True)},
            "self_attn.o_proj": each.attention.out.weight,
            "mlp.gate_proj": gate,
            "mlp.up_proj": up,
            "mlp.down_proj": each.feed_forward.narrow.weight,
        }
        found |= {f"model.layers.{i}.{name}": weight for name, weight in of_block.items()}
    other = LlamaForCausalLM(config)
    weights = {f"{name}.weight": weight.detach() for name, weight in found.items()}
    other.load_state_dict(weights, assign=True)
    return other.eval()


def read_ours(model: LanguageModel, ids: Tensor) -> Tensor:
    return model(ids)


def read_theirs(model: nn.Module, ids: Tensor) -> Tensor:
    return model(ids, use_cache=False).logits


def write_ours(model: LanguageModel, prompt: Tensor, n: int) -> Tensor:
    """Write n tokens greedily, with the cache: (b, n)."""
    lengths = torch.full((len(prompt),), prompt.shape[1] - 1)
    state, token, found = model.start(prompt[:, :-1], lengths), prompt[:, -1], []
    for _ in range(n):
        logits, state = model.step(token, state)
        token = logits.argmax(dim=-1)
        found.append(token)
    return torch.stack(found, dim=1)


def write_theirs(model: nn.Module, prompt: Tensor, n: int) -> Tensor:
    """The same with their cache, without what `generate` does besides."""
    cache = model.model(prompt[:, :-1], use_cache=True).past_key_values
    token, found = prompt[:, -1:], []
    for _ in range(n):
        output = model(token, past_key_values=cache, use_cache=True)
        cache, token = output.past_key_values, output.logits[:, -1].argmax(dim=-1, keepdim=True)
        found.append(token)
    return torch.cat(found, dim=1)


def ways(quick: bool) -> tuple[dict[str, tuple[Callable[..., Tensor], Writer]], str, int]:
    """Return for each model how it reads and how it writes; where the weights are from; bytes."""
    mine, source = ours(quick)
    found = {OURS: (functools.partial(read_ours, mine), functools.partial(write_ours, mine))}
    for implementation, name in PEERS.items():
        other = theirs(mine, implementation)
        found[name] = functools.partial(read_theirs, other), functools.partial(write_theirs, other)
    return found, source, sum(part.nbytes for part in mine.parameters())


def reading_alone(size: int) -> Callable[[], Tensor]:
    """Return what reads as many bytes as a token does: one matrix times one vector."""
    matrix, vector = torch.randn(size // 4 // 576 + 1, 576), torch.randn(576)
    return lambda: matrix @ vector


def against(what: str, times: Times, *, of: str) -> Row:
    faster = min(PEERS.values(), key=lambda name: milliseconds(times, name))
    goal = f" as fast as the faster peer ({faster.rpartition(' ')[2]})"
    return at_least(f"{what}: {of}", ratio(times, faster, OURS), 1, goal)


def memory(quick: bool, name: str, n: int) -> float | None:
    """Return the MB that reading n tokens adds to the model, in this process."""
    found, _, _ = ways(quick)
    ids = torch.arange(n)[None] % 50
    with torch.no_grad():
        found[name][0](ids[:, :2])
        return timing.peak_memory(lambda: found[name][0](ids))


def main() -> None:
    parser = timing.options(__doc__.splitlines()[0])
    parser.add_argument("--memory-of", help="print the memory that one of the models adds")
    given = parser.parse_args()
    read, written, rounds = (32, 4, 2) if given.quick else (READ, WRITTEN, 7)
    if given.memory_of:
        return print(memory(given.quick, given.memory_of, read))
    quick = ["--quick"] if given.quick else []
    added = {name: timing.fresh("--memory-of", name, *quick) for name in (OURS, *PEERS.values())}
    timing.settle()
    torch.manual_seed(1)
    found, source, size = ways(given.quick)
    rows, lines = [], {name: [name] for name in found}
    with torch.no_grad():
        ids = torch.randint(3, 50, (1, read))
        for name, (way, _) in found.items():
            timing.same(f"logits, {name}", way(ids), found[OURS][0](ids), tolerance=1e-3)
        runs = {name: functools.partial(way, ids) for name, (way, _) in found.items()}
        times = timing.interleaved(runs, rounds)
        rows.append(against(f"reading {read} tokens", times, of="time"))
        for name, line in lines.items():
            line += [f"{milliseconds(times, name):.0f}"]
        for b in BATCHES:
            prompt = torch.randint(3, 50, (b, PROMPT))
            tokens = {name: way(prompt, written).tolist() for name, (_, way) in found.items()}
            for name, each in tokens.items():
                timing.same(f"tokens, batch {b}, {name}", each, tokens[OURS])
            runs = {
                name: functools.partial(way, prompt, written) for name, (_, way) in found.items()
            }
            if b == 1:
                runs[PRODUCT] = reading_alone(size)
            times = timing.interleaved(runs, rounds, warm_up=0)
            rows.append(against(f"writing {written} tokens, batch {b}", times, of="tokens/s"))
            for name, line in lines.items():
                line += [f"{1000 * b * written / milliseconds(times, name):.1f}"]
            if b == 1:
                share = written * ratio(times, PRODUCT, OURS)
                what = "writing, batch 1: bytes of weights read in a second"
                rows.append(at_least(what, share, 0.6, f" those of {PRODUCT}"))
    for name, line in lines.items():
        line += ["–" if added[name] is None else f"{added[name]:.0f}"]
    head = ["model", f"reading {read}, ms"]
    head += [*(f"tokens/s, batch {b}" for b in BATCHES), "memory of reading, MB"]
    note = (
        f"Of {source}, {size / 1e6:.0f} MB in float32, the same for all three. Writing is greedy, "
        f"with a cache, after {PROMPT} tokens. A token reads every weight once; the most that this "
        "machine reads is told by one product of a matrix of as many bytes with a vector."
    )
    tables = (timing.goals(rows), note, timing.table(head, list(lines.values())))
    timing.write(given.out, "smollm", "A language model of today", *tables)


if __name__ == "__main__":
    any_letter()
    main()
