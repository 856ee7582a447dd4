"""The ways a lesson shows something: a figure, and a figure with controls.

Both publish a plain picture with its alternative text, so that nothing is lost on GitHub, in
exported HTML or on slides; controls come on top where a live kernel is.
"""

import base64
import html
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import ipywidgets as widgets
import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN_AT = 100  # pixels of a page to the inch
DOTS_PER_INCH = 2 * SHOWN_AT  # of a picture: sharp on screens with small pixels
MARGIN = 0.1  # inches of white around a picture
NUM_COLORS = 128  # in one picture: fewer bytes, and no visible difference

# In a dark theme pictures are turned dark and keep their hues: white paper becomes black. One with
# a heat map keeps its colors, because lessons speak of bright cells, and of white ones. A
# picture alone cannot bring a rule along; every question and every live figure brings this one, for
# all pictures of its notebook or page, and so it holds in JupyterLab, in VS Code and on the site.
IN_THE_DARK = """@media screen {
:is([data-jp-theme-light="false"] .jp-OutputArea-output,
body:is(.vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)) .output,
html[data-theme="dark"] .cell_output) img {
filter: var(--in-the-dark, invert(1) hue-rotate(180deg)) !important; }
img:is(.jp-needs-light-background, [alt$=" "]) { --in-the-dark: none; }
}"""
PAPER = "Background"  # what a picture file says under this name: it needs a light one

# The live element hides the picture after it. Where it is taken out, or no script may run, the
# picture is what remains.
_LIVE = """<style>.live-explorer > :first-child + img {{ display: none; }}
@media (scripting: none) {{
.live-explorer > :first-child {{ display: none; }}
.live-explorer > :first-child + img {{ display: block; }}
}}</style>
<div class="live-explorer">{element}{image}</div>"""

_kept_back: ContextVar[list["Explorer"] | None] = ContextVar("_kept_back", default=None)


def show(figure: Figure, alt: str | None = None) -> None:
    """Show a figure together with what it says, in words.

    Args:
        figure: Drawn, and closed by this function.
        alt: What a reader who cannot see the picture should know; None for the figure's label,
            where functions that draw can put it.

    Raises:
        TypeError: If figure is not a matplotlib figure.
        ValueError: If alt is empty.
    """
    png = encode_png(figure)  # refuses what is no figure
    alt = figure.get_label() if alt is None else alt
    _require_alt(alt)
    publish(png, alt)


def explore(
    draw: Callable[..., Figure],
    alt: Callable[..., str],
    *,
    also: Sequence[widgets.ValueWidget] = (),
    live: Callable[..., str] | None = None,
    **controls: widgets.ValueWidget,
) -> None:
    """Show a figure with controls that redraw it, and its first state as a still picture.

    Args:
        draw: Takes the controls' values by name and returns the figure.
        alt: Takes the same values and returns the figure in words.
        also: Controls that are linked to one of the others and need no redrawing of their own.
        live: Takes the same values and returns one element of HTML that is shown instead of the
            picture where a front-end can; it needs no kernel. None shows the picture.
        controls: Widgets of ipywidgets' core with a description, by the name of the argument.

    Raises:
        ValueError: If there are no controls, or one has no description to read.
    """
    explorer = build_explorer(draw, alt, also=also, live=live, **controls)
    kept_back = _kept_back.get()
    if kept_back is None:
        png, more = _small_png(explorer.still), _view(explorer.box)
        if live is not None:
            more["text/html"] = _LIVE.format(
                element=explorer.box.children[-1].value, image=image_tag(png, explorer.words)
            )
        publish(png, explorer.words, **more)
    else:
        kept_back.append(explorer)


class Explorer(NamedTuple):
    """A figure with controls, and what stands for it where there is no live kernel."""

    box: widgets.VBox  # the controls and, below them, the picture that they redraw
    still: Image.Image  # the picture of the first state
    words: str  # what it shows


def build_explorer(
    draw: Callable[..., Figure],
    alt: Callable[..., str],
    *,
    also: Sequence[widgets.ValueWidget] = (),
    live: Callable[..., str] | None = None,
    **controls: widgets.ValueWidget,
) -> Explorer:
    """Put controls and the figure that they redraw into one box; nothing is shown.

    Args:
        draw, alt, also, live, controls: As for explore.

    Raises:
        ValueError: As for explore.
    """
    if not controls:
        raise ValueError("explore must get at least one control, got none")
    for control in (*controls.values(), *also):
        if not getattr(control, "description", ""):
            raise ValueError(f"control {type(control).__name__} must have a description, got none")
        control.style.description_width = "min(12em, 52%)"
        control.layout.width, control.layout.max_width = "34em", "100%"
        if isinstance(control, widgets.Checkbox):
            control.indent = False  # its words would be cut off on a phone

    def values() -> dict[str, object]:
        return {name: control.value for name, control in controls.items()}

    first, first_alt = _image(draw(**values())), alt(**values())
    _require_alt(first_alt)
    picture = widgets.HTML(
        live(**values()) if live else image_tag(_quick_png(first), first_alt),
        layout={"max_width": "100%", "overflow": "auto hidden"},  # a wide one scrolls by itself
    )

    def redraw(_: object) -> None:
        try:
            picture.value = (
                live(**values())
                if live
                else image_tag(_quick_png(_image(draw(**values()))), alt(**values()))
            )
        except ValueError as error:  # what the reader has typed is refused
            picture.value = f"<p>{html.escape(_sentence(str(error)))}</p>"
        except Exception as error:  # the traceback of a callback is not shown
            picture.value = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"

    for control in controls.values():
        control.observe(redraw, "value")
    return Explorer(widgets.VBox([*also, *controls.values(), picture]), first, first_alt)


