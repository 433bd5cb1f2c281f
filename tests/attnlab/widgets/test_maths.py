"""The browser's mathematics, the server's and PyTorch's are the same numbers."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnbook import masks
from attnbook.scores import Additive, Bilinear, dot, scaled_dot
from attnlab.training import metrics
from attnlab.widgets import BeamTree, MaskPainter, RoleProjection, ScoreExplorer
from attnlab.widgets.core import numbers, packing
from tests.attnlab.widgets.examples import full_table

WEIGHTS = """([scores, nQ, nK, causal, given, d, scaled, temperature]) => {
  const may = maths.mask(nQ, nK, causal, given);
  return Array.from(maths.weights(scores, nQ, nK, may, maths.divisor(d, scaled, temperature)));
}"""


CASES = [
    # n_q, n_k, d, causal, masked, scaled, temperature, size of the scores
    (3, 3, 3, False, False, True, 1.0, 1.0),
    (1, 7, 4, False, True, False, 0.1, 1.0),
    (5, 5, 16, True, False, True, 1.0, 3.0),
    (2, 6, 8, True, False, True, 2.5, 1.0),
    (6, 2, 8, True, False, True, 1.0, 1.0),
    (9, 4, 64, True, True, True, 10.0, 8.0),
    (4, 4, 1, False, True, False, 1.0, 1e4),
    (12, 12, 32, True, True, True, 0.37, 1e4),
]


def expected(scores, may, divisor: float) -> np.ndarray:
    """PyTorch's softmax; a row with nothing to attend to is zeros."""
    kept = torch.tensor(scores / divisor).masked_fill(~torch.tensor(may), -torch.inf)
    return torch.softmax(kept, dim=-1).nan_to_num(0.0).numpy()


def example(seed: int, n_q: int, n_k: int, masked: bool, size: float):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_q, n_k)) * size
    mask = rng.random((n_q, n_k)) > 0.3 if masked else None
    if masked:
        mask[0] = False  # a row with nothing to attend to
    return scores, mask


@pytest.mark.parametrize("case", CASES, ids=str)
def test_weights_agree_with_torch_in_browser_and_server(maths, case: tuple) -> None:
    n_q, n_k, d, causal, masked, scaled, temperature, size = case
    scores, mask = example(n_q + n_k, n_q, n_k, masked, size)
    may = np.ones((n_q, n_k), bool) if mask is None else mask
    if causal:  # aligned at the bottom right: the last query sees every key
        may = may & torch.ones(n_q, n_k).tril(n_k - n_q).bool().numpy()
    divisor = (d**0.5 if scaled else 1.0) * temperature
    wanted = expected(scores, may, divisor)
    given = None if mask is None else mask.astype(int).ravel().tolist()
    arguments = [scores.ravel().tolist(), n_q, n_k, causal, given, d, scaled, temperature]
    drawn = np.array(maths(WEIGHTS, arguments)).reshape(n_q, n_k)
    assert np.abs(drawn - wanted).max() < 1e-6
    here = numbers.attention_weights(
        scores, numbers.allowed(n_q, n_k, causal=causal, mask=mask), divisor=divisor
    )
    assert np.abs(here - wanted).max() < 1e-12
    assert (drawn[~may] == 0).all()


def test_packed_scores_come_back_close_enough(maths) -> None:
    rng = np.random.default_rng(5)
    query, key = rng.normal(size=(2, 6, 24, 32))
    scores = query @ key.swapaxes(1, 2)
    scores[1] = 2.5  # a head whose scores are all the same
    packed, ranges = packing.pack_scores(scores)
    unpack = "([p, r, n]) => maths.unpackScores(p, r, n).map((head) => Array.from(head))"
    come = np.array(maths(unpack, [packed, ranges, 24 * 24])).reshape(scores.shape)
    assert np.abs(come - packing.unpack_scores(packed, ranges, scores.shape)).max() < 1e-9
    may = np.ones((24, 24), bool)
    for head, back in zip(scores, come, strict=True):
        wanted = expected(head, may, 32**0.5)
        assert np.abs(expected(back, may, 32**0.5) - wanted).max() < 1e-4


