"""The right word is compared with the wrong one, given the words before both."""

import pytest
import torch

from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.teaching.inspect.ablation import every_head, heads_switched_off
from transformer_edu.teaching.inspect.agreement import margins
from transformer_edu.teaching.texts.sentences import AGREEMENT


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


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


def test_two_equal_translations_are_refused(translator):
    with pytest.raises(ValueError, match="two translations that differ in a word"):
        margins(translator, [("A dog runs.", "Ein Hund.", "Ein Hund.")])


def test_a_translator_that_cannot_read_the_source_is_right_on_half_of_the_genders(translator):
    model = translator.model
    across = [head for head in every_head(model) if "cross" in head[0]]
    with heads_switched_off(model, across):
        found = margins(translator, AGREEMENT["gender"])
    torch.testing.assert_close(found[::2], -found[1::2], atol=1e-3, rtol=1e-3)


def test_the_two_translations_of_a_contrast_differ_in_one_word_and_kinds_are_balanced():
    assert {kind: len(rows) for kind, rows in AGREEMENT.items()} == {"gender": 24, "number": 24}
    for rows in AGREEMENT.values():
        for one, other in zip(rows[::2], rows[1::2], strict=True):
            changes = []
            for _, right, wrong in (one, other):
                pairs = list(zip(right.split(), wrong.split(), strict=True))
                changes.append([pair for pair in pairs if len({*pair}) > 1])
            (first,), (second,) = changes
            assert first == second[::-1], "the two must exchange right and wrong"
