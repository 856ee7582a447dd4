"""A small lesson that keeps every rule, for tests that break one rule at a time."""

from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode

from tools.colab import setup_cell_source
from tools.lesson import Lesson
from tools.notebooks import tidy

PICTURE = {"image/png": "iVBORw0KGgo=", "text/plain": "three bars"}

SEEN = "<details><summary>What you see</summary>\n\n"

CELLS = [
    (
        "markdown",
        "# 2 · How does a word listen?\n\n"
        "**You will build** attention. **Paper:** §3.2.1. **Time:** 40 minutes, of which "
        "5 seconds run. **You need to know** vectors.",
    ),
    ("setup", setup_cell_source(None)),
    ("markdown", "Where we are on the map."),
    (
        "code",
        "from transformer_course.attention import show_map\n\nshow_map()",
    ),
    ("markdown", "## 1 · Scores\n\nEach pair has a score."),
    ("code", 'scores = [1, 2, 3]\nwith predict("How many?", "2", "3"):\n    len(scores)'),
    ("markdown", f"{SEEN}Three scores.\n</details>"),
    ("code", 'with predict("The largest?", "1", "3"):\n    max(scores)'),
    ("markdown", f"{SEEN}The last.\n</details>"),
    ("code", 'with predict("The smallest?", "1", "3"):\n    min(scores)'),
    (
        "markdown",
        f"{SEEN}The first.\n</details>\n\n## 2 · Meet the package\n\nThe same, ready made.",
    ),
    ("code", "from transformer_edu import attend\n\nattend(scores)"),
    ("claim", 'assert attend(scores) == 3, "the package counts three"'),
    ("markdown", "A model computes where it computes fastest."),
    (
        "code",
        "device = pick_device()\n"
        "translator = load_pretrained(device=device)\n"
        "model = Transformer(config).to(device)\n"
        'print("computed on", describe_device(device))',
    ),
    ("markdown", "## 3 · Break it\n\nWithout scaling the favourite takes all."),
    ("code", "share = 0.94"),
    ("claim", 'assert share > 0.9, "most"'),
    ("markdown", "## 4 · Exercises\n\n### Exercise 2.1 · Build (3 minutes)\n\nHide one word."),
    (
        "exercise",
        "from transformer_course.asking import check_mask\n\n"
        "# Your answer:\nmask = ...\n\ncheck_mask(mask)",
    ),
    (
        "markdown",
        "<details><summary>Solution</summary>\n\n```python\nmask = [True, False]\n```\n</details>",
    ),
    ("markdown", "### Exercise 2.2 · Predict (1 minute)\n\nHow many rows?"),
    (
        "exercise",
        "from transformer_course.asking import check_rows\n\n"
        "# Your answer:\nrows = ...\n\ncheck_rows(rows)",
    ),
    ("markdown", "<details><summary>Solution</summary>\n\n```python\nrows = 3\n```\n</details>"),
    (
        "markdown",
        "## You can now say\n\n- Scores match.\n- Weights share.\n"
        "- Values flow.\n\nNext: [masks](03_masks.ipynb)",
    ),
]
FOLDED = {"source_hidden": True}


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
        if kind in ("claim", "setup"):
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
    if "show_map" in source:
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
