"""The three outcomes of an exercise: waiting, a hint for the mistake, correct."""

import copy
import dis
import functools
import inspect
import os
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from pathlib import Path
from types import CodeType, FunctionType

import torch
from torch import Tensor, nn

from transformer_course.my_transformer import FILE

# Where code stands that the reader has not written.
NOT_THE_READERS = (
    sysconfig.get_path("stdlib"),
    str(Path(torch.__file__).parent),
    *(str(Path(__file__).parents[2] / name) for name in ("transformer_course", "transformer_edu")),
)
WHOLE = (
    "A size is a whole number, and yours is not. Is it a rate, or divided with / in place of //?"
)
MISTAKES_IN_PYTHON = {
    "Module.__init__() call": "Begin __init__ with super().__init__().",
    "super(type, obj)": "Before Python 3.12, super() does not work inside a comprehension: write a "
    "for loop.",
    "found element of type float": WHOLE,
    "tuple of ints,but got float": WHOLE,
    "'tqdm' object is not subscriptable": "The batches come with a progress bar, which has no "
    "index: write `for batch in batches:`.",
    "with more than one value is ambiguous": "Python's if, and, or, not and max decide by one "
    "value; a tensor has many. Use & | ~ or a method of the tensor. (Whether there is a mask: "
    "`if mask is not None:`.)",
    "unary ~: 'NoneType'": "Here mask is None: ask `if mask is not None:` before it is used.",
    "masked_fill() received an invalid combination of arguments - got (NoneType": "Here mask is "
    "None: ask `if mask is not None:` before it is used.",
    "'Tensor' and 'Linear'": "A layer is called with a tensor: query_projection(query).",
    "torch.nn.Parameter or None expected": "A layer's weight is an nn.Parameter: neither a layer, "
    "nor a tensor that was computed from a parameter, as .T does.",
    "does not require grad": "The loss has no gradient: something between the weights and it cuts "
    "it off, as no_grad, detach, item and argmax do.",
    "backward through the graph a second": "backward() runs twice through the same computation: it "
    "is called twice, or an earlier loss is a part of this one.",
    "~ (operator.invert)": "A mask is boolean; yours holds other numbers.",
    "bitwise_and": "`&` joins boolean tensors; one of yours holds other numbers.",
    "Expected target size": "cross_entropy takes logits (batch, vocabulary, position) and labels "
    "(batch, position), with equally many positions.",
    "selected index k out of range": "topk(k) needs at least k numbers, and here there are fewer.",
}
NAN = "Some numbers are NaN, not a number: from 0/0, a row of -inf, or numbers that grew to inf."
NOTHING_ALLOWED = (  # lessons 3 and 4
    "A query without allowed keys gets NaN: from -inf in all its scores, or from 0 / 0."
)


class AnswerError(AssertionError):
    """A wrong answer. A notebook shows its hint alone, without the stack behind it."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not yet. {self}"]


class _StillWaitingError(Exception):
    """A learner's function that still returns the three dots."""


