"""The bar of the pattern task is measured on all that it names, and a miss is told."""

import pytest
import torch

from experiments import pattern_bar
from experiments.pattern_bar import (
    main,
    pattern_config,
)
from transformer_course.pattern_with_torch.pattern import (
    PROMPTS,
    UNSEEN_LENGTHS,
    continue_pattern,
    pattern_vocabulary,
    write_continuations,
)
from transformer_edu.model.transformer import Transformer


@pytest.fixture
def untrained() -> Transformer:
    torch.manual_seed(0)
    return Transformer(pattern_config(pattern_vocabulary()))


def test_the_six_prompts_are_all_patterns_and_two_have_unseen_lengths():
    assert len(PROMPTS) == 6
    assert all(prompt == continue_pattern(prompt[:2], len(prompt)) for prompt in PROMPTS)
    lengths = [len(prompt) for prompt in PROMPTS]
    assert [n for n in lengths if n in UNSEEN_LENGTHS] == [11, 2]


def test_what_is_written_is_text_and_a_prompt_does_not_depend_on_its_company(untrained):
    vocabulary = pattern_vocabulary()
    together = write_continuations(untrained, vocabulary, PROMPTS, count=4)
    alone = [write_continuations(untrained, vocabulary, [p], count=4)[0] for p in PROMPTS]
    assert together == alone
    assert all(isinstance(text, str) for text in together)


def test_a_model_that_has_not_learned_misses_the_bar(monkeypatch, capsys):
    monkeypatch.setattr(pattern_bar, "STEPS", 1)
    monkeypatch.setattr(pattern_bar, "SEEDS", (0,))
    assert main([]) == 1
    printed = capsys.readouterr().out
    assert "length 2 " in printed and "length 11 " in printed
    assert "1 runs missed the bar" in printed
