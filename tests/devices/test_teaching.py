"""What lessons show takes models and tensors on any device, and shows what it shows on the CPU."""

import copy
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from torch import Tensor

from tests.published import published_page
from transformer_course.asking.answer import AnswerError, close, exercise, require_shape
from transformer_course.attention.flow import plot_attention_rows
from transformer_course.attention.links import plot_links
from transformer_course.decoder.next_word_bars import plot_influence
from transformer_course.drawing.attention_grid import plot_attention, plot_heads
from transformer_course.encoder.layer_maps import plot_by_layer, plot_one_word
from transformer_course.feed_forward_add_and_norm.normalization import plot_normalization
from transformer_course.generation.candidates import describe_candidates, plot_candidates
from transformer_course.looking.ablation import heads_switched_off
from transformer_course.looking.head_roles import position_cells, record_pairs, share_on
from transformer_course.looking.recording import record_attention
from transformer_course.looking.shape_trace import trace
from transformer_course.masks.masked_maps import plot_mask_row
from transformer_course.multi_head_attention.head_charts import plot_head_split
from transformer_course.positional_encoding.position_charts import plot_values
from transformer_course.start_here.first_translation import cross_attention, join_pieces
from transformer_course.viewer.show import view_attention
from transformer_course.what_can_be_removed.removing import heads_made_uniform
from transformer_course.words_as_vectors.vector_pictures import (
    nearest,
    plot_rows,
    plot_similarities,
)
from transformer_edu.data.batches import make_batch
from transformer_edu.model.transformer import Transformer, TransformerConfig

PAIRS = [([4, 5, 6, 7], [7, 6, 5]), ([8, 9], [9, 8, 10, 11, 12]), ([13, 14, 15], [4])]
QUERIES, KEYS = ["eins", "zwei", "drei"], ["one", "two", "three", "four"]
TITLE = {"title": "A title"}
WORDS = {"query_tokens": QUERIES, "key_tokens": KEYS}
LABELS = {"row_label": "position", "column_label": "number"}
NUMBERS = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
WEIGHTS = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1)).softmax(dim=-1)
MASK = torch.tensor([[True, False, False, True]]).expand(3, 4)
SPLIT = torch.arange(12).view(3, 4)

FIGURES = {
    "attention": lambda on: plot_attention(on(WEIGHTS)[0], mask=on(MASK), **WORDS, **TITLE),
    "heads": lambda on: plot_heads(on(WEIGHTS), **WORDS, **TITLE),
    "links": lambda on: plot_links(on(WEIGHTS)[1], **WORDS, **TITLE),
    "masks": lambda on: plot_mask_row({"both": on(MASK), "one": on(~MASK)}, **WORDS, **TITLE),
    "flow": lambda on: plot_attention_rows(
        on(NUMBERS), on(WEIGHTS)[0], query_words=QUERIES, key_words=KEYS, marked=0
    ),
    "values": lambda on: plot_values(on(NUMBERS), **LABELS, **TITLE),
    "split": lambda on: plot_head_split({"right": on(SPLIT)}, tokens=QUERIES, d_model=4, **TITLE),
    "normalization": lambda on: plot_normalization(
        on(NUMBERS), on(NUMBERS) * 2, row_names=QUERIES, **TITLE
    ),
    "layers": lambda on: plot_by_layer(
        {"all": on(WEIGHTS[0])}, words=KEYS, rows=QUERIES, bar="change", **TITLE
    ),
    "one word": lambda on: plot_one_word(on(WEIGHTS), word="a", labels=QUERIES, kinds=QUERIES),
    "influence": lambda on: plot_influence({"all": (KEYS, on(WEIGHTS[0]))}, rows=QUERIES, **TITLE),
    "candidates": lambda on: plot_candidates(on(NUMBERS[0]), tokens=KEYS, temperature=0.7, top_k=3),
    "similarities": lambda on: plot_similarities(on(NUMBERS), item="word", names=QUERIES, **TITLE),
    "rows": lambda on: plot_rows(on(NUMBERS), words=QUERIES, token_ids=[4, 5, 4]),
}


def on_cpu(numbers: Tensor) -> Tensor:
    return numbers


def pixels(figure: Figure) -> np.ndarray:
    figure.canvas.draw()
    drawn = np.array(figure.canvas.buffer_rgba())
    plt.close(figure)
    return drawn


def layers_of(page: str) -> list[str]:
    """What the viewer calls the maps that it holds."""
    return re.findall(r"layer \d+", page)


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 24, "dropout": 0.1}
    return Transformer(TransformerConfig(vocabulary_size=20, **sizes)).eval()


