"""Checks for notebooks/12_generation.ipynb."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from numbers import Real

import torch
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    require_number,
    require_shape,
)
from transformer_course.generation.table_model import END_TOKEN, TableModel
from transformer_edu.generation.beam import beam_search
from transformer_edu.model.special_ids import END_ID, START_ID

PROBABILITIES = (0.1, 0.42, 0.05, 0.28, 0.15)
SHARES = (0.6, 0.3, 0.9, 0.75)  # no sum of the likeliest: rounding decides nothing
LITTLE = 1e-6  # of probability
LONGEST = 6  # tokens of a sentence in the languages that try out a beam search
PATIENCE = 100  # times that a search may ask what follows the same hypothesis


@exercise("12.2")
def check_top_p(answer: object) -> None:
    """A function that cuts the unlikely tail off and rescales the rest."""
    probabilities = torch.tensor(PROBABILITIES)
    for p in SHARES:
        given = probabilities.clone()
        found = ask(answer, given, p)
        if not given.equal(probabilities):
            raise AnswerError("Your function changes the tensor that it was given: make a new one.")
        found = require_shape(found, tuple(probabilities.shape), "(vocabulary,)")
        expected = _top_p(probabilities, p)
        if not close(found, expected):
            raise AnswerError(_cut_wrongly(found, expected, probabilities, p))
    exact = torch.tensor([0.25, 0.5, 0.25])
    if int((ask(answer, exact.clone(), 0.5) > 0).sum()) > 1:
        raise AnswerError(f"For p = 0.5 and {exact.tolist()} one token reaches p already.")


def _top_p(probabilities: Tensor, p: float) -> Tensor:
    ordered, token_ids = probabilities.sort(descending=True)
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (ordered.cumsum(dim=0) - ordered < p)
    return kept / kept.sum()


def _cut_wrongly(found: Tensor, expected: Tensor, probabilities: Tensor, p: float) -> str:
    """What is wrong with a filter's answer."""
    if found.dtype == torch.bool:
        return "That says which tokens are kept; give their probabilities."
    if close(found, probabilities * (expected > 0)):
        return "The right tokens, but the rest must sum to 1 again: divide by the sum."
    if close(found.sort().values, expected.sort().values):
        return "The right numbers at the wrong places: each token must keep its id."
    count, right = int((found > 0).sum()), int((expected > 0).sum())
    of = f"For p = {p} and {list(PROBABILITIES)}"
    if count < right:
        return (
            f"{of} {right} tokens are needed to reach p, you keep {count}: the one that "
            "reaches p is kept."
        )
    if count > right:
        return f"{of} {right} tokens reach p already, you keep {count}."
    return f"{of} the {right} likeliest stay, in their own proportions."


@exercise("12.1")
def check_misleading_table(answer: object) -> None:
    """A table whose most probable sentence a beam of 3 does not find."""
    if not isinstance(answer, Mapping) or not all(isinstance(x, Mapping) for x in answer.values()):
        raise AnswerError('The answer is a table: {"": {"a word": its probability, …}, …}.')
    try:
        model = TableModel(answer)
    except ValueError as error:
        raise AnswerError(f"The {error}.") from None
    sentences = model.sentences()
    best = max(sentences, key=sentences.get)
    found = _found_by_3(model)
    if math.isclose(sentences[found], sentences[best], abs_tol=1e-6):
        raise AnswerError(
            f"A beam of 3 finds “{found}”, and no sentence is more probable. The best "
            "sentence must lose its beginning at some step. When does a beam drop a beginning?"
        )
    if _found_by_3(TableModel(_favored(answer, best))) == best:
        raise AnswerError(
            f"The beam of 3 misses “{best}” only because of a tie: its beginning is exactly as "
            "probable as another one, and the order in your table decides. Make it less probable."
        )


def _found_by_3(model: TableModel) -> str:
    """The sentence that a beam of 3 finds."""
    ((found,),) = beam_search(model, model.source_ids, width=3, alpha=0.0)
    return " ".join(model.vocabulary.decode(found.token_ids))