def exercise(
    number: str, *, sizes: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a check into one with three outcomes.

    The decorated check gets the answer first and raises AnswerError with a hint; returning
    means correct. Three dots as the answer print that the exercise is waiting. Any other error that
    an answer causes inside the check becomes a hint, too.

    Args:
        number: The exercise's number, such as "2.1".
        sizes: The lengths of the check's tensors in words, for who reads torch's own errors.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def checked(answer: object, **given: object) -> None:
            try:
                if answer is ...:
                    raise _StillWaitingError
                # Whatever the defaults are, as an interrupt in a no_grad may have left them.
                with torch.device("cpu"), torch.enable_grad():
                    check(_on_cpu(answer), **{name: _on_cpu(it) for name, it in given.items()})
            except _StillWaitingError:
                print(f"Exercise {number} is waiting for you: replace the three dots.")
                return
            except AnswerError as error:
                raise AnswerError(_with_outside(str(error), answer)) from None
            except Exception as error:
                is_of_torch = sizes and isinstance(error, RuntimeError)
                told = f" (The check has {sizes}.)" if is_of_torch else ""
                raise AnswerError(_with_outside(_told(error) + told, answer)) from None
            print(f"Exercise {number} is correct.")

        checked.exercise = number
        return checked

    return decorate


def _told(error: Exception) -> str:
    """An error as a hint: the reader's line that stops, and what Python says of it."""
    words = " ".join(str(error).split())
    for part, hint in MISTAKES_IN_PYTHON.items():
        if part in words:
            return hint
    said = f"{type(error).__name__}: {words}"
    frames = [
        frame
        for frame in reversed(traceback.extract_tb(error.__traceback__))
        if frame.line and not os.path.abspath(frame.filename).startswith(NOT_THE_READERS)
    ]
    # A class of an earlier lesson is correct: the new answer called it with the wrong arguments.
    if frames := [each for each in frames if not each.filename.endswith(FILE)] or frames:
        return f"Your answer could not be used. Python stops at `{frames[0].line}`: {said}"
    if isinstance(error, TypeError) and "argument" in words:
        return f"Your answer could not be used: its arguments are not the scaffold's. {words}"
    return f"Your answer could not be used as the exercise uses it. Python says {said}"


def _with_outside(hint: str, answer: object) -> str:
    """A hint, and what the wrong answer reads from the notebook around it.

    A function, a class or a constant (in capitals) of the notebook may well be meant; a tensor, a
    module, a list or a number is mostly a name that the answer should have got otherwise.
    """
    for function in _functions_of(answer):
        if not inspect.signature(function).parameters:
            continue  # it can get nothing otherwise
        for name in _global_names(function.__code__):
            value = function.__globals__.get(name, ...)
            if name.isupper() or not isinstance(value, Tensor | nn.Module | Real | list | None):
                continue
            shown = value if isinstance(value, Real | None) else f"a {type(value).__name__}"
            shape = f" {tuple(value.shape)}" if isinstance(value, Tensor) else ""
            stop = "" if hint.endswith((".", ")", "?")) else "."
            found = f"takes {name} from the notebook around it, where it is {shown}{shape}"
            return f"{hint}{stop} Your code {found}."
    return hint


def _functions_of(answer: object) -> list[FunctionType]:
    """The reader's functions in an answer: itself, or the methods of a class and of its bases."""
    kinds = answer.mro() if isinstance(answer, type) else []
    methods = [each for kind in kinds for each in vars(kind).values()]
    functions = [inspect.unwrap(each) for each in (answer, *methods) if callable(each)]
    return [
        each
        for each in functions
        if isinstance(each, FunctionType)
        and not os.path.abspath(each.__code__.co_filename).startswith(NOT_THE_READERS)
    ]


def _global_names(code: CodeType) -> list[str]:
    """The names that code, and what is defined inside it, looks up outside of all functions."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    names = [each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"]
    return [*names, *(name for each in inside for name in _global_names(each))]


def _on_cpu(given: object) -> object:
    """A tensor on the CPU; anything else as it is."""
    return given.cpu() if isinstance(given, Tensor) else given


def ask(function: object, *args: object, **kwargs: object) -> object:
    """Call a learner's function, whose three dots mean that it is still waiting.

    Raises:
        AnswerError: If the answer is not a function, or returns nothing.
    """
    if not callable(function):
        raise AnswerError(f"The answer is a function; yours is {type(function).__name__}.")
    answer = function(*args, **kwargs)
    if answer is ...:
        raise _StillWaitingError
    if answer is None:
        raise AnswerError(
            "Your function returns nothing (None): end every way through it with a return."
        )
    return answer


def let_wait(function: object, *args: object) -> None:
    """Wait if a learner's function still returns the three dots; its errors are told later."""
    answer = None
    with suppress(Exception):
        answer = function(*map(copied, args))
    if answer is ...:
        raise _StillWaitingError


def require_module(module: nn.Module, *inputs: object) -> Tensor:
    """The output of a learner's module or function.

    Refuse one that is random, that changes its input, that answers in another type of numbers, or
    whose gradient is not that of its output.

    Args:
        module: The learner's, which has no dropout or is in evaluation.
        inputs: What it is called with. The tensors among them are handed over as copies.
    """
    given = [*map(copied, inputs)]
    output = ask(module, *given)
    require_untouched(given, inputs)
    if isinstance(output, Tensor) and output.isnan().any():
        raise AnswerError(NAN)
    if isinstance(output, Tensor) and not close(ask(module, *inputs), output):
        raise AnswerError(
            "Two calls with the same input differ: something in forward is random, or changes the "
            "module."
        )
    types = [x.dtype for x in inputs if isinstance(x, Tensor) and x.is_floating_point()]
    if isinstance(output, Tensor) and types and output.dtype != types[0]:
        raise AnswerError(
            f"The output must be {types[0]}, as the input is; yours is {output.dtype}."
        )
    if isinstance(output, Tensor) and output.is_floating_point():
        require_true_gradient(module, inputs)
    return output


def require_true_gradient(module: nn.Module, inputs: Sequence[object]) -> None:
    """Refuse a module whose output moves in another way than its gradient says.

    Parameters and inputs take a step in double precision; a module that cannot be computed so is
    not tried.
    """
    with suppress(RuntimeError, TypeError, ValueError):
        exact, *given = map(_in_double, (module, *inputs))
        numbers = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
        if isinstance(exact, nn.Module):
            numbers += [each for each in exact.parameters() if each.requires_grad]
        luck, ends = torch.Generator().manual_seed(0), []
        steps = [torch.randn(x.shape, generator=luck, dtype=x.dtype) for x in numbers]
        for size in (1e-5, -2e-5, 1e-5):  # there, to the other side, and back
            with torch.no_grad():
                for x, step in zip(numbers, steps, strict=True):
                    x.add_(step, alpha=size)
            ends.append(exact(*given).clone())  # it may be an input itself
        slope, output = (ends[0] - ends[1]).detach() / 2e-5, ends[2]
        told = torch.zeros_like(slope)
        if output.requires_grad:
            ones = torch.ones_like(output, requires_grad=True)
            more = {"materialize_grads": True}
            found = torch.autograd.grad(output, numbers, ones, create_graph=True, **more)
            along = sum((each * step).sum() for each, step in zip(found, steps, strict=True))
            (told,) = torch.autograd.grad(along, ones, **more)
        if (told - slope).norm() > 0.02 * slope.norm():  # parts may be computed in float32
            raise AnswerError(
                "The gradient is not that of your output, so a training would learn something "
                "else: detach, no_grad, .data or item() cuts off a part of it."
            )


def copied(given: object) -> object:
    """A copy of a tensor, so that it stays as it is; anything else itself."""
    return given.clone() if isinstance(given, Tensor) else given


def _in_double(given: object) -> object:
    """A copy of a module or of numbers in double precision, with gradient; anything else itself."""
    if isinstance(given, nn.Module):
        exact = copy.deepcopy(given).double()
        for part in exact.modules():
            if isinstance(part, nn.Embedding):
                part.padding_idx = part.max_norm = None  # they keep or scale rows without gradient
        return exact
    is_float = isinstance(given, Tensor) and given.is_floating_point()
    return given.detach().double().requires_grad_() if is_float else given


def require_half(module: nn.Module, *inputs: Tensor) -> None:
    """Refuse a module that stops in half precision, which hides scores with a number of its own."""
    half = copy.deepcopy(module).half()
    try:
        half(*(x.half() if x.is_floating_point() else x for x in inputs))
    except RuntimeError as error:
        if "cannot be converted" in str(error):
            raise AnswerError(
                "Half precision, in which GPUs often compute, has no number as low as yours: hide "
                "with torch.finfo(scores.dtype).min, the lowest of each type."
            ) from None


def require_any_device(module: nn.Module, *inputs: Tensor) -> None:
    """Refuse a module that makes a tensor on the CPU, wherever its inputs are."""
    try:
        copy.deepcopy(module).to("meta")(*(x.to("meta") for x in inputs))
    except RuntimeError as error:
        if "device" in str(error):
            raise AnswerError(
                "It runs on the CPU only: your code makes a tensor there. Make it where its input "
                "is, with device= and the input's own .device."
            ) from None


def require_untouched(given: Sequence[object], before: Sequence[object]) -> None:
    """Refuse a function that has changed the tensors, lists or dictionaries that it was given."""
    for after, original in zip(given, before, strict=True):
        if isinstance(original, Tensor):
            if not close(after, original):
                raise AnswerError(
                    "Your code changes the tensor that it gets, which the caller still needs: "
                    "change a clone, or make a new tensor. (A slice is no copy.)"
                )
        elif after != original:
            what = "dictionary" if isinstance(original, dict) else "list"
            raise AnswerError(
                f"Your code changes the {what} that it gets, which the caller still needs: make a "
                "new one."
            )


def require_gradients(module: nn.Module, output: Tensor) -> None:
    """Refuse a module of whose parameters one cannot learn from this output."""
    names, parameters = zip(*module.named_parameters(), strict=True)
    for name, parameter in zip(names, parameters, strict=True):
        if not parameter.requires_grad:
            raise AnswerError(f"{name} is frozen: it has requires_grad=False and cannot learn.")
    if output.requires_grad:
        found = torch.autograd.grad(output.sum(), parameters, allow_unused=True)
        unused = [name for name, each in zip(names, found, strict=True) if each is None]
    else:
        unused = names
    if unused:
        raise AnswerError(
            f"{unused[0]} gets no gradient, so it cannot learn: forward does not use it, or detach "
            "or no_grad cuts it off."
        )


def require_class(answer: object, name: str) -> None:
    """Raise AnswerError unless the answer is a class of modules.

    Args:
        answer: What the learner gave.
        name: What the class is called.
    """
    if not (isinstance(answer, type) and issubclass(answer, nn.Module)):
        raise AnswerError(f"The answer is the class {name} itself, a subclass of nn.Module.")


def require_shape(answer: object, shape: tuple[int, ...], axes: str) -> Tensor:
    """The answer as a tensor of this shape on the CPU, free of NaN.

    Args:
        answer: What the learner gave, on any device.
        shape: What it must have.
        axes: The axes in words, such as "(query, key)".

    Raises:
        AnswerError: If it is not a tensor, has a different shape, or holds NaN.
    """
    if not isinstance(answer, Tensor):
        raise AnswerError(f"The answer is a tensor {axes}; yours is {type(answer).__name__}.")
    if tuple(answer.shape) != shape:
        raise AnswerError(f"The shape must be {axes} = {shape}; yours is {tuple(answer.shape)}.")
    if answer.is_floating_point() and answer.isnan().any():
        raise AnswerError(NAN)
    return answer.cpu()


def require_number(answer: object, *, whole: bool = False) -> float:
    """The answer as a number, also from a tensor with a single element.

    Args:
        answer: What the learner gave.
        whole: Whether only a whole number can be right.

    Raises:
        AnswerError: If it is not such a number.
    """
    if isinstance(answer, Tensor) and answer.numel() == 1:
        answer = answer.item()
    is_number = isinstance(answer, Real) and not isinstance(answer, bool) and answer == answer
    if not is_number or (whole and answer % 1 != 0):
        shown = f"shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else repr(answer)
        shown = shown if len(shown) < 60 else f"a {type(answer).__name__}"
        kind = "whole number" if whole else "number"
        raise AnswerError(f"The answer is a {kind}; yours is {shown}.")
    return int(answer) if whole else answer


def refuse_mistakes(
    answer: Tensor,
    mistakes: Mapping[str, Tensor],
    same: Callable[[Tensor, Tensor], bool] | None = None,
) -> None:
    """Raise the hint of the usual mistake that leads to this answer, if there is one.

    Args:
        answer: What the learner gave.
        mistakes: What each mistake leads to, by its hint.
        same: Compares two answers; close when None.
    """
    for hint, mistake in mistakes.items():
        if (same or close)(answer, mistake):
            raise AnswerError(hint)


def refuse_numbers(answer: float, hints: Mapping[float, str], *, within: float = 0.0) -> None:
    """Raise a hint if the answer is a known wrong number.

    Args:
        answer: What the learner gave.
        hints: By the number that a mistake leads to.
        within: How far the answer may be from it.
    """
    for number, hint in hints.items():
        if abs(answer - number) <= within:
            raise AnswerError(hint)


def close(answer: Tensor, expected: Tensor, *, equal_nan: bool = False) -> bool:
    """Whether two tensors hold the same numbers, up to rounding."""
    return answer.shape == expected.shape and torch.allclose(
        answer.to(expected.dtype), expected, rtol=1e-4, atol=1e-5, equal_nan=equal_nan
    )
