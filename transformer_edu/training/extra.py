"""Libraries that only the real translator needs: asked for when they are used, not before."""

from importlib import import_module
from types import ModuleType


def import_extra(name: str) -> ModuleType:
    """Import a library of the extra ``data``, or say how to get it.

    Args:
        name: Of the library: tokenizers, sacrebleu or pooch.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{name} must be installed for this, got no such library: pip install "
            f'"transformer-edu[data]"',
            name=name,
        ) from error
