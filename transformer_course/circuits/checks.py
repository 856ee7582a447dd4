"""Checks of lesson 21: two layers by hand, the score of a role, a circuit and its controls."""

import math
import random
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_mistakes,
    require_number,
    require_shape,
    require_untouched,
)
from transformer_course.looking.ablation import HeadName, every_head, heads_switched_off

NUM_WORDS, TEXT = 6, (0, 3, 1, 4, 3, 1, 5, 2, 4, 3)  # word 0 begins the text and comes once
CLEAR = 0.9  # of the weight, or of a number that should be 1
MOST_HEADS, CONTROLS, TIMES = 6, 5, 2


@exercise("21.1")
def check_copying_weights(answer: Callable[[int, int], Sequence[Tensor]]) -> None:
    """Exercise 21.1: the four matrices of two attentions that copy, written by hand."""
    length = len(TEXT)
    width = 3 * NUM_WORDS + length
    let_wait(answer, NUM_WORDS, length)
    found = ask(answer, NUM_WORDS, length)
    if not isinstance(found, tuple | list | Tensor) or len(found) != 4:
        raise AnswerError("Return four matrices: scores_1, moves_1, scores_2, moves_2.")
    names = ("scores_1", "moves_1", "scores_2", "moves_2")
    scores_1, moves_1, scores_2, moves_2 = (
        _require_matrix(each, width, name) for each, name in zip(found, names, strict=True)
    )
    token_ids = torch.tensor(TEXT)
    x = torch.zeros(length, width)
    x[:, :NUM_WORDS] = F.one_hot(token_ids, NUM_WORDS).float()
    x[:, NUM_WORDS : NUM_WORDS + length] = torch.eye(length)
    x = _after_layer_1(x, scores_1, moves_1)
    _require_layer_2(x, scores_2, moves_2)


def _require_matrix(answer: object, width: int, name: str) -> Tensor:
    return require_shape(answer, (width, width), f"(d_model, d_model) of {name}").float()


def attention_by_hand(x: Tensor, scores: Tensor) -> Tensor:
    """The causal attention weights of a matrix that compares queries with keys.

    Args:
        x: Shape (position, d_model).
        scores: W_Q W_Kᵀ of one head, shape (d_model, d_model).

    Returns:
        Shape (query, key).
    """
    later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    return (x @ scores @ x.T).masked_fill(later, -torch.inf).softmax(dim=-1)


def _after_layer_1(x: Tensor, scores: Tensor, moves: Tensor) -> Tensor:
    """The stream after a layer that copies the word before into its slot, or a hint."""
    attention = attention_by_hand(x, scores)
    queries = torch.arange(1, len(x))
    on_previous = attention[queries, queries - 1]
    if on_previous.min() < CLEAR:
        turned = attention_by_hand(x, scores.T)[queries, queries - 1]
        if turned.min() > CLEAR:
            raise AnswerError(
                "scores_1 is turned: its rows belong to the query, its columns to the key."
            )
        if attention.diagonal().min() > CLEAR:
            raise AnswerError(
                "Layer 1 attends to the query's own position: the ones belong one place below the "
                "diagonal, so that query 5 finds key 4."
            )
        order = attention[queries].argmax(dim=-1)
        if torch.equal(order, queries - 1):
            raise AnswerError(
                f"Layer 1 prefers the word before, but gives it only {on_previous.min():.2f} of "
                "the weight: make the scores larger."
            )
        raise AnswerError(
            "In layer 1, each query must attend to the key just before it. Compare the slots "
            "`place` of both."
        )
    moved = attention @ x @ moves
    wanted = torch.zeros_like(x)
    wanted[1:, _before(len(x))] = x[:-1, :NUM_WORDS]
    got = moved[1:].clone()
    if (got - wanted[1:]).abs().max() > 1 - CLEAR:
        turned = (attention @ x @ moves.T)[1:]
        if (turned - wanted[1:]).abs().max() < 1 - CLEAR:
            raise AnswerError(
                "moves_1 is turned: its rows say what is read, its columns where it is written."
            )
        if got[:, _before(len(x))].abs().max() < 1 - CLEAR:
            raise AnswerError("After layer 1, the slot `before` is still empty.")
        raise AnswerError(
            "After layer 1, the slot `before` must hold the word before, and nothing else may "
            "change: moves_1 reads the slot `word` and writes the slot `before`."
        )
    return x + moved