def test_the_worked_example_the_mean_of_heads_and_an_entropy_agree_with_torch(maths) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, d = (int(k) for k in rng.integers(1, 8, 2))
        query, causal, scaled = int(rng.integers(n)), bool(seed % 2), bool(seed % 3)
        x = rng.normal(size=(n, d)) * 2
        state = {"vectors": x.tolist(), "query": query, "scaled": scaled, "causal": causal}
        now = maths("(state) => maths.oneQuery(state)", state)
        v = torch.tensor(x)
        scores = v @ v[query] / (d**0.5 if scaled else 1)
        if causal:
            scores[query + 1 :] = -torch.inf
        weights = torch.softmax(scores, 0)
        assert np.allclose(now["weights"], weights.numpy(), atol=1e-9)
        assert np.allclose(now["output"], (weights @ v).numpy(), atol=1e-9)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        h, n = (int(k) for k in rng.integers(1, 9, 2))
        heads = torch.softmax(torch.tensor(rng.normal(size=(h, n, n)) * 4), -1)
        flat = heads.reshape(h, -1).tolist()
        drawn = maths("(heads) => Array.from(maths.mean(heads))", flat)
        assert np.allclose(drawn, heads.mean(0).ravel().numpy(), atol=1e-12)
        for row in heads[:, 0]:
            wanted = torch.distributions.Categorical(row).entropy().item()
            assert abs(maths("(row) => maths.entropy(row)", row.tolist()) - wanted) < 1e-9
    assert maths("() => [maths.entropy([0, 1]), maths.entropy([0, 0])]") == [0, 0]


def test_the_three_roles_agree_with_torch(maths) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d_model, d_k, d_v = (int(k) for k in rng.integers(1, 5, 4))
        switches = {"causal": bool(seed % 2), "scaled": bool(seed % 3)}
        sizes = {"vectors": (n, d_model), "w_q": (d_model, d_k), "w_k": (d_model, d_k)}
        sizes["w_v"] = (d_model, d_v)
        given = {name: (rng.normal(size=size) * 2).round(8) for name, size in sizes.items()}
        now = maths("(s) => maths.roles(s)", {k: v.tolist() for k, v in given.items()} | switches)
        widget = RoleProjection(tokens=[str(i) for i in range(n)], **given, **switches)
        x, *matrices = (torch.tensor(value) for value in given.values())
        q, k, v = (x @ w for w in matrices)
        options = {"is_causal": switches["causal"], "scale": None if switches["scaled"] else 1.0}
        output = scaled_dot_product_attention(q, k, v, **options).numpy()
        weights = scaled_dot_product_attention(q, k, torch.eye(n).double(), **options).numpy()
        for name, wanted in {"q": q, "k": k, "v": v, "raw": q @ k.T}.items():
            assert np.allclose(now[name], wanted.numpy(), atol=1e-9), name
        for found in ((now["output"], now["weights"]), (widget.output, widget.weights)):
            assert np.allclose(found[0], output, atol=1e-9)
            assert np.allclose(found[1], weights, atol=1e-9)


def test_the_most_lopsided_pair_is_found_and_rounding_is_none(maths) -> None:
    find = "(scores) => maths.lopsided(scores)"
    x = np.random.default_rng(6).normal(size=(5, 3)) / 3
    w = np.random.default_rng(7).normal(size=(3, 3))
    assert maths(find, ((x @ w) @ (x @ w).T).tolist()) is None
    assert maths(find, [[0, 0], [0, 0]]) is None
    assert maths(find, [[4]]) is None
    scores = (x @ w) @ x.T
    gaps = np.triu(np.abs(scores - scores.T))
    found = maths(find, scores.tolist())
    assert [found["i"], found["j"]] == list(np.unravel_index(gaps.argmax(), gaps.shape))
    assert found["gap"] == pytest.approx(gaps.max())
    tied = maths(find, [[0, 0.3, 0], [0, 0, 1.3], [0, 1, 0]])
    assert 1.3 - 1 > 0.3  # the second gap is larger by rounding alone
    assert (tied["i"], tied["j"]) == (0, 1)


