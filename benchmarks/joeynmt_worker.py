"""Train with JoeyNMT, a block of steps at a time: run by training.py in JoeyNMT's environment.

    python joeynmt_worker.py CONFIG.json

It first writes {"parameters": …, "vocabularies": …}; then, for each line it reads, it trains
``logging_freq`` steps of JoeyNMT's own loop and writes {"tokens": …, "seconds": …}. Tokens are
those of the target, eos counted and padding not; seconds are CPU time.
"""

import json
import logging
import sys
import time

import torch
from joeynmt.config import parse_global_args, set_validation_args
from joeynmt.prediction import prepare
from joeynmt.training import TrainManager


def say(**numbers: object) -> None:
    print(json.dumps(numbers), flush=True)


class InBlocks(TrainManager):
    """JoeyNMT's trainer, which waits for a line whenever it would write to its log."""

    began, tokens = 0.0, 0

    def wait(self) -> None:
        if not sys.stdin.readline():
            sys.exit()
        self.began, self.tokens = time.process_time(), self.stats.total_tokens

    def _log_scores(self, *_: object) -> None:
        spent = time.process_time() - self.began
        say(tokens=self.stats.total_tokens - self.tokens, seconds=spent)
        self.wait()


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        args = parse_global_args(json.load(file), mode="train")
    args.model_dir.mkdir(parents=True, exist_ok=True)
    model, train, valid, _ = prepare(args, rank=0, mode="train")
    logging.disable(logging.INFO)
    trainer = InBlocks(
        rank=0,
        model=model,
        model_dir=args.model_dir,
        device=args.device,
        n_gpu=0,
        num_workers=0,
        autocast=args.autocast,
        seed=args.seed,
        train_args=args.train,
        dev_args=set_validation_args(args.test),
    )
    size = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    say(parameters=size, vocabularies=[len(model.src_vocab), len(model.trg_vocab)])
    trainer.wait()
    trainer.train_and_validate(train, valid)


if __name__ == "__main__":
    main()
