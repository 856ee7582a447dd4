"""Checks of lesson 1: words as vectors."""

import math
from collections.abc import Callable

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
    refuse_numbers,
    require_class,
    require_gradients,
    require_module,
    require_number,
    require_shape,
    require_untouched,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.embeddings import TokenEmbedding

# Every length is different, so that no axis passes for another.
VOCABULARY_SIZE, D_MODEL = 130, 18
TOKEN_IDS = [[7, 3, 129], [0, 7, 12]]  # (batch, position)
SMALL_SIZE, SMALL_WIDTH = 20, 8
LEAST_EXTREME = 2.2  # standard deviations: the largest of 2,340 numbers from N is beyond it
LARGEST_ERROR = 0.1  # of the table's standard deviation: six times what 2,340 numbers vary

# Row 3 has the direction of row 0. Row 1 is long, row 4 ends nearest to row 0, row 5 is opposite.
TABLE = torch.tensor([[1.0, 0.2], [8, 9], [-1, 3], [4, 1], [0.6, 0.5], [-1, -0.2]], device="cpu")
DISTANCE = "You compare distances. The cosine compares directions."
LONG_ROW = "A long row wins because of its length: the cosine does not depend on lengths."
APART = torch.tensor([[1.0, 0.0], [-1.0, 0.5], [-0.5, -1.0]], device="cpu")  # obtuse angles only


@exercise("1.1")
def check_token_embedding(answer: type[nn.Module]) -> None:
    """Exercise 1.1: a class TokenEmbedding(vocabulary_size, d_model).

    It is kept in the reader's own file.
    """
    require_class(answer, "TokenEmbedding")
    token_ids = torch.tensor(TOKEN_IDS)
    embedding = answer(VOCABULARY_SIZE, D_MODEL)
    let_wait(embedding, token_ids)
    _require_table(embedding)
    _require_initialization(answer(VOCABULARY_SIZE, D_MODEL).table.weight.detach())
    _require_vectors(embedding, token_ids)
    small = answer(SMALL_SIZE, SMALL_WIDTH)
    some = token_ids[0] % SMALL_SIZE  # one row, as section 3 trains on it
    if not close(ask(small, some), small.table.weight[some] * math.sqrt(SMALL_WIDTH)):
        raise AnswerError("Right for one width, wrong for another: compute √d_model from d_model.")
    keep(answer)


def _require_table(embedding: nn.Module) -> None:
    """Refuse a table of the wrong name, kind or shape, each with its hint."""
    table = getattr(embedding, "table", None)
    if not isinstance(table, nn.Embedding):
        found = "no self.table is set" if table is None else f"it is {type(table).__name__}"
        raise AnswerError(f"__init__ must set self.table to an nn.Embedding; in yours {found}.")
    shape = tuple(table.weight.shape)
    if shape == (D_MODEL, VOCABULARY_SIZE):
        raise AnswerError("The table is turned around: a row for each token, d_model numbers wide.")
    if shape != (VOCABULARY_SIZE, D_MODEL):
        raise AnswerError(f"The table must be (vocabulary_size, d_model); yours is {shape}.")


def _require_initialization(weight: Tensor) -> None:
    """Refuse a table that does not start as N(0, 1/d_model), with the usual reasons."""
    mean, std, right = float(weight.mean()), float(weight.std()), D_MODEL**-0.5
    position = "(The second argument of normal_ is the mean, the third the standard deviation.)"
    if std < LARGEST_ERROR * abs(mean):
        raise AnswerError(f"All numbers of the table are {mean:.2f}, with no deviation. {position}")
    if len(weight.unique(dim=0)) < len(weight) and weight.any():
        raise AnswerError("Several tokens start with the same row: each needs numbers of its own.")
    if abs(mean) > LARGEST_ERROR * std:
        raise AnswerError(
            f"The numbers of the table should have the mean 0; yours is {mean:.2f}. {position}"
        )
    hints = {
        1.0: (
            "The numbers have standard deviation 1, as nn.Embedding draws them (and normal_, if no "
            f"std is given); at the start they need 1/√d_model. {position} √d_model is for forward."
        ),
        1 / D_MODEL: "1/d_model is the variance. The standard deviation is its root.",
        D_MODEL**0.5: "√d_model is the factor of forward; the standard deviation is 1/√d_model.",
        VOCABULARY_SIZE**-0.5: "Use the width of a row, d_model, not the number of rows.",
    }
    for wrong, hint in hints.items():
        refuse_numbers(std, {wrong: hint}, within=LARGEST_ERROR * wrong)
    if abs(std - right) > LARGEST_ERROR * right:
        raise AnswerError(
            f"The standard deviation at the start should be 1/√d_model = {right:.2f}; yours is "
            f"{std:.2f}."
        )
    if float(weight.abs().max()) < LEAST_EXTREME * std:
        raise AnswerError("The mean and the standard deviation are right, but N is *normal*.")


