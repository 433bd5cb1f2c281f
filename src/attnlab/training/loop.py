"""One training loop for every model of the book, counted in steps::

    with seeded(0):
        model = RNNSeq2Seq(…)
    shuffled = lambda epoch: batches(examples, 64, seed=epoch)
    history = train(model, shuffled, steps=500, schedule=warmup_cosine(50, 500))

A run depends on its arguments alone: the same seed gives the same weights on the same machine,
whatever was drawn before, and torch's own random numbers go on as if nothing had happened.
"""

import math
import os
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from attnlab import _check
from attnlab.training.epochs import Batches, Epochs
from attnlab.training.losses import teacher_forced_loss
from attnlab.training.metrics import evaluating
from attnlab.training.resume import Tensors, has_checkpoint, read_checkpoint, save_checkpoint
from attnlab.training.schedules import Schedule, constant
from attnlab.training.seeds import seeded, set_random_state

Loss = Callable[[Any, Any], Tensor]  # of the model and a batch
Steps = Generator[int, None, None]
ADAM = partial(Adam, fused=True)  # one kernel for each weight's whole update: 3 % of a step


@dataclass(repr=False)
class History:
    """What a run reports: the loss of each step, and what ``validate`` returned after which step.

    ``losses[k]`` is the loss of step k + 1, before its update.
    """

    losses: list[float] = field(default_factory=list)
    validations: dict[int, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<History: {self.steps} steps, {len(self.validations)} validations>"

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self.losses)

    @property
    def best_step(self) -> int | None:
        """The step after which ``validate`` returned its lowest number, the first if equal."""
        return min(self.validations, key=self.validations.__getitem__, default=None)


