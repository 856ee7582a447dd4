"""A run's settings make both configs, and refuse what cannot be trained with."""

import math
from dataclasses import fields

import pytest

from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.runs.presets import BASE, PRESETS, TINY, TOY, choose_settings
from transformer_edu.training.config import TrainingConfig, inverse_square_root


def test_every_preset_makes_both_configs_with_its_numbers():
    for settings in PRESETS.values():
        model, training = settings.model_config(50), settings.training_config()
        assert model.vocabulary_size == 50
        for config in (model, training):
            shared = {f.name for f in fields(config)} & {f.name for f in fields(settings)}
            shared -= {"schedule", "vocabulary_size"}
            assert len(shared) > 5
            for name in shared:
                assert getattr(config, name) == getattr(settings, name)


def test_tiny_has_the_sizes_of_the_models_own_preset():
    assert TINY.model_config(10_000) == TransformerConfig.tiny(
        vocabulary_size=10_000, max_length=1024
    )


def test_the_base_preset_has_the_papers_sizes_and_learning_rates():
    paper = TransformerConfig.base(vocabulary_size=37_000, max_length=1024)
    assert BASE.model_config(37_000) == paper
    config = BASE.training_config()
    for step in (1, 100, 4000, 90_000):
        expected = inverse_square_root(step, d_model=512, warmup_steps=4000)
        assert config.learning_rate * config.factor(step) == pytest.approx(expected)


def test_the_inverse_square_root_is_one_where_the_warm_up_ends():
    config = TINY.training_config()
    factors = [config.factor(step) for step in (500, 2000, 8000)]
    assert factors == pytest.approx([1 / 4, 1, 1 / math.sqrt(4)])


def test_the_linear_schedule_is_the_loops_own():
    config, own = TOY.training_config(), TrainingConfig(steps=TOY.steps, warmup_steps=50)
    for step in (1, 50, 300):
        assert config.factor(step) == own.factor(step)


def test_without_a_preset_the_task_decides():
    assert choose_settings(task="copy").preset == "toy"
    assert choose_settings(task="multi30k") == choose_settings() == TINY
    assert choose_settings("tiny", task="reverse").d_model == TINY.d_model


def test_what_is_given_replaces_the_presets_and_none_does_not():
    settings = choose_settings(steps=12, dropout=None, learning_rate=1e-4)
    assert (settings.steps, settings.dropout, settings.learning_rate) == (12, TINY.dropout, 1e-4)


def test_who_counts_pairs_does_not_count_tokens():
    assert choose_settings(batch_size=9).batch_tokens is None
    assert choose_settings(batch_tokens=99).batch_tokens == 99


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"task": "chess"}, ValueError, "task must be one of multi30k, .*, got 'chess'"),
        ({"preset": "huge"}, ValueError, "preset must be one of toy, tiny, base, got 'huge'"),
        ({"schedule": "flat"}, ValueError, "schedule must be one of inverse-.*, got 'flat'"),
        ({"task": "files"}, ValueError, "source must be given for the task files, got None"),
        ({"source": "a"}, ValueError, "source must be left out for the task multi30k, got 'a'"),
        ({"steps": 0}, ValueError, "steps must be at least 1, got 0"),
        ({"keep": 0}, ValueError, "keep must be at least 1, got 0"),
        ({"patience": 0}, ValueError, "patience must be at least 1, got 0"),
        ({"longest": 1}, ValueError, "longest must be at least 2, got 1"),
        ({"warmup_steps": 0}, ValueError, "warmup_steps must be at least 1, got 0"),
        ({"num_heads": 3}, ValueError, "num_heads must divide d_model, got 3 and 128"),
        ({"dropout": 1.5}, ValueError, "dropout must be from 0 to 1, got 1.5"),
        ({"learning_rate": math.nan}, ValueError, "learning_rate must be a finite number"),
        ({"vocabulary_size": 2.5}, TypeError, "vocabulary_size must be a whole number, got 2.5"),
        ({"precision": "half"}, ValueError, "precision must be one of .*, got 'half'"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        choose_settings(**changes)
