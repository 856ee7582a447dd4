"""BLEU of a finished translator: ``python -m transformer_edu.runs.scoring runs/x``.

Everyday sentences, which are right or wrong, have a score of their own.

Choose between models by validation; look at the test part (``--part test``) once, at the end.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from transformer_edu.data.everyday import held_out, normal
from transformer_edu.data.parallel_text import ParallelText, TextPair
from transformer_edu.generation.continuation import require_width
from transformer_edu.generation.translator import Translator
from transformer_edu.runs.presets import EVERYDAY, TEXT_TASKS, RunSettings, choose_settings
from transformer_edu.runs.run_folder import RunFolder, load_translator
from transformer_edu.runs.run_task import load_texts
from transformer_edu.training.bleu import Bleu, corpus_bleu
from transformer_edu.training.machine.device import (
    DEVICE_VARIABLE,
    keep_freed_memory,
    pick_device,
    suitable_threads,
)
from transformer_edu.training.machine.failures import with_told_errors

ABOUT = "Translate a part of a task's texts and compare with its references."
PARTS = ("validation", "test")
CASES = {"cased": False, "lower-cased": True}
WIDTH, ALPHA = 5, 0.6  # the beam of Wu et al. 2021, the length penalty of the paper (§6.1)
Sentence = tuple[str, tuple[str, ...]]  # English, and the accepted translations
REPEATS = re.compile(r"\b(\w+(?:\W+\w+){0,3}?)(?:\W+\1\b){2}")  # up to four words, three times


@with_told_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, translate, print the scores with their signatures.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_edu.runs.scoring", description=ABOUT
    )
    parser.add_argument("run", help="folder of a run, or of exported weights")
    parser.add_argument("--task", choices=TEXT_TASKS, help="whose texts; the run's own")
    parser.add_argument("--source", help="file of source sentences, for --task files")
    parser.add_argument("--target", help="file of their translations")
    parser.add_argument("--part", choices=PARTS, default=PARTS[0], help="validation")
    parser.add_argument("--beam", type=int, default=WIDTH, help=f"1 is greedy ({WIDTH})")
    parser.add_argument("--alpha", type=float, default=ALPHA, help=f"favours long ({ALPHA})")
    parser.add_argument("--device", help="cpu, cuda or mps; the best one here")
    chosen = parser.parse_args(arguments)
    keep_freed_memory()
    require_width("beam", chosen.beam)
    if chosen.device is not None:
        os.environ[DEVICE_VARIABLE] = chosen.device
    folder = RunFolder(chosen.run)
    translator = load_translator(folder.path)
    texts = load_texts(settings_of_texts(folder, chosen.task, chosen.source, chosen.target))
    pairs = getattr(texts, chosen.part)
    scores = score_translator(translator, pairs, width=chosen.beam, alpha=chosen.alpha)
    print(f"{chosen.part}, {len(pairs):,} sentences, beam {chosen.beam}, alpha {chosen.alpha}")
    for case, found in scores.items():
        print(f"BLEU {found.score:.2f} {case}  {found.signature}")
    return 0


def settings_of_texts(
    folder: RunFolder, task: str | None, source: str | None, target: str | None
) -> RunSettings:
    """The run settings that name the texts: the run's own, unless a task is given.

    Args:
        folder: Of a run, or of exported weights, which have no settings and mean Multi30k.
        task: One of TEXT_TASKS, or None.
        source: For the task files.
        target: For the task files.

    Raises:
        ValueError: If the run's own task has no texts.
    """
    if task is None and folder.holds_a_run():
        settings = folder.read_settings()
        if not settings.is_text:
            known = ", ".join(TEXT_TASKS)
            raise ValueError(f"task must be one of {known} to have a BLEU, got {settings.task!r}")
        return settings
    return choose_settings("tiny", task=task, source=source, target=target)


def score_translator(
    translator: Translator, pairs: Sequence[TextPair], *, width: int = WIDTH, alpha: float = ALPHA
) -> Mapping[str, Bleu]:
    """Translate sources and compare with their references.

    Args:
        translator: Is moved to the best device here.
        pairs: Source texts and references.
        width: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favours long targets.

    Returns:
        BLEU as it is, and with all letters lower-cased, by the names in CASES.

    Raises:
        TypeError, ValueError: As for write_all and corpus_bleu.
    """
    model = translator.model.to(pick_device())
    with suitable_threads(model):
        written = translator.translate_all(
            [source for source, _ in pairs], width=width, alpha=alpha
        )
    references = [target for _, target in pairs]
    return {
        case: corpus_bleu(written, references, lowercase=lowercase)
        for case, lowercase in CASES.items()
    }


@dataclass(frozen=True)
class EverydayScore:
    """Shares of the sentences, from 0 to 1.

    BLEU says little of short sentences. A translation of one is right when it is one of the
    accepted ones, but for capitals and the final mark.

    Args:
        count: How many sentences.
        exact: Translated as accepted.
        unbroken: Without an unknown word and without a repetition, right or wrong.
    """

    count: int
    exact: float
    unbroken: float


class EverydayJudge:
    """Scores translators on everyday sentences: generated ones to choose by, others to judge by.

    Args:
        corpora: All that the translators have learned from, by name, EVERYDAY among them.
    """

    def __init__(self, corpora: Mapping[str, ParallelText]) -> None:
        self.texts = corpora[EVERYDAY]
        self.known = known_words([pair for each in corpora.values() for pair in each.train])

    def validate(self, translator: Translator, width: int, alpha: float) -> float:
        """The share of validation sentences that are exactly right."""
        sentences = as_sentences(self.texts.validation)
        return score_everyday(translator, sentences, self.known, width=width, alpha=alpha).exact

    def test(
        self, translator: Translator, widths: Sequence[int], alpha: float
    ) -> dict[tuple[str, int], EverydayScore]:
        """The scores on test sentences and on those written by hand, by kind and width."""
        unseen = {"generated": as_sentences(self.texts.test), "written by hand": held_out()}
        return {
            (kind, width): score_everyday(
                translator, sentences, self.known, width=width, alpha=alpha
            )
            for kind, sentences in unseen.items()
            for width in widths
        }


def score_everyday(
    translator: Translator,
    sentences: Sequence[Sentence],
    known: Set[str],
    *,
    width: int,
    alpha: float,
) -> EverydayScore:
    """Translate sentences and look at each.

    Args:
        translator: Is moved to the best device here.
        sentences: At least one.
        known: German words in small letters; all others are unknown, but for those of the source.
        width: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favors long targets.
    """
    model = translator.model.to(pick_device())
    with suitable_threads(model):
        written = translator.translate_all([e for e, _ in sentences], width=width, alpha=alpha)
    pairs = list(zip(written, sentences, strict=True))
    exact = sum(normal(text) in map(normal, accepted) for text, (_, accepted) in pairs)
    unbroken = sum(not is_broken(text, english, known) for text, (english, _) in pairs)
    return EverydayScore(len(pairs), exact / len(pairs), unbroken / len(pairs))


def is_broken(text: str, source: str, known: Set[str]) -> bool:
    """Whether a translation has an unknown word, or says something three times in a row."""
    words = _words_in(text)
    unknown = words - _words_in(source) - known
    return bool(unknown or REPEATS.search(text.lower()))


def _words_in(text: str) -> set[str]:
    """The words of a text in small letters."""
    return set(re.findall(r"\w+", text.lower()))


def known_words(pairs: Iterable[TextPair]) -> set[str]:
    """The words of all translations."""
    return set().union(*(_words_in(target) for _, target in pairs))


def as_sentences(pairs: Iterable[TextPair]) -> list[Sentence]:
    """Pairs with one accepted translation each."""
    return [(source, (target,)) for source, target in pairs]


if __name__ == "__main__":
    sys.exit(main())
