"""What the book shows of its translator of captions: live, its runs, and their curves.

All is made at the build from ``attnlab.translation.captions``: no number stands in two places.
"""

from __future__ import annotations

import base64
from html import escape

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnlab.pictures import curves
from attnlab.translation import captions
from attnlab.widgets import Translator

LANDING = "book/index"  # its reader meets a sentence and a button, the table only later
EXAMPLES = [
    "two dogs are playing in the snow",
    "a little girl in a pink dress is eating ice cream",
]
HEAD = (
    "| run | its OPTIONS | parameters | validation, cased | tokens | test, cased | tokens |\n"
    "| :-- | :-- |" + 5 * " --: |"
)


class CaptionTranslator(SphinxDirective):
    """The translator of captions, live; its content is the sentence that it begins with."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        stored = captions.load()
        widget = Translator(
            stored.model,
            stored.tokenizer,
            lower=stored.lower,
            sentence=" ".join(self.content),
            examples=EXAMPLES,
            asset="captions",
            simple=self.env.docname == LANDING,
        )
        return [nodes.raw("", widget.html(), format="html")]


class CaptionRuns(SphinxDirective):
    """The table of all runs, above it the command that trained them."""

    def run(self) -> list[nodes.Node]:
        found = captions.runs()
        common, options = shared([run.command for run in found])
        lines = [HEAD, *map(row, found, options), ""]
        lines += [f"Cased BLEU is sacrebleu's, `{found[0].signature}`."]
        return parsed(self, [*in_a_box(f"{common} OPTIONS"), *lines])


class CaptionHour(SphinxDirective):
    """The long run: its command, after how many minutes it was how good, and its scores."""

    def run(self) -> list[nodes.Node]:
        found = captions.long_run()
        after = reached(found)
        points = " | ".join(map(str, after))
        minutes = " | ".join(f"{some:.0f}" for some in after.values())
        lines = [
            f"| BLEU on validation, greedy, tokens | {points} |",
            "| :-- |" + len(after) * " --: |",
            f"| reached after minutes | {minutes} |",
            "",
            f"It took {found.steps:,} steps. By a beam of 5 it scores {told(found.validation)} on "
            f"validation, and {told(found.test)} on the test.",
        ]
        return parsed(self, [*in_a_box(found.command), *lines])


class CaptionCurves(SphinxDirective):
    """BLEU on validation along the way, translated greedily, for one seed of each."""

    def run(self) -> list[nodes.Node]:
        some = [run for run in captions.runs() if "seed" not in run.name]
        steps = [mark.step for mark in some[0].curve]
        series = {
            run.name.removeprefix("Transformer, "): [mark.tokens for mark in run.curve]
            for run in some
        }
        picture = curves(
            steps, series, x_label="steps", y_label="BLEU on validation, greedy, tokens"
        )
        png, size = picture._repr_png_()
        shown = f'alt="{escape(size["alt"], quote=True)}" width="{size["width"]}"'
        data = base64.b64encode(png).decode()
        html = f'<div class="cell_output"><img {shown} src="data:image/png;base64,{data}" /></div>'
        return [nodes.raw("", html, format="html")]


def in_a_box(command: str) -> list[str]:
    """Return the lines of a block of code with a command of two lines."""
    begin, end = command.split(" --data", 1)
    return ["```sh", f"{begin} \\", f"    --data{end}", "```", ""]


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Return what lines of Markdown say."""
    shown = nodes.container()
    text = StringList("\n".join(lines).split("\n"), source="runs")
    directive.state.nested_parse(text, directive.content_offset, shown)
    return shown.children


def reached(run: captions.Run, least: int = 34) -> dict[int, float]:
    """Return after how many minutes a mark was first at or over each whole point."""
    marks = list(zip(run.curve, run.minutes, strict=True))
    best = max(mark.tokens for mark in run.curve)
    return {
        point: next(minutes for mark, minutes in marks if mark.tokens >= point)
        for point in range(least, int(best) + 1)
    }


def told(scores: dict[str, float]) -> str:
    """Return both scores in words."""
    return f"{scores['cased']:.2f} cased, {scores['tokens']:.2f} in tokens"


def shared(commands: list[str]) -> tuple[str, list[str]]:
    """Return the words with which all commands begin, and what each has besides."""
    words = [command.split() for command in commands]
    differs = (k for k, some in enumerate(zip(*words, strict=False)) if len(set(some)) > 1)
    n = next(differs, min(map(len, words)))
    return " ".join(words[0][:n]), [" ".join(one[n:]) for one in words]


def row(run: captions.Run, options: str) -> str:
    """Return the table's line of a run."""
    kinds = [(of, kind) for of in (run.validation, run.test) for kind in ("cased", "tokens")]
    scores = " | ".join(f"{of[kind]:.2f}" for of, kind in kinds)
    given = f"`{options}`" if options else "none"
    return f"| {run.name} | {given} | {run.parameters:,} | {scores} |"


def setup(app: Sphinx) -> dict:
    app.add_directive("caption-translator", CaptionTranslator)
    app.add_directive("caption-runs", CaptionRuns)
    app.add_directive("caption-hour", CaptionHour)
    app.add_directive("caption-curves", CaptionCurves)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
