"""The check of exercise 12.3: a whole beam search, tried out in languages of six tokens."""

import math
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from numbers import Real

import torch
from torch import Tensor

from transformer_course.asking.answer import AnswerError, ask, exercise, require_number
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID

TOKENS = 6  # of the languages
LONGEST = 6  # tokens of a sentence in them
PATIENCE = 100  # times that a search may ask what follows the same hypothesis

NextLogP = Callable[[list[int]], Tensor]
# Seed of the language, width, alpha. In 1646 a beam that is filled up from what ends wins; 8 is
# wider than the vocabulary; in 2 and 138 a longer hypothesis's score still rises; in 0 and 94
# several of the best continue one hypothesis.
SEARCHES = (
    *((497, 3, 2.0), (245, 2, 0.0), (234, 3, 1.0), (3234, 3, 1.0), (393, 2, 1.0)),
    *((114, 2, 1.0), (245, 2, 1.0), (16, 4, 0.6), (5, 2, 0.0), (1646, 3, 1.0), (16, 8, 0.6)),
    *((2, 3, 2.0), (138, 3, 2.0), (0, 3, 0.6), (94, 4, 0.6)),
)
CASES = [(*each, longest) for each in SEARCHES for longest in (LONGEST, 2)]
MORE = [(seed, 3, 1.0, LONGEST) for seed in range(1000, 1030)]  # to find out what explains a search
LEAST = "You keep the least probable ones: sort with the largest sum first."
PENALTY = (
    "Your penalty is another one: the paper's is ((5 + length) / 6)^α, with these parentheses."
)
UNPICKED = (
    "Pick the `width` most probable of all continuations first, with those that end; then take "
    "those that end out of the beam."
)
MEAN = "You compare the mean ln p of a token: the score is ln p divided by ((5 + length) / 6)^α."
FEWER = "Up to `width` of the best can continue one hypothesis: you take fewer of each."
# The first that explains every answer of a search is told. A new one also has a branch in _search,
# _continued or _score, or a row in CHOSEN, and an answer in test_answers.py.
MISTAKES = {
    "crowded": "A hypothesis that ends leaves the beam: it must not compete for a place again.",
    "stage one": "That is greedy search and its ln p, a good first step: now keep `width` "
    "hypotheses at every step, and compare scores.",
    "greedy": "That is what greedy search writes: keep `width` different hypotheses at every step.",
    "shrinking": "Keep `width` hypotheses at every step, also after one has ended.",
    "worst": LEAST,
    "worst of the best": LEAST,
    "by ids": "You keep the hypotheses with the largest ids: sorted compares what stands first in "
    "a pair.",
    "last": "Keep those with the largest sum: you compare the ln p of the last tokens.",
    "earliest": "You return what ended first: return the best of all that end, also later.",
    "latest": "You return what ended last: return the one with the best score.",
    "lost": "You return the best of those that ended last: compare all that ended, at any step.",
    "refilled": UNPICKED,
    "unpicked": UNPICKED,
    "unpicked of the best": UNPICKED,
    "two of each": FEWER,
    "three of each": FEWER,
    "likeliest": "You compare the hypotheses by their log-probability: compare their scores.",
    "mean": MEAN,
    "mean with start": MEAN,
    "chosen by mean": MEAN,
    "lowest": "The hypothesis that you return has the lowest score: the best is nearest to 0. max "
    "and min of pairs compare what stands first in a pair.",
    "largest ids": "max of pairs compares what stands first in a pair, here the ids.",
    "unpenalized": "The score is the log-probability divided by ((5 + length) / 6)^α.",
    "multiplied": "Multiplying makes long sentences worse, because log-probabilities are negative: "
    "divide by the penalty.",
    "short": "The end token counts in the length, too.",
    "long": "The start token does not count in the length.",
    "full length": "The length in the penalty is that of each hypothesis: you take `longest` "
    "or the number of steps, the same for all.",
    "bare": PENALTY,
    "unclosed": PENALTY,
    "forgetful": "The score of a hypothesis needs the log-probabilities of all its tokens, not "
    "only that of the last one.",
    "endless": "A hypothesis that has `longest` tokens and no end competes with its score, too.",
}
CHOSEN = {  # by another rule than the best score
    "largest ids": max,
    "earliest": lambda scored: scored[0],
    "latest": lambda scored: scored[-1],
}
Case = tuple[int, int, float, int]  # of CASES: seed, width, alpha, longest
Hypothesis = tuple[list[int], float]  # ids and score


