"""Figures: data in, a matplotlib Figure out.

attention, attention_steps, heads  weights as grids, links, step by step, head by head
vectors, embeddings, pieces        vectors and tables, word maps, texts cut into pieces
charts, runs                       lines and bars; training runs and their symptoms
search, sentence_scores            beam search as a tree; short against long sentences
sampling, decoding_steps           which tokens may be drawn; one step of writing
architecture, layer_order, parameters, shape_walk, reach   the model: map, order, sizes, shapes
grid, pen                          what they draw with
"""
