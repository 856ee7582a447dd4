"""The translator in the package, in two lines.

    translator = load_pretrained()
    print(translator.translate("A dog runs across the grass."))

Met in notebooks/00_start_here.ipynb and 14_translation.ipynb.
"""

from pathlib import Path

import torch

from transformer_edu.generation.translator import Translator
from transformer_edu.training.runs.presets import RunSettings
from transformer_edu.training.runs.run_folder import CARD, HISTORY, read_json
from transformer_edu.training.runs.saved_translator import load_translator

FOLDER = Path(__file__).parent


def load_pretrained(*, device: torch.device | str = "cpu") -> Translator:
    """The translator that comes with the package: English to German; no network is needed.

    Args:
        device: Where its model computes.

    Returns:
        A translator with its ``model``, in evaluation mode, and its ``tokenizer``.

    Raises:
        ModuleNotFoundError: If the library tokenizers is not installed, when it translates.
        FileNotFoundError: If the package was installed without its weights.
        ValueError: If a file is damaged.
    """
    translator = load_translator(FOLDER)
    translator.model.to(device)
    return translator


def model_card() -> str:
    """What the translator is: how it was trained, on what, and how well it translates.

    Returns:
        A page in Markdown.

    Raises:
        FileNotFoundError: If the package was installed without its weights.
    """
    return (FOLDER / CARD).read_text("utf-8")


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
        if first and content.get("began_with"):
            content = content["began_with"]
        return RunSettings(**content["settings"]), content["evaluations"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} must hold the history of a run, got something else") from error
