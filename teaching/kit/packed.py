"""Files as one zip file: the same files give the same bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from teaching.kit.lectures import KitError

NAME = "attention-worked-out-kit"
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of a zip file's time; no file tells when it was written


def pack(folder: Path) -> Path:
    """Put all that lies in the kit's folder into one zip file there, and return its path.

    Raises: KitError where an exam lies there: the kit is for everybody.
    """
    target = folder / f"{NAME}.zip"
    files = [path for path in folder.rglob("*") if path.is_file() and path != target]
    for path in files:
        if path.name.startswith("exam-"):
            raise KitError(f"{path.name} lies in the kit's folder, which is packed for everybody: "
                           "move it away")  # fmt: skip
    inside = {f"{NAME}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}
    target.write_bytes(zipped(inside))
    return target


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file of files by their names in it."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, BEGINNING)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, files[name])
    return data.getvalue()
