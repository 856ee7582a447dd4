"""What the viewer shows is what it was given, to the last digit that it stores, or is refused."""

import base64

import numpy as np
import pytest
import torch
from torch import Tensor

from transformer_course.drawing.style import LONGEST_TOKEN
from transformer_course.looking.attention_maps import (
    MOST_TOKENS,
    MOST_WEIGHTS,
    STEPS,
    columns,
    maps_of_model,
    maps_of_weights,
    printable,
)

BATCH, HEADS, SOURCE, TARGET = 2, 3, 4, 5
SOURCE_TOKENS, TARGET_TOKENS = list("abcd"), list("vwxyz")
ENCODER, DECODER = "encoder.layers.{}.self_attention", "decoder.layers.{}.self_attention"
CROSS = "decoder.layers.{}.cross_attention"


def weights(query: int, key: int) -> Tensor:
    return torch.randn(BATCH, HEADS, query, key).softmax(dim=-1)


@pytest.fixture
def attention() -> dict[str, Tensor]:
    """What a model of two layers leaves behind, in the order in which it runs."""
    recorded = {ENCODER.format(layer): weights(SOURCE, SOURCE) for layer in range(2)}
    for layer in range(2):
        recorded[DECODER.format(layer)] = weights(TARGET, TARGET)
        recorded[CROSS.format(layer)] = weights(TARGET, SOURCE)
    return recorded


def of_model(attention: dict[str, Tensor], **changes: object):
    given = {"source_tokens": SOURCE_TOKENS, "target_tokens": TARGET_TOKENS, "sentence": 1}
    return maps_of_model(attention, **(given | changes))


def of_weights(layers: object, **changes: object):
    given = {"query_tokens": TARGET_TOKENS, "key_tokens": SOURCE_TOKENS, "sentence": 0}
    return maps_of_weights(layers, **(given | changes))


def test_every_layer_is_shown_by_kind_with_its_own_tokens(attention):
    maps = of_model(attention)
    kinds = ["Encoder self-attention", "Decoder self-attention", "Cross-attention"]
    assert [(each.kind, each.layer) for each in maps] == [
        (kind, layer) for kind in kinds for layer in "12"
    ]
    roles = [("source", "source"), ("target", "target"), ("target", "source")]
    assert [(each.queries.role, each.keys.role) for each in maps[::2]] == roles
    assert maps[-1].queries.tokens == tuple(TARGET_TOKENS)
    assert maps[-1].keys.tokens == tuple(SOURCE_TOKENS)


def test_layers_are_ordered_by_their_numbers():
    deep = {ENCODER.format(layer): weights(SOURCE, SOURCE) for layer in (10, 2, 0)}
    assert [each.layer for each in of_model(deep)] == ["1", "3", "11"]


def test_the_weights_are_those_of_the_sentence_and_not_transposed(attention):
    for each in of_model(attention):
        np.testing.assert_array_equal(each.weights, attention[each.name][1].numpy())


def test_a_model_inside_another_has_its_layers_found(attention):
    inside = {f"translator.{name}": layer for name, layer in attention.items()}
    assert [each.layer for each in of_model(inside)] == list("121212")


def test_an_encoder_alone_needs_no_target(attention):
    encoder = {name: layer for name, layer in attention.items() if name.startswith("encoder")}
    assert len(of_model(encoder, target_tokens=None)) == 2
    with pytest.raises(ValueError, match="target_tokens must be given to show decoder.layers.0"):
        of_model(attention, target_tokens=None)


def test_a_single_layer_of_any_model_needs_no_batch():
    layer = weights(TARGET, SOURCE)
    (alone,) = of_weights(layer[0])
    (in_batch,) = of_weights(layer)
    np.testing.assert_array_equal(alone.weights, in_batch.weights)
    assert alone.layer == ""


