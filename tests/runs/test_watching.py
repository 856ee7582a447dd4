"""A watched run is scored, and leaves a line of history and its weights at every evaluation."""

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import pytest
import torch

from tests.small_model import same, small_transformer, weights
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.data.vocabulary import Vocabulary, Words
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TOY
from transformer_edu.runs.watching import BleuScorer, ExactMatchScorer, Watcher
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.checkpoint import load_model, save_model
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.loop import endless_batches, fit
from transformer_edu.training.loss import LARGE_VOCABULARY
from transformer_edu.training.state import StepRecord, TrainingRun

EVALUATION = Evaluation(step=3, loss=1.5, token_accuracy=0.5, exact_match=0.25)
WORDS = Words(Vocabulary(["a", "b", "c", "d", "e", "f", "g"]))
TASK = reverse_task(
    num_symbols=5, shortest=2, longest=4, train_size=60, validation_size=8, test_size=8
)
SETTINGS = TOY.changed(
    task="reverse",
    steps=8,
    d_model=16,
    num_heads=2,
    num_layers=1,
    d_ff=24,
    batch_size=16,
    evaluate_every=2,
    keep=2,
)


def model() -> Transformer:
    return small_transformer(len(WORDS), seed=3, max_length=20)


def test_exact_match_was_measured_by_the_evaluation():
    assert ExactMatchScorer()(model(), EVALUATION) == 0.25


def test_bleu_is_that_of_greedy_translations():
    sources = ["a b c d", "g f", "e e a b c", "b c d e f g"]
    rows = [torch.tensor([WORDS.encode(source)]) for source in sources]
    written = [WORDS.decode(greedy_search(model(), row, end_loops=True)[0]) for row in rows]
    assert any(written)
    scorer = BleuScorer(WORDS, list(zip(sources, written, strict=True)))
    assert scorer(model(), EVALUATION) > 99.9
    other = BleuScorer(WORDS, list(zip(sources, sources, strict=True)))
    assert other(model(), EVALUATION) == corpus_bleu(written, sources).score < 50


class Scores:
    """A scorer that gives the scores that it was given."""

    name = "marks"

    def __init__(self, scores: Iterable[float]) -> None:
        self.scores = iter(scores)

    def __call__(self, model, evaluation) -> float:
        return next(self.scores)


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir(parents=True)
    return folder


def watched(folder: RunFolder, scores: Iterable[float], **changes: object):
    """Train to the end, or until something stops it."""
    settings = SETTINGS.changed(**changes)
    torch.manual_seed(0)
    model = Transformer(replace(settings.model, vocabulary_size=len(TASK.vocabulary)))
    watcher = Watcher(model, folder, settings, Scores(scores))
    watcher.begin(TrainingRun())
    run = fit(model, TASK, settings.training, after_step=watcher)
    watcher.end(run)
    return model, watcher, run


def test_every_evaluation_leaves_a_line(folder):
    _, watcher, run = watched(folder, [1, 4, 3, 2])
    lines = json.loads(folder.history_file.read_text())
    assert lines == watcher.records
    assert [line["step"] for line in lines] == [2, 4, 6, 8]
    assert [line["marks"] for line in lines] == [*watcher.scores().values()] == [1, 4, 3, 2]
    for line, evaluation in zip(lines, run.evaluations, strict=True):
        assert line["validation_loss"] == evaluation.loss
        last_two = run.steps[line["step"] - 2 : line["step"]]
        assert line["loss"] == pytest.approx(sum(step.loss for step in last_two) / 2)
        assert line["learning_rate"] == last_two[1].learning_rate
    for name in ("cpu_seconds", "seconds"):
        spent = [line[name] for line in lines]
        assert 0 < spent[0] <= spent[1] <= spent[-1]


def test_the_tokens_are_the_labels_that_were_learned_from(folder):
    _, watcher, _ = watched(folder, [1, 2, 3, 4])
    batches = islice(endless_batches(TASK, SETTINGS.training), 8)
    labels = sum(int((batch.label_ids != PADDING_ID).sum()) for batch in batches)
    assert watcher.records[-1]["tokens"] == labels


def test_tokens_are_counted_with_a_large_vocabulary_too():
    task = reverse_task(num_symbols=LARGE_VOCABULARY, train_size=60, validation_size=8, test_size=8)
    model = Transformer(
        replace(SETTINGS.model, vocabulary_size=len(task.vocabulary))
    )  # is not called for the loss
    config = replace(SETTINGS.training, steps=2)
    run = fit(model, task, config)
    batches = islice(endless_batches(task, config), 2)
    labels = [int((batch.label_ids != PADDING_ID).sum()) for batch in batches]
    assert [step.tokens for step in run.steps] == labels


def test_the_best_and_the_last_weights_are_kept(folder):
    model, _, _ = watched(folder, [1, 2, 4, 3])
    kept = folder.kept_weights()
    assert list(kept) == [6, 8]
    assert same(weights(load_model(kept[8])), weights(model))
    assert same(weights(load_model(folder.best)), weights(load_model(kept[6])))


@pytest.mark.parametrize(
    ("patience", "scores", "steps"),
    [(2, [3, 2, 3], 6), (1, [3, 3], 4), (2, [1, 2, 2, 3], 8), (3, [3, 1, 1, 1], 8)],
)
def test_a_run_ends_when_patience_is_over(folder, patience, scores, steps):
    _, watcher, run = watched(folder, scores, patience=patience)
    assert len(run.steps) == steps
    assert watcher.stopped_early == (steps < 8)
    assert watcher.records[-1]["step"] == steps


def test_an_interrupted_run_notes_what_it_has_cost(folder, monkeypatch):
    look = Watcher.__call__

    def interrupt(self, run: TrainingRun) -> None:
        look(self, run)
        if len(run.steps) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Watcher, "__call__", interrupt)
    _, watcher, _ = watched(folder, [1, 2])
    last = watcher.records[-1]
    assert (last["step"], last["marks"], last["validation_loss"]) == (5, None, None)
    assert last["tokens"] > watcher.records[-2]["tokens"]
    assert watcher.scores() == {2: 1, 4: 2}


def test_what_comes_after_the_checkpoint_is_forgotten_with_the_next_record(folder):
    spent = {"cpu_seconds": 1, "seconds": 2, "tokens": 3}
    folder.write_history([{"step": step, "marks": 1.0, **spent} for step in (2, 4, 6)])
    model = Transformer(replace(SETTINGS.model, vocabulary_size=len(TASK.vocabulary)))
    save_model(folder.best, model)
    folder.keep_weights(model, 4, count=1)
    watcher = Watcher(model, folder, SETTINGS, Scores([]))
    watcher.begin(TrainingRun([StepRecord(step, 1.0, 0.1) for step in range(1, 6)]))
    assert watcher.scores() == {2: 1.0, 4: 1.0}
    watcher.end(TrainingRun())
    assert [record["step"] for record in folder.read_history()] == [2, 4, 6]
    watcher.end(TrainingRun([StepRecord(step, 1.0, 0.1) for step in range(1, 6)]))
    assert [record["step"] for record in folder.read_history()] == [2, 4, 5]


def test_the_bar_goes_to_standard_error(folder, capsys):
    watched(folder, [1, 2, 3, 4])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "step 8: loss" in shown.err
    assert "marks 4" in shown.err
