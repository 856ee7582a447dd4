"""What notebooks/before_you_start.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.before_you_start.live_slope import show_slope_live

__all__ = ["predict", "show_slope_live"]
