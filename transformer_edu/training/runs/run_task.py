"""What a run learns, by the name of its task: pairs, tokens, and the judge of its progress."""

from transformer_edu.generation.translator import TextCoder
from transformer_edu.training.data.multi30k import load_multi30k
from transformer_edu.training.data.parallel_text import (
    ParallelText,
    read_parallel,
    split_pairs,
    translation_task,
)
from transformer_edu.training.data.tokenizer import load_tokenizer, train_tokenizer
from transformer_edu.training.data.toy_tasks import Task, copy_task, number_words_task, reverse_task
from transformer_edu.training.machine.one_process import ALONE, OneProcess
from transformer_edu.training.runs.judging import BleuJudge, ExactMatchJudge, Judge
from transformer_edu.training.runs.presets import RunSettings
from transformer_edu.training.runs.run_folder import RunFolder

TOY_MAKERS = {"numbers": number_words_task, "copy": copy_task, "reverse": reverse_task}


def load_run_task(
    settings: RunSettings, folder: RunFolder, *, processes: OneProcess = ALONE
) -> tuple[Task, Judge]:
    """The task of a run and its judge; the tokens are made in the folder, or read from it.

    Args:
        settings: The choices of the run.
        folder: Where the tokenizer is, or is written to.
        processes: Those that share the work; the first writes the tokenizer.

    Raises:
        ValueError, OSError: If the texts or the tokenizer cannot be had; see load_multi30k,
            read_parallel and load_tokenizer.
    """
    if not settings.is_text:
        task = TOY_MAKERS[settings.task]()
        folder.write_words(task.vocabulary)
        return task, ExactMatchJudge()
    texts = load_texts(settings)
    tokenizer = _tokenizer(texts, settings, folder, processes)
    task = translation_task(texts, tokenizer, max_length=settings.longest, name=settings.task)
    watched = task.texts.validation[: settings.evaluate_on]
    return task, BleuJudge(tokenizer, watched, processes=processes)


def load_texts(settings: RunSettings) -> ParallelText:
    """The sentences of a text task, in three parts."""
    if settings.task == "multi30k":
        return load_multi30k()
    return split_pairs(read_parallel(settings.source, settings.target))


def _tokenizer(
    texts: ParallelText, settings: RunSettings, folder: RunFolder, processes: OneProcess
) -> TextCoder:
    """The folder's tokenizer; for a new run trained on what is learned from."""
    is_missing = not folder.tokenizer_file.exists()
    if is_missing or (processes.is_first and not folder.holds_a_run()):
        lines = [text for pair in texts.train for text in pair]
        made = train_tokenizer(lines, vocabulary_size=settings.vocabulary_size)
        made.save(folder.tokenizer_file)
    return load_tokenizer(folder.tokenizer_file)
