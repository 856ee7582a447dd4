"""What lesson 15 measures: a model's sizes, and BLEU on pairs, on groups of them, on joined ones.

Used in notebooks/15_translation.ipynb.
"""

import os
from collections.abc import Callable, Sequence

from transformer_course.texts.sentences import require_groups
from transformer_edu.data.augmentation import TextPair
from transformer_edu.data.multi30k import load_multi30k
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_texts, require_whole
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.machine.failures import import_extra


def describe_sizes(config: TransformerConfig) -> str:
    """Sizes, norms and biases of a translator in three lines, to print."""
    if not isinstance(config, TransformerConfig):
        raise TypeError(f"config must be a TransformerConfig, got {type(config).__name__}")
    return (
        f"{config.num_layers} + {config.decoder_depth} layers, {config.num_heads} heads, "
        f"d_model {config.d_model}, d_ff {config.d_ff}, {config.vocabulary_size:,} tokens\n"
        f"norms before each sub-layer: {config.norm_first}\n"
        f"biases in queries, keys and values: {config.bias}"
    )


def bleu_on(translator: Translator, pairs: Sequence[TextPair]) -> float:
    """The BLEU of greedy search on pairs, from 0 to 100."""
    pairs = require_groups("pairs", pairs, "source, target")
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    sources, targets = zip(*pairs, strict=True)
    return corpus_bleu(translator.translate_all(sources, width=1), targets).score


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """chrF, from 0 to 100: runs of 1 to 6 characters instead of words, recall counted twice.

    Args:
        hypotheses: What a model wrote.
        references: The correct translations, one for each hypothesis.

    Raises:
        ModuleNotFoundError: If the library sacrebleu is not installed.
        TypeError, ValueError: If one is a single text or holds none, or the counts differ.
    """
    for name, texts in {"hypotheses": hypotheses, "references": references}.items():
        require_texts(name, texts)
    if len(hypotheses) != len(references):
        got = f"{len(references):,} and {len(hypotheses):,}"
        raise ValueError(f"references must be as many as hypotheses, got {got}")
    if len(hypotheses) == 0:
        raise ValueError("hypotheses must hold at least one text, got none")
    metric = import_extra("sacrebleu").CHRF()
    return metric.corpus_score(list(hypotheses), [list(references)]).score


def group_by_rarity(
    pairs: Sequence[TextPair], tokenizer: Tokenizer, cut: Callable[[str], list[str]]
) -> dict[str, list[TextPair]]:
    """Pairs without and with a rare word, equally many of each length.

    A word was rare in training if the tokenizer cuts it into pieces. Of the longer group, the
    first pairs of each length are taken.

    Args:
        pairs: The words of the sources are counted.
        tokenizer: The translator's.
        cut: Cuts a sentence into words, the tokenizer's tokens of frequent words.
    """
    by_length: dict[int, tuple[list[TextPair], list[TextPair]]] = {}
    for pair in pairs:
        length = len(cut(pair[0]))
        frequent, rare = by_length.setdefault(length, ([], []))
        group = rare if len(tokenizer.encode(pair[0])) > length else frequent
        group.append(pair)
    groups: dict[str, list[TextPair]] = {"only frequent words": [], "with a rare word": []}
    for both in by_length.values():
        number = min(map(len, both))
        for chosen, group in zip(groups.values(), both, strict=True):
            chosen += group[:number]
    return groups


def join_sentences(sentences: Sequence[str], size: int, glue: str) -> list[str]:
    """Sentences in lines of so many, small letters at the beginning and one full stop at the end.

    Args:
        sentences: Each ends with a full stop.
        size: How many become one line; the last line may have fewer.
        glue: The word between two of them.
    """
    require_whole("size", size)
    parts = [text[0].lower() + text[1:-1] for text in sentences]
    lines = [parts[start : start + size] for start in range(0, len(parts), size)]
    return [f" {glue} ".join(line) + "." for line in lines]


def find_multi30k() -> ParallelText | None:
    """Multi30k from the folder that TRANSFORMER_EDU_DATA names; None where it is not set."""
    return load_multi30k() if "TRANSFORMER_EDU_DATA" in os.environ else None
