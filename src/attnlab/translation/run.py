"""A run: steps of gradient descent on one process or several, until the recipe or the clock ends.

    run/recipe.json        the choices
        pieces.json        the sub-words
        log.jsonl          a line for each 50 steps, and for each validation
        step-00000250/     the last checkpoint, whole whenever the machine stops
        weights/           the sets of weights that are averaged
        model.safetensors  the averaged weights, at the end
        result.json        their scores on validation

Step s draws from a seed of its own, (recipe.seed, s, rank), and takes the batch that belongs to s.
So a checkpoint holds weights and Adam's numbers alone, and a run goes on from it bit for bit, or on
another number of processes with the same batches.
"""

import hashlib
import json
import math
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.optim import Adam

from attnlab import _check
from attnlab.language.readers import TextPair
from attnlab.training.resume import has_checkpoint, read_checkpoint, save_checkpoint
from attnlab.training.schedules import warmup_inverse_sqrt
from attnlab.translation.average import Snapshots, distinct, load_distinct
from attnlab.translation.buckets import Buckets
from attnlab.translation.corpus import Text, read_text, sides
from attnlab.translation.fast import products, quicken
from attnlab.translation.journal import Journal, write_whole
from attnlab.translation.model import Learner, Translator, build, nothing, parameters
from attnlab.translation.moses import are_tokens
from attnlab.translation.pieces import Pieces
from attnlab.translation.recipe import Recipe
from attnlab.translation.scoring import Example, Scores, mean_loss, score, translate
from attnlab.translation.team import Team
from attnlab.translation.ways import Ways

LOG_EVERY = 50
Precision = Literal["auto", "float32", "bfloat16"]


def train(
    recipe: Recipe,
    data: str | Path,
    folder: str | Path,
    *,
    minutes: float | None = None,
    team: Team | None = None,
    precision: Precision = "auto",
) -> dict[str, Any]:
    """Train a translator in ``folder``, or go on with the run that it holds; return its result.

    ``minutes`` is the time of training, over all parts of a run that was stopped; at least one
    step is taken. Weights are float32; ``precision`` is that of products: "float32", "bfloat16", or
    "auto", which is the fastest: bfloat16 on a GPU, and on a processor what ``fast.products`` says
    of "medium".

    Raises: FileNotFoundError, ValueError for data that cannot be (``read_text``), a folder that
    holds the run of another recipe or other data, a damaged checkpoint, a loss that is not finite;
    OSError where the disk is full. What was written before stays whole.
    """
    if minutes is not None:
        _check.positive("minutes", minutes)
    _check.one_of("precision", precision, get_args(Precision))
    run = Run(recipe, data, Path(folder), Team() if team is None else team, precision)
    with closing(run):
        for _ in run.steps(minutes):
            pass
        return run.result()


