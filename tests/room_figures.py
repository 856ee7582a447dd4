"""What holds for every figure of a lesson's room."""

from matplotlib.figure import Figure


def assert_it_says_what_it_shows(figure: Figure) -> None:
    """A figure has a title to read off, and a label, which show takes as alternative text."""
    titles = {axes.get_title(loc) for axes in figure.axes for loc in ("left", "center", "right")}
    assert (titles | {figure.get_suptitle()}) - {""}, "the figure has no title"
    assert len(figure.get_label()) > 20, "the figure has no label that says what it shows"
