"""Pictures that live in a frame of a notebook, by mouse, touch and keyboard, without a kernel.

frame  one HTML page that needs nothing else, and its frame (live.css)
live   live figures: a script in its lesson's room on top of live.js, whose first lines say how it
       is written
show   publish the attention viewer: every layer and head
page   the attention viewer's page (viewer*.js, viewer.css), and its first state as a figure
"""