def _require_vectors(embedding: nn.Module, token_ids: Tensor) -> None:
    """Refuse other vectors than the package's, with the same table, and name the usual reasons."""
    package = TokenEmbedding(vocabulary_size=VOCABULARY_SIZE, d_model=D_MODEL)
    try:
        embedding.load_state_dict(package.state_dict())
    except RuntimeError:
        raise AnswerError(
            "Only the table, table.weight, belongs into the module: remove the other parameters "
            "and buffers."
        ) from None
    shape = (*token_ids.shape, D_MODEL)
    received = require_module(embedding, token_ids)
    received = require_shape(received, shape, "(batch, position, d_model)")
    require_gradients(embedding, received)
    rows = package.table.weight[token_ids]
    refuse_mistakes(
        received,
        {
            "The factor is missing: multiply the rows by √d_model.": rows,
            "You multiplied by d_model; the factor is its root.": rows * D_MODEL,
            "You divided by √d_model; the paper multiplies.": rows / math.sqrt(D_MODEL),
            "You divided by d_model; multiply by its root.": rows / D_MODEL,
            "You multiplied by √vocabulary_size; the factor is √d_model.": (
                rows * math.sqrt(VOCABULARY_SIZE)
            ),
            "The rows are scaled to one length. Keep their lengths, and multiply by √d_model.": (
                F.normalize(rows, dim=-1) * math.sqrt(D_MODEL)
            ),
        },
    )
    factor = float(((received * rows).sum() / rows.square().sum()).detach())
    if not close(received, rows * math.sqrt(D_MODEL)) and close(received, factor * rows):
        raise AnswerError(
            f"Your rows are multiplied by {factor:.3g}. √d_model is {math.sqrt(D_MODEL):g} here: "
            "d_model is how many numbers a row has."
        )
    if not close(received, rows * math.sqrt(D_MODEL)):
        raise AnswerError("These are not the rows of the table that belong to the ids.")


@exercise("1.2")
def check_most_similar(answer: Callable[[Tensor, int], int]) -> None:
    """Exercise 1.2: a function (table, token_id) → the other row with the largest cosine."""
    table = TABLE.clone()
    given = ask(answer, table, 0)
    value = given.item() if isinstance(given, Tensor) and given.numel() == 1 else given
    if isinstance(value, float) and abs(value) < 1.01:  # a cosine, and its rounding
        raise AnswerError("That is a cosine, not an id: argmax gives the place of the largest.")
    found = require_number(given, whole=True)
    require_untouched([table], [TABLE])
    if not 0 <= found < len(TABLE):
        raise AnswerError(f"The answer is the id of a row of the table, from 0 to 5; got {found}.")
    asked = [(TABLE, token_id) for token_id in range(len(TABLE))] + [(APART, 0)]
    answers = [require_number(ask(answer, rows.clone(), i), whole=True) for rows, i in asked]
    wanted = [_chosen(_cosines(*each), each[1]) for each in asked]
    if answers == wanted:
        return
    for hint, mistake in _mistaken_choices().items():
        if answers == [mistake(*each) for each in asked]:
            raise AnswerError(hint)
    (rows, token_id), got, right = next(
        each for each in zip(asked, answers, wanted, strict=True) if each[1] != each[2]
    )
    cosines = _cosines(rows, token_id).tolist()
    shown = [[round(x, 2) for x in row] for row in rows.tolist()]
    if got == token_id:
        raise AnswerError("That is the word itself; the exercise asks for another row.")
    if not 0 <= got < len(rows):
        raise AnswerError(f"A table of {len(rows)} rows has no row {got}.")
    raise AnswerError(
        f"For row {token_id} of {shown} you return row {got}, with the cosine "
        f"{cosines[got]:.2f}; row {right} has the cosine {cosines[right]:.2f}."
    )