def _before(length: int) -> slice:
    return slice(NUM_WORDS + length, 2 * NUM_WORDS + length)


def _require_layer_2(x: Tensor, scores: Tensor, moves: Tensor) -> None:
    """Refuse a second layer that does not find and copy what followed an earlier word."""
    length, token_ids = len(x), torch.tensor(TEXT)
    cells = _cells_after(token_ids)
    known = cells.any(dim=-1)
    attention = attention_by_hand(x, scores)
    found = (attention * cells).sum(dim=-1)[known]
    if found.min() < CLEAR:
        same = (token_ids.unsqueeze(1) == token_ids).tril()
        if ((attention_by_hand(x, scores.T) * cells).sum(dim=-1)[known]).min() > CLEAR:
            raise AnswerError(
                "scores_2 is turned: its rows belong to the query, its columns to the key."
            )
        if (attention * same).sum(dim=-1)[known].min() > CLEAR:
            raise AnswerError(
                "Layer 2 finds the same word, itself included. It must find the key *after* an "
                "earlier one: that key has the word in its slot `before`."
            )
        if (attention * cells).argmax(dim=-1).equal(attention.argmax(dim=-1)):
            raise AnswerError("Layer 2 finds the right keys too weakly: make the scores larger.")
        raise AnswerError(
            f"In layer 2, the keys after an earlier word get only {found.min():.2f} of the weight. "
            "Compare the query's slot `word` with the key's slot `before`."
        )
    moved = attention @ x @ moves
    if moved[:, : 2 * NUM_WORDS + length].abs().max() > 1 - CLEAR:
        raise AnswerError("Layer 2 may write only into the slot `next`, which is the last one.")
    written = moved[known, 2 * NUM_WORDS + length :]
    if written.abs().max() < 1 - CLEAR:
        raise AnswerError("After layer 2, the slot `next` is still empty.")
    if torch.equal(written.argmax(dim=-1), token_ids[known]):
        raise AnswerError(
            "Layer 2 writes the query's own word once more: it must copy the slot `word` of the "
            "key, not its slot `before`."
        )
    right = torch.stack([_words_after(token_ids, query) for query in known.nonzero().flatten()])
    if (written.softmax(dim=-1) * right).sum(dim=-1).min() < 1 / NUM_WORDS or not right[
        range(len(right)), written.argmax(dim=-1)
    ].all():
        raise AnswerError("The largest number in the slot `next` must be the word that followed.")
    if written.masked_fill(right, 0).abs().max() > 2 * (1 - CLEAR) * written.max():
        raise AnswerError(
            "The slot `next` also holds other words than the one that followed: moves_2 reads the "
            "slot `word` of the key, and nothing else."
        )


def _words_after(token_ids: Tensor, query: Tensor) -> Tensor:
    """True for the words that followed the query's word earlier, shape (word,)."""
    keys = _cells_after(token_ids)[query].nonzero().flatten()
    return F.one_hot(token_ids[keys], NUM_WORDS).sum(dim=0).bool()


def _cells_after(token_ids: Tensor, earlier: Tensor | None = None) -> Tensor:
    """True at keys whose word before is the query's word, shape (query, key)."""
    if earlier is None:
        earlier = F.pad(token_ids, (1, 0), value=-1)[:-1]
    return (token_ids.unsqueeze(1) == earlier).tril()