def test_layers_of_any_model_are_called_as_the_learner_calls_them():
    maps = of_weights({"mine": weights(TARGET, SOURCE), "\u202ehis": weights(TARGET, SOURCE)})
    assert [each.layer for each in maps] == ["mine", r"\u202ehis"]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_any_precision_is_shown_and_the_tensor_left_alone(dtype):
    layer = weights(TARGET, SOURCE).to(dtype).requires_grad_()
    before = layer.detach().clone()
    (shown,) = of_weights(layer)
    np.testing.assert_allclose(shown.weights, before[0].float().numpy(), rtol=1e-6)
    assert torch.equal(layer, before) and layer.grad is None


def test_a_stored_weight_is_right_to_half_a_step_and_zero_only_where_it_was_zero():
    layer = weights(TARGET, SOURCE)
    layer[0, 0, 0] = torch.tensor([0.0, 1e-9, 1 - 1e-9, 1.0])
    (shown,) = of_weights(layer)
    codes = shown.codes()
    assert codes[0, 0].tolist() == [0, 1, STEPS, STEPS]
    assert abs(codes / STEPS - layer[0].numpy()).max() <= 1 / STEPS
    assert abs(codes[:, 1:] / STEPS - layer[0, :, 1:].numpy()).max() <= 0.51 / STEPS


def test_the_packed_codes_are_two_bytes_each_the_lower_one_first():
    (shown,) = of_weights(weights(TARGET, SOURCE))
    data = base64.b64decode(shown.packed())
    codes = [data[place] + 256 * data[place + 1] for place in range(0, len(data), 2)]
    assert codes == shown.codes().flatten().tolist()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Haus", "Haus"),
        ("<b>&amp;", "<b>&amp;"),
        ("日本", "日本"),
        ("שלום", "שלום"),
        ("", "(empty)"),
        ("  ", "␣␣"),
        (" the", "␣the"),
        ("a b ", "a b␣"),
        ("a\nb\t", r"a\nb\t"),
        ("\u202eabc\u200f", r"\u202eabc\u200f"),
        ("a\u2028b\xa0", r"a\u2028b\xa0"),
        ("\ud800", r"\ud800"),
    ],
    ids=ascii,
)
def test_a_token_is_shown_as_it_is_written_with_the_invisible_made_visible(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("text", ["x" * 100_000, "\u202e" * 1000, " " * 1000])
def test_an_endless_token_is_cut(text):
    assert len(printable(text)) <= LONGEST_TOKEN


def test_a_token_that_just_fits_is_whole_and_a_longer_one_ends_in_an_ellipsis():
    assert printable("x" * LONGEST_TOKEN) == "x" * LONGEST_TOKEN
    assert printable("x" * (LONGEST_TOKEN + 1)) == "x" * (LONGEST_TOKEN - 1) + "…"
    assert printable("x" * 100, longest=None) == "x" * 100


def test_wide_characters_take_two_columns():
    assert (columns("ab"), columns("日本"), columns("Ａ")) == (2, 4, 2)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -0.1, 1.01])
def test_what_is_no_weight_is_refused(attention, wrong):
    attention[CROSS.format(1)][1, 2, 3, 3] = wrong
    with pytest.raises(ValueError, match=r"decoder.layers.1.cross_attention must be from 0 to 1"):
        of_model(attention)


def test_half_precision_may_overshoot_one_and_is_shown_as_one():
    layer = weights(TARGET, SOURCE)
    layer[0, 0, 0, 0] = 1.0005
    assert of_weights(layer)[0].codes().max() == STEPS


def test_tokens_that_do_not_fit_are_refused(attention):
    with pytest.raises(
        ValueError,
        match=r"encoder.layers.0.self_attention must have shape \(batch, heads, 3, 3\) or "
        r"\(heads, 3, 3\) to fit the tokens, got \(2, 3, 4, 4\)",
    ):
        of_model(attention, source_tokens=["a", "b", "c"])


@pytest.mark.parametrize("shape", [(), (5, 4), (0, 5, 4), (2, 3, 4, 5), (1, 1, 1, 5, 4)], ids=str)
def test_weights_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"weights must have shape \(batch, heads, 5, 4\)"):
        of_weights(torch.zeros(shape))


