"""Scores of candidates: AUC, the choice on some tokens, and the words of a feature."""

import pytest
import torch

from transformer_course.features.scoring import auc, best_column, largest_shares, random_labels

LABELS = torch.tensor([True, True, False, False, False])


def test_the_auc_is_the_fraction_of_pairs_in_the_right_order_and_a_tie_counts_half():
    numbers = torch.tensor([[3.0, 1, 0, 0], [2, 0, 0, 1], [1, 0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 4]])
    assert auc(numbers, LABELS).tolist() == pytest.approx([1, 0.75, 0.5, 0])


def test_the_auc_agrees_with_counting_all_pairs():
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randint(4, (30, 3), generator=generator).float()
    labels = torch.rand(30, generator=generator) < 0.4
    yes, no = numbers[labels][:, None], numbers[~labels][None]
    pairs = ((yes > no).double() + (yes == no).double() / 2).mean(dim=(0, 1))
    torch.testing.assert_close(auc(numbers, labels), pairs)


@pytest.mark.parametrize("labels", [LABELS.long(), LABELS[:4]])
def test_labels_that_are_not_one_truth_for_each_token_are_refused(labels):
    with pytest.raises(ValueError, match="labels must be boolean, one for each of 5 tokens, got"):
        auc(torch.zeros(5, 2), labels)


@pytest.mark.parametrize(("kind", "got"), [(True, "5 times True"), (False, "5 times False")])
def test_labels_of_one_kind_have_no_auc(kind, got):
    message = f"labels must have both kinds among the tokens compared, got {got}"
    with pytest.raises(ValueError, match=message):
        auc(torch.rand(5, 2), [kind] * 5)


def test_numbers_that_cannot_be_compared_have_no_auc():
    numbers = torch.rand(5, 2)
    numbers[3, 1] = torch.nan
    with pytest.raises(ValueError, match="numbers must be numbers that can be compared, got NaN"):
        auc(numbers, LABELS)


def test_a_list_is_a_truth_too_and_numbers_choose_no_tokens():
    numbers = torch.rand(5, 2)
    for same in (LABELS.tolist(), LABELS.numpy()):
        assert auc(numbers, same).equal(auc(numbers, LABELS))
    with pytest.raises(ValueError, match="chosen_by must be boolean, one for each of 5 tokens"):
        best_column(numbers, LABELS, torch.tensor([1, 1, 1, 0, 0]))
    with pytest.raises(ValueError, match=r"numbers must be \(token, candidate\), got \(5,\)"):
        auc(numbers[:, 0], LABELS)


def test_a_column_is_chosen_on_some_tokens_and_measured_with_its_sign_on_the_others():
    labels = torch.tensor([True, False, True, False])
    chosen_by = torch.tensor([True, True, False, False])
    numbers = torch.tensor([[0.0, -5.0], [0.0, 5.0], [1.0, -1.0], [0.0, 1.0]])
    assert best_column(numbers, labels, chosen_by) == (1, 1.0, 1.0)
    numbers[3, 1] = -9.0
    assert best_column(numbers, labels, chosen_by) == (1, 1.0, 0.0)


def test_a_feature_is_named_after_the_word_with_the_largest_part_of_its_activity():
    features = torch.tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]])
    shares, names = largest_shares(features, ["dog", "cat", "dog"])
    assert shares.tolist() == [0.5, 0.0] and names[0] in ("dog", "cat")
    shares, names = largest_shares(features, ["dog", "cat", "cat"])
    assert (shares[0].item(), names[0]) == (0.75, "cat")


def test_a_random_label_belongs_to_a_word_and_not_to_a_token():
    words = ["dog", "dogs", "cat", "dog", "cats", "cat", "dog"]
    tasks = [random_labels(words, seed) for seed in range(5)]
    for labels in tasks:
        kept = dict(zip(words, labels.tolist(), strict=True))
        assert [kept[word] for word in words] == labels.tolist()
        assert sum(kept.values()) == 2
    assert len({tuple(labels.tolist()) for labels in tasks}) > 1