def _favored(table: Mapping[str, Mapping[str, float]], best: str) -> dict[str, dict[str, float]]:
    """The table with a little more probability for every word of a sentence: it wins ties."""
    words = [*best.split(), END_TOKEN]
    next_words = {" ".join(words[:count]): word for count, word in enumerate(words)}
    return {
        beginning: {
            word: (p + LITTLE * (word == next_words.get(beginning))) / (1 + LITTLE)
            for word, p in row.items()
        }
        if beginning in next_words
        else dict(row)
        for beginning, row in table.items()
    }


NextLogP = Callable[[list[int]], Tensor]
# Seed of the language, width, alpha. The first four tell all MISTAKES from each other.
SEARCHES = (
    *((497, 3, 2.0), (245, 2, 0.0), (234, 3, 1.0), (3234, 3, 1.0)),
    *((393, 2, 1.0), (114, 2, 1.0), (245, 2, 1.0), (16, 4, 0.6), (5, 2, 0.0)),
)
MISTAKES = {
    "crowded": "A hypothesis that ends leaves the beam: it must not compete for a place again.",
    "greedy": "That is what greedy search writes: at every step keep `width` hypotheses, also "
    "after one has ended.",
    "worst": "You keep the least probable ones: sort with the largest sum first.",
    "refilled": "Pick the `width` most probable of all continuations first, with those that end; "
    "then take those that end out of the beam.",
    "first": "You return the first hypothesis that ends: continue with the others, and compare "
    "all of them at the end.",
    "enough": "You stop once `width` hypotheses have ended: a longer one can still win.",
    "likeliest": "You compare the hypotheses by their log-probability: compare their scores.",
    "lowest": "You take the lowest score. Scores are negative, and the best is nearest to 0.",
    "unpenalized": "The score is the log-probability divided by ((5 + length) / 6)^α.",
    "multiplied": "Multiplying makes long sentences worse, because log-probabilities are negative: "
    "divide by the penalty.",
    "short": "The end token counts in the length, too.",
    "long": "The start token does not count in the length.",
    "bare": "That divides by the bare length; the paper's penalty is ((5 + length) / 6)^α.",
    "forgetful": "The score of a hypothesis needs the log-probabilities of all its tokens, not "
    "only that of the last one.",
    "endless": "A hypothesis that has `longest` tokens and no end competes with its score, too.",
}


@exercise("12.3")
def check_beam_search(answer: object) -> None:
    """A whole beam search, tried out in languages of six tokens."""
    for seed, width, alpha in SEARCHES:
        for longest in (LONGEST, 2):
            language = _language(seed)
            found = ask(answer, _watched(language, width, longest), width, alpha, longest)
            ids, score = _as_hypothesis(found)
            right_ids, right_score = _search(language, width, alpha, longest)
            if ids == right_ids and math.isclose(score, right_score, rel_tol=1e-4):
                continue
            if ids == right_ids[:-1] and math.isclose(score, right_score, rel_tol=1e-4):
                raise AnswerError(
                    "The ids lack their last token: return the end token with the others."
                )
            for mistake, hint in MISTAKES.items():
                wrong_ids, wrong_score = _search(language, width, alpha, longest, mistake)
                if ids == wrong_ids and math.isclose(score, wrong_score, rel_tol=1e-4):
                    raise AnswerError(hint)
            raise AnswerError(
                f"With width {width}, α = {alpha} and at most {longest} tokens, {right_ids} with "
                f"a score of {right_score:.2f} is the best that a beam finds; you found {ids} "
                f"with {score:.2f}."
            )


def _language(seed: int) -> NextLogP:
    """Random log-probabilities of six tokens after any beginning, always the same."""

    def next_log_p(ids: list[int]) -> Tensor:
        number = sum(token * 7**place for place, token in enumerate(ids))
        generator = torch.Generator().manual_seed(1000 * number + seed)
        logits = 1.5 * torch.randn(6, generator=generator)
        logits[: START_ID + 1] = -torch.inf  # padding and start never follow
        return logits.log_softmax(dim=-1)

    return next_log_p