class Run:
    """A run between two steps."""

    def __init__(
        self, recipe: Recipe, data: str | Path, folder: Path, team: Team, precision: Precision
    ) -> None:
        self.recipe, self.folder, self.team = recipe, folder, team
        on_gpu, auto = team.device.type == "cuda", precision == "auto"
        self.bf16 = precision == "bfloat16"
        self.bf16 |= auto and on_gpu and torch.cuda.is_bf16_supported()
        self.products = "medium" if auto and not on_gpu else "highest"
        if team.main:
            _check_folder(folder, recipe)
        text = read_text(data, recipe)
        self.text = text
        self._score(self._references())  # what cannot be scored is said before the first step
        self.pieces = self._pieces(text)
        kept, examples = self._examples(text)
        ways = None
        if recipe.bpe_dropout:
            ways = Ways(self.pieces, kept, rate=recipe.bpe_dropout, seed=recipe.seed)
        self.validation = _encoded(self.pieces, text.validation)
        self.checksum = _checksum(examples)
        if len(set(team.gather(self.checksum))) > 1:
            raise ValueError("data must be the same for all processes: they have read other pairs")
        self.buckets = Buckets(examples, recipe.tokens, recipe.seed, ways)
        self.model = build(recipe, len(self.pieces)).to(team.device)
        quicken(self.model)
        betas = (0.9, recipe.beta2)
        self.optimizer = Adam(self.model.parameters(), lr=recipe.lr, betas=betas, fused=True)
        self.factor = warmup_inverse_sqrt(recipe.warmup)
        self.snapshots = Snapshots(folder / "weights" if team.main else None, recipe.averaged)
        self.step, self.seconds = 0, 0.0
        self._resume()
        if team.main:  # now that all is well: a mistaken command leaves a folder as it was
            _begin(folder, recipe, self.pieces)
        self.saved = self.step
        self.learner = team.shared(Learner(self.model, recipe.smoothing))
        log = folder / "log.jsonl" if team.main else None
        self.journal = Journal(log, recipe.steps, self.seconds, self.step)

    def steps(self, minutes: float | None) -> Generator[int]:
        """Take steps until the recipe's are done, or the time is over; yield each."""
        recipe, began_at, began = self.recipe, self.step, self.journal.seconds
        loss = tokens = 0.0
        self._tell()
        self.model.train()
        while self.step < recipe.steps and not self._over(minutes, began_at):
            share, number = self.update()
            loss, tokens = loss + share, tokens + number
            self.journal.tick()
            yield self.step
            if self.step % LOG_EVERY == 0:
                self._report(loss, tokens, minutes, (began_at, began))
                loss = tokens = 0.0
            if self.step % recipe.validate_every == 0:
                self._validate()
            if self.step % recipe.snapshot_every == 0:
                self.snapshots.add(self.step, self.model)
                self.save()
        self.save()

    def update(self) -> tuple[float, int]:
        """Take one step; return this process's part of its loss, and the step's target pieces."""
        recipe, team, step = self.recipe, self.team, self.step + 1
        torch.manual_seed(_seed(recipe.seed, step, team.rank))
        share = self.buckets.step(step, team.rank, team.world)
        batch = nothing(team.device) if share.batch is None else share.batch.to(team.device)
        rate = self._rate(step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with products(self.products):
            with torch.autocast(team.device.type, torch.bfloat16, enabled=self.bf16):
                loss = self.learner(batch)
            # the mean over the step's pieces, of which the processes' gradients are averaged
            (loss * (team.world / share.tokens)).backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        if not math.isfinite(norm.item()):
            raise ValueError(
                f"the gradient must be finite: at step {step} it is not; the last checkpoint is "
                f"of step {self.saved}. A lower lr may help"
            )
        self.optimizer.step()
        self.step = step
        return loss.item(), share.tokens

    def save(self) -> None:
        """Write a checkpoint, unless this step has one."""
        if self.step == self.saved:
            return
        self.saved = self.step
        if self.team.main:
            run = {"seconds": self.journal.seconds, "data": self.checksum}
            save_checkpoint(self.folder, self.model, self.optimizer, step=self.step, run=run)
            self.snapshots.prune()

    def result(self) -> dict[str, Any]:
        """Average the weights, score them on validation by beam search, and write both."""
        seconds = self.journal.seconds
        self.snapshots.read(self.step)
        mean = self._average(self.snapshots.mean(self.model))
        written = self._translate(mean, self.recipe.beam)
        scores = self._score(written)
        result = {
            "step": self.step,
            "epochs": round(self.step / self.buckets.per_epoch, 2),
            "minutes": round(seconds / 60, 2),
            "parameters": parameters(self.model),
            "validation_loss": mean_loss(mean, self.validation, self.team),
            "validation": asdict(scores),
            "beam": self.recipe.beam,
            "tokens": are_tokens(self._references()),
        }
        if self.team.main:
            save = _check.needed("safetensors.torch", "the weights").save
            write_whole(self.folder / "model.safetensors", save(distinct(mean)))
            write_whole(self.folder / "result.json", json.dumps(result, indent=1).encode())
        return result

    def close(self) -> None:
        """Put the bar away."""
        self.journal.close()

    def _pieces(self, text: Text) -> Pieces:
        path, made = self.folder / "pieces.json", ""
        if self.team.main:
            if path.exists():
                made = path.read_text(encoding="utf-8")
            else:
                made = Pieces.train(sides(text.train), self.recipe.vocabulary).to_json()
        return Pieces.from_json(self.team.broadcast(made))

    def _examples(self, text: Text) -> tuple[list[TextPair], list[Example]]:
        """Return the pairs that are not too long, and their pieces."""
        longest = min(self.recipe.longest, self.recipe.tokens - 1)
        encoded = _encoded(self.pieces, text.train)
        short = [k for k, pair in enumerate(encoded) if max(map(len, pair)) <= longest]
        told = f"it is {longest}, and every pair is longer"
        _check.must(short, "longest", "leave pairs to train on", but=told)
        return [text.train[k] for k in short], [encoded[k] for k in short]

    def _rate(self, step: int) -> float:
        recipe, left = self.recipe, self.recipe.steps - step + 1
        falling = round(recipe.cooldown * recipe.steps)
        cooled = min(1.0, left / falling) if falling else 1.0
        return recipe.lr * self.factor(step) * cooled

    def _resume(self) -> None:
        if self.team.main and has_checkpoint(self.folder):
            saved = read_checkpoint(self.folder)
            if saved.state["run"].get("data") != self.checksum:
                raise ValueError(f"{self.folder} must hold a run on this data: it has other pairs")
            told = f"it is {self.recipe.steps}, and the run in {self.folder} has taken {saved.step}"
            _check.must(saved.step <= self.recipe.steps, "steps", "be enough", but=told)
            saved.load_into(self.model, self.optimizer)
            self.step, self.seconds = saved.step, saved.state["run"]["seconds"]
            self.snapshots.read(self.step)
        if self.team.world == 1:
            return
        state = self.step, self.seconds, distinct(self.model), self.optimizer.state_dict()
        self.step, self.seconds, weights, optimizer = self.team.broadcast(state)
        self.snapshots.sets = self.team.broadcast(self.snapshots.sets)
        if not self.team.main and self.step:
            load_distinct(self.model, weights)
            self.optimizer.load_state_dict(optimizer)

    def _over(self, minutes: float | None, began_at: int) -> bool:
        if minutes is None or self.step == began_at or (self.team.world > 1 and self.step % 10):
            return False
        over = float(self.team.main and self.journal.seconds >= 60 * minutes)
        return self.team.agree([over])[0] > 0  # all processes stop at one step

    def _report(
        self, loss: float, tokens: float, minutes: float | None, began: tuple[int, float]
    ) -> None:
        (total,) = self.team.agree([loss])
        seconds = self.journal.seconds
        per_step = (seconds - began[1]) / (self.step - began[0])
        rate = tokens / LOG_EVERY / per_step
        left = per_step * (self.recipe.steps - self.step)
        left = left if minutes is None else min(left, 60 * minutes - seconds)
        self.journal.write(
            step=self.step,
            epoch=round(self.step / self.buckets.per_epoch, 3),
            loss=total / tokens,
            rate=self._rate(self.step),
            tokens_per_second=round(rate),
            seconds=round(seconds, 1),
        )
        self.journal.show(total / tokens, rate, left)

    def _validate(self) -> None:
        """Score the averaged weights, translating greedily: a curve, not the final score."""
        mean = self._average(self.snapshots.mean(self.model))
        loss = mean_loss(mean, self.validation, self.team)
        written = self._translate(mean, 1)
        scores = self._score(written)
        entry = {"validation_loss": loss, "greedy": scores.cased, "greedy_tokens": scores.tokens}
        self.journal.write(step=self.step, seconds=round(self.journal.seconds, 1), **entry)
        told = f"step {self.step}: validation loss {loss:.3f}, BLEU {scores.cased:.2f}"
        if scores.tokens is not None:
            told += f" (lower-cased tokens {scores.tokens:.2f})"
        self.journal.say(f"{told}, greedily")

    def _average(self, weights: dict[str, torch.Tensor]) -> Translator:
        mean = build(self.recipe, len(self.pieces)).to(self.team.device)
        load_distinct(mean, weights)
        return mean.eval()

    def _translate(self, model: Translator, beam: int) -> list[str]:
        sources = [pair.source for pair in self.text.validation]
        return translate(model, self.pieces, sources, self.recipe, team=self.team, beam=beam)

    def _score(self, written: list[str]) -> Scores:
        return score(written, self._references(), self.recipe.languages[1])

    def _references(self) -> list[str]:
        return [pair.target for pair in self.text.validation]

    def _tell(self) -> None:
        pairs, per_epoch = len(self.buckets.examples), self.buckets.per_epoch
        left_out = len(self.text.train) - pairs
        where = f"{self.team.world} × {self.team.device.type}" + (", bfloat16" * self.bf16)
        self.journal.say(
            f"{pairs:,} pairs"
            + (f" ({left_out:,} too long, left out)" if left_out else "")
            + f", {len(self.pieces):,} pieces, {parameters(self.model):,} parameters, "
            f"{per_epoch} steps an epoch, {where}"
            + (f"; goes on after step {self.step}" if self.step else "")
        )


def _check_folder(folder: Path, recipe: Recipe) -> None:
    """Find the folder to be free, or this recipe's."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} must be a folder: it is a file")
    path = folder / "recipe.json"
    if path.exists():
        unlike = recipe.unlike(Recipe.read(path))
        told = "; ".join(unlike) + ". Name another folder, or take its recipe"
        _check.must(not unlike, str(folder), "hold a run of this recipe", but=told)
    elif any(not one.name.startswith(".") for one in folder.iterdir()):
        raise ValueError(f"{folder} must be empty, or hold a run: it holds other files")


def _begin(folder: Path, recipe: Recipe, pieces: Pieces) -> None:
    """Make the run's folder, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "recipe.json", recipe.to_json().encode())
    if not (folder / "pieces.json").exists():
        write_whole(folder / "pieces.json", pieces.to_json().encode())


def _encoded(pieces: Pieces, pairs: list[Any]) -> list[Example]:
    sources = pieces.encode([pair.source for pair in pairs])
    targets = pieces.encode([pair.target for pair in pairs])
    return list(zip(sources, targets, strict=True))


def _checksum(examples: list[Example]) -> str:
    return hashlib.sha256(json.dumps(examples).encode()).hexdigest()[:16]


def _seed(seed: int, step: int, rank: int) -> int:
    # 32 bits are all that the generator takes
    return int(hashlib.sha256(f"{seed} {step} {rank}".encode()).hexdigest()[:8], 16)
