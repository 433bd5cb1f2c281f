"""The suite sees the bugs that real implementations of attention have had, each put in again.

Every bug is a change to the text of one file, made in a copy of the package that stands before
the real one on Python's path. The tests named with it must fail there, and pass without it.
"""

import multiprocessing
import os
import re
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
from hypothesis import Phase

from tests.patience import PROCESS

ROOT = Path(__file__).resolve().parents[2]
# found, not imported: a child of this process must find another
PACKAGE = Path(find_spec("attnbook").origin).parent


PLUGIN = "_hypothesis_pytestplugin"
# a comparison that fails, or anomaly mode that finds NaN in a gradient
RED = r"^E +(AssertionError|assert |RuntimeError: Function '\w+' returned nan)"


class Bug(NamedTuple):
    """What is wrong; where; the text as it is and as it was; the tests that must see it."""

    name: str
    module: str
    right: str
    wrong: str
    tests: tuple[str, ...]


NAMED = {
    "TORCH": "test_multihead.py::test_it_is_torchs_layer[both-False-shape4-dtype1]",
    "EXAMPLE": "test_attention.py::test_causal_rows_of_the_example",
    "MATES": "test_decoding.py::test_mates_and_their_order_change_nothing",
    "UNFINISHED": "test_decoding.py::test_unfinished_sentences_are_scored_at_their_own_length",
}
CACHED = "test_multihead_cache.py::test_pieces_through_a_cache_are_the_whole"
# its name and module, the tests that must see it, the text as it is and as it was
DIFF = """
the mask means the opposite | attention | EXAMPLE
-scores = fill(~mask, -torch.inf)
+scores = fill(mask, -torch.inf)

PyTorch's layer is given the mask as it is | masks | TORCH
-return ~mask
+return mask.clone()

a token may not attend to itself: j < i | masks | EXAMPLE | TORCH
-.tril(n_k - n_q)
+.tril(n_k - n_q - 1)

causal from the top left, where a cache comes first | masks | CACHED[None-6-False-pieces1]
-.tril(n_k - n_q)
+.tril()

the kernel's own causal, from the top left, where a cache comes first | _core
>CACHED[None-6-False-pieces1]
-and bias is None and _ask.same(n_q, n_k))
+and bias is None)

a window of one key too many | masks
>further/test_sparse.py::test_a_window_of_one_returns_the_values
-n_k - n_q - (window - sinks) + 1)
+n_k - n_q - (window - sinks))

the window forgotten where one token is decoded | _core | CACHED[window-6-False-pieces0]
-causal = causal and not _ask.same(n_q, 1)
+causal, mask = causal and n_q > 1, mask if n_q > 1 else None

the window forgotten where one token is decoded and heads share keys | multihead
>CACHED[window-2-False-pieces0]
-mask, bias = _as_rows(mask, h_kv), _as_rows(bias, h_kv)
+mask, bias = None, _as_rows(bias, h_kv)

padding forgotten by the decoder of a Transformer | transformer
>test_transformer.py::test_padding_and_batch_mates_change_nothing
-return self.decoder(x, memory, memory_mask=mask, bias=self._bias(x))
+return self.decoder(x, memory, bias=self._bias(x))

padding forgotten by the encoder of a Transformer | transformer
>test_decoding_models.py::test_mates_order_and_padding_change_nothing[transformer]
-self.encoder(x, mask, bias=self._bias(x))
+self.encoder(x, bias=self._bias(x))

padding forgotten by the decoder of a GRU | rnn
>test_decoding_models.py::test_mates_order_and_padding_change_nothing[rnn luong]
-masked_softmax(scores, mask)
+masked_softmax(scores)

−∞ added instead of filled in | attention
>test_attention_edges.py::test_what_a_masked_score_holds_does_not_matter[inf]
-scores = fill(~mask, -torch.inf)
+scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)

−∞ left in an empty row, whose gradient becomes NaN | attention
>test_attention_edges.py::test_what_a_masked_score_holds_does_not_matter[1e+30]
-return scores.masked_fill_(empty, 0).softmax(dim=-1)
+return scores.softmax(dim=-1)

the scale dropped | scores | EXAMPLE
-(query * query.shape[-1] ** -0.5) @ key.mT
+query @ key.mT

scaled by √d_model in the kernel | _core | TORCH
-attn_mask=mask, is_causal=causal, enable_gqa=enable_gqa
+attn_mask=mask, is_causal=causal, scale=query[0, :, 0].numel() ** -0.5, enable_gqa=enable_gqa

scaled by √d_model in the score | scores | TORCH
-(query * query.shape[-1] ** -0.5) @ key.mT
+(query * (query.shape[-3] * query.shape[-1]) ** -0.5) @ key.mT

softmax over the queries | attention
>test_attention.py::test_one_query_attends_as_it_does_among_others
-if mask is None:
-        return scores.softmax(dim=-1)
-    allowed =
+if mask is None:
+        return scores.softmax(dim=-2)
+    allowed =

heads joined by view without transpose | multihead | TORCH
-output.transpose(1, 2).flatten(2)
+output.reshape(x.shape)

heads cut by view without transpose | multihead | TORCH
-x.unflatten(-1, (-1, self.d)).transpose(1, 2)
+x.reshape(x.shape[0], -1, x.shape[1], self.d)

shared keys tiled, not interleaved | multihead
>test_multihead.py::test_shared_keys_are_those_of_a_layer_that_repeats_them
-key.repeat_interleave(group, dim=1)
+key.repeat(1, group, 1, 1)

shared keys tiled, not interleaved, where one token is decoded | multihead
>CACHED[None-2-False-pieces0]
-query = query.reshape(b, h_kv, h // h_kv, d)
+query = query.reshape(b, h // h_kv, h_kv, d).transpose(1, 2)

rotary positions begin at 0 again behind a cache | multihead | CACHED[None-6-True-pieces1]
-offset = 0 if cache is None else cache.length
+offset = 0

added positions begin at 0 again behind a cache | transformer
>test_transformer.py::test_step_by_step_is_the_whole[pre-sinusoidal]
-self.embed_target(tokens[:, None], offset=length)
+self.embed_target(tokens[:, None])

rotary pairs from two halves on the way in, side by side on the way out | positions
>test_positions.py::test_neighbours_are_the_two_coordinates_of_a_point
-*precise.unflatten(-1, (-1, 2)).unbind(-1)
+*precise.unflatten(-1, (2, -1)).unbind(-2)

queries turned in one layout, keys in the other | multihead
>test_mutants.py::test_rotary_positions_are_relative_in_the_output_too
-self.rope(both, offset)  #
+torch.cat((self.rope(both[:, :h], offset), self.rope(
+                both[:, h:].unflatten(-1, (2, -1)).mT.flatten(-2), offset
+            ).unflatten(-1, (-1, 2)).mT.flatten(-2)), dim=1)  #

dropout in evaluation | multihead | test_multihead_module.py::test_evaluation_drops_nothing
-if self.training and self.dropout > 0:
+if self.dropout > 0:

weights made to sum to one again after dropout | multihead
>test_mutants.py::test_a_weight_is_dropped_or_scaled_and_nothing_else
-functional.dropout(weights, self.dropout) @ value
+functional.normalize(functional.dropout(weights, self.dropout), p=1, dim=-1) @ value

a model's caches not reordered | transformer
>test_transformer.py::test_a_reordered_state_goes_on_as_the_chosen_rows[rows0-alibi]
>test_decoding_models.py::test_the_batched_beam_is_the_loop_over_hypotheses[transformer]
-caches = [cache.reorder(rows) for cache in state.caches]
+caches = state.caches

a cache's rows not reordered | cache
>test_transformer.py::test_a_reordered_state_goes_on_as_the_chosen_rows[rows0-alibi]
-part.index_select(0, rows)
+part[: len(rows)]

absorbed scores divided by the root of the latents' size | latent
>test_latent.py::test_both_ways_are_the_formula[True]
-query * (query.shape[-1] / (self.d + self.rope.d)) ** 0.5
+query * 1.0

after a refused guess a token drawn from p | further/speculation
>further/test_speculation.py::test_every_text_has_the_models_own_probability[2-another model]
-(p[:m] - q).clamp(min=0)
+p[:m]

the unfinished compete without a length penalty | decoding | UNFINISHED
-put_aside(living, ended, n**length_penalty, eos, everything=True)
+put_aside(living, ended, 1.0, eos, everything=True)

the length penalty applied while the unfinished are still written | decoding | UNFINISHED
-best(total.flatten(1), k)
+best(total.flatten(1) / (living.words.shape[-1] + 1), k)

a hypothesis goes on after eos | decoding
>test_decoding.py::test_a_beam_as_wide_as_the_world_is_brute_force
-living._replace(log_p=log_p.masked_fill(leaves, -torch.inf))
+living

the beam stops with the first sentence of the batch | decoding | MATES
-(ended.scores[:, -1] >= bound).all()
+(ended.scores[:, -1] >= bound).any()

greedy decoding stops with the first sentence of the batch | decoding | MATES
-if done.all():
+if done.any():

a GRU's states not reordered | rnn
>test_decoding_models.py::test_the_batched_beam_is_the_loop_over_hypotheses[rnn luong]
-DecoderState(state.hidden[rows], fed
+DecoderState(state.hidden if len(rows) == len(state.hidden) else state.hidden[rows], fed

the beam stops when each sentence has one that ended | decoding
>test_decoding.py::test_the_batched_beam_is_the_loop_over_hypotheses
-(ended.scores[:, -1] >= bound).all()
+(ended.scores[:, 0] > -torch.inf).all()

the length penalty counts one token too few | decoding
>test_decoding.py::test_a_beam_as_wide_as_the_world_is_brute_force
-living, ended = put_aside(living, ended, n**length_penalty, eos)
+living, ended = put_aside(living, ended, max(1, n - 1) ** length_penalty, eos)
"""


