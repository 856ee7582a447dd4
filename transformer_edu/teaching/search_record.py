"""What a beam search did, read from the records of its steps.

Used in notebooks/11_generation.ipynb.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer_edu.generation.hypotheses import BeamStep, Branch
from transformer_edu.model.vocabulary import START_ID

START = Branch(
    parent=0, token_id=START_ID, log_probability=0.0, score=0.0, finished=False, goes_on=True
)


@dataclass(frozen=True, kw_only=True)
class FinishedSentence:
    """A hypothesis that has come to its end token.

    Args:
        token_ids: What it says, without the end.
        log_probability: In nats, the end's included.
        score: What it is compared by.
        places: Where its tokens stand, the start's first: places[n] among the branches of step n.
    """

    token_ids: list[int]
    log_probability: float
    score: float
    places: list[int]


def finished_sentences(steps: Sequence[BeamStep]) -> list[FinishedSentence]:
    """The hypotheses of the first source that have finished, in the order of finishing.

    Args:
        steps: The records of a beam search, from its first step on.

    Raises:
        ValueError: If steps are not those of a search from its first.
    """
    columns = branches_by_step(steps)
    finished = []
    for step, branches in enumerate(columns):
        for place, branch in enumerate(branches):
            if branch.finished:
                places = way_to(columns, step, place)
                finished.append(
                    FinishedSentence(
                        token_ids=[columns[n][places[n]].token_id for n in range(1, step)],
                        log_probability=branch.log_probability,
                        score=branch.score,
                        places=places,
                    )
                )
    return finished


def branches_by_step(steps: Sequence[BeamStep]) -> list[list[Branch]]:
    """The first source's branches of every step, the start token's before them.

    Args:
        steps: The records of a beam search, from its first step on.

    Raises:
        ValueError: If steps are not those of a search from its first.
    """
    numbers = [each.step for each in steps]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"steps must be those of a search from its first, got {numbers}")
    return [[START]] + [each.branches[0] for each in steps if each.sentences[0] == 0]


def way_to(columns: Sequence[Sequence[Branch]], step: int, place: int) -> list[int]:
    """The way from the start to a branch: its place at every step.

    Args:
        columns: The branches of every step, the start's first.
        step: Where the branch stands.
        place: Which of the step's branches it is.
    """
    places = [place]
    for branches in columns[step:0:-1]:
        places.append(branches[places[-1]].parent)
    return places[::-1]
