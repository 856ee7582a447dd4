"""Figures: data in, a matplotlib Figure out.

attention, heads                             weights as grids, as links, step by step; head by head
vectors, embeddings, pieces                  vectors and tables, word maps, texts cut into pieces
charts, runs                                 lines and bars; training runs and their symptoms
search                                       plot_beam_tree; short against long sentences
decoding_steps                               one step of writing; which tokens may be drawn
architecture, parameters, shape_walk         the model: the map, sizes, shapes
grid, pen                                    what they draw with
"""