@pytest.fixture
def twin(model, device) -> Transformer:
    """The same on the device."""
    return copy.deepcopy(model).to(device)


def recorded(model: Transformer, device: str | torch.device = "cpu") -> dict[str, Tensor]:
    batch = make_batch(PAIRS).to(device)
    with record_attention(model) as attention, torch.no_grad():
        model(batch.source_ids, batch.decoder_input_ids)
    return attention


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_for_tensors_on_the_device(device, name):
    there = FIGURES[name](lambda numbers: numbers.to(device))
    assert np.array_equal(pixels(there), pixels(FIGURES[name](on_cpu)))


def test_words_about_tensors_are_the_same(device):
    for told in (
        lambda on: describe_candidates(on(NUMBERS[0]), tokens=KEYS, temperature=0.7, top_p=0.9),
        lambda on: nearest(on(NUMBERS), [0, 2], tokens=QUERIES, count=2),
    ):
        assert told(lambda numbers: numbers.to(device)) == told(on_cpu)


def test_recorded_attention_is_the_same_and_is_shown_the_same(model, twin, device):
    there, here = recorded(twin, device), recorded(model)
    assert list(there) == list(here)
    for name, weights in here.items():
        assert there[name].device == device
        torch.testing.assert_close(there[name].cpu(), weights)
    words = {"source_tokens": ["a", "b", "c", "d"], "target_tokens": ["</s>"] * 6}
    there, here = (published_page(view_attention, each, **words) for each in (there, here))
    assert layers_of(there) == layers_of(here)


def test_a_trace_has_the_same_steps(model, twin, device):
    batch = make_batch(PAIRS)
    here = trace(model, batch.source_ids, batch.decoder_input_ids)
    batch = batch.to(device)
    there = trace(twin, batch.source_ids, batch.decoder_input_ids)
    assert [(step.name, step.words, step.shape) for step in there] == [
        (step.name, step.words, step.shape) for step in here
    ]
    for one, other in zip(there, here, strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-4)


def test_measurements_of_a_model_are_the_same(model, twin, default):
    shares = record_pairs(twin, PAIRS).role_shares("encoder.self_attention")
    for role, wanted in record_pairs(model, PAIRS).role_shares("encoder.self_attention").items():
        torch.testing.assert_close(shares[role], wanted)
    for one, other in zip(
        cross_attention(twin, [4, 5, 6], [7, 8]),
        cross_attention(model, [4, 5, 6], [7, 8]),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_the_share_on_cells_takes_weights_and_cells_from_any_device(model, device):
    lengths = [len(source) for source, _ in PAIRS]
    cells = position_cells(lengths, lengths)["previous"]
    weights = recorded(model)["encoder.layers.0.self_attention"]
    expected = share_on(weights, cells)
    assert share_on(weights.to(device), cells).equal(expected)
    assert share_on(weights.to(device), cells.to(device)).equal(expected)


@pytest.mark.parametrize("change", [heads_switched_off, heads_made_uniform])
def test_an_ablation_changes_a_model_where_it_is(model, twin, device, default, change):
    heads = [("encoder.layers.0.self_attention", 2), ("decoder.layers.1.cross_attention", 1)]
    batch = make_batch(PAIRS)
    there = batch.to(device)
    with change(model, heads), change(twin, heads), torch.no_grad():
        expected = model(batch.source_ids, batch.decoder_input_ids)
        logits = twin(there.source_ids, there.decoder_input_ids)
    torch.testing.assert_close(logits.cpu(), expected)


def test_pieces_are_joined_and_parameters_counted_where_they_are(model, twin, device):
    words = [[b"a", b"b"], [b" c"]], [[b"d"], [b" e", b"f", b"g"]]
    joined = join_pieces(WEIGHTS.to(device), *words)
    torch.testing.assert_close(joined.cpu(), join_pieces(WEIGHTS, *words))


def test_a_check_takes_answers_from_the_device_and_computes_on_the_cpu(device, default, capsys):
    @exercise("1.1")
    def check(answer: Tensor, *, given: Tensor) -> None:
        if not close(require_shape(answer, (3, 4), "(query, key)"), given * torch.tensor(2.0)):
            raise AnswerError("It must be twice as much.")

    check((NUMBERS * 2).to(device), given=NUMBERS.to(device))
    assert capsys.readouterr().out == "Exercise 1.1 is correct.\n"
    with pytest.raises(AnswerError, match="twice"):
        check(NUMBERS.to(device), given=NUMBERS)