def train(
    model: nn.Module,
    batches: Batches,
    loss: Loss = teacher_forced_loss,
    *,
    steps: int,
    lr: float = 1e-3,
    optimizer: Callable[..., Optimizer] = ADAM,
    schedule: Schedule | None = None,
    clip: float | None = 1.0,
    validate: Callable[[nn.Module], float] | None = None,
    validate_every: int | None = None,
    patience: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> History:
    """Take ``steps`` steps of gradient descent and leave ``model`` trained, in eval mode.

    Step s computes loss(model, batch), clips the gradient's norm to ``clip`` and moves the
    weights at the rate lr · schedule(s), with s counted from 1.

    Args:
        batches: a list, read in its order again and again, or a function from the epoch (0, 1, …)
            to that epoch's batches, which are held in memory. It may depend on the epoch and on
            torch's own random numbers, which begin anew with ``seed`` in each epoch; not on a
            ``torch.Generator`` that lives on from one epoch to the next.
        optimizer: called as optimizer(weights, lr=lr) with the weights that require a gradient;
            ``functools.partial(AdamW, weight_decay=0.01)`` is one too. Adam unless given.
        validate: called as validate(model) every ``validate_every`` steps, in eval mode; lower is
            better. With ``patience`` the run stops when that many validations in a row were no
            better than the best, and in any case leaves the best weights in the model.
        checkpoint: a folder that gets a checkpoint every ``checkpoint_every`` steps and after the
            last; ``resume=True`` goes on from the one it holds, if any, and reaches the same
            weights, bit for bit, as a run that was never stopped.
        seed: of dropout, and of whatever else the loss draws from torch.
        progress: a bar, where tqdm is installed; the environment's ``TQDM_DISABLE=1`` turns it
            off everywhere.

    Raises: ValueError for settings that cannot be; no batches; a checkpoint that is damaged, of
    another version or of another run, or that would be overwritten (nothing is changed then);
    and for a loss, gradient or validation that is not finite: it names the step, the weights are
    those before it, and the last checkpoint stays. TypeError for what is no model, function or
    tensor; ImportError for a checkpoint where safetensors is not installed.
    """
    _check_kinds(model, loss, optimizer, schedule, validate)
    _check.whole_number("steps", steps, at_least=1)
    _check.positive("lr", lr)
    if clip is not None:
        _check.positive("clip", clip)
    _check_together(validate, validate_every, patience, checkpoint, checkpoint_every, resume)
    run = _Run(model, optimizer, Epochs(batches, seed), lr, clip)
    factor = constant() if schedule is None else schedule
    with seeded(seed):
        if checkpoint is not None:
            run.open(Path(checkpoint), resume)
        model.train()
        try:
            with closing(run.steps(steps, patience, progress)) as numbers:
                for step in numbers:
                    run.update(loss, factor(step))
                    if validate is not None and validate_every and step % validate_every == 0:
                        run.validate(validate)
                    if checkpoint_every is not None and step % checkpoint_every == 0:
                        run.save()
            run.save()
        finally:
            model.eval()
    if patience is not None and run.best is not None:
        model.load_state_dict(run.best)
    return run.history


class _Run:
    """A run between two steps: all that a checkpoint holds."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: Callable[..., Optimizer],
        data: Epochs,
        lr: float,
        clip: float | None,
    ) -> None:
        self.model, self.data = model, data
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        if not self.weights:
            raise ValueError("model must have weights that require a gradient: it has none")
        self.optimizer = optimizer(self.weights, lr=lr)
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.clip = math.inf if clip is None else clip
        self.history = History()
        self.best: Tensors | None = None
        self.folder: Path | None = None
        self.saved = 0  # the step of the last checkpoint

    def steps(self, steps: int, patience: int | None, progress: bool) -> Steps:
        quiet = not progress or os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
        done = self.history.steps
        bar = None if quiet else _bar(total=steps, initial=min(done, steps), unit="step")
        try:
            for step in range(done + 1, steps + 1):
                if self.out_of(patience):
                    return
                yield step
                if bar is not None:
                    bar.set_postfix(loss=f"{self.history.losses[-1]:.3f}", refresh=False)
                    bar.update()
        finally:
            if bar is not None:
                bar.close()

    def out_of(self, patience: int | None) -> bool:
        best = self.history.best_step
        if patience is None or best is None:
            return False
        return sum(step > best for step in self.history.validations) >= patience

    def update(self, loss: Loss, factor: float) -> None:
        if not 0 <= factor < math.inf:
            raise ValueError(f"schedule must return a finite factor of at least 0: it is {factor}")
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.optimizer.zero_grad()
        result = loss(self.model, self.data.next())
        _check_loss(result)
        result.backward()
        norm = nn.utils.clip_grad_norm_(self.weights, self.clip)
        number = result.item()
        self.must_be_finite("loss", number, self.history.steps + 1)
        self.must_be_finite("gradient's norm", norm.item(), self.history.steps + 1)
        self.optimizer.step()
        self.history.losses.append(number)

    def must_be_finite(self, name: str, number: float, step: int) -> None:
        if math.isfinite(number):
            return
        self.optimizer.zero_grad()
        kept = f"; the last checkpoint is of step {self.saved}" if self.saved else ""
        raise ValueError(
            f"the {name} must be finite: at step {step} it is {number}. The weights are those "
            f"after step {self.history.steps}{kept}"
        )

    def validate(self, validate: Callable[[nn.Module], float]) -> None:
        step = self.history.steps
        # numbers of its own, so that what it draws changes nothing for the next step
        with seeded(self.data.seed), evaluating(self.model):
            number = float(validate(self.model))
        self.must_be_finite("result of validate", number, step)
        self.history.validations[step] = number
        if self.history.best_step == step:
            state = self.model.state_dict()
            self.best = {name: tensor.detach().clone() for name, tensor in state.items()}

    def open(self, folder: Path, resume: bool) -> None:
        _check.needed("safetensors", "a checkpoint")  # now, rather than after an hour of training
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"checkpoint must be a folder: {folder} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        if not has_checkpoint(folder):
            return
        if not resume:
            raise ValueError(
                f"checkpoint must be a folder without one: {folder} holds one. Name another "
                f"folder, or go on from it with resume=True"
            )
        saved = read_checkpoint(folder)
        if "data" not in saved.state["run"]:
            raise ValueError(f"checkpoint must be one that train wrote: {saved.folder} is not")
        self.data.go_to(saved.state["run"]["data"])
        saved.load_into(self.model, self.optimizer)
        past = saved.state["run"]["history"]
        validations = {int(step): number for step, number in past["validations"].items()}
        self.history = History(past["losses"], validations)
        self.best, self.saved = saved.best, saved.step
        if self.best is not None:  # read to the CPU
            own = self.model.state_dict()
            self.best = {name: tensor.to(own[name].device) for name, tensor in self.best.items()}
        set_random_state(saved.state["random"])

    def save(self) -> None:
        step = self.history.steps
        if self.folder is None or step == self.saved:
            return
        run = {"history": asdict(self.history), "data": self.data.state()}
        save_checkpoint(self.folder, self.model, self.optimizer, step=step, best=self.best, run=run)
        self.saved = step


def _bar(**options: Any) -> Any:
    try:
        return _check.needed("tqdm.auto", "a bar").tqdm(**options, disable=False)
    except ImportError:
        return None  # a training without its bar is the same training


def _check_kinds(model: Any, loss: Any, optimizer: Any, schedule: Any, validate: Any) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module: it is a {type(model).__name__}")
    if isinstance(optimizer, Optimizer):
        raise TypeError("optimizer must be a class or function such as Adam: it is an optimiser")
    functions = {
        "loss": (loss, "function (model, batch)"),
        "optimizer": (optimizer, "class or function such as Adam"),
        "schedule": (schedule, "function from a step to a factor, such as warmup_cosine gives"),
        "validate": (validate, "function (model)"),
    }
    for name, (came, wanted) in functions.items():
        if not callable(came) and not (came is None and name in ("schedule", "validate")):
            raise TypeError(f"{name} must be a {wanted}: it is a {type(came).__name__}")


def _check_together(
    validate: Any, validate_every: Any, patience: Any, checkpoint: Any, every: Any, resume: bool
) -> None:
    numbers = {"validate_every": validate_every, "patience": patience, "checkpoint_every": every}
    for name, number in numbers.items():
        if number is not None:
            _check.whole_number(name, number, at_least=1)
    if (validate is None) != (validate_every is None):
        raise ValueError("validate and validate_every must be given together: one is missing")
    if patience is not None and validate is None:
        raise ValueError("patience must come with validate: validate is missing")
    if checkpoint is None and (every is not None or resume):
        name = "resume" if every is None else "checkpoint_every"
        raise ValueError(f"{name} must come with checkpoint, a folder: checkpoint is missing")


def _check_loss(result: Any) -> None:
    if not isinstance(result, Tensor):
        raise TypeError(f"loss must return a torch.Tensor: it returned a {type(result).__name__}")
    if result.dim() or not result.requires_grad:
        raise ValueError(
            f"loss must return one number that depends on the model's weights: it returned the "
            f"shape {tuple(result.shape)}, requires_grad={result.requires_grad}"
        )
