"""Short sentences in English and German: a text to count words in and to learn pieces from.

Used in notebooks/13_tokenization.ipynb. They were written for this course: everyday scenes whose
words come again, letters and full stops only, and German compounds with their English phrases.
"""

from importlib import resources


def read_pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a file in this folder, without its header line.

    Args:
        name: The file: UTF-8, one pair a line, English and German with a tab between them.
    """
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines()[1:])


SAMPLE_PAIRS = read_pairs("sentences.tsv")  # English, German
