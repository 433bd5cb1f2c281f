"""Bytes as the script that a page loads them from, also where no server is."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

__all__ = ["asset_bytes", "asset_script"]

_SCRIPT = re.compile(
    r'^\(globalThis\.attnbookAssets\?\?=\{\}\)\["[a-z0-9-]+"\]="([A-Za-z0-9+/=]*)";$'
)


def asset_script(name: str, data: bytes) -> str:
    """Return a classic script that hands ``data`` to the widgets of its page under ``name``."""
    packed = base64.b64encode(data).decode("ascii")
    return f'(globalThis.attnbookAssets??={{}})["{name}"]="{packed}";\n'


def asset_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the data that ``asset_script`` wrote into a file.

    Raises: ValueError where the file is no such script.
    """
    found = _SCRIPT.match(Path(path).read_text(encoding="ascii").rstrip("\n"))
    if found is None:
        raise ValueError(f"path must be a widget's asset: {path} is none")
    return base64.b64decode(found.group(1))