@exercise("12.3", sizes="6 tokens, and beams of a width up to 8")
def check_beam_search(answer: object) -> None:
    """A whole beam search, tried out in languages of six tokens."""
    for case in CASES:
        found, asked = _found(answer, case)
        if not _same(found, _right(case)):
            raise AnswerError(_search_hint(answer, case, found, asked))


def _found(answer: object, case: Case) -> tuple[Hypothesis, Counter[tuple[int, ...]]]:
    """What the reader's search finds, and what it has asked."""
    seed, width, alpha, longest = case
    asked: Counter[tuple[int, ...]] = Counter()
    language = _watched(_language(seed), width, longest, asked)
    try:
        return _as_hypothesis(ask(answer, language, width, alpha, longest)), asked
    except ValueError as error:
        if "empty sequence" not in str(error):
            raise
        raise AnswerError(
            "In the end you choose from an empty list. Does it get the hypotheses that end, and "
            "those that have `longest` tokens and no end?"
        ) from None


def _right(case: Case, mistake: str = "") -> Hypothesis:
    """What a beam search finds, or one with a usual mistake."""
    seed, *given = case
    return _search(_language(seed), *given, mistake)


def _same(found: Hypothesis, other: Hypothesis) -> bool:
    return found[0] == other[0] and math.isclose(found[1], other[1], rel_tol=1e-4)


def _search_hint(
    answer: object, case: Case, found: Hypothesis, asked: Counter[tuple[int, ...]]
) -> str:
    """What is said of a search that finds something else than a beam search in one case."""
    (ids, score), (right_ids, right_score) = found, _right(case)
    _, width, alpha, longest = case
    if not asked:
        return "Your search never calls next_log_p, from which it learns what can follow."
    if _same(found, (right_ids[:-1], right_score)):
        return "The ids lack their last token: return the end token with the others."
    if len(ids) > longest:
        return (
            f"You return {ids}, more than {longest} tokens. Is an end added at `longest`, or a "
            "list left from an earlier call?"
        )
    if score > 0:
        return f"A score is a sum of ln p, never above 0; yours is {score:.2f}."
    explanations = [mistake for mistake in MISTAKES if _same(found, _right(case, mistake))]
    for other in (*CASES, *MORE) if explanations else ():  # a few may agree by chance
        with suppress(AnswerError):
            result, _ = _found(answer, other)
            explanations = [each for each in explanations if _same(result, _right(other, each))]
    if explanations:
        return MISTAKES[explanations[0]]
    tried = f"With width {width}, α = {alpha} and at most {longest} tokens"
    if ids and ids[-1] != END_ID and len(ids) < longest:
        if (START_ID, *ids) not in asked:
            return (
                f"You return {ids}, without an end and with fewer than {longest} tokens: you never "
                "ask what follows it."
            )
        return (
            f"You return {ids}, without an end and with fewer than {longest} tokens: it "
            "stayed in the beam beside its continuations, or its end is cut off."
        )
    if ids == right_ids:
        log_p = right_score * ((5 + len(ids)) / 6) ** alpha
        said = f"{tried}, {ids} is right; its score is {right_score:.4f}, not {score:.4f}"
        if math.isclose(score, log_p, rel_tol=1e-4):
            return f"{said}, which is its ln p."
        return (
            f"{said}. Is it the sum of all ln p, divided once by ((5 + length) / 6)^α, with these "
            "parentheses?"
        )
    return f"{tried}, {_difference(case, found, asked)}"