def written(block: str) -> Bug:
    head, *lines = block.split("\n")
    name, module, *tests = head.split(" | ")
    more, right, wrong = ([line[1:] for line in lines if line[0] == sign] for sign in ">-+")
    named = (NAMED.get(test, test).replace("CACHED", CACHED) for test in tests + more)
    return Bug(name, module, "\n".join(right), "\n".join(wrong), tuple(named))


BUGS = tuple(map(written, DIFF.strip().split("\n\n")))


# what starts a process and reads torch for each: a few by day, all of them in `make test-all`
BY_DAY = {
    "the mask means the opposite",
    "rotary positions begin at 0 again behind a cache",
    "a GRU's states not reordered",
}


def run_tests(package: Path, tests: tuple[str, ...], log: Path) -> None:
    """Run tests with this package before the installed one; exit as pytest does."""
    os.chdir(ROOT)
    # the same examples each time, and a failing one is not made smaller, which would take long
    quick = {"derandomize": True, "deadline": None, "max_examples": 60}
    hypothesis.settings.register_profile("bugs", phases=[Phase.explicit, Phase.generate], **quick)
    # no other plugins: to load them would take longer than the tests
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": PLUGIN}
    sys.path.insert(0, str(package.parent))
    with open(log, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        named = [f"tests/attnbook/{test}" for test in tests]
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=bugs"]
        code = pytest.main([*options, *named])
        print("attnbook is", sys.modules["attnbook"].__file__, flush=True)
    os._exit(code)


def copied(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, folder / "attnbook", ignore=ignored))


