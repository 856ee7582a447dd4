"""Every figure of lesson 14 has its title and says in words what it shows."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.tokenization import figures
from transformer_edu.data.tokenizer import Tokenizer

TOKENIZER = Tokenizer([(b"i", b"n"), (b"in", b"g")])
FIGURES = {
    "plot_english_only": partial(figures.plot_english_only, TOKENIZER, "sing", "singe"),
    "plot_first_pieces": partial(figures.plot_first_pieces, TOKENIZER, {"English": "sing"}),
    "plot_merges_of": partial(figures.plot_merges_of, "sing", TOKENIZER),
    "plot_tokens_per_word": partial(
        figures.plot_tokens_per_word, [0, 50], {"a text": [3.0, 1.5], "new": [3.0, 2.0]}
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_english_only", "3 and 4 tokens"),
        ("plot_merges_of", "sing: from 5 bytes to 3 tokens"),
    ],
)
def test_a_title_counts_the_tokens(name, words):
    assert words in FIGURES[name]().axes[0].get_title("left")


def test_the_words_of_a_curve_name_its_end():
    assert "After 50 merges: a text 1.5, new 2.0" in FIGURES["plot_tokens_per_word"]().get_label()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("ing singing", "Frequent words are one token, rare words are several"),
        ("ing", "1 of 1 words are one token"),
        ("sing", "0 of 1 words are one token"),
        ("ing-ing", "0 of 1 words are one token"),
    ],
)
def test_the_title_of_texts_claims_only_what_they_show(text, title):
    tokenizer = Tokenizer([*TOKENIZER.merges, (b" ", b"ing")])
    figure = figures.plot_first_pieces(tokenizer, {"English": text})
    assert figure.axes[0].get_title("left") == title


@pytest.mark.parametrize(
    ("training", "new", "title"),
    [
        ([3.0, 2.0, 1.5], [3.0, 2.0, 1.9], "The first merges save most; late merges fit the"),
        ([3.0, 2.9, 1.5], [3.0, 2.0, 1.9], "After 100 merges: training text 1.5, new 1.9"),
        ([3.0, 2.0, 1.9], [3.0, 2.0, 1.5], "After 100 merges: training text 1.9, new 1.5"),
    ],
)
def test_the_title_of_lengths_claims_only_what_they_show(training, new, title):
    lengths = {"training text": training, "new": new}
    figure = figures.plot_tokens_per_word([0, 50, 100], lengths)
    assert figure.axes[0].get_title("left").startswith(title)


def test_two_numbers_of_merges_do_not_tell_the_first_from_late_ones():
    figure = figures.plot_tokens_per_word([0, 50], {"a text": [4.0, 5.0], "new": [4.0, 2.0]})
    assert figure.axes[0].get_title("left") == "After 50 merges: a text 5.0, new 2.0"


@pytest.mark.parametrize(
    ("numbers", "lengths"),
    [
        ([0, 50, 100], {"held-out text": [3.0, 2.0, 1.5]}),
        ([0, 50, 100], {"held-out text": [3.0, 2.0, 1.5], "another": [3.0, 2.0, 1.9]}),
        ([0, 50, 100], {"training text": [2.0, 2.0, 2.0], "held-out text": [2.0, 2.0, 2.0]}),
        ([50, 100, 150], {"training text": [3.0, 2.0, 1.5], "held-out text": [3.0, 2.0, 1.9]}),
    ],
)
def test_no_title_speaks_of_merges_or_a_training_text_that_are_not_drawn(numbers, lengths):
    label = figures.plot_tokens_per_word(numbers, lengths).get_label()
    assert label.startswith(f"After {numbers[-1]} merges: ")
