"""The record of a search says which sentences finished, and the way to each of them."""

import pytest
import torch

from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import BeamStep
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.teaching.search_record import (
    branches_by_step,
    finished_sentences,
    way_to,
)
from transformer_edu.teaching.table_model import TableModel

TABLE = {
    "": {"it": 0.45, "there": 0.35, "rain": 0.2},
    "it": {"is": 0.6, "rains": 0.4},
    "there": {"is": 0.8, "was": 0.2},
    "rain": {"falls": 0.9, "fell": 0.1},
}
MODEL = TableModel(TABLE)


def records(width: int = 3, alpha: float = 0.0, sources: int = 1) -> list[BeamStep]:
    steps: list[BeamStep] = []
    source_ids = MODEL.source_ids.expand(sources, 1)
    beam_search(MODEL, source_ids, width=width, alpha=alpha, after_step=steps.append)
    return steps


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_best_finished_sentence_is_what_the_search_returns(alpha):
    ((best,),) = beam_search(MODEL, MODEL.source_ids, width=3, alpha=alpha)
    found = max(finished_sentences(records(alpha=alpha)), key=lambda each: each.score)
    assert found.token_ids == best.token_ids
    assert (found.score, found.log_probability) == (best.score, best.log_probability)


def test_a_sentence_is_read_along_its_way():
    steps = records()
    columns = branches_by_step(steps)
    for sentence in finished_sentences(steps):
        ids = [columns[step][place].token_id for step, place in enumerate(sentence.places)]
        assert ids[0] == START_ID and ids[1:-1] == sentence.token_ids
        assert columns[len(ids) - 1][sentence.places[-1]].finished


def test_the_way_to_a_branch_goes_through_its_parents():
    columns = branches_by_step(records())
    for place, branch in enumerate(columns[2]):
        assert way_to(columns, 2, place) == [0, branch.parent, place]


def test_of_several_sources_the_first_is_read():
    alone, together = branches_by_step(records()), branches_by_step(records(sources=2))
    assert alone == together


def test_a_source_that_is_decided_before_the_others_has_no_later_branches():
    steps = records()
    others = [BeamStep(step=each.step, sentences=[3], branches=each.branches[:1]) for each in steps]
    assert len(branches_by_step([*steps[:1], *others[1:]])) == 2


@pytest.mark.parametrize("steps", [[], records()[1:]], ids=["none", "without the first"])
def test_what_is_no_search_from_its_first_step_is_refused(steps):
    numbers = [each.step for each in steps]
    with pytest.raises(ValueError) as caught:
        finished_sentences(steps)
    assert str(caught.value) == f"steps must be those of a search from its first, got {numbers}"


def test_a_width_of_one_has_one_way():
    assert torch.tensor([each.places for each in finished_sentences(records(width=1))]).sum() == 0
