"""The command that grades students' notebooks: ``python -m transformer_course.grading``.

outcomes     which exercises a lesson has, how each came out; a table and a page of it
limited_run  run a notebook with limits on time, memory, output and the network
"""
