"""What notebooks/11_diagnosis.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.breaking.faults import FAULTS
from transformer_course.curves.stored_runs import load_runs
from transformer_course.diagnosis.checks import (
    build_patient,
    case_sheet,
    check_first_cases,
    check_padding_probe,
    check_second_cases,
    written_table,
)
from transformer_course.diagnosis.distances import accuracy_by_distance
from transformer_course.diagnosis.examination import examine, examine_step
from transformer_course.diagnosis.faults import SCORE_FAULTS, STEP_FAULTS
from transformer_course.diagnosis.figures import (
    load_suspects,
    nameless_table,
    plot_case_sheet,
    plot_damage,
    plot_high_losses,
    plot_learning,
    plot_suspects,
)
from transformer_course.diagnosis.live_patients import show_patients_live
from transformer_course.diagnosis.symptoms import generated_table
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.looking.logit_probes import probe_future
from transformer_course.my_transformer import my_parts
