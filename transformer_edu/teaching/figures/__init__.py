"""Figures: data in, a matplotlib Figure out.

attention                attention and masks as grids and links; hidden cells hatched
layers                   one word in several sentences, layer by layer; depth and gradients
attention_flow           from Q, K and V to the output; one query among keys and values
heads                    a number for every head; split into heads; what the heads add up to
vectors, pieces          grids of numbers, a sentence's rows, neighbors; texts cut into pieces
next_words, ngrams       the likeliest next words, which may be drawn; n-grams of a reference
positions                words with their numbers; clock faces; products of positions
units                    units of a feed-forward network, and what they add up to
charts, runs             lines and bars; training runs and their symptoms
search                   beam search as a tree, lengths
architecture, history    the model's map and the order of norms; what attention replaced
swaps                    what each change since 2017 is worth; a layer of 2017 and of today
shape_walk               shapes through a layer
grid, pen                what they draw with
"""
