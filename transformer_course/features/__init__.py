"""What notebooks/22_features.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.features.autoencoder import train_autoencoder
from transformer_course.features.checks import check_auc, check_sparse_autoencoder, check_story
from transformer_course.features.feature_explorer import explore_features
from transformer_course.features.figures import plot_directions, plot_flips, plot_scores, plot_seeds
from transformer_course.features.live_plane import show_plane_live
from transformer_course.features.reading import (
    captions,
    plural_nouns,
    read_encoder,
    subjects,
    texts_to_learn_from,
    tokens_at,
)
from transformer_course.features.scoring import auc, best_column, largest_shares, random_labels
from transformer_course.features.steering import (
    changes_between,
    count_changes,
    translate_changed,
)
from transformer_course.features.stored import stored_runs
