"""Every figure of lesson 15 has its title and says in words what it shows."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.translation import figures

RECORDS = [{"step": step, "validation_loss": 20 / step, "bleu": step} for step in (10, 20, 30, 40)]
SCORES = {"captions (16)": 79.4, "generated (151)": 97.0}
FIGURES = {
    "plot_finished_run": partial(figures.plot_finished_run, RECORDS),
    "plot_joined": partial(figures.plot_joined, (1, 6), [80.0, 81.0], [80.0, 40.0]),
    "plot_texts": partial(figures.plot_texts, SCORES),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("records", "title"),
    [
        (RECORDS[:1], "BLEU 10 after 10 steps"),
        (
            [*RECORDS[:2], RECORDS[3] | {"bleu": None}],
            "Half of the steps gave 50% of the final BLEU",
        ),
        ([each | {"bleu": 0.0} for each in RECORDS], "BLEU 0 after 40 steps"),
    ],
)
def test_the_title_of_a_run_holds_for_its_records(records, title):
    assert figures.plot_finished_run(records).get_label().startswith(f"{title}. ")


@pytest.mark.parametrize("records", [[], [{"step": 10, "validation_loss": 2.0}]])
def test_a_run_without_bleu_is_refused(records):
    with pytest.raises(ValueError, match="history must hold a record with a bleu, got none"):
        figures.plot_finished_run(records)


def test_the_title_compares_scores_as_they_are_and_names_all_of_the_best():
    near = figures.plot_texts({"a (1)": 83.6, "b (2)": 84.4})
    assert near.get_label().startswith("Of these texts, BLEU is highest on b: ")
    equal = figures.plot_texts({"a (1)": 0.0, "b (2)": 0.0})
    assert equal.get_label().startswith("Of these texts, BLEU is highest on a and b: ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_finished_run", "Half of the steps gave 50% of the final BLEU. 40 steps: from step"),
        ("plot_joined", "6 captions: one by one BLEU 81, as one line 40"),
        ("plot_texts", "highest on generated: {'captions (16)': 79, 'generated (151)': 97}"),
    ],
)
def test_the_words_hold_the_numbers(name, words):
    assert words in FIGURES[name]().get_label()
