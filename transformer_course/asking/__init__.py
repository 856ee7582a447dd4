"""Questions to the reader.

predict               a question with answers to choose from, above an outcome that stays closed
answer                the three outcomes of an exercise: waiting, a hint for the mistake, correct
projections, layers   what the checks of lessons 2 and 3, and of 7 and 8, share
"""
