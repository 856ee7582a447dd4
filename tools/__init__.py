"""Installing the course, what keeps its notebooks in order, and its other editions.

- ``install``: install what a reader or a contributor needs (``make lab``, ``make test``).
- ``working_copies``: copy the lessons into the folder in which the reader works (``make lab``).
- ``notebooks``: run all lessons in place and tidy them (``make notebooks``).
- ``colab``: write the repository's address into lessons, badges and links (``make colab``).
- ``picture``: draw the picture at the top of README (``make picture``).
- ``site``: the website from the stored notebooks and the docstrings (``make site``; docs/).
- ``handout``: the lessons as PDF files (``make handout``); ``chromium`` starts the browser.
- ``editions``: what the commands of ``site``, ``handout``, ``slides`` and ``student`` share.
- ``slides``: the lessons as slides (``make slides``); ``slide_blocks``: what is on them, by rule.
- ``student``: the lessons without outputs and solutions (``make student``).
- ``exercises``: find the stub, the solution and the check of each exercise.
- ``lesson``: one lesson with what the rules must know about it.
- ``cell_rules``, ``output_rules``, ``skeleton_rules``: what a lesson must be like.
- ``reader_rules``: short lessons, Predicts that give nothing away, claims apart.
- ``rules``: all of these together (``python -m tools.rules`` says what is broken).
- ``source_rules``: what Python source must be like, in the package and in lessons.
- ``unused_names``: public names that nobody uses.
"""
