"""The command that grades students' notebooks: ``python -m transformer_edu.teaching.grade``.

outcomes     which exercises a lesson has, and how each came out
limited_run  run a notebook with limits on time, memory, output and the network
table        the outcomes as a table for a spreadsheet, and as a page
"""
