"""The figures of lesson 14 with their titles; each one's label says in words what it shows.

Used in notebooks/14_tokenization.ipynb.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from transformer_course.drawing.charts import plot_lines
from transformer_course.tokenization.pieces import plot_merge_steps, plot_pieces
from transformer_edu.data.tokenizer import Tokenizer

WORD = re.compile(r"\w+(?:[-'’]\w+)*")  # such as e-mail: its hyphen is a piece, too
TRAINING = "training text"  # the line that a title may tell from the others


def plot_first_pieces(tokenizer: Tokenizer, texts: Mapping[str, str]) -> Figure:
    """Draw texts as a tokenizer cuts them; the title says whether there are whole words and others.

    Args:
        tokenizer: The translator's.
        texts: By the names that stand above them.
    """
    words = [tokenizer.encode(word) for text in texts.values() for word in WORD.findall(text)]
    whole = sum(len(tokens) == 1 for tokens in words)
    title = "Frequent words are one token, rare words are several"
    if not 0 < whole < len(words):
        title = f"{whole} of {len(words)} words are one token"
    return plot_pieces(tokenizer, texts, title=title)


def plot_merges_of(word: str, tokenizer: Tokenizer) -> Figure:
    """Draw how a word becomes its tokens, merge by merge; a space stands before it.

    Args:
        word: As it is written in the middle of a sentence.
        tokenizer: What cuts it.
    """
    spaced = f" {word}"
    num_tokens = len(tokenizer.encode(word))
    title = f"{word}: from {len(spaced.encode())} bytes to {num_tokens} tokens"
    return plot_merge_steps(tokenizer.merges, spaced, title=title)


def plot_tokens_per_word(numbers: Sequence[int], lengths: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how many tokens a word needs after more and more merges.

    Args:
        numbers: Of merges.
        lengths: Tokens per word after each number of merges, by the name of the text; that of
            the text of the merges is "training text".
    """
    ends = ", ".join(f"{name} {line[-1]:.1f}" for name, line in lengths.items())
    ends = f"After {numbers[-1]} merges: {ends}"
    saved = {name: [a - b for a, b in pairwise(line)] for name, line in lengths.items()}
    late = {name: sum(each[len(numbers) // 2 :]) for name, each in saved.items()}
    fits = late.pop(TRAINING, 0.0)
    is_usual = (
        len(numbers) > 2
        and numbers[0] == 0
        and all(each[0] > max(each[1:]) for each in saved.values())
        and fits > max([*late.values()], default=fits)
    )
    title = "The first merges save most; late merges fit the training text" if is_usual else ends
    axes = {"x_label": "number of merges", "y_label": "tokens per word"}
    figure = plot_lines(lengths, x=numbers, **axes, title=title)
    figure.set_label(f"{title}. {ends}")
    return figure


def plot_english_only(tokenizer: Tokenizer, english: str, german: str) -> Figure:
    """Draw a sentence and its translation, cut by merges that were learned from English.

    Args:
        tokenizer: It has seen no German.
        english: A sentence.
        german: Its translation.
    """
    num_english, num_german = (len(tokenizer.encode(text)) for text in (english, german))
    title = f"With merges from English only: {num_english} and {num_german} tokens"
    return plot_pieces(tokenizer, {"English": english, "German": german}, title=title)
