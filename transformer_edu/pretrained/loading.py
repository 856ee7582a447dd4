"""The translator in the package, in two lines.

    translator = load_pretrained()
    print(translator.translate("A dog runs across the grass."))

Met in notebooks/00_start_here.ipynb and 15_translation.ipynb.
"""

from pathlib import Path

import torch

from transformer_edu.generation.translator import Translator
from transformer_edu.runs.presets import RunSettings
from transformer_edu.runs.run_folder import CARD, HISTORY, load_translator, read_json

FOLDER = Path(__file__).parent
# By what a translator has learned from. The captions of the first have terms of their own, told on
# its card; the second is free of them, and made by `make everyday`.
NAMES = {"multi30k+everyday": ".", "everyday": "everyday"}


def load_pretrained(
    name: str = "multi30k+everyday", *, device: torch.device | str = "cpu"
) -> Translator:
    """The translator that comes with the package: English to German; no network is needed.

    Args:
        name: What it has learned from: captions and everyday sentences, or "everyday", sentences
            of this package alone, for who needs a model under the package's own license.
        device: Where its model computes.

    Returns:
        A translator with its ``model``, in evaluation mode, and its ``tokenizer``.

    Raises:
        FileNotFoundError: If the package was installed without its weights, or the translator
            of that name was not made here.
        ValueError: If there is no such name, or a file is damaged.
    """
    translator = load_translator(folder_of(name))
    translator.model.to(device)
    return translator


def model_card(name: str = "multi30k+everyday") -> str:
    """What the translator is: how it was trained, on what, and how well it translates.

    Args:
        name: As for load_pretrained.

    Returns:
        A page in Markdown.

    Raises:
        FileNotFoundError, ValueError: As for load_pretrained.
    """
    return (folder_of(name) / CARD).read_text("utf-8")


def folder_of(name: str) -> Path:
    """Where the translator of a name lies.

    Raises:
        FileNotFoundError, ValueError: As for load_pretrained.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    folder = FOLDER / NAMES[name]
    if name != next(iter(NAMES)) and not folder.exists():
        raise FileNotFoundError(f"the translator {name!r} must be made first: make {name}")
    return folder


def training_history(*, first: bool = False) -> tuple[RunSettings, list[dict[str, float]]]:
    """How the translator learned: every choice of its run, and a record for every evaluation.

    Args:
        first: Where a run went on from another one: that one, which began at random.

    Returns:
        The settings, and the records as the run's folder had them: step, loss, validation_loss,
        bleu and others by name.

    Raises:
        FileNotFoundError: If the package was installed without its weights.
        ValueError: If the file is damaged.
    """
    path = FOLDER / HISTORY
    try:
        content = read_json(path)
        while first and content.get("began_with"):
            content = content["began_with"]
        return RunSettings(**content["settings"]), content["evaluations"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} must hold the history of a run, got something else") from error
