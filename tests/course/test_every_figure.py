"""What holds for every figure: title, labels, colors, and names that are drawn as written.

Every function that draws is here; the figures.py of a lesson's room only hands them titles.
"""

import inspect
from functools import cache, partial
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import transformer_course
from tests.contrast import contrast
from transformer_course.a_published_model.differences import plot_differences
from transformer_course.attention.flow import plot_attention_rows
from transformer_course.attention.links import plot_links
from transformer_course.attention.live_lookup import plot_lookup
from transformer_course.before_you_start.live_slope import plot_slope
from transformer_course.circuits.jumps import Jump, plot_jumps
from transformer_course.circuits.live_jump import Maps, plot_moment
from transformer_course.curves.stored_runs import Glance, SeedRun, StoredRuns
from transformer_course.decoder.next_word_bars import (
    plot_decoding_step,
    plot_influence,
    plot_next_words,
)
from transformer_course.decoder.next_words import DecodingStep
from transformer_course.drawing import attention_grid as attention
from transformer_course.drawing import charts
from transformer_course.drawing import course_map as architecture
from transformer_course.drawing import marked_links as attention_flow
from transformer_course.drawing.grid import KEY_AXIS, QUERY_AXIS
from transformer_course.encoder.layer_maps import plot_by_layer, plot_one_word
from transformer_course.examination import gain
from transformer_course.examination.marks import plot_marks
from transformer_course.feed_forward_add_and_norm import unit_charts as units
from transformer_course.feed_forward_add_and_norm.layer_order import plot_layer_order
from transformer_course.feed_forward_add_and_norm.live_stream import plot_stream
from transformer_course.feed_forward_add_and_norm.normalization import plot_normalization
from transformer_course.from_2017_to_today import swaps
from transformer_course.from_2017_to_today.language_modeling import Swap, Training
from transformer_course.generation.candidates import plot_candidates
from transformer_course.generation.search_tree import plot_beam_tree, plot_lengths
from transformer_course.generation.table_model import TableModel
from transformer_course.looking.attention_maps import maps_of_weights
from transformer_course.looking_inside.role_grids import plot_head_roles
from transformer_course.masks.masked_heads import BatchHead
from transformer_course.masks.masked_maps import (
    plot_mask_row,
    plot_masked_heads,
)
from transformer_course.masks.score_bars import plot_scores
from transformer_course.multi_head_attention.head_charts import (
    plot_head_split,
    plot_heads_of_word,
    plot_lookups,
)
from transformer_course.positional_encoding.live_clocks import plot_clocks, plot_turning_hands
from transformer_course.positional_encoding.position_charts import (
    plot_position_products,
    plot_readings,
    plot_values,
)
from transformer_course.positional_encoding.position_scores import Reading
from transformer_course.speed_and_scale.stacked_bars import plot_stacked_bars
from transformer_course.start_here import history
from transformer_course.tokenization import pieces
from transformer_course.training.checks import our_rate
from transformer_course.training.loss_charts import plot_losses, plot_runs, plot_schedules
from transformer_course.translation import ngrams
from transformer_course.translation.progress import plot_progress
from transformer_course.viewer import page
from transformer_course.what_can_be_removed.remains import plot_remains
from transformer_course.what_can_be_removed.removals import plot_removals
from transformer_course.words_as_vectors.vector_pictures import (
    Neighbors,
    plot_neighbors,
    plot_rows,
    plot_similarities,
)
from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.generation.beam import beam_search
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.training.evaluation import Evaluation

