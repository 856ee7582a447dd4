"""Links between words that light up where a reader points: one element of HTML, without a script.

The picture is plot_marked_links of figures/attention_flow.py, drawn as SVG; style sheets alone
bring out the word under the pointer, or the one that was reached with Tab.
"""

import html
from collections.abc import Sequence

from torch import Tensor

from transformer_edu.teaching.inspect.attention_maps import columns, printable
from transformer_edu.teaching.style import VERMILION

CHARACTER, APART, MARGIN = 10.6, 26, 12  # pixels: a character, between words, at both ends
UPPER, LOWER, HEIGHT = 62, 258, 320  # pixels: the middles of the two rows of words, and all
FAINTEST, SAID = 0.04, 0.1  # weights below are not drawn, are not written as a percentage
QUIET = "#8A94A0"

_STYLE = f"""<style>
.attention-links {{ overflow-x: auto; }}
.attention-links svg {{ display: block; font: 18px system-ui, sans-serif; }}
.attention-links text {{ fill: currentColor; text-anchor: middle; pointer-events: none; }}
.attention-links .row {{ text-anchor: start; font-size: 14px; opacity: 0.75; }}
.attention-links .word {{ cursor: pointer; outline: none; }}
.attention-links .word path {{ stroke: {QUIET}; opacity: 0.4; pointer-events: none; }}
.attention-links .hit {{ fill: transparent; stroke: {QUIET}; stroke-opacity: 0.5; }}
.attention-links .said {{ opacity: 0; pointer-events: none; }}
.attention-links .said rect {{ fill: {VERMILION}; }}
.attention-links .said text {{ font-size: 13px; }}
.attention-links .word:is(:hover, :focus, .first) path {{ stroke: {VERMILION}; opacity: 0.9; }}
.attention-links .word:is(:hover, :focus, .first) .said {{ opacity: 1; }}
.attention-links .word:is(:hover, :focus, .first) .hit {{ stroke: {VERMILION}; stroke-opacity: 1; }}
.attention-links svg:is(:hover, :focus-within) .first:not(:hover, :focus) path
 {{ stroke: {QUIET}; opacity: 0.4; }}
.attention-links svg:is(:hover, :focus-within) .first:not(:hover, :focus) .said {{ opacity: 0; }}
.attention-links svg:is(:hover, :focus-within) .first:not(:hover, :focus) .hit
 {{ stroke: {QUIET}; stroke-opacity: 0.5; }}
</style>"""


def links_element(
    attention_weights: Tensor,
    *,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> str:
    """Draw which words are attended to; the word that is pointed at shows its weights.

    Args:
        attention_weights: Weights of one head, shape (query, key).
        query_words: The upper row, German words.
        key_words: The lower row, English words.
        marked: Which query is brought out until the reader points at one.

    Returns:
        One element of HTML that loads nothing and runs no script.
    """
    rows = attention_weights.detach().float().cpu().tolist()
    width = max(_width(query_words), _width(key_words), 360)
    upper, lower = (_places(words, width) for words in (query_words, key_words))
    groups = [
        _group(word, x, row, list(zip(key_words, lower, strict=True)), is_first=place == marked)
        for place, (word, x, row) in enumerate(zip(query_words, upper, rows, strict=True))
    ]
    english = [_text(word, x, LOWER) for word, x in zip(key_words, lower, strict=True)]
    about = "German words above, English words below; each German word says what it attends to"
    return (
        f'<div class="attention-links">{_STYLE}'
        f'<svg viewBox="0 0 {width:.0f} {HEIGHT}" width="{width:.0f}" height="{HEIGHT}" '
        f'role="group" aria-label="{about}">'
        f'<text class="row" x="{MARGIN}" y="20">next German word: point at one</text>'
        f'<text class="row" x="{MARGIN}" y="{HEIGHT - 6}">English input</text>'
        f"{''.join(groups)}{''.join(english)}</svg></div>"
    )


def _group(
    word: str, x: float, row: list[float], keys: list[tuple[str, float]], *, is_first: bool
) -> str:
    """A German word, its links, and the English words that light up with it."""
    paths, said = [], []
    for weight, (key, end) in zip(row, keys, strict=True):
        if weight < FAINTEST:
            continue
        paths.append(
            f'<path d="M{x:.0f} {UPPER + 17}L{end:.0f} {LOWER - 17}" fill="none" '
            f'stroke-width="{0.6 + 9 * weight:.1f}" stroke-linecap="round"/>'
        )
        said.append(_box(key, end, LOWER, f'fill-opacity="{0.75 * weight:.2f}"'))
        if weight >= SAID:
            said.append(_text(f"{weight:.0%}", end, LOWER + 34))
    best = keys[max(range(len(row)), key=row.__getitem__)][0]
    label = html.escape(f"{printable(word)} attends most to {printable(best)}")
    around = _box(word, x, UPPER, 'class="hit"')
    return (
        f'<g class="word{" first" if is_first else ""}" tabindex="0" role="img" '
        f'aria-label="{label}">{"".join(paths)}<g class="said">{"".join(said)}</g>'
        f"{around}{_text(word, x, UPPER)}</g>"
    )


def _box(word: str, x: float, y: float, attributes: str) -> str:
    """A rectangle behind a word."""
    half = columns(printable(word)) * CHARACTER / 2 + 8
    return (
        f'<rect x="{x - half:.0f}" y="{y - 16}" width="{2 * half:.0f}" height="32" rx="6" '
        f"{attributes}/>"
    )


def _text(word: str, x: float, y: float) -> str:
    return f'<text x="{x:.0f}" y="{y + 6}">{html.escape(printable(word))}</text>'


def _width(words: Sequence[str]) -> float:
    """The room that a row of words needs."""
    return 2 * MARGIN + sum(columns(printable(word)) * CHARACTER + APART for word in words)


def _places(words: Sequence[str], width: float) -> list[float]:
    """The middle of each word, the words spread over the whole width."""
    spare = (width - _width(words)) / len(words)
    places, end = [], float(MARGIN)
    for word in words:
        room = columns(printable(word)) * CHARACTER + APART + spare
        places.append(end + room / 2)
        end += room
    return places
