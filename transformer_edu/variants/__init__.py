"""What came after the paper: Transformers that change its model, or leave a part of it out.

language_model  the decoder alone, as in GPT and Llama: rotary positions, grouped-query attention,
                RMSNorm, SwiGLU, one switch for each (lesson 19)
marian          OPUS-MT's published translators: their settings and tensors as ours (lesson 20)
"""