def _difference(case: Case, found: Hypothesis, asked: Counter[tuple[int, ...]]) -> str:
    """Where a search leaves the beam, or that it does not."""
    (ids, score), (right_ids, right_score) = found, _right(case)
    seed, width, alpha, longest = case
    beams: Counter[tuple[int, ...]] = Counter()
    _search(_watched(_language(seed), width, longest, beams), width, alpha, longest)
    for length in range(1, max(map(len, beams)) + 1):
        beam, yours = (
            sorted([*each] for each in every if len(each) == length) for every in (beams, asked)
        )
        if not yours:
            return (
                f"you stop after {length - 1} of {max(map(len, beams))} steps. In a beam of "
                f"{width}, a hypothesis has not ended by then: it can still win."
            )
        if beam != yours:
            return (
                f"at step {length} the beam holds {beam}: the {width} most probable continuations, "
                f"without those that end. Yours holds {yours}."
            )
    return (
        f"your beam is right at every step, and the winner is {right_ids} with a score of "
        f"{right_score:.2f}. You return {ids} with {score:.2f}{_own_score(case, ids)}. Look at "
        "what is compared in the end."
    )


def _own_score(case: Case, ids: list[int]) -> str:
    """What is said of the score of ids that are not the winner's."""
    seed, _, alpha, _ = case
    if not {*ids} <= {*range(START_ID + 1, TOKENS)}:
        return ""
    language = _language(seed)
    total = sum(language([START_ID, *ids[:at]])[token].item() for at, token in enumerate(ids))
    return f"; by the formula, their score is {total / ((5 + len(ids)) / 6) ** alpha:.2f}"


def _language(seed: int) -> NextLogP:
    """Random log-probabilities of six tokens after any beginning, always the same."""

    def next_log_p(ids: list[int]) -> Tensor:
        number = sum(token * 7**place for place, token in enumerate(ids))
        generator = torch.Generator().manual_seed(1000 * number + seed)
        logits = 1.5 * torch.randn(TOKENS, generator=generator)
        logits[: START_ID + 1] = -torch.inf  # padding and start never follow
        return logits.log_softmax(dim=-1)

    return next_log_p


def _watched(
    language: NextLogP, width: int, longest: int, asked: Counter[tuple[int, ...]]
) -> NextLogP:
    """The language, which counts what is asked, and refuses what no beam search asks."""

    def next_log_p(ids: object) -> Tensor:
        try:
            given = [float(each) for each in ids]
        except (TypeError, ValueError, RuntimeError):
            raise AnswerError(
                "next_log_p takes the ids of one hypothesis, such as [1, 4]."
            ) from None
        ids = [*map(int, given)]
        if ids != given:
            raise AnswerError(f"An id is a whole number; you ask what follows {given}.")
        if ids[:1] != [START_ID]:
            raise AnswerError("next_log_p takes all ids so far, and the first is START_ID.")
        if END_ID in ids[:-1]:
            raise AnswerError(
                f"You ask what follows {ids}. Do several hypotheses share one list? append changes "
                "it for all of them: make a new list."
            )
        if {PADDING_ID, START_ID} & {*ids[1:]}:
            raise AnswerError(
                f"You ask what follows {ids}, but ln p of its last token is −∞: skip such tokens, "
                "and keep each token's own id. (topk gives the ids as indices.)"
            )
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
    if ids is None:
        raise AnswerError("You return no ids. A running best must begin below all scores, at −∞.")
    if not isinstance(ids, list | tuple):
        raise AnswerError(f"The ids are a list; yours are {type(ids).__name__}.")
    if any(isinstance(each, list | tuple) for each in ids):
        raise AnswerError("The ids are one list of numbers; yours holds lists.")
    if any(isinstance(each, Tensor) for each in ids):
        raise AnswerError(
            "The ids are whole numbers; some of yours are tensors: tolist() or int()."
        )
    if START_ID in ids:
        raise AnswerError("Leave the start token out of the ids that you return.")
    return list(ids), require_number(score)


