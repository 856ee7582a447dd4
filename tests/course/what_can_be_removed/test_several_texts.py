"""The texts of lesson 17 are pairs that belong together, and its resampling is another row's."""

import pytest
import torch

from transformer_course.looking.ablation import heads_switched_off
from transformer_course.what_can_be_removed.removing import resampled_outputs
from transformer_course.what_can_be_removed.several_texts import several_texts
from transformer_edu.data.batches import make_batch


def test_the_texts_are_batches_of_pairs_and_the_last_is_the_first_joined(translator):
    texts = several_texts(translator)
    assert [len(each.source_ids) for each in texts.values()] == [24, 24, 24, 24, 8]
    read = [translator.tokenizer.decode(row.tolist()) for row in texts["captions"].source_ids]
    joined = translator.tokenizer.decode(texts["captions joined"].source_ids[1].tolist())
    assert joined == " ".join(read[3:6])
    written = [translator.tokenizer.decode(row.tolist()) for row in texts["captions"].label_ids]
    assert translator.translate(read[0]).split()[0] == written[0].split()[0]


@torch.no_grad()
def test_a_resampled_output_is_what_the_row_before_had(translator):
    pairs = [([5, 6, 7], [8, 9]), ([10, 11, 12], [13, 14]), ([15, 16, 17], [18, 19])]
    found = resampled_outputs(translator.model, make_batch(pairs))
    moved = resampled_outputs(translator.model, make_batch([pairs[2], *pairs[:2]]))
    for name, numbers in found.items():
        torch.testing.assert_close(numbers, moved[name].roll(-1, dims=0), atol=1e-4, rtol=1e-4)
        assert not torch.allclose(numbers[0], numbers[1], atol=1e-3)


@torch.no_grad()
def test_the_outputs_of_another_batch_are_refused(translator):
    model, batch = translator.model, make_batch([([5, 6, 7], [8, 9])])
    others = resampled_outputs(model, make_batch([([5, 6], [8]), ([9, 10], [11])]))
    heads = [("encoder.layers.0.self_attention", 1)]
    words = (
        r"must be of the batch that the model reads, \(1, 3, 128\), got \(2, 2, 128\) of another"
    )
    with heads_switched_off(model, heads, instead=others), pytest.raises(ValueError, match=words):
        model(batch.source_ids, batch.decoder_input_ids)
