"""What the front-end or an explorer's controls would get, caught for the tests of what is shown."""

import html
import re
from collections.abc import Callable
from types import ModuleType

import pytest

from transformer_course.drawing import display as display_module


def caught_bundles(patch: pytest.MonkeyPatch, display: ModuleType) -> list[dict]:
    """What this module will publish: one record of data and metadata per bundle."""
    bundles: list[dict] = []

    def receive(data: dict, *, metadata: dict, raw: bool) -> None:
        assert raw, "a bundle is published as it is"
        bundles.append({"data": data, "metadata": metadata})

    patch.setattr(display, "display", receive)
    return bundles


def published_page(show: Callable[..., None], *given: object, **named: object) -> str:
    """The page out of the frame that a call publishes."""
    return page_in(published_element(show, *given, **named))


def page_in(element: str) -> str:
    """The page out of this frame."""
    (srcdoc,) = re.findall(r'srcdoc="([^"]*)"', element)
    return html.unescape(srcdoc)


def published_element(show: Callable[..., None], *given: object, **named: object) -> str:
    """The frame that a call of view_… or of show_…_live publishes, and what stands beside it."""
    with pytest.MonkeyPatch.context() as patch:
        bundles = caught_bundles(patch, display_module)
        show(*given, **named)
    (bundle,) = bundles
    return bundle["data"]["text/html"]


def caught_explorers(patch: pytest.MonkeyPatch, explorers: ModuleType) -> list[tuple]:
    """What this module will hand to explore: the drawing, the words and the controls of each."""
    calls: list[tuple] = []

    def receive(draw: object, alt: object, **controls: object) -> None:
        calls.append((draw, alt, controls))

    patch.setattr(explorers, "explore", receive)
    return calls
