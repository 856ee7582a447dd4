"""Watch a run: a progress bar, and at every evaluation a score, a line of history, the weights."""

import sys
import time
from collections.abc import Sequence
from statistics import mean

from tqdm import tqdm

from transformer_edu.generation.translator import TextCoder, write_all
from transformer_edu.model.transformer import Transformer
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import RunSettings
from transformer_edu.training import checkpoint_file
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.device import suitable_threads
from transformer_edu.training.machine.failures import postponed_interrupt, report
from transformer_edu.training.machine.processes import ALONE, OneProcess
from transformer_edu.training.state import TrainingRun

SECONDS_BETWEEN_LINES = 30  # where the bar is not redrawn but written again, as in a log file
STEPS_BETWEEN_LOOKS = 20  # steps that the loss in the bar is the mean of
SPENT = ("cpu_seconds", "seconds")  # what a run has cost so far, in every record


class ExactMatchScorer:
    """The fraction of targets that the model generates correctly from start to end."""

    name = "exact_match"

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score."""
        return evaluation.exact_match


class BleuScorer:
    """BLEU of greedy translations.

    Args:
        tokenizer: The model's own.
        pairs: Source texts and their translations.
        processes: Those that share the work; each translates a part.
    """

    name = "bleu"

    def __init__(
        self,
        tokenizer: TextCoder,
        pairs: Sequence[tuple[str, str]],
        *,
        processes: OneProcess = ALONE,
    ) -> None:
        self.tokenizer, self.processes = tokenizer, processes
        self.sources = [tokenizer.encode(source) for source, _ in pairs]
        self.references = [target for _, target in pairs]

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score."""
        count = len(self.sources)
        with suitable_threads(model):
            written = write_all(model, [self.sources[row] for row in self.processes.rows(count)])
        rows = self.processes.gather(written, count)
        return corpus_bleu([self.tokenizer.decode(ids) for ids in rows], self.references).score


Scorer = ExactMatchScorer | BleuScorer  # of a model that was just evaluated; high is good


