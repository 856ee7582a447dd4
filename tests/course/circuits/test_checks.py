"""Lesson 21: right answers pass, and each usual wrong answer is named."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.circuits import checks as lesson_21
from transformer_course.circuits.repeats import WORDS, repeating_texts
from transformer_course.looking.ablation import every_head
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

LARGE = 50.0
CIRCUIT = [("layers.0.self_attention", 2), ("layers.1.self_attention", 4)]


def built() -> tuple[LanguageModel, Callable[[], float]]:
    """A model in which these heads matter most, and a behavior that shows it."""
    torch.manual_seed(0)
    config = LanguageModelConfig(vocabulary_size=len(WORDS), num_heads=4, num_layers=3)
    model = LanguageModel(config).eval()
    for name, number in CIRCUIT:
        projection = model.get_submodule(name).output_projection
        projection.weight.data.chunk(model.config.num_heads, dim=1)[number - 1].mul_(100)
    texts = repeating_texts(3, luck=torch.Generator().manual_seed(0))

    @torch.no_grad()
    def behavior() -> float:
        return model(texts.read)[..., 5].mean().item()

    return model, behavior


MODEL, BEHAVIOR = built()
CHECKS = checks_of(lesson_21)
CHECKS["21.3"] = partial(CHECKS["21.3"], behavior=BEHAVIOR, model=MODEL)


def matrices(num_words, length, large=LARGE):
    """The four matrices of the lesson's solution, and the slots that they read and write."""
    width = 3 * num_words + length
    word, place = slice(0, num_words), slice(num_words, num_words + length)
    before = slice(place.stop, place.stop + num_words)
    following = slice(before.stop, width)
    scores_1, moves_1, scores_2, moves_2 = torch.zeros(4, width, width)
    scores_1[place, place] = large * torch.diag(torch.ones(length - 1), -1)
    moves_1[word, before] = torch.eye(num_words)
    scores_2[word, before] = large * torch.eye(num_words)
    moves_2[word, following] = torch.eye(num_words)
    return [scores_1, moves_1, scores_2, moves_2], (word, place, before, following)


def right(num_words, length):
    return tuple(matrices(num_words, length)[0])


def as_list_with_more_weight(num_words, length):
    scores_1, moves_1, scores_2, moves_2 = matrices(num_words, length, large=200.0)[0]
    return [scores_1, moves_1, scores_2, 5 * moves_2]


def as_one_tensor(num_words, length):
    return torch.stack(right(num_words, length))


def changed(index, change):
    """The right matrices, one of which is changed."""

    def answer(num_words, length):
        found, slots = matrices(num_words, length)
        found[index] = change(found[index], slots)
        return tuple(found)

    return answer


def in_slots(source, target, factor=1.0):
    """A change that leaves ones between two slots only, such as 0 for word and 2 for before."""

    def change(matrix, slots):
        fresh = torch.zeros_like(matrix)
        ones = fresh[slots[source], slots[target]]
        ones.fill_diagonal_(factor)
        return fresh

    return change


def and_half_the_own_word(moves_2, slots):
    return moves_2 + in_slots(2, 3, 0.5)(moves_2, slots)


def weak(index):
    return changed(index, lambda matrix, _: matrix / 25)


def turned(index):
    return changed(index, lambda matrix, _: matrix.T)


def empty(index):
    return changed(index, lambda matrix, _: torch.zeros_like(matrix))


def induction_score(weights, token_ids):
    earlier = torch.cat([token_ids.new_tensor([-1]), token_ids[:-1]])
    cells = (token_ids.unsqueeze(1) == earlier).tril()
    has_one = cells.any(dim=1)
    return (weights * cells).sum(dim=-1)[:, has_one].mean(dim=-1)


def zero_first(weights, token_ids):
    earlier = torch.cat([token_ids.new_tensor([0]), token_ids[:-1]])
    return mean_over((token_ids.unsqueeze(1) == earlier).tril(), weights)


def without_own_place(weights, token_ids):
    earlier = torch.cat([token_ids.new_tensor([-1]), token_ids[:-1]])
    return mean_over((token_ids.unsqueeze(1) == earlier).tril(-1), weights)


def in_place(weights, token_ids):
    weights *= (token_ids.unsqueeze(1) == token_ids.roll(1)).tril()
    return weights.sum(dim=(1, 2))


def mean_over(cells, weights):
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


def with_loops(weights, token_ids):
    found = []
    for query, word in enumerate(token_ids.tolist()):
        keys = [key for key in range(1, query + 1) if token_ids[key - 1] == word]
        if keys:
            found.append(weights[:, query, keys].sum(dim=-1))
    return torch.stack(found).mean(dim=0)


def published(weights, token_ids):
    """The exercise's own faulty function."""
    earlier = token_ids.roll(1)
    cells = token_ids.unsqueeze(0) == earlier.unsqueeze(1)
    return (weights * cells).sum() / cells.sum()


