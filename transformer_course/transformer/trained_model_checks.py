"""Checks of what lesson 9 trains: a model for short numbers, too, and learned positions."""

import torch
from torch import nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    require_class,
    require_gradients,
    require_module,
    require_number,
    require_shape,
)
from transformer_edu.data.batches import Batch
from transformer_edu.data.toy_tasks import Pair, number_words_task
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.evaluation import exact_matches

ENOUGH = 0.97, 0.9  # of exercise 9.3: the short numbers and the test
OFTEN = 1.5  # times as often as in task.train, a repair reads short numbers
SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 192}  # of the lesson's models
SEEDS, MEASURED = 3, 200  # of exercise 9.4: models of each kind, and numbers that they translate


@exercise("9.3")
def check_short_numbers(answer: tuple[nn.Module, list[Batch]]) -> None:
    """Exercise 9.3: a model that also translates every number of one or two English words.

    Args:
        answer: The reader's trained model, and the batches that it has learned from.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise AnswerError("The answer is a pair: the trained model, and the list of its batches.")
    model, batches = answer
    if model is ... or batches is ...:
        ask(lambda: ...)
    if not isinstance(model, nn.Module) or not hasattr(model, "encode"):
        raise AnswerError(f"The first is a trained Transformer; yours is {type(model).__name__}.")
    task = number_words_task(train_size=32_000)
    _require_sizes(model, len(task.vocabulary))
    few, many = _numbers_in(batches, task.validation)
    share = few / max(1, few + many)
    short = [pair for pair in task.train + task.validation + task.test if len(pair[0]) <= 2]
    rows = [sorted(short), task.validation]
    right = [exact_matches(model.eval(), pairs) / len(pairs) for pairs in rows]
    enough = [found >= least for found, least in zip(right, ENOUGH, strict=True)]
    words = f"{right[0]:.0%} of the short numbers and {right[1]:.0%} of the test are right"
    plain = sum(len(pair[0]) <= 2 for pair in task.train) / len(task.train)
    if all(enough) and share < OFTEN * plain:
        raise AnswerError(
            f"{words}, but this may be luck: {share:.2%} of what the model reads is short, "
            f"in task.train {plain:.2%}. What in your batches repairs the fault?"
        )
    if all(enough):
        return
    if enough[0]:
        raise AnswerError(
            f"{words}. Did the model read enough of the long numbers, and also at the end?"
        )
    if not enough[1]:
        longer = sum(len(pair[0]) > 2 for pair in task.train)
        if many < 0.9 * longer:
            raise AnswerError(
                f"{words}. Its batches have {many:,} longer numbers, task.train has {longer:,}: "
                "does the model read enough of them?"
            )
        raise AnswerError(
            f"{words}. Was it trained to the end? If its last losses jump, train it again."
        )
    raise AnswerError(
        f"{words}; at least {ENOUGH[0]:.0%} and {ENOUGH[1]:.0%} should be. How many of the 32,000 "
        "pairs of task.train are that short, and what does your model read more often now, "
        "also at the end?"
    )


def _require_sizes(model: nn.Module, vocabulary_size: int) -> None:
    """Refuse a model of other sizes than those of the lesson."""
    with torch.device("meta"):
        lessons = Transformer(TransformerConfig(vocabulary_size=vocabulary_size, **SIZES))
    own, wanted = (
        {name: tuple(weight.shape) for name, weight in each.state_dict().items()}
        for each in (model, lessons)
    )
    for name in {**wanted, **own}:
        if own.get(name) != wanted.get(name):
            raise AnswerError(
                f"The model must have the lesson's sizes. For {name}, yours has the shape "
                f"{own.get(name)}, and the lesson's {wanted.get(name)}."
            )


def _numbers_in(batches: object, unseen: list[Pair]) -> tuple[int, int]:
    """How many sources have one or two words, how many more; refuse what should stay unseen."""
    if not isinstance(batches, list | tuple) or not all(isinstance(it, Batch) for it in batches):
        kinds = {type(it).__name__ for it in (batches if isinstance(batches, list) else [batches])}
        raise AnswerError(f"The second is a list of batches; yours holds {', '.join(kinds)}.")
    sources = [tuple(filter(None, row)) for it in batches for row in it.source_ids.tolist()]
    if leaked := len({tuple(pair[0]) for pair in unseen}.intersection(sources)):
        raise AnswerError(f"In your batches are numbers of the test, task.validation: {leaked}.")
    few = sum(len(source) <= 2 for source in sources)
    return few, len(sources) - few


@exercise("9.4", sizes="batch 2, d_model 12, and 3, 5, 9 or 70 positions; max_length is 9 or 70")
def check_learned_positions(
    answer: tuple[type[nn.Module], dict[str, list[tuple[nn.Module, float]]]],
) -> None:
    """Exercise 9.4: a class LearnedPositions(d_model, max_length), and what was measured with it.

    Args:
        answer: The class; and by the kind of positions, "sinusoids" and "learned", the model of
            every seed with its fraction of exact matches.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise AnswerError(
            "The answer is a pair: the class, and the dictionary of what you measured."
        )
    positions, measured = answer
    if positions is ...:
        ask(lambda: ...)
    require_class(positions, "LearnedPositions")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        learned = positions(12, 9)
        if measured is ...:
            ask(learned, torch.zeros(2, 3, 12))
        for weight in learned.parameters():
            nn.init.normal_(weight.data)  # it may start with zeros
        _require_learned(learned)
        ask(positions(12, 70), torch.zeros(2, 70, 12))
    if measured is ...:
        raise AnswerError(
            f"{positions.__name__} is right. Now train both kinds, with {SEEDS} seeds each, and "
            "give what you have measured."
        )
    if not isinstance(measured, dict) or set(measured) != {"sinusoids", "learned"}:
        raise AnswerError('The dictionary needs two entries: "sinusoids" and "learned".')
    pairs, models = number_words_task(train_size=32_000).validation[:MEASURED], []
    for kind, rows in measured.items():
        if not isinstance(rows, list | tuple) or len(rows) < SEEDS:
            raise AnswerError(f"{kind}: give a list of at least {SEEDS} seeds.")
        for row in rows:
            if not (isinstance(row, tuple | list) and len(row) == 2) or not isinstance(
                row[0], nn.Module
            ):
                raise AnswerError(f"{kind}: give pairs (model, fraction), so both can be compared.")
            model, told = row[0], require_number(row[1])
            if (type(model.positions).__name__ == positions.__name__) != (kind == "learned"):
                raise AnswerError(f"{kind}: a model has {type(model.positions).__name__}.")
            if any(model is other for other in models):
                raise AnswerError("Two entries are the same model: train a new one for each seed.")
            models.append(model)
            found = exact_matches(model.eval(), pairs) / MEASURED
            if abs(found - told) > 2 / MEASURED:  # another device may round differently
                raise AnswerError(
                    f"{kind}: you give {told:g}; on {MEASURED} numbers of task.validation this "
                    f"model has {found:g}."
                )


