"""What looks into a model takes its ids and its activation from the config, as Marian's need it.

There a target starts with the padding token, the end token is token 0 and ends the source too, and
the feed-forward networks use SiLU.
"""

import pytest
import torch
import torch.nn.functional as F

from transformer_course.a_published_model.small_marian import PAIRS, untrained_marian
from transformer_course.decoder.next_words import decoding_steps, next_word
from transformer_course.feed_forward_add_and_norm.feed_forward_units import read_sentence
from transformer_course.looking.found_heads import aligning_head
from transformer_course.looking.head_roles import record_pairs
from transformer_course.looking.recording import record_attention, token_words
from transformer_course.looking.shape_trace import trace
from transformer_course.masks.masked_heads import decoder_head, encoder_head
from transformer_course.start_here.first_translation import cross_attention, translate_text
from transformer_course.what_can_be_removed.contrasts import margins
from transformer_course.what_can_be_removed.removals import probabilities
from transformer_course.what_can_be_removed.removing import mean_outputs
from transformer_edu.data.batches import make_batch
from transformer_edu.generation.translator import Translator

pytest.importorskip("sentencepiece")

SENTENCES, TARGETS = zip(*PAIRS, strict=True)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return untrained_marian(seed=1)


@pytest.fixture(scope="module")
def ids(translator) -> list[tuple[list[int], list[int]]]:
    return [(translator.tokenizer.encode(s), translator.target_ids(t)) for s, t in PAIRS[:4]]


def inputs(translator, source_ids, target_ids):
    """What the model reads for one pair: the target starts with the padding token."""
    start = translator.tokenizer.vocabulary["<pad>"]
    return torch.tensor([source_ids]), torch.tensor([[start, *target_ids]])


@torch.no_grad()
def run(translator, source_ids, target_ids):
    return translator.model(*inputs(translator, source_ids, target_ids))[0]


def test_a_target_has_its_own_cutter_and_no_end_token(translator):
    end = translator.tokenizer.vocabulary["</s>"]
    assert translator.tokenizer.encode(SENTENCES[0])[-1] == end == 0
    ids = translator.target_ids(TARGETS[0])
    assert end not in ids and translator.tokenizer.decode(ids) == TARGETS[0]
    assert ids != translator.tokenizer.encode(TARGETS[0])[:-1]


def test_a_batch_is_shifted_and_padded_with_the_models_ids(translator, ids):
    batch, padding = make_batch(ids, translator.model), translator.model.config.padding_id
    assert (batch.decoder_input_ids[:, 0] == padding).all() and padding != 0
    longest = batch.label_ids.size(1) - 1
    for (source, target), row, read, labels in zip(
        ids,
        batch.source_ids.tolist(),
        batch.decoder_input_ids.tolist(),
        batch.label_ids.tolist(),
        strict=True,
    ):
        rest = [padding] * (longest - len(target))
        assert read == [padding, *target, *rest] and labels == [*target, 0, *rest]
        assert row[: len(source)] == source and set(row[len(source) :]) <= {padding}


def test_recorded_pairs_are_what_the_model_does_with_each_pair_alone(translator, ids):
    seen = record_pairs(translator.model, ids)
    for number, (source, target) in enumerate(ids):
        with record_attention(translator.model) as alone:
            run(translator, source, target)
        for name, weights in alone.items():
            queries, keys = weights.shape[-2:]
            found = seen.attention[name][number, :, :queries, :keys]
            torch.testing.assert_close(found, weights[0], atol=1e-5, rtol=1e-4)


def test_the_next_words_follow_the_models_start_token(translator, ids):
    source, target = ids[0]
    beginning = " ".join(TARGETS[0].split()[:2])
    given = translator.target_ids(beginning)
    chances = run(translator, source, given)[-1].softmax(dim=-1)
    found = next_word(translator, SENTENCES[0], beginning)
    best = chances.topk(4)
    expected = dict(
        zip(token_words(translator, best.indices.tolist()), best.values.tolist(), strict=True)
    )
    assert found == pytest.approx(expected)
    steps = decoding_steps(translator, SENTENCES[0], TARGETS[0])
    assert [step.read[0] for step in steps] == ["<s>"] * len(steps)
    assert sum(step.is_given for step in steps) == min(len(target), len(steps))


def test_a_decoder_stops_at_the_models_end_token():
    translator = untrained_marian(seed=1)
    with torch.no_grad():
        translator.model.output_projection.bias[0] = 99.0
    (only,) = decoding_steps(translator, SENTENCES[0], "")
    assert only.candidates[only.chosen][0] == "</s>"


