"""The course: what only the notebooks need, beside the library ``transformer_edu``.

our_transformer  the classes that lessons 01 to 09 ask for, on one page: open this file first
my_transformer   the file with the reader's own classes, and what stands in for missing ones
colab_runtime    where that file is kept when Colab ends a runtime
class_source     the source of a class: found, compared, put in place of another
small_models     sizes that a laptop trains in seconds

Each lesson has a room that is named as its notebook, such as ``attention`` for lesson 02: its
checks, figures, charts, explorers and faults. What several lessons need has rooms of its own:

asking     Predicts, the three outcomes of an exercise, and what several checks share
drawing    data in, a figure out; show a figure
curves     training runs that were stored: in words, as a table, as lines of a figure
looking    questions to a model: attention maps, probes, ablation
breaking   faults of models, on purpose
viewer     live figures and the attention viewer: pages that need no kernel
texts      sentences and captions in English and German
grading    the command that runs students' notebooks and collects what the checks say
examination  variants of examinations, and an inventory of concepts: sheets, keys, marks
review     the Predicts that a reader got wrong, a deck for Anki, which exercises are solved
"""
