#!/usr/bin/env bash
# Sphinx 9.0.4 drops all files of html_static_path, in silence, for an exclude pattern of hidden
# folders that 7.4.7 reads as it is written.
#
# Guess before it was run: `exclude_patterns = [".*/**"]` leaves out what lies in hidden folders, in
# both versions, and style sheets of html_static_path are copied in both.
# Seen: 7.4.7 copies them. 9.0.4 copies none and warns of nothing, -W included: it now names a file
# at the top of a static folder "./book.css", and ".*/**" matches that. Written ".[!/]*/**", the
# pattern means in both versions what was meant.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
mkdir -p source/static/deep
printf 'Title\n=====\n' > source/index.rst
touch source/static/book.css source/static/deep/more.css

copied() {  # version, pattern
    printf 'exclude_patterns = ["%s"]\nhtml_static_path = ["static"]\n' "$2" > source/conf.py
    rm -rf out
    "env-$1/bin/python" -m sphinx -q -W -b html source out
    (cd out/_static && find . -name 'book.css' -o -name 'more.css' | sort | tr '\n' ' ')
}

for version in 7.4.7 9.0.4; do
    python3 -m venv "env-$version"
    "env-$version/bin/pip" install -q --disable-pip-version-check "sphinx==$version"
done
both='./book.css ./deep/more.css '
for row in "7.4.7|.*/**|$both" "9.0.4|.*/**|" "7.4.7|.[!/]*/**|$both" "9.0.4|.[!/]*/**|$both"; do
    IFS='|' read -r version pattern wanted <<< "$row"
    found=$(copied "$version" "$pattern"; echo .); found=${found%.}
    echo "Sphinx $version, exclude $pattern: ${found:-nothing copied}"
    [ "$found" = "$wanted" ] || { echo "this has changed"; exit 1; }
done
