"""Read the tables of words and phrases in the folder tables."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "tables"


@cache
def read_table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a table, each a dictionary from the header's names to the row's cells.

    A line that starts with # is a comment; the first other line is the header. Cells are
    separated by tabs.

    Args:
        name: The file's name without its ending, such as "nouns".

    Raises:
        ValueError: If a row does not have as many cells as the header.
    """
    text = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    header = lines[0].split("\t")
    rows = []
    for line in lines[1:]:
        cells = line.split("\t")
        if len(cells) != len(header):
            raise ValueError(
                f"a row of {name}.tsv must have {len(header)} cells, got {len(cells)}: {line}"
            )
        rows.append(dict(zip(header, cells, strict=True)))
    return tuple(rows)
