"""What cannot be computed is refused at the door, in words: every public function and class.

One table for each group of modules: what is called, the exception, and words that its message must
hold. The last tests see to it that nothing public is missing from the tables.
"""

import importlib
import inspect

import pytest

from attnlab.language import texts
from tests.attnlab.refusals import (
    classifier,
    grammatical,
    pictures,
    pretrained,
    smollm,
    text,
    training,
)
from tests.attnlab.refusals.rows import Row
from tests.attnlab.refusals.test_files import FILES

MODULES = [
    "pretrained",
    "language",
    "language.vectors",
    "language.texts",
    "language.grammar.judge",
    "training.loop",
    "training.losses",
    "training.metrics",
    "training.schedules",
    "training.seeds",
    "training.resume",
    "models.tasks",
    "models.recurrent",
    "models.transformers",
    "models.masked",
    "models.classifier",
    "models.results",
    "models.recorded",
    "pictures.figures",
    "pictures.arcs",
]
ROWS = [
    row
    for table in (
        *(text, training, pictures),
        *(pretrained, smollm, classifier, grammatical),
    )
    for row in table.ROWS
]

RESULT = "holds what a function returned, and takes anything"
ELSEWHERE = {
    **dict.fromkeys(("training.metrics.Bleu", "training.loop.History"), RESULT),
    **dict.fromkeys(
        ("language.Batch", "language.Corpus", "language.Pair", "language.TextPair"), RESULT
    ),
    **dict.fromkeys(("language.Tree", "pictures.arcs.Arcs", "pictures.arcs.Parsed"), RESULT),
    "language.vectors.Vectors": RESULT,
    "language.book_trees": "takes nothing",
    "pretrained.smollm_file": "takes nothing",
    **dict.fromkeys(
        [f"language.texts.{n}" for n in ("minimal_pairs", "opinions", "pronouns", "treebank")],
        "takes nothing",
    ),
    **dict.fromkeys(
        [f"language.texts.{n}" for n in ("MinimalPair", "Opinion", "Opinions", "PronounPair")],
        RESULT,
    ),
    "models.classifier.Labelled": RESULT,
    "models.tasks.Lesson": "names pairs and vocabularies, which were checked",
    "models.results.names": "takes nothing",
    **dict.fromkeys(
        [
            f"models.recorded.{n}"
            for n in ("MaskTime", "MaskTimes", "Measured", "PronounLeans", "ScoredHead", "Visible")
        ],
        RESULT,
    ),
    **dict.fromkeys(
        [f"models.recorded.{n}" for n in ("answered", "mask_times", "measured")],
        "takes nothing",
    ),
    **dict.fromkeys(
        [f"models.recorded.smollm_{n}" for n in ("heads", "pronouns", "visible")],
        "takes nothing",
    ),
    "training.metrics.AlignmentAccuracy": RESULT,
    "training.resume.Checkpoint": "read_checkpoint makes it: see the tests of files",
    "training.losses.teacher_forced_loss": "teacher_forced, then sequence_loss",
    "training.metrics.evaluating": "takes any module",
    "training.seeds.random_state": "takes nothing",
    "training.seeds.set_random_state": "takes what random_state returned, which is hashed",
    "language.crosses": "takes a Pair",
    "language.read_vectors": "language.vectors has its rows",
    **dict.fromkeys(
        [f"language.{name}" for name in texts.__all__], "language.texts has their rows"
    ),
    "language.detokenise": "takes any tokens",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.of}: {row.words}")
def test_it_is_refused_in_words(row: Row) -> None:
    with pytest.raises(row.error) as caught:
        row.call()
    assert row.words in str(caught.value)
    assert type(caught.value) is row.error  # a subclass came from somewhere else


def public(name: str) -> set[str]:
    """Return the public functions and classes that a module defines or, in a package, exports."""
    module = importlib.import_module(f"attnlab.{name}")
    if hasattr(module, "__all__"):
        return {f"{name}.{one}" for one in module.__all__}
    return {
        f"{name}.{one}"
        for one, value in vars(module).items()
        if not one.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_row_or_a_reason(module: str) -> None:
    tested = (
        {row.of for row in ROWS} | {row[0] for row in FILES} | {"training.resume.has_checkpoint"}
    )
    assert sorted(public(module) - tested - ELSEWHERE.keys()) == []


def test_the_table_names_what_there_is() -> None:
    there_is = set().union(*(public(module) for module in MODULES))
    named = {row.of for row in ROWS} | {row[0] for row in FILES} | ELSEWHERE.keys()
    assert sorted(named - there_is) == []
