"""What a Transformer is: every box of the paper's Figure 1, one module each (paper §3).

To be read in this order: embeddings (words, positions), masks, attention, feed_forward,
add_and_norm, encoder, decoder, transformer.

Behind them: precision (in what numbers attention computes, and its fused call), cache (what
decoding keeps from step to step), special_ids (padding, start, end, unknown), refusals (bad input),
pytorch (weights to and from torch.nn).

The folder needs only torch. Copied into another project, under any name, it works alone.
"""
