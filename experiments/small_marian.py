"""A small Marian model, trained here: ``python -m experiments.small_marian FOLDER`` writes it.

No network is needed. The folder is what ``python -m transformer_edu.generation --marian`` takes.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.small_marian")

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from transformer_course.a_published_model.small_marian import PAIRS, train_marian, untrained_marian
from transformer_edu.pretrained.marian_folder import load_marian, save_marian
from transformer_edu.training.machine.atomic_files import require_path
from transformer_edu.training.machine.failures import one_line_errors


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, train, write the folder, and translate with what it holds."""
    parser = argparse.ArgumentParser(description="Train a small Marian model and write its folder.")
    parser.add_argument("folder", help="where to write it")
    chosen = parser.parse_args(arguments)
    require_path("folder", chosen.folder)
    folder = Path(chosen.folder)
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(f"folder must be a new or an empty one, got {folder}")
    translator = untrained_marian()
    losses = train_marian(translator)
    save_marian(chosen.folder, translator)
    print(f"loss {losses[0]:.2f} → {losses[-1]:.4f} nats per token")
    again = load_marian(chosen.folder)
    for source, _ in PAIRS:
        print(f"{source} → {again.translate(source, width=4)}")
    return 0