def _watched(language: NextLogP, width: int, longest: int) -> NextLogP:
    """The language, which refuses what no beam search asks."""
    asked: Counter[tuple[int, ...]] = Counter()

    def next_log_p(ids: object) -> Tensor:
        ids = [int(each) for each in ids]
        if ids[:1] != [START_ID]:
            raise AnswerError("next_log_p takes all ids so far, and the first is START_ID.")
        if END_ID in ids:
            raise AnswerError("You continue a hypothesis that has ended: take it out of the beam.")
        if len(ids) > longest:
            raise AnswerError(f"You write more than `longest` tokens, here {longest}: stop there.")
        asked[tuple(ids)] += 1
        if asked[tuple(ids)] > PATIENCE:
            raise AnswerError("You continue the same hypothesis again and again: change the beam.")
        if sum(len(each) == len(ids) for each in asked) > width:
            raise AnswerError(
                f"You continue more than {width} hypotheses of the same length, with a beam of "
                f"{width}: of all continuations, keep the `width` most probable."
            )
        return language(ids)

    return next_log_p


def _as_hypothesis(found: object) -> tuple[list[int], float]:
    """Ids and score as the reader's search returns them."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise AnswerError("Return two things: the ids of the best hypothesis, and its score.")
    ids, score = found
    if isinstance(ids, Real) and isinstance(score, list):
        raise AnswerError("Return the ids first, then their score.")
    if isinstance(ids, Tensor):
        ids = ids.tolist()
    if not isinstance(ids, list | tuple):
        raise AnswerError(f"The ids are a list; yours are {type(ids).__name__}.")
    if START_ID in ids:
        raise AnswerError("Leave the start token out of the ids that you return.")
    return list(ids), require_number(score)


def _search(
    language: NextLogP, width: int, alpha: float, longest: int, mistake: str = ""
) -> tuple[list[int], float]:
    """The best hypothesis that a beam finds, with its end, and its score; or a usual mistake's."""
    if mistake == "greedy":
        width = 1
    living: list[tuple[list[int], float]] = [([], 0.0)]
    complete: list[tuple[list[int], float]] = []
    for _ in range(longest):
        longer = [
            ([*ids, token], p if mistake == "forgetful" else total + p)
            for ids, total in living
            if END_ID not in ids
            for token, p in enumerate(language([START_ID, *ids]).tolist())
            if p > -math.inf
        ]
        if mistake == "worst":
            kept = _most_probable(longer, len(longer))[-width:]
        elif mistake == "refilled":
            going_on = [each for each in longer if each[0][-1] != END_ID]
            ended = [each for each in longer if each[0][-1] == END_ID]
            kept = ended + _most_probable(going_on, width)
        elif mistake == "crowded":
            ended = [each for each in living if END_ID in each[0]]
            kept = living = _most_probable(longer + ended, width)
            continue
        else:
            kept = _most_probable(longer, width)
        complete += [each for each in kept if each[0][-1] == END_ID]
        living = [each for each in kept if each[0][-1] != END_ID]
        if len(complete) >= {"first": 1, "enough": width}.get(mistake, math.inf):
            living = []
    if not complete or mistake != "endless":
        complete += living
    if mistake == "likeliest":
        complete = _most_probable(complete, 1)
    scored = [(ids, _score(total, len(ids), alpha, mistake)) for ids, total in complete]
    return (min if mistake == "lowest" else max)(scored, key=lambda each: each[1])


def _most_probable(
    hypotheses: list[tuple[list[int], float]], count: int
) -> list[tuple[list[int], float]]:
    return sorted(hypotheses, key=lambda each: -each[1])[:count]


def _score(total: float, length: int, alpha: float, mistake: str) -> float:
    if mistake == "unpenalized":
        return total
    if mistake == "bare":
        return total / length**alpha
    length += (mistake == "long") - (mistake == "short")
    penalty = ((5 + length) / 6) ** alpha
    return total * penalty if mistake == "multiplied" else total / penalty
