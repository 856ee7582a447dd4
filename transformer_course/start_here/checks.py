"""Exercises of lesson 00: what a Transformer does, seen from outside."""

import re
from numbers import Integral

import torch

from transformer_course.asking.answer import AnswerError, ask, exercise
from transformer_edu.data.number_words import english_words

# Two sentences of different lengths, and the id that follows each; luck does not find both often.
TIMES = 6
LOGITS = (
    ([[0.0, 2.0, 1.0, 9.0], [5.0, 0.0, 1.0, 2.0], [1.0, 4.0, 0.0, 3.0]], 1),
    ([[9.0, 1.0, 0.0, 2.0], [0.0, 3.0, 1.0, 5.0]], 3),
)


@exercise("0.1")
def check_next_id(answer: object) -> None:
    """A function from logits (1, position, vocabulary) to the id of the likeliest next token."""
    for rows, right in LOGITS * TIMES:
        logits = torch.tensor([rows]) / 100  # so that a draw by probability is nearly a blind one
        chosen = ask(answer, logits)
        if isinstance(chosen, torch.Tensor):
            if chosen.numel() != 1:
                raise AnswerError(
                    f"One id is wanted, you gave {chosen.numel()}. Which sentence and which "
                    "position do you mean?"
                )
            chosen = chosen.item()
        if isinstance(chosen, float) and chosen in logits:
            raise AnswerError(
                "That is a logit, not an id: argmax gives the place of the largest, max the logit."
            )
        if isinstance(chosen, bool) or not isinstance(chosen, Integral):
            raise AnswerError(f"The answer is one id, a whole number; yours is {chosen!r}.")
        if chosen == right:
            continue
        if chosen == logits[0, 0].argmax():
            raise AnswerError(
                "That is the word after the first position, or the largest logit of all positions "
                "together. Which position is followed by a word that is not written yet?"
            )
        raise AnswerError(
            "Among the logits of the last position, another one is larger than that of your id."
        )


@exercise("0.2")
def check_swapped_memory(answer: object) -> None:
    """What the decoder writes given the memory of *seventy seven*."""
    if not isinstance(answer, str):
        raise AnswerError("Write the German words as one text, such as 'zwei und vierzig'.")
    words = " ".join(re.sub(r"</?s>|\.", "", answer).split()).lower()
    if words == "drei hundert zwei und vierzig":
        raise AnswerError("The decoder never sees the English words; it sees only the memory.")
    if words in ("siebzig sieben", "siebzig und sieben"):
        raise AnswerError("The right number, in English order: German says the units first.")
    if words == "sieben siebzig":
        raise AnswerError("The right number, but a word is missing: look at *zwei und vierzig*.")
    if words == "siebenundsiebzig":
        raise AnswerError("The right number. Separate the words, as the model does.")
    if words != "sieben und siebzig":
        raise AnswerError("Which sentence does the memory come from, and how is it in German?")


@exercise("0.3")
def check_other_order(answer: object) -> None:
    """The words of *three hundred forty two* in an order that is another English number."""
    if not isinstance(answer, str):
        raise AnswerError("Write the four English words as one text.")
    given, words = english_words(342), re.findall("[a-z]+", answer.lower())
    if words == given:
        raise AnswerError("That is the order of the lesson; the number must change.")
    if sorted(words) != sorted(given):
        raise AnswerError(f"Use each of these words once, and no other: {', '.join(given)}.")
    if words[1] != "hundred":
        raise AnswerError("English says a digit before hundred: something hundred and the rest.")
    if words != english_words(243):
        raise AnswerError(
            "That is not how English writes a number: the tens stand before the units, and a "
            "digit stands before hundred."
        )
