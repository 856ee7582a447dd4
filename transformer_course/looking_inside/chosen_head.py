"""The map of a chosen layer and head, with thin controls."""

import ipywidgets as widgets

from transformer_course.drawing.display import explore
from transformer_course.looking.attention_maps import maps_of_model
from transformer_course.looking.head_roles import record_pairs
from transformer_course.viewer.show import AttentionViewer, model_viewer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.special_ids import END_ID, SPECIAL_TOKENS, START_ID


def explore_attention(
    translator: Translator, english: str, german: str, *, start: str, head: int
) -> None:
    """Show all attention maps of a sentence; where a kernel runs, of any that the reader types.

    The decoder reads a translation: the given one, or what the translator writes for the reader's
    sentence. A row is named after the token that it reads and the one that it writes.

    Args:
        translator: With a Transformer of this package, on any device.
        english: The first sentence.
        german: Its translation.
        start: The name of the layer that is shown first.
        head: The head that is shown first, counted from 1.

    Raises:
        ValueError: If a sentence has no tokens or more than 128, or start or head names nothing.
    """
    names = translator.tokenizer.tokens

    def viewer(text: str) -> AttentionViewer:
        if not text.strip():
            raise ValueError("there must be a sentence to translate, got none")
        source = translator.source_ids(text)
        written = german if text == english else translator.translate(text, width=1)
        target = translator.target_ids(written)
        words = names(target)
        maps = maps_of_model(
            record_pairs(translator.model, [(source, target)]).attention,
            source_tokens=names(source),
            target_tokens=[SPECIAL_TOKENS[START_ID], *words],
            written_tokens=[*words, SPECIAL_TOKENS[END_ID]],
            sentence=0,
        )
        return model_viewer(maps, start, head)

    explore(
        lambda text: viewer(text).still(),
        lambda text: viewer(text).words(),
        live=lambda text: viewer(text).element(),
        text=widgets.Text(
            value=english, continuous_update=False, description="English, then Enter"
        ),
    )
