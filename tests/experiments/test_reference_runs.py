"""The stored runs are those that the code gives: same settings, same numbers."""

import pytest
import torch

from experiments.reference_runs import rebuild, train_once
from experiments.reference_settings import REFERENCES, SEEDS, ReferenceSettings
from transformer_course.curves.stored_runs import MEASURES, load_runs, stored_variants
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