def inject(bug: Bug, folder: Path) -> Path:
    """Return a copy of the package with the bug in it."""
    package = copied(folder)
    path = package / f"{bug.module}.py"
    path.write_text(source_of(bug).replace(bug.right, bug.wrong), encoding="utf-8")
    return package


def source_of(bug: Bug) -> str:
    """Return the text that a bug changes; it must hold the right line once."""
    source = (PACKAGE / f"{bug.module}.py").read_text(encoding="utf-8")
    assert source.count(bug.right) == 1, f"{bug.module}.py must hold once: {bug.right}"
    return source


class Result(NamedTuple):
    """What pytest returned and printed."""

    code: int
    output: str


def result_of(package: Path, tests: tuple[str, ...]) -> Result:
    """Run tests in a process of their own, forked from one that has imported torch already."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(["torch", "numpy", "pytest", "hypothesis"])
    log = package.parent / "log.txt"
    process = context.Process(target=run_tests, args=(package, tests, log))
    process.start()
    process.join(PROCESS)
    assert process.exitcode is not None, f"{tests} still ran after {PROCESS} s"
    output = log.read_text(encoding="utf-8")
    assert f"attnbook is {package}" in output, output[-2000:]
    return Result(process.exitcode, output)


Runs = dict[str, "Future[Result]"]


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory) -> Iterator[Runs]:
    """Begin the runs of all chosen bugs, two at a time."""
    nodes = request.session.items
    chosen = [node.callspec.params.get("bug") for node in nodes if hasattr(node, "callspec")]

    def begin(bug: Bug, folder: Path) -> Result:
        return result_of(inject(bug, folder), bug.tests)

    with ThreadPoolExecutor(2) as pool:
        yield {
            # folders are made here: two threads would race for the first
            bug.name: pool.submit(begin, bug, tmp_path_factory.mktemp("package"))
            for bug in BUGS
            if bug in chosen
        }


def parameter(bug: Bug):
    return pytest.param(bug, id=bug.name, marks=() if bug.name in BY_DAY else pytest.mark.heavy)


@pytest.mark.parametrize("bug", [parameter(bug) for bug in BUGS])
def test_the_suite_sees_it(bug: Bug, runs: Runs) -> None:
    """Red for the right reason: a comparison fails, not an import or a name."""
    code, output = runs[bug.name].result()
    assert code == 1, output[-2000:]
    assert re.search(r"^FAILED tests/", output, re.MULTILINE), output[-2000:]
    assert re.search(RED, output, re.MULTILINE), output[-2000:]


@pytest.mark.parametrize("by_day", [True, pytest.param(False, marks=pytest.mark.heavy)])
def test_without_them_the_same_tests_pass(by_day: bool, tmp_path: Path) -> None:
    """The control: an unchanged copy."""
    chosen = [bug for bug in BUGS if (bug.name in BY_DAY) == by_day]
    named = tuple(dict.fromkeys(test for bug in chosen for test in bug.tests))
    code, output = result_of(copied(tmp_path), named)
    assert code == 0, output[-2000:]
    assert re.search(r"\d+ passed", output)
    assert "skipped" not in output


def test_every_bug_has_a_name_and_a_test_of_its_own() -> None:
    names = {bug.name for bug in BUGS}
    assert len(names) == len(BUGS)
    assert names >= BY_DAY
    assert all(bug.tests and bug.right != bug.wrong for bug in BUGS)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_still_finds_its_line(bug: Bug) -> None:
    assert source_of(bug)
