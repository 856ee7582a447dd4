"""Steering changes the memory at the chosen places, in the block and nowhere else."""

import re

import pytest
import torch

from tests.small_translator import PAIRS, small_translator
from transformer_course.features.autoencoder import SparseAutoencoder
from transformer_course.features.steering import (
    changes_between,
    largest_differences,
    memory_changed,
    random_change,
    translate_changed,
)


def test_the_memory_is_changed_at_its_places_and_only_inside_the_block():
    model = small_translator().model.eval()
    ids = torch.tensor([[5, 6, 7], [7, 6, 5]])
    before = model.encode(ids)
    change = torch.arange(before.size(-1)).float()
    with memory_changed(model, change, (0, 2)):
        after = model.encode(ids)
    torch.testing.assert_close(after[:, (0, 2)], before[:, (0, 2)] + change)
    torch.testing.assert_close(after[:, 1], before[:, 1])
    torch.testing.assert_close(model.encode(ids), before)


def test_each_sentence_gets_its_own_change_and_its_place_in_the_list_stays():
    translator = small_translator()
    sentences = [english for english, _ in PAIRS]
    plain = translate_changed(translator, sentences, torch.zeros(translator.model.config.d_model))
    changes = torch.zeros(2, 1, translator.model.config.d_model)
    changes[1] = 50 * torch.randn(changes.size(-1), generator=torch.Generator().manual_seed(0))
    assert translate_changed(translator, sentences, changes)[0] == plain[0]
    assert len(translate_changed(translator, sentences, changes, max_length=1)) == 2


def test_a_text_and_a_place_in_the_padding_of_the_shortest_sentence_are_refused():
    translator = small_translator()
    change = torch.zeros(translator.model.config.d_model)
    with pytest.raises(TypeError, match="sentences must be a list of texts, got the text 'A dog"):
        translate_changed(translator, "A dog.", change)
    english = min((english for english, _ in PAIRS), key=len)
    place = len(translator.tokenizer.encode(english))
    with pytest.raises(ValueError, match=f"shortest sentence must be at most {place - 1}, got"):
        translate_changed(translator, [english, f"{english} {english}"], change, (place,))


@pytest.mark.parametrize("shape", [(5,), (2, 1, 5)])
def test_a_change_of_another_width_is_refused(shape):
    width = small_translator().model.config.d_model
    said = f"change must have shape (…, {width}), as wide as the memory, got {shape}"
    with pytest.raises(ValueError, match=re.escape(said)):
        translate_changed(small_translator(), [english for english, _ in PAIRS], torch.zeros(shape))


@pytest.mark.parametrize("wrong", [-1, 9])
def test_a_place_that_no_sentence_has_is_refused(wrong):
    model = small_translator().model.eval()
    with (
        memory_changed(model, torch.zeros(model.config.d_model), (0, wrong)),
        pytest.raises(ValueError, match=f"a place must be at (least 0|most 2), got {wrong}"),
    ):
        model.encode(torch.tensor([[5, 6, 7]]))


def test_the_largest_differences_of_the_means_are_kept():
    one = torch.tensor([[4.0, 0, 1], [2, 0, 1]])
    other = torch.tensor([[0.0, 2, 1], [0, 2, 1]])
    assert largest_differences(one, other, 1).tolist() == [3, 0, 0]
    assert largest_differences(one, other, 2).tolist() == [3, -2, 0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_random_change_is_as_long_and_uses_only_the_candidates(seed):
    directions, change = torch.eye(4), torch.tensor([3.0, 4.0, 0.0, 0.0])
    found = random_change(change, directions, torch.tensor([1, 2, 3]), 2, seed=seed)
    assert found.norm().item() == pytest.approx(5) and found[0] == 0
    assert (found != 0).sum() == 2


def test_a_change_leads_from_the_mean_of_one_kind_to_the_other_as_far_as_the_features_tell():
    torch.manual_seed(0)
    autoencoder = SparseAutoencoder(4, 6, 6)
    one, other = torch.randn(5, 4), torch.randn(7, 4)
    change, control = changes_between(autoencoder, one, other, 6, seed=0)
    with torch.no_grad():
        means = [autoencoder(each).mean(dim=0) for each in (one, other)]
    torch.testing.assert_close(change, means[0] - means[1])
    torch.testing.assert_close(control.norm(), change.norm())
