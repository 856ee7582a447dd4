"""What several lessons draw: data in, a figure out.

display               show a figure, a figure with controls
course_map, pen       the map of the Transformer, and its boxes and arrows
attention_grid        attention weights as a grid; grid: what all grids share
marked_links          attention weights as links between words
charts                lines and bars
style                 colors, fonts, and names drawn as they are written
"""