def _search(
    language: NextLogP, width: int, alpha: float, longest: int, mistake: str = ""
) -> Hypothesis:
    """The best hypothesis that a beam finds, with its end, and its score; or a usual mistake's."""
    if mistake in ("greedy", "stage one"):
        width = 1
    living: list[Hypothesis] = [([], 0.0)]
    complete: list[Hypothesis] = []
    few = {"two of each": 2, "three of each": 3}.get(mistake, width)
    for _ in range(longest):
        best_of_each = [_continued(language, *each, mistake) for each in living]
        longer = [each for several in best_of_each for each in several]
        several = [each for some in best_of_each for each in _most_probable(some, few)]
        if mistake == "worst":
            kept = _most_probable(longer, len(longer))[-width:]
        elif mistake == "worst of the best":
            kept = _most_probable(several, len(several))[-width:]
        elif mistake == "by ids":
            kept = sorted(several, reverse=True)[:width]
        elif mistake.startswith("unpicked"):
            found = longer if mistake == "unpicked" else several
            ended = [each for each in found if each[0][-1] == END_ID]
            kept = ended + _most_probable([each for each in found if each not in ended], width)
        elif mistake == "last":
            before = {tuple(ids): total for ids, total in living}
            kept = sorted(longer, key=lambda each: before[tuple(each[0][:-1])] - each[1])[:width]
        elif mistake == "refilled":
            kept = _most_probable(longer, len(longer))
            places = [place for place, each in enumerate(kept, 1) if each[0][-1] != END_ID]
            kept = kept[: places[width - 1]] if len(places) >= width else kept
        elif mistake == "crowded":
            ended = [each for each in living if END_ID in each[0]]
            kept = living = _most_probable(longer + ended, width)
            continue
        elif mistake == "shrinking":
            kept = _most_probable(longer, width - len(complete))
        else:
            kept = _most_probable(several, width)
        if mistake == "lost":
            complete = []
        complete += [each for each in kept if each[0][-1] == END_ID]
        living = [each for each in kept if each[0][-1] != END_ID]
        if not living:
            break
    if not complete or mistake != "endless":
        complete += living
    complete.sort(key=lambda each: (len(each[0]), -each[1]))  # as they ended
    if mistake == "likeliest":
        complete = _most_probable(complete, 1)
    elif mistake == "chosen by mean":
        complete = [max(complete, key=lambda each: each[1] / len(each[0]))]
    scored = [(ids, _score(total, len(ids), alpha, longest, mistake)) for ids, total in complete]
    if mistake in CHOSEN:
        return CHOSEN[mistake](scored)
    return (min if mistake == "lowest" else max)(scored, key=lambda each: each[1])


def _continued(language: NextLogP, ids: list[int], total: float, mistake: str) -> list[Hypothesis]:
    """A hypothesis with each of the tokens that can follow; none, if it has ended."""
    if END_ID in ids:
        return []
    return [
        ([*ids, token], p if mistake == "forgetful" else total + p)
        for token, p in enumerate(language([START_ID, *ids]).tolist())
        if p > -math.inf
    ]


def _most_probable(hypotheses: list[Hypothesis], count: int) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda each: -each[1])[: max(count, 0)]


def _score(total: float, length: int, alpha: float, longest: int, mistake: str) -> float:
    if mistake in ("unpenalized", "stage one"):
        return total
    if mistake == "bare":
        return total / length**alpha
    if mistake == "unclosed":
        return total / (5 + length / 6) ** alpha
    if mistake == "full length":
        length = longest
    length += (mistake in ("long", "mean with start")) - (mistake == "short")
    if mistake in ("mean", "mean with start"):
        return total / length
    penalty = ((5 + length) / 6) ** alpha
    return total * penalty if mistake == "multiplied" else total / penalty
