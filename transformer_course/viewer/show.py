"""Looking at all the attention of a model: every layer, every head, every token.

One picture to point at, in JupyterLab, Colab, VS Code and exported pages; where no script may run,
its first state stands still.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.display import SHOWN_AT, encode_png, image_tag, publish
from transformer_course.looking.attention_maps import (
    AttentionMap,
    maps_of_model,
    maps_of_weights,
    printable,
)
from transformer_course.viewer.frame import framed
from transformer_course.viewer.page import (
    VIEWS,
    Start,
    frame_height,
    place_in_words,
    plot_still,
    viewer_page,
)
from transformer_edu.model.refusals import require_whole

MODEL_TITLE = "What every token attends to"
MOST_TOKENS_IN_WORDS = 12  # in the alternative text


class AttentionViewer(NamedTuple):
    """What there is to see, and what is seen first.

    Args:
        maps: The layers, at least one.
        start: What is shown first.
        title: What stands above, as a sentence.
    """

    maps: list[AttentionMap]
    start: Start
    title: str

    def still(self) -> Figure:
        """The first state, drawn by matplotlib."""
        first, place = self._first()
        return plot_still(first, self.start.head, self.start.view, f"{self.title}\n{place}")

    def words(self) -> str:
        """The first state in words."""
        first, place = self._first()
        said = _in_words(first, self.start.head)
        return f"{self.title}, a still picture. {place}. {said}"

    def element(self, picture: str = "") -> str:
        """The viewer as one element of HTML.

        Args:
            picture: The still picture as an image element, for where no script may run.
        """
        page = viewer_page(*self, alt=self.words())
        return framed(
            page,
            self.title,
            frame_height(self.maps),
            kind="live-figure attention-viewer",
            phone_height=frame_height(self.maps, on_phone=True),
            picture=picture,
        )

    def _first(self) -> tuple[AttentionMap, str]:
        first = self.maps[self.start.map]
        return first, place_in_words(first, self.start.head)


def view_attention(
    attention: Mapping[str, Tensor],
    *,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str] | None = None,
    sentence: int = 0,
    start: str | None = None,
    head: int = 1,
    view: str = "lines",
) -> None:
    """Show all attention of an encoder–decoder: every map small, those that one chooses large.

    ::

        with record_attention(model) as attention:
            model(source_ids, target_ids)
        view_attention(attention, source_tokens=["the", "cat"], target_tokens=["<s>", "die"])

    The weights are shown to 0.00001; what a mask hides is exactly 0 and is hatched in the grid.

    Args:
        attention: What ``record_attention`` recorded: weights by the layer's name, each
            (batch, heads, query, key), from 0 to 1.
        source_tokens: What the encoder read, at most 128.
        target_tokens: What the decoder read, at most 128; None where only the encoder ran. A row
            is named after the token that it reads and the next one, which it writes.
        sentence: Which sentence of the batch, counted from 0.
        start: The name of the layer that is shown first; None for the encoder's first.
        head: The head that is shown first, counted from 1.
        view: How it is shown first, ``"lines"`` or ``"grid"``.

    Raises:
        TypeError: If attention is no mapping to tensors, or the tokens are no lists of texts.
        ValueError: If the tokens do not fit, a weight is not from 0 to 1, there is too much to
            show, or start, head or view names nothing there is.
        IndexError: If the batch has no such sentence.
    """
    tokens = {"source_tokens": source_tokens, "target_tokens": target_tokens}
    maps = maps_of_model(attention, **tokens, sentence=sentence)
    _publish_viewer(model_viewer(maps, start, head, view))


def view_weights(
    weights: Tensor | Mapping[str, Tensor],
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    sentence: int = 0,
    head: int = 1,
    view: str = "lines",
) -> None:
    """Show the attention of any model, yours too: one layer, or several by name.

    Args:
        weights: From 0 to 1, shape (batch, heads, query, key) or (heads, query, key); or several
            such by name, which all have these tokens.
        query_tokens: The queries' tokens, at most 128.
        key_tokens: The keys' tokens, at most 128.
        title: What the reader should see, as a sentence.
        sentence: Which sentence of the batch, counted from 0.
        head: The head that is shown first, counted from 1.
        view: How it is shown first, ``"lines"`` or ``"grid"``.

    Raises:
        TypeError: If weights is no tensor or mapping to tensors, or the tokens no lists of texts.
        ValueError: If the tokens do not fit, a weight is not from 0 to 1, there is too much to
            show, the title is empty, or head or view names nothing there is.
        IndexError: If the batch has no such sentence.
    """
    _publish_viewer(_of_weights(weights, (query_tokens, key_tokens), title, sentence, (head, view)))


def model_viewer(
    maps: list[AttentionMap], start: str | None = None, head: int = 1, view: str = "lines"
) -> AttentionViewer:
    """The viewer of an encoder–decoder, not shown yet.

    Args:
        maps: From maps_of_model.
        start, head, view: As for view_attention.

    Raises:
        ValueError: If start, head or view names nothing there is.
    """
    return AttentionViewer(maps, _start(maps, start, head, view), MODEL_TITLE)


def _of_weights(
    weights: Tensor | Mapping[str, Tensor],
    tokens: tuple[Sequence[str], Sequence[str]],
    title: str,
    sentence: int,
    first: tuple[int, str],
) -> AttentionViewer:
    if not isinstance(title, str) or not title.strip():
        raise ValueError(f"title must be a sentence to read off, got {title!r}")
    query_tokens, key_tokens = tokens
    maps = maps_of_weights(
        weights, query_tokens=query_tokens, key_tokens=key_tokens, sentence=sentence
    )
    return AttentionViewer(maps, _start(maps, None, *first), printable(title, longest=None))


def _start(maps: Sequence[AttentionMap], name: str | None, head: int, view: str) -> Start:
    """What is shown first, refused where there is no such thing."""
    names = [each.name for each in maps]
    if name is not None and name not in names:
        raise ValueError(f"start must be one of {', '.join(names)}, got {name!r}")
    place = 0 if name is None else names.index(name)
    require_whole("head", head)
    if head > len(maps[place].weights):
        raise ValueError(f"head must be at most {len(maps[place].weights)}, got {head}")
    if view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, got {view!r}")
    return Start(place, head - 1, view)


def _publish_viewer(viewer: AttentionViewer) -> None:
    """Send the viewer and its still picture in one bundle."""
    alt = viewer.words()
    with warnings.catch_warnings():
        # The page shows every script's letters; the still picture has boxes for some.
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # noqa: TID251
        png = encode_png(viewer.still(), SHOWN_AT)
    publish(png, alt, **{"text/html": viewer.element(image_tag(png, alt))})


def _in_words(attention_map: AttentionMap, head: int) -> str:
    """What each of the first tokens attends to most."""
    favorites = [
        f"{token} to {attention_map.keys.tokens[int(np.argmax(row))]} ({row.max():.2f})"
        if row.any()
        else f"{token} to nothing"
        for token, row in zip(
            attention_map.queries.rows(), attention_map.weights[head], strict=True
        )
    ]
    more = ", …" if len(favorites) > MOST_TOKENS_IN_WORDS else ""
    said = ", ".join(favorites[:MOST_TOKENS_IN_WORDS]) + more
    return f"Largest weights: {said}"
