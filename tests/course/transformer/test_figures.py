"""The figures of lesson 9 say what is to be seen, and every parameter counts once."""

import torch

from transformer_course.transformer.figures import (
    count_parameters,
    plot_parameters,
    plot_training,
)
from transformer_edu.model.transformer import Transformer, TransformerConfig


def test_every_parameter_counts_once_and_for_its_part():
    config = TransformerConfig(vocabulary_size=30, d_model=8, num_heads=2, num_layers=1, d_ff=12)
    with torch.device("meta"):
        model = Transformer(config)
    counts = {part: round(count * 1e6) for part, count in count_parameters(model).items()}
    assert counts["embedding"] == 30 * 8 and counts["output bias"] == 30
    assert counts["attention"] == 3 * 4 * 8 * 8
    assert counts["feed-forward"] == 2 * (2 * 8 * 12 + 8 + 12)
    assert sum(counts.values()) == sum(weight.numel() for weight in model.parameters())


def test_the_title_has_the_sum_of_all_parts():
    figure = plot_parameters({"attention": 1.5, "embedding": 2.25})
    assert figure.axes[0].get_title("left") == "The base model has 3.8 million parameters"
    assert figure.get_label().endswith("{'attention': 1.5, 'embedding': 2.25}")


def test_the_loss_is_drawn_beside_that_of_a_model_that_knows_nothing():
    figure = plot_training([4.5, 1.0, 0.5], 4.0)
    loss, level = figure.axes[0].lines
    assert list(loss.get_ydata()) == [4.5, 1.0, 0.5] and list(level.get_ydata()) == [4.0] * 3
    assert figure.axes[0].get_title("left") == figure.get_label()