NAME = "$q$"  # mathtext would draw an italic letter without its dollars
TITLE = "What to see"
WEIGHTS = torch.tensor([[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]])
TOKENS = {"query_tokens": ["a", NAME], "key_tokens": ["c", "d", NAME]}
WORDS = ["c", "d", NAME]
LINKS = {"query_words": ["a", NAME], "key_words": WORDS, "marked": 1}
MASK = WEIGHTS > 0.3
(MAP,) = maps_of_weights(WEIGHTS[None], **TOKENS, sentence=0)
GRID = torch.tensor([[1.0, -3.0, 0.5], [0.0, 2.0, 0.25]])
EVALUATIONS = (Evaluation(10, 1.0, 0.5, 0.25), Evaluation(20, 0.5, 1.0, 0.75))
STORED = StoredRuns(
    variant=NAME,
    settings={},
    runs=(SeedRun(seed=0, evaluations=EVALUATIONS),),
    glance=Glance(
        source=("a", NAME), target=("b",), written=(), head=0, weights=((0.5, 0.5), (1.0, 0.0))
    ),
)
ACCURACY = {"before": 1.0, "after": 0.5, "both": 0.5}
RECORDS = [{"step": step, "validation_loss": 2 / step, "bleu": step} for step in (10, 20)]
STEP = DecodingStep(["<s>", NAME], WEIGHTS[0], [("a", 0.5), (NAME, 0.25)], 0, False)
JUMP = Jump(
    name="a",
    seed=0,
    ends={},
    **dict.fromkeys(("steps", "accuracy", "first", "again", "before", "after"), (0.0, 1.0)),
)
MAPS = Maps(words=("a", NAME), before=2 * [[[100, 0], [50, 50]]], after=2 * [[[100, 0], [0, 100]]])
LANGUAGE = TableModel({"": {"it": 0.6, NAME: 0.4}, "it": {"is": 0.7, "was": 0.3}})
HEAD = BatchHead(
    words=[["a", NAME]],
    token_ids=torch.tensor([[4, 5]]),
    x=torch.ones(1, 2, 3),
    w_query=torch.ones(3, 2),
    w_key=torch.ones(3, 2),
    w_value=torch.ones(3, 2),
    mask=torch.tensor([[[True, False], [True, True]]]),
)


def searched() -> list:
    """The steps of a beam search."""
    steps: list = []
    beam_search(LANGUAGE, LANGUAGE.source_ids, width=2, after_step=steps.append)
    return steps


