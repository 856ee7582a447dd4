"""A head is found by what it does, and its matrices give the weights that the model computes."""

import pytest
import torch

from transformer_course.looking.found_heads import (
    Head,
    aligning_head,
    position_of,
    previous_token_head,
)
from transformer_course.looking.recording import record_attention
from transformer_edu.model.special_ids import START_ID

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


@pytest.mark.parametrize("pairs", [[], ["Hund dog"], [("Hund",)], {"Hund": "dog"}])
def test_pairs_that_are_none_are_refused(translator, pairs):
    with pytest.raises(ValueError, match="pairs must be pairs of words"):
        aligning_head(translator, "a dog", "ein Hund", pairs)


def test_a_word_is_found_as_a_token_before_a_shorter_token_that_begins_it():
    assert position_of(["I", "saw", "a", "apple"], "apple") == 3
    assert position_of(["a", "gui", "tar"], "guitar") == 1
    for word in ("apples", "any", "gui"):
        with pytest.raises(ValueError, match="is not in the sentence"):
            position_of(["a", "", "guit", "ar"], word)
    with pytest.raises(ValueError, match="'Nachber' is not in the sentence 'Mein Nachbar kauft'"):
        position_of(["Mein", "Nachbar", "kauft"], "Nachber")