def rolled(weights, token_ids):
    cells = (token_ids.unsqueeze(1) == token_ids.roll(1)).tril()
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


def rolled_without_tril(weights, token_ids):
    cells = token_ids.unsqueeze(1) == token_ids.roll(1)
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


def _cells(token_ids):
    return (token_ids.unsqueeze(1) == F.pad(token_ids, (1, 0), value=-1)[:-1]).tril()


def over_queries_with_weight(weights, token_ids):
    found = (weights * _cells(token_ids)).sum(dim=-1)
    return found.sum(dim=-1) / (found > 0).sum(dim=-1)


def over_all_queries(weights, token_ids):
    return (weights * _cells(token_ids)).sum(dim=-1).mean(dim=-1)


def by_cells(weights, token_ids):
    cells = _cells(token_ids)
    return (weights * cells).sum(dim=(1, 2)) / cells.sum()


def without_tril(weights, token_ids):
    cells = token_ids.unsqueeze(1) == F.pad(token_ids, (1, 0), value=-1)[:-1]
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


def exchanged(weights, token_ids):
    cells = token_ids.unsqueeze(0) == F.pad(token_ids, (1, 0), value=-1)[:-1].unsqueeze(1)
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


def same_word(weights, token_ids):
    cells = (token_ids.unsqueeze(1) == token_ids).tril(-1)
    return (weights * cells).sum(dim=-1)[:, cells.any(dim=1)].mean(dim=-1)


test_right = right_answers(
    CHECKS,
    [
        ("21.1", right),
        ("21.1", as_list_with_more_weight),
        ("21.1", as_one_tensor),
        ("21.2", induction_score),
        ("21.2", with_loops),
        ("21.3", CIRCUIT),
        ("21.3", set(CIRCUIT)),
        ("21.3", [list(head) for head in CIRCUIT]),
    ],
)

test_wrong = wrong_answers(
    CHECKS,
    [
        ("21.1", lambda num_words, length: torch.eye(3), "Return four matrices"),
        ("21.1", turned(0), "scores_1 is turned"),
        ("21.1", changed(0, in_slots(1, 1, LARGE)), "the query's own position"),
        ("21.1", weak(0), "make the scores larger"),
        ("21.1", empty(0), "the key just before it"),
        ("21.1", turned(1), "moves_1 is turned"),
        ("21.1", empty(1), "the slot `before` is still empty"),
        ("21.1", changed(1, lambda each, _: 3 * each), "nothing else may change"),
        ("21.1", turned(2), "scores_2 is turned"),
        ("21.1", changed(2, in_slots(0, 0, LARGE)), "Layer 2 finds the same word"),
        ("21.1", weak(2), "too weakly"),
        ("21.1", empty(2), "the query's slot `word` with the key's slot `before`"),
        ("21.1", changed(3, in_slots(2, 3)), "writes the query's own word once more"),
        ("21.1", changed(3, in_slots(0, 0)), "only into the slot `next`"),
        ("21.1", empty(3), "the slot `next` is still empty"),
        ("21.1", changed(3, and_half_the_own_word), "also holds other words"),
        ("21.2", published, "one number for all heads"),
        ("21.2", over_queries_with_weight, "are 0 at some such keys"),
        ("21.2", in_place, "changes the tensor that it gets"),
        ("21.2", zero_first, "0 is a word, too"),
        ("21.2", without_own_place, "the query's own place"),
        ("21.2", rolled, "roll brings the last word"),
        ("21.2", rolled_without_tril, "no word stands before key 0"),
        ("21.2", over_all_queries, "queries whose word has not come before"),
        ("21.2", by_cells, "divide by the number of cells"),
        ("21.2", without_tril, "queries whose word has not come before"),
        ("21.2", exchanged, "Queries and keys are exchanged"),
        ("21.2", same_word, "the weight on the same word"),
        ("21.3", [], "The answer is a list of heads"),
        ("21.3", CIRCUIT[0], "The answer is a list of heads"),
        ("21.3", [("layers.2.self_attention", 5)], "is not a head of this model"),
        ("21.3", every_head(MODEL)[:7], "at most 6 are allowed"),
        ("21.3", every_head(MODEL)[-2:], "random heads by up to"),
    ],
)


@pytest.mark.parametrize(
    ("numbers", "hint"),
    [(iter([1.0, 2.0]), "Two calls of behavior differ"), (iter([1.0] * 9), "stays the same")],
)
def test_a_behavior_that_is_drawn_by_chance_or_needs_no_head_is_refused(numbers, hint):
    check = checks_of(lesson_21)["21.3"]
    with pytest.raises(AnswerError, match=hint):
        check(CIRCUIT, behavior=lambda: next(numbers), model=MODEL)
