"""The checks of exercises 12.1 and 12.2; that of 12.3 has a module of its own."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    require_shape,
)
from transformer_course.generation.table_model import END_TOKEN, TableModel
from transformer_edu.generation.beam import beam_search

PROBABILITIES = (0.1, 0.42, 0.05, 0.28, 0.15)
SHARES = (0.6, 0.3, 0.9, 0.75)  # no sum of the likeliest: rounding decides nothing
LITTLE = 1e-6  # of probability


@exercise("12.2")
def check_top_p(answer: object) -> None:
    """A function that cuts the unlikely tail off and rescales the rest."""
    probabilities = torch.tensor(PROBABILITIES)
    for p in SHARES:
        given = probabilities.clone()
        found = ask(answer, given, p)
        if not given.equal(probabilities):
            raise AnswerError("Your function changes the tensor that it was given: make a new one.")
        if isinstance(found, Tensor) and found.isnan().all():
            raise AnswerError(
                f"For p = {p} and {list(PROBABILITIES)} all numbers are NaN, as in a division by "
                "a sum of 0. Is any token kept? p is what the kept ones sum to."
            )
        if isinstance(found, Tensor) and found.isnan().any():
            raise AnswerError(
                "Some numbers are NaN. Do cut tokens get −∞? That is for log-probabilities: the "
                "probability of a cut token is 0."
            )
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
    of = f"For p = {p} and {list(PROBABILITIES)}"
    if found.dtype == torch.bool:
        return "That says which tokens are kept; give their probabilities."
    if found.isinf().any() and (found <= 0).all():
        return "That is ln p: return probabilities, in which a cut token has 0."
    if found.isinf().any():
        return "−∞ is for log-probabilities: the probability of a cut token is 0."
    if not found.any():
        return f"{of} you keep no token. No single token has p: p is what the kept ones sum to."
    if close(found / found.sum(), expected):
        return "The right tokens, but the rest must sum to 1 again: divide by the sum."
    likeliest = (expected > 0).nonzero().flatten().tolist()
    if close(found, torch.where(expected > 0, probabilities, 0.0).softmax(dim=-1)):
        return "A softmax gives e⁰ = 1 to what is 0, too: divide by the sum."
    kept = (found > 0).nonzero().flatten().tolist()
    count, right = len(kept), len(likeliest)
    if (most := int(probabilities.argmax())) not in kept and count != right:
        return (
            f"{of} token {most}, the most probable of all, gets 0. Does each number stand at its "
            "own token's place, and do you keep this one first?"
        )
    if count < right:
        return (
            f"{of} {right} tokens are needed to reach p, you keep {count}: the one that "
            "reaches p is kept."
        )
    if count > right:
        enough = "1 token reaches" if right == 1 else f"{right} tokens reach"
        return f"{of} {enough} p already, you keep {count}."
    if close(found[kept].sort().values, expected[likeliest].sort().values):
        return (
            f"{of} you return the right numbers, but at the places {kept}: those of {likeliest} "
            "stay, each at its place."
        )
    if kept != likeliest:
        return f"{of} you keep the tokens {kept}: the most probable ones stay."
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
        is_whole = " " not in found and found not in answer
        whole = " No word follows it: its probability is not divided." if is_whole else ""
        raise AnswerError(
            f"A beam of 3 finds “{found}”, with {math.exp(sentences[found]):.3g}, and no sentence "
            f"is more probable.{whole} The best sentence must lose its beginning at some step. "
            "When does a beam drop a beginning?"
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
