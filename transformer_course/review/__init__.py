"""Keep what was learned: what notebooks/review.ipynb imports. Nothing leaves the reader's machine.

questions  every Predict of the course with its right answer; the command makes cards for Anki
page       the review of the Predicts that a reader got wrong, spaced over days
solved     which exercises the reader's notebooks have solved
"""

from transformer_course.review.page import review
from transformer_course.review.solved import show_solved
