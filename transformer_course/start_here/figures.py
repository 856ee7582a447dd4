"""The map of lesson 00 with its title."""

from transformer_course.drawing import course_map


def show_map() -> None:
    """Show the whole map of the Transformer."""
    title = "The Transformer: an encoder reads, a decoder writes"
    course_map.show_map("transformer", title=title)
