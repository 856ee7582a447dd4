"""The folded snippets of lesson 00 run in order and print what stands beside them."""

import contextlib
import io
import re

from tools.notebooks import ROOT, read

FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SAID = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


def snippets() -> list[str]:
    """The code of the primer, one text for each of its fences."""
    cells = read(ROOT / "notebooks" / "00_start_here.ipynb").cells
    (primer,) = (cell.source for cell in cells if "PyTorch in twelve cells" in cell.source)
    return FENCE.findall(primer.partition("<details>")[2])


def test_the_primer_has_twelve_snippets_and_each_prints_what_it_says():
    names: dict[str, object] = {}
    found = snippets()
    assert len(found) == 12
    for snippet in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet, "snippet", "exec"), names)
        assert printed.getvalue().splitlines() == SAID.findall(snippet) != []
