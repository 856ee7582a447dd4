"""Write the data file of everyday English: ``python -m corpora.everyday``, in half a minute."""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("corpora.everyday.__main__")

import argparse
from collections.abc import Sequence

from corpora.everyday.data_file import make_text, pack
from transformer_edu.data.everyday import CHECKSUM, FILE, checksum_of
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.machine.failures import one_line_errors


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; if its text has changed, print the checksum that the library needs."""
    parser = argparse.ArgumentParser(
        prog="python -m corpora.everyday", description="Write the data file of everyday English."
    )
    parser.parse_args(arguments)  # only --help
    text = make_text()
    replace_file(FILE, [pack(text)])
    print(f"{FILE.name}: {len(text.splitlines()):,} lines, {FILE.stat().st_size:,} bytes")
    found = checksum_of(text)
    if found != CHECKSUM:
        print(f'Its text has changed: write CHECKSUM = "{found}" into data/everyday.py')
    return 0
