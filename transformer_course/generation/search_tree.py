"""Beam search as a tree, and how the length penalty compares short and long sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle
from matplotlib.path import Path

from transformer_course.drawing.style import BLACK, BLUE, GRAY, literal, styled
from transformer_edu.generation.hypotheses import BeamStep, Branch, length_penalty
from transformer_edu.model.special_ids import START_ID

NODE_WIDTH, NODE_HEIGHT = 0.74, 0.7  # of the distance to the next node
# In inches: the distance between nodes, the room on the left, above and below.
STEP_WIDTH, ROW_HEIGHT, LEAST_WIDTH, MOST_WIDTH = 1.3, 0.72, 6.5, 10
LEFT, ABOVE, BELOW, LEGEND = 0.6, 0.4, 1.0, 0.62


LETTER = 0.72  # of a bold letter's size: how wide it is


class Look(NamedTuple):
    """How a branch is drawn; color is never all that tells two looks apart."""

    name: str
    line: str
    line_width: float
    dashes: str | tuple
    fill: str
    ink: str
    weight: str


DROPPED = Look("dropped, or never finished", GRAY, 1.2, (0, (3, 2)), "white", "#5C6670", "normal")
KEPT = Look("kept or finished", BLACK, 2.0, "-", "white", BLACK, "bold")
BEST = Look("best finished so far", BLUE, 3.5, "-", BLUE, "white", "bold")


@styled
def plot_beam_tree(
    steps: Sequence[BeamStep],
    *,
    tokens: Sequence[str],
    title: str,
    until: int | None = None,
) -> Figure:
    """Draw what a beam search has kept for its first source, one column for each step.

    A node shows its token and the log-probability up to it; an end token shows its score. The best
    is at the top. The path to the best finished hypothesis is blue and thick; what was dropped
    later is gray and dashed.

    Args:
        steps: The records of the search, from its first step on.
        tokens: The token of every id.
        title: What the reader should see, as a sentence.
        until: The last step to draw; all of them when None. The size does not depend on it.

    Returns:
        A new figure.
    """
    columns = branches_by_step(steps)
    require_tokens(columns, tokens)
    shown = columns[: len(columns) if until is None else until + 1]
    axes = _new_axes(len(columns), max(map(len, columns)))
    looks = _looks(shown, is_all=len(shown) == len(columns))
    edges: list[tuple[Path, Look]] = []
    boxes: list[tuple[Path, Look]] = []
    for step, branches in enumerate(shown):
        for place, branch in enumerate(branches):
            look = looks[step][place]
            if step > 0:
                edges.append((_edge((step - 1, branch.parent), (step, place)), look))
            boxes.append((_box((step, place), is_round=branch.finished), look))
            _write_node(axes, (step, place), branch, tokens[branch.token_id], look)
    edges.sort(key=lambda edge: edge[1].line_width)  # the thickest on top
    _draw_shapes(axes, edges, is_filled=False, zorder=2)
    _draw_shapes(axes, boxes, is_filled=True, zorder=3)
    for artist in (*axes.texts, *axes.collections):
        artist.set_in_layout(False)  # they lie inside the axes: nothing to measure when saved
    axes.set_title(title, parse_math=False)
    return axes.figure


def describe_beam_tree(
    steps: Sequence[BeamStep], *, tokens: Sequence[str], until: int | None = None
) -> str:
    """The tree in words: what the last step that is drawn keeps, and what has finished."""
    columns = branches_by_step(steps)
    last = len(columns) - 1 if until is None else until

    def words(places: list[int]) -> str:
        ids = [columns[n][place].token_id for n, place in enumerate(places)][1:]
        return " ".join(tokens[token_id] for token_id in ids)

    kept = [
        f"{words(path_to(columns, last, place))} ({branch.log_probability:.2f})"
        for place, branch in enumerate(columns[last])
    ]
    done = sorted(finished_sentences(steps[:last]), key=lambda each: -each.score)
    said = [f"{words(each.places)} (score {each.score:.2f})" for each in done] or ["nothing"]
    return (
        f"tree of hypotheses, step {last} of {len(steps)}, keeps with log-probabilities: "
        f"{', '.join(kept)}; finished, best first: {', '.join(said)}"
    )


def _looks(columns: Sequence[Sequence[Branch]], *, is_all: bool) -> list[list[Look]]:
    """How every branch looks, by what has become of it up to the last column."""
    looks = [[DROPPED] * len(branches) for branches in columns]
    best: list[int] = []
    best_score = float("-inf")
    for step, branches in enumerate(columns):
        is_last = step == len(columns) - 1
        for place, branch in enumerate(branches):
            if branch.finished or (is_last and (branch.continues or not is_all)):
                places = path_to(columns, step, place)
                for earlier, at in enumerate(places):
                    looks[earlier][at] = KEPT
                if branch.finished and branch.score > best_score:
                    best, best_score = places, branch.score
    for step, place in enumerate(best):
        looks[step][place] = BEST
    return looks


def _edge(parent: tuple[float, float], child: tuple[float, float]) -> Path:
    """The curve from one node to the next."""
    left, right = parent[0] + NODE_WIDTH / 2, child[0] - NODE_WIDTH / 2
    middle = (left + right) / 2
    way = [(left, parent[1]), (middle, parent[1]), (middle, child[1]), (right, child[1])]
    return Path(way, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])


def _box(place: tuple[float, float], *, is_round: bool) -> Path:
    """The outline of a node."""
    corner = (place[0] - NODE_WIDTH / 2, place[1] - NODE_HEIGHT / 2)
    outline = BoxStyle.Round(pad=0, rounding_size=0.3 if is_round else 0.06)
    return outline(*corner, NODE_WIDTH, NODE_HEIGHT, 1)


def _draw_shapes(
    axes: Axes, shapes: Sequence[tuple[Path, Look]], *, is_filled: bool, zorder: float
) -> None:
    """Draw them all as one artist: many take several times as long."""
    paths, looks = [path for path, _ in shapes], [look for _, look in shapes]
    axes.add_artist(
        PathCollection(
            paths,
            facecolors=[look.fill for look in looks] if is_filled else "none",
            edgecolors=[look.line for look in looks],
            linewidths=[look.line_width for look in looks],
            linestyles=[look.dashes for look in looks],
            zorder=zorder,
        )
    )


def _write_node(
    axes: Axes, place: tuple[float, float], branch: Branch, token: str, look: Look
) -> None:
    """A token and its number."""
    x, y = place
    inch = axes.bbox.width / axes.figure.dpi / abs(axes.get_xlim()[1] - axes.get_xlim()[0])
    letters = max(4, len(token))
    size = min(12, 72 * NODE_WIDTH * inch / (LETTER * letters))  # long searches have narrow boxes
    number = f"{branch.score if branch.finished else branch.log_probability:.2f}"
    style = {"ha": "center", "va": "center", "color": look.ink, "zorder": 4}
    axes.text(x, y - 0.15, literal(token), fontsize=size, fontweight=look.weight, **style)
    axes.text(x, y + 0.19, number.replace("-", "−"), fontsize=12, **style)


def _new_axes(columns: int, rows: int) -> Axes:
    """Axes with a place for every node, their labels and the legend."""
    width = min(max(LEFT + STEP_WIDTH * columns, LEAST_WIDTH), MOST_WIDTH)
    height = ABOVE + ROW_HEIGHT * rows + BELOW
    # Placed by hand: matplotlib's own layout takes longer than the drawing.
    figure = plt.figure(figsize=(width, height), layout="none")
    axes = figure.add_axes(
        (LEFT / width, BELOW / height, 1 - LEFT / width, ROW_HEIGHT * rows / height)
    )
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axes.set_xticks(range(columns), ["start", *map(str, range(1, columns))])
    axes.set_yticks(range(rows), range(1, rows + 1))
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set(xlabel="step (numbers: log-probability; in round boxes the score)", ylabel="rank")
    lines = [
        Line2D([], [], color=look.line, linewidth=look.line_width, linestyle=look.dashes)
        for look in (BEST, KEPT, DROPPED)
    ]
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -LEGEND / (ROW_HEIGHT * rows))}
    axes.legend(lines, [look.name for look in (BEST, KEPT, DROPPED)], ncols=3, **place)
    return axes


START = Branch(
    parent=0, token_id=START_ID, log_probability=0.0, score=0.0, finished=False, continues=True
)


@dataclass(frozen=True, kw_only=True)
class FinishedSentence:
    """A hypothesis that has come to its end token.

    Args:
        token_ids: What it says, without the end.
        log_probability: In nats, the end's included.
        score: What it is compared by.
        places: Where its tokens stand, the start's first: places[n] among the branches of step n.
    """

    token_ids: list[int]
    log_probability: float
    score: float
    places: list[int]


def finished_sentences(steps: Sequence[BeamStep]) -> list[FinishedSentence]:
    """The hypotheses of the first source that have finished, in the order of finishing.

    Args:
        steps: The records of a beam search, from its first step on.
    """
    columns = branches_by_step(steps)
    finished = []
    for step, branches in enumerate(columns):
        for place, branch in enumerate(branches):
            if branch.finished:
                places = path_to(columns, step, place)
                finished.append(
                    FinishedSentence(
                        token_ids=[columns[n][places[n]].token_id for n in range(1, step)],
                        log_probability=branch.log_probability,
                        score=branch.score,
                        places=places,
                    )
                )
    return finished


def branches_by_step(steps: Sequence[BeamStep]) -> list[list[Branch]]:
    """The first source's branches of every step, the start token's before them.

    Args:
        steps: The records of a beam search, from its first step on.
    """
    return [[START]] + [each.branches[0] for each in steps if each.sentences[0] == 0]


def require_tokens(columns: Sequence[Sequence[Branch]], tokens: Sequence[str]) -> None:
    """Refuse, with a ValueError, tokens that do not reach to the largest id of a search."""
    largest = max(branch.token_id for branches in columns for branch in branches)
    if largest >= len(tokens):
        wanted = f"hold the token of every id, up to {largest}"
        raise ValueError(f"tokens must {wanted}, got {len(tokens)} tokens")


def path_to(columns: Sequence[Sequence[Branch]], step: int, place: int) -> list[int]:
    """The path from the start to a branch: its place at every step.

    Args:
        columns: The branches of every step, the start's first.
        step: Where the branch stands.
        place: Which of the step's branches it is.
    """
    places = [place]
    for branches in columns[step:0:-1]:
        places.append(branches[places[-1]].parent)
    return places[::-1]


@styled
def plot_lengths(outputs: Mapping[str, tuple[int, float]], *, alpha: float) -> Figure:
    """Draw outputs by length and log-probability, with a curve of equal score for two alphas.

    Each curve goes through the output that scores best, for an alpha of 0 and for the one given:
    what lies below a curve scores worse. The title and the figure's label tell the lengths of both.

    Args:
        outputs: By name, at most eight: the length in tokens, the end token included, and the
            log-probability in nats.
        alpha: The exponent of the length penalty, above 0.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(8.5, 3.9))
    lengths = np.linspace(1, 1 + max(length for length, _ in outputs.values()), 100)
    winners = []
    for exponent, color, line in ((0.0, BLACK, "--"), (alpha, BLUE, "-")):
        scores = {name: p / length_penalty(n, exponent) for name, (n, p) in outputs.items()}
        winners.append(max(scores, key=scores.get))
        penalties = ((5 + lengths) / 6) ** exponent  # length_penalty, between whole lengths too
        curve = scores[winners[-1]] * penalties
        style = {"color": color, "marker": "", "label": f"equal score, α = {exponent:g}"}
        axes.plot(lengths, curve, line, **style)
    for place, (name, (length, log_probability)) in enumerate(outputs.items()):
        # Where two fall together, the later one lies inside the earlier.
        style = {"linestyle": "", "markersize": 17 - 2 * place, "label": literal(name)}
        axes.plot(length, log_probability, **style)
    axes.set(xlabel="length in tokens, the end token included", ylabel="log-probability in nats")
    axes.set_ylim(1.15 * min(p for _, p in outputs.values()), 0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    short, long = (outputs[winner][0] for winner in winners)
    said = f"α = 0: length {short} wins; α = {alpha:g}: length {long} wins"
    axes.set_title(said)
    numbers = (f"{name}: {length} tokens, {p:.1f}" for name, (length, p) in outputs.items())
    figure.set_label(f"{said}. {'; '.join(numbers)}")
    return figure
