"""Exercises of lesson 00: what a Transformer does, seen from outside."""

import torch

from transformer_edu.teaching.checks.answer import AnswerError, ask, exercise


@exercise("0.1")
def check_decoder_runs(answer: object) -> None:
    """How often the decoder runs to write *drei hundert zwei und vierzig*."""
    if answer == 5:
        raise AnswerError(
            "There are five words. But how does the loop know that the fifth is the last?"
        )
    if answer == 4:
        raise AnswerError("Four is the number of English words; the decoder writes German ones.")
    if answer == 1:
        raise AnswerError("One run gives one next word; the encoder is the one that runs once.")
    if answer != 6:
        raise AnswerError("Count one run for every generated token, the end token, too.")


@exercise("0.2")
def check_next_id(answer: object) -> None:
    """A function from logits (1, position, vocabulary) to the id of the likeliest next token."""
    logits = torch.tensor([[[0.0, 9.0, 1.0, 2.0], [5.0, 0.0, 1.0, 2.0], [1.0, 3.0, 0.0, 4.0]]])
    chosen = ask(answer, logits)
    if isinstance(chosen, torch.Tensor):
        if chosen.numel() != 1:
            raise AnswerError(
                f"One id is wanted, you gave {chosen.numel()}: only the last position has a "
                "next word that is not written yet."
            )
        chosen = chosen.item()
    if isinstance(chosen, (float, bool)):
        raise AnswerError(
            "That is a logit, not a position: argmax gives the position, max the logit."
        )
    if chosen == 1:
        raise AnswerError("That is the word after the first position; take the last one.")
    if chosen == 11:
        raise AnswerError(
            "argmax over the whole tensor counts through all positions; take the last one."
        )
    if chosen != 3:
        raise AnswerError(
            "The logits of the last position are logits[0, -1]; where is the largest?"
        )


@exercise("0.3")
def check_swapped_memory(answer: object) -> None:
    """What the decoder writes given the memory of *seventy seven*."""
    if not isinstance(answer, str):
        raise AnswerError("Write the German words as one text, such as 'zwei und vierzig'.")
    words = " ".join(answer.replace("<s>", "").replace("</s>", "").split()).lower()
    if words == "drei hundert zwei und vierzig":
        raise AnswerError("The decoder never sees the English words; it sees only the memory.")
    if words in ("siebzig sieben", "siebzig und sieben"):
        raise AnswerError("The right number, in English order: German says the units first.")
    if words == "siebenundsiebzig":
        raise AnswerError("The right number. Separate the words, as the model does.")
    if words != "sieben und siebzig":
        raise AnswerError("Which sentence does the memory come from, and how is it in German?")
