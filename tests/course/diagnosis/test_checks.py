"""Lesson 11: right diagnoses pass, each wrong one gets its hint, every patient has what it has."""

import pytest
import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis import checks as lesson_11
from transformer_course.diagnosis.checks import PATIENTS, build_patient, case_sheet, written_table
from transformer_course.diagnosis.examination import examine, examine_step
from transformer_course.diagnosis.faults import STEP_FAULTS
from transformer_edu.data.vocabulary import Vocabulary

CHECKS = checks_of(lesson_11)
ABC = {letter: next(iter(PATIENTS[letter].faults)) for letter in "ABC"}
DEF = {"D": "softmax before the loss", "E": PATIENTS["E"].faults, "F": "no residual"}


def probe_like(*, target=False, padding=(0, 3), value=0, change=lambda x: x.abs().max()):
    """A padding probe with the mistake asked for."""

    def probe(model, source_ids, target_ids):
        with torch.no_grad():
            before = model(source_ids, target_ids)
            if target:
                after = model(source_ids, F.pad(target_ids, padding))[:, : target_ids.size(1)]
            else:
                after = model(F.pad(source_ids, padding, value=value), target_ids)
        return change(after - before)

    return probe


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("11.1", ABC),
        ("11.2", DEF),
        ("11.2", {**DEF, "E": list(DEF["E"])}),
        ("11.3", probe_like()),
        ("11.3", probe_like(change=lambda x: x.abs().max().item())),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("11.1", {**ABC, "A": "no positions"}, "Patient A: two rows"),
        ("11.1", {**ABC, "B": "softmax over queries"}, "Patient B: the future"),
        ("11.1", {**ABC, "C": "no residual"}, "Patient C: count"),
        ("11.1", {**ABC, "C": "a cold"}, "'a cold' is not one of the faults"),
        ("11.1", {**ABC, "C": None}, "name its fault as a text"),
        ("11.1", {"A": "no residual"}, r"you named \['A'\]"),
        ("11.1", list(ABC.values()), "is a dictionary"),
        ("11.2", {**DEF, "D": "no residual"}, "Patient D: its loss"),
        ("11.2", {**DEF, "E": "end token not trained"}, "Patient E: it has two"),
        ("11.2", {**DEF, "F": "no positions"}, "Patient F: a single row"),
        ("11.2", ABC, "The patients are D, E, F"),
        ("11.3", probe_like(target=True), "pad the source, not the target"),
        ("11.3", probe_like(padding=(3, 0)), "append it"),
        ("11.3", probe_like(value=1), "Padding has the id 0"),
        ("11.3", probe_like(change=lambda x: x.mean()), "You took the mean"),
        ("11.3", lambda model, source_ids, target_ids: 0.0, "finds nothing"),
        ("11.3", lambda model, source_ids, target_ids: 7.0, "largest absolute change"),
        ("11.3", lambda model, source_ids, target_ids: None, "returns nothing"),
        ("11.3", 3, "is a function"),
    ],
)


@pytest.mark.parametrize("letter", PATIENTS)
def test_a_patient_has_the_rows_of_its_faults(letter):
    faults = PATIENTS[letter].faults
    model, step = build_patient(letter)
    assert bool(examine(model).failed) == bool(faults & set(FAULTS))
    assert bool(examine_step(step).failed) == bool(faults & set(STEP_FAULTS))
    assert faults <= set(FAULTS) | set(STEP_FAULTS)


def test_the_rows_tell_patients_apart():
    rows = []
    for letter in PATIENTS:
        model, step = build_patient(letter)
        rows.append((tuple(examine(model).failed), tuple(examine_step(step).failed)))
    assert len(set(rows)) == len(PATIENTS)


def test_a_sheet_shows_letters_and_no_fault():
    assert [runs.variant for runs in case_sheet("ABC")] == ["patient A", "patient B", "patient C"]


def test_what_a_model_writes_stands_below_what_it_should_write():
    words = Vocabulary(["one", "two", "eins"])
    model, _ = build_patient("first", vocabulary_size=len(words))
    table = written_table(model, [([4], [6]), ([5, 4], [6])], words).splitlines()
    assert table[0] == "one"
    assert table[1] == "    should be: eins"
    assert table[3] == "two one"
    assert all(line.startswith("    writes:    ") for line in table[2::3])
