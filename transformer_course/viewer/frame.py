"""Pages that stand in a frame of a notebook: they bring all they need and load nothing.

A page's policy forbids it to load anything, and lets no script run but its own. The frame keeps
several pages, and the notebook, apart. Its color scheme follows the theme of JupyterLab, of VS Code
or of the course's site, by style sheets alone; the page inside sees it as the reader's preference.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.colors import to_hex

from transformer_course.drawing.display import IN_THE_DARK
from transformer_course.drawing.style import WEIGHT_COLORS

# For weights from 0 to 1, in equal steps.
COLORS = tuple(to_hex(color) for color in matplotlib.colormaps[WEIGHT_COLORS].resampled(64).colors)
NO_SCRIPT = "The controls need a script, which may not run here."
SHARED_STYLE, SHARED_SCRIPT = "live.css", "live.js"

_PAGE = """<!DOCTYPE html>
<html lang='en'>
<head>
<meta charset='utf-8'>
<meta http-equiv='Content-Security-Policy' content="{policy}">
<meta name='viewport' content='width=device-width, initial-scale=1'>
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
<svg width='0' height='0' style='position:absolute' aria-hidden='true'><defs><pattern id='hatch' \
width='5' height='5' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>\
<path class='stripe' d='M0 0V5'/></pattern></defs></svg>
<script type='application/json' data-part='data'>{data}</script>
<script>{script}</script>
</main>
</body>
</html>
"""

# The frame hides the picture after it. Where frames are taken out, or no script may run and the
# page inside has no picture of its own, the picture is what is seen.
_FRAME = """<div class="live-frame {kind}"><style>
.live-frame {{ container-type: inline-size; --view: max(320px, 95vh); }}
.live-frame > iframe {{ width: 100%; height: min(var(--height), var(--view)); \
border: 1px solid #8a94a080; border-radius: 8px; resize: vertical; color-scheme: light dark; }}
[data-jp-theme-light="true"] .live-frame > iframe,
body:is(.vscode-light, .vscode-high-contrast-light) .live-frame > iframe,
html[data-theme="light"] .live-frame > iframe {{ color-scheme: light; }}
[data-jp-theme-light="false"] .live-frame > iframe,
body:is(.vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)) .live-frame > iframe,
html[data-theme="dark"] .live-frame > iframe {{ color-scheme: dark; }}
.live-frame > iframe + img {{ display: none; }}
@container (max-width: 602px) {{ .live-frame > iframe {{ \
height: min(var(--phone-height), var(--view)); }} }}
@media (scripting: none) {{
.live-figure > iframe {{ display: none; }}
.live-figure > iframe + img {{ display: block; }}
}}
{dark}
</style><iframe title="{title}" sandbox="allow-scripts" \
style="--height: {height}px; --phone-height: {phone_height}px" srcdoc="{page}"></iframe>\
{picture}</div>"""


def html_page(
    title: str,
    body: str,
    data: Mapping[str, object],
    scripts: Sequence[str | Path],
    styles: Sequence[str] = (),
) -> str:
    """One page with its style, its data and its script.

    Args:
        title: What stands above, as plain text.
        body: HTML below it, with the parts ``controls``, ``readout`` and ``figure``.
        data: What the scripts find in ``data``, beside the colors of the weights.
        scripts: Files that run after the shared one, as paths or names of files beside this one.
        styles: The names of files beside this one, which come after the shared one.

    Returns:
        A complete HTML document that loads nothing.

    Raises:
        ValueError: If a number in the data is NaN or infinite: a page could not read it.
    """
    script = _script((SHARED_SCRIPT, *scripts))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return _PAGE.format(
        policy="default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'",
        title=html.escape(title),
        style="".join(map(_beside, (SHARED_STYLE, *styles))),
        body=body,
        data=_json({"colors": COLORS, **data}),
        script=script,
    )


def framed(
    page: str,
    title: str,
    height: int,
    *,
    kind: str,
    phone_height: int | None = None,
    picture: str = "",
) -> str:
    """A page in a frame of a notebook, and the picture that stands in for it.

    Args:
        page: What html_page has made.
        title: What the frame is called aloud.
        height: The frame's height in pixels, at a width of 800. It is lower in a low window, so
            that controls and result are seen together.
        kind: The class of the element: ``"live-figure"``, or ``"attention-viewer"``, whose page
            has a picture of its own for where no script may run.
        phone_height: The frame's height where its page is at most 600 pixels wide; None for the
            same.
        picture: The still picture as an image element; empty for none.

    Returns:
        One element of HTML for a notebook's output.
    """
    return _FRAME.format(
        dark=IN_THE_DARK,
        kind=kind,
        title=html.escape(title),
        height=height,
        phone_height=phone_height or height,
        page=page.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;"),
        picture=picture,
    )


def _script(names: Sequence[str | Path]) -> str:
    """The page's whole script, with names of its own, without the lines that are comments."""
    shared, *own = (re.sub(r"(?m)^ *//.*\n", "", _beside(name)) for name in names)
    # In a block of their own, a figure's names may be the same as the shared ones.
    return "\n".join(['(() => {\n"use strict";', shared, "{", *own, "}})();\n"])


def _beside(name: str | Path) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _json(data: object) -> str:
    """JSON that may stand in a script element, whatever the texts in it: pure ASCII, no markup."""
    try:
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise ValueError("data must have finite numbers only, got NaN or infinity") from error
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
