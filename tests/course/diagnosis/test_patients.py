"""The patients of lesson 11 have what the lesson says, and a sheet says what a repair changes."""

import pytest

from tests.course.diagnosis.friends import FriendsAddAndNorm, FriendsFeedForward, friends_loss
from transformer_course.diagnosis.patients import build_patient, findings_of, sheet, written_table
from transformer_course.our_transformer import AddAndNorm
from transformer_edu.data.vocabulary import Vocabulary

FRIENDS = {
    "AddAndNorm": FriendsAddAndNorm,
    "FeedForward": FriendsFeedForward,
    "loss": friends_loss,
}
ILLNESSES = {
    "AddAndNorm": ["the future leaks around the mask", "source padding is visible"],
    "FeedForward": ["dropout in evaluation"],
    "loss": ["the end token is not trained", "padding has a loss"],
}


def illnesses(kind, part):
    return [each.illness for each in findings_of(kind, part) if each.illness]


@pytest.mark.parametrize("kind", FRIENDS)
def test_a_patient_has_its_illnesses_and_no_other(kind):
    assert illnesses(kind, FRIENDS[kind]) == ILLNESSES[kind]


def test_a_patient_differs_from_the_course_in_the_replaced_class_only():
    patient, healthy = build_patient(AddAndNorm=FriendsAddAndNorm), build_patient()
    replaced = [type(part).__name__ for part in patient.modules()]
    assert replaced.count("FriendsAddAndNorm") == 2 * 2 + 2 * 3
    assert "AddAndNorm" not in replaced
    kept = patient.state_dict()
    same = [name for name, weight in healthy.state_dict().items() if name in kept]
    assert len(same) > 40
    assert all(kept[name].equal(healthy.state_dict()[name]) for name in same)


def test_a_sheet_has_the_sick_rows_and_how_the_repair_keeps_them():
    alone = sheet("AddAndNorm", FriendsAddAndNorm).splitlines()
    both = sheet("AddAndNorm", FriendsAddAndNorm, AddAndNorm).splitlines()
    assert [line.split("  ")[0] for line in alone] == [line.split("  ")[0] for line in both]
    assert alone[1].endswith("✗ the future leaks around the mask")
    assert all(line.endswith("✓") for line in both[1:])


@pytest.mark.parametrize("kind", FRIENDS)
def test_a_repair_that_is_not_written_yet_has_no_column(kind):
    def forward(*given):
        return ...

    friends = FRIENDS[kind]
    unwritten = forward if kind == "loss" else type("Answer", (friends,), {"forward": forward})
    assert sheet(kind, friends, unwritten) == sheet(kind, friends)
    assert ILLNESSES[kind][0] in sheet(kind, friends)


def test_a_healthy_patient_has_one_row():
    assert sheet("AddAndNorm", AddAndNorm).splitlines()[1] == "(every row)  ✓"


def test_what_a_model_writes_stands_below_what_it_should_write():
    words = Vocabulary(["one", "two", "eins"])
    model = build_patient(len(words))
    table = written_table(model, [([4], [6]), ([5, 4], [6])], words).splitlines()
    assert table[0] == "one"
    assert table[1] == "    should be: eins"
    assert table[3] == "two one"
    assert all(line.startswith("    writes:    ") for line in table[2::3])


def test_a_part_that_the_model_has_not_is_refused_by_its_name():
    with pytest.raises(ValueError, match="part must be one of AddAndNorm, FeedForward, got 'AddNo"):
        build_patient(AddNorm=FriendsAddAndNorm)
    with pytest.raises(ValueError, match="kind must be one of AddAndNorm, FeedForward, loss, got"):
        sheet("addandnorm", FriendsAddAndNorm)
