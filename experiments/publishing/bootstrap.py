"""How sure the test scores are: the paired bootstrap (Koehn 2004), and chrF beside BLEU."""

from collections.abc import Sequence

import numpy as np

from transformer_edu.data.augmentation import TextPair
from transformer_edu.generation.translator import Translator
from transformer_edu.training.machine.failures import import_extra

DRAWS = 1_000
MIDDLE = (2.5, 97.5)  # percentiles: 95% of the draws are between them


def describe_sureness(
    translator: Translator, pairs: Sequence[TextPair], *, widths: Sequence[int], alpha: float
) -> list[str]:
    """A line of the card for each width of the beam, and one for what the widest adds.

    Args:
        translator: The one that is published.
        pairs: All of the test part.
        widths: Of the beam, the narrowest first.
        alpha: As for write_all.
    """
    sources, references = map(list, zip(*pairs, strict=True))
    rows, lines = [], []
    for width in dict.fromkeys(widths):
        written = translator.translate_all(sources, width=width, alpha=alpha)
        rows.append(count_ngrams(written, references))
        low, high = np.percentile(draw_bleu(rows[-1:])[0], MIDDLE)
        chrf = import_extra("sacrebleu").CHRF().corpus_score(written, [references]).score
        lines.append(
            f"- test, beam {width}, cased: chrF **{chrf:.1f}**, BLEU {low:.1f} to {high:.1f} in "
            f"the middle 95% of {DRAWS:,} bootstrap draws"
        )
    if len(rows) > 1:
        drawn = draw_bleu(rows)
        least, most = np.percentile(drawn[-1] - drawn[0], MIDDLE)
        lines.append(
            f"- test, beam {widths[-1]} minus beam {widths[0]}, cased: {least:+.1f} to {most:+.1f} "
            "BLEU in the middle 95% of the same draws"
        )
    return lines


def count_ngrams(written: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """What BLEU adds up: matches and n-grams for n = 1 to 4, and both lengths, a row a sentence."""
    metric = import_extra("sacrebleu").BLEU(effective_order=True)
    pairs = zip(written, references, strict=True)
    found = [metric.sentence_score(ours, [theirs]) for ours, theirs in pairs]
    return np.array([[*each.counts, *each.totals, each.sys_len, each.ref_len] for each in found])


def draw_bleu(rows: Sequence[np.ndarray], draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """The BLEU of systems on draws of their sentences with replacement, the same for all.

    Args:
        rows: For each system what count_ngrams returns, of the same sentences.
        draws: How many.
        seed: Of the draws.

    Returns:
        Scores, shape (system, draw).
    """
    size, generator = len(rows[0]), np.random.default_rng(seed)
    drawn = [generator.integers(size, size=size) for _ in range(draws)]
    return np.array([[bleu_of(each[places].sum(axis=0)) for places in drawn] for each in rows])


def bleu_of(sums: np.ndarray) -> float:
    """sacreBLEU's score of ten sums."""
    matches, ngrams, (ours, theirs) = np.split(sums, [4, 8])
    compute = import_extra("sacrebleu").BLEU.compute_bleu
    return compute([*matches], [*ngrams], ours, theirs, smooth_method="exp").score
