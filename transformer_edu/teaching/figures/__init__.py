"""Figures: data in, a matplotlib Figure out.

attention, attention_flow, heads   weights as grids and links, from Q to output, head by head
lookup                             one query, its keys, and the values that it mixes
vectors, embeddings, pieces        vectors and tables, word maps, texts cut into pieces
charts, runs                       lines and bars; training runs and their symptoms
search, sentence_scores            beam search as a tree; short against long sentences
sampling, decoding_steps           which tokens may be drawn; one step of writing
architecture, layer_order, parameters, shape_walk, reach   the model: map, order, sizes, shapes
live_curve                         a curve that grows while a model trains
grid, pen                          what they draw with
"""
