"""Installing the course, what keeps its lessons in order, and its other editions.

- ``install``: install what a reader or a contributor needs (``make lab``, ``make test``).
- ``working_copies``: copy the lessons into the folder in which the reader works (``make lab``).
- ``lesson_command``: store a lesson that was changed (``make lesson LESSON=02``).
- ``notebooks``: run lessons in place and tidy them (``make notebooks``: all of them).
- ``tables``: write again what the lessons say and other files repeat; ``rooms``: their lists.
- ``colab``: write the repository's address into lessons, badges and links (``make colab``).
- ``picture``: draw the picture at the top of README (``make picture``).
- ``site``: the website from the stored notebooks and the docstrings (``make site``; docs/).
- ``handout``: the lessons as PDF files (``make handout``); ``chromium`` starts the browser.
- ``editions``: what the commands of ``site``, ``handout``, ``slides`` and ``student`` share.
- ``slides``: the lessons as slides (``make slides``); ``slide_blocks``: what is on them, by rule.
- ``student``: the lessons without outputs and solutions (``make student``).
- ``exercises``: find the stub, the solution and the check of each exercise.
- ``lesson``: one lesson with what the rules must know about it; ``facts``: what it says of itself.
- ``cell_rules``, ``output_rules``, ``skeleton_rules``: what a lesson must be like.
- ``reader_rules``: short lessons, Predicts that give nothing away, claims apart.
- ``rules``: all of these together (``python -m tools.rules`` says what is broken).
- ``syntax``: what a piece of source defines, binds and reads.
- ``share``: how much of a lesson's visible code is about the model (``python -m tools.share``).
- ``unused_names``: public names that nobody uses.
"""