def _cosines(rows: Tensor, token_id: int) -> Tensor:
    """Of every row with one of them."""
    return F.normalize(rows, dim=1) @ F.normalize(rows[token_id], dim=0)


def _chosen(scores: Tensor, token_id: int) -> int:
    """The row with the largest score, apart from the word's own."""
    return int(scores.index_fill(0, torch.tensor(token_id), -torch.inf).argmax())


def _mistaken_choices() -> dict[str, Callable[[Tensor, int], int]]:
    """What usual mistakes return, by their hints."""
    itself = "That is the word itself; the exercise asks for another row."
    return {
        "That is a cosine, cut to a whole number: argmax gives the place of the largest.": (
            lambda rows, i: int(_cosines(rows, i).index_fill(0, torch.tensor(i), -2.0).max())
        ),
        itself: lambda rows, i: i,
        LONG_ROW: lambda rows, i: _chosen(rows @ rows[i], i),
        f"{LONG_ROW} Your second largest may also be the word itself.": lambda rows, i: int(
            (rows @ rows[i]).topk(2).indices[1]
        ),
        "Divide the product by both lengths; yours is divided by their squares.": (
            lambda rows, i: _chosen((rows @ rows[i]) / rows.square().sum(1), i)
        ),
        "The right row is the next one. Without the word's own row, later ids move by one.": (
            lambda rows, i: int(
                torch.cat([_cosines(rows, i)[:i], _cosines(rows, i)[i + 1 :]]).argmax()
            )
        ),
        "argsort begins with the smallest: your row has the second smallest cosine.": (
            lambda rows, i: int(_cosines(rows, i).argsort()[1])
        ),
        "That row has the smallest cosine: it points the opposite way.": lambda rows, i: int(
            _cosines(rows, i).argmin()
        ),
        "Without its sign, a cosine takes the opposite direction for a similar one.": (
            lambda rows, i: _chosen(_cosines(rows, i).abs(), i)
        ),
        f"{DISTANCE} (A distance can be larger than 2.)": lambda rows, i: int(
            (-(rows - rows[i]).norm(dim=1)).index_fill(0, torch.tensor(i), -2.0).argmax()
        ),
        DISTANCE: (lambda rows, i: _chosen(-(rows - rows[i]).norm(dim=1), i)),
        "All cosines with other words can be negative. A 0, for the word itself or to begin with, "
        "is then the largest.": lambda rows, i: int(
            _cosines(rows, i).index_fill(0, torch.tensor(i), 0.0).argmax()
        ),
    }


@exercise("1.3")
def check_changed_row(answer: Tensor, *, table: Tensor) -> None:
    """Exercise 1.3: the same directions, but the last row has the largest product with the first.

    Args:
        answer: What the reader gave.
        table: The rows of cat, dog and soup, shape (3, 2).
    """
    changed = require_shape(answer, tuple(table.shape), "(word, 2)")
    if close(changed, table):
        raise AnswerError(
            "Your table equals cat_dog_soup. Either your new row is assigned to nothing, or you "
            "have changed both tables: change a clone, and run the cell again."
        )
    if not changed.isfinite().all():
        raise AnswerError("Some numbers are infinite: multiply by a smaller number.")
    if not changed.norm(dim=1).all():
        raise AnswerError("A vector of zeros has no direction: multiply by a larger number.")
    before, after = (F.normalize(rows, dim=1) for rows in (table, changed))
    cosines = after @ after.T
    if not close(cosines, before @ before.T):
        if close(cosines.abs(), (before @ before.T).abs()):
            raise AnswerError("A negative number turns a vector around: use a positive one.")
        raise AnswerError(
            "The cosines have changed. Multiply a whole row by one number: that changes its "
            "length and keeps its direction."
        )
    moved = [i for i in range(len(table)) if not close(changed[i], table[i])]
    if len(moved) > 1:
        raise AnswerError(f"You have changed {len(moved)} rows; one is enough.")
    products, before = changed @ changed[0], table @ table[0]
    if not products[2] > products[1]:
        if moved in ([1], [2]) and products[2] - products[1] > before[2] - before[1]:
            raise AnswerError(
                f"The right row, changed too little: cat · dog is {products[1]:.1f} and cat · soup "
                f"is {products[2]:.1f}."
            )
        raise AnswerError(
            f"cat · dog is {products[1]:.1f} and cat · soup is {products[2]:.1f}. A longer row has "
            "larger products with all others. Which row must be longer, or shorter?"
        )
