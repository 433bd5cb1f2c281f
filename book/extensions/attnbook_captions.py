"""What the book shows of its translator of captions: live, its runs, their curves, and trials.

All is made at the build from ``attnlab.models.captions``: no number stands in two places.
"""

from __future__ import annotations

import base64
import re
from html import escape
from textwrap import wrap

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnlab.models import captions
from attnlab.pictures import curves
from attnlab.widgets import Translator

LANDING = "book/index"  # its reader meets a sentence and a button, the table only later
EXAMPLES = [
    "two dogs are playing in the snow.",
    "an old man is playing the guitar on the street.",
]
HEAD = (
    "| run | its OPTIONS | parameters | validation, cased | tokens | test, cased | tokens |\n"
    "| :-- | :-- |" + 5 * " --: |"
)

TRIALS_HEAD = (
    "| recipe | text | its OPTIONS | seeds | minutes | validation, tokens | test, tokens |\n"
    "| :-- | :-- | :-- |" + 4 * " --: |"
)
USUAL_MINUTES = 25  # of 8,000 steps with 4,000 pieces, on a quiet core


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
        common, others = shared([run.command for run in found])
        lines = [HEAD, *map(row, found, others), ""]
        lines += [f"Cased BLEU is sacrebleu's, `{found[0].signature}`."]
        return parsed(self, [*in_a_box(f"{common} OPTIONS"), *lines])


class CaptionTrials(SphinxDirective):
    """The table of other recipes, each by what differs from the first run; the first line is it."""

    def run(self) -> list[nodes.Node]:
        seeds = [run for run in captions.runs() if run.name.split(", seed ")[0] == "Transformer"]
        tried = {"as above": seeds, **captions.trials()}
        usual = options(seeds[0].command)
        lines = [TRIALS_HEAD, *(trial(name, runs, usual) for name, runs in tried.items())]
        return parsed(self, lines)


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
    """Return the lines of a block of code with a command, none too wide for a page."""
    whole = re.sub(r"(--?\S+) (?!-)", "\\1\N{NO-BREAK SPACE}", command)  # an option and its value
    broken = wrap(whole, 66, subsequent_indent="    ", break_on_hyphens=False)
    return ["```sh", " \\\n".join(broken).replace("\N{NO-BREAK SPACE}", " "), "```", ""]


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


def row(run: captions.Run, words: str) -> str:
    """Return the table's line of a run."""
    kinds = [(of, kind) for of in (run.validation, run.test) for kind in ("cased", "tokens")]
    scores = " | ".join(f"{of[kind]:.2f}" for of, kind in kinds)
    given = f"`{words}`" if words else "none"
    return f"| {run.name} | {given} | {run.parameters:,} | {scores} |"


def options(command: str) -> dict[str, str]:
    """Return a command's options and their values."""
    words = command.split(" -m attnlab.translation ")[1].split()
    return dict(zip(words[::2], words[1::2], strict=True))


def trial(name: str, runs: list[captions.Run], usual: dict[str, str]) -> str:
    """Return the line of a recipe: the means of its seeds, and each of them."""
    given = options(runs[0].command)
    given.pop("--validate-every", None)  # of no account for what is learnt
    text = {"FOLDER": "plain", "TOKENS": "tokens"}[given.pop("--data")]
    changed = " ".join(f"{one} {value}" for one, value in given.items() if usual.get(one) != value)
    minutes = [run.minutes[0] for run in runs if run.minutes] or [USUAL_MINUTES]
    parts = [name, text, f"`{changed}`" if changed else "none", str(len(runs))]
    parts.append(f"{min(minutes):.0f}")  # of the seed that was disturbed least
    for of in ("validation", "test"):
        some = [getattr(run, of)["tokens"] for run in runs]
        apart = f" ({', '.join(f'{one:.2f}' for one in some)})" if len(some) > 1 else ""
        parts.append(f"{sum(some) / len(some):.2f}{apart}")
    return f"| {' | '.join(parts)} |"


def setup(app: Sphinx) -> dict:
    app.add_directive("caption-translator", CaptionTranslator)
    app.add_directive("caption-runs", CaptionRuns)
    app.add_directive("caption-trials", CaptionTrials)
    app.add_directive("caption-hour", CaptionHour)
    app.add_directive("caption-curves", CaptionCurves)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
