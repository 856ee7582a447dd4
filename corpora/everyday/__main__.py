"""Write the data file of everyday English: ``python -m corpora.everyday``, in half a minute."""

from corpora.everyday.data_file import make_text, pack
from transformer_edu.data.everyday import CHECKSUM, FILE, checksum_of


def main() -> None:
    """Write the file; if its text has changed, print the checksum that the library needs."""
    text = make_text()
    FILE.write_bytes(pack(text))
    print(f"{FILE.name}: {len(text.splitlines()):,} lines, {FILE.stat().st_size:,} bytes")
    found = checksum_of(text)
    if found != CHECKSUM:
        print(f'Its text has changed: write CHECKSUM = "{found}" into data/everyday.py')


if __name__ == "__main__":
    main()
