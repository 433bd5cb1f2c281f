"""What the pretrained models share: texts that come in, and files that others have written."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attnlab import _check


def one(name: str, came: str) -> str:
    """Check one text, which ``name`` names in messages."""
    _check.is_a(name, came, str, "a string")
    return several(name, came)[0]


def several(name: str, came: str | Iterable[str]) -> list[str]:
    """Return one text or several as a list, each of them Unicode that can be written."""
    kind = type(None) if isinstance(came, bytes) else Iterable
    _check.is_a(f"{name}s", came, kind, "a string or strings")
    texts = [came] if isinstance(came, str) else list(came)
    _check.must(texts, f"{name}s", f"hold at least one {name}", but="there is none")
    for text in texts:
        told = f"{text!r} is a {type(text).__name__}"
        _check.must(isinstance(text, str), f"{name}s", "be strings", but=told, error=TypeError)
        whole = text.encode(errors="replace").decode() == text  # or half of a surrogate pair
        wanted, told = "be Unicode that can be written", f"{text!r} is not"
        _check.must(whole, f"each {name}", wanted, but=told)
    return texts


def short(text: str) -> str:
    """Return the beginning of a text, quoted, for a message."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}…"


def there(path: str | Path) -> Path:
    """Return the path of a file.

    Raises: FileNotFoundError for no file.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return Path(path)


def read(path: Path, must: str, reader: Callable[[Path], Any]) -> Any:
    """Read a file, or say that it "must …": libraries raise classes of their own.

    Raises: FileNotFoundError for no file; ValueError for one that cannot be read.
    """
    there(path)
    try:
        return reader(path)
    except KeyError as error:  # of a setting, or of a weight
        raise ValueError(f"{path} must {must}: {error} is missing") from error
    except Exception as error:
        raise ValueError(f"{path} must {must}: {error}") from error


def from_hub(repository: str, names: Iterable[str], revision: str | None = None) -> Path:
    """Return the folder of files of the Hugging Face hub, from its cache where they are there.

    Raises: ImportError without its library; OSError and what the library raises where the hub
    cannot be reached, within seconds.
    """
    import huggingface_hub as hub

    wanted = list(names)
    cached = [hub.try_to_load_from_cache(repository, name, revision=revision) for name in wanted]
    files = [file for file in cached if isinstance(file, str)]
    if len(files) < len(wanted):
        # asked once: a download with no network would try for half a minute
        some = hub.hf_hub_url(repository, wanted[0], revision=revision)
        hub.get_hf_file_metadata(some, timeout=1)
        files = [hub.hf_hub_download(repository, name, revision=revision) for name in wanted]
    return Path(files[-1]).parent
