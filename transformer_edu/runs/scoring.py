"""BLEU of a translator: ``python -m transformer_edu.runs.scoring runs/x``.

Choose between models by validation; look at the test part (``--part test``) once, at the end.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_edu.runs.scoring")

import argparse
import os
from collections.abc import Mapping, Sequence

from transformer_edu.data.parallel_text import TextPair
from transformer_edu.generation.continuation import LARGEST_WIDTH
from transformer_edu.generation.translator import ALPHA, WIDTH, Translator
from transformer_edu.model.refusals import require_choice, require_whole
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_texts
from transformer_edu.runs.settings import TEXT_TASKS, RunSettings, choose_settings
from transformer_edu.training.bleu import Bleu, corpus_bleu
from transformer_edu.training.machine.device import (
    DEVICE_VARIABLE,
    keep_freed_memory,
    pick_device,
    suitable_threads,
)
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.training.saved_translator import load_translator

ABOUT = "Translate a part of a task's texts and compare with its references."
PARTS = ("validation", "test")
CASES = {"cased": False, "lower-cased": True}


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, print scores with signatures; the exit status is 1 after an error."""
    parser = argparse.ArgumentParser(
        prog="python -m transformer_edu.runs.scoring", description=ABOUT
    )
    parser.add_argument("run", help="folder of a run, or of exported weights")
    parser.add_argument("--task", choices=TEXT_TASKS, help="whose texts; its own, or multi30k")
    parser.add_argument("--source", help="file of source sentences, for --task files")
    parser.add_argument("--target", help="file of their translations")
    parser.add_argument("--part", choices=PARTS, default=PARTS[0], help="validation")
    parser.add_argument("--beam", type=int, default=WIDTH, help=f"1 is greedy ({WIDTH})")
    parser.add_argument("--alpha", type=float, default=ALPHA, help=f"favors long ({ALPHA})")
    parser.add_argument("--device", help="cpu, cuda or mps; the best one here")
    chosen = parser.parse_args(arguments)
    keep_freed_memory()
    require_whole("beam", chosen.beam, maximum=LARGEST_WIDTH)
    if chosen.device is not None:
        os.environ[DEVICE_VARIABLE] = chosen.device
    translator = load_translator((folder := RunFolder(chosen.run)).path)
    settings = settings_of_texts(folder, chosen.task, chosen.source, chosen.target)
    pairs = getattr(load_texts(settings), chosen.part)
    scores = score_translator(translator, pairs, width=chosen.beam, alpha=chosen.alpha)
    task, count = settings.task, f"{len(pairs):,} sentences"
    print(f"{task}, {chosen.part}, {count}, beam {chosen.beam}, alpha {chosen.alpha}")
    for case, found in scores.items():
        print(f"BLEU {found.score:.2f} {case}  {found.signature}")
    return 0


def settings_of_texts(
    folder: RunFolder, task: str | None, source: str | None, target: str | None
) -> RunSettings:
    """The settings whose texts are translated: the run's own, unless a task is given.

    Exported weights have no settings; for them it is Multi30k.

    Raises:
        ValueError: If the run's own task has no texts, or it is of files that older rules split.
    """
    if (task, source, target) == (None, None, None) and folder.holds_a_run():
        settings = folder.read_settings()
        require_choice("task", settings.task, TEXT_TASKS)  # others have no BLEU
        if settings.task == "files" and b'"parts"' not in folder.settings_file.read_bytes():
            wanted = "one that has not learned from sentences of its parts, as older ones have"
            raise ValueError(f"run must be {wanted}, got {folder.path}; name --source and --target")
        return settings
    task = task or ("files" if source or target else None)
    return choose_settings("tiny", task=task, source=source, target=target)


def score_translator(
    translator: Translator, pairs: Sequence[TextPair], *, width: int = WIDTH, alpha: float = ALPHA
) -> Mapping[str, Bleu]:
    """Translate sources, and compare with their references.

    Args:
        translator: It is moved to the best device here.
        pairs: Source texts and references.
        width, alpha: As for write_all.

    Returns:
        BLEU as it is, and with all letters in lower case, by the names in CASES.
    """
    with suitable_threads(translator.model.to(pick_device())):
        written = translator.translate_all([each for each, _ in pairs], width=width, alpha=alpha)
    references = [target for _, target in pairs]
    return {case: corpus_bleu(written, references, lowercase=low) for case, low in CASES.items()}
