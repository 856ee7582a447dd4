"""Figures: data in, a matplotlib Figure out.

attention, words             weights as grids and links; masks; a sentence's rows
layers                       one word in several sentences; a number for every layer and word
attention_flow, lookup       from Q, K and V to the output; one query among keys and values
masked_maps                  attention of real sentences, hidden cells hatched
heads, head_sums             a number for every head; split into heads; what the heads add up to
vectors, pieces              grids of numbers, texts cut into pieces
next_words, ngrams           the likeliest next words; which n-grams a reference has, too
positions                    words with their numbers; clock faces; products of positions
units, depth                 units of a feed-forward network; what many layers do to gradients
charts, runs                 lines and bars; training runs and their symptoms
search, candidates           beam search as a tree, lengths; which tokens may be drawn
architecture, history        the model's map and the order of norms; what attention replaced
swaps                        what each change since 2017 is worth; a layer of 2017 and of today
recorded_map, shape_walk     the map as numbers; shapes through a layer
grid, pen                    what they draw with
"""
