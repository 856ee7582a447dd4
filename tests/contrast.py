"""How much two colors differ to the eye, for the tests of figures."""

from collections.abc import Sequence


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast of two colors, parts from 0 to 255, as WCAG 2.2 defines it: 1 to 21."""

    def luminance(color: Sequence[float]) -> float:
        parts = [each / 255 for each in color]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)
