"""Attention is recorded from outside: the numbers the model used, nothing left behind."""

import pytest
import torch
from torch import nn

from transformer_course.looking.recording import (
    Words,
    record_attention,
    token_words,
    vectors_by_layer,
)
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.special_ids import END_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

HEADS, SOURCE, TARGET, LAYERS = 4, 7, 5, 2


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 32, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 48}
    return Transformer(TransformerConfig(vocabulary_size=20, dropout=0.5, **sizes))


@pytest.fixture
def ids() -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.randint(4, 20, (3, SOURCE))
    source[1, 4:] = 0
    return source, torch.randint(4, 20, (3, TARGET))


def test_every_layer_is_recorded_by_its_name(model, ids):
    with record_attention(model) as attention:
        model(*ids)
    expected = {f"encoder.layers.{layer}.self_attention" for layer in range(LAYERS)}
    for layer in range(LAYERS):
        expected |= {f"decoder.layers.{layer}.{kind}_attention" for kind in ("self", "cross")}
    assert set(attention) == expected
    assert attention["decoder.layers.0.cross_attention"].shape == (3, HEADS, TARGET, SOURCE)


def test_rows_are_probabilities_even_with_dropout_on(model, ids):
    with record_attention(model.train()) as attention:
        model(*ids)
    for weights in attention.values():
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))


def test_padding_and_the_future_have_no_weight(model, ids):
    with record_attention(model) as attention:
        model(*ids)
    assert (attention["decoder.layers.1.cross_attention"][1, :, :, 4:] == 0).all()
    future = torch.ones(TARGET, TARGET).triu(1).bool()
    assert (attention["decoder.layers.1.self_attention"][..., future] == 0).all()


def test_the_recorded_weights_are_those_that_made_the_output():
    torch.manual_seed(0)
    layer = MultiHeadAttention(d_model=8, num_heads=2)
    query, memory = torch.randn(3, 4, 8), torch.randn(3, 5, 8)
    with record_attention(nn.ModuleList([layer])) as attention:
        output = layer(query, key=memory, value=memory)
    value = layer.value_projection(memory).unflatten(-1, (2, 4)).transpose(1, 2)
    gathered = (attention["0"] @ value).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(layer.output_projection(gathered), output)


def test_recorded_weights_hold_no_graph(model, ids):
    with record_attention(model) as attention:
        model(*ids)
    assert not any(weights.requires_grad for weights in attention.values())


def test_recording_changes_nothing(model, ids):
    model.train()
    torch.manual_seed(1)
    plain = model(*ids)
    state = torch.get_rng_state()
    torch.manual_seed(1)
    with record_attention(model):
        recorded = model(*ids)
    assert torch.equal(plain, recorded)
    assert torch.equal(torch.get_rng_state(), state)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_the_hooks_go_even_after_an_error(model):
    with pytest.raises(ValueError), record_attention(model):
        model(torch.full((1, 2), 99), torch.full((1, 2), 1))
    assert not any(module._forward_hooks for module in model.modules())


def test_a_model_without_attention_is_refused():
    with pytest.raises(ValueError, match="must hold a MultiHeadAttention, got Linear"):
        record_attention(nn.Linear(2, 2)).__enter__()


@torch.no_grad()
def test_a_step_from_a_cache_is_recorded_as_the_rows_of_its_positions(model, ids):
    source_ids, target_ids = ids
    model.eval()
    with record_attention(model) as whole:
        model(source_ids, target_ids)
    memory, source_mask = model.encode(source_ids), model.source_mask(source_ids)
    cache = DecoderCache(num_layers=LAYERS)
    model.decode(target_ids[:, :3], memory, source_mask=source_mask, cache=cache)
    with record_attention(model) as step:
        model.decode(target_ids[:, 3:], memory, source_mask=source_mask, cache=cache)
    assert len(step) == 2 * LAYERS
    for name, weights in step.items():
        torch.testing.assert_close(weights, whole[name][:, :, 3:])


TEXT = "A man is playing the guitar."


def test_the_last_vectors_become_the_memory_and_the_first_are_words_with_positions(translator):
    words, vectors = vectors_by_layer(translator, TEXT)
    model = translator.model
    ids = torch.tensor([translator.tokenizer.encode(TEXT)])
    assert vectors.shape == (len(model.encoder.layers) + 1, len(words), model.config.d_model)
    assert words[:3] == ["A", "man", "is"]
    with torch.no_grad():
        memory, embedded = model.encode(ids)[0], model.positions(model.source_embedding(ids))[0]
    torch.testing.assert_close(model.encoder.final_norm(vectors[-1]), memory, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(vectors[0], embedded)


def test_a_sentence_without_tokens_is_refused(translator):
    with pytest.raises(ValueError, match="^source must have at least one token, got ''$"):
        vectors_by_layer(translator, "")


def test_words_have_no_mark_of_a_space_and_the_special_tokens_have_names(translator):
    ids = translator.tokenizer.encode("Ein Mann")
    words = token_words(translator, [START_ID, *ids, END_ID])
    assert words[0] == "<s>" and words[-1] == "</s>"
    assert "".join(words[1:-1]) == "EinMann"


def test_no_token_has_an_empty_name(translator):
    assert all(token_words(translator, range(translator.model.config.vocabulary_size)))


def test_a_word_that_is_not_there_is_refused_with_the_words_that_are():
    words = Words(["a", "dog", "sees", "a"])
    assert words.index("a") == 0 and words.index("a", 1) == 3
    with pytest.raises(ValueError, match=r"'guitar' is not a token .* \['a', 'dog', 'sees', 'a'\]"):
        words.index("guitar")