def _require_learned(positions: nn.Module) -> None:
    """Refuse positions that are not learned, not added, or not counted along the sequence."""
    if not list(positions.parameters()):
        raise AnswerError(
            "The positions have no parameters: register_buffer does not learn. Use nn.Embedding "
            "or nn.Parameter."
        )
    let_wait(positions, torch.zeros(2, 9, 12))
    x = torch.zeros(2, 5, 12)
    added = require_shape(require_module(positions, x), (2, 5, 12), "(batch, position, d_model)")
    if close(added, x):
        raise AnswerError("Nothing is added to x.")
    if not close(positions(x + 1).detach(), added.detach() + 1):
        raise AnswerError("Add the rows to x: forward returns x + positions.")
    if not close(added[0].detach(), added[1].detach()):
        raise AnswerError("The rows of the batch get different positions: count along dim 1.")
    if close(added[:, :1].expand_as(added).detach(), added.detach()):
        raise AnswerError(
            "Every position gets the same vector: position p needs row p of the table."
        )
    if not close(positions(torch.zeros(2, 3, 12)).detach(), added[:, :3].detach()):
        raise AnswerError("A shorter sequence must get the first rows of the same table.")
    whole = ask(positions, torch.zeros(2, 9, 12))  # as many positions as max_length
    require_gradients(positions, whole)
    if any(getattr(part, "padding_idx", None) is not None for part in positions.modules()):
        raise AnswerError("padding_idx keeps a row from learning, and here a row is a position.")
