"""The numbers of the exam questions for lectures 10 to 14, computed again from their words."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import random
import re
from collections import Counter

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attnbook.attention import attention
from attnbook.further.caches import PagedCache, PagePool
from attnbook.further.linear import delta_steps
from attnbook.masks import causal_mask, window_mask
from attnbook.positions import Rotary
from attnbook.transformer import LanguageModel, Seq2Seq

LECTURES = {
    "10": "transformer_block",
    "11": "transformer",
    "12": "pretrained_models",
    "13": "faster_decoding",
    "14": "longer_contexts",
}
seeds = pytest.mark.parametrize("seed", range(12))


def made(lecture, name, seed):
    module = importlib.import_module(f"teaching.questions.q{lecture}_{LECTURES[lecture]}")
    return getattr(module, name)(random.Random(seed))


def numbers(text):
    """All numbers of a text, as it reads: 1,024 is one number and ½ none."""
    found = re.findall(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [float(one.replace(",", "").replace("−", "-")) for one in found]


def agree(question, *wanted):
    """The answers in their order, to half of the last decimal that is asked for."""
    given = list(question.answers.values())
    assert given == pytest.approx(list(wanted), abs=1e-9 + 1e-6 * max(map(abs, wanted)))


def tokens_of(text):
    return [tuple(map(float, one)) for one in re.findall(r"token \$\((-?\d+), (-?\d+)\)\$", text)]


@seeds
def test_two_neurons_write_what_torch_computes(seed):
    asked = made("10", "two_neurons", seed)
    threshold = float(re.search(r"b_1 = \(-(\d+)", asked.text)[1])
    writes = re.search(r"W_2 = \\begin\{pmatrix\} (\d+) \\\\ (\d+)", asked.text).groups()
    w_1 = torch.tensor([[1.0, -1], [-1, 1]])
    w_2 = torch.tensor([[float(one)] for one in writes])
    first, second = (torch.tensor(one) @ w_1 - threshold for one in tokens_of(asked.text))
    agree(asked, *(float(one @ w_2) for one in (first.relu(), second.relu(), first)))
    assert all(asked.answers.values())


@seeds
def test_a_gradient_through_parts_is_what_autograd_finds(seed):
    asked = made("10", "gradient_through_parts", seed)
    n, c = numbers(asked.text)[0], numbers(asked.text)[1]

    def arrives(factors, add):
        start = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        x = start
        for one in factors:
            x = x + one * x if add else one * x
        x.backward()
        return start.grad.item()

    alike, turns = [c] * int(n), [c, -c] * (int(n) // 2)
    agree(asked, arrives(alike, False), arrives(alike, True), arrives(turns, True))


@seeds
def test_both_places_of_a_norm_are_torchs(seed):
    asked = made("10", "two_places_of_a_norm", seed)
    change, x = (
        torch.tensor([float(n) for n in re.findall(r"-?\d+", one)], dtype=torch.float64)
        for one in re.findall(r"\$\(([^)]*)\)\$", asked.text)
    )
    gain, bias = (
        float(one) for one in re.search(r"gain (\d+) and the bias (\d+)", asked.text).groups()
    )
    ones = torch.ones(4, dtype=torch.float64)
    post = torch.nn.functional.layer_norm(x + change, (4,), gain * ones, bias * ones, eps=0)
    agree(asked, float(x[0] + change[0]), float(post[0]))


@seeds
def test_a_wider_network_is_counted_by_its_matrices(seed):
    asked = made("10", "a_wider_network", seed)
    d = int(re.search(r"= (\d+)\$", asked.text)[1])
    ratio = int(re.search(r"= (\d+)\\,", asked.text)[1])
    matrices = [(d, d)] * 4 + [(d, ratio * d), (ratio * d, d)]
    weights = sum(a * b for a, b in matrices)
    n = next(n for n in itertools.count(d, d) if 4 * d * d + 2 * n * d >= 2 * ratio * d * d)
    assert 4 * d * d + 2 * n * d == 2 * ratio * d * d
    agree(asked, weights, n)


@seeds
def test_only_one_of_the_lines_passes_both_tests(seed):
    asked = made("10", "which_line_it_was", seed)
    x, factor = torch.tensor([1.0, 4, 1], dtype=torch.float64), 5

    def passes(line):
        read = []

        def part(vector):
            read.append(vector)
            return torch.zeros_like(vector)

        def norm(vector):
            return torch.nn.functional.layer_norm(vector, (3,), eps=1e-15)

        ends = []
        for start in (x, factor * x):
            scope = {"x": start, "f": part, "norm": norm}
            exec(line.strip("`"), scope)
            ends.append(scope["x"])
        return torch.allclose(ends[0], x) and torch.allclose(*read)

    assert passes(asked.right)
    assert not any(passes(line) for line in asked.wrong)


@seeds
def test_only_one_change_parts_the_two_norms(seed):
    asked = made("10", "which_norm_notices", seed)
    x = torch.tensor([1.0, 4, 2], dtype=torch.float64)
    shift, factor = numbers(asked.right)[0], numbers(" ".join(asked.wrong))[0]
    changes = [x + shift, factor * x, -x, x[[1, 0, 2]]]

    def kept(norm):
        return [
            torch.allclose(norm(x, (3,), eps=1e-12), norm(one, (3,), eps=1e-12)) for one in changes
        ]

    assert kept(torch.nn.functional.layer_norm) == [True, True, False, False]
    assert kept(torch.nn.functional.rms_norm) == [False, True, False, False]


@seeds
def test_a_bigram_is_scored_and_cooled_by_torch(seed):
    asked = made("10", "a_bigram_that_writes", seed)
    cat, dog, bird, sleeps, eats = (int(one) for one in re.findall(r"\* (\d+)", asked.text))
    the, after = (
        torch.tensor(one, dtype=torch.float64).log() for one in ((cat, dog, bird), (sleeps, eats))
    )
    loss = torch.nn.functional.cross_entropy
    both = loss(the[None], torch.tensor([0])) + loss(after[None], torch.tensor([1]))
    cold = (the / 0.5).softmax(0)
    agree(asked, float((both / 2).exp()), float(cold[0]), float(cold[2]))


# ---- lecture 11


@seeds
def test_a_row_of_cross_attention_is_attentions(seed):
    asked = made("11", "one_row_of_cross_attention", seed)
    logs = re.search(r"are \$([^$]*)\$", asked.text)[1].split(",")
    scores = torch.tensor([math.log(numbers(one)[0] or 1) for one in logs], dtype=torch.float64)
    said = re.search(r"are (\d) ?, (\d) and (\d); .* is (\d)", asked.text)
    *values, old = (float(one) for one in said.groups())
    # the dot product of one number divides by nothing: √1
    query, key = torch.ones(1, 1, dtype=torch.float64), scores[:, None]
    value = torch.tensor(values, dtype=torch.float64)[:, None]
    whole = attention(query, key, value)
    masked = attention(query, key, value, torch.tensor([[True, True, False]]))
    first = old + whole.output.item()
    agree(asked, whole.weights[0, 1].item(), first, masked.weights[0, 1].item())


@seeds
def test_two_sentences_are_written_call_by_call(seed):
    asked = made("11", "two_sentences_side_by_side", seed)
    lengths = [int(one) + 1 for one in numbers(asked.text)[:2]]
    left, calls, rows, idle, again = list(lengths), 0, 0, 0, 0
    while any(one > 0 for one in left):
        calls, rows = calls + 1, rows + 2
        idle += sum(one <= 0 for one in left)
        again += 2 * calls
        left = [one - 1 for one in left]
    agree(asked, calls, rows, idle, again)


@seeds
def test_a_translator_is_counted_in_its_modules(seed):
    asked = made("11", "sizes_of_a_translator", seed)
    layers = int(numbers(asked.text)[0])
    d, words = (
        int(re.search(one, asked.text)[1]) for one in (r"= (\d+)\$", r"vocabulary of (\d+)")
    )

    def model(tied):
        with torch.device("meta"):
            return Seq2Seq(
                words, words, d_model=d, n_heads=8, n_layers=layers, d_ff=4 * d, tied=tied
            )

    def matrices(part):
        return sum(p.numel() for p in part.parameters() if p.dim() == 2)

    one = model(True)
    table = matrices(model(False)) - matrices(one)
    agree(asked, matrices(one.encoder), matrices(one.decoder), 2 * table)


@seeds
def test_what_must_wait_is_the_longest_way_through_the_blocks(seed):
    asked = made("11", "what_must_wait", seed)
    up, down, _, target = map(int, numbers(asked.text))
    training = [1] * up + [1] * down
    writing = [1] * up + [1] * down * (target + 1)
    assert numbers(asked.right) == [len(training), len(writing)]
    assert [len(training), len(writing)] not in [numbers(one) for one in asked.wrong]


def test_each_mask_is_missing_for_some_seed():
    rights = {made("11", "which_mask_is_missing", seed).right for seed in range(30)}
    assert len(rights) == 3


@seeds
def test_only_a_mask_that_shows_the_future_moves_an_earlier_row(seed):
    asked = made("11", "a_loss_far_too_low", seed)
    later, row = (int(re.search(one, asked.text)[1]) for one in (r"token (\d)", r"row (\d)"))
    x = torch.randn(later, 4, generator=torch.Generator().manual_seed(seed))
    mask = None if "mask" in asked.right else causal_mask(later)
    before = attention(x, x, x, mask).output[row - 1]
    x[later - 1] += 1
    moved = not torch.equal(attention(x, x, x, mask).output[row - 1], before)
    assert ("changes, too" in asked.text) == moved


def test_each_giveaway_is_asked_for_by_some_seed():
    assert len({made("11", "a_loss_far_too_low", seed).right for seed in range(12)}) == 2


# ---- lecture 12


@seeds
def test_perplexities_are_exp_of_the_mean_loss(seed):
    asked = made("12", "two_perplexities", seed)
    p = [1 / int(one) for one in re.findall(r"1/(\d+)", asked.text)]
    causal, masked = p[:5], p[5:]
    first, second = (int(n) for n in re.search(r"words (\d) and (\d) hidden", asked.text).groups())

    def perplexity(some):
        return math.exp(-sum(map(math.log, some)) / len(some))

    assert len(masked) == 2
    two = [causal[first - 1], causal[second - 1]]
    agree(asked, *map(perplexity, (causal, masked, two)))


@pytest.mark.parametrize("seed", range(25))
def test_two_merges_are_the_librarys(seed):
    tokenizers = pytest.importorskip("tokenizers")
    asked = made("12", "two_merges", seed)
    counts = {word: int(n) for word, n in re.findall(r"\*(\w+)\* (\d+)", asked.text)}
    library = tokenizers.Tokenizer(tokenizers.models.BPE())
    size = len(set("".join(counts))) + 2
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=size, show_progress=False)
    library.train_from_iterator(Counter(counts).elements(), trainer)
    n_letters = sum(n for word, n in counts.items() if "ar" in word)
    (_, merged) = json.loads(library.to_str())["model"]["merges"]
    second = sum(n for word, n in counts.items() if "".join(merged) in word)
    agree(asked, n_letters, second, len(library.encode("tartcar").tokens))
    # no other pair meets as often: the second merge is the only one possible
    others = [
        sum(n for word, n in counts.items() if pair in word)
        for pair in ("art", "car", "tar")
        if pair != "".join(merged)
    ]
    assert max(others) < second < n_letters


@seeds
def test_adapters_are_counted_in_their_matrices(seed):
    asked = made("12", "adapters_in_all_blocks", seed)
    blocks, wide, d = map(int, re.search(r"each of (\d+) .*\((\d+), (\d+)\)", asked.text).groups())
    rank = int(re.search(r"rank (\d+)", asked.text)[1])
    one = torch.empty(wide, rank).numel() + torch.empty(rank, d).numel()
    agree(asked, one, one * blocks, 100 * one * blocks / (blocks * torch.empty(wide, d).numel()))


@seeds
def test_a_block_of_today_is_counted_in_the_module(seed):
    asked = made("12", "a_block_of_today", seed)
    d, heads, shared, d_ff = (
        int(re.search(one, asked.text)[1])
        for one in (r"= (\d+)\$", r"(\d+) heads", r"which (\d+) at", r"d_\{ff\} = (\d+)")
    )
    with torch.device("meta"):
        model = LanguageModel(
            10, d_model=d, n_heads=heads, n_layers=1, d_ff=d_ff, norm_kind="rms",
            n_kv_heads=heads // shared, positions=Rotary(64), activation="swiglu",
            bias=False, tied=True, scale=False,
        )  # fmt: skip
    block = model.decoder.blocks[0]
    parts = (block.attention, block.feed_forward, block.norms)
    agree(asked, *(sum(p.numel() for p in part.parameters()) for part in parts))


# ---- lecture 13


@seeds
def test_texts_fit_one_after_another(seed):
    asked = made("13", "texts_that_fit", seed)
    layers, sets, length, weights = (
        int(re.search(one, asked.text)[1])
        for one in (r"of (\d+) layers", r"read (\d+) sets", r"texts of (\d+)", r"take (\d+) GB")
    )

    def token(n_sets):
        one = torch.empty(n_sets, 128, dtype=torch.bfloat16)
        return layers * 2 * one.numel() * one.element_size()

    def fit(n_sets):
        left, texts = (80 - weights) * 10**9, 0
        while left >= token(n_sets) * length:
            left, texts = left - token(n_sets) * length, texts + 1
        return texts

    agree(asked, token(sets), fit(sets), fit(32))


@seeds
def test_a_pass_is_limited_by_the_greater_time(seed):
    asked = made("13", "under_the_roof", seed)
    products, memory, weights, bits, short, long = numbers(asked.text)

    def ms(tokens):
        arithmetic = tokens * weights * 1e9 / (products * 1e12)
        reading = weights * 1e9 * bits / 8 / (memory * 1e12)
        return 1e3 * max(arithmetic, reading), arithmetic > reading

    assert [ms(short)[1], ms(long)[1]] == [False, True]
    corner = asked.answers["tokens where they meet"]
    agree(asked, ms(short)[0], ms(long)[0], corner)
    assert not ms(corner * 0.999)[1]
    assert ms(corner * 1.001)[1]


@seeds
def test_a_draft_is_worth_what_many_calls_write(seed):
    asked = made("13", "a_draft_and_its_worth", seed)
    p, q = (
        torch.tensor([float(n) for n in one.split(",")], dtype=torch.float64)
        for one in re.findall(r"\(([\d., ]+)\)", asked.text)
    )
    guesses = int(re.search(r"call with (\d)", asked.text)[1])
    kept = float((q * (p / q).clamp(max=1)).sum())
    rest = (p - q).clamp(min=0)
    # a call writes k + 1 tokens where k guesses are kept and the next is not
    length = sum((k + 1) * kept**k * (1 - kept) for k in range(guesses))
    length += (guesses + 1) * kept**guesses
    agree(asked, kept, float(rest[0] / rest.sum()), length)
    torch.testing.assert_close(torch.minimum(p, q) + (1 - kept) * rest / rest.sum(), p)


@seeds
def test_pages_are_those_of_a_paged_cache(seed):
    asked = made("13", "pages_of_one_prompt", seed)
    page, texts, prompt, new = map(int, numbers(asked.text))
    pool = PagePool(400, page=page)
    cache = PagedCache(pool)
    cache.append(*torch.zeros(2, 1, 1, prompt, 2))
    both = cache.reorder(torch.zeros(texts, dtype=torch.long))
    both.append(*torch.zeros(2, texts, 1, new, 2))
    used = {one for table in both.table for one in table}
    rows = prompt // page * page + texts * (prompt % page + new)
    apart = texts * math.ceil((prompt + new) / page)
    agree(asked, len(used), apart, len(used) * page - rows)


@seeds
def test_a_new_token_sees_what_the_causal_mask_shows(seed):
    asked = made("13", "what_a_new_token_sees", seed)
    old, new, place = map(int, numbers(asked.text))
    seen = causal_mask(new, old + new)[place - 1].nonzero()[:, 0] + 1
    assert asked.right == f"{seen[0]} to {seen[-1]}"
    assert asked.right not in asked.wrong


@seeds
def test_a_latents_products_are_those_that_torch_counts(seed):
    asked = made("13", "what_a_latent_costs", seed)
    h, d, d_c, n = (
        int(re.search(one, asked.text)[1])
        for one in (r"has (\d+) heads", r"have (\d+) numbers", r"latent of (\d+)", r"of (\d+) lat")
    )

    def count(make):
        with torch.device("meta"), FlopCounterMode(display=False) as counter:
            q, c = torch.empty(h, 1, d), torch.empty(n, d_c)
            make(q, c, torch.empty(h, d_c, d), torch.empty(h, d_c, d))
        return counter.get_total_flops() // 2  # a product and its addition

    def written_out(q, c, up_k, up_v):
        return (q @ (c @ up_k).mT).softmax(-1) @ (c @ up_v)

    def absorbed(q, c, up_k, up_v):
        return ((q @ up_k.mT) @ c.mT).softmax(-1) @ c @ up_v

    agree(asked, 2 * torch.empty(h, d).numel(), count(written_out), count(absorbed))


@seeds
def test_windows_and_whole_caches_are_filled_token_by_token(seed):
    asked = made("13", "windows_in_most_layers", seed)
    layers, every, window, sets, d, each, n = map(int, numbers(asked.text)[:7])
    kept = [n if one % every == 0 else window for one in range(1, layers + 1)]
    row = 2 * torch.empty(sets, d, dtype=torch.bfloat16).nbytes
    assert each == 2
    grows = sum(one == n for one in kept)
    agree(asked, grows * row, sum(kept) * row / 1e6, layers * n / sum(kept))


# ---- lecture 14


@seeds
def test_two_tiles_give_the_row_s_softmax(seed):
    asked = made("14", "two_tiles", seed)
    *scores, a, b, c, d = numbers(asked.text.split("scores are")[1])
    scores = torch.tensor(scores[:4], dtype=torch.float64)
    values = torch.tensor([a, b, c, d], dtype=torch.float64)
    powers = 2**scores
    first, whole = scores[:2].max(), scores.max()
    agree(
        asked,
        float(powers[:2].sum() / 2**first),
        float(2**first / 2**whole),
        float(powers.sum() / 2**whole),
        float((scores * math.log(2)).softmax(0) @ values),
    )


@seeds
def test_windows_reach_as_far_as_their_masks(seed):
    asked = made("14", "how_far_windows_reach", seed)
    n, window = map(int, numbers(asked.text))
    sees = window_mask(n, n, window)
    reach, layers = torch.eye(n), 0
    while not reach[-1, 0]:
        reach, layers = (reach @ sees.float()).clamp(max=1), layers + 1
    agree(asked, int(sees.sum()), int(causal_mask(n).sum()), layers)


@seeds
def test_keys_that_overlap_read_what_the_recurrence_reads(seed):
    asked = made("14", "keys_that_overlap", seed)
    pairs = [numbers(one) for one in re.findall(r"\$\(([^)]*)\)\$", asked.text)[:2]]
    found = re.search(r"value (\d+) .* value (\d+)", asked.text)
    value = torch.tensor([[float(one)] for one in found.groups()], dtype=torch.float64)
    key = torch.tensor(pairs, dtype=torch.float64)
    beta = torch.tensor([1, 0.5 if "½" in asked.text else 1], dtype=torch.float64)
    state = delta_steps(key, key, value, beta).state
    added = key[0] @ (key.mT @ value)
    agree(asked, float(added), float(key[0] @ state), float(key[1] @ state))


@seeds
def test_devices_do_what_the_mask_gives_them(seed):
    asked = made("14", "uneven_devices", seed)
    n, devices = map(int, numbers(asked.text)[:2])
    eighths = causal_mask(n).sum(1).view(2 * devices, -1).sum(1)  # keys seen, by part
    zigzag = {int(eighths[i] + eighths[-1 - i]) for i in range(devices)}
    assert len(zigzag) == 1
    agree(asked, int(eighths[:2].sum()), int(eighths[-2:].sum()), zigzag.pop())


def test_each_exact_change_is_asked_for_by_some_seed():
    rights = {made("14", "what_changes_nothing", seed).right for seed in range(12)}
    assert len(rights) == 2
