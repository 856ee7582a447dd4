"""Checks for notebooks/12_generation.ipynb."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import length_penalty
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_numbers,
    require_number,
    require_shape,
)
from transformer_edu.teaching.inspect.table_model import END_TOKEN, TableModel

BEAMS, LAYERS, WIDTH, HEADS = 4, 6, 512, 8
WRITTEN, SOURCE = 20, 30
PROBABILITIES = (0.1, 0.42, 0.05, 0.28, 0.15)
SHARES = (0.6, 0.3, 0.95, 0.75)


@exercise("12.1")
def check_cache_numbers(answer: object) -> None:
    """How many numbers the cache of a beam search holds."""
    answer = require_number(answer, whole=True)
    both = WRITTEN + SOURCE
    right = BEAMS * LAYERS * 2 * WIDTH * both
    hints = {
        right // 2: "Keys or values alone: both are kept.",
        right * 3 // 2: "Queries are used once and not kept.",
        right // BEAMS: "That is one hypothesis; the beam has four, each with a copy.",
        right // LAYERS: "That is one layer; each of the six has keys and values of its own.",
        right * HEADS: "The heads share the width of 512: each is 64 wide.",
        right // HEADS: "That is one head; there are eight in the width of 512.",
        right * WRITTEN // both: "The source's keys and values are kept too, for the "
        "cross-attention.",
        right * SOURCE // both: "What has been written has keys and values too, for the "
        "self-attention.",
        right * 2: "Each layer has two attentions, one with 20 positions and one with 30; "
        "not both with 50.",
    }
    refuse_numbers(answer, hints)
    if answer != right:
        raise AnswerError(
            "Multiply: hypotheses, layers, keys and values, width, positions of both attentions."
        )


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


@exercise("12.3")
def check_final_score(answer: object) -> None:
    """The score of a finished hypothesis: the end token adds log-probability and length."""
    for words, end, alpha in (
        ([-0.5, -1.25, -0.25], -2.0, 0.6),
        ([-0.75], -0.5, 1.0),
        ([-0.1, -0.2, -0.4, -0.8], -1.5, 0.0),
        ([], -2.5, 2.0),
    ):
        found = ask(answer, list(words), end, alpha)
        _require_score(require_number(found), words, end, alpha)


def _require_score(found: float, words: list[float], end: float, alpha: float) -> None:
    total, length = sum(words) + end, len(words) + 1
    penalty = length_penalty(length, alpha)
    wrong = {
        sum(words)
        / length_penalty(length - 1, alpha): "That is the colleague's score: the end token "
        "adds neither log-probability nor length.",
        sum(words) / penalty: "The log-probability of the end token is missing: add it.",
        total / length_penalty(length - 1, alpha): "The log-probability is right; the end token "
        "also counts in the length.",
        total * penalty: "Multiplying makes long sentences worse, because "
        "log-probabilities are negative.",
        total / length**alpha: "That divides by the bare length; the paper's penalty is "
        "((5 + length) / 6)^α.",
    }
    if math.isclose(found, total / penalty, rel_tol=1e-5):
        return
    refuse_numbers(found, wrong, within=1e-5)
    raise AnswerError(
        f"For words {words}, end {end} and α = {alpha} the score is {total / penalty:.3f}, "
        f"yours is {found:.3f}."
    )


@exercise("12.4")
def check_misleading_table(answer: object) -> None:
    """A table whose most probable sentence a beam of 3 does not find."""
    if not isinstance(answer, Mapping) or not all(isinstance(x, Mapping) for x in answer.values()):
        raise AnswerError('The answer is a table: {"": {"a word": its probability, …}, …}.')
    try:
        model = TableModel(answer)
    except ValueError as error:
        raise AnswerError(f"The {error}.") from None
    sentences = _sentences(answer)
    best = max(sentences, key=sentences.get)
    ((found,),) = beam_search(model, model.source_ids, width=3, alpha=0.0)
    words = " ".join(model.vocabulary.decode(found.token_ids))
    if math.isclose(sentences[words], sentences[best], abs_tol=1e-6):
        raise AnswerError(
            f"A beam of 3 finds “{words}”, and no sentence is more probable. Give the best "
            "sentence a first word that is less probable than three others."
        )


def _sentences(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Every sentence of a table with its log-probability."""
    found, open_ends = {}, [("", 0.0)]
    while open_ends:
        beginning, total = open_ends.pop()
        for word, probability in table.get(beginning, {END_TOKEN: 1.0}).items():
            longer = total + math.log(probability)
            if word == END_TOKEN:
                found[beginning] = longer
            else:
                open_ends.append((f"{beginning} {word}".strip(), longer))
    return found
