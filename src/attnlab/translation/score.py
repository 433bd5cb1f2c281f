"""Score a trained translator on a test set, the reader's own copy.

    python -m attnlab.translation.score RUN --source test.en --reference test.de
    python -m attnlab.translation.score RUN --source test.lc.norm.tok.en \\
        --tokens test.lc.norm.tok.de

The first prints cased BLEU of plain text (sacrebleu, 13a or what the language needs) and, for
English, German, French and Italian, BLEU of both texts in Moses's lower-cased tokens. ``--tokens``
names the reference in the release's own tokens, which the published marks of Multi30k are computed
with; it can be given beside ``--reference`` or alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from attnlab import _check
from attnlab._console import any_letter
from attnlab.language.readers import lines
from attnlab.training.metrics import Bleu
from attnlab.translation.command import in_words
from attnlab.translation.moses import are_tokens
from attnlab.translation.saved import load
from attnlab.translation.scoring import cased, in_tokens, translate
from attnlab.translation.team import team


def main(arguments: Sequence[str] | None = None) -> int:
    """Translate, print the scores as JSON, and return 0, or 1 after an error in words."""
    parser = argparse.ArgumentParser(
        prog="python -m attnlab.translation.score",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("--source", type=Path, required=True, help="a sentence a line, or .gz")
    parser.add_argument("--reference", type=Path, help="their translations, in plain text")
    parser.add_argument("--tokens", type=Path, help="the same in the release's lower-cased tokens")
    parser.add_argument("--beam", type=int, help="hypotheses; the recipe's unless given")
    parser.add_argument("--output", type=Path, help="where to write the translations")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    options = parser.parse_args(arguments)

    def work() -> None:
        if options.reference is None and options.tokens is None:
            raise ValueError("one of --reference and --tokens must be given: both are missing")
        source = read(options.source)
        if options.output is not None:
            _check_output(options.output, (options.source, options.reference, options.tokens))
        paths = {"reference": options.reference, "tokens": options.tokens}
        texts = {name: (path, read(path)) for name, path in paths.items() if path is not None}
        references = {name: text for name, (_, text) in texts.items()}
        texts["source"] = options.source, source
        _check_lines(texts)
        with team(options.device) as here:
            saved = load(options.run, here.device)
            language = saved.recipe.languages[1]
            _check_form(options.run, texts)
            scores(source, references, language)  # what cannot be scored is said before the work
            written = translate(
                saved.model, saved.pieces, source, saved.recipe, team=here, beam=options.beam
            )
        if not here.main:
            return
        if options.output is not None:
            options.output.write_text("".join(f"{one}\n" for one in written), encoding="utf-8")
        print(json.dumps(scores(written, references, language), indent=1))

    return in_words(work)


def _check_output(path: Path, read_from: Sequence[Path | None]) -> None:
    """Find a place where the translations can be written, over nothing that is read."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for --output")
    same = any(one is not None and path.resolve() == one.resolve() for one in read_from)
    told = f"it is {path}, which is read"
    _check.must(not same, "--output", "be a file of its own", but=told)


def _check_lines(texts: dict[str, tuple[Path, list[str]]]) -> None:
    """Find a line of each reference for each of the source's."""
    path, source = texts["source"]
    for other, text in texts.values():
        wanted = f"have as many lines as {path}, {len(source)}"
        _check.must(len(text) == len(source), str(other), wanted, but=f"it has {len(text)}")


def _check_form(run: Path, texts: dict[str, tuple[Path, list[str]]]) -> None:
    """Find plain text where a run learnt plain text, and tokens where it learnt tokens."""
    result, learnt = run / "result.json", None
    if result.exists():
        learnt = json.loads(result.read_text(encoding="utf-8")).get("tokens")
    wanted = {"source": learnt, "reference": learnt, "tokens": True}
    names = {True: "lower-cased tokens", False: "plain text"}
    for name, (path, text) in texts.items():
        came = are_tokens(text)
        fits = None in (came, wanted[name]) or came == wanted[name]
        _check.must(fits, str(path), f"be {names[not came]} for this score", names[bool(came)])


def scores(
    written: Sequence[str], references: dict[str, list[str]], language: str
) -> dict[str, str | float]:
    """Return each BLEU that the references and the language allow, with sacrebleu's signature.

    Raises: ValueError, ImportError as ``scoring.score``.
    """
    found: dict[str, Bleu | None] = {}
    if "reference" in references:
        found["cased"] = cased(written, references["reference"], language)
    found["tokens"] = in_tokens(
        written,
        language,
        references=references.get("reference"),
        tokens=references.get("tokens"),
    )
    told: dict[str, str | float] = {}
    for name, one in found.items():
        if one is not None:
            told |= {name: round(one.score, 2), f"{name}_signature": one.signature}
    return told


def read(path: Path) -> list[str]:
    """Read the sentences of a file, one a line.

    Raises: FileNotFoundError; ValueError for an empty file or bytes that are not UTF-8.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    found = [line.strip() for line in lines(path)]
    if not found:
        raise ValueError(f"{path} must hold sentences: it is empty")
    return found


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