FILLED = """([scores, nQ, nK, may, by, fill]) => {
  const found = maths.filledWeights(scores, nQ, nK, Uint8Array.from(may), by, fill);
  return [found, maths.gradient(found, may)].map((flat) => Array.from(flat));
}"""


def with_gradient(scores, may, fill: str) -> list[np.ndarray]:
    """PyTorch's weights and, by autograd, ∂α_ij/∂e_ij of each."""
    e = torch.tensor(scores, requires_grad=True)
    value = {"-1e10": -1e10, "zero": 0.0}.get(fill, -torch.inf)
    found = torch.softmax(e.masked_fill(~torch.tensor(may), value), dim=-1)
    if fill == "none":
        found = found.masked_fill(~torch.tensor(may), 0.0)
    flow = torch.zeros_like(e)
    for place in np.ndindex(*e.shape):
        flow[place] = torch.autograd.grad(found[place], e, retain_graph=True)[0][place]
    return [found.detach().numpy(), flow.numpy()]


@pytest.mark.parametrize("fill", ["none", "nan", "-1e10", "zero"])
def test_filled_weights_and_their_gradient_agree_with_autograd(maths, fill: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n_q, n_k = (int(n) for n in rng.integers(1, 9, 2))
        scores, may = example(seed, n_q, n_k, True, 3.0 if seed % 2 else 1e3)
        arguments = [scores.ravel().tolist(), n_q, n_k, may.astype(int).ravel().tolist(), 2, fill]
        names = [[f"{letter}{i}" for i in range(n)] for letter, n in (("q", n_q), ("k", n_k))]
        options = {"mask": may, "fill": fill, "temperature": 2.0, "scaled": False}
        tokens = {"tokens": names[0], "key_tokens": names[1]}
        widget = MaskPainter(scores=scores, d=3, **tokens, **options)
        here = widget.weights.ravel(), widget.gradient.ravel()
        drawn = maths(FILLED, arguments)
        wanted = with_gradient(scores / 2, may, fill)
        for came, mine, by_torch_ in zip(drawn, here, wanted, strict=True):
            for found in (came, mine):
                assert np.allclose(found, by_torch_.ravel(), rtol=0, atol=1e-12, equal_nan=True)
        assert np.isnan(widget.weights[0]).all() == (fill == "nan")  # nothing to attend to


def test_named_masks_are_the_packages_masks(maths) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        n_q, n_k = (int(n) for n in rng.integers(1, 7, 2))
        length = int(rng.integers(0, n_k + 1))
        padding = masks.padding_mask([length], n_k)[0].expand(n_q, n_k)
        wanted = {
            "all": torch.ones(n_q, n_k).bool(),
            "causal": masks.causal_mask(n_q, n_k),
            "past": masks.causal_mask(n_q, n_k).tril(n_k - n_q - 1),
            "padding": padding,
            "both": masks.causal_mask(n_q, n_k) & padding,
            "window": masks.window_mask(n_q, n_k, 2),
        }
        for name, mask in wanted.items():
            drawn = maths("(given) => maths.namedMask(...given)", [name, n_q, n_k, length])
            assert drawn == mask.int().flatten().tolist(), name
        assert maths("() => Object.keys(maths.MASKS)") == list(wanted)


AGREEMENT = """(examples) => {
  const pairs = examples.map(([flat, nK, threshold, gold]) => {
    const values = Float64Array.from(flat);
    return { links: maths.linksAt(values, threshold), top: maths.greatest(values, nK), gold };
  });
  return { links: pairs.map(({ links }) => links), top: pairs.map(({ top }) => top),
    links_rate: maths.agreement(pairs.map(({ links, gold }) => [links, gold])),
    top_rate: maths.agreement(pairs.map(({ top, gold }) => [top, gold])) };
}"""


def test_links_and_their_agreement_with_gold_are_those_of_the_metrics(maths) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        threshold, sentences, given = float(rng.random()), [], []
        for _ in range(3):
            n_t, n_s = (int(n) for n in rng.integers(1, 9, 2))
            alpha = torch.softmax(torch.tensor(rng.normal(size=(n_t, n_s)) * 2), -1)
            gold = {(int(rng.integers(n_s)), int(rng.integers(n_t))) for _ in range(n_t)}
            linked = {(s, t) for t, s in (alpha >= threshold - 1e-4).nonzero().tolist()}
            sentences.append((linked, metrics.argmax_links(alpha), gold, n_s))
            places = [t * n_s + s for s, t in gold]
            given.append([alpha.flatten().tolist(), n_s, threshold, places])
        now = maths(AGREEMENT, given)
        golds = [gold for _, _, gold, _ in sentences]
        for which, name in enumerate(["links", "top"]):
            found = [sentence[which] for sentence in sentences]
            for flat, wanted, (*_, n_s) in zip(now[name], found, sentences, strict=True):
                assert {(at % n_s, at // n_s) for at in flat} == wanted
            both = sum(len(a & s) for a, s in zip(found, golds, strict=True))
            count, size = (sum(map(len, sets)) for sets in (found, golds))
            error = metrics.alignment_error_rate(found, golds)
            wanted = [error, both / count if count else None, both / size]
            assert now[f"{name}_rate"] == [v if v is None else pytest.approx(v) for v in wanted]
    assert maths("() => maths.agreement([])") == [None, None, None]
    assert maths("() => maths.agreement([[[], [1]]])") == [1, None, 0]
    assert maths("() => maths.agreement([[[1], []]])") == [1, 0, None]
    assert maths("() => maths.greatest(Float64Array.of(0.5, 0.5, 0, 1), 2)") == [0, 3]
    near = "() => maths.linksAt(Float64Array.of(0.49995, 0.4998), 0.5)"
    assert maths(near) == [0]


def by_torch(query, keys, *, w, w_q, w_k, v) -> torch.Tensor:
    """The four scores by attnbook.scores, in float64, of shape (4, n)."""
    q, k, w, w_q, w_k, v = (
        torch.tensor(np.array(x, dtype=float)) for x in ([query], keys, w, w_q, w_k, v)
    )
    bilinear, additive = Bilinear(2, 2).double(), Additive(2, 2, len(v)).double()
    with torch.no_grad():
        bilinear.key.weight.copy_(w)
        additive.query.weight.copy_(w_q.T)
        additive.key.weight.copy_(w_k.T)
        additive.energy.weight.copy_(v[None])
        return torch.cat([score(q, k) for score in (dot, scaled_dot, bilinear, additive)])


def random(seed: int) -> dict:
    """A query, keys and learned numbers of any shape that is allowed, 8 decimals at most."""
    rng = np.random.default_rng(seed)
    n, h = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    shapes = {"query": (2,), "keys": (n, 2), "w": (2, 2), "w_q": (2, h), "w_k": (2, h), "v": (h,)}
    return {name: rng.uniform(-4, 4, size).round(8) for name, size in shapes.items()}


FOUR = """(given) => {
  const by = maths.fourScores(given);
  return by.map((score) => given.keys.map(score));
}"""


def test_four_scores_of_a_key_agree_with_the_packages_modules(maths) -> None:
    for seed in range(10):
        random_ = random(seed)
        given = {name: value.tolist() for name, value in random_.items()}
        drawn = maths(FOUR, given | {"tanh": True})
        learned = {name: given[name] for name in ("w", "w_q", "w_k", "v")}
        wanted = by_torch(given["query"], given["keys"], **learned)
        assert np.allclose(drawn, wanted.numpy(), rtol=0, atol=1e-9)
        widget = ScoreExplorer(tokens=[str(j) for j in range(len(given["keys"]))], **random_)
        assert np.allclose(widget.scores, wanted.numpy(), rtol=0, atol=1e-12)
        assert np.allclose(widget.weights, wanted.softmax(-1).numpy(), rtol=0, atol=1e-12)
        widget.tanh = False
        linear = maths(FOUR, given | {"tanh": False})[3]
        q, w_q, w_k, v, k = (torch.tensor(given[x]) for x in ("query", "w_q", "w_k", "v", "keys"))
        for found in (linear, widget.scores[3]):
            assert np.allclose(found, ((q @ w_q + k @ w_k) @ v).numpy(), rtol=0, atol=1e-5)


LEVELS = """([given, which]) => {
  const score = maths.fourScores(given)[which];
  const points = maths.sampled(score, 4, 32);
  return given.keys.map((key) => maths.levelLine(points, score(key)));
}"""


def bent(given: dict) -> float:
    """How far a straight piece may miss: max |f″| · side² / 8, and |tanh″| is below 0.77."""
    steepest = np.square(given["w_k"]).max(axis=0)
    return 0.77 * float(np.abs(given["v"]) @ steepest) * 0.25**2 / 8


def test_every_line_of_equal_score_runs_through_its_key_and_keeps_its_score(maths) -> None:
    for seed in range(6):
        given = {name: value / 4 for name, value in random(seed).items()}
        given = {name: value.tolist() for name, value in given.items()} | {"tanh": True}
        learned = {name: given[name] for name in ("w", "w_q", "w_k", "v")}
        for which in range(4):
            of_keys = by_torch(given["query"], given["keys"], **learned)[which]
            for key, e, pieces in zip(
                given["keys"], of_keys, maths(LEVELS, [given, which]), strict=True
            ):
                ends = np.array(pieces).reshape(-1, 2)
                found = by_torch(given["query"], ends, **learned)[which]
                assert (found - e).abs().max() < (1e-6 if which < 3 else bent(given))
                assert np.hypot(*(ends - key).T).min() < 0.25  # no further than one square
    flat = """(noise) => maths.levelLine(maths.sampled(([x, y]) => 0.3 + noise * x * y, 4, 8), 0.3)
      .length"""
    assert maths(flat, 1e-15) == 0
    assert maths(flat, 1.0) > 0


@pytest.mark.parametrize("step", [0.0, 0.05])  # 0.05 makes many equals
def test_the_search_of_a_table_is_that_of_beam_search(maths, step: float) -> None:
    for seed in range(12):
        table = full_table(seed, lacking=0.5 * (seed % 3), step=step)
        tree = BeamTree(table, beam=1 + seed % 5, penalty=0.5 * (seed % 4))
        names = {"prefixes": tree.prefixes, "wordsOf": tree.words_of, "logs": tree.logs}
        names |= {"beam": tree.beam, "penalty": tree.penalty, "longest": tree.max_length}
        drawn = maths(SEARCHED, names | {"eos": tree.words.index(tree.eos)})
        found = tree.hypotheses
        assert [[tree.words[i] for i in words] for words, *_ in drawn] == [
            [*one.tokens, tree.eos] if one.finished else one.tokens for one in found
        ]
        wanted = [number for one in found for number in (one.log_probability, one.score)]
        assert np.allclose([x for _, *pair in drawn for x in pair], wanted, rtol=0, atol=1e-12)


SEARCHED = """(given) => maths.tableSearch(given).ranking.map(({ one, score }) => {
  const words = [];
  for (let at = one; at.before; at = at.before) words.unshift(at.word);
  return [words, one.logP, score];
})"""
