"""Did they learn it? A concept inventory, and examinations with a variant for every student.

concepts.toml  the items of the inventory: answers, the misconception behind each, the lesson
inventory      forms of the inventory, their keys, the sheets that students get
gain           two collections of answers compared: gain, items, what to teach again
gain_figures   the pictures and the page of this comparison
question       a question of an examination: its text, its numbers, its key
first          questions for an examination after lesson 09
second         questions for an examination after lesson 17
graduate       questions for an examination after lesson 22
examinations   the variant of a student, from the instructor's secret
sheets         notebooks and paper, for the inventory and the examinations
answers        answers that were handed in, read as data
marks          answers judged by the key, in a table, a picture and a page
commands       the commands of ``python -m transformer_course.grading``
"""
