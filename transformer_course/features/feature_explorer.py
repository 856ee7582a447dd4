"""A slider through the features of an autoencoder: the words that excite each of them."""

from collections.abc import Sequence

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.display import explore
from transformer_course.drawing.style import require_one_each
from transformer_course.features.figures import describe_words, plot_words

SHOWN = 8  # words of a feature


def explore_features(features: Tensor, words: Sequence[str]) -> None:
    """Let the reader go through features, and read the words with most of their activity.

    Args:
        features: The activity, none below 0, shape (token, feature), or (token,) of one feature.
        words: The word of each token.
    """
    require_one_each(len(features), "tokens", words=words)
    features = features.reshape(len(features), -1)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    rows = torch.tensor([numbers[word] for word in words])
    sums = torch.zeros(len(numbers), features.size(1)).index_add_(0, rows, features.detach().cpu())
    parts, names = sums / sums.sum(dim=0).clamp(min=1e-9), list(numbers)

    def strongest(feature: int) -> dict[str, float]:
        top = parts[:, feature].topk(min(SHOWN, len(names)))
        found = zip(top.values.tolist(), top.indices.tolist(), strict=True)
        return {names[place]: part for part, place in found if part > 0}

    def draw(feature: int) -> Figure:
        return plot_words(strongest(feature), feature)

    def describe(feature: int) -> str:
        return describe_words(strongest(feature), feature)

    slider = widgets.IntSlider(
        value=0, max=features.size(1) - 1, continuous_update=False, description="feature"
    )
    explore(draw, describe, feature=slider)
