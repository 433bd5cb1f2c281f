#!/usr/bin/env bash
# Of three mathematical fonts that @fontsource publishes, one lacks the table that makes it one.
#
# Guess before it was run: a font published under the name "... Math" keeps its OpenType MATH table,
# without which a browser grows no bracket and places no index by it.
# Seen: STIX Two Math and Noto Sans Math 5.3.0 have the table; Libertinus Math 5.3.0 does not, in
# the woff2 file and in the woff file. It holds 3,652 signs, the mathematical alphabets among them,
# so nothing looks wrong before the first tall formula.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check fonttools==4.68.0 brotli==1.2.0
for name in stix-two-math noto-sans-math libertinus-math; do
    npm pack --silent "@fontsource/$name@5.3.0" > /dev/null
    mkdir "$name" && tar xzf "fontsource-$name-5.3.0.tgz" -C "$name"
done
env/bin/python - <<'PYTHON'
from pathlib import Path

from fontTools.ttLib import TTFont

found = {}
for path in sorted(Path().glob("*/package/files/*.woff*")):
    font = TTFont(path)
    found[path.name] = "MATH" in font
    print(f"{path.name:45} {len(font.getBestCmap()):5} signs, MATH table: {'MATH' in font}")
without = {name for name, has in found.items() if not has}
wanted = {f"libertinus-math-latin-400-normal.{kind}" for kind in ("woff", "woff2")}
assert len(found) >= 6 and without == wanted, "this has changed"
PYTHON
