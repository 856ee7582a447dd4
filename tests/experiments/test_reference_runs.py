"""The stored runs are those that the code gives: same settings, same numbers."""

import re

import pytest
import torch

from experiments.reference_runs import look, main, rebuild, train_once
from experiments.reference_settings import REFERENCES, SEEDS, ReferenceSettings
from transformer_course.curves.stored_runs import FOLDER, MEASURES, load_runs, stored_variants
from transformer_edu.training.machine.device import use_one_thread

every_variant = pytest.mark.parametrize("variant", REFERENCES)
TINY = ReferenceSettings(
    variant="tiny",
    sizes={"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 8, "dropout": 0.1},
    task_sizes={"train_size": 60, "validation_size": 70, "test_size": 5},
    steps=5,
    batch_size=8,
    evaluate_every=2,
    evaluate_on=9,
)


def test_exactly_the_variants_of_the_code_are_stored():
    assert sorted(stored_variants()) == sorted(REFERENCES)


@every_variant
def test_the_stored_settings_are_those_of_the_code(variant):
    settings, stored = REFERENCES[variant], load_runs(variant)
    assert stored.settings == settings.record(), "run reference_runs again"
    assert [run.seed for run in stored.runs] == list(SEEDS)


@every_variant
def test_the_stored_numbers_are_complete_and_in_range(variant):
    settings, stored = REFERENCES[variant], load_runs(variant)
    due = {*range(settings.evaluate_every, settings.steps + 1, settings.evaluate_every)}
    for run in stored.runs:
        assert [each.step for each in run.evaluations] == sorted(due | {settings.steps})
        assert bool(run.printed) == settings.as_published
        for each in run.evaluations:
            assert 0 <= each.exact_match <= 1
            assert 0 <= each.token_accuracy <= 1
            assert 0 <= each.loss < 10
    glance = stored.glance
    assert len(glance.weights) == len(glance.target) + 1
    assert all(len(row) == len(glance.source) for row in glance.weights)


@pytest.mark.parametrize("variant", ["softmax over queries", "copy, as published"])
def test_the_beginning_of_a_run_gives_the_stored_numbers_again(variant):
    settings, stored = REFERENCES[variant], load_runs(variant)
    if settings.sizes["dropout"] and not torch.backends.mkl.is_available():
        pytest.skip("MKL draws other dropout than PyTorch does without it")
    points = 2
    task = settings.build_task()
    with use_one_thread():
        again, _ = train_once(settings, task, 1, stop_after=points * settings.evaluate_every)
    before = stored.runs[1]
    assert [each.step for each in again.evaluations] == stored.steps[:points]
    for measure in MEASURES:
        rebuilt = [getattr(each, measure) for each in again.evaluations]
        kept = [getattr(each, measure) for each in before.evaluations[:points]]
        assert rebuilt == pytest.approx(kept, abs=0.02), measure
    for new, old in zip(again.printed, before.printed, strict=False):
        assert new == pytest.approx(old, abs=0.03)


def test_a_rebuild_grows_by_one_seed_at_a_time_and_repeats_itself():
    first, both = rebuild(TINY, seeds=(4, 7))
    assert [run.seed for run in first.runs] == [4]
    assert [run.seed for run in both.runs] == [4, 7]
    assert both.steps == [2, 4, 5]
    assert both.settings == TINY.record()
    assert both == list(rebuild(TINY, seeds=(4, 7)))[-1]


def test_the_glance_is_at_the_surest_head_of_the_last_cross_attention():
    task = TINY.build_task()
    model = TINY.build_model(task, 0).eval()
    glance = look(model, task)
    source, target = task.validation[0]
    assert glance.source == tuple(task.vocabulary.decode(source))
    assert glance.target == tuple(task.vocabulary.decode(target))
    assert len(glance.written) <= len(target) + 2
    assert [sum(row) for row in glance.weights] == pytest.approx([1.0] * 9, abs=1e-4)
    assert glance.head in (0, 1)
    assert not model.decoder.layers[-1].cross_attention._forward_pre_hooks


def test_the_command_rebuilds_what_it_is_told_where_it_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(REFERENCES, "tiny", TINY)
    assert main(["--only", "tiny", "--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "1 variants × 3 seeds, about 0.0 minutes" in printed
    assert printed.count("tiny ") == 3
    assert re.search(r"rebuilt in \d+\.\d CPU-minutes", printed)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.json"]
    assert load_runs("tiny", folder=tmp_path).settings == TINY.record()
    assert "tiny" not in stored_variants(folder=FOLDER)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "none of these"], "invalid choice: 'none of these'"),
        (["--folder", "no/such/folder"], "folder must exist, got no/such/folder"),
    ],
)
def test_the_command_refuses_what_there_is_not(arguments, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("kept", "status"), [(True, 0), (False, 1)])
def test_the_check_tells_by_its_exit_status(kept, status, monkeypatch):
    monkeypatch.setattr("experiments.reference_runs.check_bars", lambda: kept)
    assert main(["--check"]) == status
