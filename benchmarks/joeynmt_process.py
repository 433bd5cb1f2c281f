"""JoeyNMT in a process and an environment of its own, trained a block of steps at a time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "_build" / "peers" / ("Scripts" if os.name == "nt" else "bin") / "python"
WORKER = HERE / "joeynmt_worker.py"


class JoeyNMT:
    """A model of JoeyNMT's, "transformer" or "recurrent", on the same tokens as the book's.

    ``batch`` counts sentences; with a ``shared`` vocabulary, which both sides and the last layer
    have, it counts tokens.

    Raises: OSError where its environment is missing, or where it stops by itself.
    """

    def __init__(
        self,
        text: list[tuple[list[str], list[str]]],
        folder: Path,
        kind: str,
        sizes: dict,
        batch: int,
        block: int,
        shared: list[str] | None = None,
    ) -> None:
        if not PYTHON.exists():
            raise OSError("there is no _build/peers (benchmarks/requirements.txt says how)")
        folder.mkdir(parents=True)
        for side, language in enumerate(("src", "trg")):
            lines = (" ".join(pair[side]) for pair in text)
            (folder / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        wanted = configuration(folder, kind, sizes, batch, block)
        if shared is not None:
            words = folder / "words.txt"
            words.write_text("\n".join(shared) + "\n", encoding="utf-8")
            share(wanted, words)
        config = folder / "config.json"
        config.write_text(json.dumps(wanted))
        self.log = (folder / "log.txt").open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            [PYTHON, WORKER, config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        ready = self._answer()
        self.parameters: int = ready["parameters"]
        self.vocabularies: list[int] = ready["vocabularies"]

    def block(self) -> float:
        """Train a block; return target tokens per second."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self._answer()
        return answer["tokens"] / answer["seconds"]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()

    def _answer(self) -> dict:
        for line in self.process.stdout:  # it may print other things too
            if line.startswith("{"):
                return json.loads(line)
        self.stop()
        last = Path(self.log.name).read_text(encoding="utf-8").strip().splitlines()[-1:]
        raise OSError(f"it stopped: {' '.join(last)}")


def configuration(folder: Path, kind: str, sizes: dict, batch: int, block: int) -> dict:
    """Return JoeyNMT's own configuration of the same model and training."""
    side = {"level": "word", "voc_min_freq": 2, "max_length": 1000, "tokenizer_type": "none"}
    training = {
        "optimizer": "adam",
        "learning_rate": 2e-4,
        "learning_rate_min": 1e-12,
        "scheduling": "warmupinversesquareroot",
        "learning_rate_warmup": 4000,
        "clip_grad_norm": 1.0,
        "normalization": "tokens",
        "batch_size": batch,
        "batch_type": "sentence",
        "shuffle": True,
        "epochs": 1000,
        "logging_freq": block,
        "validation_freq": 10**6 * block,
        "overwrite": True,
    }
    return {
        "name": kind,
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "train"),
            "dataset_type": "plain",
            "sample_dev_subset": 10,
            "src": {**side, "lang": "src"},
            "trg": {**side, "lang": "trg"},
        },
        "testing": {"beam_size": 1},
        "training": training,
        "model": transformer(sizes) if kind == "transformer" else recurrent(sizes),
    }


def share(config: dict, words: Path) -> None:
    """Let both sides and the last layer have one table, and batches count tokens."""
    for side in ("src", "trg"):
        config["data"][side]["voc_file"] = str(words)
    config["model"] |= {"tied_embeddings": True, "tied_softmax": True}
    config["training"] |= {"batch_type": "token", "label_smoothing": 0.1}


def transformer(sizes: dict) -> dict:
    d, drop = sizes["d"], sizes["drop"]
    part = {
        "type": "transformer",
        "num_layers": sizes["layers"],
        "num_heads": sizes["heads"],
        "embeddings": {"embedding_dim": d, "scale": True, "dropout": drop},
        "hidden_size": d,
        "ff_size": sizes["d_ff"],
        "dropout": drop,
        "layer_norm": "pre",
    }
    return {"initializer": "xavier_uniform", "encoder": part, "decoder": part}


def recurrent(sizes: dict) -> dict:
    d, drop = sizes["d"], sizes["drop"]
    part = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": d, "dropout": drop},
        "hidden_size": d,
        "num_layers": 1,
        "dropout": drop,
    }
    decoder = {"attention": "bahdanau", "input_feeding": True, "init_hidden": "bridge"}
    encoder = {**part, "hidden_size": d // 2, "bidirectional": True}
    return {"encoder": encoder, "decoder": {**part, **decoder}}
