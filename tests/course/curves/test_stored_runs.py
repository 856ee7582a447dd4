"""Stored runs come back as they were, and files of another form are refused."""

import errno
import json
from dataclasses import replace

import pytest

from transformer_course.curves.stored_runs import (
    FOLDER,
    Glance,
    SeedRun,
    StoredRuns,
    file_name,
    load_deep_runs,
    load_runs,
    save_runs,
    stored_variants,
)
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine import atomic_files

STORED = StoredRuns(
    variant="no mask, $x$",
    settings={"steps": 4, "sizes": {"d_model": 8}},
    runs=(
        SeedRun(
            seed=0,
            evaluations=(Evaluation(2, 1.5, 0.25, 0.0), Evaluation(4, 0.5, 0.75, 0.5)),
            printed=((2, 1.25, 0.5), (4, 0.25, 1.0)),
        ),
        SeedRun(seed=3, evaluations=(Evaluation(2, 2.0, 0.5, 0.25), Evaluation(4, 1.0, 1.0, 1.0))),
    ),
    glance=Glance(
        source=("a", "<s>"),
        target=("b",),
        written=(),
        head=1,
        weights=((0.25, 0.75), (0.0, 1.0)),
    ),
)


def test_what_is_saved_comes_back(tmp_path):
    path = save_runs(STORED, folder=tmp_path)
    assert path == tmp_path / "no_mask_x.json"
    assert load_runs("no mask, $x$", folder=tmp_path) == STORED
    assert stored_variants(folder=tmp_path) == ["no mask, $x$"]


def test_a_full_disk_leaves_the_runs_as_they_were(tmp_path, monkeypatch):
    path = save_runs(STORED, folder=tmp_path)

    def fill(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic_files.os, "fsync", fill)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        save_runs(replace(STORED, runs=STORED.runs[:1]), folder=tmp_path)
    assert load_runs(STORED.variant, folder=tmp_path) == STORED and [*tmp_path.iterdir()] == [path]


def test_numbers_are_stored_with_four_digits_and_steps_stay_whole(tmp_path):
    run = SeedRun(seed=0, evaluations=(Evaluation(2, 1.23456789, 1 / 3, 0.0),))
    save_runs(replace(STORED, runs=(run,)), folder=tmp_path)
    (read,) = load_runs(STORED.variant, folder=tmp_path).runs
    assert read.evaluations == (Evaluation(2, 1.2346, 0.3333, 0.0),)
    assert isinstance(read.evaluations[0].step, int)


def test_runs_of_the_deep_model_are_found_by_what_distinguishes_them():
    runs = load_deep_runs("warm-up 100", "no warm-up")
    assert list(runs) == ["warm-up 100", "no warm-up"]
    assert runs["warm-up 100"] == load_runs("6+6 layers, warm-up 100")
    with pytest.raises(ValueError, match="names must be at least one, .*, got none"):
        load_deep_runs()


def test_curves_are_one_for_each_seed():
    assert STORED.steps == [2, 4]
    assert STORED.curves("exact_match") == [[0.0, 0.5], [0.25, 1.0]]
    assert STORED.curves("loss") == [[1.5, 0.5], [2.0, 1.0]]
    assert [end.token_accuracy for end in STORED.last] == [0.75, 1.0]
    with pytest.raises(ValueError, match="measure must be one of loss, .*, got 'accuracy'"):
        STORED.curves("accuracy")


def test_an_unknown_variant_is_refused_with_those_that_there_are(tmp_path):
    save_runs(STORED, folder=tmp_path)
    with pytest.raises(ValueError, match=r"variant must be one of no mask, \$x\$, got 'other'"):
        load_runs("other", folder=tmp_path)
    with pytest.raises(TypeError, match="variant must be a text, got int"):
        load_runs(3, folder=tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content.replace('"format": 1', '"format": 2'),
        lambda content: content.replace('"runs"', '"walks"'),
        lambda content: content.replace("[2, 1.5, 0.25, 0.0]", "[2, 1.5]"),
        lambda content: "[]",
    ],
)
def test_a_file_of_another_form_is_refused_by_name(spoil, tmp_path):
    path = save_runs(STORED, folder=tmp_path)
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(ValueError, match=r"no_mask_x\.json must hold stored runs of format 1"):
        load_runs(STORED.variant, folder=tmp_path)


def test_every_stored_file_is_small_and_named_after_its_variant():
    for variant in stored_variants():
        path = FOLDER / file_name(variant)
        assert path.stat().st_size < 10_000
        assert json.loads(path.read_text(encoding="utf-8"))["variant"] == variant
