"""A tiny Transformer that learns in the page, with the learning rate that the reader chooses."""

from collections.abc import Mapping
from pathlib import Path

from transformer_course.curves.run_figures import describe_runs
from transformer_course.curves.stored_runs import StoredRuns
from transformer_course.training.loss_charts import plot_runs
from transformer_course.viewer.live import show_live

MODEL = str(Path(__file__).with_name("tiny_transformer.js"))  # runs before the figure
SETTINGS = {
    "rates": (0.0003, 0.001, 0.003, 0.01, 0.02, 0.03, 0.1),
    "warmUps": (0, 25, 50, 100, 200),
    "batches": (4, 8, 16, 32, 64),
    "first": {"rate": 0.01, "warmUp": 100, "batch": 16},
    "steps": 400,
    "test": 20,  # numbers that are kept out of the training
    "model": {"width": 16, "inner": 32, "layers": 2},
}


def show_training_live(runs: Mapping[str, StoredRuns]) -> None:
    """Let the reader train a tiny Transformer that writes digits in reverse.

    Args:
        runs: Stored trainings of a deep model by name, for the still picture.
    """
    title = "Stored trainings of the deep model"
    if {"no warm-up", "warm-up 100"} <= runs.keys():
        title += ": post-norm needs the warm-up"
    still = plot_runs(list(runs.values()), title=title, names=list(runs))
    show_live(
        (MODEL, __file__),
        SETTINGS,
        title="Train a tiny Transformer here: which rates work?",
        still=still,
        alt=f"{title}: {describe_runs(list(runs.values()))}",
        height=560,
        phone_height=830,
    )