class Watcher:
    """What fit calls after every step of a run in a folder.

    All processes that train together watch, and the first one writes.
    """

    def __init__(
        self,
        model: Transformer,
        folder: RunFolder,
        settings: RunSettings,
        scorer: Scorer,
        *,
        processes: OneProcess = ALONE,
    ) -> None:
        self.processes = processes
        self.model, self.folder, self.settings, self.scorer = model, folder, settings, scorer
        self.stopped_early, self.records = False, folder.read_history(scorer.name, *SPENT)

    def begin(self, run: TrainingRun) -> None:
        """Start the clocks, and go on with the history after the steps of run.

        Raises:
            OSError, ValueError: If a score or weights that cannot be made again are missing or
                damaged.
        """
        steps_taken = len(run.steps)
        known = [[record["step"], record.get("validation_loss")] for record in self.records]
        kept = [record for record in self.records if record["step"] <= steps_taken]
        is_cut, self.records = len(kept) < len(self.records), kept
        scores = self.scores()
        # The last one can be scored again.
        if lost := {each.step for each in run.evaluations} - scores.keys() - {steps_taken}:
            wanted = f"the score of step {min(lost)} in {self.folder.history_file}"
            raise ValueError(f"run must have {wanted} to go on, got none")
        averaged = (self.settings.keep - 1) * self.settings.training.evaluate_every
        end = steps_taken if self.is_patience_over() else self.settings.training.steps
        last = {self.folder.weights_at(s): s for s in scores if end - s <= averaged}
        for file in (self.folder.best, *last) if scores else ():
            if not file.is_file():
                raise FileNotFoundError(f"run must have {file} to go on, got no such file")
            won = checkpoint_file.read_checkpoint_file(file)[1].get("won")  # not in older files
            is_own = won in [None, *known] or won[0] == steps_taken > max(scores)  # killed there
            is_own &= won is None or last.get(file, won[0]) == won[0]
            if not is_own or load_model(file).config != self.model.config:
                words = f"{file} must be the run's own model, got another one"
                raise checkpoint_file.CheckpointError(words)
        if is_cut and self.processes.is_first:  # with its next record the file is cut
            report(
                f"{self.folder.history_file}: goes on after step "
                f"{kept[-1]['step'] if kept else 0:,}, as the checkpoint is of step {steps_taken:,}"
            )
        self._before = {name: kept[-1][name] or 0 if kept else 0 for name in SPENT}
        self._began = time.process_time(), time.monotonic()
        self._progress = tqdm(
            initial=steps_taken,
            total=self.settings.training.steps,
            unit="step",
            mininterval=0.1 if sys.stderr.isatty() else SECONDS_BETWEEN_LINES,
            disable=not self.processes.is_first,
        )

    def __call__(self, run: TrainingRun) -> None:
        """Look at a run after a step.

        Raises:
            KeyboardInterrupt: If patience is over; fit then saves and ends.
        """
        step = run.steps[-1].step
        is_due = bool(run.evaluations) and run.evaluations[-1].step == step
        self._progress.update()
        if is_due:
            with postponed_interrupt():
                self.observe(run)
        elif step % STEPS_BETWEEN_LOOKS == 0:
            recent = mean(step.loss for step in run.steps[-STEPS_BETWEEN_LOOKS:])
            self._progress.set_postfix_str(f"loss {recent:.2f}", refresh=False)
        if is_due and self.is_patience_over() and step < self.settings.training.steps:
            self.stopped_early = True
            raise KeyboardInterrupt

    def observe(self, run: TrainingRun) -> None:
        """Score the model that was just evaluated, keep its weights and add to the history."""
        evaluation = run.evaluations[-1]
        score = self.scorer(self.model, evaluation)
        if self.processes.is_first:
            self.folder.keep_weights(self.model, evaluation.step, count=self.settings.keep)
            file = self.folder.weights_at(evaluation.step)
            tensors, about = checkpoint_file.read_checkpoint_file(file)
            about["won"] = [evaluation.step, evaluation.loss]  # ties it to this run
            is_best = score > max(self.scores().values(), default=-1.0)
            for each in [file, self.folder.best] if is_best else [file]:
                checkpoint_file.write_checkpoint_file(each, tensors, about)
        record = self._note(run, score)
        if self.processes.is_first:
            line = f"step {record['step']:,}: loss {record['loss']:.3f}, validation loss "
            line += f"{evaluation.loss:.3f}, {self.scorer.name} {score:.4g}"
            tqdm.write(line, file=sys.stderr)

    def end(self, run: TrainingRun) -> None:
        """Close the bar; if a run was interrupted between evaluations, note what it has cost."""
        self._progress.close()
        noted = self.records[-1]["step"] if self.records else 0
        # Interrupted processes cannot wait for each other: together they note nothing.
        if len(run.steps) > noted and self.processes.count == 1:
            self._note(run, None)

    def scores(self) -> dict[int, float]:
        """The score of every evaluation so far, by its step."""
        scores = {record["step"]: record[self.scorer.name] for record in self.records}
        return {step: score for step, score in scores.items() if score is not None}

    def is_patience_over(self) -> bool:
        """Whether none of the last evaluations, as many as patience says, was the best so far."""
        patience, scores = self.settings.patience, [*self.scores().values()]
        before = scores[:-patience] if patience else []
        return bool(before) and max(scores[-patience:]) <= max(before)

    def _note(self, run: TrainingRun, score: float | None) -> dict[str, object]:
        """Add a record to the history; all processes call it together."""
        (cpu_seconds,) = self.processes.sum([time.process_time() - self._began[0]])
        last, found = run.steps[-1], None if score is None else run.evaluations[-1]
        if self.records and self.records[-1]["step"] == last.step:  # an interrupt's, before this
            self.records.pop()
        noted = max(self.scores(), default=0)
        record = {
            "step": last.step,
            "loss": mean(step.loss for step in run.steps[noted:] or run.steps[-1:]),
            "learning_rate": last.learning_rate,
            "validation_loss": found and found.loss,
            "token_accuracy": found and found.token_accuracy,
            self.scorer.name: score,
            "cpu_seconds": round(self._before["cpu_seconds"] + cpu_seconds, 2),
            "seconds": round(self._before["seconds"] + time.monotonic() - self._began[1], 2),
            "tokens": int(sum(step.tokens for step in run.steps)),
        }
        self.records.append(record)
        if self.processes.is_first:
            self.folder.write_history(self.records)
        return record
