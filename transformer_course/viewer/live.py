"""Live figures: pictures in a notebook that a reader changes, without a kernel.

A live figure is one script on top of ``live.js``, whose first lines list what a script finds there.
It stands beside its Python side, under the same name: ``live_lookup.js`` beside ``live_lookup.py``.
The Python side calls::

    show_live(
        __file__,                     # finds the script
        {"query": [1, 2]},            # small, what JSON can hold; the script's ``data``
        title="What the reader sees", # stands above, and is the frame's name
        still=figure,                 # of matplotlib: the first state
        alt="the first state in words",
        height=560,                   # of the frame, in pixels, at a width of 800
        phone_height=760,             # of the frame, where it is at most 600 wide
    )

The still picture stands after the frame, and is seen where frames or scripts are not allowed.
live_element returns the frame alone, for ``explore(live=…)``. Free texts in the data should go
through ``printable``. A page has at most MOST_BYTES.
"""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from transformer_course.drawing.display import SHOWN_AT, encode_png, image_tag, publish
from transformer_course.viewer.frame import NO_SCRIPT, framed, html_page

MOST_BYTES = 200_000  # of a page
KIND = "live-figure"

# Until the script draws, and where it may not run, the words stand in the picture's place.
_BODY = """<div class='controls' data-part='controls' hidden></div>
<p class='readout' data-part='readout' role='region' aria-label='Readout' aria-live='polite'>\
{still}</p>
<div class='figure' role='region' aria-label='Figure' data-part='figure'><p>{alt}</p></div>"""


def show_live(
    file: str | Sequence[str],
    data: Mapping[str, object],
    *,
    title: str,
    still: Figure,
    alt: str | None = None,
    height: int,
    phone_height: int,
) -> None:
    """Publish a live figure and its still picture in one bundle.

    Args:
        file: The caller's ``__file__``. The figure's script is the file beside it with the same
            name and the ending ``.js``. Several such files: their scripts run in this order.
        data: What the script finds in ``data``.
        title: What stands above, as a sentence.
        still: The first state, drawn by matplotlib; closed by this function.
        alt: The first state in words; None for the figure's label.
        height: The frame's height in pixels, at a width of 800.
        phone_height: The frame's height where its page is at most 600 pixels wide.
    """
    alt = still.get_label() if alt is None else alt
    png = encode_png(still, SHOWN_AT)  # seldom seen: few bytes will do
    picture = image_tag(png, alt)
    page = live_page(file, data, title=title, alt=alt)
    element = framed(page, title, height, kind=KIND, phone_height=phone_height, picture=picture)
    publish(png, alt, **{"text/html": element})


def live_element(
    file: str | Sequence[str],
    data: Mapping[str, object],
    *,
    title: str,
    alt: str,
    height: int,
    phone_height: int,
) -> str:
    """A live figure as one element of HTML, without a still picture.

    Args:
        file, data, title, alt, height, phone_height: As for show_live.
    """
    page = live_page(file, data, title=title, alt=alt)
    return framed(page, title, height, kind=KIND, phone_height=phone_height)


def live_page(
    file: str | Sequence[str], data: Mapping[str, object], *, title: str, alt: str
) -> str:
    """The page of a live figure.

    Args:
        file, data, title, alt: As for show_live.

    Raises:
        ValueError: If alt has no words, a number in the data is not finite, or the page is larger
            than MOST_BYTES.
    """
    if not alt.strip():
        raise ValueError(f"alt must say the first state in words, got {alt!r}")
    body = _BODY.format(still=NO_SCRIPT, alt=html.escape(alt))
    files = [file] if isinstance(file, str) else file
    scripts = [Path(each).with_suffix(".js") for each in files]
    page = html_page(title, body, data, scripts)
    if (size := len(page.encode())) > MOST_BYTES:
        raise ValueError(f"a page must have at most {MOST_BYTES} bytes, got {size}")
    return page