LOSS, STEPS, WEIGHT = "loss (nats per token)", "training step", "attention weight"
# Each figure with sample input in which NAME occurs, and the labels of all its axes.
SWAP = Swap(
    tuple(
        Training(
            name=NAME,
            after=None,
            parameters=9,
            cache=8,
            rate=0.1,
            seed=seed,
            loss=1.0 + seed,
            by_range=(1.0 + seed, 2.0),
        )
        for seed in range(2)
    )
)
FIGURES = {
    "plot_active_words": (
        partial(units.plot_active_words, [(["a", NAME], torch.tensor([0.0, 1.0]))]),
        {units.ACTIVATION},
    ),
    "plot_architecture": (partial(architecture.plot_architecture), set()),
    "plot_attention": (
        partial(attention.plot_attention, WEIGHTS, **TOKENS),
        {QUERY_AXIS, KEY_AXIS, WEIGHT},
    ),
    "plot_attention_rows": (
        partial(plot_attention_rows, WEIGHTS.log(), WEIGHTS, **LINKS),
        {QUERY_AXIS, KEY_AXIS},
    ),
    "plot_bars": (partial(charts.plot_bars, {NAME: 1.0, "b": 2.0}, y_label="height"), {"height"}),
    "plot_concepts": (
        partial(gain.plot_concepts, [NAME, "b"], np.eye(2), np.ones((2, 2))),
        {"fraction of right answers"},
    ),
    "plot_differences": (
        partial(
            plot_differences,
            {NAME: 1e-6, "b": 2.0},
            words={NAME: NAME, "b": "c"},
            equal=1e-4,
            x_label="width",
        ),
        {"width"},
    ),
    "plot_grouped_bars": (
        partial(charts.plot_grouped_bars, {NAME: {"a": 1.0, NAME: 2.0}}, x_label="width"),
        {"width"},
    ),
    "plot_beam_tree": (
        partial(plot_beam_tree, searched(), tokens=LANGUAGE.vocabulary.tokens),
        {"step (numbers: log-probability; in round boxes the score)", "rank"},
    ),
    "plot_by_layer": (
        partial(
            plot_by_layer,
            {NAME: WEIGHTS},
            words=["a", "b", NAME],
            rows=["input", NAME],
            bar="change",
        ),
        {"word", "change"},
    ),
    "plot_candidates": (
        partial(plot_candidates, torch.tensor([4.0] + 9 * [0.0]), tokens=[NAME, *"bcdefghij"]),
        {"probability"},
    ),
    "plot_remains": (
        partial(plot_remains, {NAME: WEIGHTS[0], "b": WEIGHTS[0] / 8}),
        {"fraction of the probability of a correct token that remains"},
    ),
    "plot_removals": (
        partial(plot_removals, {NAME: GRID.round(), "b": -GRID.round()}, sentence=NAME),
        {
            "layer",
            "the head that is off. Points by which the probability of a correct token changes:\n"
            r"“\$q\$”",
        },
    ),
    "plot_head_roles": (
        partial(plot_head_roles, {NAME: {NAME: GRID.clamp(max=1.0)}}, label="share"),
        {"layer", "head", "share"},
    ),
    "plot_head_split": (
        partial(
            plot_head_split,
            {"split": torch.arange(4).view(2, 2)},
            tokens=["a", NAME],
            d_model=2,
        ),
        {"component"},
    ),
    "plot_heads": (
        partial(attention.plot_heads, torch.stack([WEIGHTS, WEIGHTS]), **TOKENS),
        {QUERY_AXIS, KEY_AXIS, WEIGHT},
    ),
    "plot_heads_of_word": (
        partial(plot_heads_of_word, WEIGHTS, words=WORDS, word=2),
        set(),
    ),
    "plot_history": (partial(history.plot_history, ["a", "b"], ["c", NAME], marked=1), set()),
    "plot_layer_order": (
        partial(plot_layer_order, EncoderLayer(d_model=6, num_heads=2, d_ff=9)),
        set(),
    ),
    "plot_lengths": (
        partial(plot_lengths, {NAME: (2, -1.5), "b": (5, -2.0)}, alpha=0.6),
        {"length in tokens, the end token included", "log-probability in nats"},
    ),
    "plot_lines": (
        partial(charts.plot_lines, {NAME: [1, 2], "b": [2, 1]}, x=[0, 1], x_label="x", y_label="y"),
        {"x", "y"},
    ),
    "plot_links": (partial(plot_links, WEIGHTS, **TOKENS), set()),
    "plot_loss_by_position": (
        partial(swaps.plot_loss_by_position, {NAME: SWAP, "b": SWAP}),
        {"loss (nats per token)"},
    ),
    "plot_losses": (
        partial(plot_losses, {1: 2.0, 2: 1.0}, {NAME: 0.5}, steps=4),
        {STEPS, LOSS},
    ),
    "plot_lookup": (
        partial(
            plot_lookup,
            GRID[0, :2],
            WEIGHTS.T,
            WEIGHTS.T,
            words=WORDS,
            features=[NAME, "b"],
        ),
        {NAME, "b"},
    ),
    "plot_marked_links": (partial(attention_flow.plot_marked_links, WEIGHTS, **LINKS), set()),
    "plot_lookups": (
        partial(plot_lookups, {NAME: [ACCURACY], "b": [ACCURACY] * 3}, chance=0.1),
        {"fraction right"},
    ),
    "plot_marks": (
        partial(plot_marks, [{NAME: 2, "b": 0}, {NAME: 2, "b": 1}], {NAME: 2, "b": 1}),
        {"points, of 3", "students", "fraction of students with a right answer"},
    ),
    "plot_mask_row": (
        partial(plot_mask_row, {"mask": MASK}, **TOKENS),
        {QUERY_AXIS, KEY_AXIS},
    ),
    "plot_masked_heads": (
        partial(plot_masked_heads, {NAME: (HEAD, 0)}),
        {QUERY_AXIS, KEY_AXIS, WEIGHT},
    ),
    "plot_merge_steps": (
        partial(pieces.plot_merge_steps, [(b"$", b"q"), (b"$q", b"$")], NAME),
        {"the word, from left to right", "number of the merge"},
    ),
    "plot_neighbors": (
        partial(plot_neighbors, [Neighbors(NAME, ((NAME, 0.5), ("b", 0.25)))]),
        {"cosine"},
    ),
    "plot_ngrams": (partial(ngrams.plot_ngrams, WORDS, ["c", NAME]), set()),
    "plot_normalization": (
        partial(plot_normalization, GRID, GRID / 2, row_names=["a", NAME]),
        {"component"},
    ),
    "plot_one_word": (
        partial(
            plot_one_word,
            torch.stack([0 * GRID + 1, GRID, 2 * GRID + 1]).repeat(1, 2, 1),
            word=NAME,
            labels=[NAME, "b", "c", "d"],
            kinds=["k", NAME, "k", NAME],
        ),
        set(),
    ),
    "plot_pieces": (partial(pieces.plot_pieces, Tokenizer([]), {NAME: "a text"}), set()),
    "plot_influence": (
        partial(plot_influence, {NAME: (WORDS, WEIGHTS)}, rows=["a", NAME]),
        {"reads → predicts", "change of the prediction (largest in its row: 1)"},
    ),
    "plot_decoding_step": (
        partial(plot_decoding_step, WORDS, STEP),
        set(),
    ),
    "plot_next_words": (
        partial(plot_next_words, {NAME: {"a": 0.5, NAME: 0.25}}),
        {"probability of the next word"},
    ),
    "plot_progress": (
        partial(plot_progress, {NAME: RECORDS, "b": RECORDS}),
        {STEPS, LOSS, "BLEU"},
    ),
    "plot_rows": (
        partial(plot_rows, GRID, words=["a", NAME], token_ids=[4, 4]),
        {"token and its id", "number within the vector", "value"},
    ),
    "plot_items": (
        partial(gain.plot_items, np.eye(3), [0.1, 0.5, 0.6]),
        {"fraction of right answers after", "correlation with the rest"},
    ),
    "plot_jumps": (
        partial(plot_jumps, {NAME: [JUMP], "b": [JUMP, JUMP]}),
        {"training steps", "accuracy on words that come again"},
    ),
    "plot_moment": (
        partial(plot_moment, JUMP, MAPS),
        {"training steps", "accuracy, or attention weight", QUERY_AXIS, KEY_AXIS},
    ),
    "plot_runs": (partial(plot_runs, [STORED, STORED]), {STEPS, LOSS, "exact match"}),
    "plot_position_products": (
        partial(plot_position_products, {NAME: GRID}),
        {"position", "dot product (largest = 1)"},
    ),
    "plot_readings": (
        partial(plot_readings, [Reading(WORDS, [0, 2, 1], NAME)]),
        set(),
    ),
    "plot_slope": (plot_slope, {"weight w", "loss"}),
    "plot_clocks": (partial(plot_clocks, WORDS, d_model=4), set()),
    "plot_turning_hands": (partial(plot_turning_hands, 3, 2, d_model=4), set()),
    "plot_schedules": (
        partial(plot_schedules, our_rate, [(512, 4000), (256, 4000)]),
        {"step", "learning rate"},
    ),
    "plot_scores": (partial(plot_scores, {NAME: EVALUATIONS[0]}), {"fraction correct"}),
    "plot_similarities": (
        partial(plot_similarities, GRID, item="word", names=["a", NAME]),
        {"word", "cosine"},
    ),
    "plot_still": (
        partial(page.plot_still, MAP, 0, "grid"),
        {QUERY_AXIS, KEY_AXIS, WEIGHT},
    ),
    "plot_stream": (
        partial(plot_stream, {NAME: [1.0, 1.0], "b": [1.0, 2.0]}, word=NAME),
        {"after sub-layer (0: the input)", "length"},
    ),
    "plot_students": (
        partial(gain.plot_students, np.array([0.2, 0.5]), np.array([0.4, 0.6])),
        {"right answers before", "right answers after"},
    ),
    "plot_stacked_bars": (
        partial(plot_stacked_bars, {NAME: {"a": 1.0, NAME: 2.0}}, x_label="width"),
        {"width"},
    ),
    "plot_swaps": (
        partial(swaps.plot_swaps, [SWAP, SWAP], rate=0.1),
        {"validation loss (nats per token)"},
    ),
    "plot_today": (swaps.plot_today, set()),
    "plot_unit_sums": (
        partial(
            units.plot_unit_sums,
            GRID[0],
            GRID[0],
            {NAME: (GRID.T, GRID[0]), "b": (GRID.T, GRID[1])},
        ),
        {"input", "output"},
    ),
    "plot_values": (
        partial(
            plot_values,
            GRID,
            row_label="row",
            column_label="column",
            row_names=["a", NAME],
        ),
        {"row", "column", "value"},
    ),
}
WITHOUT_NAMES = {
    "plot_architecture",
    "plot_items",
    "plot_layer_order",
    "plot_schedules",
    "plot_slope",
    "plot_students",
    "plot_today",
    "plot_turning_hands",
}
OF_EVERY = pytest.mark.parametrize("name", FIGURES)


