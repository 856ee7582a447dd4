"""Every test of the variants draws the same numbers each time, whatever ran before it."""

from tests.model.conftest import seeded  # noqa: F401
