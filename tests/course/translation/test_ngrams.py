"""The n-grams that count are filled, and each n-gram of the reference counts once."""

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from transformer_course.drawing.style import BLUE
from transformer_course.translation.ngrams import matches, ngrams_of, plot_ngrams

WRITTEN, REFERENCE = ["a", "b", "a", "a"], ["a", "a", "b"]


def test_an_ngram_matches_as_often_as_the_reference_has_it():
    assert matches(WRITTEN, REFERENCE, 1) == [True, True, True, False]
    assert matches(WRITTEN, REFERENCE, 2) == [True, False, True]
    assert matches(WRITTEN, REFERENCE, 3) == [False, False]
    assert matches(["a"], REFERENCE, 2) == []


@pytest.mark.parametrize(
    "ask", [lambda text: ngrams_of(text, 2), lambda text: plot_ngrams(text, text)]
)
def test_a_text_is_no_list_of_words(ask):
    with pytest.raises(TypeError, match="words must be a list of words, got 'the cat'"):
        ask("the cat")


def test_every_ngram_is_a_bar_below_its_words_and_matches_are_filled():
    figure = plot_ngrams(WRITTEN, REFERENCE)
    bars = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    spans = sorted((round(bar.get_width() + 0.16), round(bar.get_x() - 0.08)) for bar in bars)
    assert spans == [(n, start) for n in range(1, 5) for start in range(5 - n)]
    filled = [bar for bar in bars if bar.get_facecolor()[3] == 1]
    assert len(filled) == 5
    assert all(bar.get_facecolor()[:3] == to_rgb(BLUE) for bar in filled)
    assert all(bar.get_linestyle() != "solid" for bar in bars if bar not in filled)


def test_the_counts_are_in_picture_title_and_words():
    figure = plot_ngrams(WRITTEN, REFERENCE)
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {"3 of 4", "2 of 3", "0 of 2", "0 of 1", "words", "4-grams"} <= written
    assert figure.axes[0].get_title("left") == "Matches: 3 of 4 words, 0 of 1 4-grams"
    assert "3 of 4 words, 2 of 3 2-grams, 0 of 2 3-grams" in figure.get_label()