@cache
def drawn(name: str) -> Figure:
    """The figure of the table, laid out once, with TITLE if it takes a title."""
    draw = FIGURES[name][0]
    takes_title = "title" in inspect.signature(draw).parameters
    figure = draw(**({"title": TITLE} if takes_title else {}))
    figure.draw_without_rendering()
    return figure


def as_written(text: Text) -> str:
    """What a reader sees of a text that is not mathematics."""
    return text.get_text().replace(r"\$", "$") if text.get_parse_math() else text.get_text()


def test_every_function_that_draws_is_in_the_table():
    found = set()
    for each in walk_packages(transformer_course.__path__, "transformer_course."):
        # A room's figures.py gives these functions a lesson's title and words: its own tests.
        if not each.name.endswith(("__main__", ".figures")):
            found |= defined_in(import_module(each.name))
    assert found == set(FIGURES)


def defined_in(module: ModuleType) -> set[str]:
    """The names of the plot functions that the module defines and does not import."""
    return {
        name
        for name, thing in vars(module).items()
        if name.startswith("plot_") and thing.__module__ == module.__name__
    }


@OF_EVERY
def test_a_figure_has_its_title(name):
    figure = drawn(name)
    titles = {axes.get_title(loc) for axes in figure.axes for loc in ("left", "center", "right")}
    titles = (titles | {figure.get_suptitle()}) - {""}
    takes_title = "title" in inspect.signature(FIGURES[name][0]).parameters
    assert any(TITLE in each for each in titles) if takes_title else titles