@pytest.mark.parametrize("layer", [[[0.5]], None, torch.ones(1, 5, 4).int()], ids=type)
def test_what_is_no_tensor_of_weights_is_refused(layer):
    with pytest.raises(TypeError, match="weights must be a tensor of floating-point numbers, got"):
        of_weights(layer)


@pytest.mark.parametrize(
    ("tokens", "error", "got"),
    [
        ([], ValueError, "1 to 128 tokens, got 0"),
        (["x"] * 1000, ValueError, "1 to 128 tokens, got 1000"),
        ("abcd", TypeError, "a list of texts, got str"),
        (None, TypeError, "a list of texts, got NoneType"),
        (["a", 2, "c", "d"], TypeError, "texts, got int at position 1"),
        (["a", "b", b"c", "d"], TypeError, "texts, got bytes at position 2"),
    ],
    ids=["none", "1000", "text", "None", "number", "bytes"],
)
def test_what_is_no_list_of_tokens_is_refused(attention, tokens, error, got):
    with pytest.raises(error, match=f"source_tokens must .*{got}"):
        of_model(attention, source_tokens=tokens)
    with pytest.raises(error, match=f"key_tokens must .*{got}"):
        of_weights(weights(TARGET, SOURCE), key_tokens=tokens)


def test_as_many_tokens_as_fit_are_shown():
    tokens = ["x"] * MOST_TOKENS
    (shown,) = of_weights(torch.zeros(1, TARGET, MOST_TOKENS), key_tokens=tokens)
    assert len(shown.keys.tokens) == MOST_TOKENS


def test_more_than_a_page_can_hold_is_refused():
    tokens = ["x"] * 125
    layers = {ENCODER.format(layer): torch.zeros(1, 48, 125, 125) for layer in range(2)}
    given = {"query_tokens": tokens, "key_tokens": tokens}
    assert sum(each.weights.size for each in of_weights(layers, **given)) == MOST_WEIGHTS
    layers["encoder.layers.2.self_attention"] = torch.zeros(1, 1, 125, 125)
    message = "must hold at most 1,500,000 weights, got 1,515,625"
    with pytest.raises(ValueError, match=f"weights {message}"):
        of_weights(layers, **given)
    with pytest.raises(ValueError, match=f"attention {message}"):
        of_model(layers, source_tokens=tokens, sentence=0)


@pytest.mark.parametrize(
    ("recorded", "error", "message"),
    [
        ({}, ValueError, "attention must hold at least one layer, got none"),
        (torch.zeros(1), TypeError, "attention must map names to tensors, got Tensor"),
        ({0: torch.zeros(1)}, TypeError, "attention must have texts for names, got 0"),
        ({"mine": torch.zeros(1)}, ValueError, r"names like encoder.layers.0.self_.* got 'mine'"),
        ({"encoder.layers.0.cross_attention": torch.zeros(1)}, ValueError, "must have names like"),
        ({"my_encoder.layers.0.self_attention": torch.zeros(1)}, ValueError, "names like"),
    ],
    ids=["empty", "tensor", "number", "foreign", "misplaced", "called otherwise"],
)
def test_what_no_model_recorded_is_refused(recorded, error, message):
    with pytest.raises(error, match=message):
        of_model(recorded)


@pytest.mark.parametrize(
    ("sentence", "error", "message"),
    [
        (2, IndexError, "sentence must be below 2, the batch's size, got 2"),
        (-1, ValueError, "sentence must be at least 0, got -1"),
        (0.5, TypeError, "sentence must be a whole number, got 0.5"),
    ],
)
def test_a_sentence_that_is_not_in_the_batch_is_refused(attention, sentence, error, message):
    with pytest.raises(error, match=message):
        of_model(attention, sentence=sentence)


def test_what_the_decoder_wrote_must_be_as_much_as_it_read(attention):
    count = len(TARGET_TOKENS)
    shown = of_model(attention, written_tokens=["a"] * count)
    assert shown[-1].queries.writes == ("a",) * count
    message = rf"written_tokens must be as many as target_tokens \({count}\), got 1"
    with pytest.raises(ValueError, match=message):
        of_model(attention, written_tokens=["a"])
