"""Measurements on a model.

attention_maps   layers of attention weights with their tokens
recording        a forward pass from outside: attention weights, inputs, vectors by layer
one_head         heads found by what they do, for a sentence, a batch, a layer; two lookups at once
feed_forward_units   what a feed-forward network reads, and the unit for some words
stream           what each sub-layer of an encoder reads from the residual stream, and adds
next_words       what a decoder expects next; how many predictions one wrong token changes
trace            the shape walk: every tensor of one forward pass, with its name and source line
probes           eight properties that loss and accuracy do not show (three in inside_probes)
examine          one table for a model (these and five more probes), one for a training step
costs            operations, seconds and bytes of a computation; a run in several processes
ablation         switch heads or sub-layers off; the choice between two forms of a word
positions        other position vectors for the words of a source, or none
head_roles       how much of a head's attention falls on chosen cells; from pieces to words
hugging_face     Hugging Face's Llama and GPT-2 with our weights
table_model      a model so small that its every sentence can be written down
"""
