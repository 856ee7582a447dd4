"""What notebooks/11_diagnosis.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.diagnosis.checks import (
    check_padding_probe,
    check_repaired_feed_forward,
    check_repaired_loss,
    check_repaired_norm,
)
from transformer_course.diagnosis.figures import load_trained, plot_learning
from transformer_course.diagnosis.live_patients import show_patients_live
from transformer_course.diagnosis.patients import build_patient, sheet, written_table
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts
