"""Checks of lesson 17: what can be removed."""

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
    require_untouched,
)
from transformer_course.looking.ablation import HeadName, every_head, heads_switched_off
from transformer_course.texts.sentences import AGREEMENT
from transformer_course.what_can_be_removed.contrasts import margins
from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.loading import load_pretrained

NUM_HEADS, D_HEAD, D_OUT, HEAD = 3, 4, 10, 2
# Costs of a made-up model: A and B do the same job, which costs only when both are gone.
SINGLE = {"C": 1.0, "A": 0.0, "D": 3.0, "B": 0.0, "E": 0.5}
COPIES, JOB = {"A", "B"}, 6.0
# Another one, and what heads cost that are gone together: Q and R are the cheapest two, but in turn
# P and S go first, and then R, since Q costs more beside both than beside each of them.
# Its heads are named as a translator's, and without P it is better.
P, Q, R, S = (("encoder.layers.0.self_attention", number) for number in (1, 2, 3, 4))
OTHERS = {P: -1000.0, Q: 200.0, R: 300.0, S: 1600.0}
TOGETHER = {(P, Q): 2000.0, (P, R): 2000.0, (P, Q, S): 500.0}
MOST_HEADS = 6
NEAR_CHANCE, STILL_RIGHT = 0.67, 0.8
CONTROLS = 5

Cost = Callable[[Sequence], float]


@exercise("17.1")
def check_without_head(answer: Callable[[Tensor, int, int], Tensor]) -> None:
    """Exercise 17.1: the weight of an output projection without one head."""
    generator = torch.Generator().manual_seed(17)
    weight = torch.randn(D_OUT, NUM_HEADS * D_HEAD, generator=generator)
    given = weight.clone()
    found = require_shape(ask(answer, given, HEAD, NUM_HEADS), tuple(weight.shape), "(out, in)")
    _refuse_other_strips(found, weight)
    if not torch.equal(given, weight):
        raise AnswerError(
            "Your answer is right, but the weight that was given has changed, too: the model would "
            "stay without its head. Work on weight.clone()."
        )
    for head in range(1, NUM_HEADS + 1):
        found = ask(answer, nn.Parameter(weight.clone()), head, NUM_HEADS)
        if not close(found, _with_zeros(weight, slice((head - 1) * D_HEAD, head * D_HEAD))):
            raise AnswerError(
                f"Right for head {HEAD} and wrong for head {head} of {NUM_HEADS}: where do the "
                "columns of a head begin, and where do they end?"
            )


def _refuse_other_strips(found: Tensor, weight: Tensor) -> None:
    """Refuse whatever is not the weight with the columns of the second head zero."""
    strip = slice((HEAD - 1) * D_HEAD, HEAD * D_HEAD)
    following = slice(HEAD * D_HEAD, (HEAD + 1) * D_HEAD)
    height = D_OUT // NUM_HEADS
    rows = [slice(head * height, (head + 1) * height) for head in (HEAD - 1, HEAD)]
    right = weight.clone()
    right[:, strip] = 0
    if close(found, right):
        return
    refuse_mistakes(
        found,
        {
            "That is the next head: heads are counted from 1, so head 1 begins at column 0.": (
                _with_zeros(weight, following)
            ),
            "You kept this head and removed all others.": weight - right,
            "Nothing is removed.": weight,
        },
    )
    if any(close(found, _with_zeros(weight.T, each).T) for each in [*rows, strip, following]):
        raise AnswerError(
            "You removed rows. nn.Linear stores (out, in), and the heads are its *input*: remove "
            "columns, on the second axis."
        )
    raise AnswerError(
        "Exactly the columns of this head must be zero. A head has weight.size(1) // num_heads "
        "columns."
    )


def _with_zeros(weight: Tensor, columns: slice) -> Tensor:
    changed = weight.clone()
    changed[:, columns] = 0
    return changed


@exercise("17.2")
def check_greedy_removal(answer: Callable[..., list]) -> None:
    """Exercise 17.2: remove heads one after another, each the cheapest given those gone."""
    for costs, cost_of, count in (
        (SINGLE, _cost_of, 3),
        (OTHERS, _cost_of_others, 2),
        (OTHERS, _cost_of_others, 3),
    ):
        heads, given = list(costs), list(costs)
        removed = ask(answer, cost_of, given, count)
        require_untouched([given], [heads])
        if not isinstance(removed, list | tuple):
            raise AnswerError(
                "The answer is a list of heads in the order they go; yours is a "
                f"{type(removed).__name__}."
            )
        removed = list(removed)
        if any(head not in heads for head in removed):
            raise AnswerError(f"Your list holds {removed!r}: it may hold only the heads given.")
        if len(set(removed)) < len(removed):
            raise AnswerError("A head goes twice: choose only from those that are still there.")
        if len(removed) != count:
            raise AnswerError(f"count is {count}, but your list holds {len(removed)} heads.")
        _require_cheapest(removed, heads, cost_of)


def _require_cheapest(removed: list, heads: list, cost_of: Cost) -> None:
    """Refuse a list in which a head is not the cheapest of those left."""
    if set(removed) >= COPIES:
        raise AnswerError(
            "Two of your heads are redundant: the second one is cheap only while the first is "
            "there. Ask for the cost of the head together with all that are already removed."
        )
    for place, head in enumerate(removed):
        gone = removed[:place]
        costs = {each: cost_of([*gone, each]) for each in heads if each not in gone}
        if costs[head] == max(costs.values()) and len(costs) > 2:
            raise AnswerError("You remove the costliest head; the cheapest one goes first.")
        if costs[head] > min(costs.values()):
            raise AnswerError(
                f"Number {place + 1} of your list is not the cheapest head, given those before it."
            )


def _cost_of(removed: Sequence[str]) -> float:
    """The cost of removing these heads of the made-up model together."""
    if isinstance(removed, str):
        raise AnswerError("cost_of takes a list of heads: write cost_of([*removed, head]).")
    gone = set(removed)
    return sum(SINGLE[head] for head in gone) + (JOB if gone >= COPIES else 0.0)


def _cost_of_others(removed: Sequence[HeadName]) -> float:
    """Costs by which the cheapest group is another one than the cheapest heads in turn."""
    gone = set(removed)
    if strangers := [head for head in gone if head not in OTHERS]:
        raise AnswerError(
            f"cost_of takes a list of heads such as {P!r}; one of yours is {strangers[0]!r}. Write "
            "[*removed, head]: a head may be anything, and is one thing."
        )
    extra = sum(cost for heads, cost in TOGETHER.items() if gone >= set(heads))
    return sum(OTHERS[head] for head in gone) + extra


@exercise("17.3")
def check_heads_of_gender(answer: Sequence[HeadName]) -> None:
    """Exercise 17.3: a group of heads without which the gender of an article is chance.

    It is judged on the shipped translator and the contrasts that were not for the search.
    """
    if not isinstance(answer, list | tuple | set) or not answer:
        raise AnswerError("The answer is a list of heads, such as those of every_head(model).")
    translator = load_pretrained()
    heads = every_head(translator.model)
    group = [tuple(each) if isinstance(each, list) else each for each in answer]
    strangers = [each for each in group if each not in heads]
    if strangers:
        raise AnswerError(
            f"{strangers[0]!r} is not a head of the translator: a head is a pair of its "
            "attention's name and its number from 1, as every_head returns it."
        )
    if len(set(group)) > MOST_HEADS:
        raise AnswerError(
            f"Your group has {len(set(group))} heads, at most {MOST_HEADS} are allowed."
        )
    gender, number = _right_choices(translator, group)
    if gender > NEAR_CHANCE:
        raise AnswerError(
            f"Without your group, {gender:.0%} of the genders in the other sentences are still "
            "right. Does another head do the same job? Add the head that lowers the mean margin "
            "most now that yours are gone."
        )
    if number < STILL_RIGHT:
        raise AnswerError(
            f"Without your group, only {number:.0%} of the numbers are right: it does more than "
            "choose the gender."
        )
    _require_better_than_chance(translator, group, gender)


def _require_better_than_chance(
    translator: Translator, group: list[HeadName], gender: float
) -> None:
    """Refuse a group that is not better than random groups of the same size and kinds."""
    across = [head for head in every_head(translator.model) if "cross" in head[0]]
    generator = random.Random(17)
    by_chance = [
        _right_choices(translator, generator.sample(across, len(set(group))))[0]
        for _ in range(CONTROLS)
    ]
    if gender >= sum(by_chance) / CONTROLS:
        raise AnswerError("Random groups of this size do as much damage: search for a smaller one.")


def _right_choices(translator: Translator, removed: Sequence[HeadName]) -> tuple[float, float]:
    """The fraction of right genders and of right numbers without these heads."""
    with heads_switched_off(translator.model, removed):
        found = [margins(translator, AGREEMENT[kind][12:]) > 0 for kind in ("gender", "number")]
    gender, number = (each.float().mean().item() for each in found)
    return gender, number
