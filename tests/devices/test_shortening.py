"""How lessons are shortened and watched: what still counts, what is not required any more."""

import nbformat
import pytest
import torch

from tests.devices.shortening import shorten, shortened
from tests.devices.watching import run_on_pretend_device
from tools.notebooks import LessonError
from transformer_course import speed_and_scale
from transformer_course.drawing import display
from transformer_course.from_2017_to_today import language_modeling
from transformer_course.speed_and_scale import costs
from transformer_edu.data import batches
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training import loop
from transformer_edu.training.config import TrainingConfig

MODEL = """\
import torch
from transformer_edu.training.machine.device import pick_device
device = pick_device()
model = torch.nn.Linear(2, 3).to(device)
"""
CALL = "print(tuple(model(torch.ones(1, 2, device=model.weight.device)).shape))"


def notebook_of(*sources: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])


def run(*sources: str):
    return run_on_pretend_device(notebook_of(*sources), "made_up.ipynb", steps=3)


def test_a_model_on_the_device_is_no_stranger_and_one_elsewhere_is_named_by_its_line():
    report = run(MODEL, CALL)
    assert report.printed == {0: "", 1: "(1, 3)\n"}
    assert report.strangers == [] and report.computations > 0
    report = run(MODEL.replace(".to(device)", ""), CALL, "models = {'A': model}; del model")
    assert set(report.strangers) == {f"Linear in {CALL!r}", "Linear in 'models'"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("torch.ones(1, 2) @ model.weight.T", "must be on pretend"),
        ("assert model is None", "AssertionError"),
        ("import warnings\nwarnings.warn('old', stacklevel=1)", "warns: .*old"),
    ],
    ids=["mixes devices", "asserts what is wrong", "warns"],
)
def test_a_cell_that_fails_or_warns_is_named(source, reason):
    with pytest.raises(LessonError, match=rf"(?s)made_up.ipynb: cell 2 .*{reason}"):
        run(MODEL, source)


def test_only_what_is_claimed_of_a_trained_model_is_not_required():
    claims = """\
    seen.append(1)
    assert seen == 2, f"only {seen}: run the training cell again"
    seen.append(3)
    assert 4 > 5, again
    """
    cell = "for _ in range(1):\n" + claims
    short = shortened(notebook_of(cell, "assert 4 > 5", "assert 4 > 5, 'no'"), steps=3)
    seen = []
    exec(short.cells[0].source, {"seen": seen, "again": "run it again"})
    assert seen == [1, 3]
    for cell in short.cells[1:]:
        with pytest.raises(AssertionError):
            exec(cell.source, {})


def test_a_loop_that_counts_is_cut_where_it_trains_and_nowhere_else():
    train = "for _ in range(300):\n    steps.append(1)\n    loss.backward()"
    (cell,) = shortened(notebook_of(f"{train}\nfor _ in range(9):\n    seen.append(1)"), 3).cells
    names = {"steps": [], "seen": [], "loss": torch.ones(1, requires_grad=True).sum()}
    exec(cell.source, names)
    assert (len(names["steps"]), len(names["seen"])) == (3, 9)


def test_what_is_timed_several_times_is_timed_once_and_nothing_else_is_cut():
    timed = "[seconds(4) for _ in range(3)], [seconds(n) for n in (4, 5)]"
    (cell,) = shortened(notebook_of(f"found = [{timed}, [n for n in range(3)]]"), steps=3).cells
    names = {"seconds": float}
    exec(cell.source, names)
    assert names["found"] == [[4.0], [4.0, 5.0], [0, 1, 2]]


def test_a_shortened_training_takes_all_its_steps_and_learns_in_the_first(monkeypatch):
    for place, name in (
        (loop, "find_gradients"),
        (loop, "_seed_dropout"),
        (loop, "evaluate"),
        (language_modeling, "windows"),
        (costs, "seconds"),
        (costs, "losses_of_a_run"),
        (speed_and_scale, "seconds"),
        (speed_and_scale, "losses_of_a_run"),
        (batches, "epoch"),
        (display, "_image"),
    ):
        monkeypatch.setattr(place, name, getattr(place, name))  # put back afterwards
    options = Translator.translate_all.__kwdefaults__
    monkeypatch.setitem(options, "batch_size", options["batch_size"])
    shorten(3)
    parts = {"train_size": 60, "validation_size": 8, "test_size": 8}
    task = reverse_task(num_symbols=5, shortest=2, longest=4, **parts)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24, "dropout": 0.0}
    model = Transformer(TransformerConfig(vocabulary_size=len(task.vocabulary), **sizes))
    weights = []

    def note(_):
        weights.append(model.output_projection.weight.detach().clone())

    config = TrainingConfig(steps=6, batch_size=16, evaluate_every=2)
    run = loop.fit(model, task, config, after_step=note)
    assert [each.step for each in run.evaluations] == [2, 4, 6]
    assert len({step.loss for step in run.steps}) == 3 and len(run.steps) == 6
    changed = [not one.equal(other) for one, other in zip(weights, weights[1:], strict=False)]
    assert changed == [True, True, False, False, False]
    generator = torch.Generator().manual_seed(0)
    assert len(list(batches.epoch(task.train, batch_size=2, generator=generator))) == 3
    calls = []
    speed_and_scale.seconds(lambda: calls.append(0) or torch.ones(1), rounds=7)
    assert len(calls) == 1
