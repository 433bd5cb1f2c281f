"""Reading what Chromium printed: its PDF writes each object as plain text, and a table of them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cached_property

_REFERENCE = re.compile(rb"(\d+) 0 R")
_PLACE = re.compile(rb"/([^\s/\[\]]+) \[(\d+) 0 R /XYZ")


class Printed:
    """A PDF as Chromium writes it: one table of objects, no object inside another's stream."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start = int(re.findall(rb"startxref\s+(\d+)", data)[-1])
        size = int(re.match(rb"xref\s+0 (\d+)\s", data[start:])[1])
        rows = re.findall(rb"(\d{10}) \d{5} ([nf])", data[start : start + 20 * size + 40])
        self._offsets = [int(offset) for offset, _ in rows]
        self.root = self[int(re.search(rb"/Root (\d+) 0 R", data[start:])[1])]

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, number: int) -> bytes:
        """The text of an object up to its stream, if it has one."""
        begin = self._offsets[number]
        end = self.data.find(b"endobj", begin)
        stream = self.data.find(b"stream\n", begin, end)
        return self.data[begin : end if stream < 0 else stream]

    def objects(self) -> Iterator[bytes]:
        return (self[number] for number in range(1, len(self)))

    @cached_property
    def pages(self) -> list[int]:
        """The objects of the pages, in their order."""
        found, waiting = [], [_pointed(self.root, b"Pages")]
        while waiting:
            here = waiting.pop()
            if kids := re.search(rb"/Kids \[([^\]]*)\]", self[here]):
                waiting += [int(kid) for kid in reversed(_REFERENCE.findall(kids[1]))]
            else:
                found.append(here)
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """The page, counted from 1, of each id that a link leads to."""
        number = {page: place for place, page in enumerate(self.pages, 1)}
        names = self[_pointed(self.root, b"Dests")]
        return {_name(name): number[int(page)] for name, page in _PLACE.findall(names)}

    def stream(self, number: int) -> bytes:
        """The unpacked content of an object's stream."""
        head = self[number]
        begin = self._offsets[number] + len(head) + len(b"stream\n")
        content = self.data[begin : begin + int(re.search(rb"/Length (\d+)", head)[1])]
        return zlib.decompress(content) if b"/FlateDecode" in head else content


def _pointed(text: bytes, name: bytes) -> int:
    """The number of the object that an entry of a dictionary refers to."""
    return int(re.search(rb"/%s (\d+) 0 R" % name, text)[1])


def _name(raw: bytes) -> str:
    """A PDF's name as text: #2E is the character with this code."""
    plain = re.sub(rb"#([0-9A-Fa-f]{2})", lambda code: bytes.fromhex(code[1].decode()), raw)
    return plain.decode()
