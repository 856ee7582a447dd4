"""What came after the paper: Transformers that change its model or leave out a part.

language_model  the decoder alone, as in GPT and Llama, one switch for each change (lesson 19)
marian          the published translation models of OPUS-MT: their settings and weights (lesson 20)
"""
