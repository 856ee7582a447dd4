"""The heads that are found want to look where the mask forbids it."""

import pytest
import torch

from transformer_course.looking.recording import record_attention
from transformer_course.masks.masked_heads import decoder_head, encoder_head
from transformer_edu.model.special_ids import PADDING_ID, START_ID

ENGLISH = "A man is playing the guitar on the street."
GERMAN = "Ein Mann spielt auf der Straße Gitarre."


@pytest.fixture(scope="module")
def recorded(translator) -> dict[str, torch.Tensor]:
    """The weights of every head, by its name as Head has it."""
    encode = translator.tokenizer.encode
    with record_attention(translator.model) as attention, torch.no_grad():
        translator.model(
            torch.tensor([encode(ENGLISH)]), torch.tensor([[START_ID, *encode(GERMAN)]])
        )
    return {
        f"{kind} {name.split('.')[0]} layer {int(name.split('.')[2]) + 1}, head {head + 1}": row
        for name, weights in attention.items()
        for kind in [name.split(".")[-1]]
        for head, row in enumerate(weights[0])
    }


@pytest.mark.parametrize(
    ("find", "message"),
    [
        (
            lambda model: encoder_head(model, "A dog."),
            "sentences must be several texts, got 'A dog",
        ),
        (lambda model: decoder_head(model, "A dog.", "Hund"), "targets must be several texts, got"),
        (lambda model: encoder_head(model, []), "must hold at least one sentence, got none"),
        (lambda model: decoder_head(model, "A dog.", []), "must hold at least one sentence, got"),
    ],
)
def test_what_is_no_batch_of_texts_is_refused(translator, find, message):
    with pytest.raises((TypeError, ValueError), match=message):
        find(translator)


SENTENCES = ["A man is playing the guitar on the street.", "Two dogs run."]
TARGETS = ["Ein Mann spielt Gitarre.", "Zwei Hunde rennen."]


@pytest.fixture(scope="module")
def heads(translator):
    return {
        "encoder": encoder_head(translator, SENTENCES),
        "decoder": decoder_head(translator, SENTENCES[0], TARGETS),
    }


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_its_weights_are_those_of_one_head_of_the_model(translator, heads, stack):
    head = heads[stack]
    given = translator.tokenizer.encode(SENTENCES[0])
    source = head.token_ids if stack == "encoder" else torch.tensor([given, given])
    target = torch.full((2, 1), START_ID) if stack == "encoder" else head.token_ids
    with record_attention(translator.model) as attention, torch.no_grad():
        translator.model(source, target)
    recorded = [
        weights[:, place]
        for name, weights in attention.items()
        if name.startswith(stack) and "self" in name
        for place in range(weights.size(1))
    ]
    same = [torch.allclose(head.attention_weights(), each, atol=1e-5) for each in recorded]
    assert sum(same) == 1


def test_words_and_masks_are_those_of_the_padded_batch(heads):
    for head in heads.values():
        assert head.mask.size(-1) == head.token_ids.size(1) == len(head.words[0])
        is_padding = [[word == "<pad>" for word in row] for row in head.words]
        assert torch.tensor(is_padding).equal(head.token_ids == PADDING_ID)
    assert heads["encoder"].words[1][:2] == ["Two", "dogs"]
    assert {row[0] for row in heads["decoder"].words} == {"<s>"}
    assert heads["encoder"].mask.shape[1] == 1
    later = torch.ones_like(heads["decoder"].mask).triu(1)
    assert not (heads["decoder"].mask & later).any()


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_without_its_mask_every_word_attends_to_hidden_keys(heads, stack):
    head = heads[stack]
    scores = (head.x @ head.w_query) @ (head.x @ head.w_key).mT / head.w_key.size(1) ** 0.5
    hidden = scores.softmax(dim=-1).masked_fill(head.mask, 0.0).sum(dim=-1)
    hides = ~head.mask.all(dim=-1).expand(hidden.shape) & (head.token_ids != PADDING_ID)
    assert hidden[hides].min() > 0.05
