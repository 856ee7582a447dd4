"""The small run that is published for tests is the one that tests of the training command make."""

from tests.runs.conftest import small_options, text_files, text_run

__all__ = ["small_options", "text_files", "text_run"]
