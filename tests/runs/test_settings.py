"""A run's settings make both configs, and refuse what cannot be trained with."""

import math
from dataclasses import fields

import pytest

from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.runs.options import build_parser, read_settings
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import BASE, PRESETS, TINY, RunSettings, choose_settings
from transformer_edu.training.config import TrainingConfig, inverse_square_root


def test_every_choice_has_a_name_of_its_own_and_can_be_changed_by_it():
    for settings in PRESETS.values():
        chosen = settings.by_name()
        assert {"task", "d_model", "learning_rate"} <= chosen.keys()
        assert RunSettings().changed(**chosen) == settings
        assert settings.changed(d_model=96, steps=7, keep=3).by_name() == chosen | {
            "d_model": 96,
            "steps": 7,
            "keep": 3,
        }
    model, training = ({f.name for f in fields(c)} for c in (TransformerConfig, TrainingConfig))
    own = {f.name for f in fields(RunSettings)} - {"model", "training"}
    assert TINY.by_name().keys() == model | training | own
    assert len(TINY.by_name()) == len(model) + len(training) + len(own)


def test_a_name_that_is_no_choice_is_refused():
    with pytest.raises(TypeError, match="colour"):
        TINY.changed(colour=1)


def test_the_base_preset_has_the_papers_sizes_and_learning_rates():
    assert BASE.model == TransformerConfig.base(vocabulary_size=37_000, max_length=1024)
    for step in (1, 100, 4000, 90_000):
        expected = inverse_square_root(step, d_model=512, warmup_steps=4000)
        rate = BASE.training.learning_rate * BASE.training.factor(step)
        assert rate == pytest.approx(expected)


def test_without_a_preset_the_task_decides():
    assert choose_settings(task="copy").preset == "toy"
    assert choose_settings(task="multi30k") == choose_settings() == TINY
    assert choose_settings("tiny", task="reverse").model == TINY.model


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_alone_has_its_own_task(name):
    assert choose_settings(name) == PRESETS[name]


def test_what_is_given_replaces_the_presets_and_none_does_not():
    settings = choose_settings(steps=12, dropout=None, learning_rate=1e-4)
    assert settings == TINY.changed(steps=12, learning_rate=1e-4)


def test_who_counts_pairs_does_not_count_tokens():
    assert choose_settings(batch_size=9).training.batch_tokens is None
    assert choose_settings(batch_tokens=99).training.batch_tokens == 99


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"task": "chess"}, ValueError, "task must be one of multi30k, .*, got 'chess'"),
        (
            {"preset": "huge"},
            ValueError,
            "preset must be one of toy, tiny, base, translator, got 'huge'",
        ),
        ({"schedule": "flat"}, ValueError, "schedule must be one of linear, .*, got 'flat'"),
        ({"task": "files"}, ValueError, "source must be given for the task files, got None"),
        ({"source": "a"}, ValueError, "target must be given for the task files, got None"),
        ({"preset": "toy", "longest": 9}, ValueError, "longest must be left out for the task num"),
        (
            {"task": "copy", "copies": 4, "longest": 9},
            ValueError,
            "copies must be left out for the task copy",
        ),
        ({"steps": 0}, ValueError, "steps must be at least 1, got 0"),
        ({"keep": 0}, ValueError, "keep must be at least 1, got 0"),
        ({"patience": 0}, ValueError, "patience must be at least 1, got 0"),
        ({"longest": 1}, ValueError, "longest must be at least 2, got 1"),
        ({"warmup_steps": 0}, ValueError, "warmup_steps must be at least 1, got 0"),
        ({"num_heads": 3}, ValueError, "num_heads must divide d_model, got 3 and 128"),
        ({"dropout": 1.5}, ValueError, "dropout must be from 0 to 1, got 1.5"),
        ({"dropout": 1}, ValueError, "^dropout must be below 1, got 1"),
        ({"bpe_dropout": 1}, ValueError, "bpe_dropout must be below 1, got 1"),
        ({"bpe_dropout": "0"}, TypeError, "bpe_dropout must be a number, got '0'"),
        ({"task": "files", "source": ""}, TypeError, "source must be a path, got ''"),
        (
            {"task": "files", "source": "a", "target": ""},
            TypeError,
            "target must be a path, got ''",
        ),
        ({"learning_rate": math.nan}, ValueError, "learning_rate must be a finite number"),
        ({"vocabulary_size": 2.5}, TypeError, "vocabulary_size must be a whole number, got 2.5"),
        ({"precision": "half"}, ValueError, "precision must be one of .*, got 'half'"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        choose_settings(**changes)


def test_a_run_knows_its_files_from_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ["--source", "a.en", "--target", "a.de"]
    chosen = build_parser().parse_args(["--out", "run", "--task", "files", *files])
    settings = read_settings(chosen, RunFolder("run"))
    assert (settings.source, settings.target) == (str(tmp_path / "a.en"), str(tmp_path / "a.de"))
