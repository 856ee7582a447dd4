"""A head is found by what it does, and its matrices give the weights that the model computes."""

import pytest
import torch

from transformer_course.looking import found_heads
from transformer_course.looking.found_heads import (
    Head,
    aligning_head,
    decoder_head,
    encoder_head,
    most_diverse_layer,
    previous_token_head,
)
from transformer_course.looking.recording import record_attention
from transformer_edu.model.vocabulary import PADDING_ID, START_ID

ENGLISH = "A man is playing the guitar on the street."
GERMAN = "Ein Mann spielt auf der Straße Gitarre."
PAIRS = [("Mann", "man"), ("Gitarre", "guitar")]


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


def best(recorded: dict[str, torch.Tensor], kind: str, score) -> tuple[str, torch.Tensor]:
    name = max(
        (each for each in recorded if each.startswith(kind)), key=lambda n: score(recorded[n])
    )
    return name.partition(" ")[2], recorded[name]


def test_the_aligning_head_links_the_pairs_best_of_all_cross_attention(translator, recorded):
    head = aligning_head(translator, ENGLISH, GERMAN, PAIRS)
    rows = [head.query_words.index(word) for word, _ in PAIRS]
    columns = [head.key_words.index(word) for _, word in PAIRS]
    name, weights = best(recorded, "cross", lambda w: w[rows, columns].mean())
    assert head.name == name == f"decoder layer {head.layer}, head {head.number}"
    torch.testing.assert_close(head.attention_weights(), weights, atol=1e-5, rtol=1e-4)
    assert head.query_words[-1] == "(end)" and head.key_words[-1] == "."


def test_the_previous_token_head_has_most_weight_below_the_diagonal(translator, recorded):
    head = previous_token_head(translator, ENGLISH)
    encoder = {name: w for name, w in recorded.items() if " encoder " in name}
    name, weights = best(encoder, "self", lambda w: w.diagonal(-1).mean())
    assert head.name == name
    assert head.query_words == head.key_words
    torch.testing.assert_close(head.attention_weights(), weights, atol=1e-5, rtol=1e-4)


def test_its_tensors_have_the_shapes_it_says_and_no_hook_stays(translator):
    head: Head = aligning_head(translator, ENGLISH, GERMAN, PAIRS)
    config = translator.model.config
    d_model, d_head = config.d_model, config.d_model // config.num_heads
    assert head.query_input.shape == (len(head.query_words), d_model)
    assert head.key_input.shape == (len(head.key_words), d_model)
    assert {m.shape for m in (head.w_query, head.w_key, head.w_value)} == {(d_model, d_head)}
    assert not any(module._forward_pre_hooks for module in translator.model.modules())


def test_no_other_encoder_layer_has_more_different_heads(translator):
    layer = most_diverse_layer(translator, ENGLISH, "playing")
    row = layer.words.index("playing")
    ids = torch.tensor([translator.tokenizer.encode(ENGLISH)])
    with record_attention(translator.model) as attention, torch.no_grad():
        translator.model.encode(ids)
    encoder = {name: w[0] for name, w in attention.items() if name.startswith("encoder")}

    def different(weights):
        return len(set(weights[:, row].argmax(dim=-1).tolist()) - {row})

    same = [name for name, weights in encoder.items() if torch.allclose(weights, layer.weights)]
    assert len(same) == 1
    assert different(layer.weights) == max(map(different, encoder.values()))
    assert layer.weights.shape == (layer.attention.num_heads, len(layer.words), len(layer.words))
    assert layer.inputs.shape == (len(layer.words), translator.model.source_embedding.d_model)
    assert not any(module._forward_pre_hooks for module in translator.model.modules())


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


def test_a_word_is_found_as_a_token_before_a_shorter_token_that_begins_it():
    assert found_heads._position(["I", "saw", "a", "apple"], "apple") == 3
    assert found_heads._position(["a", "gui", "tar"], "guitar") == 1
