"""The figures of lesson 17: what removals cost, and what is right without a part."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from transformer_course.drawing.charts import (
    names_of_largest,
    plot_bars,
    plot_grouped_bars,
    plot_lines,
    require_entries,
)

COST = "cost in nats per token"
FAILS = 1.0  # nats per token: correct tokens get less than 1/e of their probability
Groups = Mapping[str, Mapping[str, float]]  # by kind of part, then by what the bar shows


def plot_cost(costs: Groups) -> Figure:
    """Draw what it costs to replace the outputs of each kind of attention; the title names one.

    Args:
        costs: By kind, the cost by what takes the output's place; "zeros" is one of them.
    """
    for kind, cost in costs.items():
        require_entries(f"the costs of {kind}", cost, ["zeros"])
    zeros = {kind: cost["zeros"] for kind, cost in costs.items()}
    largest, cost = names_of_largest(zeros).replace(" and ", " or "), max(zeros.values())
    said = "the model fails" if cost > FAILS else f"the cost is largest: {cost:z.2f} nats"
    return _plot_costs(costs, f"Without {largest}, {said}")


def plot_together(costs: Groups) -> Figure:
    """Draw the cost of all heads of a kind, one by one and together.

    Args:
        costs: By kind, first the sum of the single costs, then the cost of all heads at once.
    """
    require_entries("costs", costs, ["cross-attention"])
    bars = costs["cross-attention"].items()
    first, *others = (f"{name.removesuffix(', added')} {cost:.2f}" for name, cost in bars)
    title = f"Cross-attention: {', '.join([f'{first} nats', *others])}"
    return _plot_costs(costs, title)


def _plot_costs(costs: Groups, title: str) -> Figure:
    """Grouped bars, and all their numbers in the label."""
    figure = plot_grouped_bars(costs, x_label=COST, title=title)
    figure.set_label(f"{title}; {costs}")
    return figure


def plot_orders(curves: Mapping[str, Sequence[float]], counts: Sequence[int]) -> Figure:
    """Draw the cost of more and more heads; the title compares two orders in the middle.

    Args:
        curves: By the order in which heads go, "costliest first" and "cheapest first" among them,
            the cost at each count.
        counts: How many heads are removed.
    """
    require_entries("curves", curves, ["costliest first", "cheapest first"])
    half = len(counts) // 2
    costliest, cheapest = (curves[f"{name} first"][half] for name in ("costliest", "cheapest"))
    costs = f"{costliest:.2f} nats costliest first, {cheapest:.2f} cheapest first"
    title = f"{counts[half]} heads removed: {costs}"
    figure = plot_lines(curves, x=counts, x_label="heads removed", y_label=COST, title=title)
    figure.set_label(f"{title}; at each count: {curves}")
    return figure


def plot_choices(right: Groups) -> Figure:
    """Draw how often gender and number are right; the title tells it without cross-attention.

    Args:
        right: By the kind that is removed, the fraction that is right by "gender" and "number".
    """
    require_entries("right", right, ["cross-attention"])
    blind = right["cross-attention"]
    require_entries("right['cross-attention']", blind, ["gender", "number"])
    title = f"Without cross-attention: gender {blind['gender']:.0%}, number {blind['number']:.0%}"
    figure = plot_grouped_bars(right, x_label="fraction right", title=title)
    figure.set_label(f"{title}; {right}")
    return figure


def plot_exact_matches(exact: Mapping[str, float]) -> Figure:
    """Draw the exact match of a model whose attention is uniform somewhere.

    Args:
        exact: By where it is uniform; "encoder" is one of the places.
    """
    require_entries("exact", exact, ["encoder"])
    title = f"Where attention is uniform: in the encoder, exact match is {exact['encoder']:.2f}"
    figure = plot_bars(exact, y_label="exact match", title=title, top=1)
    figure.set_label(f"{title}: {exact}")
    return figure