@OF_EVERY
def test_every_axis_has_its_label(name):
    figure = drawn(name)
    labels = {figure.get_supxlabel(), figure.get_supylabel()}
    for axes in figure.axes:
        labels |= {as_written(axis.label) for axis in (axes.xaxis, axes.yaxis)}
    assert labels - {""} == FIGURES[name][1]


@OF_EVERY
def test_a_name_is_drawn_as_it_is_written_and_never_as_mathematics(name):
    texts = drawn(name).findobj(Text)
    mathematics = [
        each for each in texts if each.get_parse_math() and is_math_text(each.get_text())
    ]
    assert not any("q" in each.get_text() for each in mathematics)
    written = [as_written(each) for each in texts if each not in mathematics]
    assert name in WITHOUT_NAMES or any(NAME in each for each in written)


@OF_EVERY
def test_every_text_stands_out_from_what_is_behind_it(name):
    figure = drawn(name)
    texts = [
        each
        for each in figure.findobj(Text)
        if each.get_text().strip() and each.get_alpha() is None
    ]
    canvas = FigureCanvasAgg(figure)
    places = {text: text.get_window_extent(canvas.get_renderer()) for text in texts}
    for text in texts:
        text.set_alpha(0)
    canvas.draw()
    behind = np.asarray(canvas.buffer_rgba())[::-1, :, :3]
    for text, box in places.items():
        text.set_alpha(None)
        left, low = (max(0, int(start)) for start in box.min)
        under = behind[low : int(box.y1) + 1, left : int(box.x1) + 1].reshape(-1, 3)
        color = [255 * part for part in to_rgb(text.get_color())]
        assert not len(under) or contrast(color, np.median(under, axis=0)) >= 4.5, text.get_text()


@OF_EVERY
def test_weights_are_colored_from_zero_to_one_and_signed_numbers_around_zero(name):
    for image in (image for axes in drawn(name).axes for image in axes.images):
        low, high = image.get_clim()
        if image.get_cmap().name == "PuOr":
            assert low == -high
        else:
            assert (low, high) == (0, 1)


@OF_EVERY
def test_lines_differ_in_more_than_color(name):
    for axes in drawn(name).axes:
        lines = [line for line in axes.lines if not line.get_label().startswith("_")]
        looks = {
            (line.get_marker(), line.get_linestyle(), line.get_markerfacecolor() == "white")
            for line in lines
        }
        assert len(looks) == len(lines)


@OF_EVERY
def test_a_figure_leaves_the_settings_of_matplotlib_alone(name):
    before = dict(plt.rcParams)
    assert drawn(name).axes and dict(plt.rcParams) == before
