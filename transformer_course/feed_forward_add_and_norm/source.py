"""The real source of what a lesson has built, as it stands in the package."""

import inspect
from types import FunctionType, MethodType, ModuleType


def show_source(thing: type | FunctionType | MethodType | ModuleType) -> None:
    """Print where a class, function or module stands and its real source.

    Args:
        thing: Anything written in Python.

    Raises:
        TypeError: If thing has no Python source, such as a number or a built-in.
    """
    try:
        source = inspect.getsource(thing)
    except (TypeError, OSError):
        raise TypeError(
            f"show_source must get a class, function or module written in Python, got {thing!r}"
        ) from None
    module = inspect.getmodule(thing)
    where = module.__name__.replace(".", "/") if module else "here"
    print(f"# {where}.py\n{source.rstrip()}")
