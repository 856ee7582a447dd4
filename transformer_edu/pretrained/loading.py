"""The translator in the package, in two lines.

    translator = load_pretrained()
    print(translator.translate("A dog runs across the grass."))

Met in notebooks/00_start_here.ipynb and 15_translation.ipynb.
"""

from pathlib import Path

import torch

from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_choice
from transformer_edu.training.machine.atomic_files import read_json
from transformer_edu.training.machine.device import named_device
from transformer_edu.training.saved_translator import load_translator

FOLDER = Path(__file__).parent
CARD = "README.md"  # how a translator was made, and how well it translates
HISTORY = "history.json"  # the settings of its run, and the evaluations
# By what a translator has learned from. The captions of the first have terms of their own, which
# its card tells; the second is free of them, and made by `make everyday`.
NAMES = {"multi30k+everyday": ".", "everyday": "everyday"}


def load_pretrained(
    name: str = "multi30k+everyday", *, device: torch.device | str = "cpu"
) -> Translator:
    """The translator that comes with the package: English to German; no network is needed.

    Args:
        name: What it has learned from: captions and everyday sentences; or "everyday", the
            sentences of this package alone, for a model under the package's own license.
        device: Where its model computes.

    Returns:
        A translator with its ``model``, in evaluation mode, and its ``tokenizer``.

    Raises:
        FileNotFoundError: If the package has no weights, or none of that name were made here.
        ValueError: If there is no such name (load_translator reads a folder of your own) or no such
            device, or a file is damaged.
    """
    translator = load_translator(_folder(name))
    translator.model.to(named_device(device))
    return translator


def model_card(name: str = "multi30k+everyday") -> str:
    """How the translator was trained, on what, and how well it translates: a page in Markdown.

    Arguments and errors are those of load_pretrained.
    """
    return (_folder(name) / CARD).read_text("utf-8")


def training_history() -> tuple[dict[str, object], list[dict[str, float]]]:
    """How the translator learned: every choice of its run, and a record for every evaluation.

    Returns:
        The settings by name, and the records: step, loss, validation_loss, bleu and others by name.

    Raises:
        FileNotFoundError: If the package was installed without its weights.
        ValueError: If the file is damaged.
    """
    path = FOLDER / HISTORY
    try:
        run = read_json(path)
        return dict(run["settings"]), list(run["evaluations"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} must hold the history of a run, got something else") from error


def _folder(name: str) -> Path:
    """Where the translator of a name lies."""
    require_choice("name", name, NAMES)
    folder = FOLDER / NAMES[name]
    if name != next(iter(NAMES)) and not folder.exists():
        raise FileNotFoundError(f"the translator {name!r} must be made first: make {name}")
    return folder
