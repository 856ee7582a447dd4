"""The attention viewer: every layer and head, by mouse, touch and keyboard, without a kernel.

show   publish it in a notebook
page   one HTML page that needs nothing else (viewer*.js, viewer.css)
still  its first state as a figure, for readers without scripts
links  words of a translation to point at, without a script
"""
