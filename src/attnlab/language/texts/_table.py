"""The tables of ``data/``: a line of names, then a line for each row, with tabs between."""

from importlib.resources import files


def read_table(name: str) -> list[dict[str, str]]:
    """Return each row of a table as a dictionary; a row with another number of cells is an error.

    Raises: ValueError where a row has more or fewer cells than there are names.
    """
    text = (files("attnlab.language.texts") / "data" / name).read_text(encoding="utf-8")
    head, *lines = (line.split("\t") for line in text.split("\n") if line)
    return [dict(zip(head, line, strict=True)) for line in lines]
