"""Measurements on a model.

attention_maps   layers of attention weights with their tokens
recording        record_attention: the weights of every layer during a forward pass
one_head         one head, found by what it does: its inputs and its three matrices
one_layer        all heads of one layer, found by what they do
neighbors        a task that needs two lookups at once
feed_forward_units   what a feed-forward network reads, and the unit for some words
word_layers      a word's vector before the first layer and after every layer
stream           what each sub-layer of an encoder reads from the residual stream, and adds
hidden_keys      one head for a batch, found by its weight on what its mask hides
next_words       what a decoder expects after the beginning of a sentence
model_parts      the boxes of the map in a model: shapes, parameters, class and file
trace            the shape walk: every tensor of one forward pass, with its name and source line
probes           eight properties that loss and accuracy do not show (three in inside_probes)
examine          one table for a model (these and five more probes), one for a training step
costs            operations, seconds and bytes of a computation; a run in several processes
ablation         switch heads or sub-layers off
agreement        the choice between a right and a wrong form of a word
positions        other position vectors for the words of a source, or none
head_roles       how much of a head's attention falls on chosen cells
corruption       one wrong token in the prefix: how far does the damage reach?
embedding_map    the nearest neighbors of an embedding
words_of_pieces  from pieces back to words
hugging_face     Hugging Face's Llama and GPT-2 with our weights
table_model      a model so small that its every sentence can be written down
"""
