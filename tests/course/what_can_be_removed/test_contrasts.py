"""A translator's choice is compared where two forms of a word part."""

import pytest
import torch

from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.texts.sentences import AGREEMENT
from transformer_course.what_can_be_removed.contrasts import margins
from transformer_edu.model.transformer import Transformer, TransformerConfig

HEADS, D_HEAD, LAYERS, BATCH, SOURCE, TARGET = 4, 6, 2, 3, 7, 5


def made_model(*, norm_first: bool) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": HEADS * D_HEAD, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 20}
    return Transformer(
        TransformerConfig(vocabulary_size=20, dropout=0.0, norm_first=norm_first, **sizes)
    )


@pytest.fixture(params=[False, True], ids=["post-norm", "pre-norm"])
def model(request) -> Transformer:
    return made_model(norm_first=request.param)


def test_a_margin_is_a_difference_of_log_probabilities_after_the_same_beginning(translator):
    english, right, wrong = "A dog runs.", "Ein Hund läuft.", "Ein Hund laufen."
    encode = translator.tokenizer.encode
    pieces, others = encode(right), encode(wrong)
    place = next(i for i, pair in enumerate(zip(pieces, others, strict=False)) if len({*pair}) > 1)
    with torch.no_grad():
        logits = translator.model(
            torch.tensor([encode(english)]), torch.tensor([[1, *pieces[:place]]])
        )
    chances = logits[0, -1].log_softmax(dim=0)
    expected = chances[pieces[place]] - chances[others[place]]
    longer = ("Two dogs are running through the snow.", "Zwei Hunde laufen.", "Zwei Hunde läuft.")
    found = margins(translator, [(english, right, wrong), longer])
    torch.testing.assert_close(found[0], expected, atol=1e-4, rtol=1e-4)
    backwards = margins(translator, [(english, wrong, right)])
    torch.testing.assert_close(backwards[0], -expected, atol=1e-4, rtol=1e-4)


def test_two_texts_are_no_contrast(translator):
    with pytest.raises(ValueError, match=r"contrasts must hold \(English, .*\), got \('a', 'b'\)"):
        margins(translator, [("a", "b")])


def test_two_equal_translations_are_refused(translator):
    with pytest.raises(ValueError, match="two translations that differ in a word"):
        margins(translator, [("A dog runs.", "Ein Hund.", "Ein Hund.")])


def test_a_translator_that_cannot_read_the_source_is_right_on_half_of_the_genders(translator):
    model = translator.model
    across = [head for head in every_head(model) if "cross" in head[0]]
    with heads_switched_off(model, across):
        found = margins(translator, AGREEMENT["gender"])
    torch.testing.assert_close(found[::2], -found[1::2], atol=1e-3, rtol=1e-3)
