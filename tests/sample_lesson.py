"""A small lesson that keeps every rule, for tests that break one rule at a time."""

from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode

from tools.colab import setup_cell_source
from tools.lesson import Lesson
from tools.notebooks import tidy

PICTURE = {"image/png": "iVBORw0KGgo=", "text/plain": "three bars"}

CELLS = [
    (
        "markdown",
        "# 2 · How does a word listen?\n\n"
        "**You will build** attention. **Paper:** §3.2.1. "
        "**Time:** 40 minutes, of which 5 seconds run.",
    ),
    ("setup", setup_cell_source(None)),
    ("markdown", "Where we are on the map."),
    (
        "code",
        "from transformer_edu.teaching.figures.architecture import plot_architecture\n\n"
        "plot_architecture()",
    ),
    ("markdown", "## 1 · Scores\n\n**Predict.** How many scores are there?"),
    ("code", "scores = [1, 2, 3]\nlen(scores)"),
    ("markdown", "**What you see.** Three scores.\n\n**Predict.** Which is largest?"),
    ("code", "max(scores)"),
    ("markdown", "**What you see.** The last.\n\n**Predict.** And the smallest?"),
    ("code", "min(scores)"),
    (
        "markdown",
        "**What you see.** The first.\n\n## 2 · Meet the package\n\nThe same, ready made.",
    ),
    ("code", "from transformer_edu.model.attention import attend\n\nassert attend(scores) == 3"),
    ("markdown", "A model computes where it computes fastest."),
    (
        "code",
        "device = pick_device()\ntranslator = load_pretrained(device=device)\n"
        "model = Transformer(config).to(device)\n"
        'print("computed on", describe_device(device))',
    ),
    ("markdown", "## 3 · Break it\n\nWithout scaling the favourite takes all."),
    ("code", "share = 0.94\nassert share > 0.9"),
    ("markdown", "## 4 · Exercises\n\n### Exercise 2.1 · Build (3 minutes)\n\nHide one word."),
    (
        "exercise",
        "from transformer_edu.teaching.checks import check_mask\n\n"
        "# Your answer:\nmask = ...\n\ncheck_mask(mask)",
    ),
    (
        "markdown",
        "<details><summary>Solution</summary>\n\n```python\nmask = [True, False]\n```\n</details>",
    ),
    ("markdown", "### Exercise 2.2 · Predict (1 minute)\n\nHow many rows?"),
    (
        "exercise",
        "from transformer_edu.teaching.checks import check_rows\n\n"
        "# Your answer:\nrows = ...\n\ncheck_rows(rows)",
    ),
    ("markdown", "<details><summary>Solution</summary>\n\n```python\nrows = 3\n```\n</details>"),
    (
        "markdown",
        "## You can now say\n\n- Scores match.\n- Weights share.\n- Values flow.\n\n"
        "Next: [masks](03_masks.ipynb)",
    ),
]


# The same lesson in the new edition: what takes the place of a cell, by its first words.
FOLDED = {"source_hidden": True}
NEW_CELLS = {
    "## 1 · Scores": [("markdown", "## 1 · Scores\n\nEach pair has a score.")],
    "scores = [1, 2, 3]": [
        ("code", 'scores = [1, 2, 3]\nwith predict("How many?", "2", "3"):\n    len(scores)')
    ],
    "**What you see.** Three": [("markdown", "**What you see.** Three scores.")],
    "max(scores)": [("code", 'with predict("The largest?", "1", "3"):\n    max(scores)')],
    "**What you see.** The last": [("markdown", "**What you see.** The last.")],
    "min(scores)": [("code", 'with predict("The smallest?", "1", "3"):\n    min(scores)')],
    "from transformer_edu.model.attention": [
        ("code", "from transformer_edu.model.attention import attend\n\nattend(scores)"),
        ("claim", 'assert attend(scores) == 3, "the package counts three"'),
    ],
    "share = 0.94": [("code", "share = 0.94"), ("claim", 'assert share > 0.9, "most"')],
}


def new_edition_cells() -> list[tuple[str, str]]:
    """The cells of the sample, those of NEW_CELLS replaced."""
    cells = []
    for kind, source in CELLS:
        if source.startswith("# 2"):
            source += " **You need to know** vectors."
        new = [them for words, them in NEW_CELLS.items() if source.startswith(words)]
        cells += new[0] if new else [(kind, source)]
    return cells


def sample_notebook(cells: Sequence[tuple[str, str]] = CELLS) -> NotebookNode:
    """A fresh notebook of these cells, with outputs as if it had run."""
    notebook = nbformat.v4.new_notebook()
    count = 0
    for index, (kind, source) in enumerate(cells):
        if kind == "markdown":
            notebook.cells.append(nbformat.v4.new_markdown_cell(source, id=f"markdown-{index}"))
            continue
        count += 1
        tags = {} if kind == "code" else {"tags": [kind]}
        if kind == "claim":
            tags["tags"] = ["claim", "hide-cell"]
        if kind == "claim" or (kind == "setup" and cells is not CELLS):
            tags["jupyter"] = dict(FOLDED)
        cell = nbformat.v4.new_code_cell(source, id=f"code-{index}", metadata=tags)
        cell.execution_count = count
        cell.outputs = _outputs(kind, source, exercise="2.1" if "mask" in source else "2.2")
        notebook.cells.append(cell)
    tidy(notebook)
    return notebook


def _outputs(kind: str, source: str, *, exercise: str) -> list[NotebookNode]:
    if kind == "exercise":
        text = f"Exercise {exercise} is waiting for you: replace the three dots.\n"
        return [nbformat.v4.new_output("stream", name="stdout", text=text)]
    if "plot" in source:
        alt = {"image/png": {"alt": "three bars"}}
        return [nbformat.v4.new_output("display_data", data=dict(PICTURE), metadata=alt)]
    return []


def sample_lesson(notebook: NotebookNode | None = None, **changes: object) -> Lesson:
    """The lesson around the notebook; changes replace single attributes."""
    attributes = {
        "name": "02_sample.ipynb",
        "notebook": notebook or sample_notebook(),
        "size": 20_000,
        "address": None,
        "next_name": "03_masks.ipynb",
        "package_names": frozenset({"attend", "MultiHeadAttention"}),
        "package_constants": frozenset({"ROLES = ('same', 'next')"}),
    }
    return Lesson(**{**attributes, **changes})


def new_edition_lesson(notebook: NotebookNode | None = None, **changes: object) -> Lesson:
    """The same lesson in the new edition."""
    notebook = notebook or sample_notebook(new_edition_cells())
    return sample_lesson(notebook, **{"name": "02_attention.ipynb", **changes})
