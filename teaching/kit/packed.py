"""The kit as one file: the same files give the same bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

NAME = "attention-worked-out-kit"
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of a zip file's time; no file tells when it was written


def pack(folder: Path) -> Path:
    """Put all that lies in the kit's folder into one zip file there, and return its path."""
    target = folder / f"{NAME}.zip"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != target)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for path in files:
            entry = zipfile.ZipInfo(f"{NAME}/{path.relative_to(folder).as_posix()}", BEGINNING)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, path.read_bytes())
    return target
