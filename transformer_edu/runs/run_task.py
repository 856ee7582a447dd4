"""What a run learns, by the name of its task: pairs, tokens, and the score of its progress."""

from dataclasses import replace
from pathlib import Path
from random import Random

from transformer_edu.data.augmentation import vary
from transformer_edu.data.everyday import everyday_pairs, given_names, phrases, words
from transformer_edu.data.multi30k import load_multi30k
from transformer_edu.data.parallel_text import (
    PARTS,
    ParallelText,
    read_parallel,
    split_pairs,
    translation_task,
)
from transformer_edu.data.tokenizer import Tokenizer, load_tokenizer, train_tokenizer
from transformer_edu.data.toy_tasks import Task, copy_task, number_words_task, reverse_task
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import EVERYDAY, RunSettings
from transformer_edu.runs.watching import BleuScorer, ExactMatchScorer, Scorer
from transformer_edu.training.machine.atomic_files import write_json
from transformer_edu.training.machine.processes import ALONE, OneProcess
from transformer_edu.training.saved_translator import load_tokens

EXTRA_READINGS = 5  # in an epoch, of each phrase and word: people type these most
TOY_MAKERS = {"numbers": number_words_task, "copy": copy_task, "reverse": reverse_task}


def load_run_task(
    settings: RunSettings, folder: RunFolder, *, processes: OneProcess = ALONE
) -> tuple[Task, Scorer]:
    """The task of a run and its scorer. The first process writes the tokens into the folder.

    Raises:
        ValueError, OSError: As for load_multi30k, read_parallel and load_tokenizer; or if the
            folder holds other tokens than the run's, which are not replaced.
    """
    if not settings.is_text:
        task = TOY_MAKERS[settings.task]()
        if not folder.words_file.exists():
            write_json(folder.words_file, list(task.vocabulary.tokens))
        there = load_tokens(folder.path).vocabulary
        _require_own(folder.words_file, there.tokens == task.vocabulary.tokens)
        return task, ExactMatchScorer()
    _require_own(folder.words_file, not folder.words_file.exists())
    texts = load_texts(settings)
    tokenizer = _tokenizer(texts, settings, folder, processes)
    task = translation_task(
        _as_read(texts, settings),
        tokenizer,
        max_length=settings.longest,
        name=settings.task,
        bpe_dropout=settings.bpe_dropout,
        seed=settings.training.seed,
    )
    watched = task.texts.validation[: settings.training.evaluate_on]
    return task, BleuScorer(tokenizer, watched, processes=processes)


def load_corpora(settings: RunSettings) -> dict[str, ParallelText]:
    """The texts of a text task by the name of their corpus; a run is scored by the first."""
    if settings.task == "files":
        return {"files": split_pairs(read_parallel(settings.source, settings.target))}
    loaders = {"multi30k": load_multi30k, EVERYDAY: everyday_pairs}
    return {name: loaders[name]() for name in settings.task.split("+")}


def load_texts(settings: RunSettings) -> ParallelText:
    """The sentences of a text task, in three parts; those of the first corpus come first."""
    corpora = load_corpora(settings).values()
    parts = ([pair for texts in corpora for pair in getattr(texts, part)] for part in PARTS)
    return ParallelText(*parts)


def _as_read(texts: ParallelText, settings: RunSettings) -> ParallelText:
    """What an epoch reads of the texts: copies of captions, everyday English as people type it."""
    if EVERYDAY not in settings.task:
        return replace(texts, train=texts.train * settings.copies)
    captions = len(texts.train) - len(everyday_pairs().train)
    capitalized = {english[0].upper() + english[1:]: german for english, german in words().items()}
    fixed = [*phrases().items(), *(words() | capitalized).items()] * EXTRA_READINGS
    copied = texts.train[:captions] * settings.copies + texts.train[captions:] + fixed
    return replace(texts, train=vary(copied, Random(settings.training.seed), given_names()))


def _tokenizer(
    texts: ParallelText, settings: RunSettings, folder: RunFolder, processes: OneProcess
) -> Tokenizer:
    """The folder's tokenizer; before the first checkpoint it is that of what the run reads."""
    file = folder.tokenizer_file
    if (is_missing := not file.exists()) or (processes.is_first and not folder.checkpoint.exists()):
        lines = [text for pair in texts.train for text in pair]
        made = train_tokenizer(lines, vocabulary_size=settings.model.vocabulary_size)
        if is_missing:
            made.save(file)
        _require_own(file, load_tokenizer(file).merges == made.merges)
    return load_tokenizer(file)


def _require_own(file: Path, is_own: bool) -> None:
    if not is_own:
        raise ValueError(f"{file} must hold this run's tokens, got others: move it away")