def test_a_head_that_aligns_is_found_with_the_targets_own_tokens(translator, ids):
    head = aligning_head(translator, SENTENCES[0], TARGETS[0], [("A", "Ein")])
    with record_attention(translator.model) as attention:
        run(translator, *ids[0])
    weights = attention[f"decoder.layers.{head.layer - 1}.cross_attention"][0, head.number - 1]
    torch.testing.assert_close(head.attention_weights(), weights, atol=1e-5, rtol=1e-4)
    names = translator.tokenizer.tokens(ids[0][1])
    assert head.query_words == [*(name.removeprefix("▁") for name in names), "(end)"]


def test_hidden_keys_are_padding_but_never_the_start_token(translator):
    head = decoder_head(translator, SENTENCES[0], TARGETS[:3])
    assert {row[0] for row in head.words} == {"<s>"}
    assert any(row[-1] == "<pad>" for row in head.words)
    assert all("<s>" not in row[1:] for row in head.words)
    assert head.mask[:, :, 0].all(), "every query may attend to the start token"
    hidden = torch.tensor([[word == "<pad>" for word in row] for row in head.words])
    assert not head.mask[:, -1][hidden].any()
    read = encoder_head(translator, SENTENCES[:3])
    hidden = torch.tensor([[word == "<pad>" for word in row] for row in read.words])
    assert hidden.any() and torch.equal(read.mask[:, 0], ~hidden)


def test_a_translation_and_its_attention_are_between_words(translator):
    found = translate_text(translator, SENTENCES[0])
    assert found.source == SENTENCES[0]
    assert found.source_words == ["Ein", "Hund", "rennt", "über", "das", "Gras", ".", "</s>"]
    for weights in found.attention:
        assert weights.shape[1:] == (len(found.target_words) + 1, len(found.source_words))
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:2]))


def test_cross_attention_is_that_of_the_models_start_token(translator, ids):
    source, target = ids[0]
    with record_attention(translator.model) as attention:
        run(translator, source, target)
    (found,) = cross_attention(translator.model, source, target)
    torch.testing.assert_close(found, attention["decoder.layers.0.cross_attention"][0])


def test_a_margin_compares_the_words_after_the_models_start_token(translator):
    right, wrong = "A dog runs.", "A dog run."
    (found,) = margins(translator, [(SENTENCES[0], right, wrong)])
    pieces, others = (translator.target_ids(text) for text in (right, wrong))
    place = next(i for i, pair in enumerate(zip(pieces, others, strict=False)) if len({*pair}) > 1)
    logits = run(translator, translator.tokenizer.encode(SENTENCES[0]), pieces[:place])[-1]
    expected = logits[pieces[place]] - logits[others[place]]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_means_and_probabilities_count_no_padding(translator, ids):
    model = translator.model
    lengths = torch.tensor([len(target) + 1.0 for _, target in ids])
    singles = [make_batch([pair], model) for pair in ids]
    name = "decoder.layers.0.cross_attention"
    alone = torch.stack([mean_outputs(model, each)[name] for each in singles])
    expected = (alone * lengths.unsqueeze(1)).sum(dim=0) / lengths.sum()
    together = make_batch(ids, model)
    found = mean_outputs(model, together)[name]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    each = torch.cat([probabilities(model, batch) for batch in singles])
    torch.testing.assert_close(probabilities(model, together), each, atol=1e-5, rtol=1e-4)


def test_the_units_of_a_network_have_the_models_activation(translator, ids):
    name, returned = "encoder.layers.1.feed_forward", []
    network = translator.model.get_submodule(name)
    hook = network.register_forward_hook(lambda _, given, output: returned.append(output[0]))
    read = read_sentence(translator, SENTENCES[0], name)
    hook.remove()
    assert (read.activations() < 0).any(), "SiLU has values below 0"
    output = read.activations() @ read.w_2 + read.b_2
    torch.testing.assert_close(output, returned[0].detach(), atol=1e-5, rtol=1e-4)
    steps = trace(translator.model, *inputs(translator, *ids[0]))
    before, hidden = next(
        pair for pair in zip(steps, steps[1:], strict=False) if pair[1].words.startswith("SiLU")
    )
    torch.testing.assert_close(hidden.tensor, F.silu(before.tensor))
    assert not any("ReLU" in step.words for step in steps)