@contextmanager
def explorers_kept_back() -> Iterator[list[Explorer]]:
    """Inside the block explorers are built but not shown, so that they can be measured.

    Yields:
        A list that gets every explorer when it is built.
    """
    kept: list[Explorer] = []
    token = _kept_back.set(kept)
    try:
        yield kept
    finally:
        _kept_back.reset(token)


def publish(png: str, alt: str, **more: object) -> None:
    """Send one bundle: the picture, its words, and whatever else a front-end may prefer.

    Args:
        png: A picture, as encode_png returns it.
        alt: What a reader who cannot see the picture should know.
        more: Other forms of the same, by their media type.
    """
    bundle = {"image/png": png, "text/plain": alt, **more}
    metadata: dict[str, object] = {"image/png": {"alt": alt, "width": shown_width(png)}}
    metadata["vscode_altText"] = alt
    if keeps_its_colors(png):  # as JupyterLab is told, and as IN_THE_DARK sees in VS Code
        metadata |= {"needs_background": "light", "vscode_altText": f"{alt} "}
    display(bundle, metadata=metadata, raw=True)


def _view(widget: widgets.DOMWidget) -> dict[str, object]:
    """What tells a front-end to show a widget, where there is a live kernel."""
    return {WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}}


def encode_png(figure: Figure, dots_per_inch: int = DOTS_PER_INCH) -> str:
    """The figure as base64 text, the same bytes every time; the figure is closed.

    Args:
        figure: Drawn.
        dots_per_inch: The picture's resolution; it is shown at the same size whatever this is.

    Returns:
        A PNG file with a palette of NUM_COLORS.

    Raises:
        TypeError: If figure is not a matplotlib figure.
    """
    return _small_png(_image(figure, dots_per_inch), dots_per_inch)


def _image(figure: Figure, dots_per_inch: int = DOTS_PER_INCH) -> Image.Image:
    """The figure's pixels, with as little white around as there may be; the figure is closed."""
    if not isinstance(figure, Figure):
        raise TypeError(f"figure must be a matplotlib Figure, got {type(figure).__name__}")
    buffer = io.BytesIO()
    figure.set_dpi(dots_per_inch)  # letters are a little wider or narrower at another resolution
    try:
        # What savefig would do with bbox_inches="tight", but without drawing everything twice.
        if engine := figure.get_layout_engine():
            engine.execute(figure)
            figure.set_layout_engine(None)
        figure.savefig(
            buffer,
            format="png",
            dpi=dots_per_inch,
            bbox_inches=figure.get_tightbbox().padded(MARGIN),
            facecolor="white",
            pil_kwargs={"compress_level": 0},  # it is read again at once
        )
    finally:
        plt.close(figure)
    with Image.open(buffer) as picture:
        image = picture.convert("RGB")
    if any(axes.images for axes in figure.axes):
        image.info[PAPER] = "light"
    return image


def _small_png(image: Image.Image, dots_per_inch: int = DOTS_PER_INCH) -> str:
    """For a picture that is kept: with a palette, in as few bytes as possible."""
    palette = image.quantize(
        NUM_COLORS, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    palette.info |= image.info
    return _png(palette, dots_per_inch, optimize=True)


def _quick_png(image: Image.Image) -> str:
    """For a picture that a reader waits for: in as little time as possible."""
    return _png(image, DOTS_PER_INCH, compress_level=1)


def _png(image: Image.Image, dots_per_inch: int, **options: bool | int) -> str:
    buffer, notes = io.BytesIO(), PngInfo()
    if PAPER in image.info:
        notes.add_text(PAPER, image.info[PAPER])
    dpi = (dots_per_inch, dots_per_inch)
    image.save(buffer, format="PNG", dpi=dpi, pnginfo=notes, **options)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def shown_width(png: str) -> int:
    """How wide a picture is on a page, in the page's pixels.

    Args:
        png: A picture, as encode_png returns it.
    """
    picture = _opened(png)
    return round(picture.width * SHOWN_AT / picture.info["dpi"][0])


def keeps_its_colors(png: str) -> bool:
    """Whether a picture stays as it is in a dark theme.

    Args:
        png: A picture, as encode_png returns it.
    """
    return PAPER in _opened(png).info


def _opened(png: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(png)))


def image_tag(png: str, alt: str) -> str:
    """An image element in HTML, as wide as the page has room for and never wider than meant.

    Args:
        png: A picture, as encode_png returns it.
        alt: What a reader who cannot see the picture should know, as plain text.
    """
    kept = 'class="jp-needs-light-background" ' if keeps_its_colors(png) else ""
    return (
        f'<img {kept}style="max-width: 100%" width="{shown_width(png)}" alt="{html.escape(alt)}" '
        f'src="data:image/png;base64,{png}">'
    )


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].removesuffix('.')}."


def _require_alt(alt: str) -> None:
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt must say in words what the figure shows, got {alt!r}")
