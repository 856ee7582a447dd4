"""A decoder's steps under the hand, without a kernel."""

from collections.abc import Sequence

from transformer_course.decoder.next_word_bars import plot_decoding_step
from transformer_course.decoder.next_words import DecodingStep, decoding_steps
from transformer_course.looking.attention_maps import printable
from transformer_course.looking.recording import token_words
from transformer_course.viewer.live import show_live
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_texts

FIRST_SHOWN = 5  # steps before the one that is shown at first: some words are written
ROW = 27  # pixels of a token


def show_decoder_live(
    translator: Translator, source: str, *, beginnings: Sequence[str] = ("",)
) -> None:
    """Let the reader step through translations: what is read, attended to, likely and chosen.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        beginnings: Words that are put in before the model chooses, one sentence each; "" for none.

    Raises:
        TypeError: If beginnings is a single text.
        ValueError: If source is empty, or there are no beginnings.
    """
    require_texts("beginnings", beginnings)
    if not beginnings:
        raise ValueError("beginnings must hold at least one text, got none")
    source_tokens = token_words(translator, translator.source_ids(source))
    sentences = [decoding_steps(translator, source, beginning) for beginning in beginnings]
    step = min(FIRST_SHOWN, len(sentences[0]) - 1)
    title = "Every chosen token is read in the next step"
    rows = max(len(source_tokens), *map(len, sentences))
    show_live(
        __file__,
        {
            "source": [printable(token) for token in source_tokens],
            "beginnings": beginnings,
            "sentences": [[_numbers(each) for each in steps] for steps in sentences],
            "step": step,
        },
        title=title,
        still=plot_decoding_step(source_tokens, sentences[0][step], title=title),
        height=210 + ROW * rows,
        phone_height=560 + ROW * rows,
    )


def _numbers(step: DecodingStep) -> dict[str, object]:
    """A step as JSON can hold it; the tokens read are those chosen in the steps before it."""
    return {
        "attention": [round(weight, 4) for weight in step.attention.tolist()],
        "candidates": [(printable(token), round(p, 4)) for token, p in step.candidates],
        "chosen": step.chosen,
        "given": step.is_given,
    }
