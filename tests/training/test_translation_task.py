"""A translation task is texts as token ids: aligned, short enough, and good to train on."""

from dataclasses import replace

import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit
from transformer_edu.training.parallel_text import ParallelText
from transformer_edu.training.state import TrainingState
from transformer_edu.training.tasks import Task
from transformer_edu.training.tokenizer import Tokenizer, train_tokenizer
from transformer_edu.training.translation_task import TranslationTask, translation_task

pytest.importorskip("tokenizers")

WORDS = {"a": "ein", "man": "Mann", "dog": "Hund", "sees": "sieht", "runs": "läuft"}
SOURCES = [f"a {one} {verb}." for one in ("man", "dog") for verb in ("sees", "runs")]
SOURCES += [f"a {one} sees a {other}." for one in ("man", "dog") for other in ("man", "dog")]


def in_german(source: str) -> str:
    for english, german in WORDS.items():
        source = source.replace(english, german) if len(english) > 1 else source
    return source.replace("a ", "ein ")


PAIRS = [(source, in_german(source)) for source in SOURCES]
PARALLEL = ParallelText(PAIRS[:4], PAIRS[4:6], PAIRS[6:])
PARTS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer([text for pair in PAIRS for text in pair] * 3, vocabulary_size=290)


@pytest.fixture
def task(tokenizer) -> TranslationTask:
    return translation_task(PARALLEL, tokenizer)


def test_every_pair_is_the_ids_of_its_texts(task, tokenizer):
    for part in PARTS:
        texts = getattr(task.texts, part)
        assert texts == getattr(PARALLEL, part)
        for ids, pair in zip(getattr(task, part), texts, strict=True):
            assert ids == tuple(map(tokenizer.encode, pair))
            assert tuple(map(tokenizer.decode, ids)) == pair
    assert task.left_out == {"train": 0, "validation": 0, "test": 0}
    assert task.distinct_pairs == 8


def test_the_vocabulary_shows_the_tokenizers_pieces(task, tokenizer):
    assert len(task.vocabulary) == len(tokenizer) == 290
    ids = range(290)
    assert task.vocabulary.decode(ids) == tokenizer.tokens(ids)
    assert isinstance(task, Task)


def test_pairs_that_are_too_long_or_empty_are_left_out_and_counted(tokenizer):
    long = "dog " * 100
    parallel = replace(
        PARALLEL,
        train=[(long, "Hund"), *PAIRS[:2], ("dog", long), ("", "Hund"), ("dog", ""), PAIRS[2]],
        test=[PAIRS[6], (long, long)],
    )
    task = translation_task(parallel, tokenizer, max_length=64)
    assert task.texts == replace(PARALLEL, train=PAIRS[:3], test=PAIRS[6:7])
    assert task.left_out == {"train": 4, "validation": 0, "test": 1}
    assert [tokenizer.decode(source) for source, _ in task.train] == SOURCES[:3]


def test_a_line_of_100000_characters_is_left_out(tokenizer):
    parallel = replace(PARALLEL, train=[("x" * 100_000, "y"), *PAIRS[:4]])
    assert translation_task(parallel, tokenizer).left_out["train"] == 1


def test_the_longest_pair_that_is_kept_fits_a_model_of_that_length(tokenizer):
    parallel = replace(PARALLEL, train=[*PAIRS, ("a man sees", "ein Mann sieht nicht, aber läuft")])
    longest = len(tokenizer.encode(parallel.train[-1][1]))
    assert translation_task(parallel, tokenizer, max_length=longest).left_out["train"] == 1
    fitting = translation_task(parallel, tokenizer, max_length=longest + 1)
    assert fitting.left_out["train"] == 0
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 16, "max_length": longest + 1}
    model = Transformer(TransformerConfig(vocabulary_size=290, **sizes))
    assert len(fit(model, fitting, TrainingConfig(steps=2)).steps) == 2


def test_it_is_learned(tokenizer):
    task = translation_task(PARALLEL, tokenizer)
    torch.manual_seed(0)
    sizes = {"d_model": 32, "num_heads": 2, "num_layers": 1, "d_ff": 64, "dropout": 0.0}
    model = Transformer(TransformerConfig(vocabulary_size=290, **sizes))
    config = TrainingConfig(steps=80, batch_tokens=64, learning_rate=5e-3, evaluate_every=80)
    losses = [record.loss for record in fit(model, task, config).steps]
    assert losses[-1] < 0.1 * losses[0]


def test_the_same_texts_are_the_same_task_for_a_checkpoint(task, tokenizer):
    def fingerprint(task: TranslationTask) -> str:
        model = torch.nn.Linear(1, 1)
        return TrainingState(model, task, TrainingConfig(), None).task_fingerprint

    again = translation_task(PARALLEL, Tokenizer(tokenizer.merges))
    other = translation_task(PARALLEL, Tokenizer(tokenizer.merges[:-1]))
    assert fingerprint(again) == fingerprint(task)
    assert fingerprint(other) != fingerprint(task)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"parallel": PAIRS}, TypeError, "parallel must be a ParallelText, got list"),
        ({"tokenizer": "bpe"}, TypeError, "tokenizer must be a Tokenizer, got str"),
        ({"max_length": 1}, ValueError, "max_length must be at least 2, got 1"),
        ({"max_length": 2}, ValueError, "train must hold a pair of at most 2 tokens a side, got"),
        ({"parallel": ParallelText(PAIRS, PAIRS, [])}, ValueError, "test must hold a pair of at"),
    ],
    ids=range(5),
)
def test_what_is_no_translation_is_refused(tokenizer, changes, error, message):
    with pytest.raises(error, match=message):
        translation_task(**{"parallel": PARALLEL, "tokenizer": tokenizer} | changes)