@exercise("21.2")
def check_induction_score(answer: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Exercise 21.2: the mean weight on keys that follow an earlier word like the query's."""
    token_ids = torch.tensor([0, 1, 4, 1, 5, 0, 1, 2, 2, 1])  # 0 is a word, and 2 follows itself
    luck = torch.Generator().manual_seed(21)
    scores = torch.randn(2, len(token_ids), len(token_ids), generator=luck)
    later = torch.ones(len(token_ids), len(token_ids), dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    given = [weights.clone(), token_ids.clone()]
    found = ask(answer, *given)
    require_untouched(given, [weights, token_ids])
    rolled = _cells_after(token_ids, token_ids.roll(1))
    cells = _cells_after(token_ids)
    open_cells = token_ids.unsqueeze(1) == F.pad(token_ids, (1, 0), value=-1)[:-1]
    if isinstance(found, Tensor) and found.dim() == 0:
        raise AnswerError("That is one number for all heads together: return one for each head.")
    found = require_shape(found, (2,), "(heads,)")
    refuse_mistakes(
        found,
        {
            "roll brings the last word before the first one. No word stands before key 0.": (
                _mean(weights, rolled)
            ),
            "0 is a word, too: no word stands before key 0, so put -1 there.": (
                _mean(weights, _cells_after(token_ids, F.pad(token_ids, (1, 0))[:-1]))
            ),
            "Where a word stands twice in a row, the query's own place is such a key: tril() keeps "
            "it, tril(-1) does not.": _mean(weights, cells.tril(-1)),
            "Your mean counts queries whose word has not come before. Keep only keys up to the "
            "query (tril), and then only queries that have such a key.": (
                (weights * cells).sum(dim=(1, 2)) / len(token_ids)
            ),
            "You divide by the number of cells. A query with two such keys counts once: first add "
            "up its weights, then take the mean over the queries.": (
                (weights * cells).sum(dim=(1, 2)) / cells.sum()
            ),
            "Queries and keys are exchanged: row q asks for its own word, column k offers the word "
            "before k.": _mean(weights, open_cells.T),
            "That is the weight on the same word. The key that is wanted comes one after it.": (
                _mean(weights, (token_ids.unsqueeze(1) == token_ids).tril(-1))
            ),
        },
    )
    hard = torch.zeros(3, *weights.shape[1:])  # all heads attend to a single key
    hard[:, range(len(token_ids)), [0, 0, 0, 2, 0, 1, 6, 7, 8, 9]] = 1.0
    if close(found, _mean(weights, cells)):
        if not close(ask(answer, hard.clone(), token_ids.clone()), _mean(hard, cells)):
            raise AnswerError(
                "Right for these weights; others, of three heads, are 0 at some such keys. Those "
                "queries count, too."
            )
    else:
        raise AnswerError(
            "Take the keys up to the query whose word before is the query's word; no word "
            "stands before key 0. For each query with such keys, add up the weights on them; then "
            "take the mean over these queries."
        )


def _mean(weights: Tensor, cells: Tensor) -> Tensor:
    has_one = cells.any(dim=-1)
    return (weights * cells).sum(dim=-1)[:, has_one].mean(dim=-1)


@exercise("21.3")
def check_circuit(
    answer: Sequence[HeadName], *, behavior: Callable[[], float], model: nn.Module
) -> None:
    """Exercise 21.3: heads that a behavior needs, more than random heads of the same attentions."""
    if not isinstance(answer, list | tuple | set) or not answer or _is_head(answer):
        raise AnswerError("The answer is a list of heads, such as those of every_head(model).")
    answer = [tuple(each) if isinstance(each, list) else each for each in answer]
    group, heads = list(dict.fromkeys(answer)), every_head(model)
    strangers = [each for each in group if each not in heads]
    if strangers:
        raise AnswerError(f"{strangers[0]!r} is not a head of this model: see every_head(model).")
    if len(group) > MOST_HEADS:
        raise AnswerError(f"Your circuit has {len(group)} heads, at most {MOST_HEADS} are allowed.")
    whole = require_number(ask(behavior))
    if not math.isfinite(whole):
        raise AnswerError(f"The behavior must be a finite number; yours is {whole}.")
    if require_number(ask(behavior)) != whole:
        raise AnswerError("Two calls of behavior differ: use the same sentences each time.")
    yours = abs(whole - _without(model, group, behavior))
    if yours == 0:
        raise AnswerError("Without your heads, the number stays the same: nothing depends on them.")
    others = [head for head in heads if head not in group]
    luck = random.Random(21)  # noqa: S311
    controls = [
        abs(whole - _without(model, luck.sample(others, min(len(group), len(others))), behavior))
        for _ in range(CONTROLS)
    ]
    if not yours >= TIMES * max(controls):
        raise AnswerError(
            f"Your heads change the number by {yours:.3g}, and random heads by up to "
            f"{max(controls):.3g}. That refutes the claim that it depends on yours in particular."
        )


def _is_head(answer: object) -> bool:
    """Whether this is one head, not a list of heads."""
    return isinstance(answer, tuple) and isinstance(answer[0], str)


def _without(model: nn.Module, heads: Sequence[HeadName], behavior: Callable[[], float]) -> float:
    with heads_switched_off(model, heads):
        return require_number(ask(behavior))
